"""Compiles what all operations of a provider share: where it is, how it is asked, and which answers are faults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specloom.core import (
    Place,
    Policy,
    Rate,
    Report,
    Secret,
    did_you_mean,
    looks_secret,
    parse_duration,
    parse_rate,
    parse_size,
)
from specloom.language import ANY, BOOLEAN, INTEGER, NUMBER, SECRET, TEXT, Bindings, RecordType, Shape, maybe
from specloom.language.evaluate import evaluate
from specloom.model import ErrorRule, Grant, Retry, Service, Setting, Value, make_setting
from specloom.specs import Listing, Map, Node, YamlScalar, to_plain

from .values import Scope, compile_pairs, compile_text, compile_value, whole

# --- Looks at what stands written out in a request of a spec: what cannot be sent, and what should not stand in a
# file -----------------------------------------------------------------------------------------------------------------


_HINT = "declare a setting under `config` with `secret: true`, and send it as =config.NAME"


def check_constants(node: Node | None, report: Report, *, headers: bool = False) -> None:
    """Report the texts of a mapping of request values that look like a secret (W202).

    With `headers` those that hold a line break or another control character are reported too (E104).
    """
    for entry in node if isinstance(node, Map) else ():
        for text, place in _texts(entry.value):
            if headers and not text.isprintable() and any(one < " " or one == "\x7f" for one in text):
                message = f"the header {entry.key!r} holds a control character, which cannot be sent"
                report.add("E104", place, message, "write it on one line")
            if looks_secret(entry.key, text):
                report.add("W202", place, f"what is sent as {entry.key!r} looks like a secret", _HINT)


def _texts(node: Node) -> list[tuple[str, Place]]:
    """The texts below a request value that are no expressions, each with its place."""
    if isinstance(node, YamlScalar):
        is_text = isinstance(node.value, str) and not node.value.startswith("=")
        return [(str(node.value), node.place)] if is_text else []
    parts = node.items if isinstance(node, Listing) else [entry.value for entry in node]
    return [found for part in parts for found in _texts(part)]


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
    service = Service(
        base or Value(lambda _c: "", TEXT, place),
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
        faster=_faster(node.get("limits"), settings, scope),
    )
    return service if base else None


def _joined(key: Value, secret: Value) -> Value:
    """A key and its secret as one secret, parted by a colon; null unless both have a value."""

    def evaluate_both(context: Bindings) -> Secret | None:
        values = [evaluate(one, context) for one in (key, secret)]
        if None in values:
            return None
        return Secret(":".join(one.reveal() if isinstance(one, Secret) else str(one) for one in values))

    return Value(evaluate_both, SECRET, key.place, f"{key.text}:{secret.text}", key.uses | secret.uses)


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

    def evaluate_below(context: Bindings) -> str:
        return str(evaluate(base, context)).rstrip("/") + path

    return Value(evaluate_below, TEXT, place, path, base.uses)


def _faster(node: Node | None, settings: Mapping[str, Setting], scope: Scope) -> tuple[tuple[str, Rate], ...]:
    named = node.get("with") if isinstance(node, Map) else None
    found = []
    for entry in named if isinstance(named, Map) else ():
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
    if not isinstance(node, Listing):
        return ()
    inside = scope.plus(status=INTEGER, headers=RecordType({}, closed=False), body=ANY, text=TEXT)
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


# --- Compiles what providers and tools both declare at their top: settings and look-up tables -------------------------


_SHAPES: Mapping[str, Shape] = {"boolean": BOOLEAN, "integer": INTEGER, "number": NUMBER, "text": TEXT, "url": TEXT}


def compile_settings(node: Node | None) -> dict[str, Setting]:
    """The settings of a `config` mapping."""
    if node is None:
        return {}
    assert isinstance(node, Map)
    return {entry.key: make_setting(entry.key, to_plain(entry.value), entry.place) for entry in node}


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
