"""Entries of a bibliography with the values of their records: what differs is replaced, what lacks is filled in.

Only the record that is surely the one meant corrects anything, and never the title: an identifier with another title
may be the mistake as well as the title. Titles that only share words are no sign that it is the one meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Final

from specloom.core import dataclass
from specloom.domains.text import Name, terms, to_display

from ..bibliography.bibtex import SourceBlock, change_block, is_readable, to_bibtex, to_fields
from ..bibliography.entry import BibliographyEntry, assign_keys
from .examination import CitationFinding
from .match import Match, Verdict
from .titles import DISTINCTIVE
from .work import Work

_FIELDS: Final = {
    "authors": "authors",
    "year": "issued",
    "venue": "container",
    "volume": "volume",
    "issue": "issue",
    "pages": "pages",
}
"""The fields of entries by the names that comparisons give them."""
_FILLED: Final = {"title": "title", "doi": "doi", **_FIELDS}
"""Those that are filled in where an entry has nothing."""
_ARTICLES = frozenset(("journal-article", "article-journal"))
_NUMBERED = frozenset(("container", "volume", "issue", "pages"))
"""What only an article of a journal is given: of other works registers mean something else by it."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that is not what it was: its name in comparisons, and both values as text; `was` is "" for a new one."""

    name: str
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class CorrectedEntry:
    """An entry with what was changed of it; without changes it is as it was handed in."""

    entry: BibliographyEntry
    changes: tuple[FieldChange, ...] = ()
    source: SourceBlock | None = None
    """How it stands in the document that it came in, where that is BibTeX."""


@dataclass(frozen=True, slots=True)
class LostEntry:
    """An entry that cannot be read: its number, what is wrong, and how it stands in its document if that is known."""

    number: int
    message: str
    source: SourceBlock | None = None


def correct(entry: BibliographyEntry, finding: CitationFinding) -> CorrectedEntry:
    """The entry with the values of its record; as it is where that is not surely the record of the work meant."""
    work, match = finding.work, finding.match
    if work is None or match is None or finding.status != "confirmed" or not _is_sure(entry, finding, work, match):
        return CorrectedEntry(entry)
    is_article = entry.kind == "article-journal" or work.record.kind in _ARTICLES
    recorded = _to_fields(work)
    different = _find_fields(match, "mismatch")
    changed: dict[str, object] = {}
    changes = []
    for name, field in _FILLED.items():
        was, now = getattr(entry, field), recorded[field]
        is_filled = not was and (field not in _NUMBERED or is_article)
        if now and was != now and (is_filled or (was and name in different and name in _FIELDS)):
            changed[field] = now
            changes.append(FieldChange(name, _show(was), _show(now)))
    if entry.text and is_article and entry.kind == "document":
        changed["kind"] = "article-journal"
    # A date that says more than a year is of the year that was replaced.
    dated: dict[str, object] = {"dated": ""} if "issued" in changed else {}
    if "authors" in changed:
        dated["unnamed"] = tuple(role for role in entry.unnamed if role != "author")
    return CorrectedEntry(replace(entry, **changed, **dated), tuple(changes))  # type: ignore[arg-type]


def _is_sure(entry: BibliographyEntry, finding: CitationFinding, work: Work, match: Match) -> bool:
    """Whether a record is surely that of an entry: by its title, or by its DOI where nothing else that it says differs.

    Many works have a short title or the beginning of a long one, which are its own only beside its authors.
    """
    if finding.title == "match":
        is_common = match.title.partial or len(terms(match.title.recorded)) < DISTINCTIVE
        return not (is_common and match.authors.verdict == "mismatch")
    if entry.title or entry.text or not entry.doi:
        return False
    agreeing, recorded = _find_fields(match, "match"), _to_fields(work)
    given = {name: (getattr(entry, field), recorded[field]) for name, field in _FIELDS.items()}
    return all(not was or not now or was == now or name in agreeing for name, (was, now) in given.items())


def _find_fields(match: Match, verdict: Verdict) -> set[str]:
    """The fields of which a comparison came to a verdict."""
    return {one.field for one in match.judgements if one.verdict == verdict}


def _to_fields(work: Work) -> dict[str, object]:
    """What a record has for the fields of an entry."""
    record = work.record
    return {
        "title": work.title,
        "doi": work.doi,
        "authors": record.authors,
        "issued": record.years[:1],
        "container": record.venues[0] if record.venues else "",
        "volume": record.numbering.volume,
        "issue": record.numbering.issue,
        "pages": record.numbering.pages or record.article,
    }


