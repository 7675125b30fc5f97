"""Compiles provider files: every operation becomes checked steps that a driver can run."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from .decode import DECODERS
from .diagnostics import Diagnostic, Report, did_you_mean
from .limits import parse_duration, parse_rate, parse_size
from .load import Entry, Listing, Map, Node, Scalar, to_plain
from .model import (
    Arrangement,
    Capability,
    ErrorRule,
    Field,
    Join,
    Nearest,
    Operation,
    Provider,
    Reading,
    Retry,
    Service,
    Setting,
    Shard,
    Step,
    Uses,
    Value,
)
from .names import Spec
from .shapes import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    SECRET,
    TEXT,
    Choice,
    ListOf,
    Maybe,
    Record,
    Shape,
    from_schema,
    maybe,
)
from .values import (
    Language,
    Scope,
    compile_definitions,
    compile_field,
    compile_pairs,
    compile_selection,
    compile_text,
    compile_value,
    entries_of,
    expand,
    needed_definitions,
    whole,
)
from .wire import Policy

DEFAULT_TIMEOUT = 30.0
DEFAULT_MAX_BYTES = 5 * 1024 * 1024

KINDS_OF_VALUE: Mapping[str, Shape] = {
    "text": TEXT,
    "integer": INTEGER,
    "number": NUMBER,
    "boolean": BOOLEAN,
    "timestamp": TEXT,
    "date": TEXT,
    "url": TEXT,
    "list": ListOf(TEXT),
    "object": ANY,
    "any": ANY,
}
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def compile_settings(node: Node | None) -> dict[str, Setting]:
    """The settings of a `config` mapping."""
    if node is None:
        return {}
    assert isinstance(node, Map)
    found = {}
    for entry in node:
        said = to_plain(entry.value)
        found[entry.key] = Setting(
            entry.key,
            " ".join(said["description"].split()),
            entry.place,
            said.get("type", "text"),
            said.get("secret", False),
            said.get("required", False),
            said.get("default"),
        )
    return found


def settings_shape(settings: Mapping[str, Setting]) -> Record:
    """What `config` looks like to an expression."""
    shapes: dict[str, Shape] = {}
    for one in settings.values():
        plain = {"boolean": BOOLEAN, "integer": INTEGER, "number": NUMBER, "text": TEXT, "url": TEXT}.get(one.kind, ANY)
        shape: Shape = SECRET if one.secret or one.kind == "credentials" else plain
        shapes[one.name] = shape if one.required or one.default is not None else maybe(shape)
    return whole(shapes)


def compile_tables(node: Node | None) -> dict[str, dict[str, Any]]:
    """The look-up tables of a spec."""
    return to_plain(node) if node is not None else {}


def compile_provider(spec: Spec, capabilities: Mapping[str, Capability], report: Report) -> Provider | None:
    """A provider ready to run, or None when something in it is wrong and was reported."""
    before = len(report.found)
    root = spec.root
    settings = compile_settings(root.get("config"))
    tables = compile_tables(root.get("tables"))
    scope = Scope(whole({"config": settings_shape(settings), "now": NUMBER}), tables, report)
    service_node, operations_node = root.get("service"), root.get("operations")
    assert isinstance(service_node, Map)
    assert isinstance(operations_node, Map)
    service = _compile_service(service_node, scope, spec, settings)
    shared = entries_of(root.get("values"))
    used = {one.key for one in needed_definitions(shared, operations_node)}
    for one in shared:
        if one.key not in used:
            report.add("W307", one.place, f"no operation uses values.{one.key}")
    operations: dict[str, Operation] = {}
    for entry in operations_node:
        compiled = _OperationCompiler(spec.name, entry, scope, capabilities, shared).compile()
        if compiled:
            operations[entry.key] = compiled
    if len(report.found) > before and any(one.is_error for one in report.found[before:]):
        return None
    assert service is not None
    plain = to_plain(root)
    return Provider(
        spec.name,
        plain["title"],
        spec.place,
        digest_of(spec),
        service,
        settings,
        operations,
        tables,
        plain.get("homepage", ""),
        " ".join(plain.get("notes", "").split()),
    )


def digest_of(spec: Spec) -> str:
    """Changes when the spec's text does, examples included."""
    import hashlib

    return hashlib.sha256(spec.source.text.encode()).hexdigest()[:16]


