"""Starts Chromium for readings and ends it: its flags, what it sees of our environment, and why a start failed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specloom.core import Fault

from .proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specloom.net import Resolver


START = 20.0
"""Seconds in which a browser has to be up."""
DEEPEST = 56
"""Bytes of the path of a folder for temporary files that Chromium can use: it keeps a socket some 45 bytes below it,
and the path of a socket has at most 107."""
FORGOTTEN = 24 * 3600.0
SHALLOW = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - a folder of our own is made there, for us alone

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


# What a browser says when it gives up, most telling first: it logs much that does not matter.
_REASONS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"\[err\] .*?:FATAL:[^\]]*\] (.+)",
        r"\[err\] .*?: (error while loading shared libraries: .+)",
        r"\[err\] .*?:ERROR:(?!third_party/crashpad)[^\]]*\] (.+)",
    )
)
_PREFIX = "specloom-chromium-"

_log = logging.getLogger("specloom.domains.scrape")


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


def find_reason(said: str) -> str:
    """The line of a failed start that tells most: the browser's own last word, else the driver's first."""
    for pattern in _REASONS:
        if found := pattern.search(said):
            return " ".join(found[1].split())[:100]
    return first_line(said)


def first_line(said: str) -> str:
    """The beginning of a message of the driver, which goes on with all that the browser logged."""
    return (said.strip().splitlines() or ["it gives no reason"])[0][:100]


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
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
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
                args=list(FLAGS),
                ignore_default_args=list(UNWANTED),
                proxy={"server": proxy.url},
                env=environment,
                timeout=START * 1000,
            )
        except error_type as error:
            if not sandbox or "sandbox" not in str(error).lower():
                raise
    raise AssertionError("unreachable")
