"""Reads an address: through its site's API where there is one, else through the tiers; and remembers what came."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault

from .options import to_options
from .page import Page, from_json

if TYPE_CHECKING:
    from specloom.desk import Desk

    from .options import Options
    from .reading import Candidate, Fetched, Reading
    from .station import Station

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
MOST_FROM_SITES = 1_000_000
"""Bytes of content that a site's API is asked for."""


async def read_page(desk: Desk, url: str) -> Page:
    """The whole page, read now or within the last hour; a fault that tells how every tier fared where there is none."""
    key = f"page:1:{url}"
    failed = await desk.recall(f"{key}:failed")
    if failed is not None:
        raise to_fault(failed.value)

    async def make() -> dict[str, Any]:
        try:
            return (await _read(desk, url, to_options(desk.config, allow_private=desk.allow_private))).to_json()
        except Fault as fault:
            if fault.kind not in _LOCAL:
                ttl = FAILURE_TTLS.get(fault.kind, OTHER_FAILURE_TTL)
                await desk.keep(f"{key}:failed", from_fault(fault), ttl)
            raise

    return from_json((await desk.remember(key, TTL, make)).value)


async def read_raw(desk: Desk, url: str, most: int) -> Reading:
    """The first original body that is neither empty nor a wall, cut to `most` bytes; never from a service."""
    from .ladder import read

    options = to_options(desk.config, allow_private=desk.allow_private, max_length=most)
    station = _station(desk, options)
    return await read(url, mode="raw", desk=desk, options=options, extract=_nothing, station=station)


async def _read(desk: Desk, url: str, options: Options) -> Page:
    from . import sites
    from .failures import to_fault as fault_of
    from .failures import to_outcome
    from .fetching import check_target
    from .ladder import read

    try:
        check_target(url, options)
    except Fault as fault:
        raise fault_of(url, [to_outcome("guard", "validation", fault.message)]) from None
    route = sites.match(url)
    target = url
    if route is not None:
        try:
            return _from_site(await sites.read(route, desk, max_length=MOST_FROM_SITES), url)
        except Fault as fault:
            if fault.kind == "not_found" or not route.fallback:
                raise fault_of(url, [to_outcome(route.site, _kind(fault), fault.message)]) from None
            target = route.fallback
    station = _station(desk, options)
    reading = await read(target, desk=desk, options=options, extract=_extractor(desk, station), station=station)
    page: Page = reading.candidate.payload
    quality = "partial" if reading.quality == "partial" else page.quality or "complete"
    return replace(page, url=reading.url, extracted_by=_tier(reading, page), quality=quality)


def _kind(fault: Fault) -> str:
    return fault.kind if fault.kind in {*FAILURE_TTLS, "not_found", "content_empty"} else "network"


def _tier(reading: Reading, page: Page) -> str:
    return "document" if page.content_type in {"pdf", "docx", "pptx"} else reading.tier


def _from_site(said: Any, url: str) -> Page:
    return Page(
        url=said.url or url,
        content=said.content,
        content_type=said.content_type,
        extracted_by=said.extracted_by,
        quality="complete",
        title=said.title,
        author="; ".join(said.authors),
        authors=tuple(said.authors),
        site=said.site,
        published=said.published,
        truncated=said.truncated,
        forum=dict(said.forum_signals) if said.forum_signals else None,
        repository=dict(said.repository_signals) if said.repository_signals else None,
        highlights=[dict(one) for one in said.highlights],
        stripped={"controls": said.controls} if said.controls else {},
    )


def _station(desk: Desk, options: Options) -> Station:
    """What readings share; where nothing may be reached but what the desk sends, one without browser and client."""
    from .station import StillStation, find_station

    return find_station(options) if desk.is_live else StillStation(options)


