"""Rests that hosts have asked for: how long, since when, and for how many hosts that is remembered."""

from __future__ import annotations

import re
from collections import OrderedDict
from email.utils import parsedate_to_datetime

SHORT_REST = 3.0
"""Seconds that are waited when a host asked for them; for longer rests the call ends, and says when to come back."""
LONGEST_REST = 3600.0
"""Seconds for which a host is believed at most."""
MOST_HOSTS = 10_000
"""Hosts that are remembered; beyond, the one that asked longest ago is forgotten."""


class Rests:
    """Until when each host wants no request. All times are seconds of one clock."""

    def __init__(self) -> None:
        self._until: OrderedDict[str, float] = OrderedDict()

    def note(self, host: str, seconds: float | None, now: float) -> None:
        """Remember that a host wants to be left alone from now on."""
        if seconds is None or seconds <= 0:
            return
        self._until[host] = now + min(seconds, LONGEST_REST)
        self._until.move_to_end(host)
        if len(self._until) > MOST_HOSTS:
            self._until.popitem(last=False)

    def left(self, host: str, now: float) -> float:
        """The seconds for which a host still wants to be left alone; 0 for most."""
        left = self._until.get(host, now) - now
        if left <= 0:
            self._until.pop(host, None)
            return 0.0
        return left

    def __len__(self) -> int:
        return len(self._until)


def read_retry_after(text: str, now: float) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or as an HTTP date; nothing where it says neither."""
    text = text.strip()
    if re.fullmatch(r"\d{1,9}", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError, OSError):
        return None
