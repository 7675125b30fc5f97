"""Findings that members of a shared space give each other: copies with their origin, changed by nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..dates import from_epoch
from .memories import make_note

if TYPE_CHECKING:
    from ..drawer import Drawer

TRUST = "untrusted-external-content"
MOST_READ = 5000


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
