"""Windows of a long text: pieces that fit a budget, end where a reader would pause, and join without gap or overlap."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Final

from specloom.core import count_tokens

Cost = Callable[[str], int]

LONGEST_TOKEN: Final = 8
"""Characters for each token of a budget that are looked at: more than any text has that is read."""
_TRIES: Final = 8
# Where a window may end, the best places first, and in the last of how many parts of it each is looked for.
_PLACES: Final = (
    (re.compile(r"\n(?= {0,3}#{1,6} )"), 3),
    (re.compile(r"\n[ \t]*\n+"), 3),
    (re.compile(r"\n+"), 3),
    (re.compile("[.!?…][\"'”’)\\]]{0,3}\\s+|[。！？｡][」』”’）]{0,2}|[।۔؟։]\\s*"), 3),
    (re.compile(r"\s+"), 4),
)
_JOINER: Final = "\u200d"
# What belongs to the character before it: joiners, forms of a sign, skin tones.
_MARKS: Final = frozenset("\u200c\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_MOST_MARKS: Final = 32


def to_cost(text: str) -> int:
    """The tokens of a text inside JSON, which is what an answer is measured by."""
    return count_tokens(json.dumps(text, ensure_ascii=False)) if text else 0


def find_end(text: str, start: int, room: int, *, end: int = -1, most: int = 0, cost: Cost = to_cost) -> int:
    """Where the window ends that begins at `start` and costs `room` tokens at most; never before its first character.

    It goes no further than `end` (the end of the text when left out) and has no more than `most` bytes of UTF-8. A
    `room` or a `most` of 0 is no bound.
    """
    end = len(text) if end < 0 else min(end, len(text))
    last = min(end, start + room * LONGEST_TOKEN) if room else end
    if most:
        last = min(last, start + len(text[start:last].encode("utf-8", "replace")[:most].decode("utf-8", "ignore")))
    spent = cost(text[start:last]) if room else 0
    for _ in range(_TRIES):
        if spent <= room or last <= start + 1:
            break
        last = start + max(1, int((last - start) * min(0.95, room / spent * 0.99)))
        spent = cost(text[start:last])
    return end if last >= end else max(start + 1, find_pause(text, start, last))


def find_pause(text: str, start: int, last: int) -> int:
    """The best place at or before `last` for a window to end; behind what it ends with, so that nothing is lost."""
    for place, part in _PLACES:
        earliest = last - (last - start) // part
        at = max((match.end() for match in place.finditer(text, max(earliest, start + 1), last)), default=-1)
        if at > start:
            return at
    for at in range(last, max(start + 1, last - _MOST_MARKS), -1):
        following = text[at : at + 1]
        if text[at - 1] != _JOINER and not (following and (unicodedata.combining(following) or following in _MARKS)):
            return at
    return last
