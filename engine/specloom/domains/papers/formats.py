"""An entry of the store as text: TOML in one fixed layout, BibTeX and CSL JSON; the same bytes for the same entry."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

from .entries import authors_of, to_plain
from .errors import PaperFault

INLINE = frozenset({"repaired_fields"})
"""Tables that stand inside another table, on one line."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SPECIAL = re.compile(r'[\\"\x00-\x1f\x7f\ud800-\udfff]')
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ARTICLE = "journal-article"
_OLD_CLASS = re.compile(r"([a-z-]+(?:\.[A-Z]{2})?)/")
_UNWANTED = re.compile(r"[{}\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
"""Braces, which could end a value, and what steers a terminal; blanks and line ends become one blank."""
_BIBTEX = {
    "doi": "doi",
    "journal": "venue",
    "volume": "volume",
    "number": "issue",
    "pages": "pages",
    "publisher": "publisher",
    "issn": "issn",
}
_CSL = {
    "DOI": "doi",
    "container-title": "venue",
    "volume": "volume",
    "issue": "issue",
    "page": "pages",
    "publisher": "publisher",
    "ISSN": "issn",
}


def write_toml(entry: Mapping[str, Any]) -> str:
    """The entry with `schema_version` first, then keys in alphabetical order, then tables, each after an empty line.

    STORE_ERROR for a table inside a table, which this layout has no place for: nothing is dropped silently.
    """
    plain = sorted(key for key, value in entry.items() if not isinstance(value, Mapping))
    lines = [_pair(key, entry[key]) for key in sorted(plain, key=lambda key: key != "schema_version")]
    for name in sorted(set(entry) - set(plain)):
        lines += ["", f"[{_key(name)}]"]
        for key, value in sorted(entry[name].items()):
            if isinstance(value, Mapping) and key not in INLINE:
                raise PaperFault(
                    "STORE_ERROR", f"The entry cannot be written: [{name}.{key}] is a table inside a table."
                )
            lines.append(_pair(key, value))
    return "\n".join(lines) + "\n"


def _pair(key: str, value: Any) -> str:
    return f"{_key(key)} = {_value(value, key)}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quote(key)


def _value(value: Any, key: str) -> str:
    if isinstance(value, str):
        lines = [_SPECIAL.sub(_escape, line) for line in value.split("\n")]
        return f'"{lines[0]}"' if len(lines) == 1 else '"""\n{}"""'.format("\n".join(lines))
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list):
        return "[" + ", ".join(_quote(one) if isinstance(one, str) else _value(one, key) for one in value) + "]"
    if isinstance(value, Mapping) and key in INLINE:
        return "{ " + ", ".join(_pair(name, one) for name, one in sorted(value.items())) + " }"
    raise PaperFault("STORE_ERROR", f"The entry cannot be written: {key} is a {type(value).__name__} inside a list.")


def _quote(text: str) -> str:
    return f'"{_SPECIAL.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _ESCAPES.get(character) or ("\ufffd" if character >= "\ud800" else f"\\u{ord(character):04X}")


def to_bibtex(key: str, entry: Mapping[str, Any]) -> str:
    """One BibTeX entry; empty fields are left out, and markup and braces are taken out of values."""
    year, arxiv_id = entry.get("year"), entry.get("arxiv_id")
    fields: dict[str, Any] = {
        "title": entry.get("title"),
        "author": " and ".join(authors_of(entry)),
        "year": year if isinstance(year, int) else None,
        **{name: entry.get(stored) for name, stored in _BIBTEX.items()},
    }
    if arxiv_id:
        fields |= {"eprint": arxiv_id, "archivePrefix": "arXiv", "primaryClass": _arxiv_class(entry)}
    lines = [f"@{'article' if entry.get('type') == _ARTICLE else 'misc'}{{{key},"]
    for name, value in fields.items():
        # Entities are written out first, since a brace may be one. A backslash before the closing brace would take it
        # into the value.
        text = to_plain(str(value)) if value is not None else ""
        if text := " ".join(_UNWANTED.sub("", text).split()).rstrip("\\ "):
            lines.append(f"  {name:<10} = {{{text}}},")
    return "\n".join([*lines, "}"]) + "\n"


def to_csl(key: str, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One CSL item in a list of its own; absent fields are left out."""
    year = entry.get("year")
    item: dict[str, Any] = {
        "id": key,
        "type": "article-journal" if entry.get("type") == _ARTICLE else "manuscript",
        "title": entry.get("title"),
        "author": [_split_name(name) for name in authors_of(entry)],
        "issued": {"date-parts": [[year]]} if isinstance(year, int) else None,
        **{name: entry.get(stored) for name, stored in _CSL.items()},
    }
    return [{name: value for name, value in item.items() if value not in (None, "", [])}]


def _split_name(name: str) -> dict[str, str]:
    name = " ".join(name.split())
    family, comma, given = name.partition(",")
    if not comma:
        given, _, family = name.rpartition(" ")
    parts = {"family": family.strip(), "given": given.strip()}
    return {key: value for key, value in parts.items() if value}


def _arxiv_class(entry: Mapping[str, Any]) -> str:
    listed = entry.get("arxiv_categories")
    match = _OLD_CLASS.match(str(entry.get("arxiv_id") or ""))
    return str(listed[0]) if isinstance(listed, list) and listed else match[1] if match else ""
