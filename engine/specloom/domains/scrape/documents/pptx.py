"""A presentation as Markdown: slides in the order in which they are shown, with titles, lists, tables and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from .document import Document, Limits, refuse, to_table
from .office import (
    Archive,
    Element,
    attribute,
    child,
    children,
    descendants,
    get_relation,
    is_on,
    local,
    read_drawing,
    to_int,
    to_line,
    to_link,
    to_picture,
)

SHAPES: Final = {"sp": "nvSpPr", "graphicFrame": "nvGraphicFramePr", "pic": "nvPicPr", "grpSp": "nvGrpSpPr"}
"""What may say something on a slide, and the element that has its settings."""
_TITLES: Final = frozenset({"title", "ctrTitle"})
# What a template prints on every slide.
_FRAME: Final = frozenset({"sldNum", "ftr", "dt", "hdr", "sldImg"})
_LISTS: Final = frozenset({"body", "obj", "subTitle", ""})


def read_pptx(body: bytes, limits: Limits) -> Document:
    """The presentation in a PPTX file. Fault `content_empty` when it is broken or has no text."""
    archive = Archive(body, limits)
    part = archive.related("", "officeDocument", "ppt/presentation.xml")
    root = archive.xml(part)
    links = archive.relations(part)
    # The order of the presentation, whatever the names of the parts are.
    listed = (links.get(get_relation(each), "") for each in children(child(root, "sldIdLst"), "sldId"))
    names = list(dict.fromkeys(filter(None, listed)))
    if not names:
        raise refuse("This PPTX file has no slides in it.")
    size = child(root, "sldSz")
    width, height = to_int(attribute(size, "cx")), to_int(attribute(size, "cy"))
    reader = _SlideReader(archive, Area(0, 0, width, height) if width and height else None)
    parts: list[str] = []
    length, first_title, has_text = 0, "", False
    is_cut = len(names) > limits.pages
    for number, name in enumerate(names[: limits.pages], start=1):
        if parts and archive.is_late:
            is_cut = True
            break
        title, text = reader.read_slide(name)
        first_title = first_title or title
        has_text = has_text or bool(title or text)
        slide = "\n\n".join(filter(None, (f"--- Slide {number} ---", f"## {title}" if title else "", text)))
        length += len(slide)
        if length > limits.text:
            is_cut = True
            break
        parts.append(slide)
    if not has_text:
        raise refuse("The slides of this PPTX file have no text, only pictures.")
    return archive.to_document(
        "pptx",
        "\n\n".join(parts),
        shown_title=first_title,
        is_cut=is_cut or archive.cells <= 0,
        pages=len(names),
        pages_read=len(parts),
    )


class _SlideReader:
    """Reads slides; what their layouts say is read once."""

    def __init__(self, archive: Archive, size: Area | None) -> None:
        self._archive, self._size = archive, size
        self._layouts: dict[str, Mapping[str, Area]] = {}
        self._links: Mapping[str, str] = {}

    def read_slide(self, name: str) -> tuple[str, str]:
        """The title of a slide and the rest of it in reading order, speaker's notes last."""
        root = self._archive.xml(name)
        self._links = self._archive.relations(name)
        tree = child(root, "cSld", "spTree")
        inherited = self._find_layout(name)
        self._archive.hidden += strip_unseen(tree, self._size, inherited)
        title = next((shape for shape in _shapes(tree) if _to_kind(shape) in _TITLES), None)

        def read(holder: Element | None) -> list[str]:
            """The blocks of a slide or a group."""
            areas: list[Area | None] = []
            parts: list[list[str]] = []
            for each in _parts(holder):
                if each is title or _to_kind(each) in _FRAME:
                    continue
                blocks = read(each) if local(each) == "grpSp" else self._read_shape(each)
                # What says nothing, such as a background, does not stand in the way of the others.
                if blocks := list(filter(None, blocks)):
                    parts.append(blocks)
                    areas.append(to_area(each) or inherited.get(to_key(each)))
            return [block for at in in_order(areas) for block in parts[at]]

        blocks = read(tree)
        if attribute(root, "show") in ("0", "false"):
            blocks.insert(0, "(This slide is hidden.)")
        heading = " ".join(" ".join(text for _, text in self._paragraphs(title)).split())
        return heading, "\n\n".join(filter(None, [*blocks, self._read_notes(name)]))

    def _find_layout(self, slide: str) -> Mapping[str, Area]:
        """Where the layout of a slide puts what fills its places."""
        name = self._archive.related(slide, "slideLayout")
        if name not in self._layouts:
            shapes = _shapes(child(self._archive.optional(name), "cSld", "spTree"))
            places = {key: to_area(shape) for shape in shapes if (key := to_key(shape))}
            self._layouts[name] = {key: area for key, area in places.items() if area is not None}
        return self._layouts[name]

    def _read_shape(self, shape: Element) -> list[str]:
        if local(shape) == "pic":
            return [to_picture(child(shape, "nvPicPr", "cNvPr"))]
        if local(shape) == "graphicFrame":
            table = next(descendants(shape, "tbl"), None)
            if table is None:
                return [read_drawing(self._archive, shape, self._links)]
            return [self._read_table(table)]
        lines = list(self._paragraphs(shape))
        if _to_kind(shape) in _LISTS and len(lines) > 1:
            return ["\n".join(f"{'   ' * depth}- {' '.join(text.split())}" for depth, text in lines)]
        return [text for _, text in lines]

    def _read_notes(self, slide: str) -> str:
        name = self._archive.related(slide, "notesSlide")
        tree = child(self._archive.xml(name) if name else None, "cSld", "spTree")
        self._archive.hidden += strip_unseen(tree, None, {})
        self._links = {}
        bodies = (shape for shape in _shapes(tree) if _to_kind(shape) == "body")
        lines = [line for shape in bodies for _, text in self._paragraphs(shape) for line in text.split("\n")]
        return "> Notes: " + "\n> ".join(lines) if lines else ""

    def _read_table(self, table: Element) -> str:
        rows: list[list[str]] = []
        for row in children(table, "tr"):
            cells = list(children(row, "tc"))
            self._archive.cells -= len(cells)
            if self._archive.cells <= 0:
                break
            rows.append([" ".join(text for _, text in self._paragraphs(cell)) for cell in cells])
        return to_table(rows)

    def _paragraphs(self, holder: Element | None) -> Iterator[tuple[int, str]]:
        """The paragraphs of a shape or cell that are not empty, with their depth in a list."""
        for paragraph in children(child(holder, "txBody"), "p"):
            if text := "".join(self._pieces(paragraph)).strip():
                yield min(to_int(attribute(child(paragraph, "pPr"), "lvl")), 8), text

    def _pieces(self, paragraph: Element) -> Iterator[str]:
        for each in paragraph:
            name = local(each)
            if name == "br":
                yield "\n"
            elif name in ("r", "fld"):
                text = "".join(part.text or "" for part in children(each, "t"))
                yield to_link(text, self._links.get(get_relation(child(each, "rPr", "hlinkClick")), ""))
            elif name == "m" or name.startswith("oMath"):
                yield to_line(each)


