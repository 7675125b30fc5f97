"""What an operator sets, and whom that lets the paper tools ask: `sources.yaml`, variables and `config.toml`.

`config.toml` is read when a setting is asked for that no variable holds, and again when it has changed. A file that
cannot be read counts as none at all, with one line to the operator: settings that are half of what was meant would
mislead.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from specloom.core import cache_folder, dataclass, load_table

DATA: Mapping[str, Mapping[str, Any]] = load_table(__file__, "sources.yaml")
STORE, TRASH_AGE, CACHE, LOG, FILES, NOTES, ASKING, HOSTS = (
    DATA["settings"][name] for name in ("store", "trash", "texts", "log", "files", "notes", "sources", "hosts")
)
"""What tools declare of their settings: those of the store, its trash, the texts of its PDFs, the log, local files,
notes, the sources, and hosts."""
RETENTION = 90
"""Days for which a log that was put away is kept, and what was removed from the store."""
LONGEST_RETENTION = 1_000_000
"""Days that stand for any more of them, which is longer than any file is old."""

_USED: Mapping[str, tuple[str, type]] = {
    "store.root": ("DOIGET_STORE_ROOT", str),
    "cache.root": ("DOIGET_CACHE_ROOT", str),
    "log.path": ("DOIGET_LOG_PATH", str),
    "log.retention_days": ("DOIGET_LOG_RETENTION_DAYS", int),
    "network.trust_academic_repos": ("DOIGET_TRUST_ACADEMIC_REPOS", bool),
    "network.trust_oa_registries": ("DOIGET_TRUST_OA_REGISTRIES", bool),
    "network.additional_hosts": ("DOIGET_ADDITIONAL_HOSTS", list),
}
_KINDS = {str: "text", int: "whole number", bool: "truth value"}
_HOST = re.compile(r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_log = logging.getLogger("specloom.domains.papers")


class FileSettings(NamedTuple):
    """What a file says, by the variable that it stands for, and its time and size; None where there is none."""

    values: Mapping[str, Any]
    stamp: tuple[int, int] | None


_READ: dict[Path, FileSettings] = {}


def config_folder() -> Path:
    """The folder of the user's settings, which need not exist."""
    base = os.environ.get("XDG_CONFIG_HOME", "").strip() or (os.environ.get("APPDATA", "") if os.name == "nt" else "")
    return (Path(base) if base else Path.home() / ".config") / "doiget"


def setting(config: Mapping[str, Any], name: str) -> Any:
    """The value of a setting: what the environment says, else the file, else None."""
    value = config.get(name)
    return value if value is not None and not _is_unset(value) else current().values.get(name)


def store_root(config: Mapping[str, Any]) -> Path:
    """The folder of the store, absolute; what is blank or still a template counts as not set.

    Hosts start servers wherever they like, so without a setting it is in the home of the person and not where one
    stands.
    """
    return Path((setting(config, "DOIGET_STORE_ROOT") or "~/papers").strip()).expanduser().absolute()


def texts_folder(config: Mapping[str, Any]) -> Path:
    """The folder of the texts of stored PDFs, absolute; it may be deleted at any time."""
    named = str(setting(config, "DOIGET_CACHE_ROOT") or "").strip()
    return Path(named).expanduser().absolute() if named else Path(cache_folder(os.environ)) / "papers"


def texts_path(config: Mapping[str, Any]) -> Path:
    """The file of the texts of the PDFs of the store."""
    name = hashlib.sha256(os.fsencode(store_root(config))).hexdigest()[:16]
    return texts_folder(config) / f"texts-{name}.db"


def find_texts(config: Mapping[str, Any]) -> list[Path]:
    """The files of texts of stored PDFs that are there, of this store and of others before, with their journals."""
    folder = texts_folder(config)
    try:
        return sorted(path for path in folder.iterdir() if _TEXTS.fullmatch(path.name))
    except OSError:
        return []


_TEXTS = re.compile(r"texts-[0-9a-f]{16}\.db(?:-wal|-shm)?")


def named_roots(config: Mapping[str, Any]) -> list[str]:
    """The folders below which the operator says that local files may be read, absolute; none where that is left out."""
    text = str(setting(config, "DOIGET_FILE_ROOTS") or "")
    folders = [folder.strip() for folder in text.split(os.pathsep) if folder.strip()]
    return [str(Path(folder).expanduser().absolute()) for folder in folders]


def file_roots(config: Mapping[str, Any]) -> list[str]:
    """The folders below which local files may be read, absolute; the root of a file system only where it is named."""
    if folders := named_roots(config):
        return folders
    usual = (Path.home(), Path.cwd(), store_root(config))
    return list(dict.fromkeys(str(folder) for folder in usual if folder.parent != folder))


def notes_root(config: Mapping[str, Any]) -> Path | None:
    """The folder below which notes may be written, absolute; None where the operator names none."""
    text = str(setting(config, "SPECLOOM_VAULT") or "").strip()
    return Path(text).expanduser().absolute() if text else None


def log_path(config: Mapping[str, Any]) -> Path:
    """The file of the provenance log, absolute."""
    path = setting(config, "DOIGET_LOG_PATH")
    return Path(path.strip()).expanduser().absolute() if path else config_folder() / "access.jsonl"


