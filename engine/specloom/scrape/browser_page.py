"""One page in the browser: gone to, waited for, rid of its consent wall, scrolled a little, and taken as HTML."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from specloom.faults import Fault

from .browser_scripts import CONSENT, EXTENT, PEEK, QUIET, SCROLL, TAKE
from .fetching import Elsewhere, check_target
from .reading import Fetched
from .sites import match
from .spa import is_spa_host
from .walls import judge_raw

if TYPE_CHECKING:
    from .options import Options
    from .proxy import Ticket

SETTLE = 1.5
"""Seconds for `load`, and again for the document to fall quiet; twice as much where scripts make the whole page."""
MOST_SCROLLS = 5
ENOUGH_TEXT = 20_000
"""Characters from which a page is scrolled no further."""
CHALLENGE = 8.0
"""Seconds that a page which checks the browser is given to let it through."""


# What was true of the bytes that were sent, and is not of the document that a browser made of them.
_OF_THE_ORIGINAL = frozenset({"content-encoding", "content-length", "transfer-encoding", "etag", "set-cookie"})


@dataclass(slots=True)
class _Main:
    """The last answer for the page itself, as opposed to what belongs to it."""

    status: int = 0
    url: str = ""
    headers: dict[str, str] | None = None
    crashed: bool = False


async def read_page(context: Any, url: str, options: Options, ticket: Ticket) -> Fetched:
    """The rendered document; faults of the guard where the page or a redirect of it leads where nobody may go.

    `Elsewhere` is raised, where that is wanted, as soon as its scripts lead to a page that a site tells itself.
    Raises the driver's own errors where the browser broke, and TimeoutError never: what is there in time is taken.
    """
    from playwright.async_api import Error

    page = await context.new_page()
    main = _watch(page)
    spa = is_spa_host(urlsplit(url).hostname or "")
    settle = SETTLE * (2 if spa else 1)
    try:
        await page.goto(url, wait_until="domcontentloaded", timeout=options.browser_timeout * 800)
    except Error as error:
        _raise_elsewhere(main, options)
        _raise_refusal(main, url, ticket)
        if main.crashed or "crashed" in str(error).lower() or "closed" in str(error).lower():
            raise
        raise _to_fault(error, url) from None
    _raise_elsewhere(main, options)
    await _load(page, settle)
    await _quiet(page, settle)
    _raise_elsewhere(main, options)
    _raise_refusal(main, url, ticket)
    peek = await _safely(page, PEEK)
    if isinstance(peek, str) and peek and judge_raw(peek.encode("utf-8", "replace")) == "wall":
        await _pass_challenge(page, main, settle)
        await _quiet(page, settle)
    if await _safely(page, CONSENT):
        await _quiet(page, settle)
    await _scroll(page)
    taken = await _safely(page, TAKE, options.max_html_bytes)
    html = taken if isinstance(taken, str) else ""
    _raise_elsewhere(main, options)
    _raise_refusal(main, url, ticket)
    where = page.url if page.url.startswith(("http://", "https://")) else main.url or url
    check_target(where, options)
    headers = {name: value for name, value in (main.headers or {}).items() if name not in _OF_THE_ORIGINAL}
    headers["content-type"] = "text/html; charset=utf-8"
    body = html.encode("utf-8", "replace")
    return Fetched(body, where.partition("#")[0], "browser", "html", headers, main.status or 200)


def _watch(page: Any) -> _Main:
    main = _Main()

    def asked(request: Any) -> None:
        if request.is_navigation_request() and request.frame == page.main_frame:
            main.url, main.status, main.headers = request.url, 0, None

    def answered(response: Any) -> None:
        if response.request.is_navigation_request() and response.request.frame == page.main_frame:
            main.url, main.status, main.headers = response.url, response.status, response.headers

    def crashed(_: Any) -> None:
        main.crashed = True

    page.on("request", asked)
    page.on("response", answered)
    page.on("crash", crashed)
    return main


def _raise_elsewhere(main: _Main, options: Options) -> None:
    if options.sites and match(main.url) is not None:
        raise Elsewhere(str(check_target(main.url, options)))


def _raise_refusal(main: _Main, url: str, ticket: Ticket) -> None:
    host = urlsplit(main.url or url).hostname or ""
    fault = ticket.faults.get(host)
    if fault is not None and main.status in (0, 403, 502):
        raise fault


def _to_fault(error: Exception, url: str) -> Fault:
    host = urlsplit(url).hostname or "the host"
    text = str(error)
    if "Download is starting" in text or "ERR_ABORTED" in text:
        return Fault("content_empty", f"{host} sends a file to save, not a page")
    if "Timeout" in type(error).__name__:
        return Fault("network", f"{host} gave the browser no page in time")
    code = text.partition("net::")[2].split()[0:1]
    return Fault("network", f"the browser could not load the page of {host} ({code[0] if code else 'unknown error'})")


async def _load(page: Any, most: float) -> None:
    from playwright.async_api import TimeoutError as TooLong

    try:
        await page.wait_for_load_state("load", timeout=most * 1000)
    except TooLong:
        return


async def _quiet(page: Any, most: float) -> None:
    await _safely(page, QUIET, [most * 1000 / 3, most * 1000])


async def _safely(page: Any, script: str, argument: Any = None) -> Any:
    """What a script gives; nothing where the page went elsewhere meanwhile, or does not answer within some seconds."""
    from playwright.async_api import Error

    for _ in range(2):
        try:
            async with asyncio.timeout(5):
                return await page.evaluate(script, argument)
        except TimeoutError:
            return None
        except Error as error:
            # A page that goes on to another one takes its scripts with it; the next one is asked.
            if "context was destroyed" not in str(error) and "navigat" not in str(error):
                raise
            await _load(page, SETTLE)
    return None


async def _scroll(page: Any) -> None:
    """Scroll a page that is longer than the window while more text comes, and not once there is plenty."""
    extent = await _safely(page, EXTENT)
    if not extent or extent[0] >= ENOUGH_TEXT or extent[1] < extent[2] * 1.2:
        return
    for _ in range(MOST_SCROLLS):
        before = extent[0]
        await _safely(page, SCROLL)
        await _safely(page, QUIET, [200, 800])
        extent = await _safely(page, EXTENT)
        if not extent or extent[0] <= before or extent[0] >= ENOUGH_TEXT:
            return


async def _pass_challenge(page: Any, main: _Main, settle: float) -> None:
    """Give a page that checks the browser the time to let it through."""
    end = time.monotonic() + CHALLENGE
    at = (main.url, main.status)
    while time.monotonic() < end:
        await _quiet(page, 0.9)
        if (main.url, main.status) != at and main.status:
            await _load(page, settle)
            return
        await asyncio.sleep(0.2)