def _shapes(tree: Element | None) -> Iterator[Element]:
    """The shapes of a slide, those in groups where their group is."""
    for each in _parts(tree):
        if local(each) == "grpSp":
            yield from _shapes(each)
        else:
            yield each


def _parts(holder: Element | None) -> Iterator[Element]:
    """The shapes and groups right in a slide or a group."""
    for each in children(holder, "AlternateContent", *SHAPES):
        if local(each) == "AlternateContent":
            yield from _parts(next(children(each, "Choice"), None))
        else:
            yield each


def _to_place(shape: Element) -> tuple[str, str] | None:
    """The type and the index of the placeholder that a shape fills, None for a shape that fills none."""
    settings = children(shape, "nvSpPr", "nvGraphicFramePr", "nvPicPr")
    places = (place for each in settings if (place := child(each, "nvPr", "ph")) is not None)
    return next(((attribute(place, "type"), attribute(place, "idx")) for place in places), None)


def _to_kind(shape: Element) -> str | None:
    """The type of the placeholder that a shape fills, "" for the usual one, None for a shape that fills none."""
    return (_to_place(shape) or (None,))[0]


def to_key(shape: Element) -> str:
    """By what a placeholder finds the one of the layout that it fills; "" for what is none."""
    kind, index = _to_place(shape) or ("", "")
    return index or kind


