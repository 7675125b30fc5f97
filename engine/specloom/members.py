"""Who belongs to a workspace. The host decides, by the command line or its own code; tools only ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .dates import from_epoch
from .drawer import is_anonymous, split_owner
from .faults import Fault

if TYPE_CHECKING:
    from .drawer import Drawer

LONGEST_SPACE = 200
MOST_LISTED = 10_000
_MEMBER = "member"


def check_space(space: str) -> str:
    """The name of a workspace, or a `validation` fault."""
    if not space.strip() or len(space) > LONGEST_SPACE:
        raise Fault("validation", f"workspace_id has to be a name of 1 to {LONGEST_SPACE} characters.")
    return space.strip()


def member_key(owner: str) -> str:
    """Under which key a member's entry lies in a workspace."""
    return f"{_MEMBER}:{owner}"


async def is_member(members: Drawer, owner: str) -> bool:
    """Whether the owner belongs to the workspace that the drawer shows."""
    return await members.get(member_key(owner)) is not None


async def add_member(members: Drawer, owner: str, now: float) -> None:
    """Let an owner in; the drawer is the new member's own view of the workspace."""
    if is_anonymous(owner):
        raise Fault("validation", "A member needs a name: name the user.")
    if not await is_member(members, owner):
        await members.put(member_key(owner), {"owner": owner, "since": from_epoch(now) or ""})


async def remove_member(members: Drawer, owner: str) -> bool:
    """Let nobody of that name in any more; whether they were a member. The drawer is their own view."""
    return await members.delete(member_key(owner))


async def list_members(members: Drawer) -> list[dict[str, Any]]:
    """Who belongs to the workspace that the drawer shows, with since when, the newest first."""
    items = await members.items(limit=MOST_LISTED)
    named = [(*split_owner(item.value["owner"]), item.value["since"]) for item in items]
    return [{"tenantId": tenant, "userId": user, "since": since} for tenant, user, since in named]
