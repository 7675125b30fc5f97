"""The procedures of this package as specs name them: what each takes and gives. The work is imported when done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.plugins import CLOSERS, FLAG, NUMBER, OBJECT, TEXT, WHOLE, closed, listed, procedure, record, texts

from .options import SETTINGS
from .sites import ASKS as SITES

if TYPE_CHECKING:
    from specloom.plugins import Context


ASKS = (*SITES, "reader", "contents")
"""The capabilities that reading an address may ask: the APIs of sites, and services that read for us."""

_CITATION = closed(
    {
        **texts("url", "accessedDate"),
        "metadata": closed(texts("title", "author", "site", "date")),
        "formatted": closed(texts("apa", "mla", "bibtex")),
    }
)
_RETRACTION = closed({"retracted": FLAG, **texts("kind", "date", "noticeDoi", "source")})

_LABELS = texts("source_type", "authority_tier", "domain_category")

PAGE = record(
    {
        **texts("url", "content", "content_type", "size_category", "extracted_by", "extraction_quality"),
        "content_length": WHOLE,
        "truncated": FLAG,
        "estimated_tokens": WHOLE,
        "word_count": WHOLE,
        "sparsity_warning": TEXT,
        "citation": _CITATION,
        "metadata": OBJECT,
        "structured_data": OBJECT,
        "forum_signals": OBJECT,
        "repository_signals": OBJECT,
        "highlights": listed(OBJECT),
        **_LABELS,
        "domain_reputation": OBJECT,
        "self_promotion": OBJECT,
        "detected_doi": TEXT,
        "retraction_status": _RETRACTION,
        "stripped": OBJECT,
        "raw": FLAG,
    },
    "url",
    "content",
    "content_type",
    "content_length",
    "truncated",
    "estimated_tokens",
    "size_category",
    "citation",
    *_LABELS,
)
"""What reading one address gives; what is not known is left out."""


@procedure(
    "read_page",
    parameters={"url": TEXT, "mode": TEXT, "max_length": WHOLE},
    gives=PAGE,
    asks=(*ASKS, "retractions"),
    settings=SETTINGS,
    needs=("url", "max_length"),
)
async def read_page(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Reads one address: through its site's API, or through the tiers; `mode` is full, preview or raw.

    `max_length` is in bytes of content. A page is remembered for an hour, and for a while that it cannot be read.
    """
    from .present import tell_page

    return await tell_page(context, given["url"], mode=given.get("mode", "full"), most=given["max_length"])


_SECTION = texts("heading", "text")


@procedure(
    "read_markup",
    parameters={"url": TEXT, "html": TEXT},
    gives=record(
        {
            **texts("title", "content", "heading"),
            "sections": listed(record(texts("heading", "text"), "heading", "text")),
        },
        *("title", "content", "heading", "sections"),
    ),
    settings=SETTINGS,
    needs=("url", "html"),
)
async def read_markup(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Reads HTML that was fetched already: its title, and its content as Markdown, whole and by sections.

    `heading` is the first heading of the first level. Nobody is asked for anything.
    """
    from .read import read_given
    from .sections import split_sections

    page = await read_given(context, given["html"], given["url"])
    heading, sections = split_sections(page.content)
    return {"title": page.title, "content": page.content, "heading": heading, "sections": sections}


_SCORES = closed(dict.fromkeys(("overall", "relevance", "freshness", "authority", "contentQuality"), NUMBER))

SOURCE = closed(
    {
        **texts("url", "title", "content", "contentType", "trust", "sourceType", "authorityTier", "domainCategory"),
        **texts("claimSignal", "publishedAt", "extractionQuality", "author", "site", "detectedDoi"),
        "scores": _SCORES,
        "keySentences": listed(TEXT),
        "wordCount": WHOLE,
    },
    "url",
    "content",
    "contentType",
    "trust",
)

SOURCES = record(
    {
        "status": TEXT,
        "sources": listed(SOURCE),
        "combined_content": TEXT,
        "failures": listed(
            closed({**texts("url", "kind", "reason", "suggestedAction"), "retryable": FLAG}, "url", "reason")
        ),
        "note": TEXT,
        "summary": closed(
            dict.fromkeys(("urlsSearched", "urlsScraped", "urlsFailed", "processingTimeMs", "sparseSources"), WHOLE)
        ),
        "size": closed(
            {
                **dict.fromkeys(("contentLength", "estimatedTokens"), WHOLE),
                "sizeCategory": TEXT,
                "truncated": FLAG,
            }
        ),
        "recommendations": listed(closed({**texts("url", "title", "reason"), "score": NUMBER})),
        "components": listed(OBJECT),
    },
    "status",
    "sources",
    "combined_content",
    "summary",
    "size",
)
"""What reading several addresses gives."""


@procedure(
    "read_sources",
    parameters={
        "found": listed(OBJECT),
        "query": TEXT,
        "claim": TEXT,
        "deduplicate": FLAG,
        "filter_by_query": FLAG,
        "named": FLAG,
        "max_length_per_source": WHOLE,
        "total_max_length": WHOLE,
    },
    gives=SOURCES,
    asks=ASKS,
    settings={
        **SETTINGS,
        "SOURCE_RECOMMENDATIONS": {
            "type": "boolean",
            "default": True,
            "description": "Whether the best of the sources that were read are pointed out.",
        },
        "GENERATIVE_UI_ENABLED": {
            "type": "boolean",
            "default": False,
            "description": "Whether cards and a table of the sources are made for hosts that can show them.",
        },
    },
    needs=("max_length_per_source", "total_max_length"),
)
async def read_sources(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Reads the addresses of search results, five at a time, and scores, ranks, de-duplicates and joins what they say.

    `found` are rows with `url` and, where known, `title` and `published_at`. `named` puts the title and the address of
    each before its part of the joined text. One that cannot be read is told under
    `failures` and keeps no other from being read.
    """
    from .search.gather import GatherRequest, gather_sources

    return await gather_sources(
        context,
        given.get("found") or [],
        GatherRequest(
            given.get("query", ""),
            claim=given.get("claim") or "",
            deduplicate=given.get("deduplicate", True),
            filter_by_query=given.get("filter_by_query", False),
            named=given.get("named", False),
            most_each=given["max_length_per_source"],
            most=given["total_max_length"],
        ),
    )


async def close() -> None:
    """End the browser and the processes that make pages, where any were started."""
    import sys

    if "specloom.domains.scrape.fetch.session" in sys.modules:
        from .fetch.session import close_station

        await close_station()


CLOSERS.append(close)
