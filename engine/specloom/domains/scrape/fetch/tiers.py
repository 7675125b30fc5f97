"""The tiers of the fallback chain: what each sends, what an attempt has seen, and what that means for the next one."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from specloom.core import Fault, dataclass

from ..result import Candidate, Fetched, Kind, Mode, Reading, TierOutcome
from .block_pages import is_app, is_challenge, is_spa_host, to_route
from .content_type import is_document_url, is_markdown, is_source_url
from .failures import ROBOTS, from_fault, from_status, to_outcome
from .http import Headers, Send, Way, check_target, fetch, load_persona
from .politeness import SHORT_REST

if TYPE_CHECKING:
    from specloom.plugins import Context

    from ..options import Options
    from .session import FetchSession


Extractor = Callable[[Fetched], Candidate | Awaitable[Candidate]]

READER = "reader"
CONTENTS = "contents"
"""The capabilities that services are asked for: both give rows with `text`, and `contents` says its `source` too."""
_FACTS = {"title": "title", "author": "author", "published": "published_at"}


@dataclass(slots=True)
class Attempt:
    """One reading on its way up the tiers: what it is of, what was tried, and the best that was seen."""

    url: str
    mode: Mode
    context: Context
    options: Options
    extract: Extractor
    session: FetchSession
    depth: int = 0
    """1 for the page of an iframe."""
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

    def rest_of(self, url: str) -> int:
        """The seconds for which the host of an address wants no request."""
        host = urlsplit(url).hostname or urlsplit(self.url).hostname or ""
        return math.ceil(self.session.politeness.rest_of(host))


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier for one address; `local` ones ask the page's own host."""

    name: str
    run: Callable[[], Awaitable[Fetched]]
    local: bool = True


def choose_tiers(attempt: Attempt) -> Iterator[Tier]:
    """The tiers in the order in which they are tried. Services see neither raw readings nor pages of iframes."""
    url, options, offering = attempt.url, attempt.options, attempt.context.offering
    browser = Tier("browser", lambda: render(attempt))
    document = is_document_url(url)
    scripted = is_spa_host(urlsplit(url).hostname or "") or bool(to_route(url))
    early = scripted and not document and attempt.session.browser.is_available(options.chrome)
    services = attempt.mode != "raw" and not attempt.depth
    if early:
        yield browser
    yield Tier("html", lambda: ask_plainly(attempt))
    if options.identity == "browser":
        yield Tier("stealth", lambda: ask_as_browser(attempt))
    if services and options.reader and offering(READER):
        yield Tier("jina", lambda: ask_service(attempt, READER, "jina"), local=False)
    if not early and not document:
        yield browser
    if services and options.paid and offering(CONTENTS):
        yield Tier("exa", lambda: ask_service(attempt, CONTENTS, "exa"), local=False)


async def ask_plainly(attempt: Attempt) -> Fetched:
    """The answer to one honest request that prefers Markdown; its tier is `markdown` where it is, else `html`."""
    headers = load_persona("honest").headers
    fetched = await _fetch(attempt, "html", headers, attempt.context.send, attempt.options.plain_timeout)
    if attempt.mode == "raw" or fetched.status >= 400:
        return fetched
    if fetched.kind == "markdown" or (fetched.kind == "text" and "text/plain" in fetched.content_type):
        source = fetched.kind == "text" and is_source_url(fetched.url)
        if not source and is_markdown(fetched.body):
            return replace(fetched, tier="markdown", kind="markdown")
        return replace(fetched, kind="text")
    return fetched


async def ask_as_browser(attempt: Attempt) -> Fetched:
    """The answer to a request that looks like a desktop browser's: in its TLS too, where that can be done."""
    stealth = attempt.session.stealth()
    headers = stealth.headers if stealth else load_persona("browser").headers
    send = stealth.send if stealth else attempt.context.send
    return await _fetch(attempt, "stealth", headers, send, attempt.options.stealth_timeout)


async def render(attempt: Attempt) -> Fetched:
    """The document as a browser has it after its scripts ran."""
    context, options = attempt.context, attempt.options
    allow = attempt.session.robots_for(context, options)
    if allow is not None:
        await allow(check_target(attempt.url, options))
    return await attempt.session.render(attempt.url, owner=context.owner, options=options, now=context.now)


