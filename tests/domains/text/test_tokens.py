"""Tokens: forms of one word meet, different words stay apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text.tokens import STOP_WORDS, is_number, stem, terms, to_american, tokens

FORMS = [
    "run running runs ran",
    "reduce reduces reduced reducing",
    "organise organize organising organized",
    "organisation organizations",
    "analyse analyze analysis analyses analyzing",
    "virus viruses",
    "study studies studied studying",
    "rate rates rating rated",
    "control controlled controlling controls",
    "travelled traveled travelling",
    "colour colors",
    "kilometre kilometers",
    "anaemia anemia",
    "rise rising rose risen",
    "raise raising raised",
    "hypothesis hypotheses",
    "significant significantly",
    "economic economically",
    "probable probably",
    "fulfil fulfill fulfilled",
    "child children",
    "die died dying dies",
    "cache caches caching",
    "randomised randomized",
    "programme programs",
    "day days",
]


@pytest.mark.parametrize("forms", FORMS)
def test_forms_and_spellings_of_one_word_are_one_token(forms):
    found = {tuple(tokens(form)) for form in forms.split()}

    assert len(found) == 1


@pytest.mark.parametrize(
    "words", ["rate rat", "hope hop", "news new", "organization organ", "universe university", "plane plan", "care car"]
)
def test_different_words_stay_apart(words):
    first, second = words.split()

    assert tokens(first + "s") != tokens(second + "s")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2,500,000", ["2500000"]),
        ("2.5 million", ["2500000"]),
        ("1.000.000", ["1000000"]),
        ("3,5", ["3.5"]),
        ("3.50", ["3.5"]),
        ("1,234.5", ["1234.5"]),
        ("2019,2020", ["2019", "2020"]),
        ("1.2.3", ["1.2.3"]),
        ("007", ["7"]),
        ("twenty-five", ["25"]),
        ("three hundred", ["300"]),
        ("１２３", ["123"]),
        ("٢٥", ["25"]),
        ("12%", ["12", "percent"]),
        ("12 per cent", ["12", "percent"]),
        ("10mg", ["10", "mg"]),
    ],
)
def test_ways_to_write_a_number_are_one_token(text, expected):
    assert tokens(text) == expected


def test_short_capitals_are_names_and_not_function_words():
    assert terms("Did the US or the U.S. tell us about vitamin C and AI?") == ("US", "tell", "vitamin", "C", "AI")


def test_a_shouted_text_has_function_words_too():
    assert terms("THIS IS FOR US") == ()


def test_function_words_and_their_stems_carry_no_meaning():
    assert terms(" ".join(sorted(STOP_WORDS))) == ()


def test_a_contraction_leaves_its_negation():
    assert tokens("It didn't work") == ["it", "did", "not", "work"]


def test_possessives_accents_and_apostrophes_do_not_matter():
    assert tokens("Müller's naïve O’Brien") == tokens("Muller naive O'Brien")


def test_scripts_without_blanks_are_compared_by_pairs_of_characters():
    assert terms("日本経済は") == ("日本", "本経", "経済", "済は")
    assert terms("これは") == ()
    assert terms("AI技術2020年") == ("AI", "技術", "2020", "年")


def test_vowel_signs_do_not_break_words():
    assert terms("हिन्दी भाषा") == ("हिन्दी", "भाषा")


def test_words_of_other_languages_are_left_as_they_are():
    assert stem("größte") == "größte"
    assert to_american("großmutter") == "großmutter"


@given(st.text())
def test_any_text_has_tokens_and_they_do_not_change(text):
    first, second = tokens(text), tokens(text)

    assert first == second
    assert all(first)
    assert set(terms(text)) <= set(first)


@given(st.text(alphabet="0123456789.,% millonbhudretya", max_size=60))
def test_any_digits_make_numbers(text):
    assert all(is_number(token) == token[0].isdigit() for token in tokens(text))


@given(st.text(alphabet="abcdegilnorsty", min_size=1, max_size=14))
def test_a_word_keeps_a_stem(word):
    assert stem(word)
