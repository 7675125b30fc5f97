"""Examples of tools that remember: who calls, what is kept already, and the calls that came before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from specloom.authoring.examples.run import check_examples
from specloom.core.diagnostics import Report
from specloom.core.faults import Fault
from specloom.plugins.collections import CollectionNeed
from specloom.plugins.context import Context
from specloom.plugins.registry import PROCEDURES, procedure
from tests.support.spec_library import a_tool, weave_texts

WORDS = """\
spec: collection/1
name: demo_words
title: Words
description: Words that were told.
scope: user
encryption: author
"""
GIVES = {"type": "object", "properties": {"said": {"type": "array", "items": {"type": "string"}}}, "required": ["said"]}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    async def tell_demo(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
        """Keeps a word, and tells what this owner has kept."""
        if given["word"] == "fail":
            raise Fault("not_found", "that word is not kept")
        drawer = context.state("demo_words")
        await drawer.put(context.new_id(), {"word": f"{context.owner}:{given['word']}"})
        return {"said": sorted(item.value["word"] for item in await drawer.items())}

    kept = (CollectionNeed("demo_words"),)
    procedure("tell_demo", parameters={"word": {"type": "string"}}, gives=GIVES, keeps=kept)(tell_demo)
    yield
    del PROCEDURES["tell_demo"]


def run(examples: str) -> list[str]:
    plan = "- name: tell it\n  procedure: {name: tell_demo, with: {word: =args.query}}\n"
    woven = weave_texts(WORDS, a_tool(plan=plan, more=examples, answer="said: =result.said\n"))
    assert woven.sentences == []
    report = Report()
    check_examples(woven.library, woven.model, report)
    return [f"{one.code}: {one.message}" for one in report if one.place.file.startswith("memory")]


def test_calls_before_share_what_is_kept_and_identifiers_with_the_example() -> None:
    assert (
        run(
            """\
examples:
  - name: words of this owner only, with those kept already
    args: {query: three}
    owner: ada
    state:
      - {in: demo_words, key: a, value: {word: one}}
      - {in: demo_words, owner: grace, key: a, value: {word: hers}}
    before:
      - {args: {query: two}}
      - {args: {query: two}, owner: grace}
    expect: {answer: {said: ["ada:three", "ada:two", one]}}
  - name: another example begins with nothing
    args: {query: four}
    expect: {answer: {said: [":four"]}}
"""
        )
        == []
    )


def test_an_earlier_call_that_fails_is_told() -> None:
    found = run(
        """\
examples:
  - name: it goes on
    args: {query: one}
    before: [{args: {query: fail}}]
    expect: {answer: {said: [":one"]}}
"""
    )

    assert found == ["E401: 'it goes on': an earlier call ends with the fault not_found: that word is not kept"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("before: [{tool: nobody, args: {}}]", "E402: there is no tool 'nobody'"),
        ("state: [{in: nowhere, key: a, value: 1}]", "E402: there is no collection 'nowhere'"),
    ],
)
def test_what_there_is_not_is_told(more: str, sentence: str) -> None:
    found = run(f"examples:\n  - name: it goes on\n    args: {{query: one}}\n    {more}\n    expect: {{count: 0}}\n")

    assert found == [sentence]


def test_what_is_kept_afterwards_is_compared() -> None:
    found = run(
        """\
examples:
  - name: a word is kept
    args: {query: otter}
    owner: ada
    state: [{in: demo_words, key: "old {number}", times: 2, value: {word: w}}]
    expect:
      kept:
        - {in: demo_words, key: 00000000-0000-4000-8000-000000000001, value: {word: "ada:otter", colour: null}}
        - {in: demo_words, key: old 1, value: {word: w}}
        - {in: demo_words, key: old 1, value: {word: x}, lasts: 5}
        - {in: demo_words, key: old 2, value: {}}
        - {in: demo_words, owner: grace, key: old 1, value: {}}
        - {in: nowhere, key: old 1, value: {}}
"""
    )

    assert found == [
        "E401: 'a word is kept': demo_words 'old 1' has word = \"w\", not \"x\"",
        "E401: 'a word is kept': demo_words 'old 1' is kept for None s, not 5 s",
        "E401: 'a word is kept': nothing is kept as demo_words 'old 2'",
        "E401: 'a word is kept': nothing is kept as demo_words 'old 1'",
        "E401: 'a word is kept': nothing is kept as nowhere 'old 1'",
    ]
