"""The JSON Schemas that a tool publishes: what it takes and, derived from its spec, what it returns.

Only the portable subset: an object at the root, no type lists, arrays with items; model APIs refuse or ignore the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from specloom.language import Maybe, Shape, may_be_null, to_schema
from specloom.model import BUDGET, HINTS, NOTICES, AnswerKey, Field, Input, LinkPolicy
from specloom.plugins import Envelope

HINTS_SCHEMA: dict[str, Any] = {"type": "object"}
"""The object that explains an empty answer; its keys are documented once, not in the catalogue of every tool."""

NOTICES_SCHEMA: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
"""Sentences that are to be read before the answer."""

LINKED: Mapping[str, Any] = {
    "resource": {"type": "string"},
    "bytes": {"type": "integer"},
    "mimeType": {"type": "string"},
    "summary": {"type": "string"},
    "expiresAt": {"type": "string"},
    "linked": {"type": "boolean"},
}
"""What stands in place of an answer that is linked."""

_TYPES = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "list": "array",
    "object": "object",
}


def input_schema(inputs: Iterable[Input], *, nested: bool = False) -> dict[str, Any]:
    """The schema of a tool's arguments, or of one object among them, with the bounds that are really applied."""
    properties: dict[str, Any] = {}
    needed: list[str] = []
    for one in inputs:
        said: dict[str, Any] = {"type": _TYPES[one.kind]}
        if one.items:
            said["items"] = input_schema(one.items, nested=True)
        elif one.kind == "list":
            said["items"] = {"type": "string", **_bounds_of_text(one)}
        else:
            # How long a text of a list's object may be is refused in words; said for each it costs more than it tells.
            said |= {key: value for key, value in _bounds_of_text(one).items() if not (nested and key == "maxLength")}
        # Nearly every tool takes the size of its answer, which is moved to its bounds with a word; saying them so often
        # costs more tokens than any caller gains.
        is_bounded = one.name != BUDGET
        pairs = (
            ("minimum", one.minimum if is_bounded else None),
            ("maximum", one.maximum if is_bounded else None),
            ("maxItems", one.max_items),
            ("default", one.default),
            ("description", one.description if not (nested and _repeats_name(one)) else None),
        )
        said |= {key: value for key, value in pairs if value is not None}
        properties[one.name] = said
        if one.required:
            needed.append(one.name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if needed:
        schema["required"] = needed
    return {**schema, "additionalProperties": False}


def _repeats_name(one: Input) -> bool:
    """Whether a description says no more than the name does, such as "Its title." of `title`."""
    return one.description.rstrip(".").lower().removeprefix("its ") == one.name.lower()


def _bounds_of_text(one: Input) -> dict[str, Any]:
    """What a text may be, and in a list each of its items."""
    pairs = (
        ("enum", list(one.choices) if one.choices and not one.is_open else None),
        ("minLength", one.min_length),
        ("maxLength", one.max_length),
        ("pattern", _whole(one.pattern) if one.pattern else None),
    )
    return {key: value for key, value in pairs if value is not None}


def _whole(pattern: str) -> str:
    """The pattern as JSON Schema, which searches, finds it in whole texts; in a group where there are alternatives."""
    return f"^(?:{pattern})$" if "|" in pattern else f"^{pattern}$"


def output_schema(
    answer: Iterable[AnswerKey],
    with_hints: bool,
    link: LinkPolicy | None = None,
    age_as: str = "",
    *,
    noted: bool = False,
    told_as: Envelope | None = None,
) -> dict[str, Any]:
    """The schema of the answer. Shallow and without prose: hosts that show it pay for every word.

    An answer that may be linked has either its own keys or those of the link, so that none is always there; of one that
    may be a fault in its envelope those are that both have.
    """
    properties: dict[str, Any] = {}
    needed: list[str] = []
    for key in answer:
        if key.fields is not None:
            properties[key.name] = {"type": "array", "items": _object(key.fields)}
            if not isinstance(key.value.shape, Maybe):
                needed.append(key.name)
            continue
        properties[key.name] = to_schema(key.value.shape)
        if not may_be_null(key.value.shape):
            needed.append(key.name)
    if with_hints:
        properties[HINTS] = HINTS_SCHEMA
    if noted:
        properties[NOTICES] = NOTICES_SCHEMA
    if age_as:
        properties[age_as] = {"type": "integer"}
        needed.append(age_as)
    if told_as is not None:
        properties |= {name: dict(said) for name, said in told_as.gives.items() if name not in properties}
        needed = [name for name in needed if name in told_as.gives]
    if link is not None:
        needed = []
        for name, schema in {**LINKED, **{name: to_schema(value.shape) for name, value in link.also}}.items():
            own = properties.get(name, schema)
            properties[name] = schema if own == schema else {"anyOf": [own, schema]}
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def whole_schema(shape: Shape, told_as: Envelope | None, *, noted: bool = False) -> dict[str, Any]:
    """The schema of an answer that is a record as it is, or a fault in its envelope: what both have is required."""
    schema = to_schema(shape)
    properties = dict(schema.get("properties", {}))
    needed = list(schema.get("required", ()))
    if noted:
        properties[NOTICES] = NOTICES_SCHEMA
    if told_as is not None:
        properties |= {name: dict(said) for name, said in told_as.gives.items() if name not in properties}
        needed = [name for name in needed if name in told_as.gives]
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def lean_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An output schema as it is listed: every key with its type, and at the top what is always there.

    What a closed or a required inner object says besides is checked here, and paid for by nobody else.
    """
    return {key: _lean(value) if key == "properties" else value for key, value in _open(schema).items()}


def brief_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An output schema without what is inside its keys: their names, their types, and which are always there."""
    return {
        key: {name: {"type": said["type"]} if "type" in said else {} for name, said in value.items()}
        if key == "properties"
        else value
        for key, value in _open(schema).items()
    }


def _lean(value: Any) -> Any:
    if isinstance(value, list):
        return [_lean(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {key: _lean(one) for key, one in _open(value).items() if key != "required" or not isinstance(one, list)}


def _open(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in schema.items() if key != "additionalProperties" or not isinstance(one, bool)}


def _object(fields: tuple[Field, ...]) -> dict[str, Any]:
    shapes: dict[str, Shape] = {one.name: one.shape for one in fields}
    needed = [one.name for one in fields if one.constant or not may_be_null(one.shape)]
    # One `type` a schema is all that some clients take, so what may be null says none.
    kept = {one.name for one in fields if one.keeps_null}
    properties = {name: {} if name in kept else to_schema(shape) for name, shape in shapes.items()}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if needed:
        schema["required"] = needed
    return {**schema, "additionalProperties": False}
