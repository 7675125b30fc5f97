"""The same catalogue and backend behind the official SDK, over stdio: the referee for our own host."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from specloom.core import Fault, shows_views

from .calls import NEEDED, ask_backend, check_params, shows, to_protocol_error
from .frames import CAPABILITIES_KEY, LOG_LEVEL_KEY, defect, failure
from .protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LISTS,
    MODERN_VERSIONS,
    Backend,
    Call,
    Catalogue,
    Looked,
    NoChannel,
    ProtocolError,
    UnknownTool,
)

if TYPE_CHECKING:
    from .protocol import LoadBackend


SdkContext = ServerRequestContext[Any, Any]

LEAVING = 1.5
"""Seconds after the end of input until the process ends at the latest. Hosts wait two and kill."""
CHANGES: dict[str, type[ToolsListChanged | PromptsListChanged | ResourcesListChanged]] = {
    "notifications/tools/list_changed": ToolsListChanged,
    "notifications/prompts/list_changed": PromptsListChanged,
    "notifications/resources/list_changed": ResourcesListChanged,
}
ANSWERS: dict[str, Any] = {
    "elicitation/create": types.ElicitResult,
    "sampling/createMessage": types.CreateMessageResult,
    "roots/list": types.ListRootsResult,
}


class SdkCall(Call):
    """A running request, as the SDK knows it. What it sends goes out in order, from a task of its own."""

    def __init__(self, host: Host, context: SdkContext) -> None:
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
        self.client_capabilities = declared_by(context)

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self._reached is not None and progress <= self._reached:
            return
        self._reached = progress
        self._outbox.put_nowait(lambda: self._context.session.report_progress(progress, total, message))

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        if shows(level, self.meta.get(LOG_LEVEL_KEY) if self.era == "modern" else self._host.log_level):
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


def declared_by(context: SdkContext) -> dict[str, Any]:
    """What the client declared: with this request, or in the handshake."""
    declared = context.session.client_capabilities
    known = declared.model_dump(by_alias=True, exclude_none=True) if declared is not None else {}
    told: dict[str, Any] = ((context.params or {}).get("_meta") or {}).get(CAPABILITIES_KEY, known)
    return told


def to_event(method: str, params: Mapping[str, Any] | None) -> ServerEvent | None:
    """The SDK's event for a notification about a change, or `None`."""
    if method == "notifications/resources/updated":
        return ResourceUpdated(uri=str((params or {}).get("uri", "")))
    change = CHANGES.get(method)
    return change() if change else None


Result = dict[str, Any]
Handler = Callable[[SdkContext, Any], Awaitable[Result]]


def serve_sdk(catalogue: Catalogue, load_backend: LoadBackend) -> int:
    """Serve one client over the process's own stdin and stdout until it leaves, and return the exit code."""
    # Without a handler Python would print the SDK's warnings, and a client may take them for a failure.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    anyio.run(_serve, Host(catalogue, load_backend))
    return 0


async def _serve(host: Host) -> None:
    server = host.server()
    options = InitializationOptions(
        server_name=host.catalogue.name,
        server_version=host.catalogue.version,
        title=host.catalogue.title or None,
        instructions=host.catalogue.instructions or None,
        capabilities=types.ServerCapabilities.model_validate(host.catalogue.capabilities()),
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, options)
    # The SDK has cancelled what ran. A thread that waits for a name, or a browser, does not keep the process.
    leaving = threading.Timer(LEAVING, lambda: os._exit(0))
    leaving.daemon = True
    leaving.start()
    if host.backend is not None:
        await host.backend.close(LEAVING)


