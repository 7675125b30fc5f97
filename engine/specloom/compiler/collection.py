"""Compiles collection files: what a server remembers, and whether it is what the code that keeps it relies on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from specloom.core import VARIABLES, Place, Report, did_you_mean, parse_duration, parse_size
from specloom.language import ANY, OPEN
from specloom.model import CollectionModel, Setting, Tool
from specloom.plugins import ENGINE_NEEDS, OBSERVERS, PROCEDURES, PURPOSES, CollectionNeed, CollectionSpec
from specloom.specs import Map, Node, Spec, load_library, to_plain

from .capability import compile_fields, row_shape
from .values import entries_of, scalars_of

FOLDER = "collections.d"
_FIELDS = {"lifetime": "lifetime", "items": "max_items", "events": "max_events"}


def compile_collection(spec: Spec, report: Report) -> CollectionModel | None:
    """A collection, or None when something in it is wrong and was reported."""
    before = len(report.errors)
    plain = to_plain(spec.root)
    limits = plain.get("limits") or {}
    _check_lists(spec.root, report)
    _check_variables(spec.root, plain, report)
    if plain.get("consent", PURPOSES[0]) not in PURPOSES:
        hint = did_you_mean(plain["consent"], PURPOSES) or f"known: {', '.join(PURPOSES)}"
        report.add("E110", _at(spec.root, "consent"), f"nobody consents to {plain['consent']!r}", hint)
    if plain.get("sliding") and "lifetime" not in plain:
        hint = "say `lifetime`, or leave `sliding` out"
        report.add("E105", _at(spec.root, "sliding"), "an item without a lifetime has none that could slide", hint)
    said = CollectionSpec(
        spec.name,
        scope=plain["scope"],
        lifetime=parse_duration(plain["lifetime"]) if "lifetime" in plain else None,
        sliding=plain.get("sliding", False),
        **_limits(limits),
        indexes=tuple(plain.get("indexes") or ()),
        search=tuple(plain.get("search") or ()),
        consent=plain.get("consent", ""),
        variables=tuple((_FIELDS[one["sets"]], name) for name, one in (plain.get("config") or {}).items()),
        missing=" ".join(plain.get("missing", "").split()),
    )
    if said.max_value > said.max_bytes:
        message = f"one value may have {said.max_value} bytes, and all together {said.max_bytes}"
        report.add("E104", _at(spec.root.get("limits"), "value"), message, "raise `bytes` or lower `value`")
    if len(report.errors) > before:
        return None
    description = " ".join(plain["description"].split())
    row = compile_fields(spec.root.get("fields"))
    shape = row_shape({name: replace(one, shape=OPEN) if one.shape == ANY else one for name, one in row.items()})
    settings = _settings(spec.root, plain)
    return CollectionModel(spec.name, plain["title"], description, spec.place, said, settings, row, shape)


def _limits(limits: Mapping[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for key, field in (("items", "max_items"), ("when_full", "when_full"), ("events", "max_events")):
        if key in limits:
            said[field] = limits[key]
    for key, field in (("value", "max_value"), ("bytes", "max_bytes")):
        if key in limits:
            said[field] = parse_size(limits[key])
    return said


def _settings(root: Map, plain: Mapping[str, Any]) -> Mapping[str, Setting]:
    """The variables as settings: with what holds when they are not set, as pages show it."""
    found = {}
    for entry in entries_of(root.get("config")):
        one = to_plain(entry.value)
        default = plain.get("lifetime") if one["sets"] == "lifetime" else (plain.get("limits") or {}).get(one["sets"])
        kind = "text" if one["sets"] == "lifetime" else "integer"
        description = " ".join(one["description"].split())
        found[entry.key] = Setting(entry.key, description, entry.place, kind, default=default)
    return MappingProxyType(found)


def _check_lists(root: Map, report: Report) -> None:
    fields = root.get("fields")
    for key in ("indexes", "search"):
        seen: set[Any] = set()
        for item in scalars_of(root.get(key)):
            if item.value in seen:
                report.add("E104", item.place, f"{item.value} stands twice", "remove one")
            seen.add(item.value)
            if isinstance(fields, Map) and str(item.value) not in fields:
                hint = did_you_mean(str(item.value), fields.entries)
                report.add("E110", item.place, f"there is no field {item.value!r}", hint)


def _check_variables(root: Map, plain: Mapping[str, Any], report: Report) -> None:
    set_by: dict[str, str] = {}
    for entry in entries_of(root.get("config")):
        bound = to_plain(entry.value)["sets"]
        place = _at(entry.value, "sets")
        if entry.key in VARIABLES:
            report.add("E104", entry.place, f"{entry.key} is a variable of the engine", "give it another name")
        if bound in set_by:
            report.add("E104", place, f"{set_by[bound]} and {entry.key} both set `{bound}`", "remove one")
        if bound == "events" and "events" not in (plain.get("limits") or {}):
            hint = "say `limits.events`, or remove the variable"
            report.add("E104", place, f"{entry.key} bounds the events of items that have none", hint)
        set_by.setdefault(bound, entry.key)


def _at(node: Node | None, key: str) -> Place:
    """Where the value of a key stands, or the mapping where it does not."""
    found = node.get(key) if isinstance(node, Map) else None
    return found.place if found is not None else node.place if node is not None else Place("")


# --- what code relies on --------------------------------------------------------------------------------------------


def check_needs(collections: Mapping[str, CollectionModel], report: Report) -> None:
    """Hold every declared collection against what the engine and all registered code rely on (E125)."""
    relying: dict[tuple[str, str], list[str]] = {}
    for who, needed in _needs():
        one = collections.get(needed.name)
        lack = find_lack(one.spec, needed) if one else ""
        if lack:
            relying.setdefault((needed.name, lack), []).append(who)
    for (name, lack), whoever in relying.items():
        hint = "a file of the same name in an earlier layer shows what is needed"
        message = f"the collection {name!r} {lack}, which is relied on by {', '.join(whoever)}"
        report.add("E125", collections[name].place, message, hint)


def check_use(collections: Mapping[str, CollectionModel], tools: Iterable[Tool], report: Report) -> None:
    """Warn of a collection in which nothing is kept, such as one with a misspelt name (W308)."""
    used = {needed.name for _, needed in _needs()} | {name for tool in tools for name in reached_by(tool)}
    for one in collections.values():
        if one.name not in used:
            near = did_you_mean(one.name, used)
            needed = f"a plan saves something here, or a procedure says so in `keeps`; {near}".rstrip("; ")
            hint = near if near.startswith("did") else needed
            report.add("W308", one.place, f"nothing is kept in {one.name!r}", hint)


def _needs() -> Iterator[tuple[str, CollectionNeed]]:
    for needed in ENGINE_NEEDS:
        yield "the engine", needed
    for procedure in PROCEDURES.values():
        for needed in procedure.keeps:
            yield f"the procedure {procedure.name}", needed
    for observer in OBSERVERS.values():
        for needed in observer.keeps:
            yield f"the observer {observer.name}", needed


def find_lack(spec: CollectionSpec, needed: CollectionNeed) -> str:
    """What a collection lacks of what is relied on, as the end of a sentence; empty where it lacks nothing."""
    if spec.scope != needed.scope:
        return f"is {spec.scope} and not {needed.scope}"
    if needed.lifetime and spec.lifetime is None:
        return "has no lifetime"
    if needed.events and not spec.max_events:
        return "has no events"
    if missing := [field for field in needed.indexes if field not in spec.indexes]:
        return f"has no index {missing[0]!r}"
    if needed.search and not spec.search:
        return "has no fields that a search reads"
    return ""


def keepers(name: str, tools: Iterable[Tool] = ()) -> list[str]:
    """The tools and the registered procedures that keep something in a collection, sorted."""
    procedures = [one.name for one in PROCEDURES.values() if any(needed.name == name for needed in one.keeps)]
    return sorted([*procedures, *(tool.name for tool in tools if name in reached_by(tool))])


def reached_by(tool: Tool) -> list[str]:
    """The collections that the plan of a tool reads or writes itself."""
    return [part.access.collection for strategy in tool.plan for part in strategy.parts if part.access]


def load_collections(roots: Sequence[Path]) -> dict[str, CollectionSpec]:
    """The collections of these layers by name, without compiling anything else; a ValueError with the first problem."""
    report = Report()
    library = load_library(roots, report, folders=(FOLDER,))
    found = [compile_collection(spec, report) for spec in library.of("collection").values()]
    if report.errors:
        first = report.errors[0]
        raise ValueError(f"{first.place}: {first.message}; run `specloom check`")
    return {one.name: one.spec for one in found if one}
