"""An SDMX-JSON data message (1.0, 2.0, 2.1) becomes one flat row an observation, in the shape of `OBSERVATION`.

A message holds numbers and, apart from them, a structure; every number of a key is an index into one of its lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from types import MappingProxyType
from typing import Any, Final

from specloom.core import Fault, Response, dataclass, field

from .formats import to_excerpt, unreadable
from .jsonstat import (
    MAX_DIMENSIONS,
    OBSERVATION,
    Coded,
    Row,
    as_list,
    as_object,
    find_limit,
    in_order,
    to_label,
    to_series,
    to_value,
    too_many,
)

SDMX_OBSERVATION: Final[Mapping[str, Any]] = MappingProxyType(
    {**OBSERVATION, "measure": {"type": ["string", "null"]}, "attributes": {"type": "object"}}
)
"""The fields of an observation: those of every cube, the measure where there are several, and the attributes."""

_UNITS: Final = ("UNIT_MEASURE", "UNIT")
_TIMES: Final = ("TIME_PERIOD", "TIME")
_STATUS: Final = "OBS_STATUS"
_MAX_GROUPS: Final = 16


@dataclass(frozen=True, slots=True)
class Component:
    """A dimension, an attribute or a measure: its id, its label, its list of values, and an attribute's default."""

    id: str
    label: str
    values: tuple[Coded | None, ...] = ()
    default: Coded | None = None
    is_time: bool = False
    position: float = inf  # among the dimensions of all levels; time may have none and is the last then


@dataclass(frozen=True, slots=True)
class Structure:
    """What the indices of one data set point into. `fixed` are the dimensions that have one value for all of it."""

    label: str | None
    series: tuple[Component, ...]
    observation: tuple[Component, ...]
    measures: tuple[Component, ...]
    attributes: Mapping[str, tuple[Component, ...]]
    fixed: Mapping[str, Coded] = field(default_factory=dict)
    time: str | None = None
    limit: int = 0
    order: tuple[Component, ...] = ()


_Groups = dict[tuple[str, ...], dict[tuple[str, ...], dict[str, Coded]]]


def read_sdmx(response: Response, document: Any, options: Mapping[str, Any]) -> list[Row]:
    """The observations of all data sets, by series and then by time; of `document`, the JSON that `response` holds."""
    if document is None and options.get("blank_ok"):
        return []
    message = as_object(document)
    root = as_object(message["data"]) if "data" in message else message
    sets = root.get("dataSets")
    if not isinstance(sets, list):
        raise _refused(message) or unreadable(response, "SDMX-JSON", "it has no list of data sets")
    updated = to_label(as_object(message.get("meta") or message.get("header")).get("prepared"))
    rows: list[Row] = []
    seen = 0
    structures: dict[int, Structure] = {}
    for data in sets:
        if not isinstance(data, dict) or data.get("action") == "Delete":
            continue
        listed = _find_structure(response, message, root, data)
        # Many data sets may share one structure, which is read once.
        structure = structures.get(id(listed)) or structures.setdefault(id(listed), _read_structure(listed))
        cube = {"label": structure.label, "updated": updated}
        groups = _read_groups(structure, data)
        for series_key, attributes, key, cell in _find_cells(structure, data):
            seen += 1
            if seen * max(1, len(structure.measures)) > structure.limit:
                raise too_many(structure.limit)
            dims = _place(structure, series_key, key)
            if dims is not None:
                rows.extend(_to_rows(structure, dims, _find_in_groups(groups, dims) | attributes, cell, cube))
    if seen and not rows:
        raise unreadable(response, "SDMX-JSON", "no observation has a place among the dimensions")
    return in_order(rows, options)


def _refused(message: dict[str, Any]) -> Fault | None:
    """The fault of a message with errors and no data."""
    for error in as_list(message.get("errors")):
        found = as_object(error)
        words = [to_label(found.get(name)) for name in ("title", "detail", "message")]
        said = to_excerpt(": ".join(filter(None, words)).encode("utf-8", "replace"))
        return Fault("upstream_unavailable", f"the upstream answered with an error: {said or 'it does not say which'}")
    return None


