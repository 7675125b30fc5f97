"""Headings of a PDF page that are no larger than the text: bold ones, and those that a number or their words tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from specloom.scrape.documents.pdf_lines import Line, clean

NUMBERED: Final = re.compile(r"(?:[1-9][0-9]?(?:\.[1-9][0-9]?){0,3}\.?|[IVX]{1,5}\.|[A-H]\.?[1-9]?)\s+[^\W\d_a-z]")
_PART: Final = re.compile(
    r"(?:abstract|summary|introduction|background|methods?|materials and methods|results(?: and discussion)?|discussion"
    r"|conclusions?|acknowledge?ments?|references|bibliography|appendix(?: [a-z])?|contents|zusammenfassung|literatur"
    r"|résumé|references cited|works cited|参考文献|摘要)",
    re.IGNORECASE,
)
ITEM: Final = re.compile(r"(?:[•◦▪▸‣●○■–—*]|-)\s+|\(?[0-9]{1,3}[.)]\s+|\[[0-9]{1,3}\]\s+|\(?[a-z][.)]\s+")
# Bold lines in the size of the text: a heading has two at most, and where more than this share is bold it means less.
_BOLD_LINES: Final = 2
_MOST_BOLD: Final = 0.25
# Letters of a line that is prose, as below a heading, and not another label.
_LEAST_PROSE: Final = 25
_CAPTION: Final = re.compile(
    r"(?:tab(?:le|elle|leau|la|ella|\.)|fig(?:ure|ura|\.)|abb(?:ildung|\.)|chart|exhibit|box|graph(?:ique)?|tafel|图|表|図)"
    r"\s*[0-9IVX]",
    re.IGNORECASE,
)


def find_bold(lines: Sequence[Line]) -> set[int]:
    """The numbers of lines that are headings by being bold: one or two, below and above lines that are not."""
    found: set[int] = set()
    if sum(len(line.text) for line in lines if line.is_bold) > _MOST_BOLD * sum(len(line.text) for line in lines):
        return found
    start = 0
    for number, line in enumerate([*lines, None]):
        if line is not None and line.is_bold:
            continue
        run = lines[start:number]
        if 0 < len(run) <= _BOLD_LINES and line is not None and _is_bold_heading(run, lines[start - 1 : start], line):
            found.update(range(start, number))
        start = number + 1
    return found


def _is_bold_heading(run: Sequence[Line], before: Sequence[Line], after: Line) -> bool:
    """Whether bold lines stand alone above others, and are set as one."""
    text = clean(" ".join(line.text for line in run))
    if not (text[:1].isupper() or text[:1].isdigit()) or text.endswith((".", ",", ";", ":")):
        return False
    if ITEM.match(text) or _CAPTION.match(text) or len(after.text) < _LEAST_PROSE:
        return False
    is_beside = any(abs(one.bottom - run[0].bottom) < run[0].size for one in before)
    is_above = -0.2 * after.size <= run[-1].bottom - after.top <= 3 * after.size
    return is_above and not is_beside and sum(map(str.isalpha, text)) >= max(len(text) / 2, 4)


def is_numbered_heading(text: str) -> bool:
    """Whether a line that stands alone is a heading by its number or by being what papers call their parts."""
    if _PART.fullmatch(text):
        return True
    letters = sum(map(str.isalpha, text))
    solid = sum(1 for character in text if not character.isspace())
    return (
        len(text) <= 80
        and bool(NUMBERED.match(text))
        and not text.endswith((".", ",", ";", ":"))
        and letters >= 0.7 * solid
    )
