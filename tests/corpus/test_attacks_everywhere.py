"""The corpus of attacks on what is not a tier: iframes, refreshes, documents, sites' APIs; and bombs of every kind."""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Callable
from dataclasses import replace

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Policy, Request, Response
from specloom.domains.scrape.fetch import fallback
from specloom.domains.scrape.fetch.http import Way, fetch
from specloom.domains.scrape.fetch.politeness import Politeness
from specloom.domains.scrape.fetch.robots import Robots
from specloom.domains.scrape.fetch.session import FetchSession
from specloom.domains.scrape.fetch.stealth import Stealth
from specloom.domains.scrape.read import make_answer
from specloom.domains.scrape.result import Candidate, Fetched
from specloom.net.guard import check_url
from specloom.net.transport import Transport
from tests.corpus.test_attacks import EVERY, PUBLIC, STRICT, TARGETS, Untouched, is_relative, with_stealth
from tests.support.documents import make_docx, make_zip, paragraph
from tests.support.loopback import Call, Loopback, Reply
from tests.support.scrape_client import connected, refused
from tests.support.scrape_context import ARTICLE, HTML, OPTIONS, Names, TestDesk, fail
from tests.support.site_context import SiteDesk, match, page_of

SHELL = b"<html><body><div id=root></div>" + b"<script>x</script>" * 200


class Page:
    """A way out that has one page on every host; `wrong` are the requests that should never have got here."""

    def __init__(self, body: bytes = SHELL) -> None:
        self.body = body
        self.sent: list[str] = []
        self.wrong: list[str] = []

    async def send(self, request: Request) -> Response:
        self.sent.append(request.url)
        try:
            check_url(request.url)
        except Fault:
            self.wrong.append(request.url)
        return Response(200, {"content-type": "text/html"}, self.body, request.url)


@pytest.mark.parametrize("url", EVERY)
async def test_a_page_of_an_iframe_is_refused_like_any_page(url: str) -> None:
    def extract(fetched: Fetched) -> Candidate:
        return Candidate("", frames=(url, url + "?a"))

    page, names = Page(), Names([])
    session = FetchSession(STRICT, make_answer, resolve=names)
    session._stealth_sought = True
    context = TestDesk(page)  # type: ignore[arg-type]
    try:
        with pytest.raises(Fault):
            await fallback.read(
                "https://example.com/", context=context, options=STRICT, extract=extract, session=session
            )
    finally:
        await session.aclose()

    assert page.wrong == []
    assert set(page.sent) == {"https://example.com/"}
    assert names.asked == []


@pytest.mark.parametrize("url", EVERY)
async def test_a_refresh_to_it_is_not_followed(url: str) -> None:
    body = f'<html><head><meta http-equiv="refresh" content="0;url={url}"></head></html>'.encode()
    page = Page(body)
    way = Way("html", (), page.send, 5.0)
    follow = {"options": STRICT, "politeness": Politeness(), "owner": "", "now": lambda: 0.0, "follow_pages": True}

    # Where a blank ends the address, a harmless beginning of it is left.
    with contextlib.suppress(Fault):
        await fetch("https://example.com/", way, **follow)  # type: ignore[arg-type]

    assert page.sent[0] == "https://example.com/"
    assert page.wrong == []


@pytest.mark.parametrize("url", [url for urls in TARGETS.values() for url in urls if url.startswith("http")])
async def test_a_document_there_is_refused_by_its_address_and_after_a_redirect(url: str) -> None:
    document = url.rstrip("/") + "/paper.pdf"
    if is_relative(url):
        pytest.skip("as a Location this is an address on the host that sent it")
    out = Untouched(document.encode("utf-8").decode("latin-1"))
    way = Way("html", (), out.send, 5.0)

    session = FetchSession(STRICT, make_answer)
    context = TestDesk(out)  # type: ignore[arg-type]
    with pytest.raises(Fault) as first:
        await fallback.read(
            document, context=context, options=STRICT, extract=lambda fetched: Candidate(""), session=session
        )
    with pytest.raises(Fault) as after:
        await fetch(
            "https://example.org/a.pdf", way, options=STRICT, politeness=Politeness(), owner="", now=lambda: 0.0
        )

    assert (first.value.kind, after.value.kind) == ("validation", "validation")
    assert out.sent == ["https://example.org/a.pdf"]


