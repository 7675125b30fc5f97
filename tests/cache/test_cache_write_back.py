"""An answer is in memory as soon as it is given, and on disk at the latest when the engine is closed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from specloom.cache.cache import AnswerCache
from specloom.core.messages import Request, Response
from tests.support.demo_specs import demo_executor, write_demo

KEY = bytes(range(32))


class Upstream:
    """A sender that answers without a network, and counts."""

    def __init__(self) -> None:
        self.sent = 0

    async def send(self, request: Request) -> Response:
        self.sent += 1
        return Response(200, {"content-type": "application/json"}, b'{"results": []}', request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


def unexpected(text: str) -> None:
    raise AssertionError(text)


def make_cache(folder: Path) -> AnswerCache:
    return AnswerCache(disk=folder, key=KEY, warn=unexpected)


@pytest.mark.parametrize("count", [1, 100])
async def test_answers_given_before_the_engine_is_closed_are_found_by_the_next(tmp_path: Path, count: int) -> None:
    root = write_demo(tmp_path / "specs")
    (tmp_path / "kept").mkdir()
    upstream = Upstream()
    queries = [f"q{number}" for number in range(count)]
    first = demo_executor(root, sender=upstream, cache=make_cache(tmp_path / "kept"))
    await asyncio.gather(*(first.call("demo_find", {"query": query}) for query in queries))
    await first.aclose()

    second = demo_executor(root, sender=upstream, cache=make_cache(tmp_path / "kept"))
    found = [await second.call("demo_find", {"query": query}) for query in queries]
    await second.aclose()

    assert upstream.sent == count
    assert all(done.meta["cached"] for done in found)


async def test_an_answer_can_be_had_from_memory_as_soon_as_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    executor = demo_executor(write_demo(tmp_path / "specs"), sender=Upstream(), cache=make_cache(tmp_path / "kept"))

    await executor.call("demo_find", {"query": "a"})
    kept = executor.peek("demo_find", {"query": "a"})
    await executor.aclose()

    assert kept is not None
