"""Worker processes for one task: started when one is not enough, killed when one takes too long, never left behind."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, end, start

from .worker import Task, to_frame, to_name

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Callable, Iterator


INLINE = 64 * 1024
"""Bytes of a page that is made in this process when it is the only one: sending it away would take longer."""
INLINE_SIGNS = 6000
"""Tags and commas of such a page, and rules of its sheets fourfold, each of which may have to be tried on all elements:
it takes up to 0.2 s of the event loop then, and one of nothing else takes 0.8 s."""
PATIENCE = 30.0
"""Seconds for one task, the start of the process included."""
MOST = 4
"""Processes at most: more only help where there are more processors, and each holds some 70 MB."""


class Workers:
    """Makes pages in processes of their own, or in this one while there is little to do."""

    def __init__(self, task: Task, most: int = 0) -> None:
        self._task = task
        self._most = most or min(MOST, os.cpu_count() or 1)
        self._idle: list[Process] = []
        self._running: set[Process] = set()
        self._turns = asyncio.Semaphore(self._most)
        self._inline = 0
        self._coming = 0

    @contextmanager
    def coming(self) -> Iterator[None]:
        """Say that a page is on its way. While two are, none is made here: that would hold the other up."""
        self._coming += 1
        try:
            yield
        finally:
            self._coming -= 1

    async def make(self, said: dict[str, Any], body: bytes, inline: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The answer of a worker to a task, or of `inline` where the task is small and no other is there or coming.

        A task that takes too long is a `too_large` fault, and its process is killed; so is one that breaks a process.
        """
        if _is_light(body) and self._coming < 2 and not self._inline and not self._running:
            self._inline += 1
            try:
                # One turn of the loop, so that what came in meanwhile sees that this process is taken.
                await asyncio.sleep(0)
                return inline()
            finally:
                self._inline -= 1
        async with self._turns:
            return await self._ask(said, body)

    async def _ask(self, said: dict[str, Any], body: bytes) -> dict[str, Any]:
        worker = await self._take()
        self._running.add(worker)
        answer = None
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await _exchange(worker, to_frame(said, body))
        except TimeoutError:
            raise Fault(
                "too_large", f"The page could not be read within {PATIENCE:g} seconds of work; it is too complex."
            ) from None
        finally:
            self._running.discard(worker)
            if answer is not None:
                self._idle.append(worker)
            else:
                # Who ran out of time or was called off leaves a worker that is still at it.
                await end(worker)
        if answer is None:
            raise Fault("too_large", "The page broke the process that read it; it needs more than it may take.")
        return answer

    async def _take(self) -> Process:
        while self._idle:
            worker = self._idle.pop()
            if worker.returncode is None:
                return worker
        try:
            return await start("specloom.domains.scrape.fetch.worker", to_name(self._task))
        except OSError as error:
            raise Fault("internal", f"No process could be started to read the page: {error.strerror}.") from None

    async def aclose(self) -> None:
        """End every process."""
        await asyncio.gather(*map(end, (*self._idle, *self._running)))
        self._idle.clear()


def _is_light(body: bytes) -> bool:
    return len(body) <= INLINE and body.count(b"<") + body.count(b",") + 4 * body.count(b"{") <= INLINE_SIGNS


async def _exchange(worker: Process, frame: bytes) -> dict[str, Any] | None:
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        worker.stdin.write(frame)
        await worker.stdin.drain()
        line = await worker.stdout.readline()
    except (ConnectionError, ValueError):
        return None
    if not line.endswith(b"\n"):
        return None
    answer: dict[str, Any] = json.loads(line)
    return answer
