"""The page of the language lists what an expression may name at each place as the compiler knows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.spec_library import weave_texts

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
CAPABILITY = """
    spec: capability/1
    name: find
    title: Things
    description: Things.
    routing: {key: find, order: [demo]}
    arguments: {query: {type: text, description: What.}}
    row: {title: {type: text, required: true, description: The title.}}
"""
PROVIDER = """
    spec: provider/1
    name: demo
    title: Demo
    service:
      base: https://demo.example
      limits: {rate: 1/s, learned: {left: LEARNED}}
      errors: [{when: ERRORS, kind: bad_request}]
    operations:
      find:
        input: [query]
        values: {q: args.query}
        steps:
          - get: /
            query: {q: "=values.q", x: "=STEP"}
            paging: {cursor: {parameter: after, at: CURSOR}, most: 2, enough: ENOUGH}
            json: {each: items, keep: KEEP, map: {title: "=MAPPED"}}
        rows: {take: ROWS, keep: ROWKEEP}
"""
TOOL = """
    spec: tool/1
    name: demo_find
    title: Find
    description: Finds.
    annotations: {read_only: true, destructive: false, idempotent: true, open_world: true}
    input: {query: {type: string, required: true, max_length: 9, description: What.}}
    plan: [{name: all, when: PLAN, first_of: {providers: =route.find, operation: find}}]
    after: [{keep: AFTER}]
    answer: {query: =ANSWER}
    text: ["{TEXT}"]
"""
PLACES = {
    "STEP": "a step:",
    "CURSOR": "`paging`: `at`",
    "ENOUGH": "`paging`: `enough`",
    "MAPPED": "`map`:",
    "KEEP": "a decoder's `keep`",
    "ROWS": "`rows` and `meta`",
    "ROWKEEP": "`rows`: `keep`",
    "ERRORS": "`errors`",
    "LEARNED": "`learned`",
    "PLAN": "`checks` and `plan`",
    "AFTER": "`after`",
    "ANSWER": "`answer`",
    "TEXT": "`text`, `view`",
}
INCLUDED = {"those of a step": "STEP", "those of a plan": "PLAN"}


def names_of(place: str) -> set[str]:
    """What the page says of a place, without what is there only sometimes."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    (row,) = [line for line in lines if line.startswith(f"| {PLACES[place]}")]
    always = row.split(" | ")[1].partition(";")[0]
    names = set(re.findall(r"`([a-z_]+)`", always))
    for words, other in INCLUDED.items():
        if words in always:
            names |= names_of(other)
    return names


@pytest.mark.parametrize("place", PLACES)
def test_a_place_sees_what_the_page_says(place: str) -> None:
    def fill(word: re.Match[str]) -> str:
        return "zzzzzz" if word[0] == place else "args.query" if word[0] == "TEXT" else "now"

    texts = [re.sub(r"\b[A-Z]{4,}\b", fill, text) for text in (PROVIDER, TOOL)]
    woven = weave_texts(CAPABILITY, *texts, base=False)

    (found,) = [one for one in woven.report.errors if "unknown name 'zzzzzz'" in one.message]
    told, documented = set(found.hint.removeprefix("known: ").split(", ")), names_of(place)
    if "…" in told:  # a long list is cut
        assert told - {"…"} < documented
    else:
        assert told == documented
