"""Settings of the paper tools: variables, `config.toml` for what none of them says, and where things are kept.

The file is read when a setting is asked for that no variable holds, and again when it has changed. A file that cannot
be read counts as none at all, with one line to the operator: settings that are half of what was meant would mislead.
"""

from __future__ import annotations

import logging
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .sources import PUBLISHERS

_USED: Mapping[str, tuple[str, type]] = {
    "store.root": ("DOIGET_STORE_ROOT", str),
    "log.path": ("DOIGET_LOG_PATH", str),
    "log.retention_days": ("DOIGET_LOG_RETENTION_DAYS", int),
    "network.trust_academic_repos": ("DOIGET_TRUST_ACADEMIC_REPOS", bool),
    "network.trust_oa_registries": ("DOIGET_TRUST_OA_REGISTRIES", bool),
    "network.additional_hosts": ("DOIGET_ADDITIONAL_HOSTS", list),
}
RETENTION = 90
"""Days for which a log that was put away is kept."""

_HOST = re.compile(r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_log = logging.getLogger("specloom.domains.papers")


@dataclass(frozen=True, slots=True)
class FileSettings:
    """What a file says, by the variable that it stands for, and what it was when it was read."""

    values: Mapping[str, Any] = field(default_factory=dict)
    stamp: tuple[int, int] | None = None
    """Time and size of the file; None where there is none."""
    warnings: tuple[str, ...] = ()


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
    """The folder of the store, absolute; what is blank or still a template counts as not set."""
    root = setting(config, "DOIGET_STORE_ROOT")
    return Path(root.strip()).expanduser().absolute() if root else Path("papers").absolute()


def log_path(config: Mapping[str, Any]) -> Path:
    """The file of the provenance log, absolute."""
    path = setting(config, "DOIGET_LOG_PATH")
    return Path(path.strip()).expanduser().absolute() if path else config_folder() / "access.jsonl"


def log_retention(config: Mapping[str, Any]) -> int:
    """The days for which logs that were put away are kept; 0 keeps all."""
    days = setting(config, "DOIGET_LOG_RETENTION_DAYS")
    return RETENTION if days is None else max(0, int(days))


def current() -> FileSettings:
    """What the file says now."""
    path = config_folder() / "config.toml"
    try:
        about = path.stat()
        stamp = (about.st_mtime_ns, about.st_size)
    except OSError:
        stamp = None
    settings = _READ.get(path)
    if settings is None or settings.stamp != stamp:
        settings = _READ[path] = read(path, stamp)
        for warning in settings.warnings:
            _log.warning("%s: %s", path, warning)
    return settings


def read(path: Path, stamp: tuple[int, int] | None) -> FileSettings:
    """The settings of a file; none of them, and a warning, where it is not as it should be."""
    if stamp is None:
        return FileSettings()
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        return FileSettings({}, stamp, (f"the file counts as empty because it cannot be read: {error}",))
    values: dict[str, Any] = {}
    warnings: list[str] = []
    for table, keys in document.items():
        if not isinstance(keys, Mapping):
            warnings.append(f"{table} is not known")
            continue
        for key, value in keys.items():
            variable, kind = _USED.get(f"{table}.{key}", ("", str))
            if not variable:
                warnings.append(f"[{table}] {key} is not read here; what else may be set is a variable")
            elif problem := _find_problem(value, kind):
                return FileSettings({}, stamp, (f"the file counts as empty because [{table}] {key} {problem}",))
            elif not _is_unset(value):
                values[variable] = tuple(one["host"].lower() for one in value) if kind is list else value
    return FileSettings(values, stamp, tuple(warnings))


def _find_problem(value: Any, kind: type) -> str:
    if kind is list:
        return "" if isinstance(value, list) and all(map(_is_host, value)) else "is no list of tables with a host each"
    # In Python a truth value is a whole number as well.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        return f"is no {({str: 'text', int: 'whole number', bool: 'truth value'})[kind]}"
    return "is below 0" if isinstance(value, int) and value < 0 else ""


def _is_host(table: Any) -> bool:
    if not isinstance(table, Mapping) or not set(table) <= {"host", "note"}:
        return False
    host = str(table.get("host", "")).lower()
    return all(isinstance(text, str) for text in table.values()) and _HOST.fullmatch(host) is not None


def _is_unset(value: Any) -> bool:
    """Whether a text is blank or still a template."""
    return isinstance(value, str) and (not value.strip() or "${" in value)


# --- what tools declare of them -----------------------------------------------------------------------------------


def _declare(description: str, kind: str = "text", **more: Any) -> dict[str, Any]:
    return {"type": kind, **more, "description": description}


STORE = {
    "DOIGET_STORE_ROOT": _declare(
        "The folder of the paper store; [store] root of config.toml or ./papers when left out."
    )
}
LOG = {
    "DOIGET_LOG_PATH": _declare(
        "The provenance log; [log] path of config.toml or access.jsonl beside it when left out."
    ),
    "DOIGET_LOG_RETENTION_DAYS": _declare(
        "Days for which a log that was put away is kept, 90 when left out; 0 keeps all.", "integer"
    ),
}
SOURCES = {
    "DOIGET_ENABLE_DATACITE": _declare("Set to anything: DataCite is asked for DOIs that Crossref does not have."),
    "DOIGET_ENABLE_OPENALEX": _declare(
        "Set to anything: OpenAlex may be asked for records, open copies and citations."
    ),
    "DOIGET_ENABLE_S2": _declare("Set to anything: Semantic Scholar is asked for DOIs that no registry has."),
    "DOIGET_ENABLE_DOAJ": _declare(
        "Set to anything: the Directory of Open Access Journals is asked for DOIs that no registry has."
    ),
    **{
        name: declaration
        for one in PUBLISHERS
        for name, declaration in (
            (one.agreement, _declare(f"1 when you agreed with {one.title} on text mining.")),
            (one.key, _declare(f"Your key for text mining from {one.title}.", secret=True)),
        )
    },
}
HOSTS = {
    "DOIGET_ADDITIONAL_HOSTS": _declare(
        "Further hosts of open copies, between commas: names, or *.name for those below."
    ),
    "DOIGET_BLOCKED_HOSTS": _declare("Hosts that nothing is fetched from, between commas, whatever allows them."),
    "DOIGET_TRUST_ACADEMIC_REPOS": _declare(
        "Whether open copies may come from the academic domains of fifteen countries.", "boolean"
    ),
    "DOIGET_TRUST_OA_REGISTRIES": _declare(
        "Whether open copies may come from Zenodo, OSF, HAL, SciELO and CORE.", "boolean"
    ),
}
