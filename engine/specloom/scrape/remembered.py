"""Under which key a page is remembered, and for how long it is remembered that one cannot be read."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault

from .browser_find import find_browser

if TYPE_CHECKING:
    from .options import Options

TTL = 3600.0
"""Seconds for which a page is remembered (the tool contract's figure)."""
FAILURE_TTLS = {
    "browser_unavailable": 4 * 3600.0,
    "blocked": 1800.0,
    "auth_required": 1800.0,
    "rate_limited": 90.0,
    "network": 120.0,
}
"""Seconds for which it is remembered that a page cannot be read, by the kind of fault (the tool contract's figures)."""
OTHER_FAILURE_TTL = 600.0
# What is said of an address without asking anybody is not worth remembering.
_LOCAL = frozenset({"validation", "config", "internal"})


def to_key(url: str, options: Options) -> str:
    """The key of a page: its address, and what else decides whether and how it is read.

    So a server that is started anew with a browser reads what it could not, and one with other allowed domains tells
    nothing of what it may no longer read.
    """
    means = (
        options.allow_private,
        options.allowed_domains,
        options.identity,
        options.robots,
        options.reader,
        options.max_html_bytes,
        options.max_document_bytes,
        find_browser(options.chrome).path,
    )
    return f"page:3:{sha256(repr(means).encode()).hexdigest()[:16]}:{url}"


def to_failure_ttl(fault: Fault) -> float:
    """For how many seconds a fault is told again instead of asking anew; never longer than its host wants to rest."""
    if fault.kind in _LOCAL:
        return 0.0
    ttl = FAILURE_TTLS.get(fault.kind, OTHER_FAILURE_TTL)
    return min(ttl, fault.retry_after or ttl) if fault.kind == "rate_limited" else ttl


def from_fault(fault: Fault) -> dict[str, Any]:
    """A fault as JSON data, from which `to_fault` makes it again."""
    return {
        "kind": fault.kind,
        "message": fault.message,
        "detail": fault.detail,
        "retry_after": fault.retry_after,
        "action": fault.action,
    }


def to_fault(said: dict[str, Any]) -> Fault:
    """The fault that `from_fault` made the data of."""
    return Fault(
        said["kind"],
        said["message"],
        detail=said["detail"],
        retry_after=said["retry_after"],
        action=said["action"],
    )
