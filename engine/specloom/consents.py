"""Who has agreed to what being kept. Nothing personal is kept or shown without it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from .dates import from_epoch
from .drawer import is_anonymous, split_owner
from .faults import Fault

if TYPE_CHECKING:
    from .drawer import Drawer

PURPOSES = ("memory", "analytics", "workspace", "monitoring")
"""What consent is given for; the contract's words."""
GRANTED_LOCALLY = ("memory", "analytics", "monitoring")
"""Purposes that the single local user of a server without sign-in has agreed to by naming themself."""
LONGEST_TERMS = 100
ERASURE = "erasure"
"""Through what a decision was made that stands for a person whose data was erased."""

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


async def decide(
    drawer: Drawer, owner: str, purpose: str, *, granted: bool, now: float, terms: str = "", where: str = ""
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
    said = {"granted": False, "decidedAt": decided, "decidedFrom": ERASURE}
    return {purpose: {"purpose": purpose, **said} for purpose in PURPOSES}


async def find_decision(drawer: Drawer, purpose: str) -> dict[str, Any] | None:
    """The latest decision about a purpose, or None when there was none."""
    item = await drawer.get(purpose)
    return None if item is None else item.value


async def find_refusal(drawer: Drawer, owner: str, purpose: str) -> Refusal | None:
    """Why nothing may be kept for this owner and purpose, or None when it may."""
    if is_anonymous(owner):
        return "unavailable"
    decision = await find_decision(drawer, purpose)
    return None if decision and decision["granted"] else "no_consent"


async def grant_locally(drawer: Drawer, owner: str, now: float) -> list[str]:
    """Record the local user's consent where there is no decision yet; a withdrawal stays. The purposes recorded."""
    granted = []
    for purpose in GRANTED_LOCALLY:
        if await find_decision(drawer, purpose) is None:
            await decide(drawer, owner, purpose, granted=True, now=now, where="local user")
            granted.append(purpose)
    return granted
