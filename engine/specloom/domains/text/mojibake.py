"""Mojibake: texts with the replacement character, and whether another text is the same without it."""

from __future__ import annotations

import re
from typing import Any

LOST = "\ufffd"
"""The character that stands where one was lost."""
LONGEST_MENDED = 2000
"""Characters of a text that is compared with another one to replace it."""

_RUNS = re.compile(f"{LOST}+|[^{LOST}]+")


def mends(broken: Any, whole: Any) -> bool:
    """Whether a text, or a list of texts, is another one without its replacement characters and the same elsewhere.

    A row of replacement characters stands for as many characters or fewer, because one is lost for every byte.
    """
    if isinstance(broken, list) and isinstance(whole, list) and len(broken) == len(whole):
        pairs = [(one, other) for one, other in zip(broken, whole, strict=True) if one != other]
        return bool(pairs) and all(mends(one, other) for one, other in pairs)
    if not isinstance(broken, str) or not isinstance(whole, str) or LOST not in broken or LOST in whole:
        return False
    if max(len(broken), len(whole)) > LONGEST_MENDED:
        return False
    ends = {0}
    for part in _RUNS.findall(broken):
        if part.startswith(LOST):
            ends = {end + more for end in ends for more in range(1, len(part) + 1) if end + more <= len(whole)}
        else:
            ends = {end + len(part) for end in ends if whole.startswith(part, end)}
    return len(whole) in ends
