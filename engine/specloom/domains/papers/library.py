"""The store as a library: works by any of their names, with cite keys that are made once and stay."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping
from dataclasses import field, replace
from typing import Any

from specloom.core import dataclass
from specloom.domains.text import PaperId
from specloom.domains.text.paper_refs import parse_ref
from specloom.domains.trust.bibliography.entry import BibliographyEntry, find_free_key, make_key
from specloom.plugins import Context

from .entries import RECORD, cite_key_of, to_json
from .errors import PaperFault
from .record import to_stored, to_work
from .search import to_searched
from .store import PaperStore, open_store, preview


@dataclass(slots=True)
class PaperLibrary:
    """What the store holds by the names of its works: keys of its files, which are never told apart by capitals."""

    store: PaperStore
    files: dict[str, str] = field(default_factory=dict)
    """The key of the files of an entry by each of its names: `doi:…`, `arxiv:…`, `@…`, `title:…`, in small letters."""
    cite_keys: set[str] = field(default_factory=set)
    """All cite keys, in small letters."""
    drafts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Entries as a dry run would have left them, by the keys of their files."""

    @classmethod
    def open(cls, context: Context) -> PaperLibrary:
        """The library of the store that the settings name."""
        library = cls(open_store(context.config))
        library.refresh()
        return library

    def refresh(self) -> None:
        """Know what the store has now, and nothing else."""
        self.files, self.cite_keys = {}, set()
        for searched, row in self.store.summaries():
            for name in searched.names:
                known = name if name.startswith("@") else f"{'doi' if name.startswith('10.') else 'arxiv'}:{name}"
                self.files.setdefault(known, row["safekey"])
            self.files.setdefault(f"file:{row['safekey']}".lower(), row["safekey"])
            title, people, year = searched.fields[0], searched.fields[1], searched.year
            self.files.setdefault(f"title:{title}|{people}|{year or ''}", row["safekey"])
            if row.get("key"):
                self.cite_keys.add(row["key"].lower())

    def note(self, key: str, work: BibliographyEntry) -> None:
        """Know a work that was put under a key of files."""
        for name in (*_identifiers_of(work), _title_of(work)):
            self.files.setdefault(name, key)
        if work.key:
            self.files.setdefault(f"@{work.key}".lower(), key)
            self.cite_keys.add(work.key.lower())

    def find(self, ref: str) -> str | None:
        """The key of the files of what a reference names: a DOI or its address, an arXiv identifier, a cite key, or
        the key of its files; None for what is not here."""
        text = ref.strip()
        try:
            paper = parse_ref(text)
        except ValueError:
            known = [f"@{text.removeprefix('@')}", f"file:{text}"]
        else:
            known = [f"{paper.kind}:{paper.value}", f"{paper.kind}:{paper.base}", f"@{text}"]
        return next((self.files[name.lower()] for name in known if name.lower() in self.files), None)

    def find_work(self, work: BibliographyEntry) -> str | None:
        """The key of the files of a work that is the same: by an identifier, else by title, names and year.

        Two of one title that have each an identifier of its own are two works, such as a preprint and what came of it.
        """
        for name in _identifiers_of(work):
            if name in self.files:
                return self.files[name]
        key = self.files.get(_title_of(work))
        if key is None or not (work.doi or work.arxiv):
            return key
        entry = self._look(key) or {}
        return None if entry.get("doi") or entry.get("arxiv_id") else key

    @staticmethod
    def is_alike(entry: Mapping[str, Any], work: BibliographyEntry) -> bool:
        """Whether an entry is that of a work by title, names and year."""
        return _title_of(to_work(to_json(entry))) == _title_of(work)

    def find_corrected(self, work: BibliographyEntry, own: Container[str] = ()) -> str | None:
        """The key of the files of a work that has this cite key, whatever was corrected since.

        None where an identifier of one contradicts the other's. An entry among `own`, which the same bibliography has
        put there, is another one's unless it has the same title.
        """
        key = self.files.get(f"@{work.key}".lower()) if work.key else None
        entry = self._look(key) if key else None
        if key is None or entry is None or _is_contradicted(work, to_work(to_json(entry))):
            return None
        is_own = key in own and to_searched(to_stored(work)).fields[0] != to_searched(entry).fields[0]
        return None if is_own else key

    def make_cite_key(self, work: BibliographyEntry) -> str:
        """A key that no other work has: the one that it brings, else one that is made of it."""
        return find_free_key(work.key or make_key(work), self.cite_keys)

    @staticmethod
    def name(work: BibliographyEntry) -> PaperId | None:
        """The identifier after which the files of a work are named; None for one that has none."""
        if work.doi:
            return PaperId("doi", work.doi)
        return PaperId("arxiv", work.arxiv) if work.arxiv else None

    def make_file_key(self, work: BibliographyEntry) -> str:
        """The key of the files of a new work: that of its identifier, else one that is made of its cite key."""
        ref = self.name(work)
        if ref is not None:
            return ref.key if self._look(ref.key) is None else ref.longer_key
        key = PaperId("key", work.key).key
        if self._look(key) is None:
            return key
        return f"{key[:190]}_{hashlib.sha256(work.key.encode()).hexdigest()[:8]}"

    def read(self, key: str) -> dict[str, Any]:
        """The entry under a key of files; STORE_ERROR where it is gone since it was listed."""
        entry = self._look(key)
        if entry is None:
            raise PaperFault("STORE_ERROR", f"The entry {key} is no longer in the store.")
        return entry

    def draft(self, key: str, entry: Mapping[str, Any]) -> None:
        """Know an entry as the store would give it back once it was written; its faults are those of writing it."""
        self.drafts[key] = preview(key, entry)

    def _look(self, key: str) -> dict[str, Any] | None:
        return self.drafts[key] if key in self.drafts else self.store.read(key)

    async def cited(self, key: str, *, keeps_key: bool = True) -> tuple[BibliographyEntry, bool]:
        """The work under a key of files with its cite key, and whether that was made, and stored, only now.

        Where the store cannot be written, or it keeps no key, one is made all the same, and is the same the next time.
        """
        work = to_work(to_json(self.read(key)))
        if work.key:
            return work, False
        made = replace(work, key=self.make_cite_key(work))

        def add(stored: Mapping[str, Any] | None) -> Mapping[str, Any]:
            if stored is None:
                raise PaperFault("STORE_ERROR", f"The entry {key} is no longer in the store.")
            entry = dict(stored)
            table = entry.get(RECORD)
            table = dict(table) if isinstance(table, Mapping) else {}
            return (
                entry if cite_key_of(entry) else entry | {RECORD: table | {"citekey": made.key, "citekey_by": "made"}}
            )

        if keeps_key and self.store.is_writable():
            entry = await self.store.rewrite(key, add)
            made = replace(made, key=cite_key_of(entry) or made.key)
        self.note(key, made)
        return made, True


def _identifiers_of(work: BibliographyEntry) -> list[str]:
    arxiv = {work.arxiv, PaperId("arxiv", work.arxiv).base} if work.arxiv else set()
    return [name.lower() for name in (*([f"doi:{work.doi}"] if work.doi else []), *(f"arxiv:{one}" for one in arxiv))]


def _is_contradicted(work: BibliographyEntry, other: BibliographyEntry) -> bool:
    """Whether two works have different identifiers of a kind, or a DOI and the name of a preprint without the other."""
    names, others = _identifiers_of(work), _identifiers_of(other)
    pairs = [(work.doi.lower(), other.doi.lower())]
    pairs += [(getattr(work, name), getattr(other, name)) for name in ("pmid", "pmcid", "isbn")]
    is_apart = bool(names and others) and not {*names} & {*others}
    return is_apart or any(mine and theirs and mine != theirs for mine, theirs in pairs)


def _title_of(work: BibliographyEntry) -> str:
    """A work by its title, names and year as searches know them, by its cite key where it has no title."""
    if not work.title:
        return f"@{work.key}".lower()
    searched = to_searched(to_stored(work))
    return f"title:{searched.fields[0]}|{searched.fields[1]}|{searched.year or ''}"
