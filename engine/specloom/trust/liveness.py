"""Whether addresses still answer, and where a copy of those is kept that do not."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from specloom.faults import Fault
from specloom.guard import check_url
from specloom.trust.hosts import to_host, to_registrable
from specloom.trust.missing import find_missing
from specloom.wire import Policy, Request, Response

if TYPE_CHECKING:
    from specloom.desk import Desk

AT_ONCE = 8
"""Addresses that are looked at side by side (the tool contract's figure)."""
PER_HOST = 4
"""Of those, how many at one host, since a page takes two requests."""
TIMEOUT = 8.0
"""Seconds for each of the at most two requests of an address (the tool contract's figure)."""
REDIRECTS = 10
BLOCKED = (403, 429, 503)
"""Statuses with which a server answers that is there and does not want programs (the tool contract's list)."""
_TOO_MANY = 429
_PAGES = frozenset(("text/html", "application/xhtml+xml", ""))
_MOST_BYTES = 512 * 1024
_PARKED = re.compile(
    r"(?:this|the)\s+domain(?:\s+name)?\s+(?:is|may\s+be)\s+(?:for\s+sale|parked)|buy\s+this\s+domain|domain\s+has\s+expired",
    re.IGNORECASE,
)
# A page of more words than this is about something, be it the sale of domains.
_LONGEST_OFFER = 2000
_SHORTEST_NAME = 6
FOR_SALE = "the page says that the domain is for sale"


@dataclass(frozen=True, slots=True)
class Link:
    """What became of one address.

    `live` is None when it was not looked at (it may not be asked, or is none). `status` is the HTTP status of the last
    answer, 0 without any. `blocked` says that the server is there and refused. `archived` is the address of a copy, ""
    without one. `reason` says in words why a link counts as dead or was not looked at.
    """

    url: str
    live: bool | None
    status: int = 0
    blocked: bool = False
    archived: str = ""
    archived_at: str = ""
    reason: str = ""


async def check_links(
    desk: Desk, urls: Sequence[str], *, dates: Sequence[str] = (), keep_for: float = 0.0
) -> list[Link]:
    """Every address looked at, eight at a time, in the order given; of dead ones the archived copy is looked for.

    Of one host four are looked at side by side at most, and where it asks to slow down, nothing more is read from it.
    `dates` are the days (YYYY-MM-DD, "" where unknown) near which such a copy should be. What a server answered is
    remembered for `keep_for` seconds; that there was no answer is not.
    """
    turns = asyncio.Semaphore(AT_ONCE)
    rooms: dict[str, asyncio.Semaphore] = {}
    busy: set[str] = set()
    wanted = [*dates, *[""] * (len(urls) - len(dates))]

    async def check(url: str, date: str) -> Link:
        async with rooms.setdefault(to_host(url), asyncio.Semaphore(PER_HOST)), turns:
            key = f"link:2:{date}:{url}"
            if keep_for and (kept := await desk.recall(key)) is not None:
                return Link(**kept.value)
            link = await check_link(desk, url, busy)
            link = await find_copy(desk, link, date) if link.live is False else link
            if keep_for and link.status:
                await desk.keep(key, asdict(link), keep_for)
            return link

    unique = dict.fromkeys(zip(urls, wanted, strict=True))
    done = await asyncio.gather(*[check(url, date) for url, date in unique])
    links = dict(zip(unique, done, strict=True))
    return [links[pair] for pair in zip(urls, wanted, strict=True)]


async def check_link(desk: Desk, url: str, busy: set[str] | None = None) -> Link:
    """One address: HEAD, and then GET where that fails, since many servers answer HEAD wrongly, or leads to a page.

    A page is read because many servers answer one that is missing with success; what cannot be read then is as HEAD
    said. `busy` are the hosts that have asked to slow down, which are sent no second request; it grows here.
    """
    if not url:
        return Link(url, None, reason="there is no address to look at")
    try:
        check_url(url, allow_private=desk.allow_private)
    except Fault as fault:
        return Link(url, None, reason=fault.message)
    busy = set() if busy is None else busy
    head = None
    try:
        response = await _ask(desk, "HEAD", url)
        if response.status == _TOO_MANY:
            busy.add(to_host(url))
            return _judge(url, response)
        if response.status < 400:
            head = Link(url, True, response.status)
            if to_host(url) in busy or not (_is_page(response) or _is_moved(url, response)):
                return head
    except Fault as fault:
        if fault.kind == "validation":
            return Link(url, None, reason=fault.message)
    try:
        response = await _ask(desk, "GET", url)
    except Fault as fault:
        if fault.kind == "too_large":
            return head or Link(url, True, 200)
        if fault.kind == "validation":
            return Link(url, None, reason=fault.message)
        return head or Link(url, False, 0, reason=f"no answer: {fault.message}"[:300])
    if response.status == _TOO_MANY:
        busy.add(to_host(url))
    # Who refuses to be read has answered already.
    return head if head is not None and response.status in BLOCKED else _judge(url, response)


def _judge(url: str, response: Response) -> Link:
    if response.status in BLOCKED:
        return Link(url, True, response.status, blocked=True)
    if response.status >= 400:
        return Link(url, False, response.status, reason=f"the server answers with status {response.status}")
    if gone := find_soft_failure(url, response):
        return Link(url, False, response.status, reason=gone)
    return Link(url, True, response.status)


async def find_copy(desk: Desk, link: Link, date: str = "") -> Link:
    """A link with the address of an archived copy, nearest to a date where one is given; as it was where none is.

    A copy of a page that was gone already, or of an error, is none.
    """
    try:
        answer = await desk.ask("snapshots", {"url": link.url, "date": date or None})
    except Fault:
        return link
    row = next((row for row in answer.rows if int(row.get("status_code") or 200) < 400), None)
    if row is None:
        return link
    return replace(link, archived=str(row["snapshot_url"]), archived_at=str(row.get("captured_at") or ""))


def _is_moved(url: str, response: Response) -> bool:
    """Whether redirects led to another place, so that what is there has to be looked at."""
    before, after = urlsplit(url), urlsplit(response.url or url)
    return (before.hostname or "").removeprefix("www.") != (after.hostname or "").removeprefix("www.") or (
        before.path.rstrip("/") != after.path.rstrip("/")
    )


def _is_page(response: Response) -> bool:
    """Whether what is there may be a page of HTML, which a server need not say."""
    return response.headers.get("content-type", "text/html").partition(";")[0].strip().lower() in _PAGES


def find_soft_failure(url: str, response: Response) -> str:
    """Why a page that was answered with success is not the one that was asked for; "" when nothing says so.

    Looked at are what the page calls itself and says, words of parked domains, and whether a page deep in a site led to
    the site's front page.
    """
    body = response.body[:_MOST_BYTES]
    if _is_page(response) and (called := find_missing(body, response.headers.get("content-type", ""))):
        return f"the page says that it is gone: {called[:80]!r}"
    before, after = to_host(url), to_host(response.url or url)
    if len(body) < 100_000 and _PARKED.search(body.decode("utf-8", "replace")):
        return FOR_SALE
    same_site = (to_registrable(before) or before) == (to_registrable(after) or after)
    if same_site and _is_front(response.url or url) and _is_deep(url):
        return "the address leads to the front page of the site"
    return ""


def find_parked(text: str) -> str:
    """Why the text of a page is only the offer of its domain; "" when it is not."""
    return FOR_SALE if len(text) <= _LONGEST_OFFER and _PARKED.search(text) else ""


def _is_front(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/", "/index.html", "/index.php") and not parts.query


def _is_deep(url: str) -> bool:
    """Whether an address certainly names one page: folders before it, and a last part that is more than a language."""
    segments = [segment for segment in urlsplit(url).path.split("/") if segment]
    return len(segments) >= 2 and len(segments[-1]) >= _SHORTEST_NAME


async def _ask(desk: Desk, method: str, url: str) -> Response:
    policy = Policy(
        timeout=TIMEOUT,
        max_bytes=_MOST_BYTES,
        redirects=REDIRECTS,
        any_host=True,
        allow_private=desk.allow_private,
    )
    accept = "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.8"
    target = str(check_url(url, allow_private=desk.allow_private))
    return await desk.send(Request(method, target, headers=(("Accept", accept),), policy=policy))


def tell_link(link: Link) -> dict[str, Any]:
    """A link as tools tell it; keys of what is not known are left out."""
    said = {
        "linkLive": link.live,
        "httpStatus": link.status if link.live is not None else None,
        "archivedUrl": link.archived or None,
        "archivedAt": link.archived_at or None,
        "linkReason": link.reason or None,
    }
    return {name: value for name, value in said.items() if value is not None}
