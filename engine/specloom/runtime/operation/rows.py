"""Puts rows in order: joined, nearest first, interleaved, and in the types of their capability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from specloom.language import MISSING, Bindings, Layer, how_many, truthy
from specloom.language.evaluate import evaluate
from specloom.model import NULL_KEPT, Field, Operation, Row

from .context import OperationContext

EARTH_RADIUS = 6_371_000.0  # metres, the mean radius (IUGG)


def interleave(lists: Sequence[list[Row]]) -> list[Row]:
    """Rows of several answers, the first of each, then the second of each, and so on."""
    longest = max((len(rows) for rows in lists), default=0)
    return [rows[at] for at in range(longest) for rows in lists if at < len(rows)]


def arrange(operation: Operation, context: OperationContext, rows: list[Row] | None) -> list[Row]:
    """What comes out of an operation: its rows joined, sorted by distance, kept and cut as the spec says."""
    plan = operation.arrangement
    if plan.rows is not None:
        rows = evaluate(plan.rows, context)
    found = [dict(row) for row in rows or []]
    if plan.join is not None:
        # A row with no value under the key is about the same thing as no other row.
        others = {key: row for row in evaluate(plan.join.rows, context) or [] if (key := _key(row, plan.join.on))}
        for row in found:
            other = others.get(_key(row, plan.join.on), {})
            row.update({name: other[name] for name in plan.join.take if name in other})
    if plan.nearest is not None:
        lat, lon = evaluate(plan.nearest.lat, context), evaluate(plan.nearest.lon, context)
        if lat is not None and lon is not None:
            within = evaluate(plan.nearest.within, context) if plan.nearest.within else None
            found = nearest(found, float(lat), float(lon), float(within) if within else None)
    if plan.keep is not None:
        found = [row for row in found if truthy(evaluate(plan.keep, Layer(context, row=row)))]
    return found[: how_many(plan.take, context)]


def _key(row: Row, name: str) -> tuple[str | int | float, ...]:
    value = row.get(name)
    return (value,) if isinstance(value, (str, int, float)) and value != "" else ()


def nearest(rows: list[Row], lat: float, lon: float, within: float | None) -> list[Row]:
    """Rows by great-circle distance in metres, nearest first; those without a point come last, or not at all."""

    def distance(row: Row) -> float:
        there_lat, there_lon = row.get("lat"), row.get("lon")
        if not isinstance(there_lat, (int, float)) or not isinstance(there_lon, (int, float)):
            return math.inf
        if (there_lat == 0 and there_lon == 0) or not (-90 <= there_lat <= 90 and -360 <= there_lon <= 360):
            return math.inf
        a, b = math.radians(lat), math.radians(there_lat)
        half = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(math.radians(there_lon - lon) / 2) ** 2
        return 2 * EARTH_RADIUS * math.asin(math.sqrt(min(1.0, half)))

    ranked = sorted(((distance(row), at, row) for at, row in enumerate(rows)), key=lambda one: one[:2])
    return [row for metres, _, row in ranked if within is None or metres <= within]


def conform(operation: Operation, rows: list[Row]) -> list[Row]:
    """The rows in the types of their capability: other values are left out, and so is a row without a required one."""
    if not operation.conform:
        return rows
    kept = []
    for row in rows:
        fitted: Row = {}
        for name, fit, required in operation.conform:
            value = row.get(name)
            value = fit(value) if value is not None else None
            if value is not None:
                fitted[name] = value
            elif required:
                break
        else:
            kept.append(fitted)
    return kept


# --- Rows mapped from the items of a reply by compiled fields ---------------------------------------------------------


def map_row(fields: tuple[Field, ...], item: Any, context: Bindings) -> Row | None:
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
