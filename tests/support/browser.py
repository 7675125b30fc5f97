"""What tests of the real browser share: whether there is one, pages that scripts write, and its processes."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from specloom.domains.scrape.browser.browser import find_browser

MISSING = find_browser("").why
needs_browser = pytest.mark.skipif(bool(MISSING), reason=MISSING or "a browser is there")


def page(body: str, script: str = "") -> str:
    """A page with a script at its end."""
    return f"<!DOCTYPE html><html><head><title>T</title></head><body>{body}<script>{script}</script></body></html>"


async def until(holds: Callable[[], bool]) -> None:
    """Returns once something holds that no event tells of."""
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def find_processes(parent: int | None = None) -> list[int]:
    """The browser processes below a process, by default below this one; the driver is not one."""
    parents: dict[int, tuple[int, str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            name = (folder / "cmdline").read_text(encoding="utf-8", errors="replace").replace("\0", " ")
        except OSError:
            continue
        if words[0] != "Z":
            parents[int(folder.name)] = (int(words[1]), name)
    below = {parent or os.getpid()}
    while more := {process for process, (above, _) in parents.items() if above in below} - below:
        below |= more
    return sorted(process for process in below if "chrom" in parents[process][1].partition(" ")[0].rpartition("/")[2])


def tell(process: int, what: str) -> str:
    """What the system tells of a process; "" of one that has ended meanwhile, as those of a browser do at any time."""
    try:
        return Path(f"/proc/{process}/{what}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def wait_until(holds: Callable[[], bool]) -> None:
    """Returns once something holds that no event tells of."""
    for _ in range(1200):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it never came to hold")


def is_running(process: int) -> bool:
    try:
        return (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
            != "Z"
        )
    except OSError:
        return False
