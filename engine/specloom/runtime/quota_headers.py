"""Rate-limit headers: what an upstream tells of its pace, of what is left of an allowance, and of when to come back."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from specloom.core import Fault, Rate, Response, dataclass, parse_rate
from specloom.language import Unworkable, evaluate
from specloom.model import QuotaHeaders, Value

LONGEST_DELAY = 86_400
"""Seconds after which to come back at the latest, whatever an upstream says."""
FIRST_EPOCH = 1e9
"""A number from here on is a moment in seconds since 1970 (2001 and later), and no delay (32 years)."""
LAST_EPOCH = 1e12
"""Later moments are as far away as this one."""
LONGEST_TEXT = 64
"""Characters of a header that can be a number or a date."""

_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]*)?")
_POLICY_LEFT = re.compile(r";\s*+r=([0-9]{1,15})")
_POLICY_RENEWS = re.compile(r";\s*+t=([0-9]{1,15})")
LONGEST_FIELD = 512
"""Characters of a field with several policies that are looked at."""


@dataclass(frozen=True, slots=True)
class Quota:
    """What the headers of a response tell of an account; None for what they do not."""

    rate: Rate | None = None
    left: int | None = None
    """Requests."""
    renews: int | None = None
    """Seconds from now, at most a day."""

    @property
    def is_used_up(self) -> bool:
        """Whether nothing is left until it is renewed."""
        return self.left == 0 and bool(self.renews)


def read_quota(learned: QuotaHeaders | None, headers: Mapping[str, str], now: float) -> Quota:
    """What a spec says that the headers of a response tell; a header in another form tells nothing."""
    if learned is None:
        return Quota()
    seen = {"headers": headers, "now": now}
    return Quota(
        _to_rate(_worked_out(learned.rate, seen)),
        _to_count(_worked_out(learned.left, seen)),
        to_delay(_worked_out(learned.renews, seen), now),
    )


def read_delay(learned: QuotaHeaders | None, response: Response, now: float) -> int | None:
    """The seconds after which an upstream that refused may be asked again, as far as its headers tell.

    Retry-After (RFC 9110 §10.2.3) goes first, then the fields of the IETF's drafts, `RateLimit` and `RateLimit-Reset`,
    then what the spec says; an allowance of which something is left is not what was refused.
    """
    headers = response.headers
    delay = to_delay(headers.get("retry-after"), now)
    if delay is None:
        delay = _to_longest(headers.get("ratelimit", ""), now)
    if delay is None and _to_count(headers.get("ratelimit-remaining")) in (0, None):
        delay = to_delay(headers.get("ratelimit-reset"), now)
    if delay is None and (quota := read_quota(learned, headers, now)).left in (0, None):
        delay = quota.renews
    return delay


def to_delay(value: Any, now: float) -> int | None:
    """Whole seconds from now, at most a day: a number of them, a moment since 1970, or a date; None for anything else.

    A number may be a text and have a fraction, as some upstreams write it; one below zero says nothing. A moment that
    is over is 0 seconds away.
    """
    if isinstance(value, str):
        text = value.strip()
        if len(text) > LONGEST_TEXT:
            return LONGEST_DELAY if text.isascii() and text.isdigit() else None
        if not text:
            return None
        value = float(text) if _NUMBER.fullmatch(text) else _to_moment(text)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        return None
    seconds = float(min(value, LAST_EPOCH))
    if seconds >= FIRST_EPOCH:
        if not now:
            return None
        seconds = max(0.0, seconds - now)
    return min(math.ceil(seconds), LONGEST_DELAY)


def _to_longest(field: str, now: float) -> int | None:
    """The longest of the waits for policies of a `RateLimit` field of which nothing is left."""
    waits = []
    for policy in field[:LONGEST_FIELD].split(","):
        left, renews = _POLICY_LEFT.search(policy), _POLICY_RENEWS.search(policy)
        if left and renews and not int(left[1]):
            waits.append(to_delay(renews[1], now))
    return max((one for one in waits if one is not None), default=None)


def _to_moment(text: str) -> float | None:
    """The seconds since 1970 of a date as HTTP (RFC 9110 §5.6.7) or ISO 8601 writes it; without a zone it is in UTC."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = parse(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError):
            continue
    return None


def _worked_out(value: Value | None, seen: Mapping[str, Any]) -> Any:
    try:
        return evaluate(value, seen) if value is not None else None
    except (Unworkable, Fault):
        return None


def _to_rate(told: Any) -> Rate | None:
    try:
        return parse_rate(told) if isinstance(told, str) else None
    except ValueError:
        return None


def _to_count(told: Any) -> int | None:
    """A whole number of requests; what is left of one is none."""
    if isinstance(told, str):
        told = float(told) if len(told) <= LONGEST_TEXT and _NUMBER.fullmatch(told.strip()) else None
    if isinstance(told, bool) or not isinstance(told, (int, float)) or not 0 <= told < math.inf:
        return None
    return math.floor(told)
