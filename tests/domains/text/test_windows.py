"""Windows of a text: within their budget, joined without gap or overlap, ended where a reader would pause."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text import find_end, to_cost

PIECES = [
    "\n\n",
    "\n",
    " ",
    "# Heading\n",
    "```\n",
    "| a | b |\n",
    "Otters swim. ",
    "水獭吃鱼。",
    "e\u0301",
    "👩‍👩‍👧",
    "x" * 90,
    "- item\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=300).map("".join), st.integers(1, 200), st.integers(0, 300))
def test_windows_by_the_offsets_they_give_are_the_whole(text: str, room: int, most: int) -> None:
    windows, at = [], 0
    while at < len(text):
        end = find_end(text, at, room, most=most)
        assert end > at
        windows.append(text[at:end])
        at = end

    assert "".join(windows) == text
    assert all(to_cost(window) <= room or len(window) == 1 for window in windows)
    assert all(len(window.encode()) <= most or len(window) == 1 for window in windows if most)


@pytest.mark.parametrize(
    ("text", "most", "first"),
    [
        ("First part here.\n\n# Next\n\nMore", 24, "First part here.\n\n"),
        ("One two three.\n\nFour five six", 20, "One two three.\n\n"),
        ("One two three. Four five six", 18, "One two three. "),
        ("One two three four five six", 20, "One two three four "),
        ("水獭在冬天吃鱼。它们在夏天吃蟹", 30, "水獭在冬天吃鱼。"),
        ("aaaa👩‍👩‍👧bbbb", 12, "aaaa"),
    ],
)
def test_a_window_ends_where_a_reader_would_pause(text: str, most: int, first: str) -> None:
    assert text[: find_end(text, 0, 0, most=most)] == first


def test_a_window_fills_most_of_its_budget() -> None:
    text = "The otters of the river sleep on their backs. " * 3000

    assert 0.85 * 1000 <= to_cost(text[: find_end(text, 0, 1000)]) <= 1000
