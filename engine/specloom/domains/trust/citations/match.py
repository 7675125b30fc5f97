"""Whether a citation and a record speak of one work: title, authors, year, venue, volume, issue and pages.

Each is judged with its reasons. `mismatch` accuses, so it is only said where both sides are known, comparable (one
script, no translation in sight) and far apart. What lies between a match and a mismatch is `not_checked`, with the
reason why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from specloom.core import dataclass, load_table
from specloom.domains.text import (
    Name,
    compact,
    find_script,
    same_person,
    stands_in,
    stem,
    terms,
    to_display,
    to_word_set,
)
from specloom.domains.text.tokens import tokens

from .numbering import VolumeNumbers, compare_issues, compare_pages, compare_volumes
from .reference import NO_NUMBERING, PARTIES, Reference, from_fields, parse_reference
from .titles import DISTINCTIVE, DIVIDER, find_inside, find_sameness, is_other_work, is_translated, to_share
from .venues import is_keeper, is_part, is_shorthand, normalize_venue, same_venue, shares_words

# --- What is compared when a citation is held against a record, and what each comparison says -------------------------


Verdict = Literal["match", "mismatch", "not_checked"]
Confidence = Literal["high", "medium", "low", "none"]


@dataclass(frozen=True, slots=True)
class WorkRecord:
    """A work as a registry describes it. `titles` holds every title it has: main, with subtitle, original, translated.

    `years` are all years that it was issued in (online, print), `venues` every name of its journal or series, and
    `kind` is what the registry calls the kind of work. `owners` are who may be named in place of its people. `article`
    is the number that takes the place of pages, or stands beside them.
    """

    titles: tuple[str, ...] = ()
    authors: tuple[Name, ...] = ()
    years: tuple[int, ...] = ()
    venues: tuple[str, ...] = ()
    kind: str = ""
    owners: tuple[str, ...] = ()
    numbering: VolumeNumbers = NO_NUMBERING
    article: str = ""
    publisher: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One comparison: `field`, the verdict, what was supplied and recorded, and in words why.

    `partial` says that a match rests on a part of what was supplied or recorded, which another field has to bear out.
    """

    field: str
    verdict: Verdict
    supplied: str
    recorded: str
    reason: str
    partial: bool = False


# --- Whether the authors of a citation are those of a record ----------------------------------------------------------


_SHORTEST_OWNER = 4
"""Letters of a word that an owner may share with an author; shorter ones are mostly legal forms."""
_MOST_OTHERS = 100
"""Authors of each side that are compared beside the first one of the reference, who is looked for among all."""


def compare_authors(reference: Reference, record: WorkRecord) -> Judgement:
    """Whether the authors of a reference are authors of a record; the order of the later ones does not matter."""
    supplied, recorded = (tuple(filter(_is_named, names)) for names in (reference.authors, record.authors))
    signed, listed = _show(supplied), _show(recorded)
    if not recorded:
        return Judgement("authors", "not_checked", signed, listed, "the record names no authors")
    # What reads as a name in loose text may be more than one ("as Doe et al. showed"), or none.
    # A name that is a word of the title (Brown, on brown rice) does not count.
    loose = () if reference.title_sign == "field" else recorded
    named = (name for name in loose if stands_in(name, reference.text))
    inside = next((name for name in named if not any(stands_in(name, title) for title in record.titles)), None)
    if not supplied:
        if inside is not None:
            return Judgement("authors", "match", inside.family, listed, "the text names an author of the record")
        return Judgement("authors", "not_checked", signed, listed, "no authors were supplied")
    if any(same_person(supplied[0], name) for name in recorded):
        first = same_person(supplied[0], recorded[0])
        reason = "the first author is the same" if first else "the first author supplied is a later one of the record"
        return Judgement("authors", "match", signed, listed, reason)
    if any(same_person(one, two) for one in supplied[1:_MOST_OTHERS] for two in recorded[:_MOST_OTHERS]):
        return Judgement("authors", "match", signed, listed, "a later author is the same")
    if inside is not None:
        return Judgement("authors", "match", inside.family, listed, "the text names an author of the record")
    owned = {word for owner in record.owners for word in tokens(owner)}
    for words in ({*tokens(to_display(name))} for name in supplied):
        if words and words <= owned:
            return Judgement("authors", "match", signed, listed, "its owner is named in place of the people")
        if any(len(word) >= _SHORTEST_OWNER for word in words & owned):
            return Judgement("authors", "not_checked", signed, listed, "its owner may be named in place of the people")
    if any(not name.given for name in (*supplied, *recorded)):
        corporate = any(not name.given and " " in name.family for name in (*supplied, *recorded))
        if corporate:
            return Judgement("authors", "not_checked", signed, listed, "an organisation may sign for the people in it")
    if {find_script(name.family) for name in supplied}.isdisjoint(find_script(name.family) for name in recorded):
        return Judgement("authors", "not_checked", signed, listed, "the names are in different scripts")
    return Judgement("authors", "mismatch", signed, listed, "none of the supplied authors is one of the record")


