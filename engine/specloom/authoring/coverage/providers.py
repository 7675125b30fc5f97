"""What the examples of a provider do not show: fields, request values, error rules, missing required fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specloom.core import Place, Report
from specloom.language import MISSING, Bindings
from specloom.model import Field, Operation, Provider, Step
from specloom.specs import Listing, Map, Node, Spec, YamlEntry, YamlScalar, to_plain

from ..examples.providers import ExchangeTrace, ProviderExample, provider_examples, run_provider_example
from .common import SpecUse, cover_settings, entries_of, maps_of, watched

Sent = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the examples of one operation state about the requests of each step and about rows."""

    sent: Mapping[str, Sequence[Sent]]
    fields: Mapping[str, frozenset[str]]
    """For each step, the row fields with a value in examples that sent it."""
    meta: frozenset[str]


def cover_provider(spec: Spec, provider: Provider, report: Report) -> None:
    """Warn of what the examples of one provider do not show."""
    seen = SpecUse()
    ran = list(_run_all(spec, watch_provider(provider, seen)))
    everywhere: list[Sent] = []
    for entry in entries_of(spec.root.get("operations")):
        operation = provider.operations[entry.key]
        own = [(example, trace) for example, trace in ran if example.operation.name == operation.name]
        if not own:
            continue  # an operation without an example is an error of its own
        shown = _shown(own)
        everywhere += [one for sent in shown.sent.values() for one in sent]
        _cover_requests(entry, operation, shown, report)
        _cover_rows(operation, shown, report)
        _cover_required(operation, seen, report)
    _cover_service(spec, everywhere, report)
    for rule in provider.service.errors:
        if rule.place not in seen.worked:
            report.add(
                "W303", rule.place, f"no example triggers this error rule ({rule.kind})", "add a reply that it is for"
            )
    cover_settings(spec, provider.settings, report)


def watch_provider(provider: Provider, seen: SpecUse) -> Provider:
    """The same provider, noting in `seen` which error rules decide and which required fields an item lacks."""
    rules = tuple(replace(rule, when=watched(rule.when, rule.place, seen)) for rule in provider.service.errors)
    operations = {
        name: replace(one, steps=tuple(_watch_step(step, seen) for step in one.steps))
        for name, one in provider.operations.items()
    }
    return replace(provider, service=replace(provider.service, errors=rules), operations=operations)


def _watch_step(step: Step, seen: SpecUse) -> Step:
    fields = tuple(_watch_field(one, seen) if one.required else one for one in step.reading.fields)
    return replace(step, reading=replace(step.reading, fields=fields))


def _watch_field(one: Field, seen: SpecUse) -> Field:
    def read(item: Any, context: Bindings) -> Any:
        value = one.read(item, context)
        if value in MISSING:
            seen.lacking.add((one.place, one.name))
        return value

    return replace(one, read=read)


def _run_all(spec: Spec, provider: Provider) -> Iterator[tuple[ProviderExample, ExchangeTrace]]:
    for example in provider_examples(spec, provider, Report()):
        trace = run_provider_example(example, provider, Report())
        if trace is not None:
            yield example, trace


def _shown(ran: Iterable[tuple[ProviderExample, ExchangeTrace]]) -> _Shown:
    sent: dict[str, list[Sent]] = {}
    fields: dict[str, set[str]] = {}
    meta: set[str] = set()
    for example, trace in ran:
        expect = example.said["expect"]
        for name, one in (expect.get("sent") or {}).items():
            sent.setdefault(name, []).extend(one if isinstance(one, list) else [one])
        named = {name for row in expect.get("rows") or () for name, value in row.items() if value is not None}
        for name in trace.sent:
            fields.setdefault(name, set()).update(named)
        meta.update(name for name, value in (expect.get("meta") or {}).items() if value is not None)
    return _Shown(sent, {name: frozenset(one) for name, one in fields.items()}, frozenset(meta))


def _cover_requests(entry: YamlEntry, operation: Operation, shown: _Shown, report: Report) -> None:
    """Every value of every request of the operation stands in some example (W302)."""
    assert isinstance(entry.value, Map)
    for node in maps_of(entry.value.get("steps")):
        name = str(to_plain(node.get("as")) or "main")
        where = f"{operation.id}, step {name!r}"
        sent = shown.sent.get(name, ())
        verb = "get" if "get" in node else "post"
        if not any(verb in one for one in sent):
            place = node.entries[verb].place
            report.add(
                "W302", place, f"no example shows the URL of {where}", f"state `{verb}` under `expect.sent.{name}`"
            )
        for part in ("query", "headers"):
            _cover_pairs(part, node.get(part), sent, where, report)
        body = node.get("body")
        for one in body if isinstance(body, Map) else ():
            for place, path in _leaves(one.value, one.place, ()):
                if not any(_has(said.get(one.key), path) for said in sent):
                    what = ".".join((one.key, *(str(part) for part in path)))
                    report.add(
                        "W302", place, f"no example shows the body's {what!r} of {where}", "state the whole body in one"
                    )


