"""Tells a page as the tool contract has it: cut to a length, counted, cited, classified and checked for retraction."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from specloom.core import Fault
from specloom.domains.text import find_doi
from specloom.domains.trust import Classification, Retraction, cite_for_bibliography, classify
from specloom.plugins import from_json, to_json

from .excerpt import (
    count_bytes,
    count_words,
    drop_copies,
    estimate_tokens,
    to_size_category,
    to_sparsity_warning,
    truncate,
)
from .html.charset import decode
from .metadata.read import find_front_doi
from .read import read_page, read_raw
from .records import PageCitation, PageResult
from .result import Page

if TYPE_CHECKING:
    from specloom.plugins import Context


PREVIEW = 5000
"""Bytes of a preview (the tool contract's figure)."""
PROMOTION_BYTES = 50_000
"""Bytes of a page in which a ranking of itself is looked for."""


async def tell_page(context: Context, url: str, *, mode: str, most: int) -> PageResult:
    """What is told of one page; `most` is in bytes of content, and 5000 in preview mode."""
    if mode == "raw":
        return await _tell_raw(context, url, most)
    page = await read_page(context, url)
    text = drop_copies(page.content) if page.content_type in {"html", "markdown"} else page.content
    cut = truncate(text, min(most, PREVIEW) if mode == "preview" else most)
    words, length = count_words(text), count_bytes(cut.text)
    labels = classify(page.url, citation=has_citation(page), types=page.types)
    doi = find_page_doi(page, labels)
    return PageResult(
        url=page.url,
        content=cut.text,
        content_type=page.content_type,
        content_length=length,
        truncated=cut.truncated or page.truncated,
        estimated_tokens=estimate_tokens(length),
        size_category=to_size_category(length),
        word_count=words,
        sparsity_warning=" ".join(filter(None, (to_sparsity_warning(words), page.lack))) or None,
        citation=_cite(context, page.url, page),
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


def _cite(context: Context, url: str, page: Page | None = None) -> PageCitation:
    """The citation of a page, or of an address alone; the contract's two styles, and an entry for a bibliography."""
    names = ("; ".join(page.authors) or page.author, page.site, page.published) if page else ("", "", "")
    today = datetime.fromtimestamp(context.now(), UTC).date().isoformat()
    return from_json(PageCitation, cite_for_bibliography(url, page.title if page else "", *names, today))


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
