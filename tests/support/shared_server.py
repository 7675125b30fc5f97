"""A server over HTTP with the shipped specs, whose callers are who a header says, with stores of its own or shared."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

from specloom.cache import ERASURES, AnswerCache
from specloom.http.gate import Caller
from specloom.http.identity import NOBODY, Identity
from specloom.plugins import join_owner
from specloom.storage import AuditTrail, StateStores, add_member
from tests.support.crossing import PURPOSES, SPACE, live
from tests.support.operated import KEY, Operated, operate
from tests.support.redis_server import RedisServer
from tests.support.research_server import ENVIRON, NOW, Server, shipped

TENANT, USER = "northwind", "adelheid"
FIRST = f"{TENANT}/{USER}"
OTHERS = {"another tenant": "southpaw/adelheid", "another user of the tenant": "northwind/gudrun", "nobody": ""}
CALLER = "X-Test-Owner"


class SaidGate:
    """Callers are who a header says, and nobody without it."""

    is_ready = True

    async def admit(self, headers: Any, query: bytes) -> Caller:
        tenant, _, user = dict(headers).get(CALLER.lower().encode(), b"").decode().partition("/")
        if not user:
            return Caller(NOBODY.owner, identity=NOBODY)
        return Caller(join_owner(tenant, user), identity=Identity(tenant, user))

    def check(self, caller: Caller, message: dict[str, Any]) -> None:
        """Everything is allowed."""


class SharedServer:
    """A server over HTTP with the shipped specs, its stores, and what callers hear of it."""

    def __init__(self, folder: Path, isolation: str, redis: RedisServer | None = None, prefix: str = "") -> None:
        """`isolation` is of kept answers; with `redis` what is remembered is there, under a prefix."""
        state = folder / "state"
        state.mkdir(exist_ok=True)
        self.settings = {
            **ENVIRON,
            "ADMIN_API_KEY": KEY,
            "SPECLOOM_STATE_DIR": str(state),
            "SPECLOOM_CACHE_DIR": str(folder / "cache"),
        }
        if redis is not None:
            where = {"SPECLOOM_STATE": "redis", "SPECLOOM_STATE_REDIS_URL": redis.url}
            self.settings |= {
                **where,
                "REDIS_PREFIX": prefix or f"{uuid.uuid4().hex}:",
                "SPECLOOM_CACHE_KEY": "ab" * 32,
            }
        warned: list[str] = []
        collections = [one.spec for one in shipped().collections.values()]
        self.stores = StateStores(self.settings, collections, may_share=True, warn=warned.append)
        self.research = Server(
            self.settings,
            stores=self.stores,
            cache=AnswerCache(disk=None, key=None, warn=warned.append, erasures=state / ERASURES),
            audit=AuditTrail(self.settings, warned.append),
            isolate=isolation == "tenant",
            by_tenant=True,
        )
        self.research.executor.closing.append(self.stores.aclose)
        self.running = operate(
            self.research.executor, self.settings, state, [], warned, prompts=self.research.prompts, gate=SaidGate()
        )
        self.desk: Operated

    @contextlib.asynccontextmanager
    async def client(self, owner: str, heads: list[str] | None = None) -> AsyncIterator[Client]:
        """The official client as a caller; the heads of answers are added to `heads`."""

        async def note(response: Any) -> None:
            if heads is not None:
                heads.append(str(response.headers))

        async with create_mcp_http_client(headers={CALLER: owner} if owner else {}) as web:
            web.event_hooks["response"].append(note)
            address = f"http://127.0.0.1:{self.desk.server.port}/mcp"
            async with Client(streamable_http_client(address, http_client=web)) as client:
                yield client

    async def on_loop(self, work: Coroutine[Any, Any, Any]) -> Any:
        """What is done on the loop that serves."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.desk.server.loop))

    async def export(self) -> Any:
        """Everything that is kept of the first user."""
        return await self.on_loop(self.stores.store().export(join_owner(TENANT, USER)))

    async def fill(self, query: str) -> dict[str, str]:
        """Keep something of everything as the first user; the identifiers of what is kept."""
        for owner in (FIRST, *filter(None, OTHERS.values())):
            await self.on_loop(self.research.agree(join_owner(*owner.split("/")), *PURPOSES))
        first = join_owner(TENANT, USER)
        members = self.stores.drawer("members", first, space=SPACE)
        await self.on_loop(add_member(members, first, NOW))
        async with self.client(FIRST) as client:
            return await live(client, self.research.web, query=query)
