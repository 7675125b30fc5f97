"""The estimate of tokens is near what tokenisers count, in each kind of text; the counts below are o200k_base's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core import count_tokens, cut_text

PASSAGES = {
    "English": (
        "Otters live along rivers and coasts. They eat fish, crabs and frogs, and where fish are few they take "
        "the eggs of birds. A family keeps to its stretch of the river for years, and the young stay with their "
        "mother until the second winter.",
        54,
        54,
    ),
    "German": (
        "Otter leben an Flüssen und Küsten. Sie fressen Fische, Krebse und Frösche, und wo Fische selten sind, nehmen "
        "sie die Eier von Vögeln. Eine Familie bleibt über Jahre an ihrem Abschnitt des Flusses.",
        53,
        56,
    ),
    "Chinese": (
        "水獭生活在河流和海岸边。它们吃鱼、螃蟹和青蛙，鱼少的地方也会吃鸟蛋。一个家族多年来一直守在自己的河段，"
        "幼崽会和母亲一起待到第二个冬天。",
        64,
        60,
    ),
    "JSON": (
        '{"results":[{"title":"Sea otters","url":"https://otters.example.org/sea/2026/01/05",'
        '"snippet":"They hold hands.","publishedAt":"2026-01-05T09:00:00Z","engagement":{"points":12}},'
        '{"title":"River otters","url":"https://b.example.org/river?id=8842"}],"resultCount":2}',
        85,
        84,
    ),
}
"""A passage of each kind, with what o200k_base and the tokeniser of Llama 3 count."""


@pytest.mark.parametrize("kind", PASSAGES)
def test_the_estimate_is_near_what_tokenisers_count(kind: str) -> None:
    text, first, second = PASSAGES[kind]

    # A single short passage is farther off than a page: the mean over many is within a tenth (bench/tokens.py).
    assert count_tokens(f"{text} " * 4) == pytest.approx(4 * (first + second) / 2, rel=0.25)


@given(st.text(max_size=300), st.text(max_size=300))
def test_more_text_is_never_much_fewer_tokens(first: str, second: str) -> None:
    assert count_tokens(f"{first}\n{second}") >= 0.5 * count_tokens(first) - 2


@given(st.text(max_size=500), st.integers(0, 400))
def test_a_cut_text_is_a_prefix_no_longer_than_asked(text: str, most: int) -> None:
    told = cut_text(text, most)

    assert text.startswith(told)
    assert len(told) <= most or told == text


def test_a_text_is_cut_behind_a_paragraph_a_sentence_or_a_word() -> None:
    assert cut_text("aaaa bbbb. cccc dddd", 12) == "aaaa bbbb."
    assert cut_text("first paragraph\n\nsecond", 20).rstrip() == "first paragraph"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("getHTTPResponse2024B", 193, id="capitals within words, digits beside letters"),
        pytest.param("a1B2c3", 138, id="letters and digits turn about"),
        pytest.param("!!x!y--z", 60, id="runs of marks"),
        pytest.param("12345 678", 73, id="digits in threes"),
        pytest.param("x\n\ny\nz", 52, id="lines"),
        pytest.param("État 1789", 76, id="letters beyond ASCII"),
    ],
)
def test_each_kind_of_character_has_its_weight(text: str, count: int) -> None:
    assert count_tokens(text * 20) == count
