"""Fetch session: what all readings of an event loop share, which is turns, the browser, workers and robots.txt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from specloom.core import Fault
from specloom.net import Resolver, resolve_name

from ..browser.browser import Browser
from .block_pages import to_route
from .http import check_target
from .politeness import Bounds, Politeness
from .robots import Robots
from .worker import Task
from .workers import Workers

if TYPE_CHECKING:
    from specloom.net import ParsedUrl
    from specloom.plugins import Context

    from ..options import Options
    from ..result import Fetched
    from .stealth import Stealth

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
    """A session that reaches nothing by itself: for examples and replays, which are offline whatever is installed."""

    def stealth(self) -> Stealth | None:
        """No client beside the context."""
        return None

    async def render(self, url: str, *, owner: str, options: Options, now: Callable[[], float]) -> Fetched:  # noqa: ARG002
        """Never a document: a browser would go out by itself."""
        raise Fault("browser_unavailable", "no browser is started where nothing may be reached")


_SESSIONS: WeakKeyDictionary[asyncio.AbstractEventLoop, FetchSession] = WeakKeyDictionary()


def find_session(options: Options, make_answer: Task) -> FetchSession:
    """The session of the running loop, made with what the first reading gives."""
    loop = asyncio.get_running_loop()
    session = _SESSIONS.get(loop)
    if session is None:
        session = _SESSIONS[loop] = FetchSession(options, make_answer)
    return session


async def close_session() -> None:
    """Close the session of the running loop, where there is one."""
    session = _SESSIONS.pop(asyncio.get_running_loop(), None)
    if session is not None:
        await session.aclose()
