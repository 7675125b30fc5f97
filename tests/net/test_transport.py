"""The transport connects only to addresses it checked, and what a server does wrong becomes a fault in bounded time."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import tracemalloc
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Policy, Request, Response
from specloom.core.secrets import Secret, redact
from specloom.net.connections import Dialer, build_tls_context, resolve_name
from specloom.net.transport import Transport
from tests.support.loopback import RESET, Call, Handler, Loopback, Raw, Reply, Reset

LOCAL = Policy(allow_private=True, timeout=60)
KEY = Secret("s3cr3t/key")


def reply_ok(call: Call) -> Reply:
    return 200, {"Content-Type": "text/plain"}, "hello"


async def send(
    url: str, *, policy: Policy = LOCAL, transport: dict[str, Any] | None = None, **request: Any
) -> Response:
    async with Transport(**(transport or {})) as way:
        return await way.send(Request(request.pop("method", "GET"), url, policy=policy, provider="demo", **request))


async def refuse(url: str, **options: Any) -> Fault:
    with pytest.raises(Fault) as caught:
        await send(url, **options)
    assert caught.value.provider == "demo"
    assert "?" not in caught.value.message
    assert KEY.reveal() not in caught.value.message
    return caught.value


class Names:
    """A resolver that gives the next of its answers for every question."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


# What is sent


async def test_query_headers_and_body_arrive_as_they_were_given() -> None:
    with Loopback(reply_ok) as server:
        response = await send(
            server.url + "/a%20b",
            method="POST",
            query=(("q", "a b&c"), ("tag", "x"), ("tag", "ü\n"), ("key", KEY)),
            headers=(("X-Key", KEY), ("Content-Type", "text/plain")),
            body=b"body",
        )

    call = server.last
    assert call.target == "/a%20b?q=a%20b%26c&tag=x&tag=%C3%BC%0A&key=s3cr3t%2Fkey"
    assert (call.headers["x-key"], call.headers["content-length"], call.body) == ("s3cr3t/key", "4", b"body")
    assert call.headers["host"] == f"127.0.0.1:{server.port}"
    assert call.headers["user-agent"].startswith("specloom/")
    assert call.headers["accept-encoding"] == "gzip, deflate"
    assert response == Response(
        200,
        {"content-type": "text/plain", "content-length": "5"},
        b"hello",
        f"{server.url}/a%20b?q=a%20b%26c&tag=x&tag=%C3%BC%0A&key=•••",
    )


async def test_a_request_may_set_its_own_agent_but_only_ask_for_codings_that_can_be_undone() -> None:
    with Loopback(reply_ok) as server:
        await send(server.url, headers=(("user-agent", "browser"), ("Accept-Encoding", "br, gzip;q=0.5, zstd")))

    assert server.last.headers["user-agent"] == "browser"
    assert server.last.headers["accept-encoding"] == "gzip;q=0.5"


async def test_repeated_response_headers_are_joined() -> None:
    with Loopback(lambda call: (200, [("X-A", "1"), ("x-a", "2")], b"")) as server:
        response = await send(server.url)

    assert response.headers["x-a"] == "1, 2"


@pytest.mark.parametrize(
    "part",
    [
        {"headers": (("X-A", "1\r\nX-B: 2"),)},
        {"headers": (("X-A", Secret("s3cr3t/key\n")),)},
        {"headers": (("X-A", "a\x00b"),)},
        {"headers": (("X-A", "half \ud800"),)},
        {"headers": (("X-A: 1\r\nX-B", "2"),)},
        {"headers": (("X A", "2"),)},
        {"headers": (("", "2"),)},
        {"headers": (("Host", "example.org"),)},
        {"headers": (("Content-Length", "0"),)},
        {"headers": (("transfer-encoding", "chunked"),)},
        {"query": (("q", "a\x00b"),)},
        {"query": (("q", "\ud800"),)},
        {"query": (("key", Secret("s3cr3t/key\x00")),)},
        {"method": "GET / HTTP/1.1\r\nX: 1\r\n\r\nGET"},
        {"method": "CONNECT"},
        {"method": ""},
    ],
)
async def test_what_could_smuggle_a_second_request_is_refused_before_anything_is_sent(part: dict[str, Any]) -> None:
    with Loopback(reply_ok) as server:
        fault = await refuse(server.url, **part)

    assert fault.kind == "validation"
    assert server.connections == 0


