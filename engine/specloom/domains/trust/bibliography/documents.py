"""A bibliography as a document: told which format it has, read entry by entry, and what could not be read reported."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import unquote, urlsplit

from specloom.core import Fault, dataclass, run_apart
from specloom.domains.text import ARXIV, Name, arxiv_at
from specloom.plugins import Context, from_json, to_json

from ..records import BibliographyRecord, Unreadable
from ..sources.classify import find_own_doi
from .bibtex import ENTRY_START, parse_fields, split_bibtex
from .csl import parse_item, split_csl
from .endnote import ENDNOTE_START, parse_endnote, split_endnote
from .entry import BibliographyEntry
from .plain import find_reference_section, looks_like_list, parse_plain, split_list
from .tagged import NBIB_START, parse_medline, parse_record, split_nbib, split_ris
from .untaken import find_untaken
from .zotero import is_zotero, parse_zotero

FORMATS = ("csl-json", "ris", "bibtex", "nbib", "endnote-xml", "zotero-json", "text")
LONGEST_DOCUMENT = 6_000_000
# The parser of BibTeX takes time that grows with the square of what is nested; whole bibliographies have fewer entries.
MOST_BIBTEX_ENTRIES = 30_000
MOST_PEOPLE = 6000
"""People of one entry; the papers of the largest collaborations have somewhat more than 5,000."""
SHORT_DOCUMENT = 20_000
"""Bytes of a document whose entries are made where they are wanted; others are made in a thread."""
_RIS_START = re.compile(r"^[^\S\n]*+TY\s{0,4}-", re.MULTILINE)
_RIS_LINE = re.compile(r"\s*+[A-Z][A-Z0-9]\s{1,4}-\s")
_CSL_START = re.compile(r"\[\s{0,99}\{\s{0,99}\"")
BIBTEX_START = re.compile(r"^[^\S\n]*+@\s*+[A-Za-z]++\s*+[{(]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a document holds: its format (one of FORMATS), its entries in order, and what is wrong with the others.

    `places` has for each entry its index among all that the document holds, from 0, and its line; `untaken` has what
    it says that was not taken. Where `entries` and
    `problems` are a part of them, `count` and `problem_count` say how many there are from where the part begins on, and
    `following` is the index at which the next part begins, None where there is none.
    """

    format: str
    entries: tuple[BibliographyEntry, ...]
    problems: tuple[Unreadable, ...]
    count: int
    problem_count: int
    places: tuple[tuple[int, int], ...] = ()
    untaken: tuple[tuple[str, ...], ...] = ()
    following: int | None = None

    def part(self, begin: int, most: int) -> Parsed:
        """What stands from an index on, up to `most` entries or as many problems, whichever come first."""
        entries = [(index, at) for at, (index, _) in enumerate(self.places) if index >= begin]
        problems = [(problem.index, at) for at, problem in enumerate(self.problems) if problem.index >= begin]
        ends = [part[most][0] for part in (entries, problems) if len(part) > most]
        following = min(ends, default=None)
        kept = [at for index, at in entries if following is None or index < following]
        told = [at for index, at in problems if following is None or index < following]
        return replace(
            self,
            entries=tuple(self.entries[at] for at in kept),
            problems=tuple(self.problems[at] for at in told),
            places=tuple(self.places[at] for at in kept),
            untaken=tuple(self.untaken[at] for at in kept),
            count=len(entries),
            problem_count=len(problems),
            following=following,
        )


