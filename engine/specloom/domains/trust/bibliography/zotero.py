"""Items of Zotero in JSON, as its web API takes and gives them: https://www.zotero.org/support/dev/web_api/v3/types_and_fields.

What a kind of item has no field for stands in its field Extra, a line `Variable: value` each, which Zotero itself reads
there (https://www.zotero.org/support/kb/item_types_and_fields).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from specloom.core import load_table
from specloom.domains.text import Name, strip_markup

from .csl import DATES, MORE, ROLES, VARIABLES, parse_item, to_item, to_text
from .dates import find_season, from_csl, read_date, season_of, with_season
from .entry import BibliographyEntry, to_iso

_TABLE = load_table(__file__, "zotero.yaml")
_VARIABLES: Mapping[str, list[str]] = {name: fields.split() for name, fields in _TABLE["variables"].items()}
_DATES: Mapping[str, str] = _TABLE["dates"]
_ROLES: Mapping[str, str] = _TABLE["roles"]
_CREATORS: Mapping[str, list[str]] = {kind: row["creators"].split() for kind, row in _TABLE["kinds"].items()}
_NO_AUTHORS = ("director", "contributor")
"""Words for the first of the creators of a kind that are roles of CSL, too."""


def _read_fields(row: Mapping[str, str]) -> dict[str, str]:
    """The fields of a kind of item by what they mean, which is what other kinds call them."""
    pairs = [field.partition("=") for field in row.get("fields", "").split()]
    own = {meaning or name: name for name, _, meaning in pairs}
    common = {name: name for name in _TABLE["common"].split() if name not in row.get("lacks", "").split()}
    return common | own


_FIELDS: Mapping[str, Mapping[str, str]] = {kind: _read_fields(row) for kind, row in _TABLE["kinds"].items()}
_KINDS: dict[str, str] = dict(_TABLE["others"])
for _kind, _row in _TABLE["kinds"].items():
    _KINDS.setdefault(_row["csl"], _kind)

_OPENING = 4_000
"""Characters in which the first item of a document says what kind it is."""
_LABELS: Mapping[str, str] = {
    name.lower(): name
    for name in (*VARIABLES, *_DATES, *DATES, *MORE, *ROLES, "author", "editor", "translator", "type")
}
_LINE = re.compile(r"([A-Za-z][A-Za-z _-]{1,40}):[ \t]{0,9}(\S.*)")
_KEYS = frozenset({"citation key", "citation-key", "citekey", "bibtex"})
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"(?<=[0-9])T[0-9:.]{1,20}Z?$")


def to_zotero(entries: Iterable[BibliographyEntry]) -> str:
    """Entries as a JSON array of new items: without a key, and in no collection."""
    return json.dumps([to_zotero_item(entry) for entry in entries], ensure_ascii=False, indent=2)


def to_zotero_item(entry: BibliographyEntry) -> dict[str, Any]:
    """A new item: its kind, creators, fields and tags; a remark of the reader's own is a note of it (`notes`)."""
    item = to_item(entry)
    type_ = str(item.pop("type"))
    kind = _KINDS.get(type_) or _KINDS.get(entry.kind, "document")
    fields = _FIELDS[kind]
    made: dict[str, Any] = {"itemType": kind}
    extra: list[str] = []
    for name in ("id", "keyword", "annote", "note", "issued", "accessed"):
        item.pop(name, None)
    creators = [*_make_creators(kind, entry, extra)]
    for variable, told in item.items():
        if variable in ("author", *_ROLES, *ROLES):
            continue
        value = _to_day(told) if variable in DATES else told
        meanings = [_DATES[variable]] if variable in _DATES else _VARIABLES.get(variable, [])
        field = next((fields[meaning] for meaning in meanings if meaning in fields), None)
        if field is None or field in made:
            extra.append(_to_line(variable, value))
        else:
            made[field] = value
    if date := _to_date(entry):
        made[fields["date"]] = date
    if entry.date and _read_date(date) != (entry.issued, entry.dated):
        extra.append(_to_line("issued", entry.date))
    if _DAY.fullmatch(entry.accessed):
        made["accessDate"] = entry.accessed
    elif entry.accessed:
        extra.append(_to_line("accessed", entry.accessed))
    if type_ != _TABLE["kinds"][kind]["csl"]:
        extra.append(_to_line("type", type_))
    made["creators"] = creators
    lines = [*([f"Citation Key: {entry.key}"] if entry.key else []), *extra]
    if text := "\n".join([*lines, *([entry.note] if entry.note else [])]):
        made["extra"] = text
    made["tags"] = [{"tag": word} for word in entry.keywords]
    if entry.annote:
        made["notes"] = [{"note": f"<p>{html.escape(entry.annote, quote=False)}</p>"}]
    return made


def _to_line(variable: str, value: Any) -> str:
    name = variable if variable.isupper() else variable.replace("-", " ").replace("_", " ").title()
    return f"{name}: {' '.join(str(value).split())}"


def _to_day(date: Any) -> str:
    issued, dated = from_csl(date)
    return dated or to_iso(issued)


def _to_date(entry: BibliographyEntry) -> str:
    """A date as people write it in Zotero; a range, a doubt and antiquity are told in Extra beside it."""
    season = season_of(entry.date) if "/" not in entry.date else ""
    return f"{season} {entry.issued[0]}" if season and entry.issued else to_iso(entry.issued)