_TABLE = load_table(__file__, "titles.yaml")
_NOBODY = to_word_set(_TABLE["nobody"])


def _is_named(name: Name) -> bool:
    """Whether a name is somebody's, and not what lists write where nobody signed."""
    return any(character.isalpha() for character in name.family) and compact(to_display(name)) not in _NOBODY


def _show(names: Sequence[Name]) -> str:
    line = "; ".join(f"{name.family}, {name.given}" if name.given else name.family for name in names[:5])
    return f"{line}; and {len(names) - 5} more" if len(names) > 5 else line


# --- Whether a citation gives the title of a record, another title, or none that could be told ------------------------


_PROSE, _ABOUT = to_word_set(_TABLE["prose"]), to_word_set(_TABLE["about"])
_VENUES = to_word_set(_TABLE["venues"])
_TITLE_WORDS, _MANY_WORDS = 2, 5
"""Words of substance that the last part of a reference has at least when it is a title, and loose text when it is."""
_FEW_WORDS = 4
"""Words that part two titles and are told by name."""
# Shares of the substantive words that two titles have in common, calibrated on tests/corpus/gold: two works of one
# field seldom share more than half of them, and loose text beside an identifier has to share less to be called another
# title.
_UNLIKE = 0.5
_LIKE = 0.75
UNLIKE_IN_PROSE = 0.34


def compare_title(reference: Reference, record: WorkRecord, authors: Judgement) -> Judgement:
    """Whether a reference gives the title of a record, another title, or none that could be told.

    `authors` is what comparing these gave.
    """
    # What may be the title of a reference, the likeliest first.
    loose = reference.title or (reference.text if terms(reference.text) else "")
    candidates = cut_title(reference.title) if reference.title_sign == "field" else [loose] if loose else []
    recorded = tuple(title for title in record.titles if title.strip())
    if not candidates or not recorded:
        missing = "no title was supplied" if recorded else "the record has no title"
        return Judgement("title", "not_checked", reference.text, " / ".join(recorded), missing)
    pairs = [(supplied, title, find_sameness(supplied, title)) for supplied in candidates for title in recorded]
    same = [(supplied, title, sameness) for supplied, title, sameness in pairs if sameness is not None]
    for supplied, title, sameness in sorted(same, key=lambda pair: not pair[2].whole):
        return Judgement("title", "match", supplied, title, sameness.reason, partial=not sameness.whole)
    # The names that may stand right beside a title: of authors and venues.
    around = [*(name.family for name in record.authors), *(name.given for name in record.authors), *record.venues]
    if reference.title_sign != "field" and (title := find_inside(reference.text, recorded, around)):
        return Judgement("title", "match", reference.text, title, "the recorded title stands in the text", partial=True)
    supplied = candidates[0]
    title = max(recorded, key=lambda each: to_share(supplied, each))
    verdict, reason = _judge_difference(reference, record, supplied, recorded, authors)
    return Judgement("title", verdict, supplied, title, reason)


def cut_title(title: str) -> list[str]:
    """What may be the title in the title of a page, which has the name of its site behind it: the whole, then its cuts.

    "Otters – a reply" is not cut, since that is no page about otters.
    """
    cuts = [title]
    for mark in DIVIDER.finditer(title):
        head, rest = title[: mark.start()], title[mark.end() :]
        if not is_other_work(head) and not is_other_work(rest):
            cuts += [head, rest]
    return [each.strip() for each in cuts if terms(each)] or ([title] if title else [])


_DOTTED = re.compile(r"(?<!\w)[A-Z][a-z'’]{1,12}(?=\.)")


