"""Which addresses are of one page, and which are not although they look alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.page_addresses import canonical_url

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


HOSTS = st.lists(
    st.sampled_from(["www", "m", "amp", "a", "mobile", "example", "co", "org", "1", "x-y", ""]), max_size=5
)
PATHS = st.lists(
    st.sampled_from(
        ["", "a", "amp", "print", "story-1", "index.html", "Index.PHP", "default.asp", "a.b", "%2D", "x;y", "é"]
    ),
    max_size=5,
)
PARAMETERS = st.lists(
    st.sampled_from(
        [
            "a=1",
            "b=",
            "=",
            "c",
            "utm_source=x",
            "AMP=1",
            "outputType=AMP",
            "view=print",
            "a=b=c",
            "q=x+y",
            "q=%20",
            "z=~.-_",
            "a=0",
        ]
    ),
    max_size=4,
)


@given(
    st.sampled_from(["http", "https", "HTTPS"]),
    HOSTS,
    st.sampled_from(["", ":80", ":8080", "@x"]),
    PATHS,
    PARAMETERS,
    st.sampled_from(["", "#", "#a?b", "/", "?"]),
)
def test_the_short_way_for_plain_addresses_gives_what_the_long_one_does(
    scheme: str, host: list[str], port: str, path: list[str], parameters: list[str], end: str
) -> None:
    query = f"?{'&'.join(parameters)}" if parameters else ""
    url = f"{scheme}://{'.'.join(host)}{port}{''.join(f'/{part}' for part in path)}{query}{end}"

    # Blanks around an address are no part of it, and nothing that has them is plain.
    assert canonical_url(url) == canonical_url(f" {url}")


@given(st.from_regex(r"https?://[a-z.]{0,9}[!-~]{0,30}", fullmatch=True))
def test_the_short_way_gives_the_same_for_any_signs(url: str) -> None:
    # What is no address is given back as it came.
    assert canonical_url(url) == canonical_url(f" {url}").strip()
