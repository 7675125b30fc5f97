"""What stands in or beside an article and is made unlikely: pointers, boxes of others, groups far from the text."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import Frame, to_frame
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.reweight import (
    APART,
    EMPTY,
    LEFT,
    SURE,
    find_apart,
    find_boxed,
    find_pointers,
    without_asides,
)
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.html import parse as tree

PROSE = "<p>The kiln was lit at dawn, and for nine hours the potter fed it with split pine.</p>"
ARTICLE = {"article": 0.7, "listing": 0.3}


def frame(body: str) -> Frame:
    found = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), PageFacts((), "", "", ()), Words({}, {}, {}))
    assert found is not None
    return found


def texts(of: Frame, units: object) -> list[str]:
    return [of.blocks[at].text for at in of.at[units].tolist()]


@pytest.mark.parametrize(
    "pointer",
    [
        "<p>Read more: <a href='/a'>Kilns of the cold north</a></p>",
        "<p>[Related: <a href='/a'>Kilns of the cold north</a>]</p>",
        "<div>相关：<a href='/a'>北方的窑炉与陶器</a></div>",
    ],
)
def test_a_label_and_a_link_amid_prose_point_elsewhere(pointer: str) -> None:
    page = frame(f"<div>{PROSE}{pointer}{PROSE}</div>")

    assert find_pointers(page).tolist() == [False, True, False]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param("<p>Read more in <a href='/a'>Kilns of the cold north</a></p>", id="no colon"),
        pytest.param("<p><a href='/a'>Kilns: ovens of the north</a></p>", id="the colon is in the link"),
        pytest.param(f"<p>See: <a href='/a'>{'kiln ' * 40}</a></p>", id="too long"),
        pytest.param("<p>So: <a href='/a'>kilns</a> fire clay.</p>", id="mostly no link"),
        pytest.param("<ul><li>Read more: <a href='/a'>Kilns of the cold north</a></li></ul>", id="an entry of a list"),
        pytest.param("<h2>Read more: <a href='/a'>Kilns of the cold north</a></h2>", id="a heading"),
    ],
)
def test_other_links_are_no_pointers(other: str) -> None:
    assert not find_pointers(frame(f"<div>{PROSE}{other}{PROSE}</div>")).any()


def test_a_pointer_outside_the_text_is_left_to_the_model() -> None:
    pointer = "<section><p>Read more: <a href='/a'>Kilns of the cold north</a></p></section>"

    assert not find_pointers(frame(f"<div>{PROSE}</div>{pointer}<div>{PROSE}</div>")).any()


def test_the_heading_of_a_box_that_holds_nothing_taken_is_found() -> None:
    box = "<aside><header><h3>Related</h3></header><ul><li>Other</li></ul></aside>"
    page = frame(f"<h1>Kilns</h1>{PROSE}{box}{PROSE}<h2>Dusk</h2>{PROSE}")
    taken = page.prose > 0

    assert texts(page, find_boxed(page, np.full(len(taken), EMPTY - 0.01), taken)) == ["Related"]
    assert not find_boxed(page, np.full(len(taken), EMPTY), taken).any()


def test_headings_before_the_text_are_left_to_their_sections() -> None:
    page = frame(f"<header><h1>Kilns</h1><h2>How they are lit</h2><p>By ann</p></header>{PROSE}")

    assert not find_boxed(page, np.zeros(4), page.prose > 0).any()


def grouped(gap: int) -> Frame:
    return frame(f"<div>{PROSE * 2}</div>" + "<ul>" + "<li>menu</li>" * gap + "</ul><footer><p>Vote now!</p></footer>")


@pytest.mark.parametrize(
    ("gap", "chance", "found"),
    [
        (APART, SURE - 0.01, ["Vote now!"]),
        (APART - 1, SURE - 0.01, []),
        (APART, SURE, []),
    ],
)
def test_an_unlikely_group_far_from_the_text_is_found(gap: int, chance: float, found: list[str]) -> None:
    page = grouped(gap)
    taken = np.array([text != "menu" for text in texts(page, slice(None))])

    assert texts(page, find_apart(page, np.full(len(taken), chance), taken)) == found


def test_the_largest_group_is_never_apart() -> None:
    page = grouped(0)

    assert not find_apart(page, np.full(3, 0.3), np.array([True, True, False])).any()
    assert not find_apart(page, np.full(3, 0.3), np.zeros(3, bool)).any()


def test_only_an_article_has_asides() -> None:
    page = frame(f"<div>{PROSE}<p>Read more: <a href='/a'>Kilns of the cold north</a></p>{PROSE}</div>")
    chances = np.array([0.9, 0.8, 0.9])

    assert without_asides(page, ARTICLE, chances) == pytest.approx([0.9, 0.8 * LEFT, 0.9])
    assert without_asides(page, {"article": 0.3, "listing": 0.7}, chances) is chances
