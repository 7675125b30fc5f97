"""Compiles the `view` of a tool: which template shows its answer, and what fills the slots of that template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specloom.core import Place, ViewSlot, ViewTemplate, did_you_mean
from specloom.language import ANY, BOOLEAN, INTEGER, NUMBER, TEXT, Choice, ListOf, RecordType, Shape, describe, strip
from specloom.model import Value, View, ViewRows
from specloom.specs import Listing, Map, Node, YamlScalar

from .values import Scope, SelectorLanguage, compile_field, compile_text, compile_value, entries_of, whole

_NUMBERS = (INTEGER, NUMBER)
_WORDS = {
    "text": "a text",
    "url": "an address",
    "number": "a number",
    "flag": "true or false",
    "texts": "a list of texts",
    "rows": "a list of rows",
}


def compile_view(node: Node | None, scope: Scope, answer: Shape, templates: Mapping[str, ViewTemplate]) -> View | None:
    """The view of a tool; it is made of arguments and answer alone, because a kept answer is shown as well."""
    if not isinstance(node, Map):
        return None
    report = scope.report
    said = node.get("template")
    assert isinstance(said, YamlScalar)
    name = str(said.value)
    template = templates.get(name)
    if template is None:
        if name not in report.left_out:
            hint = did_you_mean(name, templates) or "templates of views are files in templates/views"
            report.add("E110", said.place, f"no view is called {name!r}", hint)
        return None
    fields = scope.names.fields
    names = whole({"args": fields["args"], "requested": fields["requested"], "answer": answer})
    inner = Scope(names, scope.tables, report)
    slots: list[tuple[str, Value | tuple[ViewRows, ...]]] = []
    known = {slot.name: slot for slot in template.slots}
    entries = entries_of(node.get("slots"))
    for entry in entries:
        slot = known.get(entry.key)
        if slot is None:
            hint = did_you_mean(entry.key, known) or f"it has {', '.join(known)}"
            report.add("E110", entry.place, f"the view {name!r} has no slot {entry.key!r}", hint)
        elif slot.type == "rows":
            slots.append((slot.name, tuple(_compile_rows(slot, entry.value, inner))))
        elif not isinstance(entry.value, YamlScalar):
            report.add(
                "E140", entry.place, f"the slot {slot.name!r} holds {_WORDS[slot.type]}, not rows", "name a value"
            )
        else:
            value = compile_value(entry.value, inner)
            if value is not None:
                _check_type(slot, value.shape, value.place, inner)
                slots.append((slot.name, value))
    _check_filled(
        template.slots, [entry.key for entry in entries], node.entries["slots"].place, f"the view {name!r}", inner
    )
    return View(name, tuple(slots))


def _compile_rows(slot: ViewSlot, node: Node, scope: Scope) -> Iterable[ViewRows]:
    groups = node.items if isinstance(node, Listing) else (node,)
    for group in groups:
        if not isinstance(group, Map):
            hint = "give each a list, and under `map` what its fields are"
            scope.report.add("E140", group.place, f"the slot {slot.name!r} holds rows, and this is one value", hint)
            continue
        said, when_node, map_node = group.get("each"), group.get("when"), group.get("map")
        assert said is not None
        assert isinstance(map_node, Map)
        each = compile_text(said, scope)
        when = compile_text(when_node, scope) if when_node is not None else None
        if each is None:
            continue
        listed = strip(each.shape)
        if listed != ANY and not isinstance(listed, ListOf):
            scope.report.add("E104", each.place, f"`each` goes over a list, and this is {describe(listed)}")
        item = strip(listed.item) if isinstance(listed, ListOf) else ANY
        inside = scope.plus(item=item, page=ANY)
        known = {one.name: one for one in slot.fields}
        fields = []
        for entry in map_node:
            field = known.get(entry.key)
            if field is None:
                hint = did_you_mean(entry.key, known) or f"it has {', '.join(known)}"
                message = f"a row of the slot {slot.name!r} has no field {entry.key!r}"
                scope.report.add("E110", entry.place, message, hint)
                continue
            made = compile_field(entry, SelectorLanguage("jmespath", {}), item, inside)
            if made is not None:
                _check_type(field, made.shape, made.place, scope)
                fields.append(made)
        what = f"a row of the slot {slot.name!r}"
        _check_filled(slot.fields, list(map_node.entries), group.entries["map"].place, what, scope)
        yield ViewRows(each, tuple(fields), when)


def _check_filled(slots: Iterable[ViewSlot], named: Iterable[str], place: Place, what: str, scope: Scope) -> None:
    """Report what a template needs and nobody fills (E140)."""
    for slot in slots:
        if slot.required and slot.name not in named:
            scope.report.add("E140", place, f"{what} needs {slot.name!r}, which nothing fills", slot.description)


def _check_type(slot: ViewSlot, shape: Shape, place: Place, scope: Scope) -> None:
    """Report what a slot can never hold (E140); a number where text is wanted is written out."""
    if not _fits(slot, strip(shape)):
        message = f"{slot.name!r} holds {_WORDS[slot.type]}, and this is {describe(strip(shape))}"
        scope.report.add("E140", place, message, slot.description)


def _fits(slot: ViewSlot, shape: Shape) -> bool:
    if shape == ANY:
        return True
    if slot.type in {"text", "url"}:
        return isinstance(shape, Choice) or shape == TEXT or (slot.type == "text" and shape in _NUMBERS)
    if slot.type == "number":
        return shape in _NUMBERS
    if slot.type == "flag":
        return shape == BOOLEAN
    item = strip(shape.item) if isinstance(shape, ListOf) else None
    if slot.type == "texts":
        return item is not None and not isinstance(item, (RecordType, ListOf))
    if item is None:
        return False
    known = {one.name for one in slot.fields}
    needed = {one.name for one in slot.fields if one.required}
    return item == ANY or (isinstance(item, RecordType) and (not item.closed or needed <= {*item.fields} & known))
