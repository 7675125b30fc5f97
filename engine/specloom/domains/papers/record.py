"""The whole record of a work in an entry of the store, and back: what older programs read stays where they read it.

What the shared keys have no place for stands in one flat table of our own, which other programs keep as it is:
`citekey` (and `citekey_by`: import, made or user), `names` as `role|family|given|suffix|whole|particle|dropped`,
`unnamed`, the roles whose people are not all named,
`issued` in EDTF, `kind` as CSL calls the type, `files`, and `csl`, every other variable of CSL as one JSON text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from specloom.domains.text import Name, parse_name
from specloom.domains.trust.bibliography.csl import parse_item, to_item
from specloom.domains.trust.bibliography.entry import BibliographyEntry, normalize, read_names

from .entries import RECORD, TABLE, authors_of, own_of, texts_of

SHARED: Mapping[str, str] = {
    "venue": "container-title", "volume": "volume", "issue": "issue", "pages": "page", "publisher": "publisher",
    "issn": "ISSN", "isbn": "ISBN", "url": "URL", "doi": "DOI", "abstract": "abstract", "title": "title",
}  # fmt: skip
"""The keys that all programs share, and what CSL calls them."""

_ROLES = ("author", "editor", "translator")
_TYPES = read_names("registry")[0] | {name: name for name in ("book", "report", "dataset", "standard")}
"""What registries call a kind; those that they have no word for are told in the table alone."""
_ELSEWHERE = frozenset((*SHARED.values(), "id", "type", "issued", "keyword", "annote", *_ROLES))
_PARTS = re.compile(r"((?:[^\\|]|\\.)*)(?:\||$)", re.DOTALL)


def record_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The table of our own; empty where there is none."""
    table = entry.get(RECORD)
    return dict(table) if isinstance(table, Mapping) else {}


def to_work(entry: Mapping[str, Any]) -> BibliographyEntry:
    """The work of an entry, as far as it is known; what is not of the kind that the layout has counts as absent."""
    table, own = record_of(entry), own_of(entry)
    item: dict[str, Any] = {"container-title-short": own.get("short_venue"), **_variables(table)}
    item |= {variable: entry[key] for key, variable in SHARED.items() if isinstance(entry.get(key), str)}
    arxiv = str(entry.get("arxiv_id") or "")
    item["type"] = table.get("kind") or entry.get("type") or ("article" if arxiv else "document")
    item["issued"] = table.get("issued") or entry.get("year")
    item["keyword"] = [*texts_of(entry.get("keywords")), *texts_of(own.get("tags"))]
    item["annote"] = own.get("annotation")
    work = parse_item(item)
    assert isinstance(work, BibliographyEntry)
    names = read_parted(entry)
    # Whoever wrote the authors anew since they were parted has named them all.
    is_old = is_rewritten(entry)
    return replace(
        work,
        unnamed=tuple(role for role in texts_of(table.get("unnamed")) if not (role == "author" and is_old)),
        authors=tuple(names.get("author", ())),
        editors=tuple(names.get("editor", ())),
        translators=tuple(names.get("translator", ())),
        roles=tuple((role, tuple(each)) for role, each in sorted(names.items()) if role not in _ROLES),
        arxiv=arxiv or work.arxiv,
        key=str(table.get("citekey") or ""),
        files=tuple(texts_of(table.get("files"))),
        collections=tuple(texts_of(own.get("collections"))),
    )


def to_stored(work: BibliographyEntry) -> dict[str, Any]:
    """The keys of an entry for a work, with our own table and, under the other one, what the user wrote."""
    item = to_item(work)
    names = [("author", name) for name in work.authors] + [("editor", name) for name in work.editors]
    names += [("translator", name) for name in work.translators]
    names += [(role, name) for role, people in work.roles for name in people]
    entry: dict[str, Any] = {key: item[variable] for key, variable in SHARED.items() if variable in item}
    entry |= {"title": work.title, "authors": [join_name(name) for name in work.authors]}
    entry |= {"year": work.issued[0]} if work.issued else {}
    entry |= {"keywords": list(work.keywords)} if work.keywords else {}
    entry |= {"arxiv_id": work.arxiv} if work.arxiv else {}
    entry |= {"type": _TYPES[work.kind]} if work.kind in _TYPES else {}
    roles = {role for role, _ in work.roles}
    more = {name: value for name, value in item.items() if name not in _ELSEWHERE and name not in roles}
    if work.arxiv:
        # It has a key of its own, from which these are made again.
        for name in ("archive", "archive_location", *(() if work.number else ("number",))):
            more.pop(name, None)
    table = {
        "citekey": work.key,
        "names": [_write_name(role, name) for role, name in names],
        "unnamed": list(work.unnamed),
        "issued": work.date,
        "kind": item["type"],
        "files": list(work.files),
        "csl": json.dumps(more, ensure_ascii=False, sort_keys=True) if more else "",
    }
    own = {"annotation": work.annote, "collections": list(work.collections)}
    entry[RECORD] = {key: value for key, value in table.items() if value}
    entry[TABLE] = {key: value for key, value in own.items() if value}
    return entry


