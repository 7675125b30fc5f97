"""One work as a registry or a search describes it: in the form that is compared, and in the form that is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import islice
from typing import Any

from specloom.core import dataclass
from specloom.domains.text import Name, parse_name, strip_markup, to_address, to_display, to_doi

from ..records import Retraction
from .match import Match, WorkRecord
from .notices import Notice, NoticeSource, from_status, judge_notices, to_notices
from .numbering import VolumeNumbers

MOST_AUTHORS = 30
"""Authors of a record that are told."""
MOST_SIGNED = 3000
"""Authors of a record that are compared; the largest collaborations have some five thousand."""
_MOST_LINES = 6
"""Titles of a record that are compared, and names of its venues."""
_LONGEST_TITLE, _LONGEST_VENUE, _LONGEST_NAME, _LONGEST_ABSTRACT = 1000, 300, 200, 1000
"""Characters of each that are read: a registry may answer anything."""
_LONGEST_NUMBER = 60
LONGEST_ABSTRACT = 20_000
"""Characters of an abstract that a claim is held against."""
"""Characters of a volume, an issue or pages."""
_HEAVY, _MANY = 1000, 100
"""Characters of a title or a reference, and names and titles of a record, that only few honest ones have more of."""
_MARKED_UP = 5
"""How much longer a text may be with its markup."""
PEOPLE = ("authors", "inventors")
"""Fields of rows in which the people of a work are, each in the words of its kind of work."""
OWNERS = ("assignee", "sponsor")
"""Fields with the organisations that are named in place of these people."""
_RESOLVERS = ("https://doi.org/", "http://doi.org/", "https://dx.doi.org/", "http://dx.doi.org/")


@dataclass(frozen=True, slots=True)
class Work:
    """One record: who gave it, what is compared, its DOI in the normal form ("" without one), and the rest as it came.

    `listed` is what its source lists of notices, None where it lists none at all, so that nothing is known.
    """

    provider: str
    record: WorkRecord
    row: Mapping[str, Any]
    doi: str = ""
    listed: NoticeSource | None = None

    @property
    def notice(self) -> Retraction | None:
        """The most severe notice that its source lists (the contract's retraction status); None without one."""
        return judge_notices((self.listed,)) if self.listed is not None else None

    @property
    def title(self) -> str:
        """Its title without markup, "" when the record has none."""
        return _to_text(self.row.get("title"), _LONGEST_TITLE)

    @property
    def abstract(self) -> str:
        """Its abstract without markup, "" when the record has none."""
        return _to_text(self.row.get("abstract"), LONGEST_ABSTRACT)

    def to_json(self) -> dict[str, Any]:
        """The record as the tools tell it; what is not known is left out.

        Collaborations sign with thousands of names: of more than MOST_AUTHORS the first are told, and their number.
        """
        row, authors = self.row, self.record.authors
        count = len(authors) + len(_find_people(row)[MOST_SIGNED:])
        fields = {
            "title": self.title,
            "authors": [to_display(name) for name in authors[:MOST_AUTHORS]],
            "authorCount": count if count > MOST_AUTHORS else None,
            "year": row.get("year"),
            "journal": self.record.venues[0] if self.record.venues else None,
            **self.record.numbering._asdict(),
            "articleNumber": self.record.article,
            "publisher": _to_text(row.get("publisher"), _LONGEST_VENUE),
            "type": row.get("type"),
            "doi": self.doi,
            "url": row.get("url"),
            "pdfUrl": row.get("pdf_url"),
            "abstract": _to_text(row.get("abstract"), _LONGEST_ABSTRACT),
            "citationCount": row.get("citation_count"),
            "openAccess": row.get("open_access"),
            "source": self.provider,
        }
        return {name: value for name, value in fields.items() if value not in (None, "", [])}


def is_heavy(row: Mapping[str, Any], text: str = "") -> bool:
    """Whether comparing a record with a reference of that text may take more than some milliseconds."""
    lists = [_find_people(row), *(row.get(name) or () for name in ("other_titles", "other_venues"))]
    return len(text) > _HEAVY or len(str(row.get("title") or "")) > _HEAVY or sum(map(len, lists)) > _MANY


def to_work(row: Mapping[str, Any], provider: str, *, kind: str = "") -> Work:
    """The work that a row of one of the capabilities `work`, `works`, `article`, `book` or `scholarly` describes.

    `kind` is what it is where the row does not say.
    """
    titles = (row.get("title"), *(row.get("other_titles") or ()))
    years = (row.get("year"), *(row.get("other_years") or ()))
    venues = (row.get("venue") or row.get("journal"), *(row.get("other_venues") or ()), row.get("container"))
    organisations = frozenset(row.get("organisations") or ())
    signed = _find_people(row)[:MOST_SIGNED]
    return Work(
        provider,
        WorkRecord(
            titles=_to_lines(titles, _LONGEST_TITLE),
            authors=tuple(filter(None, (_to_name(author, organisations) for author in signed))),
            years=tuple(dict.fromkeys(int(year) for year in years if year and str(year).isdecimal())),
            venues=_to_lines(venues, _LONGEST_VENUE),
            kind=str(row.get("type") or kind)[:_LONGEST_NAME],
            owners=_to_lines((row.get(name) for name in OWNERS), _LONGEST_NAME),
            numbering=VolumeNumbers(*(_to_text(row.get(name), _LONGEST_NUMBER) for name in VolumeNumbers._fields)),
            article=_to_text(row.get("article_number"), _LONGEST_NUMBER),
            publisher=_to_text(row.get("publisher"), _LONGEST_VENUE),
        ),
        row,
        to_doi(str(row.get("doi") or "")),
        to_listed(row, provider),
    )


def to_listed(row: Mapping[str, Any], provider: str) -> NoticeSource | None:
    """The notices that a row lists, all of them or the most severe one; None where its source lists none at all."""
    status = row.get("status")
    notices = to_notices(row.get("notices"), provider)
    if not notices and isinstance(status, Mapping):
        notices = from_status(status, provider)
    if not notices and row.get("retracted"):
        notices = (Notice("retraction", provider),)
    if not notices and not row.get("notices_known") and "retracted" not in row:
        return None
    return NoticeSource(provider, notices, str(row.get("replaced_by") or ""))


def _find_people(row: Mapping[str, Any]) -> Sequence[str]:
    """The people of a work, in whatever field of its kind they are."""
    return next((people for name in PEOPLE if (people := row.get(name))), ())


def _to_text(value: object, longest: int) -> str:
    """A value without markup, which registries keep as it was handed in; its first characters where it is long."""
    return strip_markup(str(value or "")[: longest * _MARKED_UP])[:longest]


def _to_lines(values: Iterable[object], longest: int) -> tuple[str, ...]:
    """The first values, each once."""
    lines = filter(None, (_to_text(value, longest) for value in values))
    return tuple(islice(dict.fromkeys(islice(lines, 5 * _MOST_LINES)), _MOST_LINES))


def _to_name(text: str, organisations: Set[str]) -> Name | None:
    is_organisation = text in organisations
    text = _to_text(text, _LONGEST_NAME)
    if is_organisation:
        return Name(text)
    family, comma, given = text.partition(", ")
    # A registry that parts the two knows better than a guess: "Lee, Tsung Dao" and "van der Berg, J.".
    return Name(family, given) if comma and given and "," not in given else parse_name(text)


def find_addresses(work: Work | None, doi: str = "") -> list[str]:
    """Where a work can be read, the likeliest first: its PDF, its page, and its DOI, each once."""
    addresses: list[str] = []
    resolver = to_address("doi", doi) if doi else ""
    if work is not None:
        for name in ("pdf_url", "url"):
            address = str(work.row.get(name) or "")
            if address and not address.startswith(_RESOLVERS):
                addresses.append(address)
        if not resolver:
            addresses.append(str(work.row.get("url") or ""))
    return [address for address in dict.fromkeys((*addresses, resolver)) if address]


def tell_match(match: Match) -> list[dict[str, str]]:
    """Each comparison with what went into it and why it came out so; those that compared nothing are left out."""
    return [
        {
            "field": one.field,
            "verdict": one.verdict,
            "supplied": one.supplied[:500],
            "recorded": one.recorded[:500],
            "reason": one.reason,
        }
        for one in match.judgements
        if one.verdict != "not_checked" or (one.supplied and one.recorded)
    ]
