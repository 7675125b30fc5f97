"""The store: one PDF and one metadata file an entry, in a layout that other programs read and write too.

```
<root>/<key>.pdf
<root>/.metadata/<key>.toml
<root>/.metadata/<key>.toml.lock
```
Reading makes no folder and no file. Writing holds the lock of the entry, and the PDF is in place before the metadata
that names it, so what a crash leaves is at worst a PDF that nobody mentions.
"""

from __future__ import annotations

import asyncio
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from .codes import Refusal
from .entries import TABLE, check_version, merge, own_of
from .locks import Sleep, held, write_whole
from .refs import Ref, check_key, key_of
from .toml_text import write_toml

METADATA = ".metadata"

Alter = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Summary:
    """What lists and searches know of an entry; `words` is folded for comparison."""

    key: str
    title: str
    year: int | None
    fetched_at: str | None
    words: str

    def to_json(self) -> dict[str, Any]:
        """The four keys of a listed entry."""
        return {"safekey": self.key, "title": self.title, "year": self.year, "fetched_at": self.fetched_at}


_SEEN: dict[Path, dict[str, tuple[tuple[int, int], Summary | None]]] = {}
"""Per store the entries as they were last read, each with time and size of its file."""


class Store:
    """A store at a folder, which need not exist until something is written."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def pdf_path(self, key: str) -> Path:
        """Where the PDF of an entry is or would be."""
        check_key(key)
        return self.root / f"{key}.pdf"

    def metadata_path(self, key: str) -> Path:
        """Where the metadata of an entry are or would be."""
        check_key(key)
        return self.root / METADATA / f"{key}.toml"

    def find(self, ref: Ref) -> dict[str, Any] | None:
        """The entry of a paper, or None; STORE_ERROR when its file is broken or belongs to another paper."""
        return self._of(ref, self.read(key_of(ref)))

    def read(self, key: str) -> dict[str, Any] | None:
        """The metadata under a key, or None when there are none."""
        path = self.metadata_path(key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Refusal("STORE_ERROR", f"{path.name} cannot be read: {error.strerror}.") from None
        try:
            return tomllib.loads(data.decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Refusal("STORE_ERROR", f"{path.name} is no valid TOML ({error}); repair or remove it.") from None

    def stored_pdf(self, entry: Mapping[str, Any]) -> Path | None:
        """The PDF that an entry names, whether or not it is there; None where it names none inside the store."""
        said = entry.get("pdf_path")
        if not isinstance(said, str) or not said or "\\" in said or "\0" in said:
            return None
        parts = PurePosixPath(said)
        return None if parts.is_absolute() or ".." in parts.parts else self.root / parts

    async def commit(
        self, ref: Ref, entry: Mapping[str, Any], pdf: bytes | None = None, *, sleep: Sleep = asyncio.sleep
    ) -> tuple[dict[str, Any], bool]:
        """Write an entry under its lock: what is then stored, and whether this call put the PDF there.

        A PDF that is there is never replaced. STORE_ERROR, LOCK_TIMEOUT or SCHEMA_TOO_NEW, and then nothing is written.
        """
        key = key_of(ref)
        self._make_folders()
        async with held(self.metadata_path(key).with_name(f"{key}.toml.lock"), sleep=sleep):
            stored = self.find(ref)
            new, wrote = dict(entry), False
            if stored is not None:
                check_version(stored)
            if pdf is not None:
                new["pdf_path"] = f"{key}.pdf"
                wrote = not self.pdf_path(key).exists()
            merged = merge(stored, new)
            if pdf is not None and not wrote and stored is not None and stored.get("pdf_path"):
                return dict(stored), False
            text = write_toml(merged)
            try:
                if pdf is not None and wrote:
                    await asyncio.to_thread(write_whole, self.pdf_path(key), pdf)
                write_whole(self.metadata_path(key), text.encode())
            except OSError as error:
                raise Refusal("STORE_ERROR", f"The entry {key} cannot be written: {error.strerror}.") from None
            return merged, wrote

    async def change(self, ref: Ref, alter: Alter, *, sleep: Sleep = asyncio.sleep) -> dict[str, Any]:
        """Lay what `alter` makes of the tool's own table over it (None removes a key) and give the table.

        STORE_ERROR for a paper that was never fetched.
        """
        key = key_of(ref)
        if self.find(ref) is None:
            raise Refusal("STORE_ERROR", f"{ref.value} is not in the store; fetch it first.")
        async with held(self.metadata_path(key).with_name(f"{key}.toml.lock"), sleep=sleep):
            stored = self.find(ref)
            if stored is None or not isinstance(stored.get(TABLE), Mapping):
                raise Refusal("STORE_ERROR", f"{ref.value} has no [{TABLE}] table; fetch it first.")
            check_version(stored)
            own = own_of(stored)
            table = {name: value for name, value in {**own, **alter(own)}.items() if value is not None}
            changed = {**stored, TABLE: table}
            try:
                write_whole(self.metadata_path(key), write_toml(changed).encode())
            except OSError as error:
                raise Refusal("STORE_ERROR", f"The entry {key} cannot be written: {error.strerror}.") from None
            return table

    def summaries(self) -> list[Summary]:
        """Every readable entry, by key; only files that changed since the last time are read again."""
        folder = self.root / METADATA
        before, now = _SEEN.get(folder, {}), {}
        try:
            files = sorted((one for one in os.scandir(folder) if one.name.endswith(".toml")), key=lambda one: one.name)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise Refusal("STORE_ERROR", f"The store cannot be listed: {error.strerror}.") from None
        for file in files:
            try:
                stat = file.stat()
            except OSError:
                continue
            stamp = (stat.st_mtime_ns, stat.st_size)
            kept = before.get(file.name)
            now[file.name] = kept if kept is not None and kept[0] == stamp else (stamp, self._summary(file.name[:-5]))
        _SEEN[folder] = now
        return [summary for _, summary in now.values() if summary is not None]

    def is_writable(self) -> bool:
        """Whether the nearest folder that exists could take the store; makes nothing."""
        for folder in (self.root, *self.root.parents):
            if folder.exists():
                return folder.is_dir() and os.access(folder, os.W_OK)
        return False

    def _summary(self, key: str) -> Summary | None:
        try:
            entry = self.read(key)
        except Refusal:
            return None
        if entry is None or not isinstance(entry.get("title"), str):
            return None
        authors = entry.get("authors")
        names = " ".join(map(str, authors)) if isinstance(authors, list) else ""
        fetched, year = own_of(entry).get("fetched_at"), entry.get("year")
        # A line end keeps the fields apart, because no query has one.
        words = "\n".join((entry["title"], names, str(entry.get("venue", "")), str(entry.get("publisher", ""))))
        return Summary(
            key,
            entry["title"],
            year if isinstance(year, int) else None,
            fetched if isinstance(fetched, str) else None,
            words.casefold(),
        )

    def _of(self, ref: Ref, entry: dict[str, Any] | None) -> dict[str, Any] | None:
        said = entry.get("doi" if ref.kind == "doi" else "arxiv_id") if entry else None
        if isinstance(said, str) and said.lower() not in {ref.value.lower(), ref.base.lower()}:
            raise Refusal(
                "STORE_ERROR",
                f"{ref.value} has the same file name as {said[:80]!r}, which is in the store already; "
                "move that entry to another store first.",
            )
        return entry

    def _make_folders(self) -> None:
        try:
            for folder in (self.root, self.root / METADATA):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Refusal("STORE_ERROR", f"The store {self.root} cannot be made: {error.strerror}.") from None