def is_told(work: BibliographyEntry, stored: Mapping[str, Any]) -> bool:
    """Whether an entry says all that a work does, though it may do so in other places, such as its tags as keywords."""
    known = normalize(to_work(stored))
    address = f"https://arxiv.org/abs/{work.arxiv}" if work.arxiv else ""
    for name in (field.name for field in fields(BibliographyEntry)):
        value, before = getattr(work, name), getattr(known, name)
        if name in ("authors", "editors", "translators"):
            # Which part of a name is its particle is a matter of the format.
            value, before = ([*map(join_name, names)] for names in (value, before))
        is_same = value == before
        if name in ("keywords", "files", "collections", "roles", "more", "unnamed"):
            is_same = {*value} <= {*before}
        elif name == "url":
            is_same = is_same or (value == address and not before)
        if value and not is_same and name != "text":
            return False
    return True


def fill(stored: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """An entry with what it lacks from a new one, and the names of what the new one says otherwise.

    Words, tags, collections and files come together; variables of CSL are filled one by one.
    """
    merged, kept = dict(stored), list[str]()
    has_names = bool(record_of(stored).get("names"))
    names_agree = [*map(_fold, authors_of(stored))] == [*map(_fold, authors_of(new))] or not authors_of(stored)
    for key, value in new.items():
        if key in (RECORD, TABLE, "schema_version") or value in ("", []):
            continue
        before = stored.get(key)
        if key == "keywords":
            merged[key] = list(dict.fromkeys([*texts_of(before), *value]))
        elif before in (None, "", []):
            merged[key] = value
        elif before != value and not _is_like(key, before, value):
            kept.append(key)
    table, told = record_of(stored), record_of(new)
    if not names_agree or (has_names and read_parted(stored)):
        told.pop("names", None)
        told.pop("unnamed", None)
    if "year" in kept:
        told.pop("issued", None)
    variables, more = _variables(table), _variables(told)
    kept += [name for name, value in more.items() if name in variables and variables[name] != value]
    both = {**more, **variables}
    for key, value in told.items():
        if key == "files":
            table[key] = list(dict.fromkeys([*texts_of(table.get(key)), *value]))
        elif key == "names" or (key == "issued" and str(value).startswith(str(table.get(key, "")))):
            table[key] = value
        elif key not in ("csl", "citekey_by"):
            if not str(table.get(key, value)).startswith(str(value)):
                kept.append(key)
            table.setdefault(key, value)
    if both:
        table["csl"] = json.dumps(both, ensure_ascii=False, sort_keys=True)
    if table.get("citekey") and told.get("citekey") == table["citekey"] and "citekey_by" in told:
        table.setdefault("citekey_by", told["citekey_by"])
    own, said = own_of(stored), own_of(new)
    for key in ("tags", "collections"):
        if words := list(dict.fromkeys([*texts_of(own.get(key)), *texts_of(said.get(key))])):
            own[key] = words
    if note := said.get("annotation"):
        if own.get("annotation", note) != note:
            kept.append("annotation")
        own.setdefault("annotation", note)
    merged |= {RECORD: table} if table else {}
    merged[TABLE] = own
    return merged, list(dict.fromkeys(kept))


def override(stored: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """An entry in which a new one wins; what only the stored one has stays, and labels come together."""
    shared = {key: value for key, value in new.items() if key not in (RECORD, TABLE, "schema_version", "keywords")}
    table, told = record_of(stored), record_of(new)
    if "authors" in shared or "names" in told:
        table.pop("names", None)
        table.pop("unnamed", None)
    variables = {**_variables(table), **_variables(told)}
    own = {**own_of(stored), **({"annotation": note} if (note := own_of(new).get("annotation")) else {})}
    cleared = {**stored, **shared, RECORD: {}, TABLE: own}
    merged, _ = fill(cleared, {**new, RECORD: {}})
    merged[RECORD] = {**table, **told} | (
        {"csl": json.dumps(variables, ensure_ascii=False, sort_keys=True)} if variables else {}
    )
    if files := list(dict.fromkeys([*texts_of(table.get("files")), *texts_of(told.get("files"))])):
        merged[RECORD]["files"] = files
    return merged, []


_LONGEST = 80
"""Characters of a value that is told."""


def tell_replaced(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The values of an entry that another one has in their place, as `title 'Otters'`."""
    now = _to_values(after)
    gone = {name: value for name, value in _to_values(before).items() if now.get(name) != value}
    for name, table_name in (("year", "issued"), ("type", "kind")):
        if name in gone:
            gone.pop(table_name, None)
    return [f"{name} {value if isinstance(value, int) else repr(_shorten(value))}" for name, value in gone.items()]


def _shorten(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _to_values(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What an entry says of its work, each by its name; words that come together in every merge are left out."""
    table, note = record_of(entry), own_of(entry).get("annotation")
    values = {name: value for name, value in entry.items() if name not in (RECORD, TABLE, "schema_version", "keywords")}
    values |= {name: table.get(name) for name in ("citekey", "issued", "kind")} | {"annotation": note}
    people = {role: [*map(join_name, names)] for role, names in read_parted(entry).items() if role != "author"}
    values |= {**people, **_variables(table)}
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def read_parted(entry: Mapping[str, Any]) -> dict[str, list[Name]]:
    """The names of an entry by their roles.

    Those of the authors are the ones in plain words where somebody changed these since they were parted.
    """
    parted = _split_names(entry)
    if not _is_of(parted, authors_of(entry)):
        parted["author"] = [name for each in authors_of(entry) if (name := parse_name(each))]
    return {role: names for role, names in parted.items() if names}


def is_rewritten(entry: Mapping[str, Any]) -> bool:
    """Whether somebody changed the authors since they were parted."""
    return not _is_of(_split_names(entry), authors_of(entry))


def _split_names(entry: Mapping[str, Any]) -> dict[str, list[Name]]:
    parted: dict[str, list[Name]] = {}
    for line in texts_of(record_of(entry).get("names")):
        role, *parts = (re.sub(r"\\(.)", r"\1", match[1]) for match in _PARTS.finditer(f"{line}||||||"))
        family, given, suffix, whole, particle, dropped = parts[:6]
        if role and (whole or family):
            parted.setdefault(role, []).append(Name(whole or family, given, suffix, particle, dropped))
    return parted


def _is_of(parted: Mapping[str, Sequence[Name]], authors: Sequence[str]) -> bool:
    """Whether the parted names are the authors in plain words."""
    names = parted.get("author", ())
    return len(names) == len(authors) and all(map(_is_joined, names, authors))


def _is_joined(name: Name, text: str) -> bool:
    """Whether a text is a name in reading order; registries and indexes leave its suffix out."""
    return text in (join_name(name), join_name(replace(name, suffix="")))


def join_name(name: Name) -> str:
    """A name in reading order, as all programs of the store have it."""
    return " ".join(filter(None, (name.given, name.family, name.suffix)))


def _write_name(role: str, name: Name) -> str:
    parts = ["", "", "", name.family] if not name.given else [name.family, name.given, name.suffix, ""]
    parts += [name.particle, name.dropped] if name.particle or name.dropped else []
    return "|".join(re.sub(r"[\\|]", r"\\\g<0>", part) for part in (role, *parts))


def _variables(table: Mapping[str, Any]) -> dict[str, Any]:
    """The variables of CSL in the table; none where a person broke their text."""
    try:
        variables = json.loads(str(table.get("csl") or "{}"))
    except ValueError:
        return {}
    return variables if isinstance(variables, dict) else {}


def _is_like(key: str, before: Any, value: Any) -> bool:
    """Whether two values say the same: registries write identifiers in other capitals, pages with other dashes."""
    if key == "authors":
        return [*map(_fold, before)] == [*map(_fold, value)] if isinstance(before, list) else False
    return _fold(str(before)) == _fold(str(value))


def _fold(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()