def _check_headers(node: Node, settings: Mapping[str, Setting], scope: Scope) -> None:
    known = [f"config.{one.name}" for one in settings.values() if one.kind == "headers"]
    said = str(to_plain(node)).removeprefix("=")
    if said not in known:
        hint = did_you_mean(said, known) or "declare one under `config` with `type: headers`"
        scope.report.add("E104", node.place, f"`extra_headers` takes a setting of type headers, not {said!r}", hint)


def _compile_service(node: Map, scope: Scope, spec: Spec, settings: Mapping[str, Setting]) -> Service | None:
    base_node = node.get("base")
    base = compile_value(base_node, scope) if base_node else None
    limits = to_plain(node.get("limits")) or {}
    policy = Policy(
        timeout=parse_duration(limits["timeout"]) if "timeout" in limits else DEFAULT_TIMEOUT,
        max_bytes=parse_size(limits["max_bytes"]) if "max_bytes" in limits else DEFAULT_MAX_BYTES,
        hosts=tuple(to_plain(node.get("hosts")) or ()),
        allow_private=to_plain(node.get("private")) is True,
    )
    auth_node, retry = node.get("auth"), to_plain(node.get("retry"))
    auth: tuple[str, Value] | None = None
    if isinstance(auth_node, Map):
        for entry in auth_node:
            value = compile_text(entry.value, scope)
            auth = (entry.key, value) if value else None
    extra = node.get("extra_headers")
    if extra is not None:
        _check_headers(extra, settings, scope)
    service = Service(
        base or Value(lambda _c: "", TEXT, spec.place),
        policy,
        compile_pairs(node.get("headers"), scope),
        compile_text(extra, scope) if extra else None,
        compile_pairs(node.get("query"), scope),
        auth,
        parse_rate(limits["rate"]) if "rate" in limits else None,
        limits.get("concurrency"),
        Retry(frozenset(retry["on"]), retry["times"], parse_duration(retry.get("wait", "500ms"))) if retry else None,
        compile_errors(node.get("errors"), scope),
    )
    return service if base else None


def compile_errors(node: Node | None, scope: Scope) -> tuple[ErrorRule, ...]:
    """Ordered error rules; they see status, headers, body (parsed JSON or null) and text."""
    if not isinstance(node, Listing):
        return ()
    inside = scope.plus(status=INTEGER, headers=Record({}, closed=False), body=ANY, text=TEXT)
    rules: list[ErrorRule] = []
    for item in node.items:
        assert isinstance(item, Map)
        when_node = item.get("when")
        assert when_node is not None
        when = compile_text(when_node, inside)
        message = compile_text(found, inside) if (found := item.get("message")) else None
        delay = compile_text(found, inside) if (found := item.get("retry_after")) else None
        if when:
            rules.append(ErrorRule(when, to_plain(item.get("kind")), item.place, message, delay))
    return tuple(rules)


