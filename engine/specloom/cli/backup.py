"""The commands backup and restore, over the folder of what is remembered."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from specloom.core import KEY_VARIABLE, from_epoch, parse_json, state_folder

from .common import CommandError, make_executor, own_places, say, tell
from .exits import PROBLEMS

ERASURE = "data.erasure"


def backup(options: Namespace) -> int:
    """Write everything that is remembered to one file, and say what is not in it."""
    from specloom import __version__
    from specloom.storage import BackupError, make_backup

    folder = Path(state_folder(os.environ))
    try:
        made = make_backup(folder, options.file, __version__, with_key=options.with_key)
    except BackupError as error:
        raise CommandError(str(error), PROBLEMS) from None
    except OSError as error:
        raise CommandError(
            f"{error.filename or options.file} cannot be read or written: {error.strerror}", PROBLEMS
        ) from None
    say(f"{options.file}: {len(made.files)} files of {folder}, {made.size:,} bytes")
    if made.has_key:
        tell("specloom: the key is in it, so whoever has the file can read everything in it; keep it as you keep keys")
    else:
        key = KEY_VARIABLE if os.environ.get(KEY_VARIABLE, "").strip() else folder / "cache.key"
        tell(f"specloom: without the key nobody can read it, you included, and it is not in it: keep a copy of {key}")
        tell("  apart from it, or make a backup that has the key: --with-key")
    for about, where in _elsewhere(folder):
        tell(f"specloom: {about} is not in it: {where}")
    return 0


def restore(options: Namespace) -> int:
    """Put a backup in the place of what is remembered, and say what was erased since it was made."""
    from specloom.storage import BackupError, restore_backup

    if not Path(options.file).is_file():
        raise CommandError(f"there is no file {options.file}")
    folder = Path(state_folder(os.environ))
    erasures = list(_list_erasures(folder))
    try:
        restored, aside = restore_backup(options.file, folder, os.environ, replaces=options.replace)
    except BackupError as error:
        raise CommandError(str(error), PROBLEMS) from None
    except OSError as error:
        raise CommandError(
            f"{error.filename or folder} cannot be read or written: {error.strerror}", PROBLEMS
        ) from None
    when = (from_epoch(restored.made) or "")[:19].replace("T", " ")
    say(f"{folder}: {len(restored.files)} files as they were on {when} UTC, each held against its digest")
    if aside:
        tell(f"specloom: what was there before is in {aside}; remove it when you are sure")
    again = [who for at, who in erasures if at > restored.made]
    if again:
        tell("specloom: this was erased after the backup was made and is back now; erase it again:")
        for who in dict.fromkeys(again):
            tell(f"  specloom data erase {who} --yes")
    return 0


def _list_erasures(folder: Path) -> Iterator[tuple[float, str]]:
    """When somebody's data was erased here by a person, and the words by which it is done again."""
    import shlex

    for path in sorted(folder.glob("audit*.jsonl")):
        for line in path.read_bytes().splitlines():
            if ERASURE.encode() not in line:
                continue
            row = parse_json(line.decode(errors="replace"))
            if isinstance(row, Mapping) and row.get("event_type") == ERASURE:
                words = ["--tenant", str(row.get("tenant_id", "")), *_whose(row)]
                yield float(row.get("at", 0)), shlex.join(words)


def _whose(row: Mapping[str, Any]) -> list[str]:
    user = str(row.get("user_id", ""))
    return ["--user", user] if user else ["--whole-tenant"]


def _elsewhere(folder: Path) -> Iterator[tuple[str, str]]:
    """What is kept on this machine outside the folder, and where."""
    from specloom.core import config_folder
    from specloom.storage import audit_path

    log = audit_path(folder, os.environ)
    if log is not None and folder not in log.parents and log.exists():
        yield "the audit log", str(log)
    executor, _ = make_executor(os.environ)
    for about, place in own_places(os.environ, executor.model):
        path = place.function(os.environ)
        if path.exists() and folder not in path.parents:
            yield f"the {about}", str(path)
    own = Path(config_folder(os.environ))
    if own.is_dir():
        yield "the folder of your own specs", str(own)
    if os.environ.get("SPECLOOM_STATE", "").strip().lower() == "redis":
        yield "what servers over HTTP remember", "on the server of SPECLOOM_STATE_REDIS_URL"
