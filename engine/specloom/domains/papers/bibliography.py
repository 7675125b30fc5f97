"""A bibliography file as papers to fetch: each entry by the identifier that it states, or why it has none to go by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from .errors import Refusal
from .identifiers import PaperId, parse_ref

if TYPE_CHECKING:
    from specloom.plugins import Context


LARGEST = 1_000_000
"""Bytes of a file, which is some thousand entries."""

FORMATS: Mapping[str, str] = {
    "auto": "",
    "csl-json": "csl-json",
    "csl_json": "csl-json",
    "bibtex": "bibtex",
    "biblatex": "bibtex",
    "refs": "refs",
}
"""The names of formats, and how each is read; an empty one is told by looking."""

_BIBTEX = re.compile(r"^\s*@\s*[A-Za-z]+\s*[{(]", re.MULTILINE)
_ARXIV_ID = r"((?:[a-z]+(?:-[a-z]+)*(?:\.[A-Z]{2})?/[0-9]{7}|[0-9]{4}\.[0-9]{4,5})(?:v[0-9]+)?)"
_NAMED_ARXIV = re.compile(rf"(?i:\barxiv:\s*){_ARXIV_ID}")
_ARXIV_URL = re.compile(rf"https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/{_ARXIV_ID}(?:\.pdf)?/?")
_DOI_URL = re.compile(r"https?://(?:dx\.|www\.)?doi\.org/", re.IGNORECASE)
_PUBMED_URL = re.compile(r"https?://[\w.]*ncbi\.nlm\.nih\.gov/", re.IGNORECASE)
_REMARK = re.compile(r"(?:^|\s)#.*")
_TEX = re.compile(r"[{}]|\\(?=[_%&#$~])")
# Where entries of preprints name them when they have no field for it, as search engines export them.
_PLACES = ("journal", "container-title", "number", "archive_location", "note", "howpublished", "publisher")
_CODE_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
_SHOWN = 256
"""Characters of a key or of what is no identifier that are told, since a file may hold anything."""


@dataclass(frozen=True, slots=True)
class ImportedEntry:
    """One entry: its key in the file, what it names its paper by, and the paper or why there is none."""

    key: str | None
    text: str | None
    ref: PaperId | None = None
    refusal: Refusal | None = None


async def batch_from_bibliography(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Fetch the papers of a bibliography: rows of entries that name none first, then a row for each that was fetched.

    With `strict` the first entry that names none ends the call with what is wrong with it.
    """
    from .fetch import fetch_all
    from .tools import BATCH

    entries = await read_entries(context, str(given["path"]), str(given.get("format") or "auto"))
    bad = [(entry, entry.refusal) for entry in entries if entry.refusal is not None]
    if bad and given.get("strict"):
        raise bad[0][1]
    good = [(entry, entry.ref, entry.text or "") for entry in entries if entry.ref is not None]
    if len(good) > BATCH:
        raise Refusal(
            "INVALID_REF", f"TOO_MANY_REFS: the file has {len(good)} papers, and {BATCH} are taken at most; split it."
        )
    rows: list[dict[str, Any]] = [
        {"entry_key": entry.key, "ref": entry.text, "ok": False, "error": refusal.to_json(in_row=True)}
        for entry, refusal in bad
    ]
    refs = [(text, ref) for _, ref, text in good]
    fetched = await fetch_all(context, refs, force=bool(given.get("force"))) if refs else []
    done = sum(row["ok"] for row in fetched)
    keyed = [
        {**row, **({"entry_key": entry.key} if entry.key else {})}
        for (entry, _, _), row in zip(good, fetched, strict=True)
    ]
    summary = {"total": len(entries), "ok": done, "failed": len(fetched) - done, "parse_errors": len(bad)}
    return {"summary": summary, "results": [*rows, *keyed]}


async def read_entries(context: Context, path: str, format_: str) -> list[ImportedEntry]:
    """The entries of a file in their order; INVALID_REF for a file that cannot be read as a bibliography."""
    how = FORMATS.get(format_.strip().lower())
    if how is None:
        raise Refusal(
            "INVALID_REF", f"{format_[:40]!r} is no format of bibliographies; use auto, csl-json, bibtex or refs."
        )
    text = read_file(path)
    how = how or find_format(text)
    if how == "refs":
        lines = [_REMARK.sub("", line).strip() for line in text.splitlines()]
        entries = [_parse(None, find_identifier({"url": line}) or line) for line in lines if line]
        if not any(entry.ref for entry in entries):
            raise Refusal("INVALID_REF", f"{Path(path).name} holds no reference, and is neither CSL-JSON nor BibTeX.")
        return entries
    records = (await context.run("bibliography_records", {"document": text, "format": how}))["records"]
    if not records:
        raise Refusal("INVALID_REF", f"{Path(path).name} holds no entry in the format {how}.")
    if how == "csl-json" and all(one["problem"] for one in records):
        raise Refusal(
            "INVALID_REF", f"{Path(path).name} is no JSON: line {records[0]['line']}, {records[0]['problem']}."
        )
    key = "id" if how == "csl-json" else "key"
    return [to_entry(one["line"], one["fields"], one["problem"], key=key) for one in records]