def _make_creators(kind: str, entry: BibliographyEntry, extra: list[str]) -> Iterator[dict[str, str]]:
    """The creators of an item; those for whom its kind has no word get a line in `extra`."""
    known = _CREATORS[kind]
    first = known[0]
    author = "" if first in _NO_AUTHORS else first
    people = [("author", author, entry.authors), ("editor", "editor", entry.editors)]
    people.append(("translator", "translator", entry.translators))
    people += [(role, _ROLES.get(role, ""), names) for role, names in entry.roles]
    for role, word, names in people:
        for name in names:
            if word in known and (role == "author" or word != author):
                yield {"creatorType": word} | _to_creator(name)
            else:
                extra.append(_to_line(role, " || ".join(filter(None, _parts_of(name)))))


def _parts_of(name: Name) -> tuple[str, str]:
    return name.family, ", ".join(filter(None, (name.given, name.suffix)))


def _to_creator(name: Name) -> dict[str, str]:
    family, given = _parts_of(name)
    return {"firstName": given, "lastName": family} if given else {"name": family}


def is_zotero(text: str) -> bool:
    """Whether a document in JSON is one of items of Zotero."""
    return '"itemType"' in text[:_OPENING]


# --- Read -------------------------------------------------------------------------------------------------------------


def parse_zotero(item: object) -> BibliographyEntry | str:
    """The entry of one item, or of its `data`; a sentence where it has none."""
    if isinstance(item, Mapping) and isinstance(item.get("data"), Mapping):
        item = item["data"]
    if not isinstance(item, Mapping):
        return f"an item has to be an object, and this is {type(item).__name__}"
    kind = to_text(item.get("itemType"))
    if kind in ("attachment", "note", "annotation"):
        return f"this is no work but one's {kind}"
    row = _TABLE["kinds"].get(kind)
    if row is None:
        return f"Zotero has no kind of item that is called {kind[:40]!r}" if kind else "the item has no itemType"
    fields = _FIELDS[kind]
    told: dict[str, Any] = {"type": row["csl"], "id": to_text(item.get("citationKey"))}
    for variable, meanings in _VARIABLES.items():
        values = [to_text(item.get(fields.get(meaning, meaning))).strip() for meaning in meanings]
        told[variable] = next(filter(None, values), "")
    for variable, meaning in _DATES.items():
        value = to_text(item.get(fields.get(meaning, meaning))) or to_text(item.get(meaning))
        told[variable] = _to_raw(_TIME.sub("", value.strip()))
    for creator in _to_list(item.get("creators")):
        maker = creator if isinstance(creator, Mapping) else {"name": creator}
        told.setdefault(_find_role(kind, to_text(maker.get("creatorType"))), []).append(_to_csl_name(maker))
    told["note"] = _read_extra(to_text(item.get("extra")), told)
    told["keyword"] = [_take(tag, "tag") for tag in _to_list(item.get("tags"))]
    notes = [_take(note, "note") for note in _to_list(item.get("notes"))]
    told["annote"] = "\n".join(html.unescape(strip_markup(note)) for note in notes if note)
    return parse_item({name: value for name, value in told.items() if value})


def _to_list(value: object) -> list[Any]:
    """The parts of a field that has several; one alone may stand there without a list."""
    return value if isinstance(value, list) else [value] if isinstance(value, str | Mapping) and value else []


def _take(part: object, name: str) -> str:
    return to_text(part.get(name) if isinstance(part, Mapping) else part)


def _find_role(kind: str, word: str) -> str:
    """The role of CSL of who is called by a word; whoever Zotero has no other word for is an author or contributor."""
    if not word or (word == _CREATORS[kind][0] and word not in _NO_AUTHORS):
        return "author"
    return next((role for role, name in _ROLES.items() if name == word), "contributor")


def _to_csl_name(creator: Mapping[str, Any]) -> dict[str, str]:
    family, given, name = (to_text(creator.get(part)).strip() for part in ("lastName", "firstName", "name"))
    if name or not given:
        return {"literal": name or family}
    given, _, suffix = given.partition(", ")
    words = family.split()
    count = next((at for at, word in enumerate(words) if not word[0].islower()), 0)
    parts = {"family": " ".join(words[count:]), "given": given, "suffix": suffix}
    return parts | {"non-dropping-particle": " ".join(words[:count])}


def _read_extra(extra: str, told: dict[str, Any]) -> str:
    """What is left of the field Extra after its lines that say a variable, which are put with the others."""
    rest: list[str] = []
    for line in extra.splitlines():
        match = _LINE.fullmatch(line.strip())
        label = re.sub(r"[ _]", "-", match[1].strip().lower()) if match else ""
        variable = _LABELS.get(label) or _LABELS.get(label.replace("-", "_"))
        if match is None or (variable is None and match[1].strip().lower() not in _KEYS):
            rest.append(line)
        elif variable is None:
            told["id"] = told.get("id") or match[2].strip().split(" ")[0]
        elif variable in ("author", "editor", "translator", *ROLES):
            family, _, given = match[2].partition("||")
            told.setdefault(variable, []).append(_to_csl_name({"lastName": family.strip(), "firstName": given.strip()}))
        elif variable in (*_DATES, *DATES):
            if variable in ("issued", "accessed") or not told.get(variable):
                told[variable] = _to_raw(match[2].strip())
        elif variable == "type" or not told.get(variable):
            told[variable] = match[2].strip()
        else:
            rest.append(line)
    return "\n".join(rest).strip()


def _read_date(text: str) -> tuple[Any, str]:
    issued, dated = read_date(text)
    season = find_season(text) if not dated else 0
    return issued, with_season(issued, season) if season else dated


def _to_raw(text: str) -> dict[str, str]:
    """A date of Zotero, in words or figures, as CSL takes it in one text."""
    issued, dated = _read_date(text)
    return {"raw": dated or to_iso(issued) or text} if text else {}
