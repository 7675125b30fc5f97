"""search_and_scrape in time: how many sources are read side by side, and what hangs, is late or is cancelled."""

from __future__ import annotations

import asyncio
import threading

import pytest

from specloom.domains.scrape.search import gather as gathering
from tests.domains.scrape.test_client_sources import Shelf, gather, prose, to_page, two
from tests.support.browser import until
from tests.support.loopback import Call, Reply
from tests.support.scrape_client import ask, connected


async def test_five_sources_are_read_at_once() -> None:
    shelf = Shelf({f"/{number}": to_page("Otters", *prose(f"page {number}")) for number in range(10)})
    lock, five = threading.Lock(), threading.Event()
    active, peak = 0, 0

    def answer(call: Call) -> Reply:
        nonlocal active, peak
        if call.path != "/search":
            with lock:
                active += 1
                peak = max(peak, active)
                if active == 5:
                    five.set()
            five.wait(60)
            # Time for a sixth one to come, if it did.
            shelf.server.stopped.wait(0.2)
            with lock:
                active -= 1
        return shelf.answer(call)

    shelf.server.handler = answer
    said = await gather(shelf, num_results=10)

    assert (said["summary"]["urlsScraped"], peak) == (10, 5)


async def test_sources_that_hang_keep_no_other_from_being_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "PATIENCE", 0.05)
    shelf = Shelf({f"/{number}": to_page("Otters", *prose(f"page {number}")) for number in range(8)})
    rest = threading.Event()
    left = {"/5", "/6", "/7"}

    def answer(call: Call) -> Reply:
        if call.path in {f"/{number}" for number in range(5)}:
            # Only when all the others were read; not for ever, lest a test hang with them.
            rest.wait(60)
        left.discard(call.path)
        if not left:
            rest.set()
        return shelf.answer(call)

    shelf.server.handler = answer
    said = await gather(shelf, num_results=8)

    assert said["summary"]["urlsScraped"] == 8
    assert rest.is_set()


async def test_what_was_read_in_time_is_told_with_what_was_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "ENOUGH", 3.0)
    shelf = two()
    told: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    def answer(call: Call) -> Reply:
        if call.path == "/rain":
            shelf.server.stopped.wait(60)
        return shelf.answer(call)

    shelf.server.handler = answer
    with shelf.server as server:
        async with connected(cached=True, SHELF_URL=server.url) as client:
            # Remembered, so that three seconds are enough on any machine.
            await ask(client, "scrape_page", url=server.url + "/otters")
            result = await client.call_tool("search_and_scrape", {"query": "otters"}, progress_callback=hear)
            server.stopped.set()

    said = result.structured_content
    assert said["status"] == "partial"
    assert [one["url"].rpartition("/")[2] for one in said["sources"]] == ["otters"]
    late = next(one for one in said["scrapeFailures"] if one["url"].endswith("/rain"))
    assert (late["kind"], late["retryable"]) == ("network", True)
    assert "not read within the 3 seconds of this call" in late["reason"]
    assert told[-1] == (3, 3)


@pytest.mark.parametrize("patience", [0.01, 60.0])
async def test_a_cancelled_call_reads_nothing_more(patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "PATIENCE", patience)
    shelf = Shelf({f"/{number}": to_page("Otters", *prose(f"page {number}")) for number in range(10)})
    asked, over = threading.Semaphore(0), threading.Event()

    def answer(call: Call) -> Reply:
        if call.path != "/search":
            asked.release()
            over.wait(60)
        return shelf.answer(call)

    shelf.server.handler = answer
    with shelf.server as server:
        async with connected(SHELF_URL=server.url) as client:
            call = asyncio.create_task(client.call_tool("search_and_scrape", {"query": "otters", "num_results": 10}))
            for _ in range(5):
                assert await asyncio.to_thread(asked.acquire, timeout=60)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await until(lambda: not any("read_page" in repr(task) for task in asyncio.all_tasks()))
            over.set()

    assert len(shelf.read()) == 5 or patience < 1, "whoever waits for a turn does not get it any more"


async def test_progress_tells_how_many_are_read() -> None:
    told: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert "sources" in (message or "")
        told.append((progress, total))

    shelf = two()
    with shelf.server as server:
        async with connected(SHELF_URL=server.url) as client:
            await client.call_tool("search_and_scrape", {"query": "otters"}, progress_callback=hear)

    assert told == [(1, 3), (2, 3), (3, 3)]