@pytest.mark.parametrize("url", EVERY)
def test_it_is_no_page_of_a_site(url: str) -> None:
    assert match(url) is None


@pytest.mark.parametrize("url", [f"https://www.youtube.com{at}" for at in (".evil.example/a", "@127.0.0.1/a", ":22/a")])
async def test_captions_elsewhere_are_not_asked_for(url: str) -> None:
    video = {
        "playabilityStatus": {"status": "OK"},
        "videoDetails": {"videoId": "otter-12345", "title": "Otters", "shortDescription": "They swim every day."},
        "captions": {"playerCaptionsTracklistRenderer": {"captionTracks": [{"baseUrl": url, "languageCode": "en"}]}},
    }
    context = SiteDesk(
        {"https://m.youtube.com/youtubei/v1/player": json.dumps(video)},
        otherwise=Response(200, {}, b'"INNERTUBE_API_KEY":"k"'),
    )

    page = await page_of("https://youtu.be/otter-12345", context)

    assert "They swim every day." in page.content
    assert not any("evil" in sent or "127.0.0.1" in sent or ":22" in sent for sent in context.sent)


async def test_the_api_of_a_site_cannot_lead_its_reader_to_another_host() -> None:
    with Loopback(lambda call: (302, {"Location": "http://169.254.169.254/"}, "")) as server:
        request = Request("GET", server.url + "/api/timedtext", policy=Policy(redirects=2, allow_private=True))
        async with Transport() as transport:
            with pytest.raises(Fault) as caught:
                await transport.send(request)

    assert caught.value.kind in {"validation", "upstream_unavailable"}


async def test_robots_txt_cannot_lead_anywhere_else() -> None:
    options = replace(OPTIONS, robots=True)

    def reply(call: Call) -> Reply:
        return 302, {"Location": "http://169.254.169.254/"}, ""

    with Loopback(reply) as server:
        async with Transport(allow_private=True) as transport:
            target = check_url(server.url + "/page", allow_private=True)
            with pytest.raises(Fault) as caught:
                await Robots().allow(target, context=TestDesk(transport), options=options, politeness=Politeness())

    assert caught.value.kind in {"blocked", "validation"}
    assert [call.path for call in server.calls] == ["/robots.txt"]


@with_stealth
async def test_no_address_beside_the_checked_ones_is_tried() -> None:
    """A name with a public address and one that is not is refused as a whole, whichever stands first."""
    for addresses in ([PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC]):
        with pytest.raises(Fault) as caught:
            await Stealth(Names(addresses)).send(Request("GET", "https://pages.example/", policy=Policy(timeout=60)))
        assert caught.value.kind == "validation"


# Bombs


def zstd_bomb(size: int) -> bytes:
    """A zstd frame (RFC 8878) of blocks that repeat one byte: four bytes each for 128 KiB."""
    count = size // (128 * 1024)
    blocks = b"".join(
        ((128 * 1024) << 3 | 1 << 1 | (number == count - 1)).to_bytes(3, "little") + b"\0" for number in range(count)
    )
    return b"\x28\xb5\x2f\xfd\x00\x38" + blocks


@with_stealth
async def test_a_bomb_in_zstd_ends_at_the_cap() -> None:
    policy = Policy(timeout=60, max_bytes=50_000, allow_private=True)
    headers = {"Content-Type": "text/html", "Content-Encoding": "zstd"}
    with Loopback(lambda call: (200, headers, zstd_bomb(2**26))) as server, pytest.raises(Fault) as caught:
        await Stealth(Names([])).send(Request("GET", server.url, policy=policy))

    assert caught.value.kind == "too_large"


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "gzip, br"])
async def test_a_coding_that_was_not_asked_for_is_not_undone(coding: str) -> None:
    headers = {"Content-Type": "text/html", "Content-Encoding": coding}
    with Loopback(lambda call: (200, headers, zstd_bomb(1024 * 1024))) as server:
        fault = await fail(server.url)

    assert fault.kind == "network"
    assert "in an encoding that was not asked for" in fault.detail


def pdf_bomb(filters: bytes, stream: bytes) -> bytes:
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R >>",
        b"<< /Length %d /Filter %s >>\nstream\n" % (len(stream), filters) + stream + b"\nendstream",
    ]
    objects = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, part) for number, part in enumerate(parts, 1))
    return b"%PDF-1.7\n" + objects + b"trailer << /Root 1 0 R /Size 5 >>\n%%EOF"


