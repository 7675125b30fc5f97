"""Sessions in their collection: begun, continued, taken up again, and fed by the calls of their owner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, dataclass, from_epoch
from specloom.plugins import CONSENTS, OBSERVERS, CollectionNeed, ObservedCall, find_refusal

from .session import (
    GOAL_CHARACTERS,
    CallOutcome,
    ResearchSession,
    SessionStep,
    StepReport,
    dump,
    find_oddities,
    load,
    load_session,
    take_step,
)
from .sources import LONGEST, merge_sources, read_sources

if TYPE_CHECKING:
    from specloom.plugins import Collection, Collections, CollectionSpec, Json

LIMIT_REACHED = "session_limit_reached"
"""The warning of a session that has all the steps it may have; the contract's word."""
SESSIONS, USAGE = CollectionNeed("sessions", events=True), CollectionNeed("usage")
LONGEST_ID = 100
MOST_OUTCOMES = 200
"""Outcomes of calls that a session remembers, the newest."""
ANALYTICS = "USER_ANALYTICS_ENABLED"
RECENT = 10
"""Tools that were used last and are named in order; the contract's number."""


class SessionLost(Fault):
    """There is no such session for this owner, or it has expired."""

    def __init__(self, spec: CollectionSpec, last_step: int = 0) -> None:
        lasts = f"{_say(spec.lifetime)} from when it was last used" if spec.lifetime else "until it is deleted"
        message = f"There is no such session, or it has expired: a session lasts {lasts}. {spec.missing}"
        super().__init__("session_not_found", message.rstrip())
        self.last_step = max(0, last_step)

    def to_json(self) -> dict[str, Any]:
        """The block of a fault, with what is known about where the caller was."""
        block = super().to_json()["error"]
        return {"error": {**block, "recoveryHint": {"lastKnownStep": self.last_step, "canResume": False}}}


@dataclass(frozen=True, slots=True)
class Trail:
    """A session with its steps, and what was odd about the last one."""

    session: ResearchSession
    steps: Sequence[SessionStep]
    warnings: Sequence[str] = ()
    is_full: bool = False
    """The session had all its steps, so the last one was not kept."""


async def begin(collection: Collection, told: StepReport, *, new_id: str, now: float, tenant: str = "") -> Trail:
    """Open a session with its first step."""
    goal = told.research_goal or told.search_step[:GOAL_CHARACTERS]
    await collection.put(new_id, dump(ResearchSession(id=new_id, goal=goal, started=now, tenant=tenant)), expect=0)
    return await proceed(collection, new_id, told, now=now)


async def proceed(collection: Collection, id_: str, told: StepReport, *, now: float) -> Trail:
    """Put one more step on a session; SessionLost when there is none."""
    trail = await find(collection, id_, last_step=told.step_number - 1)
    if len(trail.steps) >= collection.spec.max_events:
        return replace(trail, warnings=(LIMIT_REACHED,), is_full=True)
    warnings, step = find_oddities(trail.session, trail.steps, told), told.to_step(now)

    def change(value: Json, _: int) -> Json:
        return dump(take_step(load_session(value), told, now))

    try:
        item = await collection.append(id_, dump(step), change=change)
    except Fault as fault:
        if fault.kind == "not_found":  # it made room for another one since it was looked for
            raise SessionLost(collection.spec, told.step_number - 1) from None
        raise
    steps = trail.steps
    if item.last != len(steps) + 1:
        # Somebody else told a step in between, which belongs before this one.
        steps = (await find(collection, id_)).steps[: item.last - 1]
    return Trail(load_session(item.value), (*steps, step), warnings)


async def find(collection: Collection, id_: str, *, last_step: int = 0) -> Trail:
    """The session with its steps; SessionLost when there is none, `last_step` being all that the caller knows."""
    item = await collection.get(id_) if 0 < len(id_) <= LONGEST_ID else None
    if item is None:
        raise SessionLost(collection.spec, last_step)
    events = await collection.events(id_, last=item.last)
    return Trail(load_session(item.value), [load(SessionStep, event.value) for event in events])


