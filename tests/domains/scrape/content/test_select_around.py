"""The own text of elements around what is taken: it stays if it is likely, and is left out without them if not."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content import finder
from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import Frame, to_frame
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.select import LEAST, find_around, take_around
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.html import parse as tree
from specloom.domains.scrape.markdown import render as markdown

TEXT = "<p>A bowl of stoneware, thrown and glazed by hand.</p>"
SAID = "A bowl of stoneware, thrown and glazed by hand."


def frame(body: str) -> Frame:
    found = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), PageFacts((), "", "", ()), Words({}, {}, {}))
    assert found is not None
    return found


def take(of: Frame, *texts: str) -> object:
    return np.array([of.blocks[at].text in texts for at in of.at.tolist()])


def render(body: str, *texts: str) -> str:
    page = frame(body)
    nodes, drop = finder.to_nodes(page, take(page, *texts))
    return markdown.render(nodes, base="https://pots.example/", drop=drop)


@pytest.mark.parametrize(
    "around",
    [
        pytest.param(f"Share {TEXT}{TEXT}", id="before"),
        pytest.param(f"{TEXT} Share {TEXT}", id="between"),
        pytest.param(f"{TEXT}{TEXT} Share", id="behind"),
        pytest.param(f"<a href='/s'>Share <b>it</b></a> now{TEXT}{TEXT}", id="in a link"),
        pytest.param(f"<a href='/s'>Share{TEXT}now{TEXT}</a>", id="in a link around"),
        pytest.param(f"<span>Share <span>it {TEXT}</span> now</span>{TEXT}", id="in elements around"),
    ],
)
def test_what_is_not_taken_is_not_shown(around: str) -> None:
    shown = render(f"<div>{around}</div>", SAID)

    assert shown.count(SAID) == 2
    assert not {"Share", "it", "now"} & set(shown.split())


def test_what_is_taken_is_shown_whole() -> None:
    inner = "<p>Fired with <b>pine</b>, <i>they</i> say.</p>"

    assert render(f"<div>Pots {inner}{TEXT}</div>", "Pots", "Fired with pine, they say.", SAID) == (
        f"Pots\n\nFired with **pine**, *they* say.\n\n{SAID}"
    )


def test_a_picture_in_it_stays() -> None:
    shown = render(f"<div>Share <img src='/a.png' alt='Bowl'> it {TEXT}{TEXT}</div>", SAID)

    assert shown.startswith("![Bowl](https://pots.example/a.png)\n\n")


def test_what_stands_around_all_is_not_shown_in_any_case() -> None:
    page = frame(f"Pots <div>Bowls {TEXT}{TEXT}</div>")

    assert find_around(page, take(page, SAID)).tolist() == [False, True, False, False]


def test_an_element_without_anything_taken_is_not_around() -> None:
    page = frame(f"<div>{TEXT}<div>Bowls <p>Share</p></div>{TEXT}</div>")

    assert not find_around(page, take(page, SAID)).any()


@pytest.mark.parametrize(("chance", "stays"), [(LEAST, True), (LEAST - 0.01, False)])
def test_what_is_likely_stays(chance: float, stays: bool) -> None:
    page = frame(f"<div>Bowls {TEXT}<p>Share</p>{TEXT}</div>")
    taken = take_around(page, np.array([chance, 0.9, 0.9, 0.9]), take(page, SAID))

    assert taken.tolist() == [stays, True, False, True]


def test_the_choice_takes_what_is_likely_around() -> None:
    page = frame(f"<div>Bowls {TEXT}{TEXT}</div>")

    assert finder.choose(page, np.array([LEAST, 0.9, 0.9]))[0].all()
    assert not finder.choose(page, np.array([LEAST - 0.01, 0.9, 0.9]))[0].all()


def test_nothing_is_around_nothing() -> None:
    page = frame(TEXT)

    assert not find_around(page, np.zeros(1, bool)).any()
