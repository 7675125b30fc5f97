"""What procedures mean to the tool that runs them: their record, whom they ask, what they keep and their settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specloom.core import Report, did_you_mean
from specloom.language import RecordType, Shape, from_schema, join_all, maybe
from specloom.model import Setting, Stage, Strategy, make_setting
from specloom.plugins import Procedure
from specloom.specs import Map, Node, to_plain

from .symbols import Symbols


def procedures_of(plan: Iterable[Strategy], after: Iterable[Stage], around: Symbols) -> tuple[Procedure, ...]:
    """The procedures that a tool runs, and those that they run in turn, each once."""
    named = [one.hook for one in plan if one.kind == "procedure"]
    named += [one.hook for one in after if one.kind == "procedure"]
    return tuple(_with_those_they_run(named, around))


def _with_those_they_run(names: Iterable[str], around: Symbols) -> list[Procedure]:
    found: dict[str, Procedure] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name in around.procedures and name not in found:
            found[name] = around.procedures[name]
            waiting += found[name].runs
    return list(found.values())


def result_shape(plan: Iterable[Strategy], after: Iterable[Stage], around: Symbols) -> Shape:
    """The record that is called `result`: that of the strategies, with what procedures among the stages add to it.

    It may be null where a strategy that is no procedure may have answered.
    """
    strategies, stages = list(plan), [one for one in after if one.kind == "procedure"]
    running = [one for one in strategies if one.kind == "procedure"]
    shape = join_all(record_of(around.procedures[one.hook]) for one in running)
    certain = len(running) == len(strategies) or not running
    for stage in stages:
        added = record_of(around.procedures[stage.hook])
        if isinstance(shape, RecordType) and isinstance(added, RecordType):
            certain_fields = (shape.required if certain else frozenset()) | added.required
            shape = RecordType({**shape.fields, **added.fields}, required=certain_fields)
        else:
            shape = added
        certain = True
    return shape if certain else maybe(shape)


def record_of(procedure: Procedure) -> Shape:
    """What a procedure gives, with no other keys than it declares."""
    return from_schema({**procedure.gives, "additionalProperties": False})


def asked_by(procedures: Iterable[Procedure]) -> tuple[str, ...]:
    """The capabilities that procedures may ask."""
    return tuple(dict.fromkeys(name for one in procedures for name in one.asks))


def settings_of_procedures(root: Map, own: Mapping[str, Setting], around: Symbols) -> dict[str, Setting]:
    """The settings that the procedures of a tool declare; what the tool declares itself under a name is left alone."""
    found: dict[str, Setting] = {}
    for name, node in _named(root):
        for procedure in _with_those_they_run([name], around):
            for setting, said in procedure.settings.items():
                if setting not in own:
                    found[setting] = make_setting(setting, said, node.place)
    return found


def check_kept(root: Map, around: Symbols, report: Report) -> None:
    """The collections in which a tool's procedures keep something have to be declared (E110)."""
    for name, node in _named(root):
        for procedure in _with_those_they_run([name], around):
            for needed in procedure.keeps:
                if needed.name not in around.collections:
                    message = f"{procedure.name!r} keeps something in {needed.name!r}, and no collection is called that"
                    report.add("E110", node.place, message, did_you_mean(needed.name, around.collections))


def check_cached(node: Node | None, procedures: Iterable[Procedure], personal: Iterable[str], report: Report) -> None:
    """What is kept of one owner may not get into answers that are kept for all of them (E133)."""
    if node is None:
        return
    reading = [f"{one.name!r} reads {one.keeps[0].name!r} of its caller" for one in procedures if one.keeps]
    for said in (*reading, *personal):
        message = f"{said}, and this would keep what it tells for others"
        report.add("E133", node.place, message, "leave `cache` out")


def _named(root: Map) -> list[tuple[str, Node]]:
    """The procedures that a tool file names, with where."""
    found: list[tuple[str, Node]] = []
    for key in ("plan", "after"):
        listed = root.get(key)
        for item in getattr(listed, "items", ()):
            inner = item.get("procedure") if isinstance(item, Map) else None
            if isinstance(inner, Map):
                found.append((str(to_plain(inner.get("name"))), inner))
    return found
