"""The threads that a store works in: one that writes, in groups that share a commit, and some that read beside it."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from specloom.core import Fault, dataclass

from .rows import Rows, is_full, to_fault
from .writes import expire

T = TypeVar("T")
Job = Callable[[Rows], Any]

GROUP = 64
"""Writes that share one commit, and so one wait for the disk."""
READERS = 2


@dataclass(frozen=True, slots=True)
class _Task:
    job: Job
    future: Future[Any]
    alone: bool
    """The job begins and ends its own transactions."""


class WriterThread:
    """One thread with the connection that writes. A future is done once its write is on the disk, or was refused."""

    def __init__(self, connect: Callable[[], Rows]) -> None:
        self._connect = connect
        self._queue: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, job: Job, *, alone: bool = False) -> Future[Any]:
        """Run a job in the next group; it may run twice, so it has no effects beside its rows."""
        future: Future[Any] = Future()
        with self._lock:
            if self._closed:
                future.set_exception(Fault("internal", "The state store was closed before this was written."))
                return future
            self._queue.put(_Task(job, future, alone))
            if self._thread is None:
                # A daemon: what was not acknowledged may be lost when the process ends, and nothing else.
                self._thread = threading.Thread(target=self._work, name="specloom-state", daemon=True)
                self._thread.start()
        return future

    def close(self) -> None:
        """Finish what was submitted and end the thread."""
        with self._lock:
            self._closed = True
            thread = self._thread
            self._queue.put(None)
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        rows: Rows | None = None
        going = True
        while going:
            group, going = self._take()
            group = [task for task in group if task.future.set_running_or_notify_cancel()]
            if rows is None and group:
                try:
                    rows = self._connect()
                except (sqlite3.Error, OSError, ValueError) as error:
                    for task in group:
                        task.future.set_exception(to_fault(error))
                    continue
            if rows is not None:
                _run_group(rows, group)
        if rows is not None:
            rows.connection.close()

    def _take(self) -> tuple[list[_Task], bool]:
        """The next group, and whether there may be another."""
        task = self._queue.get()
        group: list[_Task] = []
        while task is not None:
            group.append(task)
            if len(group) == GROUP:
                return group, True
            try:
                task = self._queue.get_nowait()
            except queue.Empty:
                return group, True
        return group, False


def _run_group(rows: Rows, group: list[_Task]) -> None:
    together = [task for task in group if not task.alone]
    try:
        outcomes = _commit(rows, [task.job for task in together])
    except (sqlite3.Error, OSError):
        # One of them may be what does not fit, so each gets a transaction of its own.
        outcomes = [_run_single(rows, task.job) for task in together]
    for task, outcome in zip(together, outcomes, strict=True):
        _settle(task.future, outcome)
    for task in group:
        if task.alone:
            try:
                _settle(task.future, task.job(rows))
            except Exception as error:  # noqa: BLE001 - it belongs to whoever asked
                _settle(task.future, error)


def _run_single(rows: Rows, job: Job) -> Any:
    try:
        return _commit(rows, [job])[0]
    except (sqlite3.Error, OSError) as error:
        if not is_full(error):
            return error
        try:
            # What has expired makes room, and nobody misses it.
            if not _commit(rows, [expire])[0]:
                return error
            return _commit(rows, [job])[0]
        except (sqlite3.Error, OSError) as second:
            return second


def _commit(rows: Rows, jobs: list[Job]) -> list[Any]:
    """What each job gave, or the error it ended with, all in one transaction; a database error is raised for all."""
    if not jobs:
        return []
    connection = rows.connection
    outcomes: list[Any] = []
    connection.execute("BEGIN IMMEDIATE")
    try:
        for job in jobs:
            connection.execute("SAVEPOINT job")
            try:
                outcomes.append(job(rows))
            except (sqlite3.Error, OSError):
                raise
            except Exception as error:  # noqa: BLE001 - it belongs to whoever asked, and the others go on
                connection.execute("ROLLBACK TO job")
                outcomes.append(error)
            connection.execute("RELEASE job")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return outcomes


def _settle(future: Future[Any], outcome: Any) -> None:
    if isinstance(outcome, sqlite3.Error | OSError):
        future.set_exception(to_fault(outcome))
    elif isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


class InlineWorker:
    """Work that is done at once in the calling thread, on one connection: for what lives in memory alone."""

    def __init__(self, connect: Callable[[], Rows]) -> None:
        self._connect = connect
        self._rows: Rows | None = None

    def submit(self, job: Job, *, alone: bool = False) -> Future[Any]:
        """Run a job in a transaction of its own."""
        future: Future[Any] = Future()
        if self._rows is None:
            self._rows = self._connect()
        _run_group(self._rows, [_Task(job, future, alone)])
        return future

    def close(self) -> None:
        """Forget everything."""
        if self._rows is not None:
            self._rows.connection.close()
        self._rows = None


class Readers:
    """Threads with a connection each, which see what was committed and wait for no writer."""

    def __init__(self, connect: Callable[[], Rows]) -> None:
        self._connect = connect
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._pool: ThreadPoolExecutor | None = None

    def submit(self, job: Callable[[Rows], T]) -> Future[T]:
        """Run a job in a transaction that only reads."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(READERS, "specloom-state-reader")
        return self._pool.submit(self._run, job)

    def _run(self, job: Callable[[Rows], T]) -> T:
        try:
            rows: Rows | None = getattr(self._local, "rows", None)
            if rows is None:
                rows = self._local.rows = self._connect()
                self._open.append(rows.connection)
                rows.connection.execute("PRAGMA query_only = ON")
            rows.connection.execute("BEGIN")
            try:
                return job(rows)
            finally:
                rows.connection.execute("ROLLBACK")
        except (sqlite3.Error, OSError, ValueError) as error:
            raise to_fault(error) from error

    def close(self) -> None:
        """End the threads and close their connections."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)
        for connection in self._open:
            connection.close()
