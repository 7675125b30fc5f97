"""Where state is kept on each system: not with the cache, which may be deleted at any time."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from ..folders import NAME

FOLDER_VARIABLE = "SPECLOOM_STATE_DIR"


def state_folder(environ: Mapping[str, str]) -> Path:
    """`SPECLOOM_STATE_DIR`, else where the system keeps what programs remember (as the platformdirs library has it)."""
    chosen = environ.get(FOLDER_VARIABLE, "").strip()
    if chosen:
        return Path(chosen).expanduser()
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    if sys.platform == "win32":
        local = environ.get("LOCALAPPDATA")
        return (Path(local) if local else home / "AppData" / "Local") / NAME / "State"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / NAME / "State"
    said = environ.get("XDG_STATE_HOME", "")
    return (Path(said) if Path(said).is_absolute() else home / ".local" / "state") / NAME
