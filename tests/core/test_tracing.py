"""Spans are made where a tracer was set up, and nothing is where none was."""

from __future__ import annotations

import subprocess
import sys

import pytest
from opentelemetry import trace

from specloom.core import Fault, find_tracer, span
from tests.support.traces import tracing

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRET = "Pl4ntedV4lue"


def test_without_a_tracer_nothing_is_made_and_nothing_is_imported() -> None:
    asks = "import sys; from specloom.core import find_tracer, span\n"
    asks += "with span('a') as made: print(made, find_tracer(), 'opentelemetry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", asks], capture_output=True, encoding="utf-8", check=True)

    assert done.stdout.split() == ["None", "None", "False"]


def test_an_api_that_nobody_has_set_up_is_no_tracer() -> None:
    assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    assert find_tracer() is None


def test_an_error_is_told_by_its_kind_and_never_by_its_text() -> None:
    with tracing() as spans:
        with pytest.raises(Fault), span("a"):
            raise Fault("rate_limited", SECRET)
        with pytest.raises(ValueError, match=SECRET), span("b"):
            raise ValueError(SECRET)

    assert [(one.name, dict(one.attributes or {})) for one in spans.list()] == [
        ("a", {"error.type": "rate_limited"}),
        ("b", {"error.type": "ValueError"}),
    ]
    assert not any(one.status.is_ok for one in spans.list())
    assert SECRET not in spans.text()


@pytest.mark.parametrize(
    "named",
    [
        "",
        "made up",
        PARENT[:-3],
        PARENT.upper().replace("00-", "0x-"),
        "ff" + PARENT[2:],
        "00-" + "0" * 32 + PARENT[35:],
        PARENT[:36] + "0" * 16 + "-01",
        PARENT + "\r\nX-A: b",
        "0" * 100_000,
        17,
        None,
        [PARENT],
    ],
)
def test_what_names_no_span_is_nobodys_child(named: object) -> None:
    with tracing():
        tracer = find_tracer()
        assert tracer is not None
        assert tracer.find_parent({"traceparent": named}) is None


def test_a_span_of_somebody_else_is_a_parent_and_a_long_state_is_not_taken_over() -> None:
    with tracing() as spans:
        tracer = find_tracer()
        assert tracer is not None
        for state in ("a=b", "a=" + "b" * 600, 3):
            with tracer.below(tracer.find_parent({"traceparent": PARENT, "tracestate": state})), span("a"):
                assert tracer.name_current().startswith("00-0af7651916cd43dd8448eb211c80319c-")
        assert tracer.name_current() == ""

    parents = [one.parent for one in spans.list() if one.parent is not None]
    assert [one.span_id for one in parents] == [0xB7AD6B7169203331] * 3
    assert [one.trace_state.to_header() for one in parents] == ["a=b", "", ""]
