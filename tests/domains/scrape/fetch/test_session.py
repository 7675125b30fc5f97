"""What readings share is found again by every reading of one loop, and is gone when it was closed."""

from __future__ import annotations

import asyncio

from specloom.domains.scrape.fetch.session import close_session, find_session
from specloom.domains.scrape.options import Options
from specloom.domains.scrape.read import make_answer
from tests.support.scrape_context import OPTIONS


async def test_readings_of_one_loop_share_a_session() -> None:
    first = find_session(OPTIONS, make_answer)

    assert find_session(Options(), make_answer) is first

    await close_session()
    assert find_session(OPTIONS, make_answer) is not first
    await close_session()
    await close_session()


def test_another_loop_has_a_session_of_its_own() -> None:
    async def find() -> int:
        found = find_session(OPTIONS, make_answer)
        kept.append(found)
        await close_session()
        return id(found)

    kept: list[object] = []
    assert asyncio.run(find()) != asyncio.run(find())
