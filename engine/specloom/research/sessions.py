"""Sessions over the drawer they are kept in: begun, continued, taken up again, and fed by the calls of their owner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..faults import Fault
from .outcomes import add_outcomes
from .sources import merge_sources, read_sources
from .steps import LIMIT_REACHED, Told, find_oddities, take_step
from .trail import GOAL_CHARACTERS, Outcome, Session, Step, from_json, step_from_json, step_to_json, to_json

if TYPE_CHECKING:
    from ..drawer import Drawer, Json

LONGEST_ID = 100


class SessionLost(Fault):
    """There is no such session for this owner, or it has expired."""

    def __init__(self, lifetime: float | None, last_step: int = 0) -> None:
        lasts = f"a session lasts {_say(lifetime)} from when it was last used" if lifetime else "it was deleted"
        super().__init__(
            "session_not_found",
            f"There is no such session, or it has expired: {lasts}. Check the sessionId, or begin anew with "
            "stepNumber 1 and what is known so far as sessionSummary.",
        )
        self.last_step = last_step

    def to_json(self) -> dict[str, Any]:
        """The block of a fault, with what is known about where the caller was."""
        block = super().to_json()["error"]
        return {"error": {**block, "recoveryHint": {"lastKnownStep": self.last_step, "canResume": False}}}


@dataclass(frozen=True, slots=True)
class Trail:
    """A session with its steps."""

    session: Session
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """A session after a step was told, and what was odd about it."""

    trail: Trail
    warnings: tuple[str, ...]
    is_full: bool
    """The session had all its steps, so this one was not kept."""


async def begin(drawer: Drawer, told: Told, *, new_id: str, tenant: str = "") -> Taken:
    """Open a session with its first step."""
    session = Session(new_id, told.goal or told.step.description[:GOAL_CHARACTERS], told.step.at, tenant=tenant)
    await drawer.put(new_id, to_json(session), expect=0)
    return await proceed(drawer, new_id, told)


async def proceed(drawer: Drawer, id_: str, told: Told) -> Taken:
    """Put one more step on a session; SessionLost when there is none."""
    trail = await find(drawer, id_, last_step=told.step.number - 1)
    if len(trail.steps) >= drawer.spec.max_events:
        return Taken(trail, (LIMIT_REACHED,), is_full=True)
    warnings = find_oddities(trail.session, trail.steps, told)

    def change(value: Json, _: int) -> Json:
        return to_json(take_step(from_json(value), told))

    try:
        item = await drawer.append(id_, step_to_json(told.step), change=change)
    except Fault as fault:
        if fault.kind == "not_found":  # it made room for another one since it was looked for
            raise SessionLost(drawer.spec.lifetime, max(0, told.step.number - 1)) from None
        raise
    steps = trail.steps
    if item.last != len(steps) + 1:
        # Somebody else told a step in between, which belongs before this one.
        steps = (await find(drawer, id_)).steps[: item.last - 1]
    return Taken(Trail(from_json(item.value), (*steps, told.step)), tuple(warnings), is_full=False)


async def find(drawer: Drawer, id_: str, *, last_step: int = 0) -> Trail:
    """The session with its steps; SessionLost when there is none, `last_step` being all that the caller knows."""
    item = await drawer.get(id_) if 0 < len(id_) <= LONGEST_ID else None
    if item is None:
        raise SessionLost(drawer.spec.lifetime, max(0, last_step))
    events = await drawer.events(id_, last=item.last)
    return Trail(from_json(item.value), tuple(step_from_json(event.value) for event in events))


async def note_rows(drawer: Drawer, id_: str, kind: str, rows: Sequence[Any], step: int = 0) -> bool:
    """Keep the sources in the rows of a call; whether there is such a session. `kind` is theirs where none is said."""
    found = read_sources(rows, kind, step)
    return await _change(drawer, id_, lambda session: merge_sources(session, found))


async def note_outcomes(drawer: Drawer, id_: str, outcomes: Iterable[Outcome]) -> bool:
    """Keep how calls of a session ended; whether there is such a session."""
    ended = list(outcomes)
    return await _change(drawer, id_, lambda session: add_outcomes(session, ended))


async def _change(drawer: Drawer, id_: str, change: Any) -> bool:
    if not 0 < len(id_) <= LONGEST_ID:
        return False

    def apply(value: Json | None) -> Json | None:
        return None if value is None else to_json(change(from_json(value)))

    return await drawer.update(id_, apply) is not None


def _say(seconds: float) -> str:
    """A lifetime in words."""
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length and seconds % length == 0:
            count = int(seconds // length)
            return f"{count} {unit}" + ("s" if count > 1 else "")
    return f"{seconds:g} seconds"
