"""Compiles the inputs of a tool: their types, defaults, choices and bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from specloom.core import FORMATS, Place, Report, did_you_mean
from specloom.language import (
    ADVICE,
    BOOLEAN,
    INTEGER,
    MAX_CAPTURED,
    NUMBER,
    TEXT,
    Choice,
    ListOf,
    RecordType,
    Shape,
    find_pattern_problem,
    find_slow_part,
    maybe,
)
from specloom.model import CursorInput, Input, Stage
from specloom.specs import Listing, Map, Node, YamlEntry, YamlScalar, to_plain

from .symbols import Symbols
from .values import entries_of, scalars_of

_SHAPES: Mapping[str, Shape] = {
    "string": TEXT,
    "integer": INTEGER,
    "number": NUMBER,
    "boolean": BOOLEAN,
    "list": ListOf(TEXT),
    "object": RecordType({}, closed=False),
}


_BOUNDS = ("required", "minimum", "maximum", "clamp", "min_length", "max_length", "max_items")
"""The keys of an input that say by themselves what it may be."""


CURSOR = "cursor"
"""The type of the input by which a caller goes on; what it is made of is nobody's but the engine's."""
LONGEST_CURSOR = 2_000


def compile_cursor(
    node: Node | None, inputs: Mapping[str, Input], after: Iterable[Stage], report: Report
) -> CursorInput | None:
    """The input of a tool by which its answers are gone on with; None where it has none."""
    entries = [(one.key, one.value) for one in entries_of(node) if isinstance(one.value, Map)]
    found = [(name, value) for name, value in entries if to_plain(value.get("type")) == CURSOR]
    for name, value in entries:
        for word in [] if to_plain(value.get("type")) == CURSOR else ["size", "lists", "counts"]:
            if word in value:
                message = f"{name!r} is no cursor, which `{word}` belongs to"
                report.add("E105", value.entries[word].place, message, "remove it")
    for _, value in found[1:]:
        report.add("E105", value.place, "a tool goes on in one way, and has one cursor", f"{found[0][0]!r} is it")
    if not found:
        return None
    name, cursor = found[0]
    said = to_plain(cursor)
    for word in ("required", "default", "enum", "pattern", "format", "min_length"):
        if word in said:
            report.add("E105", cursor.entries[word].place, f"a cursor takes no `{word}`", "remove it")
    size = said.get("size", "")
    if size and (size not in inputs or inputs[size].kind != "integer"):
        numbers = [one.name for one in inputs.values() if one.kind == "integer"]
        message = f"the tool has no input {size!r} that is a whole number"
        report.add("E110", cursor.entries["size"].place, message, did_you_mean(size, numbers))
    cutting = [at for at, stage in enumerate(after) if stage.kind == "take"]
    if "counts" in said and "lists" not in said:
        place = cursor.entries["counts"].place
        report.add("E105", place, "`counts` belongs to `lists`", "name the keys that list rows")
    lists, counts = tuple(said.get("lists", ())), tuple(said.get("counts", ()))
    return CursorInput(name, size, cutting[-1] if cutting else None, lists, counts=counts)


def compile_inputs(node: Node | None, around: Symbols, report: Report) -> dict[str, Input]:
    """The inputs of an `input` mapping, by name."""
    return {entry.key: _compile_input(entry, around, report) for entry in entries_of(node)}


def check_names(node: Node | None, inputs: Iterable[str], report: Report) -> None:
    """Report every item of a list that is not the name of an input."""
    known = list(inputs)
    for item in scalars_of(node):
        if item.value not in known:
            hint = did_you_mean(str(item.value), known)
            report.add("E110", item.place, f"the tool has no input {item.value!r}", hint)


def _compile_input(entry: YamlEntry, around: Symbols, report: Report) -> Input:
    said = to_plain(entry.value)
    assert isinstance(entry.value, Map)
    choices, catalogue = _choices(entry.value.get("enum"), around, report)
    kind, default = said["type"], said.get("default")
    if kind == CURSOR:
        said = {"max_length": LONGEST_CURSOR, **said}
        kind = "string"
    items = _items(entry, kind, around, report)
    shape: Shape = Choice(choices) if choices and kind == "string" else _SHAPES[kind]
    if items:
        needed = frozenset(one.name for one in items if one.required)
        shape = ListOf(RecordType({one.name: one.shape for one in items}, required=needed))
    if default is not None:
        place = _place(entry.value.get("default"), entry.place)
        if choices and default not in choices:
            hint = did_you_mean(str(default), choices)
            report.add("E104", place, f"the default {default!r} is not in the enum", hint)
        if items or not _fits(default, kind):
            report.add("E104", place, f"the default {default!r} is not of type {kind}")
        elif problem := _beyond(default, said):
            report.add("E104", place, f"the default {default!r} is {problem}")
    format_ = said.get("format", "")
    if format_ and (kind not in ("string", "list") or items):
        place = _place(entry.value.get("format"), entry.place)
        report.add("E104", place, "`format` belongs to an input of type string, or to a list of texts")
    pattern, says = FORMATS[format_] if format_ else (said.get("pattern", ""), said.get("says", ""))
    if pattern:
        place = _place(entry.value.get("pattern"), entry.place)
        check_pattern(pattern, place, report, said.get("max_length", MAX_CAPTURED))
    shape = shape if said.get("required") or default is not None else maybe(shape)
    return Input(
        entry.key,
        kind,
        " ".join(said["description"].split()),
        entry.place,
        shape,
        default=default,
        choices=choices,
        catalogue=catalogue,
        is_open=said.get("open", False),
        pattern=pattern,
        says=says,
        format=format_,
        items=items,
        **{bound: said[bound] for bound in _BOUNDS if bound in said},
    )


def check_pattern(pattern: str, place: Place, report: Report, length: int = MAX_CAPTURED) -> bool:
    """Whether this is a pattern that matches whole texts of this length in time; what keeps it from it is reported."""
    if problem := find_pattern_problem(pattern):
        report.add("E104", place, problem)
    elif slow := find_slow_part(pattern, length, whole=True):
        report.add("E212", place, str(slow), ADVICE)
    else:
        return True
    return False


def _beyond(value: Any, said: Mapping[str, Any]) -> str:
    """Which bound of the input a value of its type is beyond, or nothing."""
    size: float
    if isinstance(value, str):
        size, least, most, unit = len(value), said.get("min_length"), said.get("max_length"), " characters"
    elif isinstance(value, list):
        size, least, most, unit = len(value), None, said.get("max_items"), " items"
    elif isinstance(value, (int, float)):
        size, least, most, unit = value, said.get("minimum"), said.get("maximum"), ""
    else:
        return ""
    if least is not None and size < least:
        return f"below the least, {least}{unit}"
    return f"above the most, {most}{unit}" if most is not None and size > most else ""


def _items(entry: YamlEntry, kind: str, around: Symbols, report: Report) -> tuple[Input, ...]:
    """The fields of the objects of a list."""
    assert isinstance(entry.value, Map)
    node = entry.value.get("items")
    if not isinstance(node, Map):
        return ()
    if kind != "list" or "enum" in entry.value:
        report.add("E104", node.place, "`items` belongs to an input of type list without an enum")
    return tuple(_compile_input(one, around, report) for one in node)


def _choices(node: Node | None, around: Symbols, report: Report) -> tuple[tuple[str, ...], str]:
    if node is None:
        return (), ""
    if isinstance(node, Listing):
        return tuple(to_plain(node)), ""
    assert isinstance(node, YamlScalar)
    text = str(node.value)
    if text == "lenses":
        return tuple(sorted(around.lenses)), text
    found: set[str] = set()
    for capability in text.partition(".")[2].split("|"):
        if capability not in around.capabilities and capability not in report.left_out:
            hint = did_you_mean(capability, around.capabilities)
            report.add("E110", node.place, f"no capability is called {capability!r}", hint)
        found |= set(around.offering(capability))
    return tuple(sorted(found)), text


def _place(node: Node | None, otherwise: Place) -> Place:
    return node.place if node is not None else otherwise


def _fits(value: Any, kind: str) -> bool:
    if kind == "list":
        return isinstance(value, list)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "object":
        return isinstance(value, dict)
    if isinstance(value, bool):
        return False
    wanted: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float)}
    return isinstance(value, wanted[kind])
