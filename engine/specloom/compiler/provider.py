"""Compiles provider files: what all operations share, which answers are faults, and every operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specloom.core import (
    Place,
    Policy,
    Rate,
    Report,
    did_you_mean,
    parse_duration,
    parse_rate,
    parse_size,
)
from specloom.language import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    SECRET,
    TEXT,
    Choice,
    RecordType,
    Shape,
    address_below,
    constantly,
    credentials,
    maybe,
    parse,
    strip,
)
from specloom.model import (
    Capability,
    ErrorRule,
    Grant,
    Operation,
    Provider,
    QuotaHeaders,
    Retry,
    Service,
    Setting,
    Value,
    make_setting,
)
from specloom.specs import Map, Node, Spec, YamlScalar, to_plain

from .operation import compile_operation
from .values import (
    Scope,
    check_constants,
    compile_pairs,
    compile_text,
    compile_value,
    entries_of,
    maps_of,
    whole,
)

DEFAULT_TIMEOUT = 30.0
DEFAULT_MAX_BYTES = 5 * 1024 * 1024


def compile_service(node: Map, scope: Scope, place: Place, settings: Mapping[str, Setting]) -> Service | None:
    """The service of a provider whose file starts at `place`, or None when its base cannot be used."""
    base_node = node.get("base")
    base = compile_value(base_node, scope) if base_node else None
    limits = to_plain(node.get("limits")) or {}
    policy = Policy(
        timeout=parse_duration(limits["timeout"]) if "timeout" in limits else DEFAULT_TIMEOUT,
        max_bytes=parse_size(limits["max_bytes"]) if "max_bytes" in limits else DEFAULT_MAX_BYTES,
        hosts=tuple(to_plain(node.get("hosts")) or ()),
        allow_private=to_plain(node.get("private")) is True,
    )
    auth_node = node.get("auth")
    auth: tuple[str, Value] | None = None
    grant: Grant | None = None
    if isinstance(auth_node, Map):
        for entry in auth_node:
            if isinstance(entry.value, Map) and entry.key == "scheme":
                key_node = entry.value.get("key")
                value = compile_text(key_node, scope) if key_node else None
                secret_node = entry.value.get("secret")
                secret = compile_text(secret_node, scope) if secret_node else None
                if value and secret:
                    value = _joined(value, secret)
                auth = (str(to_plain(entry.value.get("word"))), value) if value else None
                continue
            if isinstance(entry.value, Map):
                grant = _grant(entry.value, base, scope)
                continue
            value = compile_text(entry.value, scope)
            auth = (entry.key, value) if value else None
    check_constants(node.get("headers"), scope.report, headers=True)
    check_constants(node.get("query"), scope.report)
    extra = node.get("extra_headers")
    if extra is not None:
        _check_headers(extra, settings, scope)
    costs = to_plain(node.get("costs")) or {}
    limits_node = node.get("limits")
    learned_node = limits_node.get("learned") if isinstance(limits_node, Map) else None
    service = Service(
        base or Value(constantly(""), TEXT, place),
        policy,
        headers=compile_pairs(node.get("headers"), scope),
        extra_headers=compile_text(extra, scope) if extra else None,
        query=compile_pairs(node.get("query"), scope),
        auth=auth,
        rate=parse_rate(limits["rate"]) if "rate" in limits else None,
        concurrency=limits.get("concurrency"),
        retry=_retry(to_plain(node.get("retry"))),
        errors=compile_errors(node.get("errors"), scope),
        grant=grant,
        cost=float(costs.get("each", 0.0)),
        learned=_learned(learned_node, scope),
        faster=_faster(node.get("limits"), settings, scope),
        unreachable=" ".join(str(to_plain(node.get("unreachable")) or "").split()),
    )
    return service if base else None


def _learned(node: Node | None, scope: Scope) -> QuotaHeaders | None:
    """What the headers of a response tell of the account; its expressions see `headers` and `now` alone."""
    if not isinstance(node, Map):
        return None
    inside = Scope(whole({"headers": RecordType({}, closed=False), "now": NUMBER}), scope.tables, scope.report)
    parts = {entry.key: compile_text(entry.value, inside) for entry in node.entries.values()}
    return QuotaHeaders(**parts)


def _joined(key: Value, secret: Value) -> Value:
    """A key and its secret as one secret, parted by a colon; null unless both have a value."""

    uses = key.uses | secret.uses
    return Value(credentials(key, secret), SECRET, key.place, f"{key.text}:{secret.text}", uses)


def _check_headers(node: Node, settings: Mapping[str, Setting], scope: Scope) -> None:
    known = [f"config.{one.name}" for one in settings.values() if one.kind == "headers"]
    said = str(to_plain(node)).removeprefix("=")
    if said not in known:
        hint = did_you_mean(said, known) or "declare one under `config` with `type: headers`"
        scope.report.add("E104", node.place, f"`extra_headers` takes a setting of type headers, not {said!r}", hint)


def _grant(node: Map, base: Value | None, scope: Scope) -> Grant | None:
    parts = [node.get(key) for key in ("url", "id", "secret")]
    url, client, secret = (
        compile_value(part, scope) if at == 0 else compile_text(part, scope)
        for at, part in enumerate(parts)
        if part is not None
    )
    if url is None or client is None or secret is None:
        return None
    if str(to_plain(parts[0])).startswith("/"):
        if base is None:
            return None
        url = _below(base, str(to_plain(parts[0])), url.place)
    return Grant(url, client, secret, to_plain(node.get("scope")) or "")


def _below(base: Value, path: str, place: Place) -> Value:
    """The address of a path under the service's base, which may be a setting."""
    return Value(address_below(base, path), TEXT, place, path, base.uses)


