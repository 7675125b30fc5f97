"""Compiles one operation of a provider and holds it against the capability that it offers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from specloom.core import Report, did_you_mean, is_day, parse_duration
from specloom.language import (
    ANY,
    DECODERS,
    INTEGER,
    NUMBER,
    TEXT,
    ListOf,
    RecordType,
    Shape,
    from_schema,
    holds,
    holds_secret,
    maybe,
    whole_document,
)
from specloom.model import (
    Arrangement,
    Capability,
    Field,
    Join,
    Nearest,
    Operation,
    Paging,
    ResponseMapping,
    Shard,
    Step,
    Value,
)
from specloom.specs import Map, Node, YamlEntry, YamlScalar, to_plain

from .capability import conformers
from .symbols import DependencyTracker, check_kind
from .values import (
    Scope,
    SelectorLanguage,
    check_constants,
    compile_definitions,
    compile_field,
    compile_selection,
    entries_of,
    explain_later,
    maps_of,
    needed_definitions,
    scalars_of,
    used_definitions,
    whole,
)

# --- Compiles the steps of an operation: one request each, and how its answer becomes rows ----------------------------


_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_WHAT = "a step"


def compile_steps(
    node: Node | None, scope: Scope, capability: Capability | None, tracker: DependencyTracker
) -> tuple[list[Step], dict[str, Shape]]:
    """The steps that can be used, and what `steps` looks like to an expression that stands after all of them."""
    steps: list[Step] = []
    shapes: dict[str, Shape] = {}
    names = [_name_of(item) for item in maps_of(node)]
    for at, item in enumerate(maps_of(node)):
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


def _compile_step(node: Map, scope: Scope, capability: Capability | None, tracker: DependencyTracker) -> Step | None:
    before, start = len(scope.report.errors), len(scope.report.found)
    verb = "get" if "get" in node else "post"
    path_node = node.get(verb)
    word = next(name for name in DECODERS if name in node)
    reading_node = node.get(word)
    assert isinstance(path_node, YamlScalar)
    assert isinstance(reading_node, Map)
    path = _path(path_node, scope, tracker)
    paging_node = node.get("paging")
    if isinstance(paging_node, Map) and to_plain(paging_node.get("resume")) is True:
        is_token = "cursor" in paging_node
        scope = scope.plus(position=maybe(TEXT) if is_token else INTEGER)
    body: tuple[str, Value] | None = None
    body_node = node.get("body")
    if isinstance(body_node, Map):
        if verb == "get":
            scope.report.add("E105", body_node.place, "a GET has no body", "use `query`, or `post`")
        for entry in body_node:
            value = tracker.value(_WHAT, entry.value, scope)
            body = (entry.key, value) if value else None
    check_constants(node.get("headers"), scope.report, headers=True)
    query = node.get("query")
    check_constants(query if isinstance(query, Map) else None, scope.report)
    for kind in ("json", "form"):
        check_constants(body_node.get(kind) if isinstance(body_node, Map) else None, scope.report)
    reading = _reading(word, reading_node, scope, capability, tracker)
    writes = capability is not None and capability.writes and verb == "post"
    if capability is not None and writes and "keep_for" in node:
        message = f"{capability.name!r} writes, and what it was answered says nothing to the next request"
        scope.report.add("E105", node.entries["keep_for"].place, message, "remove `keep_for`")
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
        tracker.pairs(_WHAT, query, scope) if isinstance(query, Map) else (),
        body,
        _paging(paging_node, reading, scope, tracker) if isinstance(paging_node, Map) else None,
        _base(node.get("base"), scope, tracker),
        tracker.expression(_WHAT, query, scope) if isinstance(query, YamlScalar) else None,
        _refusal(node, scope, tracker),
        writes,
    )
    _explain_position(scope.report, start)
    return step if len(scope.report.errors) == before else None


def _explain_position(report: Report, start: int) -> None:
    """Say of an unknown `position` where there is one; looks at what was reported from `start` on."""
    for at, one in enumerate(report.found[start:], start):
        if one.code == "E202" and one.message == "unknown name 'position'":
            hint = "`position` is the page that is asked for, in a step whose `paging` says `resume: true`"
            report.found[at] = replace(one, hint=hint)


def _refusal(node: Map, scope: Scope, tracker: DependencyTracker) -> Value | None:
    value = tracker.text(_WHAT, "refuse", node, scope)
    if value is not None:
        check_kind("`refuse`", TEXT, value, scope.report)
    return value


def _paging(node: Map, reading: ResponseMapping, scope: Scope, tracker: DependencyTracker) -> Paging:
    kind = next(word for word in ("page", "offset", "cursor", "names", "link") if word in node)
    inner = node.get(kind)
    said = to_plain(inner) if isinstance(inner, Map) else {}
    rows = ListOf(_row_shape(reading.fields))
    at = tracker.text(_WHAT, "at", inner, scope.plus(page=ANY)) if isinstance(inner, Map) else None
    resume = to_plain(node.get("resume")) is True
    by = said.get("by", 0 if kind == "offset" else 1)
    is_number = isinstance(by, int) and not isinstance(by, bool)
    if (is_number and by < 1 and "by" in said) or not (is_number or (isinstance(by, str) and resume)):
        hint = "say how many rows a page has" + ("" if resume else ", as a number")
        scope.report.add("E104", node.entries[kind].place, f"`by` cannot be {by!r}", hint)
    step = tracker.text(_WHAT, "by", inner, scope) if isinstance(inner, Map) and isinstance(by, str) else None
    _check_resume(node, kind, said, resume, scope.report)
    return Paging(
        kind,
        to_plain(node.get("most")),
        said.get("parameter", ""),
        said.get("from", 1 if kind == "page" else 0),
        by if is_number else 0,
        step,
        at,
        tracker.text(_WHAT, "enough", node, scope.plus(page=ANY, rows=rows)),
        resume,
        to_plain(node.get("deepest")),
        tracker.text(_WHAT, "more", node, scope.plus(page=ANY, items=INTEGER)),
    )


_RESUMABLE = ("page", "offset", "cursor")


def _check_resume(node: Map, kind: str, said: Mapping[str, Any], resume: bool, report: Report) -> None:
    """Report what belongs to pages that a later call goes on with and stands elsewhere, and what others lack."""
    if resume and kind not in _RESUMABLE:
        hint = "pages with numbers, rows with numbers and cursors can be gone on with"
        report.add("E105", node.entries["resume"].place, f"nobody can go on with pages by `{kind}`", hint)
    for word in ("more", "deepest"):
        if word in node and not resume:
            message = f"`{word}` is about pages that a later call goes on with"
            report.add("E105", node.entries[word].place, message, "write `resume: true`, or remove it")
    if not resume and kind in _RESUMABLE:
        needed = ("parameter", "by") if kind == "offset" else ("parameter",)
        for word in needed:
            if word not in said:
                hint = ""
                if word == "parameter":
                    hint = (
                        "where it travels in a body, a header or a part of a text, write `resume: true` and `=position`"
                    )
                report.add("E102", node.entries[kind].place, f"`{kind}` needs the key {word!r}", hint)
    if resume and "deepest" in node and kind == "cursor":
        report.add("E105", node.entries["deepest"].place, "a cursor has no number", "remove `deepest`")


def _resumed(steps: Iterable[Step], report: Report) -> Paging | None:
    """The paging of the step whose pages can be gone on with; a second one is reported."""
    found = [step for step in steps if step.paging is not None and step.paging.resume]
    for step in found[1:]:
        hint = "let one step have pages that a later call goes on with"
        report.add(
            "E105", step.place, f"an operation goes on with the pages of one step, and {found[0].name!r} is that", hint
        )
    return found[0].paging if found else None


def _base(node: Node | None, scope: Scope, tracker: DependencyTracker) -> tuple[str | Value, ...]:
    return _filled(node, scope, tracker) if isinstance(node, YamlScalar) else ()


def _path(node: YamlScalar, scope: Scope, tracker: DependencyTracker) -> tuple[str | Value, ...]:
    parts = _filled(node, scope, tracker)
    _check_path(node, "".join(part if isinstance(part, str) else "value" for part in parts), scope)
    return parts


def _filled(node: YamlScalar, scope: Scope, tracker: DependencyTracker) -> tuple[str | Value, ...]:
    text = str(node.value)
    parts: list[str | Value] = []
    at = 0
    for found in _PLACEHOLDER.finditer(text):
        parts.append(text[at : found.start()])
        at = found.end()
        value = tracker.expression(_WHAT, YamlScalar("=" + found.group(1), node.at(found.start(1)), False), scope)
        if value:
            parts.append(value)
    parts.append(text[at:])
    for part in parts:
        if isinstance(part, Value) and holds_secret(part.shape):
            hint = "send it as a header, as a parameter or with `auth`"
            scope.report.add("E207", part.place, "a secret may not stand in a path", hint)
    return tuple(part for part in parts if part != "")


def _check_path(node: YamlScalar, filled: str, scope: Scope) -> None:
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


def _reading(
    word: str, node: Map, scope: Scope, capability: Capability | None, tracker: DependencyTracker
) -> ResponseMapping:
    decoder = DECODERS[word]
    options = {name: to_plain(node.get(name)) for name in decoder.options if name in node}
    language = SelectorLanguage(decoder.language, options.get("namespaces") or {})
    item = from_schema(dict(decoder.item)) if decoder.item else ANY
    inside = scope.plus(item=ANY, page=ANY, headers=RecordType({}, closed=False))
    each_node, map_node, empty_node = node.get("each"), node.get("map"), node.get("empty_is_ok_when")
    each = compile_selection(each_node, language, inside) if each_node else whole_document()
    fields: list[Field] = []
    for entry in map_node if isinstance(map_node, Map) else ():
        one = compile_field(entry, language, item, inside)
        if one:
            fields.append(_typed(one, capability))
            tracker.note(_WHAT, one.uses)
    row = scope.plus(row=_row_shape(tuple(fields)), page=ANY)
    empty = compile_selection(empty_node, language, inside) if empty_node else None
    return ResponseMapping(
        word,
        options,
        each or whole_document(),
        tuple(fields),
        tracker.text(_WHAT, "keep", node, row),
        tracker.text(_WHAT, "take", node, scope),
        holds(empty) if empty else None,
        node.place,
    )


def _typed(one: Field, capability: Capability | None) -> Field:
    """The field with the shape that its capability declares, once conforming has made it so."""
    if capability is None or one.name not in capability.row:
        return one
    shape: Shape = capability.row[one.name].shape
    shape = shape if one.required or one.constant else maybe(shape)
    return replace(one, shape=shape)


def _row_shape(fields: tuple[Field, ...]) -> RecordType:
    return whole({one.name: one.shape for one in fields})


_ROWS = "what comes out"


def compile_operation(
    provider: str, entry: YamlEntry, scope: Scope, capabilities: Mapping[str, Capability], shared: list[YamlEntry]
) -> Operation | None:
    """An operation ready to run, or None when something in it is wrong; `shared` are the provider's `values`."""
    node, report, tracker = entry.value, scope.report, DependencyTracker()
    assert isinstance(node, Map)
    before = len(report.errors)
    capability = _find_capability(entry, node, capabilities, report)
    arguments = _arguments(node, capability, report)
    scope = scope.plus(args=whole(arguments), steps=whole({}))
    own = entries_of(node.get("values"))
    values, scope = compile_definitions([*needed_definitions(shared, node), *own], scope)
    shard = _shard(node.get("shard"), arguments, scope, tracker)
    steps, shapes = compile_steps(node.get("steps"), scope, capability, tracker)
    paging = _resumed(steps, report)
    scope = scope.plus(steps=whole(shapes), page=ANY)
    arrangement = _arrangement(node.get("rows"), scope, tracker)
    facts = [(one.key, tracker.expression("the facts", one.value, scope)) for one in entries_of(node.get("meta"))]
    if len(report.errors) > before or capability is None:
        return None
    _check_contract(f"{provider}.{entry.key}", capability, steps, arrangement, report)
    paths = {path for _, path in tracker.paths(dict(values))}
    used = frozenset(arguments if ("args",) in paths else (p[1] for p in paths if p[0] == "args" and len(p) > 1))
    for name in arguments:
        if name not in used:
            items = scalars_of(node.get("input"))
            place = next((item.place for item in items if item.value == name), entry.place)
            report.add("W307", place, f"operation {entry.key!r} takes {name!r} but nothing uses it")
    return Operation(
        provider,
        entry.key,
        capability.name,
        tuple(arguments),
        tuple(steps),
        entry.place,
        used_definitions(values, node),
        shard,
        arrangement,
        tuple((key, value) for key, value in facts if value is not None),
        conformers(capability),
        used,
        to_plain(node.get("description")) or "",
        paging,
        _until(node.get("until"), report),
    )


