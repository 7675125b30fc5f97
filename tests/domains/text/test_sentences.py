"""Sentences: where one ends and where one only seems to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text import sentences

# Each line break below is where a sentence ends.
PROSE = [
    "It rose by 3.5% to 1.2 million.\nThen it fell.",
    "Dr. Smith met Prof. Jones vs. Mr. Brown.\nThey spoke.",
    "Smith et al. (2019) disagree.\nOthers do not.",
    "See e.g. Fig. 2 and pp. 10.\nIt is there.",
    "J. R. R. Tolkien wrote it.\nHe was 45.",
    "He lives in the U.S. with family.\nShe is in the U.K.\nThey write.",
    "Apple Inc. Chief Tim Cook spoke.\nShares of Acme Inc.\nThe end.",
    "Doors close at 5 p.m. on Sundays.\nCome early.",
    "No. 5 is alive.\nThe answer is no.\nFive is a number.",
    "Really?\nYes!\nNo way?!\nGood.",
    '"Why?" he asked.\n"Because."\nShe left.',
    "It ended.[1][2]\nIt began.",
    "Prices rose ... and fell.\nPrices rose …\nThen they fell.",
    "Use example.com or version 3.11.7 now.\nDone.",
    "all small letters here.\nanother sentence.\nthird one.",
    "1. First point\n2. Second point",
    "新しい薬です。\n効きますか？\n「はい。」\nよかった！",
    "यह सच है।\nवह नहीं।",
    "هل هذا صحيح؟\nنعم.",
]


@pytest.mark.parametrize("lines", PROSE)
def test_sentences_end_where_a_reader_ends_them(lines):
    text = lines.replace("\n", " ") if not lines.startswith("1.") else lines

    assert sentences(text) == lines.split("\n")


def test_a_wrapped_line_goes_on_and_a_new_paragraph_does_not():
    assert sentences("A line that\nwas wrapped\n\nand a paragraph\r\nNew line") == [
        "A line that was wrapped",
        "and a paragraph",
        "New line",
    ]


def test_white_space_is_collapsed_and_rules_are_dropped():
    assert sentences("  One \t two.  \n\n---\n\n… Three\u00a0four. ") == ["One two.", "Three four."]


def test_an_empty_text_has_no_sentences():
    assert sentences("") == []
    assert sentences(" \n ... \n") == []


_PIECES = st.sampled_from(
    [
        "Dr. ",
        "e.g. ",
        "word ",
        "The ",
        "3.5 ",
        "U.S. ",
        ". ",
        "! ",
        "。",
        "」",
        '"',
        "\n",
        "\n\n",
        "[1]",
        "x",
        "…",
        "5. ",
    ]
)


@given(st.one_of(st.text(), st.lists(_PIECES).map("".join)))
def test_sentences_are_pieces_of_the_text_in_order_and_lose_no_letter(text):
    found = sentences(text)

    at, collapsed = 0, " ".join(text.split())
    for sentence in found:
        assert sentence == " ".join(sentence.split())
        at = collapsed.index(sentence, at) + len(sentence)
    letters = [character for character in text if character.isalnum()]
    assert [character for sentence in found for character in sentence if character.isalnum()] == letters
