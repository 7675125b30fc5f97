"""Reads an address: through its site's API where there is one, else through the tiers; and remembers what came."""

from __future__ import annotations

from dataclasses import asdict, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, clean
from specloom.domains.text import to_host

from .browser.browser import find_browser
from .excerpt import drop_copies
from .options import to_options
from .result import Page, from_json

if TYPE_CHECKING:
    from specloom.plugins import Context

    from .documents.document import Document
    from .fetch.session import FetchSession
    from .options import Options
    from .result import Candidate, Fetched, Reading, TierOutcome


# --- Under which key a page is remembered, and for how long it is remembered that one cannot be read ------------------


TTL = 3600.0
"""Seconds for which a page is remembered (the tool contract's figure)."""
FAILURE_TTLS = {
    "browser_unavailable": 4 * 3600.0,
    "blocked": 1800.0,
    "auth_required": 1800.0,
    "rate_limited": 90.0,
    "network": 120.0,
}
"""Seconds for which it is remembered that a page cannot be read, by the kind of fault (the tool contract's figures)."""
OTHER_FAILURE_TTL = 600.0
# What is said of an address without asking anybody is not worth remembering.
_LOCAL = frozenset({"validation", "config", "internal"})


def to_key(url: str, options: Options) -> str:
    """The key of a page: its address, and what else decides whether and how it is read.

    So a server that is started anew with a browser reads what it could not, and one with other allowed domains tells
    nothing of what it may no longer read.
    """
    means = (
        options.allow_private,
        options.allowed_domains,
        options.identity,
        options.robots,
        options.reader,
        options.max_html_bytes,
        options.max_document_bytes,
        find_browser(options.chrome).path,
    )
    return f"page:3:{sha256(repr(means).encode()).hexdigest()[:16]}:{url}"


def to_failure_ttl(fault: Fault) -> float:
    """For how many seconds a fault is told again instead of asking anew; never longer than its host wants to rest."""
    if fault.kind in _LOCAL:
        return 0.0
    ttl = FAILURE_TTLS.get(fault.kind, OTHER_FAILURE_TTL)
    return min(ttl, fault.retry_after or ttl) if fault.kind == "rate_limited" else ttl


_FAULT = ("kind", "message", "detail", "retry_after", "action")


def from_fault(fault: Fault) -> dict[str, Any]:
    """A fault as JSON data, from which `to_fault` makes it again."""
    return {name: getattr(fault, name) for name in _FAULT}


def to_fault(data: dict[str, Any]) -> Fault:
    """The fault that `from_fault` made the data of."""
    return Fault(**{name: data[name] for name in _FAULT})


FAILED = "failed"
"""Under which name it is remembered in place of a page that it could not be read, and why."""
_PICTURES = "Pages that are pictures have text that was not read:"
MOST = 1_000_000
"""Bytes of content that a site's API, or a service that reads for us, is asked for: a page is remembered whole."""


async def read_page(context: Context, url: str) -> Page:
    """The whole page, read now or within the last hour; a fault that tells how every tier fared where there is none."""
    return (await read_kept(context, url))[0]


async def read_kept(context: Context, url: str) -> tuple[Page, bool]:
    """The whole page as `read_page` gives it, and whether it was fetched now."""
    options = to_options(context.config, allow_private=context.allow_private, max_length=MOST)
    key = to_key(url, options)

    async def make() -> dict[str, Any]:
        try:
            return (await _read(context, url, options)).to_json()
        except Fault as fault:
            if ttl := to_failure_ttl(fault):
                await context.keep(key, {FAILED: from_fault(fault)}, ttl)
            raise

    kept = await context.remember(key, TTL, make)
    if FAILED in kept.value:
        raise to_fault(kept.value[FAILED])
    return from_json(kept.value), not kept.ttl


def whole_text(page: Page) -> str:
    """The text of a page of which offsets count the characters: clean, and without what the page has twice."""
    text = drop_copies(page.content) if page.content_type in {"html", "markdown"} else page.content
    return clean(text)[0]


async def read_raw(context: Context, url: str, most: int) -> Reading:
    """The first original body that is neither empty nor a wall, cut to `most` bytes; never from a service."""
    from .fetch.fallback import read

    options = to_options(context.config, allow_private=context.allow_private, max_length=most)
    session = _session(context, options)
    return await read(url, mode="raw", context=context, options=options, extract=_nothing, session=session)


