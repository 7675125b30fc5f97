"""The settings of `config.toml`: each stands for a variable, which goes before it where both are set.

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
from types import MappingProxyType
from typing import Any

Stamp = tuple[int, int]

_USED: Mapping[tuple[str, str], tuple[str, type]] = MappingProxyType(
    {
        ("store", "root"): ("DOIGET_STORE_ROOT", str),
        ("log", "path"): ("DOIGET_LOG_PATH", str),
        ("log", "retention_days"): ("DOIGET_LOG_RETENTION_DAYS", int),
        ("network", "trust_academic_repos"): ("DOIGET_TRUST_ACADEMIC_REPOS", bool),
        ("network", "trust_oa_registries"): ("DOIGET_TRUST_OA_REGISTRIES", bool),
        ("network", "additional_hosts"): ("DOIGET_ADDITIONAL_HOSTS", list),
    }
)
_FOREIGN: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "cache": frozenset({"root"}),
        "network": frozenset(
            {
                *("user_agent", "unpaywall_email", "contact_email"),
                *("connect_timeout_sec", "read_timeout_sec", "total_timeout_sec"),
            }
        ),
        "output": frozenset({"mode", "color", "progress", "emoji"}),
        "verify": frozenset({"on_missing_id", "strict"}),
        "cite": frozenset({"key_template", "file_field"}),
    }
)
"""What the format has beside that and this program does not read."""
_IGNORED = frozenset({("network", "unpaywall_email"), ("network", "contact_email")})
"""What somebody who wrote it expects to count, so that he is told that it does not."""

_HOST = re.compile(r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_log = logging.getLogger("specloom.domains.papers")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a file says, by the variable that it stands for, and what it was when it was read."""

    values: Mapping[str, Any] = field(default_factory=dict)
    stamp: Stamp | None = None
    """Time and size of the file; None where there is none."""
    warnings: tuple[str, ...] = ()


_READ: dict[Path, Settings] = {}


def config_folder() -> Path:
    """The folder of the user's settings, which need not exist."""
    base = os.environ.get("XDG_CONFIG_HOME", "").strip() or (os.environ.get("APPDATA", "") if os.name == "nt" else "")
    return (Path(base) if base else Path.home() / ".config") / "doiget"


def setting(config: Mapping[str, Any], name: str) -> Any:
    """The value of a setting: what the environment says, else the file, else None."""
    value = config.get(name)
    if value is not None and not _is_unset(value):
        return value
    return current().values.get(name)


def current() -> Settings:
    """What the file says now."""
    path = config_folder() / "config.toml"
    stamp = _find_stamp(path)
    known = _READ.get(path)
    if known is None or known.stamp != stamp:
        known = _READ[path] = read(path, stamp)
        for warning in known.warnings:
            _log.warning("%s: %s", path, warning)
    return known


def read(path: Path, stamp: Stamp | None) -> Settings:
    """The settings of a file; none of them, and a warning, where it is not as it should be."""
    if stamp is None:
        return Settings()
    try:
        said = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        return Settings({}, stamp, (f"the file counts as empty because it cannot be read: {error}",))
    values: dict[str, Any] = {}
    warnings: list[str] = []
    for table, keys in said.items():
        if not isinstance(keys, Mapping):
            warnings.append(f"{table} is not known")
            continue
        for key, value in keys.items():
            used = _USED.get((table, key))
            if used is None:
                warnings += _passed_over(table, key)
                continue
            problem = _find_problem(value, used[1])
            if problem:
                return Settings({}, stamp, (f"the file counts as empty because [{table}] {key} {problem}",))
            if not _is_unset(value):
                values[used[0]] = tuple(one["host"].lower() for one in value) if used[1] is list else value
    return Settings(values, stamp, tuple(warnings))


def _find_stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _passed_over(table: str, key: str) -> list[str]:
    if table == "tdm":
        return [f"[tdm.{key}] is not read; keys and agreements come from DOIGET_KEY_… and DOIGET_AGREE_TDM_…"]
    if (table, key) in _IGNORED:
        return [f"[{table}] {key} is not read; UNPAYWALL_EMAIL and CROSSREF_EMAIL are, as variables"]
    return [] if key in _FOREIGN.get(table, ()) else [f"[{table}] {key} is not known"]


def _find_problem(value: Any, kind: type) -> str:
    if kind is list:
        return "" if isinstance(value, list) and all(map(_is_host, value)) else "is no list of tables with a host each"
    # In Python a truth value is a whole number as well.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        return f"is no {({str: 'text', int: 'whole number', bool: 'truth value'})[kind]}"
    return "is below 0" if isinstance(value, int) and value < 0 else ""


def _is_host(one: Any) -> bool:
    return (
        isinstance(one, Mapping)
        and set(one) <= {"host", "note"}
        and all(isinstance(text, str) for text in one.values())
        and _HOST.fullmatch(str(one.get("host", "")).lower()) is not None
    )


def _is_unset(value: Any) -> bool:
    """Whether a text is blank or still a template."""
    return isinstance(value, str) and (not value.strip() or "${" in value)


# --- Where things are: the folder of the store and the file of the log, from variables, `config.toml` and
# defaults -------------------------------------------------------------------------------------------------------------


RETENTION = 90
"""Days for which a log that was put away is kept."""


def store_root(config: Mapping[str, Any]) -> Path:
    """The folder of the store, absolute; what is blank or still a template counts as not set."""
    said = setting(config, "DOIGET_STORE_ROOT")
    return Path(said.strip()).expanduser().absolute() if said else Path("papers").absolute()


def log_path(config: Mapping[str, Any]) -> Path:
    """The file of the log, absolute."""
    said = setting(config, "DOIGET_LOG_PATH")
    return Path(said.strip()).expanduser().absolute() if said else config_folder() / "access.jsonl"


def log_retention(config: Mapping[str, Any]) -> int:
    """The days for which logs that were put away are kept; 0 keeps all."""
    said = setting(config, "DOIGET_LOG_RETENTION_DAYS")
    return RETENTION if said is None else max(0, int(said))
