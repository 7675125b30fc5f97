"""What readings share is found again by every reading of one loop, and is gone when it was closed."""

from __future__ import annotations

import asyncio

from specloom.domains.scrape.fetch.session import close_station, find_station
from specloom.domains.scrape.options import Options
from specloom.domains.scrape.read import make_answer
from tests.support.scrape_context import OPTIONS


async def test_readings_of_one_loop_share_a_station() -> None:
    first = find_station(OPTIONS, make_answer)

    assert find_station(Options(), make_answer) is first

    await close_station()
    assert find_station(OPTIONS, make_answer) is not first
    await close_station()
    await close_station()


def test_another_loop_has_a_station_of_its_own() -> None:
    async def find() -> int:
        found = find_station(OPTIONS, make_answer)
        kept.append(found)
        await close_station()
        return id(found)

    kept: list[object] = []
    assert asyncio.run(find()) != asyncio.run(find())
