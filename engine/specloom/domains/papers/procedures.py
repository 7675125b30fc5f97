"""The procedures that resolve and fetch papers, look into the store, and tell how this instance is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from specloom import __version__
from specloom.domains.text import PaperId
from specloom.plugins import FLAG, NUMBER, OBJECT, PLACES, TEXT, WHOLE, Context, listed, record, texts

from . import search
from .answers import FETCHING, OPEN, RECORDS, REF, ROWS, TEXTS, paper_procedure, parse_entry_ref, parse_ref
from .config import ASKING, CACHE, INDEXES, LOG, PUBLISHERS, STORE, find_texts, log_path, store_root
from .entries import SCHEMA_VERSION, TABLE, own_of, quality_of, texts_of, to_bibtex, to_csl, to_json
from .errors import PaperFault
from .limits import GAP, PER_SECOND

if TYPE_CHECKING:
    from pathlib import Path

    from .metadata import PaperLookup
    from .store import PaperStore
    from .texts import TextHit

T = TypeVar("T")

BATCH, EXPORTS = 100, 200
"""The most references of a batch, and of an export."""
LISTED, MOST_LISTED = 50, 200
TAGS, LONGEST_TAG = 1000, 200
"""Tags, or collections, of one paper, and characters of each."""


def _verify(path: Path) -> tuple[int, str]:
    from .provenance_log import verify

    verdict = verify(path)
    return verdict.rows, verdict.problem


def _store(context: Context) -> PaperStore:
    """The store that the settings name; what looks into it is imported when it is opened."""
    from .store import open_store

    return open_store(context.config)


PLACES.register(
    "paper store",
    variable="DOIGET_STORE_ROOT",
    otherwise="no paper can be kept",
    derived=find_texts,
    removal="take works out with library_remove, which moves them into its folder .trash, and delete that folder, or "
    "delete the files by hand",
)(store_root)
PLACES.register(
    "provenance log",
    variable="DOIGET_LOG_PATH",
    otherwise="no paper can be fetched",
    is_file=True,
    verify=_verify,
)(log_path)

_PLAN = {"dry_run": FLAG, "plan": OBJECT, "rate_limit_budget": OBJECT}
_IDENTITY = {**texts("source", "resolver_profile", "license", "schema_version"), "oa_status": OPEN}
_QUALITY = {"metadata_quality": TEXTS, "repaired_fields": OBJECT}
_METADATA = {**REF, **_IDENTITY, "oa_url": OPEN, "metadata": OBJECT, **_QUALITY}
_FETCHED = {"path": TEXT, "size_bytes": WHOLE, "pdf": OBJECT, "attempts": OPEN, "title": TEXT, "authors": TEXTS}
_ROW = {
    **texts("safekey", "title"),
    "year": OPEN,
    "fetched_at": OPEN,
    "ref": TEXT,
    "key": TEXT,
    "authors": TEXTS,
    "tags": TEXTS,
}
_IN_TEXT = record({"page": WHOLE, "passage": TEXT, "offset": WHOLE}, "page", "passage", "offset")
_PART = {"total": WHOLE, "next_offset": WHOLE}
_LISTED = listed(record(_ROW, "safekey", "title"))
_FOUND = listed(record({**_ROW, "in_text": _IN_TEXT}, "safekey", "title"))
_TDM = ("tdm_elsevier", "tdm_aps", "tdm_springer", "tdm_ieee")
"""The publishers that the contract names, as it names them."""

# --- the network --------------------------------------------------------------------------------------------------


@paper_procedure({**REF, **_IDENTITY, **_PLAN, **_FETCHED, "year": OPEN, **_QUALITY}, asks=RECORDS, settings=FETCHING)
async def fetch_paper(context: Context, ref: str, dry_run: bool = False, force: bool = False) -> dict[str, Any]:
    """Resolve one paper and put its open PDF into the store; says which leg failed where one did."""
    from .fetch import fetch

    paper = parse_ref(ref)
    if dry_run:
        return {"dry_run": True, **preview(context, paper)}
    return {"ref": ref, **await fetch(context, paper, force=force)}


@paper_procedure({"dry_run": FLAG, "plans": ROWS, "results": ROWS}, asks=RECORDS, settings=FETCHING)
async def batch_fetch_papers(
    context: Context, refs: list[str], dry_run: bool = False, force: bool = False
) -> dict[str, Any]:
    """Fetch up to a hundred papers, one row each in the order in which they were given."""
    from .fetch import fetch_all

    if not refs:
        raise PaperFault("INVALID_REF", f"0 references were given; 1 to {BATCH} are taken.")
    if len(refs) > BATCH:
        raise PaperFault(
            "INVALID_REF", f"TOO_MANY_REFS: {len(refs)} references were given, and {BATCH} are taken at most."
        )
    papers = [(text, parse_ref(text)) for text in refs]
    if dry_run:
        return {"dry_run": True, "plans": [preview(context, paper) for _, paper in papers]}
    return {"results": await fetch_all(context, papers, force=force)}


@paper_procedure({**_METADATA, **_PLAN}, asks=RECORDS, settings={**STORE, **LOG, **ASKING})
async def paper_metadata(
    context: Context, ref: str, dry_run: bool = False, include_oa_location: bool = False
) -> dict[str, Any]:
    """Resolve one paper and keep its metadata; no document is fetched, even where an open one is known."""
    if dry_run:
        return {"dry_run": True, **preview(context, parse_ref(ref))}
    return await _resolve(context, ref, with_access=include_oa_location, keep=True)


@paper_procedure(_METADATA, asks=RECORDS, settings={**LOG, **ASKING})
async def resolve_paper(context: Context, ref: str, include_oa_location: bool = False) -> dict[str, Any]:
    """Resolve one paper; nothing is kept but the rows of the log."""
    return await _resolve(context, ref, with_access=include_oa_location, keep=False)


async def _resolve(context: Context, text: str, *, with_access: bool, keep: bool) -> dict[str, Any]:
    from .metadata import PaperLookup, to_entry
    from .provenance_log import open_journal
    from .store import METADATA, check_key

    ref = parse_ref(text)
    lookup, store = PaperLookup(context, open_journal(context)), _store(context)
    if ref.kind != "pubmed":
        check_key(ref.key)  # a reference that could not be kept is refused before anybody is asked
    if keep and context.is_live:
        store.check_writable()
    with lookup.journal.session(ref):
        ref = await lookup.to_doi(ref)
        paper = await lookup.repair(ref, await lookup.resolve(ref))
        if with_access and ref.kind == "doi" and not paper.access:
            paper = replace(paper, access=await lookup.locate(ref))
        _tell_unheard(context, lookup, paper.source)
        own = {"source": paper.source, "license": paper.license, "oa_status": paper.oa_status}
        ref = store.spelled(ref)
        entry = to_entry(ref, paper, own, context.now())
        if keep:
            entry, _ = await store.commit(ref, entry)
            row = {
                "store_path": f"{METADATA}/{store.key(ref)}.toml",
                "license": paper.license,
                "capability": "metadata",
            }
            lookup.journal.row("store_write", ref, paper.source, **row)
    return {
        "ref": text,
        "source": paper.source,
        "resolver_profile": paper.source,
        "license": paper.license,
        "oa_url": paper.oa_url,
        "oa_status": paper.oa_status,
        "metadata": dict(paper.payload),
        "metadata_quality": quality_of(entry),
        "repaired_fields": dict(paper.repaired),
        "schema_version": SCHEMA_VERSION,
    }


def _tell_unheard(context: Context, lookup: PaperLookup, source: str) -> None:
    """Say so where who knows of retractions could not be asked, and the record is another's."""
    failed = (one for one in lookup.steps if one["source"] == "crossref" and one["outcome"] == "consulted_failed")
    for step in failed if source != "crossref" else ():
        context.notice(
            "Whether this paper was retracted or corrected was not checked: Crossref could not be asked "
            f"({str(step.get('detail', '')).rstrip('.')}), and the record of {source} does not say."
        )


