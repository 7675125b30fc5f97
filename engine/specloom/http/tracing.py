"""Traces over HTTP: whose trace a request belongs to, and an engine whose calls are traced."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from specloom.server import TracedBackend

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from specloom.core import Tracer
    from specloom.server import Backend

    from .gate import Caller
    from .service import Engine

NAMES = ("traceparent", "tracestate")


class TracedEngine:
    """An engine whose calls are traced, those that a limit refuses too."""

    def __init__(self, engine: Engine, tracer: Tracer) -> None:
        self._engine, self._tracer = engine, tracer

    def make_backend(self, caller: Caller) -> Backend:
        """What answers a caller."""
        return TracedBackend(self._engine.make_backend(caller), self._tracer)

    async def aclose(self) -> None:
        """Close it."""
        await self._engine.aclose()


def enter_trace(
    tracer: Tracer, headers: Mapping[bytes, bytes], message: Mapping[str, Any]
) -> AbstractContextManager[None]:
    """Let what a request causes be below the span that it names: in its `_meta`, else in its headers."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    parent = tracer.find_parent(meta) if isinstance(meta, dict) else None
    if parent is None:
        shown = {name: headers[name.encode()].decode("latin-1") for name in NAMES if name.encode() in headers}
        parent = tracer.find_parent(shown)
    return tracer.below(parent)