async def _read(context: Context, url: str, options: Options) -> Page:
    """The page at an address, or at that of a site with an API to which it leads: one step, from which none follows."""
    from .fetch.http import Elsewhere

    try:
        return await _read_at(context, url, replace(options, is_site=lambda at: context.find_site(at) is not None))
    except Elsewhere as other:
        return await _read_at(context, other.url, options)


async def _read_at(context: Context, url: str, options: Options) -> Page:
    from .fetch.block_pages import to_route
    from .fetch.failures import choose_fault, to_outcome
    from .fetch.failures import to_fault as fault_of
    from .fetch.fallback import read
    from .fetch.http import check_target
    from .sites import to_page

    try:
        check_target(url, options)
    except Fault as fault:
        raise fault_of(url, [to_outcome("guard", "validation", fault.message)]) from None
    route = context.find_site(url)
    told: Fault | None = None
    if route is not None:
        try:
            return to_page(await context.read_site(route), url, MOST)
        except Fault as fault:
            rest = fault.retry_after if fault.kind == "rate_limited" else None
            told = fault_of(url, [_to_outcome(route.name, fault)], retry_after=rest)
            if fault.kind == "not_found" or not route.fallback:
                raise told from None
        options = replace(options, is_site=None)
    session = _session(context, options)
    target = route.fallback if route else url
    try:
        with session.workers.coming():
            reading = await read(
                target, context=context, options=options, extract=_extractor(context, session), session=session
            )
    except Fault as fault:
        raise fault if told is None else choose_fault(told, fault) from None
    page: Page = reading.candidate.payload
    quality = "partial" if reading.quality == "partial" else page.quality or "complete"
    if (shown := to_route(url)) and reading.tier != "browser":
        quality = "partial"
        page = replace(page, lack=f"This is the page without {shown[:80]}, which only a browser can follow.")
    detour = _tell_detour(url, told, reading)
    return replace(page, url=reading.url, extracted_by=_tier(reading, page), quality=quality, detour=detour)


def _tell_detour(url: str, told: Fault | None, reading: Reading) -> str:
    """Where a page was read that did not come from its own address as it should; "" where it did.

    A service may have it from another time, and the page beside an API may have less.
    """
    host = to_host(url)
    if reading.by_service:
        kind = next((outcome.kind for outcome in reading.outcomes if outcome.kind != "ok"), "")
        why = f" ({kind.replace('_', ' ')})" if kind else ""
        return f"{host} itself gave no text{why}; this is a service's copy ({reading.tier}), which may be older."
    if told is not None:
        return f"The API of {host} gave nothing ({told.kind.replace('_', ' ')}); this was read from the page itself."
    return ""


def _to_outcome(site: str, fault: Fault) -> TierOutcome:
    """How the API of a site fared. That there is nothing to read on a page that it has, only it can say why."""
    from .fetch.failures import from_reader, to_outcome

    if fault.kind == "content_empty":
        return from_reader(site, fault)
    return to_outcome(site, fault.kind if fault.kind in {*FAILURE_TTLS, "not_found"} else "network", fault.message)


def _tier(reading: Reading, page: Page) -> str:
    return "document" if page.content_type in {"pdf", "docx", "pptx", "xlsx"} else reading.tier


def _session(context: Context, options: Options) -> FetchSession:
    """What readings share; where nothing may be reached but what the context sends, one without browser and client."""
    from .fetch.session import OfflineFetchSession, find_session

    return find_session(options, make_answer) if context.is_live else OfflineFetchSession(options, make_answer)


def _extractor(context: Context, session: FetchSession) -> Any:
    """What makes a page of what was fetched: in this process, or in another where that is better."""
    from .result import Candidate

    async def extract(fetched: Fetched) -> Candidate:
        if fetched.kind == "document":
            page = await from_document(fetched, apart=context.is_live)
            return Candidate(page.content, page, page.title)
        head = {
            "kind": fetched.kind,
            "url": fetched.url,
            "content_type": fetched.content_type,
            "facts": dict(fetched.facts),
        }

        def inline() -> dict[str, Any]:
            page, frames = make_page(fetched.body, head)
            return {"page": page, "frames": frames}

        made = await session.workers.make(head, fetched.body, inline) if context.is_live else inline()
        if "fault" in made:
            raise to_fault(made["fault"])
        page = made["page"] if isinstance(made["page"], Page) else from_json(made["page"])
        # Nobody else is given more of a page that keeps a part of it back.
        whole = page.quality == "complete" or bool(page.lack)
        return Candidate(page.content, page, page.title, tuple(made["frames"]), whole=whole)

    return extract