class _OperationCompiler:
    """Compiles one operation; kept together because steps see what earlier steps gave."""

    def __init__(
        self, provider: str, entry: Entry, scope: Scope, capabilities: Mapping[str, Capability], shared: list[Entry]
    ) -> None:
        assert isinstance(entry.value, Map)
        self.provider = provider
        self.entry = entry
        self.node = entry.value
        self.scope = scope
        self.report = scope.report
        self.capabilities = capabilities
        self.shared = shared
        self.uses: set[tuple[str, ...]] = set()

    def compile(self) -> Operation | None:
        before = len(self.report.errors)
        capability = self._capability()
        arguments = self._arguments(capability)
        scope = self.scope.plus(args=whole(arguments), steps=whole({}))
        shared = needed_definitions(self.shared, self.node)
        values, scope = compile_definitions([*shared, *entries_of(self.node.get("values"))], scope)
        self.definitions = dict(values)
        shard = self._shard(arguments, scope)
        steps: list[Step] = []
        shapes: dict[str, Shape] = {}
        steps_node = self.node.get("steps")
        assert isinstance(steps_node, Listing)
        names = [str(to_plain(item.get("as")) or "main") for item in steps_node.items if isinstance(item, Map)]
        for at, item in enumerate(steps_node.items):
            assert isinstance(item, Map)
            inside = scope.plus(steps=whole(dict(shapes)))
            found_before = len(self.report.found)
            step = self._step(item, inside, capability)
            self._explain_later(found_before, names[at:])
            if step is None:
                shapes[str(to_plain(item.get("as")) or "main")] = ANY
                continue
            if any(step.name == other.name for other in steps):
                self.report.add("E011", step.place, f"two steps are called {step.name!r}", "give each its own `as`")
            steps.append(step)
            shapes[step.name] = maybe(ListOf(_row_shape(step.reading.fields, capability)))
        scope = scope.plus(steps=whole(shapes), page=ANY)
        arrangement = self._arrangement(scope)
        facts = [(one.key, compile_text(one.value, scope)) for one in entries_of(self.node.get("meta"))]
        meta = tuple((key, value) for key, value in facts if value is not None)
        self._use(*(value for _, value in meta))
        if len(self.report.errors) > before:
            return None
        if capability:
            self._contract(capability, steps, arrangement)
        used = self._arguments_used(arguments)
        for name in arguments:
            if name not in used:
                self.report.add(
                    "W307", self.entry.place, f"operation {self.entry.key!r} takes {name!r} but nothing uses it"
                )
        return Operation(
            self.provider,
            self.entry.key,
            capability.name if capability else "",
            tuple(arguments),
            tuple(steps),
            self.entry.place,
            values,
            shard,
            arrangement,
            meta,
            _conformers(capability) if capability else (),
            used,
            to_plain(self.node.get("description")) or "",
        )

    def _explain_later(self, start: int, later: list[str]) -> None:
        """An unknown name that is the name of a step to come is no typo, so it is told in other words."""
        for at, one in enumerate(self.report.found[start:], start):
            name = one.message.removeprefix("unknown name ").strip("'")
            if one.code == "E202" and name in later:
                message = f"step {name!r} has not run yet when this is worked out"
                self.report.found[at] = Diagnostic("E111", one.place, message, "a step sees the steps above it only")

    def _capability(self) -> Capability | None:
        said = self.node.get("capability")
        name = str(to_plain(said)) if said else self.entry.key
        if name in self.capabilities:
            return self.capabilities[name]
        place = said.place if said else self.entry.place
        self.report.add("E110", place, f"no capability is called {name!r}", did_you_mean(name, self.capabilities))
        return None

    def _arguments(self, capability: Capability | None) -> dict[str, Shape]:
        node = self.node.get("input")
        assert isinstance(node, Listing)
        found: dict[str, Shape] = {}
        for item in node.items:
            assert isinstance(item, Scalar)
            name = str(item.value)
            if capability and name not in capability.arguments:
                hint = did_you_mean(name, capability.arguments)
                self.report.add("E120", item.place, f"capability {capability.name!r} has no argument {name!r}", hint)
                found[name] = ANY
            else:
                found[name] = maybe(capability.arguments[name].shape) if capability else ANY
        return found

    def _use(self, *values: Value | None) -> None:
        for value in values:
            if value is not None:
                self.uses |= expand(value.uses, self.definitions)

    def _arguments_used(self, arguments: Mapping[str, Shape]) -> frozenset[str]:
        if ("args",) in self.uses:
            return frozenset(arguments)
        return frozenset(path[1] for path in self.uses if path[0] == "args" and len(path) > 1)

    def _text(self, key: str, node: Map, scope: Scope) -> Value | None:
        found = node.get(key)
        value = compile_text(found, scope) if found is not None else None
        self._use(value)
        return value

    def _pairs(self, node: Node | None, scope: Scope) -> tuple[tuple[str, Value], ...]:
        pairs = compile_pairs(node, scope)
        self._use(*(value for _, value in pairs))
        return pairs

    def _shard(self, arguments: Mapping[str, Shape], scope: Scope) -> Shard | None:
        node = self.node.get("shard")
        if not isinstance(node, Map):
            return None
        over = node.get("over")
        assert isinstance(over, Scalar)
        if over.value not in arguments:
            hint = did_you_mean(str(over.value), arguments)
            self.report.add("E110", over.place, f"the operation takes no argument {over.value!r}", hint)
            return None
        self.uses.add(("args", str(over.value)))
        return Shard(str(over.value), to_plain(node.get("at_most")), self._text("fits", node, scope))

    def _step(self, node: Map, scope: Scope, capability: Capability | None) -> Step | None:
        before = len(self.report.errors)
        verb = "get" if "get" in node else "post"
        path_node = node.get(verb)
        word = next(name for name in DECODERS if name in node)
        reading_node = node.get(word)
        assert isinstance(path_node, Scalar)
        assert isinstance(reading_node, Map)
        path = self._path(path_node, scope)
        body: tuple[str, Value] | None = None
        body_node = node.get("body")
        if isinstance(body_node, Map):
            if verb == "get":
                self.report.add("E105", body_node.place, "a GET has no body", "use `query`, or `post`")
            for entry in body_node:
                value = compile_value(entry.value, scope)
                self._use(value)
                body = (entry.key, value) if value else None
        step = Step(
            str(to_plain(node.get("as")) or "main"),
            verb.upper(),
            path,
            node.place,
            self._reading(word, reading_node, scope, capability),
            self._text("when", node, scope),
            to_plain(node.get("optional")) is True,
            parse_duration(to_plain(node.get("keep_for"))) if "keep_for" in node else 0.0,
            self._pairs(node.get("headers"), scope),
            self._pairs(node.get("query"), scope),
            body,
        )
        return step if len(self.report.errors) == before else None

    def _path(self, node: Scalar, scope: Scope) -> tuple[str | Value, ...]:
        text = str(node.value)
        parts: list[str | Value] = []
        at = 0
        for found in _PLACEHOLDER.finditer(text):
            parts.append(text[at : found.start()])
            at = found.end()
            inner = Scalar("=" + found.group(1), node.at(found.start(1)), False)
            value = compile_text(inner, scope)
            if value:
                self._use(value)
                parts.append(value)
        parts.append(text[at:])
        literal = "".join(part for part in parts if isinstance(part, str))
        if not text.startswith("/") and text:
            self.report.add("E211", node.place, "a path starts with `/`", f"/{text}")
        if "{" in literal or "}" in literal or "?" in literal or "#" in literal:
            self.report.add(
                "E211", node.place, "a path has whole placeholders and no `?` or `#`", "put parameters under `query`"
            )
        return tuple(part for part in parts if part != "")

    def _reading(self, word: str, node: Map, scope: Scope, capability: Capability | None) -> Reading:
        decoder = DECODERS[word]
        options = {name: to_plain(node.get(name)) for name in decoder.options if name in node}
        language = Language(decoder.language, options.get("namespaces") or {})
        item = from_schema(dict(decoder.item)) if decoder.item else ANY
        inside = scope.plus(item=ANY, page=ANY)
        each_node, map_node, empty_node = node.get("each"), node.get("map"), node.get("empty_is_ok_when")
        each = compile_selection(each_node, language, inside) if each_node else _whole
        fields: list[Field] = []
        for entry in map_node if isinstance(map_node, Map) else ():
            one = compile_field(entry, language, item, inside)
            if one:
                fields.append(_typed(one, capability))
                self.uses |= expand(one.uses, self.definitions)
        row = scope.plus(row=_row_shape(tuple(fields), capability), page=ANY)
        empty = compile_selection(empty_node, language, inside) if empty_node else None
        needs = any(path[0] == "item" for one in fields for path in one.uses)
        return Reading(
            word,
            options,
            each or _whole,
            tuple(fields),
            needs,
            self._text("keep", node, row),
            self._text("take", node, scope),
            _holds(empty) if empty else None,
            node.place,
        )

    def _arrangement(self, scope: Scope) -> Arrangement:
        node = self.node.get("rows")
        if not isinstance(node, Map):
            return Arrangement()
        rows = self._text("from", node, scope)
        join: Join | None = None
        join_node, near_node = node.get("join"), node.get("nearest")
        if isinstance(join_node, Map):
            other = self._text("with", join_node, scope)
            if other:
                join = Join(other, to_plain(join_node.get("on")), tuple(to_plain(join_node.get("take"))))
        nearest: Nearest | None = None
        if isinstance(near_node, Map):
            lat, lon = self._text("lat", near_node, scope), self._text("lon", near_node, scope)
            if lat and lon:
                nearest = Nearest(lat, lon, self._text("within", near_node, scope))
        row = scope.plus(row=ANY)
        return Arrangement(rows, join, nearest, self._text("keep", node, row), self._text("take", node, scope))

    def _contract(self, capability: Capability, steps: list[Step], arrangement: Arrangement) -> None:
        """What comes out fits the capability: no unknown field, and every required one is mapped."""
        joined = set(arrangement.join.take) if arrangement.join else set()
        for source in _source_steps(steps, arrangement):
            fields = {one.name: one for one in source.reading.fields}
            for one in fields.values():
                if one.name not in capability.row:
                    hint = did_you_mean(one.name, capability.row)
                    self.report.add("E121", one.place, f"a row of {capability.name!r} has no field {one.name!r}", hint)
            for wanted in capability.row.values():
                if wanted.required and wanted.name not in fields and wanted.name not in joined:
                    who = f"{self.provider}.{self.entry.key}"
                    message = f"{who} does not map {wanted.name!r}, which every {capability.name} row has"
                    self.report.add("E122", source.reading.place, message, f"add it to `map`: {wanted.description}")


