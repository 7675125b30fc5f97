"""A bibliography once more with what was found of its entries as notes; all else of it, its keys too, stays as it is.

Notes stand where each format has the reader's own: `annote` in BibTeX (`audit` where there is one), `N1` in RIS, `GN`
in NBIB, `annote` in CSL-JSON, `notes` in JSON of Zotero (of its `data` where it has one), `research-notes` in EndNote
XML, a line below the reference in plain words.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .bibtex import escape_text

_BIBTEX_HEAD = re.compile(r"@\s{0,9}[A-Za-z]{1,30}\s{0,9}[{(]\s{0,9}[^\s,{}()]{0,200}\s{0,9},")
_ANNOTE = re.compile(r"[,{(]\s{0,99}annote\s{0,9}=", re.IGNORECASE)
_RECORD_ENDS = {"ris": re.compile(r"^\s{0,9}ER\s{0,4}-"), "nbib": re.compile(r"^PMID\s{0,3}-")}


def annotate(document: str, format_: str, notes: Mapping[int, str], lines: Mapping[int, int]) -> str:
    """The document with notes of its entries, by their index; `lines` has the line of each entry that was read."""
    if format_ in ("csl-json", "zotero-json"):
        return _annotate_items(document, notes, has_notes=format_ == "zotero-json")
    if format_ == "endnote-xml":
        return _annotate_xml(document, notes)
    starts = sorted((line, index) for index, line in lines.items())
    if format_ == "bibtex":
        return _annotate_bibtex(document, notes, starts)
    rows = document.splitlines(keepends=True)
    pieces: list[str] = []
    ends = [line - 1 for line, _ in starts[1:]] + [len(rows)]
    pieces += rows[: starts[0][0] - 1] if starts else rows
    for (line, index), end in zip(starts, ends, strict=True):
        block = rows[line - 1 : max(end, line - 1)]
        pieces += _with_note(block, format_, " ".join(notes[index].split())) if index in notes else block
    return "".join(pieces)


def _with_note(block: list[str], format_: str, note: str) -> list[str]:
    """The lines of an entry with its note: before the line that ends it, or behind its last words."""
    end = _RECORD_ENDS.get(format_)
    last = max((at for at, line in enumerate(block) if line.strip()), default=-1) + 1
    if format_ == "ris" and end is not None:
        last = next((at for at, line in enumerate(block) if end.match(line)), last)
    shown = {"ris": f"N1  - {note}\n", "nbib": f"GN  - {note}\n"}.get(format_, f"    [{note}]\n")
    before = block[:last]
    if before and not before[-1].endswith(("\n", "\r")):
        before[-1] += "\n"
    return [*before, shown, *block[last:]]


def _annotate_bibtex(document: str, notes: Mapping[int, str], starts: Iterable[tuple[int, int]]) -> str:
    offsets = [0]
    for row in document.split("\n"):
        offsets.append(offsets[-1] + len(row) + 1)
    heads = []
    at = 0
    for line, index in starts:
        head = _BIBTEX_HEAD.search(document, max(at, offsets[line - 1]))
        if head is None:
            break
        at = head.end()
        heads.append((at, index))
    pieces, last = [], 0
    for place, (at, index) in enumerate(heads):
        if index not in notes:
            continue
        end = heads[place + 1][0] if place + 1 < len(heads) else len(document)
        name = "audit" if _ANNOTE.search(document, at - 1, end) else "annote"
        pieces += [document[last:at], f"\n  {name} = {{{escape_text(notes[index])}}},"]
        last = at
    return "".join([*pieces, document[last:]])


def _annotate_items(document: str, notes: Mapping[int, str], *, has_notes: bool) -> str:
    try:
        data: Any = json.loads(document)
    except ValueError:
        return ""
    items = data.get("items", data.get("references")) if isinstance(data, dict) else data
    items = items if isinstance(items, list) else [data]
    for index, item in enumerate(items):
        if index not in notes or not isinstance(item, dict):
            continue
        if has_notes:
            # What the web API gives has the fields of the item in an envelope.
            fields = item["data"] if isinstance(item.get("data"), dict) else item
            before = fields.get("notes")
            note = {"note": f"<p>{html.escape(notes[index], quote=False)}</p>"}
            fields["notes"] = [*(before if isinstance(before, list) else []), note]
        else:
            item["annote"] = "\n".join(filter(None, (str(item.get("annote") or ""), notes[index])))
    return json.dumps(data, ensure_ascii=False, indent=2)


def _annotate_xml(document: str, notes: Mapping[int, str]) -> str:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False)
    try:
        root = etree.fromstring(document.encode(), parser)
    except etree.XMLSyntaxError:
        return ""
    for index, record in enumerate(root.iter("record")):
        if index in notes:
            note = etree.SubElement(record, "research-notes")
            note.text = notes[index]
    return etree.tostring(root, encoding="unicode", xml_declaration=False)
