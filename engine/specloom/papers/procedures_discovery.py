"""The procedures that find papers: by words, by a citation, by their preprint, and in a bibliography file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import procedure
from specloom.records import FLAG, NUMBER, OBJECT, TEXT, WHOLE, listed, texts

from .declared import HOSTS, LOG, OPEN, RECORDS, REF, ROWS, SOURCES, STORE, TEXTS, gives

if TYPE_CHECKING:
    from specloom.desk import Desk

_OPEN_WORK = dict.fromkeys(
    ("doi", "arxiv", "title", "authors", "year", "venue", "abstract", "cited_by_count", "oa_status"), OPEN
)
_WORK = {"type": "object", "properties": {**texts("openalex_id", "source"), **_OPEN_WORK}}
_CANDIDATE = {
    "type": "object",
    "properties": {
        **texts("doi", "confidence", "source"),
        **dict.fromkeys(("title", "author", "year"), OPEN),
        "score": NUMBER,
        "matched": TEXTS,
    },
}
_RESOLVED = {
    "type": "object",
    "properties": {"query": TEXT, "candidates": listed(_CANDIDATE), "error": OBJECT},
    "required": ["query"],
}
_COUNTS = {"type": "object", "properties": dict.fromkeys(("total", "ok", "failed", "parse_errors"), WHOLE)}


@procedure(
    "discover_papers",
    parameters={
        **texts("query", "author", "venue", "publisher", "sort"),
        **dict.fromkeys(("limit", "from_year", "to_year", "min_citations", "min_percentile"), WHOLE),
        "min_fwci": NUMBER,
        "oa_only": FLAG,
    },
    gives=gives(
        {
            **REF,
            **texts("scope", "query", "hint"),
            "total_results": WHOLE,
            "count": WHOLE,
            "results": listed(_WORK),
        }
    ),
    asks=("discovery", "authorities"),
    settings=LOG,
)
async def discover_papers(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Works for some words within bounds; nothing is kept but the rows of the log."""
    from . import discovering, working

    return await working.answered(discovering.paper_search, desk, parameters, echo="always")


@procedure(
    "preprint_of_paper",
    parameters={"ref": TEXT},
    gives=gives({**REF, **texts("doi", "openalex_id"), "arxiv": OPEN, "title": OPEN}),
    asks=("preprint_of",),
    settings=LOG,
)
async def preprint_of_paper(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The arXiv preprint that belongs to a DOI; nothing is kept but the rows of the log."""
    from . import discovering, working

    return await working.answered(discovering.link, desk, parameters, echo="always")


@procedure(
    "resolve_citation",
    parameters={"query": TEXT, "limit": WHOLE},
    gives=gives({**REF, "query": TEXT, "candidates": listed(_CANDIDATE)}),
    asks=("citation_candidates",),
)
async def resolve_citation(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The registered works that a citation in words may mean; nothing is kept and nothing written down."""
    from . import citations, working

    return await working.answered(citations.resolve_citation, desk, parameters, echo="always")


@procedure(
    "resolve_citations",
    parameters={"queries": TEXTS, "limit": WHOLE},
    gives=gives({"results": listed(_RESOLVED)}),
    asks=("citation_candidates",),
)
async def resolve_citations(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The same for up to fifty citations, a row each in their order."""
    from . import citations, working

    return await working.answered(citations.batch_resolve_citations, desk, parameters, echo="never")


@procedure(
    "fetch_bibliography",
    parameters={"path": TEXT, "format": TEXT, "strict": FLAG, "force": FLAG},
    gives=gives({"summary": _COUNTS, "results": ROWS}),
    asks=RECORDS,
    runs=("bibliography_records",),
    settings={**STORE, **LOG, **SOURCES, **HOSTS},
)
async def fetch_bibliography(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Fetch the papers of a bibliography file, a row each; entries that name no paper come first."""
    from . import bibliography, working

    return await working.answered(bibliography.batch_from_bibliography, desk, parameters, echo="never")
