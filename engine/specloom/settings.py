"""Compiles what providers and tools both declare at their top: settings and look-up tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .load_tree import Map, Node, to_plain
from .model_values import Setting, make_setting
from .shapes import ANY, BOOLEAN, INTEGER, NUMBER, SECRET, TEXT, Record, Shape, maybe
from .values import whole

_SHAPES: Mapping[str, Shape] = {"boolean": BOOLEAN, "integer": INTEGER, "number": NUMBER, "text": TEXT, "url": TEXT}


def compile_settings(node: Node | None) -> dict[str, Setting]:
    """The settings of a `config` mapping."""
    if node is None:
        return {}
    assert isinstance(node, Map)
    return {entry.key: make_setting(entry.key, to_plain(entry.value), entry.place) for entry in node}


def settings_shape(settings: Mapping[str, Setting]) -> Record:
    """What `config` looks like to an expression."""
    shapes: dict[str, Shape] = {}
    for one in settings.values():
        shape = SECRET if one.secret or one.kind == "credentials" else _SHAPES.get(one.kind, ANY)
        shapes[one.name] = shape if one.required or one.default is not None else maybe(shape)
    return whole(shapes)


def compile_tables(node: Node | None) -> dict[str, dict[str, Any]]:
    """The look-up tables of a spec."""
    return to_plain(node) if node is not None else {}
