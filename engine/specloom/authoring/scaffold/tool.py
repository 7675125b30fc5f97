"""The start of a tool: what it asks, inputs that somebody takes, and an example that the engine works out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from specloom.compiler import compile_tool, symbols_of
from specloom.core import Report, did_you_mean
from specloom.language import Choice
from specloom.model import Argument, Capability, Model, Tool
from specloom.plugins import PROCEDURES, Procedure, load_hooks
from specloom.specs import Listing, Map, Spec, parse_spec, to_plain

from ..examples.tools import run_tool_example
from .common import ScaffoldError, check_name, draft, find_capability, folder_of
from .provider import made_up

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
        {"name": says, "args": needed, "providers": _parts(model, rows, {**defaults, **needed}), "expect": {}},
        {
            "name": "what is set goes to whoever takes it, and what nobody takes is named",
            "args": args,
            "providers": _parts(model, dict.fromkeys(rows), args),
            "expect": {},
        },
        contracts,
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
    return Question(
        " ".join(procedure.doc.split()) or f"Runs {name}.",
        inputs,
        {**example, "expect": {}},
        procedure=name,
        shown=[one for one in procedure.gives.get("properties") or () if one != "trust"],
        reads_only=not procedure.keeps,
        is_cached=not _keeps(procedure),
    )


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


def _text(name: str, question: Question, examples: Sequence[Mapping[str, Any]]) -> str:
    facts = {part.name: getattr(question, part.name) for part in fields(question)}
    passed = {"with": {one: f"=args.{one}" for one in question.inputs}} if question.inputs else {}
    call = {"name": question.procedure, **passed}
    return draft("tool", {**facts, "name": name, "call": call, "examples": list(examples)})


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
