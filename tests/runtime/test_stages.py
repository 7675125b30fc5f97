"""Stages over rows: what they keep, make, split and put together, and what they count."""

from __future__ import annotations

from typing import Any

import pytest

from specloom.core.messages import Answer
from specloom.runtime.arguments import parse_arguments
from specloom.runtime.plan import Ask, Offer
from specloom.runtime.stages import dedupe, group, sort
from specloom.runtime.strategies import pursue
from tests.support.spec_library import NOW, a_tool, weave_texts

ROWS: list[dict[str, Any]] = [
    {"url": "https://a.example/1", "title": "One", "snippet": "x"},
    {"url": "https://b.example/1", "title": "Two"},
    {"url": "https://a.example/2", "title": "Three", "snippet": "X "},
    {"url": "https://c.example/1", "snippet": "y"},
]


def after(stages: str, answer: str, *, inputs: str = "", args: dict[str, Any] | None = None) -> dict[str, Any]:
    """The answer of a tool that has these stages, over `ROWS`."""
    woven = weave_texts(a_tool(more=f"after: [{stages}]\n", answer=answer, inputs=inputs))
    tool = woven.tool()
    running = pursue(
        tool,
        woven.model,
        parse_arguments(tool, {"query": "x", **(args or {})}),
        {},
        Offer({"find": ("alpha",)}, frozenset({"alpha"})),
        NOW,
    )
    assert isinstance(next(running), Ask)
    with pytest.raises(StopIteration) as stopped:
        running.send(Answer([dict(row) for row in ROWS]))
    answered: dict[str, Any] = stopped.value.value.answer
    return answered


def test_a_field_that_is_worked_out_replaces_one_and_null_removes_it() -> None:
    answer = "all: '=rows[*].[host, title, snippet]'\n"
    stages = "{set: {host: host(row.url), title: upper(row.title), snippet: \"one_of(row.snippet, ['y'])\"}}"

    assert after(stages, answer)["all"] == [
        ["a.example", "ONE", None],
        ["b.example", "TWO", None],
        ["a.example", "THREE", None],
        ["c.example", None, "y"],
    ]


def test_the_fields_of_one_set_see_the_row_as_it_was() -> None:
    stages = "{set: {title: row.url, url: row.title}}"

    assert after(stages, "one: '=rows[0].[title, url]'\n")["one"] == ["https://a.example/1", "One"]


def test_a_row_comes_once_for_each_item_of_its_list_and_not_at_all_without_items() -> None:
    stages = "{set: {parts: \"split(row.title, 'e')\"}}, {expand: {list: parts, as: part}}"

    assert after(stages, "all: '=rows[*].[title, part]'\n")["all"] == [
        ["One", "On"],
        ["One", ""],
        ["Two", "Two"],
        ["Three", "Thr"],
        ["Three", ""],
        ["Three", ""],
    ]


GROUP = "{group: {by: row.snippet, as: said%s}}"
GROUPED = "titles: '=rows[*].title'\ngroups: =groups.said\n"


def test_rows_of_a_group_stand_together_the_largest_first_and_rows_of_none_last() -> None:
    said = after(GROUP % "", GROUPED)

    assert said["titles"] == ["One", "Three", "Two"]
    assert said["groups"] == [{"key": "x", "count": 2}, {"key": "y", "count": 1}]


def test_a_group_that_is_not_wanted_leaves_the_rows_and_lists_nothing() -> None:
    inputs = "grouped: {type: boolean, description: Whether.}\n"

    assert after(GROUP % ", when: args.grouped", GROUPED, inputs=inputs)["groups"] == []
    assert len(after(GROUP % ", when: args.grouped", GROUPED, inputs=inputs, args={"grouped": True})["groups"]) == 2


def test_what_is_counted_is_known_by_name_only() -> None:
    sentences = weave_texts(a_tool(more="after: [" + GROUP % "" + "]\n", answer="groups: =groups.sad\n")).sentences

    assert sentences == ["E202: unknown name 'sad' (did you mean \"said\"?)"]


def test_an_answer_list_is_cut_where_it_says_so() -> None:
    inputs = "most: {type: integer, default: 2, description: How many.}\n"

    assert (
        len(
            after(
                "{take: `9`}".replace("`9`", "'`9`'"),
                "a: {each: rows, take: args.most, map: {url: url}}",
                inputs=inputs,
            )["a"]
        )
        == 2
    )


def test_rows_are_one_when_all_fields_of_a_key_are_alike() -> None:
    rows = [
        {"a": "X", "b": 1},
        {"a": "x ", "b": 2},
        {"a": "x", "b": 1, "c": 1},
        {"a": "x"},
        {"a": "x"},
        {"a": "y", "b": 1, "c": 1},
    ]

    assert [row.get("b") for row in dedupe(rows, (("a", "b"),))] == [1, 2, None, None, 1]
    assert len(dedupe(rows, (("a", "b"), ("c",)))) == 5


@pytest.mark.parametrize("descending", [False, True])
def test_values_of_several_kinds_are_sorted_kind_by_kind(descending: bool) -> None:
    values: list[Any] = ["b", 2, None, {"a": 1}, 1.5, "a", True]

    found = [row["v"] for row in sort([{"v": value} for value in values], "v", descending)]

    ordered: list[Any] = [True, 1.5, 2, "a", "b", {"a": 1}]
    assert found == [*(reversed(ordered) if descending else ordered), None]


def test_groups_of_one_size_stay_in_the_order_of_their_first_rows() -> None:
    rows = [{"n": number} for number in range(6)]

    ordered, counts = group(rows, ["b", "a", None, "A", "B", {"odd": 1}])

    assert [row["n"] for row in ordered] == [0, 4, 1, 3, 2, 5]
    assert counts == [("b", 2), ("a", 2)]
