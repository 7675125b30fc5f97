"""Why an example has no rows, or rows without a field: the selector that found nothing, and what there is instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from specloom.core import Diagnostic, Fault, Place, Report, dataclass, find_nearest
from specloom.language import MISSING, Bindings
from specloom.model import Field, Operation, Provider, Step
from specloom.specs import Listing, Map, Spec, YamlScalar, to_plain

from .compare import Example, ExampleTrace

_MOST_NAMED = 12

Run = Callable[[Example, Provider], ExampleTrace | None]


@dataclass(slots=True)
class _Reads:
    """What the fields of a step were read from, and which of them ever had a value."""

    items: dict[str, list[Any]] = field(default_factory=dict)
    """The first items by the names of steps."""
    had: set[tuple[str, str]] = field(default_factory=set)
    looked: set[tuple[str, str]] = field(default_factory=set)
    """Fields that were read at all: none is behind a required one that has no value."""
    lacked: dict[str, str] = field(default_factory=dict)
    """The required field without a value that was read last, by the names of steps."""
    documents: dict[str, Any] = field(default_factory=dict)
    """Documents of steps in which no items were found."""


def explain(spec: Spec, example: Example, provider: Provider, found: list[Diagnostic], run: Run) -> list[Diagnostic]:
    """The diagnostics of a failed example, those about a selector that finds nothing at that selector."""
    reads = _Reads()
    operation = provider.operations[str(example.stated["operation"])]
    watched = replace(operation, steps=tuple(_watch(step, reads) for step in operation.steps))
    trace = run(
        replace(example, report=Report()),
        replace(provider, operations={**provider.operations, operation.name: watched}),
    )
    broken = trace is not None and isinstance(trace.fault, Fault) and trace.fault.kind == "layout_changed"
    report, explained = Report(), []
    wanted = {name for row in example.expect.get("rows") or () for name, value in row.items() if value is not None}
    for step in operation.steps:
        node = find_reading(spec, operation, step)
        if broken and step.name in reads.documents:
            _explain_each(example, node, step, reads.documents[step.name], report)
            explained.append("neither results nor a sign")
        items = reads.items.get(step.name, [])
        for one in step.reading.fields if items else ():
            is_missed = (one.required and broken) or (one.name in wanted and not broken)
            read = (step.name, one.name)
            if not is_missed or read in reads.had or read not in reads.looked or one.constant:
                continue
            _explain_field(example, node, one, items, report)
            explained += [f" has {one.name} = null, not ", "results that lack what every result had"]
            if trace is not None and trace.answer is not None and not trace.answer.rows:
                explained.append("gave 0 rows, not ")
    if broken and not report.found:
        for step in operation.steps:
            if step.name in reads.lacked:
                _explain_lack(example, find_reading(spec, operation, step), reads.lacked[step.name], report)
                explained.append("results that lack what every result had")
                break
    if not report.found:
        return found
    return [*report.found, *(one for one in found if not any(words in one.message for words in explained))]


def _watch(step: Step, reads: _Reads) -> Step:
    def watch_field(watched: Field) -> Field:
        def read(item: Any, context: Bindings) -> Any:
            value = watched.read(item, context)
            items = reads.items.setdefault(step.name, [])
            if not any(one is item for one in items) and len(items) < _MOST_NAMED:
                items.append(item)
            reads.looked.add((step.name, watched.name))
            if value not in MISSING:
                reads.had.add((step.name, watched.name))
            elif watched.required:
                reads.lacked[step.name] = watched.name
            return value

        return replace(watched, read=read)

    def each(document: Any) -> list[Any] | None:
        items = step.reading.each(document)
        if not items:
            reads.documents[step.name] = document
        return items

    reading = replace(step.reading, each=each, fields=tuple(watch_field(one) for one in step.reading.fields))
    return replace(step, reading=reading)


def find_reading(spec: Spec, operation: Operation, step: Step) -> Map | None:
    """What a spec says of how a step is read; None where it has no such step."""
    node: Any = spec.root.get("operations")
    node = node.get(operation.name) if isinstance(node, Map) else None
    steps = node.get("steps") if isinstance(node, Map) else None
    for one in steps.items if isinstance(steps, Listing) else ():
        if isinstance(one, Map) and str(to_plain(one.get("as")) or "main") == step.name:
            reading = one.get(step.reading.decoder)
            return reading if isinstance(reading, Map) else None
    return None


def find_selector(node: Map | None, name: str) -> tuple[Place | None, str]:
    """Where the selector of a field stands, and its text; of several the first, of all their texts."""
    fields = node.get("map") if node else None
    value: Any = fields.get(name) if isinstance(fields, Map) else None
    if isinstance(value, Map):
        value = value.get("at") or value.get("each")
    if isinstance(value, Listing) and value.items:
        return value.items[0].place, " or ".join(str(to_plain(one)) for one in value.items)
    return (value.place, str(value.value)) if isinstance(value, YamlScalar) else (None, "")


def _explain_field(example: Example, node: Map | None, one: Field, items: list[Any], report: Report) -> None:
    place, text = find_selector(node, one.name)
    names = _names_in(items)
    chain = bool(_has_chain(node, one.name))
    what = "finds nothing" if not chain else "finds nothing that its converters make a value of"
    message = f"{example.name!r}: {one.name} has no value in any item: `{text}` {what}"
    report.add("E401", place or one.place, message, _hint(text, names, "an item has"))


def _explain_lack(example: Example, node: Map | None, name: str, report: Report) -> None:
    """What to write where a whole answer may lack a required field, as one about a single thing does."""
    fields = node.get("map") if node else None
    place = fields.entries[name].place if isinstance(fields, Map) and name in fields.entries else example.node.place
    message = f"{example.name!r}: no item of an answer has {name}, which is required, so that it is a changed layout"
    hint = f"where a whole answer may lack it, leave `required` out and say `keep: row.{name}` beside `map`"
    report.add("E401", place, message, hint)


def _has_chain(node: Map | None, name: str) -> bool:
    fields = node.get("map") if node else None
    value = fields.get(name) if isinstance(fields, Map) else None
    return isinstance(value, Map) and "then" in value


def _explain_each(example: Example, node: Map | None, step: Step, document: Any, report: Report) -> None:
    each = node.get("each") if node else None
    text = str(to_plain(each)) if each else ""
    place = each.place if each else step.reading.place
    message = f"{example.name!r}: `each` finds no items: `{text}` leads to no list with something in it"
    report.add("E401", place, message, _hint(text, _names_in([document]), "the answer has"))


def _hint(text: str, names: list[str], owner: str) -> str:
    """Which name may be meant, and which there are; none where what a selector begins with is there."""
    if not names:
        return f"{owner} no names"
    first = re.search(r"[^\s./@'\"\[\]()|&!=,]+", text)
    near = "" if first is None or first[0] in names else find_nearest(first[0], names)
    listed = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
    is_markup = "@" in "".join(names)
    quoted = f'"{near}"' if is_markup or re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", near) else f"'\"{near}\"'"
    return (f"did you mean {quoted}? " if near else "") + f"{owner} {listed}"


def _names_in(values: list[Any]) -> list[str]:
    """The names that lead into these values: the keys of objects, or elements and attributes of nodes."""
    names: dict[str, None] = {}
    for value in values:
        if isinstance(value, Mapping):
            names.update(dict.fromkeys(str(name) for name in value))
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            names.update(dict.fromkeys(f"[].{name}" for name in value[0]))
        elif hasattr(value, "iterchildren"):
            names.update(dict.fromkeys(f"@{name}" for name in value.attrib if not name.startswith("{")))
            tags = [one.tag for one in value.iterchildren() if isinstance(one.tag, str)]
            names.update(dict.fromkeys(re.sub(r"^\{[^}]*\}", "", tag) for tag in tags))
    return list(names)
