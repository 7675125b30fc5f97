"""A presentation as Markdown: slides in the order in which they are shown, with titles, lists, tables and notes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from specloom.core import Fault

from ..metadata.dates import to_iso
from .document import Document, Limits, to_table, to_title
from .docx import to_target
from .docx_styles import to_int
from .office import (
    Archive,
    Budget,
    attribute,
    child,
    children,
    get_relation,
    local,
    properties,
    read_drawing,
    to_authors,
    to_line,
    to_picture,
)

# --- The order in which the shapes of a slide are read: by where they stand; where that leaves a choice, by the
# file -----------------------------------------------------------------------------------------------------------------


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


# --- What nobody sees on a slide is taken out of it: hidden shapes, shapes beside it, and letters too small to be
# read -----------------------------------------------------------------------------------------------------------------
# The colour of a text is not judged: it may stand on any shape, picture or background of the slide, its layout or
# master.


SHAPES: Final = {"sp": "nvSpPr", "graphicFrame": "nvGraphicFramePr", "pic": "nvPicPr", "grpSp": "nvGrpSpPr"}
"""What may say something on a slide, and the element that has its settings."""
_ON: Final = frozenset({"1", "true"})
# Hundredths of a point: one point and less is read by nobody.
_TINY: Final = 100


def strip_unseen(tree: etree._Element | None, slide: Area | None, inherited: Mapping[str, Area]) -> int:
    """Take out of a slide what is not seen on it, and tell how many shapes and stretches with words that were.

    `inherited` has the places that the layout gives to what fills them. Without `slide` nothing stands beside it.
    """
    if tree is None:
        return 0
    count = 0
    for shape in [each for each in tree.iter() if local(each) in SHAPES]:
        is_hidden = attribute(child(shape, SHAPES[local(shape)], "cNvPr"), "hidden") in _ON
        is_outer = not any(local(each) == "grpSp" for each in shape.iterancestors())
        if is_hidden or (slide is not None and is_outer and _is_beside(shape, slide, inherited)):
            count += _has_words(shape)
            _remove(shape)
    for run in [each for each in tree.iter("{*}r", "{*}fld") if _is_tiny(each)]:
        count += _has_words(run)
        _remove(run)
    return count


def read_size(presentation: etree._Element | None) -> Area | None:
    """The area of the slides of a presentation, None where it does not say it."""
    size = child(presentation, "sldSz")
    width, height = to_int(attribute(size, "cx")), to_int(attribute(size, "cy"))
    return Area(0, 0, width, height) if width and height else None


def _is_beside(shape: etree._Element, slide: Area, inherited: Mapping[str, Area]) -> bool:
    area = to_area(shape) or inherited.get(to_key(shape))
    return area is not None and not (
        area.left < slide.right and area.right > slide.left and area.top < slide.bottom and area.bottom > slide.top
    )


def _is_tiny(run: etree._Element) -> bool:
    settings = next(children(run, "rPr"), None)
    size = attribute(settings, "sz")
    return bool(size) and to_int(size, _TINY + 1) <= _TINY


def _has_words(element: etree._Element) -> bool:
    return any((each.text or "").strip() for each in element.iter("{*}t"))


def _remove(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


_TITLES: Final = frozenset({"title", "ctrTitle"})
# What a template prints on every slide.
_FRAME: Final = frozenset({"sldNum", "ftr", "dt", "hdr", "sldImg"})
_LISTS: Final = frozenset({"body", "obj", "subTitle", ""})


@dataclass(slots=True)
class _SlideState:
    archive: Archive
    budget: Budget
    size: Area | None
    layouts: dict[str, dict[str, Area]] = field(default_factory=dict)
    hidden: int = 0


def read_pptx(body: bytes, limits: Limits) -> Document:
    """The presentation in a PPTX file. Fault `content_empty` when it is broken or has no text."""
    deadline = time.monotonic() + limits.seconds
    archive = Archive(body, limits)
    part = archive.related("", "officeDocument") or "ppt/presentation.xml"
    root = archive.xml(part)
    names = _find_slides(archive, part, root)
    if not names:
        raise Fault("content_empty", "This PPTX file has no slides in it.", action="inform_user")
    budget = Budget(limits.cells)
    state = _SlideState(archive, budget, read_size(root))
    parts: list[str] = []
    size, first_title, has_text = 0, "", False
    is_cut = len(names) > limits.pages
    for number, name in enumerate(names[: limits.pages], start=1):
        if parts and time.monotonic() > deadline:
            is_cut = True
            break
        title, text = _read_slide(name, state)
        first_title = first_title or title
        has_text = has_text or bool(title or text)
        heading = f"## {title}" if title else ""
        slide = "\n\n".join(filter(None, (f"--- Slide {number} ---", heading, text)))
        size += len(slide)
        if size > limits.text:
            is_cut = True
            break
        parts.append(slide)
    if not has_text:
        raise Fault("content_empty", "The slides of this PPTX file have no text, only pictures.", action="inform_user")
    found = properties(archive)
    return Document(
        "pptx",
        "\n\n".join(parts),
        title=to_title(found.get("title", ""), first_title),
        authors=to_authors(found),
        published=to_iso(found.get("created", "")),
        modified=to_iso(found.get("modified", "")),
        language=found.get("language", ""),
        pages=len(names),
        pages_read=len(parts),
        metadata=found,
        truncated=is_cut or budget.cells <= 0,
        stripped={"hidden": state.hidden} if state.hidden else {},
    )


def _find_slides(archive: Archive, part: str, root: etree._Element | None) -> list[str]:
    """The parts of the slides in the order of the presentation, whatever their names are."""
    links = archive.relations(part)
    listed = (links.get(get_relation(each), "") for each in children(child(root, "sldIdLst"), "sldId"))
    return list(dict.fromkeys(filter(None, listed)))


def _read_slide(name: str, state: _SlideState) -> tuple[str, str]:
    """The title of a slide and the rest of it in reading order, speaker's notes last."""
    archive, budget, layouts = state.archive, state.budget, state.layouts
    root = archive.xml(name)
    links = archive.relations(name)
    tree = child(root, "cSld", "spTree")
    layout = archive.related(name, "slideLayout")
    if layout not in layouts:
        layouts[layout] = _read_layout(archive, layout)
    inherited = layouts[layout]
    state.hidden += strip_unseen(tree, state.size, inherited)
    title = next((shape for shape in _shapes(tree) if _to_placeholder(shape) in _TITLES), None)

    def read(holder: etree._Element | None) -> list[str]:
        """The blocks of a slide or a group."""
        areas: list[Area | None] = []
        parts: list[list[str]] = []
        for each in _parts(holder):
            if each is title or _to_placeholder(each) in _FRAME:
                continue
            blocks = read(each) if local(each) == "grpSp" else _read_shape(archive, each, links, budget)
            # What says nothing, such as a background, does not stand in the way of the others.
            if blocks := list(filter(None, blocks)):
                parts.append(blocks)
                areas.append(to_area(each) or inherited.get(to_key(each)))
        return [block for at in in_order(areas) for block in parts[at]]

    blocks = read(tree)
    if notes := _read_notes(name, state):
        blocks.append(notes)
    if attribute(root, "show") in ("0", "false"):
        blocks.insert(0, "(This slide is hidden.)")
    said = _lines(title, links) if title is not None else []
    return " ".join(" ".join(text.split()) for _, text in said), "\n\n".join(blocks)


