"""An entry of the store as data: made from what a source says, and laid over what is there already."""

from __future__ import annotations

import contextlib
import html
import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import Any

from .errors import Refusal

SCHEMA_VERSION = "1.0"
TABLE = "doiget"
"""The table of an entry that belongs to this toolset; the keys above it are shared with other programs."""

TEXTS = ("abstract", "venue", "volume", "issue", "pages", "publisher", "issn", "isbn", "url", "type")
LISTS = ("keywords", "arxiv_categories")
RESERVED = frozenset({"schema_version", "title", "authors", "year", "doi", "arxiv_id", "pdf_path", *TEXTS, *LISTS})
OWNED = ("tags", "collections", "annotation")
"""What the user wrote, which no fetch touches."""

KINDS: Mapping[str, str] = {
    **dict.fromkeys(("article", "review", "editorial", "letter", "lettersandcomments"), "journal-article"),
    **dict.fromkeys(("journalarticle", "casereport", "datapaper"), "journal-article"),
    **dict.fromkeys(("conferencepaper", "conference"), "proceedings-article"),
    **dict.fromkeys(("bookchapter", "booksection"), "book-chapter"),
    **{one.replace("-", ""): one for one in ("book", "dataset", "dissertation", "report", "peer-review", "standard")},
    "preprint": "posted-content",
}
"""What OpenAlex, DataCite and Semantic Scholar call a work, as small letters alone, in Crossref's words: those are what
the layout has, and by them exports tell articles. A word that is not here stays as it is."""

LOST = "\ufffd"
"""The character that stands where one was lost."""
LONGEST_MENDED = 2000
"""Characters of a text that is compared with another one to replace it."""

_RUNS = re.compile(f"{LOST}+|[^{LOST}]+")
# Only tags: a lone "<" is a sign that titles have ("p < 0.05").
_MARKUP = re.compile(r"</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>|<!--.*?-->", re.DOTALL)
_VERSION = re.compile(r"(\d+)\.(\d+)")


def make_entry(record: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """An entry from the fields of a source and the keys of the tool's own table; what is empty is left out."""
    entry: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "title": to_plain(str(record.get("title") or "")),
        "authors": [to_plain(str(one)) for one in record.get("authors") or ()],
    }
    if isinstance(record.get("year"), int):
        entry["year"] = record["year"]
    for key in ("doi", "arxiv_id", *TEXTS):
        if record.get(key):
            text = str(record[key])
            entry[key] = to_plain(text) if key in {"venue", "publisher"} else to_kind(text) if key == "type" else text
    for key in LISTS:
        if record.get(key):
            entry[key] = [str(one) for one in record[key]]
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
        if key == TABLE:
            continue
        before = stored.get(key)
        cleaner = (
            key in {"title", "venue"} and isinstance(before, str) and before != value and to_plain(before) == value
        )
        if before in (None, "", []) or cleaner or mends(before, value):
            merged[key] = value
    merged["schema_version"] = stored.get("schema_version", SCHEMA_VERSION)
    merged[TABLE] = _merge_own(stored, new)
    return merged


def check_version(stored: Mapping[str, Any]) -> None:
    """SCHEMA_TOO_NEW for an entry that a newer program wrote, STORE_ERROR for a version that is none."""
    said = str(stored.get("schema_version", ""))
    found = _VERSION.fullmatch(said)
    if found is None:
        raise Refusal("STORE_ERROR", f"An entry has the schema version {said[:20]!r}, which is not one.")
    major, minor = int(found[1]), int(found[2])
    known_major, known_minor = (int(part) for part in SCHEMA_VERSION.split("."))
    if (major, minor) > (known_major, known_minor):
        actual, cap = (major, known_major) if major != known_major else (minor, known_minor)
        raise Refusal(
            "SCHEMA_TOO_NEW",
            f"The entry has schema version {said}, and {SCHEMA_VERSION} is written here (found {actual}, known {cap}); "
            "update the program.",
            denial={"reason": "schema_drift", "cap": cap, "actual": actual},
        )


def is_newer(stored: Mapping[str, Any]) -> bool:
    """Whether a newer program wrote an entry; what it means is then read as far as it is known here."""
    try:
        check_version(stored)
    except Refusal as refusal:
        return refusal.code == "SCHEMA_TOO_NEW"
    return False


def to_kind(said: str) -> str:
    """What a work is in Crossref's words, as far as they are known."""
    return KINDS.get("".join(filter(str.isalpha, said.lower())), said)


def to_plain(text: str) -> str:
    """A text without inline markup and doubled blanks; entities of HTML are the characters that they stand for."""
    bare = _MARKUP.sub("", text)
    with contextlib.suppress(ValueError):  # a numeric reference of thousands of digits
        bare = html.unescape(bare)  # after the markup, so that an escaped "<" is no tag
    return " ".join(bare.split())


def mends(broken: Any, whole: Any) -> bool:
    """Whether a text, or a list of texts, is another one without its replacement characters and the same elsewhere.

    A row of replacement characters stands for as many characters or fewer, because one is lost for every byte.
    """
    if isinstance(broken, list) and isinstance(whole, list) and len(broken) == len(whole):
        pairs = [(one, other) for one, other in zip(broken, whole, strict=True) if one != other]
        return bool(pairs) and all(mends(one, other) for one, other in pairs)
    if not isinstance(broken, str) or not isinstance(whole, str) or LOST not in broken or LOST in whole:
        return False
    if max(len(broken), len(whole)) > LONGEST_MENDED:
        return False
    ends = {0}
    for part in _RUNS.findall(broken):
        if part.startswith(LOST):
            ends = {end + more for end in ends for more in range(1, len(part) + 1) if end + more <= len(whole)}
        else:
            ends = {end + len(part) for end in ends if whole.startswith(part, end)}
    return len(whole) in ends


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


def texts_of(said: Any) -> list[str]:
    """A list of texts as a file has it, of which one alone may stand without a list; anything else is none."""
    return [said] if isinstance(said, str) else [str(one) for one in said] if isinstance(said, list) else []


def to_instant(said: Any) -> str | None:
    """A time as lists tell it, in UTC and whole seconds; None for what is none. A time without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(said) if isinstance(said, str) else said
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, AttributeError, TypeError, OverflowError):
        return None


def to_json(value: Any) -> Any:
    """A value of an entry for an answer: what TOML has and JSON has not becomes a text."""
    if isinstance(value, Mapping):
        return {key: to_json(one) for key, one in value.items()}
    if isinstance(value, list):
        return [to_json(one) for one in value]
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _merge_own(stored: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    before, after = own_of(stored), own_of(new)
    if "oa_status" not in after and "oa_status" in before:
        after["oa_status"] = before["oa_status"]
    if after.get("license", "unknown") == "unknown" and before.get("license"):
        after["license"] = before["license"]
    # A PDF that is there stays there, and so does what is known of it.
    kept = ("size_bytes", "origin") if stored.get("pdf_path") else ()
    for key in (*kept, *OWNED):
        if key in before:
            after[key] = before[key]
    return after


# --- Entries of the store as BibTeX and as CSL JSON, the same bytes for the same entry --------------------------------


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
