"""A Word document as Markdown: headings, nested lists, pipe tables, links and footnotes, in reading order.

Read from the parts of ECMA-376 (WordprocessingML) themselves: what libraries offer leaves out footnotes, text boxes and
links in fields, and unpacks an archive before anybody can count. Comments, what was deleted, and the heads and feet of
pages are left out.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from lxml import etree

from specloom.faults import Fault
from specloom.scrape.documents.archive import (
    Archive,
    attribute,
    child,
    children,
    local,
    properties,
    to_authors,
)
from specloom.scrape.documents.docx_inline import Inline
from specloom.scrape.documents.docx_styles import Lists, Style, heading_level, to_int, to_lists, to_styles
from specloom.scrape.documents.docx_unseen import Unseen
from specloom.scrape.documents.drawings import Budget
from specloom.scrape.documents.equations import to_line
from specloom.scrape.documents.model import Document, Limits
from specloom.scrape.documents.pipes import to_table
from specloom.scrape.documents.titles import to_title
from specloom.scrape.metadata_dates import to_iso

_BLOCK_WRAPPERS: Final = frozenset({"sdt", "sdtContent", "ins", "moveTo", "customXml"})
_WIDEST: Final = 64
_COUNTED: Final = re.compile(r"[0-9]+\.")


@dataclass(slots=True)
class _State:
    styles: Mapping[str, Style]
    lists: Lists
    inline: Inline
    limits: Limits
    deadline: float
    size: int = 0
    tables: int = 0
    is_cut: bool = False


def read_docx(body: bytes, limits: Limits) -> Document:
    """The document in a DOCX file. Fault `content_empty` when it is broken or has no text."""
    deadline = time.monotonic() + limits.seconds
    archive = Archive(body, limits)
    part = archive.related("", "officeDocument") or "word/document.xml"
    root = archive.xml(part)
    content = child(root, "body")
    if content is None:
        raise Fault("content_empty", "This DOCX file has no document in it.", action="inform_user")
    styles = archive.xml(archive.related(part, "styles") or "word/styles.xml")
    unseen = Unseen(
        {attribute(each, "styleId"): each for each in children(styles, "style")},
        is_coloured=child(root, "background") is not None,
    )
    inline = Inline(
        archive, archive.relations(part), Budget(limits.cells), lambda box: _join(_gather(box, state)), unseen
    )
    state = _State(
        to_styles(styles),
        to_lists(archive.xml(archive.related(part, "numbering") or "word/numbering.xml")),
        inline,
        limits,
        deadline,
    )
    blocks = _gather(content, state)
    blocks += _read_notes(archive, part, state)
    text = _join(blocks)[: limits.text]
    if not text.strip():
        raise Fault("content_empty", "This DOCX file has no text in it.", action="inform_user")
    found = properties(archive)
    return Document(
        "docx",
        text,
        title=to_title(found.get("title", ""), _first_heading(blocks)),
        authors=to_authors(found),
        published=to_iso(found.get("created", "")),
        modified=to_iso(found.get("modified", "")),
        language=found.get("language", ""),
        metadata=found,
        truncated=state.is_cut or inline.budget.cells < 0,
        stripped={"hidden": unseen.count} if unseen.count else {},
    )


def _gather(container: etree._Element, state: _State) -> list[tuple[str, str]]:
    """The blocks in a body, cell or note as (kind, Markdown), until the limit of text or time."""
    blocks: list[tuple[str, str]] = []
    for kind, text in _blocks(container, state):
        if state.size > state.limits.text or (blocks and time.monotonic() > state.deadline):
            state.is_cut = True
            break
        state.size += len(text)
        blocks.append((kind, text))
    return blocks


def _blocks(container: etree._Element, state: _State) -> Iterator[tuple[str, str]]:
    for element in container:
        name = local(element)
        if name == "p":
            yield from _read_paragraph(element, state)
        elif name == "tbl":
            if (only := _find_only_cell(element)) is not None:
                yield from _blocks(only, state)
            elif table := _read_table(element, state):
                yield "table", table
        elif name in _BLOCK_WRAPPERS:
            yield from _blocks(element, state)
        elif name == "AlternateContent":
            yield from _blocks(next(children(element, "Choice"), element), state)
        elif name in ("oMath", "oMathPara") and (line := to_line(element).strip()):
            yield "text", line


def _read_paragraph(paragraph: etree._Element, state: _State) -> Iterator[tuple[str, str]]:
    settings = child(paragraph, "pPr")
    style = _find_style(settings, state)
    parts = state.inline.pieces(paragraph)
    text = "".join(part for kind, part in parts if kind == "text")
    outline = attribute(child(settings, "outlineLvl"), "val")
    level = to_int(outline, 9) + 1 if outline and to_int(outline, 9) < 9 else style.level
    if style.is_code:
        yield "code", text.rstrip()
    elif stripped := text.strip():
        numbering = child(settings, "numPr")
        number = attribute(child(numbering, "numId"), "val") or style.number
        depth = min(to_int(attribute(child(numbering, "ilvl"), "val"), style.depth), 8)
        mark = state.lists.mark(number, depth) if number and number != "0" else ""
        if level:
            printed = f"{mark} " if mark not in ("", "-") else ""
            yield "heading", f"{'#' * min(level, 6)} {printed}{' '.join(stripped.split())}"
        elif mark:
            indent = "   " * depth
            # What Markdown does not count itself stands behind a mark that it knows.
            sign = mark if mark == "-" or _COUNTED.fullmatch(mark) else f"- {mark}"
            yield "item", f"{indent}{sign} " + stripped.replace("\n", f"\n{indent}   ")
        else:
            yield "text", stripped
    yield from (("text", part) for kind, part in parts if kind == "box")


def _find_style(settings: etree._Element | None, state: _State) -> Style:
    """The style of a paragraph; where the file does not describe it, what its name says."""
    name = attribute(child(settings, "pStyle"), "val")
    return state.styles.get(name) or Style(heading_level(name))


def _find_only_cell(table: etree._Element) -> etree._Element | None:
    """The cell of a table that has no other, which is a frame around what is in it."""
    rows = list(islice(_find(table, "tr"), 2))
    cells = list(islice(_find(rows[0], "tc"), 2)) if len(rows) == 1 else []
    return cells[0] if len(cells) == 1 else None


def _read_table(table: etree._Element, state: _State) -> str:
    """A table with its spans filled: a cell over several columns is followed by empty ones."""
    rows: list[list[str]] = []
    state.tables += 1
    for row in _find(table, "tr"):
        settings = child(row, "trPr")
        if child(settings, "del") is not None:
            continue
        before = min(to_int(attribute(child(settings, "gridBefore"), "val")), _WIDEST)
        cells = [""] * before
        for cell in _find(row, "tc"):
            state.inline.budget.cells -= 1
            if state.inline.budget.cells < 0:
                state.is_cut = True
                break
            merge = child(cell, "tcPr", "vMerge")
            is_continued = merge is not None and attribute(merge, "val") != "restart"
            span = min(to_int(attribute(child(cell, "tcPr", "gridSpan"), "val"), 1), _WIDEST)
            text = "" if is_continued else " ".join(text for _, text in _gather(cell, state))
            cells += [text, *[""] * (max(span, 1) - 1)]
        if state.inline.budget.cells < 0:
            break
        rows.append(cells)
    state.tables -= 1
    # Markdown has no table in a table: the inner one is told in words.
    return to_table(rows) if state.tables == 0 else "; ".join(", ".join(filter(None, row)) for row in rows)


def _find(element: etree._Element, name: str) -> Iterator[etree._Element]:
    for each in element:
        if local(each) == name:
            yield each
        elif local(each) in _BLOCK_WRAPPERS:
            yield from _find(each, name)


def _read_notes(archive: Archive, part: str, state: _State) -> list[tuple[str, str]]:
    """The notes that the text refers to, numbered in the order of their first reference."""
    found: list[tuple[str, str]] = []
    for kind in ("footnotes", "endnotes"):
        wanted = {key: number for (part_kind, key), number in state.inline.notes.items() if part_kind == kind}
        if not wanted:
            continue
        name = archive.related(part, kind) or f"word/{kind}.xml"
        root = archive.xml(name)
        state.inline.links = archive.relations(name)
        for note in children(root, "footnote", "endnote"):
            if number := wanted.get(attribute(note, "id")):
                text = " ".join(text for _, text in _gather(note, state))
                found.append(("note", f"[^{number}]: {' '.join(text.split())}"))
    return sorted(found, key=lambda each: int(each[1][2 : each[1].index("]")]))


def _join(blocks: list[tuple[str, str]]) -> str:
    """Blocks with a blank line between them; items of a list and lines of code follow each other without one."""
    parts: list[str] = []
    before = ""
    for kind, text in [*blocks, ("", "")]:
        if before == "code" and kind != "code":
            parts.append("\n```")
        if not kind:
            break
        if kind == "code":
            parts.append("\n" if before == "code" else "\n\n```\n")
        else:
            parts.append("\n" if kind == before and kind in ("item", "note") else "\n\n")
        parts.append(text)
        before = kind
    return "".join(parts).strip("\n")


def _first_heading(blocks: list[tuple[str, str]]) -> str:
    return next((text.lstrip("# ") for kind, text in blocks[:20] if kind == "heading"), "")
