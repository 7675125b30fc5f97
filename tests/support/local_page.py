"""The page of `specloom ui` over an executor of a test, and requests to it as a browser or a stranger sends them."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from specloom.net.transport import Transport
from specloom.runtime.presentation import Presenter
from specloom.runtime.recordings import Sender
from specloom.ui.actions import Actions
from specloom.ui.exchanges import ExchangeRecorder
from specloom.ui.loopback import COOKIE, LoopbackServer, serve_page


class PageReply(NamedTuple):
    """What the server of the page answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class LocalPage:
    """A running page."""

    def __init__(self, server: LoopbackServer) -> None:
        self.server = server
        self.host = f"127.0.0.1:{server.server_port}"
        self.cookie = f"{COOKIE}={server.session}"

    def send(self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b"") -> PageReply:
        """Send a request with these headers alone."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in ({"Host": self.host} | dict(headers or {})).items():
            if value:
                connection.putheader(name, value)
        if method == "POST":
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body or None)
        response = connection.getresponse()
        reply = PageReply(response.status, {name.lower(): value for name, value in response.getheaders()}, b"")
        reply = reply._replace(body=response.read())
        connection.close()
        return reply

    def ask(self, name: str, given: Mapping[str, Any] | None = None, **headers: str) -> PageReply:
        """Ask as the page does."""
        usual = {"Cookie": self.cookie, "Origin": f"http://{self.host}", "Content-Type": "application/json"}
        changed = {name.replace("_", "-").title(): value for name, value in headers.items()}
        return self.send("POST", f"{self.server.folder}api/{name}", usual | changed, json.dumps(given or {}).encode())


@contextmanager
def local_page(make_executor: Any, environ: Mapping[str, str], *, sender: Sender | None = None) -> Iterator[LocalPage]:
    """The page over what `make_executor` makes with a sender, on an event loop of its own."""
    ready = threading.Event()
    pages: list[LocalPage] = []
    failures: list[BaseException] = []
    stops: list[Any] = []

    async def serve() -> None:
        recorder = ExchangeRecorder(sender or Transport(allow_private=True))
        executor = make_executor(recorder)
        actions = Actions(executor, Presenter(executor), recorder, environ)
        stop = asyncio.Event()
        server = LoopbackServer(0, actions.act, actions.find_view)
        with serve_page(server):
            stops.append((asyncio.get_running_loop(), stop))
            pages.append(LocalPage(server))
            ready.set()
            await stop.wait()
        await executor.aclose()

    def work() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            failures.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    try:
        if failures:
            raise failures[0]
        yield pages[0]
    finally:
        for loop, stop in stops:
            loop.call_soon_threadsafe(stop.set)
        thread.join()
    if failures:
        raise failures[0]


def address_parts(address: str) -> tuple[str, str]:
    """Path and query of the address that the command prints, and the token in it."""
    parts = urlsplit(address)
    return f"{parts.path}?{parts.query}", parts.query.removeprefix("token=")
