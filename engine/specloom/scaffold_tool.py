"""The start of a tool: what it asks, inputs that somebody takes, and an example that the engine works out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .diagnostics import Report
from .examples_tools import run_tool_example
from .load_tree import Listing, Map, to_plain
from .model import Model
from .model_tools import Tool
from .names import Spec, parse_spec
from .plan import compile_tool
from .record import to_yaml
from .scaffold import ScaffoldError, check_name, find_capability, folder_of
from .scaffold_fields import flow, indented
from .scaffold_question import Question, asking, running
from .surroundings import surroundings_of


def draft_tool(model: Model, name: str, toolset: str, capabilities: Sequence[str], procedure: str) -> str:
    """The text of a tool that asks these capabilities side by side, or runs a procedure; its example holds."""
    check_name("tool", name, model.tools)
    if not toolset:
        known = ", ".join(sorted({one for tool in model.tools.values() for one in tool.toolsets}))
        raise ScaffoldError(f"say where it belongs: --toolset NAME, a new one or one that is there ({known or 'none'})")
    check_name("toolset", toolset, {})
    if capabilities and procedure:
        raise ScaffoldError("a new tool asks capabilities or runs a procedure; leave out --capability or --procedure")
    if procedure:
        question = running(procedure)
    else:
        wanted: Sequence[str | None] = tuple(dict.fromkeys(capabilities)) or (None,)
        question = asking(model, [find_capability(model, one) for one in wanted])
    first = [dict(one) for one in (question.example, question.whole) if one]
    examples = [*first, *_bounds(question)]
    file = f"{folder_of('tool', toolset)}/{name}.yaml"
    # The engine itself says what the tool makes of the example, so the expectation holds by construction.
    spec, tool = _compile(file, _text(name, question, examples), model)
    for at, one in enumerate(first):
        one["expect"] = _expectation(spec, tool, model, at)
    if procedure and "answer" in first[0]["expect"]:
        question = replace(question, answer=_shown(question.answer, first[0]["expect"]["answer"]))
    text = _text(name, question, examples)
    _compile(file, text, model)
    return text


def _compile(file: str, text: str, model: Model) -> tuple[Spec, Tool]:
    report = Report()
    spec = parse_spec(file, text.encode(), report)
    tool = compile_tool(spec, surroundings_of(model), report) if spec else None
    if spec is None or tool is None or report.errors:
        first = report.errors[0]
        raise ScaffoldError(f"this makes a tool that does not compile ({first.place}: {first.message})")
    return spec, tool


def _expectation(spec: Spec, tool: Tool, model: Model, at: int) -> dict[str, Any]:
    """What comes of an example: the whole answer, or the fault."""
    listed = spec.root.get("examples")
    node = listed.items[at] if isinstance(listed, Listing) else spec.root
    assert isinstance(node, Map)
    trace = run_tool_example(node, to_plain(node), tool, model, Report())
    if trace is None or trace.outcome is None:
        fault = trace.fault if trace else None
        return {"error": fault.kind} if fault else {"count": 0}
    answer = {name: value for name, value in trace.outcome.answer.items() if value is not None}
    return {"served_by": trace.outcome.served_by, "answer": answer} if trace.outcome.served_by else {"answer": answer}


def _shown(lines: Sequence[str], answer: Mapping[str, Any]) -> list[str]:
    """The keys of a procedure's record that the example has, and a note of the others."""
    names = [line.partition(":")[0] for line in lines]
    others = [name for name in names if name not in answer]
    noted = [f"# also in the result, and not in this example: {', '.join(others)}"] if others else []
    return [*(line for name, line in zip(names, lines, strict=True) if name in answer), *noted]


def _text(name: str, question: Question, examples: Sequence[Mapping[str, Any]]) -> str:
    title = name.replace("_", " ").capitalize()
    changes = "" if question.reads_only else "  # decide: whether twice is as once"
    hints = {"read_only": question.reads_only, "destructive": False, "idempotent": True, "open_world": True}
    lines = [
        "# yaml-language-server: $schema=../../schema/tool.json",
        "spec: tool/1",
        f"name: {name}",
        f"title: {title}  # decide: for people",
        "# decide: for the model that calls: when to use it, what it returns, and when not to",
        *to_yaml({"description": question.description}).splitlines(),
        f"annotations: {flow(hints)}{changes}",
        "",
        *_inputs(question.inputs),
        "",
        *(["cache: {ttl: 1h, shape: 1}  # decide: how long an answer stays good", ""] if question.is_cached else []),
        "plan:",
        *indented(question.plan, 2),
        "",
        *(["after:", *indented(question.after, 2), ""] if question.after else []),
        "answer:",
        *indented(question.answer, 2),
        "  trust: untrusted-external-content",
        "",
        "examples:",
        *indented(to_yaml(list(examples)).splitlines(), 2),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _inputs(inputs: Mapping[str, Any]) -> list[str]:
    if not inputs:
        return ["input: {}"]
    head = "input:  # decide: leave out what a model does not need"
    return [head, *(f"  {one}: {flow(said)}" for one, said in inputs.items())]


def _bounds(question: Question) -> Iterator[dict[str, Any]]:
    """An example of what the inputs' bounds refuse, and of what they just accept."""
    refused: list[dict[str, Any]] = []
    accepted: list[dict[str, Any]] = []
    for name, said in question.inputs.items():
        if "max_length" in said:
            refused.append({name: {"characters": said["max_length"] + 1}})
            accepted.append({name: {"characters": said["max_length"]}})
        elif "max_items" in said:
            refused.append({name: {"times": said["max_items"] + 1, "of": "x"}})
            accepted.append({name: {"times": said["max_items"], "of": "x"}})
        elif "enum" in said:
            refused.append({name: "something else"})
            accepted += [{name: one} for one in said["enum"]]
        elif "format" in said:
            refused.append({name: "some day"})
        elif said["type"] == "integer":
            refused.append({name: 1.5})
    if refused:
        lists = {"refuse": refused} | ({"accept": accepted} if accepted else {})
        yield {"name": "what is outside of what is allowed is refused", "args": question.example["args"], **lists}
