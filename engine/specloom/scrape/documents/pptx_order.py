"""The order in which the shapes of a slide are read: by where they stand; where that leaves a choice, by the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lxml import etree

from specloom.scrape.documents.archive import attribute, child, children

# Each depth may double the work.
_MOST_SHAPES: Final = 100
_DEEPEST: Final = 6


@dataclass(frozen=True, slots=True)
class Area:
    """Where a shape stands, in the units of the file; down and to the right they grow."""

    left: int
    top: int
    right: int
    bottom: int


def in_order(areas: Sequence[Area | None]) -> list[int]:
    """The numbers of shapes in reading order; as they come where one of them stands nobody knows where.

    A slide is cut where nothing stands across the cut, and its parts in turn. Where it can be cut into rows as well as
    into columns, the reading that is nearer to the order of the file is taken, in which shapes were made.
    """
    known = [area for area in areas if area is not None]
    numbers = list(range(len(areas)))
    if len(known) < len(areas) or not 2 <= len(known) <= _MOST_SHAPES:
        return numbers
    return _read(numbers, known, 0)


def to_area(shape: etree._Element) -> Area | None:
    """Where a shape or a group says that it stands."""
    settings = next(children(shape, "spPr", "grpSpPr"), shape)
    place = child(settings, "xfrm")
    start, size = child(place, "off"), child(place, "ext")
    try:
        left, top, width, height = (
            int(attribute(each, name)) for each, name in ((start, "x"), (start, "y"), (size, "cx"), (size, "cy"))
        )
    except ValueError:
        return None
    return Area(left, top, left + max(width, 0), top + max(height, 0))


def to_place(shape: etree._Element) -> tuple[str, str] | None:
    """The type and the index of the placeholder that a shape fills, None for a shape that fills none."""
    for settings in children(shape, "nvSpPr", "nvGraphicFramePr", "nvPicPr"):
        place = child(settings, "nvPr", "ph")
        if place is not None:
            return attribute(place, "type"), attribute(place, "idx")
    return None


def to_key(shape: etree._Element) -> str:
    """By what a placeholder finds the one of the layout that it fills; "" for what is none."""
    kind, index = to_place(shape) or ("", "")
    return index or kind


def _read(numbers: list[int], areas: Sequence[Area], depth: int) -> list[int]:
    if len(numbers) < 2 or depth > _DEEPEST:
        return numbers
    columns, rows = (_part(numbers, areas, is_down=is_down) for is_down in (False, True))
    blocks = _join_rows(rows, areas)
    ways = [way for way in (columns, blocks if len(blocks) > 1 else rows) if len(way) > 1]
    readings = [[number for part in way for number in _read(part, areas, depth + 1)] for way in ways]
    return min(readings, key=_count_turned, default=numbers)


def _join_rows(rows: Sequence[list[int]], areas: Sequence[Area]) -> list[list[int]]:
    """Rows with those together that columns run through."""
    blocks: list[list[int]] = []
    for row in rows:
        both = sorted([*blocks[-1], *row]) if blocks and len(blocks[-1]) > 1 and len(row) > 1 else []
        if len(_part(both, areas, is_down=False)) > 1:
            blocks[-1] = both
        else:
            blocks.append(row)
    return blocks


def _part(numbers: Sequence[int], areas: Sequence[Area], *, is_down: bool) -> list[list[int]]:
    spans = sorted(
        (areas[number].top, areas[number].bottom, number)
        if is_down
        else (areas[number].left, areas[number].right, number)
        for number in numbers
    )
    parts: list[list[int]] = []
    reached = 0
    for start, end, number in spans:
        # A little overlap is how people place things by hand.
        if parts and start < reached - (end - start) // 10:
            parts[-1].append(number)
            reached = max(reached, end)
        else:
            parts.append([number])
            reached = end
    return [sorted(part) for part in parts]


def _count_turned(order: Sequence[int]) -> int:
    """How many pairs stand the other way round than in the file."""
    return sum(1 for at, one in enumerate(order) for two in order[at + 1 :] if one > two)
