"""Rows mapped from the items of a reply by compiled fields."""

from __future__ import annotations

from typing import Any

from .evaluate import MISSING
from .model_values import NULL_KEPT, Context, Field, Row


def map_row(fields: tuple[Field, ...], item: Any, context: Context) -> Row | None:
    """One row from one item, without the fields for which nothing was found; None when a required one is missing."""
    row: Row = {}
    for one in fields:
        value = one.read(item, context)
        if value is NULL_KEPT:
            row[one.name] = None
            continue
        if value is None or value in MISSING:
            if one.has_else and value is not None:
                row[one.name] = value
            elif one.required:
                return None
            continue
        row[one.name] = value
    return row
