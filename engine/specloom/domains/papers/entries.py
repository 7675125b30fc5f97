"""An entry of the store: made from what a source says, laid over what is there already, and written as text.

Its texts are TOML in one fixed layout, BibTeX and CSL JSON: the same bytes for the same entry.
"""

from __future__ import annotations

import contextlib
import html
import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

from specloom.core import drop_tags, to_timestamp
from specloom.domains.text import LOST, mends

from .config import DATA
from .errors import PaperFault

SCHEMA_VERSION = "1.0"
RECORD = "specloom"
"""The table of an entry that holds what the keys that all programs share have no place for; see `record`."""
TABLE = "doiget"
"""The table of an entry that belongs to this toolset; the keys above it are shared with other programs."""

TEXTS = ("abstract", "venue", "volume", "issue", "pages", "publisher", "issn", "isbn", "url", "type")
LISTS = ("keywords", "arxiv_categories")
OWNED = ("tags", "collections", "annotation")
"""What the user wrote, which no fetch touches."""

KINDS: Mapping[str, str] = {word: kind for kind, words in DATA["kinds"].items() for word in words}
"""Crossref's word for what an index calls a work, as small letters alone."""

_VERSION = re.compile(r"(\d+)\.(\d+)")


def make_entry(record: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """An entry from the fields of a source and the keys of the tool's own table; what is empty is left out."""
    entry: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "title": to_plain(str(record.get("title") or "")),
        "authors": [to_plain(str(name)) for name in record.get("authors") or ()],
    }
    if isinstance(record.get("year"), int):
        entry["year"] = record["year"]
    for key in ("doi", "arxiv_id", *TEXTS):
        if text := str(record.get(key) or ""):
            plain = {"venue": to_plain, "publisher": to_plain, "type": to_kind}.get(key)
            entry[key] = plain(text) if plain else text
    entry |= {key: [str(one) for one in record[key]] for key in LISTS if record.get(key)}
    entry[TABLE] = {key: value for key, value in own.items() if value is not None}
    return entry