@pytest.mark.parametrize("status", [204, 304, 400, 404, 429, 500, 503])
async def test_a_status_is_not_a_fault(status: int) -> None:
    with Loopback(lambda call: (status, {}, b"")) as server:
        assert (await send(server.url)).status == status


async def test_head_has_no_body_whatever_length_it_announces() -> None:
    with Loopback(lambda call: (200, {"Content-Length": "999999999", "Content-Encoding": "gzip"}, b"")) as server:
        assert (await send(server.url, method="HEAD")).body == b""


# Where it may go


async def test_a_loopback_server_is_out_of_reach_unless_it_is_allowed() -> None:
    with Loopback(reply_ok) as server:
        fault = await refuse(server.url, policy=Policy())
        named = await refuse(f"http://demo.example.org:{server.port}/", policy=Policy(),
                             transport={"resolve": Names(["127.0.0.1"])})  # fmt: skip
        allowed = await send(server.url, policy=Policy(), transport={"allow_private": True})

    assert fault.kind == named.kind == "validation"
    assert named.message == "demo.example.org is refused: its address 127.0.0.1 is a loopback address."
    assert allowed.body == b"hello"
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fe80::1%1"]
)
async def test_a_name_with_one_bad_address_is_refused_whole(address: str) -> None:
    fault = await refuse(
        "http://demo.example.org/", policy=Policy(), transport={"resolve": Names(["8.8.8.8", address])}
    )

    assert fault.kind == "validation"


async def test_a_metadata_address_is_refused_even_where_private_ones_are_allowed() -> None:
    names = Names(["169.254.169.254"])

    fault = await refuse("http://demo.example.org/", transport={"resolve": names, "allow_private": True})

    assert fault.kind == "validation"


async def test_a_name_that_is_rebound_is_resolved_once_a_connection_and_checked_each_time() -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    with Loopback(lambda call: (200, {"Connection": "close"}, b"one")) as server:
        async with Transport(allow_private=True, resolve=names) as transport:
            url = f"http://demo.example.org:{server.port}/"
            first = await transport.send(Request("GET", url, policy=LOCAL))

            with pytest.raises(Fault, match="cloud metadata"):
                await transport.send(Request("GET", url, policy=LOCAL))

    assert first.body == b"one"
    assert names.asked == [("demo.example.org", server.port)] * 2
    assert server.last.headers["host"] == f"demo.example.org:{server.port}"


async def test_a_connection_made_with_permission_serves_no_request_without() -> None:
    names = Names(["127.0.0.1"])
    with Loopback(reply_ok) as server:
        async with Transport(resolve=names) as transport:
            url = f"http://demo.example.org:{server.port}/"
            await transport.send(Request("GET", url, policy=LOCAL))

            with pytest.raises(Fault, match="loopback"):
                await transport.send(Request("GET", url))

    assert len(server.calls) == 1


@pytest.mark.parametrize("addresses", [["127.0.0.9", "127.0.0.1"], ["127.0.0.9", "127.0.0.8", "::1", "127.0.0.1"]])
async def test_the_next_address_is_tried_where_the_first_one_refuses(addresses: list[str]) -> None:
    with Loopback(reply_ok) as server:
        response = await send(f"http://demo.example.org:{server.port}/", transport={"resolve": Names(addresses)})

    assert response.body == b"hello"


async def test_allowed_domains_bind_every_request_and_every_hop() -> None:
    options = {"allowed_domains": ["127.0.0.1"]}
    with Loopback(lambda call: (302, {"Location": "https://example.org/"}, b"")) as server:
        hop = await refuse(server.url, transport=options, policy=Policy(allow_private=True, any_host=True))
        first = await refuse("https://example.org/", transport=options)

    assert "allowed domains" in hop.message
    assert "allowed domains" in first.message


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with Loopback(reply_ok) as server:
        assert (await send(server.url)).status == 200


async def test_a_header_in_any_script_is_sent_as_utf_8() -> None:
    with Loopback(reply_ok) as server:
        await send(server.url, headers=(("X-City", "Łódź, 東京"),))

    assert server.last.headers["x-city"].encode("latin-1").decode() == "Łódź, 東京"


# Redirects


