"""One Chromium for all readings: started when a page needs it, watched, started anew after a crash, and never orphaned.

Playwright's driver (the extra `browser`) starts it and speaks to it over a pipe. When this process ends, however it
ends, the driver sees its input close and takes the browser and its profile folder with it; should the driver die too,
the browser sees its own pipe close.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specloom.core import Fault

from .launch import Running, end, first_line, quietly, start

if TYPE_CHECKING:
    from specloom.net import Resolver

    from ..options import Options
    from ..result import Fetched
    from .proxy import Ticket


# --- Where Chromium is, and whether one can be driven at all; nothing is started to find out --------------------------


INSTALL = "pip install 'specloom[browser]'"

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge-stable")
_PLACES = {
    "darwin": (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
    "win32": (
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
    ),
}
# Where the driver's own `install` command puts browsers.
_DOWNLOADED = ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/*.app/Contents/MacOS/*")


@dataclass(frozen=True, slots=True)
class BrowserProgram:
    """The executable, or in `why` one sentence for its absence."""

    path: str = ""
    why: str = ""


@lru_cache(maxsize=16)
def find_browser(setting: str) -> BrowserProgram:
    """The browser that CHROME_PATH asks for: a path, `disabled`, or empty to look for one."""
    if setting.lower() == "disabled":
        return BrowserProgram(why="the browser is switched off (CHROME_PATH is `disabled`)")
    if importlib.util.find_spec("playwright") is None:
        return BrowserProgram(why=f"the library that drives browsers is not installed; install it with: {INSTALL}")
    if setting:
        path = shutil.which(setting)
        if path is None:
            return BrowserProgram(why=f"CHROME_PATH names {setting!r}, which is not a program that can be run")
        return BrowserProgram(path)
    for name in _NAMES:
        path = shutil.which(name)
        if path is not None:
            return BrowserProgram(path)
    for place in _PLACES.get(sys.platform, ()):
        if Path(place).is_file():
            return BrowserProgram(place)
    home = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    for pattern in _DOWNLOADED:
        for path_found in sorted(home.glob(pattern), reverse=True):
            return BrowserProgram(str(path_found))
    return BrowserProgram(why="no Chromium or Chrome was found; install one, or set CHROME_PATH to where it is")


PROBE = 2.0
"""Seconds in which a living browser tells its version."""
VIEWPORT = {"width": 1920, "height": 1080}


class Browser:
    """Renders pages one browser context each; `idle` seconds after the last one the browser is closed (0: never)."""

    def __init__(self, *, resolve: Resolver, idle: float = 300.0) -> None:
        self._resolve = resolve
        self._idle = idle
        self._running: Running | None = None
        self._starting = asyncio.Lock()
        self._pages = 0
        self._closing: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.starts = 0
        """How often a browser was started."""

    def is_available(self, setting: str) -> bool:
        """Whether a browser could be started, as far as can be told without starting one."""
        return bool(find_browser(setting).path)

    @property
    def is_running(self) -> bool:
        """Whether a browser is up that has not been found dead."""
        return self._running is not None

    async def render(self, url: str, options: Options) -> Fetched:
        """The document at an address after its scripts ran, within `options.browser_timeout` seconds."""
        try:
            async with asyncio.timeout(options.browser_timeout):
                return await self._render(url, options)
        except TimeoutError:
            raise Fault("network", f"the browser did not finish within {options.browser_timeout:g} seconds") from None

    async def aclose(self) -> None:
        """Close the browser and wait until it is gone."""
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
        async with self._starting:
            await self._stop()

    async def _render(self, url: str, options: Options) -> Fetched:
        found = find_browser(options.chrome)
        if not found.path:
            raise Fault("browser_unavailable", found.why)
        from playwright.async_api import Error

        self._pages += 1
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
        try:
            for attempt in (1, 2):
                running = await self._ensure(found.path, options)
                try:
                    return await _render_once(running, url, options)
                except Error as error:
                    # What broke a browser is tried once more in a new one; what broke only its own tab is not.
                    if await _is_alive(running):
                        raise Fault("network", f"the browser lost the page: {first_line(str(error))}") from None
                    if attempt == 2:
                        raise Fault("browser_unavailable", "the browser crashed while it read the page") from None
                    await self._restart(running)
            raise AssertionError("unreachable")
        finally:
            self._pages -= 1
            if not self._pages and self._idle and self._running is not None:
                self._closing = asyncio.get_running_loop().call_later(self._idle, self._close_soon)

    async def _ensure(self, path: str, options: Options) -> Running:
        async with self._starting:
            if self._running is not None and self._running.path == path and await _is_alive(self._running):
                return self._running
            await self._stop()
            self._running = await start(path, self._resolve, honest=options.identity == "honest")
            self.starts += 1
            return self._running

    async def _restart(self, dead: Running) -> None:
        async with self._starting:
            if self._running is dead:
                await self._stop()

    async def _stop(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            await end(running)

    def _close_soon(self) -> None:
        self._closing = None
        if not self._pages:
            task = asyncio.get_running_loop().create_task(self.aclose())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


async def _render_once(running: Running, url: str, options: Options) -> Fetched:
    from .page import read_page

    ticket = running.proxy.open_ticket(allow_private=options.allow_private)
    context = None
    try:
        context = await running.browser.new_context(**_describe(running, ticket))
        return await read_page(context, url, options, ticket)
    finally:
        running.proxy.close_ticket(ticket)
        if context is not None:
            await quietly(context.close(), 5.0)


def _describe(running: Running, ticket: Ticket) -> dict[str, Any]:
    """A context of its own for each page: no cookies, storage, downloads or workers are left for the next one."""
    return {
        "proxy": {"server": running.proxy.url, "username": ticket.name, "password": ticket.password},
        "user_agent": running.agent,
        "viewport": VIEWPORT,
        "locale": "en-US",
        "timezone_id": "America/New_York",
        "accept_downloads": False,
        "service_workers": "block",
        "permissions": [],
    }


async def _is_alive(running: Running) -> bool:
    if not running.browser.is_connected():
        return False
    try:
        async with asyncio.timeout(PROBE):
            await running.session.send("Browser.getVersion")
    except Exception:  # noqa: BLE001 - a driver that cannot ask has no browser, whatever it says
        return False
    return True