def _judge_difference(
    reference: Reference, record: WorkRecord, supplied: str, recorded: Sequence[str], authors: Judgement
) -> tuple[Verdict, str]:
    """What titles that do not match are: another work's, or not comparable."""
    if find_script(supplied) not in {find_script(title) for title in recorded}:
        return "not_checked", "the titles are in different scripts; one may be a translation of the other"
    names = frozenset(tokens(" ".join(f"{name.family} {name.given}" for name in record.authors)))
    words = [word for word in terms(supplied) if word not in names and not _is_explained(word, record)]
    if reference.title_sign == PARTIES:
        # Courts shorten the names of parties: "Indep. Cmty. Sch. Dist."
        dotted = [word for word in _DOTTED.findall(supplied) if any(is_part(word, title) for title in recorded)]
        shortened = {term for word in dotted for term in terms(word)}
        words = [word for word in words if word not in shortened]
    absent = [word for word in words if not any(to_share(word, title) for title in recorded)]
    if len(absent) < 2:
        nearest = max(recorded, key=lambda each: to_share(supplied, each))
        differing = _tell_differing(supplied, nearest)
        return "not_checked", f"fewer than two words of the supplied title are missing from the record{differing}"
    others = authors.verdict == "mismatch"
    # The names of a case are in no language.
    if is_translated(supplied, recorded) and not others and reference.title_sign != PARTIES:
        return "not_checked", "the titles are in different languages; one may be a translation of the other"
    nearest = max(recorded, key=lambda each: to_share(supplied, each))
    if len(terms(nearest)) < 2 and find_script(nearest) != "CJK":
        return "not_checked", "the recorded title is too short to tell works apart"
    hits = len(words) - len(absent)
    # What follows the authors is the title where more follows it, and else may be the venue.
    loose = not reference.title_sign or (reference.title_sign == "authors" and not reference.venue)
    is_last = loose and reference.title_sign == "authors" and not _is_venue_like(supplied, words)
    is_named = any(stands_in(name, supplied) for name in record.authors)
    is_prose = not _PROSE.isdisjoint(supplied.casefold().split())
    is_alone = hits == 0 and len(words) >= _MANY_WORDS and not (is_named or is_prose)
    if loose and not (is_last or is_alone or _looks_like_title(supplied, words, record)):
        return "not_checked", "the text has no part that is certain to be a title"
    shared = hits / max(len(words), len(terms(nearest)))
    limit = _LIKE if others else _UNLIKE if reference.title_sign else UNLIKE_IN_PROSE
    # All words of a short title may stand in a long one that goes on, or that tells of the work.
    if shared >= limit or (to_share(nearest, supplied) >= _LIKE and not others):
        differing = _tell_differing(supplied, nearest)
        return "not_checked", f"the titles share words, but not enough to be told the same or different{differing}"
    also = ", and the authors are others" if others else ""
    return "mismatch", f"missing from the record: {', '.join(absent[:6])}{also}"


def _is_venue_like(text: str, words: Sequence[str]) -> bool:
    """Whether the last part of a reference may name where the work appeared, or is too short for a title."""
    spoken = {word.casefold() for word in re.findall(r"[^\W\d_]+", text)}
    return len(words) < _TITLE_WORDS or not _VENUES.isdisjoint(spoken) or not _PROSE.isdisjoint(spoken)


def _tell_differing(supplied: str, recorded: str) -> str:
    """Which words part two titles, where they are few; "" where they are many or none."""
    left, right = _spell(supplied), _spell(recorded)
    own = [word for stemmed, word in left.items() if stemmed not in right]
    other = [word for stemmed, word in right.items() if stemmed not in left]
    if not own or len(own) > _FEW_WORDS or len(other) > _FEW_WORDS:
        return ""
    there = f"the record has {', '.join(other)} where the citation has" if other else "the record does not have"
    return f": {there} {', '.join(own)}"


def _spell(title: str) -> dict[str, str]:
    """The words of a title that tell works apart as they are written, by their stems."""
    small = to_word_set(_TABLE["small"])
    spelled = re.findall(r"[^\W_]+(?:[-‐-―'’][^\W_]+)*", title)
    return {stem(word.casefold()): word for word in spelled if word.casefold() not in small}


def _looks_like_title(text: str, words: Sequence[str], record: WorkRecord) -> bool:
    """Whether loose text beside an identifier can only be a title: enough words, or all of them in capitals.

    Prose that speaks of a work is none, and neither is text that names an author of the record. Without authors and
    venue in the record it cannot be told what else the words may be.
    """
    if not record.authors or not record.venues:
        return False
    spoken = re.findall(r"[^\W\d_]+", text)
    if any(word in _PROSE for word in spoken) or any(stands_in(name, text) for name in record.authors):
        return False
    if len(words) > DISTINCTIVE:
        return True
    long = [word for word in spoken if len(word) >= 4]
    return len(long) >= 2 and all(word[0].isupper() for word in long)