def _show(value: object) -> str:
    """A value of an entry as text."""
    if isinstance(value, tuple):
        names: Iterable[object] = value
        return "; ".join(to_display(one) if isinstance(one, Name) else str(one) for one in names)
    return str(value)


def to_corrected_bibtex(
    entries: Sequence[tuple[int, CorrectedEntry]], lost: Sequence[LostEntry] = (), strings: Sequence[str] = ()
) -> str:
    """All entries as BibTeX in their order, each below a comment with its number and the fields that were changed.

    An entry that came as BibTeX stands there as it came, but for those fields; those that are `lost` stand in comments.
    `strings` are the definitions of short names, which entries that stand as they came may need.
    """
    keyed = assign_keys([replace(one.entry, annote=_mark(at, one.entry)) for at, (_, one) in enumerate(entries)])
    ordered = sorted(keyed, key=lambda entry: int(entry.annote.partition(" ")[0]))
    written = [
        (number, _write(number, one, replace(entry, annote=one.entry.annote)))
        for (number, one), entry in zip(entries, ordered, strict=True)
    ]
    written += [(one.number, _to_comment(one)) for one in lost]
    return "\n\n".join([*strings, *(text for _, text in sorted(written, key=itemgetter(0)))])


def _write(number: int, one: CorrectedEntry, entry: BibliographyEntry) -> str:
    was = [change.name for change in one.changes if change.was]
    new = [change.name for change in one.changes if not change.was]
    key = entry.key if entry.key != one.entry.key else ""
    if one.source is not None:
        was += ["key"] if key and one.entry.key else []
        new += ["key"] if key and not one.entry.key else []
    told = [f"changed: {', '.join(was)}"] if was else []
    told += [f"added: {', '.join(new)}"] if new else []
    text = ""
    if one.source is not None:
        fields = to_fields(entry)
        names = [name for change in one.changes if (name := _to_names(change.name, fields))]
        # What nothing was changed of is copied, also where its braces do not part into fields.
        is_same = not names and not key
        text = (
            one.source.text if is_same else change_block(one.source, [(fields[each[0]], each) for each in names], key)
        )
        told += [] if text else ["written anew"]
    # An address that was made of the DOI was not handed in.
    url = "" if entry.doi and entry.url == f"https://doi.org/{entry.doi}" else entry.url
    return f"% entry {number}, {'; '.join(told) or 'as it was'}\n{text or to_bibtex([replace(entry, url=url)])}"


def _to_names(name: str, fields: Mapping[str, str]) -> tuple[str, ...]:
    """What the field of a change may be called in BibTeX, the name that a new one has first."""
    names = _BIBTEX_NAMES[name]
    first = next((each for each in names if fields.get(each)), "")
    return (first, *(each for each in names if each != first)) if first else ()


_BIBTEX_NAMES: Final = {
    "title": ("title",),
    "doi": ("doi",),
    "authors": ("author",),
    "year": ("year", "date"),
    "venue": ("journal", "journaltitle", "booktitle", "howpublished"),
    "volume": ("volume",),
    "issue": ("number", "issue"),
    "pages": ("pages",),
}


def _to_comment(lost: LostEntry) -> str:
    """An entry that nothing is known of: as it came where it harms no other, else as text that BibTeX passes over.

    BibTeX takes any at-sign for the start of an entry, in a line with a per cent sign as well.
    """
    told = f"entry {lost.number}, not checked: {' '.join(lost.message.split())}"
    if lost.source is not None and is_readable(lost.source):
        return f"{_to_remark(told)}\n{lost.source.text}"
    told += "; it stands here with (at) for its sign" if lost.source else "; it is not in this file"
    lines = lost.source.text[:_LONGEST_LOST].splitlines() if lost.source else []
    return "\n".join(map(_to_remark, (told, *lines)))


def _to_remark(line: str) -> str:
    return f"% {line}".rstrip().replace("@", "(at)")


_LONGEST_LOST = 20_000
"""Characters of an entry that cannot be read, which may have swallowed all that follow it."""


def _mark(at: int, entry: BibliographyEntry) -> str:
    """The note of an entry behind its place, by which it is found again when keys were given."""
    return f"{at} {entry.annote}"
