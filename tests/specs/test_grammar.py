"""A tree is held against a grammar, and what does not fit is told at the typo, in words."""

from __future__ import annotations

import pytest

from specloom.core.diagnostics import Report
from specloom.specs.grammar import (
    Anything,
    Either,
    Flag,
    Grammar,
    Items,
    Key,
    Named,
    Number,
    RecordRule,
    RuleReference,
    Text,
    check,
)
from specloom.specs.yaml import parse_source

GRAMMAR = Grammar(
    RecordRule(
        "a thing",
        {
            "name": Key(Text("name", r"[a-z]+", "lower case"), "Its name.", required=True),
            "size": Key(Number(1, 5), "How big."),
            "ratio": Key(Number(whole=False), "How much."),
            "least": Key(Number(2), "At least."),
            "on": Key(Flag(), "Whether."),
            "kind": Key(Text(choices=("day", "week")), "Which."),
            "list": Key(Items(Text("value"), 1), "Several."),
            "names": Key(Named(RuleReference("value"), r"[a-z]+", "lower case"), "By name."),
            "either": Key(Either(Text("value"), Items(Number())), "One or several."),
            "data": Key(Anything(), "Whatever."),
            "single": Key(Anything(scalar=True), "One value."),
            "get": Key(Text("value"), "Get."),
            "post": Key(Text("value"), "Post."),
            "left": Key(Text("value"), "Left."),
            "right": Key(Text("value"), "Right."),
        },
        one_of=((("get", "post"), True), (("left", "right"), False)),
    ),
    {"value": Either(Anything(scalar=True), Items(RuleReference("value")), Named(RuleReference("value")))},
)


def problems(text: str) -> list[str]:
    report = Report()
    source = parse_source("x.yaml", text.encode(), report)
    assert source.root is not None, list(report)
    fits = check(source.root, GRAMMAR, report)
    assert fits == (not report.found)
    return [
        f"{one.place.line}:{one.place.column} {one.code} {one.message}" + (f" ({one.hint})" if one.hint else "")
        for one in report
    ]


def test_what_fits_is_silent() -> None:
    text = """\
name: abc
size: 5
ratio: 0.5
on: true
kind: week
list: [a, "5"]
names: {a: 1, b: [x, {c: null}]}
either: [1, 2]
data: {any: [thing, {at: all}]}
single: null
post: x
left: x
"""
    assert problems(text) == []


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("sise: 5", "3:1 E101 a thing has no key 'sise' (did you mean \"size\"?)"),
        ("size: 6", "3:7 E104 `size` is 6; it may be 1 to 5"),
        ("size: 0", "3:7 E104 `size` is 0; it may be 1 to 5"),
        ("least: 1", "3:8 E104 `least` is 1; it may be at least 2"),
        ("size: 2.5", "3:7 E103 `size` should be a whole number, not the number 2.5"),
        ("size: true", "3:7 E103 `size` should be a whole number, not the flag true"),
        ("size: many", "3:7 E103 `size` should be a whole number, not the text 'many'"),
        ("ratio: x", "3:8 E103 `ratio` should be a number, not the text 'x'"),
        ("on: yes", "3:5 E103 `on` should be true or false, not the text 'yes' (write true, without quotes)"),
        ("on: 1", "3:5 E103 `on` should be true or false, not the number 1 (write true, without quotes)"),
        ("kind: dya", "3:7 E104 `kind` cannot be 'dya' (did you mean \"day\"?)"),
        ("kind: 5", "3:7 E103 `kind` should be text, not the number 5 (known: day, week)"),
        ("list: []", "3:7 E104 `list` needs at least 1 item"),
        ("list: x", "3:7 E103 `list` should be a list, not the text 'x'"),
        ("list: [5]", "3:8 E103 an item of `list` should be text, not the number 5 (put it in quotes)"),
        ("names: {A: 1}", "3:9 E104 'A' cannot be a key of `names` (lower case)"),
        ("names: [1]", "3:8 E103 `names` should be a mapping, not a list"),
        ("either: {a: 1}", "3:9 E103 `either` should be text or a list, not a mapping"),
        ("either: [x]", "3:10 E103 an item of `either` should be a whole number, not the text 'x'"),
        ("single: [1]", "3:9 E103 `single` should be a single value, not a list"),
        ("kind:", "3:6 E103 `kind` should be text, not nothing"),
    ],
)
def test_what_does_not_fit_is_told_where_it_stands(line: str, sentence: str) -> None:
    assert problems(f"name: abc\nget: x\n{line}\n") == [sentence]


def test_keys_that_exclude_each_other_or_of_which_one_is_needed() -> None:
    assert problems("name: abc\n") == ["1:1 E105 a thing needs one of 'get', 'post'"]
    assert problems("name: abc\nget: x\npost: y\n") == [
        "3:1 E105 a thing takes one of 'get', 'post', not several (remove all but one)"
    ]
    assert problems("name: abc\nget: x\nleft: x\nright: y\n") == [
        "4:1 E105 a thing takes one of 'left', 'right', not several (remove all but one)"
    ]


def test_a_missing_key_is_told_with_its_meaning() -> None:
    assert problems("get: x\n") == ["1:1 E102 a thing needs the key 'name' (Its name.)"]


def test_a_key_with_a_slip_is_not_told_as_missing_too() -> None:
    assert problems("nmae: abc\nget: x\n") == ["1:1 E101 a thing has no key 'nmae' (did you mean \"name\"?)"]
    assert problems("name: abc\npsot: x\n") == ["2:1 E101 a thing has no key 'psot' (did you mean \"post\"?)"]


def test_all_problems_are_told_at_once() -> None:
    assert len(problems("nmae: abc\nget: 5\npost: [x]\nsize: x\n")) == 5
