"""Findings that members of a shared space give each other: copies with their origin, changed by nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..dates import from_epoch
from ..faults import Fault
from .memories import make_note

if TYPE_CHECKING:
    from ..drawer import Drawer

TRUST = "untrusted-external-content"
LONGEST_SPACE = 200
MOST_READ = 5000
_MEMBER = "member"


def check_space(space: str) -> str:
    """The name of a space, or a `validation` fault."""
    if not space.strip() or len(space) > LONGEST_SPACE:
        raise Fault("validation", f"workspace_id has to be a name of 1 to {LONGEST_SPACE} characters.")
    return space.strip()


def member_key(owner: str) -> str:
    """Under which key a member's entry lies in a space."""
    return f"{_MEMBER}:{owner}"


async def is_member(members: Drawer, owner: str) -> bool:
    """Whether the owner belongs to the space that the drawer shows."""
    return await members.get(member_key(owner)) is not None


async def add_member(members: Drawer, owner: str, now: float) -> None:
    """Let an owner in; the drawer is the new member's own view of the space."""
    await members.put(member_key(owner), {"owner": owner, "since": from_epoch(now) or ""})


async def remove_member(members: Drawer, owner: str) -> bool:
    """Let nobody of that name in any more; whether they were a member. The drawer is their own view of the space."""
    return await members.delete(member_key(owner))


async def contribute(
    findings: Drawer,
    *,
    space: str,
    tenant: str,
    user: str,
    new_id: str,
    now: float,
    note: str,
    url: str = "",
    tags: tuple[str, ...] = (),
) -> str:
    """Put a finding into a space, with where it came from; its id."""
    kept = make_note(
        note=note,
        url=url,
        tags=tags,
        id=new_id,
        workspaceId=space,
        contributorTenant=tenant,
        contributorUser=user,
        createdAt=from_epoch(now) or "",
    )
    await findings.put(new_id, kept, expect=0)
    return new_id


async def read(findings: Drawer, limit: int = MOST_READ) -> list[dict[str, Any]]:
    """The findings of a space, newest first."""
    return [item.value for item in await findings.items(limit=limit)]
