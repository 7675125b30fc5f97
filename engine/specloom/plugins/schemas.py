"""The JSON Schemas of what procedures take and give, written short."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXT: Mapping[str, Any] = {"type": "string"}
WHOLE: Mapping[str, Any] = {"type": "integer"}
FLAG: Mapping[str, Any] = {"type": "boolean"}
NUMBER: Mapping[str, Any] = {"type": "number"}
OBJECT: Mapping[str, Any] = {"type": "object"}


def texts(*names: str) -> dict[str, Any]:
    """Properties that are all texts."""
    return dict.fromkeys(names, TEXT)


def record(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """An object with these properties."""
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def closed(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {**record(properties, *required), "additionalProperties": False}


def listed(items: Mapping[str, Any]) -> dict[str, Any]:
    """A list of such items."""
    return {"type": "array", "items": dict(items)}