def _faster(node: Node | None, settings: Mapping[str, Setting], scope: Scope) -> tuple[tuple[str, Rate], ...]:
    found = []
    for entry in entries_of(node.get("with") if isinstance(node, Map) else None):
        if entry.key not in settings:
            hint = did_you_mean(entry.key, settings)
            scope.report.add("E110", entry.place, f"the provider has no setting {entry.key!r}", hint)
        found.append((entry.key, parse_rate(to_plain(entry.value))))
    return tuple(found)


def _retry(said: dict[str, Any] | None) -> Retry | None:
    if not said:
        return None
    return Retry(frozenset(said["on"]), said["times"], parse_duration(said.get("wait", "500ms")))


def compile_errors(node: Node | None, scope: Scope) -> tuple[ErrorRule, ...]:
    """Ordered error rules; they see status, headers, body (parsed JSON or null) and text."""
    inside = scope.plus(status=INTEGER, headers=RecordType({}, closed=False), body=ANY, text=TEXT)
    rules: list[ErrorRule] = []
    for item in maps_of(node):
        when_node = item.get("when")
        assert when_node is not None
        when = compile_text(when_node, inside)
        message = compile_text(found, inside) if (found := item.get("message")) else None
        delay = compile_text(found, inside) if (found := item.get("retry_after")) else None
        if when:
            rules.append(ErrorRule(when, to_plain(item.get("kind")), item.place, message, delay))
    return tuple(rules)


# --- Compiles what providers and tools both declare at their top: settings and look-up tables -------------------------


_SHAPES: Mapping[str, Shape] = {"boolean": BOOLEAN, "integer": INTEGER, "number": NUMBER, "text": TEXT, "url": TEXT}


def compile_settings(node: Node | None) -> dict[str, Setting]:
    """The settings of a `config` mapping."""
    return {entry.key: make_setting(entry.key, to_plain(entry.value), entry.place) for entry in entries_of(node)}


def _implied_settings(spec: Spec, report: Report) -> dict[str, Setting]:
    """The settings that a provider has without declaring them: the pace and the price of an operator's own plan."""
    service, title = spec.root.get("service"), str(to_plain(spec.root.get("title")))
    assert isinstance(service, Map)
    said = to_plain(service)
    name, found = spec.name.upper(), {}
    if "rate" in said.get("limits", {}):
        rate = said["limits"]["rate"]
        what = f"How often {title} may be asked, such as 20/s or 100/min; {rate} when it is not set."
        found[f"{name}_RATE"] = Setting(f"{name}_RATE", what, spec.place, "rate")
    if "costs" in said:
        each = f"{said['costs']['each']:f}".rstrip("0")
        what = f"What a request to {title} costs you, in dollars; {each} when it is not set."
        found[f"{name}_USD"] = Setting(f"{name}_USD", what, spec.place, "number")
    for entry in entries_of(spec.root.get("config")):
        if entry.key in found:
            report.add("E105", entry.place, f"{entry.key} is there without being declared", "remove it")
    return found


