"""A Word document as Markdown: headings, nested lists, pipe tables, links and footnotes, in reading order.

Read from the parts of ECMA-376 (WordprocessingML) themselves: what libraries offer leaves out footnotes, text boxes and
links in fields, and unpacks an archive before anybody can count. Comments, what was deleted, and the heads and feet of
pages are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from .document import Document, Limits, refuse, to_table
from .docx_styles import Styles, Unseen, to_lists, to_outline_level
from .office import (
    Archive,
    Element,
    attribute,
    child,
    children,
    descendants,
    get_relation,
    local,
    read_drawing,
    to_int,
    to_line,
    to_link,
    to_picture,
    value_of,
)

Piece = tuple[str, str]
"""What it is, and its Markdown: `text` of a line or a `box` beside it; `heading`, `item`, `table` and so on of a body.
"""

# Elements that hold others of the same kind and say nothing themselves; text that was deleted is in none of them.
_BLOCK_WRAPPERS: Final = frozenset({"sdt", "sdtContent", "ins", "moveTo", "customXml"})
_WRAPPERS: Final = _BLOCK_WRAPPERS | {"smartTag", "dir", "bdo", "fldSimple"}
_EQUATIONS: Final = ("oMath", "oMathPara")
_NOTE_PARTS: Final = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_LINK_FIELD: Final = re.compile(r'\s*HYPERLINK\s+"([^"]*)"', re.IGNORECASE)
# What is set above the line is told by a caret where it is an exponent; ordinals and signs need nothing.
_EXPONENT: Final = re.compile(r"[-+−–]?\s?(?:[0-9]{1,3}|[a-z])[-+]?", re.IGNORECASE)
_COUNTED: Final = re.compile(r"[0-9]+\.")
_DEEPEST: Final = 20
_WIDEST: Final = 64
# Fonts of signs put them here, and another font has no sign there.
_PRIVATE: Final = range(0xE000, 0xF900)


def read_docx(body: bytes, limits: Limits) -> Document:
    """The document in a DOCX file. Fault `content_empty` when it is broken or has no text."""
    archive = Archive(body, limits)
    part = archive.related("", "officeDocument", "word/document.xml")
    root = archive.xml(part)
    content = child(root, "body")
    if content is None:
        raise refuse("This DOCX file has no document in it.")
    reader = _WordReader(archive, part, is_coloured=child(root, "background") is not None)
    blocks = [*reader.gather(content), *reader.read_notes()]
    text = _join(blocks)[: limits.text]
    if not text.strip():
        raise refuse("This DOCX file has no text in it.")
    heading = next((text.lstrip("# ") for kind, text in blocks[:20] if kind == "heading"), "")
    return archive.to_document("docx", text, shown_title=heading, is_cut=reader.is_cut or archive.cells < 0)


class _WordReader:
    """Reads the parts of a document: how far it is, and what its styles, lists and relations mean."""

    def __init__(self, archive: Archive, part: str, *, is_coloured: bool) -> None:
        self.is_cut = False
        self._archive, self._part = archive, part
        self._styles = Styles(archive.xml(archive.related(part, "styles", "word/styles.xml")))
        self._unseen = Unseen(self._styles, is_coloured)
        self._links = archive.relations(part)
        self._lists = to_lists(archive.xml(archive.related(part, "numbering", "word/numbering.xml")))
        self._notes: dict[tuple[str, str], int] = {}
        self._style = ""  # of the paragraph that is read
        self._size = 0
        self._tables = 0

    # --- the line of a paragraph: its words, links, notes, equations, and what floats beside it ---

    def _pieces(self, paragraph: Element) -> list[Piece]:
        """The pieces of a paragraph in their order."""
        # The paragraphs of a text box are read within that to which it belongs.
        outer, self._style = self._style, value_of(paragraph, "pPr", "pStyle")
        pieces = _join_fields(self._inline(paragraph))
        self._style = outer
        return pieces

    def _inline(self, element: Element) -> Iterator[Piece]:
        is_hidden = False
        for each in element:
            name = local(each)
            if name == "r":
                was_hidden, is_hidden = is_hidden, self._unseen.hides(each, self._style)
                if not is_hidden:
                    yield from self._run(each)
                elif not was_hidden and any((part.text or "").strip() for part in children(each, "t")):
                    self._archive.hidden += 1
            elif name == "hyperlink":
                yield from _link(list(self._inline(each)), self._links.get(get_relation(each), ""))
            elif name in _EQUATIONS:
                yield "text", to_line(each)
            elif name in _WRAPPERS or name == "AlternateContent":
                yield from self._inline(_choose(each))
            elif name == "ruby":
                yield from self._ruby(each)

    def _run(self, run: Element) -> Iterator[Piece]:
        is_raised = value_of(run, "rPr", "vertAlign") == "superscript"
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
                yield "text", f"[^{self._notes.setdefault(key, len(self._notes) + 1)}]"
            elif name == "AlternateContent":
                yield from self._run(_choose(each))
            elif name == "ruby":
                yield from self._ruby(each)
            elif name in ("drawing", "pict", "object"):
                yield from self._drawing(each)

    def _ruby(self, ruby: Element) -> Iterator[Piece]:
        """A word with its reading above it: the word alone."""
        for base in children(ruby, "rubyBase"):
            yield from self._inline(base)

    def _drawing(self, drawing: Element) -> Iterator[Piece]:
        boxes = [_join(self.gather(box)) for box in _find_boxes(drawing)]
        boxes = list(filter(None, [*boxes, read_drawing(self._archive, drawing, self._links)]))
        yield from (("box", text) for text in boxes)
        if not boxes:
            yield "text", to_picture(next(descendants(drawing, "docPr"), None))

    # --- the blocks of a body, a cell, a note or a text box ---

    def gather(self, container: Element) -> list[Piece]:
        """The blocks in a body, cell or note, until the limit of text or time."""
        blocks: list[Piece] = []
        for kind, text in self._blocks(container):
            if self._size > self._archive.limits.text or (blocks and self._archive.is_late):
                self.is_cut = True
                break
            self._size += len(text)
            blocks.append((kind, text))
        return blocks

    def _blocks(self, container: Element) -> Iterator[Piece]:
        for element in container:
            name = local(element)
            if name == "p":
                yield from self._read_paragraph(element)
            elif name == "tbl":
                if (only := _find_only_cell(element)) is not None:
                    yield from self._blocks(only)
                elif table := self._read_table(element):
                    yield "table", table
            elif name in _BLOCK_WRAPPERS or name == "AlternateContent":
                yield from self._blocks(_choose(element))
            elif name in _EQUATIONS and (line := to_line(element).strip()):
                yield "text", line

    def _read_paragraph(self, paragraph: Element) -> Iterator[Piece]:
        settings = child(paragraph, "pPr")
        style = self._styles.find(value_of(settings, "pStyle"))
        pieces = self._pieces(paragraph)
        text = "".join(part for kind, part in pieces if kind == "text")
        if style.is_code:
            yield "code", text.rstrip()
        elif stripped := text.strip():
            number = value_of(settings, "numPr", "numId") or style.number
            depth = min(to_int(value_of(settings, "numPr", "ilvl"), style.depth), 8)
            mark = self._lists[number].mark(depth) if number not in ("", "0") and number in self._lists else ""
            if level := to_outline_level(settings) or style.level:
                printed = f"{mark} " if mark not in ("", "-") else ""
                yield "heading", f"{'#' * min(level, 6)} {printed}{' '.join(stripped.split())}"
            elif mark:
                indent = "   " * depth
                # What Markdown does not count itself stands behind a mark that it knows.
                sign = mark if mark == "-" or _COUNTED.fullmatch(mark) else f"- {mark}"
                yield "item", f"{indent}{sign} " + stripped.replace("\n", f"\n{indent}   ")
            else:
                yield "text", stripped
        yield from (("text", part) for kind, part in pieces if kind == "box")

    def _read_table(self, table: Element) -> str:
        """A table with its spans filled: a cell over several columns is followed by empty ones."""
        rows: list[list[str]] = []
        self._tables += 1
        for row in _find(table, "tr"):
            settings = child(row, "trPr")
            if child(settings, "del") is not None:
                continue
            if _is_set(child(settings, "hidden")):
                self._archive.hidden += any((text.text or "").strip() for text in descendants(row, "t"))
                continue
            cells = [""] * min(to_int(value_of(settings, "gridBefore")), _WIDEST)
            for cell in _find(row, "tc"):
                self._archive.cells -= 1
                if self._archive.cells < 0:
                    break
                merge = child(cell, "tcPr", "vMerge")
                is_continued = merge is not None and attribute(merge, "val") != "restart"
                span = min(to_int(value_of(cell, "tcPr", "gridSpan"), 1), _WIDEST)
                text = "" if is_continued else " ".join(text for _, text in self.gather(cell))
                cells += [text, *[""] * (max(span, 1) - 1)]
            if self._archive.cells < 0:
                break
            rows.append(cells)
        self._tables -= 1
        # Markdown has no table in a table: the inner one is told in words.
        return to_table(rows) if self._tables == 0 else "; ".join(", ".join(filter(None, row)) for row in rows)

    def read_notes(self) -> list[Piece]:
        """The notes that the text refers to, numbered in the order of their first reference."""
        notes: dict[int, str] = {}
        for kind in _NOTE_PARTS.values():
            numbers = {key: number for (part_kind, key), number in self._notes.items() if part_kind == kind}
            if not numbers:
                continue
            name = self._archive.related(self._part, kind, f"word/{kind}.xml")
            root = self._archive.xml(name)
            self._links = self._archive.relations(name)
            for note in children(root, "footnote", "endnote"):
                if number := numbers.get(attribute(note, "id")):
                    notes[number] = " ".join(" ".join(text for _, text in self.gather(note)).split())
        return [("note", f"[^{number}]: {text}") for number, text in sorted(notes.items())]


def _choose(element: Element) -> Element:
    """Of the same thing said twice, for readers that know it and for others, the first; of others themselves."""
    is_said_twice = local(element) == "AlternateContent"
    return next(children(element, "Choice"), element) if is_said_twice else element


def _is_set(switch: Element | None) -> bool:
    """Whether a setting that is on by being there is on."""
    return switch is not None and attribute(switch, "val").lower() not in ("0", "false", "off")


def _find(element: Element, name: str) -> Iterator[Element]:
    for each in element:
        if local(each) == name:
            yield each
        elif local(each) in _BLOCK_WRAPPERS:
            yield from _find(each, name)


def _find_boxes(element: Element) -> Iterator[Element]:
    """The text boxes in a drawing that are not in one another."""
    for each in _choose(element):
        if local(each) == "txbxContent":
            yield each
        else:
            yield from _find_boxes(each)


def _find_only_cell(table: Element) -> Element | None:
    """The cell of a table that has no other, which is a frame around what is in it."""
    rows = list(islice(_find(table, "tr"), 2))
    cells = list(islice(_find(rows[0], "tc"), 2)) if len(rows) == 1 else []
    return cells[0] if len(cells) == 1 else None


def _join_fields(pieces: Iterator[Piece]) -> list[Piece]:
    """Pieces without the marks of fields; what a link that is a field shows becomes a link."""
    joined: list[Piece] = []
    # Of each open field: what it is told to do, None behind it once it shows something; and the pieces before it.
    fields: list[tuple[list[str | None], list[Piece]]] = []
    for kind, text in pieces:
        if kind == "field" and text == "begin" and len(fields) < _DEEPEST:
            fields.append(([], joined))
            joined = []
        elif kind == "field" and text == "separate" and fields:
            fields[-1][0].append(None)
        elif kind == "field" and text == "end" and fields:
            instructions, before = fields.pop()
            match = _LINK_FIELD.match("".join(filter(None, instructions)))
            joined = [*before, *(_link(joined, match[1]) if match else joined)]
        elif kind == "instruction" and fields and None not in fields[-1][0]:
            fields[-1][0].append(text)
        elif kind == "raised":
            base = joined[-1][1][-1:] if joined and joined[-1][0] == "text" else ""
            is_exponent = _EXPONENT.fullmatch(text) and (base.isalnum() or base == ")")
            joined.append(("text", f"^{text}" if is_exponent else text))
        elif kind in ("text", "box"):
            joined.append((kind, text))
    # A field may end in another paragraph.
    return [piece for _, before in fields for piece in before] + joined


def _link(pieces: list[Piece], target: str) -> list[Piece]:
    text = "".join(part for kind, part in pieces if kind == "text")
    link = to_link(text, target)
    return pieces if link == text else [("text", link), *(piece for piece in pieces if piece[0] != "text")]


def _to_sign(code: str) -> str:
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    return chr(number) if 0x20 <= number < 0x110000 and number not in _PRIVATE and not 0xD800 <= number < 0xE000 else ""


def _join(blocks: list[Piece]) -> str:
    """Blocks with a blank line between them; items of a list and lines of code follow each other without one."""
    parts: list[str] = []
    before = ""
    for kind, text in [*blocks, ("", "")]:
        if before == "code" and kind != "code":
            parts.append("\n```")
        if kind == "code":
            parts.append("\n" if before == "code" else "\n\n```\n")
        elif kind:
            parts.append("\n" if kind == before and kind in ("item", "note") else "\n\n")
        parts.append(text)
        before = kind
    return "".join(parts).strip("\n")
