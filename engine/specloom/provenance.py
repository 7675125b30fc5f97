"""What stands beside an answer in `_meta`: where it comes from and how fresh it is. Never part of the answer itself."""

from __future__ import annotations

from typing import Any

from .asking import Outcome


def say_freshness(cached: bool, age: int, ttl: float, label: str) -> dict[str, Any]:
    """How old an answer is, in seconds, and how long it is good."""
    return {"cached": cached, "ageSeconds": age, "maxAgeSeconds": int(ttl), "freshness": label}


def say_routing(outcome: Outcome) -> dict[str, Any]:
    """Who answered, who was asked before, and why; no address and no upstream text."""
    tried = list(dict.fromkeys(outcome.tried))
    attempted = tried[: tried.index(outcome.served_by) + 1] if outcome.served_by in tried else tried
    said: dict[str, Any] = {"provider_used": outcome.served_by, "providers_attempted": attempted}
    if len(attempted) > 1:
        said["fallback"] = True
        if outcome.fallback_reason:
            said["fallback_reason"] = outcome.fallback_reason
    return {**said, "cache_hit": False}