def read_file(path: str) -> str:
    """The text of a file that an absolute path names; INVALID_REF for what is no such file or no UTF-8."""
    file = Path(path)
    if not file.is_absolute():
        raise Refusal("INVALID_REF", f"{path[:200]!r} is no absolute path.")
    try:
        if not file.is_file():
            raise Refusal("INVALID_REF", f"{path[:200]!r} is no file.")
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise Refusal("INVALID_REF", f"{path[:200]!r} cannot be read: {error}.") from None
    if len(data) > LARGEST:
        raise Refusal("INVALID_REF", f"{file.name} is larger than {LARGEST} bytes; split it.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refusal("INVALID_REF", f"{file.name} is no text in UTF-8.") from None


def find_format(text: str) -> str:
    """How a text begins, or what stands in it: CSL-JSON, BibTeX, or else lines with a reference each."""
    if text.lstrip().startswith(("[", "{")):
        return "csl-json"
    return "bibtex" if _BIBTEX.search(text) else "refs"


def find_identifier(fields: Mapping[str, Any]) -> str:
    """What an entry names its paper by, as it stands there: DOI, arXiv, address, PubMed, in this order; "" for none."""
    said = _plain(fields)
    if said.get("doi"):
        return _strip_doi(said["doi"])
    eprint, archive = said.get("eprint", ""), said.get("archiveprefix") or said.get("eprinttype") or ""
    named = said.get("arxivid") or (eprint if archive.lower() == "arxiv" or re.fullmatch(_ARXIV_ID, eprint) else "")
    if named:
        return f"arXiv:{re.sub('(?i:^arxiv:)', '', named)}"
    for place in _PLACES:
        if found := _NAMED_ARXIV.search(said.get(place, "")):
            return f"arXiv:{found[1]}"
    url = said.get("url", "")
    if _DOI_URL.match(url):
        return _strip_doi(url)
    if found := _ARXIV_URL.fullmatch(url):
        return f"arXiv:{found[1]}"
    if said.get("pmid"):
        return f"pmid:{said['pmid'].lower().removeprefix('pmid:').strip()}"
    if said.get("pmcid"):
        return said["pmcid"]
    return url if _PUBMED_URL.match(url) else ""


def is_software(fields: Mapping[str, Any]) -> bool:
    """Whether an entry is a program, or leads to where programs are kept."""
    said = _plain(fields)
    try:
        host = (urlsplit(said.get("url", "")).hostname or "").removeprefix("www.")
    except ValueError:
        host = ""
    return said.get("type", "").lower() == "software" or host in _CODE_HOSTS


def to_entry(line: int, fields: Any, problem: str, *, key: str) -> ImportedEntry:
    """The entry of one record; `key` is the field that has its key: `id` in CSL-JSON, where items are counted and not
    lines, and `key` in BibTeX.
    """
    if problem or not fields or not isinstance(fields, Mapping):
        why = problem[:_SHOWN] or ("it has no fields" if isinstance(fields, Mapping) else "it is no object")
        where = "line" if key == "key" else "place"
        return ImportedEntry(
            None, None, refusal=Refusal("INVALID_REF", f"The entry at {where} {line} cannot be read: {why}.")
        )
    name = _to_text(fields.get(key))[:_SHOWN] or None
    text = find_identifier(fields)
    if text:
        return _parse(name, text)
    if is_software(fields):
        url = _plain(fields).get("url", "")[:_SHOWN] or None
        why = f"{_name(name)} is a program and has no DOI; programs are not fetched."
        return ImportedEntry(name, url, refusal=Refusal("NOT_IMPLEMENTED", why))
    return ImportedEntry(
        name, None, refusal=Refusal("INVALID_REF", f"{_name(name)} has no DOI, arXiv or PubMed identifier.")
    )


def _parse(key: str | None, text: str) -> ImportedEntry:
    try:
        return ImportedEntry(key, text, parse_ref(text))
    except Refusal as refusal:
        return ImportedEntry(key, text[:_SHOWN], refusal=refusal)


def _name(key: str | None) -> str:
    return f"The entry {key[:80]!r}" if key else "An entry"


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
