"""One reading on its way up the tiers: what was tried, what was best, and what each answer means for the next one."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from specloom.core import Fault

from ..result import Candidate, Fetched, Kind, Mode, Reading, TierOutcome
from .block_pages import is_app, is_challenge, is_spa_host, to_route
from .content_type import is_document_url, is_markdown, is_source_url
from .failures import ROBOTS, from_fault, from_status, to_outcome
from .http import Way, check_target, fetch, load_persona
from .politeness import SHORT_REST

if TYPE_CHECKING:
    from specloom.net import ParsedUrl
    from specloom.plugins import Context

    from ..browser.browser import Browser
    from ..options import Options
    from .politeness import Politeness
    from .stealth import Stealth


Extractor = Callable[[Fetched], Candidate | Awaitable[Candidate]]


@dataclass(slots=True)
class Attempt:
    """One reading on its way up: what was tried, and the best that was seen."""

    url: str
    mode: Mode
    options: Options
    extract: Extractor
    outcomes: list[TierOutcome] = field(default_factory=list)
    best: Reading | None = None
    best_score: float = 0.0
    last_body: bytes = b""
    frames: tuple[str, ...] = ()
    followed: set[str] = field(default_factory=set)
    stopped: bool = False
    local: bool = True
    """Whether it is any use to ask the page's host again."""
    oversize: bool = False
    """The page is larger than may be fetched; a browser can still take the beginning of it."""
    retry_after: int | None = None
    scripted: bool = False
    """An answer had nothing to read and scripts that might bring it."""
    gone: bool = False
    """An answer says that there is no such page, and no script is to make it say something else."""


def note_fault(climb: Attempt, rung: Tier, fault: Fault) -> None:
    """A tier that gave no answer."""
    climb.outcomes.append(from_fault(rung.name, fault, service=not rung.local))
    if fault.kind == "rate_limited" and rung.local:
        climb.retry_after = fault.retry_after
        climb.local = False
    if fault.kind == "validation" and rung.local:
        climb.stopped = True
        climb.best = None
    if fault.detail == ROBOTS:
        # Who obeys a site's wishes does not have its pages read by others either.
        climb.stopped = True
    climb.oversize = climb.oversize or (rung.local and fault.kind == "too_large")
    if rung.local and fault.kind == "network" and _is_unreachable(fault):
        climb.local = False


def note_status(climb: Attempt, rung: Tier, fetched: Fetched, kind: str) -> None:
    """An answer whose status says that it is none, which means `kind`."""
    outcome = from_status(fetched.tier, fetched.status, kind)
    if kind in ("rate_limited", "network") and is_challenge(fetched.body, fetched.headers):
        # However often and whenever one asks again, this is what comes.
        kind = "blocked"
        outcome = to_outcome(fetched.tier, kind, f"HTTP {fetched.status}, a wall against robots")
    climb.outcomes.append(outcome)
    if kind == "rate_limited" and rung.local:
        rest = rung.rest(fetched.url)
        climb.retry_after = rest or climb.retry_after
        # A short rest is waited for by the next tier's turn.
        climb.local = rest <= SHORT_REST
    # A page that is gone is gone for everyone; one that is missing may only be missing for robots, so it is asked for
    # once more under the other identity, and then believed.
    missing = sum(1 for outcome in climb.outcomes if outcome.kind == "not_found")
    if kind == "not_found" and (fetched.status == 410 or missing > 1 or climb.options.identity == "honest"):
        climb.stopped = True


def note_missing(climb: Attempt, fetched: Fetched) -> None:
    """A page that says itself that there is none: asked for once more under the other identity, as one with a 404."""
    fault = Fault(
        "not_found", f"it came with status {fetched.status}, but says that there is no such page. Check the URL."
    )
    before = any(outcome.kind == "not_found" for outcome in climb.outcomes)
    climb.outcomes.append(
        replace(to_outcome(fetched.tier, fault.kind, "a page that says that it is missing"), fault=fault)
    )
    climb.best = None
    climb.gone = not (fetched.kind == "html" and is_app(fetched.body))
    climb.stopped = fetched.tier == "browser" or (climb.gone and (before or climb.options.identity == "honest"))


def _is_unreachable(fault: Fault) -> bool:
    """Whether no other way of asking can reach the host: its name has no address, or nobody listens there."""
    return fault.message.endswith(("the name does not resolve.", "the connection was refused."))


# --- The rungs of the ladder: what each tier sends, and in which order they are tried for an address ------------------


READER = "reader"
CONTENTS = "contents"
"""The capabilities that services are asked for: both give rows with `text`, and `contents` says its `source` too."""


_FACTS = {"title": "title", "author": "author", "published": "published_at"}


class TierServices(Protocol):
    """What the tiers need of what readings share: turns, the browser, the client that looks like one, robots.txt."""

    politeness: Politeness
    browser: Browser

    def stealth(self) -> Stealth | None:
        """The client with the TLS of a browser, where there is one."""

    def robots_for(self, context: Context, options: Options) -> Callable[[ParsedUrl], Awaitable[float | None]] | None:
        """What refuses hops that robots.txt closes, where it is to be obeyed."""

    async def render(self, url: str, *, owner: str, options: Options, now: Callable[[], float]) -> Fetched:
        """The document that a browser makes of an address."""


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier for one address: `local` ones ask the page's own host; `rest` tells how long that host wants none."""

    name: str
    run: Callable[[], Awaitable[Fetched]]
    local: bool
    rest: Callable[[str], int]


