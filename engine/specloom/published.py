"""The JSON Schemas that a tool publishes: what it takes and, derived from its spec, what it returns.

Only the portable subset: an object at the root, no type lists, arrays with items; model APIs refuse or ignore the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .model import AnswerKey, Field, Input
from .shapes import Maybe, Shape, may_be_null, to_schema

HINTS_SCHEMA: dict[str, Any] = {"type": "object"}
"""The object that explains an empty answer; its keys are documented once, not in the catalogue of every tool."""

_TYPES = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "list": "array"}


def input_schema(inputs: Iterable[Input]) -> dict[str, Any]:
    """The schema of a tool's arguments, with the bounds that are really applied."""
    properties: dict[str, Any] = {}
    needed: list[str] = []
    for one in inputs:
        said: dict[str, Any] = {"type": _TYPES[one.kind]}
        if one.kind == "list":
            said["items"] = {"type": "string"}
        pairs = (
            ("enum", list(one.choices) if one.choices and not one.is_open else None),
            ("minimum", one.minimum),
            ("maximum", one.maximum),
            ("minLength", one.min_length),
            ("maxLength", one.max_length),
            ("pattern", f"^(?:{one.pattern})$" if one.pattern else None),
            ("maxItems", one.max_items),
            ("default", one.default),
            ("description", one.description),
        )
        said |= {key: value for key, value in pairs if value is not None}
        properties[one.name] = said
        if one.required:
            needed.append(one.name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if needed:
        schema["required"] = needed
    return {**schema, "additionalProperties": False}


def output_schema(answer: Iterable[AnswerKey], with_hints: bool) -> dict[str, Any]:
    """The schema of the answer. Shallow and without prose: hosts that show it pay for every word."""
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
        properties["hints"] = HINTS_SCHEMA
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _object(fields: tuple[Field, ...]) -> dict[str, Any]:
    shapes: dict[str, Shape] = {one.name: one.shape for one in fields}
    needed = [one.name for one in fields if one.constant or not may_be_null(one.shape)]
    properties = {name: to_schema(shape) for name, shape in shapes.items()}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if needed:
        schema["required"] = needed
    return {**schema, "additionalProperties": False}
