"""The loader: YAML 1.2 scalars, places of everything, and no input that makes it raise."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.diagnostics import CODES, Place, Report, render
from specloom.specs.library import parse_spec
from specloom.specs.yaml import Listing, Map, Node, SourceText, YamlScalar, parse_source, to_plain


def load(text: str | bytes) -> tuple[SourceText, Report]:
    report = Report()
    return parse_source("x.yaml", text if isinstance(text, bytes) else text.encode(), report), report


def places(node: Node) -> list[Place]:
    if isinstance(node, YamlScalar):
        return [node.place, node.at(3)] if isinstance(node.value, str) and len(node.value) > 3 else [node.place]
    if isinstance(node, Listing):
        return [node.place, *(place for item in node.items for place in places(item))]
    return [node.place, *(place for entry in node for place in (entry.place, *places(entry.value)))]


YAMLISH = st.lists(
    st.sampled_from(
        [
            "a",
            "on",
            "no",
            ":",
            ": ",
            "- ",
            "\n",
            "  ",
            "\t",
            "{",
            "}",
            "[",
            "]",
            ",",
            "'",
            '"',
            "|\n",
            ">\n",
            "&a",
            "*a",
            "!!int",
            "!",
            "#",
            "---\n",
            "...\n",
            "? ",
            "~",
            "0x1",
            "1e5",
            ".5",
            "é",
            "😀",
            "\u2028",
            "\x85",
            "%YAML 1.2\n",
            "\r\n",
        ]
    )
).map("".join)


def check_places(text: str, source: SourceText, report: Report) -> None:
    """Every place is in the text, or right after the end of its line."""
    lines = re.split("\r\n|[\r\n\x85\u2028\u2029]", text.removeprefix("\ufeff"))
    for place in [one.place for one in report] + (places(source.root) if source.root else []):
        assert 1 <= place.line <= len(lines) + 1
        line = lines[place.line - 1] if place.line <= len(lines) else ""
        assert 1 <= place.column <= len(line) + 1


@given(YAMLISH | st.text())
def test_no_text_makes_the_loader_raise_and_every_place_is_in_the_text(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    source, report = load(data)

    check_places(text, source, report)
    assert (source.root is None) == bool(report.errors)
    for one in report:
        assert one.code in CODES
        render(one, {"x.yaml": source.text})


@given(st.binary())
def test_no_bytes_make_the_loader_raise(data: bytes) -> None:
    source, report = load(data)

    assert (source.root is None) == bool(report.errors)


@pytest.mark.parametrize(
    "word", ["on", "off", "yes", "no", "On", "OFF", "y", "n", "2026-01-01", "12:30:45", "1_000", "0777x", "NaN", ".inf"]
)
def test_words_that_other_readers_turn_into_something_are_text(word: str) -> None:
    source, _ = load(f"key: {word}\n{word}: key\n" if not word[0].isdigit() else f"key: {word}")

    plain = to_plain(source.root)
    assert plain["key"] == word
    assert all(isinstance(key, str) for key in plain)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ('"5"', "5"),
        ("'true'", "true"),
        ("! 5", "5"),
        ("1e999", "1e999"),
        ("9" * 25, "9" * 25),
    ],
)
def test_plain_values_are_those_of_yaml_1_2(text: str, value: object) -> None:
    source, _ = load(f"key: {text}")

    found = to_plain(source.root)["key"]
    assert found == value
    assert type(found) is type(value)


def test_an_offset_into_a_text_is_an_offset_into_its_line() -> None:
    source, _ = load('plain: =args.q\nquoted: "=args.q"\nescaped: "a\\tb"\nfolded: >\n  one\n  two\n')

    assert isinstance(source.root, Map)
    at = {entry.key: entry.value.at(3) for entry in source.root if isinstance(entry.value, YamlScalar)}
    assert (at["plain"].line, at["plain"].column) == (1, 11)
    assert (at["quoted"].line, at["quoted"].column) == (2, 13)
    assert (at["escaped"].line, at["escaped"].column) == (3, 10)
    assert (at["folded"].line, at["folded"].column) == (4, 9)


def test_a_byte_order_mark_moves_nothing() -> None:
    source, report = load(b"\xef\xbb\xbfkey: value\n")

    assert isinstance(source.root, Map)
    assert source.root.entries["key"].place.column == 1
    assert not report.errors


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 1\na: 2", "E002"),
        ("a: &x 1", "E003"),
        ("a: *x", "E003"),
        ("a: !!str 1", "E004"),
        ("a: !!python/object:os.system 1", "E004"),
        ("true: 1", "E005"),
        ("a: b\n---\nc: d", "E007"),
        ("", "E007"),
        ("- a", "E007"),
        ("a: " + "[" * 70 + "]" * 70, "E008"),
        ("a: b: c", "E001"),
        ("a: \x07", "E001"),
    ],
)
def test_what_a_spec_may_not_hold_is_told_by_its_code(text: str, code: str) -> None:
    source, report = load(text)

    assert [one.code for one in report] == [code]
    assert source.root is None


@pytest.mark.parametrize("text", ["a:\n\tb: 1\n", "a:\r\n\tb: 1\r\n", "ä: 1\nb:\n  c: 1\n\td: 2\n"])
def test_a_tab_is_not_told_as_a_value_that_wants_quotes(text: str) -> None:
    assert [one.hint for one in load(text)[1]] == ["YAML is not indented with tabs; use spaces"]
    assert ["quotes" in one.hint for one in load("a: @b\n")[1]] == [True]


def test_a_file_that_is_too_large_is_not_read() -> None:
    source, report = load(b"a: b\n" * 300_000)

    assert [one.code for one in report] == ["E008"]
    assert source.root is None


def test_keys_may_be_whole_numbers_and_count_as_text() -> None:
    source, _ = load("table: {1: one, 2: two}")

    assert to_plain(source.root) == {"table": {"1": "one", "2": "two"}}


def test_a_key_of_the_root_can_be_passed_over_without_touching_the_rest() -> None:
    text = b"spec: x\nexamples:\n  - {a: [1, {examples: 2}]}\n  - b\nafter: {examples: kept}\n"
    report = Report()

    whole = parse_source("f.yaml", text, report).root
    part = parse_source("f.yaml", text, report, skip=frozenset({"examples"})).root

    assert report.found == []
    assert whole is not None
    assert part is not None
    assert [entry.key for entry in whole] == ["spec", "examples", "after"]
    assert [entry.key for entry in part] == ["spec", "after"]
    assert part.get("after") == whole.get("after")


HEAD = "spec: provider/1\nname: x\ntitle: X\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{HEAD}a: [{','.join(['*a'] * 300_000)}]\n", "more than 100 problems in one file; what follows is not read"),
        (
            f"{HEAD}a: [{','.join(['!x 1'] * 100_000)}]\n",
            "more than 100 problems in one file; what follows is not read",
        ),
        (HEAD + "k: 1\n" * 100_000, "more than 100 problems in one file; what follows is not read"),
        (HEAD + "<<: 1\n" * 100_000, "more than 100 problems in one file; what follows is not read"),
        (HEAD + "a: &a [*a, *a]\n", "&a names a value"),
        (HEAD + "".join(f"b{at}: &b{at} [*b{at}, *b{at}]\n" for at in range(20_000)), "more than 100 problems"),
        (f"{HEAD}a: [{','.join(['1'] * 400_000)}]\n", "more than 50,000 values"),
        (f"{HEAD}a: {'[' * 500_000}", "more than 64 levels deep"),
        (HEAD + "".join(f"key{at}: 1\n" for at in range(20_000)), "more than 100 problems in one file"),
        (f"{HEAD}service: {{base: 0x{'f' * 900_000}}}\n", "`base` cannot be '0xfff"),
    ],
    ids=["aliases", "tags", "keys", "merges", "cycle", "laughs", "values", "depth", "unknown", "number"],
)
def test_a_file_that_is_made_to_be_much_is_refused_in_words_and_soon(text, sentence):
    started = time.process_time()
    report = Report()

    assert parse_spec("x.yaml", text.encode(), report) is None
    assert any(sentence in one.message for one in report.found)
    assert max(len(render(one, {"x.yaml": text})) for one in report) < 3_000
    assert len(report.found) <= 101
    assert time.process_time() - started < 15  # at most 0.8 s where it was measured