def redirect_to(location: str, status: int = 302, **headers: str) -> Handler:
    return lambda call: (status, {"Location": location, **headers}, b"") if call.path == "/" else (200, {}, b"end")


@pytest.mark.parametrize(
    "location",
    ["http://169.254.169.254/latest/", "http://2852039166/", "http://[::ffff:169.254.169.254]/", "file:///etc/passwd",
     "gopher://127.0.0.1:11211/", "javascript:alert(1)", "http://10.0.0.1/", "http://localhost:1/",
     "//user@example.org/",
     "http://metadata.google.internal/", "http://[::1]:1/", "http://\\127.0.0.1/", "http://[", "http://example.org:99999/"],
)  # fmt: skip
async def test_a_redirect_is_checked_like_a_first_request(location: str) -> None:
    with Loopback(redirect_to(location)) as server:
        fault = await refuse(server.url + "/", policy=Policy(allow_private=True, any_host=True))

    assert fault.kind == "validation"
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("policy", "allowed"),
    [({}, False), ({"hosts": ("other.example.org",)}, True), ({"hosts": ("*.example.org",)}, True),
     ({"hosts": ("example.org",)}, False), ({"any_host": True}, True)],
)  # fmt: skip
async def test_a_redirect_leads_to_another_host_only_where_the_policy_says_so(
    policy: dict[str, Any], allowed: bool
) -> None:
    options: dict[str, Any] = {
        "policy": Policy(allow_private=True, **policy),
        "transport": {"allow_private": True, "resolve": Names(["127.0.0.1"])},
    }
    with Loopback(reply_ok) as other, Loopback(redirect_to(f"http://other.example.org:{other.port}/x")) as server:
        if allowed:
            assert (await send(server.url + "/", **options)).body == b"hello"
        else:
            assert "not among the hosts" in (await refuse(server.url + "/", **options)).message

    assert len(other.calls) == allowed


async def test_the_permission_for_a_private_host_is_not_passed_on_by_a_redirect() -> None:
    with Loopback(reply_ok) as other, Loopback(redirect_to(f"http://other.example.org:{other.port}/")) as server:
        policy = Policy(allow_private=True, any_host=True)

        fault = await refuse(server.url + "/", policy=policy, transport={"resolve": Names(["127.0.0.1"])})

    assert "loopback" in fault.message
    assert other.calls == []


@pytest.mark.parametrize("host", ["other.example.org", "127.0.0.1"])
async def test_secrets_cookies_and_authorization_stay_behind_when_the_host_or_port_changes(host: str) -> None:
    with Loopback(reply_ok) as other, Loopback(redirect_to(f"http://{host}:{other.port}/x")) as server:
        response = await send(
            server.url + "/",
            policy=Policy(allow_private=True, any_host=True),
            transport={"allow_private": True, "resolve": Names(["127.0.0.1"])},
            query=(("key", KEY),),
            headers=(("X-Key", KEY), ("Authorization", "Basic eA=="), ("Cookie", "a=b"), ("X-Plain", "kept")),
        )

    assert server.last.headers["x-key"] == KEY.reveal()
    assert not {"x-key", "authorization", "cookie"} & set(other.last.headers)
    assert other.last.headers["x-plain"] == "kept"
    assert other.last.target == "/x"
    assert other.last.headers["host"] == f"{host}:{other.port}"
    assert response.url == f"http://{host}:{other.port}/x"


@pytest.mark.parametrize("form", ["s3cr3t/key", "s3cr3t%2Fkey", "s3cr3t%2fkey"])
async def test_a_redirect_that_hands_a_secret_to_another_host_is_refused(form: str) -> None:
    with (
        Loopback(reply_ok) as other,
        Loopback(redirect_to(f"http://other.example.org:{other.port}/?k={form}")) as server,
    ):
        fault = await refuse(
            server.url + "/",
            policy=Policy(allow_private=True, any_host=True),
            transport={"allow_private": True, "resolve": Names(["127.0.0.1"])},
            query=(("key", KEY),),
        )

    assert "secret" in fault.message
    assert other.calls == []


