"""An entry of the store as data: made from what a source says, and laid over what is there already."""

from __future__ import annotations

import contextlib
import html
import math
import re
from collections.abc import Mapping
from datetime import date, time
from typing import Any

from specloom.core import to_timestamp
from specloom.domains.text import LOST, mends

from .errors import PaperFault
from .sources import DATA

SCHEMA_VERSION = "1.0"
TABLE = "doiget"
"""The table of an entry that belongs to this toolset; the keys above it are shared with other programs."""

TEXTS = ("abstract", "venue", "volume", "issue", "pages", "publisher", "issn", "isbn", "url", "type")
LISTS = ("keywords", "arxiv_categories")
OWNED = ("tags", "collections", "annotation")
"""What the user wrote, which no fetch touches."""

KINDS: Mapping[str, str] = {word: kind for kind, words in DATA["kinds"].items() for word in words}
"""Crossref's word for what an index calls a work, as small letters alone."""

# Only tags: a lone "<" is a sign that titles have ("p < 0.05").
_MARKUP = re.compile(r"</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>|<!--.*?-->", re.DOTALL)
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
    bare = _MARKUP.sub("", text)
    with contextlib.suppress(ValueError):  # a numeric reference of thousands of digits
        bare = html.unescape(bare)  # after the markup, so that an escaped "<" is no tag
    return " ".join(bare.split())


def quality_of(entry: Mapping[str, Any]) -> list[str]:
    """The stored fields that still hold a replacement character, which an encoding went wrong for."""
    return [
        f"replacement_char:{key}"
        for key, value in sorted(entry.items())
        if key != TABLE and LOST in (" ".join(map(str, value)) if isinstance(value, list) else str(value))
    ]


def own_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The tool's own table; empty where there is none."""
    own = entry.get(TABLE)
    return dict(own) if isinstance(own, Mapping) else {}


def authors_of(entry: Mapping[str, Any]) -> list[str]:
    """The authors as a list, also where another program wrote one name alone."""
    return texts_of(entry.get("authors"))


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
