"""Items of Zotero in JSON, as its web API takes and gives them: https://www.zotero.org/support/dev/web_api/v3/types_and_fields.

What a kind of item has no field for stands in its field Extra, a line `Variable: value` each, which Zotero itself reads
there (https://www.zotero.org/support/kb/item_types_and_fields).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from specloom.core import load_table
from specloom.domains.text import Name, strip_markup, to_isbn13, to_spelled_doi

from .csl import DATES, MORE, ROLES, VARIABLES, parse_item, to_item, to_text
from .dates import find_season, from_csl, read_date, season_of, with_season
from .entry import KINDS, BibliographyEntry, read_names, to_iso, to_url
from .untaken import is_partly_lost

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
_TYPES = frozenset({*KINDS, *read_names("csl")[1]})
_IDENTIFIERS: Mapping[str, Callable[[str], object]] = {
    "DOI": to_spelled_doi,
    "ISBN": to_isbn13,
    "ISSN": re.compile(r"[0-9]{4}-?[0-9]{3}[0-9Xx]").fullmatch,
    "PMID": re.compile(r"[0-9]{1,9}").fullmatch,
    "PMCID": re.compile(r"(?i:PMC)?[0-9]{1,9}").fullmatch,
    "URL": to_url,
}
"""What tells an identifier from words that only stand behind its name."""
_BREAKS = (
    (re.compile(r"</p>", re.IGNORECASE), "\n\n"),
    (re.compile(r"<br ?/?>|</(?:li|div|h[1-6]|blockquote|tr)>", re.IGNORECASE), "\n"),
)
"""Tags in the HTML of a note behind which another paragraph or line begins, and what stands there in a text."""
_LONGEST_JOINER = 3
"""Letters of a small word inside the name of an institution ("of", "für")."""
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
    if text := "\n".join([*lines, *map(_to_note, entry.note.splitlines())]):
        made["extra"] = text
    made["tags"] = [{"tag": word} for word in entry.keywords]
    if entry.annote:
        made["notes"] = [{"note": _to_html(entry.annote)}]
    return made


def _to_html(text: str) -> str:
    """A text as the HTML of a note: a paragraph for what stands between empty lines, with a break behind each line."""
    paragraphs = html.escape(text, quote=False).split("\n\n")
    return "".join(f"<p>{each.replace(chr(10), '<br/>')}</p>" for each in paragraphs)


def _from_html(text: str) -> str:
    """The text of a note, without its markup; what begins a line there does so here."""
    text = " ".join(text.split())
    for tag, break_ in _BREAKS:
        text = tag.sub(break_, text)
    return "\n".join(html.unescape(strip_markup(line)) for line in text.split("\n")).strip()


def _to_line(variable: str, value: Any) -> str:
    name = variable if variable.isupper() else variable.replace("-", " ").replace("_", " ").title()
    return f"{name}: {' '.join(str(value).split())}"


def _to_note(line: str) -> str:
    """A line of a note; what would be read as a variable says that it is none."""
    return f"Note: {line.strip()}" if _find_variable(line) is not None else line


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
                extra.append(_to_line(role, _to_line_name(name)))


def _to_line_name(name: Name) -> str:
    family, given = _parts_of(name)
    return f"{family} || {given}" if given or not _is_name(family) else family


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
    told["keyword"] = [_take(tag, "tag") for tag in _to_list(item.get("tags"))]
    notes = [_take(note, "note") for note in _to_list(item.get("notes"))]
    told["annote"] = "\n\n".join(filter(None, map(_from_html, notes)))
    told["note"] = _read_extra(to_text(item.get("extra")), told)
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
    """The note in the field Extra: what is left of it after its lines that say a variable, which go to the others.

    A line whose value does not read as what its variable is, or whose variable another line or field has, stays.
    """
    rest: list[str] = []
    said: set[str] = set()
    for line in extra.splitlines():
        variable, value = _find_variable(line) or ("", "")
        if variable == "note":
            rest.append(value)
        elif variable in _PEOPLE and (name := _read_name(value)):
            told.setdefault(variable, []).append(name)
        elif variable in said or not _takes(variable, value, told):
            rest.append(line)
        else:
            told[variable] = _to_raw(value) if variable in _WHEN else value
            said.add(variable)
    return "\n".join(rest).strip()


_PEOPLE = frozenset({"author", "editor", "translator", *ROLES})
_WHEN = frozenset({*_DATES, *DATES})


def _find_variable(line: str) -> tuple[str, str] | None:
    """The variable that a line of Extra names, `id` for a key, and its value; None for a line that names none."""
    match = _LINE.fullmatch(line.strip())
    if match is None:
        return None
    name = match[1].strip().lower()
    label = re.sub(r"[ _]", "-", name)
    variable = "id" if name in _KEYS else _LABELS.get(label) or _LABELS.get(label.replace("-", "_"))
    return (variable, match[2].strip()) if variable else None


def _takes(variable: str, value: str, told: Mapping[str, Any]) -> bool:
    """Whether a value reads as what its variable is, and comes to where nothing stands or before what stands there."""
    if not variable or variable in _PEOPLE:
        return False
    if variable == "type":
        return value in _TYPES
    if variable in _WHEN:
        issued, dated = _read_date(value)
        is_free = variable in ("issued", "accessed") or not told.get(variable)
        return is_free and bool(issued or dated) and not is_partly_lost(value, dated or to_iso(issued))
    if told.get(variable) or (variable == "id" and " " in value):
        return False
    return bool(_IDENTIFIERS[variable](value)) if variable in _IDENTIFIERS else True


def _read_name(text: str) -> dict[str, str] | None:
    """A name as Extra has one, `Family || Given` or that of an institution; None for words that are no name."""
    family, mark, given = (part.strip() for part in text.partition("||"))
    if not family or not (mark or _is_name(family)):
        return None
    return _to_csl_name({"lastName": family, "firstName": given})


def _is_name(text: str) -> bool:
    """Whether words without a mark between them look like a name: no figures, and none but joiners in small letters."""
    words = text.split()
    is_large = [not word[0].islower() for word in words]
    joins = all(large or len(word) <= _LONGEST_JOINER for large, word in zip(is_large, words, strict=True))
    return bool(words) and is_large[0] and joins and not any(each.isdigit() or each in ":|" for each in text)


def _read_date(text: str) -> tuple[Any, str]:
    issued, dated = read_date(text)
    season = find_season(text) if not dated else 0
    return issued, with_season(issued, season) if season else dated


def _to_raw(text: str) -> dict[str, str]:
    """A date of Zotero, in words or figures, as CSL takes it in one text."""
    issued, dated = _read_date(text)
    return {"raw": dated or to_iso(issued) or text} if text else {}
