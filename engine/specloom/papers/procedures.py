"""The procedures and envelopes of the paper store as specs name them; the work is imported when it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import envelope, procedure

if TYPE_CHECKING:
    from specloom.desk import Desk
    from specloom.faults import Fault

_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_NUMBER = {"type": "number"}
_FLAG = {"type": "boolean"}
_OBJECT = {"type": "object"}
_TEXTS = {"type": "array", "items": _TEXT}
_ROWS = {"type": "array", "items": _OBJECT}
_OPEN: dict[str, Any] = {}
"""What may be null, which a schema of one type cannot say."""

_STORE: Mapping[str, Mapping[str, Any]] = {
    "DOIGET_STORE_ROOT": {"type": "text", "description": "The folder of the paper store; ./papers when left out."}
}
_LOG: Mapping[str, Mapping[str, Any]] = {
    "DOIGET_LOG_PATH": {
        "type": "text",
        "description": "The provenance log; doiget/access.jsonl in the user's configuration folder when left out.",
    }
}
_SOURCES: Mapping[str, Mapping[str, Any]] = {
    "DOIGET_ENABLE_DATACITE": {
        "type": "text",
        "description": "Set to anything: DataCite is asked for DOIs that Crossref does not have.",
    },
    "DOIGET_ENABLE_OPENALEX": {
        "type": "text",
        "description": "Set to anything: OpenAlex may be asked for records, open copies and citations.",
    },
}
_HOSTS: Mapping[str, Mapping[str, Any]] = {
    "DOIGET_ADDITIONAL_HOSTS": {
        "type": "text",
        "description": "Further hosts of open copies, between commas: names, or *.name for those below.",
    },
    "DOIGET_BLOCKED_HOSTS": {
        "type": "text",
        "description": "Hosts that nothing is fetched from, between commas, whatever allows them.",
    },
    "DOIGET_TRUST_ACADEMIC_REPOS": {
        "type": "boolean",
        "default": False,
        "description": "Whether open copies may come from the academic domains of fifteen countries.",
    },
    "DOIGET_TRUST_OA_REGISTRIES": {
        "type": "boolean",
        "default": False,
        "description": "Whether open copies may come from Zenodo, OSF, HAL, SciELO and CORE.",
    },
}

RECORDS = ("publication", "oa_locations", "preprint", "work")
"""The capabilities that tell of papers; none gives a document."""


def _gives(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"ok": _FLAG, **properties}, "required": ["ok", *required]}


_ERROR = {
    "type": "object",
    "properties": {
        "code": _TEXT,
        "message": _TEXT,
        "disposition": _TEXT,
        "denial_context": _OPEN,
        "remediation": _ROWS,
        "retry_after_ms": _WHOLE,
        "replayed": _FLAG,
    },
    "required": ["code", "message", "disposition"],
}
_FAILURE = {"ok": _FLAG, "ref": _OPEN, "error": _ERROR}
_PLAN = {"dry_run": _FLAG, "plan": _OBJECT, "rate_limit_budget": _OBJECT}
_IDENTITY = {"source": _TEXT, "resolver_profile": _TEXT, "license": _TEXT, "schema_version": _TEXT, "oa_status": _OPEN}
_QUALITY = {"metadata_quality": _TEXTS, "repaired_fields": _OBJECT}
_REF = {"ref": _OPEN}

_METADATA = _gives(
    {**_REF, **_IDENTITY, "oa_url": _OPEN, "metadata": _OBJECT, **_QUALITY, "error": _ERROR},
)


@envelope("paper", gives=_FAILURE)
def tell_paper(fault: Fault, given: Mapping[str, Any]) -> dict[str, Any]:
    """`{ok: false, ref, error}`; `ref` is null when none was given."""
    return _told(fault, given, "always")


@envelope("paper_fetch", gives=_FAILURE)
def tell_fetch(fault: Fault, given: Mapping[str, Any]) -> dict[str, Any]:
    """`{ok: false, ref, error}`; `ref` is left out when none was given."""
    return _told(fault, given, "given")


@envelope("papers", gives={"ok": _FLAG, "error": _ERROR})
def tell_papers(fault: Fault, given: Mapping[str, Any]) -> dict[str, Any]:
    """`{ok: false, error}`, for calls that are about no single paper."""
    return _told(fault, given, "never")


def _told(fault: Fault, given: Mapping[str, Any], echo: str) -> dict[str, Any]:
    from .codes import from_fault
    from .working import told

    return told(from_fault(fault), given, echo=echo)


@procedure(
    "fetch_paper",
    parameters={"ref": _TEXT, "dry_run": _FLAG, "force": _FLAG},
    gives=_gives(
        {
            **_REF,
            **_IDENTITY,
            **_PLAN,
            "path": _TEXT,
            "size_bytes": _WHOLE,
            "pdf": _OBJECT,
            "attempts": _OPEN,
            "title": _TEXT,
            "authors": _TEXTS,
            "year": _OPEN,
            **_QUALITY,
            "error": _ERROR,
        }
    ),
    asks=RECORDS,
    settings={**_STORE, **_LOG, **_SOURCES, **_HOSTS},
)
async def fetch_paper(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve one paper and put its open PDF into the store; says which leg failed where one did."""
    from . import working

    return await working.answered(working.fetch_paper, desk, parameters, echo="given")


