"""Typed records of what procedures take and give: JSON Schemas, published keys and JSON all follow from the classes.

A field is told under its name in camelCase, or under the `key` that it is declared with. One that may be None and is
None by default is left out where nothing is known; one that may be None without a default is always told, as null.
Whatever has a default need not be given.
"""

from __future__ import annotations

import types
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import (
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from specloom.core import dataclass, field

JsonObject = Mapping[str, Any]
"""An object whose fields are not declared."""
Naming = Literal["camel", "same"]
Schema = dict[str, Any]
T = TypeVar("T")

_NAMING = "__record_naming__"
_SCALARS: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_LISTS = (list, tuple, Sequence)


def key(name: str, *, default: Any = ...) -> Any:
    """A field that is told under a name that the rule does not make; without a default it has to be given."""
    return field(**_default(default), metadata={"key": name})


def inline(*, default: Any = ...) -> Any:
    """A field whose own fields are told in its place; without a default it has to be given."""
    return field(**_default(default), metadata={"inline": True})


def _default(value: Any) -> dict[str, Any]:
    return {} if value is ... else {"default": value}


@overload
def record(class_: type[T], /) -> type[T]: ...


@overload
def record(*, naming: Naming) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, key, inline))
def record(class_: type[T] | None = None, /, *, naming: Naming = "camel") -> Any:
    """Make a class a frozen record; with the naming `same`, its fields are told under their own names."""

    def make(plain: type[T]) -> type[T]:
        made = dataclass(frozen=True, slots=True, kw_only=True)(plain)
        setattr(made, _NAMING, naming)
        return made

    return make if class_ is None else make(class_)


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of a record: where it is told, what it holds, and when it is left out."""

    name: str
    key: str
    type: Any
    """What it holds beside None."""
    is_nullable: bool
    has_default: bool
    is_inline: bool

    @property
    def is_optional(self) -> bool:
        """Whether it is left out where nothing is known."""
        return self.is_nullable and self.has_default


def is_record(type_: Any) -> bool:
    """Whether a class was made by `record`."""
    return isinstance(type_, type) and hasattr(type_, _NAMING)


@cache
def _fields(class_: Any) -> tuple[_Field, ...]:
    import dataclasses

    hints = get_type_hints(class_)
    naming = getattr(class_, _NAMING)
    found = []
    for one in dataclasses.fields(class_):
        inner, is_nullable = _without_none(hints[one.name])
        told_as = one.metadata.get("key") or (one.name if naming == "same" else _to_camel(one.name))
        has_default = one.default is not dataclasses.MISSING or one.default_factory is not dataclasses.MISSING
        found.append(_Field(one.name, told_as, inner, is_nullable, has_default, "inline" in one.metadata))
    return tuple(found)


def _to_camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def _without_none(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) not in (Union, types.UnionType):
        return hint, hint is Any
    parts = [one for one in get_args(hint) if one is not types.NoneType]
    if len(parts) != 1:
        raise TypeError(f"{hint} is of several kinds, which a schema of one type cannot say")
    return parts[0], True


# --- schemas ---


def schema_of(class_: Any) -> Schema:
    """The draft-07 schema of a record: closed, with its fields in their order; raises TypeError for other types."""
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for one in _fields(class_):
        if one.is_inline:
            inner = schema_of(one.type)
            properties |= inner["properties"]
            required += () if one.is_nullable else inner["required"]
            continue
        # What is told as null has no type that clients share.
        properties[one.key] = {} if one.is_nullable and not one.has_default else _schema(one.type)
        if not one.is_nullable:
            required.append(one.key)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _schema(type_: Any) -> Schema:
    if type_ is Any:
        return {}
    if is_record(type_):
        return schema_of(type_)
    if type_ in _SCALARS:
        return {"type": _SCALARS[type_]}
    origin, parts = get_origin(type_), get_args(type_)
    if origin is Literal:
        return {"type": "string", "enum": list(parts)}
    if origin in _LISTS:
        return {"type": "array", "items": _schema(parts[0])}
    if origin in (dict, Mapping):
        inner = _schema(parts[1])
        return {"type": "object", "additionalProperties": inner} if inner else {"type": "object"}
    raise TypeError(f"{type_} has no schema; write a record, a scalar, a Literal, a list or a mapping")


def keys_of(class_: Any) -> tuple[str, ...]:
    """The keys under which the fields of a record are told."""
    return tuple(key for one in _fields(class_) for key in (keys_of(one.type) if one.is_inline else (one.key,)))


# --- values ---


def to_json(value: Any) -> Any:
    """A record, or what holds records, as JSON data under the published keys; other values as they are."""
    if hasattr(type(value), _NAMING):
        told: dict[str, Any] = {}
        kind: Any = type(value)
        for one in _fields(kind):
            content = getattr(value, one.name)
            if one.is_inline:
                told |= to_json(content) if content is not None else {}
            elif content is not None or not one.is_optional:
                told[one.key] = to_json(content)
        return told
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {name: to_json(item) for name, item in value.items()}
    return value


def from_json(class_: type[T], data: Mapping[str, Any]) -> T:
    """The record that JSON data under the published keys stands for; a TypeError for a key that it does not have."""
    if unknown := data.keys() - set(keys_of(class_)):
        raise TypeError(f"{class_.__name__} has no {', '.join(sorted(unknown))}")
    given: dict[str, Any] = {}
    for one in _fields(cast("Any", class_)):
        if one.is_inline and any(name in data for name in keys_of(one.type)):
            given[one.name] = from_json(one.type, {name: data[name] for name in keys_of(one.type) if name in data})
        elif one.key in data and not one.is_inline:
            given[one.name] = _read(one.type, data[one.key])
    return class_(**given)


def _read(type_: Any, value: Any) -> Any:
    if is_record(type_) and isinstance(value, Mapping):
        return from_json(type_, value)
    if get_origin(type_) in _LISTS and isinstance(value, list):
        return [_read(get_args(type_)[0], item) for item in value]
    return value


# --- functions ---


def signature_of(function: Callable[..., Awaitable[Any]]) -> dict[str, Any]:
    """What an async function `(context, …) -> record` declares of a procedure, by the fields of one.

    `function` calls it with JSON data and gives JSON data. The parameters after the context are those of the procedure,
    under their names; or it has one, a record, whose fields they are. Those without a default are needed, and one that
    is null takes its default.
    """
    hints = get_type_hints(function)
    import inspect

    _, *taken = inspect.signature(function).parameters.values()
    class_ = hints[taken[0].name] if len(taken) == 1 else None
    if is_record(class_):
        fields = {one.key: (one.type, one.has_default) for one in _fields(class_)}
    else:
        class_ = None
        fields = {
            one.name: (_without_none(hints[one.name])[0], one.default is not inspect.Parameter.empty) for one in taken
        }

    async def call(context: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: value for name, value in arguments.items() if value is not None}
        if class_ is not None:
            return cast("dict[str, Any]", to_json(await function(context, from_json(class_, given))))
        read = {name: _read(type_, given[name]) for name, (type_, _) in fields.items() if name in given}
        return cast("dict[str, Any]", to_json(await function(context, **read)))

    return {
        "parameters": {name: _schema(type_) for name, (type_, _) in fields.items()},
        "needs": tuple(name for name, (_, has_default) in fields.items() if not has_default),
        "gives": _schema(hints["return"]),
        "function": call,
    }
