"""Where things are: the folder of the store and the file of the log, from variables, `config.toml` and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .configfile import config_folder, setting

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
