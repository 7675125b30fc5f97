"""One page in the browser: gone to, waited for, rid of its consent wall, scrolled a little, and taken as HTML."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from specloom.core import Fault, dataclass

from ..fetch.block_pages import is_spa_host, judge_raw, to_route
from ..fetch.content_type import is_document_type
from ..fetch.http import Elsewhere, check_target
from ..result import Fetched
from .consent import answer_consent

if TYPE_CHECKING:
    from ..options import Options
    from .proxy import Ticket


# --- What runs inside a page: muting it, watching it fall quiet, measuring it, scrolling, and taking it as HTML -------


def _load_script(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


MUTE = """
for (const name of Object.keys(console)) if (typeof console[name] === "function") console[name] = () => {};
"""
# The markup of a page that says little, which may be a wall; nothing of a page that says much.
PEEK = """() => {
  const little = document.body && document.body.innerText.length <= 2048;
  return little ? document.documentElement.outerHTML.slice(0, 200000) : "";
}"""
SCROLL = "() => window.scrollTo(0, document.documentElement.scrollHeight)"
EXTENT = "() => document.body && [document.body.innerText.length, document.documentElement.scrollHeight, innerHeight]"
QUIET, TEXT, TAKE = _load_script("quiet.js"), _load_script("text.js"), _load_script("take.js")


# --- When a page in the browser is there: loaded, quiet, and not empty while what it shows is still on its way --------


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
            message = str(error).lower()
            if "crashed" in message or "closed" in message or "disconnected" in message:
                raise
            # A page that goes on to another one takes its scripts with it; the next one is asked.
            if "context was destroyed" not in message and "navigat" not in message:
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
        characters = await ask(page, TEXT, LITTLE)
        if isinstance(characters, int) and characters <= LITTLE:
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
        pending = frozenset(traffic.pending)
        await ask(page, SCROLL)
        await _quiet(page, 0.4, 1.0)
        # What was on its way before is not what scrolling asked for.
        while traffic.pending - pending and time.monotonic() < end:
            await _quiet(page, 0.3, 0.6)
        extent = await ask(page, EXTENT)
        if not extent or extent[0] <= before or extent[0] >= ENOUGH_TEXT or time.monotonic() >= end:
            return


async def _quiet(page: Any, quiet: float, most: float) -> None:
    if await ask(page, QUIET, [quiet * 1000, most * 1000]) is None:
        # The page has taken away what tells of changes.
        await asyncio.sleep(min(quiet, most))


READY = 10.0
"""Seconds for a document to be complete; what is there by then is read."""
SILENCE = 8.0
"""Seconds that what belongs to a page may keep it waiting."""
MOST_PAGES = 20
"""Pages that a page may lead through by its scripts before it is one that leads nowhere."""

# What was true of the bytes that were sent, and is not of the document that a browser made of them.
_OF_THE_ORIGINAL = frozenset({"content-encoding", "content-length", "transfer-encoding", "etag", "set-cookie"})


async def read_page(context: Any, url: str, options: Options, ticket: Ticket) -> Fetched:
    """The rendered document; faults of the guard where the page or a redirect of it leads where nobody may go.

    `Elsewhere` is raised, where that is wanted, once its scripts lead to a document or a page that a site tells itself.
    Raises the driver's own errors where the browser broke, and TimeoutError never: what is there in time is taken.
    """
    from playwright.async_api import Error

    # What a page tells its console reaches the driver, and a flood of it would keep our questions from their answers.
    await context.add_init_script(MUTE)
    page = await context.new_page()
    traffic = watch(page)
    most = SETTLE * (2 if is_spa_host(urlsplit(url).hostname or "") else 1)
    try:
        await page.goto(url, wait_until="commit", timeout=options.browser_timeout * 800)
    except Error as error:
        _raise_elsewhere(traffic, url, options)
        _raise_refusal(traffic, url, ticket)
        if traffic.crashed or "crashed" in str(error).lower() or "closed" in str(error).lower():
            raise
        raise _to_fault(error, url) from None
    # From here on it is what belongs to the page that is waited for, and no longer the page.
    ticket.shorten_patience(SILENCE)
    await load(page, READY, "domcontentloaded")
    _raise_elsewhere(traffic, url, options)
    await quieten(page, most)
    _raise_elsewhere(traffic, url, options)
    _raise_refusal(traffic, url, ticket)
    peek = await ask(page, PEEK)
    if isinstance(peek, str) and peek and judge_raw(peek.encode("utf-8", "replace")) == "wall":
        await pass_challenge(page, traffic)
    silent: set[Any] = set()
    answered = await answer_consent(page, ask, silent)
    if answered:
        await quieten(page, most)
    await wait_for_text(page, traffic)
    # Some walls come only once the scripts of a page are done.
    if not answered and await answer_consent(page, ask, silent):
        await quieten(page, most)
        await wait_for_text(page, traffic)
    await scroll(page, traffic)
    html = await _take(page, options.max_html_bytes)
    _raise_elsewhere(traffic, url, options)
    _raise_refusal(traffic, url, ticket)
    where = page.url if page.url.startswith(("http://", "https://")) else traffic.url or url
    check_target(where, options)
    headers = {name: value for name, value in (traffic.headers or {}).items() if name not in _OF_THE_ORIGINAL}
    headers["content-type"] = "text/html; charset=utf-8"
    body = html.encode("utf-8", "replace")
    return Fetched(body, where.partition("#")[0] + to_route(where), "browser", "html", headers, traffic.status or 200)


async def _take(page: Any, most: int) -> str:
    """The document as HTML, of at most so many characters."""
    taken = await ask(page, TAKE, most)
    if isinstance(taken, str):
        return taken
    # The page has changed what our script stands on; the driver keeps means of its own.
    from playwright.async_api import Error

    try:
        async with asyncio.timeout(ANSWER):
            return str(await page.content())[:most]
    except (Error, TimeoutError):
        return ""


def _raise_elsewhere(traffic: Traffic, url: str, options: Options) -> None:
    """Where the page has led to what is better read otherwise: the page of a site with an API, or a document."""
    if options.is_site is not None:
        document = is_document_type((traffic.headers or {}).get("content-type", "")) and traffic.url != url
        if document or options.is_site(traffic.url):
            raise Elsewhere(str(check_target(traffic.url, options)))
    if traffic.pages > MOST_PAGES:
        raise Fault("network", f"{urlsplit(url).hostname} leads from page to page without end")


def _raise_refusal(traffic: Traffic, url: str, ticket: Ticket) -> None:
    host = urlsplit(traffic.url or url).hostname or ""
    fault = ticket.faults.get(host)
    if fault is not None and traffic.status in (0, 403, 502):
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
