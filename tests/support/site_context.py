"""A context over the shipped specs, whose upstreams are a table of addresses: the real operations are run."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from specloom.core.faults import Fault
from specloom.core.messages import Answer, Request, Response
from specloom.plugins.context import Kept
from specloom.runtime.operation import Wait, perform
from tests.support.shipped import shipped_model

NOW = 1_772_521_200.0
GONE = Response(404, {}, b"Not Found")


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

    async def ask(self, operation: str, arguments: Mapping[str, Any], *, provider: str = "") -> Answer:
        spec = shipped_model().providers[provider]
        wanted = spec.operations[operation]
        assert wanted.capability == operation, f"{provider}.{operation} can only be asked under its capability's name"
        running = perform(spec, wanted, arguments, {}, NOW)
        give: Response | Fault | None = None
        while True:
            try:
                asked = running.throw(give) if isinstance(give, Fault) else running.send(give)
            except StopIteration as stop:
                answer: Answer = stop.value
                return answer
            give = None if isinstance(asked, Wait) else self._reply(asked)

    async def send(self, request: Request) -> Response:
        reply = self._reply(request)
        if isinstance(reply, Fault):
            raise reply
        return reply

    async def remember(self, key: str, ttl: float, make: Callable[[], Awaitable[Any]]) -> Kept:
        return Kept(await make())

    async def keep_artifact(self, text: str, *, name: str, mime_type: str) -> str:
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