def _until(node: Node | None, report: Report) -> tuple[float, str] | None:
    if not isinstance(node, Map):
        return None
    said = to_plain(node)
    if not is_day(str(said["day"])):
        report.add("E104", node.place, f"the calendar has no day {said['day']!r}", "write it as YYYY-MM-DD")
        return None
    day = datetime.fromisoformat(str(said["day"])).replace(tzinfo=UTC)
    return day.timestamp(), " ".join(said["because"].split())


def _find_capability(
    entry: YamlEntry, node: Map, capabilities: Mapping[str, Capability], report: Report
) -> Capability | None:
    said = node.get("capability")
    name = str(to_plain(said)) if said else entry.key
    if name in capabilities:
        return capabilities[name]
    if name not in report.left_out:
        place = said.place if said else entry.place
        report.add("E110", place, f"no capability is called {name!r}", did_you_mean(name, capabilities))
    return None


def _arguments(node: Map, capability: Capability | None, report: Report) -> dict[str, Shape]:
    found: dict[str, Shape] = {}
    for item in scalars_of(node.get("input")):
        name = str(item.value)
        if capability and name not in capability.arguments:
            hint = did_you_mean(name, capability.arguments)
            report.add("E120", item.place, f"capability {capability.name!r} has no argument {name!r}", hint)
            found[name] = ANY
        else:
            found[name] = maybe(capability.arguments[name].shape) if capability else ANY
    return found


