"""The procedures that resolve and fetch papers, as specs name them; the work is imported when it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import procedure
from specloom.records import FLAG, OBJECT, TEXT, WHOLE, listed, texts

from .declared import HOSTS, LOG, OPEN, RECORDS, REF, ROWS, SOURCES, STORE, TEXTS, gives

if TYPE_CHECKING:
    from specloom.desk import Desk

_PLAN = {"dry_run": FLAG, "plan": OBJECT, "rate_limit_budget": OBJECT}
_IDENTITY = {**texts("source", "resolver_profile", "license", "schema_version"), "oa_status": OPEN}
_QUALITY = {"metadata_quality": TEXTS, "repaired_fields": OBJECT}
_METADATA = {**REF, **_IDENTITY, "oa_url": OPEN, "metadata": OBJECT, **_QUALITY}


@procedure(
    "fetch_paper",
    parameters={"ref": TEXT, "dry_run": FLAG, "force": FLAG},
    gives=gives(
        {
            **REF,
            **_IDENTITY,
            **_PLAN,
            "path": TEXT,
            "size_bytes": WHOLE,
            "pdf": OBJECT,
            "attempts": OPEN,
            "title": TEXT,
            "authors": TEXTS,
            "year": OPEN,
            **_QUALITY,
        }
    ),
    asks=RECORDS,
    settings={**STORE, **LOG, **SOURCES, **HOSTS},
)
async def fetch_paper(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve one paper and put its open PDF into the store; says which leg failed where one did."""
    from . import working

    return await working.answered(working.fetch_paper, desk, parameters, echo="given")


@procedure(
    "batch_fetch_papers",
    parameters={"refs": TEXTS, "dry_run": FLAG, "force": FLAG},
    gives=gives({"dry_run": FLAG, "plans": ROWS, "results": ROWS}),
    asks=RECORDS,
    settings={**STORE, **LOG, **SOURCES, **HOSTS},
)
async def batch_fetch_papers(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Fetch up to a hundred papers, one row each in the order in which they were given."""
    from . import working

    return await working.answered(working.batch_fetch, desk, parameters, echo="never")


@procedure(
    "paper_metadata",
    parameters={"ref": TEXT, "dry_run": FLAG, "include_oa_location": FLAG},
    gives=gives({**_METADATA, **_PLAN}),
    asks=RECORDS,
    settings={**STORE, **LOG, **SOURCES},
)
async def paper_metadata(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve one paper and keep its metadata; no document is fetched, even where an open one is known."""
    from . import working

    return await working.answered(working.metadata_only, desk, parameters, echo="always")


@procedure(
    "resolve_paper",
    parameters={"ref": TEXT, "include_oa_location": FLAG},
    gives=gives(_METADATA),
    asks=RECORDS,
    settings={**LOG, **SOURCES},
)
async def resolve_paper(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve one paper; nothing is kept but the rows of the log."""
    from . import working

    return await working.answered(working.resolve_paper, desk, parameters, echo="always")


@procedure(
    "paper_citation_graph",
    parameters={"ref": TEXT, "depth": WHOLE, "total": WHOLE, "per_paper": WHOLE},
    gives=gives(
        {
            **REF,
            "seed_work_id": TEXT,
            "nodes": listed({"type": "object", "properties": {"id": TEXT, "depth": WHOLE}}),
            "edges": listed({"type": "object", "properties": {"from": TEXT, "to": TEXT}}),
            "truncated": FLAG,
            "total_visited": WHOLE,
        }
    ),
    asks=("references",),
    settings={**LOG, **SOURCES},
)
async def paper_citation_graph(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Walk the references of a paper breadth first, within hard bounds."""
    from . import working

    return await working.answered(working.citation_graph, desk, parameters, echo="always")