def choose_rungs(
    url: str, *, mode: Mode, context: Context, options: Options, station: TierServices, depth: int = 0
) -> Iterator[Tier]:
    """The tiers in the order in which they are tried. Services see neither raw readings nor pages of iframes."""
    host = urlsplit(url).hostname or ""

    def rest(of: str) -> int:
        return math.ceil(station.politeness.rest_of(urlsplit(of).hostname or host))

    def local(name: str, run: Callable[[], Awaitable[Fetched]]) -> Tier:
        return Tier(name, run, local=True, rest=rest)

    def service(name: str, run: Callable[[], Awaitable[Fetched]]) -> Tier:
        return Tier(name, run, local=False, rest=rest)

    browser = local("browser", lambda: render(url, context, options, station))
    document = is_document_url(url)
    early = (is_spa_host(host) or bool(to_route(url))) and not document and station.browser.is_available(options.chrome)
    if early:
        yield browser
    yield local("html", lambda: ask_plainly(url, context, options, station, raw=mode == "raw"))
    if options.identity == "browser":
        yield local("stealth", lambda: ask_as_browser(url, context, options, station, raw=mode == "raw"))
    services = mode != "raw" and depth == 0
    if services and options.reader and context.offering(READER):
        yield service("jina", lambda: ask_service(url, READER, "jina", context, options))
    if not early and not document:
        yield browser
    if services and options.paid and context.offering(CONTENTS):
        yield service("exa", lambda: ask_service(url, CONTENTS, "exa", context, options))


async def ask_plainly(
    url: str, context: Context, options: Options, station: TierServices, *, raw: bool = False
) -> Fetched:
    """The answer to one honest request that prefers Markdown; its tier is `markdown` where it is, else `html`."""
    way = Way("html", load_persona("honest").headers, context.send, _limit(url, options.plain_timeout, options))
    fetched = await _fetch(url, way, context, options, station, raw=raw)
    if raw or fetched.status >= 400:
        return fetched
    if fetched.kind == "markdown" or (fetched.kind == "text" and "text/plain" in fetched.content_type):
        text = fetched.body.decode("utf-8", "replace")
        source = fetched.kind == "text" and is_source_url(fetched.url)
        if not source and is_markdown(text):
            return replace(fetched, tier="markdown", kind="markdown")
        return replace(fetched, kind="text")
    return fetched


async def ask_as_browser(
    url: str, context: Context, options: Options, station: TierServices, *, raw: bool = False
) -> Fetched:
    """The answer to a request that looks like a desktop browser's: in its TLS too, where that can be done."""
    stealth = station.stealth()
    limit = _limit(url, options.stealth_timeout, options)
    if stealth is not None:
        way = Way("stealth", stealth.headers, stealth.send, limit)
    else:
        way = Way("stealth", load_persona("browser").headers, context.send, limit)
    return await _fetch(url, way, context, options, station, raw=raw)


async def render(url: str, context: Context, options: Options, station: TierServices) -> Fetched:
    """The document as a browser has it after its scripts ran."""
    allow = station.robots_for(context, options)
    if allow is not None:
        await allow(check_target(url, options))
    return await station.render(url, owner=context.owner, options=options, now=context.now)


async def ask_service(url: str, capability: str, label: str, context: Context, options: Options) -> Fetched:
    """The text that a service made of a page; `content_empty` where it has none."""
    try:
        async with asyncio.timeout(options.service_timeout):
            # Without its fragment, which no server ever sees.
            asked = {"url": str(check_target(url, options)), "max_length": options.max_length}
            answer = await context.ask(capability, asked)
    except TimeoutError:
        raise Fault("network", f"no answer within {options.service_timeout:g} seconds") from None
    row: dict[str, Any] = answer.rows[0] if answer.rows else {}
    text = str(row.get("text") or "").strip()
    if not text:
        raise Fault("content_empty", "no extractable content")
    tier = f"{label}:{row.get('source') or 'ok'}" if capability == CONTENTS else label
    facts = {name: row[key] for name, key in _FACTS.items() if row.get(key)}
    kind: Kind = "markdown" if capability == READER else "text"
    headers = {"content-type": f"text/{'markdown' if kind == 'markdown' else 'plain'}; charset=utf-8"}
    return Fetched(text.encode("utf-8", "replace"), str(row.get("url") or url), tier, kind, headers, facts=facts)


def _limit(url: str, usual: float, options: Options) -> float:
    """The seconds for the answer to one tier: documents are large, and get more."""
    return options.document_timeout if is_document_url(url) else usual


async def _fetch(
    url: str, way: Way, context: Context, options: Options, station: TierServices, *, raw: bool
) -> Fetched:
    allow = station.robots_for(context, options)
    return await fetch(
        url,
        way,
        options=options,
        politeness=station.politeness,
        owner=context.owner,
        now=context.now,
        follow_pages=not raw,
        beginning=options.max_length if raw else None,
        allow=allow,
    )
