"""Locks between processes, and files that are there whole or not at all."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from specloom.storage.files import FileLock, append_whole, write_whole


def test_a_lock_in_other_hands_is_waited_for_and_then_told(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"

    with FileLock(path), pytest.raises(TimeoutError, match=r"x\.lock is locked by another process"):
        FileLock(path, wait=0.003, poll=0.001).__enter__()

    with FileLock(path, wait=0.0):
        pass


def test_the_loop_goes_on_while_a_lock_is_waited_for(tmp_path: Path) -> None:
    path, steps = tmp_path / "x.lock", list[str]()

    async def wait() -> None:
        async with FileLock(path, wait=5.0, poll=0.001):
            steps.append("locked")

    async def run() -> None:
        with FileLock(path):
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0)
            steps.append("gone on")
        await waiting

    asyncio.run(run())

    assert steps == ["gone on", "locked"]


def test_a_call_that_is_cancelled_while_it_waits_keeps_nothing_open(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"

    async def run() -> None:
        async def wait() -> None:
            async with FileLock(path, poll=60.0):
                pass

        with FileLock(path):
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    asyncio.run(run())

    assert before == (len(os.listdir("/proc/self/fd")) if before else 0)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_no_lock_is_made_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "x.lock").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OSError, match="symbolic link"):
        FileLock(tmp_path / "x.lock").__enter__()

    assert not (tmp_path / "elsewhere").exists()


def test_a_file_is_replaced_whole_and_nothing_stays_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    (tmp_path / "x.tmp").write_bytes(b"left by a killed process")

    write_whole(path, b"new")

    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", [write_whole, append_whole])
def test_what_cannot_be_flushed_leaves_the_old_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: object
) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write(path, b"new")  # type: ignore[operator]

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
