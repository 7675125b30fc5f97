"""The sets that only judge citations: what they hold, the figures of the page, and figures that do not fall."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
import trust_judging as bench

from tests.support.shipped import shipped_model

FILES = [file for file, _ in bench.SETS.values()]
RECALL_FLOORS = {
    "confirmed": 0.97,
    "title mismatch": 0.92,
    "authors mismatch": 0.91,
    "year mismatch": 0.69,
    "wrong detail told in its field": 0.79,
    "not found, with an identifier": 1.0,
    "invented is not confirmed": 1.0,
    "wrong title is not confirmed": 0.93,
    "title confirmed": 0.55,
}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[Any]]:
    return asyncio.run(bench.replay(shipped_model()))


def test_the_page_shows_the_figures_of_today(outcomes: dict[str, list[Any]]) -> None:
    page = bench.DOCS.read_text(encoding="utf-8")

    assert bench.to_page(outcomes) in page


def test_nobody_is_accused(outcomes: dict[str, list[Any]]) -> None:
    wrong = [each for part in outcomes.values() for each in part if "accused" in each.measure and each.found]

    assert [each.case for each in wrong] == []


@pytest.mark.parametrize("tool", ["verify", "audit"])
@pytest.mark.parametrize("measure", RECALL_FLOORS)
def test_no_recall_falls(outcomes: dict[str, list[Any]], measure: str, tool: str) -> None:
    judging = (part for name, part in outcomes.items() if name != bench.MENDED)
    scores = {score.measure: score for part in judging for score in bench.to_scores(part)}

    assert scores[f"{tool}: {measure}"].recall >= RECALL_FLOORS[measure]


@pytest.mark.parametrize("file", FILES)
def test_no_case_is_there_twice(file: str) -> None:
    texts = [case["text"] for case in bench.load(file)["cases"]]

    assert len(set(texts)) == len(texts) >= 59


def test_each_set_has_as_much_that_is_right_as_is_wrong() -> None:
    details, existence, pages = (bench.load(file)["cases"] for file in FILES)

    assert sum("wrong" not in case for case in details) >= 40
    assert Counter(case.get("wrong") for case in details).keys() >= {"title", "authors", "year", "venue", "pages"}
    assert {case["by"] for case in details} == {"doi", "pmid", "arxiv", "rfc", "isbn", "patent", "case", "trial"}
    assert Counter(case["status"] for case in existence) == {"not_found": 35, "open": 28}
    assert Counter(case["status"] for case in pages) == {"confirmed": 43, "open": 5, "wrong": 43}


def test_what_was_made_up_is_in_no_register() -> None:
    world = bench.load_judging_world()
    invented = [case["text"] for case in bench.load_cases("judging_not_found.yaml") if case["status"] == "not_found"]

    for name in ("crossref", "datacite", "trials"):
        assert not [key for key in world[name] for text in invented if key in text.lower() or key in text], name


def test_a_case_that_a_rule_was_changed_for_judges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [{"text": "one"}, {"text": "two", "mended_on": True}]
    monkeypatch.setattr(bench, "load", lambda _: {"cases": cases})

    assert bench.load_cases("any.yaml") == [{"text": "one"}]
    assert bench.load_mended("any.yaml") == [{"text": "two", "mended_on": True}]


def test_of_what_was_mended_on_nothing_is_told_wrongly(outcomes: dict[str, list[Any]]) -> None:
    wrong = [each for each in outcomes[bench.MENDED] if each.found and not each.expected]
    told = [each for each in outcomes[bench.MENDED] if each.found and "mismatch" in each.measure]

    assert not wrong
    assert {each.measure.partition(": ")[2].split()[0] for each in told} >= {"venue", "volume", "pages", "year"}


@pytest.mark.parametrize(
    ("judge", "case", "answer", "measures"),
    [
        (
            bench.judge_details,
            {"text": "t", "by": "doi", "wrong": "year"},
            {"comparison": [{"field": "year", "verdict": "mismatch", "reason": "r"}]},
            {"wrong detail told in its field": True, "year mismatch": True, "title mismatch": False},
        ),
        (
            bench.judge_details,
            {"text": "t", "by": "doi"},
            {"comparison": [{"field": "title", "verdict": "mismatch", "reason": "r"}]},
            {"right citation accused": True, "confirmed": True},
        ),
        (
            bench.judge_existence,
            {"text": "t", "kind": "law", "status": "open"},
            {"verificationStatus": "not_found"},
            {"real work accused": True, "not found": True},
        ),
        (
            bench.judge_pages,
            {"text": "t", "kind": "near", "status": "wrong"},
            {},
            {"wrong title is not confirmed": False, "title confirmed": True},
        ),
    ],
)
def test_an_answer_is_held_against_what_is_true(
    judge: bench.Judge, case: dict[str, Any], answer: dict[str, Any], measures: dict[str, bool]
) -> None:
    found = {each.measure: each.found for each in judge(case, {"verificationStatus": "confirmed", **answer}, "verify")}

    assert measures == {name: found[f"verify: {name}"] for name in measures}
