"""One pass over elements: what begins and ends at each tag is looked up, and text goes to the writer.

Functions for tags register with `starts` and `ends`. One that returns True has written the whole element itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from os.path import commonprefix
from typing import Final
from urllib.parse import urljoin, urlsplit

from lxml import etree

from specloom.core import dataclass, is_tracker

from ..html.parse import VOCABULARY

IGNORED: Final = frozenset(VOCABULARY["tags"]["ignored"].split())

MAX_COPIED: Final = 500_000
"""Characters of a page that come from spans, which repeat their text, and from filling up short rows, with the three
that every cell takes. The most of 774 ordinary pages has 4525."""


@dataclass(slots=True)
class TableBudget:
    """How many characters the tables of a page may still have beyond those of their own cells."""

    left: int = MAX_COPIED

    def take(self, cells: int, text: str = "") -> bool:
        """Whether there is room for so many more cells with this text; it is used up by those that find none, too."""
        self.left -= cells * (len(text) + len(" | "))
        return cells == 0 or self.left >= 0


@dataclass(slots=True)
class Numbers:
    """What the next item of a list is called: a number, or nothing for a bullet."""

    next: int | None
    step: int
    items: int = 0


@dataclass(slots=True)
class MarkdownWalk:
    """Where the pass is: the writer, the lists that are open, and what it was told about the page.

    `plain` holds the list items and definitions that are laid out as blocks, `drop` what is left out, `room` what
    tables may still repeat, and `term` says whether there is a term that a definition can belong to.
    """

    out: MarkdownWriter
    links: Links
    drop: frozenset[etree._Element]
    plain: frozenset[etree._Element] = frozenset()
    lists: list[Numbers] = field(default_factory=list)
    room: TableBudget = field(default_factory=TableBudget)
    term: bool = False

    def run(self, root: etree._Element) -> None:
        """Write the element and what is in it, without its tail."""
        drop = self.drop
        text, starts_at, ends_at = self.out.text, STARTS.get, ENDS.get
        walker = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
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
_SHARERS: Final = frozenset({"ref", "share"})
"""Parameters that, where an address has no others, say who linked the page itself."""
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
        address = self._known.get(target)
        if address is None:
            address = self._known[target] = self._resolve(target)
        return address

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
        if not target or target[0] == "#" or len(target) > MAX_LENGTH or _only_tracks(target):
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
            url = url if _is_balanced(url, "()", 1) else url.replace("(", "%28").replace(")", "%29")
        return url


def _only_tracks(target: str) -> bool:
    """Whether a target is the page itself with parameters that say who linked it, and nothing else."""
    if not target.startswith("?"):
        return False
    names = [one.partition("=")[0] for one in target[1:].rstrip("&").split("&")]
    return all(is_tracker(name) or name in _SHARERS for name in names)


def _encode(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def _is_balanced(text: str, pair: str, deepest: int) -> bool:
    """Whether each bracket of a pair has its partner, and no more of them are in one another."""
    depth = 0
    for char in text:
        if char in pair:
            depth += 1 if char == pair[0] else -1
            if not 0 <= depth <= deepest:
                return False
    return depth == 0


# --- Page text that would read as Markdown structure is escaped, and ordinary prose is left alone ---------------------


_LINE: Final = re.compile(r"(?:#{1,6}(?= |$)|[-+*](?= |$)|>|`{3}|~{3}|=+$|-{2,}$|\|)")
_NUMBERED: Final = re.compile(r"(\d{1,9})([.)])(?= |$)")
_REFERENCE: Final = re.compile(r"\[[^\[\]]{1,999}\]:")
_SPECIAL_STARTS: Final = frozenset("#-+*>`~=|[0123456789")
_TAG: Final = re.compile(r"<(?=[a-zA-Z/!?])")
_STAR: Final = re.compile(r"(?<![\w*\\])(\*{1,3})(?=[^\s*][^*\n]{0,300}\*)")
_LOW_LINE: Final = re.compile(r"(?<![\w\\])(_{1,3})(?=[^\s_](?:[^_\n]|_(?=\w)){0,60}_(?!\w))")


def escape_inline(text: str) -> str:
    """Text in which no tag, link, image or emphasis begins that the page does not have."""
    if "<" in text:
        text = _TAG.sub(r"\\<", text)
    if "](" in text:
        text = text.replace("](", "]\\(")
    if "*" in text:
        text = _STAR.sub(_escape_run, text)
    if "_" in text:
        text = _LOW_LINE.sub(_escape_run, text)
    return text


def _escape_run(match: re.Match[str]) -> str:
    return "".join("\\" + char for char in match[1])


def escape_line(line: str) -> str:
    """The line of a paragraph, not read as a heading, list item, quote, fence, rule or table row."""
    if line[:1] not in _SPECIAL_STARTS:
        return line
    if _LINE.match(line) or _REFERENCE.match(line):
        return "\\" + line
    numbered = _NUMBERED.match(line)
    if numbered:
        return f"{numbered[1]}\\{line[numbered.end(1) :]}"
    return line


def fence_for(text: str, char: str = "`", least: int = 3) -> str:
    """The shortest fence that no run inside the text closes."""
    longest = max((len(run) for run in re.findall(f"{re.escape(char)}+", text)), default=0)
    return char * max(least, longest + 1)


MAX_NESTING: Final = 12
"""Lists and quotes in one another that still indent; each level lengthens every line in it."""

_CLOSING: Final = ".,;:!?)]\"'”’»…。，、；：！？）」』"
_MARKS: Final = {"strong": "**", "em": "*", "del": "~~"}


@dataclass(slots=True)
class Open:
    """An inline element that has begun: what it is, where its pieces start, and the address of a link."""

    kind: str
    start: int
    url: str
    inner: int = 0
    """How many of its own kind are open in it; they say nothing new."""


@dataclass(slots=True)
class MarkdownWriter:
    """Collects pieces of inline text and turns them into blocks."""

    flat: bool = False
    """Whether all is one line, as in the cell of a table."""
    lines: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    heading: int = 0
    """The level of the heading that is open; 0 for none."""
    _open: list[Open] = field(default_factory=list)
    _prefix: str = ""
    _first: str | None = None
    _force: int | None = None
    _last: str = ""
    _stack: list[tuple[str, str | None]] = field(default_factory=list)

    # -- inline ---------------------------------------------------------------------------------------------------

    def text(self, text: str) -> None:
        """Text of the page: escaped, its line ends as good as blanks."""
        if text.isspace():
            if self.pieces:
                self.pieces.append(" ")
            return
        if "\n" in text:
            text = text.replace("\n", " ")
        self.pieces.append(escape_inline(text))

    def raw(self, text: str) -> None:
        """Inline Markdown as it is."""
        self.pieces.append(text)

    def line_break(self) -> None:
        """A new line in the paragraph; the second in a row ends the paragraph."""
        if self.flat or self.heading:
            self.pieces.append(" ")
            return
        for piece in reversed(self.pieces):
            if piece == "\n":
                self.block()
                return
            if piece and not piece.isspace():
                break
        self.pieces.append("\n")

    def has_words(self) -> bool:
        """Whether something other than blanks waits to be written; blanks become one, and are not looked at again."""
        if not self.pieces:
            return False
        if not "".join(self.pieces).isspace():
            return True
        self.pieces[:] = [" "]
        for inline in self._open:
            inline.start = min(inline.start, 1)
        return False

    def ends_word(self) -> bool:
        """Whether a letter, a digit or a closing bracket was written last."""
        last = self.pieces[-1][-1:] if self.pieces else ""
        return last.isalnum() or last in (")", "]")

    def ends_sentence(self) -> bool:
        """Whether a letter, a digit or a mark that closes a word or a sentence was written last."""
        last = self.pieces[-1][-1:] if self.pieces else ""
        return last.isalnum() or last in _CLOSING if last else False

    def begin(self, kind: str, url: str = "") -> None:
        for outer in self._open:
            if outer.kind == kind:
                outer.inner += 1
                return
        self._open.append(Open(kind, len(self.pieces), url))

    def end(self, kind: str) -> None:
        for outer in self._open:
            if outer.kind == kind and outer.inner:
                outer.inner -= 1
                return
        if self._open and self._open[-1].kind == kind:
            self._wrap(self._open.pop())

    def _wrap(self, inline: Open) -> None:
        """Put marks around the pieces of an inline element, and blanks at its ends outside of them."""
        pieces = self.pieces
        content = "".join(pieces[inline.start :])
        core = content.strip()
        if not core:
            return
        if inline.kind == "a":
            if not inline.url:
                return
            if core == inline.url:
                marked = core
            else:
                marked = f"[{_balance(core)}]({inline.url})"
                inline.url = ""
                if inline.start and pieces[inline.start - 1][-1:] == ")":
                    # Links that a page sets apart by their boxes are not one word.
                    marked = " " + marked
        elif self.heading and inline.kind != "del":
            return
        else:
            mark = _MARKS[inline.kind]
            marked = mark + core + mark
        before = content[: len(content) - len(content.lstrip())]
        after = content[len(content.rstrip()) :]
        del pieces[inline.start :]
        if before:
            pieces.append(before)
        pieces.append(marked)
        if after:
            pieces.append(after)

    # -- blocks ---------------------------------------------------------------------------------------------------

    def block(self) -> None:
        """End the paragraph, if there is one; in a heading or a cell leave a blank between words."""
        if not self.pieces:
            return
        if self.flat or self.heading:
            self.pieces.append(" ")
        else:
            self.flush()

    def flush(self) -> None:
        """Write the pieces as one paragraph."""
        text = self._take()
        if not text:
            return
        if "\n" in text:
            lines = [escape_line(" ".join(line.split())) for line in text.split("\n")]
            self.put([line for line in lines if line])
        else:
            self.put([escape_line(" ".join(text.split()))])

    def end_heading(self) -> None:
        """Write the pieces as the heading that is open, if one is."""
        level = self.heading
        if level:
            text = " ".join(self._take().split())
            self.heading = 0
            self._force = None
            if text:
                self.put(["#" * level + " " + text])

    def _take(self) -> str:
        """The pieces as one text, "" if there is no word in them. What is open in them ends here and goes on after."""
        pieces = self.pieces
        if not pieces:
            return ""
        if self._open:
            if not "".join(pieces).isspace():
                for inline in reversed(self._open):
                    self._wrap(inline)
            for inline in self._open:
                inline.start = 0
        text = "".join(pieces)
        pieces.clear()
        return "" if text.isspace() else text

    def put(self, lines: list[str]) -> None:
        """Write finished lines as one block, a blank line before it unless something else was asked for."""
        gap = 2 if self._force is None else self._force
        self._force = None
        first = self._prefix if self._first is None else self._first
        out = self.lines
        if out and gap == 2:
            # What both prefixes have in common, sign by sign.
            out.append(commonprefix((self._last, first)).rstrip())  # noqa: RUF071 - they are no paths
        prefix = self._prefix
        if prefix or first:
            out.append(first + lines[0])
            out.extend([(prefix + line) if line else prefix.rstrip() for line in lines[1:]])
        else:
            out.extend(lines)
        self._first = None
        self._last = prefix

    def tight(self) -> None:
        """The next block follows without a blank line."""
        self._force = 1

    def push(self, marker: str, indent: str) -> None:
        """Begin a container: `marker` stands before its first line, `indent` before the others."""
        self._stack.append((self._prefix, self._first))
        if len(self._stack) > MAX_NESTING:
            return
        first = self._prefix if self._first is None else self._first
        if marker != indent or self._first is not None:
            self._first = first + marker
        self._prefix += indent

    def pop(self) -> None:
        """End the innermost container."""
        prefix, first = self._stack.pop()
        self._first = None if self._first is None else first
        self._prefix = prefix
        if len(self._last) > len(prefix):
            self._last = prefix


def _balance(text: str) -> str:
    """The text of a link, with brackets escaped unless each has its partner."""
    if "[" not in text and "]" not in text:
        return text
    return text if _is_balanced(text, "[]", len(text)) else text.replace("[", "\\[").replace("]", "\\]")