async def test_a_redirect_on_the_same_host_keeps_its_secrets_and_shows_none() -> None:
    with Loopback(redirect_to("/next?key=s3cr3t%2Fkey&page=2")) as server:
        response = await send(server.url + "/", query=(("key", KEY),), headers=(("X-Key", KEY),))

    assert server.last.headers["x-key"] == KEY.reveal()
    assert server.last.target == "/next?key=s3cr3t%2Fkey&page=2"
    assert response.url == server.url + "/next?key=•••&page=2"


@pytest.mark.parametrize(
    ("status", "method", "after", "body"),
    [(301, "POST", "GET", b""), (302, "POST", "GET", b""), (303, "POST", "GET", b""), (303, "PUT", "GET", b""),
     (303, "HEAD", "HEAD", b""), (302, "PUT", "PUT", b"x"), (307, "POST", "POST", b"x"), (308, "POST", "POST", b"x"),
     (301, "GET", "GET", b"")],
)  # fmt: skip
async def test_a_redirect_keeps_or_rewrites_the_method(status: int, method: str, after: str, body: bytes) -> None:
    sent = b"x" if method in ("POST", "PUT") else None
    with Loopback(redirect_to("/next", status)) as server:
        await send(
            server.url + "/", method=method, body=sent, headers=(("Content-Type", "text/plain"),) if sent else ()
        )

    assert (server.last.method, server.last.path, server.last.body) == (after, "/next", body)
    assert ("content-type" in server.last.headers) is bool(body)


async def test_what_was_posted_is_not_sent_on_to_a_host_that_nobody_named() -> None:
    with Loopback(reply_ok) as other, Loopback(redirect_to(f"http://other.example.org:{other.port}/", 307)) as server:
        fault = await refuse(
            server.url + "/",
            method="POST",
            body=b'{"key": "s3cr3t/key"}',
            policy=Policy(allow_private=True, any_host=True),
            transport={"allow_private": True, "resolve": Names(["127.0.0.1"])},
        )

    assert "posted" in fault.message
    assert other.calls == []


async def test_a_redirect_from_https_to_http_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(redirect_to("http://127.0.0.1/"), tls=True) as server:
        monkeypatch.setenv("SSL_CERT_FILE", server.certificate)

        fault = await refuse(server.url + "/")

    assert "https to http" in fault.message


async def test_a_circle_of_redirects_ends_at_once() -> None:
    with Loopback(lambda call: (302, {"Location": "/b" if call.path == "/a" else "/a"}, b"")) as server:
        fault = await refuse(server.url + "/a")

    assert fault.kind == "upstream_unavailable"
    assert len(server.calls) == 2


async def test_a_chain_of_redirects_ends_at_the_limit() -> None:
    with Loopback(lambda call: (302, {"Location": call.path + "x"}, b"")) as server:
        fault = await refuse(server.url + "/a", policy=Policy(allow_private=True, redirects=3))

    assert "more than 3 times" in fault.message
    assert len(server.calls) == 4


async def test_without_redirects_allowed_the_redirect_is_the_answer() -> None:
    with Loopback(redirect_to("http://10.0.0.1/")) as server:
        response = await send(server.url + "/", policy=Policy(allow_private=True, redirects=0))

    assert (response.status, response.headers["location"]) == (302, "http://10.0.0.1/")


@pytest.mark.parametrize(
    ("location", "target"), [("/a b", "/a%20b"), ("/Ã¼", "/%C3%BC"), ("?x=1", "/?x=1"), ("n#f", "/n")]
)
async def test_a_location_as_servers_really_write_it_is_followed(location: str, target: str) -> None:
    def answer(call: Call) -> Reply:
        return (302, {"Location": location}, b"") if call.target == "/" else (200, {}, b"")

    with Loopback(answer) as server:
        await send(server.url + "/")

    assert server.last.target == target


