"""What a hostile server writes to the socket without end, as pieces for `Raw` of the loopback server."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterator

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
PACKED = OK + b"Content-Encoding: gzip\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def endless(start: bytes, block: bytes) -> Iterator[bytes]:
    yield start
    yield from itertools.repeat(block)


# By name: how it starts, what it then repeats for ever, and words of the sentence that tells of it.
FLOODS: dict[str, tuple[bytes, bytes, str]] = {
    "chunks of one byte": (CHUNKED, chunk(b"w") * 10_000, "tiny pieces"),
    "chunks of sixteen bytes": (CHUNKED, chunk(b"w" * 16) * 4000, "tiny pieces"),
    "100 Continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2000, "announced an answer more than 8 times"),
    "103 Early Hints": (
        b"",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" * 1000,
        "announced an answer more than 8 times",
    ),
    "lines of a head": (OK, b"a: b\r\n" * 5000, "head of more than 32768 bytes"),
    "a line of a head": (OK + b"a: ", b"b" * 50_000, "head of more than 32768 bytes"),
    "a status line": (b"HTTP/1.1 200 ", b"O" * 50_000, "head of more than 32768 bytes"),
    "a continued line": (OK + b"a: b\r\n", b" c\r\n" * 5000, "head of more than 32768 bytes"),
    "blank lines": (b"", b"\r\n" * 20_000, "not HTTP"),
    "trailers": (CHUNKED + chunk(b"hello") + b"0\r\n", b"a: b\r\n" * 5000, "head of more than 32768 bytes"),
    "an extension of a chunk": (CHUNKED + b"5;", b"a=b;" * 10_000, "head of more than 32768 bytes"),
    "empty members of gzip": (PACKED, gzip.compress(b"") * 2000, "pieces that are too small"),
    "members of gzip with a byte": (PACKED, gzip.compress(b"x") * 2000, "pieces that are too small"),
    "empty blocks of gzip": (PACKED + gzip.compress(b"")[:10], b"\0\0\0\xff\xff" * 10_000, "bytes that are allowed"),
    "a file name in gzip": (PACKED + b"\x1f\x8b\x08\x08" + bytes(6), b"n" * 50_000, "bytes that are allowed"),
}
