"""A page as blocks of text: what is judged, one for each element that breaks a line."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from lxml import etree

from specloom.core import dataclass, load_table

VOCABULARY: Final[dict[str, dict[str, str]]] = load_table(__file__, "vocabulary.yaml")
"""Tables of words and patterns, by the names of both."""

BLOCKS: Final = frozenset(VOCABULARY["tags"]["blocks"].split())
SKIPPED: Final = frozenset(VOCABULARY["tags"]["skipped"].split())
INLINE: Final = frozenset(VOCABULARY["tags"]["inline"].split())

WHOLE: Final = (
    frozenset({"pre"}),
    frozenset({"pre", "table", "ul", "ol", "dl", "p"}),
)
"""Elements that are one block with all they hold: half a listing is no listing. A page of very many blocks is judged
more coarsely, by whole lists and tables."""

MAX_BLOCKS: Final = 20_000
"""Blocks that are told apart; a page has some hundreds. What follows is judged with the block around it."""


@dataclass(slots=True)
class Block:
    """One element that breaks the line, with the text that is its own and not that of a block inside it."""

    element: etree._Element
    tag: str
    parent: int
    depth: int
    name: str
    """Class, id and role as written."""
    parts: list[str]
    linked: int = 0
    """Characters inside links."""
    links: int = 0
    images: int = 0
    breaks: int = 0
    strong: int = 0
    end: int = 0
    """One past the last block inside this one: blocks are in document order, so a subtree is a range."""
    text: str = ""


def to_blocks(root: etree._Element) -> list[Block]:
    """All blocks of a tree in document order, the root first, with their own texts; linear in the page."""
    for whole in WHOLE:
        blocks = gather_blocks(root, whole)
        if len(blocks) < MAX_BLOCKS:
            break
    settle(blocks)
    return blocks


def gather_blocks(root: etree._Element, whole: frozenset[str]) -> list[Block]:
    """The blocks, without their texts and ends."""
    blocks = [Block(root, "html", -1, 0, "", [])]
    # Where the text inside an element goes: index of the block, doubled, plus one inside a link; -1 for nowhere.
    home: dict[etree._Element | None, int] = {root: 0}
    for element in root.iterdescendants(etree.Element):
        above = home[element.getparent()]
        if above < 0:
            home[element] = -1
            continue
        tag = element.tag
        block = upper = blocks[above >> 1]
        at = above
        if tag in BLOCKS or "-" in tag:
            if upper.tag in whole or len(blocks) >= MAX_BLOCKS:
                upper.parts.append("\n")
            else:
                get = element.get
                at = (len(blocks) << 1) | (above & 1)
                name = f"{get('class') or ''} {get('id') or ''} {get('role') or ''}"
                block = Block(element, tag, above >> 1, upper.depth + 1, name, [])
                blocks.append(block)
        elif tag in INLINE:
            if tag == "a":
                at = above | 1
                upper.links += 1
            elif tag == "br":
                upper.breaks += 1
                upper.parts.append("\n")
            elif tag == "img":
                upper.images += 1
            else:
                upper.strong += 1
        elif tag in SKIPPED:
            at = -1
            upper.images += tag == "picture"
        home[element] = at
        if at >= 0 and (text := element.text):
            block.parts.append(text)
            if at & 1:
                block.linked += len(text)
        if tail := element.tail:
            upper.parts.append(tail)
            if above & 1:
                upper.linked += len(tail)
    return blocks


def settle(blocks: Sequence[Block]) -> None:
    """Fills in texts and ends, and takes the plain rows of tables as one block each."""
    count = len(blocks)
    inner = [0] * count  # blocks inside that are more than a cell
    for at in range(count - 1, -1, -1):
        block = blocks[at]
        if parts := block.parts:
            text = "".join(parts) if len(parts) > 1 else parts[0]
            block.text = text.strip() if block.tag == "pre" else " ".join(text.split())
        if block.end <= at:
            block.end = at + 1
        if block.parent >= 0:
            above = blocks[block.parent]
            if above.end < block.end:  # noqa: PLR1730 - a call for each block
                above.end = block.end
            if inner[at] or block.tag not in {"td", "th"}:
                inner[block.parent] += 1
        if block.tag == "tr" and not inner[at] and block.end > at + 1:
            merge_row(block, blocks[at + 1 : block.end])


def merge_row(row: Block, cells: Sequence[Block]) -> None:
    row.text = " ".join(filter(None, (row.text, *(cell.text for cell in cells))))
    for cell in cells:
        cell.text = ""
        row.linked += cell.linked
        row.links += cell.links
        row.images += cell.images
        row.strong += cell.strong


# --- What classes and ids say: the words they are made of, and what they are about ------------------------------------


_WORD: Final = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
"""A word of a name; `postBody`, `post-body` and `post_body` are post and body."""

GROUPS: Final = tuple((name, pattern.split("|")) for name, pattern in VOCABULARY["names"].items())
"""What names are about, whatever a learned word says: what stands in them, and where it begins or ends a word."""

BITS: Final = {name: at for at, (name, _) in enumerate(GROUPS)}

MAX_NAME: Final = 80
"""Characters of one class or id that are read."""

MAX_KNOWN: Final = 1 << 15
"""Runs of letters that are remembered from one page to the next. Names are many and their runs few: `post`, `author`
and `wrapper` stand on most sites."""

Reading = tuple[tuple[str, ...], int]
"""The words of one class or id, in lower case, and a bit for each of `GROUPS` that it is about."""

_LITERALS: Final = tuple((part, 1 << at) for at, (_, parts) in enumerate(GROUPS) for part in parts if part.isalpha())
_ACROSS: Final = tuple((part, 1 << at) for at, (_, parts) in enumerate(GROUPS) for part in parts if not part.isalpha())
"""What no run of letters tells: it has a hyphen, or begins or ends with a word."""
_ANY_ACROSS: Final = re.compile("|".join(f"({part})" for part, _ in _ACROSS))
_MAYBE_ACROSS: Final = re.compile(
    "|".join(
        part.replace(r"\b", "^", 1).replace(r"\b", "$") if part[0] == "\\" else part.partition("-")[0] + "$"
        for part, _ in _ACROSS
    ),
    re.MULTILINE,
)
"""A run that may be the beginning of one."""

_RUN: Final = re.compile("[A-Za-z]+")


@lru_cache(maxsize=MAX_KNOWN)
def read_run(run: str) -> tuple[tuple[str, ...], int, bool]:
    """The words of a run of letters, the groups that it is about, and whether its name has to be looked at as well."""
    low = run.lower()
    words = [low] if run == low else [word.lower() for word in _WORD.findall(run)]
    about = sum({bit for literal, bit in _LITERALS if literal in low})
    return tuple([word for word in words if len(word) > 1]), about, _MAYBE_ACROSS.search(low) is not None


def read_name(name: str) -> Reading:
    """What one class or id says."""
    name = name[:MAX_NAME]
    words: tuple[str, ...] = ()
    bits, maybe_across = 0, False
    for run in _RUN.findall(name):
        some, about, across = read_run(run)
        words += some
        bits |= about
        maybe_across |= across
    if maybe_across:
        for match in _ANY_ACROSS.finditer(name.lower()):
            bits |= _ACROSS[match.lastindex - 1][1]  # type: ignore[operator]  # one of them was found
    return words, bits


def split_name(name: str) -> set[str]:
    """The words of the classes and the id of one element."""
    return {word for part in name.split() for word in read_name(part)[0]}


MASKS: Final = {tag: 1 << at for at, tag in enumerate(VOCABULARY["tags"]["masks"].split())}
"""A bit for each element that says what is inside it."""

ALIASES: Final = {"ol": "ul", "menu": "ul", "th": "td", "dt": "dl", "dd": "dl"}
ROLES: Final[Mapping[str, str]] = VOCABULARY["roles"]
TAG_MASKS: Final = MASKS | {tag: MASKS[alias] for tag, alias in ALIASES.items()}

MOST: Final = 4.0
"""What the words of one element say at most, for or against."""

FADING: Final = 0.8
"""How much of what a name says is left one block further in."""


@dataclass(frozen=True, slots=True)
class Descent:
    """What the names from the root down to each block say; one value a block."""

    own: Any
    lowest: Any
    highest: Any
    faded: Any
    """Sums in which nearer names count more."""
    nearest: Any
    """The score of the nearest block with a known name."""
    masks: Any
    groups: Any
    """A bit for each of `groups.GROUPS` that any name on the way is about."""
    near_groups: Any
    """The same for the nearest name that is about any."""
    signs: Any
    """A number for each different pair of tag and name."""


def descend(blocks: Sequence[Block], names: NameOdds) -> Descent:
    """One walk from the root down."""
    count = len(blocks)
    own, lowest, highest, faded, nearest = ([0.0] * count for _ in range(5))
    masks, groups, near_groups, signs = ([0] * count for _ in range(4))
    seen = names.judge({block.name for block in blocks})
    numbers: dict[tuple[str, str], int] = {}
    for at, block in enumerate(blocks):
        name, tag, up = block.name, block.tag, block.parent
        signs[at] = numbers.setdefault((tag, name), len(numbers))
        mask = TAG_MASKS.get(tag, 0)
        # The classes of the whole page say what the page is, not which part of it matters.
        if up < 0 or tag == "body" or tag == "html":  # noqa: PLR1714 - twice as fast as a set of two
            masks[at] = mask
            continue
        score, known, about, role = seen[name]
        masks[at] = masks[up] | mask | role
        own[at] = score
        low, high = lowest[up], highest[up]
        lowest[at] = score if score < low else low
        highest[at] = score if score > high else high
        faded[at] = faded[up] * FADING + score
        nearest[at] = score if known else nearest[up]
        groups[at] = groups[up] | about
        near_groups[at] = about or near_groups[up]
    marks = (np.fromiter(values, np.float32, count) for values in (own, lowest, highest, faded, nearest))
    bits = (np.fromiter(values, np.int64, count) for values in (masks, groups, near_groups, signs))
    return Descent(*marks, *bits)


class NameOdds:
    """What classes, ids and roles say: the log odds of the words in them, of which `odds` has those that were learned.

    What a class or an id says is remembered from one page to the next.
    """

    __slots__ = ("_known", "odds")

    def __init__(self, odds: Mapping[str, float]) -> None:
        self.odds = odds
        self._known: dict[str, tuple[dict[str, float], int]] = {}

    def _read(self, part: str) -> tuple[dict[str, float], int]:
        """The words of one class or id that were learned, with their odds, and a bit for each group that it is of."""
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        words, about = read_name(part)
        odds = {word: self.odds[word] for word in words if word in self.odds}
        self._known[part] = odds, about
        return odds, about

    def judge(self, written: Collection[str]) -> dict[str, tuple[float, bool, int, int]]:
        """For each class, id and role as written: the score, whether a word of it is known, the groups, and the role's
        bit."""
        judged = {}
        known, read = self._known, self._read
        for name in written:
            odds: dict[str, float] = {}
            about = 0
            for part in name.split():
                some, bits = known.get(part) or read(part)
                about |= bits
                if some:
                    odds = {**odds, **some} if odds else some
            score = 0.0
            if odds:
                score = sum(odds.values())
                score = -MOST if score < -MOST else min(score, MOST)
            # A name as written ends with the role, or with the blank before it.
            role = MASKS.get(ROLES.get(name.rpartition(" ")[2], ""), 0) if name[-1:] != " " else 0
            judged[name] = (score, bool(odds), about, role)
        return judged
