"""A Word document as Markdown: headings, nested lists, pipe tables, links and footnotes, in reading order.

Read from the parts of ECMA-376 (WordprocessingML) themselves: what libraries offer leaves out footnotes, text boxes and
links in fields, and unpacks an archive before anybody can count. Comments, what was deleted, and the heads and feet of
pages are left out.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from lxml import etree

from specloom.core import Fault

from ..metadata.dates import to_iso
from .document import Document, Limits, to_table, to_title
from .docx_styles import Lists, Style, Unseen, heading_level, to_int, to_lists, to_styles
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

# --- The line of a Word paragraph: its words, links, notes, equations, and what floats beside it ----------------------


Piece = tuple[str, str]
"""`text` of the line or a `box` beside it, and its Markdown."""

# Elements that hold others of the same kind and say nothing themselves; text that was deleted is in none of them.
_WRAPPERS: Final = frozenset({"sdt", "sdtContent", "ins", "moveTo", "smartTag", "customXml", "dir", "bdo", "fldSimple"})
_NOTE_PARTS: Final = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_LINK_FIELD: Final = re.compile(r'\s*HYPERLINK\s+"([^"]*)"', re.IGNORECASE)
# What is set above the line is told by a caret where it is an exponent; ordinals and signs need nothing.
_EXPONENT: Final = re.compile(r"[-+−–]?\s?(?:[0-9]{1,3}|[a-z])[-+]?", re.IGNORECASE)
_DEEPEST: Final = 20
# Fonts of signs put them here, and another font has no sign there.
_PRIVATE: Final = range(0xE000, 0xF900)


@dataclass(slots=True)
class PartContext:
    """What the lines of a part are read with: its relations, how to read a text box, what is unseen, and the notes."""

    archive: Archive
    links: Mapping[str, str]
    budget: Budget
    read_box: Callable[[etree._Element], str]
    unseen: Unseen
    notes: dict[tuple[str, str], int] = field(default_factory=dict)
    style: str = ""
    """That of the paragraph."""

    def pieces(self, paragraph: etree._Element) -> list[Piece]:
        """The pieces of a paragraph in their order."""
        outer, self.style = self.style, attribute(child(paragraph, "pPr", "pStyle"), "val")
        found = _linked(self._inline(paragraph))
        # The paragraphs of a text box are read within that to which it belongs.
        self.style = outer
        return found

    def _inline(self, element: etree._Element) -> Iterator[Piece]:
        is_hidden = False
        for each in element:
            name = local(each)
            if name == "r":
                was_hidden, is_hidden = is_hidden, self.unseen.hides(each, self.style)
                if not is_hidden:
                    yield from self._run(each)
                elif not was_hidden and _has_text(each):
                    self.unseen.count += 1
            elif name == "hyperlink":
                yield from _to_link(list(self._inline(each)), self.links.get(get_relation(each), ""))
            elif name in ("oMath", "oMathPara"):
                yield "text", to_line(each)
            elif name == "AlternateContent":
                yield from self._inline(_chosen(each))
            elif name == "ruby":
                yield from self._ruby(each)
            elif name in _WRAPPERS:
                yield from self._inline(each)

    def _run(self, run: etree._Element) -> Iterator[Piece]:
        is_raised = attribute(child(run, "rPr", "vertAlign"), "val") == "superscript"
        for each in run:
            name = local(each)
            if name == "t":
                yield "raised" if is_raised else "text", each.text or ""
            elif name in ("tab", "ptab"):
                yield "text", "\t"
            elif name in ("br", "cr"):
                yield "text", "\n" if attribute(each, "type") in ("", "textWrapping") else " "
            elif name == "noBreakHyphen":
                yield "text", "-"
            elif name == "sym":
                yield "text", _to_sign(attribute(each, "char"))
            elif name == "fldChar":
                yield "field", attribute(each, "fldCharType")
            elif name == "instrText":
                yield "instruction", each.text or ""
            elif name in _NOTE_PARTS:
                key = (_NOTE_PARTS[name], attribute(each, "id"))
                yield "text", f"[^{self.notes.setdefault(key, len(self.notes) + 1)}]"
            elif name == "AlternateContent":
                yield from self._run(_chosen(each))
            elif name == "ruby":
                yield from self._ruby(each)
            elif name in ("drawing", "pict", "object"):
                yield from self._drawing(each)

    def _ruby(self, ruby: etree._Element) -> Iterator[Piece]:
        """A word with its reading above it: the word alone."""
        base = child(ruby, "rubyBase")
        if base is not None:
            yield from self._inline(base)

    def _drawing(self, drawing: etree._Element) -> Iterator[Piece]:
        boxes = [text for box in _boxes(drawing) if (text := self.read_box(box))]
        if text := read_drawing(self.archive, drawing, self.links, self.budget):
            boxes.append(text)
        yield from (("box", text) for text in boxes)
        if not boxes:
            yield "text", to_picture(next((each for each in drawing.iter() if local(each) == "docPr"), None))


def _has_text(run: etree._Element) -> bool:
    return any((each.text or "").strip() for each in children(run, "t"))


def _chosen(alternatives: etree._Element) -> etree._Element:
    """The first of the same thing said twice, for readers that know it and for others."""
    return next(children(alternatives, "Choice"), alternatives)


def _boxes(element: etree._Element) -> Iterator[etree._Element]:
    """The text boxes in a drawing that are not in one another."""
    for each in _chosen(element) if local(element) == "AlternateContent" else element:
        if local(each) == "txbxContent":
            yield each
        else:
            yield from _boxes(each)


def _linked(pieces: Iterator[Piece]) -> list[Piece]:
    """Pieces without the marks of fields; what a link that is a field shows becomes a link."""
    found: list[Piece] = []
    # Of each open field: what it is told to do, whether it shows by now, and the pieces before it.
    fields: list[tuple[list[str], list[bool], list[Piece]]] = []
    for kind, text in pieces:
        if kind == "field" and text == "begin" and len(fields) < _DEEPEST:
            fields.append(([], [False], found))
            found = []
        elif kind == "field" and text == "separate" and fields:
            fields[-1][1][0] = True
        elif kind == "field" and text == "end" and fields:
            told, _, before = fields.pop()
            match = _LINK_FIELD.match("".join(told))
            before += _to_link(found, match[1]) if match else found
            found = before
        elif kind == "instruction":
            if fields and not fields[-1][1][0]:
                fields[-1][0].append(text)
        elif kind == "raised":
            base = found[-1][1][-1:] if found and found[-1][0] == "text" else ""
            found.append(
                ("text", f"^{text}" if _EXPONENT.fullmatch(text) and (base.isalnum() or base == ")") else text)
            )
        elif kind in ("text", "box"):
            found.append((kind, text))
    # A field may end in another paragraph.
    return [piece for _, _, before in fields for piece in before] + found


def _to_link(pieces: list[Piece], target: str) -> Iterator[Piece]:
    text = "".join(part for kind, part in pieces if kind == "text")
    if target.startswith(("http://", "https://")) and text.strip():
        yield "text", f"[{text.strip()}]({to_target(target)})"
        yield from (piece for piece in pieces if piece[0] != "text")
    else:
        yield from pieces


def to_target(address: str) -> str:
    """An address as it can stand in a link of Markdown."""
    return address.replace(" ", "%20").replace("(", "%28").replace(")", "%29")[:2000]


def _to_sign(code: str) -> str:
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    return chr(number) if 0x20 <= number < 0x110000 and number not in _PRIVATE and not 0xD800 <= number < 0xE000 else ""


_BLOCK_WRAPPERS: Final = frozenset({"sdt", "sdtContent", "ins", "moveTo", "customXml"})
_WIDEST: Final = 64
_COUNTED: Final = re.compile(r"[0-9]+\.")


@dataclass(slots=True)
class _WordState:
    styles: Mapping[str, Style]
    lists: Lists
    inline: PartContext
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
    inline = PartContext(
        archive, archive.relations(part), Budget(limits.cells), lambda box: _join(_gather(box, state)), unseen
    )
    state = _WordState(
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


def _gather(container: etree._Element, state: _WordState) -> list[tuple[str, str]]:
    """The blocks in a body, cell or note as (kind, Markdown), until the limit of text or time."""
    blocks: list[tuple[str, str]] = []
    for kind, text in _blocks(container, state):
        if state.size > state.limits.text or (blocks and time.monotonic() > state.deadline):
            state.is_cut = True
            break
        state.size += len(text)
        blocks.append((kind, text))
    return blocks


def _blocks(container: etree._Element, state: _WordState) -> Iterator[tuple[str, str]]:
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


def _read_paragraph(paragraph: etree._Element, state: _WordState) -> Iterator[tuple[str, str]]:
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


def _find_style(settings: etree._Element | None, state: _WordState) -> Style:
    """The style of a paragraph; where the file does not describe it, what its name says."""
    name = attribute(child(settings, "pStyle"), "val")
    return state.styles.get(name) or Style(heading_level(name))


def _find_only_cell(table: etree._Element) -> etree._Element | None:
    """The cell of a table that has no other, which is a frame around what is in it."""
    rows = list(islice(_find(table, "tr"), 2))
    cells = list(islice(_find(rows[0], "tc"), 2)) if len(rows) == 1 else []
    return cells[0] if len(cells) == 1 else None


def _read_table(table: etree._Element, state: _WordState) -> str:
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


def _read_notes(archive: Archive, part: str, state: _WordState) -> list[tuple[str, str]]:
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
