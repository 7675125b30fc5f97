"""Quotations: verbatim, altered, or not there at all."""

from __future__ import annotations

import pytest

from specloom.domains.trust.claims.coverage import assess
from specloom.domains.trust.claims.quotations import find_quotations

STATION = (
    "The station has stood on the left bank since 1911. Its gauge failed for seven days in March, after ice had bent "
    "the mast. Otters sleep in kelp for about nine hours a night. Pups are left floating only while their mothers dive."
)


@pytest.mark.parametrize(
    ("quotation", "passage", "differing"),
    [
        ("its gauge failed for eleven days in March", "Its gauge failed for seven days in March", "eleven → seven"),
        (
            "otters sleep in kelp for about nine hours a day",
            "Otters sleep in kelp for about nine hours a night",
            "day → night",
        ),
        (
            "pups are never left floating while their mothers dive",
            "Pups are left floating only while their mothers dive",
            "never → only",
        ),
        (
            "after ice had bent the mast. Sea otters sleep in kelp",
            "after ice had bent the mast. Otters sleep in kelp",
            "Sea → (nothing)",
        ),
        (
            "its gauge failed for […] days in April",
            "Its gauge failed for seven days in March",
            "April → seven … March",
        ),
    ],
)
def test_an_altered_quotation_is_told_with_its_passage_and_what_differs(
    quotation: str, passage: str, differing: str
) -> None:
    [told] = find_quotations(f'They write: "{quotation}".', STATION)

    assert not told.found
    assert told.altered is not None
    assert (told.altered.passage, told.altered.differing) == (passage, differing)


@pytest.mark.parametrize(
    "quotation",
    [
        "the mast was the pride of the whole valley",
        "a gauge that failed the people of the river",
        "in the night of the ice on the bank",
        "seven mothers left for the station in March",
    ],
)
def test_words_that_stand_apart_in_the_source_are_no_altered_quotation(quotation: str) -> None:
    [told] = find_quotations(f'They write: "{quotation}".', STATION)

    assert (told.found, told.altered) == (False, None)


def test_in_a_script_without_blanks_signs_are_compared() -> None:
    [told] = find_quotations("他说：“水獭睡觉时手拉手，不会漂走很远。”", "据说水獭睡觉时手拉着手，不会漂走太远。")

    assert told.altered is not None
    assert told.altered.recorded == "着 … 太"


def test_a_source_with_nearly_the_words_of_a_quotation_is_not_told_to_be_silent() -> None:
    claim = 'The agency, the ministry, both chambers, all newspapers and the union repeat: "they came home by dawn".'
    text = f"{STATION} On Sunday they came home by noon, said the keeper. {STATION.upper()}"

    found = assess(claim, text)

    assert found.label != "not_addressed"
    assert [cue.words for cue in found.distortions if cue.kind == "quotation"] == ["dawn → noon"]


def test_a_long_quotation_over_a_long_text_takes_no_time_to_speak_of() -> None:
    text = " ".join(f"The {at} otters of holt {at} sleep while the {at} weirs run low." for at in range(4000))

    [told] = find_quotations(f'"{"the otters of the holt sleep while weirs run " * 20}"', text)

    assert not told.found
