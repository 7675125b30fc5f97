"""The outline of a Markdown text: its headings, where their sections begin and end, and how large they are."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from specloom.core import count_tokens, dataclass

from .fold import to_plain

MOST_LINES: Final = 40
"""Headings that an outline shows at most."""
LEAST_SECTIONS: Final = 3
"""With fewer a text has no outline that would help anybody."""
LONGEST_HEADING: Final = 100

_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_CLOSING: Final = re.compile(r"(?<![ \t])[ \t]++#++[ \t]*+$")
_PAGE: Final = re.compile(r"^--- (Page|Slide) (\d{1,6}) ---$", re.MULTILINE)
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and all below it: `number` counts from 1, `start` and `end` are characters of the text."""

    number: int
    level: int
    heading: str
    start: int
    end: int


def follow_fence(line: str, fence: str) -> str:
    """The fence of a code block that is open behind a line, by that before it; "" for none."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return match[1]
    return "" if match[1].startswith(fence) and not line[match.end() :].strip() else fence


def find_sections(markdown: str) -> list[Section]:
    """The sections of a text in their order; what stands before the first heading is in none."""
    heads: list[tuple[int, str, int]] = []
    at, fence = 0, ""
    for line in markdown.split("\n"):
        before, fence = fence, follow_fence(line, fence)
        match = None if before or fence else _HEADING.fullmatch(line.rstrip())
        if match is not None:
            heads.append((len(match[1]), to_heading(match[2]), at))
        at += len(line) + 1
    sections = []
    for number, (level, heading, start) in enumerate(heads, 1):
        following = (other for depth, _, other in heads[number:] if depth <= level)
        sections.append(Section(number, level, heading, start, next(following, len(markdown))))
    return sections


def find_pages(markdown: str) -> list[Section]:
    """The pages or slides of a document, by the lines that say where each begins."""
    marks = list(_PAGE.finditer(markdown))
    starts = [*(mark.start() for mark in marks), len(markdown)]
    return [
        Section(int(mark[2]), 1, f"{mark[1]} {mark[2]}", *place)
        for mark, place in zip(marks, pairwise(starts), strict=True)
    ]


def find_page(pages: Sequence[Section], at: int) -> str:
    """The heading of the page, of those in their order, on which a character stands; "" for none."""
    place = bisect_right(pages, at, key=lambda page: page.start)
    return pages[place - 1].heading if place else ""


def to_heading(text: str) -> str:
    """The words of a heading, without marks, on one line."""
    words = " ".join(to_plain(_CLOSING.sub("", text)).split())
    return words if len(words) <= LONGEST_HEADING else f"{words[: LONGEST_HEADING - 2].rstrip()} …"


def show_outline(markdown: str, sections: Sequence[Section], *, most: int = MOST_LINES) -> list[str]:
    """A line for each section, with its number and its size in tokens; the deepest levels give way where it is long.

    Of a document with pages each line names that on which its section begins. Nothing for a text of fewer sections
    than would help.
    """
    if len(sections) < LEAST_SECTIONS:
        return []
    levels = sorted({section.level for section in sections})
    depth = levels[0]
    for level in levels:
        if sum(section.level <= level for section in sections) > most:
            break
        depth = level
    shown = [section for section in sections if section.level <= depth]
    if len(shown) < LEAST_SECTIONS and depth != levels[-1]:
        # A title alone is no outline, so the level below it is shown as far as there is room.
        depth = levels[levels.index(depth) + 1]
        shown = [section for section in sections if section.level <= depth]
    pages = find_pages(markdown)
    lines = [
        f"{'  ' * levels.index(one.level)}{one.number}. {one.heading} ({count_tokens(markdown[one.start : one.end]):,})"
        f"{f' · {page}' if (page := find_page(pages, one.start)) else ''}"
        for one in shown[:most]
    ]
    if len(shown) < len(sections) or len(lines) < len(shown):
        lines.append(f"… {len(sections) - len(lines)} more, up to {sections[-1].number}")
    return lines


def find_section(sections: Sequence[Section], wanted: str) -> Section | None:
    """The section of that heading, or else of that number; None where there is none."""
    words = " ".join(to_plain(wanted).split()).casefold().rstrip(".")
    named = [(section.heading.casefold(), section) for section in sections]
    for is_meant in (
        lambda heading: heading == words,
        lambda heading: heading.startswith(words),
        lambda heading: words in heading,
    ):
        found = next((section for heading, section in named if words and is_meant(heading)), None)
        if found is not None:
            return found
        if words.isdecimal():
            return next((section for section in sections if section.number == int(words)), None)
    return None
