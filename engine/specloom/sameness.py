"""Which rows are about the same thing, and in which order rows come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .model_values import Row
from .urls import canonical_url


def dedupe(rows: list[Row], by: Iterable[tuple[str, ...]]) -> list[Row]:
    """One row for each thing: rows that share one of the keys are one, and the first stays.

    A key is one field or several; a row that lacks one of its fields has no such key.
    """
    seen: dict[tuple[str, ...], set[Any]] = {names: set() for names in by}
    kept = []
    for row in rows:
        keys = {
            names: tuple(same_thing(row[name]) for name in names)
            for names in seen
            if all(isinstance(row.get(name), (str, int)) for name in names)
        }
        if any(key in seen[names] for names, key in keys.items()):
            continue
        for names, key in keys.items():
            seen[names].add(key)
        kept.append(row)
    return kept


def same_thing(value: Any) -> Any:
    """The value as it counts for "the same": text without case and blanks, an address without what changes nothing."""
    if not isinstance(value, str):
        return value
    if value.startswith(("http://", "https://")):
        return canonical_url(value)
    return " ".join(value.casefold().split())


def sort(rows: list[Row], by: str, descending: bool) -> list[Row]:
    """A stable sort; rows without the field come last in either direction.

    Values of several kinds under one field are kept apart: false and true, numbers, texts, and the rest as it came.
    """
    have = [row for row in rows if row.get(by) is not None]
    return sorted(have, key=lambda row: _rank(row[by]), reverse=descending) + [
        row for row in rows if row.get(by) is None
    ]


def _rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool):
        return 0, value
    if isinstance(value, (int, float)):
        return 1, value
    return (2, value) if isinstance(value, str) else (3, 0)


def group(rows: list[Row], keys: list[Any]) -> tuple[list[Row], list[tuple[Any, int]]]:
    """Rows of one key stand together, the largest group first and rows without a key last; with each key and its count.

    Of several spellings of a key the first counts; groups of one size stay in the order of their first rows.
    """
    groups: dict[Any, list[Row]] = {}
    spelled: dict[Any, Any] = {}
    rest = []
    for row, key in zip(rows, keys, strict=True):
        if not isinstance(key, (str, int, float)) or key == "":
            rest.append(row)
            continue
        same = same_thing(key)
        spelled.setdefault(same, key)
        groups.setdefault(same, []).append(row)
    ranked = sorted(groups, key=lambda same: -len(groups[same]))
    return [row for same in ranked for row in groups[same]] + rest, [(spelled[one], len(groups[one])) for one in ranked]
