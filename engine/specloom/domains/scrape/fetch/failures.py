"""What a failed tier is called, and the one fault that tells how all of them failed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specloom.core import Action, Fault
from specloom.net import mask_url

from ..result import TierOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence


ROBOTS = "robots.txt"
"""The detail of faults that mean: the page may be there, but its site does not want it read."""
LONGEST = 120
"""Characters of the line that tells how one tier fared."""
REPORT = "https://github.com/specloom/specloom/issues"

# The most definitive kind tells the whole call; `network` only where nothing else was seen.
_PRIORITY = {
    "validation": 6,
    "not_found": 5,
    "auth_required": 4,
    "rate_limited": 3,
    "blocked": 2,
    "too_large": 1.5,
    "browser_unavailable": 1,
    "config": 0.5,
    "content_empty": 0,
    "network": -1,
}
_OF_READERS = {
    "auth_required": "Auth required",
    "blocked": "Blocked",
    "config": "Not installed",
    "content_empty": "No content extracted",
    "not_found": "Not found",
    "too_large": "Too large",
}
_BY_STATUS = {401: "auth_required", 403: "blocked", 404: "not_found", 407: "auth_required", 410: "not_found"}
_BY_STATUS |= {402: "blocked", 429: "rate_limited", 451: "blocked", 999: "blocked"}
# What these say is no suspicion of robots, which the contract's sentence about a blocked page tells.
_REASONS = {
    402: "the site asks to be paid for it (HTTP 402). Try an alternative source.",
    451: "the site withholds it for legal reasons (HTTP 451). Try an alternative source.",
}
# The contract's sentences.
_SENTENCES = {
    "validation": "URL rejected for {url}: {detail}. Provide a valid public http(s) URL.",
    "blocked": "Blocked: {url} uses bot detection. Try an alternative source — its content can't be read directly.",
    "not_found": "Not found: {url} returned 404/410 — the page does not exist. Check the URL.",
    "browser_unavailable": "Scrape failed: Chrome unavailable. Set CHROME_PATH or install Chrome. Report at {report}",
    "content_empty": "No content extracted from {url}. May need browser rendering. Report at {report}",
    "auth_required": "Auth required: {url} is behind a login wall.",
    "rate_limited": "Rate limited on {url}. Retry in {seconds} seconds.",
    "too_large": "Too large: {url} is more than may be read ({detail}). Ask for a smaller page or document.",
}
_NETWORK_SENTENCE = "Network error on {url}: {detail}. Check connectivity."
_ROBOTS_SENTENCE = "Blocked: {url} is not read, because {detail}. Try an alternative source."
# Kinds of faults that a tier or a service may end with, as kinds that a page can have.
_AS_SEEN = {
    "bad_request": "content_empty",
    "quota_exhausted": "content_empty",
    "not_in_plan": "content_empty",
    "config": "content_empty",
    "layout_changed": "content_empty",
    "internal": "content_empty",
    "circuit_open": "network",
    "upstream_unavailable": "network",
}


def find_kind_of_status(status: int) -> str | None:
    """The kind of fault that a status of a page means; nothing below 400."""
    if status < 400:
        return None
    return _BY_STATUS.get(status, "network")


def from_status(tier: str, status: int, kind: str) -> TierOutcome:
    """The outcome of an answer whose status says that it is none, which means `kind`."""
    outcome = to_outcome(tier, kind, f"HTTP {status}")
    reason = _REASONS.get(status)
    return replace(outcome, fault=Fault(kind, reason, action="inform_user")) if reason else outcome


def to_outcome(tier: str, kind: str, message: str) -> TierOutcome:
    """An outcome whose message is the first line, cut to 120 characters."""
    line = " ".join((message.splitlines() or [""])[0].split())
    return TierOutcome(tier, kind, line if len(line) <= LONGEST else line[: LONGEST - 1] + "…")


def from_fault(tier: str, fault: Fault, *, service: bool = False) -> TierOutcome:
    """The outcome that a fault means.

    What a service says is of our account, of itself, or of what it could see, and never that a page is not there.
    """
    kind = "content_empty" if service else _AS_SEEN.get(fault.kind, fault.kind)
    return to_outcome(tier, kind, fault.message)


def from_reader(tier: str, fault: Fault) -> TierOutcome:
    """The outcome of what is no page, or a document that cannot be read: who looked into it says best what it is."""
    kind = fault.kind if fault.kind in _PRIORITY else _AS_SEEN.get(fault.kind, fault.kind)
    return replace(to_outcome(tier, kind, fault.message), fault=fault)


def to_fault(
    url: str, outcomes: Sequence[TierOutcome], *, retry_after: int | None = None, scripted: bool = False
) -> Fault:
    """The fault of a page that no tier could read: the most definitive kind that was seen of the page itself.

    `scripted` says that the page has nothing to read before its scripts ran.
    """
    details = "; ".join(f"{outcome.tier}: {outcome.message}" for outcome in outcomes)
    seen_by_us = [outcome for outcome in outcomes if outcome.kind in _PRIORITY and not outcome.by_service]
    real = seen_by_us or [outcome for outcome in outcomes if outcome.kind in _PRIORITY]
    kind = max((outcome.kind for outcome in real), key=_PRIORITY.__getitem__, default="content_empty")
    # A missing browser is why nothing was read only where it was needed and nothing else came in the way.
    seen = {outcome.kind for outcome in real}
    if kind == "browser_unavailable" and "content_empty" in seen:
        kind = kind if scripted else "content_empty"
    elif kind == "browser_unavailable" and "network" in seen:
        kind = "network"
    chosen = next((outcome for outcome in real if outcome.kind == kind), None)
    if chosen is not None and chosen.fault is not None:
        # The contract's sentences speak of pages that a browser might still show.
        message = f"{_OF_READERS.get(kind, 'Not read')}: {mask_url(url)} — {chosen.fault.message}"
        return Fault(kind, message, detail=details, action=chosen.fault.action)
    message = _say(kind, mask_url(url), chosen.message if chosen else "", retry_after)
    # A page that wants a log-in has no key of ours to check.
    action: Action | None = "inform_user" if kind == "auth_required" else None
    return Fault(kind, message, retry_after=retry_after, detail=details, action=action)


def choose_fault(first: Fault, second: Fault) -> Fault:
    """Of two faults about one page the more definitive one, the first of equals, with what both of them tell.

    That the second way may not be gone says nothing of the page: the address that was asked for had been let through.
    """
    second_wins = _PRIORITY.get(second.kind, -1) > _PRIORITY.get(first.kind, -1) and second.kind != "validation"
    fault = second if second_wins else first
    fault.detail = f"{first.detail}; {second.detail}"
    return fault


def _say(kind: str, url: str, why: str, retry_after: int | None) -> str:
    detail = why.rstrip(".")
    sentence = _ROBOTS_SENTENCE if kind == "blocked" and ROBOTS in detail else _SENTENCES.get(kind, _NETWORK_SENTENCE)
    return sentence.format(url=url, detail=detail, report=REPORT, seconds=retry_after or 60)
