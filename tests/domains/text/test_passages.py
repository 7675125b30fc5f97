"""Passages: split without loss, ranked for a query, chosen within a budget, quoted with their places."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text import choose_passages, quote_passages, split_passages, to_cost

PIECES = [
    "# One\n\n",
    "## Two\n\n",
    "Otters swim far. " * 12 + "\n\n",
    "Short.\n\n",
    "- a\n- b\n\n",
    "```\ncode\n\n# no\n```\n\n",
    "| a | b |\n| - | - |\n| 1 | 2 |\n\n",
    "---\n\n",
    "x " * 1200 + "\n\n",
]
FILLER = "The weather of the valley is mild and the roads are dry for most of the year, as everybody knows there. " * 4
RIVER = (
    "# Otters\n\n" + FILLER + "\n\n## Diet\n\n" + "Otters eat fish and crabs in all seasons of the year. " * 6
    + "\n\n## Young\n\n" + "The pups leave the mother after a year. " * 6 + "\n\n" + FILLER + "\n\n" + FILLER
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_passages_leave_out_nothing_but_blanks_and_rules(text: str) -> None:
    passages = split_passages(text)

    assert all(one.start < two.start and one.end <= two.start for one, two in pairwise(passages))
    quoted = "".join(text[one.start : one.end] for one in passages)
    assert re.sub(r"\s|---", "", quoted) == re.sub(r"\s|---", "", text)


def test_what_speaks_to_a_query_is_quoted_whole_with_its_place_and_its_headings() -> None:
    (passages,) = choose_passages([RIVER], "how old are pups when they leave", 100)

    said = quote_passages(RIVER, passages)
    place = re.fullmatch(r"@(\d+) Otters\n(## Young\n\nThe pups .*)", said, re.DOTALL)
    assert place is not None
    assert RIVER[int(place[1]) :].startswith(place[2])


def test_every_text_is_heard_and_the_rest_goes_to_what_is_worth_most() -> None:
    others = [FILLER * 3 + f"\n\nOtters of valley {number} eat fish." for number in range(3)]

    chosen = choose_passages([*others, RIVER], "what do otters eat", 900)

    assert all(chosen)
    assert any("Otters eat fish and crabs" in RIVER[one.start : one.end] for one in chosen[3])


def test_what_an_earlier_text_has_word_for_word_is_quoted_once() -> None:
    same = "Otters eat fish and crabs in all seasons, and nobody has seen them eat anything else for years. " * 3
    other = "Otters eat shells as well, which they open with stones that they keep under the arm for years. " * 3

    first, second = choose_passages([same, f"{same}\n\n{FILLER}\n\n{other}"], "otters eat", 400)
    again = choose_passages([same, same], "otters eat", 400, once=False)

    assert first
    assert second
    assert all(same not in f"{same}\n\n{FILLER}\n\n{other}"[one.start : one.end] for one in second)
    assert all(again)


def test_a_text_that_fits_is_quoted_as_it_is() -> None:
    text = "# Otters\n\nOtters eat fish.\n\n- one\n- two"

    assert quote_passages(text, choose_passages([text], "fish", 500)[0]) == text


@given(st.integers(20, 1500), st.sampled_from(["otters eat fish", "", "the", "pups year", "zebra", "水獭"]))
def test_no_choice_is_over_its_budget(room: int, query: str) -> None:
    texts = [RIVER, FILLER * 5, "Short one."]

    chosen = choose_passages(texts, query, room)

    said = [quote_passages(text, some) for text, some in zip(texts, chosen, strict=True)]
    assert sum(to_cost(one) for one in said if one) <= room * 1.1 + 12


def quoted(text: str, query: str, room: int = 120) -> str:
    (chosen,) = choose_passages([text], query, room)
    return quote_passages(text, chosen)


def test_a_word_of_any_question_does_not_lead_away_from_what_is_asked() -> None:
    text = "\n\n".join(
        [FILLER, "Something will happen in the valley. " * 8, FILLER, "A holt has two doors. " * 10, FILLER]
    )

    assert "two doors" in quoted(text, "what will happen if something comes into a holt")


def test_words_that_begin_alike_speak_to_each_other_in_part() -> None:
    text = "\n\n".join([FILLER, FILLER, "The installation of a holt takes a week of digging. " * 5, FILLER])

    assert "takes a week" in quoted(text, "how do otters install one")
    assert "takes a week" not in quoted(text, "how do otters instruct one")


def test_what_is_worth_little_beside_the_best_is_not_quoted_though_there_is_room() -> None:
    weak = "The valley has an otter. " + FILLER
    text = "\n\n".join([weak, FILLER, "Otter pups leave the holt of the otter in autumn. " * 5, FILLER, weak])

    said = quoted(text, "when do otter pups leave the holt", 5_000)

    assert "in autumn" in said
    assert "The valley has an otter" not in said
