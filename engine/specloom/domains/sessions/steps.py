"""Steps and sessions in a call: a step is told, coverage is described, questions are run, a session is recovered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from specloom.core import KINDS, Fault, all_failed, canonical_url, from_epoch
from specloom.plugins import Context, procedure, split_owner
from specloom.plugins.records import record

from . import store, views
from .queries import suggest_queries
from .session import (
    CallOutcome,
    OpenGap,
    ResearchSession,
    SitedSource,
    StepReport,
    find_unsettled,
    narrow,
    settle,
)
from .sources import RUN_QUERIES, RUN_RESULTS, describe_coverage
from .store import SESSIONS

SEARCH = "web"
"""The capability that questions are put to, and what kind of sources it finds."""
AUTO = "auto"
"""The mode of an answer that fits the length of its session."""
SECONDS = 40.0
"""Time for all suggested questions, within that of the call: their step is kept by then, and its answer has to come."""
LONGEST_ITEM = 4000
"""Characters of one text in a list of a step, as many as of what it did: the newest steps are told whole each time."""
OVERDUE = "The providers took too long to answer this."


@record
class StepOfSession:
    """A session, or one of its steps."""

    session_id: str
    step_id: int = 0


@record
class SessionPage(StepOfSession):
    """A session with a page of its sources, or one of its steps."""

    offset: int = 0
    """The newest sources that are passed over."""
    limit: int = views.NEWEST
    max_tokens: int | None = None
    """Tokens of the answer, as far as its sources go; those that have no room are on the next page."""


@record
class FoundSources:
    """What a session has found."""

    sources: Sequence[SitedSource]


@procedure("take_step", asks=(SEARCH,), keeps=(SESSIONS,))
async def tell_step(context: Context, told: StepReport) -> views.SessionProgress:
    """Keeps one step of a research, and begins a session with the first.

    With `depth` standard or thorough it tells how widely the session has looked and what could be asked next;
    thorough also asks the first of these questions and keeps what they find.
    """
    _check_lists(told)
    collection, session, now, warnings = context.state("sessions"), told.session_id or "", context.now(), list[str]()
    if told.step_number == 1 and not (told.is_revision and session):
        if session:
            warnings.append(f"Step 1 opened a new session; {session[:100]!r} is left as it was.")
        tenant = split_owner(context.owner)[0]
        trail = await store.begin(collection, told, new_id=context.new_id(), now=now, tenant=tenant)
    else:
        trail = await store.proceed(collection, session, told, now=now)
    warnings, is_full = [*warnings, *trail.warnings], trail.is_full
    deeper = None if told.depth in (None, "quick") or is_full else await _go_deeper(context, trail.session, told)
    if deeper is not None and deeper.refinement_results is not None:
        # Questions that were run have found sources, which belong to what is shown.
        trail = await store.find(collection, trail.session.id)
    mode = "" if told.response_mode == AUTO else told.response_mode or ""
    shown = views.show_progress(
        trail.session,
        trail.steps,
        number=told.step_number,
        mode=mode,
        warnings=warnings,
        elsewhere=told.elsewhere or "",
    )
    return replace(shown, deeper=deeper, is_complete=shown.is_complete or is_full)


def _check_lists(told: StepReport) -> None:
    """A `validation` fault where a text of a list is longer than what else a step may say."""
    for name, texts in (("rejectedApproaches", told.rejected_approaches), ("resolvedGaps", told.resolved_gaps)):
        for at, text in enumerate(texts or ()):
            if len(text) > LONGEST_ITEM:
                message = f"{name}[{at}] has {len(text)} characters, and the most is {LONGEST_ITEM}: shorten it."
                raise Fault("validation", message, argument=f"{name}[{at}]")


async def _go_deeper(context: Context, session: ResearchSession, told: StepReport) -> views.DeeperLook:
    coverage = describe_coverage(session.sources)
    queries = suggest_queries(session.goal, session.open_gaps, coverage)
    shown = views.DeeperLook(depth=told.depth or "", coverage=coverage, refinement_queries=queries)
    if told.depth != "thorough":
        return shown
    results: list[views.Refinement] = []
    chosen = queries[:RUN_QUERIES]
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            for number, query in enumerate(chosen):
                context.tell(number, len(chosen), f"searching: {query}")
                results.append(await _run(context, session.id, query, told.step_number))
    results += [views.Refinement(query=query, error=OVERDUE) for query in chosen[len(results) :]]
    context.tell(len(chosen), len(chosen), "searched")
    note = f"{len(chosen)} of {len(queries)} suggested queries were run; the rest is yours."
    without = sum(not result.result_count for result in results)
    warning = f"{without} of {len(chosen)} queries found nothing or failed."
    return replace(
        shown,
        refinement_results=results,
        refinement_note=note if len(queries) > len(chosen) else None,
        refinement_warning=warning if without else None,
    )


async def _run(context: Context, session: str, query: str, step: int) -> views.Refinement:
    """What one question finds, asked of one provider after the other; how each of them fared goes to the session."""
    outcomes: list[CallOutcome] = []
    failures: list[Fault] = []
    pages: dict[str, dict[str, Any]] = {}
    # Where nobody can be asked, asking nobody in particular says why.
    for provider in context.offering(SEARCH) or ("",):
        outcome = CallOutcome(provider=provider, step=step, timestamp=from_epoch(context.now()))
        try:
            answer = await context.ask(SEARCH, {"query": query, "num_results": RUN_RESULTS}, provider=provider)
        except Fault as fault:
            failures.append(fault)
            outcome = replace(outcome, success=False, error=KINDS[fault.kind].wire)
        else:
            for row in answer.rows:
                pages.setdefault(canonical_url(str(row.get("url") or "")), row)
            if pages:
                for failed in failures:
                    context.lack(SEARCH, failed, instead=provider)
        outcomes += [outcome] if provider else []
        if pages:
            break
    rows = list(pages.values())[:RUN_RESULTS]
    await store.note(context.state("sessions"), session, SEARCH, rows, step, outcomes=outcomes)
    if failures and len(failures) >= len(outcomes):
        return views.Refinement(query=query, error=all_failed(failures).message)
    names = ("title", "url", "snippet")
    results = [views.FoundPage(**{name: str(row.get(name) or "") for name in names}) for row in rows]
    return views.Refinement(query=query, result_count=len(results), results=results)


@procedure("recover_session", keeps=(SESSIONS,))
async def recover(context: Context, wanted: SessionPage) -> views.SessionRecovery:
    """Tells everything that is needed to go on with a session, or one of its steps whole, or more of its sources."""
    trail = await store.find(context.state("sessions"), wanted.session_id)
    if not wanted.step_id:
        return views.show_recovery(trail.session, trail.steps, wanted.offset, wanted.limit, wanted.max_tokens or 0)
    shown = views.show_one_step(trail.session, trail.steps, wanted.step_id)
    if shown is None:
        numbers = sorted(step.number for step in trail.steps)
        told = f"Its steps go from {numbers[0]} to {numbers[-1]}." if numbers else "It has no steps."
        raise Fault("not_found", f"This session has no step {wanted.step_id}. {told}")
    return shown


@record
class SessionChange:
    """What is to be changed of a session; what is None stays."""

    session_id: str
    goal: str | None = None
    complete: bool | None = None
    resolved_gaps: list[str] | None = None


@record
class ChangedSession:
    """A session after a change; `status` is `not_found` where there is none of this user."""

    status: str
    session_id: str
    goal: str | None = None
    is_complete: bool | None = None
    completed_at: str | None = None
    open_gaps: Sequence[OpenGap] | None = None
    """Where questions were to be settled, those that are open still."""
    warning: str | None = None


@procedure("change_session", keeps=(SESSIONS,))
async def change_session(context: Context, wanted: SessionChange) -> ChangedSession:
    """Gives a session of the caller another goal, closes or opens it, and settles open questions.

    Questions are named in their words or nearly so, and are settled in the step that was told last. A session that is
    closed already keeps the time at which it was.
    """
    warnings: list[str] = []

    def change(session: ResearchSession) -> ResearchSession:
        completed = {None: session.completed, False: 0.0, True: session.completed or context.now()}[wanted.complete]
        warnings[:] = find_unsettled(session, wanted.resolved_gaps or ())
        gaps = settle(session.gaps, wanted.resolved_gaps or (), session.last_step or session.steps or 1)
        return replace(session, goal=wanted.goal or session.goal, completed=completed, gaps=gaps)

    session = await store.change(context.state("sessions"), wanted.session_id, change)
    if session is None:
        return ChangedSession(status="not_found", session_id=wanted.session_id)
    return ChangedSession(
        status="ok",
        session_id=wanted.session_id,
        goal=session.goal,
        is_complete=bool(session.completed),
        completed_at=from_epoch(session.completed) if session.completed else None,
        open_gaps=[narrow(OpenGap, gap) for gap in session.open_gaps] if wanted.resolved_gaps else None,
        warning=" ".join(warnings) or None,
    )


@procedure("session_sources", keeps=(SESSIONS,))
async def list_sources(context: Context, wanted: StepOfSession) -> FoundSources:
    """Lists what a session of the caller has found: address, title, author, journal or site, date and DOI."""
    trail = await store.find(context.state("sessions"), wanted.session_id)
    return FoundSources(
        sources=[replace(one, kind=None, found_in=None, found_again_in=None) for one in trail.session.sources]
    )
