"""The function that finds what a caller names among the dimensions of a data set and the codes of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specloom.core import dataclass

from ..signatures import function, to_text
from ..types import INTEGER, TEXT, ListOf, RecordType, Shape, maybe

_SHOWN = 20
"""Codes that are told of a dimension, which may have thousands."""
_LONGEST = 80
_OFFER = {"id": TEXT, "label": maybe(TEXT), "count": INTEGER, "values": ListOf(TEXT)}
_CHOICE: Mapping[str, Shape] = {
    "chosen": RecordType({}, closed=False),
    "slots": ListOf(TEXT),
    "offered": ListOf(RecordType(_OFFER, required=frozenset(_OFFER))),
    "problem": maybe(TEXT),
}


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension of a data set: its id, its name, its codes with their labels, and the code where none is chosen."""

    id: str
    label: str | None
    options: tuple[tuple[str, str | None], ...]
    slot: str

    def tell(self) -> list[str]:
        """The first of its codes, each with its label."""
        shown = self.options[:_SHOWN]
        return [code if label in (None, code) else f"{code} ({label})" for code, label in shown]


@function("nullable array", "nullable object", result=RecordType(_CHOICE, required=frozenset(_CHOICE)))
def _choose_codes(rows: list[Any] | None, wanted: Mapping[str, Any] | None) -> dict[str, Any]:
    """What is wanted of the dimensions of a data set, where an object has codes or labels by dimension: `chosen` lists
    codes by dimension, `slots` has the text of each dimension in a key of SDMX, `offered` says what there is, and
    `problem`, a sentence or null, what there is not. A row is a dimension with `id`, `label`, `slot`, the code where
    none is chosen, and `options`, each {code, label} or a text of both; or with the name of a `list`, whose row has
    `options` and no `id`.
    """
    dimensions = _read_dimensions(rows or [])
    chosen: dict[str, list[str]] = {}
    problem = None
    for name, wish in (wanted or {}).items():
        dimension = next((one for one in dimensions if one.id.casefold() == name.strip().casefold()), None)
        if dimension is None:
            known = ", ".join(one.id for one in dimensions)
            problem = problem or f"there is no dimension {name.strip()[:_LONGEST]!r}; there are {known or 'none'}"
            continue
        codes = _by_word(dimension)
        words = _to_words(wish, codes)
        unknown = [word for word in words if word.casefold() not in codes]
        if unknown:
            more = len(dimension.options) - _SHOWN
            known = ", ".join(dimension.tell()) + (f" and {more:,} more" if more > 0 else "")
            sentence = f"dimension {dimension.id} has no {unknown[0][:_LONGEST]!r}; it has {known or 'none'}"
            problem = problem or sentence
        elif words:
            chosen[dimension.id] = list(dict.fromkeys(codes[word.casefold()] for word in words))
    return {
        "chosen": chosen,
        "slots": ["+".join(chosen.get(one.id, ())) or one.slot for one in dimensions],
        "offered": [
            {"id": one.id, "label": one.label, "count": len(one.options), "values": one.tell()} for one in dimensions
        ],
        "problem": problem,
    }


def _read_dimensions(rows: list[Any]) -> list[Dimension]:
    listed = [row for row in rows if isinstance(row, dict)]
    lists = {to_text(row["list"]): row for row in listed if row.get("list") and not row.get("id")}
    found = []
    for row in listed:
        if row.get("id"):
            other = lists.get(to_text(row.get("list")), {})
            label, options = row.get("label") or other.get("label"), row.get("options") or other.get("options")
            slot = to_text(row["slot"]) if row.get("slot") else ""
            found.append(Dimension(to_text(row["id"]), to_text(label) if label else None, _read_options(options), slot))
    return found


def _read_options(options: Any) -> tuple[tuple[str, str | None], ...]:
    found: list[tuple[str, str | None]] = []
    for option in options if isinstance(options, list) else ():
        code: Any = None
        label: Any = None
        if isinstance(option, str):
            code, _, label = option.strip().partition(" ")
        elif isinstance(option, dict):
            code, label = option.get("code"), option.get("label")
        if code:
            found.append((to_text(code), to_text(label).strip() if label else None))
    return tuple(found)


def _by_word(dimension: Dimension) -> dict[str, str]:
    """The codes by what they may be called, whatever its case: a code goes before a label, and the first before later
    ones."""
    codes: dict[str, str] = {}
    for code, _ in dimension.options:
        codes.setdefault(code.casefold(), code)
    for code, label in dimension.options:
        codes.setdefault((label or code).casefold(), code)
    return codes


def _to_words(wish: Any, codes: Mapping[str, str]) -> list[str]:
    """What is named: the items of a list, or of a text with commas; a label may have one itself."""
    items = wish if isinstance(wish, list) else [] if wish is None else [wish]
    words: list[str] = []
    for item in map(to_text, items):
        words += [item] if item.strip().casefold() in codes else item.split(",")
    return [word.strip() for word in words if word.strip()]
