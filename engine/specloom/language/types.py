"""Static shapes: what a value can look like, as far as it is known before anything runs.

`Maybe` marks what may be null and is never nested; `ANY` includes null, so `maybe(ANY)` is `ANY`. `NOTHING` is the item
of a list that is known to be empty; it joins to whatever it meets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from specloom.core import dataclass


@dataclass(frozen=True, slots=True)
class Any_:  # noqa: N801 - `Any` is taken by typing
    """Nothing is known; use the singleton `ANY`."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """One of the singletons `TEXT`, `INTEGER`, `NUMBER`, `BOOLEAN`, `NULL`, `SECRET` and `NOTHING`."""

    kind: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A text out of a closed list."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list whose items all have one shape."""

    item: Shape


@dataclass(frozen=True, slots=True)
class RecordType:
    """An object. A closed one has no other fields; a field outside `required` may be absent."""

    fields: Mapping[str, Shape]
    closed: bool = True
    required: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Maybe:
    """The shape, or null; made by `maybe`, which never nests it."""

    shape: Shape


Shape = Any_ | Scalar | Choice | ListOf | RecordType | Maybe

ANY = Any_()
TEXT = Scalar("text")
INTEGER = Scalar("integer")
NUMBER = Scalar("number")
BOOLEAN = Scalar("boolean")
NULL = Scalar("null")
SECRET = Scalar("secret")
NOTHING = Scalar("nothing")

OPEN = RecordType({}, closed=False)
"""An object of which no field is known."""

_NUMBERS = (INTEGER, NUMBER)
_SCHEMA_TYPES = {"text": "string", "integer": "integer", "number": "number", "boolean": "boolean", "null": "null"}
_TYPE_SCALARS = {word: Scalar(kind) for kind, word in _SCHEMA_TYPES.items()}


def maybe(shape: Shape) -> Shape:
    """The shape with null added to it."""
    if shape == NOTHING:
        return NULL
    return shape if isinstance(shape, (Maybe, Any_)) or shape == NULL else Maybe(shape)


def strip(shape: Shape) -> Shape:
    """The shape without the null that `maybe` added."""
    return shape.shape if isinstance(shape, Maybe) else shape


def may_be_null(shape: Shape) -> bool:
    """Whether null is among the values of the shape."""
    return isinstance(shape, (Maybe, Any_)) or shape == NULL


def join(a: Shape, b: Shape) -> Shape:
    """The smallest shape that has the values of both; `ANY` where there is no smaller one."""
    if b in (a, NOTHING):
        return a
    if a == NOTHING:
        return b
    if a == NULL:
        return maybe(b)
    if b == NULL:
        return maybe(a)
    if isinstance(a, Maybe) or isinstance(b, Maybe):
        return maybe(join(strip(a), strip(b)))
    if a in _NUMBERS and b in _NUMBERS:
        return NUMBER
    if isinstance(a, Choice) and isinstance(b, Choice):
        return Choice(tuple(dict.fromkeys(a.values + b.values)))
    if (isinstance(a, Choice) and b == TEXT) or (isinstance(b, Choice) and a == TEXT):
        return TEXT
    if isinstance(a, ListOf) and isinstance(b, ListOf):
        return ListOf(join(a.item, b.item))
    if isinstance(a, RecordType) and isinstance(b, RecordType):
        return _join_records(a, b)
    return ANY


def join_all(shapes: Iterable[Shape]) -> Shape:
    """The join of all of them; `NOTHING` of none."""
    result: Shape = NOTHING
    for shape in shapes:
        result = join(result, shape)
    return result


def _join_records(a: RecordType, b: RecordType) -> RecordType:
    def other(record: RecordType, name: str) -> Shape:
        return record.fields.get(name, NOTHING if record.closed else ANY)

    names = dict.fromkeys((*a.fields, *b.fields))
    fields = {name: join(other(a, name), other(b, name)) for name in names}
    return RecordType(fields, closed=a.closed and b.closed, required=a.required & b.required)