async def change(
    collection: Collection, id_: str, make: Callable[[ResearchSession], ResearchSession]
) -> ResearchSession | None:
    """The session as it was made, which may be done more than once; None where there is none."""

    def apply(value: Json | None) -> Json | None:
        return None if value is None else dump(make(load_session(value)))

    item = await collection.update(id_, apply) if 0 < len(id_) <= LONGEST_ID else None
    return load_session(item.value) if item is not None else None


async def note(
    collection: Collection,
    id_: str,
    kind: str = "",
    rows: Sequence[Any] = (),
    step: int = 0,
    *,
    outcomes: Sequence[CallOutcome] = (),
) -> bool:
    """Keep the sources in the rows of calls and how calls ended, the newest; whether there is such a session.

    `kind` is that of sources whose rows do not say theirs. Without a `step` they belong to the one that was told last.
    """
    found = read_sources(rows, kind, step)

    def change(value: Json | None) -> Json | None:
        if value is None:
            return None
        session = load_session(value)
        under_way = session.last_step or session.steps or None
        sources = found if step else [replace(source, found_in=under_way) for source in found]
        session = merge_sources(session, sources)
        return dump(replace(session, outcomes=[*session.outcomes, *outcomes][-MOST_OUTCOMES:]))

    return 0 < len(id_) <= LONGEST_ID and await collection.update(id_, change) is not None


def _say(seconds: float) -> str:
    """A lifetime in words."""
    lengths = {"day": 86_400, "hour": 3600, "minute": 60, "second": 1}
    unit = next((unit for unit, length in lengths.items() if seconds >= length and seconds % length == 0), "second")
    count = seconds / lengths[unit]
    return f"{count:g} {unit}" + ("s" if count != 1 else "")


# --- what calls leave behind ------------------------------------------------------------------------------------------


_COUNTED = "Whether calls of users who agreed are counted, for themselves to see."


@OBSERVERS.register(
    "sessions",
    settings={ANALYTICS: {"type": "boolean", "default": False, "description": _COUNTED}},
    every=ANALYTICS,
    keeps=(SESSIONS, CONSENTS, USAGE),
)
async def remember_call(collections: Collections, seen: ObservedCall) -> None:
    """Count a call for a user who agreed to that, and put what it found and met into its session.

    SessionLost where the caller has no such session, whoever else has one.
    """
    if seen.config.get(ANALYTICS):
        refusal = await find_refusal(collections.drawer(CONSENTS.name, seen.owner), seen.owner, "analytics")
        if refusal is None:
            await count_call(collections.drawer(USAGE.name, seen.owner), seen.tool, seen.at)
    if seen.session:
        ended = [
            CallOutcome(
                provider=str(outcome["provider"]),
                success=not outcome.get("error"),
                error=str(outcome.get("error", "")) or None,
                url=str(outcome.get("url", ""))[: LONGEST["url"]] or None,
                timestamp=from_epoch(seen.at),
            )
            for outcome in seen.outcomes
        ]
        rows, drawer = seen.rows if seen.kind else (), collections.drawer(SESSIONS.name, seen.owner)
        if not await note(drawer, seen.session, seen.kind, rows, outcomes=ended):
            raise SessionLost(drawer.spec)


async def count_call(usage: Collection, tool: str, now: float) -> None:
    """Count one call of a tool for the owner: counts and dates, no arguments and no answers."""
    at = from_epoch(now) or ""

    def change(value: Any) -> dict[str, Any]:
        usage = value or {"totalCalls": 0, "toolCounts": {}, "firstSeen": at, "recentTools": []}
        counts = usage["toolCounts"]
        return {
            **usage,
            "totalCalls": usage["totalCalls"] + 1,
            "toolCounts": {**counts, tool: counts.get(tool, 0) + 1},
            "lastSeen": at,
            "recentTools": [tool, *(name for name in usage["recentTools"] if name != tool)][:RECENT],
        }

    await usage.update("usage", change)
