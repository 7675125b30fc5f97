"""P14: owners and tenants never cross over HTTP: not by a tool, a resource, a prompt, a completion or a route."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

from specloom.cache import ERASURES, AnswerCache
from specloom.http.gate import Caller
from specloom.http.identity import NOBODY, Identity
from specloom.plugins import join_owner
from specloom.storage import AuditTrail, StateStores, add_member
from specloom.storage.store import StateStore
from tests.support.crossing import PURPOSES, SECRET, SPACE, live, sweep, without_the_question
from tests.support.operated import KEY, Operated, operate
from tests.support.research_server import ENVIRON, NOW, Server, shipped
from tests.support.server_process import call

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


class Shared:
    """A server over HTTP with the shipped specs, its stores, and what callers hear of it."""

    def __init__(self, folder: Path, isolation: str) -> None:
        state = folder / "state"
        state.mkdir()
        self.settings = {
            **ENVIRON,
            "ADMIN_API_KEY": KEY,
            "SPECLOOM_STATE_DIR": str(state),
            "SPECLOOM_CACHE_DIR": str(folder / "cache"),
        }
        warned: list[str] = []
        self.stores = StateStores(self.settings, [one.spec for one in shipped().collections.values()])
        self.research = Server(
            self.settings,
            stores=self.stores,
            cache=AnswerCache(disk=None, key=None, warn=warned.append, erasures=state / ERASURES),
            audit=AuditTrail(self.settings, warned.append),
            isolate=isolation == "tenant",
            by_tenant=True,
        )
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


@pytest.fixture(params=["shared", "tenant"])
def shared(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shared]:
    # Tools that keep files keep them here.
    for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    made = Shared(tmp_path, request.param)
    with made.running as made.desk:
        yield made


def find_words(heard: str, ids: dict[str, str], owner: str) -> list[str]:
    """Which words of the first user there are in what another one has heard who does not have that word as well."""
    said = without_the_question(heard, ids)
    return [word for word in (SECRET, TENANT, USER) if word in said and word not in owner.split("/")]


@pytest.mark.parametrize("other", OTHERS)
async def test_who_asks_for_everything_hears_nothing_of_another(shared: Shared, other: str) -> None:
    # The same question is answered of what is kept, by intent: to everybody, or to those of the tenant.
    ids = await shared.fill("otters of the north")
    before = await shared.export()
    heads: list[str] = []

    async with shared.client(OTHERS[other], heads) as client:
        heard = await sweep(client, ids)

    crossed = {name: words for name, told in heard.items() if (words := find_words(told, ids, OTHERS[other]))}
    assert crossed == {}
    assert len(heard) > 60
    assert len(heads) > len(heard)
    assert find_words("\n".join(heads), {}, OTHERS[other]) == []
    after = await shared.export()
    assert after == before, "what another one asked for changed nothing"
    assert shared.desk.server.reported == []


async def test_the_sweep_sees_a_store_that_does_not_look_at_owners(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await shared.fill("otters of the north")
    first, open_drawer = join_owner(TENANT, USER), StateStore.drawer
    monkeypatch.setattr(
        StateStore, "drawer", lambda self, collection, owner, **more: open_drawer(self, collection, first, **more)
    )

    async with shared.client(OTHERS["another tenant"]) as client:
        heard = await sweep(client, ids)

    crossed = {name for name, told in heard.items() if find_words(told, ids, OTHERS["another tenant"])}
    assert {"get_research_session", "memory_recall", f"research://session/{ids['session']}"} <= crossed


async def test_a_kept_answer_is_of_those_for_whom_it_is_kept(shared: Shared) -> None:
    await shared.fill("otters of the north")
    asked = {}

    for name, owner in {"the same": FIRST, **OTHERS}.items():
        async with shared.client(owner) as client:
            answer = await client.call_tool("web_search", {"query": "otters of the north"})
        asked[name] = (answer.meta or {})["cached"], SECRET in answer.content[0].text

    everybody = not shared.research.executor.isolate
    assert asked["the same"] == asked["another user of the tenant"] == (True, True)
    assert asked["another tenant"] == asked["nobody"] == (everybody, everybody)


async def test_no_route_tells_of_anybody_without_the_key_of_operators(shared: Shared) -> None:
    ids = await shared.fill("otters of the north")
    paths = [*shared.desk.server.app.routes, "/.well-known/oauth-protected-resource", "/admin", "/nothing"]
    assert {"/admin/data", "/admin/audit", "/admin/analytics", "/dashboard/data", "/metrics"} <= set(paths)

    told = {}
    for path in paths:
        for method in ("GET", "HEAD", "POST", "DELETE", "PUT", "OPTIONS"):
            for query in ("", f"?tenant_id={TENANT}&user_id={USER}&purpose=memory"):
                for key in ("", "not the key of anybody"):
                    headers = {"X_Test_Owner": OTHERS["another tenant"], "Content_Type": "application/json"}
                    answer = shared.desk.ask(path + query, method, b"{}", key=key, **headers)
                    if path not in ("/mcp", "/mcp/", "/health/live", "/health/ready", "/dashboard"):
                        assert answer.status >= 400, (path, method)
                    told[f"{method} {path}{query} {key}"] = f"{answer.headers}{answer.body.decode()}"

    assert {
        name: words for name, one in told.items() if (words := find_words(one, ids, OTHERS["another tenant"]))
    } == {}


async def test_an_operator_who_asks_for_one_tenant_is_told_of_that_one(shared: Shared) -> None:
    ids = await shared.fill("otters of the north")
    other = OTHERS["another tenant"]
    async with shared.client(other) as client:
        await sweep(client, ids)
    asked = {
        path: shared.desk.ask(f"{path}?tenant_id=southpaw{more}").body.decode()
        for path, more in {
            "/admin/data": "",
            "/admin/analytics": "",
            "/admin/audit": "&limit=10000",
            "/admin/consent": "&user_id=adelheid&purpose=memory",
        }.items()
    }
    whole = shared.desk.ask(f"/admin/data?tenant_id={TENANT}").body.decode()

    assert {path: words for path, text in asked.items() if (words := find_words(text, ids, other))} == {}
    assert "southpaw" in asked["/admin/analytics"]
    assert SECRET in whole


async def test_an_erasure_of_one_tenant_leaves_another_as_it_was(shared: Shared) -> None:
    await shared.fill("otters of the north")
    before = await shared.export()

    for path in ("/admin/data", "/admin/sessions"):
        assert shared.desk.ask(f"{path}?tenant_id=southpaw", "DELETE").status == 200

    after = await shared.export()
    assert json.dumps(after, default=str) == json.dumps(before, default=str)
    assert after


async def test_one_new_question_of_many_tenants_is_asked_once_or_for_each(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants, asked, all_wait = 32, [], asyncio.Event()
    send, run = shared.research.web.send, shared.desk.service.run
    message = call(1, "web_search", {"query": "how do otters sleep"})

    def run_and_count(*given: Any) -> Any:
        task = run(*given)
        if shared.desk.service.running == tenants:
            all_wait.set()
        return task

    async def answer_when_all_wait(request: Any) -> Any:
        asked.append(request.url)
        await all_wait.wait()
        return await send(request)

    monkeypatch.setattr(shared.research.web, "send", answer_when_all_wait)
    monkeypatch.setattr(shared.desk.service, "run", run_and_count)
    with ThreadPoolExecutor(tenants) as pool:
        answers = list(pool.map(lambda n: shared.desk.server.post(message, X_Test_Owner=f"t{n}/ann"), range(tenants)))

    assert [len(one.json["result"]["structuredContent"]["results"]) for one in answers] == [2] * tenants
    assert len(asked) == (tenants if shared.research.executor.isolate else 1)
