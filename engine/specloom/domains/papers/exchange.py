"""Bibliographies into the store and out of it, with all that is known of each work."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, count_tokens, dataclass
from specloom.plugins import Context, procedure
from specloom.plugins.records import record

from .config import CACHE, FILES, STORE, file_roots
from .entries import RECORD, SCHEMA_VERSION, TABLE, check_version, cite_key_of, own_of, texts_of, to_json
from .errors import PaperFault
from .local_file import check_shared, read_local_file

if TYPE_CHECKING:
    from specloom.domains.trust.bibliography.entry import BibliographyEntry

    from .library import PaperLibrary
    from .store import EntrySummary

MOST = 2000
"""Works of one call."""
MOST_PDFS = 200
"""PDFs that one call copies."""
LONGEST_LABEL = 200
"""Characters of a tag or a collection."""
MANY_NAMES = 300
"""People of a work from which on it is prepared in a thread, so that others are answered meanwhile."""
LONG = 20_000
"""Characters from which on a text is kept whole beside the answer, which may have no room for all of it."""
_MIME_TYPES = {"csl-json": "application/json", "zotero-json": "application/json", "endnote-xml": "application/xml"}
_KEY_OF = re.compile(r"@\s{0,9}[A-Za-z]{1,30}\s{0,9}[{(]\s{0,9}([^\s,{}()]{1,200})")


@record
class ImportedReference:
    """What became of one entry: `added`, `changed` (what the store lacked was filled, or replaced) or `unchanged`.

    `kept` are fields of which the file says something else than the store, which stays; `replaced` are values of the
    store that gave way to the file, and `copy` is where the entry as it was before is kept; `untaken` are values of the
    file that do not read as what they should be, and `message` says why an entry `failed`.

    `pdf` is what became of the PDF that the entry names: `stored`, `same` where the store has it, `kept` where it has
    another one, which stays, `replaced`, which lies at `pdf_copy`, `left` to the next call, or `failed` for what
    `pdf_message` says.
    """

    line: int
    key: str
    status: str
    ref: str | None = None
    safekey: str | None = None
    given_key: str | None = None
    kept: Sequence[str] | None = None
    replaced: Sequence[str] | None = None
    copy: str | None = None
    untaken: Sequence[str] | None = None
    message: str | None = None
    pdf: str | None = None
    pdf_copy: str | None = None
    pdf_message: str | None = None


@record
class UnreadableReference:
    """An entry that cannot be read: its line, its cite key as far as one is seen there, and what is wrong."""

    line: int
    message: str
    key: str | None = None


@record
class ImportedReferences:
    """What became of the entries of a bibliography; those that could not be read are counted among the failed."""

    format: str
    added: int
    changed: int
    unchanged: int
    failed: int
    entries: Sequence[ImportedReference]
    unreadable: Sequence[UnreadableReference] | None = None
    dry_run: bool | None = None


@procedure("import_references", settings={**STORE, **FILES}, runs=("stored_text",))
async def import_references(
    context: Context,
    bibliography: str = "",
    path: str = "",
    format: str = "auto",  # noqa: A002  the name of the tool's argument
    tags: Sequence[str] = (),
    collections: Sequence[str] = (),
    *,
    replace_stored: bool = False,
    dry_run: bool = False,
    may_be_empty: bool = False,
    pdfs: bool = False,
    source: str = "",
) -> ImportedReferences:
    """Puts the entries of a bibliography into the store, with their cite keys, keywords, notes, files and groups.

    What the store has stays, and what it lacks is filled; with `replace_stored` the bibliography wins, a work is that
    of its cite key unless an identifier contradicts it, and a copy of each entry that is changed is kept. With `pdfs`
    the PDFs that its entries name are copied into the store, where they lie below a folder of the settings. A file is
    read, and a PDF taken, for one of several tenants who share the server only where the settings name such a folder
    (`config` fault). `source` is a stored paper or a kept text whose section of references is the bibliography. One
    without an entry is refused unless it `may_be_empty`. Nobody is asked over a network.
    """
    from specloom.domains.trust.bibliography.documents import read_document, read_stored_references

    from .library import PaperLibrary

    given = {"bibliography": bibliography.strip(), "path": path, "source": source}
    names = [name for name, value in given.items() if value]
    if not names:
        message = "there is nothing to import: give a bibliography, a path or a source"
        raise Fault("validation", message, action="fix_arguments")
    if len(names) > 1:
        message = f"{' and '.join(names)} were given, each of which is what is imported; give one of them"
        raise Fault("validation", message, action="fix_arguments")
    if pdfs:
        check_shared(context, "takes no PDFs from its machine", ", or leave out pdfs")
    for name, labels in (("tags", tags), ("collections", collections)):
        _check_labels(name, labels)
    if source:
        text, format = await read_stored_references(context, source)  # noqa: A001
    else:
        text = bibliography if bibliography.strip() else await read_local_file(context, path)
    parsed = await read_document(context, text, format, most=MOST, is_linked=False, may_be_empty=may_be_empty)
    if parsed.following is not None:
        message = f"the bibliography has more than {MOST:,} entries, which is the most of one call; split it"
        raise Fault("validation", message, action="fix_arguments")
    library = PaperLibrary.open(context)
    if context.is_live and not dry_run:
        library.store.check_writable()
    rows = []
    own: set[str] = set()
    takes = PdfTaker(context, library, Path(path).parent if path else None, wins=replace_stored, dry_run=dry_run)
    entries = zip(parsed.entries, parsed.places, parsed.untaken, strict=True)
    for at, (work, (_, line), untaken) in enumerate(entries, 1):
        labelled = replace(work, collections=tuple(dict.fromkeys((*work.collections, *collections))))
        try:
            row = await _import(context, library, labelled, tags, wins=replace_stored, dry_run=dry_run, own=own)
        except PaperFault as fault:
            row = ImportedReference(line=line, key=work.key, status="failed", message=fault.message)
        own |= {row.safekey} if row.safekey else set()
        if pdfs and row.safekey and work.files:
            row = await takes.take(row, work)
        rows.append(replace(row, line=line, untaken=untaken or None))
        await asyncio.sleep(0)  # one of many works has its turn and no more
        context.tell(at, len(parsed.entries), f"{at} of {len(parsed.entries)}: {row.status}")
    lines = text.splitlines()
    problems = [
        UnreadableReference(line=each.line, message=each.message, key=_find_key(lines, each.line))
        for each in parsed.problems
    ]
    counts = {status: sum(row.status == status for row in rows) for status in ("added", "changed", "unchanged")}
    return ImportedReferences(
        format=parsed.format,
        **counts,
        failed=sum(row.status == "failed" for row in rows) + len(problems),
        entries=rows,
        unreadable=problems or None,
        dry_run=dry_run or None,
    )


def _check_labels(name: str, labels: Sequence[str]) -> None:
    if any(not label.strip() or len(label) > LONGEST_LABEL for label in labels):
        message = f"{name} has one that is blank or longer than {LONGEST_LABEL} characters; name it or leave it out"
        raise Fault("validation", message, action="fix_arguments", argument=name)


def _find_key(lines: Sequence[str], line: int) -> str | None:
    """The cite key of a broken entry of BibTeX, which stands behind its type."""
    match = _KEY_OF.search(lines[line - 1]) if 0 < line <= len(lines) else None
    return match[1] if match else None


class _Taken(Exception):  # noqa: N818 - nothing is wrong
    """The name of the files of a work is that of another one."""


@dataclass(slots=True)
class PdfTaker:
    """Copies the PDFs that the entries of a bibliography name into the store, MOST_PDFS of one call at most."""

    context: Context
    library: PaperLibrary
    folder: Path | None
    """That of the bibliography, to which paths are relative; None for one that was given as a text."""
    wins: bool
    dry_run: bool
    count: int = 0
    silent: str = ""
    """What was said of a folder that did not answer."""

    async def take(self, row: ImportedReference, work: BibliographyEntry) -> ImportedReference:
        """The row with what became of the PDF of its entry; as it is where the entry names none."""
        from specloom.domains.trust.bibliography.entry import find_path

        paths = [path for file in work.files if (path := find_path(file)).lower().endswith(".pdf")]
        if not paths or row.safekey is None:
            return row
        if self.count >= MOST_PDFS:
            return replace(row, pdf="left")
        # A folder that does not answer is not waited for again with each of the entries behind it.
        problem = self.silent
        for path in () if problem else paths:
            try:
                pdf = await self._read(path)
                status, copy = await self.library.store.put_pdf(
                    row.safekey, pdf, self.context.now(), wins=self.wins, dry_run=self.dry_run
                )
            except Fault as fault:
                problem = problem or fault.message
                if fault.late:
                    self.silent = fault.message
                    break
            else:
                self.count += status in ("stored", "replaced")
                return replace(row, pdf=status, pdf_copy=str(copy) if copy else None)
        return replace(row, pdf="failed", pdf_message=problem)

    async def _read(self, path: str) -> bytes:
        from .download import MAGIC, MAX_BYTES
        from .local_file import read_bytes

        place = Path(path if os.sep == "\\" else path.replace("\\", "/"))
        if not place.is_absolute():
            if self.folder is None:
                advice = "give the bibliography by its path, or the file an absolute one"
                raise Fault("validation", f"{path[:200]!r} is relative to a file that is not known; {advice}")
            place = self.folder / place
        roots = file_roots(self.context.config)
        body = await read_bytes(str(place), roots, MAX_BYTES)
        if len(body) > MAX_BYTES:
            raise Fault("validation", f"{place.name[:200]} is larger than {MAX_BYTES} bytes.")
        if not body.startswith(MAGIC):
            raise Fault("validation", f"{place.name[:200]} is no PDF.")
        return body


async def _import(
    context: Context,
    library: PaperLibrary,
    work: BibliographyEntry,
    tags: Sequence[str],
    *,
    wins: bool,
    dry_run: bool,
    own: Container[str] = (),
    is_again: bool = False,
) -> ImportedReference:
    """Put one work into the store; a PaperFault where it cannot be kept.

    `own` are the keys of the files of the works that the same bibliography has put there.
    """
    from .provenance_log import to_timestamp
    from .record import fill, is_told, override, tell_replaced, to_stored
    from .store import is_of

    file_key = library.find_work(work) or (library.find_corrected(work, own) if wins else None)
    is_new = file_key is None
    stored = None if file_key is None else library.read(file_key)
    given = work.key
    stored_key = cite_key_of(stored or {})
    if not stored_key or (given and wins and given.lower() != stored_key.lower()):
        work = replace(work, key=library.make_cite_key(work))
    ref = library.name(work)
    if file_key is None:
        file_key = library.make_file_key(work)
    is_long = len(work.authors) + len(work.editors) + sum(len(people) for _, people in work.roles) > MANY_NAMES
    new = await asyncio.to_thread(to_stored, work) if is_long and context.is_live else to_stored(work)
    if work.key:
        new[RECORD] |= {"citekey_by": "import" if work.key == given else "made"}
    if tags:
        new[TABLE]["tags"] = list(tags)
    known = {"fetched_at": to_timestamp(int(context.now())), "license": "unknown", "source": "import", "size_bytes": 0}
    kept: list[str] = []
    replaced: list[str] = []

    def alter(before: Mapping[str, Any] | None) -> Mapping[str, Any]:
        nonlocal kept, replaced
        if before is not None and is_new and not (is_of(before, ref) if ref else library.is_alike(before, work)):
            raise _Taken
        if before is None:
            return {"schema_version": SCHEMA_VERSION, **new, TABLE: {**known, **new[TABLE]}}
        entry, kept = override(before, new) if wins else fill(before, new)
        replaced = tell_replaced(before, entry) if wins else []
        return entry

    if dry_run and stored is not None:
        check_version(stored)
    # What comes back from an export is written in other places than a registry writes it, and is nothing new.
    has_labels = stored is not None and {*tags} <= {*texts_of(own_of(stored).get("tags"))}
    made = stored if stored is not None and has_labels and is_told(work, to_json(stored)) else alter(stored)
    is_same = made == stored
    copy = None
    if not is_same and not dry_run:
        try:
            if wins:
                made, copy = await library.store.rewrite_keeping(file_key, alter, context.now())
            else:
                made = await library.store.rewrite(file_key, alter)
        except _Taken:
            # Another process put another work there since its name was chosen.
            if is_again:
                raise PaperFault("STORE_ERROR", f"Other works have the names of the files of {given or ref}.") from None
            library.refresh()
            named = replace(work, key=given)
            return await _import(context, library, named, tags, wins=wins, dry_run=dry_run, own=own, is_again=True)
    if not is_same and dry_run:
        library.draft(file_key, made)
    table = made.get(RECORD, {})
    library.note(file_key, replace(work, key=str(table.get("citekey") or "")))
    key = str(table.get("citekey") or "")
    return ImportedReference(
        line=0,
        key=key,
        status="added" if is_new else "unchanged" if is_same else "changed",
        ref=made.get("doi") or (f"arxiv:{made['arxiv_id']}" if made.get("arxiv_id") else f"@{key}"),
        safekey=file_key,
        given_key=given if given and given != key else None,
        kept=kept or None,
        replaced=replaced or None,
        copy=str(copy) if copy else None,
    )


async def fill_from(context: Context, works: Sequence[BibliographyEntry]) -> None:
    """Fill papers that are stored with what a bibliography says of them; of any other nothing is kept."""
    from .library import PaperLibrary

    library = PaperLibrary.open(context)
    for work in works:
        if library.find_work(work) is not None:
            with contextlib.suppress(PaperFault):
                await _import(context, library, work, (), wins=False, dry_run=False)


BESIDE = 150
"""Tokens of an answer that stand beside the text of an export."""


async def _fit(write: Callable[[int, int], Awaitable[str]], first: int, last: int, room: int) -> int:
    """Where the entries end that there is room for, from the first on and one at least; `write` gives their text."""
    while last - first > 1:
        size = count_tokens(await write(first, last))
        if size <= room:
            break
        last = first + max(1, min(last - first - 1, int((last - first) * room / size)))
    return last


# --- out of the store ----------------------------------------------------------------------------------------------


@record
class LostField:
    """A field that a format has no place for, by its name in CSL, and how many entries had it."""

    field: str
    entries: int


@record
class ExportedReferences:
    """Works of the store as one text; `not_kept` tells what the format lost, `missing` references without a work.

    `resource` is the address of the whole text where it is long. Where the text has no more than some of the works,
    `told` counts them, and `next_offset` is the place of the next.
    """

    style: str
    entry_count: int
    bibliography: str
    not_kept: Sequence[LostField] | None = None
    missing: Sequence[str] | None = None
    keys_made: int | None = None
    resource: str | None = None
    told: int | None = None
    next_offset: int | None = None


@dataclass(frozen=True, slots=True)
class SelectedWorks:
    """Works with their cite keys, in the order of these; how many keys were made for it, and references without one."""

    works: Sequence[BibliographyEntry]
    made: int
    missing: Sequence[str]


async def select_works(
    context: Context, refs: Sequence[str], query: str, session: str, *, keeps_keys: bool = True
) -> SelectedWorks:
    """The works of some references, of a search, or of a session, as `export_references` chooses them.

    A cite key that has to be made is stored where it `keeps_keys`.
    """
    from specloom.domains.trust.bibliography.entry import from_source
    from specloom.domains.trust.bibliography.formatting import find_sources, is_named

    from .library import PaperLibrary

    given = [name for name, value in (("refs", refs), ("query", query), ("sessionId", session)) if value]
    if len(given) > 1:
        message = f"{' and '.join(given)} were given, each of which names the works alone; give one of them"
        raise Fault("validation", message, action="fix_arguments")
    library = PaperLibrary.open(context)
    keys: dict[str, None] = {}
    others: list[BibliographyEntry] = []
    missing: list[str] = []
    if refs:
        for ref in refs:
            key = library.find(ref)
            keys |= {key: None} if key else {}
            missing += [] if key else [ref]
    elif session:
        for source in await find_sources(context, session):
            work = from_source(source)
            key = library.find_work(work)
            if key:
                keys[key] = None
            elif is_named(work):
                others.append(work)
    else:
        fitting = await _search(context, library, query) if query else library.store.summaries()
        rows = [row for _, row in fitting]
        keys = {row["safekey"]: None for row in rows}
    if len(keys) + len(others) > MOST:
        message = f"{len(keys) + len(others):,} works would be written, and {MOST:,} are at most; narrow the query"
        raise Fault("validation", message, action="fix_arguments")
    works, made = [], 0
    for key in keys:
        work, is_made = await library.cited(key, keeps_key=keeps_keys)
        works.append(work)
        made += is_made
    for work in others:
        cited = replace(work, key=library.make_cite_key(work))
        library.cite_keys.add(cited.key.lower())
        works.append(cited)
    works.sort(key=lambda work: (work.key.lower(), work.title))
    return SelectedWorks(works, made, missing)


async def _search(context: Context, library: PaperLibrary, query: str) -> Sequence[EntrySummary]:
    """The entries with all words of a query in their records or the texts of their PDFs, best first."""
    from . import search
    from .texts import open_texts

    asked, entries = search.parse_query(query), library.store.summaries()
    pdfs = {row["safekey"]: path for one, row in entries if (path := library.store.stored_pdf({"pdf_path": one.pdf}))}
    async with open_texts(context) as kept:
        unread = await kept.refresh(context, pdfs) if asked.words else 0
        texts = await kept.find(asked.words)
    if unread:
        context.notice(f"{unread} stored PDFs are not read yet, so their texts were not searched; ask again to go on.")
    return search.rank(asked, entries, texts)


@procedure("export_references", settings={**STORE, **CACHE}, runs=("session_sources",))
async def export_references(
    context: Context,
    style: str,
    refs: Sequence[str] = (),
    query: str = "",
    session: str = "",
    *,
    offset: int = 0,
    max_tokens: int = 0,
) -> ExportedReferences:
    """Writes works of the store in a style, or in a format of reference managers, with the cite keys that they have.

    They are those of some references, of a search, or of a session, whose sources that are not stored are written as
    the session knows them; without any of these it is the whole store. A work without a cite key gets one, which is
    kept. The text is of whole works from `offset` on, as many as `max_tokens` have room for (0 for no bound).
    `validation` faults for an unknown style, for more than MOST works, and for two of references, search and
    session at once.
    """
    from specloom.domains.trust.bibliography.formatting import INTERCHANGE, export_entries

    selected = await select_works(context, refs, query, session)
    works = selected.works
    text, losses = await export_entries(context, works, style)
    resource = None
    if len(text) > LONG:
        mime_type = _MIME_TYPES.get(style, "text/plain")
        resource = await context.keep_artifact(text, name=f"bibliography in {style}", mime_type=mime_type)
    room = max(max_tokens * 3 // 5, max_tokens - BESIDE)
    # What people read has numbers, letters and bars that depend on the whole list, so a part is cut out of it.
    entries = text.split("\n\n") if text and style not in INTERCHANGE else []

    async def write(first: int, last: int) -> str:
        return (
            "\n\n".join(entries[first:last])
            if entries
            else (await export_entries(context, works[first:last], style))[0]
        )

    count = len(entries) or len(works)
    if offset and offset >= count:
        message = f"offset is {offset}, and there are {count} works; give a lower one"
        raise Fault("validation", message, action="fix_arguments", argument="offset")
    first = min(offset, count)
    last = await _fit(write, first, count, room) if max_tokens else count
    is_part = last - first < count
    return ExportedReferences(
        style=style,
        entry_count=len(works),
        bibliography=text if not is_part else await write(first, last) if first < last else "",
        told=last - first if is_part else None,
        next_offset=last if last < count else None,
        not_kept=[LostField(field=name, entries=count) for name, count in losses.items()] or None,
        missing=selected.missing or None,
        keys_made=selected.made or None,
        resource=resource or None,
    )
