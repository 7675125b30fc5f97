"""The entries of an audit: what was handed in, each on its way through the checks with what is known of it so far."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specloom.faults import Fault
from specloom.trust.bibliography.documents import FORMATS, Problem, detect_format, parse_bibliography
from specloom.trust.bibliography.entry import Entry, clean, from_source
from specloom.trust.dois import find_doi
from specloom.trust.existence import Standing
from specloom.trust.grounds import Grounds
from specloom.trust.identifiers import Identifier, find_identifiers
from specloom.trust.isbn import find_flaw, to_isbn13
from specloom.trust.liveness import Link
from specloom.trust.searching import Found
from specloom.trust.works import Work

if TYPE_CHECKING:
    from specloom.desk import Desk

LONG_DOCUMENT = 100_000
"""Characters from which a document is parsed beside the event loop."""
NO_FORMAT = (
    f"the bibliography is none of {', '.join(FORMATS)}: name its format or pass entries; references in plain words go "
    "to verify_citation, one at a time"
)
_NUMBERS = ("arxiv", "pmid", "pmcid", "rfc", "nct")
"""Kinds of identifiers in addresses whose registers list everything of the kind."""
_DIGITS = re.compile(r"[0-9]{9}[0-9X]|[0-9]{12}[0-9X]")


@dataclass(slots=True)
class Item:
    """One entry on its way through the audit; `number` is what its address is of, where it gives no DOI."""

    entry: Entry
    claim: str = ""
    doi: str = ""
    url: str = ""
    problem: str = ""
    link: Link | None = None
    standing: Standing | None = None
    found: Found | None = None
    grounds: Grounds | None = None
    late: str = ""
    number: Identifier | None = None
    reasons: list[str] = field(default_factory=list)

    @property
    def exists(self) -> bool:
        """Whether a registry has it, or its title is certainly that of a recorded work.

        A record that is probably the work is enough beside an address that answers: two weak signs of one thing. What a
        registry denies does not exist under that name, whatever else has its title.
        """
        if self.standing is not None and self.standing.state != "unknown":
            return self.standing.state == "found"
        live = self.link is not None and self.link.live is True
        return self.found is not None and self.found.confidence in (("high", "medium") if live else ("high",))

    @property
    def work(self) -> Work | None:
        """The record of it, where it is certain that it is one of it."""
        if self.standing is not None and (self.standing.work is not None or self.standing.state == "absent"):
            return self.standing.work
        return self.found.work if self.found is not None and self.found.confidence == "high" else None

    @property
    def other(self) -> Work | None:
        """The work that has its title and another DOI, where the DOI that it gives is not registered."""
        absent = self.standing is not None and self.standing.state == "absent"
        sure = self.found is not None and self.found.confidence == "high"
        return self.found.work if absent and sure and self.found is not None else None

    @property
    def isbn(self) -> str:
        """Its ISBN-13, "" without one."""
        return to_isbn13(self.entry.isbn)

    @property
    def flaw(self) -> str:
        """Why the ISBN that it gives can be no book's, "" where it can or none is given."""
        bare = re.sub(r"[\s-]", "", self.entry.isbn).upper()
        return find_flaw(bare) if _DIGITS.fullmatch(bare) else ""


async def gather(
    desk: Desk, document: str, format_: str, entries: Sequence[Mapping[str, str]] | None, session: str
) -> tuple[str, list[Item], tuple[Problem, ...]]:
    """Where the entries came from, the entries, and what of a document could not be read.

    Of several inputs entries come first, then the document. Raises a `validation` fault where there is nothing, and
    `session_not_found` for a session that is not the caller's.
    """
    if entries:
        return "entries", [_to_item(entry) for entry in entries], ()
    if document.strip():
        if format_ in ("auto", "") and not detect_format(document):
            raise Fault("validation", NO_FORMAT)
        # A long document takes seconds to parse, in which other calls are answered.
        parsed = (
            await asyncio.to_thread(parse_bibliography, document, format_)
            if len(document) > LONG_DOCUMENT
            else parse_bibliography(document, format_)
        )
        return f"bibliography:{parsed.format}", [_from_entry(entry) for entry in parsed.entries], parsed.problems
    if session:
        from specloom.trust.sessions import find_sources

        return "session", [_to_item(source, claims=False) for source in await find_sources(desk, session)], ()
    raise Fault("validation", "nothing to audit: give entries, a bibliography or a sessionId")


def _to_item(source: Mapping[str, str], *, claims: bool = True) -> Item:
    given = {name: str(value) for name, value in source.items()}
    item = _from_entry(from_source(given))
    url = given.get("url", "").strip()
    if url and not item.entry.url:
        item.url, item.problem = url, "the address is not one of a web page"
    doi = clean(given.get("doi", ""))
    if doi and not item.entry.doi:
        item.reasons.append(f"{doi[:80]!r} is no DOI: those begin with 10. and have a stroke")
    item.claim = given.get("claim", "").strip() if claims else ""
    return item


def _from_entry(entry: Entry) -> Item:
    derived = bool(entry.doi) and entry.url == f"https://doi.org/{entry.doi}"
    doi = entry.doi or find_doi(entry.url)
    number = next((each for each in find_identifiers(entry.url) if each.kind in _NUMBERS), None) if not doi else None
    return Item(entry, doi=doi, url="" if derived else entry.url, number=number)
