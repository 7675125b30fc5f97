"""Kinds of bodies, identities, settings and cookies: what the tiers are made of."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.faults import KINDS, Fault
from specloom.domains.scrape.fetch.block_pages import is_spa_host
from specloom.domains.scrape.fetch.content_type import find_kind, is_document_url, is_markdown
from specloom.domains.scrape.fetch.failures import from_fault, to_fault, to_outcome
from specloom.domains.scrape.fetch.http import Headers, Jar, load_persona
from specloom.domains.scrape.options import SETTINGS, Options, to_options
from specloom.domains.scrape.result import TierOutcome


@pytest.mark.parametrize(
    ("body", "content_type", "url", "kind"),
    [
        (b"<!DOCTYPE html><html>", "", "", "html"),
        (b"<?xml version='1.0'?>\n<!-- a --> <html xmlns='x'>", "application/xhtml+xml", "", "html"),
        (b"<p>no doctype", "text/html", "", "html"),
        (b"<p>no doctype", "", "", "html"),
        (b"<html>", "application/pdf", "https://a.example/a.pdf", "html"),
        (b"%PDF-1.4", "text/html", "", "document"),
        (b"\n%PDF-1.4", "", "", "document"),
        (b"PK\x03\x04", "application/octet-stream", "https://a.example/a.docx", "document"),
        (b"PK\x03\x04", "application/zip", "https://a.example/a.zip", "other"),
        (b"PK\x03\x04 word/document.xml", "application/zip", "", "document"),
        (b"PK\x03\x04 ppt/presentation.xml", "", "https://a.example/download?id=1", "document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/octet-stream", "https://a.example/a.docx", "document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/octet-stream", "https://a.example/setup.msi", "other"),
        (b"PK\x03\x04", "application/vnd.openxmlformats-officedocument.presentationml.presentation", "", "document"),
        (b"# A", "text/markdown; charset=utf-8", "", "markdown"),
        (b"{}", "application/json", "", "text"),
        (b"{}", "application/ld+json", "", "text"),
        (b"<rss>", "application/rss+xml", "", "text"),
        (b"a,b", "text/csv", "", "text"),
        (b"plain words", "application/octet-stream", "", "text"),
        (b"\x00\x01", "application/octet-stream", "", "other"),
        (b"\x89PNG", "image/png", "", "other"),
        (b"<svg/>", "image/svg+xml", "", "other"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01<p>", "text/html", "", "other"),
        (b"GIF89a is the name of a format.", "text/plain", "", "text"),
        (b"@book{a}", "application/x-bibtex", "", "text"),
        (b'{"a": 1}', "application/jsonl", "", "text"),
        (b"a,b", "application/vnd.ms-excel", "", "text"),
        (b"a,b", "application/force-download", "", "text"),
        (b"\x01\x02\x03\x04", "application/x-something", "", "other"),
        (b"<?xml version='1.0'?><note><a>x</a></note>", "", "", "text"),
        (b"#include <stdio.h>\nint main(void)", "application/octet-stream", "https://a.example/a.c", "text"),
        (b"if a < b and c > d", "", "", "text"),
    ],
)
def test_what_a_body_is(body: bytes, content_type: str, url: str, kind: str) -> None:
    assert find_kind(body, content_type, url) == kind


@pytest.mark.parametrize(
    ("url", "document"),
    [
        ("https://a.example/x/Paper.PDF?download=1", True),
        ("https://a.example/x.pptx", True),
        ("https://a.example/x.docm", True),
        ("https://a.example/x.ppsx", True),
        ("https://a.example/x.xlsm", True),
        ("https://a.example/x.do", False),
        ("https://arxiv.org/pdf/1902.02534", True),
        ("https://www.arxiv.org/pdf/1902.02534v2", True),
        ("https://arxiv.org/abs/1902.02534", False),
        ("https://a.example/pdf/list", False),
        ("https://a.example/?file=a.pdf", False),
        ("https://[", False),
    ],
)
def test_an_address_may_say_that_it_is_a_document(url: str, document: bool) -> None:
    assert is_document_url(url) is document


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("## Only one heading of the second level, which is enough for it", True),
        ("# A heading\n\nand [a link](https://a.example/) in the text below", True),
        ("- a list\n- of things\n\n```\nand code\n```\nwhich makes two signs", True),
        ("## A page\n\n(see [a link (of two)](https://a.example/a) for what is said of it)", True),
        ("# A heading\n\n  12. of a list that begins late and has one item alone", True),
        ("# short", False),
        ("# A comment in a script is not enough to be taken for Markdown\nexit 0", False),
        ("Plain prose without any signs, however long it may be and wherever.", False),
    ],
)
def test_markdown_shows_two_signs(text: str, markdown: bool) -> None:
    assert is_markdown(text.encode()) is markdown


@given(st.binary(max_size=600), st.text(max_size=40), st.text(max_size=40))
def test_anything_is_of_some_kind(body: bytes, content_type: str, url: str) -> None:
    assert find_kind(body, content_type, "https://a.example/" + url.replace("[", "")) in {
        "html",
        "markdown",
        "text",
        "document",
        "other",
    }


def test_a_body_of_comments_is_looked_at_in_linear_time() -> None:
    assert find_kind(b"<!---->" * 80, "text/html") == "html"


@pytest.mark.parametrize("part", ["[", "(", "[a](", "![", "](", "- ", " \n", "\n\n", "1", "]]"])
def test_a_text_of_a_million_signs_is_told_in_linear_time(part: str) -> None:
    # Where each of them is the beginning of a search to the end, as once, this takes hours and not a blink.
    text = part * (1_000_000 // len(part))

    assert is_markdown(text.encode()) is False


_VERSION = re.compile(r"Chrome/(\d+)")
_PLATFORMS = {"Macintosh": '"macOS"', "Windows": '"Windows"', "X11; Linux": '"Linux"'}


def find_contradiction(agent: str, headers: Headers) -> str:
    """What gives a made-up identity away, in words: hints that name another version or system; empty where all fits."""
    said = {name.lower(): value for name, value in headers}
    version = _VERSION.search(agent)
    brands = said.get("sec-ch-ua", "")
    if bool(brands) != bool(version):
        return "only one of user agent and Sec-Ch-Ua names a Chrome version"
    if version and f'v="{version[1]}"' not in brands:
        return f"the user agent says version {version[1]} and Sec-Ch-Ua does not"
    platform = next((hint for sign, hint in _PLATFORMS.items() if sign in agent), "")
    if said.get("sec-ch-ua-platform", platform) != platform:
        return f"the user agent is of {platform} and Sec-Ch-Ua-Platform is {said['sec-ch-ua-platform']}"
    return ""


@pytest.mark.parametrize("name", ["browser", "honest"])
def test_identities_do_not_contradict_themselves(name: str) -> None:
    persona = load_persona(name)  # type: ignore[arg-type]

    assert find_contradiction(persona.user_agent, persona.headers) == ""
    assert persona.headers[0] == ("User-Agent", persona.user_agent)


def test_the_honest_identity_names_the_program_and_where_to_read_about_it() -> None:
    agent = load_persona("honest").user_agent

    assert "specloom/" in agent
    assert "+https://" in agent


@pytest.mark.parametrize(
    ("change", "word"),
    [(('v="131"', 'v="99"'), "131"), (("macOS", "Windows"), "Platform"), (("Chrome/131", "Firefox/131"), "only one")],
)
def test_a_careless_refresh_of_the_identity_is_noticed(change: tuple[str, str], word: str) -> None:
    persona = load_persona("browser")
    headers = tuple((name, value.replace(*change)) for name, value in persona.headers if name != "User-Agent")

    assert word in find_contradiction(
        persona.user_agent.replace(*change) if word == "only one" else persona.user_agent, headers
    )


def test_settings_become_options() -> None:
    options = to_options(
        {
            "ALLOWED_DOMAINS": "a.example, b.example,",
            "CHROME_PATH": " disabled ",
            "SCRAPE_IDENTITY": "Honest",
            "SCRAPE_ROBOTS": True,
            "READER_SERVICE": True,
            "MAX_SCRAPE_CONCURRENCY": 5,
            "MAX_HTML_BYTES": 2048,
            "BROWSER_IDLE_SECONDS": 0,
        },
        max_length=7,
    )

    assert (options.allowed_domains, options.chrome) == (("a.example", "b.example"), "disabled")
    assert (options.identity, options.robots, options.reader) == ("honest", True, True)
    assert (options.slots, options.max_html_bytes, options.browser_idle, options.max_length) == (5, 2048, 0, 7)


def test_without_settings_the_defaults_of_the_options_hold() -> None:
    assert to_options({}) == Options()


def test_no_setting_switches_a_bound_off() -> None:
    numbers = [name for name, said in SETTINGS.items() if said.get("type") in ("integer", "number")]
    options = to_options(dict.fromkeys(numbers, -5))

    assert min(options.slots, options.browser_slots, options.host_slots) == 1
    assert options.max_html_bytes == options.max_document_bytes == 1024


@pytest.mark.parametrize("host", ["go.dev", "pkg.go.dev", "scholar.google.com", "m.facebook.com", "brand.acme.example"])
def test_hosts_that_need_a_browser(host: str) -> None:
    assert is_spa_host(host)


@pytest.mark.parametrize("host", ["google.com", "notgo.dev", "x.com", "twitter.com", "mybrand.example", "designer.com"])
def test_hosts_that_do_not(host: str) -> None:
    assert not is_spa_host(host)


def test_cookies_go_back_to_their_host_only_and_nothing_else_gets_in() -> None:
    jar = Jar()
    jar.take("a.example", 'x=1; Path=/; Expires=Wed, 21 Oct 2037 07:28:00 GMT, y="2"; HttpOnly, x=3')
    jar.take("a.example", "bad name=1, z=a\x00b, =nothing")

    assert jar.give("a.example") == 'x=3; y="2"'
    assert jar.give("b.a.example") == ""


@given(st.text())
def test_any_cookie_header_gives_a_header_that_can_be_sent(text: str) -> None:
    jar = Jar()
    jar.take("a", text)

    given_back = jar.give("a")
    assert given_back.isascii()
    assert not any(character < " " for character in given_back)


def test_every_kind_of_fault_that_a_tier_ends_with_has_a_sentence() -> None:
    for kind in KINDS:
        outcome = from_fault("html", Fault(kind, "because"))
        fault = to_fault("https://a.example/p?token=secret", [outcome])

        assert fault.message.strip()
        assert "secret" not in fault.message


def test_the_browser_is_only_blamed_when_nothing_else_was() -> None:
    browser = to_outcome("browser", "browser_unavailable", "no browser")

    assert to_fault("https://a.example/", [browser]).kind == "browser_unavailable"
    assert to_fault("https://a.example/", [to_outcome("html", "network", "x"), browser]).kind == "network"
    assert to_fault("https://a.example/", [to_outcome("html", "content_empty", "x"), browser]).kind == "content_empty"
    assert to_fault("https://a.example/", [to_outcome("html", "blocked", "x"), browser]).kind == "blocked"
    empty = [to_outcome("html", "network", "x"), to_outcome("stealth", "content_empty", "x"), browser]
    assert to_fault("https://a.example/", empty).kind == "content_empty"
    assert to_fault("https://a.example/", empty, scripted=True).kind == "browser_unavailable"
    assert to_fault("https://a.example/", [empty[0], browser], scripted=True).kind == "network"


def test_an_outcome_is_one_short_line() -> None:
    assert to_outcome("html", "network", "a\n" + "b" * 500) == TierOutcome("html", "network", "a")
    assert len(to_outcome("html", "network", "b" * 500).message) == 120
