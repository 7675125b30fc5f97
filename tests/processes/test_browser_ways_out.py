"""Whatever a page in the browser tries, nothing leaves but through the proxy, where the guard looks at it."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from specloom.domains.scrape.browser.browser import Browser, find_browser
from specloom.domains.scrape.browser.proxy import Refused, Ticket
from specloom.net.connections import resolve_name
from specloom.net.guard import ParsedUrl
from tests.support.browser import needs_browser, page
from tests.support.loopback import Call, Loopback, Reply
from tests.support.scrape_context import HTML, OPTIONS

OPEN = replace(OPTIONS, chrome="", browser_timeout=60.0)
WAYS: dict[str, str] = json.loads(
    (Path(__file__).parents[1] / "corpus" / "attacks" / "ways_out.json").read_text(encoding="utf-8")
)
UNKNOWN = {"WebTransport", "a fenced frame", "another scheme"}
"""Ways that a browser may not know, so that their scripts fail at once."""
PAGES = [list(WAYS)[at : at + 6] for at in range(0, len(WAYS), 6)]


class Sink:
    """A port for streams and datagrams, over both families where there are two, that notes whatever arrives."""

    def __init__(self) -> None:
        self.listeners = [socket.create_server(("127.0.0.1", 0))]
        self.port = int(self.listeners[0].getsockname()[1])
        with contextlib.suppress(OSError):
            self.listeners.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(("127.0.0.1", self.port))
        for one in (*self.listeners, self.datagrams):
            one.setblocking(False)

    def arrived(self) -> int:
        """How many connections and datagrams came since the last time."""
        count = 0
        for listener in self.listeners:
            with contextlib.suppress(BlockingIOError):
                while True:
                    listener.accept()[0].close()
                    count += 1
        with contextlib.suppress(BlockingIOError):
            while True:
                self.datagrams.recv(2048)
                count += 1
        return count

    def close(self) -> None:
        for one in (*self.listeners, self.datagrams):
            one.close()


def to_headers(at: str) -> dict[str, str]:
    """Headers that ask a browser to connect somewhere by itself."""
    return {
        **HTML,
        "Link": f"<http://{at}/a>; rel=preload; as=script, <http://{at}>; rel=preconnect",
        "Content-Security-Policy-Report-Only": f"default-src 'none'; report-uri http://{at}/b; report-to x",
        "Reporting-Endpoints": f'x="http://{at}/c"',
        "Report-To": json.dumps({"group": "x", "max_age": 100, "endpoints": [{"url": f"http://{at}/d"}]}),
        "NEL": '{"report_to": "x", "max_age": 100, "success_fraction": 1}',
        "Speculation-Rules": f'"http://{at}/e"',
        "Alt-Svc": f'h3="{at}", h2="{at}"; ma=100',
        "Refresh": f"20; url=http://{at}/f",
    }


@contextlib.contextmanager
def sink() -> Iterator[Sink]:
    one = Sink()
    try:
        yield one
    finally:
        one.close()


@needs_browser
async def test_nothing_that_a_page_tries_goes_past_the_proxy() -> None:
    tried: list[str] = []
    told: dict[str, str] = {}
    reached: dict[str, int] = {}
    browser = Browser(resolve=resolve_name)
    with sink() as target:
        at = f"127.0.0.1:{target.port}"

        def reply(call: Call) -> Reply:
            if call.path.startswith("/tells/"):
                told[PAGES[int(call.query[0][1])][int(call.query[1][1])]] = call.path.rpartition("/")[2]
                return 204, {}, b""
            number = call.path.strip("/")
            ways = PAGES[int(number)] if number.isdigit() else []
            # Each way tells the page's own server that it was gone, or that this browser does not know it.
            script = "\n".join(
                f"try {{ {WAYS[way]}; fetch('/tells/tried?page={number}&way={at}') }} "
                f"catch {{ fetch('/tells/unknown?page={number}&way={at}') }}"
                for at, way in enumerate(ways)
            )
            script = script.replace("{at}", at).replace("{port}", str(target.port))
            return 200, to_headers(at), page("<p>" + "words of the page itself " * 6 + "</p>", script)

        try:
            running = await browser._ensure(find_browser("").path, OPEN)
            check = running.proxy._check

            def watch(asked: str, ticket: Ticket) -> ParsedUrl:
                if f":{target.port}" in asked:
                    tried.append(asked)
                    raise Refused(403, "not there")
                return check(asked, ticket)

            running.proxy._check = watch  # type: ignore[method-assign]
            with Loopback(reply) as server:
                for number, ways in enumerate(PAGES):
                    await browser.render(f"{server.url}/{number}", OPEN)
                    if count := target.arrived():
                        reached[", ".join(ways)] = count
        finally:
            await browser.aclose()

        assert reached == {}
        assert target.arrived() == 0
    # What is tried is really tried: it gets as far as the proxy.
    assert len(set(tried)) > 20
    assert set(told) == set(WAYS)
    assert {way for way, outcome in told.items() if outcome == "unknown"} <= UNKNOWN
