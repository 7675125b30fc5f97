"""The protocol without a transport: a line comes in, and an answer, a running call or nothing comes out.

Both eras are here. The handshake era (up to 2025-11-25) begins with `initialize`; in the modern era (2026-07-28) every
request carries its version and the client's capabilities. The first request that fits one of them decides for good.
"""

from __future__ import annotations

import threading

from .calls import LiveCall, check_params
from .frames import (
    CAPABILITIES_KEY,
    LOG_LEVEL_KEY,
    SERVER_INFO_KEY,
    SUBSCRIPTION_KEY,
    VERSION_KEY,
    check_message,
    encode,
    is_id,
    parse,
    stamp,
    to_bytes,
    to_error,
    to_notification,
    to_request,
    to_result,
)
from .protocol import (
    FAMILIES,
    HANDSHAKE_VERSIONS,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LISTS,
    LOG_LEVELS,
    METHOD_NOT_FOUND,
    MODERN_VERSIONS,
    UNSUPPORTED_VERSION,
    Looked,
    ProtocolError,
    UnknownTool,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .protocol import Backend, Catalogue


# --- What the two eras ask of a client: a handshake once, or a version and capabilities with each request -------------


LATEST = HANDSHAKE_VERSIONS[-1]


def agree(params: dict[str, Any], *, modern: bool) -> tuple[str, dict[str, Any]]:
    """The version that a handshake comes to, and the client's capabilities; `modern` is a connection without one."""
    wanted, client = params.get("protocolVersion"), params.get("capabilities")
    if modern:
        data = {"supported": list(MODERN_VERSIONS), "requested": wanted if isinstance(wanted, str) else ""}
        raise ProtocolError(UNSUPPORTED_VERSION, "This connection has no handshake; send requests with _meta", data)
    if not isinstance(wanted, str) or not isinstance(client, dict) or not isinstance(params.get("clientInfo"), dict):
        raise ProtocolError(INVALID_PARAMS, "Invalid params: protocolVersion, capabilities and clientInfo are required")
    return (wanted if wanted in HANDSHAKE_VERSIONS else LATEST), client


def check_modern(meta: dict[str, Any]) -> str:
    """The version of a request that stands alone."""
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: _meta lacks {' and '.join(missing)}")
    version = meta[VERSION_KEY]
    if not isinstance(version, str) or not isinstance(meta[CAPABILITIES_KEY], dict):
        raise ProtocolError(INVALID_PARAMS, "Invalid params: the version must be text, the capabilities an object")
    if version not in MODERN_VERSIONS:
        data = {"supported": list(MODERN_VERSIONS), "requested": version}
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if meta.get(LOG_LEVEL_KEY, "info") not in LOG_LEVELS:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: the log level is one of {', '.join(LOG_LEVELS)}")
    return version


# --- Who wants to hear of changes: streams that modern clients opened, and resources that older ones watch ------------


MOST_STREAMS = 64
KINDS = {
    "notifications/tools/list_changed": ("tools", "toolsListChanged"),
    "notifications/prompts/list_changed": ("prompts", "promptsListChanged"),
    "notifications/resources/list_changed": ("resources", "resourcesListChanged"),
}
UPDATED = "notifications/resources/updated"
CHANGES = frozenset({UPDATED, *KINDS})
"""Notifications that go to who has subscribed to them, and not along with a call."""


class Listeners:
    """The subscriptions of one client. Only changes that the catalogue declares can be subscribed to."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._streams: dict[str | int, dict[str, Any]] = {}
        self._watched: set[str] = set()
        self.offered = bool(catalogue.list_changed or catalogue.subscribe)

    def replace(self, catalogue: Catalogue) -> None:
        """Go by what another catalogue declares."""
        self._catalogue = catalogue

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._streams

    def add(self, request_id: str | int, params: dict[str, Any]) -> bytes:
        """Open a stream and return its first frame, which says what it will carry."""
        wanted = params.get("notifications")
        if not isinstance(wanted, dict):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: notifications must be an object")
        if len(self._streams) >= MOST_STREAMS:
            raise ProtocolError(INVALID_REQUEST, f"No more than {MOST_STREAMS} subscriptions may be open")
        honoured: dict[str, Any] = {
            key: True
            for family, key in KINDS.values()
            if wanted.get(key) is True and family in self._catalogue.list_changed
        }
        uris = wanted.get("resourceSubscriptions")
        if self._catalogue.subscribe and isinstance(uris, list) and uris:
            honoured["resourceSubscriptions"] = [uri for uri in uris if self._catalogue.tells(uri)]
        self._streams[request_id] = honoured
        params = {"notifications": honoured, "_meta": {SUBSCRIPTION_KEY: request_id}}
        return to_notification("notifications/subscriptions/acknowledged", params)

    def remove(self, request_id: str | int) -> None:
        """Close a stream without a word; unknown ids are fine."""
        self._streams.pop(request_id, None)

    def watch(self, uri: Any, *, on: bool) -> None:
        """Begin or end the watch of one resource, for clients with a handshake."""
        if not isinstance(uri, str):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: uri must be text")
        if not self._catalogue.tells(uri):
            raise ProtocolError(INVALID_PARAMS, "This resource does not tell of changes", {"uri": uri[:2048]})
        if on:
            self._watched.add(uri)
        else:
            self._watched.discard(uri)

    def frames(self, method: str, params: Mapping[str, Any] | None, *, modern: bool) -> list[bytes]:
        """The frames that tell all subscribers of a change."""
        uri = (params or {}).get("uri")
        if not modern:
            wanted = uri in self._watched if method == UPDATED else KINDS[method][0] in self._catalogue.list_changed
            return [to_notification(method, dict(params or {}))] if wanted else []
        return [
            to_notification(method, {**(params or {}), "_meta": {SUBSCRIPTION_KEY: request_id}})
            for request_id, honoured in self._streams.items()
            if (uri in honoured.get("resourceSubscriptions", ()) if method == UPDATED else KINDS[method][1] in honoured)
        ]

    def end(self) -> list[tuple[str | int, bytes]]:
        """Close all streams; each gets the result that says so."""
        ended = [(request_id, encode({"_meta": {SUBSCRIPTION_KEY: request_id}})) for request_id in self._streams]
        self._streams.clear()
        return ended


# --- What every client of a catalogue is told alike, encoded once -----------------------------------------------------


class Announcements:
    """The lists, the introductions and the name of a server as frames have them; any number of connections share one.

    A host whose clients with a handshake have no stream that stays open `watches` nothing for them.
    """

    def __init__(self, catalogue: Catalogue, *, watches: bool = True) -> None:
        self.catalogue = catalogue
        self.families = frozenset(catalogue.capabilities())
        self.stamp = to_bytes({SERVER_INFO_KEY: catalogue.info()})[1:-1]
        self.watches = watches and bool(catalogue.subscribe)
        self._lists: dict[tuple[str, bool, bool], bytes] = {}
        self._initialized: dict[str, bytes] = {}
        self._discovered = b""

    def initialize(self, version: str) -> bytes:
        """The result of a handshake that came to a version."""
        if version not in self._initialized:
            about = self.catalogue.introduction()
            if not self.watches and "resources" in about["capabilities"]:
                about["capabilities"]["resources"].pop("subscribe", None)
            result = {"protocolVersion": version, "serverInfo": self.catalogue.info(), **about}
            self._initialized[version] = to_bytes(result)
        return self._initialized[version]

    def discover(self) -> bytes:
        """The result of `server/discover`."""
        if not self._discovered:
            about = {**self.catalogue.introduction(), **self.catalogue.freshness()}
            self._discovered = stamp(to_bytes({"supportedVersions": list(MODERN_VERSIONS), **about}), self.stamp)
        return self._discovered

    def list(self, method: str, *, modern: bool, views: bool = False) -> bytes:
        """The result of a list, which is never paged; with `views`, as a client has it that shows them."""
        key = (method, modern, views)
        if key not in self._lists:
            member, field = LISTS[method]
            array: bytes = self.catalogue.with_views(field) if views else getattr(self.catalogue, field) or b"[]"
            body = b'{"' + member.encode() + b'":' + array + b"}"
            if modern:
                body = stamp(body[:-1] + b"," + to_bytes(self.catalogue.freshness())[1:], self.stamp)
            self._lists[key] = body
        return self._lists[key]


if TYPE_CHECKING:
    Answered = Callable[[dict[str, Any] | None], object]


class Connection:
    """One client: its era, what it declared, and its running calls.

    `handle` is for one thread, the reader's. The rest may be used from any; `send` takes whole lines and may be called
    from several threads at once.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        send: Callable[[bytes], object],
        report: Callable[[BaseException], object] = lambda _: None,
        announcements: Announcements | None = None,
    ) -> None:
        self.catalogue = catalogue
        self.announcements = announcements or Announcements(catalogue)
        self.backend: Backend | None = None
        """The backend once it is loaded; only then are calls answered on the reader's thread."""
        self.report = report
        self.era = ""
        self.version = LATEST
        self.log_level: str | None = None
        self.listed = False
        self.closed = False
        self.refusal: ProtocolError | None = None
        """The last error that answered a request, for hosts whose transport has statuses of its own."""
        self._send = send
        self._lock = threading.RLock()
        self._running: dict[str | int, LiveCall] = {}
        self._asked: dict[str | int, Answered] = {}
        self._number = 0
        self._client: dict[str, Any] = {}
        self._listeners = Listeners(catalogue)

    # In: one line.

    def handle(self, raw: bytes) -> bytes | LiveCall | None:
        """The answer to one line, a call that the host must run, or `None` when nothing is to be said."""
        try:
            message = parse(raw)
        except ProtocolError as error:
            return self._refuse(None, error)
        return self.take(message)

    def take(self, message: Any) -> bytes | LiveCall | None:
        """The same for a message that is parsed already."""
        request_id = None
        try:
            if isinstance(message, dict) and is_id(message.get("id")):
                request_id = message["id"]
            message = check_message(message)
            if "method" not in message:
                self._settle(message)
                return None
            method, params = message["method"], message.get("params")
            if request_id is None:
                self._note(method, params)
                return None
            return self._answer(request_id, method, {} if params is None else params)
        except ProtocolError as error:
            return self._refuse(request_id, error)

    def _refuse(self, request_id: str | int | None, error: ProtocolError) -> bytes:
        self.refusal = error
        return to_error(request_id, error)

    def _settle(self, message: dict[str, Any]) -> None:
        """Hand an answer of the client to whoever asked."""
        answered = self._asked.pop(message["id"], None) if "id" in message else None
        if answered is not None:
            result = message.get("result")
            answered(result if isinstance(result, dict) else None)

    def _note(self, method: str, params: Any) -> None:
        if method != "notifications/cancelled" or not isinstance(params, dict):
            return
        request_id = params.get("requestId")
        if not is_id(request_id):
            return
        self._cancel(request_id)

    def _cancel(self, request_id: str | int) -> None:
        with self._lock:
            call = self._running.get(request_id)
            self._listeners.remove(request_id)
        if call is not None:
            self.drop(call)

    def _answer(self, request_id: str | int, method: str, params: Any) -> bytes | LiveCall | None:
        if not isinstance(params, dict):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: they must be an object")
        meta = params.get("_meta", {})
        if not isinstance(meta, dict):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: _meta must be an object")
        if request_id in self._running or request_id in self._listeners:
            raise ProtocolError(INVALID_REQUEST, "Invalid request: a request with this id is still running")
        if method == "initialize":
            return to_result(request_id, self._initialize(params))
        self._fix_era(method, meta)
        if method in LISTS:
            return to_result(request_id, self._list(method, params))
        if method == "tools/call":
            return self._call_tool(request_id, params)
        if method in {"resources/read", "prompts/get", "completion/complete"}:
            self._require_family(method)
            check_params(method, params)
            return self._start(request_id, method, params)
        if self.era == "modern":
            return self._answer_modern(request_id, method, params)
        return to_result(request_id, self._answer_legacy(method, params))

    # Eras.

    def _initialize(self, params: dict[str, Any]) -> bytes:
        self.version, self._client = agree(params, modern=self.era == "modern")
        self.era = "legacy"
        return self.announcements.initialize(self.version)

    def _fix_era(self, method: str, meta: dict[str, Any]) -> None:
        """Check that the request fits the era, which the first fitting request decides."""
        if self.era == "legacy":
            if VERSION_KEY in meta:
                raise ProtocolError(INVALID_REQUEST, "This connection began with a handshake; leave the version out")
        elif self.era or method != "ping" or VERSION_KEY in meta:
            self.version = check_modern(meta)
            self.era = "modern"

    def _answer_modern(self, request_id: str | int, method: str, params: dict[str, Any]) -> bytes | None:
        if method == "server/discover":
            return to_result(request_id, self.announcements.discover())
        if method == "subscriptions/listen" and self._listeners.offered:
            with self._lock:
                self._send(self._listeners.add(request_id, params))
            return None
        raise ProtocolError(METHOD_NOT_FOUND, "Method not found")

    def _answer_legacy(self, method: str, params: dict[str, Any]) -> bytes:
        if method == "logging/setLevel" and self.catalogue.logging:
            if params.get("level") not in LOG_LEVELS:
                raise ProtocolError(INVALID_PARAMS, f"Invalid params: the level is one of {', '.join(LOG_LEVELS)}")
            self.log_level = params["level"]
        elif method in {"resources/subscribe", "resources/unsubscribe"} and self.catalogue.subscribe:
            self._listeners.watch(params.get("uri"), on=method == "resources/subscribe")
        elif method != "ping":
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found")
        return b"{}"

    # Lists and calls.

    def _require_family(self, method: str) -> None:
        if FAMILIES.get(method, "tools") not in self.announcements.families:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found")

    def _list(self, method: str, params: dict[str, Any]) -> bytes:
        """A list, put together once from the compiled array. It is never paged, so no cursor can be a valid one."""
        self._require_family(method)
        if params.get("cursor") is not None:
            raise ProtocolError(INVALID_PARAMS, "Invalid cursor")
        self.listed = self.listed or method == "tools/list"
        return self.announcements.list(method, modern=self.era == "modern", views=self._shows_views(params))

    def _call_tool(self, request_id: str | int, params: dict[str, Any]) -> bytes | LiveCall:
        name = params.get("name")
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: name must be text")
        if name not in self.catalogue.tool_names:
            raise UnknownTool(name, self.catalogue.tool_names)
        check_params("tools/call", params)
        looked = None
        # What a view shows is made beside the answer, so such a call takes the way of those that may wait.
        if self.backend is not None and not (name in self.catalogue.views and self._shows_views(params)):
            try:
                answer = self.backend.call_now(name, params.get("arguments") or {}, request_id)
                if isinstance(answer, Looked):
                    looked = answer
                elif answer is not None:
                    result = answer if isinstance(answer, bytes) else encode(answer)
                    return to_result(request_id, self.seal(result))
            except Exception as error:  # noqa: BLE001 - the slow path answers, and says what is wrong if it must
                self.report(error)
        call = self._start(request_id, "tools/call", params)
        call.looked = looked
        return call

    def _start(self, request_id: str | int, method: str, params: dict[str, Any]) -> LiveCall:
        call = LiveCall(self, request_id, method, params)
        self._running[request_id] = call
        return call

    def seal(self, result: bytes, *, complete: bool = True) -> bytes:
        """An encoded result with what its era adds to it."""
        return stamp(result, self.announcements.stamp, complete=complete) if self.era == "modern" else result

    def capabilities_of(self, meta: dict[str, Any]) -> dict[str, Any]:
        """What the client declared: once in the handshake, or with this request."""
        return self._client if self.era == "legacy" else meta.get(CAPABILITIES_KEY) or {}

    def _shows_views(self, params: dict[str, Any]) -> bool:
        """Whether the client shows views, of which there are any."""
        if not self.catalogue.views:
            return False
        declared = self.capabilities_of(params.get("_meta") or {})
        if not declared.get("extensions"):
            return False
        from specloom.core import shows_views

        return shows_views(declared)

    # Out, from any thread.

    def is_running(self, call: LiveCall) -> bool:
        """Whether `call` still owes an answer."""
        return self._running.get(call.request_id) is call

    def running(self) -> tuple[LiveCall, ...]:
        """The calls that owe an answer."""
        with self._lock:
            return tuple(self._running.values())

    def drop(self, call: LiveCall) -> None:
        """Owe no answer to `call` any longer, and stop its work."""
        with self._lock:
            if not self.is_running(call):
                return
            del self._running[call.request_id]
        if call.on_cancel is not None:
            call.on_cancel()

    def finish(self, call: LiveCall, frame: bytes) -> None:
        """Send the answer of `call`, unless it was cancelled or has answered."""
        with self._lock:
            if self.is_running(call):
                del self._running[call.request_id]
                self._send(frame)

    def send_for(self, call: LiveCall, frame: bytes) -> None:
        """Send a message that belongs to `call`, unless it is over."""
        with self._lock:
            if self.is_running(call):
                self._send(frame)

    def tell_change(self, method: str, params: Mapping[str, Any] | None) -> None:
        """Send a change to the subscriptions of this client that want it."""
        with self._lock:
            for frame in self._listeners.frames(method, params, modern=self.era == "modern"):
                self._send(frame)

    def replace(self, catalogue: Catalogue) -> None:
        """Tell of this catalogue from now on, and tell the client which of its lists are others now."""
        with self._lock:
            before, self.catalogue = self.catalogue, catalogue
            self.announcements = Announcements(catalogue)
            self._listeners.replace(catalogue)
            for method, (family, _) in KINDS.items():
                fields = {field for listed, (_, field) in LISTS.items() if FAMILIES.get(listed, "tools") == family}
                if self.era and any(getattr(before, field) != getattr(catalogue, field) for field in fields):
                    self.tell_change(method, None)

    def publish(self, method: str, params: dict[str, Any] | None, call: LiveCall) -> None:
        """Send a notification to whom it may concern: changes to their subscribers, anything else along with `call`."""
        if method in CHANGES:
            self.tell_change(method, params)
        else:
            self.send_for(call, to_notification(method, params))

    def ask(self, method: str, params: dict[str, Any], answered: Answered) -> str | int:
        """Send a request of ours, and give its id for `forget`; `answered` gets the result, or `None` for a refusal."""
        with self._lock:
            self._number += 1
            number = self._number
            if self.closed:
                answered(None)
            else:
                self._asked[number] = answered
                self._send(to_request(number, method, params))
            return number

    def forget(self, number: str | int) -> None:
        """No longer wait for the answer to a request of ours."""
        self._asked.pop(number, None)

    def hang_up(self) -> None:
        """The client will say nothing more: end its subscriptions and fail what waits for its answers."""
        with self._lock:
            self.closed = True
            waiting = list(self._asked.values())
            self._asked.clear()
            for request_id, result in self._listeners.end():
                self._send(to_result(request_id, self.seal(result)))
        for answered in waiting:
            answered(None)
