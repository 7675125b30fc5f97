"""How the words of a claim hang together: what is one name, what a claim begins with, and where it is set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text.language import UNKNOWN, find_language, load_languages
from specloom.domains.trust.claims.coverage import assess
from specloom.domains.trust.claims.weight import to_claim_tokens


def shape_of(claim, code="en"):
    return to_claim_tokens(claim, load_languages()[code] if code else UNKNOWN, {}).shape


@pytest.mark.parametrize(
    ("claim", "heads"),
    [
        ("Ice cream melts", {"ice": {"cream"}}),
        ("Trains consume", {}),
        ("Penicillin cured soldiers", {}),
        ("Bacilli survive", {}),
        ("Coffee stains teeth", {}),
        ("High-protein breakfasts satisfy", {"protein": {"breakfast"}}),
        ("Immunity of diplomats", {}),
    ],
)
def test_only_what_may_be_one_name_is_taken_together(claim, heads):
    shape = shape_of(claim)

    assert {token: set(each) for token, each in shape.heads.items()} == heads
    assert {two for each in heads.values() for two in each} <= set(shape.modifiers)


def test_a_word_in_s_may_be_modified_by_the_one_before_it_but_may_be_its_verb_as_well():
    noun, verb = shape_of("Whale schools migrate"), shape_of("Coffee stains teeth")

    assert ("whale" in noun.heads, noun.modifiers["school"]) == (False, {"whale"})
    assert ("coffe" in verb.heads, verb.modifiers["stain"]) == (False, {"coffe"})


@pytest.mark.parametrize("code", ["de", "nl", "sv", "fr", "es"])
def test_languages_that_join_names_or_order_them_by_case_part_none(code):
    assert shape_of("Fernzüge verbrauchen Energie", code).heads == {}


def test_scripts_without_blanks_hold_together():
    assert shape_of("太陽電池", "ja").heads


@pytest.mark.parametrize(
    ("claim", "code", "subject", "narrowed"),
    [
        ("Asteroids carry water", "en", "asteroid", set()),
        ("Mercury in tuna rises", "en", "mercuri", {"tuna"}),
        ("Fringes on Navajo blankets show wealth", "en", "fring", {"blanket"}),
        ("Sewers of London overflow", "en", "sewer", set()),
        ("Anchor chains damage meadows", "en", "", set()),
        ("Die Generation der Babyboomer arbeitet", "de", "generation", {"babyboomer"}),
        ("Les peintures de Lascaux souffrent", "fr", "peintur", set()),
        ("Le cours du blé dépend des récoltes", "fr", "cour", {"ble"}),
        ("太陽電池", "ja", "", set()),
        ("", "en", "", set()),
    ],
)
def test_a_claim_begins_with_what_it_speaks_of(claim, code, subject, narrowed):
    shape = shape_of(claim, code)

    assert (shape.subject, set(shape.narrowed)) == (subject, narrowed)


def test_names_behind_a_preposition_of_place_are_settings():
    assert shape_of("Subsidies in Denmark lowered prices").settings == {"denmark"}
    assert shape_of("Denmark lowered prices in spring").settings == set()


def test_an_article_of_one_letter_that_opens_a_claim_is_no_name():
    portuguese = load_languages()["pt"]

    assert "O" not in to_claim_tokens("O parasita está na saliva", portuguese, {}).weights
    assert "C" in to_claim_tokens("Vitamin C prevents scurvy", load_languages()["en"], {}).weights


PAGE = (
    "Asteroids near the earth. The survey found 900 rocks. They were followed for years with two telescopes in Chile, "
    "and most of them will never come close."
)


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Rocks carry water and carbon to young oceans", "partially_addressed"),
        ("Rocks of soprano arias earn standing ovations from critics", "not_addressed"),
        ("Singers in Chile won prizes for opera and ballet", "not_addressed"),
    ],
)
def test_what_a_claim_begins_with_is_no_chance_unless_something_narrows_it(claim, label):
    assert assess(claim, PAGE).label == label


@given(st.text(max_size=80))
def test_any_claim_has_a_shape_of_its_own_tokens(claim):
    wanted = to_claim_tokens(claim, find_language(claim), {})
    shape = wanted.shape

    named = {*shape.heads, *shape.modifiers, *shape.settings, *shape.narrowed} | ({shape.subject} - {""})
    assert named <= wanted.specific
