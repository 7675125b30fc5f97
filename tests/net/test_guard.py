"""The guard refuses what is not publicly reachable, in every spelling, and says why without repeating secrets."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.faults import Fault
from specloom.net.guard import check_address, check_url, host_matches, mask_url

BAD_URLS = [
    # schemes and shapes
    "", "example.org", "//example.org/", "ftp://example.org/", "file:///etc/passwd", "gopher://example.org/", "data:,x",
    "javascript:alert(1)", "jar:http://example.org!/", "http:", "http://", "http:///path", "http:example.org",
    "https:/x.org",
    "http://:80/", "http://?q", "http://#f", "http://.", "http://..", "http://a..b/", "http://-a.org/", "http://a-.org/",
    "http://" + "a" * 64 + ".org/", "http://" + "a." * 130 + "org/", "https://example.org/" + "a" * 9000,
    # ports
    "http://example.org:0/", "http://example.org:65536/", "http://example.org:-1/", "http://example.org:8o/",
    "http://example.org:٨٠/", "http://example.org:80:80/",
    # users and confusing authorities
    "http://user@example.org/", "http://user:pass@example.org/", "http://example.org@127.0.0.1/", "http://@example.org/",
    "http://example.org\\@127.0.0.1/", "http://127.0.0.1\\.example.org/", "http:\\\\127.0.0.1/", "http://exam ple.org/",
    "http://example.org/a b", "http://example.org/\n", "\thttp://example.org/", "http://example.org/\x00",
    "http://exa\u00admple.org\u2028/", "http://example\u200b.org/", "http://example.org/\u202e", "http://%31%32%37.0.0.1/",
    "http://example%2eorg/", "http://[::1", "http://::1/", "http://[]/", "http://[127.0.0.1]/", "http://[::1]x/",
    # IPv4 in every spelling
    "http://127.0.0.1/", "http://127.0.0.1./", "http://127.1/", "http://127.0.1/", "http://2130706433/", "http://0x7f000001/",
    "http://0X7F.1/", "http://0x7f.0x0.0x0.0x1/", "http://017700000001/", "http://0177.0.0.1/", "http://0177.0x0.1/",
    "http://0/", "http://0.0.0.0/", "http://00000000000000000177.0.0.1/", "http://10.0.0.1/", "http://172.16.0.1/",
    "http://172.31.255.255/", "http://192.168.1.1/", "http://100.64.0.1/", "http://169.254.1.1/", "http://192.0.0.1/",
    "http://192.0.2.1/", "http://198.18.0.1/", "http://198.51.100.1/", "http://203.0.113.1/", "http://224.0.0.1/",
    "http://240.0.0.1/", "http://255.255.255.255/", "http://192.88.99.1/", "http://256.1.1.1/", "http://1.2.3.4.5/",
    "http://08.1.1.1/", "http://4294967296/", "http://example.123/", "http://example.0x1/", "http://1..1/",
    "http://１２７.0.0.1/", "http://127。0。0。1/", "http://①②⑦.0.0.1/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    # IPv6
    "http://[::]/", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::1%25lo]/", "http://[fe80::1%eth0]/",
    "http://[fe80::1]/", "http://[fec0::1]/", "http://[fc00::1]/", "http://[fd12::1]/", "http://[ff02::1]/",
    "http://[2001:db8::1]/", "http://[3fff::1]/", "http://[2001:10::1]/", "http://[100::1]/", "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/", "http://[::ffff:8.8.8.8]/", "http://[::127.0.0.1]/", "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/", "http://[64:ff9b::8.8.8.8]/", "http://[64:ff9b:1::1]/", "http://[2002:7f00:1::]/",
    "http://[2002:808:808::1]/", "http://[2001:0:0:0:0:0:80ff:fffe]/", "http://[4000::1]/", "http://[5f00::1]/",
    # metadata services and local names
    "http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://0xa9fea9fe/", "http://[::ffff:169.254.169.254]/",
    "http://[fd00:ec2::254]/", "http://100.100.100.200/", "http://168.63.129.16/", "http://192.0.0.192/",
    "http://metadata.google.internal/", "http://METADATA.google.internal./", "http://metadata/", "http://metadata.goog/",
    "http://x.metadata.google.internal/", "http://instance-data/", "http://kubernetes.default.svc/",
    "http://a.svc.cluster.local/", "http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://printer.local/",
    "http://db.internal/", "http://nas.home.arpa/", "http://abc.onion/", "http://localhost.localdomain/",
]  # fmt: skip

GOOD_URLS = [
    ("http://example.org", "http://example.org/"),
    ("HTTPS://Example.ORG:443/a?b=c#d", "https://example.org/a?b=c"),
    ("http://example.org:8080/x", "http://example.org:8080/x"),
    ("http://example.org:/x", "http://example.org/x"),
    ("https://example.org./", "https://example.org/"),
    ("https://bücher.example/ü?ü=1", "https://xn--bcher-kva.example/%C3%BC?%C3%BC=1"),
    ("https://faß.example/", "https://xn--fa-hia.example/"),
    ("https://_dmarc.example.org/", "https://_dmarc.example.org/"),
    ("http://134744072/", "http://8.8.8.8/"),
    ("http://0x8.8.2056/", "http://8.8.8.8/"),
    ("http://010.010.010.010/", "http://8.8.8.8/"),
    ("https://[2606:4700::1111]:8443/", "https://[2606:4700::1111]:8443/"),
    ("https://metadata.example.org/", "https://metadata.example.org/"),
    ("https://localhost.example.org/", "https://localhost.example.org/"),
    ("https://example.org/a%20b?q=%0D%0A", "https://example.org/a%20b?q=%0D%0A"),
    ("https://example.org?q=1", "https://example.org/?q=1"),
]


@pytest.mark.parametrize("url", BAD_URLS)
def test_a_url_that_leads_inside_or_is_malformed_is_refused(url: str) -> None:
    with pytest.raises(Fault) as caught:
        check_url(url)

    assert caught.value.kind == "validation"
    assert "refused" in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(("url", "normal"), GOOD_URLS)
def test_a_public_url_is_normalised(url: str, normal: str) -> None:
    assert str(check_url(url)) == normal


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://127.1/", "http://localhost:8080/", "http://10.1.2.3/", "http://[::1]/", "http://nas.local/",
     "http://[fd12::1]/", "http://searx.internal/", "http://100.64.0.1/", "http://[::ffff:127.0.0.1]/"],
)  # fmt: skip
def test_private_hosts_can_be_allowed(url: str) -> None:
    assert check_url(url, allow_private=True).host


@pytest.mark.parametrize(
    "url",
    ["http://169.254.169.254/", "http://[::ffff:169.254.169.254]/", "http://[64:ff9b::169.254.169.254]/",
     "http://[fd00:ec2::254]/", "http://metadata.google.internal/", "http://0.0.0.0/", "http://[::]/", "http://224.0.0.1/",
     "http://user@10.0.0.1/", "file:///etc/passwd", "http://240.0.0.1/", "http://[ff02::1]/", "http://[64:ff9b:1::1]/",
     "http://[fe80::1%25eth0]/", "http://abc.onion/"],
)  # fmt: skip
def test_allowing_private_hosts_relaxes_nothing_else(url: str) -> None:
    with pytest.raises(Fault):
        check_url(url, allow_private=True)


def test_allowed_domains_are_the_name_itself_and_what_is_below_it() -> None:
    domains = ["Example.org", "*.demo.net"]

    assert check_url("https://example.org/", allowed_domains=domains).host == "example.org"
    assert check_url("https://a.b.example.org/", allowed_domains=domains).host == "a.b.example.org"
    assert check_url("https://x.demo.net/", allowed_domains=domains).host == "x.demo.net"
    for url in ("https://notexample.org/", "https://example.org.evil.net/", "https://8.8.8.8/"):
        with pytest.raises(Fault, match="not among the allowed domains"):
            check_url(url, allowed_domains=domains)


@pytest.mark.parametrize(
    "url",
    ["https://user:hunter2@example.org/?key=hunter2", "ftp://example.org/?key=hunter2", "http://10.0.0.1/hunter2?k=hunter2",
     "http://localhost/?hunter2", "http://example.org:hunter2/", "http://hunter2@/", "http://a:hunter2@@@b/",
     "https://exa mple.org/?key=hunter2", "https://example.org/?k=hunter2" + "x" * 9000],
)  # fmt: skip
def test_a_refusal_repeats_no_secret_of_the_url(url: str) -> None:
    with pytest.raises(Fault) as caught:
        check_url(url)

    assert "hunter2" not in str(caught.value)


def test_a_refusal_names_the_host_and_the_reason() -> None:
    with pytest.raises(Fault, match=r"^demo\.example\.org is refused: its address 10\.0\.0\.7 is a private address\.$"):
        check_address("10.0.0.7", host="demo.example.org")
    with pytest.raises(Fault, match=r"^127\.0\.0\.1 is refused: it is a loopback address\.$"):
        check_url("http://2130706433/")


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"]
)
def test_a_public_address_passes(address: str) -> None:
    check_address(address)


@pytest.mark.parametrize("address", ["", "example.org", "127.1", "fe80::1%eth0", "0x7f.0.0.1"])
def test_what_is_not_a_plain_public_address_does_not_pass(address: str) -> None:
    with pytest.raises(Fault):
        check_address(address, host="demo.example.org")


@given(st.integers(0, 2**32 - 1))
def test_every_spelling_of_an_ipv4_address_is_judged_alike(number: int) -> None:
    address = IPv4Address(number)
    octets = str(address).split(".")
    spellings = [str(address), str(number), hex(number), f"0{number:o}", ".".join(map(hex, map(int, octets)))]
    spellings += [f"{octets[0]}.{number & 0xFFFFFF}", ".".join(f"0{int(octet):o}" for octet in octets)]

    def judge(host: str) -> str:
        try:
            return check_url(f"http://{host}/").host
        except Fault as fault:
            return fault.message

    assert len({judge(spelling) for spelling in spellings}) == 1


@given(st.integers(0, 2**128 - 1))
def test_what_passes_is_global_to_the_standard_library_too(number: int) -> None:
    address = IPv6Address(number)
    try:
        check_address(address)
    except Fault:
        return

    assert address.is_global


@given(st.text(max_size=60))
def test_any_text_is_a_url_or_a_refusal(text: str) -> None:
    for url in (text, f"http://{text}", f"https://example.org/{text}"):
        try:
            parsed = check_url(url)
        except Fault:
            continue
        assert check_url(str(parsed)) == parsed
        assert str(parsed).isascii()


def test_a_masked_url_keeps_its_shape_and_no_value() -> None:
    masked = mask_url("https://user:hunter2@demo.example.org/v1/search?key=hunter2&q=cats&hunter2#hunter2")

    assert masked == "https://demo.example.org/v1/search?key=•••&q=•••&•••"
    assert mask_url("https://demo.example.org/") == "https://demo.example.org/"
    assert len(mask_url("x" * 5000)) == 300


def test_a_host_pattern_is_exact_or_everything_below() -> None:
    assert host_matches("cdn.example.org", ["*.example.org"])
    assert host_matches("example.org", ["Example.org"])
    assert not host_matches("example.org", ["*.example.org"])
    assert not host_matches("evilexample.org", ["*.example.org", "example.org"])
