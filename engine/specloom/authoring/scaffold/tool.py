"""The start of a tool: what it asks, inputs that somebody takes, and an example that the engine works out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from specloom.compiler import compile_tool, symbols_of
from specloom.core import Report, did_you_mean
from specloom.language import Choice
from specloom.model import Argument, Capability, Model, Tool
from specloom.plugins import PROCEDURES, Procedure, load_hooks
from specloom.specs import Listing, Map, Spec, parse_spec, to_plain

from ..examples.tools import run_tool_example
from ..try_live import to_yaml
from .common import ScaffoldError, check_name, find_capability, folder_of
from .provider import flow, indented, made_up

# --- What a new tool asks: capabilities, each as a part with its own fault, or a procedure; with inputs and an
# example --------------------------------------------------------------------------------------------------------------


PAGE = "<html><title>Otters</title><article><h1>Otters</h1><p>Otters eat fish, and some eat crabs.</p></article>"
"""What the example of a procedure that reads an address finds there."""
ADDRESS = "https://otters.example/diet"
_LONGEST, _MOST_ITEMS, _COUNT = 500, 20, "num_results"
_MAIN = ("query", "ref")
"""Parameters without which a procedure that names none as needed has little to do."""
_BOUNDS = ("default", "enum", "minimum", "maximum")


@dataclass(frozen=True, slots=True)
class Question:
    """The parts of a new tool that hang on what it asks; `plan`, `after` and `answer` are lines of YAML."""

    description: str
    inputs: Mapping[str, Mapping[str, Any]]
    plan: Sequence[str]
    answer: Sequence[str]
    example: Mapping[str, Any]
    whole: Mapping[str, Any] = field(default_factory=dict)
    """An example in which every input is set."""
    after: Sequence[str] = ()
    reads_only: bool = True
    is_cached: bool = True


# --- capabilities ---------------------------------------------------------------------------------------------------


def asking(model: Model, contracts: Sequence[Capability]) -> Question:
    """The question to one capability, whose providers are asked in order, or to several at once."""
    taken: dict[str, Argument] = {}
    for one in contracts:
        offering = model.offering(one.name)
        if not offering:
            start = f"specloom new provider NAME --capability {one.name}"
            raise ScaffoldError(f"no provider offers {one.name!r} yet; start one first: {start}")
        known = {name for operation in offering.values() for name in operation.input}
        taken |= {name: argument for name, argument in one.arguments.items() if name in known and name not in taken}
    inputs = {name: _input(one, only=len(taken) == 1) for name, one in taken.items()}
    args = {name: _given(taken[name], said) for name, said in inputs.items()}
    needed = {name: args[name] for name, said in inputs.items() if said.get("required")}
    defaults = {name: said["default"] for name, said in inputs.items() if "default" in said}
    rows = {
        one.name: {name: made_up(row) for name, row in one.row.items() if row.kind != "object"} for one in contracts
    }
    says = "the first provider of the route answers" if len(contracts) == 1 else "all that is asked is answered"
    return Question(
        " ".join(one.description.partition(". ")[0].rstrip(".") + "." for one in contracts),
        inputs,
        _plan(contracts),
        _answer(contracts),
        {"name": says, "args": needed, "providers": _parts(model, rows, {**defaults, **needed}), "expect": {}},
        {
            "name": "what is set goes to whoever takes it, and what nobody takes is named",
            "args": args,
            "providers": _parts(model, dict.fromkeys(rows), args),
            "expect": {},
        },
        _after(contracts, inputs),
    )


def _parts(
    model: Model, rows: Mapping[str, Mapping[str, Any] | None], args: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """For each capability what its first provider is given of these arguments, and the row that it answers with."""
    parts = {}
    for name, row in rows.items():
        provider, operation = next(iter(model.offering(name).items()))
        heard = {one: args[one] for one in operation.input if one in args}
        parts[f"{provider}.{name}"] = {"sent": heard, "rows": [dict(row)] if row else []}
    return parts


def _input(one: Argument, *, only: bool) -> dict[str, Any]:
    types = {"integer": "integer", "number": "number", "boolean": "boolean", "list": "list", "object": "object"}
    said: dict[str, Any] = {"type": types.get(one.kind, "string")}
    if one.name == "query" or only:
        said["required"] = True
    if isinstance(one.shape, Choice):
        said["enum"] = list(one.shape.values)
    elif one.kind == "date":
        said["format"] = "date"
    elif one.name == _COUNT:
        said |= {"minimum": 1, "maximum": 50, "default": 5, "clamp": True}
    elif said["type"] == "string":
        said["max_length"] = _LONGEST
    elif said["type"] == "list":
        said["max_items"] = _MOST_ITEMS
    return {**said, "description": one.description}


def _given(one: Argument, said: Mapping[str, Any]) -> Any:
    """What the example gives for a required input."""
    if "enum" in said:
        return said["enum"][0]
    return "otters" if one.kind in {"text", "document", "any"} else {} if one.kind == "object" else made_up(one)


def _after(contracts: Sequence[Capability], inputs: Mapping[str, Any]) -> list[str]:
    """Of one list no more than was asked for, whatever a provider gives."""
    return [f"- take: args.{_COUNT}"] if len(contracts) == 1 and _COUNT in inputs else []


def _plan(contracts: Sequence[Capability]) -> list[str]:
    if len(contracts) == 1:
        name = contracts[0].name
        return [
            f"- name: the providers of {name} in the order of the route",
            f"  first_of: {{providers: =route.{name}, operation: {name}}}",
        ]
    return [
        "- name: all of it side by side, each part failing by itself",
        "  collect:",
        "    parts:",
        *(f"      {one.name}: {{operation: {one.name}, providers: =route.{one.name}}}" for one in contracts),
    ]


def _answer(contracts: Sequence[Capability]) -> list[str]:
    if len(contracts) == 1:
        return [*_list("results", "rows", contracts[0]), "provider: =served_by", "not_applied: =not_applied"]
    lines = [line for one in contracts for line in _list(one.name, f"parts.{one.name}.rows", one)]
    faults = ", ".join(f"parts.{one.name}.fault.message" for one in contracts)
    return [*lines, f'failed: "=[{faults}][?@]"', "not_applied: =not_applied"]


def _list(key: str, rows: str, contract: Capability) -> list[str]:
    shown = [name for name, field in contract.row.items() if field.kind != "object"]
    return [f"{key}:", f"  each: {rows}", "  map:", *(f"    {name}: {name}" for name in shown)]


# --- procedures -----------------------------------------------------------------------------------------------------


def running(name: str) -> Question:
    """The question that a registered procedure answers."""
    load_hooks()
    if name not in PROCEDURES:
        hint = did_you_mean(name, PROCEDURES)
        raise ScaffoldError(f"no procedure is called {name!r}; {hint}".rstrip("; "))
    procedure = PROCEDURES[name]
    inputs = {one: said for one in procedure.parameters if (said := _parameter(one, procedure))}
    for one in procedure.needs:
        if one not in inputs:
            said = procedure.parameters[one].get("type", "value of any kind")
            raise ScaffoldError(f"{name} needs {one!r}, which no simple input can be ({said}); see a tool that runs it")
    args = {one: _value(one, said) for one, said in inputs.items() if said.get("required")}
    example: dict[str, Any] = {"name": "say in a sentence what this shows", "args": args}
    if "url" in inputs:
        example["pages"] = {ADDRESS: {"text": PAGE}}
    passed = ", ".join(f"{one}: =args.{one}" for one in inputs)
    given = f", with: {{{passed}}}" if passed else ""
    return Question(
        " ".join(procedure.doc.split()) or f"Runs {name}.",
        inputs,
        [f"- name: {name.replace('_', ' ')}", f"  procedure: {{name: {name}{given}}}"],
        [f"{one}: =result.{one}" for one in _keys(procedure.gives) if one != "trust"],
        {**example, "expect": {}},
        reads_only=not procedure.keeps,
        is_cached=not _keeps(procedure),
    )


def _keys(gives: Mapping[str, Any]) -> Iterable[str]:
    properties: Mapping[str, Any] = gives.get("properties") or {}
    return properties


def _keeps(procedure: Procedure) -> bool:
    """Whether it, or what it runs, keeps something of its caller, whose answers are for nobody else."""
    return bool(procedure.keeps) or any(_keeps(PROCEDURES[one]) for one in procedure.runs if one in PROCEDURES)


def _parameter(name: str, procedure: Procedure) -> dict[str, Any]:
    """A procedure's parameter as an input, or nothing where an input cannot say it."""
    schema = procedure.parameters[name]
    said_type = schema.get("type")
    kind = next((one for one in said_type if one != "null"), "") if isinstance(said_type, list) else said_type
    types = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "array": "list"}
    holds = (schema.get("items") or {}).get("type", "string") if kind == "array" else ""
    if kind not in types or holds not in {"", "string"}:
        return {}
    said: dict[str, Any] = {"type": types[str(kind)]}
    if name in (procedure.needs or _MAIN):
        said["required"] = True
    said |= {key: schema[key] for key in _BOUNDS if schema.get(key) is not None}
    if isinstance(said.get("enum"), (list, tuple)):
        said["enum"] = [one for one in said["enum"] if one is not None]
    elif kind == "string":
        said["max_length"] = _LONGEST
    elif kind == "array":
        said["max_items"] = _MOST_ITEMS
    return {**said, "description": schema.get("description") or f"The {name.replace('_', ' ')}."}


def _value(name: str, said: Mapping[str, Any]) -> Any:
    if name == "url":
        return ADDRESS
    return (
        said["enum"][0]
        if "enum" in said
        else {"integer": 3000, "number": 1.5, "boolean": True}.get(said["type"], "otters")
    )


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
    tool = compile_tool(spec, symbols_of(model), report) if spec else None
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
