"""What a server over HTTP answers to one request, or in words why nothing came back."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from specloom.core import cut, dataclass

from .common import CommandError

TOKEN = "SPECLOOM_HTTP_TOKEN"  # noqa: S105 - the name of a variable
PATIENCE = 10.0
"""Seconds for each answer."""
MOST_BYTES = 4 << 20
ENDPOINT = "/mcp"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
META = "io.modelcontextprotocol/"
_LOCAL = ("localhost", "127.0.0.1", "::1")


class Unanswered(Exception):  # noqa: N818 - what happened, as with faults
    """Nothing came back that is HTTP: what is there instead, and what to do."""

    def __init__(self, says: str, remedy: str) -> None:
        super().__init__(says)
        self.says = says
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered; of a stream, how it began."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The JSON object that it is, also as the first event of a stream; empty where it is something else."""
        text = self.body
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            text = next((line[5:] for line in text.splitlines() if line.startswith(b"data:")), b"")
        try:
            found = json.loads(text)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def result(self) -> dict[str, Any]:
        """The result of the protocol, if it is one."""
        result = self.message.get("result")
        return result if isinstance(result, dict) else {}

    @property
    def error(self) -> dict[str, Any]:
        """The error of the protocol, if it is one."""
        error = self.message.get("error")
        return error if isinstance(error, dict) else {}


class Visitor:
    """Asks one server, each time over a new connection."""

    def __init__(self, url: str, token: str = "", *, patience: float = PATIENCE) -> None:
        self.url, self.parts = _read_url(url)
        self.token = token
        self.is_secure = self.parts.scheme == "https"
        self.host = self.parts.hostname or ""
        self.port = self.parts.port or (443 if self.is_secure else 80)
        self.base = self.parts.path.removesuffix(ENDPOINT)
        """What stands before the paths of the server."""
        self.certificate_ends = 0.0
        self._patience = patience

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return self.host in _LOCAL

    def get(self, path: str) -> Reply:
        """The answer for a path of the server."""
        return self.fetch(self.base + path)

    def fetch(self, path: str) -> Reply:
        """The answer for a path of the host."""
        return self._ask("GET", path, b"", {})

    def post(self, method: str, *, shows: bool = False, modern: bool = True, **headers: str) -> Reply:
        """The answer to a request of the protocol; with the credential where it `shows` it."""
        params: dict[str, Any] = {}
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if modern:
            params["_meta"] = {
                f"{META}protocolVersion": MODERN,
                f"{META}clientCapabilities": {},
                f"{META}clientInfo": {"name": "specloom doctor", "version": "1"},
            }
            sent |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if method == "initialize":
            params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}}
        if method == "subscriptions/listen":
            params["notifications"] = {"toolsListChanged": True}
        if shows and self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self._ask("POST", self.parts.path, json.dumps(message).encode(), {**sent, **headers})

    def _ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        with _telling(self.host, self.port, is_secure=self.is_secure, seconds=self._patience):
            connection = self._connect()
            try:
                connection.request(method, path, body or None, sent)
                response = connection.getresponse()
                found = {name.lower(): value for name, value in response.getheaders()}
                if found.get("content-type", "").startswith("text/event-stream"):
                    return Reply(response.status, found, _read_event(response))
                return Reply(response.status, found, response.read(MOST_BYTES))
            finally:
                connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        if not self.is_secure:
            return http.client.HTTPConnection(self.host, self.port, timeout=self._patience)
        from specloom.net import build_tls_context

        connection = http.client.HTTPSConnection(
            self.host, self.port, timeout=self._patience, context=build_tls_context()
        )
        connection.connect()
        certificate = connection.sock.getpeercert() if isinstance(connection.sock, ssl.SSLSocket) else None
        ends = (certificate or {}).get("notAfter")
        self.certificate_ends = ssl.cert_time_to_seconds(ends) if isinstance(ends, str) else 0.0
        return connection

    def is_open(self, port: int) -> bool:
        """Whether another port of the same host takes connections."""
        try:
            with socket.create_connection((self.host, port), timeout=self._patience):
                return True
        except OSError:
            return False


def _read_url(text: str) -> tuple[str, SplitResult]:
    """The address of an endpoint in full; a CommandError for what is none."""
    parts = urlsplit(text if "://" in text else f"http://{text}")
    try:
        is_fit = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_fit = False
    if not is_fit or parts.query or parts.fragment:
        raise CommandError(f"{cut(text, 80)!r} is no address of a server; write such as https://mcp.example.com/mcp")
    if parts.username is not None:
        raise CommandError(f"a credential does not belong in an address, where logs keep it; set {TOKEN}")
    path = parts.path.rstrip("/")
    parts = parts._replace(path=path if path.endswith(ENDPOINT) else f"{path}{ENDPOINT}")
    return parts.geturl(), parts


def _read_event(response: http.client.HTTPResponse) -> bytes:
    """A stream up to the end of its first event."""
    lines: list[bytes] = []
    while sum(map(len, lines)) < MOST_BYTES and (line := response.readline()):
        lines.append(line)
        if line.startswith(b"data:"):
            break
    return b"".join(lines)


@contextlib.contextmanager
def _telling(host: str, port: int, *, is_secure: bool, seconds: float) -> Iterator[None]:
    """Says in words what keeps an answer away."""
    where = f"{host}:{port}"
    try:
        yield
    except socket.gaierror:
        raise Unanswered(f"there is no host {host}", "look at the name, and at the DNS from here") from None
    except ConnectionRefusedError:
        remedy = "start it there (specloom serve --http PORT), or look at the port"
        raise Unanswered(f"nothing listens at {where}", remedy) from None
    except TimeoutError:
        remedy = "look at a firewall on the way, or at what keeps it busy"
        raise Unanswered(f"{where} said nothing within {seconds:g} s", remedy) from None
    except ssl.SSLCertVerificationError as error:
        says = f"the certificate of {host} does not hold: {error.verify_message}"
        raise Unanswered(says, "renew it, or have the proxy send its whole chain") from None
    except ssl.SSLError:
        raise Unanswered(f"{where} speaks no TLS", "write http://, or the port where the proxy does TLS") from None
    except http.client.HTTPException:
        remedy = "look at the port" if is_secure else "write https:// if it does TLS there, or look at the port"
        raise Unanswered(f"what answers at {where} speaks no HTTP", remedy) from None
    except OSError as error:
        raise Unanswered(f"{where} cannot be reached: {error.strerror or type(error).__name__}", "") from None
