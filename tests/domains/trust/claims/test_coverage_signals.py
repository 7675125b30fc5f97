"""Claim signals: the sentence of a row that has most to do with a claim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text import sentences
from specloom.domains.trust.claims.coverage import (
    HOOK_LONGEST_CLAIM,
    best_sentence,
    claim_signal,
    score_sentence,
    to_claim,
)
from specloom.plugins.registry import HOOKS

CLAIM = "Aspirin reduces the risk of heart attack by 25%"


def test_every_row_gets_a_signal_when_there_is_a_claim():
    rows = [
        {"title": "Aspirin", "snippet": "Buy now. Aspirin reduced the risk of heart attacks by 25 per cent."},
        {"title": "Gardening", "snippet": "Roses need sun."},
        {},
    ]

    signals = [row["claim_signal"] for row in claim_signal(rows, {"claim": CLAIM})]

    assert signals == ["Aspirin reduced the risk of heart attacks by 25 per cent.", "", ""]


@pytest.mark.parametrize("arguments", [{}, {"claim": None}, {"claim": ""}, {"claim": " \n"}])
def test_without_a_claim_the_rows_stay_as_they_are(arguments):
    rows = [{"title": "Aspirin", "snippet": "Aspirin."}]

    assert claim_signal(rows, arguments) == [{"title": "Aspirin", "snippet": "Aspirin."}]


def test_a_claim_of_function_words_has_an_empty_signal():
    assert claim_signal([{"title": "It is not"}], {"claim": "it is not"}) == [
        {"title": "It is not", "claim_signal": ""}
    ]


def test_given_rows_are_not_changed():
    row = {"title": "Aspirin"}

    claim_signal([row], {"claim": CLAIM})

    assert row == {"title": "Aspirin"}


def test_title_and_extra_snippets_are_read_too():
    claim = {"claim": CLAIM}

    assert claim_signal([{"title": "Aspirin at 100"}], claim)[0]["claim_signal"] == "Aspirin at 100"
    row = {"title": "Pills", "snippet": "A page.", "extra_snippets": ["Nothing.", "Aspirin and the heart."]}
    assert claim_signal([row], claim)[0]["claim_signal"] == "Aspirin and the heart."


def test_a_sentence_of_the_page_is_preferred_to_a_title_that_says_as_much():
    row = {"title": "Aspirin and heart attacks", "snippet": "Facts about aspirin and heart attacks."}

    assert claim_signal([row], {"claim": CLAIM})[0]["claim_signal"] == "Facts about aspirin and heart attacks."


def test_more_of_the_claim_beats_a_stance():
    texts = ["Trials never confirm aspirin.", "Aspirin, heart, attack."]

    assert best_sentence(texts, to_claim(CLAIM)) == "Aspirin, heart, attack."


def test_a_number_of_the_claim_counts_in_company_and_not_alone():
    claim = to_claim(CLAIM)

    assert score_sentence("Aspirin 25", claim) > score_sentence("Aspirin heart", claim)
    assert score_sentence("Page 25", claim) == score_sentence("Lists aspirin", claim) == 1


def test_terms_that_stand_together_count_more_than_scattered_ones():
    claim = to_claim("heart attack")

    assert score_sentence("A heart attack.", claim) > score_sentence("An attack on the heart.", claim)


def test_a_stance_decides_between_equals():
    claim = to_claim("coffee cures colds")

    assert score_sentence("Coffee does not help.", claim) > score_sentence("Coffee is hot.", claim)


def test_the_first_of_equal_sentences_is_the_signal():
    assert best_sentence(["Coffee one. Coffee two."], to_claim("coffee")) == "Coffee one."


def test_other_scripts_match_too():
    found = best_sentence(["天気は良い。新しいワクチンは有効です。"], to_claim("ワクチンの有効性"))

    assert found == "新しいワクチンは有効です。"


def test_the_best_sentence_is_found_wherever_it_stands_and_none_where_no_term_is_shared():
    claim = to_claim("coffee cures")

    assert best_sentence(["Coffee. Tea. Hot coffee cures."], claim) == "Hot coffee cures."
    assert best_sentence(["Coffee is hot. Coffee is cold."], claim) == "Coffee is hot."
    assert best_sentence(["Tea."], claim) == ""


def test_a_claim_is_read_up_to_its_limit():
    assert to_claim("word " * (HOOK_LONGEST_CLAIM // 5) + "beyond") == to_claim("word")


def test_the_hook_is_registered_with_what_it_reads_and_adds():
    hook = HOOKS["claim_signal"]

    assert hook.reads == ("title", "snippet", "extra_snippets")
    assert hook.parameters == {"claim": {"type": "string"}}
    assert hook.adds == {"claim_signal": {"type": "string"}}
    assert hook.doc


_WORDS = st.lists(
    st.sampled_from(["aspirin", "heart", "attacks", "25", "%", "not", "新薬", ".", "!", "Dr.", "U.S.", "\n", "the"])
).map(" ".join)
_TEXT = st.one_of(_WORDS, st.text())
_FIELD = st.one_of(st.none(), st.integers(), _TEXT, st.lists(st.one_of(st.none(), _TEXT), max_size=3))


@given(_FIELD, _FIELD, _FIELD, st.one_of(_TEXT, st.integers()))
def test_a_signal_is_a_sentence_of_the_row_whatever_the_row_holds(title, snippet, extra, claim):
    row = {"title": title, "snippet": snippet, "extra_snippets": extra}

    result = claim_signal([row], {"claim": claim})

    assert result == claim_signal([row], {"claim": claim})
    texts = [text for text in (title, snippet, *(extra if isinstance(extra, list) else ())) if isinstance(text, str)]
    signal = result[0].get("claim_signal", "")
    assert signal == "" or any(signal in sentences(text) for text in texts)
    assert ("claim_signal" in result[0]) == (isinstance(claim, str) and bool(claim.strip()))


@given(_TEXT, _TEXT)
def test_a_score_is_nothing_or_at_least_one(sentence, claim):
    points = score_sentence(sentence, to_claim(claim))

    assert points == 0 or points >= 1