def _shard(node: Node | None, arguments: Mapping[str, Shape], scope: Scope, tracker: DependencyTracker) -> Shard | None:
    if not isinstance(node, Map):
        return None
    over = node.get("over")
    assert isinstance(over, YamlScalar)
    if over.value not in arguments:
        hint = did_you_mean(str(over.value), arguments)
        scope.report.add("E110", over.place, f"the operation takes no argument {over.value!r}", hint)
        return None
    what = "the shard"
    tracker.note(what, frozenset({("args", str(over.value))}))
    return Shard(str(over.value), to_plain(node.get("at_most")), tracker.text(what, "fits", node, scope))


def _arrangement(node: Node | None, scope: Scope, tracker: DependencyTracker) -> Arrangement:
    if not isinstance(node, Map):
        return Arrangement()
    rows = tracker.text(_ROWS, "from", node, scope)
    join: Join | None = None
    join_node, near_node = node.get("join"), node.get("nearest")
    if isinstance(join_node, Map):
        other = tracker.text(_ROWS, "with", join_node, scope)
        if other:
            join = Join(other, to_plain(join_node.get("on")), tuple(to_plain(join_node.get("take"))))
    nearest: Nearest | None = None
    if isinstance(near_node, Map):
        lat, lon, within = (tracker.text(_ROWS, key, near_node, scope) for key in ("lat", "lon", "within"))
        for key, value in (("lat", lat), ("lon", lon), ("within", within)):
            if value:
                check_kind(f"`{key}`", NUMBER, value, scope.report)
        if lat and lon:
            nearest = Nearest(lat, lon, within)
    keep = tracker.text(_ROWS, "keep", node, scope.plus(row=ANY))
    return Arrangement(rows, join, nearest, keep, tracker.text(_ROWS, "take", node, scope))


def _check_contract(
    who: str, capability: Capability, steps: list[Step], arrangement: Arrangement, report: Report
) -> None:
    """What comes out fits the capability: no unknown field, and every required one is mapped."""
    joined = set(arrangement.join.take) if arrangement.join else set()
    for source in _source_steps(steps, arrangement):
        fields = {one.name: one for one in source.reading.fields}
        for one in fields.values():
            if one.name not in capability.row:
                hint = did_you_mean(one.name, capability.row)
                report.add("E121", one.place, f"a row of {capability.name!r} has no field {one.name!r}", hint)
        for wanted in capability.row.values():
            if wanted.required and wanted.name not in fields and wanted.name not in joined:
                message = f"{who} does not map {wanted.name!r}, which every {capability.name} row has"
                report.add("E122", source.reading.place, message, f"add it to `map`: {wanted.description}")


def _source_steps(steps: list[Step], arrangement: Arrangement) -> list[Step]:
    """The steps whose rows come out: those that `rows.from` names, else the last one that is needed."""
    if arrangement.rows is not None:
        names = {path[1] for path in arrangement.rows.uses if path[0] == "steps" and len(path) > 1}
        return [step for step in steps if step.name in names]
    return [step for step in steps if not step.optional][-1:]
