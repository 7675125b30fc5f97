"""One reading on its way up the tiers: what was tried, what was best, and what each answer means for the next one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from specloom.faults import Fault

from .failures import ROBOTS, from_fault, from_status, to_outcome
from .reading import Candidate, Fetched, Mode, Outcome, Reading
from .rests import SHORT_REST
from .walls import is_app, is_challenge

if TYPE_CHECKING:
    from .options import Options
    from .tiers import Rung

Extractor = Callable[[Fetched], Candidate | Awaitable[Candidate]]


@dataclass(slots=True)
class Climb:
    """One reading on its way up: what was tried, and the best that was seen."""

    url: str
    mode: Mode
    options: Options
    extract: Extractor
    outcomes: list[Outcome] = field(default_factory=list)
    best: Reading | None = None
    best_score: float = 0.0
    last_body: bytes = b""
    frames: tuple[str, ...] = ()
    followed: set[str] = field(default_factory=set)
    stopped: bool = False
    local: bool = True
    """Whether it is any use to ask the page's host again."""
    oversize: bool = False
    """The page is larger than may be fetched; a browser can still take the beginning of it."""
    retry_after: int | None = None
    scripted: bool = False
    """An answer had nothing to read and scripts that might bring it."""
    gone: bool = False
    """An answer says that there is no such page, and no script is to make it say something else."""


def note_fault(climb: Climb, rung: Rung, fault: Fault) -> None:
    """A tier that gave no answer."""
    climb.outcomes.append(from_fault(rung.name, fault, service=not rung.local))
    if fault.kind == "rate_limited" and rung.local:
        climb.retry_after = fault.retry_after
        climb.local = False
    if fault.kind == "validation" and rung.local:
        climb.stopped = True
        climb.best = None
    if fault.detail == ROBOTS:
        # Who obeys a site's wishes does not have its pages read by others either.
        climb.stopped = True
    climb.oversize = climb.oversize or (rung.local and fault.kind == "too_large")
    if rung.local and fault.kind == "network" and _is_unreachable(fault):
        climb.local = False


def note_status(climb: Climb, rung: Rung, fetched: Fetched, kind: str) -> None:
    """An answer whose status says that it is none, which means `kind`."""
    outcome = from_status(fetched.tier, fetched.status, kind)
    if kind in ("rate_limited", "network") and is_challenge(fetched.body, fetched.headers):
        # However often and whenever one asks again, this is what comes.
        kind = "blocked"
        outcome = to_outcome(fetched.tier, kind, f"HTTP {fetched.status}, a wall against robots")
    climb.outcomes.append(outcome)
    if kind == "rate_limited" and rung.local:
        rest = rung.rest(fetched.url)
        climb.retry_after = rest or climb.retry_after
        # A short rest is waited for by the next tier's turn.
        climb.local = rest <= SHORT_REST
    # A page that is gone is gone for everyone; one that is missing may only be missing for robots, so it is asked for
    # once more under the other identity, and then believed.
    missing = sum(1 for outcome in climb.outcomes if outcome.kind == "not_found")
    if kind == "not_found" and (fetched.status == 410 or missing > 1 or climb.options.identity == "honest"):
        climb.stopped = True


def note_missing(climb: Climb, fetched: Fetched) -> None:
    """A page that says itself that there is none: asked for once more under the other identity, as one with a 404."""
    fault = Fault(
        "not_found", f"it came with status {fetched.status}, but says that there is no such page. Check the URL."
    )
    before = any(outcome.kind == "not_found" for outcome in climb.outcomes)
    climb.outcomes.append(
        replace(to_outcome(fetched.tier, fault.kind, "a page that says that it is missing"), fault=fault)
    )
    climb.best = None
    climb.gone = not (fetched.kind == "html" and is_app(fetched.body))
    climb.stopped = fetched.tier == "browser" or (climb.gone and (before or climb.options.identity == "honest"))


def _is_unreachable(fault: Fault) -> bool:
    """Whether no other way of asking can reach the host: its name has no address, or nobody listens there."""
    return fault.message.endswith(("the name does not resolve.", "the connection was refused."))
