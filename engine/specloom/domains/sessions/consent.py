"""What is kept of people, at a context: nothing without somebody who is named and has agreed, and each refusal told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.plugins import split_owner
from specloom.storage import REASONS, check_space, find_refusal, is_member

from . import memories
from . import memories as findings
from . import memories as usage
from . import memories as watches
from .coverage import SEARCH, find_answer, search

if TYPE_CHECKING:
    from specloom.plugins import Context


NOT_MEMBER = (
    "This user is not a member of that workspace. The host application manages who is; "
    "on a local server, `specloom data members` does."
)
LIMIT_REACHED = "There are {} watched queries already; they end when their days are over."
NOT_WATCHED = "This query is not watched with this provider, or its days are over: save it first."
OTHER_ASKED = "{0} was asked when this was saved and gave no answer now; {1} was, so what only {1} finds counts as new."
RESULTS = 10
"""Results that a watched question is compared by; the contract's number."""


async def _refused(context: Context, purpose: str) -> dict[str, Any] | None:
    refusal = await find_refusal(context.state("consents"), context.owner, purpose)
    return None if refusal is None else {"status": refusal, "reason": REASONS[refusal]}


async def save_memory(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a note of the calling user."""
    if refused := await _refused(context, "memory"):
        return refused
    tenant, user = split_owner(context.owner)
    note = memories.make_note(
        note=given["note"],
        topic=given.get("topic") or "",
        url=given.get("url") or "",
        tags=given.get("tags") or (),
        tenantId=tenant,
        userId=user,
    )
    saved = await memories.save(context.state("memories"), note, new_id=context.new_id(), now=context.now())
    return {"status": "ok", **saved}


async def recall_memories(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Notes of the calling user."""
    if refused := await _refused(context, "memory"):
        return {**refused, "count": 0, "memories": []}
    found = await memories.recall(
        context.state("memories"),
        topic=given.get("topic") or "",
        query=given.get("query") or "",
        limit=given.get("limit") or memories.DEFAULT_LIMIT,
    )
    return {"status": "ok", "count": len(found), "memories": found}


async def _kept_out(context: Context, space: str) -> dict[str, Any] | None:
    if refused := await _refused(context, "workspace"):
        return refused
    if not await is_member(context.state("members", space=space), context.owner):
        return {"status": "not_member", "reason": NOT_MEMBER}
    return None


async def share_finding(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Put a finding into a space that the caller is a member of."""
    space = check_space(given["workspace_id"])
    if refused := await _kept_out(context, space):
        return refused
    tenant, user = split_owner(context.owner)
    kept = await findings.contribute(
        context.state("findings", space=space),
        space=space,
        tenant=tenant,
        user=user,
        new_id=context.new_id(),
        now=context.now(),
        note=given["note"],
        url=given.get("url") or "",
        tags=tuple(given.get("tags") or ()),
    )
    return {"status": "ok", "id": kept}


async def read_findings(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """The findings of a space that the caller is a member of; a member is looked up anew each time."""
    space = check_space(given["workspace_id"])
    if refused := await _kept_out(context, space):
        return {**refused, "count": 0, "contributions": []}
    found = await findings.read(context.state("findings", space=space))
    return {"status": "ok", "count": len(found), "contributions": found}


async def tell_usage(context: Context) -> dict[str, Any]:
    """What was counted for the calling user."""
    if refused := await _refused(context, "analytics"):
        return refused
    counted = await usage.read_usage(context.state("usage"), *split_owner(context.owner))
    return {"status": "empty"} if counted is None else {"status": "ok", "analytics": counted}


async def save_watch(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Watch a question from what it finds now."""
    if refused := await _refused(context, "monitoring"):
        return refused
    query, provider = given["query"], given.get("provider") or ""
    order = (provider,) if provider else context.offering(SEARCH)
    found = find_answer(await search(context, query, RESULTS, order))
    drawer = context.state("watches")
    saved = await watches.save_watch(
        drawer,
        query=query,
        provider=provider,
        asked=found.provider,
        urls=[row["url"] for row in found.rows if isinstance(row.get("url"), str)],
        # The contract reads 0 as the default.
        days=given.get("ttl_days") or watches.DEFAULT_DAYS,
        now=context.now(),
    )
    if saved is None:
        return {"status": "limit_reached", "reason": LIMIT_REACHED.format(drawer.spec.max_items)}
    return {"status": "ok", **saved}


async def check_watch(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a watched question finds that it did not find before."""
    nothing: dict[str, Any] = {"new_count": 0, "rows": []}
    if refused := await _refused(context, "monitoring"):
        return {**refused, **nothing}
    query, provider, drawer = given["query"], given.get("provider") or "", context.state("watches")
    # Nobody is asked about a question that is not watched.
    watch = await watches.find(drawer, query, provider, context.now())
    if watch is None:
        return {"status": "not_found", "reason": NOT_WATCHED, **nothing}
    # Indexes differ, so only who was asked before can tell what is new since then; others do where it does not answer.
    before = watch.get("asked", "")
    order = (provider,) if provider else sorted(context.offering(SEARCH), key=lambda name: name != before)
    answer = find_answer(await search(context, query, RESULTS, order, empty_counts=True))
    found = await watches.check(drawer, query=query, provider=provider, rows=answer.rows, now=context.now())
    if found is None:
        return {"status": "not_found", "reason": NOT_WATCHED, **nothing}
    fresh = {"new_count": found["newCount"], "rows": found["newResults"], "last_run_at": found["lastRunAt"]}
    if before and answer.provider != before and found["newCount"]:
        fresh["reason"] = OTHER_ASKED.format(before, answer.provider)
    return {"status": "ok", **fresh}


# --- The switches of what is kept with consent only: off until an operator turns them on ------------------------------


def _switch(name: str, description: str) -> dict[str, dict[str, Any]]:
    return {name: {"type": "boolean", "default": False, "description": description}}


MEMORY = _switch("MEMORY_ENABLED", "Whether users who agreed can save findings and recall them in later sessions.")
WORKSPACES = _switch("WORKSPACES_ENABLED", "Whether members of a workspace who agreed can share findings.")
USAGE_COUNTS = _switch(
    "USER_ANALYTICS_ENABLED", "Whether calls of users who agreed are counted, for themselves to see."
)
MONITORING = _switch("MONITORING_ENABLED", "Whether users who agreed can watch what is new on a question.")
