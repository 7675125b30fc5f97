"""What the schemas of a description say of values: their types, words, properties, and a value that they allow."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from specloom.core import dataclass

from ..words import words_of
from .description import Description, DocumentNode
from .document import escape

DEEPEST = 8
"""Levels of a schema of which a reply is made up."""

_MOST_VALUES = 2_000


_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_TOLD_BY_PARTS = _BOUNDS | {"type", "enum", "const", "default", "example", "examples", "format"}


def read_schema(description: Description, node: DocumentNode, name: str) -> DocumentNode | None:
    """The schema below a key, with what the schemas that it is made of say of its values; None where there is none.

    One that is `true` or `false` says nothing.
    """
    value = node.value.get(name) if isinstance(node.value, dict) else None
    if isinstance(value, bool):
        return DocumentNode({}, f"{node.pointer}/{escape(name)}")
    schema = description.get(node, name, dict)
    return with_parts(description, schema) if schema is not None else None


def with_parts(description: Description, schema: DocumentNode, depth: int = 0) -> DocumentNode:
    """A schema with the type, the words and the bounds of all that it is made of, or of the only one that it may be."""
    told: dict[str, Any] = {}
    for part in _parts_of(description, schema, depth):
        inner = with_parts(description, part, depth + 1).value
        told |= {key: inner[key] for key in inner if key in _TOLD_BY_PARTS}
    if not told and (words := _constants(description, schema)):
        told["enum"] = words
    return DocumentNode({**told, **schema.value}, schema.pointer)


def _parts_of(description: Description, schema: DocumentNode, depth: int) -> list[DocumentNode]:
    """What a schema is made of: all of `allOf`, and what is left of a choice where that is one."""
    if depth >= DEEPEST:
        return []
    parts = list(description.items(description.get(schema, "allOf", list)))
    for key in ("oneOf", "anyOf"):
        choice = [one for one in description.items(description.get(schema, key, list)) if type_of(one.value) != "null"]
        parts += choice if len(choice) == 1 else []
    return parts


def _constants(description: Description, schema: DocumentNode) -> list[Any]:
    """The words of a choice between constants, which is how 3.1 describes each of them."""
    for key in ("oneOf", "anyOf"):
        choice = list(description.items(description.get(schema, key, list)))
        if choice and all("const" in one.value for one in choice):
            return [one.value["const"] for one in choice]
    return []


def find_items(description: Description, schema: DocumentNode, depth: int = 0) -> DocumentNode | None:
    """The schema of the items of a list, also where a part says it; None where nothing does."""
    items = read_schema(description, schema, "items")
    if items is not None:
        return items
    found = (find_items(description, part, depth + 1) for part in _parts_of(description, schema, depth))
    return next((one for one in found if one is not None), None)


def bounds_of(schema: Mapping[str, Any], kind: str) -> tuple[float, float | None]:
    """The least and the most that a number may be, 1 where it may be anything from there; None where there is no most.

    A bound is excluded as 3.1 says it, by a number of its own, or as 3.0 does, by true.
    """
    limits: list[float | None] = []
    for name, step in (("minimum", 1), ("maximum", -1)):
        limit, excluded = schema.get(name), schema.get(f"exclusive{name.capitalize()}")
        if isinstance(excluded, (int, float)) and not isinstance(excluded, bool):
            limit, excluded = excluded, True
        if not isinstance(limit, (int, float)) or isinstance(limit, bool):
            limits.append(None)
        else:
            limits.append(limit + step if excluded is True and kind == "integer" else limit)
    low, high = limits
    return low if low is not None else 1, high


def schema_of(description: Description, parameter: DocumentNode) -> DocumentNode:
    """The schema of a parameter, also where it stands below a media type; an empty one where there is none."""
    schema = read_schema(description, parameter, "schema")
    if schema is not None:
        return schema
    content = description.get(parameter, "content", dict)
    for media in content.value if content else ():
        assert content is not None
        inner = description.get(content, media, dict)
        found = read_schema(description, inner, "schema") if inner else None
        if found is not None:
            return found
    return DocumentNode({}, parameter.pointer)


def enum_of(schema: Mapping[str, Any]) -> Sequence[Any]:
    """The words that a value, or an item of it, may have; none where it is open."""
    for one in (schema, schema.get("items")):
        if isinstance(one, dict) and isinstance(one.get("enum"), list):
            return [value for value in one["enum"] if value is not None]
    return ()


def type_of(schema: Mapping[str, Any]) -> str:
    """The type of a value, null aside; empty where the schema does not say."""
    kind = schema.get("type", "")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "")
    return str(kind) or ("object" if "properties" in schema else "array" if "items" in schema else "")


def example_of(description: Description, node: DocumentNode, schema: DocumentNode) -> Any:
    """What the description has as an example of a value; None where there is none."""
    for one in (node.value, schema.value):
        for key in ("example", "default", "const"):
            if one.get(key) is not None:
                return one[key]
        examples = one.get("examples")
        if isinstance(examples, list) and examples:
            return examples[0]
        if isinstance(examples, dict):
            for name in examples:
                inner = description.get(DocumentNode(examples, f"{node.pointer}/examples"), name, dict)
                if inner is not None and inner.value.get("value") is not None:
                    return inner.value["value"]
    enum = enum_of(schema.value)
    return enum[0] if enum else None


def properties_of(
    description: Description, schema: DocumentNode, depth: int = 0
) -> tuple[dict[str, DocumentNode], set[str]]:
    """The properties of a schema and of those that it is made of, and the names of those that have to be there."""
    found: dict[str, DocumentNode] = {}
    needed = {str(one) for one in schema.value.get("required") or () if isinstance(schema.value.get("required"), list)}
    for key in ("allOf", "oneOf", "anyOf"):
        several = list(description.items(description.get(schema, key, list))) if depth < DEEPEST else []
        for inner in several if key == "allOf" else [one for one in several if type_of(one.value) != "null"][:1]:
            more, also = properties_of(description, inner, depth + 1)
            found |= more
            needed |= also
    own = description.get(schema, "properties", dict)
    for name in own.value if own else ():
        assert own is not None
        found[str(name)] = read_schema(description, own, str(name)) or DocumentNode({}, own.pointer)
    return found, needed


_FORMATS = {
    "date-time": "2026-01-02T03:04:05Z",
    "date": "2026-01-02",
    "uri": "https://example.org/otters",
    "url": "https://example.org/otters",
    "email": "otter@example.org",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def make_value(description: Description, schema: DocumentNode, name: str) -> Any:
    """A value that a schema allows, with all of its properties; None where it leads back to itself.

    Of one that branches without end, only the levels above are made.
    """
    for deepest in range(DEEPEST, 0, -1):
        try:
            return _ValueMaker(description, deepest).make(schema, name, ())
        except _TooManyError:
            continue
    return None


class _TooManyError(Exception):
    """More values than a person would look through."""


@dataclass(slots=True)
class _ValueMaker:
    description: Description
    deepest: int
    left: int = _MOST_VALUES

    def make(self, schema: DocumentNode, name: str, above: tuple[str, ...]) -> Any:
        """The value; `above` has the pointers of what it is a part of."""
        self.left -= 1
        if self.left < 0:
            raise _TooManyError
        if schema.pointer in above:
            return None
        value, inside = schema.value, (*above, schema.pointer)
        for key in ("example", "const", "default"):
            if value.get(key) is not None:
                return value[key]
        for key in ("examples", "enum"):
            if isinstance(value.get(key), list) and value[key]:
                return value[key][0]
        kind = type_of(value)
        items = find_items(self.description, schema)
        if kind == "array" or (kind == "" and items):
            made = self.make(items, name, inside) if items and len(above) < self.deepest else None
            return [made] if made is not None else []
        properties, _ = properties_of(self.description, schema)
        if properties or kind == "object":
            return self._object(schema, properties, name, inside)
        for key in ("oneOf", "anyOf", "allOf"):
            for one in self.description.items(self.description.get(schema, key, list)):
                if type_of(one.value) != "null" and len(above) < self.deepest:
                    return self.make(with_parts(self.description, one), name, inside)
        return {"integer": 3, "number": 1.5, "boolean": True}.get(kind) or _made_text(
            name, str(value.get("format", ""))
        )

    def _object(
        self, schema: DocumentNode, properties: Mapping[str, DocumentNode], name: str, inside: tuple[str, ...]
    ) -> Any:
        if len(inside) > self.deepest:
            return None
        made = {key: self.make(one, key, inside) for key, one in properties.items()}
        more = read_schema(self.description, schema, "additionalProperties")
        if not made and more is not None and schema.value["additionalProperties"] is not False:
            made = {f"a{number}": self.make(more, name, inside) for number in (1, 2)}
        return {key: one for key, one in made.items() if one is not None}


def _made_text(name: str, format_: str) -> str:
    words = words_of(name)
    if format_ in _FORMATS:
        return _FORMATS[format_]
    if words & {"url", "uri", "href", "link"}:
        return _FORMATS["uri"]
    if words & {"date", "at", "published", "created", "updated", "modified"} and "by" not in words:
        return _FORMATS["date-time" if "at" in words else "date"]
    return f"the {re.sub('[-_]', ' ', name)}".strip()
