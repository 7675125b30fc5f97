"""A bibliography as a document: told which format it has, read entry by entry, and what could not be read reported."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from specloom.core import Fault, dataclass, run_apart
from specloom.domains.text import ARXIV, Name, arxiv_at, to_latin
from specloom.plugins import PROCEDURES, Context, JsonObject, from_json, to_json

from ..records import Bibliography, BibliographyRecord, Unreadable
from .bibtex import ENTRY_START, parse_fields, split_bibtex, to_bibtex
from .csl import parse_item, parse_record, split_csl, split_ris, to_csl, to_ris
from .entry import BibliographyEntry, assign_keys, from_source, parse_issued
from .styles import to_apa, to_mla

FORMATS = ("csl-json", "ris", "bibtex")
LONGEST_DOCUMENT = 1_000_000
# The parser of BibTeX takes time that grows with the square of what is broken; whole bibliographies have fewer entries.
MOST_BIBTEX_ENTRIES = 5000
_RIS_START = re.compile(r"^[^\S\n]*+TY\s{0,4}-", re.MULTILINE)
_RIS_LINE = re.compile(r"\s*+[A-Z][A-Z0-9]\s{1,4}-\s")
BIBTEX_START = re.compile(r"^[^\S\n]*+@\s*+[A-Za-z]++\s*+[{(]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a document holds: its format (one of FORMATS), its entries in order, and what is wrong with the others.

    `count` and `problem_count` say how many there are, where `entries` and `problems` are only the first of them.
    """

    format: str
    entries: tuple[BibliographyEntry, ...]
    problems: tuple[Unreadable, ...]
    count: int
    problem_count: int


def parse_bibliography(text: str, format: str = "auto") -> Parsed:  # noqa: A002  the name of the tool's argument
    """The entries of a document in CSL-JSON, RIS or BibTeX.

    One bad entry is a problem of its own and never loses the others. An entry needs a title, an address, a DOI or an
    author; one with a DOI and no address gets the address of the DOI. Raises a `validation` fault for a document whose
    format cannot be told, that is too long, or that holds no entry of the named format.
    """
    format_ = find_format(text, format)
    entries: list[BibliographyEntry] = []
    problems: list[Unreadable] = []
    for index, (line, entry) in enumerate(_read(text, format_), 1):
        if isinstance(entry, str):
            problems.append(Unreadable(index=index, line=line, message=entry))
        elif not (entry.title or entry.url or entry.doi or entry.authors):
            problems.append(
                Unreadable(index=index, line=line, message="the entry has no title, address, DOI or author")
            )
        else:
            entries.append(replace(entry, url=entry.url or (f"https://doi.org/{entry.doi}" if entry.doi else "")))
    if not entries and not problems:
        raise Fault("validation", f"the bibliography holds no entry in the format {format_}")
    return Parsed(format_, tuple(entries), tuple(problems), len(entries), len(problems))


def find_format(text: str, format: str = "auto") -> str:  # noqa: A002  the name of the tool's argument
    """The format in which a document is read, one of FORMATS; a `validation` fault where it is not to be read."""
    if len(text) > LONGEST_DOCUMENT:
        raise Fault("validation", f"the bibliography is longer than {LONGEST_DOCUMENT} characters; split it")
    format_ = detect_format(text) if format in ("auto", "") else format
    if format_ not in FORMATS:
        formats = ", ".join(FORMATS)
        if format in ("auto", ""):
            advice = "references in plain words go to verify_citation, one at a time"
            raise Fault(
                "validation", f"the bibliography is none of {formats}: name its format or pass entries; {advice}"
            )
        raise Fault("validation", f"unknown bibliography format {format!r}; use auto, {formats}")
    if format_ == "bibtex" and len(ENTRY_START.findall(text)) > MOST_BIBTEX_ENTRIES:
        raise Fault("validation", f"the bibliography has more than {MOST_BIBTEX_ENTRIES} entries; split it")
    return format_


