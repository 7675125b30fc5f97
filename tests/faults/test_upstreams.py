"""Every tool over upstreams that fail in every way: a fault of its kind or an answer, in time, with no traceback."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from specloom.core.faults import KINDS
from specloom.specs import to_plain
from tests.faults.conftest import Cell, Tries, often
from tests.support.loopback import RESET, Call, Raw
from tests.support.served import ROOT, Served
from tests.support.shipped import shipped_specs
from tests.support.upstream import EVERY_STORE, PAGE, Upstream

GRACE = 20.0
"""Seconds beyond a tool's deadline; sixty calls at once share two processors."""
LONGEST = 360.0
"""Seconds for the tools that work through lists and may take an hour."""
REFUSED = "INVALID_REF"
WIRE = {kind.wire for kind in KINDS.values()}
SETTINGS = re.compile(r"^# ([A-Z0-9_]+(?:KEY|TOKEN|SECRET|EMAIL|_ID))=\s*$", re.MULTILINE)


def hang(upstream: Upstream) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{"
    upstream.stopped.wait(300)


REPLIES: Mapping[str, Callable[[Upstream], Any]] = {
    "reset": lambda _: RESET,
    "hang": lambda upstream: Raw(hang(upstream)),
    "500": lambda _: (500, {"Content-Type": "application/json"}, b'{"error": "no"}'),
    "HTML for JSON": lambda _: (200, {"Content-Type": "text/html"}, PAGE),
    "cut JSON": lambda _: (200, {"Content-Type": "application/json"}, b'{"results": [{"title": "Otters", "url": "htt'),
    "empty body": lambda _: (200, {"Content-Type": "application/json"}, b""),
    "10 MB of zeros": lambda _: (200, {"Content-Type": "application/json"}, bytes(10_000_000)),
    "null": lambda _: (200, {"Content-Type": "application/json"}, b"null"),
    "list of lists": lambda _: (200, {"Content-Type": "application/json"}, b"[" * 50_000 + b"]" * 50_000),
}


def settings() -> dict[str, str]:
    """A value for every key and address that a provider may want, so that each is asked."""
    names = SETTINGS.findall((ROOT / ".env.example").read_text("utf-8"))
    own = {name: "ann@example.org" if name.endswith("EMAIL") else "a-key-of-nobody" for name in names}
    own = {name: value for name, value in own.items() if not name.startswith(("SPECLOOM_", "STDIO_"))}
    return {**own, **EVERY_STORE, "SEARCH_PROVIDER": "", "WORKSPACES_ENABLED": "true", "SPECLOOM_VALIDATE": "true"}


def example_arguments(home: Path, most: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each shipped tool with the arguments of its first examples that are not about being refused."""
    (home / "my.bib").write_text("@article{a, title={Otters}, doi={10.1234/otters}, year={2020}}\n", "utf-8")
    for name, spec in sorted(shipped_specs().library.of("tool").items()):
        stated = [one for one in to_plain(spec.root).get("examples", ()) if one.get("args") and "refuse" not in one]
        # First those in which somebody outside is asked and answers, last those that are refused.
        stated.sort(key=lambda one: (REFUSED in str(one.get("expect")), not one.get("providers")))
        for one in stated[:most]:
            text = json.dumps(one["args"])
            if "characters" not in text:
                yield name, json.loads(text.replace("{folder}", str(home)))


@pytest.mark.parametrize("kind", often(REPLIES, "500"))
def test_every_tool_answers_whatever_its_upstreams_do(
    kind: str, home: Path, upstream: Upstream, tries: Tries, cell: Cell
) -> None:
    def answer(_: Call) -> Any:
        return REPLIES[kind](upstream)

    upstream.handler = answer
    problems, outcomes = [], Counter[str]()
    with Served(home, {**upstream.environ(), **settings(), "SPECLOOM_OUTPUT_SCHEMAS": "full"}) as server:
        tools = server.tools()
        deadlines = {name: min(tool.deadline, LONGEST) for name, tool in shipped_specs().model.tools.items()}
        began, took = time.monotonic(), dict[int, float]()
        calls: list[tuple[str, dict[str, Any], Future[dict[str, Any]], threading.Event]] = []
        for name, arguments in example_arguments(home, tries(4, 1)):
            if name in tools:
                future, noted = server.begin(name, arguments), threading.Event()

                def note(ended: Future[dict[str, Any]], noted: threading.Event = noted) -> None:
                    took[id(ended)] = time.monotonic() - began
                    noted.set()

                future.add_done_callback(note)
                calls.append((name, arguments, future, noted))
        for name, arguments, future, noted in calls:
            message = future.result(max(deadlines.values()) + 2 * GRACE)
            # A result is there before those are called who are told of it.
            assert noted.wait(GRACE)
            result = message.get("result")
            if result is None:
                problems.append(f"{name} {arguments}: {message}")
                continue
            if result.get("isError"):
                block = json.loads(result["content"][0]["text"].partition("\n\n")[2])["error"]
                outcomes[block["kind"]] += 1
                if block["kind"] not in WIRE or "internal" in (block["kind"], block.get("reason")):
                    problems.append(f"{name} {arguments}: {block}")
            else:
                outcomes["answered"] += 1
                try:
                    jsonschema.validate(result["structuredContent"], tools[name]["outputSchema"])
                except jsonschema.ValidationError as error:
                    problems.append(f"{name} {arguments}: {error.message}")
            if took[id(future)] > deadlines[name] + GRACE:
                problems.append(f"{name} {arguments}: {took[id(future)]:.0f} s")
        # It still serves.
        assert server.tools().keys() == tools.keys()
        told = server.stderr()
    assert problems == []
    assert not re.search("Traceback|a defect(?!: no call)", told), told
    assert upstream.calls
    outcome = ", ".join(f"{count} {word}" for word, count in sorted(outcomes.items()))
    cell("bad upstream", f"{len(tools)} tools, {kind}", len(calls), outcome)
