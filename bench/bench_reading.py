"""Whole `scrape_page` calls a second over stdio, from a loopback server: alone, 8 and 32 in flight, at once or late.

    python bench/run.py --only reading
    python bench/bench_reading.py [--pages FOLDER] [--rival PROGRAM] [--calls N] [--made] [--memory N]

The pages are real ones: the *.html below a folder that is named, else those of the extraction benchmark
(SPECLOOM_BENCH; see bench/extraction). Beside them stand, in the same run and round by round, another server with a
`scrape_page` (`--rival`, or the binary of the package web-researcher-mcp where it is installed) and the library
trafilatura, in processor time. What is not there is said. Without real pages, and with `--made`, pages of 50 KB are
made. By itself, it can tell how memory grows over many pages.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

sys.path.append(str(Path(__file__).parent / "reading"))

import extractors
from client import Client, call, descendants, resident
from figures import Figure, lines
from rivals import COMMAND, PACKAGE, find_rival
from specs import environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LATE = 0.2
"""Seconds after which `/late/` answers."""
WIDTHS = {1: 0.25, 8: 0.25, 32: 0.25}
"""Calls in flight, and the pages a second that are wanted of pages that are there at once, by those of the rival."""
LATE_WIDTHS = {8: 1.5, 32: 1.5}
"""The same for pages that take 200 ms."""
STEPS = 10
VARIETY = 50
"""Different pages that are made; each address is read once all the same."""
_ID = re.compile(rb'"id":\s*(\d+)')


def make_page(number: int) -> bytes:
    """A page of some 50 KB as a blog has them: styles, menus, an article with a table and a listing, remarks."""
    rules = "".join(
        f".box-{at} .inner{{margin:{at}px;color:#333}}@media print{{.box-{at}{{display:none}}}}" for at in range(150)
    )
    menu = "".join(f'<li class="menu-item"><a href="/topic/{at}">Topic {at}</a></li>' for at in range(60))
    about = json.dumps({"@context": "https://schema.org", "@type": "Article", "headline": f"Rivers, part {number}"})
    prose = "".join(
        f'<h2 id="s{at}">Reach {at}</h2><p class="text">The river turns <a href="/bend/{at}">here</a>, {number + at} '
        "steps from the mill; <em>nobody</em> has counted them twice, and those who did came to another number.</p>"
        "<p>Below the weir the water is slow, and in dry summers children walk across it with their shoes on.</p>"
        for at in range(40)
    )
    rows = "".join(f"<tr><td>Gauge {at}</td><td>{at * 7} cm</td></tr>" for at in range(20))
    cards = "".join(
        f'<div class="card related"><a href="/p/{at}"><img src="/i/{at}.jpg" alt=""><span>Another {at}</span></a></div>'
        for at in range(40)
    )
    remarks = "".join(
        f'<div class="comment"><b>Reader {at}</b><p>I was there in {1950 + at}.</p></div>' for at in range(20)
    )
    scripts = "<script>" + "var state = {};" * 600 + "</script>"
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>Rivers, part {number} - A blog</title>"
        f'<style>{rules}</style><script type="application/ld+json">{about}</script></head><body>'
        f'<nav class="site-nav"><ul>{menu}</ul></nav><main><article class="post"><h1>Rivers, part {number}</h1>{prose}'
        f"<table><tr><th>Where</th><th>Depth</th></tr>{rows}</table><pre><code>print({number})</code></pre></article>"
        f'<section class="comments">{remarks}</section></main><aside>{cards}</aside>'
        f'<footer class="foot">Made by hand.</footer>{scripts}</body></html>'
    ).encode()


class Pages(asyncio.Protocol):
    """Answers `/now/…` at once, `/late/…` later, and `/fetched` with the number of pages that were asked for."""

    bodies: Sequence[bytes] = ()
    fetched = 0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.received = b""
        self.is_head = False

    def data_received(self, data: bytes) -> None:
        self.received += data
        while b"\r\n\r\n" in self.received:
            head, _, self.received = self.received.partition(b"\r\n\r\n")
            method, path = head.split(b" ", 2)[:2]
            self.is_head = method == b"HEAD"
            if not path.rpartition(b"/")[2].isdigit() and path != b"/fetched":
                self.answer(b"Nothing here.", status=b"404 Not Found")  # robots.txt, for one
                continue
            if path == b"/fetched":
                self.answer(b"%d" % Pages.fetched)
                continue
            Pages.fetched += 1
            number = int(path.rpartition(b"/")[2])
            body = Pages.bodies[number % len(Pages.bodies)]
            if path.startswith(b"/late/"):
                asyncio.get_running_loop().call_later(LATE, self.answer, body)
            else:
                self.answer(body)

    def answer(self, body: bytes, *, status: bytes = b"200 OK") -> None:
        head = (
            b"HTTP/1.1 "
            + status
            + b"\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n" % len(body)
        )
        self.transport.write(head if self.is_head else head + body)


@contextmanager
def serving(folder: str = "") -> Iterator[str]:
    """The address of a server of pages, a process of its own, that runs as long as the context."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve", "--pages", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate()


