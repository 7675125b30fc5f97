"""A backup is of one moment although others write, and comes back whole or not at all."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import stat
import threading
import zipfile
from pathlib import Path

import pytest

from specloom.plugins.collections import CollectionSpec, join_owner
from specloom.storage.audit_log import AuditRecord, audit_key, open_audit, verify
from specloom.storage.backup import BackupError, make_backup, read_backup, restore_backup
from specloom.storage.keys import load_master_keys
from specloom.storage.store import open_store

NOTES = CollectionSpec("notes")
ANN = join_owner("acme", "ann")


def put(folder: Path, key: str, environ: dict[str, str] | None = None) -> None:
    async def work() -> None:
        store = open_store(folder, environ or {}, [NOTES])
        await store.drawer("notes", ANN).put(key, {"text": f"note {key}"})
        await store.aclose()

    asyncio.run(work())


def notes(folder: Path, environ: dict[str, str] | None = None) -> list[str]:
    async def work() -> list[str]:
        store = open_store(folder, environ or {}, [NOTES])
        found = await store.export(ANN)
        await store.aclose()
        return [item["value"]["text"] for item in found["notes"]]

    return asyncio.run(work())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A state with two notes, an audit log, and what is none of it: locks, a journal, what only runs."""
    folder = tmp_path / "state"
    put(folder, "1")
    put(folder, "2")
    log = open_audit(folder, {}, warn=print)
    assert log is not None
    log.record(AuditRecord("tool_call", "acme", "ann"))
    log.close()
    (folder / "run").mkdir()
    (folder / "run" / "counters").write_bytes(b"x")
    (folder / "keys.json").write_text("{}", encoding="utf-8")
    return folder


def test_what_is_backed_up_is_what_comes_back(folder: Path, tmp_path: Path) -> None:
    target, other = tmp_path / "b.zip", tmp_path / "elsewhere" / "state"

    made = make_backup(folder, target, "1.2", with_key=True, clock=5.0)
    restored, aside = restore_backup(target, other, {}, replaces=False)

    assert (made.made, made.version, made.has_key, aside) == (5.0, "1.2", True, None)
    assert restored == read_backup(target)
    assert set(made.files) == {"state.db", "cache.key", "audit.jsonl", "audit.jsonl.seal", "keys.json"}
    assert notes(other) == ["note 1", "note 2"]
    verdict = verify(other / "audit.jsonl", [audit_key(key) for key in load_master_keys(other, {}).all])
    assert (verdict.rows, verdict.problem) == (1, "")
    if os.name != "nt":
        modes = {stat.S_IMODE(one.stat().st_mode) for one in (target, other / "state.db", other / "cache.key")}
        assert modes == {0o600}
        assert stat.S_IMODE(other.stat().st_mode) == 0o700


