"""An HTTP server of one page for one person: on loopback alone, behind a token, checked against DNS rebinding.

It is the one of the standard library, because nobody else reaches it. A token opens it once, in the address that the
command prints; what it opens with is then a cookie under a path that no other program on this machine is told of,
since cookies of 127.0.0.1 go to all of its ports.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import socket
import socketserver
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import CancelledError
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from specloom import __version__
from specloom.core import dump_clean
from specloom.server import report

HOST = "127.0.0.1"
COOKIE = "specloom_ui"
MOST_BODY = 2 << 20
"""Bytes of a request."""
PATIENCE = 30.0
"""Seconds that a connection may be silent."""
MOST_DROPPED = 16 << 20
"""Bytes of a refused request that are still taken, so that its sender comes to read why it is refused."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
"""Nothing but what the page's own server gives; no text becomes script."""
VIEW_POLICY = "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; frame-ancestors 'self'"
"""For the document of a view, which names its scripts by their hashes: an origin of its own, so no access to ours."""
_FILES = {"": "page.html", "page.js": "page.js", "page.css": "page.css"}
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_OPENS = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>specloom</title>
<meta http-equiv="refresh" content="0; url=FOLDER"></head><body><p><a href="FOLDER">specloom</a></p></body></html>
"""

Act = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any] | None]]
"""What the page asks for, by name, with what it gives; None where there is no such thing."""
FindView = Callable[[str], str | None]


class LoopbackServer(ThreadingHTTPServer):
    """The page's server, whose requests are answered on the event loop that made it."""

    daemon_threads = True
    block_on_close = False
    # On Windows it would let another program listen on the same port.
    allow_reuse_address = os.name == "posix"

    def __init__(self, port: int, act: Act, find_view: FindView) -> None:
        """Listens at once; raises OSError where the port cannot be had. Port 0 takes any."""
        self.act = act
        self.find_view = find_view
        self.loop = asyncio.get_running_loop()
        self.folder = f"/{secrets.token_urlsafe(16)}/"
        self.session = secrets.token_urlsafe(32)
        self._token = secrets.token_urlsafe(32)
        self._lock = threading.Lock()
        super().__init__((HOST, port), _Handler)
        self.names = frozenset({f"{HOST}:{self.server_port}", f"localhost:{self.server_port}"})
        """What a request may name as its host; any other name was made to lead here."""

    def server_bind(self) -> None:
        # That of the library asks the network for the name of this machine.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    @property
    def address(self) -> str:
        """Where the page opens, once."""
        return f"http://{HOST}:{self.server_port}/?token={self._token}"

    def take_token(self, token: str) -> bool:
        """Whether this is the token; it is used up then."""
        with self._lock:
            fits = bool(self._token) and secrets.compare_digest(self._token.encode(), token.encode())
            if fits:
                self._token = ""
            return fits

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a browser that leaves in the middle of an answer is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: LoopbackServer
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE

    def version_string(self) -> str:
        return "specloom"

    def log_message(self, *_: object) -> None:
        """Nothing: addresses hold the token."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if not self._is_ours():
            return self._refuse(403, "This page answers its own address alone.")
        if parts.path == "/":
            return self._open(parse_qs(parts.query).get("token", [""])[0])
        name = self._name(parts.path)
        if name is None:
            return None
        if name.startswith("view/"):
            document = self.server.find_view(name.removeprefix("view/"))
            if document is None:
                return self._refuse(404, "This answer is no longer kept; run the tool again.")
            return self._send(200, document.encode(), "text/html", policy=VIEW_POLICY)
        if name not in _FILES:
            return self._refuse(404, "There is nothing here.")
        file = _FILES[name]
        body = files(__package__).joinpath(file).read_text(encoding="utf-8").replace("VERSION", __version__)
        return self._send(200, body.encode(), _TYPES[file.rpartition(".")[2]])

    def do_POST(self) -> None:
        if not self._is_ours() or self.headers.get("Origin") != f"http://{self.headers['Host']}":
            return self._refuse(403, "This page answers itself alone.")
        name = self._name(urlsplit(self.path).path)
        if name is None:
            return None
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > 20 or int(length) > MOST_BODY:
            return self._refuse(413, f"Send a length, of at most {MOST_BODY} bytes.")
        body = self.rfile.read(int(length))
        if self.headers.get_content_type() != "application/json":
            return self._refuse(415, "Send JSON.")
        try:
            given = json.loads(body)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            return self._refuse(400, "Send an object of JSON.")
        answering = asyncio.run_coroutine_threadsafe(_await(self.server.act(name, given)), self.server.loop)
        try:
            answer = answering.result()
        except CancelledError:
            self.close_connection = True  # the server ends, and its page with it
            return None
        except Exception as error:  # noqa: BLE001 - the page goes on, and the terminal tells
            report(error)
            return self._refuse(500, f"A defect: {type(error).__name__}. The terminal of `specloom ui` may say more.")
        if answer is None:
            return self._refuse(404, "There is nothing here.")
        return self._send(200, dump_clean(answer).encode(), "application/json")

    def _is_ours(self) -> bool:
        """Whether the request names this server, once, and comes from its page or from the person."""
        if "Transfer-Encoding" in self.headers or (self.command == "GET" and "Content-Length" in self.headers):
            return False  # a browser sends neither, and what is not read would be taken for the next request
        named = self.headers.get_all("Host") or []
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site", "none")
        if len(named) != 1 or named[0] not in self.server.names or origin not in (None, f"http://{named[0]}"):
            return False
        return site in ("none", "same-origin") or urlsplit(self.path).path == "/"

    def _name(self, path: str) -> str | None:
        """What is asked for below the folder; None, with the refusal sent, where the cookie is not there."""
        cookies: SimpleCookie = SimpleCookie()
        with contextlib.suppress(CookieError):
            cookies.load(self.headers.get("Cookie", ""))
        session = cookies[COOKIE].value if COOKIE in cookies else ""
        is_known = secrets.compare_digest(session.encode(), self.server.session.encode())
        if not is_known or not path.startswith(self.server.folder):
            self._refuse(403, "Open the address that `specloom ui` printed.")
            return None
        return path.removeprefix(self.server.folder)

    def _open(self, token: str) -> None:
        if not self.server.take_token(token):
            return self._refuse(403, "This address opens the page once. End `specloom ui` and start it again.")
        cookie = f"{COOKIE}={self.server.session}; Path={self.server.folder}; HttpOnly; SameSite=Strict"
        # A page that leads on, and no redirect: a browser keeps a strict cookie back that a link of elsewhere led to.
        body = _OPENS.replace("FOLDER", self.server.folder).encode()
        return self._send(200, body, "text/html", {"Set-Cookie": cookie})

    def _refuse(self, status: int, sentence: str) -> None:
        # What comes with it is not read, so the connection ends.
        self.close_connection = True
        self._send(status, f"{sentence}\n".encode(), "text/plain", {"Connection": "close"})
        if self.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in self.headers:
            self._drop_body()

    def _drop_body(self) -> None:
        """Take what is still sent, and forget it: a connection closed over it is reset, and the answer lost with it."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(1)
            left = MOST_DROPPED
            while left > 0 and (piece := self.connection.recv(1 << 16)):
                left -= len(piece)

    def _send(
        self, status: int, body: bytes, kind: str, headers: Mapping[str, str] | None = None, *, policy: str = POLICY
    ) -> None:
        self.send_response(status)
        sent = {
            "Content-Type": kind if kind == "application/json" else f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            **(headers or {}),
        }
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


async def _await(answer: Awaitable[Mapping[str, Any] | None]) -> Mapping[str, Any] | None:
    return await answer


@contextlib.contextmanager
def serve_page(server: LoopbackServer) -> Any:
    """The server at work in a thread, until the block ends."""
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="specloom-ui", daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
