"""Every upstream at once, on this machine: any name of the web resolves to it and proves itself with its own CA."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote

from tests.support.loopback import Call, Handler, Loopback
from tests.support.paper_store import as_json, crossref, pdf, unpaywall

REROUTED = Path(__file__).parent / "rerouted"


class Upstream:
    """Answers for every host, over TLS and without; `handler` may be changed at any time and sees the host's header."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self._secure = self._stack.enter_context(Loopback(self._answer, tls=True, any_name=True))
        self._plain = self._stack.enter_context(Loopback(self._answer))
        (self.folder / "ports").write_text(f"{self._secure.port} {self._plain.port}", "ascii")
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def stopped(self) -> Any:
        """Set when the server shuts down: what hangs waits on this."""
        return self._secure.stopped

    @property
    def calls(self) -> list[Call]:
        """What was asked, over TLS and without."""
        return [*self._secure.calls, *self._plain.calls]

    def move_clock(self, seconds: float) -> None:
        """How far off the clock of the servers is from now on."""
        draft = self.folder / "clock.tmp"
        draft.write_text(str(seconds), "ascii")
        draft.replace(self.folder / "clock")

    def environ(self) -> dict[str, str]:
        """What a process that is led here has in its environment."""
        return {
            "REROUTED": str(self.folder),
            "PYTHONPATH": os.pathsep.join([str(REROUTED), *filter(None, [os.environ.get("PYTHONPATH", "")])]),
            "SSL_CERT_FILE": self._secure.certificate,
            "SPECLOOM_ALLOW_PRIVATE": "true",
        }

    def _answer(self, call: Call) -> Any:
        return self.handler(call)


PAGE = (
    "<!DOCTYPE html><html lang=en><head><title>Otters</title></head><body><article><h1>Otters</h1>"
    + "<p>Otters hold hands in the sea while they sleep, so that none of them drifts away from the others.</p>" * 12
    + "</article></body></html>"
)


def web(call: Call) -> Any:
    """A small web: a search, a registry of works, a register of open copies, a publisher, and a page on every host."""
    host = call.headers.get("host", "")
    if call.path == "/robots.txt":
        return 404, {}, b""
    if host == "api.search.brave.com":
        words = dict(call.query).get("q", "")
        rows = [{"title": f"On {words}", "url": f"https://otters.example/{at}", "description": words} for at in (1, 2)]
        return as_json({"query": {"original": words}, "web": {"results": rows}})
    doi = unquote(call.path.partition("/works/" if host == "api.crossref.org" else "/v2/")[2])
    if host == "api.crossref.org" and doi:
        return next(iter(crossref(doi).values()))
    if host == "api.unpaywall.org" and doi:
        return next(iter(unpaywall(doi, f"https://www.nature.com/{doi}.pdf").values()))
    if call.path.endswith(".pdf"):
        return pdf(b"%PDF-1.7\n" + call.path.encode() * 2000 + b"\n%%EOF\n")
    page = PAGE.replace("<p>", "<p>" + "They eat fish. " * 300, 10) if call.path.startswith("/large") else PAGE
    return 200, {"Content-Type": "text/html; charset=utf-8"}, page.replace("Otters", f"Otters of {call.path}", 1)


EVERY_STORE = {
    "BRAVE_API_KEY": "a-key-of-nobody",
    "SEARCH_PROVIDER": "brave",
    "UNPAYWALL_EMAIL": "ann@example.org",
    "MEMORY_ENABLED": "true",
    "MONITORING_ENABLED": "true",
    "USER_ANALYTICS_ENABLED": "true",
    # No page here needs one, and none is led to this machine.
    "PLAYWRIGHT_BROWSERS_PATH": "/nowhere",
}
"""Settings under which every store of the server is used over `web`."""
