"""Tells a page as the tool contract has it: cut to a length, counted, cited, classified and checked for retraction."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, count_tokens
from specloom.domains.text import AS_KEPT, LinkStyle, find_doi, is_markdown, open_text, to_cost
from specloom.domains.trust import Classification, Retraction, cite_for_bibliography, classify
from specloom.plugins import from_json, to_json

from .excerpt import (
    count_bytes,
    count_words,
    estimate_tokens,
    to_size_category,
    to_sparsity_warning,
)
from .html.charset import decode
from .metadata.read import find_front_doi
from .read import read_page, read_raw, whole_text
from .records import PageCitation, PageResult
from .result import Page

if TYPE_CHECKING:
    from specloom.plugins import Context


STYLES = ("apa", "mla")
"""The styles in which a page is cited (the tool contract's)."""
PREVIEW = 5000
"""Bytes of a preview (the tool contract's figure)."""
RESERVE = 120
"""Tokens of a budget that are left for what is told of the content itself: its size, and how to read on."""
LEAST_ROOM = 80
"""Tokens that the content has however much stands beside it."""
HIGHLIGHTS = 3
"""Highlights that stay where there is little room, as the tool that reads a page says it."""
EMBEDDED = "jsonLd"
"""The key of what a page embeds as data, which may be longer than its text."""
PREVIEWED = "openGraph"
"""The key of what a page says of itself for previews, which its metadata repeat."""
SPARED = "Left out for the text: {what}; a larger max_tokens brings this."
PROMOTION_BYTES = 50_000
"""Bytes of a page in which a ranking of itself is looked for."""


async def tell_page(
    context: Context, url: str, *, mode: str, most: int, budget: int = 0, style: LinkStyle = AS_KEPT
) -> PageResult:
    """What is told of one page; `most` is in bytes of content, and 5000 in preview mode.

    `budget` is in tokens of all that is told, 0 for no bound. Where the content was cut, an outline of the page and the
    arguments that read on stand beside it. Links and pictures of a text that is Markdown are told in a `style`.
    """
    if mode == "raw":
        return await _tell_raw(context, url, most)
    page = await read_page(context, url)
    if page.detour:
        context.notice(page.detour)
    if page.extent:
        context.notice(f"This has {page.extent}; the others are at the address only.")
    text = whole_text(page)
    facts = await _tell_facts(context, page, text)
    room = 0
    if budget:
        left = budget - to_cost(url) - RESERVE
        facts, spared = _spare(facts, left, to_cost(text))
        if spared:
            context.notice(SPARED.format(what=" and ".join(spared)))
        room = _find_room(facts, left)
    most = min(most, PREVIEW) if mode == "preview" else most
    style = style if is_markdown(page.content_type) else AS_KEPT
    window = open_text(text, url, room, most=most, style=style, page=page.url)
    length = count_bytes(window.content)
    return replace(
        facts,
        content=window.content,
        content_length=length,
        total_characters=len(text),
        truncated=window.onward is not None or page.truncated,
        estimated_tokens=estimate_tokens(length),
        size_category=to_size_category(length),
        outline=list(window.outline) or None,
        read_on=window.onward,
    )


def _spare(facts: PageResult, budget: int, wanted: int) -> tuple[PageResult, list[str]]:
    """The facts without what only repeats others, where they would leave a text that needs more less than half of the
    budget; and what was left out of them, in words."""
    spared: list[str] = []
    structured, citation = facts.structured_data or {}, facts.citation
    if PREVIEWED in structured and _is_tight(facts, budget, wanted):
        rest = {name: said for name, said in structured.items() if name != PREVIEWED}
        facts = replace(facts, structured_data=rest or None)
        spared.append("what the page says for previews")
    if citation.formatted and _is_tight(facts, budget, wanted):
        facts = replace(facts, citation=replace(citation, formatted=None))
        spared.append("the citation in two styles")
    return facts, spared


def _is_tight(facts: PageResult, budget: int, wanted: int) -> bool:
    return max(LEAST_ROOM, budget - _count_facts(facts)) < min(wanted, budget // 2)


def _find_room(facts: PageResult, budget: int) -> int:
    """Tokens that are left for the content beside what stands with it, once that has given way as the tool says it:
    what a page embeds as data goes, and of highlights a few stay."""
    room = budget - _count_facts(facts)
    if room < budget * 2 // 5 and facts.highlights:
        room = budget - _count_facts(replace(facts, highlights=facts.highlights[:HIGHLIGHTS]))
    return max(LEAST_ROOM, room)


def _count_facts(facts: PageResult) -> int:
    """Tokens of what stands beside the content, without what a page embeds as data."""
    told = to_json(facts)
    told["structuredData"] = {name: said for name, said in (facts.structured_data or {}).items() if name != EMBEDDED}
    return count_tokens(json.dumps(told, ensure_ascii=False))


async def _tell_facts(context: Context, page: Page, text: str) -> PageResult:
    """All that is told of a page but its content and the size of that."""
    words = count_words(text)
    labels = classify(page.url, citation=has_citation(page), types=page.types)
    doi = find_page_doi(page, labels)
    return PageResult(
        url=page.url,
        content="",
        content_type=page.content_type,
        content_length=0,
        truncated=False,
        estimated_tokens=0,
        size_category="",
        word_count=words,
        sparsity_warning=" ".join(filter(None, (to_sparsity_warning(words), page.lack))) or None,
        citation=_cite(context, page.url, page, doi),
        extracted_by=page.extracted_by or None,
        extraction_quality=page.quality or None,
        metadata=_metadata(page),
        structured_data=page.structured,
        forum_signals=page.forum,
        repository_signals=page.repository,
        highlights=page.highlights or None,
        source_type=labels.source_type,
        authority_tier=labels.authority_tier,
        domain_category=labels.domain_category,
        domain_reputation=to_json(labels.reputation),
        self_promotion=_promotion(page),
        detected_doi=doi or None,
        retraction_status=await find_retraction(context, doi) if doi else None,
        stripped=page.stripped or None,
    )


async def _tell_raw(context: Context, url: str, most: int) -> PageResult:
    reading = await read_raw(context, url, most)
    text = decode(reading.body, reading.fetched.content_type).text
    labels, length = classify(reading.url), count_bytes(text)
    return PageResult(
        url=reading.url,
        content=text,
        content_type=reading.fetched.content_type,
        content_length=length,
        truncated=reading.truncated,
        estimated_tokens=estimate_tokens(length),
        size_category=to_size_category(length),
        citation=_cite(context, reading.url),
        raw=True,
        extracted_by=f"raw:{reading.tier}",
        source_type=labels.source_type,
        authority_tier=labels.authority_tier,
        domain_category=labels.domain_category,
    )


def has_citation(page: Page) -> bool:
    """Whether a page carries the citation metadata that publishers of scholarly work give."""
    return bool((page.structured or {}).get("citation"))


def find_page_doi(page: Page, labels: Classification) -> str:
    """The DOI that a scholarly page declares as its own; "" for other pages, whatever DOIs they mention."""
    if labels.source_type != "peer_reviewed" and labels.domain_category != "academic":
        return ""
    return page.declared_doi or find_doi(page.url) or find_front_doi(page.content)


async def find_retraction(context: Context, doi: str) -> Retraction | None:
    """The most severe notice about a work; None when there is none or nobody could be asked, which is then said."""
    try:
        answer = await context.ask("retractions", {"doi": doi})
    except Fault as fault:
        context.lack("retractions", fault)
        return None
    status = answer.rows[0].get("status") if answer.rows else None
    return from_json(Retraction, status) if status is not None else None


def _cite(context: Context, url: str, page: Page | None = None, doi: str = "") -> PageCitation:
    """The citation of a page, or of an address alone, in the contract's two styles.

    An entry of a bibliography is made by who asks for one: it would be told with every page.
    """
    names = ("; ".join(page.authors) or page.author, page.site, page.published) if page else ("", "", "")
    today = datetime.fromtimestamp(context.now(), UTC).date().isoformat()
    citation = cite_for_bibliography(url, page.title if page else "", *names, today, doi=doi)
    formatted = {style: text for style, text in citation["formatted"].items() if style in STYLES}
    return from_json(PageCitation, {**citation, "formatted": formatted})


def _metadata(page: Page) -> dict[str, Any] | None:
    """What the page says about itself, under the contract's names; None without a title."""
    if not page.title:
        return None
    facts = {
        "title": page.title,
        "author": "; ".join(page.authors) or page.author,
        "site": page.site,
        "published": page.published,
        "modified": page.modified,
        "language": page.language,
        "description": page.description,
        "pageType": page.page_type,
        "pages": page.pages,
        "document": page.document,
    }
    return {name: value for name, value in facts.items() if value or name in {"title", "author"}}


def _promotion(page: Page) -> dict[str, Any] | None:
    from specloom.domains.trust import find_self_promotion

    promotion = find_self_promotion(page.url, page.content[:PROMOTION_BYTES])
    if promotion is None:
        return None
    return {
        "detected": True,
        "brandDomain": promotion.brand_domain,
        "brandToken": promotion.brand_token,
        "rankPosition": promotion.rank_position,
        "confidence": promotion.confidence,
        "item": promotion.item,
    }
