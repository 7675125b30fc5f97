"""The title of what is no article."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content import finder
from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import Frame, to_frame
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.reweight import LEAST, UNLIKELY, with_title
from specloom.domains.scrape.content.select import TITLE
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.html import parse as tree

FORUM = {"article": UNLIKELY - 0.01, "forum": 1.01 - UNLIKELY}
ARTICLE = {"article": UNLIKELY, "forum": 1 - UNLIKELY}
POST = "<p>Mine takes nine hours with split pine, and a day to cool before the door is opened.</p>"


def frame(body: str, title: str = "How long does a kiln take? - Potters") -> Frame:
    found = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), PageFacts((), title, "", ()), Words({}, {}, {}))
    assert found is not None
    return found


def judge(heading: str, chance: float = LEAST, likely: dict[str, float] = FORUM) -> float:
    page = frame(f"{heading}<div>{POST}</div>")
    first, rest = with_title(page, likely, np.array([chance, 0.9])).tolist()
    assert rest == 0.9
    return first


def test_the_title_of_a_thread_is_taken_with_it() -> None:
    page = frame(f"<h1>How long does a kiln take?</h1><div>{POST}</div>")
    chances = with_title(page, FORUM, np.array([LEAST, 0.9]))

    assert chances.tolist() == [TITLE, 0.9]
    assert finder.choose(page, chances)[0].tolist() == [True, True]


def test_a_title_that_is_likely_keeps_its_chance() -> None:
    assert judge("<h1>How long does a kiln take?</h1>", 0.4) == 0.4


@pytest.mark.parametrize(
    "heading",
    [
        pytest.param("<h2>How long does a kiln take?</h2>", id="of another level"),
        pytest.param("<p>How long does a kiln take?</p>", id="no heading"),
        pytest.param("<h1>Potters</h1>", id="one word"),
        pytest.param("<h1>The wood of the north and its uses</h1>", id="of something else"),
    ],
)
def test_other_texts_are_left_to_the_model(heading: str) -> None:
    assert judge(heading) == LEAST


def test_an_article_has_its_title_in_its_metadata() -> None:
    assert judge("<h1>How long does a kiln take?</h1>", likely=ARTICLE) == LEAST


def test_what_is_nearly_impossible_is_no_title() -> None:
    assert judge("<h1>How long does a kiln take?</h1>", LEAST - 0.001) == LEAST - 0.001
