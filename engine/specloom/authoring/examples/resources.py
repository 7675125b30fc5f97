"""Runs the examples of resources: what the engine and the source have is given, and the answer is compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specloom.core import Fault, Report, did_you_mean
from specloom.model import HOLE, Resource, Tables
from specloom.plugins import keys_of
from specloom.runtime import ResourceContext, answer_resource
from specloom.specs import Listing, Map, Spec, to_plain

from .compare import differing_row, place_of
from .providers import DEFAULT_NOW, clock

_GIVEN_BY = {"collection": "rows", "procedure": "result"}


def check_resource(spec: Spec, resource: Resource, report: Report) -> None:
    """Run a resource's examples and compare, and warn of keys that none of them shows (W301)."""
    if resource.source.kind == "artifact":
        return  # what was kept is read as it is
    node = spec.root.get("examples")
    items = [item for item in node.items if isinstance(item, Map)] if isinstance(node, Listing) else []
    if not items:
        report.add("E403", resource.place, f"{resource.name} has no example")
    shown: set[str] = set()
    for item in items:
        said = to_plain(item)
        shown |= {name for name, value in (said["expect"].get("answer") or {}).items() if value is not None}
        _check_example(item, said, resource, report)
    for key in resource.answer if items else ():
        if key.name not in shown:
            message = f"no example shows {key.name!r} in the answer of {resource.name}"
            report.add("W301", key.value.place, message, "state it under `expect.answer`")


def _check_example(node: Map, said: Mapping[str, Any], resource: Resource, report: Report) -> None:
    engine, args = said.get("engine") or {}, said.get("args") or {}
    for name in engine:
        if name not in keys_of(Tables):
            hint = did_you_mean(name, keys_of(Tables))
            report.add("E402", place_of(node, "engine"), f"the engine has no table {name!r}", hint)
    lacking = [f"engine.{name}" for name in sorted(resource.tables) if name not in engine]
    lacking += [f"args.{name}" for name in HOLE.findall(resource.uri) if name not in args]
    needed = _GIVEN_BY.get(resource.source.kind)
    lacking += [needed] if needed and needed not in said and "answer" in said["expect"] else []
    if lacking:
        report.add("E402", node.place, f"{said['name']!r} does not say what {', '.join(lacking)} is")
        return
    context = ResourceContext(args, engine, clock(DEFAULT_NOW), said.get("rows", []), result=said.get("result", {}))
    try:
        answer = answer_resource(resource, context)
    except Fault as fault:
        report.add("E401", node.place, f"{said['name']!r}: {fault.message}", fault.detail)
        return
    expect = node.get("expect")
    assert expect is not None
    if answer is None or "missing" in said["expect"]:
        if (answer is None) != bool(said["expect"].get("missing")):
            found = "nothing is there" if answer is None else "something is there"
            report.add("E401", expect.place, f"{said['name']!r}: {found}")
        return
    for sentence in differing_row(answer, said["expect"]["answer"]):
        report.add("E401", place_of(expect, "answer"), f"{said['name']!r}: the answer {sentence}")
