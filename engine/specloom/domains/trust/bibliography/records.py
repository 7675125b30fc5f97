"""The records of a bibliography as they stand there, and what each names its work by: DOI, arXiv, address or PubMed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from specloom.domains.text import ARXIV, arxiv_at

from .documents import BIBTEX_START, split_records

_NAMED_ARXIV = re.compile(rf"(?i:\barxiv:\s*)({ARXIV})")
_DOI_URL = re.compile(r"https?://(?:dx\.|www\.)?doi\.org/", re.IGNORECASE)
_PUBMED_URL = re.compile(r"https?://[\w.]*ncbi\.nlm\.nih\.gov/", re.IGNORECASE)
_REMARK = re.compile(r"(?:^|\s)#.*")
_TEX = re.compile(r"[{}]|\\(?=[_%&#$~])")
# Where entries of preprints name them when they have no field for it, as search engines export them.
_PLACES = ("journal", "container-title", "number", "archive_location", "note", "howpublished", "publisher")
_CODE_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})


@dataclass(frozen=True, slots=True)
class BibliographyRecord:
    """One record: its line (in CSL-JSON its place in the list), its key, and what it names its work by.

    `identifier` is as it stands there, "" for none; of a line that is none it is the line. `problem` says why a record
    cannot be read. `address` and `is_software` are told of a record without an identifier.
    """

    line: int
    key: str = ""
    identifier: str = ""
    problem: str = ""
    address: str = ""
    is_software: bool = False


def read_records(text: str, format_: str) -> tuple[str, list[BibliographyRecord]]:
    """The format, csl-json, bibtex or refs (a reference a line), and the records; "" as format is told by looking."""
    if not format_:
        is_json = text.lstrip().startswith(("[", "{"))
        format_ = "csl-json" if is_json else "bibtex" if BIBTEX_START.search(text) else "refs"
    if format_ == "refs":
        lines = ((at, _REMARK.sub("", line).strip()) for at, line in enumerate(text.splitlines(), 1))
        records = [
            BibliographyRecord(at, identifier=find_identifier({"url": line}) or line) for at, line in lines if line
        ]
        return format_, records
    key = "id" if format_ == "csl-json" else "key"
    return format_, list(_read(split_records(text, format_), key))


def _read(records: Iterator[tuple[int, Any, str]], key: str) -> Iterator[BibliographyRecord]:
    for line, fields, problem in records:
        if problem or not fields or not isinstance(fields, Mapping):
            why = problem or ("it has no fields" if isinstance(fields, Mapping) else "it is no object")
            yield BibliographyRecord(line, problem=why)
            continue
        name, values = _to_text(fields.get(key)), _plain(fields)
        identifier = find_identifier(fields)
        yield BibliographyRecord(
            line, name, identifier, address=values.get("url", ""), is_software=not identifier and _is_software(values)
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
