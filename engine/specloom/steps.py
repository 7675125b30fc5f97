"""Compiles the steps of an operation: one request each, and how its answer becomes rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .constants import check_constants
from .decode import DECODERS
from .fields import Language, compile_field, compile_selection
from .limits import parse_duration
from .load_tree import Listing, Map, Node, Scalar, to_plain
from .model_providers import Capability, Paging, Reading, Step
from .model_values import Field, Value
from .shapes import ANY, ListOf, Record, Shape, from_schema, holds_secret, maybe
from .tracker import Tracker
from .values import Scope, explain_later, whole

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_WHAT = "a step"


def compile_steps(
    node: Node | None, scope: Scope, capability: Capability | None, tracker: Tracker
) -> tuple[list[Step], dict[str, Shape]]:
    """The steps that can be used, and what `steps` looks like to an expression that stands after all of them."""
    assert isinstance(node, Listing)
    steps: list[Step] = []
    shapes: dict[str, Shape] = {}
    names = [_name_of(item) for item in node.items if isinstance(item, Map)]
    for at, item in enumerate(node.items):
        assert isinstance(item, Map)
        before = len(scope.report.found)
        step = _compile_step(item, scope.plus(steps=whole(dict(shapes))), capability, tracker)
        explain_later(scope.report, before, names[at:], "steps.", "a step sees the steps above it only")
        if step is None:
            shapes[_name_of(item)] = ANY
            continue
        if any(step.name == other.name for other in steps):
            scope.report.add("E011", step.place, f"two steps are called {step.name!r}", "give each its own `as`")
        steps.append(step)
        shapes[step.name] = maybe(ListOf(_row_shape(step.reading.fields)))
    return steps, shapes


def _name_of(node: Map) -> str:
    return str(to_plain(node.get("as")) or "main")


def _compile_step(node: Map, scope: Scope, capability: Capability | None, tracker: Tracker) -> Step | None:
    before = len(scope.report.errors)
    verb = "get" if "get" in node else "post"
    path_node = node.get(verb)
    word = next(name for name in DECODERS if name in node)
    reading_node = node.get(word)
    assert isinstance(path_node, Scalar)
    assert isinstance(reading_node, Map)
    path = _path(path_node, scope, tracker)
    body: tuple[str, Value] | None = None
    body_node = node.get("body")
    if isinstance(body_node, Map):
        if verb == "get":
            scope.report.add("E105", body_node.place, "a GET has no body", "use `query`, or `post`")
        for entry in body_node:
            value = tracker.value(_WHAT, entry.value, scope)
            body = (entry.key, value) if value else None
    check_constants(node.get("headers"), scope.report, headers=True)
    check_constants(node.get("query"), scope.report)
    for kind in ("json", "form"):
        check_constants(body_node.get(kind) if isinstance(body_node, Map) else None, scope.report)
    reading = _reading(word, reading_node, scope, capability, tracker)
    paging_node = node.get("paging")
    step = Step(
        _name_of(node),
        verb.upper(),
        path,
        node.place,
        reading,
        tracker.text(_WHAT, "when", node, scope),
        to_plain(node.get("optional")) is True,
        parse_duration(to_plain(node.get("keep_for"))) if "keep_for" in node else 0.0,
        tracker.pairs(_WHAT, node.get("headers"), scope),
        tracker.pairs(_WHAT, node.get("query"), scope),
        body,
        _paging(paging_node, reading, scope, tracker) if isinstance(paging_node, Map) else None,
        to_plain(node.get("base")) or "",
    )
    return step if len(scope.report.errors) == before else None


def _paging(node: Map, reading: Reading, scope: Scope, tracker: Tracker) -> Paging:
    kind = next(word for word in ("page", "offset", "cursor", "names", "link") if word in node)
    inner = node.get(kind)
    said = to_plain(inner) if isinstance(inner, Map) else {}
    rows = ListOf(_row_shape(reading.fields))
    at = tracker.text(_WHAT, "at", inner, scope.plus(page=ANY)) if isinstance(inner, Map) else None
    return Paging(
        kind,
        to_plain(node.get("most")),
        said.get("parameter", ""),
        said.get("from", 1 if kind == "page" else 0),
        said.get("by", 1),
        at,
        tracker.text(_WHAT, "enough", node, scope.plus(page=ANY, rows=rows)),
    )


def _path(node: Scalar, scope: Scope, tracker: Tracker) -> tuple[str | Value, ...]:
    text = str(node.value)
    parts: list[str | Value] = []
    at = 0
    for found in _PLACEHOLDER.finditer(text):
        parts.append(text[at : found.start()])
        at = found.end()
        value = tracker.expression(_WHAT, Scalar("=" + found.group(1), node.at(found.start(1)), False), scope)
        if value:
            parts.append(value)
    parts.append(text[at:])
    _check_path(node, "".join(part if isinstance(part, str) else "value" for part in parts), scope)
    for part in parts:
        if isinstance(part, Value) and holds_secret(part.shape):
            hint = "send it as a header, as a parameter or with `auth`"
            scope.report.add("E207", part.place, "a secret may not stand in a path", hint)
    return tuple(part for part in parts if part != "")


def _check_path(node: Scalar, filled: str, scope: Scope) -> None:
    """Report what is wrong with a path, `filled` being what it is with something in its placeholders (E211)."""

    def wrong(message: str, hint: str) -> None:
        scope.report.add("E211", node.place, message, hint)

    if "://" in filled:
        wrong("a path has no host", "the host stands in `base`, that of the service or one of this step")
    elif filled and not filled.startswith("/"):
        wrong("a path starts with `/`", f"/{node.value}")
    if "{" in filled or "}" in filled:
        wrong("a brace in a path opens or closes a placeholder, and this one does neither", "write {args.NAME}")
    if "?" in filled or "#" in filled:
        wrong("a path has no `?` and no `#`", "put parameters under `query`")
    if {".", ".."} & set(filled.split("/")):
        wrong("a path has no segment `.` or `..`", "write the path that is meant")


def _reading(word: str, node: Map, scope: Scope, capability: Capability | None, tracker: Tracker) -> Reading:
    decoder = DECODERS[word]
    options = {name: to_plain(node.get(name)) for name in decoder.options if name in node}
    language = Language(decoder.language, options.get("namespaces") or {})
    item = from_schema(dict(decoder.item)) if decoder.item else ANY
    inside = scope.plus(item=ANY, page=ANY, headers=Record({}, closed=False))
    each_node, map_node, empty_node = node.get("each"), node.get("map"), node.get("empty_is_ok_when")
    each = compile_selection(each_node, language, inside) if each_node else _whole
    fields: list[Field] = []
    for entry in map_node if isinstance(map_node, Map) else ():
        one = compile_field(entry, language, item, inside)
        if one:
            fields.append(_typed(one, capability))
            tracker.note(_WHAT, one.uses)
    row = scope.plus(row=_row_shape(tuple(fields)), page=ANY)
    empty = compile_selection(empty_node, language, inside) if empty_node else None
    needs = any(path[0] == "item" for one in fields for path in one.uses)
    return Reading(
        word,
        options,
        each or _whole,
        tuple(fields),
        needs,
        tracker.text(_WHAT, "keep", node, row),
        tracker.text(_WHAT, "take", node, scope),
        _holds(empty) if empty else None,
        node.place,
    )


def _whole(document: Any) -> list[Any]:
    if document is None:
        return []
    return document if isinstance(document, list) else [document]


def _holds(select: Callable[[Any], list[Any] | None]) -> Callable[[Any], bool]:
    return lambda document: any(hit not in (None, "", False) for hit in select(document) or ())


def _typed(one: Field, capability: Capability | None) -> Field:
    """The field with the shape that its capability declares, once conforming has made it so."""
    if capability is None or one.name not in capability.row:
        return one
    shape: Shape = capability.row[one.name].shape
    shape = shape if one.required or one.constant else maybe(shape)
    return replace(one, shape=shape)


def _row_shape(fields: tuple[Field, ...]) -> Record:
    return whole({one.name: one.shape for one in fields})