def trash_retention(config: Mapping[str, Any]) -> int:
    """The days for which what was removed from the store lies in its trash; 0 keeps all."""
    days = setting(config, "DOIGET_TRASH_DAYS")
    return RETENTION if days is None else min(max(0, int(days)), LONGEST_RETENTION)


def log_retention(config: Mapping[str, Any]) -> int:
    """The days for which logs that were put away are kept; 0 keeps all."""
    days = setting(config, "DOIGET_LOG_RETENTION_DAYS")
    return RETENTION if days is None else min(max(0, int(days)), LONGEST_RETENTION)


def current() -> FileSettings:
    """What the file says now."""
    path, stamp = config_folder() / "config.toml", None
    with suppress(OSError):
        about = path.stat()
        stamp = (about.st_mtime_ns, about.st_size)
    settings = _READ.get(path)
    if settings is None or settings.stamp != stamp:
        values, warnings = _read(path) if stamp else ({}, [])
        settings = _READ[path] = FileSettings(values, stamp)
        for warning in warnings:
            _log.warning("%s: %s", path, warning)
    return settings


def _read(path: Path) -> tuple[dict[str, Any], list[str]]:
    """The settings of a file, and warnings; none of them, and one warning, where it is not as it should be."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        return {}, [f"the file counts as empty because it cannot be read: {error}"]
    values: dict[str, Any] = {}
    warnings = [f"{table} is not known" for table, keys in document.items() if not isinstance(keys, Mapping)]
    tables = {table: keys for table, keys in document.items() if isinstance(keys, Mapping)}
    for table, key, value in ((table, key, value) for table, keys in tables.items() for key, value in keys.items()):
        variable, kind = _USED.get(f"{table}.{key}", ("", str))
        if not variable:
            warnings.append(f"[{table}] {key} is not read here; what else may be set is a variable")
        elif problem := _find_problem(value, kind):
            return {}, [f"the file counts as empty because [{table}] {key} {problem}"]
        elif not _is_unset(value):
            values[variable] = tuple(one["host"].lower() for one in value) if kind is list else value
    return values, warnings


def _find_problem(value: Any, kind: type) -> str:
    if kind is list:
        return "" if isinstance(value, list) and all(map(_is_host, value)) else "is no list of tables with a host each"
    # In Python a truth value is a whole number as well.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        return f"is no {_KINDS[kind]}"
    return "is below 0" if isinstance(value, int) and value < 0 else ""


def _is_host(table: Any) -> bool:
    if not isinstance(table, Mapping) or not set(table) <= {"host", "note"}:
        return False
    host = str(table.get("host", "")).lower()
    return all(isinstance(text, str) for text in table.values()) and _HOST.fullmatch(host) is not None


def _is_unset(value: Any) -> bool:
    """Whether a text is blank or still a template."""
    return isinstance(value, str) and (not value.strip() or "${" in value)


# --- whom to ask ------------------------------------------------------------------------------------------------------

# An operator has an agreement with a publisher on text mining and a key from it, and sets both; one without the other
# grants nothing. Each publisher is asked about its own DOIs alone.


@dataclass(frozen=True, slots=True)
class PaperSource:
    """A source as answers and the log call it, with the provider and the operation behind it."""

    name: str
    provider: str
    operation: str = "work"
    switch: str = ""
    """The variable without which it is not asked."""
    prefixes: tuple[str, ...] = ()
    """How the DOIs of a publisher begin; none for a source that knows those of everybody."""
    documents: str = ""
    """The address of a publisher's document before its DOI; empty where only records are given."""

    @property
    def agreement(self) -> str:
        """The variable that is 1 where the operator has agreed with a publisher."""
        return f"DOIGET_AGREE_{self.provider.upper()}"

    @property
    def key(self) -> str:
        """The variable of the key that a publisher gave."""
        return f"DOIGET_KEY_{self.provider.upper().removeprefix('TDM_')}"

    def missing(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """The variables that are still to be set before it may be asked; none when it is granted."""
        if not self.prefixes:
            return (self.switch,) if self.switch and config.get(self.switch) is None else ()
        agreed = str(config.get(self.agreement) or "").strip() == "1"
        return (*(() if agreed else (self.agreement,)), *(() if config.get(self.key) else (self.key,)))

    def has(self, doi: str) -> bool:
        """Whether a DOI is one that it may know."""
        return not self.prefixes or doi.partition("/")[0] in self.prefixes

    def url_of(self, doi: str) -> str:
        """Where the publisher's document of a DOI is."""
        return self.documents + quote(doi, safe="/")


SOURCES = tuple(
    PaperSource(name, **{**fields, "prefixes": tuple(fields.get("prefixes", ()))})
    for name, fields in DATA["sources"].items()
)
"""Everybody who is asked for a record, in their order."""
PUBLISHERS = tuple(source for source in SOURCES if source.prefixes)
"""In the order in which they are told. One publisher has a DOI at most."""
INDEXES = tuple(source for source in SOURCES if source.switch)
DISCOVERY = next(source for source in INDEXES if source.name == DATA["discovery"]["source"])
"""The source of works by words and of citations."""
DISCOVERY_PROVIDER: str = DATA["discovery"]["provider"]
CANDIDATES_SOURCE: str = DATA["candidates"]["source"]
"""The source, and the provider, of works that a citation in plain words may mean."""


def publisher_of(doi: str) -> PaperSource | None:
    """The publisher whose DOI this is, among those that are known here."""
    return next((publisher for publisher in PUBLISHERS if publisher.has(doi)), None)
