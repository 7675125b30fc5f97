"""Works into a library of Zotero, and labels onto what it has: only ever more, and nothing that a person wrote is lost.

How Zotero is asked stands in the files of its providers: the service at zotero.org, which takes all of it, and the
program on this machine, which takes new works as a browser hands them over. What is here is what no request says: which
works the library has already, what is merged with what a person changed meanwhile, and what became of every one.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specloom.core import MAY_BE_WRITTEN, Fault, Policy, Request, dataclass, field, fold_name
from specloom.plugins import Context, procedure
from specloom.plugins.records import record

from .config import STORE
from .exchange import LostField, SelectedWorks, UnreadableReference, select_works
from .zotero_matching import is_one, names_of, title_of

if TYPE_CHECKING:
    from specloom.domains.trust.bibliography.entry import BibliographyEntry

SERVICE, PROGRAM = "zotero", "zotero_local"
BATCH = 50
"""Items of one request, which is the most that Zotero takes."""
MOST = 500
"""Works, or items, of one call."""
COMPARED = 10_000
"""Items of a library with which new works are compared."""
LARGEST_FILE = 100 * 2**20
"""Bytes of a PDF that is sent."""
SENDING = 570.0
"""Seconds after the beginning of a call until which files are sent: its tool ends at 600, and what it did is told."""
LOOKING = 200.0
"""Seconds after the beginning of a call until which it is looked which files of known works are there."""
_SECONDS_OF_A_FILE = 300.0
"""Seconds that sending a file takes at most."""
_KEY = re.compile(r"[2-9A-HIJ-NP-Z]{8}")
_NO_NAME = re.compile(r"[^\w .,()-]")
_CHANGED = 412
_LOOK = "look_before_retry"
"""What is suggested for what may have been written, in the word of a fault."""
_FATES = {"failed": "which failed", "unsure": "of which nobody knows whether it is there"}
_NO_TIME = "its PDF was not sent: the time of the call was over"
_LATE = f"{_NO_TIME}; put the file there in Zotero by hand"


@record
class ZoteroWork:
    """What became of a work: `added`, `known` (it is there already), `labelled` (known, with new labels), `failed`, or
    `unsure`, where the answer was lost and Zotero may have done it: look there before it is written again.

    In a dry run what would become of it. `item` is its key in Zotero, `matched_by` how it is known: doi, citekey or
    title. `file` says of its PDF: sent, there (Zotero had it), none, failed or unsure; `message` why.
    """

    title: str
    status: str
    key: str | None = None
    item: str | None = None
    matched_by: str | None = None
    file: str | None = None
    message: str | None = None
    suggested_action: str | None = None


@record
class ZoteroCollection:
    """A collection: its key, which the program on this machine does not tell, its name, and whether it was made now."""

    name: str
    key: str | None = None
    made: bool | None = None


@record
class AddedToZotero:
    """Works that were added to a library, and what became of each.

    `items` are the items as they would be sent, in a dry run alone. `not_kept` tells what an item has no place for,
    `missing` references without a work, `unreadable` what of a bibliography cannot be read.
    """

    provider: str
    added: int
    known: int
    labelled: int
    failed: int
    works: Sequence[ZoteroWork]
    unsure: int | None = None
    collection: ZoteroCollection | None = None
    files: int | None = None
    items: Sequence[dict[str, Any]] | None = None
    not_kept: Sequence[LostField] | None = None
    missing: Sequence[str] | None = None
    unreadable: Sequence[UnreadableReference] | None = None
    dry_run: bool | None = None


@record
class LabelledItem:
    """What became of an item: `labelled`, `unchanged` (it had all of it), `missing`, `failed`, or `unsure`, where the
    answer was lost and Zotero may have done it.

    `merged` says that somebody changed it meanwhile, which was read again and kept.
    """

    item: str
    status: str
    title: str | None = None
    merged: bool | None = None
    message: str | None = None
    suggested_action: str | None = None


@record
class LabelledItems:
    """Items of a library that got tags or were put into a collection, and what became of each."""

    labelled: int
    unchanged: int
    failed: int
    items: Sequence[LabelledItem]
    unsure: int | None = None
    collection: ZoteroCollection | None = None
    dry_run: bool | None = None


@dataclass(slots=True)
class _Addition:
    """A work on its way: its item as Zotero takes it, and what became of it."""

    work: BibliographyEntry
    item: dict[str, Any]
    notes: list[dict[str, Any]]
    status: str = ""
    key: str = ""
    matched_by: str = ""
    places: Sequence[str] = ()
    """The collections that it is in, where the library has it."""
    path: Path | None = None
    """The stored PDF of the work."""
    attachment: str = ""
    """The key of the attachment that was made for the PDF, by this call or, without its file, by an earlier one."""
    first: _Addition | None = None
    """The same work, where it stands earlier in the call."""
    file: str = ""
    messages: list[str] = field(default_factory=list)

    def tell(self) -> ZoteroWork:
        return ZoteroWork(
            title=self.work.title,
            status=self.status,
            key=self.work.key or None,
            item=self.key or None,
            matched_by=self.matched_by or None,
            file=self.file or None,
            message="; ".join(self.messages) or None,
            suggested_action=_LOOK if "unsure" in (self.status, self.file) else None,
        )


@procedure(
    "add_to_zotero",
    asks=(
        *("zotero_items", "zotero_collections", "zotero_targets", "zotero_written_items", "zotero_written_collections"),
        *("zotero_children", "zotero_upload_places", "zotero_uploads", "zotero_saves", "zotero_saved_files"),
    ),
    runs=("session_sources",),
    settings=STORE,
)
async def add_to_zotero(
    context: Context,
    refs: Sequence[str] = (),
    query: str = "",
    session: str = "",
    bibliography: str = "",
    format: str = "auto",  # noqa: A002  the name of the tool's argument
    collection: str = "",
    tags: Sequence[str] = (),
    provider: str = "",
    *,
    make_collection: bool = False,
    label_known: bool = False,
    with_files: bool = False,
    dry_run: bool = False,
) -> AddedToZotero:
    """Adds works to a library of Zotero: those of a bibliography, or of the store as `export_references` chooses them.

    A work that the library has (by DOI, cite key, or title, year and first author) is told and not added again; with
    `label_known` it gets the tags and is put into the collection. `with_files` sends the stored PDF of each new work,
    and of a known one whose attachment was left without its file by an earlier call.
    One that Zotero refuses costs no other. In a dry run nothing is written, and nobody is asked to write. The faults
    are those of reading the library, of a collection that is not there, and `validation` for too many works.
    """
    until = asyncio.get_running_loop().time() + SENDING
    if not (refs or query or session or bibliography.strip()):
        message = "nothing says which works are wanted: give refs, a query, a sessionId or a bibliography"
        raise Fault("validation", message, action="fix_arguments")
    chosen, unreadable = await _choose(context, refs, query, session, bibliography, format, keeps_keys=not dry_run)
    if len(chosen.works) > MOST:
        message = f"{len(chosen.works):,} works would be added, and {MOST} are at most; narrow the choice"
        raise Fault("validation", message, action="fix_arguments")
    provider = provider or _find_provider(context)
    rows, losses = await _make_rows(context, chosen.works, tags)
    await _compare(context, provider, rows)
    new = [row for row in rows if not row.status]
    known = [row for row in rows if row.status]
    if with_files:
        there = {row.key: row for row in reversed(known) if provider == SERVICE and row.key}
        await asyncio.to_thread(_find_files, context, [*new, *there.values()])
        await _find_attachments(context, [row for row in there.values() if row.path], until - SENDING + LOOKING)
    left = [row for row in known if row.attachment and not row.file]
    # All that is read is read before anything is written: a fault from here on would hide what was.
    labels = label_known and provider == SERVICE and bool(tags or collection.strip())
    stored = await _read_items(context, list(dict.fromkeys(row.key for row in known if row.key))) if labels else []
    is_used = bool(new or stored)
    place, target = await _find_place(
        context, provider, collection, make=make_collection, dry_run=dry_run or not is_used
    )
    if place is not None and provider == SERVICE and not label_known:
        _tell_unlabelled(context, place, known, is_used=is_used)
    if place is not None and place.made and not is_used:
        place = None
    for row in new:
        row.item["collections"] = [place.key] if place is not None and place.key else []
    sent = [row.item | ({"notes": row.notes} if row.notes else {}) for row in new]
    if dry_run:
        for row in new:
            row.status = "added"
            row.file = ("sent" if row.path else "none") if with_files else ""
        for row in left:
            row.file = "sent"
        if labels:
            await _label_known(context, known, stored, place, tags, dry_run=True)
    elif provider == SERVICE:
        is_first = place is None or not place.made
        await _add_by_service(context, new, is_first=is_first)
        if labels:
            await _label_known(context, known, stored, place, tags)
        await _send_files(context, [*(row for row in new if with_files and row.status == "added"), *left], until)
    else:
        await _add_by_program(context, new, target, with_files=with_files, until=until)
    for row in known:
        if row.first is not None:
            row.key = row.first.key
            if row.first.status in ("failed", "unsure"):
                row.status = row.first.status
                row.matched_by = ""
                row.messages = [f"{row.messages[0]}, {_FATES[row.status]}"]
    if label_known and known and provider != SERVICE:
        context.notice(
            "Zotero on this machine takes new works only, so those that it has stay where they are; set ZOTERO_API_KEY "
            "and ZOTERO_LIBRARY to label them."
        )
    counts = {status: sum(row.status == status for row in rows) for status in ("added", "known", "labelled", "failed")}
    unsure = sum(row.status == "unsure" for row in rows)
    if unsure:
        context.notice(
            f"Nobody knows whether Zotero has done what was asked for {unsure} of the works: look there before you "
            "call again; those that are there by then are not added twice."
        )
    if with_files:
        losses.pop("files", None)
    return AddedToZotero(
        provider=provider,
        **counts,
        works=[row.tell() for row in rows],
        unsure=unsure or None,
        collection=place,
        files=sum(row.file in ("sent", "there") for row in [*new, *left]) if with_files else None,
        items=sent if dry_run else None,
        not_kept=[LostField(field=name, entries=count) for name, count in losses.items()] or None,
        missing=chosen.missing or None,
        unreadable=unreadable or None,
        dry_run=dry_run or None,
    )


@procedure(
    "label_zotero",
    asks=("zotero_items", "zotero_collections", "zotero_written_items", "zotero_written_collections"),
)
async def label_zotero(
    context: Context,
    items: Sequence[str] = (),
    tags: Sequence[str] = (),
    collection: str = "",
    *,
    make_collection: bool = False,
    dry_run: bool = False,
) -> LabelledItems:
    """Gives items of the library at zotero.org tags, or puts them into a collection, which may be made for it.

    Tags and collections are only added. Where somebody has changed an item meanwhile it is read again and merged once.
    """
    if not tags and not collection:
        message = "nothing says what the items are to get: give tags or a collection"
        raise Fault("validation", message, action="fix_arguments")
    keys = list(dict.fromkeys(items))
    if len(keys) > MOST:
        raise Fault("validation", f"{len(keys):,} items were given, and {MOST} are at most", action="fix_arguments")
    found = {item["key"]: item for item in await _read_items(context, keys)}
    place, _ = await _find_place(context, SERVICE, collection, make=make_collection, dry_run=dry_run or not found)
    if place is not None and place.made and not found:
        place = None
    here = [found[key] for key in keys if key in found]
    told = await _label(context, here, tags, _key_of(place), dry_run=dry_run)
    rows = [
        told[key] if key in told else LabelledItem(item=key, status="missing", message="Zotero has no such item")
        for key in keys
    ]
    return LabelledItems(
        labelled=sum(row.status == "labelled" for row in rows),
        unchanged=sum(row.status == "unchanged" for row in rows),
        failed=sum(row.status in ("failed", "missing") for row in rows),
        items=rows,
        unsure=sum(row.status == "unsure" for row in rows) or None,
        collection=place,
        dry_run=dry_run or None,
    )


# --- which works, and which of them the library has -------------------------------------------------------------------


async def _choose(
    context: Context,
    refs: Sequence[str],
    query: str,
    session: str,
    bibliography: str,
    format_: str,
    *,
    keeps_keys: bool,
) -> tuple[SelectedWorks, list[UnreadableReference]]:
    from specloom.domains.trust.bibliography.documents import read_document

    if not bibliography.strip():
        return await select_works(context, refs, query, session, keeps_keys=keeps_keys), []
    if refs or query or session:
        message = "a bibliography names the works alone; give it without refs, query and sessionId"
        raise Fault("validation", message, action="fix_arguments")
    parsed = await read_document(context, bibliography, format_, most=MOST, is_linked=False)
    if parsed.following is not None:
        message = f"the bibliography has more than {MOST} entries, which is the most of one call; split it"
        raise Fault("validation", message, action="fix_arguments")
    problems = [UnreadableReference(line=each.line, message=each.message) for each in parsed.problems]
    return SelectedWorks(parsed.entries, 0, []), problems


def _find_provider(context: Context) -> str:
    """Who is asked: the service where it has a key, which takes more, and else the program on this machine."""
    return next(iter(context.offering("zotero_written_items")), PROGRAM)


async def _make_rows(
    context: Context, works: Sequence[BibliographyEntry], tags: Sequence[str]
) -> tuple[list[_Addition], dict[str, int]]:
    """The works as items of Zotero with these tags beside their own, and what an item has no place for."""
    from specloom.domains.trust.bibliography.formatting import export_entries

    if not works:
        return [], {}
    text, losses = await export_entries(context, works, "zotero-json")
    rows = []
    for work, item in zip(works, json.loads(text), strict=True):
        notes = item.pop("notes", [])
        item["tags"] = _merge_tags(item["tags"], tags)
        rows.append(_Addition(work, item, notes))
    return rows, losses


def _merge_tags(before: Any, tags: Iterable[str]) -> list[Any]:
    """The tags of an item, as they are, and those that it lacks."""
    kept = [tag for tag in before or [] if isinstance(tag, Mapping)]
    known = {str(tag.get("tag")) for tag in kept}
    more = dict.fromkeys(tag.strip() for tag in tags)
    return [*kept, *({"tag": tag} for tag in more if tag and tag not in known)]


@dataclass(frozen=True, slots=True)
class _KnownItem:
    """What a work may be one with: an item of the library, or the one of a work of this call, which is `first`."""

    key: str
    item: Mapping[str, Any]
    first: _Addition | None = None


async def _compare(context: Context, provider: str, rows: Sequence[_Addition]) -> None:
    """Mark the works that the library has, and of several that are one all but the first."""
    if not rows:
        return
    arguments = {"plain": True, "num_results": COMPARED}
    answer = await context.ask("zotero_items", arguments, provider=provider)
    total = int(answer.rows[0].get("total") or 0) if answer.rows else 0
    if total > len(answer.rows):
        context.notice(
            f"The library has {total:,} works, and new ones were compared with the {len(answer.rows):,} that were "
            "changed last: what is there from before may be added again."
        )
    index: dict[str, list[_KnownItem]] = {}
    for stored in answer.rows:
        item = stored.get("item")
        if isinstance(item, Mapping):
            for name in names_of(item):
                index.setdefault(name, []).append(_KnownItem(str(stored.get("key") or ""), item))
    for row in rows:
        names = list(names_of(row.item))
        found = next(
            (
                (name, candidate)
                for name in names
                for candidate in index.get(name, ())
                if is_one(row.item, candidate.item, by_key=name.startswith("citekey:"))
            ),
            None,
        )
        if found is None:
            for name in names:
                index.setdefault(name, []).append(_KnownItem("", row.item, row))
            continue
        name, candidate = found
        row.status, row.key, row.matched_by = "known", candidate.key, name.partition(":")[0]
        row.first = first = candidate.first
        row.places = candidate.item.get("collections") or ()
        if first is not None:
            row.messages.append(f"the same work as {first.work.key or first.work.title} of this call")


# --- where they go ----------------------------------------------------------------------------------------------------


async def _find_place(
    context: Context, provider: str, collection: str, *, make: bool, dry_run: bool
) -> tuple[ZoteroCollection | None, str]:
    """The collection that is meant, and what the program calls it, which is asked only where works go there."""
    name = collection.strip()
    if not name and provider == SERVICE:
        return None, ""
    rows = (await context.ask("zotero_collections", {}, provider=provider)).rows if name else []
    found = [row for row in rows if row["key"] == name] if _KEY.fullmatch(name) else []
    # Signs tell names apart (C, C++), so that nothing is put where nobody meant it.
    wanted = fold_name(name)
    found = found or [row for row in rows if wanted and fold_name(str(row["name"])) == wanted]
    if len(found) > 1:
        keys = ", ".join(f"{row['key']} ({_path_of(row, rows)})" for row in found)
        message = f"Zotero has several collections that are called {name}; give the key of one: {keys}"
        raise Fault("bad_request", message, action="fix_arguments")
    if name and not found and not make:
        known = ", ".join(str(row["name"]) for row in rows[:20])
        message = f"Zotero has no collection that is called {name}; set make_collection to make it"
        raise Fault("bad_request", f"{message}, or give one of: {known}" if known else message, action="fix_arguments")
    if provider != SERVICE:
        return await _find_target(context, found, name, dry_run=dry_run)
    if found:
        return ZoteroCollection(name=str(found[0]["name"]), key=str(found[0]["key"])), ""
    if dry_run:
        return ZoteroCollection(name=name, made=True), ""
    arguments = {"name": name, "token": _new_token(context)}
    (made, *_) = (await context.ask("zotero_written_collections", arguments, provider=SERVICE)).rows or [{}]
    if made.get("outcome") != "written":
        raise Fault("bad_request", f"Zotero makes no collection {name}: {_reason(made)}")
    return ZoteroCollection(name=name, key=str(made["key"]), made=True), ""


def _path_of(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """The names of the collections that one is in, the outermost first, and its own."""
    by_key = {each["key"]: each for each in rows}
    path: list[str] = []
    place: Mapping[str, Any] | None = row
    while place is not None and len(path) < len(rows):
        path.insert(0, str(place["name"]))
        place = by_key.get(place.get("parent"))
    return " / ".join(path)


def _tell_unlabelled(context: Context, place: ZoteroCollection, known: Sequence[_Addition], *, is_used: bool) -> None:
    """Say that works which the library has stay out of the collection, and how they come into it."""
    count = len({row.key for row in known if row.key and place.key not in row.places})
    if count and place.made and not is_used:
        context.notice(
            f"The collection {place.name} is not made, since Zotero has all of the works already; label_known makes it "
            "and puts them there."
        )
    elif count:
        context.notice(
            f"{count} of the works that Zotero has already are not in the collection {place.name}; label_known puts "
            "them there."
        )


async def _find_target(
    context: Context, found: Sequence[Mapping[str, Any]], name: str, *, dry_run: bool
) -> tuple[ZoteroCollection | None, str]:
    """The same for the program on this machine, which numbers its collections otherwise and makes none for others."""
    if name and not found:
        message = (
            f"Zotero on this machine makes no collection for other programs; make {name} there, or set ZOTERO_API_KEY "
            "and ZOTERO_LIBRARY"
        )
        raise Fault("bad_request", message, action="fix_arguments")
    place = ZoteroCollection(name=str(found[0]["name"]), key=str(found[0]["key"])) if found else None
    if dry_run:
        return place, ""
    rows = (await context.ask("zotero_targets", {"num_results": 2000}, provider=PROGRAM)).rows
    # Of the libraries one's own comes first, with its collections behind it.
    ends = [at for at, row in enumerate(rows) if at and not row.get("level")]
    own = rows[: ends[0]] if ends else rows
    if place is None:
        return None, str(own[0]["target"]) if own else ""
    targets = [str(row["target"]) for row in own[1:] if row["name"] == place.name]
    if len(targets) != 1:
        message = (
            f"Zotero on this machine has {len(targets)} collections that are called {place.name}; name one alone so"
        )
        raise Fault("bad_request", message, action="fix_arguments")
    return place, targets[0]


def _new_token(context: Context) -> str:
    """What no request had before: 32 letters and digits."""
    return context.new_id().replace("-", "")[:32].ljust(32, "0")


def _reason(row: Mapping[str, Any]) -> str:
    code, message = row.get("code"), str(row.get("message") or "no reason was told")
    return f"{message} ({code})" if code else message


def _cause(fault: Fault) -> str:
    """What has failed, for whatever was not written by the request that did."""
    return fault.message.removesuffix(MAY_BE_WRITTEN).rstrip(" .")


# --- the service: new items, labels, files ----------------------------------------------------------------------------


async def _write(
    context: Context, items: Sequence[Mapping[str, Any]], *, is_new: bool, is_first: bool = False
) -> list[dict[str, Any]]:
    """What became of items, in their order; where a request fails, all of its items have, and so have those behind it.

    Where the answer to a request is lost its items are `unsure`, and those behind it have failed: they are not sent.
    The fault of the first request of all is the call's, unless Zotero may have taken it.
    """
    told: list[dict[str, Any]] = []
    stop = ""
    for begin in range(0, len(items), BATCH):
        batch = items[begin : begin + BATCH]
        if stop:
            told += [{"outcome": "failed", "message": f"not sent, because of what came before: {stop}"} for _ in batch]
            continue
        try:
            arguments = {"items": batch} | ({"token": _new_token(context)} if is_new else {})
            answer = await context.ask("zotero_written_items", arguments, provider=SERVICE)
        except Fault as fault:
            if is_first and not begin and not fault.may_have_written:
                raise
            stop = _cause(fault)
            outcome = "unsure" if fault.may_have_written else "failed"
            told += [{"outcome": outcome, "message": fault.message} for _ in batch]
            continue
        rows = {row["place"]: row for row in answer.rows}
        unknown = {"outcome": "unsure", "message": "Zotero did not tell what became of it; look there"}
        told += [rows.get(at, unknown) for at in range(len(batch))]
        context.tell(begin + len(batch), len(items), f"{begin + len(batch)} of {len(items)}")
    return told


async def _add_by_service(context: Context, rows: Sequence[_Addition], *, is_first: bool) -> None:
    """Add works with their notes; a fault only where nothing was written before, which `is_first` says."""
    written = await _write(context, [row.item for row in rows], is_new=True, is_first=is_first)
    for row, told in zip(rows, written, strict=True):
        is_written = told["outcome"] not in ("failed", "unsure")
        row.status, row.key = ("added", str(told.get("key") or "")) if is_written else (told["outcome"], "")
        row.messages += [] if is_written else [_reason(told)]
    added = [row for row in rows if row.status == "added"]
    notes = [(row, note) for row in added for note in row.notes]
    made = [{"itemType": "note", "parentItem": row.key, "tags": [], **note} for row, note in notes]
    for (row, _), told in zip(notes, await _write(context, made, is_new=True), strict=True):
        if told["outcome"] == "failed":
            row.messages.append(f"its note was not added: {_reason(told)}")
        elif told["outcome"] == "unsure":
            row.messages.append(f"its note may have been added: {_reason(told)}")


async def _send_files(context: Context, rows: Sequence[_Addition], until: float) -> None:
    """Send the PDFs of works that the library has by now, and say of each what became of it."""
    stop = ""
    late: list[_Addition] = []
    for row in rows:
        if row.path is None:
            row.file = "none"
            continue
        if stop:
            row.file = "failed"
            row.messages.append(f"its PDF was not sent: {stop}")
            continue
        left = until - asyncio.get_running_loop().time()
        if left <= 0:
            row.file = "failed"
            late.append(row)
            continue
        try:
            row.file = await _send_file(context, row, row.path, within=left)
        except (Fault, OSError) as error:
            row.file = "failed"
            reason = _cause(error) if isinstance(error, Fault) else error.strerror or "it cannot be read"
            row.messages.append(f"its PDF was not sent: {reason}")
            if row.attachment:
                # It stays, since nothing is deleted there.
                row.messages.append(
                    f"its attachment {row.attachment} is there without its file; a later call with files fills it, or "
                    "put the PDF there in Zotero by hand"
                )
            # Where one has no room, or the key no right, the next has none either.
            stop = reason if isinstance(error, Fault) and error.kind in ("bad_request", "auth_required") else ""
    await _leave_files(context, late)


async def _leave_files(context: Context, rows: Sequence[_Addition]) -> None:
    """Make the attachments of PDFs for which there was no time, so that the next call knows what it has to send."""
    new = [row for row in rows if not row.attachment]
    items = [_to_attachment(row, _name_file(row.work, row.path)) for row in new if row.path]
    for row, told in zip(new, await _write(context, items, is_new=True) if items else [], strict=True):
        row.attachment = str(told.get("key") or "") if told["outcome"] not in ("failed", "unsure") else ""
    for row in rows:
        row.messages.append(f"{_NO_TIME}; the same call again sends it" if row.attachment else _LATE)


async def _find_attachments(context: Context, rows: Iterable[_Addition], until: float) -> None:
    """Look at works that the library has for the attachment that an earlier call has made: whether its file is there.

    It is known by its title and the name of its file, so that none is filled whose file a person keeps elsewhere. Where
    one cannot be looked at, that is told, and the others are not asked for.
    """
    stop = ""
    for row in rows:
        if not stop and asyncio.get_running_loop().time() >= until:
            stop = "the time of the call was over"
        try:
            children = [] if stop else (await context.ask("zotero_children", {"item": row.key}, provider=SERVICE)).rows
        except Fault as fault:
            stop = fault.message
        if stop:
            row.file = "failed"
            row.messages.append(f"it was not looked whether its PDF is there: {stop}")
            continue
        name = _name_file(row.work, row.path) if row.path else ""
        own = [each for each in children if each.get("link_mode") == "imported_file" and each.get("filename") == name]
        empty = [each for each in own if not each.get("md5") and each.get("title") == name]
        if any(each.get("md5") for each in own):
            row.file = "there"
        elif empty:
            row.attachment = str(empty[0]["key"])


def _find_files(context: Context, rows: Iterable[_Addition]) -> None:
    """Look for the PDFs of works in the store."""
    from .library import PaperLibrary

    library = PaperLibrary.open(context)
    for row in rows:
        key = library.find_work(row.work)
        entry = library.read(key) if key else {}
        row.path = library.store.stored_pdf(entry) if entry and library.store.has_pdf(entry) else None


def _name_file(work: BibliographyEntry, path: Path) -> str:
    """A name for the file as people read it, without what no file can have in its name."""
    people = work.authors[0].family if work.authors else ""
    year = str(work.issued[0]) if work.issued else ""
    name = _NO_NAME.sub("", " - ".join(filter(None, (people, year, work.title[:80])))).strip(" .")
    return f"{name or path.stem}.pdf"


async def _read_file(path: Path) -> tuple[bytes, int]:
    """The bytes of a file, and when it was changed last, in milliseconds."""
    stat = await asyncio.to_thread(path.stat)
    if stat.st_size > LARGEST_FILE:
        raise Fault("too_large", f"it has {stat.st_size:,} bytes, and {LARGEST_FILE:,} are sent at most")
    return await asyncio.to_thread(path.read_bytes), int(stat.st_mtime * 1000)


async def _send_file(context: Context, row: _Addition, path: Path, *, within: float) -> str:
    """Send the file of an item to its attachment, which is made where there is none without its file.

    `sent`, `there` where Zotero has it from before, or `unsure` where Zotero did not say whether it has all of it.
    """
    content, changed = await _read_file(path)
    name = _name_file(row.work, path)
    if not row.attachment:
        await _make_attachment(context, row, name)
    item = row.attachment
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    asked = {"item": item, "md5": digest, "filename": name, "size": len(content), "mtime": changed}
    (place, *_) = (await context.ask("zotero_upload_places", asked, provider=SERVICE)).rows or [{}]
    if place.get("is_there"):
        return "there"
    if not str(place.get("url") or "").startswith("https://") or not place.get("upload_key"):
        raise Fault("layout_changed", "Zotero did not tell where its files are sent")
    body = str(place.get("prefix") or "").encode() + content + str(place.get("suffix") or "").encode()
    headers = (("Content-Type", str(place.get("content_type") or "application/octet-stream")),)
    policy = Policy(timeout=min(_SECONDS_OF_A_FILE, within), redirects=0)
    answer = await context.send(Request("POST", place["url"], headers=headers, body=body, policy=policy))
    if answer.status not in (200, 201, 204):
        raise Fault("upstream_unavailable", f"the storage of Zotero refused it (HTTP {answer.status})")
    try:
        await context.ask("zotero_uploads", {"item": item, "upload_key": place["upload_key"]}, provider=SERVICE)
    except Fault as fault:
        if not fault.may_have_written:
            raise
        row.messages.append(f"its PDF may be there: {fault.message}")
        return "unsure"
    return "sent"


async def _make_attachment(context: Context, row: _Addition, name: str) -> None:
    """Make the attachment of a work for a file that is still to be sent."""
    (told,) = await _write(context, [_to_attachment(row, name)], is_new=True)
    if told["outcome"] == "failed":
        raise Fault("bad_request", _reason(told))
    if told["outcome"] == "unsure":
        raise Fault("upstream_unavailable", f"an attachment without its file may be there; {_reason(told)}")
    row.attachment = str(told["key"])


def _to_attachment(row: _Addition, name: str) -> dict[str, Any]:
    """The new item of a file that is still to be sent."""
    return {
        "itemType": "attachment",
        "parentItem": row.key,
        "linkMode": "imported_file",
        "title": name,
        "filename": name,
        "contentType": "application/pdf",
        "charset": "",
        "tags": [],
    }


async def _read_items(context: Context, keys: Sequence[str]) -> list[Mapping[str, Any]]:
    """Items of the library by their keys, each with its version; those that are gone are left out."""
    found: list[Mapping[str, Any]] = []
    for begin in range(0, len(keys), BATCH):
        asked = {"keys": list(keys[begin : begin + BATCH]), "plain": True, "num_results": BATCH}
        rows = (await context.ask("zotero_items", asked, provider=SERVICE)).rows
        found += [{**row["item"], "key": row["key"], "version": row.get("version")} for row in rows if row.get("item")]
    return found


async def _label(
    context: Context, items: Sequence[Mapping[str, Any]], tags: Sequence[str], collection: str, *, dry_run: bool
) -> dict[str, LabelledItem]:
    """Add tags and a collection to items as they were read; who was changed meanwhile is read and merged once more."""
    told: dict[str, LabelledItem] = {}
    merged: set[str] = set()
    for is_last in (False, True):
        changes, again = [], []
        for item in items:
            change = _make_change(item, tags, collection)
            key, title = str(item["key"]), title_of(item) or None
            status = "labelled" if change else "unchanged"
            told[key] = LabelledItem(item=key, status=status, title=title, merged=key in merged or None)
            changes += [change] if change else []
        for change, row in zip(
            changes, [] if dry_run else await _write(context, changes, is_new=False), strict=not dry_run
        ):
            key = change["key"]
            if row["outcome"] == "failed" and row.get("code") == _CHANGED and not is_last:
                again.append(key)
            elif row["outcome"] == "failed":
                told[key] = replace(told[key], status="failed", message=_reason(row))
            elif row["outcome"] == "unsure":
                told[key] = replace(told[key], status="unsure", message=_reason(row), suggested_action=_LOOK)
        if not again:
            break
        try:
            items = await _read_items(context, again)
        except Fault as fault:
            message = f"somebody changed it meanwhile, and it could not be read again: {fault.message}"
            told |= {key: replace(told[key], status="failed", message=message) for key in again}
            break
        merged = {str(item["key"]) for item in items}
        for key in {*again} - merged:
            told[key] = replace(told[key], status="missing", message="it was taken out of the library meanwhile")
    return told


def _make_change(item: Mapping[str, Any], tags: Sequence[str], collection: str) -> dict[str, Any]:
    """What is to change of an item; nothing where it has all of it."""
    before, places = item.get("tags") or [], list(item.get("collections") or [])
    after = _merge_tags(before, tags)
    change: dict[str, Any] = {"tags": after} if len(after) > len(before) else {}
    if collection and collection not in places:
        change["collections"] = [*places, collection]
    return {"key": item["key"], "version": item["version"], **change} if change else {}


async def _label_known(
    context: Context,
    rows: Sequence[_Addition],
    stored: Sequence[Mapping[str, Any]],
    place: ZoteroCollection | None,
    tags: Sequence[str],
    *,
    dry_run: bool = False,
) -> None:
    """Label the works that the library has, whose items are `stored`."""
    told = await _label(context, stored, tags, _key_of(place), dry_run=dry_run)
    for row in rows:
        if not row.key:
            continue
        label = told.get(row.key)
        if label is None or label.status in ("failed", "missing"):
            row.messages.append(f"not labelled: {label.message if label else 'Zotero has no such item'}")
        elif label.status == "unsure":
            row.status = "unsure"
            row.messages.append(f"it may be labelled: {label.message}")
        elif label.status == "labelled":
            row.status = "labelled"


def _key_of(place: ZoteroCollection | None) -> str:
    """What a collection is called in an item; one that is made only later takes part under its name."""
    return place.key or place.name if place else ""


# --- the program on this machine --------------------------------------------------------------------------------------


async def _add_by_program(
    context: Context, rows: Sequence[_Addition], target: str, *, with_files: bool, until: float
) -> None:
    stop = ""
    for begin in range(0, len(rows), BATCH):
        batch, session = rows[begin : begin + BATCH], context.new_id()
        items = [
            {name: value for name, value in row.item.items() if name != "collections"}
            | {"id": str(at), "notes": row.notes, "attachments": []}
            for at, row in enumerate(batch)
        ]
        reason = f"not sent, because of what came before: {stop}" if stop else ""
        unplaced, outcome = "", "failed"
        try:
            arguments = {"session": session, "items": items} | ({"target": target} if target else {})
            if not stop:
                answer = await context.ask("zotero_saves", arguments, provider=PROGRAM)
                unplaced = "; ".join(fault.message.rstrip(".") for fault in answer.failed)
        except Fault as fault:
            if not begin and not fault.may_have_written:
                raise
            stop, reason = _cause(fault), fault.message
            outcome = "unsure" if fault.may_have_written else "failed"
        if reason:
            for row in batch:
                row.status = outcome
                row.messages.append(reason)
            continue
        for at, row in enumerate(batch):
            row.status = "added"
            if unplaced:
                row.messages.append(
                    f"it is saved where Zotero had selected, and was not put where it should be: {unplaced}"
                )
            if with_files:
                await _hand_over(context, session, str(at), row, until=until)


async def _hand_over(context: Context, session: str, item: str, row: _Addition, *, until: float) -> None:
    """Give the program the PDF of a work that it has just saved."""
    if row.path is None:
        row.file = "none"
        return
    if asyncio.get_running_loop().time() >= until:
        row.file = "failed"
        row.messages.append(_LATE)
        return
    try:
        content, _ = await _read_file(row.path)
        asked = {
            "session": session,
            "item": item,
            "title": _name_file(row.work, row.path),
            "url": row.work.url or (f"https://doi.org/{row.work.doi}" if row.work.doi else "https://www.zotero.org/"),
            "content": base64.b64encode(content).decode(),
        }
        await context.ask("zotero_saved_files", asked, provider=PROGRAM)
        row.file = "sent"
    except (Fault, OSError) as error:
        if isinstance(error, Fault) and error.may_have_written:
            row.file = "unsure"
            row.messages.append(f"its PDF may be there: {error.message}")
            return
        row.file = "failed"
        reason = error.message if isinstance(error, Fault) else error.strerror or "it cannot be read"
        row.messages.append(f"its PDF was not saved: {reason}")
