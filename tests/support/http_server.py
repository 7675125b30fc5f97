"""The demo server over HTTP, in a thread of its own, and what speaks to it: whole requests, and raw bytes."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from dataclasses import dataclass, field, replace
from typing import Any

from specloom.http.app import HttpApp
from specloom.http.gate import Caller
from specloom.http.serve import bind, run
from specloom.http.service import HttpService
from specloom.http.settings import read_settings
from tests.support.demo_server import Demo, catalogue

PATIENCE = 60.0
ACCEPT = "application/json, text/event-stream"
MODERN = "2026-07-28"


class OwnerGate:
    """Callers are who a header says; without it one and the same."""

    is_ready = True

    async def admit(self, headers: Any, query: bytes) -> Caller:
        return Caller(dict(headers).get(b"x-test-owner", b"").decode())

    def check(self, caller: Caller, message: dict[str, Any]) -> None:
        """Everything is allowed."""


class DemoEngine:
    """The same backend for all, so that what one caller does can be looked for by another."""

    def __init__(self, demo: Demo) -> None:
        self.demo = demo
        self.is_closed = False

    def make_backend(self, caller: Caller) -> Demo:
        return self.demo

    async def aclose(self) -> None:
        self.is_closed = True


class HttpDemo:
    """A server on a port of loopback. Leaving the context ends it; settings are those of `HttpSettings`."""

    def __init__(
        self, environ: dict[str, str] | None = None, *, gate: Any = None, demo: Demo | None = None, **more: Any
    ):
        self.engine = DemoEngine(demo or Demo())
        self.reported: list[BaseException] = []
        settings = read_settings(environ or {}, "127.0.0.1:0")
        self._listener = bind(settings)
        self.port = self._listener.getsockname()[1]
        self.settings = replace(read_settings(environ or {}, f"127.0.0.1:{self.port}"), **more)
        self.service = HttpService(catalogue(), lambda: self.engine, report=self.reported.append)
        self.app = HttpApp(self.service, self.settings, gate or OwnerGate())
        self.others: list[Any] = []
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._up = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._up.set()
        await run(self.service, self.settings, self.app, self._listener, stop=self._stop, others=self.others)

    def __enter__(self) -> HttpDemo:
        self._thread.start()
        assert self._up.wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def stop(self) -> None:
        """Ask the server to leave, as a signal does."""
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The server's loop."""
        assert self._loop is not None
        return self._loop

    def call_soon(self, function: Any) -> None:
        """Run a function on the server's loop."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(function)

    def client(self) -> Client:
        """A connection that is kept open."""
        return Client(self.port)

    def post(self, message: Any, **headers: str) -> Answer:
        """One message over a connection of its own."""
        with self.client() as client:
            return client.post(message, **headers)

    def raw(self, *parts: bytes) -> bytes:
        """What comes back for these bytes until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            for part in parts:
                connection.sendall(part)
            return read_to_end(connection)


def read_to_end(connection: socket.socket) -> bytes:
    """Everything until the other end closes, however it does."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


@dataclass
class Answer:
    """A whole answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        return [json.loads(line[6:]) for line in self.body.decode().splitlines() if line.startswith("data: ")]


@dataclass
class Client:
    """One connection."""

    port: int
    connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        self._response: http.client.HTTPResponse | None = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, whatever is left of an answer."""
        if self._response is not None:
            self._response.close()
        self.connection.close()

    def open(self, message: Any, **headers: str) -> http.client.HTTPResponse:
        """The beginning of the answer to a message; names of headers with underscores for hyphens, "" for none."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        sent = {"Content-Type": "application/json", "Accept": ACCEPT, **describe(message)}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        known = {name.lower(): (name, value) for name, value in sent.items()}
        self.connection.request("POST", "/mcp", body, {name: value for name, value in known.values() if value})
        self._response = self.connection.getresponse()
        return self._response

    def post(self, message: Any, **headers: str) -> Answer:
        """The whole answer to a message."""
        response = self.open(message, **headers)
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """The whole answer for a path."""
        self.connection.request(method, path, headers={name.replace("_", "-"): one for name, one in headers.items()})
        response = self.connection.getresponse()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())


def describe(message: Any) -> dict[str, str]:
    """The headers that a modern request repeats of its body; nothing for others."""
    params = message.get("params") if isinstance(message, dict) else None
    if not isinstance(params, dict) or "io.modelcontextprotocol/protocolVersion" not in params.get("_meta", {}):
        return {}
    name = params.get("uri") or params.get("name")
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
    return {**headers, "Mcp-Name": name} if name else headers
