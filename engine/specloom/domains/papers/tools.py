"""What each tool of the store does, from checked arguments to its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .config import store_root
from .download import HOSTS
from .entries import SCHEMA_VERSION, own_of, quality_of, texts_of, to_bibtex, to_csl, to_json
from .errors import Refusal, to_refusal
from .identifiers import PaperId, key_of, parse_entry_ref, parse_ref, safekey
from .metadata import ENABLED, LookupTrace, describe, locate, repair, resolve, to_doi, to_entry
from .pacing import GAP, PER_SECOND
from .provenance_log import open_journal
from .store import METADATA, PaperStore

if TYPE_CHECKING:
    from specloom.plugins import Context


BATCH = 100
EXPORTS = 200
LISTED, MOST_LISTED = 50, 200
TAGS, LONGEST_TAG = 1000, 200
"""Tags, or collections, of one paper, and characters of each."""
Work = Callable[["Context", Mapping[str, Any]], Awaitable[dict[str, Any]]]


async def answered(work: Work, context: Context, given: Mapping[str, Any], *, echo: str) -> dict[str, Any]:
    """`{ok: true, …}`, or `{ok: false, error}`: no failure of the work is anything but an answer.

    `echo` says what becomes of `ref` in a failure: `always` (null where there is none), `given`, or `never`.
    """
    try:
        return {"ok": True, **await work(context, given)}
    except Exception as error:  # noqa: BLE001 - what a tool tells is closed, and a defect is told as one
        return told(to_refusal(error), given, echo=echo)


def told(refusal: Refusal, given: Mapping[str, Any], *, echo: str) -> dict[str, Any]:
    """A refusal as an answer."""
    ref = given.get("ref")
    said = {"ref": ref if isinstance(ref, str) else None}
    shown = said if echo == "always" or (echo == "given" and said["ref"] is not None) else {}
    return {"ok": False, **shown, "error": refusal.to_json()}


# --- the network --------------------------------------------------------------------------------------------------


async def fetch_paper(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    from .fetch import fetch

    ref = parse_ref(given["ref"])
    if given.get("dry_run"):
        return {"dry_run": True, **preview(context, ref)}
    return {"ref": given["ref"], **await fetch(context, ref, force=bool(given.get("force")))}


async def batch_fetch(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    from .fetch import fetch_all

    texts = list(given["refs"])
    if len(texts) > BATCH:
        raise Refusal(
            "INVALID_REF", f"TOO_MANY_REFS: {len(texts)} references were given, and {BATCH} are taken at most."
        )
    refs = [(text, parse_ref(text)) for text in texts]
    if given.get("dry_run"):
        return {"dry_run": True, "plans": [preview(context, ref) for _, ref in refs]}
    return {"results": await fetch_all(context, refs, force=bool(given.get("force")))}


async def metadata_only(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    ref = parse_ref(given["ref"])
    if given.get("dry_run"):
        return {"dry_run": True, **preview(context, ref)}
    return await _tell(context, ref, given, keep=True)


async def resolve_paper(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    return await _tell(context, parse_ref(given["ref"]), given, keep=False)


async def _tell(context: Context, ref: PaperId, given: Mapping[str, Any], *, keep: bool) -> dict[str, Any]:
    journal, trace = open_journal(context), LookupTrace()
    if ref.kind != "pubmed":
        key_of(ref)  # a reference that could not be kept is refused before anybody is asked
    store = PaperStore(store_root(context.config))
    if keep and context.is_live:
        store.check_writable()
    with journal.session(ref):
        if ref.kind == "pubmed":
            ref = await to_doi(context, ref, journal, trace)
        found = await resolve(context, ref, journal, trace)
        found, repaired = await repair(context, ref, found, journal, trace)
        access = found.access
        if given.get("include_oa_location") and ref.kind == "doi" and access is None:
            access = await locate(context, ref, journal, trace)
        said = describe(found, access)
        own = {key: said[key] for key in ("source", "license", "oa_status")} | {"repaired_fields": repaired or None}
        entry = to_entry(ref, found, own, context.now())
        if keep:
            entry, _ = await store.commit(ref, entry)
            journal.stored(ref, found.source, f"{METADATA}/{key_of(ref)}.toml", own, "metadata")
    more = {"metadata_quality": quality_of(entry), "repaired_fields": repaired, "schema_version": SCHEMA_VERSION}
    return {"ref": given["ref"], **said, **more}


async def citation_graph(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    from .discovery import GRAPH_SOURCE as SOURCE
    from .discovery import expand

    ref = parse_entry_ref(given["ref"])
    if ref.kind != "doi":
        raise Refusal("INVALID_REF", f"{given['ref']!r} is no DOI, and citations are known by DOI only.")
    variable, _ = ENABLED[SOURCE]
    if context.config.get(variable) is None:
        raise Refusal(
            "CAPABILITY_DENIED",
            f"Citations come from {SOURCE}, which is not switched on; set {variable}.",
            denial={"reason": "capability_not_granted", "source": SOURCE},
        )
    bounds = {name: int(given[name]) for name in ("depth", "total", "per_paper")}
    return {"ref": given["ref"], **await expand(context, ref, **bounds)}


def preview(context: Context, ref: PaperId) -> dict[str, Any]:
    """What a fetch would do; works out names and touches neither network nor disk."""
    if ref.kind == "pubmed":
        raise Refusal("INVALID_REF", f"{ref.value} would have to be looked up first, which a dry run does not do.")
    store, key = PaperStore(store_root(context.config)), key_of(ref)
    source = "arxiv" if ref.kind == "arxiv" else "oa-publisher"
    return {
        "ref": ref.shape,
        "plan": {
            "metadata_sources": [] if ref.kind == "arxiv" else ["crossref", "unpaywall"],
            "pdf_sources": [{"key": source, "candidate_hosts": list(HOSTS[source])}],
            "redirect_allowlists_loaded": ["crossref", "unpaywall", "arxiv", "oa-publisher"],
            "candidate_hosts_are_upper_bound": True,
            "target_pdf_path": str(store.pdf_path(key)),
            "target_metadata_path": str(store.metadata_path(key)),
            "would_append_provenance": True,
        },
        "rate_limit_budget": {"global_per_sec": PER_SECOND, "per_source_min_gap_ms": round(GAP * 1000)},
    }


# --- the store ----------------------------------------------------------------------------------------------------


async def info(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    ref = parse_entry_ref(given["ref"])
    entry = PaperStore(store_root(context.config)).find(ref)
    return {"ref": given["ref"], "safekey": key_of(ref), "metadata": to_json(entry)}


async def search_local(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    wanted = str(given["query"]).casefold()
    found = [one.to_json() for one in PaperStore(store_root(context.config)).summaries() if wanted in one.words]
    results = found[: _limit(given)]
    return {"scope": "local", "query": given["query"], "count": len(results), "results": results}


async def list_recent(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    entries = PaperStore(store_root(context.config)).summaries()
    dated = sorted((one for one in entries if one.fetched_at), key=lambda one: one.fetched_at or "", reverse=True)
    listed = [*dated, *(one for one in entries if not one.fetched_at)][: _limit(given)]
    return {"count": len(listed), "entries": [one.to_json() for one in listed]}


async def pdf_path(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    ref = parse_entry_ref(given["ref"])
    store = PaperStore(store_root(context.config))
    entry = store.find(ref)
    said = {"ref": given["ref"], "safekey": key_of(ref)}
    if entry is None:
        return {**said, "path": None, "pdf_exists": False}
    path, own = store.stored_pdf(entry), own_of(entry)
    return {
        **said,
        "path": str(path) if path else None,
        "pdf_exists": store.has_pdf(entry),
        "origin": to_json(own.get("origin")),
        "license": to_json(own.get("license")),
    }


async def bibtex_export(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    return {"entries": _exported(context, given["refs"], "bibtex", to_bibtex)}


async def csl_export(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    return {"entries": _exported(context, given["refs"], "csl", to_csl)}


async def tag(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    ref = parse_entry_ref(given["ref"])

    def alter(own: Mapping[str, Any]) -> Mapping[str, Any]:
        tags = _changed(own.get("tags"), given.get("add"), given.get("remove"))
        collections = _changed(own.get("collections"), given.get("collection_add"), given.get("collection_remove"))
        return {"tags": tags or None, "collections": collections or None}

    own = await PaperStore(store_root(context.config)).change(ref, alter)
    return {"ref": given["ref"], "tags": texts_of(own.get("tags")), "collections": texts_of(own.get("collections"))}


async def annotate(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    ref = parse_entry_ref(given["ref"])
    clear, text = bool(given.get("clear")), given.get("text")
    if not clear and not text:
        raise Refusal("INVALID_REF", "Give the note as text, or clear: true to take it away.")
    note = None if clear else str(text)
    await PaperStore(store_root(context.config)).change(ref, lambda _: {"annotation": note})
    return {"ref": given["ref"], "annotation": note}


def _limit(given: Mapping[str, Any]) -> int:
    return min(int(given.get("limit") or LISTED), MOST_LISTED)


def _changed(before: Any, add: Any, remove: Any) -> list[str]:
    """A list after additions and removals: each word once, in the order in which it came."""
    for one in (*(add or ()), *(remove or ())):
        if not isinstance(one, str) or not 0 < len(one) <= LONGEST_TAG:
            raise Refusal("INVALID_REF", f"A tag or a collection is a text of 1 to {LONGEST_TAG} characters.")
    gone = set(remove or ())
    kept = [one for one in dict.fromkeys([*texts_of(before), *(add or ())]) if one not in gone]
    if len(kept) > TAGS:
        raise Refusal(
            "INVALID_REF", f"A paper would have {len(kept)} tags or collections, and {TAGS} are kept at most."
        )
    return kept


def _exported(
    context: Context, refs: Sequence[str], name: str, write: Callable[[str, Mapping[str, Any]], Any]
) -> list[dict[str, Any]]:
    if not 0 < len(refs) <= EXPORTS:
        raise Refusal("INVALID_REF", f"{len(refs)} references were given; 1 to {EXPORTS} are taken.")
    store = PaperStore(store_root(context.config))
    rows: list[dict[str, Any]] = []
    for text in refs:
        try:
            ref = parse_entry_ref(text)
            entry = store.find(ref)
        except Refusal as refusal:
            rows.append({"ref": text, "error": refusal.to_json()})
            continue
        key = safekey(ref.kind, ref.value)
        rows.append({"ref": text, "safekey": key, name: write(key, to_json(entry)) if entry is not None else None})
    return rows
