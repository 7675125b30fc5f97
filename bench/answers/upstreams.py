"""Search providers on loopback that answer with what was recorded of them; nothing is asked of anybody else.

`write_layer` makes a folder of specs in which every provider of a checkout asks this machine in the place of its own
host, so that all of it is driven: request, mapping, plan, answer, text. What was recorded is not in this repository;
SPECLOOM_FIXTURES names its folder.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

PROVIDERS: Final = {"google-cse": "google"}
"""Providers whose folder of recordings has another name."""
KINDS: Final = {".json": "application/json", ".xml": "application/xml", ".html": "text/html; charset=utf-8"}
KEYS: Final = {
    "BRAVE_API_KEY": "k",
    "SERPER_API_KEY": "k",
    "TAVILY_API_KEY": "k",
    "EXA_API_KEY": "k",
    "GOOGLE_CUSTOM_SEARCH_API_KEY": "k",
    "GOOGLE_CUSTOM_SEARCH_ID": "k",
    "FRED_API_KEY": "k" * 32,
}
"""Keys that are enough for a provider to be asked; nobody looks at them."""

_BASE: Final = re.compile(r"^( +)base: https://\S+$", re.MULTILINE)
_CONFIG: Final = "  {name}: {{type: url, required: true, description: Where the recordings are.}}\n"
_LIMITS: Final = re.compile(r"\brate: [0-9]+/[\w.]+")


def find_recordings() -> Path:
    """The folder of recordings, by provider; a SystemExit that says where it is looked for."""
    root = Path(os.environ.get("SPECLOOM_FIXTURES") or Path(__file__).parents[3] / "shared" / "fixtures")
    if not (root / "providers").is_dir():
        raise SystemExit(
            f"bench: there is no {root / 'providers'}; SPECLOOM_FIXTURES names the folder that has providers"
        )
    return root / "providers"


def to_provider(recording: str) -> str:
    """The provider that a recording is of, such as `brave` for `brave/web.json`."""
    folder = recording.partition("/")[0]
    return PROVIDERS.get(folder, folder)


def write_layer(root: Path, specs: Path, address: str) -> dict[str, str]:
    """Writes a folder for SPECLOOM_PATH in which the providers of a checkout have a host that is configured.

    Returned is the environment that names that folder and makes `address` the host of all.
    """
    target = root / "providers.d"
    target.mkdir(parents=True, exist_ok=True)
    environ = {"SPECLOOM_PATH": str(root), "SPECLOOM_ALLOW_PRIVATE": "true"}
    for spec in sorted(specs.glob("*.yaml")):
        text = spec.read_text(encoding="utf-8")
        name = f"BENCH_{spec.stem.upper()}_URL"
        local = _BASE.sub(rf"\1base: =config.{name}\n\1private: true", text, count=1)
        if local == text:
            continue
        config = _CONFIG.format(name=name)
        if "\nconfig:\n" in local:
            local = local.replace("\nconfig:\n", f"\nconfig:\n{config}", 1)
        else:
            local = local.replace("\nservice:\n", f"\nconfig:\n{config}\nservice:\n", 1)
        (target / spec.name).write_text(_LIMITS.sub("rate: 100/s", local), encoding="utf-8")
        environ[name] = f"{address}/{spec.stem}"
    return environ


class Upstreams:
    """What each provider answers at the moment, whatever it is asked."""

    def __init__(self) -> None:
        self.address = ""
        self.now: dict[str, Path] = {}


@contextmanager
def answering() -> Iterator[Upstreams]:
    """Providers that answer with the recordings that `now` names, and with 404 where it names none."""
    upstreams = Upstreams()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            recording = upstreams.now.get(self.path.split("?")[0].strip("/").partition("/")[0])
            body = recording.read_bytes() if recording else b"{}"
            self.send_response(200 if recording else 404)
            self.send_header("Content-Type", KINDS[recording.suffix] if recording else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):
                self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    upstreams.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield upstreams
    finally:
        server.shutdown()
        server.server_close()
