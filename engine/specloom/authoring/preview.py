"""What the text of a provider's file would do: the verdict on it, and an example run with a reply of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from specloom.core import Report, dataclass, parse_json, request_to_json
from specloom.model import Model, Provider
from specloom.specs import parse_spec

from .coverage import check_with_coverage
from .examples.compare import Example, ExampleTrace
from .examples.providers import provider_examples, run_example
from .examples.run import compile_spec

MOST_ROWS = 200
"""Rows of an example that are told."""


@dataclass(frozen=True, slots=True)
class ExampleChoice:
    """Which example is run, and what its reply to a step is instead of the stated one; None leaves it as stated.

    Of a step with several replies it is that `at` this place.
    """

    number: int = 0
    step: str = ""
    at: int = 0
    body: str | None = None


@dataclass(frozen=True, slots=True)
class ProviderPreview:
    """The verdict on a text, its examples, and what the chosen one did; nothing of the last two where it has errors."""

    report: Report
    provider: Provider | None = None
    examples: tuple[Example, ...] = ()
    trace: ExampleTrace | None = None
    operation: str = ""
    fields: tuple[str, ...] = ()
    """What a row of the operation's capability may have."""
    problem: str = ""
    """Why the example could not be run with this reply."""

    def to_json(self) -> dict[str, Any]:
        """The preview as data."""
        data: dict[str, Any] = {
            "diagnostics": [one.to_json() for one in self.report],
            "compiles": self.provider is not None,
            "examples": [
                {
                    "name": one.name,
                    "operation": one.stated["operation"],
                    "arguments": one.stated.get("args") or {},
                    "replies": list(_describe_replies(one)),
                }
                for one in self.examples
            ],
        }
        if self.problem:
            data["problem"] = self.problem
        trace = self.trace
        if trace is not None:
            rows = trace.answer.rows if trace.answer is not None else []
            data["operation"] = self.operation
            data["sent"] = [request_to_json(request) for request in trace.sent]
            data["rows"] = rows[:MOST_ROWS]
            data["count"] = len(rows)
            data["fields"] = {name: sum(name in row for row in rows) for name in self.fields}
            data["meta"] = trace.answer.meta if trace.answer is not None else {}
            if trace.fault is not None:
                data["fault"] = {name: getattr(trace.fault, name) for name in ("kind", "message", "detail")}
        return data


def preview_provider(shown: str, text: str, model: Model, choice: ExampleChoice) -> ProviderPreview:
    """Check the text of a provider's file against a model, and run one of its examples; nothing is sent.

    `shown` is what diagnostics call the file. An example with a reply of one's own is compared with nothing.
    """
    report = Report()
    spec = parse_spec(shown, text.encode("utf-8", "replace"), report)
    if spec is None:
        return ProviderPreview(report)
    if spec.kind != "provider":
        report.add("E010", spec.place, f"this is a {spec.kind}, and here a provider is looked at")
        return ProviderPreview(report)
    from specloom.compiler import symbols_of

    provider = compile_spec(spec, model, symbols_of(model), report)
    if not isinstance(provider, Provider):
        return ProviderPreview(report)
    check_with_coverage(spec, provider, model, report)
    aside = Report()
    examples = tuple(provider_examples(spec, provider, aside))
    if not examples:
        return ProviderPreview(report, provider)
    chosen = replace(examples[min(max(choice.number, 0), len(examples) - 1)], report=aside)
    trace = run_example(_with_reply(chosen, choice), provider)
    operation = provider.operations[chosen.stated["operation"]]
    fields = tuple(model.capabilities[operation.capability].row)
    problem = "" if trace is not None else next((one.message for one in reversed(aside.found)), "")
    return ProviderPreview(report, provider, examples, trace, operation.id, fields, problem)


def _describe_replies(example: Example) -> Iterator[dict[str, Any]]:
    """The replies that have a body, with it as text; numbered where a step has several."""
    for step, stated in (example.stated.get("replies") or {}).items():
        for at, reply in enumerate(stated if isinstance(stated, list) else [stated]):
            if "fault" not in reply:
                body = json.dumps(reply["json"], ensure_ascii=False, indent=2) if "json" in reply else reply.get("text")
                yield {"step": step, "at": at, "body": str(body or "")}


def _with_reply(example: Example, choice: ExampleChoice) -> Example:
    """The example with the chosen body in the place of a stated one; status and headers stay."""
    replies: Mapping[str, Any] = example.stated.get("replies") or {}
    stated: Any = replies.get(choice.step)
    listed = stated if isinstance(stated, list) else [stated]
    if choice.body is None or stated is None or not 0 <= choice.at < len(listed):
        return example
    reply = {name: one for name, one in listed[choice.at].items() if name not in ("json", "text", "fault")}
    parsed = parse_json(choice.body) if choice.body.lstrip()[:1] in {"{", "["} else None
    reply |= {"json": parsed} if parsed is not None else {"text": choice.body}
    changed = [*listed[: choice.at], reply, *listed[choice.at + 1 :]]
    new = {**replies, choice.step: changed if isinstance(stated, list) else reply}
    return replace(example, stated={**example.stated, "replies": new})
