"""Reads several sources at once, and makes one answer of them: scored, ranked, without what several of them repeat."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specloom.core import KINDS, Fault
from specloom.domains.text import to_plain
from specloom.domains.trust import classify
from specloom.plugins import JsonObject

from ..excerpt import FEW_WORDS, count_bytes, count_words, estimate_tokens, to_size_category, truncate
from ..fetch.failures import to_fault, to_outcome
from ..html.markdown_source import strip
from ..present import find_page_doi, has_citation
from ..read import read_page
from ..records import Scores, SourceFailure, SourceResult, SourcesRequest, SourcesResult, SourcesSummary, TextSize
from ..result import Page
from .rank import Rest, make_components, name_copies, recommend, score, tell_once

if TYPE_CHECKING:
    from specloom.domains.trust import Coverage
    from specloom.plugins import Context


AT_ONCE = 5
"""Sources that are read side by side (the tool contract's figure)."""
PATIENCE = 5.0
"""Seconds after which a source that is still read gives its turn to the next one, so that hosts that hang hold no other
up."""
ENOUGH = 50.0
"""Seconds after which what was read is told and the rest given up: with the search, the minute that the tool contract
has for a call, and that clients wait."""
LEAST_RELEVANCE = 0.3
"""Relevance below which filtering drops a source (the tool contract's figure)."""
SEPARATOR = "\n\n---\n\n"
CUT = "\n\n[Cut here: more was read, and total_max_length has no room for it.]"
PASSAGES = "text/plain"
"""The type of a source that was found together with its text (the tool contract's)."""
TRUST = "untrusted-external-content"
NOTE = (
    "None of the sources could be read. Pages that need a browser are read when Chromium or Chrome is installed; "
    "scrapeFailures say what stood in the way of each."
)
LEFT_OUT = (
    "Left out by filter_by_query, because they have little of the query: {count} of {read} sources that were read. "
    "Ask without it to see them."
)
NO_EVIDENCE = "What each source has of the claim is told with the sources only: ask with include_sources."
_MOST_CLAIM = 2000
_NO_BRACKETS = str.maketrans("[]", "()")


@dataclass(frozen=True, slots=True)
class _GatheredSource:
    """One source that was read."""

    row: JsonObject
    page: Page
    scores: Scores
    words: int


async def gather_sources(context: Context, request: SourcesRequest) -> SourcesResult:
    """All sources: those that were read, best first, and why the others could not be."""
    began = context.now()
    rows = list({str(row["url"]): row for row in reversed(request.found) if row.get("url")}.values())[::-1]
    turns, done = asyncio.Semaphore(AT_ONCE), 0
    end = asyncio.get_running_loop().time() + ENOUGH

    async def read(row: JsonObject) -> Page | Fault:
        nonlocal done
        url = str(row["url"])
        if row.get("text"):
            return _from_passages(row)
        try:
            async with asyncio.timeout_at(end):
                return await _read_in_turn(context, url, turns)
        except Fault as fault:
            return fault
        except TimeoutError:
            return to_fault(url, [to_outcome("all", "network", f"not read within the {ENOUGH:g} seconds of this call")])
        finally:
            done += 1
            context.tell(done, len(rows), f"read {done} of {len(rows)} sources")

    pages = await asyncio.gather(*[read(row) for row in rows])
    sources: list[_GatheredSource] = []
    failures: list[SourceFailure] = []
    for row, page in zip(rows, pages, strict=True):
        if isinstance(page, Fault):
            failures.append(_tell_failure(row, page))
        else:
            sources.append(_to_source(row, page, request, context.now()))
    sparse = sum(source.words < FEW_WORDS for source in sources)
    sources.sort(key=lambda source: -source.scores.overall)
    read_well = len(sources)
    if request.filter_by_query:
        sources = [source for source in sources if source.scores.relevance >= LEAST_RELEVANCE]
    named = [(_name(source), source.page.content) for source in sources]
    rests = tell_once(named) if request.deduplicate else [Rest(text) for _, text in named]
    results = [_tell(source, rest.text, request) for source, rest in zip(sources, rests, strict=True)]
    own = [result for result, rest in zip(results, rests, strict=True) if not rest.repeats]
    texts = [_head(result) if request.named else result.content for result in results if result.content]
    combined = truncate(SEPARATOR.join(texts), request.total_max_length, note=CUT)
    notes = [
        NOTE if failures and len(failures) == len(rows) else "",
        LEFT_OUT.format(read=read_well, count=read_well - len(sources)) if read_well > len(sources) else "",
        name_copies(zip(map(_name, sources), rests, strict=True)),
        NO_EVIDENCE if results and request.claim.strip() and request.named else "",
    ]
    length = count_bytes(combined.text)
    return SourcesResult(
        status="complete" if not failures else "failed" if len(failures) == len(rows) else "partial",
        sources=results,
        combined_content=combined.text,
        failures=failures or None,
        note=" ".join(filter(None, notes)) or None,
        summary=SourcesSummary(
            urls_searched=len(rows),
            urls_scraped=len(rows) - len(failures),
            urls_failed=len(failures),
            processing_time_ms=round((context.now() - began) * 1000),
            sparse_sources=sparse,
        ),
        size=TextSize(
            content_length=length,
            estimated_tokens=estimate_tokens(length),
            size_category=to_size_category(length),
            truncated=combined.truncated,
        ),
        recommendations=(recommend(own) if context.config.get("SOURCE_RECOMMENDATIONS", True) else None) or None,
        components=(make_components(results) if context.config.get("GENERATIVE_UI_ENABLED") else None) or None,
    )


def _name(source: _GatheredSource) -> str:
    return str(source.row["url"])


def _head(source: SourceResult) -> str:
    title = (source.title or source.url).translate(_NO_BRACKETS)
    date = f", {source.published_at[:10]}" if source.published_at else ""
    return f"Source: [{title}]({source.url}){date}\n\n{source.content}"


def _from_passages(row: JsonObject) -> Page:
    """What was found together with its text, as if it had been read; nobody knows how much of the page that is."""
    text, stripped = strip(str(row["text"]), markdown=False)
    return Page(str(row["url"]), text, PASSAGES, quality="partial", stripped=stripped)


async def _read_in_turn(context: Context, url: str, turns: asyncio.Semaphore) -> Page:
    async with turns:
        reading = asyncio.ensure_future(read_page(context, url))
        try:
            await asyncio.wait((reading,), timeout=PATIENCE)
        except asyncio.CancelledError:
            reading.cancel()
            raise
    return await reading


def _to_source(row: JsonObject, page: Page, request: SourcesRequest, now: float) -> _GatheredSource:
    title = page.title or str(row.get("title") or "")
    published = page.published or str(row.get("published_at") or "")
    scores = score(
        request.query,
        title=title,
        content=page.content,
        authority=classify(page.url).authority,
        published=published,
        now=now,
    )
    return _GatheredSource(row, page, scores, count_words(page.content))


def _tell(source: _GatheredSource, text: str, request: SourcesRequest) -> SourceResult:
    page, row = source.page, source.row
    labels = classify(page.url, citation=has_citation(page), types=page.types)
    claim = _assess_claim(request.claim, page.content)
    cut = truncate(text, request.max_length_per_source)
    return SourceResult(
        url=_name(source),
        title=page.title or row.get("title") or None,
        content=cut.text,
        content_type=page.content_type,
        trust=TRUST,
        source_type=labels.source_type,
        authority_tier=labels.authority_tier,
        domain_category=labels.domain_category,
        claim_signal=(claim.signal if claim else None) or None,
        published_at=page.published or row.get("published_at") or None,
        extraction_quality=page.quality or None,
        author="; ".join(page.authors) or page.author or None,
        site=page.site or None,
        detected_doi=find_page_doi(page, labels) or None,
        scores=source.scores,
        key_sentences=(list(claim.evidence) if claim else None) or None,
        word_count=source.words,
        truncated=cut.truncated or page.truncated or None,
        lack=page.lack or None,
    )


def _assess_claim(claim: str, text: str) -> Coverage | None:
    """What the page has of a claim: its sentences, in their order, and the one that has most; nothing without any.

    They are told without the marks of Markdown, and what stands in the address of a link is no evidence.
    """
    if not claim.strip():
        return None
    from specloom.domains.trust import assess

    return assess(claim[:_MOST_CLAIM], to_plain(text))


def _tell_failure(row: JsonObject, fault: Fault) -> SourceFailure:
    kind = KINDS[fault.kind]
    return SourceFailure(
        url=str(row["url"]),
        kind=kind.wire,
        reason=f"{fault.message} ({fault.detail})" if fault.detail else fault.message,
        retryable=kind.retryable,
        suggested_action=fault.action,
    )