def squeeze(megabytes: int) -> bytes:
    """Zeros, packed: pieces that need nothing before them are repeated, which only leaves the checksum wrong."""
    packer = zlib.compressobj()
    first, piece = (packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + piece * (megabytes - 1) + packer.flush()


LAUGHS = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">%s]><html><body><p>&l29;</p></body></html>' % b"".join(
    b'<!ENTITY l%d "%s">' % (number, b"&l%d;" % (number - 1) * 10) for number in range(1, 30)
)
BOMBS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "a PDF that unpacks to 2 GB": (
        "application/pdf",
        lambda: pdf_bomb(b"/FlateDecode", squeeze(2048)),
        "too_large",
    ),
    "a PDF packed twice": (
        "application/pdf",
        lambda: pdf_bomb(b"[/FlateDecode /FlateDecode]", zlib.compress(squeeze(2048))),
        "too_large",
    ),
    "a DOCX that unpacks to 40 MB": (
        "application/octet-stream",
        lambda: make_zip({"word/document.xml": b"<a>" + b" " * 40_000_000}),
        "too_large",
    ),
    "a DOCX whose XML laughs": (
        "application/octet-stream",
        lambda: make_zip({"word/document.xml": LAUGHS}),
        "",
    ),
    "a DOCX nested too deeply": (
        "application/octet-stream",
        lambda: make_docx("<w:sdt>" * 50_000 + paragraph("x") + "</w:sdt>" * 50_000),
        "",
    ),
    "XHTML that laughs": ("application/xhtml+xml", lambda: LAUGHS, ""),
    "XML that laughs": ("application/xml", lambda: LAUGHS, "text"),
}


@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_through_the_tool_ends_in_a_clear_fault_or_in_little_text(name: str) -> None:
    content_type, make, reason = BOMBS[name]
    body = make()
    with Loopback(lambda call: (200, {"Content-Type": content_type}, body)) as server:
        async with connected() as client:
            result = await client.call_tool("scrape_page", {"url": server.url})

    if result.is_error:
        block = json.loads(result.content[0].text.partition("\n\n")[2])["error"]
        assert block.get("reason", "") == reason
        assert block["kind"] in {"content_empty", "upstream_unavailable"}
    else:
        assert result.structured_content["contentLength"] < 10_000
        assert reason in ("", "text")


GIANTS = {
    "deep": b"<div>" * 1_000_000 + b"words",
    "wide": b"<p>word word" * 300_000,
    "cells": b"<table><tr><td>x" * 60_000,
    "attributes": b"<p " + b"a=b " * 1_000_000 + b">words",
    "classes": b"<style>" + b".a{display:none}" * 100_000 + b"</style>" + b"<p class=a>x" * 100_000,
    "one tag that does not end": b"<div " + b"<" * 3_000_000,
    "entities": b"&amp;" * 800_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GIANTS)
async def test_a_giant_page_ends_and_the_next_one_is_read(name: str) -> None:
    pages = {"/giant": GIANTS[name], "/next": ARTICLE.encode()}
    with Loopback(lambda call: (200, HTML, pages[call.path])) as server:
        async with connected() as client:
            result = await client.call_tool("scrape_page", {"url": server.url + "/giant"})
            after = await client.call_tool("scrape_page", {"url": server.url + "/next"})

    assert not result.is_error or json.loads(result.content[0].text.partition("\n\n")[2])["error"]["kind"]
    assert "Otters" in after.structured_content["content"]


async def test_an_endless_document_ends_at_the_cap_of_documents() -> None:
    def endless() -> object:
        yield b"%PDF-1.7\n"
        while True:
            yield b"x" * 10_000

    with Loopback(lambda call: (200, {"Content-Type": "application/pdf"}, endless())) as server:  # type: ignore[arg-type]
        async with connected(MAX_HTML_BYTES="20000", MAX_DOCUMENT_BYTES="100000") as client:
            sentence, block = await refused(client, "scrape_page", url=server.url + "/paper.pdf")

    assert (block["kind"], block["reason"]) == ("upstream_unavailable", "too_large")
    assert "100000 bytes" in sentence
