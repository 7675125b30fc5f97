"""One pass over elements: what begins and ends at each tag is looked up, and text goes to the writer.

Functions for tags register with `starts` and `ends`. One that returns True has written the whole element itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from .tables import Room

if TYPE_CHECKING:
    from lxml import etree

    from .markdown_links import Links
    from .markdown_writer import Writer

IGNORED: Final = frozenset(
    (
        "script", "style", "template", "noscript", "head", "title", "meta", "link", "iframe", "object", "embed",
        "applet", "svg", "canvas", "audio", "video", "source", "track", "map", "area", "select", "option", "datalist",
        "param", "base", "frame", "dialog", "mjx-math",
    )
)  # fmt: skip
"""Elements without text of the page: machinery, media, and what is typed into forms."""


class Numbers:
    """What the next item of a list is called: a number, or nothing for a bullet."""

    __slots__ = ("items", "next", "step")

    def __init__(self, first: int | None, step: int) -> None:
        self.next = first
        self.step = step
        self.items = 0


class Walk:
    """Where the pass is: the writer, the lists that are open, and what it was told about the page.

    `plain` holds the list items and definitions that are laid out as blocks, `drop` what is left out, `room` what
    tables may still repeat, and `term` says whether there is a term that a definition can belong to.
    """

    __slots__ = ("drop", "links", "lists", "out", "plain", "room", "term")

    def __init__(
        self, out: Writer, links: Links, drop: frozenset[etree._Element], plain: frozenset[etree._Element] = frozenset()
    ) -> None:
        self.out = out
        self.links = links
        self.drop = drop
        self.plain = plain
        self.lists: list[Numbers] = []
        self.room = Room()
        self.term = False

    def run(self, root: etree._Element) -> None:
        """Write the element and what is in it, without its tail."""
        from lxml.etree import iterwalk

        drop = self.drop
        text, starts_at, ends_at = self.out.text, STARTS.get, ENDS.get
        walker = iterwalk(root, events=("start", "end", "comment", "pi"))
        skipped = False
        for event, element in walker:
            if event == "start":
                tag = element.tag
                start = starts_at(tag)
                if drop and element in drop:
                    # What is left out ended a line, so the words before and behind it do not become one.
                    if element.tail and not element.tail.isspace():
                        self.enter_block()
                    walker.skip_subtree()
                    skipped = True
                    continue
                if tag in IGNORED or (start is not None and start(self, element)):
                    walker.skip_subtree()
                    skipped = True
                    continue
                inner = element.text
                if inner:
                    text(inner)
                continue
            if skipped:
                skipped = False
            elif event == "end":
                end = ends_at(element.tag)
                if end is not None:
                    end(self, element)
            if element is not root:
                inner = element.tail
                if inner:
                    text(inner)

    def enter_block(self) -> None:
        """End the paragraph before a block. One inside an open heading ends the heading if it has words already."""
        out = self.out
        if not out.heading:
            out.block()
        elif out.has_words():
            out.end_heading()


Start = Callable[[Walk, "etree._Element"], bool | None]  # noqa: SLF001 - the name of the type
End = Callable[[Walk, "etree._Element"], None]  # noqa: SLF001

STARTS: Final[dict[str, Start]] = {}
ENDS: Final[dict[str, End]] = {}


def starts(*tags: str) -> Callable[[Start], Start]:
    """Register what happens where these elements begin."""

    def register(function: Start) -> Start:
        STARTS.update(dict.fromkeys(tags, function))
        return function

    return register


def ends(*tags: str) -> Callable[[End], End]:
    """Register what happens where these elements end."""

    def register(function: End) -> End:
        ENDS.update(dict.fromkeys(tags, function))
        return function

    return register
