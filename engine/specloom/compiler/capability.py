"""Compiles capability and lens files: the contracts between tools and providers, and the curated fields of sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from specloom.core import Report, did_you_mean
from specloom.language import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    TEXT,
    Choice,
    ListOf,
    RecordType,
    Shape,
    conformer,
    maybe,
)
from specloom.model import Argument, Capability, IdentityKey, Lens, RowIdentity
from specloom.specs import Listing, Map, Node, Spec, YamlScalar, to_plain

from .values import Scope, compile_text, maps_of, whole

# --- The types that a capability declares: the shape of each, and what makes a value fit it ---------------------------


KINDS_OF_VALUE: Mapping[str, Shape] = {
    "text": TEXT,
    "document": TEXT,
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


def conformers(capability: Capability) -> tuple[tuple[str, Callable[[Any], Any], bool], ...]:
    """For each field of a row: its name, what makes a value fit its type, and whether it is required."""
    return tuple((one.name, conformer(one.kind, one.shape), one.required) for one in capability.row.values())


# --- Capabilities and lenses ------------------------------------------------------------------------------------------


SITES_OF_A_QUERY = 10
"""How many sites the example of a lens puts into one query; common engines take at least so many."""


def compile_capability(spec: Spec, report: Report | None = None) -> Capability:
    """A capability with the shapes of its arguments and of its rows; what is wrong in its expressions is reported."""
    plain = to_plain(spec.root)
    routing = plain["routing"]
    row = compile_fields(spec.root.get("row"))
    return Capability(
        spec.name,
        plain["title"],
        " ".join(plain["description"].split()),
        spec.place,
        compile_fields(spec.root.get("arguments")),
        row,
        routing.get("key", ""),
        tuple(routing["order"]),
        row_shape(row),
        _identity(spec.root.get("identity"), row, Report() if report is None else report),
        plain.get("writes", False),
    )


def _identity(node: Node | None, row: Mapping[str, Argument], report: Report) -> RowIdentity | None:
    """When two rows are about one thing; None where nothing is said of it, or something in it is wrong."""
    if not isinstance(node, Map):
        return None
    scope = Scope(whole({"row": row_shape(row)}), {}, report)
    keys = []
    for item in maps_of(node.get("keys")):
        said, near = to_plain(item), to_plain(item.get("near")) or {}
        value = compile_text(item.entries["is"].value, scope)
        number = near.get("field", "")
        if number and (number not in row or row[number].kind not in ("integer", "number")):
            numbers = [one.name for one in row.values() if one.kind in ("integer", "number")]
            place = item.entries["near"].place
            report.add("E110", place, f"a row has no number {number!r}", did_you_mean(number, numbers))
        if value is not None:
            is_any = said.get("any", False)
            keys.append(IdentityKey(value, said.get("decides", False), number, near.get("by", 0), is_any))
    version = node.get("version")
    known = compile_text(version, scope) if version is not None else None
    return RowIdentity(tuple(keys), known, tuple(to_plain(node.get("lead")) or ())) if keys else None


def row_shape(row: Mapping[str, Argument]) -> RecordType:
    """What a row of these fields looks like: one that is not required may be null."""
    return whole({one.name: one.shape if one.required else maybe(one.shape) for one in row.values()})


def compile_fields(node: Node | None) -> Mapping[str, Argument]:
    """The typed fields of a mapping, by name."""
    found = {}
    for entry in node if isinstance(node, Map) else ():
        said = to_plain(entry.value)
        description = " ".join(said["description"].split())
        found[entry.key] = Argument(
            entry.key, said["type"], description, entry.place, _shape(said), said.get("required", False)
        )
    return MappingProxyType(found)


def _shape(said: Mapping[str, object]) -> Shape:
    kind = str(said["type"])
    if kind == "list":
        return ListOf(KINDS_OF_VALUE[str(said.get("items", "text"))])
    choices = said.get("enum")
    if isinstance(choices, list):
        return Choice(tuple(choices))
    fields = said.get("fields")
    if kind == "object" and isinstance(fields, dict):
        return whole({name: maybe(KINDS_OF_VALUE[one]) for name, one in fields.items()})
    return KINDS_OF_VALUE[kind]


def compile_lens(spec: Spec, report: Report) -> Lens | None:
    """A lens, after its example was held against the queries that its domains make."""
    plain = to_plain(spec.root)
    domains = tuple(plain.get("domains") or ())
    if not (domains or plain.get("goggle") or plain.get("engine")):
        report.add("E105", spec.root.place, "a lens needs one of 'domains', 'goggle', 'engine'")
        return None
    node = spec.root.get("domains")
    if isinstance(node, Listing):
        for index, item in enumerate(node.items):
            if isinstance(item, YamlScalar) and item.value in domains[:index]:
                report.add("E104", item.place, f"{item.value} stands twice", "remove one")
    example = plain["example"]
    makes = tuple(site_queries(example["query"], domains))
    example_node = spec.root.get("example")
    if tuple(example["makes"]) != makes and isinstance(example_node, Map):
        said = example_node.get("makes")
        report.add(
            "E401",
            said.place if said else example_node.place,
            "the example says other queries than the lens makes",
            " / ".join(makes),
        )
    return Lens(
        spec.name,
        plain["title"],
        " ".join(plain["description"].split()),
        spec.place,
        domains,
        plain.get("goggle", ""),
        plain.get("engine", ""),
        " ".join(plain.get("notes", "").split()),
        example["query"],
        makes,
    )


def site_queries(query: str, domains: tuple[str, ...]) -> list[str]:
    """The query texts for an engine that takes at most ten sites in one query."""
    if not domains:
        return [query]
    made = []
    for start in range(0, len(domains), SITES_OF_A_QUERY):
        group = [f"site:{domain}" for domain in domains[start : start + SITES_OF_A_QUERY]]
        made.append(f"{query} {group[0]}" if len(group) == 1 else f"{query} ({' OR '.join(group)})")
    return made
