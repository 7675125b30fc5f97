"""Who has agreed to what being kept. Nothing personal is kept or shown without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specloom.core import Fault, from_epoch
from specloom.plugins import PURPOSES, find_decision, is_anonymous, is_member, member_key, split_owner

if TYPE_CHECKING:
    from specloom.plugins import Collection


GRANTED_LOCALLY = ("memory", "analytics", "monitoring")
"""Purposes that the single local user of a server without sign-in has agreed to by naming themself."""
LONGEST_TERMS = 100
ERASURE = "erasure"
"""Through what a decision was made that stands for a person whose data was erased."""


async def decide(
    drawer: Collection, owner: str, purpose: str, *, granted: bool, now: float, terms: str = "", where: str = ""
) -> dict[str, Any]:
    """Record a decision, which replaces the one before it; the record. `where` says through what it was made."""
    if purpose not in PURPOSES:
        raise Fault("validation", f"There is no purpose {purpose!r}: use one of {', '.join(PURPOSES)}.")
    if is_anonymous(owner):
        raise Fault("validation", "A decision needs somebody who made it: name the user.")
    tenant, user = split_owner(owner)
    record = {
        "tenantId": tenant,
        "userId": user,
        "purpose": purpose,
        "granted": granted,
        "termsVersion": terms[:LONGEST_TERMS],
        "decidedAt": from_epoch(now) or "",
        "decidedFrom": where,
    }
    record = {name: value for name, value in record.items() if value != ""}
    await drawer.put(purpose, record)
    return record


def to_refusals(now: float) -> dict[str, dict[str, Any]]:
    """What takes the place of the decisions of somebody who is erased: every purpose refused, and no name with it."""
    decided = from_epoch(now) or ""
    refusal = {"granted": False, "decidedAt": decided, "decidedFrom": ERASURE}
    return {purpose: {"purpose": purpose, **refusal} for purpose in PURPOSES}


async def grant_locally(drawer: Collection, owner: str, now: float) -> list[str]:
    """Record the local user's consent where there is no decision yet; a withdrawal stays. The purposes recorded."""
    granted = []
    for purpose in GRANTED_LOCALLY:
        if await find_decision(drawer, purpose) is None:
            await decide(drawer, owner, purpose, granted=True, now=now, where="local user")
            granted.append(purpose)
    return granted


# --- Who belongs to a workspace. The host decides, by the command line or its own code; tools only ask ----------------


LONGEST_SPACE = 200
MOST_LISTED = 10_000


def check_space(space: str) -> str:
    """The name of a workspace, or a `validation` fault."""
    if not space.strip() or len(space) > LONGEST_SPACE:
        raise Fault("validation", f"workspace_id has to be a name of 1 to {LONGEST_SPACE} characters.")
    return space.strip()


async def add_member(members: Collection, owner: str, now: float) -> None:
    """Let an owner in; the drawer is the new member's own view of the workspace."""
    if is_anonymous(owner):
        raise Fault("validation", "A member needs a name: name the user.")
    if not await is_member(members, owner):
        await members.put(member_key(owner), {"owner": owner, "since": from_epoch(now) or ""})


async def remove_member(members: Collection, owner: str) -> bool:
    """Let nobody of that name in any more; whether they were a member. The drawer is their own view."""
    return await members.delete(member_key(owner))


async def list_members(members: Collection) -> list[dict[str, Any]]:
    """Who belongs to the workspace that the drawer shows, with since when, the newest first."""
    items = await members.items(limit=MOST_LISTED)
    named = [(*split_owner(item.value["owner"]), item.value["since"]) for item in items]
    return [{"tenantId": tenant, "userId": user, "since": since} for tenant, user, since in named]