def _is_explained(word: str, record: WorkRecord) -> bool:
    """Whether a word of a text is no title's because it is of the record's years or venues."""
    if len(word) < 3 and word.isupper():
        return True
    years = [str(year) for year in record.years]
    return word in _ABOUT or word in years or any(is_part(word, venue) for venue in record.venues)


# The share of the substantive words from which two titles are probably one, calibrated on tests/corpus/gold.
_PROBABLE = 0.6
# So many words make a title of its own, even where most of them are small ("Attention is all you need").
_LONG_TITLE = 4
# Print and online years, and those of a preprint and its article, differ by one as a rule.
_YEAR_TOLERANCE = 1
# Reports are approved, released and printed in different years, and of books there are editions.
_SLACK = 3
_SLOW, _REPRINTED = to_word_set(_TABLE["slow"]), to_word_set(_TABLE["reprinted"])
_IN_JOURNALS = to_word_set(_TABLE["in_journals"])
# Volumes from before were recorded afterwards, and much of what is cited of them is older than their records.
_RECORDED_SINCE = 1950
DECISION = "decision"
"""The kind of work that a court's decision is."""
# Old reporters date decisions by the term of the court.
_DATED_BY_DAY = 1900


@dataclass(frozen=True, slots=True)
class Match:
    """How a citation and a record compare: each field by itself, and how sure it is that they are one work."""

    title: Judgement
    authors: Judgement
    year: Judgement
    venue: Judgement
    confidence: Confidence
    volume: Judgement
    issue: Judgement
    pages: Judgement

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """All comparisons."""
        return (self.title, self.authors, self.year, self.venue, self.volume, self.issue, self.pages)


def match_text(text: str, record: WorkRecord) -> Match:
    """A citation as free text against a record; without its identifiers (`identifiers.detect(...).rest`)."""
    return match_reference(parse_reference(text), record)


def match_fields(
    record: WorkRecord,
    *,
    title: str = "",
    authors: Sequence[Name] = (),
    year: int | None = None,
    venue: str = "",
    numbering: VolumeNumbers = NO_NUMBERING,
) -> Match:
    """The fields of an entry of a bibliography, or of a page, against a record; "" and None are not compared."""
    reference = from_fields(title=title, authors=tuple(authors), year=year, venue=venue, numbering=numbering)
    return match_reference(reference, record)


def match_reference(reference: Reference, record: WorkRecord) -> Match:
    """A reference against a record, field by field."""
    authors = compare_authors(reference, record)
    title = compare_title(reference, record, authors)
    year = compare_year(reference, record)
    venue = compare_venue(reference, record)
    confidence = _to_confidence(reference, record, title, authors, year)
    return Match(title, authors, year, venue, confidence, *compare_numbering(reference, record, venue))


# --- year, venue, and the place in it ---


def compare_year(reference: Reference, record: WorkRecord) -> Judgement:
    """Whether a reference gives a year in which the record was issued, or one beside it."""
    supplied, recorded = (", ".join(map(str, years)) for years in (reference.years, record.years))
    if not reference.years or not record.years:
        missing = "no year was supplied" if record.years else "the record has no year"
        return Judgement("year", "not_checked", supplied, recorded, missing)
    distance = min(abs(one - two) for one in reference.years for two in record.years)
    if distance == 0:
        return Judgement("year", "match", supplied, recorded, "the year is the same")
    if record.kind == DECISION:
        return _judge_decided(distance, min(record.years), supplied, recorded)
    if distance <= _YEAR_TOLERANCE:
        return Judgement("year", "match", supplied, recorded, "the years are one apart, as online and print are")
    kind = record.kind.casefold()
    if kind in _SLOW and distance <= _SLACK:
        reason = f"the years are {distance} apart, as those of approval, release and print of reports and books are"
        return Judgement("year", "not_checked", supplied, recorded, reason)
    if kind in _REPRINTED and max(reference.years) < min(record.years):
        return Judgement("year", "not_checked", supplied, recorded, "the record may be of a later edition")
    return Judgement("year", "mismatch", supplied, recorded, f"the years are {distance} apart")


