"""The client that looks like a browser gives up what has no end, and tells broken answers in a sentence."""

from __future__ import annotations

import asyncio

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Policy, Request
from specloom.domains.scrape.fetch.stealth import Stealth
from specloom.net.connections import resolve_name
from tests.support.loopback import RESET, Loopback, Raw, Reply
from tests.support.wire import CHUNKED, FLOODS, OK, chunk, endless

pytest.importorskip("curl_cffi", reason="the extra `stealth` is not installed")

BROKEN: dict[str, tuple[Reply, str]] = {
    "a reset": (RESET, "closed the connection before its answer was complete"),
    "an end before the answer": (Raw([]), "closed the connection without an answer"),
    "an end in the body": (
        Raw([OK + b"Content-Length: 100\r\n\r\npart"]),
        "closed the connection before its answer was complete",
    ),
    "HTTP/0.9": (Raw([b"<html>hello</html>"]), "sent something that is not HTTP"),
    "gzip that is none": ((200, {"Content-Encoding": "gzip"}, b"not gzip"), "sent a body that cannot be decompressed"),
    "chunks of one byte": (Raw(endless(CHUNKED, chunk(b"w") * 10_000)), "sends its answer in tiny pieces"),
    "100 Continue": (Raw(endless(*FLOODS["100 Continue"][:2])), "sent more header lines than are allowed"),
    "lines of a head": (Raw(endless(*FLOODS["lines of a head"][:2])), "sent a head that is too large"),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_what_is_broken_or_endless_is_told_in_a_sentence(name: str) -> None:
    reply, words = BROKEN[name]
    with Loopback(lambda call: reply) as server:
        async with asyncio.timeout(120):
            with pytest.raises(Fault) as caught:
                await Stealth(resolve_name).send(
                    Request("GET", server.url, policy=Policy(allow_private=True, timeout=60))
                )

    assert caught.value.kind == "network"
    assert caught.value.message.startswith(f"127.0.0.1 {words}")