def settings_shape(settings: Mapping[str, Setting]) -> RecordType:
    """What `config` looks like to an expression."""
    shapes: dict[str, Shape] = {}
    for one in settings.values():
        shape = SECRET if one.secret or one.kind == "credentials" else _SHAPES.get(one.kind, ANY)
        shapes[one.name] = shape if one.required or one.default is not None else maybe(shape)
    return whole(shapes)


def compile_tables(node: Node | None) -> dict[str, dict[str, Any]]:
    """The look-up tables of a spec."""
    return to_plain(node) if node is not None else {}


# --- Whole provider files ---------------------------------------------------------------------------------------------


def compile_provider(spec: Spec, capabilities: Mapping[str, Capability], report: Report) -> Provider | None:
    """A provider ready to run, or None when something in it is wrong and was reported."""
    before = len(report.found)
    root = spec.root
    settings = compile_settings(root.get("config"))
    declared = settings_shape(settings)
    settings |= _implied_settings(spec, report)
    tables = compile_tables(root.get("tables"))
    scope = Scope(whole({"config": declared, "now": NUMBER}), tables, report)
    service_node, operations_node = root.get("service"), root.get("operations")
    assert isinstance(service_node, Map)
    assert isinstance(operations_node, Map)
    service = compile_service(service_node, scope, spec.place, settings)
    shared = entries_of(root.get("values"))
    operations: dict[str, Operation] = {}
    for entry in operations_node:
        compiled = compile_operation(spec.name, entry, scope, capabilities, shared)
        if compiled:
            operations[entry.key] = compiled
    if any(one.is_error for one in report.found[before:]) or len(operations) < len(operations_node.entries):
        return None
    assert service is not None
    plain = to_plain(root)
    return Provider(
        spec.name,
        plain["title"],
        spec.place,
        spec.digest,
        service,
        settings,
        operations,
        tables,
        plain.get("homepage", ""),
        " ".join(plain.get("notes", "").split()),
        index=plain.get("index", ""),
    )


# --- What is proved instead of tested: every value that a key can have has its row in the table it is looked up in ----


def check_tables(spec: Spec, provider: Provider, capabilities: Mapping[str, Capability], report: Report) -> None:
    """Report every `lookup` of an argument whose declared values are not all in the table.

    A look-up with an alternative (`lookup(…) || 'x'`) covers the rest by itself.
    A table that deliberately leaves a value out says so with null.
    """
    for entry in entries_of(spec.root.get("operations")):
        operation = provider.operations.get(entry.key)
        capability = capabilities.get(operation.capability) if operation else None
        if capability is None:
            continue
        for node, text in _expressions(entry.value):
            for table, argument in _looked_up(text):
                shape = strip(capability.arguments[argument].shape) if argument in capability.arguments else None
                rows = provider.tables.get(table)
                if not isinstance(shape, Choice) or rows is None:
                    continue
                missing = [value for value in shape.values if value not in rows]
                if missing:
                    listed = ", ".join(map(repr, missing))
                    message = f"table {table!r} has no row for {listed}, which {argument!r} can be"
                    report.add("E123", node.place, message, "add it; null says that nothing is sent for it")


def _expressions(node: Node) -> Iterator[tuple[YamlScalar, str]]:
    if isinstance(node, YamlScalar):
        if isinstance(node.value, str) and "lookup" in node.value:
            yield node, node.value.removeprefix("=")
        return
    parts = [one.value for one in node] if isinstance(node, Map) else node.items
    for part in parts:
        yield from _expressions(part)


def _looked_up(text: str) -> Iterator[tuple[str, str]]:
    """Each (table, argument) of a look-up by `args.NAME` that has no alternative."""
    tree = parse(text)
    if isinstance(tree, dict):
        yield from _find_lookups(tree, covered=False)


def _find_lookups(tree: dict[str, Any], *, covered: bool) -> Iterator[tuple[str, str]]:
    is_lookup = tree["type"] == "function_expression" and tree["value"] == "lookup" and len(tree["children"]) == 2
    if is_lookup and not covered:
        table, key = tree["children"]
        if table["type"] == "literal" and key["type"] == "subexpression" and len(key["children"]) == 2:
            owner, name = key["children"]
            if owner["type"] == name["type"] == "field" and owner["value"] == "args":
                yield str(table["value"]), str(name["value"])
    for index, child in enumerate(tree.get("children", ())):
        if isinstance(child, dict):
            yield from _find_lookups(child, covered=covered or (tree["type"] == "or_expression" and index == 0))
