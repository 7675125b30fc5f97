"""A JSON-stat 2.0 cube becomes one flat row an observation, in the shape that every statistical decoder hands out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any, Final

from specloom.core import Fault, Response

from .formats import unreadable

Row = dict[str, Any]
Coded = dict[str, str]

MAX_ROWS: Final = 100_000
"""How many observations are read from one answer; a question that matches more is too wide to be of use."""
MAX_DIMENSIONS: Final = 64
_MAX_WIDTH: Final = 2_000_000
_MAX_CELLS: Final = 10**12
_MAX_LABEL: Final = 300
_MAX_SERIES: Final = 1000
_NUMBER: Final = re.compile(r"\s*+[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]{1,4})?\s*")
_INDEX: Final = re.compile(r"[0-9]{1,13}")
_TIME_NAMES: Final = ("time", "time_period")
_TEXT: Final = {"type": "string"}
_PERHAPS: Final = {"type": ["string", "null"]}

OBSERVATION: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "series": _PERHAPS,
        "time": _PERHAPS,
        "value": {"type": ["number", "null"]},
        "available": {"type": "boolean"},
        "status": _PERHAPS,
        "status_label": _PERHAPS,
        "unit": _PERHAPS,
        "dims": {"type": "object"},
        "cube": {
            "type": "object",
            "properties": {"label": _PERHAPS, "updated": _PERHAPS},
            "required": ["label", "updated"],
            "additionalProperties": False,
        },
    }
)
"""The fields of an observation; `dims` has {code, label} under the id of each dimension."""


def to_item(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The closed JSON Schema of a row that always has these fields."""
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


