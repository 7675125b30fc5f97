"""What the coverage of providers and that of tools share: noting what worked, and reading trees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from specloom.core import Place, Report
from specloom.language import Bindings, truthy
from specloom.model import Setting, Value
from specloom.specs import Listing, Map, Node, Spec, YamlEntry, YamlScalar, to_plain


@dataclass(slots=True)
class SpecUse:
    """What did its work while examples ran: rules that decided, strategies that ran, fields that were missing."""

    worked: set[Place] = field(default_factory=set)
    lacking: set[tuple[Place, str]] = field(default_factory=set)


def watched(value: Value, place: Place, seen: SpecUse) -> Value:
    """The same value, noting the place whenever it is true."""

    def evaluate(context: Bindings) -> Any:
        result = value.evaluate(context)
        if truthy(result):
            seen.worked.add(place)
        return result

    return replace(value, evaluate=evaluate)


def cover_settings(spec: Spec, settings: Mapping[str, Setting], report: Report) -> None:
    """Every setting that the file declares is read somewhere (W307); those of procedures are read by them."""
    declared = {entry.key for entry in entries_of(spec.root.get("config"))}
    texts = [text for entry in spec.root if entry.key not in {"config", "examples"} for text in _texts(entry.value)]
    used = {name for text in texts for name in re.findall(r"\bconfig\.(\w+)", text)}
    used.add(str(to_plain(spec.root.get("opt_in"))))
    for one in settings.values():
        if one.name in declared and one.name not in used:
            report.add(
                "W307",
                one.place,
                f"setting {one.name!r} is declared but nothing uses it",
                "remove it, or use it as config." + one.name,
            )


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node, YamlScalar):
        if isinstance(node.value, str):
            yield node.value
        return
    for one in [entry.value for entry in node] if isinstance(node, Map) else node.items:
        yield from _texts(one)


def entries_of(node: Node | None) -> list[YamlEntry]:
    """The keys of a mapping with their values; none where there is no mapping."""
    return list(node) if isinstance(node, Map) else []


def maps_of(node: Node | None) -> list[Map]:
    """The mappings of a list; none where there is no list."""
    return [item for item in node.items if isinstance(item, Map)] if isinstance(node, Listing) else []