def preview(context: Context, ref: PaperId) -> dict[str, Any]:
    """What a fetch would do; works out names and touches neither network nor disk."""
    if ref.kind == "pubmed":
        raise PaperFault("INVALID_REF", f"{ref.value} would have to be looked up first, which a dry run does not do.")
    from .download import HOSTS

    store, is_preprint = _store(context), ref.kind == "arxiv"
    source = "arxiv" if is_preprint else "oa-publisher"
    return {
        "ref": {ref.kind: ref.value},
        "plan": {
            "metadata_sources": [] if is_preprint else ["crossref", "unpaywall"],
            "pdf_sources": [{"key": source, "candidate_hosts": HOSTS[source]}],
            "redirect_allowlists_loaded": ["crossref", "unpaywall", "arxiv", "oa-publisher"],
            "candidate_hosts_are_upper_bound": True,
            "target_pdf_path": store.tell(context, store.pdf_path(ref.key)),
            "target_metadata_path": store.tell(context, store.metadata_path(ref.key)),
            "would_append_provenance": True,
        },
        "rate_limit_budget": {"global_per_sec": float(PER_SECOND), "per_source_min_gap_ms": round(GAP * 1000)},
    }


# --- the store ----------------------------------------------------------------------------------------------------


@paper_procedure({**REF, "safekey": TEXT, "metadata": OPEN}, settings=STORE)
async def paper_info(context: Context, ref: str) -> dict[str, Any]:
    """The stored metadata of one paper, null when it is not stored."""
    key, entry = _find_entry(_store(context), ref)
    return {"ref": ref, "safekey": key, "metadata": to_json(entry)}


