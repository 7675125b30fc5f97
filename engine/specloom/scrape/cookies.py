"""Cookies for the length of one reading: enough to get through a site that redirects until it sees its own cookie."""

from __future__ import annotations

import re

# Responses join repeated headers with commas; a comma inside a date is not followed by `name=`.
_NEXT = re.compile(r",\s*(?=[!#$%&'*+.^_`|~0-9A-Za-z-]+=)")
_PAIR = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,128})=([^;,\x00-\x20\x7f-\uffff]{0,2048})\s*(?:;|$)")

MOST = 30
"""Cookies that are kept for one host."""


class Jar:
    """What each host set. A cookie goes back to exactly the host that set it, and is gone when the reading ends."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, str]] = {}

    def take(self, host: str, header: str) -> None:
        """Keep the cookies of a Set-Cookie header; their attributes are not looked at."""
        if not header:
            return
        kept = self._kept.setdefault(host, {})
        for part in _NEXT.split(header):
            pair = _PAIR.match(part)
            if pair and (pair[1] in kept or len(kept) < MOST):
                kept[pair[1]] = pair[2]

    def give(self, host: str) -> str:
        """The Cookie header for a host; empty where it set none."""
        return "; ".join(f"{name}={value}" for name, value in self._kept.get(host, {}).items())
