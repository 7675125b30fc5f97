"""What a server remembers, opened when it is first needed: the store of state, and the audit log."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from specloom.plugins import Collection, CollectionSpec, join_owner, split_owner

if TYPE_CHECKING:
    from specloom.plugins import CallRecord

    from .audit_log import AuditLog
    from .store import StateStore


TIDY_EVERY = 900.0
"""Seconds between two rounds of removing what has expired (the tool contract's figure)."""
_USER = re.compile(r"[A-Za-z0-9._@-]{1,128}")


def local_owner(environ: Mapping[str, str], problems: list[str]) -> str:
    """Whose the calls of a server on standard input are: who `STDIO_USER_ID` names, or nobody in particular."""
    user = environ.get("STDIO_USER_ID", "").strip()
    if not user:
        return ""
    if not _USER.fullmatch(user) or user == "anonymous":
        problems.append(f"STDIO_USER_ID is {user!r}; write 1 to 128 letters, digits or . _ @ -. Nobody is named")
        return ""
    return join_owner("", user)


class StateStores:
    """The drawers of a process. Nothing is opened, and no file made, before somebody remembers or recalls something."""

    def __init__(
        self,
        environ: Mapping[str, str],
        collections: Iterable[CollectionSpec],
        *,
        local: str = "",
        on_disk: bool = True,
    ) -> None:
        self._environ = environ
        self._collections = tuple(collections)
        self._local = local
        self._on_disk = on_disk
        self._store: StateStore | None = None
        self._tidied = time.monotonic()
        self._tasks: set[asyncio.Task[object]] = set()

    def drawer(self, collection: str, owner: str, *, space: str = "") -> Collection:
        """The view of an owner on a collection; a `config` fault where the store cannot be opened."""
        store = self._store or self._open()
        if time.monotonic() - self._tidied > TIDY_EVERY:
            self._tidied = time.monotonic()
            self._start(store)
        return store.drawer(collection, owner, space=space)

    def _open(self) -> StateStore:
        from specloom.core import Fault

        from .location import state_folder
        from .store import open_memory, open_store

        try:
            if self._on_disk:
                self._store = open_store(state_folder(self._environ), self._environ, self._collections)
            else:
                self._store = open_memory(self._collections)
        except (ValueError, OSError) as error:
            raise Fault("config", f"Nothing can be remembered: {error}", action="inform_user") from None
        if self._local:
            self._grant(self._store)
            self._start(self._store)
        return self._store

    def _grant(self, store: StateStore) -> None:
        """Take the local user's own word for their consent: once, and before the first call asks for it."""
        from specloom.core import Fault

        from .consent import grant_locally

        async def work() -> None:
            # Without it their calls are told that there is no consent, which is then true.
            with contextlib.suppress(Fault):
                await grant_locally(store.drawer("consents", self._local), self._local, time.time())

        # A loop is running here, and it cannot wait for a coroutine.
        thread = threading.Thread(target=lambda: asyncio.run(work()), name="specloom-consent")
        thread.start()
        thread.join()

    def _start(self, store: StateStore) -> None:
        """Tidy up, beside whatever else is done."""
        try:
            task = asyncio.get_running_loop().create_task(_tidy(store))
        except RuntimeError:  # no loop is running: whoever uses the store so does it once and ends
            return
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # what could not be tidied up is tidied up the next time

    async def aclose(self) -> None:
        """Let what is under way end, and close the store."""
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._store is not None:
            await self._store.aclose()
            self._store = None


async def _tidy(store: StateStore) -> None:
    await store.expire()


class Audit:
    """Hands every call that ended to the audit log, which is opened with the first."""

    def __init__(self, environ: Mapping[str, str], warn: Callable[[str], None]) -> None:
        self._environ = environ
        self._warn = warn
        self._log: AuditLog | None = None
        self._opened = False

    def __call__(self, call: CallRecord) -> None:
        """Record a call: who, what, how long and how it ended; of what was asked only how long it was."""
        if not self._opened:
            self._opened = True
            self._open()
        if self._log is None:
            return
        from .audit_log import AuditRecord, describe_query

        tenant, user = split_owner(call.owner)
        query = call.arguments.get("query")
        fingerprint = self._environ.get("AUDIT_INCLUDE_REQUEST_BODY", "").strip().lower() in {"1", "true", "yes", "on"}
        self._log.record(
            AuditRecord(
                "tool_call",
                tenant,
                user,
                success=not call.error,
                tool_name=call.tool,
                session_id=call.session,
                duration_ms=round(call.seconds * 1000, 3),
                error_code=call.error,
                metadata=describe_query(query, fingerprint=fingerprint) if isinstance(query, str) else {},
            )
        )

    def _open(self) -> None:
        from .audit_log import open_audit
        from .location import state_folder

        try:
            folder = state_folder(self._environ)
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._log = open_audit(folder, self._environ, warn=self._warn)
        except (ValueError, OSError) as error:
            self._warn(f"calls are not audited: {error}")

    def close(self) -> None:
        """Write what is waiting, and close the log."""
        if self._log is not None:
            self._log.close()
