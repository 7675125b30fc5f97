"""One pass over elements: what begins and ends at each tag is looked up, and text goes to the writer.

Functions for tags register with `starts` and `ends`. One that returns True has written the whole element itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from ..html.tables import TableBudget

if TYPE_CHECKING:
    from lxml import etree

    from .writer import MarkdownWriter


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


class MarkdownWalk:
    """Where the pass is: the writer, the lists that are open, and what it was told about the page.

    `plain` holds the list items and definitions that are laid out as blocks, `drop` what is left out, `room` what
    tables may still repeat, and `term` says whether there is a term that a definition can belong to.
    """

    __slots__ = ("drop", "links", "lists", "out", "plain", "room", "term")

    def __init__(
        self,
        out: MarkdownWriter,
        links: Links,
        drop: frozenset[etree._Element],
        plain: frozenset[etree._Element] = frozenset(),
    ) -> None:
        self.out = out
        self.links = links
        self.drop = drop
        self.plain = plain
        self.lists: list[Numbers] = []
        self.room = TableBudget()
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


Start = Callable[[MarkdownWalk, "etree._Element"], bool | None]  # noqa: SLF001 - the name of the type
End = Callable[[MarkdownWalk, "etree._Element"], None]  # noqa: SLF001

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


# --- A link target becomes an absolute http address that Markdown can hold, or nothing --------------------------------


_DROPPED: Final = re.compile(r"[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_UNSAFE: Final = re.compile(r"[\s<>\"`|\\^{}\[\]]")
_HOST: Final = re.compile(r"https?://[^/?#\s\[\]\\]", re.IGNORECASE)
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*):")
_TRACKING: Final = re.compile(
    r"\?(?:(?:utm_\w+|fbclid|gclid|msclkid|mc_[ce]id|ref|ref_src|share|_ga)(?:=[^&]*)?(?:&|$))+$"
)
MAX_LENGTH: Final = 2000
"""Characters of an address. Longer ones carry state or data, not a place to read."""


class Links:
    """Resolves the targets of one page; the same target is resolved once."""

    __slots__ = ("_base", "_known", "_origin", "_page", "_scheme")

    def __init__(self, base: str) -> None:
        parts = urlsplit(base) if base else None
        good = parts is not None and parts.scheme in ("http", "https") and bool(parts.netloc)
        self._base = base if good else ""
        self._page = base.partition("#")[0] if good else ""
        self._scheme = parts.scheme + ":" if parts and good else ""
        self._origin = f"{parts.scheme}://{parts.netloc}" if parts and good else ""
        self._known: dict[str, str] = {}

    def resolve(self, target: str | None) -> str:
        """The absolute address, or "" for one that leads nowhere else: fragments, other schemes, tracking alone."""
        if not target:
            return ""
        known = self._known.get(target)
        if known is None:
            known = self._known[target] = self._resolve(target)
        return known

    def stays(self, target: str) -> bool:
        """Whether an address names a place on the page itself."""
        target = target.strip()
        if target.startswith("#"):
            return True
        if "#" not in target or not self._page or len(target) > MAX_LENGTH:
            return False
        try:
            return urljoin(self._base, target).partition("#")[0] == self._page
        except ValueError:
            return False

    def _resolve(self, target: str) -> str:
        target = target.strip()
        if not target or target[0] == "#" or len(target) > MAX_LENGTH or _TRACKING.match(target):
            return ""
        # Browsers take white space and controls out before they look for the scheme.
        lean = _DROPPED.sub(lambda run: "%20" if run[0] == " " else "", target)
        scheme = _SCHEME.match(lean)
        if scheme:
            if scheme[1].lower() not in ("http", "https"):
                return ""
            url = lean
        elif lean.startswith("//"):
            url = self._scheme + lean if self._scheme else "https:" + lean
        elif not self._base:
            return ""
        elif lean.startswith("/") and "/." not in lean:
            url = self._origin + lean
        else:
            try:
                url = urljoin(self._base, lean)
            except ValueError:
                return ""
        head, mark, _ = url.partition("#")
        if mark and head == self._page:
            return ""
        if not _HOST.match(url):
            return ""
        url = _UNSAFE.sub(_encode, url)
        if "(" in url or ")" in url:
            url = url if _is_balanced(url) else url.replace("(", "%28").replace(")", "%29")
        return url


def _encode(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def _is_balanced(url: str) -> bool:
    depth = 0
    for char in url:
        if char == "(":
            depth += 1
            if depth > 1:
                return False
        elif char == ")":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0
