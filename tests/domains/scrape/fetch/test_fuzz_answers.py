"""Answers that no server should send end in a reading or a fault, in every tier that speaks HTTP."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable
from dataclasses import replace

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Policy, Request
from specloom.domains.scrape.fetch import fallback
from specloom.domains.scrape.fetch.politeness import Politeness
from specloom.domains.scrape.fetch.stealth import Stealth, is_installed
from specloom.domains.scrape.result import Candidate, Fetched
from tests.support.loopback import Loopback, Raw
from tests.support.scrape_context import ARTICLE, OPTIONS, open_desk

with_stealth = pytest.mark.skipif(not is_installed(), reason="the extra `stealth` is not installed")
PAGE = ARTICLE.encode()
BODIES = (
    PAGE, PAGE * 50, gzip.compress(PAGE), zlib.compress(PAGE), b"", b"%PDF-1.4 x", b"PK\x03\x04 word/document",
    b"\xff\xfe" + ARTICLE.encode("utf-16-le"),
)  # fmt: skip
VERSIONS = (b"HTTP/1.1 ", b"HTTP/1.1 ", b"HTTP/1.0 ", b"HTTP/2 ", b"HTTP/9.9 ", b"ICY ", b"http/1.1 ")
STATUSES = (
    b"200 OK", b"200 OK", b"200", b"404 Not Found", b"302 Found", b"301 x", b"999 z", b"100 Continue", b"103 Early",
    b"204 No", b"206 Partial", b"0200 OK", b"2000 OK", b"-1 x", b"200\xb2 OK", b"200 \xff\xfe", b"304 N", b"429 T",
)  # fmt: skip
HEADERS = {
    b"Content-Type": (
        b"text/html", b"text/html; charset=utf-16", b"text/html; charset=\xff", b"text/html; charset=base64",
        b'text/html; charset="', b"text/html; charset=" + b"x" * 500, b"text/html; charset=undefined", b"\xb2", b"",
    ),
    b"Content-Length": (b"5", b"99999999999999999999", b"-1", b"+5", b"0x10", b"1,1", b"", b"\xb2", b"\xd9\xa3"),
    b"Transfer-Encoding": (b"chunked", b"gzip, chunked", b"identity", b"xchunked", b"chunked, chunked"),
    b"Content-Encoding": (b"gzip", b"deflate", b"br", b"zstd", b"identity", b"gzip, gzip", b"\xff", b"x-gzip"),
    b"Location": (
        b"/b", b"//", b"http://[", b"\xff\xfe", b"http://127.0.0.1:1/", b"?x", b"", b"http://a b/", b"javascript:1",
        b"/" + b"a" * 9000, b"http://xn--\x80/", b"http://\xe7\xaa\xaf.example:99999/", b"http://127.0.0.1:\xb2/",
    ),
    b"Set-Cookie": (b"a=b", b"=", b";;;", b"a=" + b"x" * 5000, b"\xff=\x01", b"a\x00=b", b"a=b; Max-Age=\xb2"),
    b"Retry-After": (b"1", b"99999999999999", b"-5", b"\xff", b"\xb2", b"Wed, 99 Foo 9999 99:99:99 GMT"),
    b"Connection": (b"close", b"\xff", b""),
    b"": (b"x", b""),
}  # fmt: skip


def make(number: int) -> bytes:
    """The answer of a number: a head that is made up, often damaged, and a body."""
    chance = random.Random(number)
    names = [chance.choice(list(HEADERS)) for _ in range(chance.randint(0, 6))]
    lines = [name + b": " + chance.choice(HEADERS[name]) for name in names]
    lines += [chance.choice((b"NoColon", b": empty", b" folded", b"X: \x00"))] if chance.random() < 0.2 else []
    head = b"\r\n".join([chance.choice(VERSIONS) + chance.choice(STATUSES), *lines, b"", b""])
    data = bytearray(head + chance.choice(BODIES))
    for _ in range(chance.randint(1, 5) if chance.random() < 0.4 else 0):
        at = chance.randrange(len(data))
        data[at : at + chance.randint(0, 3)] = bytes([chance.randrange(256)]) * chance.randint(0, 3)
    return bytes(data)


async def read_all(first: int, count: int, *, stealth: bool) -> int:
    """Read so many answers as a page and as an original; how many could be."""
    options = replace(OPTIONS, plain_timeout=2.0, stealth_timeout=2.0, deadline=10.0, max_html_bytes=100_000)
    answer = b""
    good = 0

    def extract(fetched: Fetched) -> Candidate:
        return Candidate(fetched.body.decode("utf-8", "replace"))

    with Loopback(lambda call: Raw([answer])) as server:
        async with open_desk(options=options, stealth=stealth) as (context, session):
            for number in range(first, first + count):
                answer = make(number)
                # What one answer asks for must not silence the next.
                session.politeness = Politeness()
                mode = "raw" if number % 4 == 0 else "full"
                url = f"{server.url}/{number}"
                try:
                    await fallback.read(
                        url, mode=mode, context=context, options=options, extract=extract, session=session
                    )
                    good += 1
                except Fault as fault:
                    said = (fault.kind, fault.message)
                    assert fault.kind != "internal", said  # noqa: PT017 - a defect is what is looked for
    return good


@pytest.mark.parametrize(
    "stealth", [False, pytest.param(True, marks=pytest.mark.skipif(not is_installed(), reason="-"))]
)
async def test_no_answer_is_too_odd(stealth: bool) -> None:
    assert 0 < await read_all(0, 150, stealth=stealth) < 150


@pytest.mark.slow
@pytest.mark.parametrize(
    "stealth", [False, pytest.param(True, marks=pytest.mark.skipif(not is_installed(), reason="-"))]
)
async def test_no_answer_of_very_many_is_too_odd(stealth: bool, tries: Callable[[int, int], int]) -> None:
    assert await read_all(1000, tries(6000, 800), stealth=stealth)


@with_stealth
async def test_a_status_in_digits_that_are_no_number_is_none() -> None:
    with Loopback(lambda call: Raw([b"HTTP/1.1 200\xb2 OK\r\nContent-Length: 0\r\n\r\n"])) as server:
        try:
            response = await Stealth(None).send(  # type: ignore[arg-type]
                Request("GET", server.url, policy=Policy(timeout=60, allow_private=True))
            )
            status = response.status
        except Fault:
            status = 0

    assert status in (0, 200)