def _find_structure(
    response: Response, message: dict[str, Any], root: dict[str, Any], data: dict[str, Any]
) -> dict[str, Any]:
    listed = as_list(root.get("structures"))
    at = data.get("structure", 0)
    if listed and type(at) is int and 0 <= at < len(listed):
        found = listed[at]
    else:
        found = None if listed else root.get("structure") or message.get("structure")
    if not isinstance(found, dict):
        raise unreadable(response, "SDMX-JSON", "a data set has no structure")
    return found


def _read_structure(found: dict[str, Any]) -> Structure:
    dimensions, attributes = as_object(found.get("dimensions")), as_object(found.get("attributes"))
    series, observation = _components(dimensions.get("series")), _components(dimensions.get("observation"))
    whole = _components(dimensions.get("dataSet"))
    if len(series) + len(observation) + len(whole) > MAX_DIMENSIONS:
        raise Fault("too_large", f"the data set has more than {MAX_DIMENSIONS} dimensions")
    every = (*whole, *series, *observation)
    levels = ("dataSet", "dimensionGroup", "series", "observation")
    described = {level: _components(attributes.get(level))[:MAX_DIMENSIONS] for level in levels}
    return Structure(
        to_label(found.get("name")) or to_label(found.get("names")),
        series,
        observation,
        _components(as_object(found.get("measures")).get("observation"))[:MAX_DIMENSIONS],
        described,
        {each.id: each.values[0] for each in whole if each.values and each.values[0]},
        next((each.id for name in _TIMES for each in every if each.id == name), None)
        or next((each.id for each in every if each.is_time), None),
        find_limit(len(every) + sum(map(len, described.values()))),
        tuple(sorted(every, key=lambda each: each.position)),
    )


def _components(listed: Any) -> tuple[Component, ...]:
    return tuple(_component(each, at) for at, each in enumerate(as_list(listed)))


def _component(listed: Any, at: int) -> Component:
    """The component; one that cannot be read keeps its place in the list, under a number and without values."""
    found = as_object(listed)
    name = to_label(found.get("id")) or f"d{at}"
    values = tuple(_coded(value) for value in as_list(found.get("values")))
    default = found.get("default")
    known = next((value for value in values if value and value["code"] == default), None)
    roles = [found.get("role"), *as_list(found.get("roles"))]
    is_time = any(isinstance(role, str) and role.upper() in _TIMES for role in roles)
    position = found["keyPosition"] if type(found.get("keyPosition")) is int else inf
    return Component(name, _name(found) or name, values, known or _literal(default), is_time, position)


def _coded(value: Any) -> Coded | None:
    """A listed value: {id, name} of a code list, or {value} of none."""
    found = as_object(value)
    literal = _literal(found.get("value"))
    code = to_label(found.get("id")) or (literal["code"] if literal else None) or to_label(found.get("start"))
    return {"code": code, "label": _name(found) or (literal["label"] if literal else code)} if code else None


def _name(found: dict[str, Any]) -> str | None:
    return to_label(found.get("name")) or to_label(found.get("names"))