async def ask_service(attempt: Attempt, capability: str, label: str) -> Fetched:
    """The text that a service made of a page; `content_empty` where it has none."""
    options = attempt.options
    try:
        async with asyncio.timeout(options.service_timeout):
            # Without its fragment, which no server ever sees.
            arguments = {"url": str(check_target(attempt.url, options)), "max_length": options.max_length}
            answer = await attempt.context.ask(capability, arguments)
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
    url = str(row.get("url") or attempt.url)
    return Fetched(text.encode("utf-8", "replace"), url, tier, kind, headers, facts=facts)


async def _fetch(attempt: Attempt, tier: str, headers: Headers, send: Send, seconds: float) -> Fetched:
    context, options, raw = attempt.context, attempt.options, attempt.mode == "raw"
    # Documents are large, and get more time.
    limit = options.document_timeout if is_document_url(attempt.url) else seconds
    return await fetch(
        attempt.url,
        Way(tier, headers, send, limit),
        options=options,
        politeness=attempt.session.politeness,
        owner=context.owner,
        now=context.now,
        follow_pages=not raw,
        beginning=options.max_length if raw else None,
        allow=attempt.session.robots_for(context, options),
    )


# --- What the answer of a tier means for the next one -----------------------------------------------------------------


def note_fault(attempt: Attempt, tier: Tier, fault: Fault) -> None:
    """A tier that gave no answer."""
    attempt.outcomes.append(from_fault(tier.name, fault, service=not tier.local))
    if fault.kind == "rate_limited" and tier.local:
        attempt.retry_after = fault.retry_after
        attempt.local = False
    if fault.kind == "validation" and tier.local:
        attempt.stopped = True
        attempt.best = None
    if fault.detail == ROBOTS:
        # Who obeys a site's wishes does not have its pages read by others either.
        attempt.stopped = True
    attempt.oversize = attempt.oversize or (tier.local and fault.kind == "too_large")
    if tier.local and fault.kind == "network" and _is_unreachable(fault):
        attempt.local = False


def note_status(attempt: Attempt, tier: Tier, fetched: Fetched, kind: str, *, is_final: bool = False) -> None:
    """An answer whose status says that it is none, which means `kind`.

    `is_final` says of one with a 404 that its text says the same: people are shown it too.
    """
    outcome = from_status(fetched.tier, fetched.status, kind)
    if kind in ("rate_limited", "network") and is_challenge(fetched.body, fetched.headers):
        # However often and whenever one asks again, this is what comes.
        kind = "blocked"
        outcome = to_outcome(fetched.tier, kind, f"HTTP {fetched.status}, a wall against robots")
    attempt.outcomes.append(outcome)
    if kind == "rate_limited" and tier.local:
        rest = attempt.rest_of(fetched.url)
        attempt.retry_after = rest or attempt.retry_after
        # A short rest is waited for by the next tier's turn.
        attempt.local = rest <= SHORT_REST
    # A page that is gone is gone for everyone; one that is missing may only be missing for robots, so it is asked for
    # once more under the other identity, and then believed.
    missing = sum(1 for outcome in attempt.outcomes if outcome.kind == "not_found")
    is_final = is_final or fetched.status == 410 or missing > 1 or attempt.options.identity == "honest"
    attempt.stopped = attempt.stopped or (kind == "not_found" and is_final)


def note_missing(attempt: Attempt, fetched: Fetched) -> None:
    """A page that says itself that there is none: asked for once more under the other identity, as one with a 404."""
    fault = Fault(
        "not_found", f"it came with status {fetched.status}, but says that there is no such page. Check the URL."
    )
    before = any(outcome.kind == "not_found" for outcome in attempt.outcomes)
    attempt.outcomes.append(
        replace(to_outcome(fetched.tier, fault.kind, "a page that says that it is missing"), fault=fault)
    )
    attempt.best = None
    attempt.gone = not (fetched.kind == "html" and is_app(fetched.body))
    attempt.stopped = fetched.tier == "browser" or (attempt.gone and (before or attempt.options.identity == "honest"))


def _is_unreachable(fault: Fault) -> bool:
    """Whether no other way of asking can reach the host: its name has no address, or nobody listens there."""
    return fault.message.endswith(("the name does not resolve.", "the connection was refused."))
