"""Audits over registries that are played from a world, with a store for what they keep."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from trust_registries import Registries

from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.runtime.executor import Executor
from specloom.storage.state import Artifacts
from specloom.storage.store import open_memory
from tests.support.research_server import NOW, shipped

WORLD: Mapping[str, Any] = {
    "crossref": {
        "10.1234/swim": {
            "title": "How otters swim under winter ice",
            "authors": [["Otter", "Ann"], ["Weir", "Bob"]],
            "year": 2021,
            "venue": "Journal of Otters",
        },
        "10.1234/fly": {
            "title": "How otters fly in summer",
            "authors": [["Mink", "Mia"]],
            "year": 2009,
            "venue": "Journal of Otters",
            "updates": [{"doi": "10.1234/notice", "type": "retraction", "source": "publisher", "date": "2010-02-06"}],
        },
    },
    "pages": {"https://pages.example.org/river": {"title": "A river guide"}},
}


class Played:
    """Sends to registries that are played."""

    def __init__(self, registries: Registries, files: Mapping[str, tuple[str, bytes]]) -> None:
        self.registries, self.files = registries, files

    async def send(self, request: Request) -> Response:
        """The answer of the one who is asked, or the file under an address."""
        if request.url in self.files:
            kind, body = self.files[request.url]
            return Response(200, {"content-type": kind}, body, request.url)
        answer = self.registries.respond(request)
        if isinstance(answer, Fault):
            raise answer
        return answer

    async def aclose(self) -> None:
        """Nothing is open."""


@dataclass
class Desk:
    """Where audits are asked for: the engine, what it keeps, and who is asked."""

    executor: Executor
    registries: Registries

    async def audit(self, **given: Any) -> dict[str, Any]:
        """The answer of an audit."""
        return (await self.executor.call("audit_bibliography", given)).answer

    async def read(self, address: str) -> Any:
        """What is kept under an address."""
        assert self.executor.artifacts is not None
        kept = await self.executor.artifacts.read("", address.removeprefix("research://artifact/"))
        assert kept is not None
        return kept


@asynccontextmanager
async def desk(
    world: Mapping[str, Any] = WORLD,
    *,
    down: frozenset[str] = frozenset(),
    keeps: bool = True,
    files: Mapping[str, tuple[str, bytes]] | None = None,
    settings: Mapping[str, str] | None = None,
) -> AsyncIterator[Desk]:
    """An engine over a world, in which those that are `down` do not answer; `files` are types and bodies by address."""
    model = shipped()
    registries = Registries(world, down)
    store = open_memory([one.spec for one in model.collections.values()], clock=lambda: NOW)
    executor = Executor(
        model,
        environ={"CHROME_PATH": "disabled", "CROSSREF_EMAIL": "team@otters.example", **(settings or {})},
        sender=Played(registries, files or {}),
        drawers=store,
        artifacts=Artifacts(store, model.address_artifact) if keeps else None,
        clock=lambda: NOW,
    )
    try:
        yield Desk(executor, registries)
    finally:
        await executor.aclose()
        store.close()
