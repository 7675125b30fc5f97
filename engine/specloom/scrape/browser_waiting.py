"""When a page in the browser is there: loaded, quiet, and not empty while what it shows is still on its way."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import Any, Final

from specloom.faults import Fault

from .browser_scripts import EXTENT, QUIET, SCROLL, TEXT

SETTLE: Final = 1.5
"""Seconds for `load`, and again for the document to fall quiet; twice as much where scripts make the whole page."""
LITTLE: Final = 100
"""Characters up to which a page has nothing to read yet."""
FOR_DATA: Final = 8.0
"""Seconds that a page with nothing to read is given while what it asked for has not come."""
FOR_SCRIPTS: Final = 3.0
"""Seconds that such a page is given in which it asks for nothing."""
FOR_MORE: Final = 2.5
"""Seconds that a page with something to read is given while more of it is on its way."""
FOR_SCROLLS: Final = 6.0
"""Seconds in which scrolling may bring more."""
CHALLENGE: Final = 8.0
"""Seconds that a page which checks the browser is given to let it through."""
ANSWER: Final = 5.0
"""Seconds for a page to answer a question; one that cannot is busy with itself for ever."""
MOST_SCROLLS: Final = 5
ENOUGH_TEXT: Final = 20_000
"""Characters from which a page is scrolled no further."""

# What brings words to a page, as opposed to looks, sounds, and connections that stay open.
_DATA: Final = frozenset({"document", "script", "xhr", "fetch"})


@dataclass(slots=True)
class Traffic:
    """What a page has asked for and not yet got, and the last answer for the page itself."""

    status: int = 0
    url: str = ""
    headers: dict[str, str] | None = None
    pages: int = 0
    """How often the page itself was asked for."""
    crashed: bool = False
    pending: set[Any] = field(default_factory=set)


def watch(page: Any) -> Traffic:
    """What goes on in a page from now on."""
    traffic = Traffic()

    def is_main(request: Any) -> bool:
        return bool(request.is_navigation_request() and request.frame == page.main_frame)

    def asked(request: Any) -> None:
        if request.resource_type in _DATA:
            traffic.pending.add(request)
        if is_main(request):
            traffic.url, traffic.status, traffic.headers = request.url, 0, None
            traffic.pages += request.redirected_from is None
            traffic.pending = {request}

    def answered(response: Any) -> None:
        if is_main(response.request):
            traffic.url, traffic.status, traffic.headers = response.url, response.status, response.headers

    def ended(request: Any) -> None:
        traffic.pending.discard(request)

    def crashed(_: Any) -> None:
        traffic.crashed = True

    page.on("request", asked)
    page.on("response", answered)
    page.on("requestfinished", ended)
    page.on("requestfailed", ended)
    page.on("crash", crashed)
    return traffic


async def ask(frame: Any, script: str, argument: Any = None) -> Any:
    """What a script gives in a page or a frame of it; nothing where it went elsewhere meanwhile, or the script fails.

    A page that does not answer is a `network` fault; the driver's own errors mean that it is lost.
    """
    from playwright.async_api import Error

    for _ in range(2):
        try:
            async with asyncio.timeout(ANSWER):
                return await frame.evaluate(script, argument)
        except TimeoutError:
            raise Fault("network", "the page keeps the browser busy without end") from None
        except Error as error:
            said = str(error).lower()
            if "crashed" in said or "closed" in said or "disconnected" in said:
                raise
            # A page that goes on to another one takes its scripts with it; the next one is asked.
            if "context was destroyed" not in said and "navigat" not in said:
                return None
            await load(frame, SETTLE)
    return None


async def load(page: Any, most: float, state: str = "load") -> None:
    """Wait until a page has come to a state, and at most some seconds."""
    from playwright.async_api import TimeoutError as TooLong

    with contextlib.suppress(TooLong):
        await page.wait_for_load_state(state, timeout=most * 1000)


async def quieten(page: Any, most: float) -> None:
    """Wait until a page is loaded and falls quiet, and at most so many seconds for each."""
    await load(page, most)
    await _quiet(page, most / 3, most)


async def wait_for_text(page: Any, traffic: Traffic) -> None:
    """Wait on where there is nothing to read on a quiet page yet, or where more of it is on its way."""
    began = time.monotonic()
    while True:
        said = await ask(page, TEXT, LITTLE)
        if isinstance(said, int) and said <= LITTLE:
            patience = FOR_DATA if traffic.pending else FOR_SCRIPTS
        else:
            patience = FOR_MORE if traffic.pending else 0.0
        left = began + patience - time.monotonic()
        if left <= 0:
            return
        await _quiet(page, SETTLE / 3, min(SETTLE, left))


async def pass_challenge(page: Any, traffic: Traffic) -> None:
    """Give a page that checks the browser the time to let it through."""
    end = time.monotonic() + CHALLENGE
    at = (traffic.url, traffic.status)
    while time.monotonic() < end:
        await _quiet(page, 0.3, 0.9)
        if (traffic.url, traffic.status) != at and traffic.status:
            await quieten(page, SETTLE)
            return
        await asyncio.sleep(0.2)


async def scroll(page: Any, traffic: Traffic) -> None:
    """Scroll a page that is longer than the window while more text comes, and not once there is plenty."""
    extent = await ask(page, EXTENT)
    if not extent or extent[0] >= ENOUGH_TEXT or extent[1] < extent[2] * 1.2:
        return
    end = time.monotonic() + FOR_SCROLLS
    for _ in range(MOST_SCROLLS):
        before = extent[0]
        known = frozenset(traffic.pending)
        await ask(page, SCROLL)
        await _quiet(page, 0.4, 1.0)
        # What was on its way before is not what scrolling asked for.
        while traffic.pending - known and time.monotonic() < end:
            await _quiet(page, 0.3, 0.6)
        extent = await ask(page, EXTENT)
        if not extent or extent[0] <= before or extent[0] >= ENOUGH_TEXT or time.monotonic() >= end:
            return


async def _quiet(page: Any, quiet: float, most: float) -> None:
    if await ask(page, QUIET, [quiet * 1000, most * 1000]) is None:
        # The page has taken away what tells of changes.
        await asyncio.sleep(min(quiet, most))
