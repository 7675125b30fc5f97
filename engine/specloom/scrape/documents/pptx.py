"""A presentation as Markdown: slides in the order in which they are shown, with titles, lists, tables and notes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from specloom.faults import Fault
from specloom.scrape.documents.archive import (
    Archive,
    attribute,
    child,
    children,
    get_relation,
    local,
    properties,
    to_authors,
)
from specloom.scrape.documents.docx_inline import to_target
from specloom.scrape.documents.docx_styles import to_int
from specloom.scrape.documents.drawings import Budget, read_drawing, to_picture
from specloom.scrape.documents.equations import to_line
from specloom.scrape.documents.model import Document, Limits
from specloom.scrape.documents.pipes import to_table
from specloom.scrape.documents.pptx_order import Area, in_order, to_area, to_key, to_place
from specloom.scrape.documents.pptx_unseen import SHAPES, read_size, strip_unseen
from specloom.scrape.documents.titles import to_title
from specloom.scrape.metadata_dates import to_iso

_TITLES: Final = frozenset({"title", "ctrTitle"})
# What a template prints on every slide.
_FRAME: Final = frozenset({"sldNum", "ftr", "dt", "hdr", "sldImg"})
_LISTS: Final = frozenset({"body", "obj", "subTitle", ""})


@dataclass(slots=True)
class _State:
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
    state = _State(archive, budget, read_size(root))
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


def _read_slide(name: str, state: _State) -> tuple[str, str]:
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


def _read_notes(slide: str, state: _State) -> str:
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
