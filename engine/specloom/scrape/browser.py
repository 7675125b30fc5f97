"""One Chromium for all readings: started when a page needs it, watched, started anew after a crash, and never orphaned.

Playwright's driver (the extra `browser`) starts it and speaks to it over a pipe. When this process ends, however it
ends, the driver sees its input close and takes the browser and its profile folder with it; should the driver die too,
the browser sees its own pipe close.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault

from .browser_find import find_browser
from .proxy import Proxy, Ticket

if TYPE_CHECKING:
    from specloom.network import Resolver

    from .options import Options
    from .reading import Fetched

PROBE = 2.0
"""Seconds in which a living browser tells its version."""
START = 20.0
"""Seconds in which a browser has to be up."""
VIEWPORT = {"width": 1920, "height": 1080}

# Nothing is loaded but pages, nothing leaves but through the proxy, and no name is resolved in the browser.
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-field-trial-config",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-blink-features=AutomationControlled",
    "--dns-prefetch-disable",
    "--metrics-recording-only",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--no-service-autorun",
    "--safebrowsing-disable-auto-update",
    "--blink-settings=imagesEnabled=false",
    # The second name is that of Chromium before version 130; unknown flags are ignored.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--proxy-bypass-list=<-loopback>",
)
# What the driver would add: signs of automation, and leave for pages to open windows as they like.
UNWANTED = ("--enable-automation", "--enable-unsafe-swiftshader", "--disable-popup-blocking")
# What the browser gets of our environment: no keys of services among it.
_KEPT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TEMP",
    "TMP",
    "TZ",
    "XDG_RUNTIME_DIR",
    "SYSTEMROOT",
    "USERPROFILE",
)

_log = logging.getLogger("specloom.scrape")


@dataclass(slots=True)
class _Running:
    driver: Any
    browser: Any
    session: Any
    proxy: Proxy
    path: str
    agent: str


class Browser:
    """Renders pages one browser context each; `idle` seconds after the last one the browser is closed (0: never)."""

    def __init__(self, *, resolve: Resolver, idle: float = 300.0) -> None:
        self._resolve = resolve
        self._idle = idle
        self._running: _Running | None = None
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
                        raise Fault("network", f"the browser lost the page: {_first_line(error)}") from None
                    if attempt == 2:
                        raise Fault("browser_unavailable", "the browser crashed while it read the page") from None
                    await self._restart(running)
            raise AssertionError("unreachable")
        finally:
            self._pages -= 1
            if not self._pages and self._idle and self._running is not None:
                self._closing = asyncio.get_running_loop().call_later(self._idle, self._close_soon)

    async def _ensure(self, path: str, options: Options) -> _Running:
        async with self._starting:
            if self._running is not None and self._running.path == path and await _is_alive(self._running):
                return self._running
            await self._stop()
            self._running = await _start(path, self._resolve, honest=options.identity == "honest")
            self.starts += 1
            return self._running

    async def _restart(self, dead: _Running) -> None:
        async with self._starting:
            if self._running is dead:
                await self._stop()

    async def _stop(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            await _end(running)

    def _close_soon(self) -> None:
        self._closing = None
        if not self._pages:
            task = asyncio.get_running_loop().create_task(self.aclose())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


async def _render_once(running: _Running, url: str, options: Options) -> Fetched:
    from .browser_page import read_page

    ticket = running.proxy.open_ticket(allow_private=options.allow_private)
    context = None
    try:
        context = await running.browser.new_context(**_describe(running, ticket))
        return await read_page(context, url, options, ticket)
    finally:
        running.proxy.close_ticket(ticket)
        if context is not None:
            await _quietly(context.close(), 5.0)


def _describe(running: _Running, ticket: Ticket) -> dict[str, Any]:
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


async def _start(path: str, resolve: Resolver, *, honest: bool) -> _Running:
    from playwright.async_api import Error, async_playwright

    proxy = Proxy(resolve)
    await proxy.start()
    driver = None
    try:
        driver = await async_playwright().start()
        browser = await _launch(driver, path, proxy, Error)
        session = await browser.new_browser_cdp_session()
        version = await session.send("Browser.getVersion")
        agent = str(version["userAgent"])
        # The browser is what it says but for one word, which only tells that nobody looks at its window.
        agent = f"{agent} specloom" if honest else agent.replace("HeadlessChrome", "Chrome")
        return _Running(driver, browser, session, proxy, path, agent)
    except Error as error:
        await proxy.aclose()
        if driver is not None:
            await _quietly(driver.stop(), 5.0)
        raise Fault("browser_unavailable", f"chrome launch failed: {_first_line(error)}") from None
    except BaseException:
        await proxy.aclose()
        if driver is not None:
            await _quietly(driver.stop(), 5.0)
        raise


async def _launch(driver: Any, path: str, proxy: Proxy, error_type: type[Exception]) -> Any:
    # Chromium's sandbox does not work for root, and not where the system forbids user namespaces.
    root = sys.platform != "win32" and os.geteuid() == 0
    for sandbox in (False,) if root else (True, False):
        if not sandbox:
            _log.warning("the browser runs without its sandbox%s", " because this process runs as root" if root else "")
        try:
            return await driver.chromium.launch(
                executable_path=path,
                headless=True,
                chromium_sandbox=sandbox,
                args=list(FLAGS),
                ignore_default_args=list(UNWANTED),
                proxy={"server": proxy.url},
                env={name: os.environ[name] for name in _KEPT if name in os.environ},
                timeout=START * 1000,
            )
        except error_type as error:
            if not sandbox or "sandbox" not in str(error).lower():
                raise
    raise AssertionError("unreachable")


async def _is_alive(running: _Running) -> bool:
    if not running.browser.is_connected():
        return False
    try:
        async with asyncio.timeout(PROBE):
            await running.session.send("Browser.getVersion")
    except Exception:  # noqa: BLE001 - a driver that cannot ask has no browser, whatever it says
        return False
    return True


async def _end(running: _Running) -> None:
    await _quietly(running.browser.close(), 5.0)
    await _quietly(running.driver.stop(), 5.0)
    await running.proxy.aclose()


async def _quietly(closing: Any, seconds: float) -> None:
    """Close what may be broken already: it has nothing to say that would help."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(seconds):
            await closing


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:100]