# Sizes


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "raw", "members", "padded"])
async def test_a_compressed_body_is_unpacked(coding: str) -> None:
    plain = json.dumps(list(range(5000))).encode()
    raw = zlib.compressobj(wbits=-15)
    packed = {
        "gzip": gzip.compress(plain),
        "x-gzip": gzip.compress(plain),
        "deflate": zlib.compress(plain),
        "raw": raw.compress(plain) + raw.flush(),
        "members": gzip.compress(plain[:100]) + gzip.compress(plain[100:]),
        "padded": gzip.compress(plain) + b"\0" * 64,
    }[coding]
    name = {"raw": "deflate", "members": "gzip", "padded": "gzip"}.get(coding, coding)
    with Loopback(
        lambda call: (200, {"Content-Encoding": name}, (packed[at : at + 1] for at in range(len(packed))))
    ) as server:
        assert (await send(server.url)).body == plain


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_bomb_is_given_up_at_the_cap_and_never_held_in_memory(coding: str) -> None:
    packer = zlib.compressobj(9, wbits=31 if coding == "gzip" else 15)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(200)) + packer.flush()
    with Loopback(lambda call: (200, {"Content-Encoding": coding}, bomb)) as server:
        tracemalloc.start()
        try:
            fault = await refuse(server.url, policy=Policy(allow_private=True, max_bytes=1 << 20))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert fault.kind == "too_large"
    assert peak < 16 << 20


@pytest.mark.parametrize("coding", ["identity", "gzip"])
async def test_a_body_exactly_at_the_cap_is_accepted_and_one_byte_more_is_not(coding: str) -> None:
    body = b"x" * 1000
    sent = gzip.compress(body) if coding == "gzip" else body
    with Loopback(lambda call: (200, {"Content-Encoding": coding}, [sent])) as server:
        at_cap = await send(server.url, policy=Policy(allow_private=True, max_bytes=1000))
        over = await refuse(server.url, policy=Policy(allow_private=True, max_bytes=999))

    assert at_cap.body == body
    assert over.kind == "too_large"