def _literal(value: Any) -> Coded | None:
    """A value that is written out where it is used."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    text = to_label(value)
    return {"code": text, "label": text} if text else None


def _find_cells(
    structure: Structure, data: dict[str, Any]
) -> Iterator[tuple[str | None, dict[str, Coded], str, list[Any]]]:
    """Every observation with the key and the attributes of its series; the flat layout has no series."""
    shared = _read_attributes(structure.attributes["dataSet"], as_list(data.get("attributes")))
    for key, cell in as_object(data.get("observations")).items():
        if isinstance(cell, list):
            yield None, shared, key, cell
    for series_key, found in as_object(data.get("series")).items():
        series = as_object(found)
        own = _read_attributes(structure.attributes["series"], as_list(series.get("attributes")))
        for key, cell in as_object(series.get("observations")).items():
            if isinstance(cell, list):
                yield series_key, {**shared, **own}, key, cell


def _read_attributes(components: tuple[Component, ...], entries: list[Any]) -> dict[str, Coded]:
    found = {}
    for at, component in enumerate(components):
        value = _read_attribute(component, entries[at] if at < len(entries) else None)
        if value is not None:
            found[component.id] = value
    return found


def _read_groups(structure: Structure, data: dict[str, Any]) -> _Groups:
    """Attributes of values of some dimensions (`:0::`: the first of the second), by these' ids and then by codes."""
    attributes, order = structure.attributes["dimensionGroup"], structure.order
    found: _Groups = {(): {(): _read_attributes(attributes, [])}}
    for key, entries in as_object(data.get("dimensionGroupAttributes")).items():
        parts = key.split(":") if len(key) <= 1000 else []
        named = [(component, part) for component, part in zip(order, parts, strict=False) if part]
        names = tuple(component.id for component, _ in named)
        codes = tuple(value["code"] for one, part in named if (value := _find_value(one, part)) is not None)
        is_known = names in found or len(found) <= _MAX_GROUPS
        if len(parts) == len(order) and len(codes) == len(names) and is_known:
            own = found.setdefault(names, {}).setdefault(codes, {})
            for component, entry in zip(attributes, as_list(entries), strict=False):
                if entry is not None and (coded := _read_attribute(component, entry)) is not None:
                    own[component.id] = coded
    return found


def _find_in_groups(groups: _Groups, dims: dict[str, Coded]) -> dict[str, Coded]:
    found: dict[str, Coded] = {}
    for names, by_codes in groups.items():
        found |= by_codes.get(tuple(dims[name]["code"] for name in names if name in dims), {})
    return found


def _read_attribute(component: Component, entry: Any) -> Coded | None:
    if entry is None:
        return component.default
    if type(entry) is int and 0 <= entry < len(component.values):
        return component.values[entry]
    return _literal(entry)


def _place(structure: Structure, series_key: str | None, key: str) -> dict[str, Coded] | None:
    """The value of every dimension by its id, those of the whole data set first; None if an index leads nowhere."""
    dims = dict(structure.fixed)
    levels = [(structure.observation, key)]
    # The flat layout has all its indices in one key, and where no dimension is of the series its key says nothing.
    if series_key is not None and structure.series:
        levels.insert(0, (structure.series, series_key))
    for components, text in levels:
        parts = text.split(":") if len(text) <= 1000 else []
        if len(parts) != len(components):
            return None
        for component, part in zip(components, parts, strict=True):
            found = _find_value(component, part)
            if found is None:
                return None
            dims[component.id] = found
    return dims


def _find_value(component: Component, part: str) -> Coded | None:
    """The value that a number of a key points to."""
    at = int(part) if part.isascii() and part.isdigit() and len(part) < 10 else len(component.values)
    return component.values[at] if at < len(component.values) else None


def _to_rows(
    structure: Structure, dims: dict[str, Coded], attributes: dict[str, Coded], cell: list[Any], cube: Row
) -> Iterator[Row]:
    """One row a measure; nearly always there is one."""
    count = max(1, len(structure.measures))
    every = {**attributes, **_read_attributes(structure.attributes["observation"], cell[count:])}
    unit = next((found[name]["label"] for found in (dims, every) for name in _UNITS if name in found), None)
    titles = [value["label"] for name, value in dims.items() if name not in (*_UNITS, *_TIMES, structure.time)]
    for at in range(count):
        measure = structure.measures[at].label if count > 1 else None
        value = to_value(cell[at]) if at < len(cell) else None
        yield {
            "series": to_series(" — ", [*titles, measure] if measure else titles),
            "time": dims[structure.time]["code"] if structure.time in dims else None,
            "value": value,
            "available": value is not None,
            "status": every[_STATUS]["code"] if _STATUS in every else None,
            "status_label": every[_STATUS]["label"] if _STATUS in every else None,
            "unit": unit,
            "measure": measure,
            "dims": dims,
            "attributes": every,
            "cube": cube,
        }
