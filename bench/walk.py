"""How far one call goes: the modules and functions of the engine that a new `web_search` and a `scrape_page` pass.

A call is made once to import what it needs, then another one is walked with `sys.setprofile`, in this thread and in
those that it starts. Worker processes are not followed: pages are made in this process here. The specs come from their
image, as for every server but the first: what an expression says is then code of its spec, and none of the engine.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rivals import asking
from specs import environment
from stub import BODY

from specloom.server.backend import ExecutorBackend
from specloom.server.protocol import Call
from specloom.server.served import load_served
from specloom.server.start import make_executor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

ENGINE = f"{Path('engine', 'specloom')}/"
_WORD = "otters hold hands while they sleep so that they do not drift apart from each other "
PAGE = (
    "<html><head><title>Otters</title></head><body><nav><a href='/'>Home</a></nav><article><h1>Otters</h1>"
    + "".join(f"<p>Paragraph {number}: {_WORD * 4}.</p>" for number in range(8))
    + "</article><footer>Example</footer></body></html>"
).encode()


class Answers(BaseHTTPRequestHandler):
    """A search engine under /search and a page everywhere else."""

    def do_GET(self) -> None:
        """Answer at once."""
        is_search = self.path.startswith("/search")
        body = BODY if is_search else PAGE
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "application/json" if is_search else "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Quiet(Call):
    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Say nothing."""


class Walk:
    """The functions of the engine that were entered, by module."""

    def __init__(self) -> None:
        self.passed: dict[str, set[str]] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a function when it is entered."""
        code = frame.f_code
        # A comprehension is part of the function that it stands in, as Python 3.12 and later run it.
        if event == "call" and ENGINE in code.co_filename and not code.co_name.endswith(("comp>", "genexpr>")):
            self.passed.setdefault(code.co_filename.partition(ENGINE)[2], set()).add(code.co_qualname)

    def lines(self, *, names: bool) -> list[str]:
        """A line a module, with the functions where they are wanted."""
        return [
            f"  {module} {len(found)}" + (f": {', '.join(sorted(found))}" if names else "")
            for module, found in sorted(self.passed.items())
        ]


async def walk(environ: Mapping[str, str], tool: str, first: dict[str, Any], second: dict[str, Any]) -> Walk:
    """What the second of two calls passes; the first one has imported what there is to import."""
    load_served(environ)
    executor = make_executor(environ)
    backend = ExecutorBackend(executor)
    found = Walk()
    try:
        await backend.call_tool(tool, first, _Quiet())
        await asyncio.sleep(0.3)  # what the first call left to do, such as writing to the disk, is no part of the walk
        threading.setprofile(found)
        sys.setprofile(found)
        try:
            await backend.call_tool(tool, second, _Quiet())
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
    finally:
        await executor.aclose()
    return found


def main() -> None:
    """Print the figures, with `--names` the functions too."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--names", action="store_true", help="list the functions of each module")
    names = parser.parse_args().names
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        environ = environment(root / "cache", **asking(base))
        environ |= {"SPECLOOM_ALLOW_PRIVATE": "1", "SCRAPE_WORKERS": "0"}
        calls: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
            ("web_search", {"query": "warm"}, {"query": "otters"}),
            ("scrape_page", {"url": f"{base}/warm"}, {"url": f"{base}/otters"}),
        ]
        for tool, first, second in calls:
            found = asyncio.run(walk(environ, tool, first, second))
            functions = sum(len(passed) for passed in found.passed.values())
            print(f"{tool}: {len(found.passed)} modules, {functions} functions")
            print("\n".join(found.lines(names=names)))
    server.shutdown()


if __name__ == "__main__":
    main()
