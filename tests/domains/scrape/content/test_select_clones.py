"""What a page says twice as a whole: which of two elements keeps its chance, and what is no clone."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import to_frame
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.select import LONG, MANY, MORE, merge_clones
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.content.threshold import expect
from specloom.domains.scrape.html import parse as tree

SAID = "The kiln was lit at dawn and fed until noon."
TEXTS = "".join(f"<p>{text}</p>" for text in ("Clay of the valley.", "Glaze of ash.", "Split pine and oak.")[:MANY])


def merged(body: str, chances: list[float]) -> list[float]:
    page = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), PageFacts((), "", "", ()), Words({}, {}, {}))
    assert page is not None
    return merge_clones(page, np.array(chances)).tolist()


def test_the_first_has_the_higher_chance_and_the_second_none() -> None:
    wide, narrow = f"<div class='wide'>{TEXTS}</div>", f"<div class='narrow'>{TEXTS}</div>"

    assert merged(wide + narrow, [0.2, 0.6, 0.4, 0.25, 0.5, 0.45]) == [0.25, 0.6, 0.45, 0, 0, 0]


def test_the_second_stays_if_it_is_clearly_likelier() -> None:
    body = f"<p class='wide'>{SAID}</p><p class='narrow'>{SAID}</p>"

    assert merged(body, [0.4, 0.4 + MORE / 2]) == [0.4 + MORE / 2, 0]
    assert merged(body, [0.4, 0.4 + 2 * MORE]) == [0, 0.4 + 2 * MORE]


def test_it_is_likelier_by_its_words() -> None:
    parts = f"<p>{SAID}</p><p>Then ash.</p>"

    assert merged(f"<div>{parts}</div><section>{parts}</section>", [0.4, 0.6, 0.7, 0.3]) == [0, 0, 0.7, 0.6]


def test_a_heading_stays_whatever_was_said_before() -> None:
    assert merged(f"<ul><li>{SAID}</li></ul><h2>{SAID}</h2>", [0.9, 0.3]) == [0, 0.9]
    assert merged(f"<h2>{SAID}</h2><p>{SAID}</p>", [0.3, 0.9]) == [0.9, 0]


def test_of_three_one_stays() -> None:
    body = "".join(f"<p class='copy{at}'>{SAID}</p>" for at in range(3))

    assert merged(body, [0.3, 0.6, 0.5]) == [0, 0.6, 0]


def test_elements_of_many_texts_may_be_called_the_same() -> None:
    assert merged(f"<div>{TEXTS}</div><div>{TEXTS}</div>", [0.5] * 6) == [0.5] * 3 + [0] * 3


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"<div><p>{SAID}</p></div><div><p>{SAID}</p></div>", id="few texts, called the same"),
        pytest.param(f"<p>{SAID}</p><div>{SAID} And again.</div>", id="another text"),
        pytest.param(f"<p>{' ash' * (LONG - 1)}</p><div>{' ash' * (LONG - 1)}</div>", id="short"),
        pytest.param(f"<pre>{SAID}</pre><div><pre class='b'>{SAID}</pre></div>", id="a listing of code"),
        pytest.param(
            f"<div><p>{SAID}</p><p>So.</p></div><section><p>So.</p><p>{SAID}</p></section>", id="another order"
        ),
        pytest.param(f"<section><div><p>{SAID}</p></div></section><p>More.</p>", id="elements around one text"),
    ],
)
def test_what_is_no_clone_stays(body: str) -> None:
    page = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), PageFacts((), "", "", ()), Words({}, {}, {}))
    assert page is not None
    chances = np.linspace(0.4, 0.5, len(page.at))

    assert merge_clones(page, chances).tolist() == chances.tolist()


def test_what_stands_in_a_clone_is_merged_with_it_and_not_again() -> None:
    parts = f"<div><p>{SAID}</p></div>{TEXTS}"
    found = merged(f"<div>{parts}</div><section>{parts}</section><p class='end'>{SAID}</p>", [0.5] * 8 + [0.4])

    assert found == [0.5] * 4 + [0] * 5


def test_what_stands_in_the_one_that_stays_does_so_however_unlikely() -> None:
    first, second = (f"<p class='{name}'>{SAID}</p><p>{SAID[::-1]}</p>" for name in ("wide", "narrow"))

    assert merged(f"<div>{first}</div><section>{second}</section>", [0.05, 0.2, 0.05, 0.9]) == [0, 0, 0.05, 0.9]


def test_the_expected_f1_is_that_of_the_words_taken() -> None:
    chances, words = np.array([1.0, 0.5, 0.5, 0.0]), np.array([10.0, 4.0, 6.0, 2.0])

    assert expect(chances, words, np.array([True, True, False, False])) == pytest.approx(2 * 12 / (14 + 15))
    assert expect(chances, words, np.array([False, False, False, True])) == 0
