"""Whole fetches in processes of their own: two at once write a paper once, and one that is killed leaves nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.domains.papers import provenance_log as log
from tests.support.loopback import Call, Loopback, Raw, Reply
from tests.support.paper_store import PDF, World, crossref, pdf, unpaywall

DOI = "10.1234/otters"
KEY = "doi_10.1234_otters"
PLACE = "www.nature.com/otters.pdf"

FETCH = """
import asyncio, json, sys
from pathlib import Path
from tests.support.paper_store import World

told = asyncio.run(World(Path(sys.argv[1])).ask(sys.argv[2], ("fetch_paper", {"ref": "10.1234/otters"})))
print(json.dumps(told[0]))
"""


def start(world: World, url: str) -> subprocess.Popen[str]:
    """A process that fetches the paper into the store of this world, from the publisher at `url`."""
    folder = Path(__file__).parent
    paths = (str(folder), str(folder.parent), *filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, "-c", FETCH, str(world.folder), url],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


def known(world: World) -> None:
    world.pages |= {**crossref(DOI), **unpaywall(DOI, f"https://{PLACE}")}


def test_two_processes_that_fetch_a_paper_write_it_once(world: World) -> None:
    known(world)
    both = threading.Barrier(2)

    def publisher(call: Call) -> Reply:
        # Neither has written anything when the other one is asked for, and what each is sent differs.
        at = both.wait(timeout=60)
        return pdf(b"%PDF-" + bytes([97 + at]) * (200_000 + at))

    world.pages[PLACE] = publisher
    with Loopback(world._answer) as server:
        running = [start(world, server.url) for _ in range(2)]
        told: list[dict[str, Any]] = [json.loads(one.communicate(timeout=120)[0]) for one in running]

    body = (world.root / f"{KEY}.pdf").read_bytes()
    assert body in (b"%PDF-" + b"a" * 200_000, b"%PDF-" + b"b" * 200_001)
    assert [one["pdf"] for one in told] == [{"status": "fetched"}] * 2
    assert [one["size_bytes"] for one in told] == [len(body)] * 2
    assert told[0]["path"] == told[1]["path"] == str(world.root / f"{KEY}.pdf")
    assert not list(world.root.rglob("*.tmp"))
    assert log.verify(world.log) == log.ChainVerdict(12)
    assert len({row["session_id"] for row in world.rows()}) == 2


def test_a_process_that_is_killed_while_it_downloads_leaves_nothing_in_the_way(world: World) -> None:
    known(world)
    begun = threading.Event()
    with Loopback(world._answer) as server:

        def half() -> Iterator[bytes]:
            yield b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n%PDF-1.7 half of it"
            begun.set()
            server.stopped.wait(60)

        world.pages[PLACE] = lambda _: Raw(half())
        child = start(world, server.url)
        assert begun.wait(60)
        child.kill()
        child.communicate(timeout=60)

    assert not list(world.root.rglob("*")), "what is not whole is not written"
    assert [row["event"] for row in world.rows()] == ["session_start", "fetch", "fetch"]

    world.pages[PLACE] = pdf()
    again = world.call("fetch_paper", ref=DOI)

    assert again["pdf"] == {"status": "fetched"}
    assert (world.root / f"{KEY}.pdf").read_bytes() == PDF
    assert log.verify(world.log) == log.ChainVerdict(9)


class Killed(BaseException):
    """The end of a process: nothing that an error would set in motion is done."""


@pytest.mark.parametrize("step", range(1, 13))
def test_an_end_at_any_step_leaves_what_the_next_call_completes(
    world: World, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """A step is a flush or a rename of the store or the log, of which a fetch has twelve."""
    known(world)
    world.pages[PLACE] = pdf()
    done = 0

    def ends(work: Callable[..., Any]) -> Callable[..., Any]:
        def one(*given: Any) -> Any:
            nonlocal done
            done += 1
            if done == step:
                raise Killed
            return work(*given)

        return one

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", ends(os.fsync))
        patch.setattr(Path, "replace", ends(Path.replace))
        with pytest.raises(Killed):
            world.call("fetch_paper", ref=DOI)

    told = world.call("fetch_paper", ref=DOI)

    assert (told["pdf"], told["size_bytes"]) == ({"status": "fetched"}, len(PDF))
    assert (world.root / f"{KEY}.pdf").read_bytes() == PDF
    assert not list(world.root.rglob("*.tmp"))
    assert log.verify(world.log).problem == ""