def merge(stored: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
    """The entry to write: what is stored wins, what is missing is filled, and the tool's own table is the new one.

    A newer schema on disk is refused with SCHEMA_TOO_NEW, because what it means is not known here.
    """
    if stored is None:
        return dict(new)
    check_version(stored)
    merged = dict(stored)
    for key, value in new.items():
        before = stored.get(key)
        markup = key in {"title", "venue"} and isinstance(before, str) and before != value
        if before in (None, "", []) or (markup and to_plain(before) == value) or mends(before, value):
            merged[key] = value
        elif key != TABLE and isinstance(before, Mapping) and isinstance(value, Mapping):
            merged[key] = {**value, **before}
    merged["schema_version"] = stored.get("schema_version", SCHEMA_VERSION)
    before, own = own_of(stored), own_of(new)
    if "oa_status" not in own and "oa_status" in before:
        own["oa_status"] = before["oa_status"]
    if own.get("license", "unknown") == "unknown" and before.get("license"):
        own["license"] = before["license"]
    # A PDF that is there stays there, and so does what is known of it.
    kept = (*(("size_bytes", "origin") if stored.get("pdf_path") else ()), *OWNED)
    merged[TABLE] = own | {key: before[key] for key in kept if key in before}
    return merged


def check_version(stored: Mapping[str, Any]) -> None:
    """SCHEMA_TOO_NEW for an entry that a newer program wrote, STORE_ERROR for a version that is none."""
    version = str(stored.get("schema_version", ""))
    match = _VERSION.fullmatch(version)
    if match is None:
        raise PaperFault("STORE_ERROR", f"An entry has the schema version {version[:20]!r}, which is not one.")
    parts = list(zip(map(int, match.groups()), map(int, SCHEMA_VERSION.split(".")), strict=True))
    actual, cap = next(((there, here) for there, here in parts if there != here), (0, 0))
    if actual > cap:
        raise PaperFault(
            "SCHEMA_TOO_NEW",
            f"The entry has schema version {version}, and {SCHEMA_VERSION} is written here "
            f"(found {actual}, known {cap}); update the program.",
            denial={"reason": "schema_drift", "cap": cap, "actual": actual},
        )


def is_newer(stored: Mapping[str, Any]) -> bool:
    """Whether a newer program wrote an entry; what it means is then read as far as it is known here."""
    try:
        check_version(stored)
    except PaperFault as fault:
        return fault.code == "SCHEMA_TOO_NEW"
    return False


def to_kind(text: str) -> str:
    """What a work is in Crossref's words, as far as they are known."""
    return KINDS.get("".join(filter(str.isalpha, text.lower())), text)


def to_plain(text: str) -> str:
    """A text without inline markup and doubled blanks; entities of HTML are the characters that they stand for."""
    bare = drop_tags(text)
    with contextlib.suppress(ValueError):  # a numeric reference of thousands of digits
        bare = html.unescape(bare)  # after the markup, so that an escaped "<" is no tag
    return " ".join(bare.split())


def quality_of(entry: Mapping[str, Any]) -> list[str]:
    """The stored fields that still hold a replacement character, which an encoding went wrong for."""
    return [
        f"replacement_char:{key}"
        for key, value in sorted(entry.items())
        if key not in (TABLE, RECORD) and LOST in (" ".join(map(str, value)) if isinstance(value, list) else str(value))
    ]


def own_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The tool's own table; empty where there is none."""
    own = entry.get(TABLE)
    return dict(own) if isinstance(own, Mapping) else {}


def cite_key_of(entry: Mapping[str, Any]) -> str:
    """The key by which texts cite the work; "" for an entry that has none."""
    table = entry.get(RECORD)
    key = table.get("citekey") if isinstance(table, Mapping) else ""
    return key if isinstance(key, str) else ""


def authors_of(entry: Mapping[str, Any]) -> list[str]:
    """The authors as a list, also where another program wrote one name alone."""
    return texts_of(entry.get("authors"))


def is_open(entry: Mapping[str, Any]) -> bool:
    """Whether the work has more authors than are named."""
    table = entry.get(RECORD)
    return isinstance(table, Mapping) and "author" in texts_of(table.get("unnamed")) and bool(authors_of(entry))


def texts_of(value: Any) -> list[str]:
    """A list of texts as a file has it, of which one alone may stand without a list; anything else is none."""
    return [value] if isinstance(value, str) else [str(one) for one in value] if isinstance(value, list) else []


def to_instant(value: Any) -> str | None:
    """A time as lists tell it, in UTC and whole seconds; None for what is none. A time without a zone is UTC."""
    return to_timestamp(value.isoformat() if isinstance(value, date) else value, 0.0)


def turned(authors: Any) -> list[str]:
    """Names as Given Family."""
    halves = (str(name).partition(",") for name in authors or ())
    return [f"{given.strip()} {family.strip()}".strip() if comma else family for family, comma, given in halves]


def to_json(value: Any) -> Any:
    """A value of an entry for an answer: what TOML has and JSON has not becomes a text."""
    if isinstance(value, Mapping):
        return {key: to_json(one) for key, one in value.items()}
    if isinstance(value, list):
        return [to_json(one) for one in value]
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


# --- as text ----------------------------------------------------------------------------------------------------------


INLINE = frozenset({"repaired_fields"})
"""Tables that stand inside another table, on one line."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SPECIAL = re.compile(r'[\\"\x00-\x1f\x7f\ud800-\udfff]')
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ARTICLE = "journal-article"
_OLD_CLASS = re.compile(r"([a-z-]+(?:\.[A-Z]{2})?)/")
_UNWANTED = re.compile(r"[{}\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
"""Braces, which could end a value, and what steers a terminal; blanks and line ends become one blank."""
_FIELDS = {
    "doi": ("doi", "DOI"),
    "venue": ("journal", "container-title"),
    "volume": ("volume", "volume"),
    "issue": ("number", "issue"),
    "pages": ("pages", "page"),
    "publisher": ("publisher", "publisher"),
    "issn": ("issn", "ISSN"),
}
"""What BibTeX and CSL call the fields of an entry."""


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
        "author": " and ".join([*authors_of(entry), *(["others"] if is_open(entry) else [])]),
        "year": year if isinstance(year, int) else None,
        **{bibtex: entry.get(stored) for stored, (bibtex, _) in _FIELDS.items()},
    }
    if arxiv_id:
        fields |= {"eprint": arxiv_id, "archivePrefix": "arXiv", "primaryClass": _arxiv_class(entry)}
    lines = [f"@{'article' if entry.get('type') == _ARTICLE else 'misc'}{{{key},"]
    for name, value in fields.items():
        # Entities are written out first, since a brace may be one. A backslash before the closing brace would take it
        # into the value.
        text = to_plain(str(value)) if value is not None else ""
        if text := " ".join(_UNWANTED.sub("", text).split()).rstrip("\\ "):
            text = text if name in _VERBATIM else _escape_signs(text)
            lines.append(f"  {name:<10} = {{{text}}},")
    return "\n".join([*lines, "}"]) + "\n"


_VERBATIM = frozenset({"doi", "eprint", "year"})
_SIGNS = re.compile(r"(?<!\\)[&%#_]")


def _escape_signs(text: str) -> str:
    """A text whose signs end no line and no run of TeX; what stands between dollars is a formula and stays."""
    pieces = text.split("$")
    if len(pieces) % 2 == 0:
        # One dollar alone opens no formula.
        return _SIGNS.sub(r"\\\g<0>", text).replace("$", r"\$")
    return "$".join(_SIGNS.sub(r"\\\g<0>", piece) if at % 2 == 0 else piece for at, piece in enumerate(pieces))


def to_csl(key: str, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One CSL item in a list of its own; absent fields are left out."""
    year = entry.get("year")
    item: dict[str, Any] = {
        "id": key,
        "type": "article-journal" if entry.get("type") == _ARTICLE else "manuscript",
        "title": entry.get("title"),
        "author": [_split_name(name) for name in authors_of(entry)],
        "issued": {"date-parts": [[year]]} if isinstance(year, int) else None,
        **{csl: entry.get(stored) for stored, (_, csl) in _FIELDS.items()},
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