def split_records(text: str, format: str = "auto") -> Iterator[tuple[int, Any, str]]:  # noqa: A002
    """The records of a document as they stand there: line, value, and "" or what is wrong with the record.

    A value is an item of CSL-JSON, or the raw fields of BibTeX by name, all texts, with `type` and `key`.
    """
    format_ = find_format(text, format)
    if format_ == "ris":
        raise Fault("validation", "records of RIS have no fields by name; give the bibliography as CSL-JSON or BibTeX")
    yield from split_csl(text) if format_ == "csl-json" else split_bibtex(text)


def detect_format(text: str) -> str:
    """The format of a document by how it begins and what stands in it, "" when none fits."""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith(("[", "{")):
        return "csl-json"
    if start.startswith("@"):
        return "bibtex"
    if _RIS_START.search(text) or _RIS_LINE.match(start):
        return "ris"
    return "bibtex" if BIBTEX_START.search(text) else ""


def _read(text: str, format_: str) -> Iterator[tuple[int, BibliographyEntry | str]]:
    if format_ == "csl-json":
        for line, item, problem in split_csl(text):
            yield line, problem or parse_item(item)
    elif format_ == "ris":
        for line, tags, problem in split_ris(text):
            # A record that nothing ends is still a record.
            yield line, parse_record(tags) if tags else problem or "the record is empty"
    else:
        for line, fields, problem in split_bibtex(text):
            yield line, problem or parse_fields(fields)


# --- The records of a bibliography, and what each names its work by ---


_NAMED_ARXIV = re.compile(rf"(?i:\barxiv:\s*)({ARXIV})")
_DOI_URL = re.compile(r"https?://(?:dx\.|www\.)?doi\.org/", re.IGNORECASE)
_PUBMED_URL = re.compile(r"https?://[\w.]*ncbi\.nlm\.nih\.gov/", re.IGNORECASE)
_REMARK = re.compile(r"(?:^|\s)#.*")
_TEX = re.compile(r"[{}]|\\(?=[_%&#$~])")
# Where entries of preprints name them when they have no field for it, as search engines export them.
_PLACES = ("journal", "container-title", "number", "archive_location", "note", "howpublished", "publisher")
_CODE_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})


def read_records(text: str, format_: str) -> tuple[str, list[BibliographyRecord]]:
    """The format, csl-json, bibtex or refs (a reference a line), and the records; "" as format is told by looking."""
    if not format_:
        is_json = text.lstrip().startswith(("[", "{"))
        format_ = "csl-json" if is_json else "bibtex" if BIBTEX_START.search(text) else "refs"
    if format_ == "refs":
        lines = ((at, _REMARK.sub("", line).strip()) for at, line in enumerate(text.splitlines(), 1))
        records = [
            BibliographyRecord(line=at, identifier=find_identifier({"url": line}) or line) for at, line in lines if line
        ]
        return format_, records
    key = "id" if format_ == "csl-json" else "key"
    return format_, list(_identify(split_records(text, format_), key))


def _identify(records: Iterator[tuple[int, Any, str]], key: str) -> Iterator[BibliographyRecord]:
    for line, fields, problem in records:
        if problem or not fields or not isinstance(fields, Mapping):
            why = problem or ("it has no fields" if isinstance(fields, Mapping) else "it is no object")
            yield BibliographyRecord(line=line, problem=why)
            continue
        values, identifier = _plain(fields), find_identifier(fields)
        yield BibliographyRecord(
            line=line,
            key=_to_text(fields.get(key)),
            identifier=identifier,
            address=values.get("url", ""),
            is_software=not identifier and _is_software(values),
        )


def find_identifier(fields: Mapping[str, Any]) -> str:
    """What an entry names its work by, as it stands there: DOI, arXiv, address, PubMed, in this order; "" for none."""
    values = _plain(fields)
    if values.get("doi"):
        return _strip_doi(values["doi"])
    eprint, archive = values.get("eprint", ""), values.get("archiveprefix") or values.get("eprinttype") or ""
    named = values.get("arxivid") or (eprint if archive.lower() == "arxiv" or re.fullmatch(ARXIV, eprint) else "")
    named = re.sub("(?i:^arxiv:)", "", named)
    named = named or next((match[1] for key in _PLACES if (match := _NAMED_ARXIV.search(values.get(key, "")))), "")
    url = values.get("url", "")
    if not named and _DOI_URL.match(url):
        return _strip_doi(url)
    if named := named or arxiv_at(url):
        return f"arXiv:{named}"
    if values.get("pmid"):
        return f"pmid:{values['pmid'].lower().removeprefix('pmid:').strip()}"
    return values.get("pmcid") or (url if _PUBMED_URL.match(url) else "")


