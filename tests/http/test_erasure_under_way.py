"""Who is erased by one worker while another answers them: nothing of theirs is left by that answer."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from specloom.core import Fault
from specloom.plugins import join_owner
from tests.support.crossing import PURPOSES, SECRET
from tests.support.http_server import Answer
from tests.support.redis_server import RedisServer
from tests.support.server_process import call
from tests.support.shared_server import FIRST, TENANT, USER, SharedServer

OWNER = join_owner(TENANT, USER)
PATIENCE = 30.0


@pytest.fixture(params=["folder", "redis"])
def workers(request: Any, tmp_path: Path) -> Iterator[tuple[SharedServer, SharedServer]]:
    """Two workers of one server: they have one folder, and remember in it or on one Redis."""
    with ExitStack() as stack:
        redis = stack.enter_context(RedisServer()) if request.param == "redis" else None
        made = []
        for _ in range(2):
            worker = SharedServer(tmp_path, "tenant", redis, prefix="specloom:")
            worker.desk = stack.enter_context(worker.running)
            made.append(worker)
        yield made[0], made[1]


def ask(worker: SharedServer, tool: str, **arguments: Any) -> Answer:
    return worker.desk.server.post(call(1, tool, arguments), X_Test_Owner=FIRST)


def answer_while_erased(
    workers: tuple[SharedServer, SharedServer],
    monkeypatch: pytest.MonkeyPatch,
    question: Callable[[], Answer],
    *,
    fails: bool = False,
) -> Answer:
    """What a question is answered whose user the second worker has erased before an upstream answered the first."""
    one, two = workers
    entered, may_go, send = threading.Event(), threading.Event(), one.research.web.send

    async def wait(request: Any) -> Any:
        entered.set()
        assert await asyncio.to_thread(may_go.wait, PATIENCE)
        if fails:
            raise Fault("network", "the upstream is away")
        return await send(request)

    monkeypatch.setattr(one.research.web, "send", wait)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(question)
        assert entered.wait(PATIENCE)
        erased = two.desk.ask(f"/admin/data?tenant_id={TENANT}&user_id={USER}", "DELETE")
        assert erased.status == 200, erased
        # The first worker notices while it still answers.
        assert one.desk.ask("/dashboard/data").status == 200
        may_go.set()
        return answer.result(PATIENCE)


def find_in_files(folder: Path) -> list[Path]:
    """The files in which the user's word stands."""
    return [path for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


async def find_left(worker: SharedServer) -> list[str]:
    """What a worker has of the user beside the refusals that an erasure leaves."""
    kept = await worker.export()
    kept.pop("consents", None)
    left = [name for name, items in kept.items() if items]
    executor = worker.research.executor
    if executor.cache is not None and executor.cache.stats()["entries"]:
        left.append("kept answers")
    return left + ["failures"] * bool(executor.failures.of(TENANT))


async def test_a_search_in_a_session_leaves_nothing_of_who_was_erased(
    workers: tuple[SharedServer, SharedServer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one, two = workers
    await one.on_loop(one.research.agree(OWNER, *PURPOSES))
    step = {"searchStep": SECRET, "stepNumber": 1, "nextStepNeeded": True}
    begun = (await asyncio.to_thread(lambda: ask(one, "sequential_search", **step))).json["result"]
    session = begun["structuredContent"]["sessionId"]
    assert "sessions" in await find_left(two)

    question = {"query": f"{SECRET} otters", "sessionId": session}
    answer = await asyncio.to_thread(
        answer_while_erased, workers, monkeypatch, lambda: ask(one, "web_search", **question)
    )
    monkeypatch.undo()
    again = await asyncio.to_thread(lambda: ask(one, "web_search", query=f"{SECRET} otters"))

    assert answer.json["result"]["structuredContent"]["results"]
    assert "Nothing of this call was recorded in a session" in json.dumps(answer.json)
    assert again.json["result"]["_meta"]["cached"] is False
    for worker in workers:
        worker.research.executor.cache.clear()  # type: ignore[union-attr]
        assert await find_left(worker) == []
    assert await asyncio.to_thread(find_in_files, tmp_path) == []


async def test_a_large_answer_is_sent_whole_and_kept_nowhere(
    workers: tuple[SharedServer, SharedServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = workers
    one.research.web.results[:] = [
        {"title": f"{SECRET} {at}", "url": f"https://o{at}.example/", "description": "otters " * 400}
        for at in range(20)
    ]

    def question() -> Answer:
        return ask(one, "web_search", query=SECRET, num_results=20)

    await asyncio.to_thread(question)
    left = await find_left(one)
    one.research.executor.cache.clear()  # type: ignore[union-attr]
    answer = await asyncio.to_thread(answer_while_erased, workers, monkeypatch, question)

    assert "artifacts" in left, "it is large enough to be kept as a link"
    assert len(answer.json["result"]["structuredContent"]["results"]) == 20
    for worker in workers:
        assert await find_left(worker) == []


async def test_a_call_that_fails_is_not_among_the_newest_failures(
    workers: tuple[SharedServer, SharedServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = workers
    question = {"query": SECRET, "provider": "brave"}
    answer = await asyncio.to_thread(
        answer_while_erased, workers, monkeypatch, lambda: ask(one, "web_search", **question), fails=True
    )

    assert answer.json["result"]["isError"]
    shown = [worker.desk.ask("/dashboard/data").json["recentErrors"] for worker in workers]
    assert shown == [[], []]
    assert await find_left(two) == []
