"""Spans of OpenTelemetry where who runs the process has set up a tracer, and nothing at all where nobody has.

`opentelemetry-instrument specloom serve` sets one up before the program begins, and so does who embeds the engine. Only
then is `opentelemetry` in the process; it is never imported to look for it. What a span tells is of fixed kinds: names
of tools, providers and tiers, statuses, kinds of faults; nothing of what was asked, of whom, or what was answered.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import Any, Literal

    from opentelemetry import trace
    from opentelemetry.context import Context

    Kind = Literal["SERVER", "CLIENT", "INTERNAL"]

LONGEST_STATE = 512
"""Characters of a `tracestate` that is taken over; it is what others have written."""
FLUSHING_MS = 2000
_NOTHING: AbstractContextManager[None] = nullcontext()
_made: list[tuple[object, Tracer]] = []


class Tracer:
    """Makes the spans of this process."""

    def __init__(self, provider: trace.TracerProvider) -> None:
        from opentelemetry import context, trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        from specloom import __version__

        self._provider = provider
        self._tracer = provider.get_tracer("specloom", __version__)
        self._trace, self._context = trace, context
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def span(
        self,
        name: str,
        attributes: Mapping[str, Any] | None = None,
        *,
        kind: Kind = "INTERNAL",
        parent: Context | None = None,
    ) -> Iterator[trace.Span]:
        """A span around a block: below `parent`, else below the one that is open. What ends it early is told by kind.

        The text of an error is not told, because it may say what was asked.
        """
        from .faults import Fault

        with self._tracer.start_as_current_span(
            name,
            parent,
            self._trace.SpanKind[kind],
            attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except BaseException as error:
                self.mark(span, error.kind if isinstance(error, Fault) else type(error).__name__)
                raise

    def note(self, name: str, attributes: Mapping[str, Any], began: int, *, kind: Kind = "INTERNAL") -> None:
        """A span of what is over already; `began` is in nanoseconds since the epoch."""
        self._tracer.start_span(name, None, self._trace.SpanKind[kind], attributes, start_time=began).end()

    def mark(self, span: trace.Span, error: str) -> None:
        """Say of a span that it ended with an error of this kind."""
        span.set_attribute("error.type", error)
        span.set_status(self._trace.StatusCode.ERROR)

    def find_parent(self, carrier: Mapping[str, Any]) -> Context | None:
        """The span that a caller names (`traceparent`, W3C Trace Context); None where that is no such name."""
        named = carrier.get("traceparent")
        if not isinstance(named, str):
            return None
        state = carrier.get("tracestate")
        sent = {"traceparent": named}
        if isinstance(state, str) and len(state) <= LONGEST_STATE:
            sent["tracestate"] = state
        found = self._propagator.extract(sent, self._context.Context())
        return found if self._trace.get_current_span(found).get_span_context().is_valid else None

    @contextmanager
    def below(self, parent: Context | None) -> Iterator[None]:
        """Let spans of a block be below a span of somebody else."""
        if parent is None:
            yield
            return
        token = self._context.attach(parent)
        try:
            yield
        finally:
            self._context.detach(token)

    def name_current(self) -> str:
        """The `traceparent` of the open span; "" where there is none."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier.get("traceparent", "")

    def flush(self) -> None:
        """Hand over what is kept to be sent, in two seconds at most; a process that forked may end without it."""
        flush = getattr(self._provider, "force_flush", None)
        if flush is not None:
            flush(FLUSHING_MS)


def find_tracer() -> Tracer | None:
    """What makes spans, if a tracer was set up in this process."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return None
    provider = api.get_tracer_provider()
    if isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
        return None
    if not _made or _made[0][0] is not provider:
        _made[:] = [(provider, Tracer(provider))]
    return _made[0][1]


def span(name: str, attributes: Mapping[str, Any] | None = None) -> AbstractContextManager[trace.Span | None]:
    """A span around a block, and None where nobody traces."""
    tracer = find_tracer()
    return _NOTHING if tracer is None else tracer.span(name, attributes)