def _judge_decided(distance: int, year: int, supplied: str, recorded: str) -> Judgement:
    """What another year says of a decision."""
    if distance <= _YEAR_TOLERANCE or year < _DATED_BY_DAY:
        reason = "dates of filing, of terms and of rehearings may differ"
        return Judgement("year", "not_checked", supplied, recorded, reason)
    return Judgement("year", "mismatch", supplied, recorded, f"the decision is of a year {distance} apart")


def compare_venue(reference: Reference, record: WorkRecord) -> Judgement:
    """Whether a reference names a venue of the record, whole or abbreviated."""
    supplied, recorded = reference.venue, " / ".join(record.venues)
    if not normalize_venue(supplied) or not any(map(normalize_venue, record.venues)):
        missing = "no venue was supplied" if recorded else "the record names no venue"
        return Judgement("venue", "not_checked", supplied, recorded, missing)
    if any(same_venue(supplied, venue) for venue in record.venues):
        return Judgement("venue", "match", supplied, recorded, "the venue is the same, whole or abbreviated")
    if record.publisher and same_venue(supplied, record.publisher):
        return Judgement("venue", "not_checked", supplied, recorded, "its publisher is named in place of the venue")
    if is_keeper(supplied) or any(map(is_keeper, record.venues)):
        return Judgement("venue", "not_checked", supplied, recorded, "one side names where the work is kept")
    if not reference.is_venue:
        return Judgement("venue", "not_checked", supplied, recorded, "the text does not say surely that it is a venue")
    if any(shares_words(supplied, venue) for venue in record.venues) or any(
        map(is_shorthand, (supplied, *record.venues))
    ):
        return Judgement("venue", "not_checked", supplied, recorded, "the names may be two of one venue")
    if find_script(supplied) not in {find_script(venue) for venue in record.venues}:
        return Judgement("venue", "not_checked", supplied, recorded, "the names are in different scripts")
    if any(compact(supplied) in compact(title) for title in record.titles):
        return Judgement("venue", "not_checked", supplied, recorded, "what stands for the venue is a part of the title")
    if not _is_of_journal(record):
        reason = "only journals are told apart by their names: conferences, series and archives have several"
        return Judgement("venue", "not_checked", supplied, recorded, reason)
    if record.years and min(record.years) < _RECORDED_SINCE:
        reason = "older volumes are recorded under names that their journals got later"
        return Judgement("venue", "not_checked", supplied, recorded, reason)
    return Judgement("venue", "mismatch", supplied, recorded, "the names share no significant word")


def compare_numbering(
    reference: Reference, record: WorkRecord, venue: Judgement
) -> tuple[Judgement, Judgement, Judgement]:
    """Whether volume, issue and pages of a reference are those of the record, where both are of one journal.

    A work may appear in several places, each with numbers of its own, so nothing is compared beside another venue.
    """
    supplied, recorded = reference.numbering, record.numbering
    is_one_place = venue.verdict == "match" and _is_of_journal(record)
    verdicts = {
        "volume": compare_volumes(supplied.volume, recorded.volume, recorded.issue),
        "issue": compare_issues(supplied.issue, recorded.issue),
        "pages": compare_pages(supplied.pages, recorded.pages, record.article),
    }
    judgements = []
    for name, (verdict, reason) in verdicts.items():
        given, listed = getattr(supplied, name), getattr(recorded, name)
        listed = listed or (record.article if name == "pages" else "")
        if not given or not listed:
            missing = f"no {name} supplied" if listed else f"the record has no {name}"
            judgements.append(Judgement(name, "not_checked", given, listed, missing))
        elif not is_one_place:
            judgements.append(Judgement(name, "not_checked", "", listed, "it is compared within one journal only"))
        elif verdict == "mismatch" and record.years and min(record.years) < _RECORDED_SINCE:
            older = "older volumes are counted by series, and recorded in one count"
            judgements.append(Judgement(name, "not_checked", given, listed, older))
        else:
            judgements.append(Judgement(name, verdict, given, listed, reason))
    volume, issue, pages = judgements
    return volume, issue, pages


def _is_of_journal(record: WorkRecord) -> bool:
    """Whether a work appeared in a journal, as far as its registry says what it is."""
    return not record.kind or re.sub(r"[\W_]", "", record.kind.casefold()) in _IN_JOURNALS


# --- both together ---


def _to_confidence(
    reference: Reference, record: WorkRecord, title: Judgement, authors: Judgement, year: Judgement
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
