"""What is called for or against a statement is so; all that is not sure bears on it."""

from __future__ import annotations

from collections import Counter

import pytest
import trust_claims

from specloom.domains.text import sentences
from specloom.domains.trust.evidence.stances import find_stance

WINTER = "River otters eat fish under the ice in winter."


def stance_of(statement: str, text: str) -> str:
    finding = find_stance(statement, text)
    return finding.stance if finding else "silent"


@pytest.mark.parametrize(
    ("text", "stance"),
    [
        ("In winter, river otters eat fish under the ice.", "bears_on_it"),
        ("Crabs are rare. River otters eat fish under the ice in winter, says the warden's log.", "for"),
        # A small word that is missing may be the point.
        ("River otters eat fish where the ice of winter is open.", "bears_on_it"),
        ("Do river otters eat fish under the ice in winter?", "bears_on_it"),
        ("River otters do not eat fish under the ice in winter.", "against"),
        # What is denied is another thing.
        ("River otters do not sleep in caves all winter.", "bears_on_it"),
        ("Tulips are sold in spring, and most of them are red.", "silent"),
    ],
)
def test_a_text_is_for_or_against_only_where_its_words_leave_no_doubt(text: str, stance: str) -> None:
    assert stance_of(WINTER, text) == stance


def test_a_question_is_neither_confirmed_nor_denied() -> None:
    assert stance_of("Do river otters eat fish in winter?", "River otters do not eat fish in winter.") == "bears_on_it"


def test_a_text_that_says_both_bears_on_it() -> None:
    denied = "But the warden says: river otters do not eat fish under ice in winter."
    text = f"{WINTER} {denied}"

    assert stance_of(WINTER, text) != "for"


def test_a_text_in_another_language_gets_no_stance() -> None:
    assert stance_of(WINTER, "Flussotter fressen im Winter keinen Fisch unter dem Eis, sagt der Wart.") in (
        "silent",
        "bears_on_it",
    )


def test_the_place_of_a_passage_is_where_it_begins_in_the_text() -> None:
    filler = "\n\n".join(
        f"The warden wrote report number {at} about the weather of the valley and its roads, as every year."
        for at in range(60)
    )
    text = f"{filler}\n\nThe log has more. River otters eat fish under the ice in winter. It was cold.\n\n{filler}"

    finding = find_stance(WINTER, text)

    assert finding is not None
    assert finding.quote == WINTER
    assert finding.quote in text[finding.offset : finding.offset + 900]
    assert finding.offset > len(filler) - 900


def counts_of(*names: str) -> Counter[tuple[str, str]]:
    cases = [case for name in names for case in trust_claims.to_cases(name)]
    return Counter((case.kind, stance_of(case.claim, case.text)) for case in cases)


def test_no_stance_is_false_on_the_sets_that_the_rules_were_set_on() -> None:
    counts = counts_of(*trust_claims.SETS[:2])

    assert counts["supported", "against"] == counts["not_addressed", "against"] == 0
    assert sum(counts[kind, "for"] for kind in ("contradicted", "mischaracterised", "not_addressed")) == 0
    assert counts["contradicted", "against"] >= 156


def test_stances_on_sets_that_no_rule_was_set_on_stay_as_rarely_false_as_they_were() -> None:
    counts = counts_of(*trust_claims.SETS[2:4])

    assert counts["contradicted", "against"] >= 90
    assert counts["supported", "against"] <= 3
    assert counts["not_addressed", "against"] == 0
    assert sum(counts[kind, "for"] for kind in ("contradicted", "mischaracterised", "not_addressed")) == 0


def test_no_single_sentence_of_a_page_denies_what_the_page_supports() -> None:
    supported = [
        case for name in trust_claims.SETS[:2] for case in trust_claims.to_cases(name) if case.kind == "supported"
    ]
    denied = [
        (case.claim, sentence)
        for case in supported
        if case.language in ("en", "de", "ja")
        for sentence in sentences(case.text)
        if stance_of(case.claim, sentence) == "against"
    ]

    assert len(supported) > 200
    assert denied == []
