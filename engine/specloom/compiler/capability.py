"""Compiles capability and lens files: the contracts between tools and providers, and the curated fields of sites."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from specloom.core import Report, clean
from specloom.language import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    TEXT,
    Choice,
    ListOf,
    Maybe,
    RecordType,
    Shape,
    absolute_http,
    maybe,
)
from specloom.model import Argument, Capability, Lens
from specloom.specs import Listing, Map, Node, Spec, YamlScalar, to_plain

from .values import whole

# --- The types that a capability declares: the shape of each, and what makes a value fit it ---------------------------


MOST_BITS = 1023
"""Bits of the longest integer that is a number: a longer one is no double (IEEE 754), and most readers lose it."""

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


def conformer(kind: str, shape: Shape) -> Callable[[Any], Any]:
    """A function that gives the value in its declared type, or None when it cannot be that; nothing is rounded.

    Text comes without characters that nobody sees, which can carry a message past a reader. What stays as it came is a
    `document`, which whoever reads it cleans and tells of what was in it, and an object of undeclared fields outside
    lists.
    """
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
        of = _kind_of(shape.item if isinstance(shape, ListOf) else TEXT)
        inner = _to_seen if of == "any" else conformer(of, ANY)
        return lambda value: (
            [got for one in value if (got := inner(one)) is not None] if isinstance(value, list) else None
        )
    if kind == "object":
        return _object_conformer(shape)
    if kind == "any":
        return lambda value: value
    if kind == "document":
        return lambda value: value if isinstance(value, str) else None
    if kind == "url":
        return lambda value: absolute_http(clean(value)[0]) if isinstance(value, str) else None
    if choices:
        return lambda value: value if value in choices else None
    return _to_text


def _object_conformer(shape: Shape) -> Callable[[Any], Any]:
    """For an object with declared fields these alone, without what is unknown or of another type; None of nothing."""
    shape = shape.shape if isinstance(shape, Maybe) else shape
    if not isinstance(shape, RecordType) or not shape.fields:
        return lambda value: value if isinstance(value, dict) else None
    inner = {name: conformer(_kind_of(one), one) for name, one in shape.fields.items()}

    def fit(value: Any) -> Any:
        if not isinstance(value, dict):
            return None
        return {name: got for name, to in inner.items() if (got := to(value.get(name))) is not None} or None

    return fit


def _to_seen(value: Any) -> Any:
    """An item of a list with all its texts as they are seen; None when it is nested too deeply to look into."""
    try:
        return _seen(value)
    except RecursionError:
        return None


def _seen(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)[0]
    if isinstance(value, dict):
        return {name: _seen(one) for name, one in value.items()}
    return [_seen(one) for one in value] if isinstance(value, list) else value


def _kind_of(shape: Shape) -> str:
    shape = shape.shape if isinstance(shape, Maybe) else shape
    return (
        {INTEGER: "integer", NUMBER: "number", BOOLEAN: "boolean", ANY: "any"}.get(shape, "text")
        if not isinstance(shape, (RecordType, ListOf))
        else "object"
    )


def _to_text(value: Any) -> str | None:
    if isinstance(value, str):
        return clean(value)[0]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return str(value)


def _to_integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value.bit_length() <= MOST_BITS else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and re.fullmatch(r"\s*[-+]?\d{1,18}\s*", value):
        return int(value)
    return None


def _to_number(value: Any) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value.bit_length() <= MOST_BITS else None
    if isinstance(value, float):
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


# --- Capabilities and lenses ------------------------------------------------------------------------------------------


SITES_OF_A_QUERY = 10
"""How many sites the example of a lens puts into one query; common engines take at least so many."""


def compile_capability(spec: Spec) -> Capability:
    """A capability with the shapes of its arguments and of its rows."""
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
    )


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
