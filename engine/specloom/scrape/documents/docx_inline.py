"""The line of a Word paragraph: its words, links, notes, equations, and what floats beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from specloom.scrape.documents.archive import Archive, attribute, child, children, get_relation, local
from specloom.scrape.documents.docx_unseen import Unseen
from specloom.scrape.documents.drawings import Budget, read_drawing, to_picture
from specloom.scrape.documents.equations import to_line

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
class Inline:
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
