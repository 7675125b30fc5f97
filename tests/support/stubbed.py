"""The product over the core of the protocol, with every upstream stubbed: what a client asks, and what it is told.

A stub is named by a part of its address, longest first; it answers with JSON, with text, or with a status.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from specloom.core import Fault, Request, Response
from specloom.model import Model
from specloom.runtime import Executor, Presenter
from specloom.server.backend import Backends
from specloom.server.calls import LiveCall
from specloom.server.catalogue import Catalogue
from specloom.server.connection import Connection
from tests.support.server_process import initialize, request
from tests.support.shipped import shipped_model

NOW = 1_764_000_000.0
"""2025-11-24, when the stubbed services live."""
Stub = Any
"""JSON, text, `(status, headers, JSON)`, a fault, or a function of the request that gives one of these."""


@dataclass
class Upstreams:
    """Answers as the services do whose addresses are named, and as a dead one everywhere else."""

    stubs: Mapping[str, Stub] = field(default_factory=dict)
    otherwise: Stub = (503, {}, {})
    asked: list[Request] = field(default_factory=list)

    async def send(self, request: Request) -> Response:
        self.asked.append(request)
        full = f"{request.url}?{urlencode([(name, str(value)) for name, value in request.query])}"
        names = sorted((name for name in self.stubs if name in full), key=len, reverse=True)
        return self._respond(self.stubs[names[0]] if names else self.otherwise, request)

    def _respond(self, stub: Stub, request: Request) -> Response:
        if callable(stub):
            stub = stub(request)
        if isinstance(stub, Fault):
            raise stub
        status, headers, body = stub if isinstance(stub, tuple) else (200, {}, stub)
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        return Response(status, headers, raw, request.url)

    async def aclose(self) -> None:
        """Nothing is open."""

    def providers(self) -> list[str]:
        """Whom the requests were for, in order."""
        return [one.provider for one in self.asked]

    def count(self) -> Counter[str]:
        """The requests by provider."""
        return Counter(self.providers())


class Product:
    """A server with the shipped specs (or others) under these variables, asked by one client."""

    def __init__(
        self,
        upstreams: Upstreams,
        environ: Mapping[str, str] | None = None,
        *,
        model: Model | None = None,
        clock: Callable[[], float] = lambda: NOW,
        owner: str = "",
        **options: Any,
    ) -> None:
        self.executor = Executor(
            model or shipped_model(), environ=environ or {}, sender=upstreams, clock=clock, validate=True, **options
        )
        names = frozenset(self.executor.model.tools)
        backends = Backends(self.executor, prompts={}, tools=names, presenter=Presenter(self.executor))
        self._backend = backends.make(owner)
        self._sent: list[dict[str, Any]] = []
        self._connection = Connection(
            Catalogue(name="stubbed", version="1", tool_names=names), lambda frame: self._sent.append(json.loads(frame))
        )
        self._connection.handle(json.dumps(initialize()).encode())

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a `tools/call`."""
        message = request(1, "tools/call", {"name": tool, "arguments": arguments})
        live = self._connection.handle(json.dumps(message).encode())
        assert isinstance(live, LiveCall), live
        await live.run(self._backend)
        result: dict[str, Any] = self._sent.pop()["result"]
        return result

    async def answer(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a call that succeeds."""
        result = await self.call(tool, **arguments)
        assert not result.get("isError"), result
        answer: dict[str, Any] = result["structuredContent"]
        return answer


def works(*titles: str) -> dict[str, Any]:
    """What Crossref answers to a search: works of which it is not known whether anybody may read them."""
    items = [
        {"title": [title], "DOI": f"10.1234/{at}", "URL": f"https://doi.org/10.1234/{at}"}
        for at, title in enumerate(titles)
    ]
    return {"status": "ok", "message": {"total-results": len(items), "items": items}}


def articles(*titles: str) -> dict[str, Any]:
    """What Europe PMC answers to a search: articles that are open, with a PDF."""
    found = []
    for at, title in enumerate(titles):
        copy = {"availabilityCode": "OA", "documentStyle": "pdf", "url": f"https://europepmc.org/{at}.pdf"}
        known = {"id": str(at), "source": "MED", "title": title, "doi": f"10.5678/{at}", "pubYear": "2024"}
        found.append({**known, "isOpenAccess": "Y", "fullTextUrlList": {"fullTextUrl": [copy]}})
    return {"hitCount": len(found), "resultList": {"result": found}}
