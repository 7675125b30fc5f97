"""Citations that no rule was set on: the figures of the page are those of today, and nobody is accused wrongly."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import trust_citations as bench
from trust_styles import STYLES, write

from tests.support.shipped import shipped_model

# The one accusation in 1,922: the journal of an entry that was made of a reference whose title ends in a question.
KNOWN = ("Back to the Old Days?",)
RECALL_FLOORS = {
    "verify: confirmed": 0.99,
    "audit: confirmed": 0.99,
    "verify: title mismatch": 0.85,
    "audit: title mismatch": 0.85,
    "verify: retracted": 1.0,
    "audit: retracted": 1.0,
    "verify: notice by its name": 1.0,
    "audit: notice by its name": 1.0,
    "audit: invented beside a live page": 1.0,
    "audit: invented beside a live page (generated, pages)": 1.0,
    "verify: title mismatch (generated, another DOI)": 1.0,
    "verify: told under an outage": 1.0,
    "audit: told under an outage": 1.0,
}


@pytest.fixture(scope="module")
def outcomes() -> list[Any]:
    return asyncio.run(bench.replay(shipped_model(), judging=True))


@pytest.mark.corpus
def test_nobody_is_accused_wrongly_and_no_recall_falls(outcomes: list[Any]) -> None:
    accused = [each for each in outcomes if each.measure.partition(" (gen")[0] in bench.ACCUSATIONS]
    wrong = [each.case for each in accused if each.found > each.expected]
    assert [case for case in wrong if not any(known in case for known in KNOWN)] == []

    scores = {score.measure: score for score in bench.to_scores(outcomes)}
    for measure, floor in RECALL_FLOORS.items():
        assert scores[measure].recall >= floor, measure


@pytest.mark.corpus
def test_the_page_shows_the_figures_of_the_judging_half(outcomes: list[Any]) -> None:
    page = bench.DOCS.read_text(encoding="utf-8")

    assert bench.to_page(outcomes) in page


def test_the_set_is_split_once_and_each_half_has_every_kind_of_question() -> None:
    halves = [bench.load_cases(judging=judging) for judging in (False, True)]

    assert min(map(len, halves)) >= 75
    assert sum(map(len, halves)) >= 150
    for half in halves:
        assert {case.status for case in half} == {"confirmed", "not_found", "open"}
        assert any(case.accuse for case in half)
        assert any(case.notice for case in half)
        assert any(case.told for case in half)


def test_a_case_that_a_rule_was_changed_for_judges_nothing() -> None:
    assert not [case.text for case in bench.load_cases(judging=True) if case.mended_on]


@pytest.mark.parametrize("style", STYLES)
def test_a_work_is_written_whole_in_each_style(style: str) -> None:
    work = {
        "title": "How otters swim under winter ice", "authors": [["Otter", "Ann B."], ["van der Weir", "Bob"]],
        "year": 2021, "venue": "Journal of Otters", "volume": "3", "issue": "1", "pages": "1-9",
    }  # fmt: skip

    text = write(work, style, "10.1234/otters.1")

    for part in ("How otters swim under winter ice", "Journal of Otters", "2021", "10.1234/otters.1", "3"):
        assert part in text
    assert "otter" in text.casefold()
