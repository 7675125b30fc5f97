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
import contextlib
import logging
import math
import os
import re
import stat
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path, PurePosixPath
from typing import Any

from .entries import TABLE, authors_of, check_version, is_newer, merge, own_of, to_instant
from .errors import Refusal
from .identifiers import PaperId, check_key, key_of
from .locks import Sleep, held, write_whole

# --- Writes metadata as TOML in one fixed layout, so that two writers of one entry give the same bytes ----------------


_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}

INLINE = frozenset({"repaired_fields"})
"""Tables that stand inside another table, on one line."""


def write_toml(entry: Mapping[str, Any]) -> str:
    """The entry with `schema_version` first, then keys in alphabetical order, then tables, each after an empty line.

    STORE_ERROR for a table inside a table, which this layout has no place for: nothing is dropped silently.
    """
    plain = {key: value for key, value in entry.items() if not isinstance(value, Mapping)}
    tables = {key: value for key, value in entry.items() if isinstance(value, Mapping)}
    order = [*(["schema_version"] if "schema_version" in plain else []), *sorted(set(plain) - {"schema_version"})]
    lines = [f"{_key(key)} = {_value(plain[key], key)}" for key in order]
    for name in sorted(tables):
        lines += ["", f"[{_key(name)}]"]
        for key in sorted(tables[name]):
            value = tables[name][key]
            if isinstance(value, Mapping) and key not in INLINE:
                raise Refusal("STORE_ERROR", f"The entry cannot be written: [{name}.{key}] is a table inside a table.")
            lines.append(f"{_key(key)} = {_value(value, key)}")
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any, key: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value) if "\n" not in value else _lines(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ("nan" if math.isnan(value) else "inf" if value > 0 else "-inf")
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list):
        return "[" + ", ".join(_text(one) if isinstance(one, str) else _value(one, key) for one in value) + "]"
    if isinstance(value, Mapping) and key in INLINE:
        return "{ " + ", ".join(f"{_key(name)} = {_value(value[name], name)}" for name in sorted(value)) + " }"
    raise Refusal("STORE_ERROR", f"The entry cannot be written: {key} is a {type(value).__name__} inside a list.")


def _text(value: str) -> str:
    return f'"{"".join(_escaped(one) for one in value)}"'


def _lines(value: str) -> str:
    body = "".join(one if one == "\n" else _escaped(one) for one in value)
    return f'"""\n{body}"""'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return f"\\u{ord(character):04X}" if character < " " or character == "\x7f" else character


METADATA = ".metadata"
LARGEST = 10_000_000
"""Bytes of a metadata file that is read."""

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


_log = logging.getLogger("specloom.domains.papers")
_TOLD: set[Path] = set()
"""The entries of a newer schema that the operator was told of."""

_SEEN: dict[Path, dict[str, tuple[tuple[int, int, int], Summary | None]]] = {}
"""Per store the entries as they were last read, each with number, time and size of its file."""


