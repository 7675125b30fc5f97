"""A context over the shipped specs, whose upstreams are a table of addresses: the real operations are run."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from specloom.core.faults import Fault
from specloom.core.messages import Answer, Request, Response
from specloom.domains.scrape.result import Page
from specloom.domains.scrape.sites import to_page
from specloom.model.provider import Operation
from specloom.plugins.context import Kept, SitePage, SiteRoute
from specloom.runtime.operation import Wait, perform
from specloom.runtime.pages import PageIndex, PageMatch, make_page
from tests.support.shipped import shipped_model

NOW = 1_772_521_200.0
GONE = Response(404, {}, b"Not Found")


@functools.cache
def shipped_pages() -> PageIndex:
    """The pages of sites that the shipped providers read, by address."""
    return PageIndex(shipped_model().pages)


def match(url: str) -> PageMatch | None:
    """The page of a site at an address."""
    return shipped_pages().find(url)


async def page_of(url: str, context: SiteDesk, *, max_length: int = 50_000) -> Page:
    """The page of a site at an address, as whoever asked for it is given it."""
    route = context.find_site(url)
    assert route is not None
    return to_page(await context.read_site(route), url, max_length)


class SiteDesk:
    """Answers by address: JSON data, text, a Response or a Fault; an address that is not in the table is a mistake."""

    def __init__(self, answers: Mapping[str, Any], *, otherwise: Any = None) -> None:
        self._answers, self._otherwise = dict(answers), otherwise
        self.sent: list[str] = []
        self.requests: list[Request] = []

    @property
    def owner(self) -> str:
        return ""

    @property
    def config(self) -> Mapping[str, Any]:
        return {}

    def now(self) -> float:
        return NOW

    def tell(self, done: float, total: float | None, message: str) -> None: ...

    def offering(self, operation: str) -> tuple[str, ...]:
        return tuple(shipped_model().offering(operation))

    def find_site(self, url: str) -> SiteRoute | None:
        found = match(url)
        return found.route if found else None

    async def read_site(self, route: SiteRoute) -> SitePage:
        found = match(route.url)
        assert found is not None
        return await make_page(found, self._ask)

    async def ask(self, operation: str, arguments: Mapping[str, Any], *, provider: str = "") -> Answer:
        return await self._ask("", shipped_model().providers[provider].operations[operation], arguments)

    async def _ask(self, _: str, operation: Operation, arguments: Mapping[str, Any]) -> Answer:
        assert operation.capability == operation.name, f"{operation.id} can only be asked under its capability's name"
        running = perform(shipped_model().providers[operation.provider], operation, arguments, {}, NOW)
        give: Response | Fault | None = None
        while True:
            try:
                asked = running.throw(give) if isinstance(give, Fault) else running.send(give)
            except StopIteration as stop:
                answer: Answer = stop.value
                return answer
            give = None if isinstance(asked, Wait) else self._reply(asked)

    def notice(self, sentence: str) -> None:
        """Nobody reads it."""

    def lack(self, operation: str, fault: Fault, *, instead: str = "") -> None:
        """Nobody reads it."""

    async def send(self, request: Request) -> Response:
        reply = self._reply(request)
        if isinstance(reply, Fault):
            raise reply
        return reply

    async def remember(self, key: str, ttl: float, make: Callable[[], Awaitable[Any]]) -> Kept:
        return Kept(await make())

    async def keep_artifact(self, content: str | bytes, *, name: str, mime_type: str) -> str:
        raise NotImplementedError

    def _reply(self, request: Request) -> Response | Fault:
        query = urlencode([(name, str(value)) for name, value in request.query])
        whole = f"{request.url}?{query}" if query else request.url
        self.sent.append(whole)
        self.requests.append(request)
        found = self._answers.get(whole, self._answers.get(request.url, self._otherwise))
        assert found is not None, f"nobody answers {whole}"
        if isinstance(found, (Response, Fault)):
            return found
        body = found if isinstance(found, str) else json.dumps(found)
        return Response(200, {}, body.encode(), whole)
