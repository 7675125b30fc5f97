"""Which addresses are of one page, and which are not although they look alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.text import canonical_url

STORY = "https://news.example/2026/otters-eat-crabs"


@pytest.mark.parametrize(
    "other",
    [
        "http://www.news.example/2026/otters-eat-crabs/",
        "https://NEWS.example:443/2026/otters-eat-crabs#comments",
        f"  {STORY}?utm_source=rss&utm_medium=feed ",
        f"{STORY}?fbclid=x&_ga=1.2&_gl=1&gbraid=2&srsltid=Af",
        "https://m.news.example/2026/otters-eat-crabs",
        "https://mobile.news.example/2026/otters-eat-crabs",
        "https://amp.news.example/2026/otters-eat-crabs",
        f"{STORY}/amp/",
        f"{STORY}?amp=1",
        f"{STORY}?amp",
        f"{STORY}?outputType=amp",
        f"{STORY}/print",
        f"{STORY}?print=true",
        f"{STORY}/index.html",
        "https://news.example/2026/otters%2Deat%2Dcrabs",
    ],
)
def test_editions_and_marks_of_a_page_are_that_page(other: str) -> None:
    assert canonical_url(other) == canonical_url(STORY) == "news.example/2026/otters-eat-crabs"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://news.example/2026/otters", "https://news.example/2025/otters"),
        ("https://news.example/otters?id=1", "https://news.example/otters?id=2"),
        ("https://shop.example/", "https://news.example/"),
        ("https://news.example:8080/a", "https://news.example/a"),
        # A project that is called so, and names of sites of one label less.
        ("https://code.example/user/amp", "https://code.example/user"),
        ("https://amp.example/a", "https://example/a"),
        ("https://mobile.de/a", "https://de/a"),
        ("https://news.example/Otters", "https://news.example/otters"),
        ("https://news.example/a?view=list", "https://news.example/a"),
    ],
)
def test_pages_that_differ_stay_apart(one: str, other: str) -> None:
    assert canonical_url(one) != canonical_url(other)


def test_an_edition_below_a_language_is_the_page_in_that_language() -> None:
    assert canonical_url("https://de.m.wiki.example/Otter") == canonical_url("https://de.wiki.example/Otter")
    assert canonical_url("https://de.wiki.example/Otter") != canonical_url("https://en.wiki.example/Otter")


def test_parameters_count_in_any_order() -> None:
    assert canonical_url("https://a.example/x?b=2&a=1&utm_id=9") == canonical_url("http://a.example/x?a=1&b=2")


@given(st.text())
def test_any_text_can_be_compared(text: str) -> None:
    assert canonical_url(f"https://{text}") == canonical_url(f"https://{text}")
    assert isinstance(canonical_url(text), str)
