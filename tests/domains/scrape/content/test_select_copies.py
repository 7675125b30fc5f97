"""What a page says twice: which of two equal texts is left out, and when both stay."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import to_frame
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.select import leave_copies
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.html import parse as tree

SAID = "The kiln was lit at dawn and fed until noon."
SHORT = "Order the bowl"


def chosen(body: str, *, left: str = "") -> list[str]:
    """The texts that are still taken when all were but these."""
    page = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), PageFacts((), "", "", ()), Words({}, {}, {}))
    assert page is not None
    texts = [page.blocks[at].text for at in page.at]
    found = leave_copies(page, np.array([text != left for text in texts]))
    return [text for text, take in zip(texts, found.tolist(), strict=True) if take]


def test_the_copy_for_another_screen_is_left_out() -> None:
    wide, narrow = f"<div class='wide'><p>{SAID}</p></div>", f"<div class='narrow'><p>{SAID}</p></div>"

    assert chosen(f"{wide}<p>More.</p>{narrow}<p>End.</p>") == [SAID, "More.", "End."]


def test_every_further_copy_is_left_out() -> None:
    copies = "".join(f"<div class='copy{at}'><p>{SAID}</p></div><p>Then {at}.</p>" for at in range(3))

    assert chosen(copies) == [SAID, "Then 0.", "Then 1.", "Then 2."]


def test_a_copy_of_what_was_not_taken_stays() -> None:
    page = to_frame(
        to_blocks(tree.parse(f"<body><nav><p>{SAID}</p></nav><p>More.</p><main><p>{SAID}</p></main></body>")),
        PageFacts((), "", "", ()),
        Words({}, {}, {}),
    )
    assert page is not None

    assert leave_copies(page, np.array([False, True, True])).tolist() == [False, True, True]


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(f"<p>More.</p><div class='plan'><p>{SAID}</p></div>", id="called the same"),
        pytest.param(f"<div class='other'><p>{SAID}</p></div>", id="right behind it"),
        pytest.param(f"<p>More.</p><div class='post'><blockquote>{SAID}</blockquote></div>", id="a quotation"),
        pytest.param(f"<p>More.</p><blockquote><div><p>{SAID}</p></div></blockquote>", id="inside a quotation"),
    ],
)
def test_a_text_that_is_repeated_on_purpose_stays(second: str) -> None:
    assert chosen(f"<div class='plan'><p>{SAID}</p></div>{second}").count(SAID) == 2


@pytest.mark.parametrize(
    ("tag", "text"), [("pre", SAID), ("h2", SAID), ("p", SHORT)], ids=["listing", "heading", "label"]
)
def test_code_headings_and_labels_may_repeat(tag: str, text: str) -> None:
    body = f"<div class='a'><{tag}>{text}</{tag}></div><p>More.</p><div class='b'><{tag}>{text}</{tag}></div>"

    assert chosen(body).count(text) == 2
