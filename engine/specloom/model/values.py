"""What expressions become: values that are worked out from a context, fields that are read, and settings."""

from __future__ import annotations

from specloom.core import Place, dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Final

    from specloom.language import Bindings, Shape

    Row = dict[str, Any]
else:
    Row = dict  # typing takes longer than all else here
Uses = frozenset[tuple[str, ...]]
NULL_KEPT: Final = object()
"""What a field gives whose key stays, with null, when nothing was found."""


@dataclass(frozen=True, slots=True)
class Value:
    """Something that is worked out from a context: a constant, an expression, or a tree of both."""

    evaluate: Callable[[Bindings], Any]
    shape: Shape
    place: Place
    text: str = ""
    uses: Uses = frozenset()
    tables: frozenset[str] = frozenset()
    constant: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a row: how it is read from an item, and what it needs."""

    name: str
    read: Callable[[Any, Bindings], Any]
    shape: Shape
    place: Place
    uses: Uses = frozenset()
    tables: frozenset[str] = frozenset()
    required: bool = False
    constant: bool = False
    """It has the same value in every row, so no row can lack it."""
    has_else: bool = False
    keeps_null: bool = False
    """Its key stays with null when nothing was found."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One environment variable that a spec may read."""

    name: str
    description: str
    place: Place
    kind: str = "text"
    secret: bool = False
    required: bool = False
    default: Any = None
    rotate: bool = False
    stand_in: str = ""
    """The variable that is read when this one is not set."""
    personal: bool = False
    """Its default is for a server of one person; where there are several tenants an operator has to set it."""


_DECLARED = {"type": "kind", "or": "stand_in"} | {
    key: key for key in ("secret", "required", "default", "rotate", "personal")
}
"""The keys of a declared setting, each with the field that it fills."""


def make_setting(name: str, said: Mapping[str, Any], place: Place) -> Setting:
    """One setting from what its declaration says."""
    fields = {field: said[key] for key, field in _DECLARED.items() if key in said}
    return Setting(name, " ".join(said["description"].split()), place, **fields)


Pair = tuple[str, Value]
