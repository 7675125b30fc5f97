"""Which part of a page is its content: each block is judged by a learned model, and the likeliest page is put together.

`find` is the way in. numpy is imported at its first call, and so is the model, which stays loaded.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree
    from .page import PageFacts



@dataclass(frozen=True, slots=True)
class Content:
    """The content of a page: `nodes` in document order, without what is in `drop`."""

    nodes: Sequence[etree._Element]
    drop: Collection[etree._Element]
    page_type: str
    """`article`, `documentation`, `service`, `forum`, `listing`, `product` or `collection`."""
    confidence: float
    """The F1 that the choice is expected to have against what a person would choose, 0 to 1."""
    words: int
    """Words of the page that are content; a CJK character is a word."""


def find(root: etree._Element, page: PageFacts) -> Content:
    """The content of a sanitised tree. `page` is what it said about itself before its scripts were taken out.

    No content is found where there is no text: `nodes` is then empty and the confidence 0.
    """
    from .finder import find_content

    return find_content(root, page)
