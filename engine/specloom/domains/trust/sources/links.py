"""Link checks: whether addresses still answer, and where a copy of those is kept that do not; and new copies."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import asdict, field, replace
from urllib.parse import urlsplit

from specloom.core import Fault, Policy, Request, Response, dataclass
from specloom.domains.text import find_missing, parse, strip_markup, strip_unseen, to_host, to_registrable
from specloom.net import check_url
from specloom.plugins import Context

from ..records import Capture, LinkStatus

AT_ONCE = 8
"""Addresses that are looked at side by side (the tool contract's figure)."""
PER_HOST = 4
"""Of those, how many at one host."""
TIMEOUT = 8.0
"""Seconds for each of the at most two requests of an address (the tool contract's figure)."""
REDIRECTS = 10
BLOCKED = (403, 429, 503)
"""Statuses with which a server answers that is there and does not want programs (the tool contract's list)."""
_TOO_MANY = 429
_PAGES = frozenset(("text/html", "application/xhtml+xml", ""))
_MOST_BYTES = 512 * 1024
_TITLES = (
    "string(//title[1])",
    "string(//meta[@name='citation_title']/@content)",
    "string(//meta[@property='og:title']/@content)",
    "string((//h1)[1])",
)
"""Where a page says what it is called, the head first."""
_LONGEST_TITLE = 300
_PARKED = re.compile(
    r"(?:this|the)\s+domain(?:\s+name)?\s+(?:is|may\s+be)\s+(?:for\s+sale|parked)|buy\s+this\s+domain|domain\s+has\s+expired",
    re.IGNORECASE,
)
# A page of more words than this is about something, be it the sale of domains.
_LONGEST_OFFER = 2000
_SHORTEST_NAME = 6
FOR_SALE = "the page says that the domain is for sale"


@dataclass(frozen=True, slots=True)
class LinkCheck:
    """What became of one address.

    `live` is None when it was not looked at (it may not be asked, or is none), and when nobody at all answered.
    `status` is the HTTP status of the last answer, 0 without any. `blocked` says that the server is there and refused.
    `archived` is the address of a copy, "" without one, and `unsought` why none could be looked for; `unreached` says
    that neither the server nor the archive could be connected to. `reason` says in words why a link counts as dead or
    was not looked at. `titles` is what the page that answers calls itself, () where it was not read.
    """

    url: str
    live: bool | None
    status: int = 0
    blocked: bool = False
    archived: str = ""
    archived_at: str = ""
    unsought: str = ""
    unreached: bool = False
    reason: str = ""
    titles: tuple[str, ...] = field(default=(), compare=False)

    @property
    def readable(self) -> list[str]:
        """Where what the address stood for can be read: there, or in its archived copy."""
        return [self.url] if self.live else [self.archived] if self.archived else []

    def to_status(self) -> LinkStatus:
        """The link as tools tell it."""
        return LinkStatus(
            link_live=self.live,
            http_status=self.status if self.live is not None else None,
            archived_url=self.archived or None,
            archived_at=self.archived_at or None,
            link_reason=self.reason or None,
        )


NO_LINK = LinkCheck("", None)


async def check_links(
    context: Context, urls: Sequence[str], *, dates: Sequence[str] = (), keep_for: float = 0.0
) -> list[LinkCheck]:
    """Every address looked at, eight at a time, in the order given; of dead ones the archived copy is looked for.

    Of one host four are looked at side by side at most, and where it asks to slow down, nothing more is read from it.
    `dates` are the days (YYYY-MM-DD, "" where unknown) near which such a copy should be. What a server answered is
    remembered for `keep_for` seconds; that there was no answer is not. Where none of them answers and the archive
    cannot be reached either, it may as well be the network of this machine, and none is told as dead.
    """
    turns = asyncio.Semaphore(AT_ONCE)
    rooms: dict[str, asyncio.Semaphore] = {}
    busy: set[str] = set()
    days = [*dates, *[""] * (len(urls) - len(dates))]

    async def check(url: str, date: str) -> LinkCheck:
        async with rooms.setdefault(to_host(url), asyncio.Semaphore(PER_HOST)), turns:
            key = f"link:4:{date}:{url}"
            if keep_for and (entry := await context.recall(key)) is not None:
                return LinkCheck(**(entry.value | {"titles": tuple(entry.value["titles"])}))
            link = await check_link(context, url, busy)
            link = await find_copy(context, link, date) if link.live is False else link
            if keep_for and link.status:
                await context.keep(key, asdict(link), keep_for)
            return link

    unique = dict.fromkeys(zip(urls, days, strict=True))
    done = await asyncio.gather(*[check(url, date) for url, date in unique])
    if all(link.unreached for link in done if link.live is not None):
        done = [_leave_open(link) if link.unreached else link for link in done]
    links = dict(zip(unique, done, strict=True))
    return [links[pair] for pair in zip(urls, days, strict=True)]


def _leave_open(link: LinkCheck) -> LinkCheck:
    """A link of which nothing can be told, because nobody was reached."""
    reason = f"{link.reason.rstrip('.')}; nobody else was reached either, so it may be this machine's own network"
    return replace(link, live=None, reason=reason)


async def check_link(context: Context, url: str, busy: set[str] | None = None) -> LinkCheck:
    """One address: GET, since many servers answer a missing page with success, and HEAD where there is no answer.

    `busy` are the hosts that have asked to slow down, of which nothing is read where HEAD can say; it grows here. That
    HEAD is answered with an error says nothing, since many servers answer it wrongly.
    """
    if not url:
        return LinkCheck(url, None, reason="there is no address to look at")
    try:
        check_url(url, allow_private=context.allow_private)
    except Fault as fault:
        return LinkCheck(url, None, reason=fault.message)
    busy = set() if busy is None else busy
    problem = ""
    for method in ("HEAD", "GET") if to_host(url) in busy else ("GET", "HEAD"):
        try:
            response = await _ask(context, method, url)
        except Fault as fault:
            if fault.kind == "validation":
                return LinkCheck(url, None, reason=fault.message)
            # A large file says its length first, and nothing of it is read.
            if fault.kind == "too_large":
                return LinkCheck(url, True, 200)
            problem = problem or fault.message
            continue
        if response.status == _TOO_MANY:
            busy.add(to_host(url))
        elif method == "HEAD" and response.status < 400:
            return LinkCheck(url, True, response.status)
        elif method == "HEAD" and response.status not in BLOCKED:
            problem = problem or f"HEAD is answered with status {response.status}"
            continue
        return _judge(url, response)
    return LinkCheck(url, False, 0, reason=f"no answer: {problem}"[:300])


def _judge(url: str, response: Response) -> LinkCheck:
    if response.status in BLOCKED:
        return LinkCheck(url, True, response.status, blocked=True)
    if response.status >= 400:
        return LinkCheck(url, False, response.status, reason=f"the server answers with status {response.status}")
    if gone := find_soft_failure(url, response):
        return LinkCheck(url, False, response.status, reason=gone)
    return LinkCheck(url, True, response.status, titles=_find_titles(response))


def _find_titles(response: Response) -> tuple[str, ...]:
    """What a page calls itself in its head and its first heading, each once; () for what is no page."""
    if not _is_page(response) or not response.body:
        return ()
    root = parse(response.body[:_MOST_BYTES], response.headers.get("content-type", ""))
    titles = (" ".join(strip_unseen(str(root.xpath(path))).split())[:_LONGEST_TITLE] for path in _TITLES)
    return tuple(dict.fromkeys(filter(None, titles)))


async def find_copy(context: Context, link: LinkCheck, date: str = "") -> LinkCheck:
    """A link with the address of an archived copy, nearest to a date where one is given; as it was where none is.

    A copy of a page that was gone already, or of an error, is none.
    """
    try:
        return await _ask_for_copy(context, link, date)
    except Fault as fault:
        context.lack("snapshots", fault)
        return replace(link, unsought=fault.message, unreached=fault.unsent and not link.status)


async def _ask_for_copy(context: Context, link: LinkCheck, date: str = "") -> LinkCheck:
    """As `find_copy`, with the fault of who could not be asked."""
    answer = await context.ask("snapshots", {"url": link.url, "date": date or None})
    row = next((row for row in answer.rows if int(row.get("status_code") or 200) < 400), None)
    if row is None:
        return link
    return replace(link, archived=str(row["snapshot_url"]), archived_at=str(row.get("captured_at") or ""))


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
    there = urlsplit(response.url or url)
    is_front = there.path in ("", "/", "/index.html", "/index.php") and not there.query
    # An address certainly names one page by folders before it, and a last part that is more than a language.
    segments = [segment for segment in urlsplit(url).path.split("/") if segment]
    is_deep = len(segments) >= 2 and len(segments[-1]) >= _SHORTEST_NAME
    return "the address leads to the front page of the site" if same_site and is_front and is_deep else ""


def find_parked(text: str) -> str:
    """Why the text of a page is only the offer of its domain; "" when it is not."""
    return FOR_SALE if len(text) <= _LONGEST_OFFER and _PARKED.search(text) else ""


async def _ask(context: Context, method: str, url: str) -> Response:
    policy = Policy(
        timeout=TIMEOUT, max_bytes=_MOST_BYTES, redirects=REDIRECTS, any_host=True, allow_private=context.allow_private
    )
    accept = "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.8"
    target = str(check_url(url, allow_private=context.allow_private))
    return await context.send(Request(method, target, headers=(("Accept", accept),), policy=policy))


# --- Takes a public copy of a page in a web archive, or says honestly why there is no new one -------------------------


BUDGET = 25.0
"""Seconds that a capture may take (the tool contract's figure)."""
LONGEST_ADDRESS = 2048
"""Bytes of an address that is handed in (the tool contract's figure)."""
LONGEST_REASON = 300
_NOT_TAKEN = frozenset(
    ("bad_request", "rate_limited", "quota_exhausted", "auth_required", "config", "not_in_plan", "circuit_open")
)
"""Kinds of faults after which an archive does nothing."""
SOURCE = "web.archive.org Save Page Now"
CALENDAR = "https://web.archive.org/web/*/"
# The status of the archive that a kind of fault stands for, where it stands for one.
_STATUS = {"rate_limited": 429, "quota_exhausted": 429, "auth_required": 401, "bad_request": 400, "content_empty": 200}


async def archive(context: Context, url: str) -> Capture:
    """The record of one capture.

    Raises a `validation` fault for an address that is no public http or https one; everything else is an answer.
    """
    # Private and loopback hosts are nobody else's to keep, whatever this server may read itself.
    target = str(check_url(url.strip()))
    if len(target.encode()) > LONGEST_ADDRESS:
        raise Fault("validation", f"the address is longer than {LONGEST_ADDRESS} bytes, which no archive takes")
    capture = Capture(requested_url=url, captured=False, status="unavailable", source=SOURCE, provenance=())
    context.tell(0, 2, "asking for a capture")
    if not context.offering("archive"):
        return replace(capture, reason="no web archive is configured that takes captures")
    capture, pending = await _capture(context, target, capture)
    if capture.status == "unavailable":
        context.tell(1, 2, "looking for an earlier copy")
        copy = ""
        try:
            copy = (await _ask_for_copy(context, LinkCheck(target, None))).archived
            note = f"snapshots: {copy or 'no earlier copy was found'}"
        except Fault as fault:
            note = f"snapshots: could not be asked ({fault.message[:LONGEST_REASON]})"
        capture = replace(capture, provenance=(*capture.provenance, note))
        if copy:
            capture = replace(capture, status="existing", snapshot_url=copy)
        elif pending:
            capture = replace(capture, status="pending", poll_url=f"{CALENDAR}{target}")
    context.tell(2, 2, "done")
    return capture


async def _capture(context: Context, url: str, capture: Capture) -> tuple[Capture, bool]:
    """The record with what the archive answered, and whether a capture may still come."""
    status: int | None = None
    try:
        async with asyncio.timeout(BUDGET):
            answer = await context.ask("archive", {"url": url})
    except TimeoutError:
        reason, pending = f"the capture had not finished after {BUDGET:g} seconds", True
    except Fault as fault:
        # What is slow or down may still be done.
        reason, pending = strip_markup(fault.message)[:LONGEST_REASON], fault.kind not in _NOT_TAKEN
        status = _STATUS.get(fault.kind)
    else:
        status, row = 200, answer.rows[0] if answer.rows else {}
        if row.get("snapshot_url"):
            note, copy = (f"capture: job {row['job']} is done",), row["snapshot_url"]
            capture = replace(capture, http_status=200, snapshot_url=copy, provenance=note)
            if row.get("existing"):
                reason = "the archive had taken a copy shortly before and gave that one"
                return replace(capture, status="existing", reason=reason), False
            return replace(capture, status="archived", captured=True, archived_at=row.get("captured_at")), False
        # What an archive says quotes the pages of strangers.
        problem = strip_markup(str(row.get("problem") or ""))[:LONGEST_REASON] or "it did not say why"
        if row.get("for_good") is False:
            problem = f"{problem.rstrip('.')}; a later try may succeed"
        reason, pending = f"the archive could not take a copy: {problem}", False
    return replace(capture, http_status=status, reason=reason, provenance=(f"capture: {reason}",)), pending
