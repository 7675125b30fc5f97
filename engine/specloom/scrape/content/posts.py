"""The post that a page is for, where WordPress says which one: other posts, and what stands beside it, are not it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.articles import LIKELY
from specloom.scrape.content.odds import times_odds

if TYPE_CHECKING:
    from specloom.scrape.content.blocks import Block
    from specloom.scrape.content.frame import Frame

PAGE: Final = re.compile(r"(?:^|\s)postid-(\d+)(?!\S)")
EACH: Final = "post-"
TYPE: Final = "type-"
"""What the body of a page for one post is called, and what the element of each post is called: see `get_body_class` and
`get_post_class` of the WordPress reference. An id may be `post-` with a number for other reasons, so that what makes an
element another post is its type beside it."""

THREAD: Final = re.compile(r"(?:^|\s)single-\S*(?:forum|question|topic)", re.IGNORECASE)
"""Pages on which the answers are posts of their own."""

BESIDE: Final = 0.03
"""How many times the odds of what looks like content are those of the same outside of the post. From 0.01 to 0.05 the
figures hardly differ."""


def without_other_posts(frame: Frame, chances: Any) -> Any:
    """The chances, lower outside of the post that the page is for; unchanged where it does not say which, where that is
    a thread, and where the element of the post holds no likely prose: a theme may have put its text elsewhere."""
    number = find_number(frame)
    if not number:
        return chances
    inside, other = np.zeros((2, len(chances)), bool)
    for at, block in enumerate(frame.blocks):
        if EACH in block.name and (found := to_numbers(block)):
            first, last = np.searchsorted(frame.at, (at, block.end)).tolist()
            marks = inside if number in found else other
            # What is in one of the same mark is marked, so that nested posts take no longer than others.
            if first < last and not marks[first] and (marks is inside or TYPE in block.name):
                marks[first:last] = True
    inside &= ~other
    if chances[inside & (frame.prose > 0)].max(initial=0) < LIKELY:
        return chances
    return np.where(inside, chances, times_odds(chances, BESIDE))


def find_number(frame: Frame) -> str:
    """The number of the post that the page is for; "" if it names none, or a thread."""
    name = next((block.name for block in frame.blocks if block.tag == "body"), "")
    found = PAGE.search(name)
    return "" if found is None or THREAD.search(name) else found[1]


def to_numbers(block: Block) -> set[str]:
    """The numbers of the posts that an element is called after."""
    return {name[len(EACH) :] for name in block.name.split() if name.startswith(EACH) and name[len(EACH) :].isdecimal()}
