"""What tests of page reading share: a context over a real transport, and an extractor that only takes the text."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urljoin

import lxml.html

from specloom.core.faults import Fault
from specloom.core.messages import Answer, Request, Response
from specloom.domains.scrape.fetch import fallback
from specloom.domains.scrape.fetch.politeness import Politeness
from specloom.domains.scrape.fetch.session import FetchSession
from specloom.domains.scrape.options import Options
from specloom.domains.scrape.read import make_answer
from specloom.domains.scrape.result import Candidate, Fetched, Mode, Reading
from specloom.net.connections import Resolver, resolve_name
from specloom.net.transport import Transport

OPTIONS = Options(allow_private=True, chrome="disabled", plain_timeout=30.0, stealth_timeout=30.0, deadline=120.0)
ARTICLE = (
    "<html><head><title>Otters</title></head><body><article><h1>Otters</h1>"
    + "<p>Otters sleep on their backs and hold hands so that they do not drift apart.</p>" * 4
    + "</article></body></html>"
)
HTML = {"Content-Type": "text/html; charset=utf-8"}


class Names:
    """A resolver that gives the next of its answers for every question; the last one for all that follow."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


@dataclass
class TestDesk:
    """A context whose requests really go out, and whose services answer what a test says."""

    __test__ = False

    transport: Transport
    services: Mapping[str, Callable[[Mapping[str, Any]], Answer]] = field(default_factory=dict)
    owner: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    sent: list[Request] = field(default_factory=list)
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def now(self) -> float:
        return time.time()

    def tell(self, done: float, total: float | None, message: str) -> None:
        """Nobody listens."""

    def offering(self, operation: str) -> tuple[str, ...]:
        return ("demo",) if operation in self.services else ()

    async def ask(self, operation: str, arguments: Mapping[str, Any], *, provider: str = "") -> Answer:
        self.asked.append((operation, arguments))
        return self.services[operation](arguments)

    def notice(self, sentence: str) -> None:
        """Nobody reads it."""

    def lack(self, operation: str, fault: Fault, *, instead: str = "") -> None:
        """Nobody reads it."""

    async def send(self, request: Request) -> Response:
        self.sent.append(request)
        return await self.transport.send(request)

    async def remember(self, key: str, ttl: float, make: Callable[[], Awaitable[Any]]) -> Any:
        raise NotImplementedError

    async def keep_artifact(self, content: str | bytes, *, name: str, mime_type: str) -> str:
        raise NotImplementedError


def take_text(fetched: Fetched) -> Candidate:
    """The text of a page without its scripts; of anything else, all of it."""
    text = fetched.body.decode("utf-8", "replace")
    if fetched.kind == "other":
        return Candidate("")
    if fetched.kind != "html":
        return Candidate(text)
    if not text.strip():
        return Candidate("")
    root = lxml.html.document_fromstring(text)
    for node in root.xpath("//script | //style | //noscript | //template"):
        node.drop_tree()
    frames = tuple(urljoin(fetched.url, source) for source in root.xpath("//iframe/@src"))
    body = root.find("body")
    said = " ".join((body if body is not None else root).text_content().split())
    return Candidate(said, payload="extracted", title=root.findtext(".//title") or "", frames=frames)


@asynccontextmanager
async def open_desk(
    *,
    resolve: Resolver = resolve_name,
    options: Options = OPTIONS,
    politeness: Politeness | None = None,
    stealth: bool = False,
    **context: Any,
) -> AsyncIterator[tuple[TestDesk, FetchSession]]:
    """A context and a session that are closed afterwards; without `stealth` the library for it counts as missing."""
    session = FetchSession(options, make_answer, resolve=resolve, politeness=politeness)
    if not stealth:
        session._stealth_sought = True
    async with Transport(allow_private=options.allow_private, resolve=resolve, max_connections=320) as transport:
        try:
            yield TestDesk(transport, **context), session
        finally:
            await session.aclose()


async def read(
    url: str,
    *,
    mode: Mode = "full",
    options: Options = OPTIONS,
    resolve: Resolver = resolve_name,
    stealth: bool = False,
    services: Mapping[str, Callable[[Mapping[str, Any]], Answer]] | None = None,
    asked: list[tuple[str, Mapping[str, Any]]] | None = None,
    **changes: Any,
) -> Reading:
    """One reading over a context of its own; `changes` are fields of the options."""
    options = replace(options, **changes)
    async with open_desk(resolve=resolve, options=options, stealth=stealth, services=services or {}) as (
        context,
        session,
    ):
        try:
            return await fallback.read(
                url, mode=mode, context=context, options=options, extract=take_text, session=session
            )
        finally:
            if asked is not None:
                asked.extend(context.asked)


async def fail(url: str, **changes: Any) -> Fault:
    """The fault of a reading that must not succeed."""
    try:
        reading = await read(url, **changes)
    except Fault as fault:
        return fault
    raise AssertionError(f"{url} was read by the tier {reading.tier}")
