"""The start of a tool: what it asks, inputs that somebody takes, and an example that the engine works out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from typing import Any

from specloom.compiler import compile_tool, symbols_of
from specloom.core import Report, dataclass
from specloom.language import Choice
from specloom.model import Argument, Capability, Model, Tool
from specloom.plugins import PROCEDURES, Procedure
from specloom.specs import Spec, parse_spec

from ..examples.compare import ExampleTrace, examples_of
from ..examples.tools import run_tool_example
from .common import (
    ScaffoldError,
    check_name,
    draft,
    find_capability,
    find_procedure,
    folder_of,
    made_up,
    schema_type,
)

PAGE = "<html><title>Otters</title><article><h1>Otters</h1><p>Otters eat fish, and some eat crabs.</p></article>"
"""What the example of a procedure that reads an address finds there."""
ADDRESS = "https://otters.example/diet"
_SIZES: Mapping[str, Mapping[str, int]] = {"string": {"max_length": 500}, "list": {"max_items": 20}}
"""Bounds of inputs that have none of their own."""
_MAIN = ("query", "ref")
"""Parameters without which a procedure that names none as needed has little to do."""
_BOUNDS = ("default", "enum", "minimum", "maximum")


@dataclass(frozen=True, slots=True)
class Question:
    """The parts of a new tool that hang on what it asks: capabilities, or a procedure."""

    description: str
    inputs: Mapping[str, Mapping[str, Any]]
    example: Mapping[str, Any]
    whole: Mapping[str, Any] = field(default_factory=dict)
    """An example in which every input is set."""
    contracts: Sequence[Capability] = ()
    procedure: str = ""
    shown: Sequence[str] = ()
    """Keys of the procedure's record that the answer has."""
    others: Sequence[str] = ()
    """Keys of the record that the example does not have."""
    reads_only: bool = True
    is_cached: bool = True


# --- capabilities ---------------------------------------------------------------------------------------------------


def _question_to(model: Model, contracts: Sequence[Capability]) -> Question:
    """The question to one capability, whose providers are asked in order, or to several at once."""
    taken: dict[str, Argument] = {}
    for contract in contracts:
        offering = model.offering(contract.name)
        if not offering:
            start = f"specloom new provider NAME --capability {contract.name}"
            raise ScaffoldError(f"no provider offers {contract.name!r} yet; start one first: {start}")
        heard = {name for operation in offering.values() for name in operation.input}
        taken = {**{name: one for name, one in contract.arguments.items() if name in heard}, **taken}
    inputs = {name: _input(argument, only=len(taken) == 1) for name, argument in taken.items()}
    args = {name: _example_value(taken[name], rule) for name, rule in inputs.items()}
    needed = {name: args[name] for name, rule in inputs.items() if rule.get("required")}
    defaults = {name: rule["default"] for name, rule in inputs.items() if "default" in rule}
    rows = {
        contract.name: {name: made_up(row) for name, row in contract.row.items() if row.kind != "object"}
        for contract in contracts
    }
    # Who is in no order is asked where a route names it, so that an example has to.
    routes = {
        contract.name: [_first_of(model, contract.name)]
        for contract in contracts
        if _first_of(model, contract.name) not in contract.order
    }
    routed = {"routes": routes} if routes else {}
    answers = "the first provider of the route answers" if len(contracts) == 1 else "all that is asked is answered"
    whole = "what is set goes to whoever takes it, and what nobody takes is named"
    return Question(
        " ".join(one.description.partition(". ")[0].rstrip(".") + "." for one in contracts),
        inputs,
        {
            "name": answers,
            "args": needed,
            **routed,
            "providers": _parts(model, rows, {**defaults, **needed}),
            "expect": {},
        },
        {"name": whole, "args": args, **routed, "providers": _parts(model, dict.fromkeys(rows), args), "expect": {}},
        contracts,
        reads_only=not _writes(model, [one.name for one in contracts]),
        is_cached=not _writes(model, [one.name for one in contracts]),
    )


def _first_of(model: Model, capability: str) -> str:
    """The first provider of a capability."""
    return next(iter(model.offering(capability)))