class PaperStore:
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

    def find(self, ref: PaperId) -> dict[str, Any] | None:
        """The entry of a paper, or None; STORE_ERROR when its file is broken or belongs to another paper.

        One that a newer program wrote is read all the same, and the operator is told once.
        """
        path = self.metadata_path(key_of(ref))
        entry = self._of(ref, self.read(key_of(ref)))
        if entry is not None and is_newer(entry) and path not in _TOLD:
            _TOLD.add(path)
            _log.warning("%s was written by a newer program (schema %s)", path, entry["schema_version"])
        return entry

    def read(self, key: str) -> dict[str, Any] | None:
        """The metadata under a key, or None when there are none."""
        path = self.metadata_path(key)
        try:
            about = path.stat()
            # A pipe or a device would be read without an end.
            if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
                raise Refusal("STORE_ERROR", f"{path.name} is no plain file of {LARGEST} bytes or less.")
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Refusal("STORE_ERROR", f"{path.name} cannot be read: {error.strerror}.") from None
        try:
            return tomllib.loads(data.decode())
        except (ValueError, RecursionError) as error:
            raise Refusal("STORE_ERROR", f"{path.name} is no valid TOML ({error}); repair or remove it.") from None

    def stored_pdf(self, entry: Mapping[str, Any]) -> Path | None:
        """The PDF that an entry names, whether or not it is there; None where it names none inside the store."""
        said = entry.get("pdf_path")
        if not isinstance(said, str) or not said or "\\" in said or "\0" in said:
            return None
        parts = PurePosixPath(said)
        return None if parts.is_absolute() or ".." in parts.parts else self.root / parts

    def has_pdf(self, entry: Mapping[str, Any]) -> bool:
        """Whether the PDF that an entry names is there; a name that no file can have is none."""
        path = self.stored_pdf(entry)
        with contextlib.suppress(OSError):
            return path is not None and path.is_file()
        return False

    async def commit(
        self, ref: PaperId, entry: Mapping[str, Any], pdf: bytes | None = None, *, sleep: Sleep = asyncio.sleep
    ) -> tuple[dict[str, Any], bool]:
        """Write an entry under its lock: what is then stored, and whether this call put the PDF there.

        A PDF that is there is never replaced, nor is what is known of it; the record around it may still be filled.
        STORE_ERROR, LOCK_TIMEOUT or SCHEMA_TOO_NEW, and then nothing is written.
        """
        key = key_of(ref)
        self._make_folders()
        async with held(self.metadata_path(key).with_name(f"{key}.toml.lock"), sleep=sleep):
            stored = self.find(ref)
            merged = merge(stored, entry)
            if stored is not None and pdf is not None and self.has_pdf(stored):
                more = {name: value for name, value in own_of(merged).items() if name != "size_bytes"}
                pdf, merged[TABLE] = None, {**more, **own_of(stored)}
            path = self.pdf_path(key)
            wrote = pdf is not None and not path.is_file()
            if pdf is not None:
                # What is known of a PDF that is gone is not so of this one.
                own = {name: value for name, value in own_of(merged).items() if name != "origin"}
                size = len(pdf) if wrote else path.stat().st_size
                merged |= {"pdf_path": path.name, TABLE: {**own, "size_bytes": size}}
            data = _encoded(key, merged)
            try:
                if pdf is not None and wrote:
                    await asyncio.to_thread(write_whole, path, pdf)
                write_whole(self.metadata_path(key), data)
            except OSError as error:
                raise Refusal("STORE_ERROR", f"The entry {key} cannot be written: {error.strerror}.") from None
            return merged, wrote

    async def change(self, ref: PaperId, alter: Alter, *, sleep: Sleep = asyncio.sleep) -> dict[str, Any]:
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
            data = _encoded(key, {**stored, TABLE: table})
            try:
                write_whole(self.metadata_path(key), data)
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
                about = file.stat()
            except OSError:
                continue
            stamp = (about.st_ino, about.st_mtime_ns, about.st_size)
            kept = before.get(file.name)
            now[file.name] = kept if kept is not None and kept[0] == stamp else (stamp, self._summary(file.name[:-5]))
        _SEEN[folder] = now
        return [summary for _, summary in now.values() if summary is not None]

    def is_writable(self) -> bool:
        """Whether the nearest folder that exists could take the store; makes nothing."""
        for folder in (self.root, *self.root.parents):
            with contextlib.suppress(OSError):  # what may not be looked at is no folder of ours
                if folder.exists():
                    return folder.is_dir() and os.access(folder, os.W_OK)
        return False

    def check_writable(self) -> None:
        """STORE_ERROR where nothing could be written, so that nobody is asked for what cannot be kept."""
        if not self.is_writable():
            raise Refusal("STORE_ERROR", f"The store {self.root} cannot be written; see DOIGET_STORE_ROOT.")

    def _summary(self, key: str) -> Summary | None:
        try:
            entry = self.read(key)
        except Refusal:
            return None
        if entry is None or not isinstance(entry.get("title"), str):
            return None
        names, year = " ".join(authors_of(entry)), entry.get("year")
        # A line end keeps the fields apart, because no query has one.
        words = "\n".join((entry["title"], names, str(entry.get("venue", "")), str(entry.get("publisher", ""))))
        return Summary(
            key,
            entry["title"],
            year if isinstance(year, int) else None,
            to_instant(own_of(entry).get("fetched_at")),
            words.casefold(),
        )

    def _of(self, ref: PaperId, entry: dict[str, Any] | None) -> dict[str, Any] | None:
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


def _encoded(key: str, entry: Mapping[str, Any]) -> bytes:
    """The bytes of a metadata file; STORE_ERROR for more than would be read again."""
    data = write_toml(entry).encode()
    if len(data) > LARGEST:
        raise Refusal("STORE_ERROR", f"The entry {key} would have {len(data)} bytes, and {LARGEST} are kept at most.")
    return data
