"""Holding a citation against a record takes work that grows with both, not with one times the other, and has an end."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from specloom.domains.trust.citations.aside import run_aside
from specloom.domains.trust.citations.match import match_text
from specloom.domains.trust.citations.reference import LONGEST_REFERENCE, parse_reference
from specloom.domains.trust.citations.work import MOST_SIGNED, is_heavy, to_work


def count_calls(function: Callable[[], object]) -> int:
    """How many functions are called while one runs; a clock would tell of the machine."""
    count = 0

    def tell(_: Any, event: str, __: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tell)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


def words(count: int, mark: str) -> str:
    return " ".join(f"{mark}ord{chr(97 + at % 26)}{chr(97 + at // 26)}ing" for at in range(count))


def a_row(size: int) -> dict[str, Any]:
    return {
        "title": words(size, "t"),
        "other_titles": [words(size, mark) for mark in "uvw"],
        "authors": [f"Otter{chr(97 + at % 26)}{at}, Ann" for at in range(size)],
        "year": 2020,
        "venue": words(size, "j"),
    }


def test_the_work_grows_with_the_citation_and_the_record_alone() -> None:
    def work(size: int) -> int:
        record = to_work(a_row(size), "sample").record
        return count_calls(lambda: match_text(f"Doe, J. (2020). {words(size, 'x')}", record))

    work(20)  # what is worked out once for all
    small, large = work(60), work(120)

    assert large < 3 * small


def test_of_what_a_registry_answers_so_much_is_read_and_no_more() -> None:
    huge = "<i>otters</i> " * 5_000
    row = {"title": huge, "other_titles": [f"{at} {huge}" for at in range(40)], "abstract": huge, "publisher": huge,
           "authors": [f"Doe{at}, J" for at in range(MOST_SIGNED + 500)] + [huge], "venue": huge}  # fmt: skip

    work = to_work(row, "sample")
    told = work.to_json()

    assert max(map(len, (*work.record.titles, *work.record.venues))) <= 1000
    assert len(work.record.titles) <= 6
    assert len(work.record.authors) == MOST_SIGNED
    assert told["authorCount"] == MOST_SIGNED + 501
    assert max(len(str(value)) for value in told.values()) <= 1000
    assert count_calls(lambda: to_work(row, "sample")) < 100_000


def test_a_reference_is_read_up_to_its_longest() -> None:
    assert len(parse_reference("otters " * 5_000).text) <= LONGEST_REFERENCE


LIVE: Any = SimpleNamespace(is_live=True)


async def test_what_is_run_aside_leaves_the_loop_to_others_and_comes_one_at_a_time() -> None:
    may_end, begun = threading.Event(), []

    def work(name: str) -> bool:
        begun.append(name)
        return may_end.wait(20)

    tasks = [asyncio.create_task(run_aside(LIVE, work, name)) for name in ("first", "second")]
    # The loop is not held while the first one waits in its thread.
    for _ in range(100):
        await asyncio.sleep(0)
    alone = list(begun)
    may_end.set()

    assert await asyncio.gather(*tasks) == [True, True]
    assert "second" not in alone
    assert begun == ["first", "second"]


def test_only_what_few_honest_records_have_is_heavy() -> None:
    honest = {"title": "How otters hold hands", "authors": ["Doe, J"] * 40, "other_titles": ["Otters"]}

    assert not is_heavy(honest, "Doe, J. (2020). How otters hold hands. Journal of Otters, 1(2), 3-4.")
    assert is_heavy(honest, "otters " * 1000)
    assert is_heavy({**honest, "title": "otters " * 1000})
    assert is_heavy({**honest, "authors": ["Doe, J"] * 3000})
