"""Pieces of a new spec: selectors, fields and excerpts as YAML, and the converters that a sample's value asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from .model_providers import Argument
from .sample import Leaf, is_epoch
from .shapes import Choice

_SHOWN = 60
_READ_OTHERWISE = frozenset({"null", "true", "false", "yes", "no", "on", "off"})
"""Words that YAML, of this version or the one before, does not read as text."""


def flow(value: Any) -> str:
    """A value as YAML on one line."""
    import yaml

    text: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=float("inf"))
    return text.removesuffix("\n").removesuffix("\n...")


def indented(lines: Sequence[str], by: int) -> list[str]:
    """Lines further to the right."""
    return [f"{' ' * by}{line}" for line in lines]


def field_text(selector: str, required: bool, then: Sequence[Any]) -> str:
    """A field of a map, in the shortest form that says all of it."""
    if not required and not then:
        return scalar(selector)
    parts = [f"at: {scalar(selector)}"]
    if required:
        parts.append("required: true")
    if then:
        parts.append(f"then: {json.dumps(then).replace(chr(34), '')}")
    return f"{{{', '.join(parts)}}}"


def scalar(text: str) -> str:
    """A selector as YAML inside a flow mapping: plain where that is safe, else in quotes."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", text) and text.lower() not in _READ_OTHERWISE:
        return text
    return json.dumps(text, ensure_ascii=False)


def converters(one: Argument, leaf: Leaf) -> list[Any]:
    """What makes the sample's value one of the field's type."""
    value = leaf.value
    if one.kind in {"timestamp", "date"}:
        if is_epoch(value):
            return [{"epoch": "milliseconds" if value > 1e11 else "seconds"}]
        return ["timestamp" if one.kind == "timestamp" else "day"]
    if one.kind == "text" and isinstance(value, int):
        return ["text"]
    if one.kind in {"integer", "number"} and isinstance(value, str):
        return [one.kind]
    if one.kind == "url" and not str(value).startswith("http"):
        return ["absolute_http"]
    if one.kind == "text" and any(
        isinstance(text, str) and re.search(r"</?[a-z][^>]*>|&[a-z]+;", text) for text in leaf.values
    ):
        return ["strip_tags"]
    return []


def excerpt(value: Any) -> str:
    """The beginning of a value on one line, for a comment."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def made_up(one: Argument) -> Any:
    """A value of an argument's or a field's type."""
    if isinstance(one.shape, Choice):
        return one.shape.values[0]
    made: dict[str, Any] = {
        "url": "https://example.org/otters",
        "timestamp": "2026-01-02T03:04:05Z",
        "date": "2026-01-02",
        "integer": 3,
        "number": 1.5,
        "boolean": True,
        "list": ["otters"],
    }
    return made.get(one.kind, f"the {one.name.replace('_', ' ')}")
