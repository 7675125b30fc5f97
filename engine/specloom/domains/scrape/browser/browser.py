"""One Chromium for all readings: started when a page needs it, watched, started anew after a crash, and never orphaned.

Playwright's driver (the extra `browser`) starts it and speaks to it over a pipe. When this process ends, however it
ends, the driver sees its input close and takes the browser and its profile folder with it; should the driver die too,
the browser sees its own pipe close. Its flags, and where it is looked for, are in `chromium.yaml`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import os
import re
import shutil
import sys
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, dataclass, load_table

from .proxy import Proxy, Ticket

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specloom.net import Resolver

    from ..options import Options
    from ..result import Fetched


INSTALL = "pip install 'specloom[browser]'"
START = 20.0
"""Seconds in which a browser has to be up."""
PROBE = 2.0
"""Seconds in which a living browser tells its version."""
VIEWPORT = {"width": 1920, "height": 1080}
DEEPEST = 56
"""Bytes of the path of a folder for temporary files that Chromium can use: it keeps a socket some 45 bytes below it,
and the path of a socket has at most 107."""
FORGOTTEN = 24 * 3600.0
SHALLOW = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - a folder of our own is made there, for us alone

_CHROMIUM: dict[str, Any] = load_table(__file__, "chromium.yaml")
_PREFIX = "specloom-chromium-"

_log = logging.getLogger("specloom.domains.scrape")


# --- Where Chromium is, and whether one can be driven at all; nothing is started to find out --------------------------


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
    for name in _CHROMIUM["names"]:
        path = shutil.which(name)
        if path is not None:
            return BrowserProgram(path)
    for place in _CHROMIUM["places"].get(sys.platform, ()):
        if Path(place).is_file():
            return BrowserProgram(place)
    home = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    for pattern in _CHROMIUM["downloads"]:
        for path_found in sorted(home.glob(pattern), reverse=True):
            return BrowserProgram(str(path_found))
    return BrowserProgram(why="no Chromium or Chrome was found; install one, or set CHROME_PATH to where it is")


# --- Its start and its end --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Running:
    """A browser that is up, and what ends with it."""

    driver: Any
    browser: Any
    session: Any
    proxy: Proxy
    path: str
    agent: str
    folder: str = ""
    """The folder for temporary files that was made for it, if one was."""


async def start(path: str, resolve: Resolver, *, honest: bool) -> Running:
    """A browser that reaches nothing but a proxy of its own; a `browser_unavailable` fault says why there is none."""
    from playwright.async_api import Error, async_playwright

    proxy = Proxy(resolve)
    await proxy.start()
    driver, folder = None, ""
    try:
        folder = await asyncio.to_thread(make_folder, tempfile.gettempdir())
        driver = await async_playwright().start()
        browser = await _launch(driver, path, proxy, Error, folder)
        session = await browser.new_browser_cdp_session()
        version = await session.send("Browser.getVersion")
        agent = str(version["userAgent"])
        # The browser is what it says but for one word, which only tells that nobody looks at its window.
        agent = f"{agent} specloom" if honest else agent.replace("HeadlessChrome", "Chrome")
        return Running(driver, browser, session, proxy, path, agent, folder)
    except BaseException as error:
        await proxy.aclose()
        if driver is not None:
            await quietly(driver.stop(), 5.0)
        await asyncio.to_thread(remove_folder, folder)
        if isinstance(error, Error):
            raise Fault("browser_unavailable", f"chrome launch failed: {find_reason(str(error))}") from None
        raise


async def end(running: Running) -> None:
    """Close a browser, whatever state it is in, and remove what was made for it."""
    await quietly(running.browser.close(), 5.0)
    await quietly(running.driver.stop(), 5.0)
    await running.proxy.aclose()
    await asyncio.to_thread(remove_folder, running.folder)


async def quietly(closing: Any, seconds: float) -> None:
    """Close what may be broken already: it has nothing to say that would help."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(seconds):
            await closing


def find_reason(message: str) -> str:
    """The line of a failed start that tells most: the browser's own last word, else the driver's first."""
    for pattern in _CHROMIUM["reasons"]:
        if match := re.search(pattern, message, re.MULTILINE):
            return " ".join(match[1].split())[:100]
    return first_line(message)


def first_line(message: str) -> str:
    """The beginning of a message of the driver, which goes on with all that the browser logged."""
    return (message.strip().splitlines() or ["it gives no reason"])[0][:100]


def make_folder(usual: str, places: Sequence[str] = SHALLOW) -> str:
    """A short folder for temporary files, for us alone; "" where the usual one will do, or none can be made.

    Those of processes that were killed before they could remove theirs go when nothing was done in them for a day.
    """
    if sys.platform == "win32" or len(os.fsencode(usual)) <= DEEPEST:
        return ""
    for place in places:
        with contextlib.suppress(OSError):
            for left in Path(place).glob(f"{_PREFIX}*"):
                about = left.lstat()
                if about.st_uid == os.geteuid() and about.st_mtime < time.time() - FORGOTTEN:
                    remove_folder(str(left))
            return tempfile.mkdtemp(prefix=_PREFIX, dir=place)
    return ""


def remove_folder(folder: str) -> None:
    """Remove a folder that `make_folder` made, with what is in it; nothing for ""."""
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


async def _launch(driver: Any, path: str, proxy: Proxy, error_type: type[Exception], folder: str) -> Any:
    # Chromium's sandbox does not work for root, and not where the system forbids user namespaces.
    root = sys.platform != "win32" and os.geteuid() == 0
    environment = {name: os.environ[name] for name in _CHROMIUM["environment"] if name in os.environ}
    if folder:
        environment["TMPDIR"] = folder
    for sandbox in (False,) if root else (True, False):
        if not sandbox:
            _log.warning("the browser runs without its sandbox%s", " because this process runs as root" if root else "")
        try:
            return await driver.chromium.launch(
                executable_path=path,
                headless=True,
                chromium_sandbox=sandbox,
                args=_CHROMIUM["flags"],
                ignore_default_args=_CHROMIUM["unwanted_flags"],
                proxy={"server": proxy.url},
                env=environment,
                timeout=START * 1000,
            )
        except error_type as error:
            if not sandbox or "sandbox" not in str(error).lower():
                raise
    raise AssertionError("unreachable")


# --- The browser of a process -----------------------------------------------------------------------------------------


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
        program = find_browser(options.chrome)
        if not program.path:
            raise Fault("browser_unavailable", program.why)
        from playwright.async_api import Error

        self._pages += 1
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
        try:
            for attempt in (1, 2):
                running = await self._ensure(program.path, options)
                try:
                    return await _render_once(running, url, options)
                except Error as error:
                    # What broke a browser is tried once more in a new one; what broke only its own tab is not.
                    if await _is_alive(running):
                        raise Fault("network", f"the browser lost the page: {first_line(str(error))}") from None
                    if attempt == 2:
                        raise Fault("browser_unavailable", "the browser crashed while it read the page") from None
                    async with self._starting:
                        if self._running is running:
                            await self._stop()
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
