"""The values inside the results of a sample: where they stand, and the selectors that lead to them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from specloom.core import dataclass

from .words import NAMED

PathValue = tuple[tuple[str, ...], Any]
ITEMS = "[]"
"""In a path: what follows is in each item of a list."""
DEPTH = 4
"""How many names lead to a value at most."""
_LOOKED_AT = 10
"""Results that are looked at; a field that none of them has is not found."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value inside results: its path, what it holds, and whether every result has it."""

    path: tuple[str, ...]
    values: tuple[Any, ...]
    everywhere: bool
    mixed: bool = False
    """Some results have a list where others have one item."""
    parts: tuple[str, str] | None = None
    """The names of the first and the last part of a person's name, which make one text."""
    is_markup: bool = False
    """It is an element or an attribute, of which there may be several without a list around them."""
    is_cell: bool = False
    """It is a column of a table, whose values are texts, whatever they mean."""
    no_values: tuple[str, ...] = ()
    """What stands in the column where nothing is known."""

    @property
    def value(self) -> Any:
        """The first that was found."""
        return self.values[0]

    @property
    def several(self) -> bool:
        """Whether a result has more than one of it."""
        return any(isinstance(value, list) and len(value) > 1 for value in self.values)


def find_leaves(items: Sequence[Any], walk: Callable[[Any], Iterable[PathValue]]) -> list[Leaf]:
    """The values inside results, in the order of the first result that has them; of a path that repeats the first."""
    values: dict[tuple[str, ...], list[Any]] = {}
    looked_at = items[:_LOOKED_AT]
    for item in looked_at:
        first: dict[tuple[str, ...], Any] = {}
        for path, value in walk(item):
            first.setdefault(path, value)
        for path, value in first.items():
            values.setdefault(path, []).append(value)
    mixed = {path for path in values if ITEMS in path and _without_items(path) in values}
    for path in mixed:  # what is alone in some results is a list of one
        values[path] += [[value] for value in values.pop(_without_items(path))]
    leaves = [
        Leaf(path, tuple(several), len(several) == len(looked_at), path in mixed or _is_mixed(several))
        for path, several in values.items()
    ]
    return [*leaves, *_full_names(leaves)]


def _without_items(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in path if name != ITEMS)


def _is_mixed(values: Sequence[Any]) -> bool:
    return len({isinstance(value, list) for value in values}) > 1


_GIVEN = ("given", "given_name", "givenname", "first_name", "firstname", "forename", "first")
_FAMILY = ("family", "family_name", "familyname", "last_name", "lastname", "surname", "last")


def _full_names(leaves: Sequence[Leaf]) -> Iterator[Leaf]:
    """A leaf of whole names for each list of people whose names come in two parts."""
    by_place: dict[tuple[str, ...], dict[str, Leaf]] = {}
    for leaf in leaves:
        if len(leaf.path) > 1 and leaf.path[-2] == ITEMS:
            by_place.setdefault(leaf.path[:-1], {})[leaf.path[-1]] = leaf
    for place, named in by_place.items():
        given = next((name for name in named if name.lower() in _GIVEN), None)
        family = next((name for name in named if name.lower() in _FAMILY), None)
        if given and family and not any(name.lower() in NAMED for name in named):
            whole = named[family]
            yield Leaf((*place, "name"), whole.values, whole.everywhere, whole.mixed, (given, family))


def walk(value: Any, path: tuple[str, ...] = ()) -> Iterator[PathValue]:
    """Every value of a result in JSON with its path."""
    if isinstance(value, dict):
        for name, inner in value.items() if len(path) < DEPTH else ():
            yield from walk(inner, (*path, name))
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        inner_values: dict[tuple[str, ...], list[Any]] = {}
        for one in value:
            for inner_path, inner in walk(one):
                if len(inner_path) <= 2 and ITEMS not in inner_path and not isinstance(inner, list):
                    inner_values.setdefault(inner_path, []).append(inner)
        for inner_path, several in inner_values.items() if path else ():
            yield (*path, ITEMS, *inner_path), several
    elif value not in (None, "", []) and path:
        yield path, value


def to_jmespath(path: Sequence[str]) -> str:
    """Names as a JMESPath, quoted where they are no identifiers."""
    plain = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
    return ".".join(name if plain.fullmatch(name) else json.dumps(name) for name in path)


def to_selector(leaf: Leaf, kind: str, *, family_first: bool = False) -> str:
    """What selects a leaf of JSON for a field of this kind: of a list all of it for a list, else the first."""
    if ITEMS not in leaf.path:
        plain = to_jmespath(leaf.path)
        many = f"to_array({plain})[?@]" if leaf.mixed else plain
        if kind == "list":
            return many
        return f"{many} | [0]" if leaf.mixed else f"{plain}[0]" if isinstance(leaf.value, list) else plain
    at = leaf.path.index(ITEMS)
    before, after = to_jmespath(leaf.path[:at]), to_jmespath(leaf.path[at + 1 :])
    if leaf.parts:
        first, last = (to_jmespath((name,)) for name in leaf.parts)
        after = f"join(', ', [{last}, {first}][?@])" if family_first else f"join(' ', [{first}, {last}][?@])"
    many = f"to_array({before})[?@]" if leaf.mixed else before
    if kind == "list":
        return f"{many}[].{after}"
    return f"{many} | [0].{after}" if leaf.mixed else f"{many}[0].{after}"