def _extractor(desk: Desk, station: Station) -> Any:
    """What makes a page of what was fetched: in this process, or in another where that is better."""
    from .reading import Candidate

    async def extract(fetched: Fetched) -> Candidate:
        if fetched.kind == "document":
            page = await from_document(fetched, apart=desk.is_live)
            return Candidate(page.content, page, page.title)
        said = {
            "kind": fetched.kind,
            "url": fetched.url,
            "content_type": fetched.content_type,
            "facts": dict(fetched.facts),
        }

        def inline() -> dict[str, Any]:
            page, frames = make_page(fetched.body, said)
            return {"page": page, "frames": frames}

        made = await station.workers.make(said, fetched.body, inline) if desk.is_live else inline()
        if "fault" in made:
            raise to_fault(made["fault"])
        page = made["page"] if isinstance(made["page"], Page) else from_json(made["page"])
        return Candidate(page.content, page, page.title, tuple(made["frames"]), whole=page.quality == "complete")

    return extract


def make_page(body: bytes, said: dict[str, Any]) -> tuple[Page, tuple[str, ...]]:
    """The page in a body that is HTML or text, and the addresses of the pages that it frames.

    `said` tells `kind`, `url`, `content_type` and `facts`.
    """
    if said["kind"] == "html":
        return from_html(body, said["url"], said["content_type"])
    return from_text(body, said["url"], said["content_type"], said["kind"], said["facts"]), ()


def _nothing(fetched: Fetched) -> Candidate:
    raise AssertionError(f"nothing is extracted in raw mode, not even from {fetched.tier}")


def from_html(body: bytes, url: str, content_type: str) -> tuple[Page, tuple[str, ...]]:
    """The page in an HTML answer, and the addresses of the pages that it frames."""
    from .extract import extract

    found = extract(body, url=url, content_type=content_type)
    about = found.metadata
    page = Page(
        url=url,
        content=found.markdown,
        content_type="html",
        quality=found.quality,
        title=about.title,
        author=about.author,
        authors=about.authors,
        site=about.site,
        published=about.published,
        modified=about.modified,
        language=about.language,
        description=about.description,
        page_type=found.page_type,
        declared_doi=about.doi,
        types=found.types,
        structured=found.structured.to_json() if found.structured else None,
        forum=found.forum.to_json() if found.forum else None,
        stripped={name: count for name, count in asdict(found.stripped).items() if count},
    )
    return page, found.frames


async def from_document(fetched: Fetched, *, apart: bool) -> Page:
    """The page in a PDF or an office document, read in a process of its own where one may be started."""
    from .documents import read
    from .documents.apart import read_apart

    if apart:
        found = await read_apart(fetched.body, fetched.content_type, fetched.url)
    else:
        found = read(fetched.body, fetched.content_type, fetched.url)
    return Page(
        url=fetched.url,
        content=found.text,
        content_type=found.kind,
        quality="complete",
        title=found.title,
        author="; ".join(found.authors),
        authors=tuple(found.authors),
        published=found.published,
        modified=found.modified,
        language=found.language,
        pages=found.pages,
        document=dict(found.metadata),
        truncated=found.truncated,
    )


def from_text(body: bytes, url: str, content_type: str, kind: str, facts: dict[str, Any]) -> Page:
    """The page in an answer that is text already: Markdown, a reader service's answer, JSON, source."""
    from .charset import decode
    from .invisible import clean

    text = clean(decode(body, content_type).text)[0].strip()
    kind = "markdown" if kind == "markdown" else "text"
    title = str(facts.get("title") or "") or (_heading(text) if kind == "markdown" else "")
    author = str(facts.get("author") or "")
    return Page(
        url=url,
        content=text,
        content_type=kind,
        title=title,
        author=author,
        authors=(author,) if author else (),
        published=str(facts.get("published") or ""),
    )


def _heading(text: str) -> str:
    for line in text.split("\n", 40)[:40]:
        if line.startswith("# "):
            return line[2:].strip()
    return ""


def from_fault(fault: Fault) -> dict[str, Any]:
    """A fault as JSON data, from which `to_fault` makes it again."""
    return {
        "kind": fault.kind,
        "message": fault.message,
        "detail": fault.detail,
        "retry_after": fault.retry_after,
        "action": fault.action,
    }


def to_fault(said: dict[str, Any]) -> Fault:
    """The fault that `from_fault` made the data of."""
    return Fault(
        said["kind"],
        said["message"],
        detail=said["detail"],
        retry_after=said["retry_after"],
        action=said["action"],
    )
