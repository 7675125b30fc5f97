"""The blocks of a BibTeX document, read through `bibtexparser`: raw fields, strings put in, volumes referred to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

ENTRY_START = re.compile(r"@\s{0,9}[A-Za-z]{1,30}\s{0,9}[{(]")
"""How an entry begins, or an at-sign in a text looks like one."""
# A comment between two fields, which BibTeX knows only outside of entries and people write all the same.
_COMMENT: Final = re.compile(r",[ \t]*%[^\n{}\"]*$", re.MULTILINE)
_LAST_WORD: Final = re.compile(r"\s*[A-Za-z][\w-]*\s*\Z")
_OF_A_VOLUME: Final = (
    "year",
    "date",
    "month",
    "publisher",
    "editor",
    "series",
    "volume",
    "isbn",
    "organization",
    "journal",
)
"""What an entry takes from the volume that it refers to."""


def split_bibtex(text: str) -> Iterator[tuple[int, Mapping[str, str], str]]:
    """The entries of a document: line, raw fields with `type` and `key`, and "" or what is wrong with the entry.

    Of a field that is given twice the first counts, as BibTeX has it. What an entry has from the volume that it names
    by `crossref` is among its fields, and so are fields behind a comma that somebody forgot.
    """
    import logging

    from bibtexparser.entrypoint import parse_string
    from bibtexparser.model import DuplicateBlockKeyBlock, DuplicateFieldKeyBlock, ParsingFailedBlock
    from bibtexparser.model import Entry as Block

    # What it logs is in the blocks, which are reported one by one.
    logging.getLogger("bibtexparser").addHandler(logging.NullHandler())
    library = parse_string(_COMMENT.sub(",", text), parse_stack=[])
    strings: dict[str, str] = {}
    for each in library.strings:
        strings.setdefault(each.key.lower(), _resolve(str(each.value), strings))
    found: list[tuple[int, dict[str, str], str]] = []
    for block in library.blocks:
        line = (block.start_line or 0) + 1
        entry = (
            block.ignore_error_block if isinstance(block, DuplicateBlockKeyBlock | DuplicateFieldKeyBlock) else block
        )
        if isinstance(entry, Block):
            raw = [one for field in entry.fields for one in _split_unparted(field.key, str(field.value))]
            fields = {name.lower(): _resolve(value, strings) for name, value in reversed(raw)}
            found.append((line, fields | {"type": entry.entry_type.lower(), "key": entry.key}, ""))
        elif isinstance(entry, ParsingFailedBlock):
            found.append((line, {}, _to_problem(entry.error, entry.raw or "")))
    parents = {fields["key"].lower(): fields for _, fields, _ in reversed(found) if fields.get("key")}
    for line, fields, problem in found:
        yield line, _inherit(fields, parents), problem


def _split_unparted(key: str, raw: str) -> Iterator[tuple[str, str]]:
    """The fields in a raw value: where the comma behind it is missing, the next ones stand in it."""
    values = split_level(raw, "=")
    for value in values[:-1]:
        # No value has an equals sign outside its braces, so the word before one is a name.
        cut = _LAST_WORD.search(value)
        yield key, value[: cut.start()] if cut else value
        key = cut[0].strip() if cut else key
    yield key, values[-1]


def _inherit(fields: Mapping[str, str], parents: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    """The fields of an entry with those of the volume that it refers to by `crossref`; its own come first."""
    parent = parents.get(fields.get("crossref", "").strip().lower())
    if parent is None or parent.get("key") == fields.get("key"):
        return fields
    volume = {name: parent[name] for name in _OF_A_VOLUME if parent.get(name)}
    title = parent.get("booktitle") or parent.get("title", "")
    return {**volume, **({"booktitle": title} if title else {}), **fields}


def _to_problem(error: Exception, raw: str) -> str:
    """Why a block ends before its time, and how many that begin inside it are lost with it."""
    reason = " ".join(str(getattr(error, "abort_reason", error)).split()).rstrip(".")
    reason = re.sub(r"(?:^|\. )[A-Z]", lambda found: found[0].replace(".", ";").lower(), reason)
    lost = len(ENTRY_START.findall(raw, 1))
    return (reason or "it is not finished") + (f"; {lost} more that begin inside it are lost with it" if lost else "")


def _resolve(raw: str, strings: Mapping[str, str]) -> str:
    """The value of a field: quoted and braced pieces and names of strings, joined by "#"."""
    pieces = []
    for piece in map(str.strip, split_level(raw, "#")):
        if piece[:1] in ('"', "{") and len(piece) > 1:
            pieces.append(piece[1:-1])
        elif piece.lower() in strings:
            pieces.append(strings[piece.lower()])
        else:
            pieces.append(piece)
    return "".join(pieces)


def split_level(text: str, mark: str) -> list[str]:
    """A text parted at a mark outside braces and quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for at, character in enumerate(text):
        if character == '"' and depth == 0 and (at == 0 or text[at - 1] != "\\"):
            quoted = not quoted
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
        elif character == mark and depth == 0 and not quoted:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]