def read_jsonstat(response: Response, document: Any, options: Mapping[str, Any]) -> list[Row]:
    """The observations of the cube, by series and then by time; of `document`, the JSON that `response` holds."""
    if document is None and options.get("blank_ok"):
        return []
    names, sizes = _read_frame(response, document)
    cells, length = _find_cells(document), _count(sizes)
    if length > _MAX_CELLS or len(cells) > find_limit(len(names)):
        raise too_many(find_limit(len(names)))
    categories = [_read_categories(document, name) for name in names]
    time = _find_time(document, names)
    strides = _strides(sizes)
    varying = [at for at, size in enumerate(sizes) if size > 1 and at != time]
    cube = {"label": to_label(document.get("label")), "updated": to_label(document.get("updated"))}
    flags = as_object(as_object(as_object(document.get("extension")).get("status")).get("label"))
    rows: list[Row] = []
    for index in filter(length.__gt__, cells):
        places = [index // stride % size for stride, size in zip(strides, sizes, strict=True)]
        found = [each.get(place) for each, place in zip(categories, places, strict=True)]
        coded = [each for each in found if each is not None]
        if len(coded) < len(names):
            continue
        dims = dict(zip(names, coded, strict=True))
        value, status = to_value(cells[index]), _find_status(document, index)
        rows.append(
            {
                "series": to_series(", ", [coded[at]["label"] for at in varying]),
                "time": None if time is None else coded[time]["label"],
                "value": value,
                "available": value is not None,
                "status": status,
                "status_label": to_label(flags.get(status)) if status else None,
                "unit": dims["unit"]["label"] if "unit" in dims else None,
                "dims": dims,
                "cube": cube,
            }
        )
    if cells and not rows:
        raise unreadable(response, "JSON-stat", "no value has a place among the dimensions")
    return in_order(rows, options)


def in_order(rows: list[Row], options: Mapping[str, Any]) -> list[Row]:
    """The rows by series, unit and time; with `newest_first` the latest time of each series leads."""
    rows.sort(key=lambda row: row["time"] or "", reverse=bool(options.get("newest_first")))
    rows.sort(key=lambda row: (row["series"] or "", row["unit"] or ""))
    return rows


def to_value(cell: Any) -> int | float | None:
    """The number that a cell is or spells; None for everything else, NaN among it."""
    if isinstance(cell, str) and len(cell) <= 400 and _NUMBER.fullmatch(cell):
        cell = float(cell)
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return None
    return cell if isinstance(cell, int) or isfinite(cell) else None


def to_label(value: Any) -> str | None:
    """The start of a text that is not blank; of texts by language the English or the first one."""
    if isinstance(value, dict):
        value = value.get("en") or next(iter(value.values()), None)
    return value[:_MAX_LABEL].strip() or None if isinstance(value, str) else None


def to_series(separator: str, labels: list[str]) -> str | None:
    """The labels as the title of a series; None of none."""
    return separator.join(labels)[:_MAX_SERIES] or None


def as_object(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def find_limit(width: int) -> int:
    """How many observations with so many dimensions and attributes are read, which bounds the memory they take."""
    return min(MAX_ROWS, _MAX_WIDTH // max(1, width))


def too_many(limit: int) -> Fault:
    """The fault of an answer with more observations than are read."""
    return Fault("too_large", f"the answer has more than {limit:,} observations; ask for fewer places or dates")


def _read_frame(response: Response, document: Any) -> tuple[list[str], list[int]]:
    if not isinstance(document, dict) or document.get("class", "dataset") != "dataset":
        raise unreadable(response, "JSON-stat", "it is no object of the class dataset")
    names, sizes = document.get("id"), document.get("size")
    if not isinstance(names, list) or not isinstance(sizes, list) or len(names) != len(sizes):
        raise unreadable(response, "JSON-stat", "`id` and `size` are not two lists of one length")
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise unreadable(response, "JSON-stat", "`id` does not list the names of different dimensions")
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise unreadable(response, "JSON-stat", "`size` does not list whole numbers")
    if not isinstance(document.get("value"), dict | list):
        raise unreadable(response, "JSON-stat", "`value` is neither an object nor a list")
    if len(names) > MAX_DIMENSIONS:
        raise Fault("too_large", f"the cube has {len(names):,} dimensions, and {MAX_DIMENSIONS} are read")
    return names, sizes


def _count(sizes: list[int]) -> int:
    """How many cells there are; a number beyond what is read where that is certain."""
    count = 0 if 0 in sizes else 1
    for size in sizes:
        count = min(count * min(size, _MAX_CELLS + 1), _MAX_CELLS + 1)
    return count


def _strides(sizes: list[int]) -> list[int]:
    """How far apart two neighbours of each dimension are; the last dimension runs fastest."""
    strides = [1] * len(sizes)
    for at in range(len(sizes) - 2, -1, -1):
        strides[at] = strides[at + 1] * sizes[at + 1]
    return strides


def _find_cells(document: dict[str, Any]) -> dict[int, Any]:
    """Every cell that has a value or only a status, by its place in the cube."""
    cells = dict.fromkeys(_places(document.get("status")))
    values = document["value"]
    cells.update(enumerate(values) if isinstance(values, list) else _numbered(values))
    return cells


def _places(status: Any) -> Iterator[int]:
    if isinstance(status, list):
        return (index for index, flag in enumerate(status) if flag is not None)
    return (index for index, _ in _numbered(as_object(status)))


def _numbered(cells: Mapping[str, Any]) -> Iterable[tuple[int, Any]]:
    return ((int(key), cell) for key, cell in cells.items() if _INDEX.fullmatch(key))


def _find_status(document: dict[str, Any], index: int) -> str | None:
    status = document.get("status")
    if isinstance(status, list):
        status = status[index] if index < len(status) else None
    elif isinstance(status, dict):
        status = status.get(str(index))
    return to_label(status) if isinstance(status, str) else None


def _read_categories(document: dict[str, Any], name: str) -> dict[int, Coded]:
    """The categories of a dimension by position."""
    dimension = as_object(as_object(document.get("dimension")).get(name))
    category = as_object(dimension.get("category"))
    index, labels = category.get("index"), as_object(category.get("label"))
    if isinstance(index, dict):
        codes = {place: code for code, place in index.items() if type(place) is int}
    elif isinstance(index, list):
        codes = {place: code for place, code in enumerate(index) if isinstance(code, str)}
    else:
        codes = dict(enumerate(list(labels)[:1]))
    return {
        place: {"code": code, "label": to_label(labels.get(code)) or code[:_MAX_LABEL]} for place, code in codes.items()
    }


def _find_time(document: dict[str, Any], names: list[str]) -> int | None:
    named = as_list(as_object(document.get("role")).get("time"))
    found = [at for at, name in enumerate(names) if name in named]
    found = found or [at for at, name in enumerate(names) if name.casefold() in _TIME_NAMES]
    return found[0] if found else None
