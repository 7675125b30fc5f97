"""What stands around content and is made unlikely: where it stands, on which pages, and when it stays what it is."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import to_frame
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.reweight import LANDMARKS_LESS, LIKELY, MORE, without_landmarks
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.content.threshold import times_odds
from specloom.domains.scrape.html import parse as tree

SERVICE = {"article": LIKELY - 0.01, "forum": 0.1, "service": 0.41}
FORUM = {"article": 0.1, "forum": LIKELY, "service": 0.4}
SHOP = "<h1>The wood kiln</h1><p>Bowls, cups and jars, each thrown and glazed by hand and fired with split pine.</p>"
SALE = "<p>Free delivery on orders of three bowls.</p>"


def lowered(body: str, likely: dict[str, float] = SERVICE, chance: float = 0.5) -> list[bool]:
    """Which units of a page, all of the same chance, are less likely than before; all others are likelier."""
    page = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), PageFacts((), "", "", ()), Words({}, {}, {}))
    assert page is not None
    found = without_landmarks(page, likely, np.full(len(page.at), chance))
    less, more = (float(times_odds(chance, factor)) for factor in (LANDMARKS_LESS, MORE))
    assert set(found.tolist()) <= {less, more}
    return (found == less).tolist()


@pytest.mark.parametrize("around", ["<nav>{}</nav>", "<header>{}</header>", "<div role='banner'>{}</div>"])
def test_navigation_and_headers_are_unlikely(around: str) -> None:
    assert lowered(SHOP + around.format(SALE)) == [False, False, True]


def test_so_is_what_stands_before_the_title() -> None:
    assert lowered(SALE + SHOP) == [True, False, False]


def test_so_is_what_stands_outside_of_the_main_element() -> None:
    assert lowered(f"<main>{SHOP}</main>{SALE}") == [False, False, True]


@pytest.mark.parametrize("body", [f"{SHOP}<h1>Ask</h1>{SALE}", f"{SALE}<h2>Bowls</h2>{SHOP.partition('</h1>')[2]}"])
def test_elsewhere_nothing_is(body: str) -> None:
    assert not any(lowered(body))


@pytest.mark.parametrize("tag", ["header", "nav", "aside", "footer"])
def test_the_name_of_the_site_is_no_title(tag: str) -> None:
    assert lowered(f"<{tag}><h1>The kiln of the village</h1></{tag}>{SALE}{SHOP}") == [False, True, False, False]


def test_a_title_in_a_header_stays_and_is_one_if_there_is_no_other() -> None:
    title, rest = SHOP.partition("</h1>")[::2]

    assert lowered(f"{SALE}<header>{title}</h1></header>{rest}") == [True, False, False]


@pytest.mark.parametrize("body", [SALE * 4 + SHOP, f"<main><p>The wood kiln.</p></main>{SALE}"])
def test_what_holds_most_of_the_page_is_its_content(body: str) -> None:
    assert not any(lowered(body))


def test_what_is_expected_to_be_content_counts_and_not_what_there_is() -> None:
    page = to_frame(
        to_blocks(tree.parse(f"<body>{SALE * 4}{SHOP}</body>")), PageFacts((), "", "", ()), Words({}, {}, {})
    )
    assert page is not None
    chances = np.array([0.1] * 4 + [0.9, 0.9])

    assert (without_landmarks(page, SERVICE, chances) < chances).tolist() == [True] * 4 + [False] * 2


def test_what_stands_aside_is_unlikely_in_a_forum() -> None:
    assert lowered(f"{SHOP}<aside>{SALE}</aside>", FORUM) == [False, False, True]
    assert lowered(f"{SHOP}<aside>{SALE}</aside>") == [False, False, False]


def test_an_article_stays_as_it_is() -> None:
    page = to_frame(
        to_blocks(tree.parse(f"<body><header>{SALE}</header>{SHOP}</body>")),
        PageFacts((), "", "", ()),
        Words({}, {}, {}),
    )
    assert page is not None
    chances = np.full(len(page.at), 0.5)

    assert without_landmarks(page, {"article": LIKELY, "forum": 0.2, "service": 0.3}, chances) is chances