async def test_an_announced_length_over_the_cap_is_refused_before_the_body() -> None:
    def announce(call: Call) -> Reply:
        return Raw([b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"])

    with Loopback(announce) as server:
        assert (await refuse(server.url)).kind == "too_large"


async def test_an_endless_body_ends_at_the_cap() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 65536

    with Loopback(lambda call: (200, {}, endless())) as server:
        assert (await refuse(server.url)).kind == "too_large"


async def test_endless_headers_end() -> None:
    def endless() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n"
        while True:
            yield b"X-A: " + b"x" * 1000 + b"\r\n"

    with Loopback(lambda call: Raw(endless())) as server:
        assert (await refuse(server.url)).kind == "network"


@pytest.mark.parametrize(
    ("coding", "body", "words"),
    [("gzip", b"not gzip at all", "cannot be decompressed"),
     ("gzip", gzip.compress(b"x" * 99, mtime=0)[:-9], "ends too early"),
     ("br", b"x", "not asked for"), ("gzip, gzip", b"x", "not asked for"),
     ("deflate", b"\xff\xff\xff", "decompressed")],
)  # fmt: skip
async def test_a_body_that_cannot_be_unpacked_is_a_fault(coding: str, body: bytes, words: str) -> None:
    with Loopback(lambda call: (200, {"Content-Encoding": coding}, body)) as server:
        fault = await refuse(server.url)

    assert fault.kind == "upstream_unavailable"
    assert words in fault.message


# Failures and times


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"


@pytest.mark.parametrize(
    "reply",
    [RESET, Reset([HEAD + b"part"]), Raw([]), Raw([HEAD + b"part"]), Raw([b"nonsense\r\n\r\n"]), Raw([b"HTTP/1.1 200"]),
     Raw([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"]), Raw([b"\x00" * 1000]),
     Raw([b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"]),
     Raw([b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n"])],
)  # fmt: skip
async def test_a_broken_connection_is_a_network_fault(reply: Reply) -> None:
    with Loopback(lambda call: reply) as server:
        fault = await refuse(server.url, query=(("key", KEY),))

    assert fault.kind == "network"
    assert fault.message.startswith("127.0.0.1 ")


async def test_nothing_listening_is_a_network_fault() -> None:
    with Loopback(reply_ok) as server:
        pass

    fault = await refuse(server.url)

    assert fault.message == "127.0.0.1 could not be reached: the connection was refused."


async def test_a_name_that_does_not_resolve_is_a_network_fault() -> None:
    async def fail(host: str, port: int) -> Sequence[str]:
        raise OSError("no such name")

    for resolve in (fail, Names([])):
        fault = await refuse("https://nowhere.example.org/?key=x", transport={"resolve": resolve})
        assert fault.message == "nowhere.example.org could not be reached: the name does not resolve."
        assert fault.kind == "network"


async def test_the_systems_resolver_knows_this_machine() -> None:
    with Loopback(reply_ok) as server:
        assert (await send(f"http://localhost:{server.port}/")).body == b"hello"


async def test_a_resolver_that_is_silent_is_given_up() -> None:
    async def hang(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    fault = await refuse("https://demo.example.org/", transport={"resolve": hang, "connect_timeout": 0.05})

    assert fault.message == "demo.example.org could not be reached: no connection within 0.05 seconds."


@pytest.mark.parametrize("part", ["head", "body", "redirect"])
async def test_an_answer_that_drips_ends_at_the_deadline(part: str) -> None:
    def drip() -> Iterator[bytes]:
        yield {"head": b"HTTP/1.1 200 OK\r\n", "body": HEAD,
               "redirect": b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 100\r\n\r\n"}[part]  # fmt: skip
        while not server.stopped.wait(0.01):
            yield b"x"

    with Loopback(lambda call: Raw(drip())) as server:
        fault = await refuse(server.url, policy=Policy(allow_private=True, timeout=0.1))

    assert fault.message == "127.0.0.1 gave no complete answer within 0.1 seconds."


async def test_cancelling_passes_through_and_frees_the_place() -> None:
    def wait(call: Call) -> Reply:
        if call.path == "/slow":
            server.stopped.wait(5)
        return 200, {}, b"done"

    with Loopback(wait) as server:
        async with Transport(max_connections=1) as transport:
            for _ in range(3):
                slow = asyncio.create_task(transport.send(Request("GET", server.url + "/slow", policy=LOCAL)))
                queued = asyncio.create_task(transport.send(Request("GET", server.url + "/slow", policy=LOCAL)))
                await asyncio.sleep(0.02)
                queued.cancel()
                slow.cancel()
                assert [type(error) for error in await asyncio.gather(slow, queued, return_exceptions=True)] == [
                    asyncio.CancelledError
                ] * 2

            assert (await transport.send(Request("GET", server.url + "/fast", policy=LOCAL))).body == b"done"


# Connections


async def test_a_connection_is_used_again() -> None:
    with Loopback(reply_ok) as server:
        async with Transport() as transport:
            for _ in range(5):
                await transport.send(Request("GET", server.url, policy=LOCAL))

        assert {call.connection for call in server.calls} == {1}


async def test_a_kept_connection_that_the_server_gave_up_is_replaced() -> None:
    def answer(call: Call) -> Reply:
        # The second request on a connection finds it closed, without an announcement beforehand.
        return RESET if sum(other.connection == call.connection for other in server.calls) > 1 else (200, {}, b"ok")

    with Loopback(answer) as server:
        async with Transport() as transport:
            got = [await transport.send(Request("GET", server.url, policy=LOCAL)) for _ in range(3)]
            with pytest.raises(Fault):
                await transport.send(Request("POST", server.url, body=b"x", policy=LOCAL))

    assert [response.body for response in got] == [b"ok"] * 3
    assert [call.method for call in server.calls].count("POST") == 1


async def test_requests_in_flight_are_bounded() -> None:
    active: list[int] = []
    seen: list[int] = []

    def count(call: Call) -> Reply:
        active.append(1)
        seen.append(len(active))
        server.stopped.wait(0.005)
        active.pop()
        return 200, {}, b""

    with Loopback(count) as server:
        async with Transport(max_connections=3) as transport:
            await asyncio.gather(*(transport.send(Request("GET", server.url, policy=LOCAL)) for _ in range(20)))

    assert max(seen) <= 3
    assert len(server.calls) == 20


async def test_many_at_once_each_get_their_own_answer() -> None:
    with Loopback(lambda call: (200, {}, call.target)) as server:
        async with Transport() as transport:
            requests = [Request("GET", server.url + "/", (("n", str(n)),), policy=LOCAL) for n in range(60)]
            answers = await asyncio.gather(*map(transport.send, requests))

    assert [answer.body for answer in answers] == [f"/?n={n}".encode() for n in range(60)]


async def test_a_kept_connection_that_was_seen_to_close_is_not_used() -> None:
    reply = Raw([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"])
    with Loopback(lambda call: reply) as server, Loopback(reply_ok) as other:
        async with Transport() as transport:
            for url in (server.url, server.url, other.url, server.url):
                assert (await transport.send(Request("GET", url, policy=LOCAL))).status == 200
                await asyncio.sleep(0.02)  # A close that is seen later only takes another way to the same end.

        assert [call.connection for call in server.calls] == [1, 2, 3]


async def test_bytes_after_an_answer_are_not_the_answer_to_the_next_request() -> None:
    body = b"goodHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    with Loopback(lambda call: (200, {"Content-Length": "4"}, body)) as server:
        async with Transport() as transport:
            got = [await transport.send(Request("GET", server.url, policy=LOCAL)) for _ in range(3)]

    assert [response.body for response in got] == [b"good"] * 3


async def test_the_oldest_idle_connection_makes_room_for_another() -> None:
    with Loopback(reply_ok) as one, Loopback(reply_ok) as two:
        async with Transport(max_connections=1) as transport:
            for url in (one.url, two.url, one.url, one.url):
                await transport.send(Request("GET", url, policy=LOCAL))

        assert [call.connection for call in one.calls] == [1, 2, 2]


async def test_a_connection_that_nobody_reads_is_paused_and_loses_nothing() -> None:
    body = bytes(range(256)) * 32_000
    with Loopback(lambda call: Raw([body])) as server:
        stream = await Dialer(resolve_name, 5).dial("127.0.0.1", server.port, secure=False, allow_private=True)
        await stream.write(b"GET / HTTP/1.1\r\n\r\n")
        for _ in range(200):
            await asyncio.sleep(0.001)
            if stream.get_extra_info("is_readable"):
                break
        await asyncio.sleep(0.05)
        held = len(await stream.read(1 << 30))
        received = held
        while data := await stream.read(65536):
            received += len(data)
        await stream.aclose()

    assert received == len(body)
    assert held < len(body) // 2


async def test_a_body_larger_than_the_sockets_buffers_is_sent_whole() -> None:
    body = bytes(range(256)) * 64_000
    with Loopback(reply_ok) as server:
        await send(server.url, method="PUT", body=body)

    assert server.last.body == body


async def test_a_name_that_no_resolver_takes_is_an_os_error() -> None:
    with pytest.raises(OSError, match="cannot be encoded"):
        await resolve_name("a" * 70 + ".example.org", 80)


# TLS


def test_certificates_are_verified_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)

    context = build_tls_context()

    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


async def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    with Loopback(reply_ok, tls=True) as server:
        fault = await refuse(server.url, query=(("key", KEY),))

    assert fault.kind == "network"
    assert "certificate is not valid" in fault.message
    assert server.calls == []


async def test_a_named_authority_is_trusted_for_the_names_in_its_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(reply_ok, tls=True, names=("demo.example.org",)) as server:
        monkeypatch.setenv("SSL_CERT_FILE", server.certificate)
        names = {"resolve": Names(["127.0.0.1"])}

        good = await send(f"https://demo.example.org:{server.port}/", transport=names)
        wrong = await refuse(f"https://other.example.org:{server.port}/", transport=names)
        bare = await refuse(server.url)

    assert good.body == b"hello"
    assert "certificate is not valid" in wrong.message
    assert "certificate is not valid" in bare.message


async def test_a_large_body_goes_both_ways_over_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    body = bytes(range(256)) * 8000
    with Loopback(lambda call: (200, {}, call.body), tls=True) as server:
        monkeypatch.setenv("SSL_CERT_FILE", server.certificate)

        response = await send(server.url, method="POST", body=body)

    assert response.body == body


async def test_a_plain_server_behind_https_is_a_network_fault() -> None:
    with Loopback(reply_ok) as server:
        fault = await refuse(server.url.replace("http:", "https:"), policy=Policy(allow_private=True, timeout=0.2))

    assert fault.kind == "network"


# Redaction


def test_every_form_of_a_secret_is_redacted() -> None:
    secret, longer = Secret('a b/"ü'), Secret('a b/"ü-and-more')

    text = redact(
        '1 a b/"ü 2 a%20b%2F%22%C3%BC 3 a%20b%2f%22%c3%bc 4 a+b%2F%22%C3%BC 5 a b/\\"ü 6 a b/"ü-and-more',
        [secret, longer],
    )

    assert text == "1 ••• 2 ••• 3 ••• 4 ••• 5 ••• 6 •••"
    assert redact("text", [Secret("")]) == "text"
