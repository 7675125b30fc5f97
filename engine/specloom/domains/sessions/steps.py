"""Steps and sessions at a context: a step is told, coverage is described, questions are run, a session is recovered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from specloom.core import KINDS, Fault
from specloom.plugins import split_owner

from . import coverage, store, views
from .coverage import SEARCH, find_answer, search
from .session import CallOutcome, SessionStep, StepReport
from .store import Taken, Trail

if TYPE_CHECKING:
    from specloom.plugins import Collection, Context


AUTO = "auto"
"""The mode of an answer that fits the length of its session."""
SECONDS = 40.0
"""Time for all suggested questions, within that of the call: their step is kept by then, and its answer has to come."""
LONGEST_ITEM = 4000
"""Characters of one text in a list of a step, as many as of what it did: the newest steps are told whole each time."""
OVERDUE = "The providers took too long to answer this."


async def tell_step(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a step and show where the session stands; SessionLost where there is none to go on with."""
    drawer, told, warnings = context.state("sessions"), read_step(given, context.now()), []
    session = given.get("sessionId") or ""
    if told.step.number == 1 and not (told.step.is_revision and session):
        if session:
            warnings.append(f"Step 1 opened a new session; {session[:100]!r} is left as it was.")
        taken = await store.begin(drawer, told, new_id=context.new_id(), tenant=split_owner(context.owner)[0])
    else:
        taken = await store.proceed(drawer, session, told)
    depth = given.get("depth") or "quick"
    more = {} if depth == "quick" or taken.is_full else await _go_deeper(context, drawer, taken, told, depth)
    # Questions that were run have found sources, which belong to what is shown.
    trail = await store.find(drawer, taken.trail.session.id) if "refinementResults" in more else taken.trail
    shown = views.show_progress(
        trail.session,
        trail.steps,
        number=told.step.number,
        mode="" if given.get("responseMode") == AUTO else given.get("responseMode") or "",
        warnings=(*warnings, *taken.warnings),
    )
    return {**shown, **more, **({"isComplete": True} if taken.is_full else {})}


def read_step(given: Mapping[str, Any], now: float) -> StepReport:
    """A step as the arguments tell it."""
    step = SessionStep(
        given["stepNumber"],
        given["searchStep"],
        now,
        reasoning=given.get("reasoning") or "",
        confidence=given.get("confidence") or "",
        rejected=_read_list(given, "rejectedApproaches"),
        revises=given.get("revisesStep") or 0,
        is_revision=bool(given.get("isRevision")),
        branch=given.get("branchId") or "",
        branches_from=given.get("branchFromStep") or 0,
    )
    return StepReport(
        step,
        given["nextStepNeeded"],
        goal=given.get("researchGoal") or "",
        summary=given.get("sessionSummary") or "",
        estimate=given.get("totalStepsEstimate") or 0,
        gap=given.get("knowledgeGap") or "",
        settled=_read_list(given, "resolvedGaps"),
    )


def _read_list(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts of a list; a `validation` fault where one is longer than what else a step may say."""
    texts = tuple(given.get(name) or ())
    for at, text in enumerate(texts):
        if len(text) > LONGEST_ITEM:
            message = f"{name}[{at}] has {len(text)} characters, and the most is {LONGEST_ITEM}: shorten it."
            raise Fault("validation", message)
    return texts


async def _go_deeper(
    context: Context, drawer: Collection, taken: Taken, told: StepReport, depth: str
) -> dict[str, Any]:
    session = taken.trail.session
    described = coverage.describe_coverage(session.sources)
    queries = coverage.suggest_queries(session.goal, session.open_gaps, described)
    shown: dict[str, Any] = {"depth": depth, "coverage": described, "refinementQueries": queries}
    if depth != "thorough":
        return shown
    results: list[dict[str, Any]] = []
    chosen = queries[: coverage.RUN_QUERIES]
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            for number, query in enumerate(chosen):
                context.tell(number, len(chosen), f"searching: {query}")
                results.append(await _run(context, drawer, session.id, query, told.step.number))
    results += [{"query": query, "error": OVERDUE} for query in chosen[len(results) :]]
    context.tell(len(chosen), len(chosen), "searched")
    shown["refinementResults"] = results
    if len(queries) > len(chosen):
        shown["refinementNote"] = f"{len(chosen)} of {len(queries)} suggested queries were run; the rest is yours."
    without = sum(not one.get("resultCount") for one in results)
    if without:
        shown["refinementWarning"] = f"{without} of {len(chosen)} queries found nothing or failed."
    return shown


async def _run(context: Context, drawer: Collection, session: str, query: str, step: int) -> dict[str, Any]:
    """What one question finds, asked of one provider after the other; how each of them fared goes to the session."""
    asked = await search(context, query, coverage.RUN_RESULTS, context.offering(SEARCH))
    outcomes = [
        CallOutcome(one.provider, KINDS[one.fault.kind].wire if one.fault else "", step=step, at=context.now())
        for one in asked
        if one.provider
    ]
    await store.note_outcomes(drawer, session, outcomes)
    try:
        rows = find_answer(asked).rows
    except Fault as fault:
        return {"query": query, "error": fault.message}
    await store.note_rows(drawer, session, SEARCH, rows, step)
    results = [{name: str(row.get(name) or "") for name in ("title", "url", "snippet")} for row in rows]
    return {"query": query, "resultCount": len(results), "results": results}


async def recover(context: Context, session: str, number: int) -> dict[str, Any]:
    """A session as it is taken up again, or its step of that number."""
    trail = await store.find(context.state("sessions"), session)
    if not number:
        return views.show_recovery(trail.session, trail.steps)
    shown = views.show_one_step(trail.session, trail.steps, number)
    if shown is None:
        raise Fault("not_found", f"This session has no step {number}. {_range(trail)}")
    return shown


def _range(trail: Trail) -> str:
    numbers = sorted({step.number for step in trail.steps})
    return f"Its steps go from {numbers[0]} to {numbers[-1]}." if numbers else "It has no steps."


async def list_sources(context: Context, session: str) -> list[dict[str, str]]:
    """The sources of a session with what is known of each."""
    trail = await store.find(context.state("sessions"), session)
    found = []
    for source in trail.session.sources:
        known = {"author": source.author, "site": source.site, "date": source.date, "doi": source.doi}
        found.append({"url": source.url, "title": source.title} | {key: text for key, text in known.items() if text})
    return found
