"""What a page embeds for machines is handed on whole, valid and within the contract's caps."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.html import parse as tree
from specloom.domains.scrape.metadata.jsonld import LARGEST, StructuredData, cut, to_structured
from specloom.domains.scrape.metadata.sources import gather


def read(head: str) -> StructuredData | None:
    return to_structured(gather(tree.parse(f"<html><head>{head}</head><body></body></html>")))


def block(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def tag(name: str, content: str) -> str:
    return f'<meta property="{name}" content="{content}">'


def test_blocks_and_elements_come_as_they_are_with_repeated_names_as_lists() -> None:
    found = read(
        block('{"@type": "Thing", "n": 1.50}')
        + tag("og:title", "Bridges")
        + tag("article:tag", "a")
        + tag("article:tag", "b")
        + '<meta name="citation_author" content="Lee, Ann"><meta name="citation_author" content="Day, Bo">'
        + '<meta name="citation_doi" content="10.1234/x"><meta name="author" content="no">'
    )

    assert found is not None
    assert found.to_json() == {
        "jsonLd": [{"@type": "Thing", "n": 1.5}],
        "openGraph": {"og:title": "Bridges", "article:tag": ["a", "b"]},
        "citation": {"citation_author": ["Lee, Ann", "Day, Bo"], "citation_doi": "10.1234/x"},
    }


def test_a_page_without_any_has_none() -> None:
    assert read('<title>x</title><meta name="viewport" content="width">') is None


def test_blocks_that_are_not_json_are_left_out() -> None:
    bad = ["{", '{"a": NaN}', '{"a": 1e999}', '{"a": "\n"}', '"\\ud800"', "[" * 100 + "]" * 100, "{a: 1}", ""]

    found = read("".join(map(block, bad)) + block('{"good": true}'))

    assert found is not None
    assert found.json_ld == ({"good": True},)


def test_the_caps_hold_and_names_go_before_blocks() -> None:
    big = json.dumps({"text": "é" * 15_000}, ensure_ascii=False)
    found = read(
        "".join(block(json.dumps({"n": n})) for n in range(30))
        + block(json.dumps("x" * 33_000))
        + block(big) * 3
        + "".join(tag(f"og:n{n}", "v") for n in range(100))
        + "".join(tag("article:tag", f"t{n}") for n in range(100))
        + tag("og:long", "é" * 5000)
    )

    assert found is not None
    assert len(found.json_ld) == 16
    assert found.json_ld[0] == {"n": 0}
    assert found.open_graph is not None
    assert len(found.open_graph) == 64
    assert len(json.dumps(found.to_json(), ensure_ascii=False).encode()) < LARGEST * 1.1


def test_the_budget_covers_everything_together() -> None:
    found = read(block(json.dumps("x" * 30_000)) * 4 + "".join(tag(f"og:n{n}", "y" * 2000) for n in range(10)))

    assert found is not None
    assert len(found.json_ld) == 1
    assert len(json.dumps(found.to_json()).encode()) <= LARGEST


def test_values_are_cut_between_characters() -> None:
    found = read(tag("og:title", "é" * 2000))

    assert found is not None
    assert found.to_json()["openGraph"]["og:title"] == "é" * 1024
    assert cut("aé", 2) == "a"


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_every_json_value_comes_through(value: object) -> None:
    text = json.dumps(value).replace("<", "\\u003c")

    found = read(block(text))

    if "\\ud" not in text.lower():
        assert found is not None
        assert found.json_ld == (value,)
