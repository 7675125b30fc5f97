"""A session handed out as a document, with its links looked at where that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..drawer import split_owner
from .export import NO_LINKS, LinkState, export_answer
from .sessions import find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..desk import Desk
    from .trail import Source

FORMATS = ("markdown", "json")


async def export(desk: Desk, session: str, form: str, verify_links: bool) -> dict[str, Any]:
    """The document of a session, with what it is a document of."""
    trail = await find(desk.state("sessions"), session)
    links = await _look_at(desk, trail.session.sources) if verify_links else NO_LINKS
    return export_answer(trail, form, now=desk.now(), tenant=split_owner(desk.owner)[0], links=links)


async def _look_at(desk: Desk, sources: tuple[Source, ...]) -> Mapping[str, LinkState]:
    """What became of the addresses; what cannot be told of one is left open and fails nothing."""
    from ..trust.liveness import check_links

    urls = [source.url for source in sources]
    desk.tell(0, 1, f"looking at {len(urls)} addresses")
    looked = await check_links(desk, urls, dates=[source.date for source in sources])
    now = desk.now()
    return {one.url: LinkState(one.live, one.status, one.archived, now) for one in looked}
