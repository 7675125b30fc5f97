"""robots.txt for operators who want it obeyed (RFC 9309): read once an hour for each site."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING

from specloom.core import Fault, Policy, Request, dataclass

from .failures import ROBOTS
from .http import check_target, find_next, load_persona
from .politeness import Politeness

if TYPE_CHECKING:
    from protego import Protego

    from specloom.net import ParsedUrl
    from specloom.plugins import Context

    from ..options import Options

AGENT = "specloom"
"""The name that rules are looked up under."""
LIFETIME = 3600.0
"""Seconds for which a file is believed; RFC 9309 allows a day."""
MOST_BYTES = 512 * 1024
"""What is parsed of a file; RFC 9309 asks for 500 KiB or more."""
REDIRECTS = 5
"""RFC 9309 asks for five or more."""
FAILURE_LIFETIME = 60.0
"""Seconds after which a file that could not be had is asked for again."""
MOST_SITES = 1000
LONGEST_DELAY = 30.0
"""Seconds between two requests that a site may ask for."""


@dataclass(frozen=True, slots=True)
class _SiteRules:
    parsed: Protego | None
    """A parsed file, or None where everything is allowed."""
    closed: str
    """Why nothing is allowed, as the beginning of a sentence; empty where that is not so."""
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
            raise Fault("blocked", f"{rules.closed}, so its pages are left alone", detail=ROBOTS)
        if rules.parsed is None:
            return None
        if not rules.parsed.can_fetch(str(target), AGENT):
            message = f"the robots.txt of {target.host} closes this page to robots"
            raise Fault("blocked", message, detail=ROBOTS)
        delay = rules.parsed.crawl_delay(AGENT)
        # "nan" is a number to who parses it, and no delay.
        return min(float(delay), LONGEST_DELAY) if delay is not None and delay >= 0 else None

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
    """What a site says: its rules, nothing where it has none (4xx, §2.3.1.3), or why it cannot be told (§2.3.1.4)."""

    def close(why: str) -> _SiteRules:
        return _SiteRules(None, f"the robots.txt of {host} {why}", context.now() + FAILURE_LIFETIME)

    headers = (("User-Agent", load_persona("honest").user_agent), ("Accept", "text/plain, */*;q=0.5"))
    policy = Policy(timeout=10.0, max_bytes=MOST_BYTES, truncate=True, redirects=0, allow_private=options.allow_private)
    target = check_target(f"{site}/robots.txt", options)
    until = context.now() + LIFETIME
    for hop in range(REDIRECTS + 1):
        try:
            async with politeness.turn(target.host, owner=context.owner, follows=hop > 0):
                response = await context.send(Request("GET", str(target), headers=headers, policy=policy))
        except Fault as fault:
            if fault.kind == "rate_limited" or (fault.kind == "validation" and hop == 0):
                # The page itself may not be asked for, or not now.
                raise
            return close("leads where nobody may ask" if fault.kind == "validation" else "cannot be read at the moment")
        try:
            where = find_next(response, target, follow_pages=False)
            if where is None:
                break
            target = check_target(where, options)
        except Fault:
            return close("leads where nobody may ask")
    else:
        # What leads on and on is a file that is not there (RFC 9309, 2.3.1.2).
        return _SiteRules(None, "", until)
    if response.status >= 500 or response.status == 429:
        return close(f"answers HTTP {response.status}")
    if not 200 <= response.status < 300:
        return _SiteRules(None, "", until)
    # A hostile file of the largest size takes half a second.
    return _SiteRules(await asyncio.to_thread(_parse, response.body), "", until)


def _parse(body: bytes) -> Protego:
    from protego import Protego

    codec = "utf-16" if body.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return Protego.parse(body.decode(codec, "replace"))
