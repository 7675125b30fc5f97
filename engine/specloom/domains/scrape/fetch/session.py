"""What all readings of a process share: turns, the browser and its proxy, and what robots.txt says of sites."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from specloom.core import Fault, Policy, Request
from specloom.net import Resolver, resolve_name

from ..browser.browser import Browser
from .block_pages import to_route
from .failures import ROBOTS
from .http import check_target, load_persona
from .politeness import Bounds, Politeness
from .worker import Task
from .workers import Workers

if TYPE_CHECKING:
    from specloom.net import ParsedUrl
    from specloom.plugins import Context

    from ..options import Options
    from ..result import Fetched
    from .stealth import Stealth


# --- The rules of robots.txt, for operators who want them obeyed (RFC 9309); read once an hour for each site ----------


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


# --- The session ------------------------------------------------------------------------------------------------------


Allow = Callable[["ParsedUrl"], Awaitable[float | None]]


class FetchSession:
    """Shared by readings of one event loop. Nothing is started before it is needed; `aclose` ends all of it.

    `make_answer` makes a page of what was fetched, in a process of its own where that is better. `resolve` replaces the
    system's resolver for everything that does not go over a context: the browser and the client that looks like one.
    """

    def __init__(
        self,
        options: Options,
        make_answer: Task,
        *,
        resolve: Resolver = resolve_name,
        politeness: Politeness | None = None,
    ) -> None:
        bounds = Bounds(
            options.slots, options.browser_slots, options.tenant_slots, options.host_slots, options.host_spacing
        )
        self.politeness = politeness or Politeness(bounds)
        self.browser = Browser(resolve=resolve, idle=options.browser_idle)
        self.workers = Workers(make_answer)
        self._robots = Robots()
        self._resolve = resolve
        self._stealth: Stealth | None = None
        self._stealth_sought = False

    def stealth(self) -> Stealth | None:
        """The client with the TLS of a browser; nothing where it is not installed."""
        if not self._stealth_sought:
            from .stealth import Stealth, is_installed

            self._stealth = Stealth(self._resolve) if is_installed() else None
            self._stealth_sought = True
        return self._stealth

    def robots_for(self, context: Context, options: Options) -> Allow | None:
        """What refuses hops that robots.txt closes; nothing where it is not to be obeyed."""
        if not options.robots:
            return None
        return lambda target: self._robots.allow(target, context=context, options=options, politeness=self.politeness)

    async def render(self, url: str, *, owner: str, options: Options, now: Callable[[], float]) -> Fetched:
        """The document that a browser makes of an address, once it is this reading's turn."""
        target = check_target(url, options)
        async with self.politeness.turn(target.host, owner=owner, lane="browser"):
            fetched = await self.browser.render(str(target) + to_route(url), options)
        host = urlsplit(fetched.url).hostname or target.host
        self.politeness.note(host, fetched.status, fetched.headers.get("retry-after", ""), now=now())
        return fetched

    async def aclose(self) -> None:
        """Close the browser and the workers, where there are any."""
        await self.browser.aclose()
        await self.workers.aclose()


class OfflineFetchSession(FetchSession):
    """A station that reaches nothing by itself: for examples and replays, which are offline whatever is installed."""

    def stealth(self) -> Stealth | None:
        """No client beside the context."""
        return None

    async def render(self, url: str, *, owner: str, options: Options, now: Callable[[], float]) -> Fetched:  # noqa: ARG002
        """Never a document: a browser would go out by itself."""
        raise Fault("browser_unavailable", "no browser is started where nothing may be reached")


_STATIONS: WeakKeyDictionary[asyncio.AbstractEventLoop, FetchSession] = WeakKeyDictionary()


def find_station(options: Options, make_answer: Task) -> FetchSession:
    """The station of the running loop, made with what the first reading gives."""
    loop = asyncio.get_running_loop()
    station = _STATIONS.get(loop)
    if station is None:
        station = _STATIONS[loop] = FetchSession(options, make_answer)
    return station


async def close_station() -> None:
    """Close the station of the running loop, where there is one."""
    station = _STATIONS.pop(asyncio.get_running_loop(), None)
    if station is not None:
        await station.aclose()
