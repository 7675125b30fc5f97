"""WebVTT becomes lines of a transcript, each with the moment it begins, and lines that roll up are told once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any, Final

_TIMING: Final = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{3})\s+-->\s")
_TAG: Final = re.compile(r"<[^<>]*>")
_WORD_TIME: Final = re.compile(r"<\d{2}:\d{2}(?::\d{2})?\.\d{3}>")

_MOST_HIGHLIGHTS: Final = 5
_LEAST_LINES: Final = 5


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a transcript and the second it begins at."""

    second: int
    text: str

    @property
    def clock(self) -> str:
        """`M:SS`, and `H:MM:SS` from an hour on."""
        minutes, seconds = divmod(self.second, 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"

    def __str__(self) -> str:
        return f"[{self.clock}] {self.text}"


def parse_captions(vtt: str) -> list[Line]:
    """The lines of a WebVTT file, one a cue; what is no cue (notes, styles, numbers) is passed over.

    Automatic captions show the line before again above the new one: what a cue has in common with the end of the one
    before is left out.
    """
    lines: list[Line] = []
    before: list[str] = []
    rolling = _WORD_TIME.search(vtt) is not None
    # A row of one blank is a row of a cue; only an empty one ends it.
    for block in re.split(r"\n{2,}", vtt.replace("\r\n", "\n").replace("\r", "\n")):
        rows = block.split("\n")
        at = next((index for index, row in enumerate(rows) if _TIMING.match(row.strip())), None)
        if at is None:
            continue
        found = _TIMING.match(rows[at].strip())
        assert found is not None
        shown = [text for row in rows[at + 1 :] if (text := " ".join(unescape(_TAG.sub("", row)).split()))]
        fresh = shown[_overlap(before, shown, whole=rolling) :]
        before = shown or before
        if fresh:
            hours, minutes, seconds = (int(found[group] or 0) for group in (1, 2, 3))
            lines.append(Line(hours * 3600 + minutes * 60 + seconds, " ".join(fresh)))
    return lines


def _overlap(before: Sequence[str], shown: Sequence[str], *, whole: bool) -> int:
    """How many lines at the start of a cue are those at the end of the one before.

    A cue that is all repetition counts as one only where captions roll (`whole`): people do say things twice.
    """
    most = min(len(before), len(shown) if whole else len(shown) - 1)
    return next((size for size in range(most, 0, -1) if list(before[-size:]) == list(shown[:size])), 0)


def find_highlights(lines: Sequence[Line]) -> list[Mapping[str, Any]]:
    """The five most telling lines, best first, with a score from 0 to 1; none of fewer than five lines.

    A word with a digit counts 2, one in capitals (of two letters or more) 1, a question 1: the contract's weights.
    """
    if len(lines) < _LEAST_LINES:
        return []
    scored = sorted(((_score(line.text), line) for line in lines), key=lambda pair: -pair[0])[:_MOST_HIGHLIGHTS]
    best = scored[0][0] or 1
    return [{"text": line.text, "score": round(score / best, 2), "startTime": line.clock} for score, line in scored]


def _score(text: str) -> int:
    words = text.split()
    digits = sum(any(character.isdigit() for character in word) for word in words)
    capitals = sum(word.isupper() and sum(map(str.isalpha, word)) > 1 for word in words)
    return 2 * digits + capitals + text.endswith("?")
