"""Runs the examples inside specs, offline, through the code that serves, and says where one does not hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from specloom.core import Fault, Report, did_you_mean
from specloom.model import HOLE, Model, Provider, Resource, Tables, Tool
from specloom.plugins import keys_of
from specloom.specs import Library, Spec

from .compare import Example, ExampleTrace, differing_row, examples_of
from .providers import DEFAULT_NOW, check_provider, clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from specloom.compiler import Symbols

CompiledSpec = Provider | Tool | Resource
Traces = Mapping[tuple[str, str], list[tuple[Example, ExampleTrace]]]
"""What each example did, by the kind and the name of its spec."""


def check_examples(
    library: Library,
    model: Model,
    report: Report,
    *,
    validate: bool = True,
    watch: Callable[[CompiledSpec], CompiledSpec] | None = None,
) -> Traces:
    """Run every example of every spec that compiled; what is wrong is reported at the example's place.

    `watch` makes of a compiled spec another one that does the same, which then runs.
    """
    compiled: dict[str, Mapping[str, CompiledSpec]] = {
        "provider": {**model.providers},
        "resource": {**model.resources},
        "tool": {**model.tools},
    }
    return {
        (kind, name): run_examples(spec, watch(specs[name]) if watch else specs[name], model, report, validate=validate)
        for kind, specs in compiled.items()
        for name, spec in library.of(kind).items()
        if name in specs
    }


def run_examples(
    spec: Spec, compiled: CompiledSpec, model: Model, report: Report, *, validate: bool = True
) -> list[tuple[Example, ExampleTrace]]:
    """Run the examples of one compiled spec and compare; what each did."""
    # A check of one file waits for no import that only other kinds of specs need.
    if isinstance(compiled, Provider):
        traces = check_provider(spec, compiled, report)
        if compiled.pages or "pages" in spec.root or any("page" in one.stated for one in examples_of(spec, report)):
            from .pages import check_pages

            traces += check_pages(spec, compiled, model, report)
        return traces
    if isinstance(compiled, Tool):
        from .tools import check_tool

        return check_tool(spec, compiled, model, report, validate=validate)
    check_resource(spec, compiled, report)
    return []


def compile_spec(spec: Spec, model: Model, symbols: Symbols, report: Report) -> CompiledSpec | None:
    """Compile a provider, a tool or a resource against a model; None where that is impossible."""
    from specloom import compiler

    if spec.kind == "provider":
        provider = compiler.compile_provider(spec, model.capabilities, report)
        if provider is not None:
            compiler.check_tables(spec, provider, model.capabilities, report)
            pages = compiler.compile_pages(
                spec, {**model.providers, spec.name: provider}, model.capabilities, model.templates, report
            )
            return replace(provider, pages=pages)
        return provider
    if spec.kind == "tool":
        return compiler.compile_tool(spec, symbols, report)
    resource = compiler.compile_resource(spec, symbols, report)
    if resource is not None:
        compiler.check_addresses(
            [resource, *(one for one in model.resources.values() if one.name != resource.name)], report
        )
    return resource


# --- Resources: what the engine and the source have is given, and the answer is compared ------------------------------


_GIVEN_BY = {"collection": "rows", "procedure": "result"}


def check_resource(spec: Spec, resource: Resource, report: Report) -> None:
    """Run a resource's examples and compare, and warn of keys that none of them shows (W301)."""
    if resource.source.kind == "artifact":
        return  # what was kept is read as it is
    examples = examples_of(spec, report)
    if not examples:
        report.add("E403", resource.place, f"{resource.name} has no example")
    stated: set[str] = set()
    for example in examples:
        stated |= {name for name, value in (example.expect.get("answer") or {}).items() if value is not None}
        _check_resource_example(example, resource)
    for key in resource.answer if examples else ():
        if key.name not in stated:
            message = f"no example shows {key.name!r} in the answer of {resource.name}"
            report.add("W301", key.value.place, message, "state it under `expect.answer`")


def _check_resource_example(example: Example, resource: Resource) -> None:
    from specloom.runtime import ResourceContext, answer_resource

    stated, expect, report = example.stated, example.expect, example.report
    engine, arguments = stated.get("engine") or {}, stated.get("args") or {}
    for name in engine:
        if name not in keys_of(Tables):
            hint = did_you_mean(name, keys_of(Tables))
            example.add("E402", "engine", f"the engine has no table {name!r}", hint)
    lacking = [f"engine.{name}" for name in sorted(resource.tables) if name not in engine]
    lacking += [f"args.{name}" for name in HOLE.findall(resource.uri) if name not in arguments]
    needed = _GIVEN_BY.get(resource.source.kind)
    lacking += [needed] if needed and needed not in stated and "answer" in expect else []
    if lacking:
        report.add("E402", example.node.place, f"{example.name!r} does not say what {', '.join(lacking)} is")
        return
    rows, result = stated.get("rows", []), stated.get("result", {})
    try:
        answer = answer_resource(resource, ResourceContext(arguments, engine, clock(DEFAULT_NOW), rows, result=result))
    except Fault as fault:
        report.add("E401", example.node.place, f"{example.name!r}: {fault.message}", fault.detail)
        return
    if answer is None or "missing" in expect:
        if (answer is None) != bool(expect.get("missing")):
            found = "nothing is there" if answer is None else "something is there"
            expect_node = example.node.get("expect") or example.node
            report.add("E401", expect_node.place, f"{example.name!r}: {found}")
        return
    for sentence in differing_row(answer, expect["answer"]):
        example.wrong("answer", f"the answer {sentence}")
