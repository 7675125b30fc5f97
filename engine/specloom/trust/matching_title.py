"""Whether a citation gives the title of a record, another title, or none that could be told."""

from __future__ import annotations

import re
from collections.abc import Sequence

from specloom.trust.folding import find_script
from specloom.trust.judgements import Judgement, Record, Verdict
from specloom.trust.matching_authors import compare_authors
from specloom.trust.people import stands_in
from specloom.trust.references import Reference
from specloom.trust.titles import DISTINCTIVE, find_inside, find_sameness, is_other_work, is_translated, to_share
from specloom.trust.venues import is_part
from specloom.trust.words import terms, to_word_set, tokens

# Words of sentences about a work; in a title they are rare enough that one of them leaves the question open.
_PROSE = to_word_set(
    """according argued argues because claimed claims demonstrated found he her his it our report reported see she
    showed shown shows their they we whose"""
)
# What people write about a work beside its title.
_ABOUT = to_word_set("article cite doi journal link page paper pdf preprint read ref refer see source stud text")

# Shares of the substantive words that two titles have in common, calibrated on tests/gold: two works of one field
# seldom share more than half of them, and loose text beside an identifier has to share less to be called another title.
_UNLIKE = 0.5
_LIKE = 0.75
UNLIKE_IN_PROSE = 0.34


def compare_title(reference: Reference, record: Record) -> Judgement:
    """Whether a reference gives the title of a record, another title, or none that could be told."""
    candidates = _find_candidates(reference)
    recorded = tuple(title for title in record.titles if title.strip())
    if not candidates or not recorded:
        missing = "no title was supplied" if recorded else "the record has no title"
        return Judgement("title", "not_checked", reference.text, " / ".join(recorded), missing)
    found = [(supplied, title, find_sameness(supplied, title)) for supplied in candidates for title in recorded]
    same = [(supplied, title, sameness) for supplied, title, sameness in found if sameness is not None]
    for supplied, title, sameness in sorted(same, key=lambda one: not one[2].whole):
        return Judgement("title", "match", supplied, title, sameness.reason, partial=not sameness.whole)
    if reference.title_sign != "field" and (title := find_inside(reference.text, recorded, _list_around(record))):
        return Judgement("title", "match", reference.text, title, "the recorded title stands in the text", partial=True)
    supplied = candidates[0]
    title = max(recorded, key=lambda each: to_share(supplied, each))
    verdict, reason = _judge_difference(reference, record, supplied, recorded)
    return Judgement("title", verdict, supplied, title, reason)


def _find_candidates(reference: Reference) -> list[str]:
    """What may be the title of a reference, the likeliest first."""
    if reference.title_sign == "field":
        return cut_title(reference.title)
    if reference.title:
        return [reference.title]
    return [reference.text] if terms(reference.text) else []


def cut_title(title: str) -> list[str]:
    """What may be the title in the title of a page, which has the name of its site behind it: the whole, then its cuts.

    "Otters – a reply" is not cut, since that is no page about otters.
    """
    found = [title]
    for mark in re.finditer(r"\s[|·•»–—-]\s|\s::\s", title):
        head, rest = title[: mark.start()], title[mark.end() :]
        if not is_other_work(head) and not is_other_work(rest):
            found += [head, rest]
    return [each.strip() for each in found if terms(each)] or ([title] if title else [])


def _list_around(record: Record) -> list[str]:
    """The names that may stand right beside a title: of authors and venues."""
    return [*(name.family for name in record.authors), *(name.given for name in record.authors), *record.venues]


def _judge_difference(
    reference: Reference, record: Record, supplied: str, recorded: Sequence[str]
) -> tuple[Verdict, str]:
    """What titles that do not match are: another work's, or not comparable."""
    if find_script(supplied) not in {find_script(title) for title in recorded}:
        return "not_checked", "the titles are in different scripts; one may be a translation of the other"
    words = [word for word in terms(supplied) if not _is_explained(word, record)]
    absent = [word for word in words if not any(to_share(word, title) for title in recorded)]
    if len(absent) < 2:
        return "not_checked", "fewer than two words of the supplied title are missing from the record"
    others = compare_authors(reference, record).verdict == "mismatch"
    if is_translated(supplied, recorded) and not others:
        return "not_checked", "the titles are in different languages; one may be a translation of the other"
    nearest = max(recorded, key=lambda each: to_share(supplied, each))
    if len(terms(nearest)) < 2 and find_script(nearest) != "CJK":
        return "not_checked", "the recorded title is too short to tell works apart"
    # What follows the authors is the title where more follows it, and else may be the venue.
    loose = not reference.title_sign or (reference.title_sign == "authors" and not reference.venue)
    if loose and not _looks_like_title(supplied, words, record):
        return "not_checked", "the text has no part that is certain to be a title"
    hits = len(words) - len(absent)
    shared = hits / max(len(words), len(terms(nearest)))
    limit = _LIKE if others else _UNLIKE if reference.title_sign else UNLIKE_IN_PROSE
    # All words of a short title may stand in a long one that goes on, or that tells of the work.
    if shared >= limit or (to_share(nearest, supplied) >= _LIKE and not others):
        return "not_checked", "the titles share words, but not enough to be told the same or different"
    also = ", and the authors are others" if others else ""
    return "mismatch", f"missing from the record: {', '.join(absent[:6])}{also}"


def _looks_like_title(text: str, words: Sequence[str], record: Record) -> bool:
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


def _is_explained(word: str, record: Record) -> bool:
    """Whether a word of a text is no title's because it is of the record's authors, years or venues."""
    if len(word) < 3 and word.isupper():
        return True
    names = tokens(" ".join(f"{name.family} {name.given}" for name in record.authors))
    years = [str(year) for year in record.years]
    return word in _ABOUT or word in names or word in years or any(is_part(word, venue) for venue in record.venues)
