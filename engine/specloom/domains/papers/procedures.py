"""The procedures that resolve and fetch papers, as specs name them; the work is imported when it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.plugins import FLAG, NUMBER, OBJECT, PLACES, TEXT, WHOLE, StoragePlace, listed, procedure, record, texts

from .download import PUBLISHERS

if TYPE_CHECKING:
    from pathlib import Path

    from specloom.plugins import Context


# --- The words in which procedures of the paper store are declared: parts of their answers, and the settings they
# read -----------------------------------------------------------------------------------------------------------------


TEXTS = listed(TEXT)
ROWS = listed(OBJECT)
OPEN: dict[str, Any] = {}
"""What may be null, which a schema of one type cannot say."""

ERROR = {
    "type": "object",
    "properties": {
        "code": TEXT,
        "message": TEXT,
        "disposition": TEXT,
        "denial_context": OPEN,
        "remediation": ROWS,
        "retry_after_ms": WHOLE,
        "replayed": FLAG,
    },
    "required": ["code", "message", "disposition"],
}
REF = {"ref": OPEN}
FAILURE = {"ok": FLAG, **REF, "error": ERROR}

RECORDS = ("publication", "publisher_record", "oa_locations", "preprint", "work", "article_identifiers")
"""The capabilities that tell of papers; none gives a document."""

Settings = Mapping[str, Mapping[str, Any]]

STORE: Settings = {
    "DOIGET_STORE_ROOT": {
        "type": "text",
        "description": "The folder of the paper store; [store] root of config.toml or ./papers when left out.",
    }
}
LOG: Settings = {
    "DOIGET_LOG_PATH": {
        "type": "text",
        "description": "The provenance log; [log] path of config.toml or access.jsonl beside it when left out.",
    },
    "DOIGET_LOG_RETENTION_DAYS": {
        "type": "integer",
        "description": "Days for which a log that was put away is kept, 90 when left out; 0 keeps all.",
    },
}
SOURCES: Settings = {
    "DOIGET_ENABLE_DATACITE": {
        "type": "text",
        "description": "Set to anything: DataCite is asked for DOIs that Crossref does not have.",
    },
    "DOIGET_ENABLE_OPENALEX": {
        "type": "text",
        "description": "Set to anything: OpenAlex may be asked for records, open copies and citations.",
    },
    "DOIGET_ENABLE_S2": {
        "type": "text",
        "description": "Set to anything: Semantic Scholar is asked for DOIs that no registry has.",
    },
    "DOIGET_ENABLE_DOAJ": {
        "type": "text",
        "description": "Set to anything: the Directory of Open Access Journals is asked for DOIs that no registry has.",
    },
    **{
        name: declaration
        for one in PUBLISHERS
        for name, declaration in (
            (one.agreement, {"type": "text", "description": f"1 when you agreed with {one.title} on text mining."}),
            (one.key, {"type": "text", "secret": True, "description": f"Your key for text mining from {one.title}."}),
        )
    },
}
HOSTS: Settings = {
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
        "description": "Whether open copies may come from the academic domains of fifteen countries.",
    },
    "DOIGET_TRUST_OA_REGISTRIES": {
        "type": "boolean",
        "description": "Whether open copies may come from Zenodo, OSF, HAL, SciELO and CORE.",
    },
}


def gives(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """The schema of an answer that has `ok` and, where the call failed, `error`."""
    return {
        "type": "object",
        "properties": {"ok": FLAG, **properties, "error": ERROR},
        "required": ["ok", *required],
    }


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
async def fetch_paper(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve one paper and put its open PDF into the store; says which leg failed where one did."""
    from . import tools as working

    return await working.answered(working.fetch_paper, context, parameters, echo="given")