class Host:
    """The handlers of one SDK server."""

    def __init__(self, catalogue: Catalogue, load_backend: LoadBackend) -> None:
        self.catalogue = catalogue
        self.backend: Backend | None = None
        self.log_level: str | None = None
        self.bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self.bus)
        self._load_backend = load_backend
        self._watched: set[str] = set()

    def server(self) -> Server[dict[str, Any]]:
        """An SDK server with a handler for every method that the catalogue declares."""
        catalogue = self.catalogue
        server: Server[dict[str, Any]] = Server(
            catalogue.name,
            version=catalogue.version,
            title=catalogue.title or None,
            instructions=catalogue.instructions or None,
        )
        declared = catalogue.capabilities()
        handlers: dict[str, Handler] = {"server/discover": self._discover, "tools/call": self._run}
        for method, (member, field) in LISTS.items():
            if method.partition("/")[0] in declared:
                handlers[method] = self._list(member, getattr(catalogue, field) or b"[]", catalogue.with_views(field))
        if "resources" in declared:
            handlers["resources/read"] = self._run
        if "prompts" in declared:
            handlers["prompts/get"] = self._run
        if catalogue.completions:
            handlers["completion/complete"] = self._run
        if catalogue.logging:
            handlers["logging/setLevel"] = self._set_level
        if catalogue.subscribe:
            handlers |= {"resources/subscribe": self._watch, "resources/unsubscribe": self._unwatch}
        for method, handler in handlers.items():
            server.add_request_handler(method, types.RequestParams, handler)
        if catalogue.subscribe or catalogue.list_changed:
            server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, self._listen)
        return server

    def is_wanted(self, event: ServerEvent) -> bool:
        """Whether clients with a handshake are told of `event`."""
        if isinstance(event, ResourceUpdated):
            return event.uri in self._watched
        family = {ToolsListChanged: "tools", PromptsListChanged: "prompts", ResourcesListChanged: "resources"}
        return family[type(event)] in self.catalogue.list_changed

    def _list(self, member: str, array: bytes, shown: bytes) -> Handler:
        items, with_views = json.loads(array), json.loads(shown)

        async def handle(context: SdkContext, _: object) -> Result:
            if (context.params or {}).get("cursor") is not None:
                raise MCPError(INVALID_PARAMS, "Invalid cursor")
            listed = with_views if shows_views(declared_by(context)) else items
            return _for_era(context, {member: listed}, self.catalogue.freshness())

        return handle

    async def _discover(self, context: SdkContext, _: object) -> Result:
        result = {"supportedVersions": list(MODERN_VERSIONS), **self.catalogue.introduction()}
        return _for_era(context, result, self.catalogue.freshness())

    async def _set_level(self, context: SdkContext, _: object) -> Result:
        self.log_level = (context.params or {})["level"]
        return {}

    async def _watch(self, context: SdkContext, _: object) -> Result:
        uri = (context.params or {})["uri"]
        if not self.catalogue.tells(uri):
            raise MCPError(INVALID_PARAMS, "This resource does not tell of changes", {"uri": uri[:2048]})
        self._watched.add(uri)
        return {}

    async def _listen(self, context: SdkContext, params: types.SubscriptionsListenRequestParams) -> Any:
        """A stream of those changes that are really told, of all that are asked for; the SDK would promise them all."""
        wanted = params.notifications
        told: dict[str, Any] = {
            f"{family}_list_changed": getattr(wanted, f"{family}_list_changed")
            if family in self.catalogue.list_changed
            else None
            for family in ("tools", "prompts", "resources")
        }
        told["resource_subscriptions"] = [
            uri for uri in wanted.resource_subscriptions or () if self.catalogue.tells(uri)
        ]
        return await self._streams(context, params.model_copy(update={"notifications": wanted.model_copy(update=told)}))

    async def _unwatch(self, context: SdkContext, _: object) -> Result:
        self._watched.discard((context.params or {})["uri"])
        return {}

    async def _run(self, context: SdkContext, _: object) -> Result:
        params = dict(context.params or {})
        name, is_tool = params.get("name"), context.method == "tools/call"
        if is_tool and name not in self.catalogue.tool_names:
            raise MCPError(INVALID_PARAMS, UnknownTool(str(name), self.catalogue.tool_names).message)
        call = SdkCall(self, context)
        pump = asyncio.ensure_future(call.pump())
        try:
            check_params(context.method, params)
            if self.backend is None:
                self.backend = self._load_backend()
            asked = params.get("arguments") or {}
            has_view = name in self.catalogue.views and shows_views(call.client_capabilities)
            is_quick = is_tool and not has_view
            answer = self.backend.call_now(str(name), asked, call.request_id) if is_quick else None
            if isinstance(answer, Looked):
                call.looked, answer = answer, None
            if answer is None:
                answer = await ask_backend(self.backend, context.method, params, call)
            await call.settle()
        except ProtocolError as error:
            raise MCPError(error.code, error.message, error.data) from None
        except Fault as fault:
            if is_tool:
                return _for_era(context, failure(fault))
            refusal = to_protocol_error(fault, context.method, params)
            raise MCPError(refusal.code, refusal.message, refusal.data) from None
        except Exception:  # noqa: BLE001 - the SDK would send the exception's text to clients with a handshake
            if is_tool:
                return _for_era(context, defect())
            raise MCPError(INTERNAL_ERROR, "Internal error") from None
        finally:
            pump.cancel()
        default = {"ttlMs": 0, "cacheScope": "private"} if context.method == "resources/read" else {}
        return _for_era(context, json.loads(answer) if isinstance(answer, bytes) else answer, default)


def _for_era(context: SdkContext, result: Result, modern: Mapping[str, Any] = MappingProxyType({})) -> Result:
    """`result` with the members that the SDK adds to its own models, but not to dictionaries."""
    return {"resultType": "complete", **modern, **result} if context.protocol_version in MODERN_VERSIONS else result
