"""Pages that are not free to read: told as partial where the text is not all there, and only there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.extract import Extract, extract
from tests.domains.scrape.test_tools import Web, to_html
from tests.domains.scrape.test_tools import read as read_tool

URL = "https://news.example/otters"
SENTENCE = "Otters eat mostly fish, and where there are few of them they turn to crabs and frogs. "
TEASER = f"<p>{SENTENCE * 4}</p>"
TEXT = "".join(f"<p>Day {at}. {SENTENCE * 3}</p>" for at in range(8))
PART = {"@type": "WebPageElement", "isAccessibleForFree": False, "cssSelector": ".paid"}
CLOSED = {"isAccessibleForFree": False}


def read(body: str, said: Any) -> Extract:
    node = {"@type": "NewsArticle", "headline": "Otters", "url": URL, **said} if isinstance(said, dict) else said
    head = f'<title>Otters</title><script type="application/ld+json">{json.dumps(node)}</script>'
    page = f"<!doctype html><html><head>{head}</head><body><article><h1>Otters</h1>{body}</article></body></html>"
    return extract(page, url=URL)


@pytest.mark.parametrize("word", [False, "False", "false", "https://schema.org/False"])
def test_a_beginning_of_a_page_that_is_not_free_is_partial(word: Any) -> None:
    found = read(TEASER, {"isAccessibleForFree": word})

    assert found.quality == "partial"
    assert found.lack == (
        f"This page says that it is not free to read, and gave {found.words} words: they may be only its beginning."
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (TEXT, {**CLOSED, "hasPart": PART}),
        (f'{TEXT}<div class="paid"><p>Subscribe to read on.</p></div>', {**CLOSED, "hasPart": [PART]}),
        (f'{TEXT}<div class="paid" style="display:none">{TEXT}</div>', {"isAccessibleForFree": True, "hasPart": PART}),
        (TEXT, {**CLOSED, "hasPart": {**PART, "cssSelector": [".paid", "#rest"]}}),
    ],
)
def test_a_page_without_the_part_that_it_marks_is_partial(body: str, said: dict[str, Any]) -> None:
    found = read(body, said)

    assert found.quality == "partial"
    assert found.lack == "This page says that a part of it is not free to read, and gave nothing of that part."


def test_a_page_that_says_how_long_it_is_gave_less() -> None:
    found = read(TEXT, {**CLOSED, "wordCount": "4000"})

    assert (found.quality, found.lack) == (
        "partial",
        f"This page says that it is not free to read: it has 4000 words, of which it gave {found.words}.",
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (TEXT, CLOSED),
        (f'{TEASER}<div class="paid">{TEXT}</div>', {**CLOSED, "hasPart": PART}),
        (TEASER, {**CLOSED, "wordCount": 70}),
        (TEXT, {**CLOSED, "wordCount": 500, "hasPart": PART}),
        (TEXT, {**CLOSED, "hasPart": {**PART, "cssSelector": "p:hover"}}),
        (TEXT, {**CLOSED, "hasPart": {**PART, "cssSelector": "a b {}, .paid"}}),
        (TEASER, {"isAccessibleForFree": True}),
        (TEASER, {"hasPart": {**PART, "isAccessibleForFree": True}}),
        (TEASER, {}),
        (TEASER, {"hasPart": {"@type": "Article", "name": "isAccessibleForFree"}}),
        (TEASER, [{"@type": "WebPage"}, {"@type": "ItemList", "itemListElement": [{"@type": "Article", **CLOSED}]}]),
    ],
)
def test_a_page_that_is_free_or_carries_its_whole_text_is_complete(body: str, said: Any) -> None:
    found = read(body, said)

    assert (found.lack, found.quality) == ("", "complete")


@given(
    st.sampled_from(["isAccessibleForFree", "hasPart", "wordCount"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text("aF.:#>[]{}, ", max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["isAccessibleForFree", "cssSelector", "@id"]), inner, max_size=3)
        ),
        max_leaves=6,
    ),
)
def test_odd_values_are_no_fault(key: str, value: Any) -> None:
    found = read(TEASER, {**CLOSED, key: value})

    assert found.quality == ("partial" if found.lack else "complete")


async def test_a_caller_is_told_and_nobody_else_is_asked_for_the_rest() -> None:
    node = {"@type": "NewsArticle", "headline": "Otters", "url": URL, **CLOSED}
    web = Web()
    head = f'<script type="application/ld+json">{json.dumps(node)}</script><script src="/paywall.js"></script>'
    web.page(URL, to_html("Otters", SENTENCE * 4, head=head))

    said = await read_tool(web, URL)

    assert said["extractionQuality"] == "partial"
    assert "This page says that it is not free to read, and gave" in said["sparsityWarning"]
    assert web.sent == [URL]
