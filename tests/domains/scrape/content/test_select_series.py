"""One of a series goes with the others: what is added to a choice, and what is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import to_frame
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.select import SERIES_EACH, SERIES_LEAST, number_series, take_series
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.html import parse as tree


def chosen(body: str, *, taken: str, chance: float = 0.2) -> str:
    """The texts that are taken when these letters are, in the order of the page; each text is one letter."""
    page = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), PageFacts((), "", "", ()), Words({}, {}, {}))
    assert page is not None
    letters = [page.blocks[at].text for at in page.at]
    flags = np.array([letter in taken for letter in letters])
    found = take_series(page, number_series(page), np.full(len(letters), chance), flags)
    return "".join(letter for letter, take in zip(letters, found.tolist(), strict=True) if take)


def posts(letters: Sequence[str], inner: str = "p") -> str:
    return "".join(f'<article><div class="post"><{inner}>{letter}</{inner}></div></article>' for letter in letters)


def test_the_short_answer_of_a_thread_is_taken_with_the_others() -> None:
    assert chosen(posts("abcd"), taken="abd") == "abcd"


@pytest.mark.parametrize("taken", ["ac", "a", ""])
def test_a_series_of_which_half_or_less_is_taken_stays_as_it_is(taken: str) -> None:
    assert chosen(posts("abcd"), taken=taken) == taken


def test_nothing_is_added_before_the_first_that_is_taken_or_behind_the_last() -> None:
    assert chosen(posts("abcdefg"), taken="bcef") == "bcdef"


def test_a_series_is_not_taken_for_the_little_of_it_that_is() -> None:
    long = "d d d d d d d"

    assert chosen(posts(["a", "b", "c", long, "e"]), taken="abce") == "abce"
    assert chosen(posts(["a", "b", "c", "d d", "e"]), taken="abce") == "abcd de"


def test_what_is_called_otherwise_is_of_no_series() -> None:
    advert = '<article><div class="advert"><p>x</p></div></article>'

    assert chosen(posts("ab") + advert + posts("cd"), taken="abcd") == "abcd"


def test_a_pair_is_no_series() -> None:
    assert chosen(posts("a") + posts("bc"), taken="ac") == "abc"
    assert chosen(f"<div>{posts('a')}</div><section class='b'><p>b</p><i>c</i></section>", taken="ac") == "ac"


def test_the_paragraphs_of_one_text_are_no_series() -> None:
    assert chosen("<div class='post'>" + "<p>a</p><p>b</p><p>c</p><p>d</p>" + "</div>", taken="abd") == "abd"


def test_posts_may_have_some_paragraphs_but_not_many() -> None:
    def thread(each: int) -> str:
        return "".join(f"<div class='post'>{f'<p>{letter}</p>' * each}</div>" for letter in "abc")

    assert chosen(thread(SERIES_EACH), taken="ac") == "".join(letter * SERIES_EACH for letter in "abc")
    assert chosen(thread(SERIES_EACH + 1), taken="ac") == "".join(letter * (SERIES_EACH + 1) for letter in "ac")


def test_headings_are_left_to_their_sections() -> None:
    assert chosen(posts("abcd", "h2"), taken="abd") == "abd"


@pytest.mark.parametrize(("chance", "found"), [(SERIES_LEAST, "abcd"), (SERIES_LEAST - 0.01, "abd")])
def test_what_is_hardly_content_is_not_taken_with_its_series(chance: float, found: str) -> None:
    assert chosen(posts("abcd"), taken="abd", chance=chance) == found
