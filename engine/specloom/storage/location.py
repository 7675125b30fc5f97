"""Where state is kept on each system: not with the cache, which may be deleted at any time."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from specloom.core import NAME
from specloom.plugins import CollectionSpec

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


# --- The bounds of a collection as an operator sets them by environment variables -------------------------------------


_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS: Mapping[str, float] = MappingProxyType({"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0})
_LONGEST = 100 * 365 * 86_400.0


def configure(spec: CollectionSpec, environ: Mapping[str, str]) -> CollectionSpec:
    """The collection with what its variables say; a ValueError says what to write instead."""
    for field, name in spec.variables:
        text = environ.get(name, "").strip()
        if text and field == "lifetime":
            spec = replace(spec, lifetime=parse_duration(name, text))
        elif text:
            if not text.isdecimal() or not 0 < int(text) < 1_000_000_000:
                raise ValueError(f"{name} is {text!r}; write a whole number above 0")
            spec = replace(spec, **{field: int(text)})  # type: ignore[arg-type]
    return spec


def parse_duration(name: str, text: str) -> float:
    """Seconds of a text such as `90m`, `1h30m` or `30d`; a bare number is seconds."""
    parts = _PART.findall(text)
    if re.fullmatch(r"\d+(?:\.\d+)?", text):
        seconds = float(text)
    elif parts and "".join(number + unit for number, unit in parts) == text:
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    else:
        seconds = 0.0
    if not 0 < seconds <= _LONGEST:
        raise ValueError(f"{name} is {text!r}; write a duration such as 4h, 90m or 30d")
    return seconds
