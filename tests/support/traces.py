"""A tracer whose spans are kept in memory, for as long as a block runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Spans:
    """The spans that have ended."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def list(self) -> list[ReadableSpan]:
        """All of them, in the order in which they ended."""
        return list(self._exporter.get_finished_spans())

    def named(self, name: str) -> ReadableSpan:
        """The one of this name."""
        (one,) = [one for one in self.list() if one.name == name]
        return one

    def text(self) -> str:
        """All that is told of them."""
        return "".join(one.to_json() for one in self.list())

    def clear(self) -> None:
        """Forget them."""
        self._exporter.clear()


@contextmanager
def tracing() -> Iterator[Spans]:
    """The process has a tracer while the block runs, and afterwards what it had before."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "_TRACER_PROVIDER", provider)
        yield Spans(exporter)
