"""Where things are: the folder of the store and the file of the log, from settings, environment and defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def store_root(config: Mapping[str, Any]) -> Path:
    """The folder of the store, absolute; what is blank or still a template counts as not set."""
    said = _said(config, "DOIGET_STORE_ROOT")
    return Path(said).expanduser().absolute() if said else Path("papers").absolute()


def log_path(config: Mapping[str, Any]) -> Path:
    """The file of the log, absolute."""
    said = _said(config, "DOIGET_LOG_PATH")
    if said:
        return Path(said).expanduser().absolute()
    base = os.environ.get("XDG_CONFIG_HOME", "").strip() or (os.environ.get("APPDATA", "") if os.name == "nt" else "")
    return (Path(base) if base else Path.home() / ".config") / "doiget" / "access.jsonl"


def _said(config: Mapping[str, Any], name: str) -> str:
    text = str(config.get(name) or "").strip()
    return "" if "${" in text else text
