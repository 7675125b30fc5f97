"""Claims held against pages as a careful person holds them: what a page has of a claim, and what speaks against it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from specloom.domains.trust.claims.coverage import assess

# What stands around the sentence that matters, in English; texts in other languages are long enough by themselves.
REST = (
    " The study appeared in a journal of the society and was paid for by a public fund. Its authors thank all who took "
    "part over the years."
)
LABELS = {"A": "addressed", "P": "partially_addressed", "N": "not_addressed"}

GOLD = yaml.safe_load((Path(__file__).parent / "gold" / "claim_pairs.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "pair",
    [pytest.param(pair, id=f"{name}-{at}") for name, pairs in GOLD["pairs"].items() for at, pair in enumerate(pairs)],
)
def test_a_page_is_held_against_a_claim_as_a_careful_person_does(pair: dict[str, Any]) -> None:
    page = pair["page"]

    found = assess(pair["claim"], page + REST if page.isascii() and len(page) < 100 else page)

    assert found.label in {LABELS[label] for label in pair["labels"]}
    assert found.contrast is pair.get("against", found.contrast)


@pytest.mark.parametrize("pair", GOLD["agreeing"], ids=lambda pair: pair["claim"])
def test_a_page_that_agrees_is_not_said_to_speak_against(pair: dict[str, str]) -> None:
    assert assess(pair["claim"], pair["page"] + REST).cues == ()


@pytest.mark.parametrize(
    ("claim", "page", "told"),
    [
        (
            "Coffee does not cause heart disease.",
            "Coffee causes heart disease, the cohort shows.",
            ("negation", "not", "denied", "stated"),
        ),
        ("The bridge opened in 1932.", "The bridge opened in March 1937.", ("number", "1937", "1932", "1937")),
        (
            "Twelve whales were counted.",
            "Observers counted 31 grey whales.",
            ("number", "31 whale", "12 whale", "31 whale"),
        ),
        ("The glacier lost 12 km.", "The glacier lost 12 metres.", ("number", "12 m", "12 km", "12 m")),
        ("Most dentists smoke.", "Few dentists smoke.", ("direction", "few", "most", "few")),
        (
            "Women earned less than men.",
            "Women earned more than men.",
            ("direction", "more than men", "less than men", "more than men"),
        ),
        (
            "The park has wolves and tigers.",
            "The park has wolves, and there are no tigers.",
            ("negation", "no", "", ""),
        ),
    ],
)
def test_what_speaks_against_a_claim_is_told_with_both_sides(
    claim: str, page: str, told: tuple[str, str, str, str]
) -> None:
    [cue] = assess(claim, page + REST).cues

    assert (cue.kind, cue.words, cue.claimed, cue.found) == told


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        (
            "Graphene conducts heat",
            "The bakery opened its third shop in the old harbour, and neighbours queued for bread.",
        ),
        (
            "Les volcans émettent",
            "Le conseil de la ville a voté le budget des écoles et des routes pour les deux ans à venir.",
        ),
    ],
)
def test_a_short_claim_in_the_language_of_the_page_may_be_missing_from_it(claim: str, page: str) -> None:
    assert assess(claim, page + (REST if page.isascii() else "")).label == "not_addressed"