@contextmanager
def reading(folder: Path) -> Iterator[Client]:
    """A server that may read from the loopback, and has no browser."""
    more = {"SPECLOOM_ALLOW_PRIVATE": "true", "CHROME_PATH": "disabled"}
    with Client(COMMAND, environment(folder / "cache", **more)) as client:
        client.list_tools()
        yield client


@contextmanager
def reading_elsewhere(program: str, folder: Path) -> Iterator[Client]:
    """The other server, which may read from the loopback too."""
    folder.mkdir()
    environ = {**environment(folder), "HOME": str(folder), "ALLOW_PRIVATE_IPS": "true"}
    with Client([program], environ) as client:
        client.list_tools()
        yield client


@dataclass(frozen=True, slots=True)
class Flood:
    """Some calls: pages a second, the median milliseconds of one call, and how many pages could not be read."""

    rate: float
    median: float
    refused: int


def flood(client: Client, urls: Sequence[str], width: int, *, may_refuse: bool = False) -> Flood:
    """Reads all addresses with so many calls in flight; one that is refused ends the run unless it may be.

    A quarter that are refused end it anyway: who reads nothing is quick.
    """
    sent: dict[int, float] = {}
    taken: list[float] = []
    refused = 0
    began = time.perf_counter()
    while len(taken) < len(urls):
        while len(sent) < len(urls) and len(sent) - len(taken) < width:
            number = 100 + len(sent)
            line = call(number, "scrape_page", {"url": urls[len(sent)]})
            sent[number] = time.perf_counter()
            client.send(line)
        line = client.receive()
        match = _ID.search(line[:60])
        if match is None or b'"method":' in line[:60]:
            continue
        taken.append(time.perf_counter() - sent[int(match[1])])
        if b'"error":' in line[:80] or b'"isError":true' in line:
            refused += 1
            if not may_refuse or refused > max(len(urls) // 4, 3):
                told = line[:800].decode("utf-8", "replace")
                raise SystemExit(f"bench: {refused} of {len(taken)} pages were not read, the last one so: {told}")
    return Flood(len(urls) / (time.perf_counter() - began), statistics.median(taken) * 1000, refused)


def measure(rounds: int, count: int, *, pages: str = "", rival: str = "", made: bool = False) -> list[Figure]:
    """Pages a second, milliseconds, fetches a page; of real pages also by the other server and beside trafilatura."""
    folder = None if made else extractors.find_pages(pages)
    program = find_rival(rival)
    note = "" if program else f"no other server: --rival names none, and {PACKAGE} is not installed"
    if folder is None:
        why = "" if made else f"{extractors.tell_absence()}; these are made"
        return measure_calls(rounds, count, rival=program, note="; ".join(filter(None, (why, note))))
    listed = extractors.list_pages(folder)
    figures = measure_calls(rounds, count, pages=str(folder), rival=program, note=note)
    return [*figures, *extractors.measure(listed[:: extractors.EVERY], rounds)]


def measure_calls(rounds: int, count: int, *, pages: str = "", rival: str = "", note: str = "") -> list[Figure]:
    """Calls of `scrape_page`; those of the other server read the same pages right after ours."""
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = stack.enter_context(serving(pages))
        clients = [stack.enter_context(reading(work))]
        if rival:
            clients.append(stack.enter_context(reading_elsewhere(rival, work / "rival")))
        at = asked = fetched = 0

        def run(kind: str, width: int, some: int) -> list[Flood]:
            nonlocal at, asked, fetched
            urls = [f"{address}/{kind}/{number}" for number in range(at, at + some)]
            at += some
            floods = []
            for turn, client in enumerate(clients):
                before = count_fetched(address)
                floods.append(flood(client, urls, width, may_refuse=bool(pages)))
                if turn == 0:
                    asked += some
                    fetched += count_fetched(address) - before
            return floods

        run("now", max(WIDTHS), 2 * max(WIDTHS))  # the workers are started and have read a page
        found: dict[tuple[str, int], list[list[Flood]]] = {}
        for _ in range(rounds):
            for kind, widths in (("now", WIDTHS), ("late", LATE_WIDTHS)):
                for width in widths:
                    found.setdefault((kind, width), []).append(run(kind, width, max(count, 4 * width)))
    figures = []
    what = "whole real pages" if pages else "whole pages"
    for (kind, width), rows in found.items():
        group = f"{what} over stdio, each for the first time, {'at once' if kind == 'now' else 'after 200 ms'}"
        floor = (WIDTHS if kind == "now" else LATE_WIDTHS)[width] if rival else None
        beside = PACKAGE if rival else ""
        ours, *others = zip(*rows, strict=True)
        theirs = others[0] if others else ()
        refused = tell_refused(ours, theirs)
        rates = [tuple(one.rate for one in side) for side in (ours, theirs)]
        medians = [tuple(one.median for one in side) for side in (ours, theirs)]
        figures.append(
            Figure(
                group, f"{width} in flight", "pages/s", *rates, budget=floor, at_least=True, note=refused, beside=beside
            )
        )
        figures.append(Figure(group, f"{width} in flight, p50", "ms", *medians, beside=beside))
    return [*figures, Figure("fetches", "asked for", "times a page", (fetched / asked,), budget=1.0, note=note)]


def tell_refused(ours: Sequence[Flood], theirs: Sequence[Flood]) -> str:
    """How many pages each side said that it cannot read; "" where both read all."""
    counts = [sum(one.refused for one in side) for side in (ours, theirs)]
    return f"not read: {counts[0]} by specloom, {counts[1]} by the other side" if any(counts) else ""


def count_fetched(address: str) -> int:
    """How many pages were asked for so far."""
    with urlopen(f"{address}/fetched", timeout=10) as answer:
        return int(answer.read())


def grow(count: int, *, pages: str = "") -> Iterator[str]:
    """Memory of the server and of all it started, after each tenth of so many pages."""
    with tempfile.TemporaryDirectory() as folder, serving(pages) as address, reading(Path(folder)) as client:
        for step in range(STEPS):
            urls = [f"{address}/now/{number}" for number in range(step * count // STEPS, (step + 1) * count // STEPS)]
            rate = flood(client, urls, 8, may_refuse=bool(pages)).rate
            own = client.memory().get("RSS", 0.0)
            below = [resident(pid) for pid in descendants(client.process.pid)]
            yield (
                f"{(step + 1) * count // STEPS:6} pages: server {own:.0f} MB,"
                f" {len(below)} workers {' + '.join(f'{size:.0f}' for size in below)} MB, {rate:.0f} pages/s"
            )


async def serve() -> None:
    """Answer until killed."""
    server = await asyncio.get_running_loop().create_server(Pages, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", default="", metavar="FOLDER", help="read the *.html below this folder, over again")
    parser.add_argument("--calls", type=int, default=200, help="pages a measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", type=int, default=0, metavar="N", help="instead: memory over so many pages")
    parser.add_argument("--rival", default="", metavar="PROGRAM", help="a server with a tool of the same name")
    parser.add_argument("--made", action="store_true", help="make the pages, though there are real ones")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        folder = Path(options.pages)
        Pages.bodies = (
            [path.read_bytes() for path in sorted(folder.rglob("*.html"))]
            if options.pages
            else [*map(make_page, range(VARIETY))]
        )
        asyncio.run(serve())
    elif options.memory:
        for line in grow(options.memory, pages=options.pages):
            print(line, flush=True)
    else:
        figures = measure(options.rounds, options.calls, pages=options.pages, rival=options.rival, made=options.made)
        print("\n".join(lines(figures)))


if __name__ == "__main__":
    main()
