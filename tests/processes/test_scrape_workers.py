"""A worker makes a page as this process would, knows and takes no more than it may, and ends when it should."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.domains.scrape.fetch import worker, workers
from specloom.domains.scrape.fetch.workers import Workers
from specloom.domains.scrape.read import make_answer, make_page
from tests.support.browser import is_running, until, wait_until
from tests.support.scrape_context import ARTICLE

SAID = {"kind": "html", "url": "https://example.org/otters", "content_type": "text/html; charset=utf-8", "facts": {}}
PAGE = ARTICLE.replace("hold hands", "hold hands („Pfötchen“ 窯)").encode()
GIANT = b"<p><b>x</b>" * 800_000
OTHERS: set[int] = set()
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(autouse=True)
def of_others() -> Iterator[None]:
    """Workers that earlier tests of this process have left are nobody's here."""
    OTHERS.update(find_workers())
    yield
    OTHERS.clear()


def find_workers() -> list[int]:
    """The workers that a test has started and that still run."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] != "Z" and int(words[1]) == os.getpid() and b"specloom.domains.scrape.fetch.worker" in command:
            found.append(int(folder.name))
    return [one for one in found if one not in OTHERS]


def look(process: int, what: str) -> bytes:
    """What the system tells of a process."""
    return Path(f"/proc/{process}/{what}").read_bytes()


@asynccontextmanager
async def opened(most: int = 1) -> AsyncIterator[Workers]:
    """Workers that are all gone afterwards."""
    some = Workers(make_answer, most)
    try:
        yield some
    finally:
        await some.aclose()


def refuse() -> dict[str, Any]:
    raise AssertionError("made in this process")


async def make(some: Workers, body: bytes = PAGE) -> dict[str, Any]:
    """What a worker makes of a page; two pages are coming, so that none is made here."""
    with some.coming(), some.coming():
        return await some.make(SAID, body, refuse)


def use_shell(monkeypatch: pytest.MonkeyPatch, path: Path, *lines: str) -> None:
    """Start workers through a script; `python` in it is the interpreter."""
    text = "\n".join(("#!/bin/sh", *lines, "")).replace("python", f"'{sys.executable}'")
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setattr("specloom.core.process.sys", SimpleNamespace(executable=str(path)))


async def test_a_worker_makes_the_page_that_this_process_would() -> None:
    async with opened() as some:
        made = await make(some)

    page, frames = make_page(PAGE, SAID)
    assert "„Pfötchen“ 窯" in page.content
    assert made["page"] == json.loads(json.dumps(page.to_json()))
    assert made["frames"] == list(frames)


async def test_a_small_page_is_made_here_while_nothing_else_is_to_do() -> None:
    async with opened() as some:
        assert await some.make(SAID, PAGE, lambda: {"page": "here"}) == {"page": "here"}


@linux
@pytest.mark.parametrize(
    "body",
    [
        b"<p>a" * 16_000,
        b"<style>" + b"a," * 20_000 + b"a{}</style><p>a",
        b"<style>" + b"div:has(p):not(.c){display:none}" * 1_250 + b"</style>" + b"<p class=c>a" * 1_200,
    ],
)
async def test_a_small_page_of_nothing_but_signs_is_made_by_a_worker(body: bytes) -> None:
    async with opened() as some:
        made = await some.make(SAID, body, refuse)

    assert "page" in made or "fault" in made


async def test_a_worker_is_told_no_secret_and_may_write_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMO_API_KEY", "a secret")
    async with opened() as some:
        await make(some)
        (one,) = find_workers()

        names = {line.partition(b"=")[0] for line in look(one, "environ").split(b"\0")}
        command = look(one, "cmdline").split(b"\0")
        lines = look(one, "limits").decode().splitlines()

    bounds = {line[:26].strip(): tuple(line[26:].split()[:2]) for line in lines}
    assert b"PATH" in names
    assert not names & {b"DEMO_API_KEY", b"HOME", b"LANG", b"LC_ALL"}
    assert command[1:5] == [
        b"-P",
        b"-m",
        b"specloom.domains.scrape.fetch.worker",
        worker.to_name(make_answer).encode(),
    ]
    assert bounds["Max address space"] == (str(worker.MOST_MEMORY),) * 2
    assert bounds["Max file size"] == bounds["Max core file size"] == ("0", "0")
    assert bounds["Max cpu time"] == ("unlimited", "unlimited"), "it lives as long as the server"


@linux
async def test_a_worker_survives_a_page_that_takes_too_much_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Room for ordinary pages, but not for what is made of the giant; a worker keeps a bound that is below its own.
    use_shell(monkeypatch, tmp_path / "small", "ulimit -v 640000", 'exec python "$@"')
    # How long it takes to run out of memory is a matter of the machine.
    monkeypatch.setattr(workers, "PATIENCE", 300)
    async with opened() as some:
        await make(some)
        before = find_workers()
        giant = await make(some, GIANT)
        after = await make(some)

        assert find_workers() == before

    assert giant["fault"]["kind"] == "too_large"
    assert "more memory than it may take" in giant["fault"]["message"]
    assert "Otters" in after["page"]["content"]


@linux
async def test_a_worker_that_is_late_is_killed_and_the_next_page_gets_another(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened() as some:
        await make(some)
        before = find_workers()
        with monkeypatch.context() as patch:
            patch.setattr(workers, "PATIENCE", 0)
            with pytest.raises(Fault, match="could not be read within 0 seconds of work; it is too complex") as caught:
                await make(some, GIANT)
        between = find_workers()
        after = await make(some)

    assert caught.value.kind == "too_large"
    assert (len(before), between) == (1, [])
    assert "Otters" in after["page"]["content"]


@linux
async def test_a_worker_whose_call_is_cancelled_is_killed() -> None:
    async with opened() as some:
        await make(some)
        (one,) = find_workers()
        call = asyncio.create_task(make(some, GIANT))
        # It is at it once it has read something.
        idle = look(one, "io")
        await until(lambda: look(one, "io") != idle)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

        assert not is_running(one)
        assert "Otters" in (await make(some))["page"]["content"]


@linux
async def test_a_worker_that_breaks_is_a_fault_of_its_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_shell(monkeypatch, tmp_path / "broken", "exit 1")
    async with opened() as some:
        with pytest.raises(Fault, match="The page broke the process that read it") as caught:
            await make(some)

    assert caught.value.kind == "too_large"


async def test_a_worker_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specloom.core.process.sys", SimpleNamespace(executable="/no/such/interpreter"))
    async with opened() as some:
        with pytest.raises(Fault, match="No process could be started to read the page: No such file") as caught:
            await make(some)

    assert caught.value.kind == "internal"


@linux
async def test_closing_ends_idle_and_busy_workers() -> None:
    async with opened(2) as some:
        await asyncio.gather(make(some), make(some))
        both = find_workers()
        call = asyncio.create_task(make(some, GIANT))
        await asyncio.sleep(0)
        await some.aclose()

        with pytest.raises(Fault, match="broke the process"):
            await call

    assert len(both) == 2
    assert find_workers() == []


PARENT = """
import subprocess, sys
source, target = map(int, sys.argv[1:3])
command = [sys.executable, "-P", "-m", "specloom.domains.scrape.fetch.worker", sys.argv[3]]
one = subprocess.Popen(command, stdin=source, stdout=target)
print(one.pid, flush=True)
one.wait()
"""


@linux
def test_a_worker_ends_with_its_parent_although_its_input_goes_on() -> None:
    source, into = os.pipe()
    outof, target = os.pipe()
    with open(into, "wb") as given, open(outof, "rb") as told:
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, str(source), str(target), worker.to_name(make_answer)],
            stdout=subprocess.PIPE,
            pass_fds=(source, target),
            encoding="ascii",
        )
        os.close(source)
        os.close(target)
        with parent:
            assert parent.stdout is not None
            one = int(parent.stdout.readline())
            worker.write_frame(given, SAID, PAGE)
            answer = worker.read_frame(told)
            running = is_running(one)
            parent.kill()
        wait_until(lambda: not is_running(one))

    assert answer is not None
    assert "Otters" in answer[0]["page"]["content"]
    assert running


@pytest.mark.parametrize("body", [b"", b"{}\n", bytes(range(256))])
def test_a_frame_is_read_as_it_was_written_and_half_a_frame_is_the_end(body: bytes) -> None:
    frame = worker.to_frame({"kind": "ä\n"}, body)

    assert worker.read_frame(io.BytesIO(frame)) == ({"kind": "ä\n", "bytes": len(body)}, body)
    assert all(worker.read_frame(io.BytesIO(frame[:cut])) is None for cut in range(len(frame)))
