"""The body of an article, and what becomes less likely outside and behind it."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import Frame, to_frame
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.reweight import BEHIND, BODY_LIKELY, BODY_SURE, LAST, OUTSIDE, without_outskirts
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.content.threshold import times_odds
from specloom.domains.scrape.html import parse as tree

ARTICLE = {"article": BODY_LIKELY, "listing": 1 - BODY_LIKELY}
PROSE = "<p>The kiln was lit at dawn, and for nine hours the potter fed it with split pine from the north.</p>"
CALL = "<p>Write to us.</p>"
MAYBE = 0.6
OUT = float(times_odds(MAYBE, OUTSIDE))
LATE = float(times_odds(MAYBE, BEHIND))


def frame(body: str) -> Frame:
    found = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), PageFacts((), "", "", ()), Words({}, {}, {}))
    assert found is not None
    return found


def judge(body: str, chances: list[float], likely: dict[str, float] = ARTICLE) -> list[float]:
    page = frame(body)
    assert len(page.at) == len(chances)
    return [round(value, 6) for value in without_outskirts(page, likely, np.array(chances)).tolist()]


def near(*chances: float) -> list[float]:
    return [round(chance, 6) for chance in chances]


def test_what_stands_before_the_body_is_less_likely() -> None:
    body = f"<div>{CALL}</div><div>{PROSE}{PROSE}{PROSE}</div>"

    assert judge(body, [MAYBE, BODY_SURE, BODY_SURE, BODY_SURE]) == near(OUT, BODY_SURE, BODY_SURE, BODY_SURE)


def test_what_is_in_the_body_keeps_its_chance() -> None:
    body = f"<header>{CALL}</header><div>{PROSE}<div>{CALL}</div>{PROSE}</div>"

    assert judge(body, [0.1, 0.99, MAYBE, 0.99])[2:] == near(MAYBE, 0.99)


def test_headings_before_the_body_keep_theirs() -> None:
    body = f"<header><h1>Kilns</h1><h2>Of the north</h2>{CALL}</header><div>{PROSE}{PROSE}</div>"

    assert judge(body, [MAYBE, MAYBE, MAYBE, BODY_SURE, BODY_SURE]) == near(MAYBE, MAYBE, OUT, BODY_SURE, BODY_SURE)


def test_a_sure_unit_apart_does_not_widen_the_body() -> None:
    body = f"<div>{CALL}</div><div>{PROSE * 3}</div><div>{CALL}</div>"

    assert judge(body, [MAYBE, BODY_SURE, BODY_SURE, BODY_SURE, BODY_SURE]) == near(
        OUT, BODY_SURE, BODY_SURE, BODY_SURE, times_odds(BODY_SURE, OUTSIDE)
    )


def test_what_follows_the_last_of_the_text_is_less_likely() -> None:
    body = f"<div>{PROSE}{CALL}{PROSE}{CALL}<h2>Clay</h2></div>"

    assert judge(body, [0.9, MAYBE, LAST, MAYBE, MAYBE]) == near(0.9, MAYBE, LAST, LATE, LATE)


def test_a_heading_is_not_the_last_of_the_text() -> None:
    body = f"<div>{PROSE}{PROSE}{CALL}<h2>Clay</h2></div>"

    assert judge(body, [LAST, LAST, MAYBE, LAST])[2] == near(LATE)[0]


def test_a_text_without_a_sure_end_is_left_to_the_model() -> None:
    body = f"<div>{PROSE}{PROSE}{CALL}</div>"

    assert judge(body, [LAST - 0.01, BODY_SURE, MAYBE]) == near(LAST - 0.01, BODY_SURE, MAYBE)


@pytest.mark.parametrize(
    ("chances", "likely"),
    [
        pytest.param([MAYBE, LAST], {"article": BODY_LIKELY - 0.01, "listing": 0.61}, id="no article"),
        pytest.param([MAYBE, 0.79], ARTICLE, id="nothing is sure"),
    ],
)
def test_other_pages_are_left_to_the_model(chances: list[float], likely: dict[str, float]) -> None:
    assert judge(f"<div>{CALL}</div><div>{PROSE}</div>", chances, likely) == near(*chances)


def test_where_much_is_outside_what_is_sure_is_no_body() -> None:
    body = f"<div>{PROSE}{PROSE}</div><section>{PROSE}{PROSE}</section>"

    assert judge(body, [MAYBE, MAYBE, 0.9, 0.9]) == near(MAYBE, MAYBE, 0.9, 0.9)
    assert judge(body, [0.9, LAST, MAYBE, MAYBE]) == near(0.9, LAST, MAYBE, MAYBE)
