"""What the schemas of a description say of values: their types, words, properties, and a value that they allow."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..words import words_of
from .description import Description, DocumentNode
from .document import escape

DEEPEST = 8
"""Levels of a schema of which a reply is made up."""


def schema_of(description: Description, parameter: DocumentNode) -> DocumentNode:
    """The schema of a parameter, also where it stands below a media type; an empty one where there is none."""
    schema = description.get(parameter, "schema", dict)
    if schema is not None:
        return schema
    content = description.get(parameter, "content", dict)
    for media in content.value if content else ():
        assert content is not None
        inner = description.get(content, media, dict)
        found = description.get(inner, "schema", dict) if inner else None
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
        inner_node = description.follow(own.value[name], f"{own.pointer}/{escape(str(name))}")
        if isinstance(inner_node.value, dict):
            found[str(name)] = inner_node
    return found, needed


_FORMATS = {
    "date-time": "2026-01-02T03:04:05Z",
    "date": "2026-01-02",
    "uri": "https://example.org/otters",
    "url": "https://example.org/otters",
    "email": "otter@example.org",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def make_value(description: Description, schema: DocumentNode, name: str, depth: int = 0) -> Any:
    """A value that a schema allows, with all of its properties; None where it leads back to itself."""
    value = schema.value
    for key in ("example", "const", "default"):
        if value.get(key) is not None:
            return value[key]
    if isinstance(value.get("examples"), list) and value["examples"]:
        return value["examples"][0]
    if isinstance(value.get("enum"), list) and value["enum"]:
        return value["enum"][0]
    kind = type_of(value)
    if kind == "array" or (kind == "" and "items" in value):
        items = description.get(schema, "items", dict)
        made = make_value(description, items, name, depth + 1) if items and depth < DEEPEST else None
        return [made] if made is not None else []
    properties, _ = properties_of(description, schema)
    if properties or kind == "object":
        if depth >= DEEPEST:
            return None
        made = {key: make_value(description, one, key, depth + 1) for key, one in properties.items()}
        more = value.get("additionalProperties")
        if not made and isinstance(more, dict):
            inner = description.follow(more, f"{schema.pointer}/additionalProperties")
            named = {f"a{number}": make_value(description, inner, name, depth + 1) for number in (1, 2)}
            return {key: one for key, one in named.items() if one is not None}
        return {key: one for key, one in made.items() if one is not None}
    for key in ("oneOf", "anyOf", "allOf"):
        for one in description.items(description.get(schema, key, list)):
            if type_of(one.value) != "null" and depth < DEEPEST:
                return make_value(description, one, name, depth + 1)
    return {"integer": 3, "number": 1.5, "boolean": True}.get(kind) or _made_text(name, str(value.get("format", "")))


def _made_text(name: str, format_: str) -> str:
    words = words_of(name)
    if format_ in _FORMATS:
        return _FORMATS[format_]
    if words & {"url", "uri", "href", "link"}:
        return _FORMATS["uri"]
    if words & {"date", "at", "published", "created", "updated", "modified"} and "by" not in words:
        return _FORMATS["date-time" if "at" in words else "date"]
    return f"the {re.sub('[-_]', ' ', name)}".strip()
