"""The page of `specloom ui` over an executor of a test, and requests to it as a browser or a stranger sends them."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from specloom.net.transport import Transport
from specloom.runtime.recordings import Sender
from specloom.ui.actions import Actions
from specloom.ui.loopback import COOKIE, LoopbackServer, serve_page

PATIENCE = 120.0
CHECKS = Path(__file__).with_name("view_checks.js").read_text(encoding="utf-8")
HOSTILE = (
    "</pre><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"> javascript:alert(1)"
)


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
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=PATIENCE)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in ({"Host": self.host} | dict(headers or {})).items():
            if value:
                connection.putheader(name, value)
        if method == "POST" and "Content-Length" not in (headers or {}):
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
def local_page(
    make_executor: Any, environ: Mapping[str, str], *, sender: Sender | None = None, **options: Any
) -> Iterator[LocalPage]:
    """The page over what `make_executor` makes with a sender, on an event loop of its own; `options` of its actions."""
    ready = threading.Event()
    pages: list[LocalPage] = []
    failures: list[BaseException] = []
    stops: list[Any] = []

    async def serve() -> None:
        actions = Actions(lambda wrap: make_executor(wrap(sender or Transport(allow_private=True))), environ, **options)
        stop = asyncio.Event()
        server = LoopbackServer(0, actions.act, actions.find_view)
        with serve_page(server):
            stops.append((asyncio.get_running_loop(), stop))
            pages.append(LocalPage(server))
            ready.set()
            await stop.wait()
        await actions.aclose()

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


class Window:
    """A window of the browser on the page, and what it did beside showing it."""

    def __init__(self, browser: Any, page: LocalPage) -> None:
        self.context = browser.new_context(viewport={"width": 1200, "height": 900})
        self.context.set_default_timeout(PATIENCE * 1000)
        self.tab = self.context.new_page()
        self.console: list[str] = []
        self.requests: list[str] = []
        self.tab.on("console", lambda message: self.console.append(message.text))
        self.tab.on("pageerror", lambda error: self.console.append(str(error)))
        self.tab.on("dialog", self._dismiss)
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.own = f"http://{page.host}/"
        self.tab.goto(page.server.address)
        self.tab.wait_for_selector("html[data-state=ready]", state="attached")

    def _dismiss(self, dialog: Any) -> None:
        self.console.append(dialog.message)
        dialog.dismiss()

    def choose(self, tool: str) -> None:
        """Choose a tool, and wait for its form."""
        self.tab.click(f".list button:text-is('{tool}')")
        self.tab.wait_for_selector(f"section h2:text-is('{tool}')")

    def run(self, tool: str, **values: str) -> str:
        """Fill the form of a tool and run it; the texts of what it gave."""
        self.choose(tool)
        for name, value in values.items():
            self.tab.fill(f"#input-{name}", value)
        self.tab.click("button[type=submit]")
        self.tab.wait_for_selector("#result h2")
        return str(self.tab.inner_text("#result"))
