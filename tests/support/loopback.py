"""A small HTTP server on 127.0.0.1 for tests: a function answers, and every request is kept.

```python
with Loopback(lambda call: (200, {"Content-Type": "text/plain"}, b"hello")) as server:
    ...  # ask server.url + "/path"; then look at server.calls
```
The handler returns `(status, headers, body)`, where the body is bytes, text, or an iterable of bytes (sent chunked, one
chunk a piece); or `Raw(pieces)`, which is written as it is before the connection is closed; or `RESET`.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import ipaddress
import socket
import ssl
import struct
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO, Self
from urllib.parse import parse_qsl

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
Body = bytes | str | Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Call:
    """One request as the server saw it: `query` in order, header names in lower case (repeated ones joined)."""

    method: str
    target: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: dict[str, str]
    body: bytes
    connection: int
    """Which connection it came on, counted from 1."""


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes written to the socket as they are; then the connection is closed."""

    pieces: Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset instead of answered, after `pieces` were written."""

    pieces: Iterable[bytes] = ()


RESET = Reset()
Reply = tuple[int, Headers, Body] | Raw | Reset
Handler = Callable[[Call], Reply]


@dataclass
class Loopback:
    """A running server: its `url`, its `calls` so far, and with `tls` the CA file that signed it, `certificate`.

    With `any_name` it proves itself under whatever name it is asked for.
    """

    handler: Handler
    tls: bool = False
    names: tuple[str, ...] = ("localhost", "127.0.0.1")
    any_name: bool = False
    calls: list[Call] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    host: str = "127.0.0.1"
    port: int = 0
    connections: int = 0
    certificate: str = ""

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    @property
    def last(self) -> Call:
        return self.calls[-1]

    def __enter__(self) -> Self:
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._folder = tempfile.TemporaryDirectory()
        self._context = self._make_context() if self.tls else None
        self._listener = socket.create_server((self.host, 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._workers: list[threading.Thread] = []
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        # Closing a listener does not wake its accept; a connection does.
        with contextlib.suppress(OSError):
            socket.create_connection((self.host, self.port), timeout=1).close()
        self._thread.join(5)
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for worker in self._workers:
            worker.join(5)
        self._folder.cleanup()
        if self.errors:
            raise AssertionError("the handler of the loopback server failed") from self.errors[0]

    @property
    def stopped(self) -> threading.Event:
        """Set when the server shuts down: a slow handler waits on this instead of sleeping."""
        return self._stopped

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            if self._stopped.is_set():
                connection.close()
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections += 1
            worker = threading.Thread(target=self._serve, args=(connection, self.connections), daemon=True)
            self._workers.append(worker)
            worker.start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with self._lock:
            self._open.add(connection)
        try:
            if self._context is not None:
                with self._lock:
                    self._open.discard(connection)
                connection.settimeout(20)
                connection = self._context.wrap_socket(connection, server_side=True)
                connection.settimeout(None)
                with self._lock:
                    self._open.add(connection)
            with connection.makefile("rb") as reader:
                while not self._stopped.is_set():
                    call = self._read(reader, number)
                    if call is None or not self._answer(connection, call):
                        return
        except OSError:
            pass  # The client went away, which is what many tests are about.
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def _read(self, reader: BinaryIO, number: int) -> Call | None:
        line = reader.readline().decode("latin-1").rstrip("\r\n")
        if not line:
            return None
        method, _, rest = line.partition(" ")
        target, _, version = rest.rpartition(" ")
        if not version.startswith("HTTP/"):
            return None  # Not HTTP, such as the start of a TLS handshake.
        headers: dict[str, str] = {}
        while line := reader.readline().decode("latin-1").rstrip("\r\n"):
            name, _, value = line.partition(":")
            key = name.lower()
            headers[key] = f"{headers[key]}, {value.strip()}" if key in headers else value.strip()
        body = reader.read(int(headers.get("content-length", "0")))
        path, _, query = target.partition("?")
        call = Call(
            method, target, path, tuple(parse_qsl(query, keep_blank_values=True)), headers, body, connection=number
        )
        self.calls.append(call)
        return call

    def _answer(self, connection: socket.socket, call: Call) -> bool:
        try:
            reply = self.handler(call)
        except Exception as error:
            self.errors.append(error)
            reply = (500, {}, b"")
        if isinstance(reply, Raw | Reset):
            for piece in reply.pieces:
                connection.sendall(piece)
            if isinstance(reply, Reset):
                # Closing with a linger time of zero sends RST.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                connection.shutdown(socket.SHUT_WR)
            return False
        status, headers, body = reply
        pairs = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
        given = {name.lower() for name, _ in pairs}
        content = body.encode("utf-8") if isinstance(body, str) else body
        bare = call.method == "HEAD" or status in (204, 304)
        if not bare and not given & {"content-length", "transfer-encoding"}:
            framing = ("Content-Length", str(len(content))) if isinstance(content, bytes) else None
            pairs.append(framing or ("Transfer-Encoding", "chunked"))
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Unknown"
        head = f"HTTP/1.1 {status} {phrase}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in pairs) + "\r\n"
        if bare:
            connection.sendall(head.encode("latin-1"))
        elif isinstance(content, bytes):
            connection.sendall(head.encode("latin-1") + content)
        else:
            connection.sendall(head.encode("latin-1"))
            for piece in content:
                connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
            connection.sendall(b"0\r\n\r\n")
        return "close" not in {value.lower() for name, value in pairs if name.lower() == "connection"}

    def _make_context(self) -> ssl.SSLContext:
        folder = Path(self._folder.name)
        certificate, key = _make_certificate(self.names)
        (folder / "cert.pem").write_bytes(certificate)
        (folder / "key.pem").write_bytes(key)
        self.certificate = str(folder / "cert.pem")
        context = _to_context(folder, "cert.pem", "key.pem")
        if self.any_name:
            contexts: dict[str, ssl.SSLContext] = {}

            def choose(connection: Any, name: str | None, _: ssl.SSLContext) -> None:
                with self._lock:
                    if name and name not in contexts:
                        own = _make_certificate((name,), issuer=(certificate, key))
                        for file, data in zip(("name.pem", "name.key"), own, strict=True):
                            (folder / file).write_bytes(data)
                        contexts[name] = _to_context(folder, "name.pem", "name.key")
                connection.context = contexts.get(name or "", context)

            context.sni_callback = choose
        return context


def _to_context(folder: Path, certificate: str, key: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / certificate, folder / key)
    return context


def _make_certificate(names: Iterable[str], issuer: tuple[bytes, bytes] | None = None) -> tuple[bytes, bytes]:
    """A certificate for names and its key, signed by the certificate and key of `issuer`, or a CA signed by itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    now = dt.datetime.now(dt.UTC)
    day = dt.timedelta(days=1)
    others: list[Any] = []
    for name in names:
        try:
            others.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            others.append(x509.DNSName(name))
    signer, signing = subject, key
    if issuer is not None:
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a name of the loopback")])
        signing = serialization.load_pem_private_key(issuer[1], None)  # type: ignore[assignment]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(signer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName(others), critical=False)
        .add_extension(
            x509.BasicConstraints(ca=issuer is None, path_length=0 if issuer is None else None), critical=True
        )
        .sign(signing, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8
    return certificate.public_bytes(pem), key.private_bytes(pem, plain, serialization.NoEncryption())