def _source_steps(steps: list[Step], arrangement: Arrangement) -> list[Step]:
    """The steps whose rows come out: those that `rows.from` names, else the last one that is needed."""
    if arrangement.rows is not None:
        names = {path[1] for path in arrangement.rows.uses if path[0] == "steps" and len(path) > 1}
        return [step for step in steps if step.name in names]
    return [step for step in steps if not step.optional][-1:]


def _whole(document: Any) -> list[Any]:
    if document is None:
        return []
    return document if isinstance(document, list) else [document]


def _holds(select: Callable[[Any], list[Any]]) -> Callable[[Any], bool]:
    return lambda document: any(hit not in (None, "", False) for hit in select(document))


def _typed(one: Field, capability: Capability | None) -> Field:
    """The field with the shape that its capability declares, once conforming has made it so."""
    if capability is None or one.name not in capability.row:
        return one
    shape: Shape = capability.row[one.name].shape
    shape = shape if one.required or one.constant else maybe(shape)
    return Field(one.name, one.read, shape, one.place, one.uses, one.tables, one.required, one.constant, one.has_else)


def _row_shape(fields: tuple[Field, ...], capability: Capability | None) -> Record:
    return whole({one.name: one.shape for one in fields})


def _conformers(capability: Capability) -> tuple[tuple[str, Callable[[Any], Any], bool], ...]:
    return tuple((one.name, conformer(one.kind, one.shape), one.required) for one in capability.row.values())


