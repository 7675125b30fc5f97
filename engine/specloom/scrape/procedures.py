"""The procedures of this package as specs name them: what each takes and gives. The work is imported when done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import CLOSERS, procedure

from .options import SETTINGS
from .sites import ASKS as SITES

if TYPE_CHECKING:
    from specloom.desk import Desk

_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_FLAG = {"type": "boolean"}
_NUMBER = {"type": "number"}
_OBJECT = {"type": "object"}


def _texts(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, _TEXT)


def _record(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def _closed(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {**_record(properties, *required), "additionalProperties": False}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


ASKS = (*SITES, "reader", "contents")
"""The capabilities that reading an address may ask: the APIs of sites, and services that read for us."""

_CITATION = _closed(
    {
        **_texts("url", "accessedDate"),
        "metadata": _closed(_texts("title", "author", "site", "date")),
        "formatted": _closed(_texts("apa", "mla")),
    }
)
_RETRACTION = _closed({"retracted": _FLAG, **_texts("kind", "date", "noticeDoi", "source")})

_LABELS = _texts("source_type", "authority_tier", "domain_category")

PAGE = _record(
    {
        **_texts("url", "content", "content_type", "size_category", "extracted_by", "extraction_quality"),
        "content_length": _WHOLE,
        "truncated": _FLAG,
        "estimated_tokens": _WHOLE,
        "word_count": _WHOLE,
        "sparsity_warning": _TEXT,
        "citation": _CITATION,
        "metadata": _OBJECT,
        "structured_data": _OBJECT,
        "forum_signals": _OBJECT,
        "repository_signals": _OBJECT,
        "highlights": _list(_OBJECT),
        **_LABELS,
        "domain_reputation": _OBJECT,
        "self_promotion": _OBJECT,
        "detected_doi": _TEXT,
        "retraction_status": _RETRACTION,
        "stripped": _OBJECT,
        "raw": _FLAG,
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
    parameters={"url": _TEXT, "mode": _TEXT, "max_length": _WHOLE},
    gives=PAGE,
    asks=(*ASKS, "retractions"),
    settings=SETTINGS,
)
async def read_page(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Reads one address: through its site's API, or through the tiers; `mode` is full, preview or raw.

    `max_length` is in bytes of content. A page is remembered for an hour, and for a while that it cannot be read.
    """
    from .telling import tell_page

    return await tell_page(desk, given["url"], mode=given.get("mode", "full"), most=given["max_length"])


_SCORES = _closed(dict.fromkeys(("overall", "relevance", "freshness", "authority", "contentQuality"), _NUMBER))

SOURCE = _closed(
    {
        **_texts("url", "title", "content", "contentType", "trust", "sourceType", "authorityTier", "domainCategory"),
        **_texts("claimSignal", "publishedAt", "extractionQuality"),
        "scores": _SCORES,
        "keySentences": _list(_TEXT),
        "wordCount": _WHOLE,
    },
    "url",
    "content",
    "contentType",
    "trust",
)

SOURCES = _record(
    {
        "status": _TEXT,
        "sources": _list(SOURCE),
        "combined_content": _TEXT,
        "failures": _list(
            _closed({**_texts("url", "kind", "reason", "suggestedAction"), "retryable": _FLAG}, "url", "reason")
        ),
        "note": _TEXT,
        "summary": _closed(
            dict.fromkeys(("urlsSearched", "urlsScraped", "urlsFailed", "processingTimeMs", "sparseSources"), _WHOLE)
        ),
        "size": _closed(
            {
                **dict.fromkeys(("contentLength", "estimatedTokens"), _WHOLE),
                "sizeCategory": _TEXT,
                "truncated": _FLAG,
            }
        ),
        "recommendations": _list(_closed({**_texts("url", "title", "reason"), "score": _NUMBER})),
        "components": _list(_OBJECT),
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
        "found": _list(_OBJECT),
        "query": _TEXT,
        "claim": _TEXT,
        "deduplicate": _FLAG,
        "filter_by_query": _FLAG,
        "max_length_per_source": _WHOLE,
        "total_max_length": _WHOLE,
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
)
async def read_sources(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Reads the addresses of search results, five at a time, and scores, ranks, de-duplicates and joins what they say.

    `found` are rows with `url` and, where known, `title` and `published_at`. One that cannot be read is told under
    `failures` and keeps no other from being read.
    """
    from .gathering import Wanted, gather_sources

    return await gather_sources(
        desk,
        given.get("found") or [],
        Wanted(
            given.get("query", ""),
            claim=given.get("claim") or "",
            deduplicate=given.get("deduplicate", True),
            filter_by_query=given.get("filter_by_query", False),
            most_each=given["max_length_per_source"],
            most=given["total_max_length"],
        ),
    )


async def close() -> None:
    """End the browser and the processes that make pages, where any were started."""
    import sys

    if "specloom.scrape.station" in sys.modules:
        from .station import close_station

        await close_station()


CLOSERS.append(close)
