"""Tagged formats of reference managers: RIS and the NBIB of PubMed, written and read.

Both are one tag a line, and files are seldom as strict as a library would have them (one blank before the bar, none
behind it, wrapped lines, a record that nothing ends), so they are read here: of such files `rispy` loses records
without a word, and `nbib` refuses all. https://en.wikipedia.org/wiki/RIS_(file_format),
https://www.nlm.nih.gov/bsd/mms/medlineelements.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from specloom.domains.text import Name, parse_name

from .dates import find_season, season_of, with_season
from .entry import (
    KIND_TABLE,
    MONTHS,
    VERSIONED,
    BibliographyEntry,
    Issued,
    clean,
    find_path,
    normalize,
    parse_issued,
    read_names,
    to_issued,
    to_month,
)

Fields = list[tuple[str, str]]

# --- RIS --------------------------------------------------------------------------------------------------------------

_RIS_TYPES, _RIS_KINDS = read_names("ris")
_LINE = re.compile(r"^\s*([A-Z][A-Z0-9])\s{0,4}-(?:\s(.*))?$")
_ARXIV = re.compile(r"(?i:arxiv:\s*)(\S{3,40})")


def to_ris(entries: Iterable[BibliographyEntry]) -> str:
    """Entries with keys as RIS records, parted by blank lines.

    The reader's own note alone goes on in further lines, as EndNote and Zotero have it; none of them begins as a tag.
    """
    return "\n\n".join("\n".join(f"{tag}  - {value}".rstrip() for tag, value in _to_lines(entry)) for entry in entries)


def _to_lines(entry: BibliographyEntry) -> Fields:
    first, _, last = entry.pages.partition("-")
    is_book = entry.kind == "book"
    season = season_of(entry.date)
    lines = [("TY", _RIS_TYPES[entry.kind]), ("ID", entry.key), ("TI", entry.title), ("ST", entry.short_title)]
    lines += [("AU", to_inverted(name)) for name in entry.authors]
    lines += [("A3" if is_book else "A2", to_inverted(name)) for name in entry.editors]
    lines += [("A4", to_inverted(name)) for name in entry.translators]
    lines += [
        ("PY", str(entry.issued[0]) if entry.issued else ""),
        ("DA", _to_date(entry.issued, season) if len(entry.issued) > 1 or (entry.issued and season) else ""),
        ("Y2", entry.accessed.replace("-", "/") if re.fullmatch(r"[0-9]{4}(-[0-9]{2}){0,2}", entry.accessed) else ""),
        ("T2", entry.container),
        ("J2", entry.short_container),
        ("T3", entry.series),
        ("PB", entry.publisher),
        ("CY", entry.place),
        ("ET", entry.edition or entry.version),
        ("VL", entry.volume),
        ("IS", entry.issue),
        ("M1", entry.number),
        ("M3", entry.genre),
        ("SP", first),
        ("EP", last),
        ("SN", entry.isbn),
        ("SN", entry.issn),
        ("DO", entry.doi),
        ("AN", entry.arxiv and f"arXiv:{entry.arxiv}"),
        ("AN", entry.pmid and f"PMID:{entry.pmid}"),
        ("AN", entry.pmcid and f"PMCID:{entry.pmcid}"),
        ("C3", entry.event),
        ("LA", entry.language),
        ("AB", entry.abstract),
    ]
    lines += [("KW", word) for word in entry.keywords]
    lines += [("N1", entry.note), ("RN", entry.annote), ("UR", entry.url)]
    lines += [("L1", find_path(file)) for file in entry.files]
    values = ((tag, _to_continued(value) if tag in _OF_LINES else " ".join(value.split())) for tag, value in lines)
    return [*((tag, value) for tag, value in values if value), ("ER", "")]


_OF_LINES = ("RN",)
"""The tags whose values have lines."""


def _to_continued(text: str) -> str:
    """A text with its lines; one that would be read as a tag stands behind the line before it."""
    lines: list[str] = []
    for line in (" ".join(line.split()) for line in text.strip().split("\n")):
        if lines and _LINE.match(line):
            while not lines[-1]:
                lines.pop()
            lines[-1] = f"{lines[-1]} {line}"
        else:
            lines.append(line)
    return "\n".join(lines)


def to_inverted(name: Name) -> str:
    """A name with its family name first, as these formats and EndNote have it."""
    # A comma at the end says that the name is not to be turned round.
    return ", ".join(filter(None, (name.family, name.given, name.suffix))) if name.given else f"{name.family},"


def _to_date(issued: Issued, season: str) -> str:
    year, month, day = (*issued, 0, 0)[:3]
    return f"{year:04}/{f'{month:02}' if month else ''}/{f'{day:02}' if day else ''}/{season}"


def split_ris(text: str) -> Iterator[tuple[int, Fields, str]]:
    """The records of a document: line, tags in order, and "" or what is wrong with the record."""
    fields: Fields = []
    start, problem = 1, ""
    is_after_empty = False
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line.lstrip("\ufeff"))
        if match is None:
            if line.strip() and fields:
                # A long value goes on in the next line.
                tag, value = fields[-1]
                end = ("\n\n" if is_after_empty else "\n") if tag in _OF_LINES else " "
                fields[-1] = (tag, f"{value}{end}{line.strip()}")
            elif line.strip():
                problem = problem or "text before the first tag"
                start = number
            is_after_empty = not line.strip()
            continue
        is_after_empty = False
        tag, value = match[1], (match[2] or "").strip()
        if tag == "TY" and fields:
            yield start, fields, problem or "the record has no ER line"
            fields, problem = [], ""
        if not fields:
            start = number
        if tag == "ER":
            yield start, fields, problem
            fields, problem = [], ""
        else:
            fields.append((tag, value))
    if fields or problem:
        yield start, fields, problem or "the last record has no ER line"


def parse_record(fields: Fields) -> BibliographyEntry:
    """The entry of the tags of one record; unknown tags are left out."""
    first = _to_first(fields)
    kind = _RIS_KINDS.get(first.get("TY", "").upper(), "document")
    is_book = kind == "book"
    numbers = [value for tag, value in fields if tag == "SN"]
    is_versioned = kind in VERSIONED
    issued = parse_issued(_pick(first, "DA", "PY", "Y1").rstrip("/ ")) or parse_issued(_pick(first, "PY", "Y1"))
    season = find_season(_pick(first, "DA", "Y1", "PY"))
    named = [value for tag, value in fields if tag == "AN"]
    # Zotero writes each of one's own notes as another remark.
    notes = [value for tag, value in fields if tag == "N1" and value]
    arxiv = next((match[1] for value in (*named, first.get("M1", "")) if (match := _ARXIV.fullmatch(value))), "")
    return normalize(
        BibliographyEntry(
            title=_pick(first, "TI", "T1", "CT") or (first.get("BT", "") if is_book else ""),
            short_title=_pick(first, "ST"),
            authors=_to_names(fields, "AU", "A1"),
            editors=_to_names(fields, "ED", "A3" if is_book else "A2"),
            translators=_to_names(fields, "A4"),
            container=_pick(first, "T2", "JO", "JF", "BT", "JA", "J2") if not is_book else _pick(first, "T2"),
            short_container=_pick(first, "J2", "JA") if "T2" in first or "JF" in first or "JO" in first else "",
            series=first.get("T3", ""),
            issued=issued,
            dated=with_season(issued, season),
            accessed=_to_day(first.get("Y2", "")),
            doi=_pick(first, "DO"),
            url=_pick(first, "UR", "L2"),
            kind=kind,
            genre=first.get("M3", ""),
            publisher=_pick(first, "PB"),
            place=_pick(first, "CY", "PP"),
            edition="" if is_versioned else first.get("ET", ""),
            version=first.get("ET", "") if is_versioned else "",
            event=first.get("C3", ""),
            volume=_pick(first, "VL"),
            issue=_pick(first, "IS"),
            number=_find_number(first, kind, arxiv),
            pages="-".join(filter(None, (first.get("SP", ""), first.get("EP", "")))),
            isbn=next((number for number in numbers if not _ISSN.fullmatch(number)), ""),
            issn=next((number for number in numbers if _ISSN.fullmatch(number)), ""),
            arxiv=arxiv,
            pmid=_find_accession(named, _PMID),
            pmcid=_find_accession(named, _PMCID),
            language=first.get("LA", ""),
            abstract=_pick(first, "AB", "N2"),
            note=first.get("N1", ""),
            annote="\n\n".join([*(value for tag, value in fields if tag == "RN"), *notes[1:]]),
            keywords=tuple(value for tag, value in fields if tag == "KW"),
            files=tuple(value for tag, value in fields if tag == "L1"),
            key=_pick(first, "ID"),
        )
    )


def _find_number(first: dict[str, str], kind: str, arxiv: str) -> str:
    """What M1 has, where that is a number of the work and no other name of its preprint."""
    is_preprint = bool(arxiv) and _ARXIV.fullmatch(first.get("M1", "")) is not None
    has_number = bool(KIND_TABLE[kind].get("numbered")) or "IS" in first
    return first.get("M1", "") if has_number and not is_preprint else ""


_ISSN = re.compile(r"[0-9]{4}-?[0-9]{3}[0-9Xx]")
_PMID = re.compile(r"(?i:pmid:?\s{0,3})?([0-9]{4,9})")
_PMCID = re.compile(r"(?i:pmcid:?\s{0,3})?(?i:(pmc[0-9]{3,10}))")


def _find_accession(named: Iterable[str], pattern: re.Pattern[str]) -> str:
    return next((match[1] for value in named if (match := pattern.fullmatch(value))), "")


def _to_first(fields: Fields) -> dict[str, str]:
    first: dict[str, str] = {}
    for tag, value in fields:
        if value:
            first.setdefault(tag, value)
    return first


def _pick(first: dict[str, str], *tags: str) -> str:
    return next((first[tag] for tag in tags if tag in first), "")


def _to_names(fields: Fields, *tags: str) -> tuple[Name, ...]:
    return tuple(name for tag, value in fields if tag in tags and (name := parse_inverted(value)))


def _to_day(text: str) -> str:
    return BibliographyEntry(issued=parse_issued(text.rstrip("/ "))).date


def parse_inverted(value: str) -> Name | None:
    """A name with its family name first; a comma at its end says that it is one whole."""
    value = clean(value)
    if value.endswith(","):
        return Name(value[:-1].strip())
    parts = [part.strip() for part in value.split(",")]
    if len(parts) in (2, 3) and all(parts):
        return Name(parts[0], parts[1], parts[2] if len(parts) == 3 else "")
    return parse_name(value)


# --- NBIB, as PubMed exports it ---------------------------------------------------------------------------------------

NBIB_START = re.compile(r"^PMID\s{0,3}-\s", re.MULTILINE)
_NBIB_LINE = re.compile(r"([A-Z]{2,4})\s{0,3}- (.*)")
_MEDLINE_TYPES, _KINDS = read_names("medline", ",")
_DAY = re.compile(r"([0-9]{4}) ([A-Z][a-z]{2})(?: ([0-9]{1,2}))?(?![0-9a-z-])")
_SHORT_END = re.compile(r"(?<![0-9])([0-9]{2,12})-([0-9]{1,12})(?![0-9])")


def to_nbib(entries: Iterable[BibliographyEntry]) -> str:
    """Entries as records of MEDLINE, which are made for articles: other kinds keep what those have."""
    return "\n\n".join(
        "\n".join(f"{tag:<4}- {' '.join(value.split())}" for tag, value in _to_medline(entry)) for entry in entries
    )


def _to_medline(entry: BibliographyEntry) -> Fields:
    year, month, day = (*entry.issued, 0, 0, 0)[:3]
    dated = [str(year) if year else "", MONTHS[month - 1][:3] if month else "", str(day) if day else ""]
    type_ = _MEDLINE_TYPES.get(entry.kind, "")
    lines = [
        ("ISBN", entry.isbn),
        ("IS", entry.issn),
        ("VI", entry.volume),
        ("IP", entry.issue),
        ("DP", " ".join(filter(None, [*dated, season_of(entry.date)]))),
        ("TI", entry.title if entry.title[-1:] in ("", ".", "?", "!") else f"{entry.title}."),
        ("PG", entry.pages),
        ("LID", entry.doi and f"{entry.doi} [doi]"),
        ("AB", entry.abstract),
    ]
    lines += [("FAU", to_inverted(name)) for name in entry.authors if name.given]
    lines += [("CN", name.family) for name in entry.authors if not name.given]
    lines += [("FED", to_inverted(name)) for name in entry.editors]
    lines += [
        ("LA", entry.language),
        ("PT", " ".join(map(_to_title_case, type_.split()))),
        ("PL", entry.place),
        ("PB", entry.publisher),
        ("EN", entry.edition),
        ("CTI", entry.series),
        ("TA", entry.short_container),
        ("JT", entry.container),
    ]
    lines += [("OT", word) for word in entry.keywords]
    lines += [("PMC", entry.pmcid), ("GN", entry.note)]
    # A record begins with its number, also where it has none.
    return [("PMID", entry.pmid), *((tag, value) for tag, value in lines if value)]


def _to_title_case(word: str) -> str:
    return word[:1].upper() + word[1:]


def split_nbib(text: str) -> Iterator[tuple[int, Fields, str]]:
    """The records of a document: line, tags in order, and "" or what is wrong with the record."""
    fields: Fields = []
    start = 1
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        match = _NBIB_LINE.match(line)
        if match is None:
            if line.strip() and fields:
                tag, value = fields[-1]
                fields[-1] = (tag, f"{value} {line.strip()}")
            elif line.strip():
                yield number, [], "text before the first tag"
            continue
        if match[1] == "PMID" and fields:
            yield start, fields, ""
            fields = []
        if not fields:
            start = number
        fields.append((match[1], match[2].strip()))
    if fields:
        yield start, fields, ""


def parse_medline(fields: Fields) -> BibliographyEntry:
    """The entry of the tags of one record of MEDLINE; unknown tags are left out."""
    first = _to_first(fields)
    kinds = [_KINDS[value.lower()] for tag, value in fields if tag == "PT" and value.lower() in _KINDS]
    kind = kinds[0] if kinds else "book" if "BTI" in first and "TI" not in first else "article-journal"
    dated = first.get("DP", "")
    day = _DAY.match(dated)
    issued = to_issued(int(day[1]), to_month(day[2]), int(day[3] or 0)) if day else parse_issued(dated)
    numbers = [value for tag, value in fields if tag in ("LID", "AID")]
    doi = next((value.removesuffix("[doi]").strip() for value in numbers if value.endswith("[doi]")), "")
    elsewhere = next((value.removesuffix("[pii]").strip() for value in numbers if value.endswith("[pii]")), "")
    people = ("FAU", "AU") if "FAU" in first else ("AU",)
    editors = "FED" if "FED" in first else "ED"
    return normalize(
        replace(
            BibliographyEntry(),
            title=_pick(first, "TI", "BTI", "TT").rstrip(".").removeprefix("[").removesuffix("]"),
            authors=(*_to_names(fields, people[0]), *(Name(value) for tag, value in fields if tag == "CN")),
            editors=_to_names(fields, editors),
            container=_pick(first, "JT", "TA") or (first.get("BTI", "") if "TI" in first else ""),
            short_container=first.get("TA", "") if "JT" in first else "",
            series=first.get("CTI", ""),
            issued=issued,
            dated=with_season(issued, find_season(dated)),
            doi=doi,
            kind=kind,
            publisher=first.get("PB", ""),
            place=_pick(first, "PL") if kind != "article-journal" else "",
            edition=first.get("EN", ""),
            volume=first.get("VI", ""),
            issue=first.get("IP", ""),
            pages=_SHORT_END.sub(_to_whole_end, first.get("PG", "")) or elsewhere,
            isbn=first.get("ISBN", "").partition(" ")[0],
            issn=first.get("IS", "").partition(" ")[0],
            pmid=first.get("PMID", ""),
            pmcid=first.get("PMC", ""),
            language=first.get("LA", ""),
            abstract=first.get("AB", ""),
            note=first.get("GN", ""),
            keywords=tuple(value for tag, value in fields if tag in ("MH", "OT", "KW")),
            key=f"pmid{first['PMID']}" if first.get("PMID") else "",
        )
    )


def _to_whole_end(match: re.Match[str]) -> str:
    """ "123-8" means "123-128"."""
    start, end = match[1], match[2]
    return f"{start}-{start[: len(start) - len(end)]}{end}" if len(end) < len(start) else match[0]
