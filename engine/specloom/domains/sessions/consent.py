"""What is kept of people, at a desk: nothing without somebody who is named and has agreed, and each refusal told."""

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


async def _refused(desk: Context, purpose: str) -> dict[str, Any] | None:
    refusal = await find_refusal(desk.state("consents"), desk.owner, purpose)
    return None if refusal is None else {"status": refusal, "reason": REASONS[refusal]}


async def save_memory(desk: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a note of the calling user."""
    if refused := await _refused(desk, "memory"):
        return refused
    tenant, user = split_owner(desk.owner)
    note = memories.make_note(
        note=given["note"],
        topic=given.get("topic") or "",
        url=given.get("url") or "",
        tags=given.get("tags") or (),
        tenantId=tenant,
        userId=user,
    )
    saved = await memories.save(desk.state("memories"), note, new_id=desk.new_id(), now=desk.now())
    return {"status": "ok", **saved}


async def recall_memories(desk: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Notes of the calling user."""
    if refused := await _refused(desk, "memory"):
        return {**refused, "count": 0, "memories": []}
    found = await memories.recall(
        desk.state("memories"),
        topic=given.get("topic") or "",
        query=given.get("query") or "",
        limit=given.get("limit") or memories.DEFAULT_LIMIT,
    )
    return {"status": "ok", "count": len(found), "memories": found}


async def _kept_out(desk: Context, space: str) -> dict[str, Any] | None:
    if refused := await _refused(desk, "workspace"):
        return refused
    if not await is_member(desk.state("members", space=space), desk.owner):
        return {"status": "not_member", "reason": NOT_MEMBER}
    return None


async def share_finding(desk: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Put a finding into a space that the caller is a member of."""
    space = check_space(given["workspace_id"])
    if refused := await _kept_out(desk, space):
        return refused
    tenant, user = split_owner(desk.owner)
    kept = await findings.contribute(
        desk.state("findings", space=space),
        space=space,
        tenant=tenant,
        user=user,
        new_id=desk.new_id(),
        now=desk.now(),
        note=given["note"],
        url=given.get("url") or "",
        tags=tuple(given.get("tags") or ()),
    )
    return {"status": "ok", "id": kept}


async def read_findings(desk: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """The findings of a space that the caller is a member of; a member is looked up anew each time."""
    space = check_space(given["workspace_id"])
    if refused := await _kept_out(desk, space):
        return {**refused, "count": 0, "contributions": []}
    found = await findings.read(desk.state("findings", space=space))
    return {"status": "ok", "count": len(found), "contributions": found}


async def tell_usage(desk: Context) -> dict[str, Any]:
    """What was counted for the calling user."""
    if refused := await _refused(desk, "analytics"):
        return refused
    counted = await usage.read_usage(desk.state("usage"), *split_owner(desk.owner))
    return {"status": "empty"} if counted is None else {"status": "ok", "analytics": counted}


async def save_watch(desk: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Watch a question from what it finds now."""
    if refused := await _refused(desk, "monitoring"):
        return refused
    query, provider = given["query"], given.get("provider") or ""
    order = (provider,) if provider else desk.offering(SEARCH)
    found = find_answer(await search(desk, query, RESULTS, order))
    drawer = desk.state("watches")
    saved = await watches.save_watch(
        drawer,
        query=query,
        provider=provider,
        asked=found.provider,
        urls=[row["url"] for row in found.rows if isinstance(row.get("url"), str)],
        # The contract reads 0 as the default.
        days=given.get("ttl_days") or watches.DEFAULT_DAYS,
        now=desk.now(),
    )
    if saved is None:
        return {"status": "limit_reached", "reason": LIMIT_REACHED.format(drawer.spec.max_items)}
    return {"status": "ok", **saved}


async def check_watch(desk: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a watched question finds that it did not find before."""
    nothing: dict[str, Any] = {"new_count": 0, "rows": []}
    if refused := await _refused(desk, "monitoring"):
        return {**refused, **nothing}
    query, provider, drawer = given["query"], given.get("provider") or "", desk.state("watches")
    # Nobody is asked about a question that is not watched.
    watch = await watches.find(drawer, query, provider, desk.now())
    if watch is None:
        return {"status": "not_found", "reason": NOT_WATCHED, **nothing}
    # Indexes differ, so only who was asked before can tell what is new since then; others do where it does not answer.
    before = watch.get("asked", "")
    order = (provider,) if provider else sorted(desk.offering(SEARCH), key=lambda name: name != before)
    answer = find_answer(await search(desk, query, RESULTS, order, empty_counts=True))
    found = await watches.check(drawer, query=query, provider=provider, rows=answer.rows, now=desk.now())
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
