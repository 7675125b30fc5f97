"""A Word document as Markdown: headings, nested lists, pipe tables, links and footnotes, in reading order.

Read from the parts of ECMA-376 (WordprocessingML) themselves: what libraries offer leaves out footnotes, text boxes and
links in fields, and unpacks an archive before anybody can count.
"""

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
from specloom.scrape.documents.docx_styles import Lists, Style, to_int, to_lists, to_styles
from specloom.scrape.documents.model import Document, Limits
from specloom.scrape.documents.pipes import to_table
from specloom.scrape.documents.titles import to_title
from specloom.scrape.metadata_dates import to_iso

# Elements that hold others of the same kind and say nothing themselves; text that was deleted is in none of them.
_WRAPPERS: Final = frozenset({"sdt", "sdtContent", "ins", "moveTo", "smartTag", "customXml", "dir", "bdo", "fldSimple"})
_BLOCK_WRAPPERS: Final = frozenset({"sdt", "sdtContent", "ins", "moveTo", "customXml"})
_NOTE_PARTS: Final = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_WIDEST: Final = 64


@dataclass(slots=True)
class _State:
    styles: Mapping[str, Style]
    lists: Lists
    links: Mapping[str, str]
    limits: Limits
    deadline: float
    notes: dict[tuple[str, str], int] = field(default_factory=dict)
    size: int = 0
    cells: int = 0
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
    state = _State(
        to_styles(archive.xml(archive.related(part, "styles") or "word/styles.xml")),
        to_lists(archive.xml(archive.related(part, "numbering") or "word/numbering.xml")),
        archive.relations(part),
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
        truncated=state.is_cut,
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
            if table := _read_table(element, state):
                yield "table", table
        elif name in _BLOCK_WRAPPERS:
            yield from _blocks(element, state)


def _read_paragraph(paragraph: etree._Element, state: _State) -> Iterator[tuple[str, str]]:
    settings = child(paragraph, "pPr")
    style = state.styles.get(attribute(child(settings, "pStyle"), "val"), Style())
    parts = list(_inline(paragraph, state))
    text = "".join(part for kind, part in parts if kind == "text")
    boxes = [block for kind, part in parts if kind == "box" for block in [("text", part)]]
    outline = attribute(child(settings, "outlineLvl"), "val")
    level = to_int(outline, 9) + 1 if outline and to_int(outline, 9) < 9 else style.level
    if style.is_code:
        yield "code", text.rstrip()
    elif stripped := text.strip():
        numbering = child(settings, "numPr")
        number = attribute(child(numbering, "numId"), "val") or style.number
        depth = to_int(attribute(child(numbering, "ilvl"), "val"), style.depth)
        if level:
            yield "heading", f"{'#' * min(level, 6)} {' '.join(stripped.split())}"
        elif number and number != "0" and (mark := state.lists.mark(number, depth)):
            indent = "   " * min(depth, 8)
            yield "item", f"{indent}{mark} " + stripped.replace("\n", f"\n{indent}   ")
        else:
            yield "text", stripped
    yield from boxes


def _inline(element: etree._Element, state: _State) -> Iterator[tuple[str, str]]:
    """The pieces of a paragraph: `text` in its line, and `box` for what floats beside it."""
    for each in element:
        name = local(each)
        if name == "r":
            if child(each, "rPr", "vanish") is None:
                yield from _run(each, state)
        elif name == "hyperlink":
            parts = list(_inline(each, state))
            text = "".join(part for kind, part in parts if kind == "text")
            target = state.links.get(get_relation(each), "")
            is_link = target.startswith(("http://", "https://")) and text.strip()
            yield "text", f"[{text.strip()}]({_to_target(target)})" if is_link else text
            yield from ((kind, part) for kind, part in parts if kind == "box")
        elif name in ("oMath", "oMathPara"):
            yield "text", "".join(part.text or "" for part in each.iter() if local(part) == "t")
        elif name in _WRAPPERS:
            yield from _inline(each, state)


def _run(run: etree._Element, state: _State) -> Iterator[tuple[str, str]]:
    for each in run:
        name = local(each)
        if name == "t":
            yield "text", each.text or ""
        elif name == "tab":
            yield "text", "\t"
        elif name in ("br", "cr"):
            yield "text", "\n" if attribute(each, "type") in ("", "textWrapping") else " "
        elif name == "noBreakHyphen":
            yield "text", "-"
        elif name in _NOTE_PARTS:
            key = (_NOTE_PARTS[name], attribute(each, "id"))
            yield "text", f"[^{state.notes.setdefault(key, len(state.notes) + 1)}]"
        elif name == "AlternateContent":
            # The same drawing twice: for readers that know it, and for others.
            chosen = next(children(each, "Choice"), None)
            yield from _run(chosen if chosen is not None else each, state)
        elif name in ("drawing", "pict", "object"):
            for box in each.iter():
                if local(box) == "txbxContent":
                    if text := _join(_gather(box, state)):
                        yield "box", text
                    break


def _read_table(table: etree._Element, state: _State) -> str:
    """A table with its spans filled: a cell over several columns is followed by empty ones."""
    rows: list[list[str]] = []
    for row in _find(table, "tr"):
        cells: list[str] = []
        for cell in _find(row, "tc"):
            state.cells += 1
            if state.cells > state.limits.cells:
                state.is_cut = True
                return to_table(rows)
            merge = child(cell, "tcPr", "vMerge")
            is_continued = merge is not None and attribute(merge, "val") != "restart"
            span = min(to_int(attribute(child(cell, "tcPr", "gridSpan"), "val"), 1), _WIDEST)
            text = "" if is_continued else " ".join(text for _, text in _gather(cell, state))
            cells += [text, *[""] * (max(span, 1) - 1)]
        rows.append(cells)
    return to_table(rows)


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
        wanted = {key: number for (part_kind, key), number in state.notes.items() if part_kind == kind}
        root = archive.xml(archive.related(part, kind) or f"word/{kind}.xml") if wanted else None
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


def _to_target(address: str) -> str:
    return address.replace(" ", "%20").replace("(", "%28").replace(")", "%29")[:2000]


def _first_heading(blocks: list[tuple[str, str]]) -> str:
    return next((text.lstrip("# ") for kind, text in blocks[:20] if kind == "heading"), "")
