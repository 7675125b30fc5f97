"""An answer reads as the lines that its spec states, and what has nothing to say is left out."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.runtime import parse_arguments, to_text
from specloom.runtime.answer_text import to_words
from tests.support.spec_library import Woven, a_tool, weave_texts

ANSWER = """\
query: =args.query
urls: =rows[*].url
count: =length(rows)
results: {each: rows, map: {url: url, title: title, day: title, tags: "split(title, ' ')"}}
"""


def weave_text(text: str) -> Woven:
    return weave_texts(a_tool(answer=ANSWER, more=f"text:\n{text}"))


def read(text: str, answer: dict[str, Any], **arguments: Any) -> str:
    woven = weave_text(text)
    assert woven.report.errors == [], woven.sentences
    tool = woven.tool()
    return to_text(tool, parse_arguments(tool, {"query": "otters", **arguments}), answer)


def test_lines_stand_below_each_other_with_their_values() -> None:
    assert read('- "{answer.count} results for {args.query}"\n- ""\n- "{{so}}"\n', {"count": 2}) == (
        "2 results for otters\n\n{so}"
    )


def test_a_line_of_which_nothing_is_known_is_left_out_and_so_is_a_piece() -> None:
    text = '- "first: {answer.query} · second: {answer.count}"\n- "urls: {answer.urls}"\n'

    assert read(text, {"query": None, "count": 0, "urls": []}) == "second: 0"


def test_items_are_counted_and_have_lines_of_their_own() -> None:
    text = '- each: answer.results\n  lines:\n    - "{n}. {item.title} · {item.day}"\n    - "   {item.url}"\n'
    rows = [{"title": "A", "day": "2026-01-05T09:00:00Z", "url": "https://a.example/"}, {"title": "B"}]

    assert read(text, {"results": rows}) == "1. A · 2026-01-05 09:00\n   https://a.example/\n2. B"


def test_lists_inside_of_items_have_lines_too() -> None:
    text = '- each: answer.results\n  lines:\n    - each: item.tags\n      lines: ["- {item}"]\n'

    assert read(text, {"results": [{"tags": ["a", "b"]}, {}]}) == "- a\n- b"


def test_lines_under_a_condition_stand_only_where_it_holds() -> None:
    text = "- when: answer.count > `1`\n  lines: [many]\n- when: answer.count == `1`\n  markdown: answer.query\n"

    assert read(text, {"count": 2, "query": "a\n\nb"}) == "many"
    assert read(text, {"count": 1, "query": "a\n\nb"}) == "a\n\nb"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (" a\n # b\t", "a # b"),
        ("2026-01-05T00:00:00Z", "2026-01-05"),
        (3.0, "3"),
        (0.25, "0.25"),
        (True, "yes"),
        (["a", None, "", "b"], "a, b"),
        ({"points": 3, "none": None}, "points 3"),
    ],
)
def test_values_stand_on_one_line_as_people_write_them(value: Any, words: str) -> None:
    assert read('- "{answer.query}"\n', {"query": value}) == words


def test_notices_stand_before_everything() -> None:
    assert read('- "{answer.query}"\n', {"notices": ["Cut."], "query": "q"}) == "> Cut.\n\nq"


@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        ('- "{answer.cuont}"\n', "E202", "unknown name 'cuont'"),
        ('- "{answer.query"\n', "E201", "a brace is not closed"),
        ('- "{answer.results}"\n', "E104", "which is no text of a line"),
        ("- each: answer.query\n  lines: [x]\n", "E104", "`each` goes over a list"),
        ('- "{rows}"\n', "E202", "unknown name 'rows'"),
        ('- each: answer.results\n  lines: ["{item.titel}"]\n', "E202", "unknown name 'titel'"),
    ],
)
def test_what_no_answer_has_is_told_when_the_spec_is_checked(text: str, code: str, sentence: str) -> None:
    woven = weave_text(text)

    assert woven.codes == [code]
    assert sentence in woven.sentences[0]


def test_a_line_stays_as_far_in_as_it_is_and_a_link_without_an_address_is_its_text() -> None:
    text = '- "   {answer.query} · {answer.count}"\n- "[{answer.count}]({answer.query}) · so"\n'

    assert read(text, {"query": None, "count": 2}) == "   2\n2 · so"


@given(st.text(st.characters(categories=["Zs", "Zl", "Zp", "Cc", "Lu"]), max_size=30))
def test_a_text_stands_on_one_line_with_single_blanks(text: str) -> None:
    assert to_words(text) == re.sub(r"\s+", " ", text).strip()