def parse_bibliography(
    text: str,
    format: str = "auto",  # noqa: A002  the name of the tool's argument
    *,
    is_linked: bool = True,
    may_be_empty: bool = False,
) -> Parsed:
    """The entries of a document in one of FORMATS; `text` is a list of references in plain words.

    One bad entry is a problem of its own and never loses the others. An entry needs a title, an address, a DOI or an
    author; one with a DOI and no address gets the address of the DOI, where it `is_linked`. Raises a `validation` fault
    for a document whose format cannot be told, that is too long, or that holds no entry of the named format, unless it
    `may_be_empty`.
    """
    format_ = find_format(text, format)
    entries: list[BibliographyEntry] = []
    problems: list[Unreadable] = []
    places: list[tuple[int, int]] = []
    untaken: list[tuple[str, ...]] = []
    for index, (line, entry, raw) in enumerate(_read(text, format_)):
        if isinstance(entry, str):
            problems.append(Unreadable(index=index, line=line, message=entry))
        elif not (entry.title or entry.url or entry.doi or entry.authors or entry.text):
            problems.append(
                Unreadable(index=index, line=line, message="the entry has no title, address, DOI or author")
            )
        elif (people := _count_people(entry)) > MOST_PEOPLE:
            message = f"the entry names {people:,} people, and {MOST_PEOPLE:,} are read at most"
            problems.append(Unreadable(index=index, line=line, message=message))
        else:
            places.append((index, line))
            untaken.append(find_untaken(format_, raw, entry))
            linked = f"https://doi.org/{entry.doi}" if entry.doi and is_linked else ""
            entries.append(replace(entry, url=entry.url or linked))
    if not entries and not problems and not may_be_empty:
        message = f"the bibliography holds no entry in the format {format_}"
        raise Fault("validation", message, action="fix_arguments")
    return Parsed(format_, tuple(entries), tuple(problems), len(entries), len(problems), tuple(places), tuple(untaken))


def _count_people(entry: BibliographyEntry) -> int:
    groups = (entry.authors, entry.editors, entry.translators, *(people for _, people in entry.roles))
    return sum(map(len, groups))


def find_format(text: str, format: str = "auto") -> str:  # noqa: A002  the name of the tool's argument
    """The format in which a document is read, one of FORMATS; a `validation` fault where it is not to be read."""
    if len(text) > LONGEST_DOCUMENT:
        message = f"the bibliography is longer than {LONGEST_DOCUMENT} characters; split it"
        raise Fault("validation", message, action="fix_arguments")
    format_ = detect_format(text) if format in ("auto", "") else format
    if format_ not in FORMATS:
        formats = ", ".join(FORMATS)
        if format in ("auto", ""):
            advice = "no line of it has a year, an address or an identifier, as references in plain words have"
            message = f"the bibliography is none of {formats}: name its format; {advice}"
            raise Fault("validation", message, action="fix_arguments")
        message = f"unknown bibliography format {format!r}; use auto, {formats}"
        raise Fault("validation", message, action="fix_arguments")
    if format_ == "bibtex" and len(ENTRY_START.findall(text)) > MOST_BIBTEX_ENTRIES:
        message = f"the bibliography has more than {MOST_BIBTEX_ENTRIES} entries; split it"
        raise Fault("validation", message, action="fix_arguments")
    return format_


def split_records(text: str, format: str = "auto") -> Iterator[tuple[int, Any, str]]:  # noqa: A002
    """The records of a document as they stand there: line, value, and "" or what is wrong with the record.

    A value is an item of CSL-JSON, or the raw fields of BibTeX by name, all texts, with `type` and `key`.
    """
    format_ = find_format(text, format)
    if format_ not in ("csl-json", "bibtex"):
        name = format_.upper() if format_ != "text" else "plain words"
        message = f"records of {name} have no fields by name; give the bibliography as CSL-JSON or BibTeX"
        raise Fault("validation", message, action="fix_arguments")
    yield from split_csl(text) if format_ == "csl-json" else split_bibtex(text)


