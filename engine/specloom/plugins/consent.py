"""Consent: who has agreed to what being kept, and who belongs to a space; asked before anything of theirs is read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from .collections import Collection, is_anonymous

Refusal = Literal["unavailable", "no_consent"]
REASONS: Mapping[Refusal, str] = MappingProxyType(
    {
        "unavailable": (
            "This is kept for signed-in users only, and nobody is signed in; "
            "on a local server, STDIO_USER_ID names the user."
        ),
        "no_consent": (
            "The user has not agreed to this being kept. The host application records their consent; "
            "on a local server, `specloom data consent` does."
        ),
    }
)
NOT_MEMBER = (
    "This user is not a member of that workspace. The host application manages who is; "
    "on a local server, `specloom data members` does."
)
_MEMBER = "member"


async def find_decision(drawer: Collection, purpose: str) -> dict[str, Any] | None:
    """The latest decision about a purpose, or None when there was none."""
    item = await drawer.get(purpose)
    return None if item is None else item.value


async def find_refusal(drawer: Collection, owner: str, purpose: str) -> Refusal | None:
    """Why nothing may be kept for this owner and purpose, or None when it may."""
    if is_anonymous(owner):
        return "unavailable"
    decision = await find_decision(drawer, purpose)
    return None if decision and decision["granted"] else "no_consent"


def member_key(owner: str) -> str:
    """Under which key a member's entry lies in a workspace."""
    return f"{_MEMBER}:{owner}"


async def is_member(members: Collection, owner: str) -> bool:
    """Whether the owner belongs to the workspace that the drawer shows."""
    return await members.get(member_key(owner)) is not None
