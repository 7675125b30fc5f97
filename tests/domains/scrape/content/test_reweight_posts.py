"""The post that a page is for, where WordPress says which one."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import Frame, to_frame
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.reweight import BESIDE, without_other_posts
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.content.threshold import times_odds
from specloom.domains.scrape.html import parse as tree

TEXT = "<p>A bowl of stoneware, thrown and glazed by hand and fired with split pine.</p>"
OWN = f"<article class='post-12 type-post'>{TEXT}</article>"
OTHER = f"<article class='post-7 type-post'>{TEXT}</article>"
SINGLE = "single single-post postid-12"


def frame(body: str, name: str) -> Frame:
    root = tree.parse(f"<body class='{name}'>{body}</body>")
    found = to_frame(to_blocks(root), PageFacts((), "", "", ()), Words({}, {}, {}))
    assert found is not None
    return found


def lowered(body: str, name: str = SINGLE, chance: float = 0.5) -> list[bool]:
    page = frame(body, name)
    chances = np.full(len(page.at), chance)
    found = without_other_posts(page, chances)
    assert set(found.tolist()) <= {chance, float(times_odds(chance, BESIDE))}
    return (found < chances).tolist()


@pytest.mark.parametrize("name", [SINGLE, "single single-recipe postid-12 wide", "postid-12"])
def test_what_stands_outside_of_the_post_is_unlikely(name: str) -> None:
    assert lowered(f"{TEXT}{OWN}{OTHER}{TEXT}", name) == [True, False, True, True]


def test_a_post_may_be_told_by_its_id() -> None:
    assert lowered(f"<div id='post-12'>{TEXT}</div>{TEXT}") == [False, True]


def test_another_post_within_the_post_is_not_it() -> None:
    assert lowered(f"<div class='post-12 type-post'>{TEXT}{OTHER}{TEXT}</div>") == [False, True, False]


def test_a_number_without_a_type_makes_no_other_post() -> None:
    assert lowered(f"<div class='post-12 type-post'>{TEXT}<div id='post-7'>{TEXT}</div></div>") == [False, False]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("single", id="no number"),
        pytest.param("blog paged postid-", id="an empty number"),
        pytest.param("my-postid-12", id="another name"),
        pytest.param("single single-topic postid-12", id="a topic of a forum"),
        pytest.param("single single-dwqa-question postid-12", id="a question"),
        pytest.param("single single-Forum postid-12", id="a forum"),
    ],
)
def test_other_pages_are_left_to_the_model(name: str) -> None:
    assert not any(lowered(f"{OWN}{OTHER}{TEXT}", name))


@pytest.mark.parametrize(
    "own",
    [
        pytest.param("", id="nothing"),
        pytest.param("<article class='post-123 type-post'></article>", id="a longer number"),
        pytest.param("<h1 class='post-12 type-post'>Bowls</h1>", id="its title alone"),
    ],
)
def test_a_theme_may_put_the_text_elsewhere(own: str) -> None:
    assert not any(lowered(f"{own}{TEXT}{OTHER}"))


def test_a_post_that_is_unlikely_is_not_the_whole() -> None:
    assert not any(lowered(f"{OWN}{TEXT}", chance=0.49))
