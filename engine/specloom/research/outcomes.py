"""What the calls of a session met, in sum: which errors keep coming back, and which providers answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..dates import from_epoch
from .trail import MOST_OUTCOMES, Outcome, Session

PATTERN_FROM = 3
"""Times that a kind of error must have been met before it is called a pattern."""
MOST_ADDRESSES = 5
"""Addresses that a pattern names."""

ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "auth_required": "These sources ask for a login: look for open-access copies or preprints of the same work.",
        "blocked": "These sites turn automated readers away: use other sources, or archived copies of these.",
        "rate_limited": "The providers ask to slow down: name another provider, or leave more time between calls.",
        "browser_unavailable": "These pages need a browser: install Chromium, or prefer pages that work without.",
        "network": "Connections keep failing: try again later, and check the addresses.",
        "content_empty": "Nothing readable was found there: try the PDF, or another source for the same content.",
        "upstream_unavailable": "The providers keep failing: name another one, or come back later.",
    }
)
"""What to do about a kind of error that keeps coming back, by the contract's word for it."""


def add_outcomes(session: Session, outcomes: Iterable[Outcome]) -> Session:
    """The session with these outcomes as its newest; the oldest are forgotten."""
    return replace(session, outcomes=(*session.outcomes, *outcomes)[-MOST_OUTCOMES:])


def error_patterns(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """The kinds of error that were met three times or more, the most frequent first."""
    met: dict[str, list[Outcome]] = {}
    for one in outcomes:
        if one.error:
            met.setdefault(one.error, []).append(one)
    patterns = [
        {
            "kind": kind,
            "count": len(some),
            "affectedUrls": list(dict.fromkeys(one.url for one in reversed(some) if one.url))[:MOST_ADDRESSES],
            "suggestion": ADVICE.get(kind, "Try another way to the same content."),
            "lastSeen": from_epoch(max(one.at for one in some)) or "",
        }
        for kind, some in met.items()
        if len(some) >= PATTERN_FROM
    ]
    return sorted(patterns, key=lambda one: (-one["count"], one["kind"]))


def provider_stats(outcomes: Iterable[Outcome]) -> dict[str, dict[str, int]]:
    """How often each provider was asked, and how often it answered."""
    stats: dict[str, dict[str, int]] = {}
    for one in outcomes:
        if one.provider:
            counted = stats.setdefault(one.provider, {"attempts": 0, "successes": 0})
            counted["attempts"] += 1
            counted["successes"] += not one.error
    return dict(sorted(stats.items()))