def detect_format(text: str) -> str:
    """The format of a document by how it begins and what stands in it, "" when none fits."""
    start = text.lstrip("\ufeff \t\r\n")
    # A number or a name in brackets numbers a reference; an array has an object or nothing in its own.
    if start.startswith(("[", "{")) and not _NUMBERED.match(start):
        return "zotero-json" if is_zotero(start) else "csl-json"
    if start.startswith("@"):
        return "bibtex"
    if start.startswith("<") and ENDNOTE_START.match(start):
        return "endnote-xml"
    if _RIS_START.search(text) or _RIS_LINE.match(start):
        return "ris"
    if NBIB_START.match(start):
        return "nbib"
    if BIBTEX_START.search(text):
        return "bibtex"
    return "text" if looks_like_list(text) else ""


_NUMBERED = re.compile(r"\[\s{0,2}(?:[0-9]{1,6}|[^\W\d_][^\s\[\]{}\",:]{1,24})\s{0,2}\]\s*[^\s,\]]")


def _read(text: str, format_: str) -> Iterator[tuple[int, BibliographyEntry | str, Any]]:
    if format_ == "csl-json":
        for line, item, problem in split_csl(text):
            yield line, problem or parse_item(item), item
    elif format_ == "zotero-json":
        for line, item, problem in split_csl(text):
            yield line, problem or parse_zotero(item), item
    elif format_ == "ris":
        for line, tags, problem in split_ris(text):
            # A record that nothing ends is still a record.
            yield line, parse_record(tags) if tags else problem or "the record is empty", tags
    elif format_ == "nbib":
        for line, tags, problem in split_nbib(text):
            yield line, problem or parse_medline(tags), tags
    elif format_ == "endnote-xml":
        for line, record, problem in split_endnote(text):
            yield line, problem or parse_endnote(record), None
    elif format_ == "text":
        before: BibliographyEntry | None = None
        for line, reference in split_list(text):
            entry = parse_plain(reference, before)
            before = before if isinstance(entry, str) else entry
            yield line, entry, None
    else:
        for line, fields, problem in split_bibtex(text):
            yield line, problem or parse_fields(fields), fields


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


# --- Documents and lists of any length and form, read where they hold nobody up ---------------------------------------


SECONDS = 20.0
"""Time for one document or list, the start of the process that reads it included."""
MEMORY = 1024**3
"""Bytes of address space that this process may have."""


async def read_document(
    context: Context,
    text: str,
    format_: str,
    *,
    most: int,
    begin: int = 0,
    is_linked: bool = True,
    may_be_empty: bool = False,
) -> Parsed:
    """A part of what `parse_bibliography` gives, and the same faults: `most` entries or problems from an index on.

    The document is parsed in a process of its own, since a broken one takes time that grows with the square of its
    length; so does `read_records_apart`. Fault `too_large` where that process needs more time or memory than it may.
    """
    given = text.encode("utf-8", "replace")
    parsed = await run_reading(context, parse_json, given, format_, begin, most, is_linked, may_be_empty)
    if context.is_live and len(given) > SHORT_DOCUMENT:
        return await asyncio.to_thread(_to_parsed, parsed)
    return _to_parsed(parsed)


def _to_parsed(parsed: Mapping[str, Any]) -> Parsed:
    """What `parse_json` made the data of."""
    entries = tuple(map(entry_from_json, parsed["entries"]))
    problems = tuple(Unreadable(**problem) for problem in parsed["problems"])
    places = tuple((index, line) for index, line in parsed["places"])
    untaken = tuple(map(tuple, parsed["untaken"]))
    return Parsed(**{**parsed, "entries": entries, "problems": problems, "places": places, "untaken": untaken})


def entry_from_json(data: Mapping[str, Any]) -> BibliographyEntry:
    """The entry that `asdict` made the data of."""
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    for name in ("authors", "editors", "translators"):
        fields[name] = tuple(Name(**each) for each in data[name])
    fields["roles"] = tuple((role, tuple(Name(**each) for each in names)) for role, names in data["roles"])
    fields["more"] = tuple((name, value) for name, value in data["more"])
    return BibliographyEntry(**fields)


