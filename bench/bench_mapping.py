"""Mapping 10 rows of 8 fields: compiled selectors against the JMESPath interpreter, as a ratio in one run.

    python bench/bench_mapping.py [--rounds N] [--json]

The interpreter's side is `search` of a kept `jmespath.compile(…)` per field, so that parsing counts on neither side. A
second case adds projections, filters and functions to the plain paths.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import TYPE_CHECKING, Any

import jmespath

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
CASES = {"8 plain fields": PATHS, "12 fields with projections, filters and functions": WORK}
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


def measure(fields: dict[str, str], rounds: int) -> dict[str, dict[str, float]]:
    """Minimum, median and maximum of the rounds for both ways and their ratio."""
    compiled = {}
    for name, text in fields.items():
        expression, problems = compile_selector(text)
        assert expression is not None, problems
        compiled[name] = expression.evaluate
    interpreted = {name: jmespath.compile(text).search for name, text in fields.items()}
    assert map_rows(compiled) == map_rows(interpreted)
    taken: dict[str, list[float]] = {"closures µs": [], "interpreter µs": [], "ratio": []}
    for _ in range(rounds):
        ours = time_call(lambda: map_rows(compiled))
        theirs = time_call(lambda: map_rows(interpreted))
        for name, value in zip(taken, (ours, theirs, theirs / ours), strict=True):
            taken[name].append(value)
    return {
        name: {"min": min(values), "median": statistics.median(values), "max": max(values)}
        for name, values in taken.items()
    }


def main() -> None:
    """Prints a table, or JSON with --json."""
    parser = argparse.ArgumentParser(description="Mapping of rows: closures against the interpreter.")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = {name: measure(fields, options.rounds) for name, fields in CASES.items()}
    if options.json:
        print(json.dumps(results, indent=2, ensure_ascii=False))
        return
    for case, result in results.items():
        print(f"{len(ROWS)} rows × {case}")
        for name, values in result.items():
            print(f"  {name:16}" + "".join(f"  {key} {value:9.1f}" for key, value in values.items()))


if __name__ == "__main__":
    main()
