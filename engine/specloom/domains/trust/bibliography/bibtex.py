"""BibTeX, read through `bibtexparser` and `pylatexenc`, and written so that no value can end its field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import Final

from specloom.core import dataclass
from specloom.domains.text import Name, parse_name

from .csl import DATES, MORE, ROLES
from .dates import read_date
from .entry import (
    KIND_TABLE,
    MONTHS,
    NAMED,
    BibliographyEntry,
    Issued,
    normalize,
    parse_issued,
    read_names,
    split_file,
    to_issued,
    to_month,
)

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
            genre = {"genre": fields["type"]} if "type" in fields else {}
            entries.append((line, fields | genre | {"type": entry.entry_type.lower(), "key": entry.key}, ""))
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
    for key in filter(None, map(str.strip, fields.get("xdata", "").lower().split(","))):
        # Data that several entries share: all of it, and nothing of who the container is.
        shared = parents.get(key, {})
        fields = {name: value for name, value in shared.items() if name not in ("type", "key")} | dict(fields)
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


# --- Blocks as they stand in a document, to be written again ----------------------------------------------------------

_NO_ENTRY = re.compile(r"@\s{0,9}(?:string|preamble|comment)\b", re.IGNORECASE)
_STRING = re.compile(r"@\s{0,9}string\s{0,9}[{(]", re.IGNORECASE)
_FIELD = re.compile(r"(\s*+)([A-Za-z][\w:.-]*+)(\s*+=\s*+)")


@dataclass(frozen=True, slots=True)
class SourceBlock:
    """The text of an entry as it stands in its document; one that is not `closed` ends where the next one begins."""

    text: str
    closed: bool


def find_blocks(text: str, lines: Mapping[int, int]) -> dict[int, SourceBlock]:
    """The blocks of some entries by their indexes, of which the lines in the document are known, from 1."""
    offsets = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    at = 0
    for index in sorted(lines):
        if not 0 < lines[index] < len(offsets):
            continue
        match = ENTRY_START.search(text, max(at, offsets[lines[index] - 1]))
        while match and _NO_ENTRY.match(match[0]):
            match = ENTRY_START.search(text, match.end())
        if match is None or match.start() >= offsets[lines[index]]:
            continue
        starts[index], ends[index] = match.start(), _find_end(text, match.end() - 1)
        at = match.end()
    order = [*starts, -1]
    following = {index: starts.get(after, len(text)) for index, after in pairwise(order)}
    blocks = {}
    for index, start in starts.items():
        closed = 0 < ends[index] <= following[index]
        blocks[index] = SourceBlock(text[start : ends[index] if closed else following[index]].strip(), closed)
    return blocks


def find_strings(text: str) -> list[str]:
    """The definitions of short names in a document, as they stand there."""
    found = ((match.start(), _find_end(text, match.end() - 1)) for match in _STRING.finditer(text))
    return [text[start:end] for start, end in found if end]


def _find_end(text: str, at: int) -> int:
    """Where a block ends whose bracket opens at a place, 0 where it does not; what a backslash precedes counts not."""
    is_round, depth = text[at] == "(", 0
    for match in _BRACKETS.finditer(text, at + 1):
        sign = match[0]
        if sign == "{":
            depth += 1
        elif sign == "}":
            if not depth and not is_round:
                return match.end()
            depth -= 1
        elif sign == ")" and is_round and not depth:
            return match.end()
    return 0


_BRACKETS = re.compile(r"\\.|[{})]", re.DOTALL)


def is_readable(block: SourceBlock) -> bool:
    """Whether a block is one entry that parsers read, whatever it says."""
    return block.closed and [problem for _, _, problem in split_bibtex(block.text)] == [""]


def change_block(block: SourceBlock, values: Sequence[tuple[str, tuple[str, ...]]], key: str = "") -> str:
    """The text of a block with other raw values of fields, all else as it stands; "" where it parts into no fields.

    Each of the `values` has the names that its field may have; where there is none of them, it is added under the first
    one behind the last field. With a `key` that is the key.
    """
    if not block.closed:
        return ""
    open_ = re.search(r"[{(]", block.text)
    assert open_ is not None
    parts = split_level(block.text[open_.end() : -1], ",")
    for value, names in values:
        for at, part in enumerate(parts[1:], 1):
            match = _FIELD.match(part)
            if match and match[2].lower() in names:
                if len(split_level(part, "=")) > 2:
                    return ""
                space = part[len(part.rstrip()) :] if at == len(parts) - 1 else ""
                parts[at] = f"{match[0]}{{{value}}}{space}"
                break
        else:
            indent = _FIELD.match(parts[1]) if len(parts) > 1 else None
            new = f"{indent[1] if indent else ' '}{names[0]} = {{{value}}}"
            last = parts[-1].rstrip()
            # A comma behind the last field leaves a blank piece, which stays the last.
            end = parts.pop()[len(last) :]
            parts += [new, end] if not last and parts else [last, new + end]
    if key:
        parts[0] = key
    return f"{block.text[: open_.end()]}{','.join(parts)}{block.text[-1]}"


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


def to_biblatex(entries: Iterable[BibliographyEntry]) -> str:
    """Entries with keys as biblatex reads them: its types, its names of fields, and dates in EDTF."""
    return "\n\n".join(_to_text(entry, is_biblatex=True) for entry in entries)


_MACROS = [month[:3].lower() for month in MONTHS]
_EDTF_ONLY = re.compile(r"[~?%/]|-2[1-4]$|^-|^0")
_OF_A_BOOK = frozenset(("book", "chapter", "paper-conference"))
"""Kinds whose number is that in a series, where they are of one."""
_BIBLATEX_NAMES = {
    "journal": "journaltitle", "address": "location", "school": "institution", "annote": "annotation",
    "archiveprefix": "eprinttype",
}  # fmt: skip
_ADDITIONS = {
    "event-title": "eventtitle", "event-date": "eventdate", "event-place": "venue", "original-title": "origtitle",
    "original-date": "origdate", "original-publisher": "origpublisher", "original-publisher-place": "origlocation",
    "number-of-pages": "pagetotal", "number-of-volumes": "volumes", "chapter-number": "chapter", "part-number": "part",
    "call-number": "library", "status": "pubstate", "container-author": "bookauthor",
}  # fmt: skip
"""What biblatex calls variables and roles of CSL; any other stands under its name in CSL, which styles pass over."""


def _to_text(entry: BibliographyEntry, *, is_biblatex: bool = False) -> str:
    type_, fields = _to_fields(entry, is_biblatex=is_biblatex)
    # The month is a macro, which each style prints in its own words.
    lines = "".join(
        f"  {name} = {value if name == 'month' else f'{{{value}}}'},\n" for name, value in fields.items() if value
    )
    return f"@{type_}{{{entry.key},\n{lines}}}"


def to_fields(entry: BibliographyEntry) -> dict[str, str]:
    """The raw values of the fields of an entry as `to_bibtex` writes them, "" for those that it has not."""
    return _to_fields(entry)[1]


def _to_fields(entry: BibliographyEntry, *, is_biblatex: bool = False) -> tuple[str, dict[str, str]]:
    row = KIND_TABLE[entry.kind]
    row = {**KIND_TABLE.get(row.get("like", ""), {}), **row}
    year, month, day = (*entry.issued, 0, 0, 0)[:3]
    is_numbered = bool(row.get("numbered"))
    of_series = entry.kind in _OF_A_BOOK and bool(entry.series)
    type_ = str(row.get("biblatex" if is_biblatex else "classic", _TYPES[entry.kind]))
    container = "howpublished" if type_ == "misc" else row.get("container", "howpublished")
    number = entry.number if is_numbered else entry.series_number if of_series else entry.issue
    fields = {
        **{
            role: " and ".join(
                [*map(_to_author, getattr(entry, names)), *(["others"] if role in entry.unnamed else [])]
            )
            for role, names in NAMED.items()
        },
        **{_ADDITIONS.get(role, role): " and ".join(map(_to_author, names)) for role, names in entry.roles},
        "title": _escape_title(entry.title, entry.language),
        "shorttitle": _escape(entry.short_title),
        container: _escape(entry.container),
        "shortjournal": _escape(entry.short_container),
        "series": _escape(entry.series),
        row.get("publisher", "publisher"): _escape(entry.publisher),
        "address": _escape(entry.place),
        "eventtitle": _escape(entry.event),
        "edition": _escape(entry.edition),
        "version": _escape(entry.version),
        "type": _escape(entry.genre),
        "volume": _escape(entry.volume),
        "number": _escape(number),
        "issue": _escape(entry.issue if is_numbered or of_series else ""),
        "eid": _escape("" if is_numbered else entry.number),
        "collection-number": _escape("" if of_series else entry.series_number),
        "pages": _escape(entry.pages.replace("-", "--")).replace("-{}-", "--"),
        "year": str(year) if year else "",
        "month": _MACROS[month - 1] if month else "",
        "day": str(day) if day else "",
        "date": entry.dated if _EDTF_ONLY.search(entry.dated) else "",
        "isbn": _escape(entry.isbn),
        "issn": _escape(entry.issn),
        "doi": entry.doi.translate(_ENCODED),
        "eprint": entry.arxiv.translate(_ENCODED),
        "archiveprefix": "arXiv" if entry.arxiv else "",
        "pmid": entry.pmid.translate(_ENCODED),
        "pmcid": entry.pmcid.translate(_ENCODED),
        "url": entry.url.translate(_ENCODED),
        "urldate": entry.accessed.translate(_ENCODED),
        "langid": _escape(entry.language),
        **_to_additions(entry),
        "keywords": ", ".join(_to_keyword(word) for word in entry.keywords),
        "abstract": _escape(entry.abstract),
        "note": _escape(entry.note),
        "annote": _escape_lines(entry.annote),
        "groups": ", ".join(_to_keyword(word) for word in entry.collections),
        "file": ";".join(map(_to_file, entry.files)),
    }
    if is_biblatex:
        fields |= {"year": "", "month": "", "day": "", "date": entry.date.translate(_ENCODED)}
        fields = {_BIBLATEX_NAMES.get(name, name): value for name, value in fields.items()}
    of_kind = dict(entry.more).get("type", entry.kind if _KINDS.get(type_) != entry.kind else "")
    fields["entrysubtype"] = _SUBTYPES.get(of_kind, of_kind)
    return type_, fields


_SUBTYPES = {"article-magazine": "magazine", "article-newspaper": "newspaper", "article": "preprint"}


def _to_additions(entry: BibliographyEntry) -> dict[str, str]:
    return {_ADDITIONS.get(name, name): _escape(value) for name, value in entry.more if name != "type"}


_ENCODED_FILE = str.maketrans({"{": "", "}": "", ";": r"\;"})


def _to_file(file: str) -> str:
    """A file as reference managers list it: in three parts as it stands, a path alone with its colons marked."""
    is_parted = len(split_file(file)) > 1
    return (file if is_parted else file.replace("\\", "/").replace(":", r"\:")).translate(_ENCODED_FILE)


def _to_keyword(word: str) -> str:
    # A comma would part it, and a quote would hide one.
    return f"{{{_escape(word)}}}" if "," in word else _escape(word)


_WORD = re.compile(r"[^\W\d_][\w’'.&-]*+")
_FEWEST_TELLING = 3
"""Long words by which the case of a title is told."""


def _escape_title(title: str, language: str = "") -> str:
    """A title with braces around the words whose capitals a style that lowers titles may not touch.

    In a title in the case of headlines those are the words with a capital behind their first letter; in others all with
    a capital but the first word. Titles in other languages than English are lowered by no style.
    """
    if language and not language.lower().startswith("en"):
        return _escape(title)
    words = [match[0] for match in _WORD.finditer(title)]
    long = [word for word in words[1:] if len(word) > 3]
    is_headline = len(long) >= _FEWEST_TELLING and sum(word[0].isupper() for word in long) * 2 > len(long)
    pieces, at = [], 0
    for place, match in enumerate(_WORD.finditer(title)):
        word = match[0]
        kept = any(character.isupper() for character in word[1:]) or (
            place > 0 and word[0].isupper() and not is_headline
        )
        if kept and not _LIGATURES.search(word):
            pieces += [_escape_piece(title[at : match.start()]), f"{{{_escape_piece(word)}}}"]
            at = match.end()
    if not pieces:
        return _escape(title)
    # Blanks at the cuts belong to the text, so that pieces are escaped as they are.
    return _LIGATURES.sub(lambda sign: "{}" + sign[0], "".join([*pieces, _escape_piece(title[at:])]))


def _escape_piece(text: str) -> str:
    return _BLANKS.sub(" ", text).translate(_ESCAPES)


_BLANKS = re.compile(r"\s+")


def _escape(text: str) -> str:
    # Escaping first: the empty groups that part ligatures are no braces of the text.
    return _LIGATURES.sub(lambda sign: "{}" + sign[0], " ".join(text.split()).translate(_ESCAPES))


def _escape_lines(text: str) -> str:
    """A text of lines and paragraphs by commands, since BibTeX and biber read the end of a line as a blank."""
    paragraphs = (r" \newline ".join(map(_escape, each.split("\n"))) for each in text.split("\n\n"))
    return r" \par ".join(paragraphs)


def escape_text(text: str) -> str:
    """A text as the value of a field that TeX reads."""
    return _escape(text)


def _to_author(name: Name) -> str:
    if not name.given:
        return f"{{{_escape(name.family)}}}"
    given = name.given.removesuffix(f" {name.dropped}") if name.dropped else name.given
    family = f"{name.dropped} {name.family}" if name.dropped else name.family
    parts = (_escape(part) for part in (family, name.suffix, given) if part)
    # "and" parts names, except in braces.
    return ", ".join(f"{{{part}}}" if re.search(r"\band\b", part, re.IGNORECASE) else part for part in parts)


def parse_fields(fields: Mapping[str, str]) -> BibliographyEntry:
    """The entry of the raw fields of one block; unknown fields are left out."""
    type_ = fields.get("type", "")
    kind, subtype = _find_kind(type_, _decode(fields.get("entrysubtype", "")))
    how = fields.get("howpublished", "")
    address = re.search(r"\\url\{([^{}]*)\}", how)
    is_arxiv = _pick(fields, "archiveprefix", "eprinttype").lower() == "arxiv" and fields.get("eprint")
    arxiv = _read_verbatim(fields["eprint"]) if is_arxiv else ""
    if kind in ("webpage", "document") and arxiv and not how:
        kind = "article"
    is_numbered = bool(
        KIND_TABLE[kind].get("numbered") or KIND_TABLE.get(KIND_TABLE[kind].get("like", ""), {}).get("numbered")
    )
    number = _decode(fields.get("number", ""))
    series = _decode(fields.get("series", ""))
    of_series = kind in _OF_A_BOOK and bool(series)
    issued, dated = _parse_date(fields)
    named = _decode(fields.get("genre", ""))
    genre = _STRINGS.get(named, named) or _GENRES.get(type_, "")
    subtitle = fields.get("subtitle", "")
    title = fields.get("title", "") + (f": {subtitle}" if subtitle else "")
    roles = ((role, _parse_authors(fields.get(_ADDITIONS.get(role, role), ""))) for role in ROLES)
    more = [(name, _decode(fields.get(_ADDITIONS.get(name, name), ""))) for name in (*MORE, *DATES)]
    return normalize(
        BibliographyEntry(
            title=_decode(title),
            short_title=_decode(fields.get("shorttitle", "")),
            authors=_parse_authors(fields.get("author", "")),
            editors=_parse_authors(fields.get("editor", "")),
            translators=_parse_authors(fields.get("translator", "")),
            roles=tuple((role, names) for role, names in roles if names),
            unnamed=tuple(role for role in NAMED if _goes_on(fields.get(role, ""))),
            container=_decode(_pick(fields, "journal", "journaltitle", "booktitle") or ("" if address else how)),
            short_container=_decode(fields.get("shortjournal", "")),
            series=series,
            series_number=_decode(fields.get("collection-number", "")) or (number if of_series else ""),
            issued=issued,
            dated=dated,
            accessed=_join_date(read_date(_decode(fields.get("urldate", "")))),
            doi=_read_verbatim(fields.get("doi", "")),
            url=_read_verbatim(fields.get("url", "") or (address[1] if address else ""))
            or (f"https://arxiv.org/abs/{arxiv}" if arxiv else ""),
            kind=kind,
            genre=genre,
            publisher=_decode(_pick(fields, "publisher", "institution", "school", "organization")),
            place=_decode(_pick(fields, "location", "address")),
            event=_decode(fields.get("eventtitle", "")),
            edition=_decode(fields.get("edition", "")),
            version=_decode(fields.get("version", "")),
            volume=_decode(fields.get("volume", "")),
            number=number if is_numbered else _decode(fields.get("eid", "")),
            issue=_decode(fields.get("issue", "")) or ("" if is_numbered or of_series else number),
            pages=_decode(fields.get("pages", "")),
            isbn=_decode(fields.get("isbn", "")),
            issn=_decode(fields.get("issn", "")),
            arxiv=arxiv,
            pmid=_read_verbatim(fields.get("pmid", "")),
            pmcid=_read_verbatim(fields.get("pmcid", "")),
            language=_decode(_pick(fields, "langid", "language")),
            abstract=_decode(fields.get("abstract", "")),
            note=_decode(_pick(fields, "note", "addendum")),
            annote=_decode_lines(_pick(fields, "annote", "annotation")),
            keywords=_parse_words(fields.get("keywords", "")),
            files=tuple(_split_files(fields.get("file", ""))),
            collections=_parse_words(fields.get("groups", "")),
            key=fields.get("key", ""),
            more=(*((name, value) for name, value in more if value), *((("type", subtype),) if subtype else ())),
        )
    )


_NAMES = """
abstract addendum address annotation annote archiveprefix author booktitle collection-number crossref date day
doi edition editor eid entrysubtype eprint eprinttype eventtitle file genre groups howpublished institution isbn issn
issue journal journaltitle key keywords langid language location month note number organization pages pmcid pmid
publisher school series shortjournal shorttitle subtitle title translator type url urldate version volume xdata year
"""
READ = frozenset((*_NAMES.split(), *(_ADDITIONS.get(name, name) for name in (*ROLES, *MORE, *DATES))))
"""The fields that `parse_fields` reads, or that lead to others which it reads."""


def _find_kind(type_: str, subtype: str) -> tuple[str, str]:
    """The kind of an entry by its type and what biblatex calls its subtype, and the type of CSL that is of the kind."""
    named = _NAMED_SUBTYPES.get(subtype, subtype)
    if named in KIND_TABLE:
        return named, ""
    if named in _OTHER_TYPES:
        return _OTHER_TYPES[named], named
    return _KINDS.get(type_, "document"), ""


_NAMED_SUBTYPES = {name: kind for kind, name in _SUBTYPES.items()}
_OTHER_TYPES = read_names("csl")[1]
"""Types of CSL that are no kinds of their own, and the kind of each."""


def _parse_words(raw: str) -> tuple[str, ...]:
    return tuple(_decode(word.strip()) for word in split_level(raw, ","))


_GENRES = {"mastersthesis": "Master's thesis", "bachelorsthesis": "Bachelor's thesis"}
_STRINGS = {
    "mathesis": "Master's thesis", "phdthesis": "PhD thesis", "bathesis": "Bachelor's thesis",
    "techreport": "Technical report",
}  # fmt: skip
"""What biblatex has short names for."""


def _split_files(raw: str) -> Iterator[str]:
    """The files of an entry as reference managers list them, parted by ";": paths, or `name:path:type` as they are."""
    for file in re.split(r"(?<!\\);", raw):
        bare = file.strip().replace("$\\backslash$", "\\").translate(_BRACES)
        if bare:
            marks = _FILE_ESCAPES if len(split_file(bare)) < 2 else _OTHER_ESCAPES
            yield marks.sub(r"\1", bare)


_FILE_ESCAPES = re.compile(r"\\(.)")
_OTHER_ESCAPES = re.compile(r"\\([^:\\])")
_BRACES = str.maketrans({"{": "", "}": ""})


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
            suffix = decoded[1] if len(decoded) == 3 else ""
            names.append(Name(decoded[0], decoded[-1], suffix, _find_particle(parts[0])))
        elif (name := _parse_spoken(piece)) is not None:
            names.append(name)
    return tuple(names)


def _goes_on(raw: str) -> bool:
    """Whether a list of names ends with "and others"."""
    return [piece.lower() for piece in _split_and(" ".join(raw.split()))[-1:]] == ["others"]


def _find_particle(family: str) -> str:
    """The words in small letters that a family name begins with, which BibTeX calls its "von"."""
    words = family.split(" ")
    count = next((at for at, word in enumerate(words[:-1]) if not (word.isalpha() and word.islower())), len(words) - 1)
    return " ".join(words[:count])


def _parse_spoken(piece: str) -> Name | None:
    """A name in reading order: from its first word in small letters on it is the family name, as BibTeX has it."""
    words = piece.split(" ")
    start = next((at for at, word in enumerate(words[1:-1], 1) if word.isalpha() and word.islower()), 0)
    if start and "{" not in words[start - 1]:
        family = " ".join(words[start:])
        return Name(_decode(family), _decode(" ".join(words[:start])), "", _find_particle(family))
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


def _join_date(date: tuple[Issued, str]) -> str:
    return BibliographyEntry(issued=date[0], dated=date[1]).date


_YEARS = re.compile(r"([0-9]{4})\s?[/–—-]\s?([0-9]{4})")


def _parse_date(fields: Mapping[str, str]) -> tuple[Issued, str]:
    if fields.get("date"):
        return read_date(_decode(fields["date"]).replace("\u00a0", "~"))
    text = _decode(fields.get("year", ""))
    if years := _YEARS.fullmatch(text.strip()):
        return read_date(f"{years[1]}/{years[2]}")
    about = read_date(text)
    if about[1].endswith("~"):
        return about
    year = parse_issued(text)
    month, day = _read_month(_decode(fields.get("month", ""))), fields.get("day", "")
    number, day_of_month = month
    day_number = int(day) if day.isascii() and day.isdigit() and len(day) < 3 else day_of_month
    return (to_issued(year[0], number, day_number), "") if year else read_date(text)


def _read_month(text: str) -> tuple[int, int]:
    """The month and the day in a field that should have the month: `3`, `March`, `10~jan`, `jan 10`."""
    words = re.findall(r"[0-9]+|[^\W\d_]+", text)
    numbers = [int(word) for word in words if word.isdigit() and len(word) < 3]
    named = next((to_month(word) for word in words if to_month(word)), 0)
    if named:
        return named, numbers[0] if numbers else 0
    return (numbers[0], 0) if len(words) == 1 and numbers else (0, 0)


def _read_verbatim(text: str) -> str:
    """An address or a DOI, which TeX reads as it stands; writers that escape its signs all the same are understood."""
    bare = re.sub(r"\\url(?=\s*\{)|[{}]", "", text)
    return _ESCAPED.sub(lambda sign: _SIGNS[sign[0]], bare)


# What ends a paragraph, as which other programs have an empty line, or a line.
_BREAK = re.compile(r"\\par(?![A-Za-z])|\n[ \t\r]*+\n|(?P<line>\\\\|\\newline(?![A-Za-z]))")
_MARK = "\ue000"
"""A sign without a meaning, which stands for the end of a line while TeX is read."""


def _decode_lines(text: str) -> str:
    """The same with the lines and paragraphs that TeX makes of it."""
    marked = _BREAK.sub(lambda match: _MARK if match["line"] else _MARK * 2, text)
    return "\n".join(" ".join(line.split()) for line in _decode(marked).split(_MARK))


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
