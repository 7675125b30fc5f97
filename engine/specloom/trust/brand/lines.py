"""The text of a page as lines that know the heading above them; Markdown or plain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

_MOST_CHARACTERS = 400_000
_MOST_LINES = 10_000
_MOST_BELOW = 300
_LONGEST_LINE = 2000
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,2000}(?:\s[^()]{0,300})?\)")
_MARKS = re.compile(r"[*_`|]+|^\s*(?:[-+•·–]|\d{1,2}[.)])\s+|^\s{0,3}#{1,6}\s+(?![0-9A-Fa-f]{6}\b)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.{1,200})")
_BOLD = re.compile(r"\s*\*\*([^*]{1,80})\*\*:?\s*")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: what it says without marks, the heading above it, and 1 to 6 where it is a heading itself."""

    text: str
    heading: str = ""
    level: int = 0
    item: bool = False


def to_lines(text: str) -> list[Line]:
    """The lines that say something, without links and marks. A line that is bold as a whole is a heading of level 6."""
    lines: list[Line] = []
    heading = ""
    for raw in text[:_MOST_CHARACTERS].splitlines():
        if len(lines) == _MOST_LINES:
            break
        if not raw or raw.isspace():
            continue
        plain = _LINK.sub(r"\1", raw[:_LONGEST_LINE])
        head = _HEADING.fullmatch(plain.rstrip()) or None
        bold = _BOLD.fullmatch(plain) if head is None else None
        said = " ".join(_MARKS.sub(" ", plain).split())
        if not said:
            continue
        level = len(head[1]) if head else 6 if bold else 0
        lines.append(Line(said, heading, level, item=re.match(r"\s*(?:[-+*•·–]|\d{1,2}[.)])\s+\S", plain) is not None))
        if level:
            heading = said
    return lines


def to_section(lines: list[Line], first: int) -> list[Line]:
    """The lines below the heading at `first`, until one of its own or a higher level."""
    level = lines[first].level or 6
    section: list[Line] = []
    for line in islice(lines, first + 1, first + 1 + _MOST_BELOW):
        if line.level and line.level <= level:
            break
        section.append(line)
    return section