def _parts(
    model: Model, rows: Mapping[str, Mapping[str, Any] | None], args: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """For each capability what its first provider is given of these arguments, and the row that it answers with."""
    parts = {}
    for name, row in rows.items():
        provider = _first_of(model, name)
        operation = model.offering(name)[provider]
        heard = {one: args[one] for one in operation.input if one in args}
        parts[f"{provider}.{name}"] = {"sent": heard, "rows": [dict(row)] if row else []}
    return parts


def _input(argument: Argument, *, only: bool) -> dict[str, Any]:
    """An argument as an input."""
    kind = argument.kind if argument.kind in {"integer", "number", "boolean", "list", "object"} else "string"
    rule: dict[str, Any] = {"type": kind}
    if argument.name == "query" or only:
        rule["required"] = True
    if isinstance(argument.shape, Choice):
        rule["enum"] = list(argument.shape.values)
    elif argument.kind == "date":
        rule["format"] = "date"
    elif argument.name == "num_results":
        rule |= {"minimum": 1, "maximum": 50, "default": 5, "clamp": True}
    else:
        rule |= _SIZES.get(kind, {})
    return {**rule, "description": argument.description}


def _example_value(argument: Argument, rule: Mapping[str, Any]) -> Any:
    """What the example gives for an input."""
    if "enum" in rule:
        return rule["enum"][0]
    kind = argument.kind
    return "otters" if kind in {"text", "document", "any"} else {} if kind == "object" else made_up(argument)


# --- procedures -----------------------------------------------------------------------------------------------------


def _question_of(model: Model, name: str) -> Question:
    """The question that a registered procedure answers."""
    procedure = find_procedure(name)
    inputs = {one: rule for one in procedure.parameters if (rule := _parameter(one, procedure))}
    for one in procedure.needs:
        if one not in inputs:
            kind = procedure.parameters[one].get("type", "value of any kind")
            raise ScaffoldError(f"{name} needs {one!r}, which no simple input can be ({kind}); see a tool that runs it")
    values = {"integer": 3000, "number": 1.5, "boolean": True}
    args = {
        one: ADDRESS if one == "url" else rule["enum"][0] if "enum" in rule else values.get(rule["type"], "otters")
        for one, rule in inputs.items()
        if rule.get("required")
    }
    example: dict[str, Any] = {"name": "say in a sentence what this shows", "args": args}
    if "url" in inputs:
        example["pages"] = {ADDRESS: {"text": PAGE}}
    return Question(
        " ".join(procedure.doc.split()) or f"Runs {name}.",
        inputs,
        {**example, "expect": {}},
        procedure=name,
        shown=[key for key in procedure.gives.get("properties") or () if key != "trust"],
        reads_only=not procedure.keeps and not _writes(model, procedure.asks),
        is_cached=not _keeps(procedure),
    )


def _writes(model: Model, capabilities: Iterable[str]) -> bool:
    """Whether who is asked changes something at the other end."""
    return any(one.writes for name in capabilities if (one := model.capabilities.get(name)))


def _keeps(procedure: Procedure) -> bool:
    """Whether it, or what it runs, keeps something of its caller, whose answers are for nobody else."""
    return (
        bool(procedure.keeps)
        or procedure.reads_sources
        or any(_keeps(PROCEDURES[name]) for name in procedure.runs if name in PROCEDURES)
    )


def _parameter(name: str, procedure: Procedure) -> dict[str, Any]:
    """A procedure's parameter as an input, or nothing where an input cannot say it."""
    schema = procedure.parameters[name]
    kind = schema_type(schema)
    is_text_list = kind == "array" and (schema.get("items") or {}).get("type", "string") == "string"
    if kind not in {"string", "integer", "number", "boolean"} and not is_text_list:
        return {}
    rule: dict[str, Any] = {"type": "list" if is_text_list else kind}
    if name in (procedure.needs or _MAIN):
        rule["required"] = True
    rule |= {key: schema[key] for key in _BOUNDS if schema.get(key) is not None}
    if isinstance(rule.get("enum"), (list, tuple)):
        rule["enum"] = [value for value in rule["enum"] if value is not None]
    else:
        rule |= _SIZES.get(rule["type"], {})
    return {**rule, "description": schema.get("description") or f"The {name.replace('_', ' ')}."}


# --- The text, with examples that the engine works out ----------------------------------------------------------------


def draft_tool(model: Model, name: str, toolset: str, capabilities: Sequence[str], procedure: str) -> str:
    """The text of a tool that asks these capabilities side by side, or runs a procedure; its example holds."""
    check_name("tool", name, model.tools)
    if not toolset:
        toolsets = ", ".join(sorted({one for tool in model.tools.values() for one in tool.toolsets}))
        where = f"--toolset NAME, a new one or one that is there ({toolsets or 'none'})"
        raise ScaffoldError(f"say where it belongs: {where}")
    check_name("toolset", toolset, {})
    if capabilities and procedure:
        raise ScaffoldError("a new tool asks capabilities or runs a procedure; leave out --capability or --procedure")
    names: Sequence[str | None] = tuple(dict.fromkeys(capabilities)) or (None,)
    question = (
        _question_of(model, procedure)
        if procedure
        else _question_to(model, [find_capability(model, one) for one in names])
    )
    first = [dict(example) for example in (question.example, question.whole) if example]
    examples = [*first, *_bounds(question)]
    file = f"{folder_of('tool', toolset)}/{name}.yaml"
    # The engine itself says what the tool makes of the example, so the expectation holds by construction.
    spec, tool = _compile(file, _text(name, question, examples), model)
    for example, ready in zip(first, examples_of(spec, Report()), strict=False):
        example["expect"] = _expectation(run_tool_example(ready, tool, model))
    if procedure and "answer" in first[0]["expect"]:
        answer = first[0]["expect"]["answer"]
        others = [key for key in question.shown if key not in answer]
        question = replace(question, shown=[key for key in question.shown if key in answer], others=others)
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


def _expectation(trace: ExampleTrace | None) -> dict[str, Any]:
    """What came of an example: the whole answer, or the fault."""
    if trace is None or trace.outcome is None:
        return {"error": trace.fault.kind} if trace and trace.fault else {"count": 0}
    answer = {name: value for name, value in trace.outcome.answer.items() if value is not None}
    served_by = {"served_by": trace.outcome.served_by} if trace.outcome.served_by else {}
    return {**served_by, "answer": answer}


def _text(name: str, question: Question, examples: Sequence[Mapping[str, Any]]) -> str:
    facts = {part.name: getattr(question, part.name) for part in fields(question)}
    passed = {"with": {one: f"=args.{one}" for one in question.inputs}} if question.inputs else {}
    call = {"name": question.procedure, **passed}
    return draft("tool", {**facts, "name": name, "call": call, "examples": list(examples)})


def _bounds(question: Question) -> Iterator[dict[str, Any]]:
    """An example of what the inputs' bounds refuse, and of what they just accept."""
    refused: list[dict[str, Any]] = []
    accepted: list[dict[str, Any]] = []
    for name, rule in question.inputs.items():
        if "max_length" in rule:
            refused.append({name: {"characters": rule["max_length"] + 1}})
            accepted.append({name: {"characters": rule["max_length"]}})
        elif "max_items" in rule:
            refused.append({name: {"times": rule["max_items"] + 1, "of": "x"}})
            accepted.append({name: {"times": rule["max_items"], "of": "x"}})
        elif "enum" in rule:
            refused.append({name: "something else"})
            accepted += [{name: value} for value in rule["enum"]]
        elif "format" in rule:
            refused.append({name: "some day"})
        elif rule["type"] == "integer":
            refused.append({name: 1.5})
        accepted += [{name: rule["minimum"]}] if rule.get("minimum", 1) > 1 else []
        accepted += [{name: rule["maximum"]}] if "maximum" in rule else []
    if refused:
        lists = {"refuse": refused} | ({"accept": accepted} if accepted else {})
        yield {"name": "what is outside of what is allowed is refused", "args": question.example["args"], **lists}