async def read_given(context: Context, html: str, url: str) -> Page:
    """The page in HTML that was fetched already, from `url`; nobody is asked for anything."""
    from .result import Fetched

    session = _session(context, to_options(context.config, allow_private=context.allow_private))
    headers = {"content-type": "text/html; charset=utf-8"}
    fetched = Fetched(html.encode("utf-8", "replace"), url, "given", "html", headers)
    page: Page = (await _extractor(context, session)(fetched)).payload
    return page


def make_page(body: bytes, head: dict[str, Any]) -> tuple[Page, tuple[str, ...]]:
    """The page in a body that is HTML or text, and the addresses of the pages that it frames.

    `head` tells `kind`, `url`, `content_type` and `facts`.
    """
    if head["kind"] == "html":
        return from_html(body, head["url"], head["content_type"])
    from .html.text_pages import from_text

    return from_text(body, head["url"], head["content_type"], head["kind"], head["facts"]), ()


def make_answer(body: bytes, head: dict[str, Any]) -> dict[str, Any]:
    """What `make_page` gives as JSON data, or the fault that there is instead: the work of a process of its own."""
    try:
        page, frames = make_page(body, head)
    except Fault as fault:
        return {"fault": from_fault(fault)}
    except (MemoryError, RecursionError) as error:
        return {"fault": from_fault(Fault("too_large", f"The page needs more memory than it may take ({error!r})."))}
    except Exception as error:  # noqa: BLE001 - a defect of one page must not end the process that others wait for
        return {"fault": from_fault(Fault("internal", f"The page could not be read because of a defect: {error!r}"))}
    return {"page": page.to_json(), "frames": list(frames)}


def _nothing(fetched: Fetched) -> Candidate:
    raise AssertionError(f"nothing is extracted in raw mode, not even from {fetched.tier}")


_FACTS = ("title", "author", "authors", "site", "published", "modified", "language", "description")
"""What a page says of itself under the same names in its metadata."""


def from_html(body: bytes, url: str, content_type: str) -> tuple[Page, tuple[str, ...]]:
    """The page in an HTML answer, and the addresses of the pages that it frames."""
    from .extract import extract

    extracted = extract(body, url=url, content_type=content_type)
    about = extracted.metadata
    page = Page(
        url=url,
        content=extracted.markdown,
        content_type="html",
        quality=extracted.quality,
        **{name: getattr(about, name) for name in _FACTS},
        page_type=extracted.page_type,
        declared_doi=about.doi,
        types=extracted.types,
        structured=extracted.structured.to_json() if extracted.structured else None,
        forum=extracted.forum.to_json() if extracted.forum else None,
        stripped={name: count for name, count in asdict(extracted.stripped).items() if count},
        lack=extracted.lack,
    )
    return page, extracted.frames


_DOCUMENT_FACTS = ("title", "authors", "published", "modified", "language", "pages", "truncated")


async def from_document(fetched: Fetched, *, apart: bool) -> Page:
    """The page in a PDF or an office document, read in a process of its own where one may be started.

    One with pages that are pictures is partial, however much text the others have.
    """
    from .documents.document import PAGES_WITHOUT_TEXT
    from .documents.read import read, read_apart

    if apart:
        document = await read_apart(fetched.body, fetched.content_type, fetched.url)
    else:
        document = read(fetched.body, fetched.content_type, fetched.url)
    pictures = document.metadata.get(PAGES_WITHOUT_TEXT, "")
    return Page(
        url=fetched.url,
        content=document.text,
        content_type=document.kind,
        quality="partial" if pictures else "complete",
        author="; ".join(document.authors),
        document=dict(document.metadata),
        **{name: getattr(document, name) for name in _DOCUMENT_FACTS},
        stripped=dict(document.stripped),
        lack=" ".join(filter(None, (_tell_cut(document), pictures and f"{_PICTURES} {pictures}."))),
    )


def _tell_cut(document: Document) -> str:
    """How much of a document was read, where that is not all, and what to do; "" where it is."""
    if not document.truncated:
        return ""
    unit = "slides" if document.kind == "pptx" else "pages"
    is_counted = 0 < document.pages_read < document.pages
    what = (
        f"The first {document.pages_read} of {document.pages} {unit} were" if is_counted else "Only the beginning was"
    )
    return f"{what} read of this file, which is larger than what is read at once; look for its parts as files."
