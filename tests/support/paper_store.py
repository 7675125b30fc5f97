"""A store in a temporary folder behind the real engine, and a loopback server that plays every upstream."""

from __future__ import annotations

import asyncio
import functools
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from specloom.core.messages import Request, Response
from specloom.domains.papers import limits, provenance_log
from specloom.model.model import Model
from specloom.net.transport import Transport
from specloom.runtime.executor import Executor
from specloom.runtime.presentation import Presenter
from specloom.server.backend import ExecutorBackend
from tests.support.loopback import Call, Loopback, Reply
from tests.support.shipped import shipped_model

PDF = b"%PDF-1.7\notters\n%%EOF\n"
NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z
"""The clock of every engine here."""

Site = Callable[[Call], Reply]


@functools.cache
def model() -> Model:
    """The specs of this checkout without their examples."""
    return shipped_model()


class Rerouted:
    """Sends requests to any https host to the loopback server instead, and keeps what was asked for."""

    def __init__(self, server: str, private: tuple[str, ...] = ()) -> None:
        async def resolve(host: str, port: int) -> list[str]:
            return ["10.0.0.7"]

        self._server = server
        self._private = private
        self._local = Transport(allow_private=True)
        self._public = Transport(resolve=resolve)
        self.asked: list[str] = []

    async def send(self, request: Request) -> Response:
        self.asked.append(request.url)
        scheme, _, rest = request.url.partition("://")
        assert scheme == "https", request.url
        if rest.split("/")[0] in self._private:
            return await self._public.send(request)
        return await self._local.send(replace(request, url=f"{self._server}/{rest}"))

    async def aclose(self) -> None:
        await self._local.aclose()
        await self._public.aclose()


@dataclass
class World:
    """The upstreams of a test: a page for each `host/path`, and the store and log of one user."""

    folder: Path
    pages: dict[str, Site | Reply] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    private: tuple[str, ...] = ()
    now: float = NOW
    asked: list[str] = field(default_factory=list)
    as_json: bool = True
    """Whether texts are the JSON of the data, as `SPECLOOM_TEXT=json` has them."""
    texts: list[str] = field(default_factory=list)
    """The texts of all calls."""
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set when a call is over: a page that never comes waits for it."""

    @property
    def root(self) -> Path:
        return self.folder / "papers"

    @property
    def log(self) -> Path:
        return self.folder / "log" / "access.jsonl"

    def rows(self) -> list[dict[str, Any]]:
        """The log, row by row."""
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()] if self.log.exists() else []

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """What one call tells a client; fails where the result is a protocol error."""
        return self.calls((tool, arguments))[0]

    def calls(self, *calls: tuple[str, Mapping[str, Any]], together: bool = False) -> list[dict[str, Any]]:
        """What several calls of one process tell a client, one after the other or at the same time."""
        with Loopback(self._answer) as server:
            self.stopped = server.stopped
            return asyncio.run(self.ask(server.url, *calls, together=together))

    async def ask(
        self, url: str, *calls: tuple[str, Mapping[str, Any]], together: bool = False
    ) -> list[dict[str, Any]]:
        """What calls tell a client while the server at `url` plays every upstream."""
        sender = Rerouted(url, self.private)
        executor = self.engine(sender)
        backend = ExecutorBackend(executor, presenter=Presenter(executor, as_json=self.as_json))

        async def one(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
            tool = name if name.startswith("library_") else f"doiget_{name}"
            result = json.loads(await backend.call_tool(tool, dict(arguments), Quiet()))
            assert "isError" not in result, result
            self.texts.append(result["content"][0]["text"])
            assert not self.as_json or json.loads(self.texts[-1]) == result["structuredContent"]
            told: dict[str, Any] = result["structuredContent"]
            return told

        try:
            if together:
                return list(await asyncio.gather(*(one(name, said) for name, said in calls)))
            return [await one(name, said) for name, said in calls]
        finally:
            self.asked += sender.asked
            await executor.aclose()

    def engine(self, sender: Rerouted, drawers: Any = None) -> Executor:
        """An engine with the settings of this user, which keeps sessions in the drawers."""
        environ = {
            "DOIGET_STORE_ROOT": str(self.root),
            "DOIGET_LOG_PATH": str(self.log),
            "DOIGET_FILE_ROOTS": str(self.folder),
            "UNPAYWALL_EMAIL": "ann@example.org",
            "OPENALEX_EMAIL": "ann@example.org",
            **self.environ,
        }
        return Executor(model(), environ=environ, sender=sender, clock=lambda: self.now, drawers=drawers, validate=True)

    def _answer(self, call: Call) -> Reply:
        page = self.pages.get(call.path.lstrip("/"))
        if page is None:
            return 404, {}, b"There is no such page."
        return page(call) if callable(page) else page


class Quiet:
    """A call whose progress nobody listens to."""

    request_id = 1
    looked = None

    def __init__(self) -> None:
        self.told: list[tuple[float, float | None, str | None]] = []

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self.told.append((done, total, message))


def as_json(data: Any, status: int = 200) -> Reply:
    """A reply of JSON."""
    return status, {"Content-Type": "application/json"}, json.dumps(data).encode()


def crossref(doi: str, **more: Any) -> dict[str, Reply]:
    """Crossref's record of a DOI."""
    message = {
        "DOI": doi,
        "type": "journal-article",
        "title": ["How otters swim"],
        "author": [{"given": "Ann", "family": "Otter"}, {"given": "Ben", "family": "Stream"}],
        "container-title": ["Otters & Co"],
        "publisher": "Weir Press",
        "issued": {"date-parts": [[2021]]},
        **more,
    }
    return {f"api.crossref.org/works/{doi.replace('/', '%2F')}": as_json({"message": message})}


def unpaywall(
    doi: str, *places: str, status: str = "gold", license_: str = "cc-by", title: str = ""
) -> dict[str, Reply]:
    """Unpaywall's record of a DOI with open copies at these addresses."""
    listed = [{"url_for_pdf": place, "url": None, "license": license_} for place in places]
    record = {
        "doi": doi,
        "oa_status": status,
        "best_oa_location": listed[0] if listed else None,
        "oa_locations": listed,
        **({"title": title} if title else {}),
    }
    return {f"api.unpaywall.org/v2/{doi.replace('/', '%2F')}": as_json(record)}


def arxiv(identifier: str) -> dict[str, Reply]:
    """arXiv's feed of one preprint."""
    feed = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><entry>'
        f"<id>http://arxiv.org/abs/{identifier}</id><title>Otters early</title><author><name>Ann Otter</name></author>"
        '<category term="q-bio.PE"/><published>2020-01-02T00:00:00Z</published>'
        f'<link title="pdf" href="http://arxiv.org/pdf/{identifier}"/></entry></feed>'
    )
    return {"export.arxiv.org/api/query": (200, {"Content-Type": "application/atom+xml"}, feed)}


def pdf(body: bytes = PDF) -> Reply:
    """A reply that is a PDF."""
    return 200, {"Content-Type": "application/pdf"}, body


class Turns:
    """A clock that moves when somebody sleeps, and the starts that it saw."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def isolate(monkeypatch: pytest.MonkeyPatch) -> Turns:
    """Give the paper store a clock of its own, and nothing remembered from the test before."""
    made = Turns()
    monkeypatch.setattr(limits, "PACER", limits.Pacer(*limits.PACE, clock=made.clock, sleep=made.sleep))
    monkeypatch.setattr(limits, "REPLAYS", limits.Replays())
    monkeypatch.setattr(provenance_log, "LOGS", {})
    return made
