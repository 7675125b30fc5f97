"""Entries of the store as BibTeX and as CSL JSON, the same bytes for the same entry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .entries import authors_of, to_plain

_ARTICLE = "journal-article"
_OLD_CLASS = re.compile(r"([a-z-]+(?:\.[A-Z]{2})?)/")
_UNWANTED = re.compile(r"[{}\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
"""Braces, which could end a value, and what steers a terminal; blanks and line ends become one blank."""
_FIELDS = (
    ("doi", "doi"),
    ("journal", "venue"),
    ("volume", "volume"),
    ("number", "issue"),
    ("pages", "pages"),
    ("publisher", "publisher"),
    ("issn", "issn"),
)


def to_bibtex(key: str, entry: Mapping[str, Any]) -> str:
    """One BibTeX entry; empty fields are left out, and markup and braces are taken out of values."""
    year = entry.get("year")
    fields = [
        ("title", entry.get("title")),
        ("author", " and ".join(authors_of(entry))),
        ("year", year if isinstance(year, int) else ""),
        *((name, entry.get(stored)) for name, stored in _FIELDS),
    ]
    arxiv_id = entry.get("arxiv_id")
    if arxiv_id:
        fields += [("eprint", arxiv_id), ("archivePrefix", "arXiv"), ("primaryClass", _arxiv_class(entry))]
    kind = "article" if entry.get("type") == _ARTICLE else "misc"
    lines = [f"@{kind}{{{key},"]
    for name, value in fields:
        # Entities are written out first, since a brace may be one. A backslash before the closing brace would take it
        # into the value.
        text = " ".join(_UNWANTED.sub("", to_plain(str(value if value is not None else ""))).split()).rstrip("\\ ")
        if text:
            lines.append(f"  {name:<10} = {{{text}}},")
    return "\n".join([*lines, "}"]) + "\n"


def to_csl(key: str, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One CSL item in a list of its own; absent fields are left out."""
    year = entry.get("year")
    item: dict[str, Any] = {
        "id": key,
        "type": "article-journal" if entry.get("type") == _ARTICLE else "manuscript",
        "title": entry.get("title"),
        "author": [_split_name(one) for one in authors_of(entry)],
        "issued": {"date-parts": [[year]]} if isinstance(year, int) else None,
        "DOI": entry.get("doi"),
        "container-title": entry.get("venue"),
        "volume": entry.get("volume"),
        "issue": entry.get("issue"),
        "page": entry.get("pages"),
        "publisher": entry.get("publisher"),
        "ISSN": entry.get("issn"),
    }
    return [{name: value for name, value in item.items() if value not in (None, "", [])}]


def _split_name(name: str) -> dict[str, str]:
    name = " ".join(name.split())
    if "," in name:
        family, _, given = name.partition(",")
    else:
        given, _, family = name.rpartition(" ")
    parts = {"family": family.strip(), "given": given.strip()}
    return {key: value for key, value in parts.items() if value}


def _arxiv_class(entry: Mapping[str, Any]) -> str:
    listed = entry.get("arxiv_categories")
    if isinstance(listed, list) and listed:
        return str(listed[0])
    found = _OLD_CLASS.match(str(entry.get("arxiv_id") or ""))
    return found[1] if found else ""
