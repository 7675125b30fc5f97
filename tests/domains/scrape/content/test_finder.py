"""The own text of elements around what is taken is shown if it is taken, and left out without them if not."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content import finder
from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.features import Frame, to_frame
from specloom.domains.scrape.content.page import PageFacts
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