def conformer(kind: str, shape: Shape) -> Callable[[Any], Any]:
    """A function that gives the value in its declared type, or None when it cannot be that; nothing is rounded."""
    choices = shape.values if isinstance(shape, Choice) else ()
    if kind == "integer":
        return _to_integer
    if kind == "number":
        return _to_number
    if kind == "boolean":
        return lambda value: value if isinstance(value, bool) else None
    if kind == "timestamp":
        return lambda value: value if isinstance(value, str) and _is_timestamp(value) else None
    if kind == "list":
        inner = conformer(_kind_of(shape.item if isinstance(shape, ListOf) else TEXT), ANY)
        return lambda value: (
            [got for one in value if (got := inner(one)) is not None] if isinstance(value, list) else None
        )
    if kind == "object":
        return lambda value: value if isinstance(value, dict) else None
    if kind == "any":
        return lambda value: value
    if choices:
        return lambda value: value if value in choices else None
    return _to_text


def _kind_of(shape: Shape) -> str:
    shape = shape.shape if isinstance(shape, Maybe) else shape
    return (
        {INTEGER: "integer", NUMBER: "number", BOOLEAN: "boolean", ANY: "any"}.get(shape, "text")
        if not isinstance(shape, (Record, ListOf))
        else "object"
    )


def _to_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return str(value)


def _to_integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and re.fullmatch(r"\s*[-+]?\d{1,18}\s*", value):
        return int(value)
    return None


def _to_number(value: Any) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    return None


def _is_timestamp(text: str) -> bool:
    try:
        return text.endswith("Z") and datetime.fromisoformat(text).tzinfo is UTC
    except ValueError:
        return False


def uses_of(operation: Operation) -> Uses:
    """Every argument that an operation uses, as paths."""
    return frozenset(("args", name) for name in operation.arguments_used)
