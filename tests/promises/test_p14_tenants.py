"""P14: owners and tenants never cross over HTTP: not by a tool, a resource, a prompt, a completion or a route."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from specloom.plugins import join_owner
from specloom.storage.redis_store import RedisStore
from specloom.storage.store import StateStore
from tests.support.crossing import SECRET, sweep, without_the_question
from tests.support.server_process import call
from tests.support.shared_server import FIRST, OTHERS, TENANT, USER, SharedServer


@pytest.fixture(params=["shared", "tenant", "tenant, state on Redis"])
def shared(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SharedServer]:
    # Tools that keep files keep them here.
    for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    isolation, _, elsewhere = request.param.partition(", ")
    made = SharedServer(tmp_path, isolation, request.getfixturevalue("redis_server") if elsewhere else None)
    with made.running as made.desk:
        yield made


def find_words(heard: str, ids: dict[str, str], owner: str) -> list[str]:
    """Which words of the first user there are in what another one has heard who does not have that word as well."""
    said = without_the_question(heard, ids)
    return [word for word in (SECRET, TENANT, USER) if word in said and word not in owner.split("/")]


@pytest.mark.parametrize("other", OTHERS)
async def test_who_asks_for_everything_hears_nothing_of_another(shared: SharedServer, other: str) -> None:
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


def open_as(store: Any, open_drawer: Any, owner: str, collection: str, _: str, **more: Any) -> Any:
    """The view of an owner, whoever asks for theirs."""
    return open_drawer(store, collection, owner, **more)


async def test_the_sweep_sees_a_store_that_does_not_look_at_owners(
    shared: SharedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await shared.fill("otters of the north")
    first = join_owner(TENANT, USER)
    for store in (StateStore, RedisStore):
        open_drawer: Any = store.drawer
        monkeypatch.setattr(store, "drawer", functools.partialmethod(open_as, open_drawer, first))

    async with shared.client(OTHERS["another tenant"]) as client:
        heard = await sweep(client, ids)

    crossed = {name for name, told in heard.items() if find_words(told, ids, OTHERS["another tenant"])}
    assert {"get_research_session", "memory_recall", f"research://session/{ids['session']}"} <= crossed
    assert "read_more" in crossed


async def test_a_kept_answer_is_of_those_for_whom_it_is_kept(shared: SharedServer) -> None:
    await shared.fill("otters of the north")
    asked = {}

    for name, owner in {"the same": FIRST, **OTHERS}.items():
        async with shared.client(owner) as client:
            answer = await client.call_tool("web_search", {"query": "otters of the north"})
        asked[name] = (answer.meta or {})["cached"], SECRET in answer.content[0].text

    everybody = not shared.research.executor.isolate
    assert asked["the same"] == asked["another user of the tenant"] == (True, True)
    assert asked["another tenant"] == asked["nobody"] == (everybody, everybody)


async def test_no_route_tells_of_anybody_without_the_key_of_operators(shared: SharedServer) -> None:
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


async def test_an_operator_who_asks_for_one_tenant_is_told_of_that_one(shared: SharedServer) -> None:
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


async def test_an_erasure_of_one_tenant_leaves_another_as_it_was(shared: SharedServer) -> None:
    await shared.fill("otters of the north")
    before = await shared.export()

    for path in ("/admin/data", "/admin/sessions"):
        assert shared.desk.ask(f"{path}?tenant_id=southpaw", "DELETE").status == 200

    after = await shared.export()
    assert json.dumps(after, default=str) == json.dumps(before, default=str)
    assert after


async def test_one_new_question_of_many_tenants_is_asked_once_or_for_each(
    shared: SharedServer, monkeypatch: pytest.MonkeyPatch
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
