"""A session handed out as a document, with its links looked at where that is asked for."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..drawer import split_owner
from .export import NO_LINKS, LinkState, export_answer
from .sessions import find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..desk import Desk
    from .trail import Source

SECONDS = 90.0
"""Time for all addresses, within that of the call; those that were not looked at by then are left open."""
TOGETHER = 16
"""Addresses after which it is told how far this has come."""


async def export(desk: Desk, session: str, form: str, verify_links: bool) -> dict[str, Any]:
    """The document of a session, with what it is a document of."""
    trail = await find(desk.state("sessions"), session)
    links = await _look_at(desk, trail.session.sources) if verify_links else NO_LINKS
    return export_answer(trail, form, now=desk.now(), tenant=split_owner(desk.owner)[0], links=links)


async def _look_at(desk: Desk, sources: tuple[Source, ...]) -> Mapping[str, LinkState]:
    """What became of the addresses; what cannot be told of one is left open and fails nothing."""
    from ..trust.liveness import check_links

    states: dict[str, LinkState] = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            for at in range(0, len(sources), TOGETHER):
                desk.tell(at, len(sources), f"{at} of {len(sources)} addresses looked at")
                some = sources[at : at + TOGETHER]
                looked = await check_links(desk, [one.url for one in some], dates=[one.date for one in some])
                states |= {one.url: LinkState(one.live, one.status, one.archived, desk.now()) for one in looked}
    desk.tell(len(sources), len(sources), f"{len(states)} of {len(sources)} addresses looked at")
    return states
