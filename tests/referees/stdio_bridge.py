"""HTTP for a stdio server, for tests only: what is posted goes down a pipe, what comes back is the answer.

The official conformance suite speaks HTTP. Messages pass unchanged, apart from request ids, which are replaced by
numbers on the way in and restored on the way out, because several HTTP clients share one process.

    python stdio_bridge.py PORT COMMAND [ARGUMENT ...]
"""

from __future__ import annotations

import json
import queue
import secrets
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Message = dict[str, Any]

PREFIX = "io.modelcontextprotocol/"
VERSION, CAPABILITIES, SUBSCRIPTION = (
    PREFIX + word for word in ("protocolVersion", "clientCapabilities", "subscriptionId")
)
PATIENCE = 30.0
"""Seconds after which a server that does not answer counts as broken."""
KEEP_ALIVE = 0.5
MODERN_STATUS = {-32601: 404, -32020: 400, -32021: 400, -32022: 400}


def meta_of(message: Message) -> Message:
    """The `_meta` of a message's parameters, empty if there is none."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


class Exchange:
    """One HTTP request that waits for its answer, and for what comes before it."""

    def __init__(self, message: Message) -> None:
        self.outer_id = message["id"]
        self.token = meta_of(message).get("progressToken")
        self.inbox: queue.Queue[Message] = queue.Queue()


class Server:
    """One child process, and the exchanges that wait for it."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.exchanges: dict[int, Exchange] = {}
        self._next = 0
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, message: Message) -> None:
        """Write one message to the child."""
        assert self.process.stdin is not None
        with self._lock:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def open(self, message: Message) -> tuple[int, Exchange]:
        """Send a request under a number of its own."""
        with self._lock:
            self._next += 1
            number = self._next
            exchange = self.exchanges[number] = Exchange(message)
        self.send({**message, "id": number})
        return number, exchange

    def close(self, number: int) -> None:
        """Forget an exchange."""
        self.exchanges.pop(number, None)

    def end(self) -> None:
        """End the child by closing its input, and wait for it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self._reader.join()
        self.process.stdout.close()
        self.process.wait()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" in message:
                self._spread(message)
            elif (exchange := self.exchanges.get(message.get("id"))) is not None:
                message["id"] = exchange.outer_id
                meta = (message.get("result") or {}).get("_meta") or {}
                if SUBSCRIPTION in meta:
                    meta[SUBSCRIPTION] = exchange.outer_id
                exchange.inbox.put(message)

    def _spread(self, message: Message) -> None:
        """Give a notification or a request of the server to the exchanges that it may belong to."""
        meta = meta_of(message)
        if SUBSCRIPTION in meta:
            if (exchange := self.exchanges.get(meta[SUBSCRIPTION])) is not None:
                meta[SUBSCRIPTION] = exchange.outer_id
                exchange.inbox.put(message)
            return
        token = (message.get("params") or {}).get("progressToken")
        for exchange in list(self.exchanges.values()):
            if token is None or exchange.token == token:
                exchange.inbox.put(message)


class Bridge(ThreadingHTTPServer):
    """The HTTP side: a process a legacy session, and one process for all modern requests."""

    daemon_threads = True

    def __init__(self, port: int, command: list[str]) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.command = command
        self.sessions: dict[str, Server] = {}
        self._modern: Server | None = None
        self._lock = threading.Lock()

    def modern(self) -> Server:
        """The process for modern requests, opened with a request that fixes its era."""
        with self._lock:
            if self._modern is None or self._modern.process.poll() is not None:
                self._modern = Server(self.command)
                meta = {VERSION: "2026-07-28", CAPABILITIES: {}}
                number, exchange = self._modern.open(
                    {"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {"_meta": meta}}
                )
                exchange.inbox.get(timeout=PATIENCE)
                self._modern.close(number)
            return self._modern

    def shut(self) -> None:
        """End every child."""
        for server in [*self.sessions.values(), *([self._modern] if self._modern else [])]:
            server.end()


class Handler(BaseHTTPRequestHandler):
    """One HTTP request."""

    protocol_version = "HTTP/1.1"
    server: Bridge

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def reply(self, status: int, message: Message | None = None, session: str = "") -> None:
        """Answer at once, with JSON if there is any."""
        body = b"" if message is None else json.dumps(message).encode()
        self.send_response(status)
        if session:
            self.send_header("Mcp-Session-Id", session)
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def fail(self, status: int, code: int, words: str) -> None:
        """Answer with an error of the bridge."""
        self.reply(status, {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": words}})

    def do_GET(self) -> None:
        self.reply(405)

    def do_DELETE(self) -> None:
        server = self.server.sessions.pop(self.headers.get("Mcp-Session-Id", ""), None)
        if server is not None:
            server.end()
        self.reply(404 if server is None else 200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        host = (self.headers.get("Host") or "").rpartition(":")[0]
        if host not in {"127.0.0.1", "localhost"}:
            self.reply(421)
            return
        try:
            message = json.loads(body)
        except ValueError:
            self.fail(400, -32700, "Parse error")
            return
        session = self.headers.get("Mcp-Session-Id", "")
        modern = self.headers.get("MCP-Protocol-Version", "") >= "2026" or VERSION in meta_of(message)
        opened = ""
        if modern:
            server: Server | None = self.server.modern()
        elif message.get("method") == "initialize":
            opened = secrets.token_hex(16)
            server = self.server.sessions[opened] = Server(self.server.command)
        else:
            server = self.server.sessions.get(session)
        if server is None:
            self.fail(404 if session else 400, -32600, "There is no such session")
        elif "method" not in message or "id" not in message:
            server.send(message)
            self.reply(202)
        else:
            self.exchange(server, message, opened, modern=modern)

    def exchange(self, server: Server, message: Message, session: str, *, modern: bool) -> None:
        """Send a request and answer with JSON, or with a stream if something comes before the answer."""
        number, exchange = server.open(message)
        try:
            first = exchange.inbox.get(timeout=PATIENCE)
            if "method" not in first:
                self.reply(status_of(message, first) if modern else 200, first, session)
            else:
                self.stream(exchange, first, session)
        except OSError:
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        finally:
            server.close(number)

    def stream(self, exchange: Exchange, message: Message, session: str) -> None:
        """Write events until the answer is one of them."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        if session:
            self.send_header("Mcp-Session-Id", session)
        self.end_headers()
        self.event(message)
        while "method" in message:
            try:
                message = exchange.inbox.get(timeout=KEEP_ALIVE)
            except queue.Empty:
                self.wfile.write(b": waiting\n\n")
            else:
                self.event(message)
            self.wfile.flush()

    def event(self, message: Message) -> None:
        """Write one event."""
        self.wfile.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")
        self.wfile.flush()


def status_of(message: Message, answer: Message) -> int:
    """The HTTP status that the modern revision gives to an answer."""
    code = (answer.get("error") or {}).get("code")
    if code == -32602 and not {VERSION, CAPABILITIES} <= meta_of(message).keys():
        return 400
    return MODERN_STATUS.get(code, 200)


if __name__ == "__main__":
    Bridge(int(sys.argv[1]), sys.argv[2:]).serve_forever()
