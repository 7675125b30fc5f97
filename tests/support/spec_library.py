"""Specs from texts: a small library in memory, woven with or without the base library of the golden files."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specloom.compiler.build import weave
from specloom.core.diagnostics import Report
from specloom.core.faults import Fault
from specloom.core.messages import Answer, Request, Response
from specloom.model.model import Model
from specloom.model.provider import Provider
from specloom.model.tool import Tool
from specloom.runtime.operation import Running, Wait, perform
from specloom.specs.library import Library, parse_spec

BASE = Path(__file__).parents[1] / "compiler" / "golden" / "base"
NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z

NAMES = ("one", "two", "three")
OTHERS = [
    f"""
spec: provider/1
name: {name}
title: {name.title()}
config:
  {name.upper()}_KEY: {{description: The key., secret: true, required: true}}
service: {{base: https://{name}.example, headers: {{X-Key: =config.{name.upper()}_KEY}}}}
operations:
  find:
    input: [query, num_results]
    steps: [{{get: /s, query: {{q: =args.query, n: =args.num_results}}, json: {{map: {{url: url}}}}}}]
"""
    for name in NAMES
]
"""Providers of the capability `find`, each with a key of its own."""


@dataclass(frozen=True, slots=True)
class Woven:
    """A model, the library that it was made of, and what was wrong with it."""

    model: Model
    library: Library
    report: Report

    @property
    def codes(self) -> list[str]:
        return [one.code for one in self.report]

    @property
    def sentences(self) -> list[str]:
        return [f"{one.code}: {one.message}" + (f" ({one.hint})" if one.hint else "") for one in self.report]

    def provider(self, name: str = "sample") -> Provider:
        assert self.report.errors == [], self.sentences
        return self.model.providers[name]

    def tool(self, name: str = "sample") -> Tool:
        assert self.report.errors == [], self.sentences
        return self.model.tools[name]


def weave_texts(*specs: str, base: bool = True) -> Woven:
    """Each text is one spec; it replaces what has the same kind and name in the base library."""
    report = Report()
    library = Library()
    files = (
        [(path.relative_to(BASE).as_posix(), path.read_bytes()) for path in sorted(BASE.rglob("*.yaml"))]
        if base
        else []
    )
    for text in specs:
        plain = textwrap.dedent(text)
        name = next(line.partition(":")[2].strip() for line in plain.splitlines() if line.startswith("name:"))
        files.append((f"memory/{name}.yaml", plain.encode()))
    for shown, data in files:
        spec = parse_spec(shown, data, report, library)
        if spec is not None:
            library.specs[spec.kind, spec.name] = spec
    return Woven(weave(library, report), library, report)


def a_provider(operation: str, *, service: str = "", top: str = "", title: str = "Sample") -> str:
    """A provider `sample` with one operation `find`; the parts are YAML that is indented here."""
    return (
        f"spec: provider/1\nname: sample\ntitle: {title}\n{textwrap.dedent(top)}service:\n  base: https://sample.example\n"
        + textwrap.indent(textwrap.dedent(service), "  ")
        + "operations:\n  find:\n"
        + textwrap.indent(textwrap.dedent(operation), "    ")
    )


def a_tool(*, plan: str = "", more: str = "", inputs: str = "", answer: str = "urls: =rows[*].url") -> str:
    """A tool `sample` over the capability `find`."""
    plan = plan or "- name: the route, in order\n  first_of: {providers: =route.find, operation: find}\n"
    return (
        "spec: tool/1\nname: sample\ntitle: Sample\ndescription: Finds pages.\n"
        "annotations: {read_only: true, destructive: false, idempotent: true, open_world: true}\n"
        "input:\n  query: {type: string, required: true, description: What to look for.}\n"
        + textwrap.indent(textwrap.dedent(inputs), "  ")
        + textwrap.dedent(more)
        + "plan:\n"
        + textwrap.indent(textwrap.dedent(plan), "  ")
        + "answer:\n"
        + textwrap.indent(textwrap.dedent(answer) + "\n", "  ")
    )


@dataclass(slots=True)
class Run:
    """What one run of an operation sent, how long it paused, and how it ended."""

    sent: list[Request]
    waits: list[float]
    answer: Answer | None = None
    fault: Fault | None = None

    @property
    def rows(self) -> list[dict[str, Any]]:
        assert self.fault is None, self.fault
        assert self.answer is not None
        return self.answer.rows


def drive(running: Running, replies: list[Response | Fault]) -> Run:
    """Feed a running operation with replies in order; the last one is given again when there are more requests."""
    run = Run([], [])
    left = list(replies)
    give: Response | None = None
    throw: Fault | None = None
    while True:
        try:
            wanted = running.throw(throw) if throw else running.send(give)
        except StopIteration as stop:
            run.answer = stop.value
            return run
        except Fault as fault:
            run.fault = fault
            return run
        give = throw = None
        if isinstance(wanted, Wait):
            run.waits.append(wanted.seconds)
            continue
        run.sent.append(wanted)
        reply = left.pop(0) if len(left) > 1 else left[0]
        give, throw = (None, reply) if isinstance(reply, Fault) else (reply, None)


def find(
    woven: Woven,
    args: dict[str, Any],
    *replies: Response | Fault,
    config: dict[str, Any] | None = None,
    now: float = NOW,
) -> Run:
    """Run the operation `find` of the provider `sample`."""
    provider = woven.provider()
    settings = {name: one.default for name, one in provider.settings.items()} | (config or {})
    return drive(perform(provider, provider.operations["find"], args, settings, now), list(replies))
