"""A web on loopback: real pages of the extraction benchmark, and a search engine that finds three of them a query.

A page is named by its set and its id, as in `wcxb/0004`; that is its path as well.
"""

from __future__ import annotations

import json
import random
import sys
import tarfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "extraction"))

from labelled import find_bench

SET = "wcxb"
"""The set whose pages make up questions by chance."""
PAGES = 3
WORDS = 8


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the pages that are found for it."""

    query: str
    pages: tuple[str, ...]


def find_pages(work: Path, sets: Sequence[str] = (SET,)) -> Path:
    """The folder of the unpacked pages, one folder for each set; a SystemExit that says where they are looked for."""
    for name in sets:
        packed = find_bench() / "data" / f"{name}.tar.xz"
        if not packed.exists():
            raise SystemExit(
                f"bench: there is no {packed}; SPECLOOM_BENCH names the folder that has data/{name}.tar.xz"
            )
        if not (work / name).is_dir():
            with tarfile.open(packed) as archive:
                archive.extractall(work, filter="data")
    return work


def make_questions(folder: Path, count: int, seed: int) -> list[Question]:
    """Queries of the first words of a page, each with that page and two others by chance."""
    truth: dict[str, dict[str, Any]] = json.loads((folder / SET / "truth.json").read_text(encoding="utf-8"))
    # A page without a text of its own gives no query, and nothing that could be heard of it.
    names = sorted(name for name in truth if truth[name]["text"].strip() and _to_file(folder, f"{SET}/{name}").exists())
    chance = random.Random(seed)
    questions = []
    for _ in range(count):
        chosen = tuple(chance.sample(names, PAGES))
        words = truth[chosen[0]]["text"].split()[:WORDS]
        questions.append(Question(" ".join(words)[:300], tuple(f"{SET}/{name}" for name in chosen)))
    return questions


def _to_file(folder: Path, name: str) -> Path:
    part, _, page = name.partition("/")
    return folder / Path(part).name / "html" / f"{Path(page).name}.html"


@contextmanager
def serving(folder: Path, questions: Sequence[Question]) -> Iterator[str]:
    """The address of the web while the context lasts: `/search` as SearXNG answers it, and `/SET/ID` for each page."""
    found = {question.query: question.pages for question in questions}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/search":
                query = parse_qs(parts.query).get("q", [""])[0]
                rows = [
                    {"title": f"Page {name}", "url": f"http://127.0.0.1:{port}/{name}", "content": ""}
                    for name in found.get(query, ())
                ]
                self._send(200, "application/json", json.dumps({"results": rows}).encode())
                return
            file = _to_file(folder, parts.path.strip("/"))
            if file.is_file():
                self._send(200, "text/html; charset=utf-8", file.read_bytes())
            else:
                self._send(404, "text/plain", b"There is no such page.")

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # who has read enough hangs up
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.shutdown()
        server.server_close()