def parse_json(
    body: bytes, format_: str, begin: int, most: int, is_linked: bool = True, may_be_empty: bool = False
) -> dict[str, Any]:
    """The same as JSON data, of a text in UTF-8."""
    parsed = parse_bibliography(body.decode(), format_, is_linked=is_linked, may_be_empty=may_be_empty)
    return asdict(parsed.part(begin, most))


async def read_records_apart(context: Context, text: str, format_: str) -> tuple[str, list[BibliographyRecord]]:
    """What `read_records` gives, and the same faults."""
    told_format, records = await run_reading(context, records_json, text.encode("utf-8", "replace"), format_)
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


LONGEST_SOURCE = 5_000_000
"""Characters of a document that are looked through for its references."""


async def read_references(context: Context, address: str) -> tuple[str, str]:
    """The references under an address and their format: a bibliography as it is, and else a section in plain words.

    That is the section of references of a page, a PDF, an office document, a kept text, or the PDF of a stored paper by
    its DOI, arXiv identifier or `@` and cite key. Raises a `validation` fault where the document has none, and what
    reading it raises.
    """
    text = await _read_source(context, address)
    if format_ := _find_leading_format(text):
        return text, format_
    section = find_reference_section(text)
    if section is None:
        message = (
            f"{address[:200]} has no section of references: no heading such as References or Bibliography stands "
            "before a list in it; pass the list itself as bibliography"
        )
        raise Fault("validation", message, action="fix_arguments")
    return section, "text"


async def read_stored_references(context: Context, address: str) -> tuple[str, str]:
    """The same of a stored paper or a kept text alone, so that nobody is asked; a `validation` fault for a page."""
    if "://" in address and not address.startswith(_KEPT):
        message = f"{address[:200]} is a page, which is not read here; audit_bibliography takes it as source"
        raise Fault("validation", message, action="fix_arguments", argument="source")
    return await read_references(context, address)


_KEPT = "research://"
"""How the addresses of kept texts begin."""


async def _read_source(context: Context, address: str) -> str:
    """The text of a document; of a page that cannot be read, that of the stored PDF of the work at its address."""
    whole = await context.read_artifact(address)
    if whole is not None:
        return whole.text
    if "://" not in address:
        stored = await context.run("stored_text", {"ref": address})
        if stored.get("kind") == "stored_pdf":
            return str(stored["text"])
        lacking = "has no PDF with a text in the paper store" if stored.get("kind") else "is not in the paper store"
        message = (
            f"{address[:200]} {lacking}; give the address of a page or document, or fetch the paper first "
            "(doiget_fetch_paper)"
        )
        raise Fault("not_found", message, action="fix_arguments")
    try:
        page = await context.run("read_page", {"url": address, "mode": "full", "max_length": LONGEST_SOURCE})
    except Fault as fault:
        doi = find_own_doi(address)
        stored = await context.run("stored_text", {"doi": doi}) if doi else {}
        if stored.get("kind") != "stored_pdf":
            raise
        context.notice(f"{address[:200]} could not be read ({fault.kind}); the references are those of the stored PDF.")
        return str(stored["text"])
    return str(page.get("content") or "")


def _find_leading_format(text: str) -> str:
    """The format of a text that is a bibliography from its first sign on; "" for one that may only speak of one."""
    start = text.lstrip("\ufeff \t\r\n")
    begins = {
        "bibtex": BIBTEX_START,
        "ris": _RIS_START,
        "nbib": NBIB_START,
        "endnote-xml": ENDNOTE_START,
        "csl-json": _CSL_START,
    }
    return next((format_ for format_, sign in begins.items() if sign.match(start)), "")


async def run_reading(
    context: Context, task: Callable[..., Any], body: bytes, *arguments: Any, here: bool = False
) -> Any:
    """What a task makes of a body, `here` or in a process of its own; where nothing may be started, here."""
    if here or not context.is_live:
        return task(body, *arguments)
    return await run_apart(task, body, *arguments, what="bibliography", seconds=SECONDS, memory=MEMORY)