def test_the_key_is_left_out_and_the_backup_opens_where_it_is(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "b.zip"
    make_backup(folder, target, "1", with_key=False)
    put(folder, "3")

    with pytest.raises(BackupError, match="without its key"):
        restore_backup(target, tmp_path / "new", {}, replaces=False)
    assert not (tmp_path / "new").exists()

    _, aside = restore_backup(target, folder, {}, replaces=True)

    assert "cache.key" not in zipfile.ZipFile(target).namelist()
    assert notes(folder) == ["note 1", "note 2"]
    assert aside is not None
    assert notes(aside) == ["note 1", "note 2", "note 3"]


def test_a_key_of_the_environment_opens_it_and_another_does_not(tmp_path: Path) -> None:
    environ, other = {"SPECLOOM_CACHE_KEY": "ab" * 32}, {"SPECLOOM_CACHE_KEY": "cd" * 32}
    put(tmp_path / "state", "1", environ)
    make_backup(tmp_path / "state", tmp_path / "b.zip", "1", with_key=False)

    with pytest.raises(BackupError, match="cannot be read with this key"):
        restore_backup(tmp_path / "b.zip", tmp_path / "new", other, replaces=False)
    restore_backup(tmp_path / "b.zip", tmp_path / "new", environ, replaces=False)

    assert notes(tmp_path / "new", environ) == ["note 1"]


def test_nothing_is_overwritten_unasked(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "b.zip"
    make_backup(folder, target, "1", with_key=True)
    before = target.read_bytes()
    put(folder, "3")

    with pytest.raises(BackupError, match="is not overwritten"):
        make_backup(folder, target, "1", with_key=True)
    with pytest.raises(BackupError, match="holds something already; --replace"):
        restore_backup(target, folder, {}, replaces=False)

    assert target.read_bytes() == before
    assert len(notes(folder)) == 3
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_a_backup_is_of_one_moment_while_others_write(folder: Path, tmp_path: Path) -> None:
    """Two rows are always written together, so a copy that has one of them alone is of no moment."""
    pairs = sqlite3.connect(folder / "state.db", isolation_level=None, check_same_thread=False)
    pairs.execute("CREATE TABLE pairs (side TEXT, n INTEGER)")
    done = threading.Event()

    def write() -> None:
        number = 0
        while not done.is_set():
            number += 1
            pairs.execute("BEGIN IMMEDIATE")
            pairs.execute("INSERT INTO pairs VALUES ('left', ?)", (number,))
            pairs.execute("INSERT INTO pairs VALUES ('right', ?)", (number,))
            pairs.execute("COMMIT")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            make_backup(folder, tmp_path / f"{number}.zip", "1", with_key=True)
    finally:
        done.set()
        writer.join()
        pairs.close()

    for number in range(5):
        restore_backup(tmp_path / f"{number}.zip", tmp_path / str(number), {}, replaces=False)
        with sqlite3.connect(tmp_path / str(number) / "state.db") as copy:
            counts = dict(copy.execute("SELECT side, count(*) FROM pairs GROUP BY side"))
        copy.close()
        assert counts.get("left") == counts.get("right")


def test_a_server_that_uses_the_folder_has_to_be_stopped_first(folder: Path, tmp_path: Path) -> None:
    make_backup(folder, tmp_path / "b.zip", "1", with_key=True)

    async def work() -> None:
        store = open_store(folder, {}, [NOTES])
        await store.drawer("notes", ANN).put("3", {"text": "x"})
        with pytest.raises(BackupError, match="a server is using"):
            restore_backup(tmp_path / "b.zip", folder, {}, replaces=True)
        await store.aclose()

    asyncio.run(work())

    assert len(notes(folder)) == 3
    restore_backup(tmp_path / "b.zip", folder, {}, replaces=True)
    assert len(notes(folder)) == 2


def change(source: Path, target: Path, changes: dict[str, bytes | None]) -> Path:
    """A backup in which some files are others."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in {*old.namelist(), *changes}:
            body = changes[name] if name in changes else old.read(name)
            if body is not None:
                new.writestr(name, body)
    return target


def manifest(source: Path, **changes: object) -> bytes:
    said = json.loads(zipfile.ZipFile(source).read("manifest.json"))
    return json.dumps({**said, **changes}).encode()


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "c:evil", "a\\evil", "./evil", ""])
def test_a_backup_that_would_write_elsewhere_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    source = tmp_path / "b.zip"
    make_backup(folder, source, "1", with_key=True)
    files = {name: {"bytes": 1, "sha256": "0" * 64, "mode": 0o600}}
    hostile = change(source, tmp_path / "h.zip", {"manifest.json": manifest(source, files=files)})

    with pytest.raises(BackupError, match="no backup of ours"):
        restore_backup(hostile, tmp_path / "new" / "state", {}, replaces=False)

    assert not (tmp_path / "evil").exists()
    assert not (tmp_path / "new" / "evil").exists()


def test_what_is_damaged_or_none_is_said_and_nothing_is_changed(folder: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "b.zip", tmp_path / "t.zip"
    make_backup(folder, source, "1", with_key=True)
    cases: list[tuple[Path, str]] = [
        (change(source, tmp_path / "1.zip", {"keys.json": b"[]"}), "keys.json is not what was put into it"),
        (change(source, tmp_path / "2.zip", {"keys.json": b"{} and a lot more"}), "keys.json is not what"),
        (change(source, tmp_path / "3.zip", {"keys.json": None}), "keys.json is not what"),
        (change(source, tmp_path / "4.zip", {"manifest.json": b"{"}), "what it says of itself"),
        (change(source, tmp_path / "5.zip", {"manifest.json": None}), "what it says of itself"),
        (change(source, tmp_path / "6.zip", {"manifest.json": manifest(source, format=9)}), "made by a newer version"),
        (tmp_path / "none.zip", "there is no file"),
    ]
    target.write_bytes(source.read_bytes()[:-200])
    cases.append((target, "is no backup, or a damaged one"))

    for path, says in cases:
        with pytest.raises(BackupError, match=says):
            restore_backup(path, folder, {}, replaces=True)
    assert len(notes(folder)) == 2
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith((".", "state."))] == []


def test_a_database_that_was_damaged_before_the_backup_is_not_put_in_its_place(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    make_backup(other, tmp_path / "b.zip", "1", with_key=True)
    body = zipfile.ZipFile(tmp_path / "b.zip").read("state.db")
    broken = b"not a database" + body[14:]
    import hashlib

    said = json.loads(zipfile.ZipFile(tmp_path / "b.zip").read("manifest.json"))
    said["files"]["state.db"]["sha256"] = hashlib.sha256(broken).hexdigest()
    changes = {"state.db": broken, "manifest.json": json.dumps(said).encode()}

    with pytest.raises(BackupError, match="cannot be opened"):
        restore_backup(change(tmp_path / "b.zip", tmp_path / "c.zip", changes), folder, {}, replaces=True)

    assert len(notes(folder)) == 2


def test_where_nothing_is_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    for place in (tmp_path / "none", tmp_path / "empty"):
        with pytest.raises(BackupError, match="nothing to back up"):
            make_backup(place, tmp_path / "b.zip", "1", with_key=True)
    assert not (tmp_path / "b.zip").exists()
