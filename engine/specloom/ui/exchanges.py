"""What a call exchanged with upstreams, recorded in memory: requests and responses without any secret."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, Request, Response, Secret, redact, redact_response, request_to_json
from specloom.runtime import STEP as TOKEN_STEP
from specloom.runtime import secrets_of, to_recording

if TYPE_CHECKING:
    from specloom.runtime import Sender

MOST_EXCHANGES = 100
"""Exchanges of a call that are kept."""
LONGEST_BODY = 200_000
"""Characters of a body that are kept."""

_current: ContextVar[list[dict[str, Any]] | None] = ContextVar("exchanges", default=None)


@contextmanager
def record_exchanges() -> Iterator[list[dict[str, Any]]]:
    """A list of what is exchanged within, also by tasks that are started there."""
    exchanges: list[dict[str, Any]] = []
    token = _current.set(exchanges)
    try:
        yield exchanges
    finally:
        _current.reset(token)


class ExchangeRecorder:
    """A sender that passes requests on, and notes for the call that sends them what went out and what came back."""

    def __init__(self, inner: Sender) -> None:
        self._inner = inner
        self.find_secrets: Callable[[str], Sequence[Secret]] = lambda _: ()
        """The secrets among the settings of a provider."""

    async def send(self, request: Request) -> Response:
        began = time.perf_counter()
        try:
            response = await self._inner.send(request)
        except Fault as fault:
            message = redact(fault.message, self._secrets(request))
            self._note(request, began, {"fault": {"kind": fault.kind, "message": message}})
            raise
        self._note(request, began, {"response": _describe_response(request, response, self._secrets(request))})
        return response

    def _note(self, request: Request, began: float, outcome: Mapping[str, Any]) -> None:
        exchanges = _current.get()
        if exchanges is None or len(exchanges) >= MOST_EXCHANGES:
            return
        secrets = self._secrets(request)
        milliseconds = round((time.perf_counter() - began) * 1000)
        sent = {"provider": request.provider, "operation": request.operation, "milliseconds": milliseconds}
        exchanges.append({**sent, "request": mask_texts(request_to_json(request, secrets), secrets), **outcome})

    def _secrets(self, request: Request) -> list[Secret]:
        return [*secrets_of(request), *self.find_secrets(request.provider)]

    async def aclose(self) -> None:
        await self._inner.aclose()


def mask_texts(value: Any, secrets: Sequence[Secret]) -> Any:
    """JSON data in which no text holds a secret."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, Mapping):
        return {name: mask_texts(one, secrets) for name, one in value.items()}
    return [mask_texts(one, secrets) for one in value] if isinstance(value, list | tuple) else value


def _describe_response(request: Request, response: Response, secrets: Sequence[Secret]) -> dict[str, Any]:
    """A response as a recording has it, with a body that is not longer than a person reads."""
    masked = redact_response(response, secrets)
    described: dict[str, Any] = to_recording(request, masked)["response"]
    described["bytes"] = len(response.body)
    if "base64" in described:
        del described["base64"]
    elif len(masked.body) > LONGEST_BODY and request.step != TOKEN_STEP:
        described.pop("json", None)
        described["text"] = masked.body[:LONGEST_BODY].decode("utf-8", "replace")
        described["cut"] = True
    return described
