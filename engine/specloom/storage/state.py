"""What a server remembers: the stores of its process, opened when first needed, and texts and files kept in them."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from specloom.core import BackplaneError, Fault, make_own_folder, state_folder
from specloom.plugins import (
    ARTIFACTS,
    CONSENTS,
    Artifact,
    ArtifactContent,
    Collection,
    CollectionSpec,
    join_owner,
)

from .files import STATE_FILE

if TYPE_CHECKING:
    from specloom.plugins import Collections, CollectionStore


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


def open_state(
    environ: Mapping[str, str], collections: Iterable[CollectionSpec], warn: Callable[[str], None]
) -> CollectionStore:
    """The store that SPECLOOM_STATE names: the folder of the state, or the server that machines share.

    A `config` fault says why it cannot be opened; what an operator should know later goes to `warn`.
    """
    # Nothing of Redis is imported where it is not asked for.
    if not environ.get("SPECLOOM_STATE", "").strip():
        return open_folder(environ, collections)
    from .redis_link import read_state_settings
    from .redis_store import open_redis_store

    try:
        settings = read_state_settings(environ)
        if settings is not None:
            return open_redis_store(settings, environ, collections, warn)
    except (ValueError, BackplaneError) as error:
        raise _cannot_remember(error) from None
    return open_folder(environ, collections)


def open_folder(environ: Mapping[str, str], collections: Iterable[CollectionSpec]) -> CollectionStore:
    """The store in the folder of the state; a `config` fault says why it cannot be opened."""
    from .store import open_store

    folder = state_folder(environ)
    try:
        make_own_folder(folder, environ)
        return open_store(Path(folder), environ, collections)
    except (ValueError, OSError) as error:
        raise _cannot_remember(error) from None


def _cannot_remember(error: Exception) -> Fault:
    return Fault("config", f"Nothing can be remembered: {error}", action="inform_user")


class StateStores:
    """The drawers of a process. Nothing is opened, and no file made, before somebody remembers or recalls something."""

    def __init__(
        self,
        environ: Mapping[str, str],
        collections: Iterable[CollectionSpec],
        *,
        local: str = "",
        on_disk: bool = True,
        may_share: bool = False,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`may_share` looks at SPECLOOM_STATE, as servers over HTTP do; what it has to say goes to `warn`."""
        self._environ = environ
        self._collections = tuple(collections)
        self._local = local
        self._on_disk = on_disk
        self._may_share, self._warn = may_share, warn
        self._store: CollectionStore | None = None
        self._tidied = time.monotonic()
        self._tasks: set[asyncio.Task[object]] = set()

    def drawer(self, collection: str, owner: str, *, space: str = "") -> Collection:
        """The view of an owner on a collection; a `config` fault where the store cannot be opened."""
        store = self._store or self._open()
        if time.monotonic() - self._tidied > TIDY_EVERY:
            self._tidied = time.monotonic()
            self._start(store)
        return store.drawer(collection, owner, space=space)

    def store(self) -> CollectionStore:
        """The store behind the drawers, for who looks after it; a `config` fault where it cannot be opened."""
        return self._store or self._open()

    async def check(self) -> None:
        """Return where what is remembered can be read, or nothing has been yet; else raise the fault that says why not.

        A folder in which nobody has remembered anything is left without a file.
        """
        if self._store is None and not self._is_shared() and not self._is_begun():
            return
        await self.store().count(CONSENTS.name)

    def _is_begun(self) -> bool:
        return (Path(state_folder(self._environ)) / STATE_FILE).exists()

    def _is_shared(self) -> bool:
        return self._may_share and self._environ.get("SPECLOOM_STATE", "").strip().lower() == "redis"

    def _open(self) -> CollectionStore:
        store = self._store = self._make()
        if self._local:
            self._grant(store)
            self._start(store)
        return store

    def _make(self) -> CollectionStore:
        if self._may_share and self._on_disk:
            return open_state(self._environ, self._collections, self._warn)
        if self._on_disk:
            return open_folder(self._environ, self._collections)
        from .store import open_memory

        return open_memory(self._collections)

    def _grant(self, store: CollectionStore) -> None:
        """Take the local user's own word for their consent: once, and before the first call asks for it."""
        from .consent import grant_locally

        async def work() -> None:
            # A store belongs to one loop, and what is in memory to one store.
            own = self._make() if self._on_disk else store
            # Without it their calls are told that there is no consent, which is then true.
            with contextlib.suppress(Fault):
                await grant_locally(own.drawer("consents", self._local), self._local, time.time())
            if own is not store:
                await own.aclose()

        # A loop is running here, and it cannot wait for a coroutine.
        thread = threading.Thread(target=lambda: asyncio.run(work()), name="specloom-consent")
        thread.start()
        thread.join()

    def _start(self, store: CollectionStore) -> None:
        """Tidy up, beside whatever else is done."""
        try:
            task = asyncio.get_running_loop().create_task(store.expire())
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


# --- Artifacts: texts and files kept for their owner for a while, named by what is in them, and there for nobody else -


_ID = re.compile(r"[0-9a-f]{64}")


class Artifacts:
    """What `specloom.plugins.context.ArtifactKeeper` promises, over drawers that have the collection `ARTIFACTS`."""

    def __init__(self, drawers: Collections, address: Callable[[str], str]) -> None:
        """`address` gives that under which a text is read, by its identifier."""
        self._drawers, self._address = drawers, address

    async def keep(self, owner: str, content: str | bytes, *, name: str, mime_type: str) -> Artifact:
        """Keep a text or a file; the same of the same owner has the same address, and its lifetime again."""
        encoded = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        # The type is part of the name: the same bytes as HTML and as plain text are two things to whoever reads them.
        id_ = hashlib.sha256(mime_type.encode() + b"\0" + encoded).hexdigest()
        kept = {"text": content} if isinstance(content, str) else {"base64": b64encode(content).decode()}
        value = {"name": name, "mime_type": mime_type, **kept}
        item = await self._drawers.drawer(ARTIFACTS.name, owner).put(id_, value)
        # Declared with a lifetime, or the collection would not pass the check of what is relied on.
        assert item.expires is not None
        return Artifact(self._address(id_), name, mime_type, len(encoded), item.expires)

    async def read(self, owner: str, identifier: str) -> ArtifactContent | None:
        """What was kept, or None when it is gone, was never there, or is somebody else's."""
        if not _ID.fullmatch(identifier):
            return None
        item = await self._drawers.drawer(ARTIFACTS.name, owner).get(identifier)
        if item is None:
            return None
        kept = item.value
        content = b64decode(kept["base64"]) if "base64" in kept else kept["text"]
        return ArtifactContent(content, kept["name"], kept["mime_type"])
