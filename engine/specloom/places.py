"""Where things are kept here, and whether they can be: the cache, the state, the audit log, and what packages keep."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from .audit import audit_path
from .findings import Finding
from .hooks import PLACES, load_hooks
from .state.place import FOLDER_VARIABLE, state_folder
from .vault import KEY_FILE, KEY_VARIABLE, load_key


def examine_places(environ: Mapping[str, str], cache: Path) -> list[Finding]:
    """Every place where something is kept under these variables; nothing is made or written to find out."""
    load_hooks()
    state = state_folder(environ)
    found = [*_cache(cache, environ), _place("state", state, "nothing can be remembered", FOLDER_VARIABLE)]
    log = audit_path(state, environ)
    if log is None:
        found.append(Finding("warning", "audit log", "switched off", "unset AUDIT_ENABLED to record calls"))
    else:
        found.append(_place("audit log", log, "calls are not audited", "AUDIT_OUTPUT_PATH", is_file=True))
    for about, place in sorted(PLACES.items()):
        found.append(_place(about, place.find(environ), place.otherwise, place.variable, is_file=place.is_file))
    return found


def _place(about: str, path: Path, otherwise: str, variable: str, *, is_file: bool = False) -> Finding:
    """How one place is; `otherwise` says what holds when it cannot be written, `variable` names another."""
    there = path
    while not there.exists() and there != there.parent:
        there = there.parent
    fits = there.is_file() if is_file and there == path else there.is_dir()
    if not fits or not os.access(there, os.W_OK):
        remedy = f"make it writable, or name another with {variable}"
        return Finding("warning", about, f"{there} cannot be written; {otherwise}", remedy)
    return Finding("ok", about, str(path) if there == path else f"{path}, made when it is needed")


def _cache(folder: Path, environ: Mapping[str, str]) -> list[Finding]:
    if environ.get("SPECLOOM_CACHE", "").strip().lower() in {"off", "0", "false", "no"}:
        return [Finding("warning", "cache", "switched off", "unset SPECLOOM_CACHE to keep answers")]
    found = [_place("cache", folder, "answers are kept in memory only", "SPECLOOM_CACHE_DIR")]
    if found[0].state != "ok":
        return found
    if environ.get(KEY_VARIABLE, "").strip():
        try:
            load_key(folder, environ)
        except ValueError as error:
            return [*found, Finding("warning", "cache key", str(error), "give 64 hex digits, or 32 bytes in base64")]
        return [*found, Finding("ok", "cache key", f"from {KEY_VARIABLE}")]
    key = folder / KEY_FILE
    if not key.exists():
        return [*found, Finding("ok", "cache key", f"{key}, made when it is needed")]
    mode = stat.S_IMODE(key.stat().st_mode)
    if os.name != "nt" and mode & 0o077:
        return [*found, Finding("warning", "cache key", f"{key} has mode {mode:03o}", f"chmod 600 {key}")]
    return [*found, Finding("ok", "cache key", f"{key}, mode {mode:03o}")]