# --- The order in which the shapes of a slide are read: by where they stand; where that leaves a choice, by the file --


# Each depth may double the work.
_MOST_SHAPES: Final = 100
_DEEPEST: Final = 6


class Area(NamedTuple):
    """Where a shape stands, in the units of the file; down and to the right they grow."""

    left: int
    top: int
    right: int
    bottom: int


def to_area(shape: Element) -> Area | None:
    """Where a shape or a group says that it stands."""
    place = child(next(children(shape, "spPr", "grpSpPr"), shape), "xfrm")
    edges = (("off", "x"), ("off", "y"), ("ext", "cx"), ("ext", "cy"))
    try:
        left, top, width, height = (int(attribute(child(place, name), edge)) for name, edge in edges)
    except ValueError:
        return None
    return Area(left, top, left + max(width, 0), top + max(height, 0))


def in_order(areas: Sequence[Area | None]) -> list[int]:
    """The numbers of shapes in reading order; as they come where one of them stands nobody knows where.

    A slide is cut where nothing stands across the cut, and its parts in turn. Where it can be cut into rows as well as
    into columns, the reading that is nearer to the order of the file is taken, in which shapes were made.
    """
    known = [area for area in areas if area is not None]
    numbers = list(range(len(areas)))
    if len(known) < len(areas) or not 2 <= len(known) <= _MOST_SHAPES:
        return numbers
    return _order(numbers, known, 0)


def _order(numbers: list[int], areas: Sequence[Area], depth: int) -> list[int]:
    if len(numbers) < 2 or depth > _DEEPEST:
        return numbers
    columns, rows = (_part(numbers, areas, is_down=is_down) for is_down in (False, True))
    blocks = _join_rows(rows, areas)
    ways = [way for way in (columns, blocks if len(blocks) > 1 else rows) if len(way) > 1]
    readings = [[number for part in way for number in _order(part, areas, depth + 1)] for way in ways]
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
    parts: list[list[int]] = []
    reached = 0
    for start, end, number in sorted((areas[at][is_down], areas[at][2 + is_down], at) for at in numbers):
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


# --- What nobody sees on a slide is taken out: hidden shapes, shapes beside it, and letters too small to be read ------
# The colour of a text is not judged: it may stand on any shape, picture or background of the slide, its layout or
# master.


# Hundredths of a point: one point and less is read by nobody.
_TINY: Final = 100


def strip_unseen(tree: Element | None, slide: Area | None, inherited: Mapping[str, Area]) -> int:
    """Take out of a slide what is not seen on it, and tell how many shapes and stretches with words that were.

    `inherited` has the places that the layout gives to what fills them. Without `slide` nothing stands beside it.
    """
    count = 0
    for shape in list(descendants(tree, *SHAPES)):
        is_hidden = is_on(attribute(child(shape, SHAPES[local(shape)], "cNvPr"), "hidden"))
        is_outer = slide is not None and not any(local(each) == "grpSp" for each in shape.iterancestors())
        if is_hidden or (is_outer and slide and _is_beside(to_area(shape) or inherited.get(to_key(shape)), slide)):
            count += _remove(shape)
    return count + sum(_remove(run) for run in list(descendants(tree, "r", "fld")) if _is_tiny(run))


def _is_beside(area: Area | None, slide: Area) -> bool:
    return area is not None and not (
        area.left < slide.right and area.right > slide.left and area.top < slide.bottom and area.bottom > slide.top
    )


def _is_tiny(run: Element) -> bool:
    return to_int(attribute(child(run, "rPr"), "sz"), _TINY + 1) <= _TINY


def _remove(element: Element) -> bool:
    """Take an element out of its tree, and tell whether it had words."""
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
    return any((each.text or "").strip() for each in descendants(element, "t"))
