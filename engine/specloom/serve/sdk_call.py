"""A running request as the official SDK knows it, with what it sends on its way to the client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from .calls import NEEDED
from .contract import LOG_LEVELS, MODERN_VERSIONS, Call, NoChannel
from .envelope import CAPABILITIES_KEY, LOG_LEVEL_KEY

Context = ServerRequestContext[Any, Any]

ANSWERS: dict[str, Any] = {
    "elicitation/create": types.ElicitResult,
    "sampling/createMessage": types.CreateMessageResult,
    "roots/list": types.ListRootsResult,
}


class Audience(Protocol):
    """Who is told of changes and log entries: what a running request needs of its host."""

    bus: InMemorySubscriptionBus
    log_level: str | None

    def is_wanted(self, event: ServerEvent) -> bool:
        """Whether clients with a handshake are told of `event`."""


class SdkCall(Call):
    """A running request, as the SDK knows it. What it sends goes out in order, from a task of its own."""

    def __init__(self, host: Audience, context: Context) -> None:
        params = context.params or {}
        self._host = host
        self._context = context
        self._outbox: asyncio.Queue[Callable[[], Awaitable[Any]]] = asyncio.Queue()
        self._reached: float | None = None
        assert context.request_id is not None
        self.request_id = context.request_id
        self.protocol_version = context.protocol_version
        self.era = "modern" if context.protocol_version in MODERN_VERSIONS else "legacy"
        self.meta = dict(params.get("_meta") or {})
        self.input_responses = params.get("inputResponses")
        self.request_state = params.get("requestState")
        declared = context.session.client_capabilities
        known = declared.model_dump(by_alias=True, exclude_none=True) if declared is not None else {}
        self.client_capabilities = self.meta.get(CAPABILITIES_KEY, known)

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self._reached is not None and progress <= self._reached:
            return
        self._reached = progress
        self._outbox.put_nowait(lambda: self._context.session.report_progress(progress, total, message))

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        wanted = self.meta.get(LOG_LEVEL_KEY) if self.era == "modern" else self._host.log_level
        if wanted not in LOG_LEVELS or LOG_LEVELS.index(level) < LOG_LEVELS.index(wanted):
            return
        entry = {"level": level, "data": data, "logger": logger}
        self._send("notifications/message", {key: value for key, value in entry.items() if value is not None})

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        event = to_event(method, params)
        if event is not None and self.era == "modern":
            self._outbox.put_nowait(lambda: self._host.bus.publish(event))
        elif event is None or self._host.is_wanted(event):
            self._send(method, params)

    def _send(self, method: str, params: dict[str, Any] | None) -> None:
        message = {"method": method, "params": params or {}}
        notification = types.server_notification_adapter.validate_python(message)
        session, number = self._context.session, self.request_id
        self._outbox.put_nowait(lambda: session.send_notification(notification, related_request_id=number))

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if self.era != "legacy" or NEEDED.get(method, method) not in self.client_capabilities:
            raise NoChannel(f"The client cannot be asked {method}.")
        request = types.server_request_adapter.validate_python({"method": method, "params": params})
        try:
            answer = await self._context.session.send_request(request, ANSWERS[method])
        except MCPError as error:
            raise NoChannel(f"The client refused {method} or has left.") from error
        return dict(answer.model_dump(by_alias=True, mode="json", exclude_none=True))

    async def pump(self) -> None:
        """Send what is put into the outbox, for as long as the call runs."""
        while True:
            send = await self._outbox.get()
            try:
                await send()
            finally:
                self._outbox.task_done()

    async def settle(self) -> None:
        """Wait until everything has been sent."""
        await self._outbox.join()


def to_event(method: str, params: Mapping[str, Any] | None) -> ServerEvent | None:
    """The SDK's event for a notification about a change, or `None`."""
    if method == "notifications/resources/updated":
        return ResourceUpdated(uri=str((params or {}).get("uri", "")))
    changes: dict[str, ServerEvent] = {
        "notifications/tools/list_changed": ToolsListChanged(),
        "notifications/prompts/list_changed": PromptsListChanged(),
        "notifications/resources/list_changed": ResourcesListChanged(),
    }
    return changes.get(method)
