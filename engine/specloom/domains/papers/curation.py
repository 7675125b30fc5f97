"""The store put in order: duplicates told and merged, works removed, tags and collections listed and renamed.

What is removed or written over lies in the trash of the store, which no program lists.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from specloom.core import Fault
from specloom.domains.text import is_cite_key
from specloom.plugins import Context, procedure
from specloom.plugins.records import record

from .config import STORE, TRASH_AGE, trash_retention
from .entries import RECORD, TABLE, cite_key_of, own_of, texts_of, to_json
from .errors import PaperFault
from .search import say_unknown_key

if TYPE_CHECKING:
    from specloom.domains.trust.bibliography.entry import BibliographyEntry

    from .library import PaperLibrary
    from .store import PaperStore

_YEARS_APART = {"likely": 1, "versions": 3}
"""Years that may lie between two works that are one, and between a preprint and what came of it."""
_LABELS = {"tag": "tags", "collection": "collections"}
MOST_LABELS = 200
"""Labels of a kind that one call lists."""
MOST_TOLD = 5
"""Labels that are told where one was named that is none."""


@record
class StoredWork:
    """A work of the store as lists tell it."""

    safekey: str
    ref: str
    key: str | None = None
    title: str | None = None
    year: int | None = None
    venue: str | None = None


@record
class DuplicateGroup:
    """Works that are one: `same` by an identifier, `versions` of one, or `likely` by title and first author.

    `differs` names the fields in which they differ.
    """

    kind: str
    reason: str
    works: Sequence[StoredWork]
    differs: Sequence[str]


@record
class DuplicateGroups:
    """The groups of duplicates of a store, the surest first, how many there are, and how many works were compared."""

    compared: int
    found: int
    groups: Sequence[DuplicateGroup]


@procedure("find_duplicates", settings=STORE)
async def find_duplicates(context: Context) -> DuplicateGroups:
    """Finds works that are in the store more than once: by DOI, PubMed and arXiv identifier, and by what they are."""
    from .library import PaperLibrary
    from .record import to_work

    library = PaperLibrary.open(context)
    rows = {row["safekey"]: row for _, row in library.store.summaries()}
    entries = {key: to_json(library.read(key)) for key in rows}
    works = {key: to_work(entry) for key, entry in entries.items()}
    groups: list[DuplicateGroup] = []
    together: set[frozenset[str]] = set()

    def tell(kind: str, reason: str, keys: Sequence[str]) -> None:
        pairs = {frozenset((first, second)) for first in keys for second in keys if first != second}
        if pairs <= together:
            return
        together.update(pairs)
        differs = sorted(
            {
                name
                for each in keys
                for name in _NAMES
                if _fold(entries[each].get(name)) != _fold(entries[keys[0]].get(name))
            }
        )
        told = [_to_row(rows[key], entries[key]) for key in keys]
        groups.append(DuplicateGroup(kind=kind, reason=reason, works=told, differs=differs))

    for name, keys in _bucket(works, _identifiers):
        tell("same", f"equal {name.partition(':')[0]}", keys)
    for name, keys in _bucket(works, _preprints):
        tell("versions", f"versions of {name}", keys)
    for _, keys in _bucket(works, _likeness):
        for kind, near in _near(keys, works):
            reason = (
                "a preprint and what came of it"
                if kind == "versions"
                else "equal title and first author, year at most one apart"
            )
            tell(kind, reason, near)
    order = {"same": 0, "versions": 1, "likely": 2}
    groups.sort(key=lambda group: order[group.kind])
    return DuplicateGroups(compared=len(works), found=len(groups), groups=groups)


_NAMES = ("title", "authors", "year", "venue", "volume", "issue", "pages", "doi", "arxiv_id", "publisher", "type")


def _bucket(works: Mapping[str, BibliographyEntry], names_of: Any) -> Iterable[tuple[str, list[str]]]:
    buckets: dict[str, list[str]] = {}
    for key, work in works.items():
        for name in names_of(work):
            buckets.setdefault(name, []).append(key)
    return [(name, keys) for name, keys in buckets.items() if len(keys) > 1]


def _identifiers(work: BibliographyEntry) -> list[str]:
    names = [f"DOI:{work.doi.lower()}"] if work.doi else []
    return [*names, *([f"PubMed identifier:{work.pmid}"] if work.pmid else [])]


def _preprints(work: BibliographyEntry) -> list[str]:
    from specloom.domains.text import PaperId
    from specloom.domains.text.paper_refs import preprint_of

    named = preprint_of(work.doi)
    identifiers = {work.arxiv, named.value if named else ""} - {""}
    return sorted({f"arXiv:{PaperId('arxiv', one).base}" for one in identifiers})


def _likeness(work: BibliographyEntry) -> list[str]:
    title = _fold(re.split(r"[:?!—]", work.title, maxsplit=1)[0]) or _fold(work.title)
    family = _fold((work.authors or work.editors)[0].family) if work.authors or work.editors else ""
    return [f"{title}|{family}"] if title and family else []


def _near(keys: Sequence[str], works: Mapping[str, BibliographyEntry]) -> Iterable[tuple[str, list[str]]]:
    """The works of one title and author that lie near in time: those of a kind, and a preprint with the others."""
    ordered = sorted(keys, key=lambda key: works[key].issued[:1])
    preprints = [key for key in ordered if works[key].kind == "article"]
    others = [key for key in ordered if works[key].kind != "article"]
    for group in (preprints, others):
        near = [key for key in group if group and _apart(works, group[0], key) <= _YEARS_APART["likely"]]
        if len(near) > 1:
            yield "likely", near
    if preprints and others and _apart(works, preprints[0], others[0]) <= _YEARS_APART["versions"]:
        yield "versions", [preprints[0], others[0]]


def _apart(works: Mapping[str, BibliographyEntry], first: str, second: str) -> int:
    one, other = works[first].issued, works[second].issued
    return abs(one[0] - other[0]) if one and other else 0


def _fold(value: Any) -> str:
    from specloom.domains.text.fold import fold

    return " ".join(
        re.findall(r"\w+", fold(" ".join(texts_of(value)) if isinstance(value, list) else str(value or "")))
    )


def _to_row(row: Mapping[str, Any], entry: Mapping[str, Any]) -> StoredWork:
    return StoredWork(
        safekey=row["safekey"],
        ref=row.get("ref") or row["safekey"],
        key=row.get("key") or None,
        title=row["title"],
        year=row["year"],
        venue=str(entry.get("venue") or "") or None,
    )


# --- merged and removed --------------------------------------------------------------------------------------------


@record
class MergedWorks:
    """A work that others were merged into: what it has from them, and where they are now."""

    ref: str
    key: str | None
    merged: Sequence[str]
    filled: Sequence[str]
    trash: Sequence[str]
    dry_run: bool | None = None


@procedure("merge_works", settings=STORE)
async def merge_works(context: Context, keep: str, others: Sequence[str], *, dry_run: bool = False) -> MergedWorks:
    """Merges works of the store into one that is kept: it has from them what it lacks, and their tags and notes too.

    The others, and the kept one as it was, lie in the trash. Raises `not_found` for what is not in the store.
    """
    from .library import PaperLibrary
    from .record import fill

    if not others:
        message = "others names no work, so nothing would be merged; give the works that are merged into the kept one"
        raise Fault("validation", message, action="fix_arguments", argument="others")
    library = PaperLibrary.open(context)
    kept_key = _find(library, keep)
    keys = list(dict.fromkeys(_find(library, ref) for ref in others))
    if kept_key in keys:
        raise Fault("validation", f"{keep[:80]!r} is to be kept and merged into itself", action="fix_arguments")
    before = library.read(kept_key)
    givers = [library.read(key) for key in keys]

    def alter(stored: Mapping[str, Any] | None) -> Mapping[str, Any]:
        if stored is None:
            raise Fault("not_found", f"{keep[:80]!r} was removed while others were merged into it; try again")
        entry = dict(stored)
        for giver in givers:
            table = {name: value for name, value in _table(giver).items() if name not in ("citekey", "citekey_by")}
            shared = {name: value for name, value in giver.items() if name not in ("doi", "arxiv_id", "pdf_path")}
            is_other = bool(entry.get("doi") or entry.get("arxiv_id"))
            identity = () if is_other else ("doi", "arxiv_id")
            named: dict[str, Any] = {name: giver[name] for name in identity if name in giver}
            note, more = (str(own_of(each).get("annotation") or "") for each in (entry, giver))
            entry, _ = fill(entry, {**shared, **named, RECORD: table})
            if note and more and more not in note:
                entry[TABLE] = {**entry[TABLE], "annotation": f"{note}\n\n{more}"}
            entry[RECORD] = _with_version(entry, giver)
        return entry

    made = alter(before)
    filled = sorted(name for name in made if name not in (TABLE, RECORD) and made[name] != before.get(name))
    trash: list[str] = []
    if not dry_run:
        store, now = library.store, context.now()
        _, copy = await store.rewrite_keeping(kept_key, alter, now)
        copies = [copy] if copy else []
        for key, giver in zip(keys, givers, strict=True):
            await _take_pdf(store, kept_key, giver, now)
            copies += await store.discard(key, now)
        await store.finish_removals()
        trash = [store.tell(context, path) for path in copies]
    return MergedWorks(
        ref=_name(kept_key, before),
        key=cite_key_of(before) or None,
        merged=[_name(key, giver) for key, giver in zip(keys, givers, strict=True)],
        filled=filled,
        trash=trash,
        dry_run=dry_run or None,
    )


async def _take_pdf(store: PaperStore, key: str, giver: Mapping[str, Any], now: float) -> None:
    """Give a work the PDF of another one, where it has none."""
    source = store.stored_pdf(giver)
    if source is None or not store.has_pdf(giver) or store.has_pdf(store.read(key) or {}):
        return
    try:
        pdf = await asyncio.to_thread(source.read_bytes)
    except OSError as error:
        raise PaperFault("STORE_ERROR", f"{source.name} cannot be read: {error.strerror or error}.") from None
    await store.put_pdf(key, pdf, now, origin=str(own_of(giver).get("origin") or ""))


def _with_version(entry: Mapping[str, Any], giver: Mapping[str, Any]) -> dict[str, Any]:
    """The table of our own with the identifier of a work that was another version."""
    named = giver.get("doi") or (f"arxiv:{giver['arxiv_id']}" if giver.get("arxiv_id") else "")
    own = {entry.get("doi"), f"arxiv:{entry.get('arxiv_id')}"}
    table = _table(entry)
    versions = list(dict.fromkeys([*texts_of(table.get("versions")), *([named] if named and named not in own else [])]))
    return table | ({"versions": versions} if versions else {})


def _table(entry: Mapping[str, Any]) -> dict[str, Any]:
    table = entry.get(RECORD)
    return dict(table) if isinstance(table, Mapping) else {}


def _name(key: str, entry: Mapping[str, Any]) -> str:
    arxiv, cite_key = entry.get("arxiv_id"), cite_key_of(entry)
    return str(entry.get("doi") or (f"arxiv:{arxiv}" if arxiv else f"@{cite_key}" if cite_key else key))


def _find(library: PaperLibrary, ref: str) -> str:
    key = library.find(ref)
    if key is None:
        entries = [entry for entry, _ in library.store.summaries()] if is_cite_key(ref) else []
        message = say_unknown_key(ref.strip(), entries) if is_cite_key(ref) else f"{ref[:80]!r} is not in the store"
        raise Fault("not_found", message.rstrip("."), action="fix_arguments")
    return key


@record
class RemovedWork:
    """A work that was taken out of the store, and where its files are now."""

    ref: str
    title: str
    trash: Sequence[str]


@record
class RemovedWorks:
    """The works that were taken out of the store, and the references of those that are not in it."""

    removed: Sequence[RemovedWork]
    missing: Sequence[str] | None = None
    emptied: int | None = None
    """Files that lay in the trash for longer than it keeps them, and are deleted now."""


@procedure("remove_works", settings={**STORE, **TRASH_AGE})
async def remove_works(context: Context, refs: Sequence[str]) -> RemovedWorks:
    """Takes works out of the store: their files move into its trash, from where a person may put them back."""
    from .library import PaperLibrary

    if not refs:
        message = "refs names no work; give those that are to be removed"
        raise Fault("validation", message, action="fix_arguments", argument="refs")
    library = PaperLibrary.open(context)
    removed, missing = list[RemovedWork](), list[str]()
    found = {ref: library.find(ref) for ref in refs}
    entries = {key: library.store.read(key) for key in found.values() if key}
    missing += [ref for ref, key in found.items() if not key or entries[key] is None]
    for key, entry in entries.items():
        paths = await library.store.discard(key, context.now()) if entry is not None else []
        if entry is None or not paths:
            # Another process has removed it since it was looked for.
            missing += [ref for ref, each in found.items() if each == key and ref not in missing]
            continue
        title = str(entry.get("title") or "")
        trash = [library.store.tell(context, path) for path in paths]
        removed.append(RemovedWork(ref=_name(key, entry), title=title, trash=trash))
    await library.store.finish_removals()
    emptied = library.store.empty_trash(context.now(), trash_retention(context.config)) if removed else 0
    return RemovedWorks(removed=removed, missing=missing or None, emptied=emptied or None)


# --- tags and collections ------------------------------------------------------------------------------------------


@record
class CountedLabel:
    """A tag, a collection or a keyword, and how many works have it."""

    name: str
    works: int


@record
class CountedLabels:
    """The labels of a store, the commonest first, and how many of each kind there are.

    `next_offset` is where further ones begin, of whatever kind.
    """

    tags: Sequence[CountedLabel]
    collections: Sequence[CountedLabel]
    keywords: Sequence[CountedLabel]
    tag_count: int
    collection_count: int
    keyword_count: int
    next_offset: int | None = None


@procedure("list_labels", settings=STORE)
async def list_labels(context: Context, offset: int = 0) -> CountedLabels:
    """Lists the tags, the collections and the keywords of the store with their numbers of works.

    Of each kind these are MOST_LABELS at most, from `offset` on.
    """
    from .store import open_store

    store = open_store(context.config)
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("tags", "collections", "keywords")}
    for _, row in store.summaries():
        entry = store.read(row["safekey"]) or {}
        for name, counter in counts.items():
            table = entry if name == "keywords" else own_of(entry)
            counter.update(set(texts_of(table.get(name))))
    most, end = max(map(len, counts.values())), offset + MOST_LABELS
    if offset and offset >= most:
        message = f"offset is {offset}, and no kind of label has more than {most}; give a lower one"
        raise Fault("validation", message, action="fix_arguments", argument="offset")

    def part(name: str) -> list[CountedLabel]:
        ordered = sorted(counts[name].items(), key=lambda pair: (-pair[1], pair[0]))
        return [CountedLabel(name=label, works=count) for label, count in ordered[offset:end]]

    return CountedLabels(
        tags=part("tags"),
        collections=part("collections"),
        keywords=part("keywords"),
        tag_count=len(counts["tags"]),
        collection_count=len(counts["collections"]),
        keyword_count=len(counts["keywords"]),
        next_offset=end if any(len(counter) > end for counter in counts.values()) else None,
    )


@record(naming="same")
class RenamedLabel:
    """A label under its new name, and how many works have it under that name now."""

    kind: str
    name: str
    changed: int


@procedure("rename_label", settings=STORE)
async def rename_label(context: Context, kind: str, name: str, new_name: str) -> RenamedLabel:
    """Gives a tag or a collection another name in all works; one that has that name already is united with it.

    Raises `not_found` for a label that no work has, with some of those that there are.
    """
    from .store import open_store

    if name == new_name:
        message = f"the {kind} {name!r} would be called as it is; give another new_name"
        raise Fault("validation", message, action="fix_arguments", argument="new_name")
    store, field = open_store(context.config), _LABELS[kind]
    changed, others = 0, Counter[str]()
    for _, row in store.summaries():
        entry = store.read(row["safekey"]) or {}
        labels = texts_of(own_of(entry).get(field))
        if name not in labels:
            others.update(set(labels))
            continue

        def alter(stored: Mapping[str, Any] | None) -> Mapping[str, Any]:
            if stored is None:
                raise Fault("not_found", "a work was removed while its labels were renamed; try again")
            own = own_of(stored)
            labels = [new_name if label == name else label for label in texts_of(own.get(field))]
            return {**stored, TABLE: {**own, field: list(dict.fromkeys(labels))}}

        await store.rewrite(row["safekey"], alter)
        changed += 1
    if not changed:
        raise Fault(
            "not_found", f"no work has the {kind} {name!r}; {_tell_labels(field, others)}", action="fix_arguments"
        )
    return RenamedLabel(kind=kind, name=new_name, changed=changed)


def _tell_labels(field: str, labels: Counter[str]) -> str:
    """Which labels of a kind there are, the commonest first."""
    if not labels:
        return f"there are no {field}"
    ordered = sorted(labels, key=lambda label: (-labels[label], label))
    more = f" and {len(ordered) - MOST_TOLD} more (library_labels lists them)" if len(ordered) > MOST_TOLD else ""
    return f"there are {', '.join(map(repr, ordered[:MOST_TOLD]))}{more}"