def holds_secret(shape: Shape) -> bool:
    """Whether a secret can be found in a value of this shape."""
    match shape:
        case Maybe(inner) | ListOf(inner):
            return holds_secret(inner)
        case RecordType(fields):
            return any(holds_secret(field) for field in fields.values())
        case _:
            return shape == SECRET


def describe(shape: Shape) -> str:
    """The shape in a word or two, for a message."""
    match shape:
        case Maybe(inner):
            return f"{describe(inner)} or null"
        case Scalar(kind):
            return {"integer": "a number", "number": "a number", "boolean": "a boolean", "secret": "a secret"}.get(
                kind, kind
            )
        case Choice():
            return "text"
        case ListOf():
            return "a list"
        case RecordType():
            return "an object"
    return "anything"


def shape_of(value: Any) -> Shape:
    """The shape of a JSON value."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int):
        return INTEGER
    if isinstance(value, float):
        return NUMBER
    if isinstance(value, str):
        return TEXT
    if isinstance(value, (list, tuple)):
        return ListOf(join_all(shape_of(item) for item in value))
    if isinstance(value, Mapping):
        return RecordType(
            {str(name): shape_of(item) for name, item in value.items()}, required=frozenset(map(str, value))
        )
    return ANY


def to_schema(shape: Shape) -> dict[str, Any]:
    """The shape as JSON Schema draft-07, in the subset that clients share: one `type` a schema, no unions.

    `Maybe(x)` is the schema of x, and a field that may be null is not required, because an answer leaves null keys out.
    `ANY` is `{}` as a field. In a list it is left out altogether (`{"type": "array"}`), because an empty `items` is
    what some clients refuse. A secret has no schema: it is never part of an answer.
    """
    match shape:
        case Maybe(inner):
            return to_schema(inner)
        case Scalar("secret"):
            raise ValueError("a secret cannot be part of an answer, so it has no schema; leave the field out")
        case Scalar("nothing") | Any_():
            return {}
        case Scalar(kind):
            return {"type": _SCHEMA_TYPES[kind]}
        case Choice(values):
            return {"type": "string", "enum": list(values)}
        case ListOf(item):
            items = to_schema(item)
            return {"type": "array", "items": items} if items else {"type": "array"}
        case RecordType(fields, closed, required):
            return _record_schema(fields, closed, required)
    raise TypeError(f"{shape!r} is not a shape")


def _record_schema(fields: Mapping[str, Shape], closed: bool, required: frozenset[str]) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: to_schema(field) for name, field in fields.items()},
    }
    needed = [name for name, field in fields.items() if name in required and not may_be_null(field)]
    if needed:
        schema["required"] = needed
    if closed:
        schema["additionalProperties"] = False
    return schema


def from_schema(schema: Mapping[str, Any]) -> Shape:
    """The shape that a JSON Schema describes; `ANY` for what shapes cannot say."""
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return join_all(from_schema(branch) for branch in schema[word])
    if "const" in schema:
        return _choice([schema["const"]])
    if "enum" in schema:
        return _choice(schema["enum"])
    type_ = schema.get("type", "object" if "properties" in schema else "array" if "items" in schema else None)
    if isinstance(type_, list):
        return join_all(from_schema({**schema, "type": word}) for word in type_)
    if type_ == "array":
        items = schema.get("items", {})
        return ListOf(from_schema(items) if isinstance(items, Mapping) else ANY)
    if type_ == "object":
        fields = {name: from_schema(field) for name, field in schema.get("properties", {}).items()}
        closed = schema.get("additionalProperties", True) is False
        return RecordType(fields, closed=closed, required=frozenset(schema.get("required", ())))
    return _TYPE_SCALARS.get(type_, ANY) if isinstance(type_, str) else ANY


def _choice(values: Iterable[Any]) -> Shape:
    listed = list(values)
    texts = tuple(value for value in listed if isinstance(value, str))
    others = join_all(shape_of(value) for value in listed if not isinstance(value, str))
    return join(Choice(texts), others) if texts else others