def _is_software(values: Mapping[str, str]) -> bool:
    """Whether an entry is a program, or leads to where programs are kept."""
    try:
        host = (urlsplit(values.get("url", "")).hostname or "").removeprefix("www.")
    except ValueError:
        host = ""
    return values.get("type", "").lower() == "software" or host in _CODE_HOSTS


def _strip_doi(text: str) -> str:
    bare = _DOI_URL.sub("", text)
    return unquote(bare) if bare != text else bare


def _plain(fields: Mapping[str, Any]) -> dict[str, str]:
    return {str(name).lower(): _to_text(value) for name, value in fields.items()}


def _to_text(value: Any) -> str:
    """A field as one line; commands and braces of TeX are no part of identifiers, and lists give their first."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(_TEX.sub("", str(value)).split())


# --- A list of entries as one text in a named style, the same bytes for the same list ---------------------------------


_SHOWN = {"apa": to_apa, "mla": to_mla}
_WRITTEN = {"bibtex": to_bibtex, "ris": to_ris, "csl-json": to_csl}
STYLES = (*_SHOWN, *_WRITTEN)


def render(entries: Sequence[BibliographyEntry], style: str = "apa", *, accessed: str = "") -> tuple[str, int]:
    """The entries in a style of STYLES, and how many: those without an address are left out, as are later equals.

    APA and MLA are sorted by how they read, the other formats by key. `accessed` (YYYY-MM-DD) is shown by APA for
    undated pages and by MLA; the interchange formats leave it out, so that they stay the same from day to day. Raises a
    `validation` fault for another style.
    """
    unique = list({entry.url: entry for entry in reversed(entries) if entry.url}.values())[::-1]
    day = parse_issued(accessed)
    seen = day if len(day) == 3 else ()
    if style in _SHOWN:
        lines = [_SHOWN[style](entry, seen) for entry in unique]
        text = "\n\n".join(sorted(lines, key=lambda line: (to_latin(line).lstrip("\"'\\ "), line)))
    elif style in _WRITTEN:
        text = _WRITTEN[style](assign_keys(unique))
    else:
        raise Fault("validation", f"unknown style {style!r}; use one of {', '.join(STYLES)}")
    return text, len(unique)


# --- Formats sources as a bibliography: those that a caller names, or those that a session has recorded ---------------


_MOST_PLACES = 20


SHORT_SOURCES = 10_000
"""Characters of sources that are formatted on the event loop: the slowest texts that are known take it 0.1 seconds."""


async def format_sources(
    context: Context, style: str, sources: Sequence[JsonObject] | None, session: str
) -> Bibliography:
    """The bibliography; named sources come before those of a session.

    Pages that are read (APA, MLA) show today as the day of access where the manuals ask for one; the interchange
    formats have no such day and stay the same from day to day.
    """
    if not sources and not session:
        raise Fault("validation", "nothing to format: give sources or a sessionId", action="fix_arguments")
    rows = sources or await find_sources(context, session)
    today = datetime.fromtimestamp(context.now(), UTC).date().isoformat()
    accessed = today if style in ("apa", "mla") else ""
    body = json.dumps(list(rows)).encode()
    text, count, skipped = await _run(context, format_rows, body, style, accessed, here=len(body) <= SHORT_SOURCES)
    places = ", ".join(skipped[:_MOST_PLACES]) + (" …" if len(skipped) > _MOST_PLACES else "")
    lack, left = ("source {} has", "was") if len(skipped) == 1 else ("sources {} have", "were")
    note = f"{lack.format(places)} neither a web address nor a DOI and {left} left out"
    return Bibliography(
        style=style,
        entry_count=count,
        bibliography=text,
        session_id=None if sources else session,
        skipped=len(skipped) or None,
        skipped_note=note if skipped else None,
    )


def format_rows(body: bytes, style: str, accessed: str) -> tuple[str, int, list[str]]:
    """What `render` makes of sources, objects in JSON, and the places (from 1) of those that it leaves out."""
    entries = [from_source({name: str(value) for name, value in source.items()}) for source in json.loads(body)]
    return *render(entries, style, accessed=accessed), [str(at) for at, entry in enumerate(entries, 1) if not entry.url]


# --- Documents and lists of any length and form, read where they hold nobody up ---------------------------------------


SECONDS = 20.0
"""Time for one document or list, the start of the process that reads it included."""
MEMORY = 1024**3
"""Bytes of address space that this process may have."""


async def read_document(context: Context, text: str, format_: str, *, most: int) -> Parsed:
    """What `parse_bibliography` gives, and the same faults, with the first `most` entries and problems.

    The document is parsed in a process of its own, since a broken one takes time that grows with the square of its
    length; so does `read_records_apart`. Fault `too_large` where that process needs more time or memory than it may.
    """
    parsed = await _run(context, parse_json, text.encode("utf-8", "replace"), format_, most)
    entries = (
        replace(
            BibliographyEntry(**{**entry, "issued": tuple(entry["issued"])}),
            authors=tuple(Name(**name) for name in entry["authors"]),
        )
        for entry in parsed["entries"]
    )
    problems = tuple(Unreadable(**problem) for problem in parsed["problems"])
    return Parsed(parsed["format"], tuple(entries), problems, parsed["count"], parsed["problem_count"])


def parse_json(body: bytes, format_: str, most: int) -> dict[str, Any]:
    """The same as JSON data, of a text in UTF-8."""
    parsed = parse_bibliography(body.decode(), format_)
    return asdict(replace(parsed, entries=parsed.entries[:most], problems=parsed.problems[:most]))


async def read_records_apart(context: Context, text: str, format_: str) -> tuple[str, list[BibliographyRecord]]:
    """What `read_records` gives, and the same faults."""
    told_format, records = await _run(context, records_json, text.encode("utf-8", "replace"), format_)
    return told_format, [from_json(BibliographyRecord, record) for record in records]


MOST_RECORDS = 2000
"""Records that are told of one text: each is looked at on the event loop once it is here."""


def records_json(body: bytes, format_: str) -> tuple[str, list[dict[str, Any]]]:
    """The same as JSON data, of a text in UTF-8; a `validation` fault for more than MOST_RECORDS."""
    told_format, records = read_records(body.decode(), format_)
    if len(records) > MOST_RECORDS:
        message = f"the bibliography has {len(records)} records, and {MOST_RECORDS} are read at most; split it"
        raise Fault("validation", message, action="fix_arguments")
    return told_format, [to_json(record) for record in records]


async def _run(context: Context, task: Callable[..., Any], body: bytes, *arguments: Any, here: bool = False) -> Any:
    """What a task makes of a body, `here` or in a process of its own; where nothing may be started, here."""
    if here or not context.is_live:
        return task(body, *arguments)
    return await run_apart(task, body, *arguments, what="bibliography", seconds=SECONDS, memory=MEMORY)


# --- The sources of a research session, where sessions are kept: the one seam between the trust tools and the
# store ----------------------------------------------------------------------------------------------------------------


PROCEDURE = "session_sources"
"""A procedure of that name takes `sessionId` and gives `sources`: rows with url, title, author, date, site and doi."""


async def find_sources(context: Context, session: str) -> list[dict[str, str]]:
    """What a session of the caller has recorded; a `session_not_found` fault where there is no such session."""
    if PROCEDURE not in PROCEDURES:
        raise Fault("session_not_found", f"there is no session {session!r}: this server keeps none")
    sources = (await context.run(PROCEDURE, {"sessionId": session})).get("sources", [])
    return [{name: str(value) for name, value in source.items() if value is not None} for source in sources]
