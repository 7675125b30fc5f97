"""One page in the browser: gone to, waited for, rid of its consent wall, scrolled a little, and taken as HTML."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from specloom.faults import Fault

from .browser_consent import answer_consent
from .browser_scripts import MUTE, PEEK, TAKE
from .browser_waiting import ANSWER, SETTLE, Traffic, ask, load, pass_challenge, quieten, scroll, wait_for_text, watch
from .fetching import Elsewhere, check_target
from .kinds import is_document_type
from .reading import Fetched
from .sites import match
from .spa import is_spa_host, to_route
from .walls import judge_raw

if TYPE_CHECKING:
    from .options import Options
    from .proxy import Ticket

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
    ticket.patience = SILENCE
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
    if options.sites:
        document = is_document_type((traffic.headers or {}).get("content-type", "")) and traffic.url != url
        if document or match(traffic.url) is not None:
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
