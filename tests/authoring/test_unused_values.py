"""Named values that nothing needs are told all at once (W312), and they are those that are not worked out."""

from __future__ import annotations

import pytest

from specloom.compiler import compile_provider, find_unused_values
from specloom.core.diagnostics import Report
from specloom.specs.library import parse_spec
from tests.support.spec_library import weave_texts

CAPABILITY = """
    spec: capability/1
    name: books
    title: Books
    description: Books.
    routing: {key: books, order: []}
    arguments:
      query: {type: text, description: What.}
    row:
      title: {type: text, required: true, description: The title.}
"""
PROVIDER = """
spec: provider/1
name: shelf
title: Shelf
notes: values.lost is only spoken of.
service: {{base: "https://shelf.example"}}
values:
  shared: args.query
  spare: args.query
operations:
  books:
    input: [query]
    values:
      first: upper(values.shared)
      second: lower(values.first)
      third: lower(values.second)
      lost: args.query
    steps:
      - get: /find
        query: {{q: "{sent}"}}
        json: {{each: items, map: {{title: {{at: title, required: true}}}}}}
examples: []
"""


@pytest.mark.parametrize(
    ("sent", "unused", "kept"),
    [
        ("=args.query", ["shared", "spare", "first", "second", "third", "lost"], []),
        ("=values.first", ["spare", "second", "third", "lost"], ["shared", "first"]),
        ("=values.third", ["spare", "lost"], ["shared", "first", "second", "third"]),
        ("=values.shared", ["spare", "first", "second", "third", "lost"], ["shared"]),
    ],
)
def test_what_only_an_unused_value_uses_is_told_with_it_and_not_worked_out(
    sent: str, unused: list[str], kept: list[str]
) -> None:
    woven = weave_texts(CAPABILITY, base=False)
    report = Report()
    spec = parse_spec("shelf.yaml", PROVIDER.format(sent=sent).encode(), report)
    assert spec is not None

    provider = compile_provider(spec, woven.model.capabilities, report)

    assert provider is not None
    assert [entry.key for entry in find_unused_values(spec.root)] == unused
    assert [name for name, _ in provider.operations["books"].values] == kept


def test_what_takes_all_named_values_as_one_object_uses_all_of_them() -> None:
    report = Report()
    spec = parse_spec("shelf.yaml", PROVIDER.format(sent="=to_string(values)").encode(), report)
    assert spec is not None

    assert [entry.key for entry in find_unused_values(spec.root)] == []
