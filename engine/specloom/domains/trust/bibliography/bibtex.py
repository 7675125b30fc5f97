"""BibTeX, read through `bibtexparser` and `pylatexenc`, and written so that no value can end its field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import accumulate
from typing import Final

from specloom.domains.text import Name, parse_name

from .entry import KIND_TABLE, BibliographyEntry, Issued, normalize, parse_issued, read_names, to_issued, to_month

# --- The blocks of a BibTeX document, read through `bibtexparser`: raw fields, strings put in, volumes referred
# to -------------------------------------------------------------------------------------------------------------------


ENTRY_START = re.compile(r"@\s{0,9}[A-Za-z]{1,30}\s{0,9}[{(]")
"""How an entry begins, or an at-sign in a text looks like one."""
# A comment between two fields, which BibTeX knows only outside of entries and people write all the same.
_COMMENT: Final = re.compile(r",[ \t]*+%[^\n{}\"]*+(?P<open>[{}\"])?")
_LAST_WORD: Final = re.compile(r"(?:(?<!\s)\s++|(?<![\s\w-]))[A-Za-z][\w-]*+\s*+\Z")
_OF_A_VOLUME: Final = (
    "year", "date", "month", "publisher", "editor", "series", "volume", "isbn", "organization", "journal"
)  # fmt: skip
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
    library = parse_string(_COMMENT.sub(lambda match: match[0] if match["open"] else ",", text), parse_stack=[])
    strings: dict[str, str] = {}
    for each in library.strings:
        strings.setdefault(each.key.lower(), _resolve(str(each.value), strings))
    entries: list[tuple[int, dict[str, str], str]] = []
    for block in library.blocks:
        line = (block.start_line or 0) + 1
        entry = (
            block.ignore_error_block if isinstance(block, DuplicateBlockKeyBlock | DuplicateFieldKeyBlock) else block
        )
        if isinstance(entry, Block):
            raw = [one for field in entry.fields for one in _split_unparted(field.key, str(field.value))]
            fields = {name.lower(): _resolve(value, strings) for name, value in reversed(raw)}
            entries.append((line, fields | {"type": entry.entry_type.lower(), "key": entry.key}, ""))
        elif isinstance(entry, ParsingFailedBlock):
            entries.append((line, {}, _to_problem(entry.error, entry.raw or "")))
    parents = {fields["key"].lower(): fields for _, fields, _ in reversed(entries) if fields.get("key")}
    for line, fields, problem in entries:
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
    reason = re.sub(r"(?:^|\. )[A-Z]", lambda match: match[0].replace(".", ";").lower(), reason)
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


_TYPES, _KINDS = read_names("bibtex")
# Commands for the characters that end a value, a line or a reading; braces are written so because BibTeX counts them.
_COMMANDS = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", '"': r"\textquotedbl{}", "$": r"\$",
    "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_",
}  # fmt: skip
_ESCAPES = str.maketrans(dict(_COMMANDS.items()))
# Signs that other writers escape in addresses too, although nothing is escaped there.
_SIGNS = {command.removesuffix("{}"): sign for sign, command in _COMMANDS.items()} | {r"\~": "~", r"\^": "^"}
_ESCAPED = re.compile("|".join(map(re.escape, _SIGNS)))
# What ends a field that TeX reads as it stands, in the form that an address may have instead (RFC 3986).
_ENCODED = str.maketrans({"{": "%7B", "}": "%7D", "\\": "%5C"})
# What TeX joins to one sign.
_LIGATURES = re.compile(r"(?<=-)-|(?<=`)`|(?<=')'|(?<=[!?])`|(?<=,),")


def to_bibtex(entries: Iterable[BibliographyEntry]) -> str:
    """Entries with keys as BibTeX, parted by blank lines."""
    return "\n\n".join(map(_to_text, entries))


def _to_text(entry: BibliographyEntry) -> str:
    year, month, day = (*entry.issued, 0, 0, 0)[:3]
    fields = {
        "author": " and ".join(_to_author(name) for name in entry.authors),
        "title": _escape(entry.title),
        KIND_TABLE[entry.kind].get("container", "series"): _escape(entry.container),
        KIND_TABLE[entry.kind].get("publisher", "publisher"): _escape(entry.publisher),
        "volume": _escape(entry.volume),
        "number": _escape(entry.issue),
        "pages": _escape(entry.pages.replace("-", "--")).replace("-{}-", "--"),
        "year": str(year) if year else "",
        "month": str(month) if month else "",
        "day": str(day) if day else "",
        "isbn": _escape(entry.isbn),
        "doi": entry.doi.translate(_ENCODED),
        "url": entry.url.translate(_ENCODED),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{_TYPES[entry.kind]}{{{entry.key},\n{lines}}}"


def _escape(text: str) -> str:
    # Escaping first: the empty groups that part ligatures are no braces of the text.
    return _LIGATURES.sub(lambda sign: "{}" + sign[0], " ".join(text.split()).translate(_ESCAPES))


def _to_author(name: Name) -> str:
    if not name.given:
        return f"{{{_escape(name.family)}}}"
    parts = (_escape(part) for part in (name.family, name.suffix, name.given) if part)
    # "and" parts names, except in braces.
    return ", ".join(f"{{{part}}}" if re.search(r"\band\b", part, re.IGNORECASE) else part for part in parts)


def parse_fields(fields: Mapping[str, str]) -> BibliographyEntry:
    """The entry of the raw fields of one block; unknown fields are left out."""
    kind = _KINDS.get(fields.get("type", ""), "document")
    how = fields.get("howpublished", "")
    address = re.search(r"\\url\{([^{}]*)\}", how)
    is_arxiv = _pick(fields, "archiveprefix", "eprinttype").lower() == "arxiv" and fields.get("eprint")
    eprint = f"https://arxiv.org/abs/{fields['eprint']}" if is_arxiv else ""
    return normalize(
        BibliographyEntry(
            title=_decode(fields.get("title", "")),
            authors=_parse_authors(fields.get("author", "")),
            container=_decode(
                _pick(fields, "journal", "journaltitle", "booktitle", "series") or ("" if address else how)
            ),
            issued=_parse_date(fields),
            doi=_read_verbatim(fields.get("doi", "")),
            url=_read_verbatim(fields.get("url", "") or (address[1] if address else "")) or eprint,
            kind=kind,
            publisher=_decode(_pick(fields, "publisher", "institution", "school", "organization")),
            volume=_decode(fields.get("volume", "")),
            issue=_decode(_pick(fields, "number", "issue")),
            pages=_decode(fields.get("pages", "")),
            isbn=_decode(fields.get("isbn", "")),
            key=fields.get("key", ""),
        )
    )


def _pick(fields: Mapping[str, str], *names: str) -> str:
    return next((fields[name] for name in names if fields.get(name)), "")


def _parse_authors(raw: str) -> tuple[Name, ...]:
    names = []
    for piece in _split_and(" ".join(raw.split())):
        if piece.lower() == "others":
            continue
        parts = [part.strip() for part in split_level(piece, ",")]
        if len(parts) == 1 and _is_braced(piece):
            names.append(Name(_decode(piece)))
        elif len(parts) in (2, 3) and all(parts):
            decoded = [_decode(part) for part in parts]
            names.append(Name(decoded[0], decoded[-1], decoded[1] if len(decoded) == 3 else ""))
        elif (name := _parse_spoken(piece)) is not None:
            names.append(name)
    return tuple(names)


def _parse_spoken(piece: str) -> Name | None:
    """A name in reading order: from its first word in small letters on it is the family name, as BibTeX has it."""
    words = piece.split(" ")
    start = next((at for at, word in enumerate(words[1:-1], 1) if word.isalpha() and word.islower()), 0)
    if start and "{" not in words[start - 1]:
        return Name(_decode(" ".join(words[start:])), _decode(" ".join(words[:start])))
    return parse_name(_decode(piece))


def _split_and(text: str) -> list[str]:
    pieces: list[str] = []
    current: list[str] = []
    depth = 0
    for word in text.split(" "):
        if depth == 0 and word.lower() == "and":
            pieces.append(" ".join(current))
            current = []
            continue
        depth += word.count("{") - word.count("}")
        current.append(word)
    return [piece.strip() for piece in [*pieces, " ".join(current)] if piece.strip()]


def _is_braced(text: str) -> bool:
    """Whether one pair of braces encloses all of a text."""
    depths = list(accumulate((character == "{") - (character == "}") for character in text))
    return text.startswith("{") and text.endswith("}") and 0 not in depths[:-1] and depths[-1] == 0


def _parse_date(fields: Mapping[str, str]) -> Issued:
    if fields.get("date"):
        return parse_issued(_decode(fields["date"]))
    year = parse_issued(_decode(fields.get("year", "")))
    month, day = _decode(fields.get("month", "")).strip(), fields.get("day", "")
    number = int(month) if month.isascii() and month.isdigit() and len(month) < 3 else to_month(month)
    return (
        to_issued(year[0], number, int(day) if day.isascii() and day.isdigit() and len(day) < 3 else 0) if year else ()
    )


def _read_verbatim(text: str) -> str:
    """An address or a DOI, which TeX reads as it stands; writers that escape its signs all the same are understood."""
    bare = re.sub(r"\\url(?=\s*\{)|[{}]", "", text)
    return _ESCAPED.sub(lambda sign: _SIGNS[sign[0]], bare)


def _decode(text: str) -> str:
    """A value without its TeX: accents as letters, commands as their text, braces gone."""
    if not re.search(r"[\\{}$~`'\"-]", text):
        return text
    # A per cent sign is a comment to TeX, and a mistake in a bibliography.
    return _load_decoder()(re.sub(r"(?<!\\)%", r"\\%", text))


@cache
def _load_decoder() -> Callable[[str], str]:
    from pylatexenc.latex2text import (  # type: ignore[import-untyped]
        LatexNodes2Text,
        MacroTextSpec,
        get_default_latex_context_db,
    )

    context = get_default_latex_context_db()
    written = [MacroTextSpec(command[1:-2], sign) for sign, command in _COMMANDS.items() if command.endswith("{}")]
    context.add_context_category("written here", macros=written, prepend=True)
    decoder = LatexNodes2Text(math_mode="text", latex_context=context)

    def decode(text: str) -> str:
        try:
            return str(decoder.latex_to_text(text))
        except RecursionError:  # groups in groups in groups: nobody's title, and still no reason to lose the entry
            return re.sub(r"\\[A-Za-z]+|[\\{}$]", "", text)

    return decode