@procedure(
    "batch_fetch_papers",
    parameters={"refs": _TEXTS, "dry_run": _FLAG, "force": _FLAG},
    gives=_gives({"dry_run": _FLAG, "plans": _ROWS, "results": _ROWS, "error": _ERROR}),
    asks=RECORDS,
    settings={**_STORE, **_LOG, **_SOURCES, **_HOSTS},
)
async def batch_fetch_papers(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Fetch up to a hundred papers, one row each in the order in which they were given."""
    from . import working

    return await working.answered(working.batch_fetch, desk, parameters, echo="never")


@procedure(
    "paper_metadata",
    parameters={"ref": _TEXT, "dry_run": _FLAG, "include_oa_location": _FLAG},
    gives={**_METADATA, "properties": {**_METADATA["properties"], **_PLAN}},
    asks=RECORDS,
    settings={**_STORE, **_LOG, **_SOURCES},
)
async def paper_metadata(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve one paper and keep its metadata; no document is fetched, even where an open one is known."""
    from . import working

    return await working.answered(working.metadata_only, desk, parameters, echo="always")


@procedure(
    "resolve_paper",
    parameters={"ref": _TEXT, "include_oa_location": _FLAG},
    gives=_METADATA,
    asks=RECORDS,
    settings={**_LOG, **_SOURCES},
)
async def resolve_paper(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve one paper; nothing is kept but the rows of the log."""
    from . import working

    return await working.answered(working.resolve_paper, desk, parameters, echo="always")


@procedure(
    "paper_citation_graph",
    parameters={"ref": _TEXT, "depth": _WHOLE, "total": _WHOLE, "per_paper": _WHOLE},
    gives=_gives(
        {
            **_REF,
            "seed_work_id": _TEXT,
            "nodes": {"type": "array", "items": {"type": "object", "properties": {"id": _TEXT, "depth": _WHOLE}}},
            "edges": {"type": "array", "items": {"type": "object", "properties": {"from": _TEXT, "to": _TEXT}}},
            "truncated": _FLAG,
            "total_visited": _WHOLE,
            "error": _ERROR,
        }
    ),
    asks=("references",),
    settings={**_LOG, **_SOURCES},
)
async def paper_citation_graph(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Walk the references of a paper breadth first, within hard bounds."""
    from . import working

    return await working.answered(working.citation_graph, desk, parameters, echo="always")


@procedure(
    "paper_info",
    parameters={"ref": _TEXT},
    gives=_gives({**_REF, "safekey": _TEXT, "metadata": _OPEN, "error": _ERROR}),
    settings=_STORE,
)
async def paper_info(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The stored metadata of one paper, null when it is not stored."""
    from . import working

    return await working.answered(working.info, desk, parameters, echo="always")


_LISTED = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"safekey": _TEXT, "title": _TEXT, "year": _OPEN, "fetched_at": _OPEN},
        "required": ["safekey", "title"],
    },
}


@procedure(
    "search_papers",
    parameters={"query": _TEXT, "limit": _WHOLE},
    gives=_gives({"scope": _TEXT, "query": _TEXT, "count": _WHOLE, "results": _LISTED, "error": _ERROR}),
    settings=_STORE,
)
async def search_papers(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Stored papers with a text in title, authors, venue or publisher."""
    from . import working

    return await working.answered(working.search_local, desk, parameters, echo="always")


@procedure(
    "recent_papers",
    parameters={"limit": _WHOLE},
    gives=_gives({"count": _WHOLE, "entries": _LISTED, "error": _ERROR}),
    settings=_STORE,
)
async def recent_papers(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Stored papers, the newest first."""
    from . import working

    return await working.answered(working.list_recent, desk, parameters, echo="always")


@procedure(
    "paper_pdf_path",
    parameters={"ref": _TEXT},
    gives=_gives(
        {
            **_REF,
            "safekey": _TEXT,
            "path": _OPEN,
            "pdf_exists": _FLAG,
            "origin": _OPEN,
            "license": _OPEN,
            "error": _ERROR,
        }
    ),
    settings=_STORE,
)
async def paper_pdf_path(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Where the PDF of a stored paper is; the file is not opened."""
    from . import working

    return await working.answered(working.pdf_path, desk, parameters, echo="always")


@procedure(
    "papers_bibtex", parameters={"refs": _TEXTS}, gives=_gives({"entries": _ROWS, "error": _ERROR}), settings=_STORE
)
async def papers_bibtex(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Stored papers as BibTeX, one element for each reference."""
    from . import working

    return await working.answered(working.bibtex_export, desk, parameters, echo="never")


@procedure(
    "papers_csl", parameters={"refs": _TEXTS}, gives=_gives({"entries": _ROWS, "error": _ERROR}), settings=_STORE
)
async def papers_csl(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Stored papers as CSL JSON, one element for each reference."""
    from . import working

    return await working.answered(working.csl_export, desk, parameters, echo="never")


@procedure(
    "tag_paper",
    parameters={
        "ref": _TEXT,
        "add": _TEXTS,
        "remove": _TEXTS,
        "collection_add": _TEXTS,
        "collection_remove": _TEXTS,
    },
    gives=_gives({**_REF, "tags": _TEXTS, "collections": _TEXTS, "error": _ERROR}),
    settings=_STORE,
)
async def tag_paper(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Add and remove tags and collections of a stored paper."""
    from . import working

    return await working.answered(working.tag, desk, parameters, echo="never")


@procedure(
    "annotate_paper",
    parameters={"ref": _TEXT, "text": _TEXT, "clear": _FLAG},
    gives=_gives({**_REF, "annotation": _OPEN, "error": _ERROR}),
    settings=_STORE,
)
async def annotate_paper(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Set or take away the note on a stored paper."""
    from . import working

    return await working.answered(working.annotate, desk, parameters, echo="never")


@procedure(
    "paper_capabilities",
    parameters={},
    gives=_gives(
        {
            "oa_enabled": _FLAG,
            "metadata_sources": _TEXTS,
            "tdm_enabled": _FLAG,
            "tdm_elsevier": _FLAG,
            "tdm_aps": _FLAG,
            "tdm_springer": _FLAG,
            "tdm_ieee": _FLAG,
            "rate_limit_per_sec": _NUMBER,
            "tier_1": _TEXTS,
            "tier_2": _TEXTS,
            "tier_3": _TEXTS,
            "error": _ERROR,
        }
    ),
    settings=_SOURCES,
)
async def paper_capabilities(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Which sources this instance may use; tells no key."""
    from . import working

    return await working.answered(working.capability_profile, desk, parameters, echo="always")


@procedure(
    "paper_store_health",
    parameters={},
    gives=_gives(
        {"version": _TEXT, "schema_version": _TEXT, "store_writable": _FLAG, "build": _OBJECT, "error": _ERROR}
    ),
    settings=_STORE,
)
async def paper_store_health(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Version, schema, and whether the store could be written; makes nothing."""
    from . import working

    return await working.answered(working.health, desk, parameters, echo="always")


@procedure(
    "verify_provenance",
    parameters={"path": _TEXT},
    gives=_gives({"path": _TEXT, "rows": _WHOLE, "holds": _FLAG, "problem": _TEXT, "error": _ERROR}),
    settings=_LOG,
)
async def verify_provenance(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Look at every row of the provenance log; `problem` names the first that does not hold."""
    from . import working

    return await working.answered(working.verify_provenance, desk, parameters, echo="never")
