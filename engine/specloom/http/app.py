"""The ASGI application: its routes, the order of checks on a request, and what an answer looks like."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from specloom.server import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    LiveCall,
    ProtocolError,
    check_modern,
    parse,
    to_error,
)

from .exchange import BREATH, HttpExchange, watch
from .headers import (
    HANDSHAKE_ONLY,
    HEADER_MISMATCH,
    Headers,
    HttpRefusal,
    check_form,
    check_host,
    check_origin,
    check_repeated,
    find_client,
    find_era,
    find_request_id,
    index,
)
from .settings import ENDPOINT, HttpSettings
from .tracing import enter_trace

if TYPE_CHECKING:
    from specloom.core import Tracer

    from .exchange import Receive, Send
    from .gate import Caller, Gate
    from .guards import ConnectionGuard
    from .health import Health
    from .identity import ResourceMetadata
    from .limits import HttpLimits
    from .service import HttpService

    Scope = dict[str, Any]
    Route = Callable[["HttpRequest"], Awaitable[None]]

MISSING_CAPABILITY = -32021
NO_CONTENT = 204
MOST_DEPTH, MOST_VALUES = 64, 100_000
"""How deep a body may nest, and how many values it may have."""
LONG_DIGITS = 5
"""A body whose length has so many digits is not read for the id of a request that is refused."""
JSON = (b"content-type", b"application/json")
EVENTS: Headers = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)
PREFLIGHT: Headers = (
    (b"access-control-allow-methods", b"POST, OPTIONS"),
    (
        b"access-control-allow-headers",
        b"Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, "
        b"Last-Event-ID, X-Request-Id, traceparent",
    ),
    (b"access-control-max-age", b"86400"),
)
EXPOSED = (
    b"access-control-expose-headers",
    b"WWW-Authenticate, Retry-After, X-Request-Id, RateLimit, RateLimit-Policy, Mcp-Session-Id",
)
SESSION_HEADER = b"mcp-session-id"
ALLOW = (b"allow", b"POST, OPTIONS")
METADATA: Headers = (JSON, (b"cache-control", b"public, max-age=3600"), (b"access-control-allow-origin", b"*"))
RETRY_SOON = (b"retry-after", b"1")
MODERN_STATUSES = {
    METHOD_NOT_FOUND: 404,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
}
"""Statuses of errors in the era without a handshake (MCP 2026-07-28); the other era answers them with 200."""
UNREADABLE_STATUSES = {PARSE_ERROR: 400, INVALID_REQUEST: 400}
"""Statuses of errors in both eras."""


class HttpApp:
    """The ASGI application of one worker."""

    def __init__(
        self,
        service: HttpService,
        settings: HttpSettings,
        gate: Gate,
        metadata: ResourceMetadata | None = None,
        *,
        limits: HttpLimits | None = None,
    ) -> None:
        self._service = service
        self._settings = settings
        self.gate = gate
        self.limits = limits
        self.guard: ConnectionGuard | None = None
        """What counts its connections, once it is served."""
        self.answered: Counter[tuple[str, int]] = Counter()
        """Requests by route and status; 0 for those whose client left."""
        self.health: Health | None = None
        """What looks behind the engine for its probe; without it one that is loaded is well."""
        self.tracer: Tracer | None = None
        """What makes spans, where an operator traces."""
        self.log: Callable[[HttpRequest, str], None] | None = None
        """What is told of each request that has ended, with its route."""
        self._common: Headers = (
            (b"cache-control", b"no-store"),
            (b"x-content-type-options", b"nosniff"),
            *_named(b"content-security-policy", settings.content_security_policy),
            *_named(b"referrer-policy", settings.referrer_policy),
        )
        self.routes: dict[str, Route] = {
            ENDPOINT: self._endpoint,
            f"{ENDPOINT}/": self._endpoint,
            "/health/live": self._live,
            "/health/ready": self._ready,
        }
        if metadata is not None:
            self._metadata = metadata.to_json()
            self.routes |= dict.fromkeys(metadata.paths, self._tell_metadata)

    def narrow(self, routes: Mapping[str, Route], settings: HttpSettings) -> HttpApp:
        """The same for a port of its own, with these routes alone."""
        other = copy.copy(self)
        other.routes = dict(routes)
        other._settings = settings  # noqa: SLF001 - of the same class
        return other

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI hands it over."""
        if scope["type"] != "http":
            return
        request = HttpRequest(scope, receive, send, self._settings, self._common)
        if self.log is not None:
            request.began = time.perf_counter()
            request.tools = self._service.catalogue.tool_names
        try:
            route = self.routes.get(scope["path"], self._missing)
            if route not in (self._live, self._ready):  # who probes a server knows it by its address
                check_host(request.headers, self._settings)
            # Every page may read the metadata: it is what a client needs before it is allowed anything.
            if route != self._tell_metadata:
                request.origin = check_origin(request.named.get(b"origin"), self._settings)
            await route(request)
        except HttpRefusal as refused:
            await request.refuse(refused)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - told where defects are told; a client gets no more than the status
            self._service.report(error)
            await request.refuse(HttpRefusal(500))
        finally:
            path = scope["path"]
            place = (path.rstrip("/") or path) if path in self.routes else "other"
            self.answered[place, request.status] += 1
            if self.log is not None:
                self.log(request, place)

    async def _missing(self, request: HttpRequest) -> None:
        await request.answer(404, b"")

    async def _live(self, request: HttpRequest) -> None:
        request.only("GET", "HEAD")
        await request.answer(200, b"ok", ((b"content-type", b"text/plain; charset=utf-8"),))

    async def _ready(self, request: HttpRequest) -> None:
        request.only("GET", "HEAD")
        verdict = "unhealthy"
        if self._service.is_ready and not self._service.is_draining and self.gate.is_ready:
            verdict = await self.health.look() if self.health is not None else "healthy"
        body = f'{{"status":"{verdict}"}}'.encode()
        await request.answer(503 if verdict == "unhealthy" else 200, body, (JSON,))

    async def _tell_metadata(self, request: HttpRequest) -> None:
        request.only("GET", "HEAD")
        await request.answer(200, self._metadata, METADATA)

    async def _endpoint(self, request: HttpRequest) -> None:
        if self.limits is not None and not self.limits.passes():
            await self._check_limits(self.limits, request)
        if request.method == "OPTIONS":
            if request.origin is None:
                raise HttpRefusal(403)
            await request.answer(NO_CONTENT, b"", PREFLIGHT)
            return
        if request.method != "POST":
            raise HttpRefusal(405, headers=(ALLOW,))
        check_form(request.named)
        request.check_length()
        try:
            caller = await self.gate.admit(request.headers, request.query)
        except HttpRefusal as refused:
            if refused.is_failed_attempt and self.limits is not None:
                await self.limits.note_failure(request.client)
            raise
        if self.limits is not None:
            self.limits.note_success(request.credential)
        message = request.message = _parse(await request.read())
        request.caller = caller
        request.message_id = message.get("id")
        is_modern, version = find_era(request.named, message, VERSION_KEY)
        if is_modern:
            _check_modern(request, message)
        if not self._service.takes_calls:
            raise HttpRefusal(503, headers=(RETRY_SOON,))
        if "method" in message:
            self.gate.check(caller, message)
        exchange = HttpExchange(self._service, caller, modern=is_modern, version=version, session=request.session)
        if self.tracer is None:
            await self._answer(request, exchange, message)
        else:
            with enter_trace(self.tracer, request.named, message):
                await self._answer(request, exchange, message)

    async def _answer(self, request: HttpRequest, exchange: HttpExchange, message: dict[str, Any]) -> None:
        """Take a message that has passed all checks, and answer it."""
        outcome = exchange.take(message)
        if isinstance(outcome, bytes):
            headers = (JSON, *_named(SESSION_HEADER, exchange.session))
            await request.answer(_find_status(exchange), outcome, headers)
        elif outcome is not None:
            await self._run(request, exchange, outcome)
        elif exchange.is_listening:
            await self._listen(request, exchange)
        else:
            await request.answer(202, b"")

    async def _check_limits(self, limits: HttpLimits, request: HttpRequest) -> None:
        """Refuse a request that is one too many (429), with its id where reading that costs little."""
        try:
            await limits.admit(request.client, request.credential)
        except HttpRefusal:
            if request.method == "POST" and request.is_short:
                with contextlib.suppress(HttpRefusal):
                    request.message_id = _parse(await request.read()).get("id")
            raise

    async def _run(self, request: HttpRequest, exchange: HttpExchange, call: LiveCall) -> None:
        """Perform a call, and answer with its result alone unless something is said before it."""
        self._service.run(exchange.caller, call)
        async with _watched(request, exchange):
            frame = await exchange.next()
            if frame is not None and not exchange.is_running(call) and not exchange.has_more:
                await request.answer(_find_status(exchange), frame, (JSON,))
                return
            if frame is not None:
                await request.start(200, EVENTS)
            while frame is not None:
                await request.write(_to_event(frame))
                if not exchange.is_running(call) and not exchange.has_more:
                    await request.end()
                    return
                frame = await self._next(request, exchange)

    async def _listen(self, request: HttpRequest, exchange: HttpExchange) -> None:
        """Tell a client of changes, until it closes or the server leaves."""
        if not self._service.open_stream(exchange):
            raise HttpRefusal(429, headers=(RETRY_SOON,))
        try:
            async with _watched(request, exchange):
                await request.start(200, EVENTS)
                while (frame := await self._next(request, exchange)) is not None:
                    await request.write(_to_event(frame))
                    if exchange.closed and not exchange.has_more:
                        await request.end()
                        return
        finally:
            self._service.close_stream(exchange)

    async def _next(self, request: HttpRequest, exchange: HttpExchange) -> bytes | None:
        """The next frame, with a comment every now and then while nothing is said; None where the client has gone."""
        while (frame := await exchange.next(BREATH)) is None and not exchange.is_gone:
            await request.write(b":\n\n")
        return frame


