"""CSL-JSON, the format of citation processors: https://docs.citationstyles.org/en/stable/specification.html."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from specloom.domains.text import Name, parse_name, parse_names

from .dates import from_csl, to_csl_date
from .entry import KINDS, NAMED, BibliographyEntry, clean, normalize, read_names

_WRITTEN, _KINDS = read_names("csl")
_KINDS |= read_names("registry")[1]
VARIABLES = {
    "title": "title", "title-short": "short_title", "container-title": "container",
    "container-title-short": "short_container", "collection-title": "series", "collection-number": "series_number",
    "publisher": "publisher", "publisher-place": "place", "volume": "volume", "issue": "issue", "page": "pages",
    "number": "number", "edition": "edition", "version": "version", "genre": "genre", "event-title": "event",
    "DOI": "doi", "ISBN": "isbn", "ISSN": "issn", "PMID": "pmid", "PMCID": "pmcid", "URL": "url",
    "language": "language", "abstract": "abstract", "note": "note", "annote": "annote",
}  # fmt: skip
"""What CSL calls the fields of an entry that are texts."""
_ALIASES = {"event": "event", "shortTitle": "short_title", "journalAbbreviation": "short_container"}
_OTHERS = "others"
"""The last name, written as that of an organisation, of a list that goes on, as pandoc and Better BibTeX have it."""
_OPEN = ("others", "et al", "et al.", "and others")
ROLES = (
    "chair", "collection-editor", "compiler", "composer", "container-author", "contributor", "curator", "director",
    "editorial-director", "executive-producer", "guest", "host", "illustrator", "interviewer", "narrator", "organizer",
    "original-author", "performer", "producer", "recipient", "reviewed-author", "script-writer", "series-creator",
)  # fmt: skip
DATES = ("available-date", "event-date", "original-date", "submitted")
MORE = (
    "archive", "archive_collection", "archive_location", "archive-place", "authority", "call-number", "chapter-number",
    "citation-label", "dimensions", "division", "event-place", "jurisdiction", "medium", "number-of-pages",
    "number-of-volumes", "original-publisher", "original-publisher-place", "original-title", "page-first",
    "part-number", "part-title", "printing-number", "references", "reviewed-genre", "reviewed-title", "scale",
    "section", "source", "status", "supplement-number", "volume-title", "custom", "year-suffix",
)  # fmt: skip
"""Variables that nobody here reads, kept for who writes the entry again."""
_ARCHIVE = "arXiv"
_ARXIV = re.compile(r"(?i:arxiv:\s*)?([a-z.-]{2,20}/[0-9]{7}|[0-9]{4}\.[0-9]{4,5})(v[0-9]{1,2})?")


def to_csl(entries: Iterable[BibliographyEntry]) -> str:
    """Entries with keys as a JSON array."""
    return json.dumps([{**to_item(entry), **_to_custom(entry)} for entry in entries], ensure_ascii=False, indent=2)


_CUSTOM = "custom"
"""Where CSL has what it has no variable for; the one list that is written there has the name of _LISTED."""
_LISTED = "keywords"


def _to_custom(entry: BibliographyEntry) -> dict[str, Any]:
    """The keywords one by one, where no sign parts them in the one text that CSL has for them."""
    is_read = _parse_keywords(_join_keywords(entry.keywords)) == entry.keywords
    return {} if is_read or _CUSTOM in dict(entry.more) else {_CUSTOM: {_LISTED: list(entry.keywords)}}


def _join_keywords(words: Sequence[str]) -> str:
    # A list whose words have commas is parted by semicolons, and one alone ends with one.
    has_commas = any("," in word for word in words)
    return "; ".join(words) + ";" * (len(words) == 1) if has_commas else ", ".join(words)


def to_item(entry: BibliographyEntry) -> dict[str, Any]:
    """An entry as CSL has it."""
    more = dict(entry.more)
    fields: dict[str, Any] = {"id": entry.key, "type": more.pop("type", entry.kind)}
    fields |= {variable: getattr(entry, name) for variable, name in VARIABLES.items() if name != "url"}
    fields |= {variable: [_to_name(name) for name in getattr(entry, names)] for variable, names in NAMED.items()}
    fields |= {role: [*fields[role], {"literal": _OTHERS}] for role in entry.unnamed}
    fields |= {role: [_to_name(name) for name in names] for role, names in entry.roles}
    fields["issued"] = to_csl_date(entry.date)
    fields["accessed"] = to_csl_date(entry.accessed)
    if entry.arxiv and not entry.number:
        fields["number"] = f"arXiv:{entry.arxiv}"
    elif entry.arxiv and entry.number != entry.arxiv:
        fields |= {"archive": _ARCHIVE, "archive_location": entry.arxiv}
    fields["keyword"] = _join_keywords(entry.keywords)
    fields |= {name: to_csl_date(value) if name in DATES else value for name, value in more.items()}
    fields["URL"] = entry.url
    return {name: value for name, value in fields.items() if value}


def _to_name(name: Name) -> dict[str, str]:
    if not name.given:
        return {"literal": name.family}
    parts = {
        "family": name.family.removeprefix(f"{name.particle} ") if name.particle else name.family,
        "given": name.given.removesuffix(f" {name.dropped}") if name.dropped else name.given,
        "suffix": name.suffix,
        "non-dropping-particle": name.particle,
        "dropping-particle": name.dropped,
    }
    return {part: value for part, value in parts.items() if value}


def split_csl(text: str) -> Iterator[tuple[int, Any, str]]:
    """The items of a document: line, value, and "" or why it is no JSON.

    A document that is broken in one place is read object by object, so that the others are not lost.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        yield from _salvage(text)
        return
    if isinstance(document, Mapping):
        inner = document.get("items", document.get("references"))
        document = inner if isinstance(inner, list) else [document]
    for at, item in enumerate(document if isinstance(document, list) else [document]):
        yield at + 1, item, ""