def _read_layout(archive: Archive, name: str) -> dict[str, Area]:
    """Where a layout puts what fills its places."""
    root = archive.optional(name)
    found = {to_key(shape): to_area(shape) for shape in _shapes(child(root, "cSld", "spTree"))}
    return {key: area for key, area in found.items() if key and area is not None}


def _read_shape(archive: Archive, shape: etree._Element, links: Mapping[str, str], budget: Budget) -> list[str]:
    if local(shape) == "pic":
        return [to_picture(child(shape, "nvPicPr", "cNvPr"))]
    if local(shape) == "graphicFrame":
        table = next((each for each in shape.iter() if local(each) == "tbl"), None)
        return [_read_table(table, links, budget) if table is not None else read_drawing(archive, shape, links, budget)]
    lines = _lines(shape, links)
    kind = _to_placeholder(shape)
    if kind is not None and kind in _LISTS and len(lines) > 1:
        return ["\n".join(f"{'   ' * depth}- {' '.join(text.split())}" for depth, text in lines)]
    return [text for _, text in lines]


def _lines(shape: etree._Element, links: Mapping[str, str]) -> list[tuple[int, str]]:
    return list(_paragraphs(child(shape, "txBody"), links))


def _read_notes(slide: str, state: _SlideState) -> str:
    name = state.archive.related(slide, "notesSlide")
    root = state.archive.xml(name) if name else None
    tree = child(root, "cSld", "spTree")
    state.hidden += strip_unseen(tree, None, {})
    lines = [
        text
        for shape in _shapes(tree)
        if _to_placeholder(shape) == "body"
        for _, text in _paragraphs(child(shape, "txBody"), {})
    ]
    return "> Notes: " + "\n> ".join(line for text in lines for line in text.split("\n")) if lines else ""


def _shapes(tree: etree._Element | None) -> Iterator[etree._Element]:
    """The shapes of a slide, those in groups where their group is."""
    for each in _parts(tree):
        if local(each) == "grpSp":
            yield from _shapes(each)
        else:
            yield each


def _parts(holder: etree._Element | None) -> Iterator[etree._Element]:
    """The shapes and groups right in a slide or a group."""
    for each in holder if holder is not None else ():
        if local(each) == "AlternateContent":
            yield from _parts(next(children(each, "Choice"), None))
        elif local(each) in SHAPES:
            yield each


def _to_placeholder(shape: etree._Element) -> str | None:
    """The type of the placeholder that a shape fills, "" for the usual one, None for a shape that fills none."""
    place = to_place(shape)
    return None if place is None else place[0]


def _paragraphs(body: etree._Element | None, links: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """The paragraphs of a text that are not empty, with their depth in a list."""
    for paragraph in children(body, "p"):
        text = "".join(_pieces(paragraph, links)).strip()
        if text:
            yield min(to_int(attribute(child(paragraph, "pPr"), "lvl")), 8), text


def _pieces(paragraph: etree._Element, links: Mapping[str, str]) -> Iterator[str]:
    for each in paragraph:
        name = local(each)
        if name == "br":
            yield "\n"
        elif name in ("r", "fld"):
            text = "".join(part.text or "" for part in children(each, "t"))
            click = child(each, "rPr", "hlinkClick")
            target = links.get(get_relation(click), "") if click is not None else ""
            is_link = target.startswith(("http://", "https://")) and text.strip()
            yield f"[{text.strip()}]({to_target(target)})" if is_link else text
        elif name == "m" or name.startswith("oMath"):
            yield to_line(each)


def _read_table(table: etree._Element, links: Mapping[str, str], budget: Budget) -> str:
    rows: list[list[str]] = []
    for row in children(table, "tr"):
        cells = list(children(row, "tc"))
        budget.cells -= len(cells)
        if budget.cells <= 0:
            break
        rows.append([" ".join(text for _, text in _paragraphs(child(cell, "txBody"), links)) for cell in cells])
    return to_table(rows)
