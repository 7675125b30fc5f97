"""One engine over the shipped specs with one store, that several owners connect to through a real client."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcp import Client

from specloom.cache.cache import AnswerCache
from specloom.core.limits import Rate
from specloom.core.messages import Request, Response
from specloom.model.model import Model
from specloom.runtime.executor import Auditor, Executor
from specloom.server.backend import ExecutorBackend
from specloom.server.catalogue import Selection, make_catalogue
from specloom.server.sdk_host import Host
from specloom.specs.library import shipped_root
from specloom.specs.prompts import listed_prompt, load_prompts
from specloom.storage.consent import decide
from specloom.storage.state import Artifacts, StateStores
from specloom.storage.store import StateStore, open_memory, open_store
from tests.support.shipped import shipped_model

ERAS = ("2026-07-28", "legacy")
NOW = 1_767_225_600.0
ADA, GRACE = "north:ada", "south:grace"
SWITCHES = {
    "MEMORY_ENABLED": "true",
    "WORKSPACES_ENABLED": "true",
    "USER_ANALYTICS_ENABLED": "true",
    "MONITORING_ENABLED": "true",
    "ZOTERO_WRITE": "true",
}
KEYS = {"BRAVE_API_KEY": "k", "SERPER_API_KEY": "k", "CROSSREF_EMAIL": "team@otters.example"}
ENVIRON = {**KEYS, "SEARCH_ROUTING": "brave", "CHROME_PATH": "disabled", **SWITCHES}


UNPACED = Rate(10_000, 1.0)


@functools.cache
def shipped() -> Model:
    """The shipped specs, without the pace that providers ask for: nothing here reaches them."""
    model = shipped_model()
    at_once = {
        name: replace(one, service=replace(one.service, rate=one.service.rate and UNPACED, faster=()))
        for name, one in model.providers.items()
    }
    return replace(model, providers=at_once)


WORKS = {
    "message-type": "work-list",
    "message": {
        "items": [
            {
                "DOI": "10.1038/otters1",
                "URL": "https://doi.org/10.1038/otters1",
                "title": ["What otters eat"],
                "author": [{"given": "Ada", "family": "Diver"}],
                "published": {"date-parts": [[2021]]},
            }
        ]
    },
}
"""What the registry of works gives, cut to what is read."""


class Web:
    """Answers searches with what it holds, and refuses whoever comes with another provider's key."""

    def __init__(self) -> None:
        self.failing: set[str] = set()
        """Words of queries that nothing answers."""
        self.refusing = False
        """Whether too much was asked."""
        self.results = [
            {"title": "Sea otters", "url": "https://otters.example/sea", "description": "They hold hands."},
            {"title": "River otters", "url": "https://otters.example/river", "description": "They do not."},
        ]

    async def send(self, request: Request) -> Response:
        if "serper" in request.url:
            return Response(401, {}, b'{"message": "no"}', request.url)
        if self.refusing:
            return Response(429, {"retry-after": "600"}, b"{}", request.url)
        if any(word in json.dumps(request.query) for word in self.failing):
            return Response(500, {}, b"{}", request.url)
        if "crossref" in request.url:
            return Response(200, {"content-type": "application/json"}, json.dumps(WORKS).encode(), request.url)
        body = json.dumps({"query": {"original": "q"}, "web": {"results": self.results}}).encode()
        return Response(200, {"content-type": "application/json"}, body, request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


class Server:
    """One engine with one store, that several owners connect to."""

    def __init__(
        self,
        environ: Mapping[str, str] = ENVIRON,
        *,
        folder: Path | None = None,
        cache: AnswerCache | None = None,
        audit: Auditor | None = None,
        web: Web | None = None,
        stores: StateStores | None = None,
        **options: Any,
    ) -> None:
        """`stores` are those of a server that runs, and `options` those of the engine."""
        model = shipped()
        declared = [one.spec for one in model.collections.values()]
        self.web = web or Web()
        self.now = NOW
        """What its clock says, where nothing is on the disk."""
        self.stores = stores
        if stores is None:
            self.store: StateStore = (
                open_store(folder, environ, declared) if folder else open_memory(declared, clock=lambda: self.now)
            )
        kept = stores or self.store
        self.executor = Executor(
            model,
            environ=environ,
            sender=self.web,
            cache=cache,
            audit=audit,
            drawers=kept,
            artifacts=Artifacts(kept, model.address_artifact),
            clock=time.time if folder or stores else lambda: self.now,
            validate=True,
            **options,
        )
        prompts = load_prompts([str(shipped_root())])
        self.prompts = prompts
        self.catalogue = make_catalogue(
            model, Selection(["all"]), environ, prompts=[listed_prompt(one) for one in prompts.values()]
        )

    async def agree(self, owner: str, *purposes: str) -> None:
        for purpose in purposes:
            await decide((self.stores or self.store).drawer("consents", owner), owner, purpose, granted=True, now=NOW)

    @asynccontextmanager
    async def client(self, owner: str, era: str = ERAS[0], *, is_operator: bool = False) -> AsyncIterator[Client]:
        backend = ExecutorBackend(
            self.executor,
            owner=owner,
            prompts=self.prompts,
            tools=self.catalogue.tool_names,
            is_operator=is_operator,
        )
        async with Client(Host(self.catalogue, lambda: backend).server(), mode=era) as client:
            yield client


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    found: dict[str, Any] = result.structured_content
    text = result.content[0].text
    assert not text.startswith("{") or json.loads(text) == found
    return found


async def refused(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    block: dict[str, Any] = json.loads(result.content[0].text.partition("\n\n")[2])["error"]
    return block


async def read(client: Client, uri: str) -> Any:
    return json.loads((await client.read_resource(uri)).contents[0].text)


async def begin(client: Client, **more: Any) -> str:
    told = {"searchStep": "Read what zoos feed", "stepNumber": 1, "nextStepNeeded": True, "researchGoal": "otter diet"}
    session: str = (await ask(client, "sequential_search", **{**told, **more}))["sessionId"]
    return session
