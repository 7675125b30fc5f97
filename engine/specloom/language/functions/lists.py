"""The functions that choose among the items of a list."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from ..signatures import registrar
from ..types import ANY, ListOf, Shape, maybe, strip

if TYPE_CHECKING:
    from ..signatures import Function


LISTS: Final[dict[str, Function]] = {}
"""The functions of this module by name."""
_function = registrar(LISTS)


def identity(item: Any) -> Any:
    """What two values have in common exactly if JSON takes them for equal; 1 and true differ, 1 and 1.0 do not."""
    if isinstance(item, bool):
        return ("boolean", item)
    if isinstance(item, (list, dict)):
        return ("json", json.dumps(item, sort_keys=True, default=str))
    return item


def _item(arguments: tuple[Shape, ...]) -> Shape:
    given = strip(arguments[0])
    return maybe(given.item) if isinstance(given, ListOf) else ANY


@_function(
    "nullable array",
    "string",
    "nullable string or number",
    result=lambda arguments: strip(arguments[0]),
    examples=(
        ("alike([{a: 'The Otter!', n: `1`}, {a: 'the  otter', n: `2`}, {n: `3`}], 'a', 'the otter')[].n", [1, 2]),
        ("alike([{a: 'x'}], 'a', `null`)", []),
    ),
)
def _alike(items: list[Any] | None, field: str, value: str | float | None) -> list[Any]:
    """The objects of a list whose field says the same as the value: equal words in the same order, whatever case,
    punctuation and blanks; none for null."""
    wanted = _words_of(value)
    return [one for one in items or () if wanted and isinstance(one, dict) and _words_of(one.get(field)) == wanted]


def _words_of(value: Any) -> str:
    return " ".join(re.findall(r"\w+", str(value).casefold())) if isinstance(value, (str, int, float)) else ""


@_function(
    "array",
    result=lambda arguments: strip(arguments[0]),
    examples=(("unique(`[2, 1, 2]`)", [2, 1]), ("unique(`[1, true]`)", [1, True])),
)
def _unique(items: list[Any]) -> list[Any]:
    """The list without repetitions; the first of each stays where it is."""
    found: dict[Any, Any] = {}
    for item in items:
        found.setdefault(identity(item), item)
    return list(found.values())


@_function(
    "nullable array",
    "nullable array",
    result=lambda arguments: arguments[0],
    examples=(
        ("without(['a', 'b', 'c'], ['b'])", ["a", "c"]),
        ("without(['a'], `null`)", ["a"]),
        ("without(`null`, ['a'])", None),
    ),
)
def _without(items: list[Any] | None, unwanted: list[Any] | None) -> list[Any] | None:
    """The list without the items that the second one has; null gives null, and a null second one takes nothing away."""
    if items is None:
        return None
    refused = {identity(item) for item in unwanted or ()}
    return [item for item in items if identity(item) not in refused]


@_function(
    "nullable array",
    result=_item,
    examples=(("first(['a', 'b'])", "a"), ("first(`[]`)", None), ("first(`null`)", None)),
)
def _first(items: list[Any] | None) -> Any:
    """The first item of the list; null for null or an empty one."""
    return items[0] if items else None


@_function(
    "nullable string or number or boolean",
    "array",
    result=lambda arguments: maybe(strip(arguments[0])),
    examples=(
        ("one_of('de', ['de', 'fr'])", "de"),
        ("one_of('xx', ['de', 'fr'])", None),
        ("one_of(`null`, ['de'])", None),
    ),
)
def _one_of(value: str | float | None, known: list[Any]) -> str | float | None:
    """The value if the list has it, else null."""
    return value if any(type(item) is type(value) and item == value for item in known) else None
