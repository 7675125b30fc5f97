"""One POST: a client of the protocol core for as long as its request runs, and the way its frames take out."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from specloom.core import VIEW_EXTENSION, VIEW_MIME, shows_views
from specloom.server import CHANGES, Connection, LiveCall, NoChannel, to_notification, to_request

if TYPE_CHECKING:
    from .gate import Caller
    from .service import HttpService

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]

VIEW_SESSION = "views-"
"""How the session begins of clients whose handshake, which was another request, said that they show views."""
SHOWN: dict[str, Any] = {VIEW_EXTENSION: {"mimeTypes": [VIEW_MIME]}}
UNNAMED_VERSION = "2025-03-26"
"""The revision of a client with a handshake that names none in its headers, as the protocol says."""
UNASKED_LEVEL = "info"
"""The least level of messages for clients with a handshake, whose `logging/setLevel` was another request."""
ASSUMED: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}
"""What a client is taken to answer whose handshake was another request; one that cannot says so."""
MOST_WAITING = 1 << 20
"""Bytes of frames that wait for one client; one that reads more slowly is let go."""
BREATH = 15.0
"""Seconds between two comments on a stream that says nothing, so that nothing between us takes it for dead."""


class HttpExchange(Connection):
    """The client of one request. Frames are taken out by `next`, in their order."""

    def __init__(
        self, service: HttpService, caller: Caller, *, modern: bool, version: str = "", session: str = ""
    ) -> None:
        announcements = service.announce(caller)
        super().__init__(announcements.catalogue, self._emit, service.report, announcements)
        self.caller = caller
        self.owner = caller.owner
        self.backend = service.find_backend(caller)
        self.era = "modern" if modern else "legacy"
        if not modern:
            self.version = version or UNNAMED_VERSION
            self.log_level = UNASKED_LEVEL
        self._has_views = not modern and session.startswith(VIEW_SESSION)
        self.is_gone = False
        """Whether the client has closed, or has been let go."""
        self.is_listening = False
        self._service = service
        self._frames: deque[bytes] = deque()
        self._waiting = 0
        self._changed = asyncio.Event()

    # Out.

    def _emit(self, frame: bytes) -> None:
        if not self._service.is_own_thread():
            self._service.call_soon(self._emit, frame)
            return
        self._frames.append(frame)
        self._waiting += len(frame)
        if self._waiting > MOST_WAITING and len(self._frames) > 1:
            self.is_gone = True
        self._changed.set()

    async def next(self, seconds: float | None = None) -> bytes | None:
        """The next frame, or None where the client has gone, or nothing was said for so long."""
        while not self._frames and not self.is_gone:
            self._changed.clear()
            if seconds is None:
                await self._changed.wait()
                continue
            try:
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
            except TimeoutError:
                return None
        if self.is_gone:
            return None
        frame = self._frames.popleft()
        self._waiting -= len(frame)
        return frame

    @property
    def has_more(self) -> bool:
        """Whether a frame can be taken out at once."""
        return bool(self._frames)

    def leave(self) -> None:
        """The client has closed: what it asked for is cancelled where its era says so, and else goes on unheard."""
        self.is_gone = True
        self._changed.set()
        if self.era == "modern":
            for call in self.running():
                call.cancel()

    # What concerns other requests of the same owner.

    def take(self, message: Any) -> bytes | LiveCall | None:
        outcome = super().take(message)
        self.is_listening = outcome is None and bool(self._frames)
        return outcome

    def publish(self, method: str, params: dict[str, Any] | None, call: LiveCall) -> None:
        if method in CHANGES:
            # Of nobody nothing is kept, so nothing has changed.
            if not self.caller.is_nobody:
                self._service.tell_change(self.owner, method, params)
        else:
            self.send_for(call, to_notification(method, params))

    def capabilities_of(self, meta: dict[str, Any]) -> dict[str, Any]:
        if self.era != "legacy":
            return super().capabilities_of(meta)
        declared = ASSUMED if self._service.is_alone else super().capabilities_of(meta)
        return {**declared, "extensions": SHOWN} if self._has_views else declared

    @property
    def session(self) -> str:
        """The session that a client gets whose handshake said that it shows views; nothing for all others.

        It says no more than that, so any worker understands it, and nothing is kept of it.
        """
        is_shown = bool(self.catalogue.views) and shows_views(self._client)
        return f"{VIEW_SESSION}{secrets.token_hex(16)}" if is_shown else ""

    def ask(
        self, method: str, params: dict[str, Any], answered: Callable[[dict[str, Any] | None], object]
    ) -> str | int:
        if not self._service.is_alone or self.is_gone:
            raise NoChannel("The client's answer could come to another worker, or it has left.")
        number = self._service.ask(self.owner, answered)
        self._emit(to_request(number, method, params))
        return number

    def forget(self, number: str | int) -> None:
        self._service.forget(str(number))

    def _settle(self, message: dict[str, Any]) -> None:
        result = message.get("result")
        self._service.settle(self.owner, message.get("id"), result if isinstance(result, dict) else None)

    def _cancel(self, request_id: str | int) -> None:
        # Those who do not say who they are may use the same ids, and have to close their stream instead.
        if not self.caller.is_nobody:
            self._service.cancel(self.owner, request_id)


async def watch(receive: Receive, exchange: HttpExchange) -> None:
    """Wait until the client closes."""
    while (await receive())["type"] != "http.disconnect":
        pass
    exchange.leave()
