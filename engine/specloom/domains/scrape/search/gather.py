"""Reads several sources at once, and makes one answer of them: scored, ranked, without what several of them repeat."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from specloom.core import KINDS, Fault, count_tokens, dataclass
from specloom.domains.text import (
    AS_KEPT,
    WORDS,
    Passage,
    Rendition,
    choose_passages,
    is_markdown,
    quote_passages,
    to_cost,
    to_plain,
)
from specloom.domains.trust import classify
from specloom.plugins import JsonObject, to_json

from ..excerpt import FEW_WORDS, Cut, count_bytes, count_words, estimate_tokens, to_size_category, truncate
from ..fetch.failures import to_fault, to_outcome
from ..html.markdown_source import strip
from ..present import find_page_doi, has_citation
from ..read import read_page, whole_text
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
    "None of the sources could be read, and each is told with what stood in its way. "
    "Pages that need a browser are read when Chromium or Chrome is installed."
)
LEFT_OUT = (
    "Left out by filter_by_query, because they have little of the query: {count} of {read} sources that were read. "
    "Ask without it to see them."
)
COMBINED = "combined"
NOTHING = Cut("", truncated=False)
PLACEHOLDER = "x" * 90
RESERVE = 80
"""Tokens of a budget that are left for the names and numbers that are not known before the texts are."""
WEIGHT_OF_ALL = 0.5
"""What a source is worth besides its score when passages are chosen, so that no score shuts one out."""
LONG_TEXTS = 100_000
"""Characters of texts in which passages are looked for beside the calls of others."""
MARKDOWN = "text/markdown"
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
    notes = [
        NOTE if failures and len(failures) == len(rows) else "",
        LEFT_OUT.format(read=read_well, count=read_well - len(sources)) if read_well > len(sources) else "",
        name_copies(zip(map(_name, sources), rests, strict=True)),
        NO_EVIDENCE if sources and request.claim.strip() and request.named else "",
    ]
    switches = context.config.get("SOURCE_RECOMMENDATIONS", True), context.config.get("GENERATIVE_UI_ENABLED", False)

    def tell(results: list[SourceResult], combined: Cut, whole: str = "") -> SourcesResult:
        own = [result for result, rest in zip(results, rests, strict=True) if not rest.repeats]
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
            recommendations=(recommend(own) if switches[0] else None) or None,
            components=(make_components(results) if switches[1] else None) or None,
            whole=whole or None,
        )

    told = [_tell(source, request) for source in sources]
    if request.format == COMBINED:
        texts = [_render(rest.text, source.page).tell() for rest, source in zip(rests, sources, strict=True)]
        cuts = [truncate(text, request.max_length_per_source) for text in texts]
        results = [_with_text(one, cut.text, cut.truncated) for one, cut in zip(told, cuts, strict=True)]
        combined = _join(results, request)
        is_long = bool(request.max_tokens) and to_cost(combined.text) > request.max_tokens // 2
        return tell(results, combined, await _keep(context, combined.text, request) if is_long else "")
    empty = tell([_with_text(one, PLACEHOLDER, is_cut=True) for one in told], NOTHING, PLACEHOLDER)
    results, is_cut = await _quote(sources, told, request, _find_room(empty, request))
    joined = _join(results, request) if request.named else NOTHING
    whole = ""
    if is_cut:
        kept = [_with_text(one, whole_text(source.page)) for one, source in zip(told, sources, strict=True)]
        whole = await _keep(context, _join(kept, request, named=True).text, request)
    return tell(results, joined, whole)


# --- The texts of the sources: whole and joined, or the passages that speak to the query ------------------------------


def _find_room(empty: SourcesResult, request: SourcesRequest) -> int:
    """The tokens of a budget that are left for texts beside all else that is told; 0 for no bound."""
    if not request.max_tokens:
        return 0
    facts = to_json(replace(empty, sources=[]) if request.named else empty)
    spent = count_tokens(json.dumps(facts, ensure_ascii=False)) + to_cost(request.query) + RESERVE
    return max(request.max_tokens // 2, request.max_tokens - spent)


async def _quote(
    sources: list[_GatheredSource], told: list[SourceResult], request: SourcesRequest, room: int
) -> tuple[list[SourceResult], bool]:
    """The sources with the passages that speak to the query and the claim, and whether anything was left out."""
    texts = [whole_text(source.page) for source in sources]
    renditions = [_render(text, source.page) for text, source in zip(texts, sources, strict=True)]
    weights = [WEIGHT_OF_ALL + source.scores.overall for source in sources]
    query = f"{request.query} {request.claim[:_MOST_CLAIM]}"
    room = room or to_cost("".join(texts)) + RESERVE * len(texts)

    def choose() -> list[list[Passage]]:
        told = [rendition.tell for rendition in renditions]
        return choose_passages(texts, query, room, weights=weights, once=request.deduplicate, told=told)

    # Who else is served meanwhile does not wait for long texts.
    chosen = await asyncio.to_thread(choose) if sum(map(len, texts)) > LONG_TEXTS else choose()
    results, is_cut = [], False
    for one, text, rendition, passages in zip(told, texts, renditions, chosen, strict=True):
        quoted = truncate(quote_passages(text, passages, rendition=rendition), request.max_length_per_source, note="")
        left_out = quoted.truncated or (bool(passages) and quoted.text != rendition.tell().strip())
        is_cut = is_cut or left_out
        changed = _with_text(one, quoted.text, is_cut=left_out)
        results.append(replace(changed, total_characters=len(text)) if left_out else changed)
    return results, is_cut


def _render(text: str, page: Page) -> Rendition:
    """A text of a page with its links and pictures as their words; where it is quoted from is told beside it."""
    return Rendition(text, WORDS if is_markdown(page.content_type) else AS_KEPT)


def _with_text(source: SourceResult, text: str, is_cut: bool = False) -> SourceResult:
    return replace(source, content=text, truncated=is_cut or source.truncated or None)


def _join(sources: Iterable[SourceResult], request: SourcesRequest, *, named: bool = False) -> Cut:
    texts = [_head(one) if named or request.named else one.content for one in sources if one.content]
    return truncate(SEPARATOR.join(texts), request.total_max_length, note=CUT)


async def _keep(context: Context, text: str, request: SourcesRequest) -> str:
    """The address under which a text is kept for a while; "" where nothing can be kept, which fails no call."""
    with suppress(Fault):
        return await context.keep_artifact(text, name=f"sources about {request.query[:100]}", mime_type=MARKDOWN)
    return ""


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


def _tell(source: _GatheredSource, request: SourcesRequest) -> SourceResult:
    """All that is told of a source but its text."""
    page, row = source.page, source.row
    labels = classify(page.url, citation=has_citation(page), types=page.types)
    claim = _assess_claim(request.claim, page.content)
    return SourceResult(
        url=_name(source),
        title=page.title or row.get("title") or None,
        content="",
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
        truncated=page.truncated or None,
        lack=" ".join(filter(None, (page.detour, page.lack))) or None,
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
