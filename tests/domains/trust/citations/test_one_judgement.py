"""Both citation tools tell one judgement, and nothing is said of a record that is not surely the one meant."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
import trust_citations as bench
from trust import load
from trust_judging import load_judging_world
from trust_registries import Registries

from tests.support.shipped import shipped_model

# Each class of the set once: the judging half is run by the bench alone, so that nobody is led to look at it.
CASES = list({case.kind: case for case in bench.load_cases(judging=False)}.values())
WORLD = bench.load_world()
OUTAGES = (frozenset[str](), frozenset(("crossref",)), frozenset(("crossref", "openalex", "europepmc")))


def ask(text: str, down: frozenset[str] = frozenset()) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What the two tools say of one citation."""

    async def both() -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        said = await bench.ask(shipped_model(), "verify_citation", {"citation": text}, Registries(WORLD, down))
        entries = {"entries": [bench.to_entry(text)]}
        answer = await bench.ask(shipped_model(), "audit_bibliography", entries, Registries(WORLD, down))
        return said, answer["entries"][0]

    return asyncio.run(both())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_the_two_tools_say_the_same_of_a_citation(case: bench.Case) -> None:
    said, entry = ask(case.text)

    kept = {"not_found": "denied", "confirmed": "confirmed"}
    assert kept.get(said["verificationStatus"], "open") == kept.get(entry["verificationStatus"], "open")
    assert said["exists"] == entry["exists"]
    notices = [(one.get("retractionStatus") or {}).get("retracted") for one in (said, entry)]
    assert notices[0] == notices[1]


@pytest.mark.parametrize("down", OUTAGES, ids=lambda down: "+".join(sorted(down)) or "nobody down")
def test_no_accusation_is_borne_by_a_record_that_may_be_another(down: frozenset[str]) -> None:
    for case in CASES:
        said, entry = ask(case.text, down)
        for one in (said, entry):
            accused = [
                *(each["field"] for each in one.get("comparison") or () if each["verdict"] == "mismatch"),
                *(["retracted"] if (one.get("retractionStatus") or {}).get("retracted") else []),
            ]
            if accused:
                assert one["exists"], case.text
                assert one["matchConfidence"] == "high", case.text
                assert one.get("matchedRecord") or one.get("matchedTitle"), case.text
        assert ("retracted" in entry["flags"]) == bool((entry.get("retractionStatus") or {}).get("retracted"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_what_is_not_looked_at_is_never_called_fine(case: bench.Case) -> None:
    said, entry = ask(case.text, OUTAGES[1])

    if case.notice in bench.RETRACTING:
        unchecked = {one["what"] for one in entry.get("notChecked") or ()}
        assert "retracted" in entry["flags"] or ("unchecked" in entry["flags"] and unchecked)
        assert (said.get("retractionStatus") or {}).get("retracted") or said.get("notChecked")
    if not entry["exists"]:
        assert entry["flags"], "what nothing confirms is flagged"
        assert entry["reason"]


GOLD = [
    *(case["text"] for case in load("judging_details.yaml")["cases"]),
    *(case.text for case in bench.load_cases(judging=False) if not case.text.startswith("http")),
]
EVERYWHERE = load_judging_world()


@pytest.fixture(scope="module")
def judgements() -> Mapping[str, tuple[Mapping[str, Any], ...]]:
    """What both tools say of every citation: given whole, as an entry with fields, and as an entry in words."""

    async def ask_all() -> dict[str, tuple[Mapping[str, Any], ...]]:
        model = shipped_model()
        singly = [
            await bench.ask(model, "verify_citation", {"citation": text}, Registries(EVERYWHERE)) for text in GOLD
        ]
        lists = []
        for entries in ([bench.to_entry(text) for text in GOLD], [{"title": text} for text in GOLD]):
            answers = []
            for at in range(0, len(entries), bench.MOST_ENTRIES):
                part = {"entries": entries[at : at + bench.MOST_ENTRIES]}
                answer = await bench.ask(model, "audit_bibliography", part, Registries(EVERYWHERE))
                answers += answer["entries"]
            lists.append(answers)
        return dict(zip(GOLD, zip(singly, *lists, strict=True), strict=True))

    return asyncio.run(ask_all())


@pytest.mark.parametrize("text", GOLD, ids=lambda text: text[:60])
def test_both_tools_tell_the_same_differences_of_every_citation(
    text: str, judgements: Mapping[str, tuple[Mapping[str, Any], ...]]
) -> None:
    single, *entries = (
        {each["field"] for each in said.get("comparison") or () if each["verdict"] == "mismatch"}
        for said in judgements[text]
    )

    assert entries == [single, single]
