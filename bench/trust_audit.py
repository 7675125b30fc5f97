"""How long an audit of 200 entries takes over a loopback upstream of 200 ms latency, and how much it asks at once.

    python bench/trust_audit.py [--entries N] [--latency SECONDS] [--hosts N]

The answers of the registry and of every page come from one server on this machine, over the guarded transport. Two
audits are measured: of entries with a DOI alone, and of entries with an address as well, which are spread over hosts as
those of a bibliography are, eight at a time. The exit code is 1 when one of them takes eight seconds or more, or more
is asked at once than is declared.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from specloom.compiler.build import weave_from
from specloom.core.messages import Request, Response
from specloom.net.transport import Transport
from specloom.runtime.executor import Executor
from specloom.specs.library import shipped_root

BUDGET = 8.0
DECLARED = {"page": 8, "works": 3}
"""Requests at once: addresses that are looked at, and what the spec of the registry allows."""


class Upstream:
    """One server for everything: pages under /page/, works by DOI under /works."""

    def __init__(self, latency: float) -> None:
        self.latency = latency
        self.under_way: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.count: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while line := await reader.readline():
                while (await reader.readline()).strip():
                    pass
                method, target, _ = line.decode().split(" ", 2)
                await self._answer(writer, method, target)
        except (ConnectionError, ValueError):
            pass
        finally:
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, method: str, target: str) -> None:
        kind = "works" if target.startswith("/works") else "page"
        self.count[kind] += 1
        self.under_way[kind] += 1
        self.most[kind] = max(self.most[kind], self.under_way[kind])
        await asyncio.sleep(self.latency)
        self.under_way[kind] -= 1
        body = self._works(target) if kind == "works" else b"<title>Otters</title>"
        media = "application/json" if kind == "works" else "text/html"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        writer.write(head if method == "HEAD" else head + body)
        await writer.drain()

    def _works(self, target: str) -> bytes:
        wanted = parse_qs(urlsplit(target).query)["filter"][0].split(",")
        items = [{"DOI": one.removeprefix("doi:"), "title": ["How otters swim"]} for one in wanted]
        return json.dumps({"message": {"items": items}}).encode()


class Detour:
    """A sender that takes what is meant for the registry to the server on this machine."""

    def __init__(self, transport: Transport, base: str) -> None:
        self.transport, self.base = transport, base

    async def send(self, request: Request) -> Response:
        """The server's answer."""
        if request.url.startswith("https://api.crossref.org/"):
            url = request.url.replace("https://api.crossref.org", self.base)
            request = replace(request, url=url, policy=replace(request.policy, allow_private=True))
        return await self.transport.send(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.transport.aclose()


async def measure(entries: int, latency: float, hosts: int, *, pages: bool) -> dict[str, Any]:
    """The seconds that one audit took, what was asked, and how much of it at once."""
    upstream = Upstream(latency)
    server = await asyncio.start_server(upstream.serve, "0.0.0.0", 0)
    port = server.sockets[0].getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    model = weave_from([shipped_root()])[0]
    sender = Detour(Transport(allow_private=True), base)
    executor = Executor(model, environ={"CROSSREF_EMAIL": "ann@example.org"}, sender=sender, allow_private=True)
    given = [{"doi": f"10.1234/otters.{at}"} for at in range(entries)]
    for at, entry in enumerate(given if pages else ()):
        entry["url"] = f"http://127.0.0.{1 + at % hosts}:{port}/page/{at}"
    try:
        began = time.perf_counter()
        answer = (await executor.call("audit_bibliography", {"entries": given})).answer
        seconds = time.perf_counter() - began
    finally:
        await executor.aclose()
        await sender.aclose()
        server.close()
    return {
        "seconds": round(seconds, 2),
        "ok": answer["summary"]["ok"],
        "requests": dict(upstream.count),
        "most_at_once": dict(upstream.most),
    }


def main(arguments: Sequence[str]) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="The time of an audit over a slow loopback upstream.")
    parser.add_argument("--entries", type=int, default=200, help="entries of the list")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds before each answer")
    parser.add_argument("--hosts", type=int, default=100, help="addresses of loopback that the pages are spread over")
    options = parser.parse_args(arguments)
    is_within = True
    for pages in (False, True):
        figures = asyncio.run(measure(options.entries, options.latency, options.hosts, pages=pages))
        print("with addresses" if pages else "DOIs alone", json.dumps(figures))
        is_within &= figures["seconds"] < BUDGET
        is_within &= all(figures["most_at_once"].get(kind, 0) <= most for kind, most in DECLARED.items())
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
