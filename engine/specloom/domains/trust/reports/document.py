"""A report before it is HTML, Markdown or DOCX: headings, facts and tables, and in them the words of others marked.

Only here a text of others becomes part of a report, as a span that says so. What writes a report escapes every span
and sets those of others apart, so that no title can pass for a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from specloom.core import dataclass
from specloom.domains.text import strip_unseen

LONGEST_QUOTE: Final = 2000
"""Characters of a text of others that a report has; what is longer is cut, and ends with an ellipsis."""
# XML has no place for these two, whatever they are written in.
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")
_WEB = frozenset(("http", "https"))


@dataclass(frozen=True, slots=True)
class Span:
    """Words on one line: the report's own, or of others (`is_foreign`); `address` is that of a link, "" for none."""

    text: str
    is_foreign: bool = False
    address: str = ""


Line = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """What is known, by its label; each has at least one line."""

    rows: tuple[tuple[str, tuple[Line, ...]], ...]


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table with a caption and heads of its columns."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]


@dataclass(frozen=True, slots=True)
class ReportOutline:
    """A list in a list: lines with their level from 1, none of them more than one deeper than the line before."""

    rows: tuple[tuple[int, Line], ...]


@dataclass(frozen=True, slots=True)
class ReportCode:
    """A text in a language of machines, such as `bibtex`, with its lines as they are; words of others are in it."""

    text: str
    language: str = ""


ReportBlock = Line | ReportFacts | ReportTable | ReportOutline | ReportCode


@dataclass(frozen=True, slots=True)
class ReportPart:
    """What stands under one heading; `mark` names what kind of finding it tells of, "" for none."""

    title: str
    blocks: tuple[ReportBlock, ...] = ()
    level: int = 2
    mark: str = ""


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """A whole report: its title, what it says first, its parts in order, and who made it."""

    title: str
    lead: tuple[Line, ...]
    parts: tuple[ReportPart, ...]
    maker: str = ""


def own(text: object) -> Span:
    """Words of the report itself: from a closed list, a number or a day."""
    return Span(str(text))


def quote(text: object) -> Span:
    """Words of others on one line, without what nobody sees."""
    words = " ".join(_NO_CHARACTERS.sub("", strip_unseen(str(text or ""))).split())
    return Span(words if len(words) <= LONGEST_QUOTE else f"{words[:LONGEST_QUOTE]}…", is_foreign=True)


def quote_whole(text: object) -> tuple[Line, ...]:
    """The whole of a longer text of others, a line for each of its own, and of one that is too long its pieces."""
    lines = [line for line in str(text or "").splitlines() if line.strip()]
    pieces = (line[at : at + LONGEST_QUOTE] for line in lines for at in range(0, len(line), LONGEST_QUOTE))
    return tuple((quote(piece),) for piece in pieces) or ((quote(""),),)


def to_code(text: str, language: str = "") -> ReportCode:
    """A text with its lines, without what nobody sees."""
    lines = (_NO_CHARACTERS.sub("", strip_unseen(line)) for line in text.split("\n"))
    return ReportCode("\n".join(lines), language)


def link(url: object) -> Span:
    """An address as it is, which leads there where it is one of the web."""
    span = quote(url)
    try:
        parts = urlsplit(span.text)
        is_web = parts.scheme.lower() in _WEB and bool(parts.hostname)
    except ValueError:
        is_web = False
    return Span(span.text, is_foreign=True, address=span.text if is_web and " " not in span.text else "")


def join(spans: Iterable[Span], between: str = " · ") -> Line:
    """The spans that say something, with a mark of the report between two of them."""
    line: list[Span] = []
    for span in spans:
        if span.text:
            line += [own(between), span] if line else [span]
    return tuple(line)