class HttpRequest:
    """One request and the way its answer takes."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, settings: HttpSettings, common: Headers) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: Headers = scope["headers"]
        self.named = index(self.headers)
        self.query: bytes = scope["query_string"]
        self.receive = receive
        self.origin: bytes | None = None
        self.message_id: object = None
        peer = scope["client"][0] if scope.get("client") else ""
        forwarded = [value for name, value in self.headers if name == b"x-forwarded-for"]
        self.client = find_client(peer, forwarded, settings.proxies)
        self.id = find_request_id(self.named) or secrets.token_hex(16)
        self.body_bytes = settings.body_bytes
        """How long its body may be."""
        self._send = send
        self._common = common
        self._has_begun = False
        self.status = 0
        """The status of the answer, once it has begun."""
        self.began = 0.0
        self.caller: Caller | None = None
        self.message: Mapping[str, Any] = {}
        self.tools: Collection[str] = ()
        """The names of all tools."""

    @property
    def tool(self) -> str:
        """The tool that is called, where there is such a one; for logs."""
        params = self.message.get("params")
        name = params.get("name") if self.message.get("method") == "tools/call" and isinstance(params, dict) else None
        return name if isinstance(name, str) and name in self.tools else ""

    def only(self, *methods: str) -> None:
        """Refuse any other method (405)."""
        if self.method not in methods:
            raise HttpRefusal(405, headers=((b"allow", ", ".join(methods).encode()),))

    def check_length(self) -> None:
        """Refuse a body that is said to be too long (413) before any of it is read."""
        length = self.named.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > len(str(self.body_bytes)) + 1:
            raise HttpRefusal(413 if length.isdigit() else 400)
        if int(length) > self.body_bytes:
            raise HttpRefusal(413)

    @property
    def credential(self) -> bytes | None:
        """What the caller shows to say who they are, if anything."""
        return self.named.get(b"authorization") or self.named.get(b"x-api-key")

    @property
    def session(self) -> str:
        """The session that the client names, if any."""
        return self.named.get(SESSION_HEADER, b"").decode("latin-1")

    @property
    def is_short(self) -> bool:
        """Whether the body is said to be short."""
        length = self.named.get(b"content-length", b"")
        return length.isdigit() and len(length) < LONG_DIGITS

    async def read(self) -> bytes:
        """The body; refuses one that turns out too long (413), and one whose client leaves (400)."""
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise HttpRefusal(400)
        body: bytes = message.get("body", b"")
        if not message.get("more_body"):
            self._check_size(len(body))
            return body
        parts, size = [body], len(body)
        while message.get("more_body"):
            self._check_size(size)
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise HttpRefusal(400)
            parts.append(message.get("body", b""))
            size += len(parts[-1])
        self._check_size(size)
        return b"".join(parts)

    def _check_size(self, size: int) -> None:
        if size > self.body_bytes:
            raise HttpRefusal(413)

    async def answer(self, status: int, body: bytes, headers: Headers = ()) -> None:
        """Send a whole answer."""
        length = () if status == NO_CONTENT else ((b"content-length", b"%d" % len(body)),)
        await self.start(status, (*headers, *length))
        await self._send({"type": "http.response.body", "body": body})

    async def start(self, status: int, headers: Headers) -> None:
        """Send the head of an answer."""
        self._has_begun = True
        self.status = status
        names = {name for name, _ in headers}
        sent = [(b"x-request-id", self.id.encode()), *headers]
        sent += [header for header in self._common if header[0] not in names]
        if self.origin is not None:
            sent += [(b"access-control-allow-origin", self.origin), (b"vary", b"Origin"), EXPOSED]
        await self._send({"type": "http.response.start", "status": status, "headers": sent})

    async def write(self, part: bytes) -> None:
        """Send a part of the body."""
        await self._send({"type": "http.response.body", "body": part, "more_body": True})

    async def end(self) -> None:
        """End the body."""
        await self._send({"type": "http.response.body", "body": b""})

    async def refuse(self, refused: HttpRefusal) -> None:
        """Answer with a status, and an error of the protocol where there is one; nothing once an answer has begun."""
        if self._has_begun:
            return
        if refused.error is None:
            await self.answer(refused.status, b"", refused.headers)
            return
        number = self.message_id if isinstance(self.message_id, str | int) else None
        await self.answer(refused.status, to_error(number, refused.error), (JSON, *refused.headers))


def _named(name: bytes, value: str) -> Headers:
    return ((name, value.encode("latin-1")),) if value else ()


def _parse(body: bytes) -> dict[str, Any]:
    """The message of a body; refuses what is no JSON object, or is built to cost (400)."""
    opened = body.count(b"[") + body.count(b"{")
    if opened + body.count(b",") > MOST_VALUES:
        raise HttpRefusal(400, ProtocolError(INVALID_REQUEST, f"Invalid request: more than {MOST_VALUES} values"))
    try:
        message = parse(body)
    except ProtocolError as error:
        raise HttpRefusal(400, error) from None
    if isinstance(message, list):
        raise HttpRefusal(400, ProtocolError(INVALID_REQUEST, "Invalid request: batches are not part of the protocol"))
    if not isinstance(message, dict):
        raise HttpRefusal(400, ProtocolError(INVALID_REQUEST, "Invalid request: a message must be a JSON object"))
    if opened > MOST_DEPTH and _is_deep(message):
        raise HttpRefusal(400, ProtocolError(INVALID_REQUEST, f"Invalid request: nested deeper than {MOST_DEPTH}"))
    return message


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _check_modern(request: HttpRequest, message: dict[str, Any]) -> None:
    """Refuse a request without a handshake that is not whole: its headers, its `_meta`, a method it does not have."""
    check_repeated(request.named, message, VERSION_KEY)
    method, params = message.get("method"), message.get("params")
    if "id" not in message or not isinstance(method, str):
        return
    if method in HANDSHAKE_ONLY:
        raise HttpRefusal(404, ProtocolError(METHOD_NOT_FOUND, "Method not found"))
    meta = params.get("_meta") if isinstance(params, dict) else None
    try:
        check_modern(meta if isinstance(meta, dict) else {})
    except ProtocolError as error:
        raise HttpRefusal(400, error) from None


def _find_status(exchange: HttpExchange) -> int:
    """The status that the answer to a request has."""
    if exchange.refusal is None:
        return 200
    code = exchange.refusal.code
    if exchange.era == "modern" and code in MODERN_STATUSES:
        return MODERN_STATUSES[code]
    return UNREADABLE_STATUSES.get(code, 200)


def _to_event(frame: bytes) -> bytes:
    return b"event: message\ndata: " + frame.rstrip(b"\n") + b"\n\n"


class _watched(contextlib.AbstractAsyncContextManager[None]):  # noqa: N801 - used as a function
    """Sees the client close while a block runs."""

    def __init__(self, request: HttpRequest, exchange: HttpExchange) -> None:
        self._watching = asyncio.get_running_loop().create_task(watch(request.receive, exchange))

    async def __aexit__(self, *_: object) -> None:
        self._watching.cancel()
