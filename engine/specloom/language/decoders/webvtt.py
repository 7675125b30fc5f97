"""WebVTT becomes lines of a transcript, each with the moment it begins, and lines that roll up are told once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .formats import is_blank, require_data, to_text

if TYPE_CHECKING:
    from specloom.core import Response

_TIMING: Final = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{3})\s+-->\s")
_TAG: Final = re.compile(r"<[^<>]*>")
_WORD_TIME: Final = re.compile(r"<\d{2}:\d{2}(?::\d{2})?\.\d{3}>")

LINE: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"second": {"type": "integer"}, "clock": {"type": "string"}, "text": {"type": "string"}},
    "required": ["second", "clock", "text"],
}


def parse_webvtt(response: Response, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines of a file of captions, one a cue; what is no cue (notes, styles, numbers) is passed over.

    Automatic captions show the line before again above the new one: what a cue has in common with the end of the one
    before is left out.
    """
    if options.get("blank_ok") and is_blank(response):
        return []
    require_data(response, "WebVTT")
    vtt = to_text(response).replace("\r\n", "\n").replace("\r", "\n")
    lines: list[dict[str, Any]] = []
    from html import unescape

    before: list[str] = []
    rolling = _WORD_TIME.search(vtt) is not None
    # A row of one blank is a row of a cue; only an empty one ends it.
    for block in re.split(r"\n{2,}", vtt):
        rows = block.split("\n")
        timings = ((at, timing) for at, row in enumerate(rows) if (timing := _TIMING.match(row.strip())))
        at, timing = next(timings, (0, None))
        if timing is None:
            continue
        shown = [text for row in rows[at + 1 :] if (text := " ".join(unescape(_TAG.sub("", row)).split()))]
        fresh = shown[_overlap(before, shown, whole=rolling) :]
        before = shown or before
        if fresh:
            hours, minutes, seconds = (int(timing[group] or 0) for group in (1, 2, 3))
            second = hours * 3600 + minutes * 60 + seconds
            lines.append({"second": second, "clock": _clock(second), "text": " ".join(fresh)})
    return lines


def _overlap(before: Sequence[str], shown: Sequence[str], *, whole: bool) -> int:
    """How many lines at the start of a cue are those at the end of the one before.

    A cue that is all repetition counts as one only where captions roll (`whole`): people do say things twice.
    """
    most = min(len(before), len(shown) if whole else len(shown) - 1)
    return next((size for size in range(most, 0, -1) if list(before[-size:]) == list(shown[:size])), 0)


def _clock(second: int) -> str:
    """`M:SS`, and `H:MM:SS` from an hour on."""
    minutes, seconds = divmod(second, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
