"""Who serves compiles specs that passed before, with less work, and keeps nothing that only a check needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specloom.compiler.build import weave_from
from specloom.compiler.values import whole
from specloom.core.diagnostics import Report
from specloom.core.messages import Response
from specloom.language.expressions.api import compile_expression, compile_selector, forget_texts
from specloom.language.expressions.parser import parse
from specloom.language.types import TEXT
from specloom.specs.library import load_library
from tests.support.demo_specs import write_demo
from tests.support.spec_library import a_provider, find, weave_texts

if TYPE_CHECKING:
    from pathlib import Path

READS_XML = a_provider(
    """\
    input: [query]
    steps:
      - get: /find
        xml: {each: //page, map: {url: {at: "@href", required: true}, title: {at: [title, name]}}}
    """
)
PAGES = b'<r><page href="https://a.example/"><name>A</name></page><page href="https://b.example/"/></r>'


def test_a_provider_reads_trees() -> None:
    woven = weave_texts(READS_XML)

    run = find(woven, {"query": "otters"}, Response(200, {}, PAGES))

    assert run.rows == [{"url": "https://a.example/", "title": "A"}, {"url": "https://b.example/"}]


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    return write_demo(tmp_path)


def test_who_serves_keeps_the_model_and_not_what_it_was_made_of(demo: Path) -> None:
    whole, all_of_it, _ = weave_from([demo])
    served, library, _ = weave_from([demo], examples=False)

    assert {kind for kind, _ in all_of_it.specs} >= {"provider", "tool", "capability"}
    assert {kind for kind, _ in library.specs}.isdisjoint({"provider", "tool"})
    assert (served.digest, list(served.tools), list(served.providers)) == (
        whole.digest,
        list(whole.tools),
        list(whole.providers),
    )


def test_texts_stay_until_problems_were_shown_with_them(demo: Path) -> None:
    _, library, _ = weave_from([demo], examples=False)

    assert library.sources == load_library([demo], Report()).sources


def test_trees_and_expressions_of_texts_are_forgotten() -> None:
    tree, expression = children_of("a.b[0].c"), compile_selector("a.b[0].c")[0]
    assert children_of("a.b[0].c") is tree
    assert compile_selector("a.b[0].c")[0] is expression

    forget_texts()

    assert children_of("a.b[0].c") is not tree
    assert compile_selector("a.b[0].c")[0] is not expression


def children_of(text: str) -> object:
    tree = parse(text)
    assert isinstance(tree, dict)
    return tree["children"]


def test_expressions_that_read_the_same_share_the_set_of_what_they_read() -> None:
    scope = whole({"args": whole({"a": TEXT})})

    one, other = (compile_expression(text, scope)[0] for text in ("args.a", "not_null(args.a, args.a)"))

    assert one is not None
    assert other is not None
    assert (one.uses, one.tables) == (frozenset({("args", "a")}), frozenset())
    assert one.uses is other.uses
    assert one.tables is other.tables
