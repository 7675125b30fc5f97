"""The scholarly tools behind a real MCP client, over the shipped specs and upstreams that a test writes down."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client

from specloom.core.messages import Request, Response
from specloom.runtime.executor import Executor
from specloom.server.backend import ExecutorBackend
from specloom.server.catalogue import Selection, make_catalogue
from specloom.server.sdk_host import Host
from tests.support.research_server import ERAS, NOW, shipped

Says = Any
"""What an upstream says: an HTTP status, bytes, text, JSON, or a function of the request that gives one of these."""
KEYS = {
    "OPENALEX_EMAIL": "team@otters.example",
    "CHROME_PATH": "disabled",
    "SEARCHAPI_API_KEY": "k",
    "EPO_OPS_CONSUMER_KEY": "k",
    "EPO_OPS_CONSUMER_SECRET": "s",
    "LENS_API_TOKEN": "k",
    "USPTO_API_KEY": "k",
}


class Upstreams:
    """Answers by the beginning of an address, the longest that fits; else not found. `asked` has all requests."""

    def __init__(self, says: Mapping[str, Says]) -> None:
        self.says = says
        self.asked: list[Request] = []

    async def send(self, request: Request) -> Response:
        self.asked.append(request)
        fitting = [start for start in self.says if request.url.startswith(start)]
        said = self.says[max(fitting, key=len)] if fitting else 404
        if isinstance(said, Callable):
            said = said(request)
        status, body = (said, b"") if isinstance(said, int) else (200, said)
        if isinstance(body, str):
            kind, raw = ("text/html" if "<html" in body else "application/xml"), body.encode()
        elif isinstance(body, bytes):
            kind, raw = "application/pdf", body
        else:
            kind, raw = "application/json", json.dumps(body).encode()
        return Response(status, {"content-type": f"{kind}; charset=utf-8"}, raw, request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


@asynccontextmanager
async def connected(
    says: Mapping[str, Says], *without: str, **settings: str
) -> AsyncIterator[tuple[Client, Upstreams]]:
    """A client, and the upstreams behind it; `without` are settings that are missing."""
    environ = {name: value for name, value in (KEYS | settings).items() if name not in without}
    upstreams = Upstreams(says)
    executor = Executor(shipped(), environ=environ, sender=upstreams, clock=lambda: NOW, is_live=False, validate=True)
    catalogue = make_catalogue(shipped(), Selection(["all"]), environ, prompts=[])
    backend = ExecutorBackend(executor, owner="north:ada", tools=catalogue.tool_names)
    try:
        async with Client(Host(catalogue, lambda: backend).server(), mode=ERAS[0]) as client:
            yield client, upstreams
    finally:
        await executor.aclose()
