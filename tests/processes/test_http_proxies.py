"""Requests that hide another one, through the proxies that people put before the server: none is read as two."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.http.test_attacks import Counting, chunked, hidden
from tests.support.http_server import Client, HttpDemo
from tests.support.server_process import call

pytestmark = pytest.mark.process
NGINX = """\
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    upstream one {{ server 127.0.0.1:{server}; keepalive 8; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://one;
            proxy_http_version 1.1;
            proxy_request_buffering off;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
        }}
    }}
}}
"""
HAPROXY = """\
defaults
    mode http
    timeout connect 60s
    timeout client 60s
    timeout server 60s
frontend in
    bind 127.0.0.1:{port}
    default_backend one
backend one
    http-reuse always
    server one 127.0.0.1:{server}
"""
PROXIES: dict[str, tuple[str, Callable[[str], list[str]]]] = {
    "nginx": (NGINX, lambda path: ["nginx", "-c", path, "-e", f"{path}.error"]),
    "haproxy": (HAPROXY, lambda path: ["haproxy", "-db", "-q", "-f", path]),
}


def find_program(name: str) -> str:
    """The path of a proxy; those of Debian are for administrators and stand in no user's PATH."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin") or ""


def find_port() -> int:
    """A port below those that a system gives to whoever asks for any, so that nobody gets it meanwhile."""
    for port in random.Random(os.getpid()).sample(range(20_000, 32_000), 100):
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
    raise AssertionError("there is no free port")


@contextmanager
def proxied(name: str, folder: Path) -> Iterator[tuple[HttpDemo, int]]:
    """A server, and the port of the proxy before it."""
    program = find_program(name)
    if not program:
        pytest.skip(f"there is no {name} (apt-get install {name})")
    port = find_port()
    settings = {"ALLOWED_HOSTS": f"127.0.0.1:{port}", "HTTP_READ_TIMEOUT": "2s", "TRUST_PROXY": "true"}
    with HttpDemo(settings, demo=Counting()) as server:
        text, command = PROXIES[name]
        path = folder / "proxy.conf"
        path.write_text(text.format(folder=folder, server=server.port, port=port))
        _, *rest = command(str(path))
        with (folder / "said.txt").open("w") as said:
            proxy = subprocess.Popen([program, *rest], stdout=said, stderr=said)
        try:
            while True:
                assert proxy.poll() is None, (folder / "said.txt").read_text()
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
                time.sleep(0.05)
            yield server, port
        finally:
            proxy.terminate()
            proxy.wait(60)


FORMS: dict[str, tuple[bytes, tuple[bytes, ...]]] = {
    "a length and chunks": (b"0\r\n\r\n", (b"Content-Length: 5", b"Transfer-Encoding: chunked")),
    "chunks and a length": (b"0\r\n\r\n", (b"Transfer-Encoding: chunked", b"Content-Length: 5")),
    "two lengths": (b"0\r\n\r\n", (b"Content-Length: 5", b"Content-Length: 0")),
    "an unknown coding": (b"0\r\n\r\n", (b"Transfer-Encoding: xchunked",)),
    "a coding behind a tab": (b"0\r\n\r\n", (b"Transfer-Encoding:\tchunked", b"Content-Length: 5")),
    "a blank before the colon": (b"0\r\n\r\n", (b"Transfer-Encoding : chunked", b"Content-Length: 5")),
    "a coding in two lines": (b"0\r\n\r\n", (b"Transfer-Encoding: chunked", b"Transfer-Encoding: x")),
    "a folded line": (b"0\r\n\r\n", (b"X-A: b\r\n Transfer-Encoding: chunked", b"Content-Length: 5")),
    "a bare line feed": (b"0\r\n\r\n", (b"X-A: b\nTransfer-Encoding: chunked", b"Content-Length: 5")),
    "a bare carriage return": (b"0\r\n\r\n", (b"X-A: b\rTransfer-Encoding: chunked", b"Content-Length: 5")),
    "a zero byte": (b"0\r\n\r\n", (b"X-A: b\x00Transfer-Encoding: chunked", b"Content-Length: 5")),
    "a size that overflows": (b"fffffffffffffffff\r\n", (b"Transfer-Encoding: chunked",)),
    "a size with a sign": (b"+0\r\n\r\n", (b"Transfer-Encoding: chunked",)),
    "a line feed in chunks": (b"0\n\n", (b"Transfer-Encoding: chunked",)),
}


@pytest.mark.parametrize("name", PROXIES)
def test_no_proxy_and_the_server_read_one_request_as_two(name: str, tmp_path: Path) -> None:
    with proxied(name, tmp_path) as (server, port):
        with Client(port) as client:
            assert client.post(call(1, "echo", {"text": "whole"})).status == 200
        for form, (body, lines) in FORMS.items():
            with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
                # What is hidden belongs to the first request as far as its lengths say.
                connection.sendall(chunked(port, body, *lines) + hidden(port))
                connection.shutdown(socket.SHUT_WR)
                said = b""
                with contextlib.suppress(ConnectionError, TimeoutError):
                    while part := connection.recv(65536):
                        said += part
            answers = said.count(b"HTTP/1.1 ") + said.count(b"HTTP/1.0 ")
            # Two are right where the proxy saw two and cleaned the first; one that was hidden is never answered first.
            assert said.find(b"smuggled") == -1 or answers >= 2, (form, said)
            with Client(port) as client:
                after = client.post(call(2, "echo", {"text": f"after {form}"}))
            # Nobody else's connection is out of step: each gets the answer to what it asked.
            assert after.status == 200, (form, after)
            assert after.json["result"]["structuredContent"] == {"text": f"after {form}"}, form
        assert server.reported == []
