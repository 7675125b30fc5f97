"""Backups of the folder of the state: a consistent copy in one file, with digests by which a restore is verified."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

from specloom.core import KEY_FILE, dataclass, make_folder, open_private

from .backplane import RUN_FOLDER
from .files import STATE_FILE, FileLock, sync_folder
from .keys import load_master_keys
from .rows import LOCK_WAIT, prepare

FORMAT = 1
MANIFEST = "manifest.json"
MOST_MANIFEST = 16 * 1024 * 1024
"""Bytes that are read of a manifest, which anybody may have written."""
CHUNK = 1024 * 1024
_JOURNALS = tuple(STATE_FILE + end for end in ("-wal", "-shm", "-journal"))


class BackupError(ValueError):
    """A backup that cannot be made or restored: one sentence with what to do."""


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup says of itself."""

    made: float
    """When it was begun, in seconds since the epoch."""
    version: str
    has_key: bool
    files: Mapping[str, Mapping[str, Any]]
    """For each file its `bytes`, its `sha256` and its `mode`."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(one["bytes"] for one in self.files.values())


def make_backup(folder: Path, target: Path, version: str, *, with_key: bool, clock: float | None = None) -> Backup:
    """Write a backup of a folder, which servers may be using meanwhile, to a new file with mode 0600.

    The key that seals what is in it is left out unless it is asked for. BackupError where there is nothing, OSError
    where something cannot be read or written.
    """
    made = time.time() if clock is None else clock
    if not folder.is_dir():
        raise BackupError(f"there is nothing to back up: {folder} does not exist")
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    files: dict[str, dict[str, Any]] = {}
    try:
        with (
            os.fdopen(open_private(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL), "w+b") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed,
        ):
            for name, source, mode in _copies(folder, with_key=with_key):
                files[name] = {**_pack(packed, name, source), "mode": mode}
            backup = Backup(made, version, KEY_FILE in files, files)
            if not files:
                raise BackupError(f"there is nothing to back up in {folder}")
            about = {"format": FORMAT, "made": made, "version": version, "files": files}
            packed.writestr(MANIFEST, json.dumps(about, indent=1))
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        # Unlike a rename, a link does not take the place of a file that somebody made meanwhile.
        try:
            target.hardlink_to(draft)
        except FileExistsError:
            raise BackupError(f"{target} exists and is not overwritten; choose another name or remove it") from None
        except OSError:
            draft.replace(target)
        sync_folder(target.parent)
    finally:
        draft.unlink(missing_ok=True)
    return backup


def read_backup(path: Path) -> Backup:
    """What is in a backup, without looking at the contents; BackupError where it is none."""
    with _opened(path) as packed:
        return _read_manifest(packed, path)


def restore_backup(
    path: Path, folder: Path, environ: Mapping[str, str], *, replaces: bool
) -> tuple[Backup, Path | None]:
    """Put what is in a backup in the place of a folder, all of it or nothing; where the earlier folder is kept now.

    Every file is held against its digest, and the database is opened with the key that there is, before the folder is
    touched. BackupError says what is wrong, or that there is something already; OSError what cannot be written.
    """
    is_there = folder.is_dir() and any(one.is_file() and one.suffix != ".lock" for one in folder.iterdir())
    if is_there and not replaces:
        raise BackupError(f"{folder} holds something already; --replace puts it aside and the backup in its place")
    make_folder(folder.parent)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        with _opened(path) as packed:
            backup = _read_manifest(packed, path)
            for name, about in backup.files.items():
                _unpack(packed, name, about, draft, path)
        if KEY_FILE not in backup.files and (folder / KEY_FILE).is_file():
            shutil.copy2(folder / KEY_FILE, draft / KEY_FILE)
        _check_database(draft, environ)
        if is_there:
            _check_unused(folder)
        aside = _swap(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return backup, aside if is_there else None


# --- the files of a folder, each as it was at one moment --------------------------------------------------------------


def _copies(folder: Path, *, with_key: bool) -> Iterator[tuple[str, Path, int]]:
    """The name, the contents and the mode of each file; what is written to in several files is locked meanwhile."""
    left = {
        str(one.relative_to(folder).as_posix()): one
        for one in sorted(folder.rglob("*"))
        if one.is_file() and not one.is_symlink() and _is_kept(one.relative_to(folder))
    }
    if not with_key:
        left.pop(KEY_FILE, None)
    with tempfile.TemporaryDirectory(prefix=".backup.", dir=folder) as scratch:
        if STATE_FILE in left:
            source = left.pop(STATE_FILE)
            yield STATE_FILE, _copy_database(source, Path(scratch) / STATE_FILE), source.stat().st_mode & 0o777
        for lock in sorted(folder.rglob("*.lock")):
            # A log and what seals it, or a list and its earlier parts, are of one moment.
            stem = lock.relative_to(folder).with_suffix("").with_suffix("").as_posix() + "."
            with FileLock(lock):
                for name in [one for one in left if one.startswith(stem)]:
                    yield from _copy(name, left.pop(name))
        for name, path in left.items():
            yield from _copy(name, path)


def _is_kept(path: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.parts)
    return not (hidden or path.parts[0] == RUN_FOLDER or path.suffix in (".lock", ".tmp") or path.name in _JOURNALS)


def _copy(name: str, path: Path) -> Iterator[tuple[str, Path, int]]:
    # A file that is gone by now was none of what lasts.
    with contextlib.suppress(FileNotFoundError):
        yield name, path, path.stat().st_mode & 0o777


def _copy_database(source: Path, target: Path) -> Path:
    """A copy of a database as it is at one moment, whoever writes to it."""
    with (
        contextlib.closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True, timeout=LOCK_WAIT)) as reader,
        contextlib.closing(sqlite3.connect(target)) as writer,
    ):
        reader.backup(writer)
        writer.execute("PRAGMA journal_mode = DELETE")
    return target


def _pack(packed: zipfile.ZipFile, name: str, source: Path) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    with source.open("rb") as file, packed.open(name, "w", force_zip64=True) as entry:
        while part := file.read(CHUNK):
            entry.write(part)
            digest.update(part)
            size += len(part)
    return {"bytes": size, "sha256": digest.hexdigest()}


# --- a backup that somebody gives us ----------------------------------------------------------------------------------


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as packed:
            yield packed
    except FileNotFoundError:
        raise BackupError(f"there is no file {path}") from None
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise BackupError(f"{path} is no backup, or a damaged one: {error}") from None


def _read_manifest(packed: zipfile.ZipFile, path: Path) -> Backup:
    try:
        with packed.open(MANIFEST) as file:
            said = json.loads(file.read(MOST_MANIFEST))
        if said["format"] > FORMAT:
            raise BackupError(f"{path} was made by a newer version ({said['version']}); use that one")
        files = {
            str(name): {"bytes": int(one["bytes"]), "sha256": str(one["sha256"]), "mode": int(one["mode"]) & 0o700}
            for name, one in said["files"].items()
        }
        backup = Backup(float(said["made"]), str(said["version"]), KEY_FILE in files, files)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, BackupError):
            raise
        raise BackupError(f"{path} is no backup: what it says of itself cannot be read") from None
    for name in files:
        parts = PurePosixPath(name).parts
        if not name or name != "/".join(parts) or ".." in parts or name.startswith("/") or "\\" in name or ":" in name:
            raise BackupError(f"{path} is no backup of ours: it would write to {name!r}")
    return backup


def _unpack(packed: zipfile.ZipFile, name: str, about: Mapping[str, Any], folder: Path, path: Path) -> None:
    target = folder.joinpath(*PurePosixPath(name).parts)
    make_folder(target.parent)
    digest, left = hashlib.sha256(), about["bytes"]
    try:
        with (
            packed.open(name) as entry,
            os.fdopen(open_private(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file,
        ):
            left -= _pour(entry, file, digest, left)
            file.flush()
            os.fsync(file.fileno())
    except KeyError:
        left = -1
    if left or digest.hexdigest() != about["sha256"]:
        raise BackupError(f"{path} is damaged: {name} is not what was put into it; nothing was changed")
    if os.name != "nt":
        target.chmod(about["mode"] or 0o600)


def _pour(source: IO[bytes], target: IO[bytes], digest: Any, most: int) -> int:
    """Copy what a manifest announced and one byte more, which tells that there is more; how many bytes there were."""
    count = 0
    while part := source.read(min(CHUNK, most + 1 - count)):
        target.write(part)
        digest.update(part)
        count += len(part)
    return count


def _check_database(folder: Path, environ: Mapping[str, str]) -> None:
    """Nothing, or a BackupError where the database is damaged or sealed with a key that is not here."""
    if not (folder / STATE_FILE).is_file():
        return
    has_key = (folder / KEY_FILE).is_file()
    try:
        with contextlib.closing(sqlite3.connect(folder / STATE_FILE, isolation_level=None)) as connection:
            is_whole = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            if is_whole:
                prepare(connection, load_master_keys(folder, environ))
    except sqlite3.DatabaseError as error:
        raise BackupError(f"the database in the backup cannot be opened: {error}; nothing was changed") from None
    except ValueError as error:
        what = f"with this key: {error}" if has_key or environ.get("SPECLOOM_CACHE_KEY") else "without its key"
        raise BackupError(
            f"what is in the backup cannot be read {what}; set SPECLOOM_CACHE_KEY to the key that was used, or put "
            f"its {KEY_FILE} into the folder; nothing was changed"
        ) from None
    if not is_whole:
        raise BackupError("the database in the backup is damaged; nothing was changed")


def _check_unused(folder: Path) -> None:
    """Nothing, or a BackupError where a server has the database open: only one that is alone may leave the journal."""
    path = folder / STATE_FILE
    if not path.is_file():
        return
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError:
        raise BackupError(f"a server is using {folder}; stop it, and try again") from None
    except sqlite3.DatabaseError:
        return  # what is broken is what a restore is for


def _swap(draft: Path, folder: Path) -> Path:
    """Put one folder in the place of another at once; where the other one is now."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    aside = folder.with_name(f"{folder.name}.before-{stamp}")
    if folder.exists():
        folder.rename(aside)
    try:
        draft.rename(folder)
    except OSError:
        if aside.exists():
            aside.rename(folder)
        raise
    sync_folder(folder.parent)
    return aside
