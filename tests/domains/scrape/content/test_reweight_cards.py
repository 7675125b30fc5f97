"""The cards of a page that lists: which units become likelier, on which pages, and by how much."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content import finder
from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import Frame, to_frame
from specloom.domains.scrape.content.model import ContentModel
from specloom.domains.scrape.content.page import SIGNALS, PageFacts
from specloom.domains.scrape.content.reweight import MANY, UNSURE, with_cards
from specloom.domains.scrape.content.select import SERIES_EACH
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.content.threshold import best_cut, times_odds
from specloom.domains.scrape.html import parse as tree

LISTING = {"article": 0.3, "listing": 0.4, "collection": 0.3}
INTRO = "<p>Bowls, cups and jars from the wood kiln of the village, each thrown and glazed by hand.</p>"


def frame(body: str) -> Frame:
    found = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), PageFacts((), "", "", ()), Words({}, {}, {}))
    assert found is not None
    return found


def grid(count: int) -> str:
    return "".join(f"<div class='card'><p class='line'>Bowl {at}</p></div>" for at in range(count))


def raised(body: str, *, likely: dict[str, float] = LISTING, chance: float = 0.2) -> list[bool]:
    page = frame(body)
    chances = np.full(len(page.at), chance)
    return (with_cards(page, likely, chances) > chances).tolist()


def test_cards_become_likelier_and_the_introduction_stays() -> None:
    assert raised(INTRO + grid(MANY)) == [False] + [True] * MANY


def test_few_of_a_kind_are_no_cards() -> None:
    assert not any(raised(INTRO + grid(MANY - 1)))


def test_the_paragraphs_of_few_long_elements_are_no_cards() -> None:
    assert not any(raised(f"<div>{'<p>Clay.</p>' * (SERIES_EACH + 1)}</div>" * MANY))
    assert all(raised(f"<div>{'<p>Clay.</p>' * SERIES_EACH}</div>" * MANY))


@pytest.mark.parametrize(
    ("likely", "expected"),
    [
        pytest.param({"article": 0.5, "listing": 0.5, "collection": 0.0}, True, id="a listing"),
        pytest.param({"article": 0.5, "listing": 0.0, "collection": 0.5}, True, id="a collection"),
        pytest.param({"article": 0.5, "listing": 0.25, "collection": 0.25}, True, id="one of them"),
        pytest.param({"article": 0.6, "listing": 0.2, "collection": 0.2}, False, id="an article"),
    ],
)
def test_only_pages_that_list_have_cards(likely: dict[str, float], expected: bool) -> None:
    assert any(raised(INTRO + grid(MANY), likely=likely)) is expected


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
def test_the_less_is_expected_the_more_they_rise(chance: float) -> None:
    page = frame(grid(MANY))
    chances = np.full(MANY, chance)
    _, expected, _ = best_cut(chances, page.words)

    found = with_cards(page, LISTING, chances)

    assert found / (1 - found) == pytest.approx(chances / (1 - chances) * (1 + UNSURE * (1 - expected)))


def test_sure_chances_stay() -> None:
    assert times_odds(np.array([0.0, 0.5, 1.0]), 3).tolist() == [0.0, 0.75, 1.0]
    assert times_odds(np.array([0.0, 0.5, 1.0]), 1 / 3) == pytest.approx([0.0, 0.25, 1.0])


def test_a_page_that_lists_is_read_with_its_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(kind: str) -> int:
        def judge(units: object, model: ContentModel) -> tuple[object, object]:
            return np.array([float(name == kind) for name in model.types]), np.array([0.9] + [0.25] * 40)

        monkeypatch.setattr(finder, "judge", judge)
        return finder.find_content(
            tree.parse(f"<body>{INTRO + grid(40)}</body>"), PageFacts((0.0,) * len(SIGNALS), "", "", ())
        ).words

    assert find("service") < find("listing")
