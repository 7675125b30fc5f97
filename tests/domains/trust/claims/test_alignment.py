"""Numbers of a sentence that are of one of its things, against a claim that gives them to another."""

from __future__ import annotations

import pytest

from specloom.domains.trust.claims.coverage import assess

LIST = "The share of smokers was 12.5 percent among teachers, 31 percent among cooks and 44 percent among sailors."


def to_numbers(claim, text):
    return [(cue.claimed, cue.found) for cue in assess(claim, text).cues if cue.kind == "number"]


def test_the_number_of_another_thing_of_a_list_is_a_cue_with_the_right_one():
    assert to_numbers("Some 44 percent of cooks were smokers.", LIST) == [("44 percent", "31 percent")]


@pytest.mark.parametrize("claim", ["Some 31 percent of cooks were smokers.", "Nearly a third of cooks were smokers."])
def test_the_number_of_the_thing_itself_is_none(claim):
    assert to_numbers(claim, LIST) == []


@pytest.mark.parametrize(
    ("claim", "contradicted"),
    [("More teachers than cooks were smokers.", True), ("Fewer teachers than cooks were smokers.", False)],
)
def test_a_comparison_is_held_against_the_numbers_of_its_sides_in_a_list(claim, contradicted):
    assert assess(claim, LIST).contrast is contradicted
