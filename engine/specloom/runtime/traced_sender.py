"""A sender that makes a span of each request, and tells its id to those providers alone that an operator names."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from specloom.core import Request, Response, Secret, Tracer, replace

if TYPE_CHECKING:
    from .recordings import Sender

FIRST_ERROR = 400


class TracedSender:
    """Passes requests on, each within a span."""

    def __init__(self, inner: Sender, tracer: Tracer, told: Collection[str] = ()) -> None:
        """`told` are the providers that get the id of the trace."""
        self._inner = inner
        self._tracer = tracer
        self._told = frozenset(told)

    async def send(self, request: Request) -> Response:
        attributes = {"http.request.method": request.method}
        if request.provider:
            attributes |= {
                "specloom.provider": request.provider,
                "specloom.operation": request.operation,
                "specloom.step": request.step,
                # The host of a page that somebody reads is what was asked, and is not told.
                "server.address": urlsplit(request.url).hostname or "",
            }
        name = f"provider {request.provider}" if request.provider else request.method
        with self._tracer.span(name, attributes, kind="CLIENT") as span:
            if request.provider in self._told:
                # As a secret, so that it stays behind where a redirect leads to another host.
                here = ("traceparent", Secret(self._tracer.name_current()))
                request = replace(request, headers=(*request.headers, here))
            response = await self._inner.send(request)
            span.set_attribute("http.response.status_code", response.status)
            if response.status >= FIRST_ERROR:
                self._tracer.mark(span, str(response.status))
            return response

    async def aclose(self) -> None:
        await self._inner.aclose()
