"""Revocations that machines tell each other: each has all of them in its own file, and none waits for another.

A change is told at once. What a machine has missed while it was cut off it finds where all of them are kept together,
which each adds to that has more: of two times the later one counts, so the order in which they meet does not matter.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from specloom.core import BackplaneError, seal, unseal

from .identity import Identity, say_nothing
from .revocations import RevocationFile, RevocationsError, RevocationsFullError, read_revoked

if TYPE_CHECKING:
    from specloom.core import Bus, SharedCache

    from .revocations import Revoked

EVERY = 10.0
"""Seconds between two looks at what all machines have revoked."""
KEPT = 30 * 86_400.0
"""Seconds for which they are kept together where no machine looks at them."""
TOPIC = "revoked"
PLACE = "revocations:all"


class SharedRevocations:
    """The revocations of this machine, and of all that share its backplane.

    `file` is what callers are refused by. To revoke returns when this machine has it; others have it within a second
    where they can be reached, and else when they are back.
    """

    def __init__(
        self,
        file: RevocationFile,
        cache: SharedCache,
        bus: Bus,
        key: bytes,
        *,
        every: float = EVERY,
        warn: Callable[[str], None] = say_nothing,
    ) -> None:
        """`key` seals what is kept together."""
        self._file, self._cache, self._bus, self._key = file, cache, bus, key
        self._every, self._warn = every, warn
        self._loop: asyncio.AbstractEventLoop | None = None
        self._look = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._sealed = b""
        """What was found where all are kept, and what is in it, so that it is read once."""
        self._theirs: Revoked = {}
        self._warned = ""

    def is_revoked(self, identity: Identity) -> bool:
        """Whether the credential that this caller showed is refused; a Refusal (503) where that cannot be read."""
        return self._file.is_revoked(identity)

    def revoke_token(self, token_id: str, expires: float) -> None:
        """Refuse the token with this `jti`, or the key with this id; `expires` is when it ends anyway."""
        self._file.revoke_token(token_id, expires)
        self._tell()

    def revoke_user(self, tenant: str, user: str, before: float) -> None:
        """Refuse what was made for a user before a time, or does not say when; "" is every user of the tenant."""
        self._file.revoke_user(tenant, user, before)
        self._tell()

    def _tell(self) -> None:
        """Have the others told; from whichever thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._look.set)

    async def start(self) -> None:
        """Begin to hear of others, on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._cache.watch(PLACE.partition(":")[0] + ":", self._look.set)
        for work in (self._hear(), self._meet()):
            task = self._loop.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Hear no more."""
        for task in tuple(self._tasks):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _hear(self) -> None:
        async for _ in self._bus.listen(TOPIC):
            self._look.set()

    async def _meet(self) -> None:
        """Look at once, whenever something may have changed, and every now and then."""
        while True:
            self._look.clear()
            try:
                await self.exchange()
            except BackplaneError:
                pass  # what was missed is found at the next look
            except (RevocationsError, RevocationsFullError, OSError) as error:
                self._warn_once(f"what other machines revoke is not refused here: {error or 'there is no room for it'}")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._every):
                    await self._look.wait()

    def _warn_once(self, sentence: str) -> None:
        if sentence != self._warned:
            self._warned = sentence
            self._warn(sentence)

    async def exchange(self) -> None:
        """Take what others have revoked, and give them what they do not have; a BackplaneError where none is reached.

        What has ended by the clock of one machine may not have by that of another, so it is taken from nobody.
        """
        sealed = await self._cache.get(PLACE) or b""
        if sealed != self._sealed:
            self._sealed, self._theirs = sealed, self._open(sealed)
        ours = await asyncio.to_thread(self._file.merge, self._theirs)
        if all(
            at <= self._theirs.get(kind, {}).get(name, 0.0)
            for kind, times in ours.items()
            for name, at in times.items()
        ):
            return
        data = json.dumps(ours, separators=(",", ":")).encode()
        self._sealed, self._theirs = seal(self._key, data, PLACE.encode()), ours
        await self._cache.put(PLACE, self._sealed, KEPT)
        await self._bus.tell(TOPIC, b"")

    def _open(self, sealed: bytes) -> Revoked:
        """What is kept together; nothing where that was not written with our key, or by a version that this one does
        not know."""
        text = unseal(self._key, sealed, PLACE.encode()) if sealed else None
        try:
            return read_revoked(json.loads(text)) if text else {}
        except (ValueError, TypeError, AttributeError):
            return {}
