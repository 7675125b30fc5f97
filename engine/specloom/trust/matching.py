"""Whether a citation and a record speak of one work: title, authors, year and venue, each judged with its reasons.

`mismatch` accuses, so it is only said where both sides are known, comparable (one script, no translation in sight) and
far apart. What lies between a match and a mismatch is `not_checked`, with the reason why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specloom.trust.bibliography.names import Name
from specloom.trust.folding import find_script
from specloom.trust.judgements import Confidence, Judgement, Record
from specloom.trust.matching_authors import compare_authors
from specloom.trust.matching_title import UNLIKE_IN_PROSE, compare_title
from specloom.trust.references import Reference, from_fields, parse_reference
from specloom.trust.titles import DISTINCTIVE, is_translated, to_share
from specloom.trust.venues import is_keeper, normalize_venue, same_venue, shares_words
from specloom.trust.words import terms

# The share of the substantive words from which two titles are probably one, calibrated on tests/gold.
_PROBABLE = 0.6
# So many words make a title of its own, even where most of them are small ("Attention is all you need").
_LONG_TITLE = 4
# Print and online years, and those of a preprint and its article, differ by one as a rule.
_YEAR_TOLERANCE = 1


@dataclass(frozen=True, slots=True)
class Match:
    """How a citation and a record compare: each field by itself, and how sure it is that they are one work."""

    title: Judgement
    authors: Judgement
    year: Judgement
    venue: Judgement
    confidence: Confidence

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """The four comparisons."""
        return (self.title, self.authors, self.year, self.venue)


def match_text(text: str, record: Record) -> Match:
    """A citation as free text against a record; without its identifiers (`identifiers.detect(...).rest`)."""
    return match_reference(parse_reference(text), record)


def match_fields(
    record: Record, *, title: str = "", authors: Sequence[Name] = (), year: int | None = None, venue: str = ""
) -> Match:
    """The fields of an entry of a bibliography, or of a page, against a record; "" and None are not compared."""
    return match_reference(from_fields(title=title, authors=tuple(authors), year=year, venue=venue), record)


def match_reference(reference: Reference, record: Record) -> Match:
    """A reference against a record, field by field."""
    title = compare_title(reference, record)
    authors = compare_authors(reference, record)
    year = compare_year(reference, record)
    venue = compare_venue(reference, record)
    return Match(title, authors, year, venue, _to_confidence(reference, record, title, authors, year))


# --- year and venue ---


def compare_year(reference: Reference, record: Record) -> Judgement:
    """Whether a reference gives a year in which the record was issued, or one beside it."""
    shown, known = (", ".join(map(str, years)) for years in (reference.years, record.years))
    if not reference.years or not record.years:
        missing = "no year was supplied" if record.years else "the record has no year"
        return Judgement("year", "not_checked", shown, known, missing)
    distance = min(abs(one - two) for one in reference.years for two in record.years)
    if distance == 0:
        return Judgement("year", "match", shown, known, "the year is the same")
    if distance <= _YEAR_TOLERANCE:
        return Judgement("year", "match", shown, known, "the years are one apart, as online and print are")
    return Judgement("year", "mismatch", shown, known, f"the years are {distance} apart")


def compare_venue(reference: Reference, record: Record) -> Judgement:
    """Whether a reference names a venue of the record, whole or abbreviated."""
    supplied, known = reference.venue, " / ".join(record.venues)
    if not normalize_venue(supplied) or not any(map(normalize_venue, record.venues)):
        missing = "no venue was supplied" if known else "the record names no venue"
        return Judgement("venue", "not_checked", supplied, known, missing)
    if any(same_venue(supplied, venue) for venue in record.venues):
        return Judgement("venue", "match", supplied, known, "the venue is the same, whole or abbreviated")
    if is_keeper(supplied) or any(map(is_keeper, record.venues)):
        return Judgement("venue", "not_checked", supplied, known, "one side names where the work is kept")
    if reference.title_sign != "field" or any(shares_words(supplied, venue) for venue in record.venues):
        return Judgement("venue", "not_checked", supplied, known, "the names may be two of one venue")
    if find_script(supplied) not in {find_script(venue) for venue in record.venues}:
        return Judgement("venue", "not_checked", supplied, known, "the names are in different scripts")
    return Judgement("venue", "mismatch", supplied, known, "the names share no significant word")


# --- both together ---


def _to_confidence(
    reference: Reference, record: Record, title: Judgement, authors: Judgement, year: Judgement
) -> Confidence:
    """How sure it is that a record is the cited work; `high` needs the title, and nothing that speaks against it."""
    others = (authors.verdict, year.verdict)
    if title.verdict == "match":
        long = len(terms(title.recorded)) >= DISTINCTIVE or len(title.recorded.split()) >= _LONG_TITLE
        long = long or find_script(title.recorded) == "CJK"
        # "Editorial" or "Cancer" is the title of many works, and so is a quoted pair of words; what agrees only in part
        # may be another edition, part or sequel.
        if "mismatch" not in others and ((long and not title.partial) or "match" in others):
            return "high"
        return "medium"
    best = max((to_share(each, reference.text) for each in record.titles), default=0.0)
    back = max((to_share(reference.title or reference.text, each) for each in record.titles), default=0.0)
    if min(best, back) >= _PROBABLE and "mismatch" not in others:
        return "medium"
    if title.verdict != "mismatch" and others == ("match", "match") and best >= UNLIKE_IN_PROSE:
        return "medium"
    # A translated title shares no word with the original, but the people and the year are the same.
    translated = others == ("match", "match") and is_translated(reference.title, record.titles)
    return "low" if max(best, back) > 0 or translated else "none"
