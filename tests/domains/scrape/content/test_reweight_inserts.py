"""What is inserted into pages and is made unlikely: reviews by buyers, notices about cookies."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content import finder
from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import Frame, to_frame
from specloom.domains.scrape.content.page import SIGNALS, PageFacts
from specloom.domains.scrape.content.reweight import INSERTS_LESS, SHOP, without_inserts
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.content.threshold import times_odds
from specloom.domains.scrape.html import parse as tree

PRODUCT = {"article": 1 - SHOP, "product": SHOP / 2, "collection": SHOP / 2}
ARTICLE = {"article": 0.61, "product": 0.2, "collection": 0.19}
TEXT = "<p>A bowl of stoneware, thrown and glazed by hand and fired with split pine.</p>"
SAID = "<p>We eat from it.</p><p>So do we.</p>"


def frame(body: str) -> Frame:
    found = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), PageFacts((), "", "", ()), Words({}, {}, {}))
    assert found is not None
    return found


def lowered(body: str, likely: dict[str, float] = PRODUCT) -> list[bool]:
    page = frame(body)
    chances = np.full(len(page.at), 0.5)
    found = without_inserts(page, likely, chances)
    assert set(found.tolist()) <= {0.5, float(times_odds(0.5, INSERTS_LESS))}
    return (found < chances).tolist()


@pytest.mark.parametrize("name", ["reviews", "product-reviews", "ReviewList", "c-review__item"])
def test_reviews_of_a_product_are_unlikely(name: str) -> None:
    assert lowered(f"{TEXT}<div class='{name}'>{SAID}</div>{TEXT}") == [False, True, True, False]
    assert lowered(f"{TEXT}<p class='{name}'>We eat from it.</p>") == [False, True]


def test_reviews_within_reviews_are_so_once() -> None:
    inner = f"<div class='reviews'><div class='review'>{SAID}</div><p>More.</p></div>"

    assert lowered(TEXT * 2 + inner + TEXT) == [False, False, True, True, True, False]


def test_what_stands_behind_reviews_is_none() -> None:
    assert lowered(f"{TEXT}{'<p class=review>We eat from it.</p>' * 2}{TEXT}") == [False, True, True, False]


def test_elsewhere_a_review_is_what_the_page_is_for() -> None:
    assert not any(lowered(f"{TEXT}<div class='review'>{SAID}</div>{TEXT}", ARTICLE))


@pytest.mark.parametrize("likely", [PRODUCT, ARTICLE])
@pytest.mark.parametrize(
    "name",
    [
        "consent-modal",
        "gdpr-overlay",
        "cookie-banner",
        "cookieNotice",
        "cookies_message",
        "x-CookieBar",
        "onetrust-consent",
    ],
)
def test_notices_about_cookies_are_unlikely_on_all_pages(name: str, likely: dict[str, float]) -> None:
    assert lowered(f"{TEXT}<div id='{name}'>{SAID}</div>{TEXT}", likely) == [False, True, True, False]


@pytest.mark.parametrize("name", ["preview", "image-previews", "cookies", "cookie-recipes", "rating", "modal"])
def test_other_names_say_nothing(name: str) -> None:
    assert not any(lowered(f"{TEXT}<div class='{name}'>{SAID}</div>{TEXT}"))


def test_what_holds_most_of_the_page_is_its_subject() -> None:
    assert not any(lowered(f"<div class='tag-consent category-reviews'>{TEXT * 3}</div>{TEXT}"))


def test_a_page_is_read_without_inserts(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> int:
        body = f"<body>{TEXT * 3}<div id='{name}'>{SAID}</div></body>"
        monkeypatch.setattr(finder, "judge", lambda *_: (np.ones(7) / 7, np.array([0.9, 0.9, 0.9, 0.5, 0.5])))
        return finder.find_content(tree.parse(body), PageFacts((0.0,) * len(SIGNALS), "", "", ())).words

    assert find("cookie-banner") < find("guests")
