"""An example without rows says which selector finds nothing, and blames none that was not tried."""

from __future__ import annotations

from specloom.authoring.examples.run import check_examples
from tests.support.spec_library import weave_texts

SPEC = """\
spec: provider/1
name: sample
title: Sample
service: {base: https://sample.example}
operations:
  find:
    input: [query]
    steps:
      - get: /search
        query: {q: =args.query}
        json: {map: {title: {at: head, required: true}, url: {at: url, required: true}}}
examples:
  - name: one thing
    operation: find
    args: {query: x}
    replies: {main: {json: REPLY}}
    expect: {rows: [{title: T, url: "https://s.example/"}]}
"""


def problems(spec: str) -> list[str]:
    woven = weave_texts(spec)
    check_examples(woven.library, woven.model, woven.report)
    return [f"{one.message} ({one.hint})" for one in woven.report]


def test_a_field_behind_one_that_drops_the_row_is_not_blamed() -> None:
    (found,) = problems(SPEC.replace("REPLY", '{title: T, url: "https://s.example/"}'))

    assert found.startswith("'one thing': title has no value in any item: `head` finds nothing")


def test_an_answer_whose_only_item_may_lack_a_field_is_told_of_keep() -> None:
    paged = SPEC.replace("        json:", "        paging: {names: {at: \"['b']\"}, most: 2}\n        json:").replace(
        "/search", "/a"
    )
    replies = '[{json: {head: T, url: "https://s.example/"}}, {json: {head: U}}]'

    (found,) = problems(paged.replace("{json: REPLY}", replies))

    assert found == (
        "'one thing': no item of an answer has url, which is required, so that it is a changed layout "
        "(where a whole answer may lack it, leave `required` out and say `keep: row.url` beside `map`)"
    )
    mended = paged.replace("url: {at: url, required: true}", "url: url").replace(
        "json: {map", "json: {keep: row.url, map"
    )
    assert problems(mended.replace("{json: REPLY}", replies)) == []