def _find_entry(store: PaperStore, text: str) -> tuple[str, dict[str, Any] | None]:
    """The key of the files of a paper, and its entry, None where it is not stored; `@` and a cite key name one too.

    INVALID_REF for what is no reference, and for a cite key that no stored work has.
    """
    if not text.strip().startswith("@"):
        paper = store.locate(parse_entry_ref(text))
        return store.key(paper), store.find(paper)
    name = text.strip().lower()
    entries = store.summaries()
    key = next((row["safekey"] for entry, row in entries if name in entry.names), "")
    if not key:
        raise PaperFault("INVALID_REF", search.say_unknown_key(text.strip(), [entry for entry, _ in entries]))
    return key, store.read(key)


async def _change_entry(context: Context, text: str, alter: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Any:
    """Lay what `alter` makes of the tool's own table of an entry over it, and give the table."""
    store = _store(context)
    if not text.strip().startswith("@"):
        return await store.change(store.locate(parse_entry_ref(text)), alter)
    key, _ = _find_entry(store, text)

    def rewrite(stored: Mapping[str, Any] | None) -> Mapping[str, Any]:
        if stored is None:
            raise PaperFault("STORE_ERROR", f"{text.strip()[:80]} is no longer in the store.")
        own = own_of(stored)
        table = {name: value for name, value in {**own, **alter(own)}.items() if value is not None}
        return {**stored, TABLE: table}

    return own_of(await store.rewrite(key, rewrite))


@paper_procedure(
    {
        "scope": TEXT,
        "query": TEXT,
        "count": WHOLE,
        **_PART,
        "results": _FOUND,
        "corrected": OBJECT,
        "partial": FLAG,
        "unread_pdfs": WHOLE,
    },
    settings={**STORE, **CACHE},
)
async def search_papers(context: Context, query: str, limit: int = LISTED, offset: int = 0) -> dict[str, Any]:
    """Stored papers with all words of a query in their records or the texts of their PDFs, best first.

    They are `limit` of `total` from `offset` on, and `next_offset` is where further ones begin.
    A row whose text has a word that its record lacks says where: `in_text`. Where there is no row, a word that no
    record has is taken for the nearest that one has (`corrected`); where that leads nowhere, half of the words are
    enough (`partial`). `unread_pdfs` counts PDFs whose texts are still to be read.
    """
    from .texts import open_texts

    store, asked = _store(context), search.parse_query(query)
    entries = store.summaries()
    pdfs = {row["safekey"]: path for one, row in entries if (path := store.stored_pdf({"pdf_path": one.pdf}))}
    async with open_texts(context) as kept:
        unread = await kept.refresh(context, pdfs) if asked.words else 0
        texts = await kept.find(asked.words)
        fitting = search.rank(asked, entries, texts)
        told: dict[str, Any] = {"unread_pdfs": unread} if unread else {}
        if not fitting and (corrected := search.correct(asked, [entry for entry, _ in entries])):
            nearer = tuple(corrected.get(word, word) for word in asked.words)
            again = replace(asked, words=nearer, name=corrected.get(asked.name, asked.name))
            texts = await kept.find(again.words)
            if fitting := search.rank(again, entries, texts):
                asked = again
                told |= {"corrected": corrected}
        if not fitting:
            texts = await kept.find(asked.words)
            fitting = search.rank(asked, entries, texts, most=True)
            told |= {"partial": True} if fitting else {}
        shown, part = _part_of(fitting, offset, limit)
        lacking = {
            row["safekey"]: words
            for entry, row in shown
            if (words := asked.find_text_words(entry, texts.get(row["safekey"])))
        }
        places = await kept.locate(lacking)
    rows = [_tell_found(row, places.get(row["safekey"])) for _, row in shown]
    return {"scope": "local", "query": query, "count": len(rows), **part, "results": rows, **told}


def _tell_found(row: dict[str, Any], place: TextHit | None) -> dict[str, Any]:
    """A row of a search, with the passage of its text that has words which the record lacks."""
    from .texts import shorten

    if place is None:
        return row
    passage = shorten(place.passage, place.words)
    return {**row, "in_text": {"page": place.page, "passage": passage, "offset": place.offset}}


@paper_procedure({"count": WHOLE, **_PART, "entries": _LISTED}, settings=STORE)
async def recent_papers(context: Context, limit: int = LISTED, offset: int = 0) -> dict[str, Any]:
    """Stored papers, the newest first: `limit` of `total` from `offset` on; `next_offset` is where others begin."""
    # Entries without a time come last; the sort is stable, also in reverse.
    rows = sorted(
        (row for _, row in _store(context).summaries()), key=lambda row: row["fetched_at"] or "", reverse=True
    )
    newest, part = _part_of(rows, offset, limit)
    return {"count": len(newest), **part, "entries": newest}


def _part_of(rows: Sequence[T], offset: int, limit: int) -> tuple[Sequence[T], dict[str, int]]:
    """The rows of a list that are told, how many it has, and where those behind them begin."""
    if offset and offset >= len(rows):
        raise PaperFault("INVALID_REF", f"offset is {offset}, and the list has {len(rows)}; give a lower one.")
    end = offset + min(limit or LISTED, MOST_LISTED)
    return rows[offset:end], {"total": len(rows)} | ({"next_offset": end} if end < len(rows) else {})


@paper_procedure(
    {**REF, "safekey": TEXT, "path": OPEN, "pdf_exists": FLAG, "origin": OPEN, "license": OPEN}, settings=STORE
)
async def paper_pdf_path(context: Context, ref: str) -> dict[str, Any]:
    """Where the PDF of a stored paper is; the file is not opened."""
    store = _store(context)
    key, entry = _find_entry(store, ref)
    row = {"ref": ref, "safekey": key, "path": None, "pdf_exists": False}
    if entry is None:
        return row
    path, own = store.stored_pdf(entry), own_of(entry)
    more = {name: to_json(own.get(name)) for name in ("origin", "license")}
    return {**row, "path": store.tell(context, path) if path else None, "pdf_exists": store.has_pdf(entry), **more}


@paper_procedure({"entries": ROWS}, settings=STORE)
async def papers_bibtex(context: Context, refs: list[str]) -> dict[str, Any]:
    """Stored papers as BibTeX, one element for each reference."""
    return _export(context, refs, "bibtex", to_bibtex)


@paper_procedure({"entries": ROWS}, settings=STORE)
async def papers_csl(context: Context, refs: list[str]) -> dict[str, Any]:
    """Stored papers as CSL JSON, one element for each reference."""
    return _export(context, refs, "csl", to_csl)


def _export(
    context: Context, refs: list[str], name: str, write: Callable[[str, Mapping[str, Any]], Any]
) -> dict[str, Any]:
    if not 0 < len(refs) <= EXPORTS:
        raise PaperFault("INVALID_REF", f"{len(refs)} references were given; 1 to {EXPORTS} are taken.")
    store, rows = _store(context), list[dict[str, Any]]()
    for text in refs:
        try:
            key, entry = _find_entry(store, text)
        except PaperFault as fault:
            rows.append({"ref": text, "error": fault.to_error()})
        else:
            exported = write(key, to_json(entry)) if entry is not None else None
            rows.append({"ref": text, "safekey": key, name: exported})
    return {"entries": rows}


@paper_procedure({**REF, "tags": TEXTS, "collections": TEXTS}, settings=STORE)
async def tag_paper(
    context: Context,
    ref: str,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    collection_add: Sequence[str] = (),
    collection_remove: Sequence[str] = (),
) -> dict[str, Any]:
    """Add and remove tags and collections of a stored paper."""

    if not (add or remove or collection_add or collection_remove):
        raise PaperFault("INVALID_REF", "Nothing is to change; give add, remove, collection_add or collection_remove.")
    if not all(label.strip() for label in (*add, *collection_add)):
        raise PaperFault("INVALID_REF", "A tag or a collection is blank; give it a name or leave it out.")

    def alter(own: Mapping[str, Any]) -> Mapping[str, Any]:
        collections = _changed(own.get("collections"), collection_add, collection_remove)
        return {"tags": _changed(own.get("tags"), add, remove) or None, "collections": collections or None}

    own = await _change_entry(context, ref, alter)
    return {"ref": ref, **{name: texts_of(own.get(name)) for name in ("tags", "collections")}}


def _changed(before: Any, add: Sequence[Any], remove: Sequence[Any]) -> list[str]:
    """A list after additions and removals: each word once, in the order in which it came."""
    if any(not isinstance(tag, str) or not 0 < len(tag) <= LONGEST_TAG for tag in (*add, *remove)):
        raise PaperFault("INVALID_REF", f"A tag or a collection is a text of 1 to {LONGEST_TAG} characters.")
    tags = [tag for tag in dict.fromkeys([*texts_of(before), *add]) if tag not in set(remove)]
    if len(tags) > TAGS:
        raise PaperFault(
            "INVALID_REF", f"A paper would have {len(tags)} tags or collections, and {TAGS} are kept at most."
        )
    return tags


@paper_procedure({**REF, "annotation": OPEN}, settings=STORE)
async def annotate_paper(context: Context, ref: str, text: str = "", clear: bool = False) -> dict[str, Any]:
    """Set or take away the note on a stored paper."""
    if not ref.strip().startswith("@"):
        parse_entry_ref(ref)
    if not clear and not text:
        raise PaperFault("INVALID_REF", "Give the note as text, or clear: true to take it away.")
    note = None if clear else text
    await _change_entry(context, ref, lambda _: {"annotation": note})
    return {"ref": ref, "annotation": note}


# --- this instance ------------------------------------------------------------------------------------------------


@paper_procedure(
    {
        "oa_enabled": FLAG,
        "metadata_sources": TEXTS,
        **dict.fromkeys(("tdm_enabled", *_TDM), FLAG),
        "rate_limit_per_sec": NUMBER,
        **dict.fromkeys(("tier_1", "tier_2", "tier_3"), TEXTS),
    },
    settings=ASKING,
)
async def paper_capabilities(context: Context) -> dict[str, Any]:
    """Which sources this instance may use; tells no key."""
    granted = [source.name for source in (*INDEXES, *PUBLISHERS) if not source.missing(context.config)]
    # In the order and under the names of the contract.
    names = {"openalex": "openalex", "s2": "semantic_scholar", "doaj": "doaj", "datacite": "datacite"}
    enabled = [name for source, name in names.items() if source in granted]
    licensed = [name for name in granted if name.startswith("tdm-")]
    return {
        "oa_enabled": True,
        "metadata_sources": enabled,
        "tdm_enabled": bool(licensed),
        **{name: name.replace("_", "-") in licensed for name in _TDM},
        "rate_limit_per_sec": float(PER_SECOND),
        "tier_1": ["arxiv", "crossref", "unpaywall"],
        "tier_2": enabled,
        "tier_3": licensed,
    }


@paper_procedure({"version": TEXT, "schema_version": TEXT, "store_writable": FLAG, "build": OBJECT}, settings=STORE)
async def paper_store_health(context: Context) -> dict[str, Any]:
    """Version, schema, and whether the store could be written; makes nothing."""
    return {
        "version": __version__,
        "schema_version": SCHEMA_VERSION,
        "store_writable": _store(context).is_writable(),
        "build": {"version": __version__, "channel": "beta" if __version__.startswith("0.") else "stable"},
    }