def _cover_service(spec: Spec, sent: Sequence[Sent], report: Report) -> None:
    """What all operations send is stated by an example of one of them (W302)."""
    node = spec.root.get("service")
    if not isinstance(node, Map):
        return
    for part in ("query", "headers"):
        _cover_pairs(part, node.get(part), sent, f"{spec.name}, sent with every request", report)
    auth = node.entries.get("auth")
    if auth is not None and not _states("headers", "Authorization", sent):
        report.add(
            "W302",
            auth.place,
            f"no example shows how the key of {spec.name} travels",
            "state `Authorization` under `headers`",
        )
    extra = node.entries.get("extra_headers")
    if extra is not None and not any(one.get("headers") for one in sent):
        report.add(
            "W302",
            extra.place,
            f"no example shows the extra headers of {spec.name}",
            "set them in `config` and state `headers`",
        )


def _cover_pairs(part: str, node: Node | None, sent: Sequence[Sent], where: str, report: Report) -> None:
    kind = "query parameter" if part == "query" else "header"
    for entry in entries_of(node):
        null = isinstance(entry.value, YamlScalar) and entry.value.value is None
        if not null and not _states(part, entry.key, sent):
            report.add(
                "W302",
                entry.place,
                f"no example shows the {kind} {entry.key!r} of {where}",
                f"state it with a value under `{part}`",
            )


def _states(part: str, name: str, sent: Iterable[Sent]) -> bool:
    """Some stated request has this header or parameter with a value; the names of headers are the same in any case."""
    for one in sent:
        for said, value in (one.get(part) or {}).items():
            if value is not None and (said == name or (part == "headers" and said.lower() == name.lower())):
                return True
    return False


def _leaves(node: Node, place: Place, path: tuple[str | int, ...]) -> Iterator[tuple[Place, tuple[str | int, ...]]]:
    """Every single value in a body, with its place and the keys that lead to it; constants of null are not sent."""
    if isinstance(node, Map):
        for entry in node:
            yield from _leaves(entry.value, entry.place, (*path, entry.key))
    elif isinstance(node, Listing):
        for index, item in enumerate(node.items):
            yield from _leaves(item, item.place, (*path, index))
    elif node.value is not None:
        yield place, path


def _has(body: Any, path: tuple[str | int, ...]) -> bool:
    for part in path:
        keys = range(len(body)) if isinstance(body, list) else body if isinstance(body, dict) else ()
        if part not in keys:
            return False
        body = body[part]
    return body is not None


def _cover_rows(operation: Operation, shown: _Shown, report: Report) -> None:
    """Every field that comes out in a row is stated with a value by some example, and so is every fact (W301)."""
    known = {name for name, _, _ in operation.conform}
    joined = set(operation.arrangement.join.take) if operation.arrangement.join else set()
    sources = source_steps(operation)
    for step in operation.steps:
        out = known if step.name in sources else known & joined
        for one in step.reading.fields:
            if one.name in out and one.name not in shown.fields.get(step.name, ()):
                message = f"no example shows the field {one.name!r} of {operation.id}, step {step.name!r}"
                report.add("W301", one.place, message, "state it with a value under `expect.rows`")
    for name, value in operation.meta:
        if name not in shown.meta:
            report.add(
                "W301",
                value.place,
                f"no example shows the fact {name!r} of {operation.id}",
                "state it under `expect.meta`",
            )


def source_steps(operation: Operation) -> frozenset[str]:
    """The steps whose rows come out of an operation."""
    rows = operation.arrangement.rows
    if rows is not None:
        return frozenset(path[1] for path in rows.uses if path[0] == "steps" and len(path) > 1)
    needed = [step.name for step in operation.steps if not step.optional]
    return frozenset(needed[-1:])


def _cover_required(operation: Operation, seen: SpecUse, report: Report) -> None:
    """Every required field has an example in which an item lacks it (W305)."""
    for step in operation.steps:
        for one in step.reading.fields:
            if one.required and not one.constant and (one.place, one.name) not in seen.lacking:
                message = f"no example of {operation.id} has an item without {one.name!r}, which is required"
                report.add("W305", one.place, message, "add such an item to a reply; its row is dropped")
