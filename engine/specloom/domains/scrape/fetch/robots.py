"""robots.txt for operators who want it obeyed (RFC 9309): read once an hour for each site."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, Policy, Request

from .failures import ROBOTS
from .http import load_persona
from .politeness import Politeness

if TYPE_CHECKING:
    from specloom.net import ParsedUrl
    from specloom.plugins import Context

    from ..options import Options

AGENT = "specloom"
"""The name that rules are looked up under."""
LIFETIME = 3600.0
"""Seconds for which a file is believed; RFC 9309 allows a day."""
MOST_BYTES = 512 * 1024
"""RFC 9309 asks for 500 KiB or more."""
MOST_SITES = 1000
LONGEST_DELAY = 30.0
"""Seconds between two requests that a site may ask for."""


@dataclass(frozen=True, slots=True)
class _SiteRules:
    parsed: Any
    """A parsed file, or None where everything is allowed."""
    closed: bool
    until: float


class Robots:
    """Remembers the rules of sites; several readings that need the same file share one request."""

    def __init__(self) -> None:
        self._sites: OrderedDict[str, _SiteRules] = OrderedDict()
        self._asking: dict[str, asyncio.Task[_SiteRules]] = {}

    async def allow(
        self, target: ParsedUrl, *, context: Context, options: Options, politeness: Politeness
    ) -> float | None:
        """The seconds to keep between two requests, or nothing where the site does not say; `blocked` if closed.

        A site without the file is open; one whose server fails, so that it cannot be told, is closed (RFC 9309 §2.3.1).
        """
        rules = await self._find(target, context, options, politeness)
        if rules.closed:
            message = f"{target.host} gives no readable robots.txt at the moment, so its pages are left alone"
            raise Fault("blocked", message, detail=ROBOTS)
        if rules.parsed is None:
            return None
        if not rules.parsed.can_fetch(str(target), AGENT):
            message = f"the robots.txt of {target.host} closes this page to robots"
            raise Fault("blocked", message, detail=ROBOTS)
        delay = rules.parsed.crawl_delay(AGENT)
        return None if delay is None else min(float(delay), LONGEST_DELAY)

    async def _find(self, target: ParsedUrl, context: Context, options: Options, politeness: Politeness) -> _SiteRules:
        site = f"{target.scheme}://{target.authority}"
        rules = self._sites.get(site)
        if rules is not None and rules.until > context.now():
            return rules
        task = self._asking.get(site)
        if task is None:
            task = asyncio.create_task(_ask(site, target.host, context, options, politeness))
            self._asking[site] = task
            task.add_done_callback(lambda _: self._asking.pop(site, None))
        # One reading that is given up does not take the file away from the others.
        rules = await asyncio.shield(task)
        self._sites[site] = rules
        self._sites.move_to_end(site)
        if len(self._sites) > MOST_SITES:
            self._sites.popitem(last=False)
        return rules


async def _ask(site: str, host: str, context: Context, options: Options, politeness: Politeness) -> _SiteRules:
    from protego import Protego

    policy = Policy(timeout=10.0, max_bytes=MOST_BYTES, redirects=5, any_host=True, allow_private=options.allow_private)
    headers = (("User-Agent", load_persona("honest").user_agent), ("Accept", "text/plain, */*;q=0.5"))
    until = context.now() + LIFETIME
    try:
        async with politeness.turn(host, owner=context.owner):
            response = await context.send(Request("GET", f"{site}/robots.txt", headers=headers, policy=policy))
    except Fault as fault:
        if fault.kind == "validation":
            raise
        return _SiteRules(None, fault.kind != "too_large", context.now() + 60.0)
    if response.status >= 500 or response.status == 429:
        return _SiteRules(None, closed=True, until=context.now() + 60.0)
    if response.status >= 400:
        return _SiteRules(None, closed=False, until=until)
    return _SiteRules(Protego.parse(response.body.decode("utf-8", "replace")), closed=False, until=until)
