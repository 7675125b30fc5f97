"""Mapping 10 rows of 8 fields: compiled selectors against the JMESPath interpreter, as a ratio in one run.

    python bench/bench_mapping.py [--rounds N]

The interpreter's side is `search` of a kept `jmespath.compile(…)` per field, so that parsing counts on neither side. A
second case adds projections, filters and functions to the plain paths.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import jmespath
from figures import Figure, lines

from specloom.language.expressions.api import compile_selector

if TYPE_CHECKING:
    from collections.abc import Callable

PATHS = {
    "title": "title",
    "url": "link.url",
    "snippet": "description",
    "latitude": "coordinates[0]",
    "phone": "contact.telephone",
    "rating": "rating.value.stars",
    "language": "language || locale",
    "extra": "snippets",
}
WORK = {
    **PATHS,
    "authors": "authors[*].name",
    "site": "join(' ', [title, link.host][?@])",
    "recent": "year >= `2020` && open == `true`",
    "best": "versions[?kind == 'pdf'].url | [0]",
}
CASES = {"8 plain fields": (PATHS, 0.1), "12 fields with projections, filters and functions": (WORK, 0.2)}
"""What is mapped, and what of the interpreter's time the closures may take."""
ROWS = [
    {
        "title": f"Row {number}",
        "link": {"url": f"https://example.org/{number}", "host": "example.org"},
        "description": "About this row",
        "coordinates": [47.6, -122.3],
        "contact": {"telephone": "+1 206"} if number % 2 else None,
        "rating": {"value": {"stars": 4.5}},
        "locale": "en",
        "snippets": ["one", "two"],
        "authors": [{"name": "A"}, {"name": "B"}, {}],
        "year": 2015 + number,
        "open": True,
        "versions": [{"kind": "html", "url": "h"}, {"kind": "pdf", "url": "p"}],
    }
    for number in range(10)
]


def map_rows(selectors: dict[str, Callable[[Any], Any]]) -> list[dict[str, Any]]:
    """The rows with each field selected."""
    return [{name: select(row) for name, select in selectors.items()} for row in ROWS]


def time_call(call: Callable[[], Any], seconds: float = 0.05) -> float:
    """Microseconds a call, over at least so many seconds."""
    count, spent = 0, 0.0
    while spent < seconds:
        start = time.perf_counter()
        for _ in range(20):
            call()
        spent += time.perf_counter() - start
        count += 20
    return spent / count * 1e6


def measure(rounds: int) -> list[Figure]:
    """Microseconds of both ways, round by round, for each case."""
    return [_measure_case(case, fields, budget, rounds) for case, (fields, budget) in CASES.items()]


def _measure_case(case: str, fields: dict[str, str], budget: float, rounds: int) -> Figure:
    compiled = {}
    for name, text in fields.items():
        expression, problems = compile_selector(text)
        assert expression is not None, problems
        compiled[name] = expression.evaluate
    interpreted = {name: jmespath.compile(text).search for name, text in fields.items()}
    assert map_rows(compiled) == map_rows(interpreted)
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(time_call(lambda: map_rows(compiled)))
        theirs.append(time_call(lambda: map_rows(interpreted)))
    group = f"mapping of {len(ROWS)} rows by compiled closures"
    beside = "the interpreter of jmespath"
    return Figure(group, case, "µs", tuple(ours), tuple(theirs), budget=budget, beside=beside)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="Mapping of rows: closures against the interpreter.")
    parser.add_argument("--rounds", type=int, default=9)
    print("\n".join(lines(measure(parser.parse_args().rounds))))


if __name__ == "__main__":
    main()
