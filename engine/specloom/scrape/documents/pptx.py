"""A presentation as Markdown: slides in the order in which they are shown, with titles, lists, tables and notes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
from specloom.scrape.documents.docx_styles import to_int
from specloom.scrape.documents.model import Document, Limits
from specloom.scrape.documents.pipes import to_table
from specloom.scrape.documents.titles import to_title
from specloom.scrape.metadata_dates import to_iso

_TITLES: Final = frozenset({"title", "ctrTitle"})
# What a template prints on every slide.
_FRAME: Final = frozenset({"sldNum", "ftr", "dt", "hdr", "sldImg"})
_LISTS: Final = frozenset({"body", "obj", "subTitle", ""})


@dataclass(slots=True)
class _Budget:
    cells: int


def read_pptx(body: bytes, limits: Limits) -> Document:
    """The presentation in a PPTX file. Fault `content_empty` when it is broken or has no text."""
    deadline = time.monotonic() + limits.seconds
    archive = Archive(body, limits)
    part = archive.related("", "officeDocument") or "ppt/presentation.xml"
    names = _find_slides(archive, part)
    if not names:
        raise Fault("content_empty", "This PPTX file has no slides in it.", action="inform_user")
    budget = _Budget(limits.cells)
    parts: list[str] = []
    size, first_title, has_text = 0, "", False
    is_cut = len(names) > limits.pages
    for number, name in enumerate(names[: limits.pages], start=1):
        if parts and time.monotonic() > deadline:
            is_cut = True
            break
        title, text = _read_slide(archive, name, budget)
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
        metadata=found,
        truncated=is_cut or budget.cells <= 0,
    )


def _find_slides(archive: Archive, part: str) -> list[str]:
    """The parts of the slides in the order of the presentation, whatever their names are."""
    root = archive.xml(part)
    links = archive.relations(part)
    listed = (links.get(get_relation(each), "") for each in children(child(root, "sldIdLst"), "sldId"))
    return list(dict.fromkeys(filter(None, listed)))


def _read_slide(archive: Archive, name: str, budget: _Budget) -> tuple[str, str]:
    """The title of a slide and the rest of it, speaker's notes last."""
    root = archive.xml(name)
    links = archive.relations(name)
    title, blocks = "", []
    for shape in _shapes(child(root, "cSld", "spTree")):
        kind = _to_placeholder(shape)
        if kind in _FRAME:
            continue
        table = next((each for each in shape.iter() if local(each) == "tbl"), None)
        if table is not None:
            blocks.append(_read_table(table, links, budget))
            continue
        lines = list(_paragraphs(child(shape, "txBody"), links))
        if kind in _TITLES and not title:
            title = " ".join(" ".join(text.split()) for _, text in lines)
        elif kind is not None and kind in _LISTS and len(lines) > 1:
            blocks.append("\n".join(f"{'   ' * depth}- {' '.join(text.split())}" for depth, text in lines))
        else:
            blocks += [text for _, text in lines]
    if notes := _read_notes(archive, name):
        blocks.append(notes)
    if attribute(root, "show") in ("0", "false"):
        blocks.insert(0, "(This slide is hidden.)")
    return title, "\n\n".join(filter(None, blocks))


def _read_notes(archive: Archive, slide: str) -> str:
    name = archive.related(slide, "notesSlide")
    root = archive.xml(name) if name else None
    lines = [
        text
        for shape in _shapes(child(root, "cSld", "spTree"))
        if _to_placeholder(shape) == "body"
        for _, text in _paragraphs(child(shape, "txBody"), {})
    ]
    return "> Notes: " + "\n> ".join(line for text in lines for line in text.split("\n")) if lines else ""


def _shapes(tree: etree._Element | None) -> Iterator[etree._Element]:
    """The shapes of a slide, those in groups where their group is."""
    for each in tree if tree is not None else ():
        name = local(each)
        if name == "grpSp":
            yield from _shapes(each)
        elif name == "AlternateContent":
            yield from _shapes(next(children(each, "Choice"), None))
        elif name in ("sp", "graphicFrame"):
            yield each


def _to_placeholder(shape: etree._Element) -> str | None:
    """The type of the placeholder that a shape fills, "" for the usual one, None for a shape that fills none."""
    for settings in children(shape, "nvSpPr", "nvGraphicFramePr"):
        place = child(settings, "nvPr", "ph")
        if place is not None:
            return attribute(place, "type")
    return None


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
            yield f"[{text.strip()}]({target.replace(' ', '%20').replace(')', '%29')[:2000]})" if is_link else text
        elif name == "m" or name.startswith("oMath"):
            yield "".join(part.text or "" for part in each.iter() if local(part) == "t")


def _read_table(table: etree._Element, links: Mapping[str, str], budget: _Budget) -> str:
    rows: list[list[str]] = []
    for row in children(table, "tr"):
        cells = list(children(row, "tc"))
        budget.cells -= len(cells)
        if budget.cells <= 0:
            break
        rows.append([" ".join(text for _, text in _paragraphs(child(cell, "txBody"), links)) for cell in cells])
    return to_table(rows)