@procedure(
    "batch_fetch_papers",
    parameters={"refs": TEXTS, "dry_run": FLAG, "force": FLAG},
    gives=gives({"dry_run": FLAG, "plans": ROWS, "results": ROWS}),
    asks=RECORDS,
    settings={**STORE, **LOG, **SOURCES, **HOSTS},
)
async def batch_fetch_papers(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Fetch up to a hundred papers, one row each in the order in which they were given."""
    from . import tools as working

    return await working.answered(working.batch_fetch, context, parameters, echo="never")


@procedure(
    "paper_metadata",
    parameters={"ref": TEXT, "dry_run": FLAG, "include_oa_location": FLAG},
    gives=gives({**_METADATA, **_PLAN}),
    asks=RECORDS,
    settings={**STORE, **LOG, **SOURCES},
)
async def paper_metadata(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve one paper and keep its metadata; no document is fetched, even where an open one is known."""
    from . import tools as working

    return await working.answered(working.metadata_only, context, parameters, echo="always")


@procedure(
    "resolve_paper",
    parameters={"ref": TEXT, "include_oa_location": FLAG},
    gives=gives(_METADATA),
    asks=RECORDS,
    settings={**LOG, **SOURCES},
)
async def resolve_paper(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve one paper; nothing is kept but the rows of the log."""
    from . import tools as working

    return await working.answered(working.resolve_paper, context, parameters, echo="always")


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
async def paper_citation_graph(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Walk the references of a paper breadth first, within hard bounds."""
    from . import tools as working

    return await working.answered(working.citation_graph, context, parameters, echo="always")


# --- The procedures that find papers: by words, by a citation, by their preprint, and in a bibliography file ----------


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
async def discover_papers(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Works for some words within bounds; nothing is kept but the rows of the log."""
    from . import discovery as discovering
    from . import tools as working

    return await working.answered(discovering.paper_search, context, parameters, echo="always")


@procedure(
    "preprint_of_paper",
    parameters={"ref": TEXT},
    gives=gives({**REF, **texts("doi", "openalex_id"), "arxiv": OPEN, "title": OPEN}),
    asks=("preprint_of",),
    settings=LOG,
)
async def preprint_of_paper(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The arXiv preprint that belongs to a DOI; nothing is kept but the rows of the log."""
    from . import discovery as discovering
    from . import tools as working

    return await working.answered(discovering.link, context, parameters, echo="always")


@procedure(
    "resolve_citation",
    parameters={"query": TEXT, "limit": WHOLE},
    gives=gives({**REF, "query": TEXT, "candidates": listed(_CANDIDATE)}),
    asks=("citation_candidates",),
)
async def resolve_citation(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The registered works that a citation in words may mean; nothing is kept and nothing written down."""
    from . import discovery as citations
    from . import tools as working

    return await working.answered(citations.resolve_citation, context, parameters, echo="always")


@procedure(
    "resolve_citations",
    parameters={"queries": TEXTS, "limit": WHOLE},
    gives=gives({"results": listed(_RESOLVED)}),
    asks=("citation_candidates",),
)
async def resolve_citations(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The same for up to fifty citations, a row each in their order."""
    from . import discovery as citations
    from . import tools as working

    return await working.answered(citations.batch_resolve_citations, context, parameters, echo="never")


@procedure(
    "fetch_bibliography",
    parameters={"path": TEXT, "format": TEXT, "strict": FLAG, "force": FLAG},
    gives=gives({"summary": _COUNTS, "results": ROWS}),
    asks=RECORDS,
    runs=("bibliography_records",),
    settings={**STORE, **LOG, **SOURCES, **HOSTS},
)
async def fetch_bibliography(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Fetch the papers of a bibliography file, a row each; entries that name no paper come first."""
    from . import bibliography
    from . import tools as working

    return await working.answered(bibliography.batch_from_bibliography, context, parameters, echo="never")


# --- The procedures about this instance: what it may use, how it is, and whether its log holds and is up to date ------


def _find_store(environ: Mapping[str, str]) -> Path:
    from .config import store_root

    return store_root(environ)


def _find_log(environ: Mapping[str, str]) -> Path:
    from .config import log_path

    return log_path(environ)


PLACES["paper store"] = StoragePlace(_find_store, "DOIGET_STORE_ROOT", "no paper can be kept")
PLACES["provenance log"] = StoragePlace(_find_log, "DOIGET_LOG_PATH", "no paper can be fetched", is_file=True)


@procedure(
    "paper_capabilities",
    parameters={},
    gives=gives(
        {
            "oa_enabled": FLAG,
            "metadata_sources": TEXTS,
            "tdm_enabled": FLAG,
            "tdm_elsevier": FLAG,
            "tdm_aps": FLAG,
            "tdm_springer": FLAG,
            "tdm_ieee": FLAG,
            "rate_limit_per_sec": NUMBER,
            "tier_1": TEXTS,
            "tier_2": TEXTS,
            "tier_3": TEXTS,
        }
    ),
    settings=SOURCES,
)
async def paper_capabilities(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Which sources this instance may use; tells no key."""
    from . import status as instance
    from .tools import answered

    return await answered(instance.capability_profile, context, parameters, echo="always")


@procedure(
    "paper_store_health",
    parameters={},
    gives=gives({"version": TEXT, "schema_version": TEXT, "store_writable": FLAG, "build": OBJECT}),
    settings=STORE,
)
async def paper_store_health(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Version, schema, and whether the store could be written; makes nothing."""
    from . import status as instance
    from .tools import answered

    return await answered(instance.health, context, parameters, echo="always")


@procedure(
    "verify_provenance",
    parameters={"path": TEXT},
    gives=gives({"path": TEXT, "rows": WHOLE, "holds": FLAG, "problem": TEXT}),
    settings=LOG,
)
async def verify_provenance(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Look at every row of the provenance log; `problem` names the first that does not hold."""
    from . import status as instance
    from .tools import answered

    return await answered(instance.verify_provenance, context, parameters, echo="never")


@procedure(
    "migrate_provenance",
    parameters={"path": TEXT, "dry_run": FLAG},
    gives=gives({"path": TEXT, "rows": WHOLE, "rewritten": WHOLE, "anchor_before": OPEN, "anchor_after": OPEN}),
    settings=LOG,
)
async def migrate_provenance(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Bring a provenance log of the older format into the one that is written now; as it was, it stays beside it."""
    from . import provenance_log as migrating
    from .tools import answered

    return await answered(migrating.migrate_provenance, context, parameters, echo="never")


# --- The procedures that look into the store and note what its user says of a paper; none reaches the network ---------


_LISTED = listed(
    record({"safekey": TEXT, "title": TEXT, "year": OPEN, "fetched_at": OPEN}, "safekey", "title"),
)


@procedure(
    "paper_info",
    parameters={"ref": TEXT},
    gives=gives({**REF, "safekey": TEXT, "metadata": OPEN}),
    settings=STORE,
)
async def paper_info(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The stored metadata of one paper, null when it is not stored."""
    from . import tools as working

    return await working.answered(working.info, context, parameters, echo="always")


@procedure(
    "search_papers",
    parameters={"query": TEXT, "limit": WHOLE},
    gives=gives({"scope": TEXT, "query": TEXT, "count": WHOLE, "results": _LISTED}),
    settings=STORE,
)
async def search_papers(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Stored papers with a text in title, authors, venue or publisher."""
    from . import tools as working

    return await working.answered(working.search_local, context, parameters, echo="always")


@procedure(
    "recent_papers",
    parameters={"limit": WHOLE},
    gives=gives({"count": WHOLE, "entries": _LISTED}),
    settings=STORE,
)
async def recent_papers(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Stored papers, the newest first."""
    from . import tools as working

    return await working.answered(working.list_recent, context, parameters, echo="always")


@procedure(
    "paper_pdf_path",
    parameters={"ref": TEXT},
    gives=gives({**REF, "safekey": TEXT, "path": OPEN, "pdf_exists": FLAG, "origin": OPEN, "license": OPEN}),
    settings=STORE,
)
async def paper_pdf_path(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Where the PDF of a stored paper is; the file is not opened."""
    from . import tools as working

    return await working.answered(working.pdf_path, context, parameters, echo="always")


@procedure("papers_bibtex", parameters={"refs": TEXTS}, gives=gives({"entries": ROWS}), settings=STORE)
async def papers_bibtex(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Stored papers as BibTeX, one element for each reference."""
    from . import tools as working

    return await working.answered(working.bibtex_export, context, parameters, echo="never")


@procedure("papers_csl", parameters={"refs": TEXTS}, gives=gives({"entries": ROWS}), settings=STORE)
async def papers_csl(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Stored papers as CSL JSON, one element for each reference."""
    from . import tools as working

    return await working.answered(working.csl_export, context, parameters, echo="never")


@procedure(
    "tag_paper",
    parameters={
        "ref": TEXT,
        "add": TEXTS,
        "remove": TEXTS,
        "collection_add": TEXTS,
        "collection_remove": TEXTS,
    },
    gives=gives({**REF, "tags": TEXTS, "collections": TEXTS}),
    settings=STORE,
)
async def tag_paper(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Add and remove tags and collections of a stored paper."""
    from . import tools as working

    return await working.answered(working.tag, context, parameters, echo="never")


@procedure(
    "annotate_paper",
    parameters={"ref": TEXT, "text": TEXT, "clear": FLAG},
    gives=gives({**REF, "annotation": OPEN}),
    settings=STORE,
)
async def annotate_paper(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Set or take away the note on a stored paper."""
    from . import tools as working

    return await working.answered(working.annotate, context, parameters, echo="never")


# --- The procedures that give the text of a preprint, as specs name them; the work is imported when it is done --------


_PARAMETERS = {"ref": TEXT, "max_chars": WHOLE}
_MEASURES = {"char_count": WHOLE, "truncated": FLAG, "retrieved_from": TEXT}


@procedure(
    "paper_text",
    parameters=_PARAMETERS,
    gives=gives(
        {
            **REF,
            **texts("arxiv_id", "source", "title"),
            "sections": listed(record(texts("heading", "text"), "heading", "text")),
            **_MEASURES,
        }
    ),
    runs=("read_markup",),
    settings=LOG,
)
async def paper_text(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The text of a preprint by sections, from its HTML rendering; no PDF is opened and nothing is kept."""
    from . import fulltext as work
    from .tools import answered

    return await answered(work.paper_text, context, parameters, echo="always")


@procedure(
    "paper_tex_source",
    parameters=_PARAMETERS,
    gives=gives({**REF, **texts("arxiv_id", "main_file", "tex_source"), **_MEASURES}),
    settings=LOG,
)
async def paper_tex_source(context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The TeX of a preprint as its authors wrote it, in one text; nothing is kept."""
    from . import fulltext as work
    from .tools import answered

    return await answered(work.paper_tex_source, context, parameters, echo="always")