_NEXT_ITEM = re.compile(r"\}\s*,\s*(\{)|\n\s{0,2}(\{)")


def _salvage(text: str) -> Iterator[tuple[int, Any, str]]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        line = text.count("\n", 0, at) + 1
        try:
            item, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", "too deeply nested")
            yield line, None, f"the JSON of this entry is broken ({reason}); mend it"
            # The next object that begins a line or follows another is the next item; what lies inside is lost.
            following = _NEXT_ITEM.search(text, at + 1)
            if following is None:
                return
            at = following.start(following.lastindex or 0)
            continue
        yield line, item, ""
        at = text.find("{", end)


def parse_item(item: object) -> BibliographyEntry | str:
    """The entry of one item, or a sentence that says why it has none."""
    if not isinstance(item, Mapping):
        return f"an item has to be an object, and this is {type(item).__name__}"
    type_ = to_text(item.get("type"))
    kind = type_ if type_ in KINDS else _KINDS.get(type_, "document")
    texts: dict[str, Any] = {name: to_text(item.get(variable)) for variable, name in VARIABLES.items()}
    for alias, name in _ALIASES.items():
        texts[name] = texts[name] or to_text(item.get(alias))
    issued, dated = from_csl(item.get("issued"))
    people = {role: tuple(_parse_names(item.get(role))) for role in NAMED}
    unnamed = tuple(role for role, names in people.items() if names and names[-1].family.lower() in _OPEN)
    people |= {role: people[role][:-1] for role in unnamed}
    more = [(name, to_text(item.get(name))) for name in MORE]
    more += [(name, _to_edtf(item.get(name))) for name in DATES]
    if type_ != kind and type_ in read_names("csl")[1]:
        more.append(("type", type_))
    # Reference managers give the number as that of a preprint, which published works have beside their own.
    number = _ARXIV.fullmatch(texts["number"]) if kind == "article" or texts["number"][:6].lower() == "arxiv:" else None
    if number is None and to_text(item.get("archive")) == _ARCHIVE:
        number = _ARXIV.fullmatch(to_text(item.get("archive_location")))
        more = [(name, value) for name, value in more if number is None or name not in ("archive", "archive_location")]
    elif number is not None and texts["number"] == f"arXiv:{number[1]}{number[2] or ''}":
        texts["number"] = ""
    return normalize(
        BibliographyEntry(
            **texts,
            authors=people["author"],
            editors=people["editor"],
            translators=people["translator"],
            unnamed=unnamed,
            roles=tuple((role, tuple(_parse_names(item.get(role)))) for role in ROLES if item.get(role)),
            issued=issued,
            dated=dated,
            accessed=_to_edtf(item.get("accessed")),
            kind=kind,
            arxiv=(number[1] + (number[2] or "")) if number else "",
            keywords=_parse_keywords(item.get("keyword"), item.get(_CUSTOM)),
            key=to_text(item.get("citation-key")) or to_text(item.get("id")),
            more=tuple((name, value) for name, value in more if value),
        )
    )


def _to_edtf(value: object) -> str:
    issued, dated = from_csl(value)
    return BibliographyEntry(issued=issued, dated=dated).date


def _parse_keywords(value: object, custom: object = None) -> tuple[str, ...]:
    """The keywords of an item; those that it lists one by one count as long as its text says the same."""
    text = to_text(value)
    listed = custom.get(_LISTED) if isinstance(custom, Mapping) else None
    if isinstance(listed, list) and all(isinstance(word, str) for word in listed) and _join_keywords(listed) == text:
        return tuple(listed)
    words = value if isinstance(value, list) else text.split(";" if ";" in text else ",")
    return tuple(clean(to_text(word)) for word in words if clean(to_text(word)))


def to_text(value: object) -> str:
    """A field as text; registries give lists where processors give the first of them."""
    while isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _parse_names(value: object) -> Iterator[Name]:
    if isinstance(value, str):
        yield from parse_names(value)
        return
    for author in value if isinstance(value, list) else [value]:
        if isinstance(author, str):
            name = parse_name(author)
            if name is not None:
                yield name
        elif isinstance(author, Mapping):
            family, given = clean(to_text(author.get("family"))), clean(to_text(author.get("given")))
            # A dropping particle stands behind the given names of an inverted name, the other belongs to the family.
            particle = clean(to_text(author.get("non-dropping-particle")))
            dropped = clean(to_text(author.get("dropping-particle")))
            literal = to_text(author.get("literal")) or to_text(author.get("name"))
            full, whole_given = f"{particle} {family}".strip(), f"{given} {dropped}".strip()
            if family and given:
                yield Name(full, whole_given, clean(to_text(author.get("suffix"))), particle, dropped)
            elif full or whole_given or literal:
                yield Name(literal or full or whole_given)
