"""Nothing that steers a terminal, turns text round or cannot be seen gets into an answer, whichever tool gives it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from specloom.authoring.examples.compare import examples_of
from specloom.authoring.examples.tools import run_tool_example
from specloom.core.diagnostics import Report
from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.core.text import clean
from specloom.model.tool import NOTICES, Tool
from specloom.runtime.executor import Executor
from specloom.runtime.plan import ProviderOutcome
from tests.support.shipped import shipped_model, shipped_specs

HARM = (
    "\x00\x07\x08\x0c\x1b[31m\x1b]8;;\x7f\x85\x9b31m\x9d\u034f\u061c\u115f\u180e\u200b\u200e\u200f\u2028\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2066\u2067\u2068\u2069\u206a\u3164\ufeff\ufff9\ufffa\ufffb\ufdd0\U0001d173\U000e0001\U000e0041\U000e007f"
    "\U000e0101\U000e0102\ufe01\ufe02\ud800"
)


def spoiled(value: Any) -> Any:
    """The value with such characters in every text and every name."""
    if isinstance(value, dict):
        return {f"{name}{HARM}": spoiled(item) for name, item in value.items()}
    if isinstance(value, list):
        return [spoiled(item) for item in value]
    return f"{value[:1]}{HARM}{value[1:]}" if isinstance(value, str) else value


def texts_of(value: Any) -> Iterator[str]:
    """Every text in a value of JSON, names of members too."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from texts_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, str):
        yield value


def unclean(body: str) -> list[str]:
    return [text for text in texts_of(json.loads(body)) if clean(text) != (text, 0)]


class Ready(Executor):
    """An engine that answers with what it is given, or fails with it."""

    outcome: dict[str, Any] | Fault

    async def _pursue(self, *_: Any) -> ProviderOutcome:
        if isinstance(self.outcome, Fault):
            raise self.outcome
        return ProviderOutcome(answer=self.outcome)


class Unasked:
    """A way out that nobody takes."""

    async def send(self, request: Request) -> Response:
        raise AssertionError(request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


def answered_example(tool: Tool) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments and the answer of the first example of a tool that has one."""
    report = Report()
    for example in examples_of(shipped_specs().library.of("tool")[tool.name], report):
        expected = example.stated.get("expect", {}).get("answer", {"ok": False})
        if expected.get("ok", True):
            trace = run_tool_example(example, tool, shipped_model())
            if trace is not None and trace.outcome is not None:
                return dict(example.stated["args"]), dict(trace.outcome.answer)
    # Its examples are calls that fail; arguments that get past the checks do as well.
    stated = next(one.stated for one in examples_of(shipped_specs().library.of("tool")[tool.name], report))
    return dict(stated["args"]), {"ok": True, "note": "Otters eat crabs."}


@pytest.mark.parametrize("name", sorted(shipped_model().tools))
async def test_no_tool_answers_with_them(name: str) -> None:
    tool = shipped_model().tools[name]
    arguments, answer = answered_example(tool)
    engine = Ready(shipped_model(), environ={}, sender=Unasked())
    engine.outcome = spoiled(answer)
    assert unclean(json.dumps(engine.outcome))

    done = await engine.call(name, arguments)

    assert unclean(done.body) == []
    answer = {name: said for name, said in done.answer.items() if name != NOTICES}
    assert list(answer) == [key for key in dict.fromkeys(clean(key)[0] for key in engine.outcome) if key != NOTICES]


@pytest.mark.parametrize("name", sorted(shipped_model().tools))
async def test_no_tool_fails_with_them(name: str) -> None:
    tool = shipped_model().tools[name]
    arguments, _ = answered_example(tool)
    engine = Ready(shipped_model(), environ={}, sender=Unasked())
    engine.outcome = Fault("bad_request", f"it says {HARM}", detail=HARM, alternatives=[HARM])

    try:
        done = await engine.call(name, arguments)
        body = done.body
    except Fault as fault:
        body = json.dumps([fault.message, fault.to_json()])

    assert "it says" in body
    assert unclean(body) == []


async def test_raw_is_what_was_sent() -> None:
    engine = Ready(shipped_model(), environ={}, sender=Unasked())
    engine.outcome = {"content": "a\u202eb\x9b", "url": "https://a.example/\u202e", "contentType": "text/\u200bplain"}

    raw = await engine.call("scrape_page", {"url": "https://a.example/", "mode": "raw"})
    full = await engine.call("scrape_page", {"url": "https://a.example/", "mode": "full"})

    assert raw.answer == {
        "content": "a\u202eb\x9b",
        "url": "https://a.example/%E2%80%AE",
        "contentType": "text/plain",
    }
    assert full.answer["content"] == "ab"


def test_only_raw_is_verbatim() -> None:
    assert {name for name, tool in shipped_model().tools.items() if tool.verbatim} == {"scrape_page"}
