"""How much of a claim a text speaks of: a share, the sentences that do, and what in them may speak against it.

Words are compared and not meaning, so the answer is a measure with its evidence and never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from specloom.core import KINDS, Fault, dataclass, load_table
from specloom.domains.text import (
    UNKNOWN,
    LanguageProfile,
    find_language,
    find_script,
    is_number,
    is_stop_word,
    looks_foreign,
    sentences,
    stem,
    terms,
    to_plain,
)
from specloom.domains.text.tokens import tokens
from specloom.plugins import HOOKS, Context, Row

from ..records import ClaimCheck, Support
from .cues import Cue, find_cues
from .denials import is_open
from .distortions import find_distortions
from .matter import ClaimPassage, find_passages, to_subject
from .quotations import Quotation, find_quotations
from .weight import ClaimTokens, SentenceMatch, find_initials, match_sentence, score, share, to_claim_tokens, union

LABELS = ("addressed", "partially_addressed", "not_addressed")
LONGEST_CLAIM = 2000
LONGEST_TEXT = 200_000
MOST_EVIDENCE = 5
# A text of up to this many sentences is judged as a whole, a longer one by its best window of so many in a row.
SHORT_TEXT = 20
WINDOW = 4

# From here on a claim counts as addressed; below `_FAINT` as not, where hardly a specific term was found either.
_ADDRESSED = 0.6
_FAINT = 0.35
# A claim with fewer specific terms may be made in other words, and of so few one that is found is no chance.
_TELLING = 4
# Of so many specific terms none is found, and of the rest less than this share: that is no claim in other words.
_FEWEST, _TRACE = 3, 0.1
_FEW = 5
# A term in so many sentences is no chance: the text is of the claim's field, whatever else it lacks of it.
_TOPIC = 3
# A name or a long word is no chance either where it carries this share of what is specific in the claim.
_ORDINARY = 1.0
_CARRIED = 0.2
# Where something is says what a claim is about from this share on.
_SETTING = 0.25
_NO_CUES = "{why}, so nothing was looked for that may speak against the claim."
# A text of fewer words than this shows nothing by what it lacks: a notice, a login page, a menu.
_THINNEST = 12
# A sentence states a claim where it has every term of it, and this share of those that stand together there do so here.
_IN_ORDER = 0.6


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a text has of a claim.

    `coverage` is the weighted share of the claim's terms in the best window, from 0 to 1. `label` is one of LABELS.
    `evidence` are up to five sentences in reading order, `signal` the best of them, "" when none shares a term. `cues`
    are what may speak against the claim, `distortions` what it may have changed; `cue_note` says why none were looked
    for, "" where they were. `quotations` are those of the claim. `words` counts the words of the text. `stated` is a
    sentence that has every term of the claim in its order and leaves nothing open, "" where none does.
    """

    coverage: float
    label: Support
    reason: str
    evidence: tuple[str, ...]
    signal: str
    cues: tuple[Cue, ...]
    distortions: tuple[Cue, ...]
    quotations: tuple[Quotation, ...]
    cue_note: str
    words: int
    stated: str = ""

    @property
    def contrast(self) -> bool:
        """Whether something may speak against the claim: read the evidence."""
        return bool(self.cues)


def assess(claim: str, text: str, *, is_part: bool = False) -> Coverage:
    """How much of a claim a text speaks of. A list of references at its end is left out, since it only names works.

    Both are cut, at 2000 and 200 000 characters: a longer text is to be given in parts, which have no such end.
    """
    claim, text = claim[:LONGEST_CLAIM], text[:LONGEST_TEXT]
    text = text if is_part else without_references(text)
    language = find_language(text)
    own = find_language(claim)
    initials = find_initials(text)
    query = to_claim_tokens(claim, own if own is not UNKNOWN else language, initials)
    forms: dict[str, tuple[str, ...]] = {}
    spoken = [match_sentence(sentence, query, language, initials, forms) for sentence in sentences(text)]
    hits = union(spoken)
    coverage = share(_best_window(spoken, query), query)
    words = sum(match.words for match in spoken)
    label, reason = _judge(
        query, hits, spoken, coverage, words, comparable=_comparable(claim, text, own, language, hits)
    )
    # Of sentences that are said again, the first stands for all.
    firsts: dict[str, SentenceMatch] = {}
    for match in spoken:
        if match.hits:
            firsts.setdefault(match.sentence, match)
    ranked = sorted(firsts.values(), key=lambda match: -score(match, query))
    evidence = [match for match in firsts.values() if match in ranked[:MOST_EVIDENCE]]
    subject = to_subject(claim, query, language, hits)
    passages = find_passages(subject, evidence, spoken)
    quotations = find_quotations(claim, text)
    altered = next((each.altered for each in quotations if each.altered is not None), None)
    if label == "not_addressed" and altered is not None:
        label, reason = "partially_addressed", f"the source has nearly the words of the quotation: {altered.differing}"
    unknown = "The language of the text could not be told"
    unlisted = f"There is no list of cues for {language.code!r}"
    return Coverage(
        coverage=round(coverage, 2),
        label=label,
        reason=reason,
        evidence=tuple(match.sentence for match in evidence),
        signal=ranked[0].sentence if ranked else "",
        cues=find_cues(subject, passages, spoken),
        distortions=find_distortions(subject, passages, text, quotations, _find_following(passages, spoken)),
        quotations=quotations,
        cue_note="" if language.has_cues else _NO_CUES.format(why=unknown if language is UNKNOWN else unlisted),
        words=words,
        stated=_find_stated(query, spoken, language),
    )


def _find_stated(query: ClaimTokens, spoken: Sequence[SentenceMatch], language: LanguageProfile) -> str:
    whole = frozenset(query.weights)
    fitting = (
        match.sentence
        for match in spoken
        if query.specific and whole <= match.hits and match.pairs >= _IN_ORDER * len(query.pairs)
    )
    return next((sentence for sentence in fitting if not is_open(sentence, language)), "")


def _find_following(passages: Sequence[ClaimPassage], spoken: Sequence[SentenceMatch]) -> list[str]:
    """The sentences behind the passage that has most of the claim."""
    if not passages:
        return []
    best = max(passages, key=lambda passage: passage.matter).match
    at = next(place for place, match in enumerate(spoken) if match is best)
    return [match.sentence for match in spoken[at + 1 :]]


def _best_window(spoken: Sequence[SentenceMatch], query: ClaimTokens) -> Sequence[SentenceMatch]:
    if len(spoken) <= SHORT_TEXT:
        return spoken
    windows = (spoken[at : at + WINDOW] for at in range(len(spoken) - WINDOW + 1))
    return max(windows, key=lambda window: share(window, query))


# --- judging ---


def _comparable(claim: str, text: str, own: LanguageProfile, language: LanguageProfile, hits: frozenset[str]) -> bool:
    """Whether words of the one can be found in the other: one script, and not two languages that are both certain."""
    if find_script(claim) != find_script(text):
        return False
    if own is UNKNOWN:
        # So short a claim has no function word; without a word in common, its spelling is all that is left to tell by.
        return bool(hits) or not looks_foreign(claim, language)
    return language is UNKNOWN or own.code == language.code


def _judge(
    query: ClaimTokens,
    hits: frozenset[str],
    spoken: Sequence[SentenceMatch],
    coverage: float,
    words: int,
    *,
    comparable: bool,
) -> tuple[Support, str]:
    if not query.weights:
        return "partially_addressed", "the claim has no terms that could be looked for"
    specific = query.specific
    matched = specific & hits
    count = f"{len(matched)} of {len(specific)} specific terms were found"
    # How many specific terms a text may share by chance with a claim that has so many.
    allowance = 0 if len(specific) < _TELLING else 1 if len(specific) <= 6 else len(specific) // 4
    if coverage >= _ADDRESSED:
        return "addressed", f"{count}, close together"
    if not comparable:
        return "partially_addressed", "claim and text are in different languages, so their words cannot be compared"
    if not specific:
        return "partially_addressed", "the claim has only general words and numbers, which any text may lack"
    if words < _THINNEST:
        return "partially_addressed", "the text is too short to show anything by what it lacks"
    if coverage >= _FAINT or len(matched) > allowance or any(match.pairs for match in spoken):
        return "partially_addressed", count
    if (len(specific) < _TELLING and hits and (matched or len(specific) < _FEWEST or coverage >= _TRACE)) or (
        len(specific) < _FEW and matched
    ):
        return "partially_addressed", f"{count}, and the claim has too few of them to be missed"
    if topic := next((token for token in sorted(matched) if _is_topic(token, query, hits, spoken)), ""):
        return "partially_addressed", f"{count}, and {topic!r} is what the text is about"
    return "not_addressed", count


def _is_topic(token: str, query: ClaimTokens, hits: frozenset[str], spoken: Sequence[SentenceMatch]) -> bool:
    """Whether a text is about a term of the claim: it is in the title, which comes first, or returns again and again.

    So it is about a rare word that carries much of the claim, wherever it has it, and about what the claim speaks of
    first. A word that may only modify another is no topic where the other is missing: a claim about ice cream is not
    about ice. One that another word narrows ("whale schools", "mercury in tuna"), or that says where and is one of many
    ("in Denmark"), is a topic by itself only where the text keeps coming back to it.
    """
    shape = query.shape
    titled, returns = token in spoken[0].hits, sum(token in match.hits for match in spoken) >= _TOPIC
    carried = query.weights[token] / sum(query.weights[each] for each in query.specific)
    if token in shape.settings:
        return (titled or returns) if carried >= _SETTING else (titled and returns)
    if query.weights[token] > _ORDINARY and carried >= _CARRIED:
        return True
    if not shape.heads.get(token, frozenset()) <= hits:
        return False
    if token == shape.subject:
        return shape.narrowed <= hits or returns
    whole = shape.modifiers.get(token, frozenset()) <= hits
    return (titled or returns) if whole else (titled and returns)


# --- references ---

_TABLE = load_table(__file__, "cues.yaml")
_HEADING = re.compile(
    rf"^\W{{0,6}}(?:[0-9.]{{1,4}}\s+)?(?:{'|'.join(_TABLE['references'])})\W{{0,4}}$", re.IGNORECASE | re.MULTILINE
)
_LOOKS_CITED = re.compile(r"(?:1[89]|20)[0-9]{2}|doi|https?:|et al|[0-9]\s?\([0-9]+\)|pp?\.\s?[0-9]", re.IGNORECASE)
_EARLIEST_START = 0.3
# Headings that are looked at from the end, and what is read behind each.
_MOST_HEADINGS, _ENOUGH = 8, 3000


def without_references(text: str) -> str:
    """A text without the list of references at its end: from a heading that stands alone, when what follows cites."""
    for heading in list(_HEADING.finditer(text))[: -_MOST_HEADINGS - 1 : -1]:
        if heading.start() < len(text) * _EARLIEST_START:
            break
        following = text[heading.end() : heading.end() + _ENOUGH].splitlines()
        lines = [line for line in following if line.strip()][:12]
        cited = sum(bool(_LOOKS_CITED.search(line)) for line in lines)
        if lines and cited * 2 >= len(lines):
            return text[: heading.start()]
    return text


# --- What a text says about a claim: the sentences that share its terms, ranked. Evidence, never a verdict ------------


HOOK_LONGEST_CLAIM = 2000

# A number of the claim found in its company counts more than a word; alone it is a coincidence.
_NUMBER_BONUS = 1.5
# Less than a term each, so that a single cue or pair only decides between sentences that share equally many.
_CUE_BONUS = 0.4
_PAIR_BONUS = 0.25
_CUES = frozenset(map(stem, _TABLE["evidence"].split()))


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as comparable terms, and which of them stand side by side in it."""

    terms: frozenset[str]
    pairs: frozenset[tuple[str, str]]


def to_claim(text: str) -> Claim:
    """The claim in comparable form; text beyond the first 2000 characters is not looked at."""
    ordered = terms(text[:HOOK_LONGEST_CLAIM])
    return Claim(frozenset(ordered), frozenset(pairwise(ordered)))


def score_sentence(sentence: str, claim: Claim) -> float:
    """How much a sentence has to do with a claim: 0 when they share no term, else 1 and more."""
    words = tokens(sentence)
    matched = claim.terms.intersection(words)
    if not matched:
        return 0.0
    numbers = sum(map(is_number, matched))
    points = float(len(matched))
    if numbers and numbers < len(matched):
        points += _NUMBER_BONUS
    # Function words between two terms do not part them: "rise of prices" has the pair that "rise prices" has.
    telling = [token for token in words if token in claim.terms or not is_stop_word(token)]
    points += _PAIR_BONUS * len(claim.pairs.intersection(pairwise(telling)))
    return points + _CUE_BONUS if not _CUES.isdisjoint(words) else points


def best_sentence(texts: Iterable[str], claim: Claim) -> str:
    """The sentence that has most to do with the claim (the first of equals), or "" when none shares a term."""
    scored = [(score_sentence(sentence, claim), sentence) for text in texts for sentence in sentences(text)]
    best, sentence = max(scored, key=lambda each: each[0], default=(0.0, ""))
    return sentence if best > 0 else ""


@HOOKS.register(
    "claim_signal",
    parameters={"claim": {"type": "string"}},
    adds={"claim_signal": {"type": "string"}},
    reads=("title", "snippet", "extra_snippets"),
)
def claim_signal(rows: list[Row], arguments: Mapping[str, Any]) -> list[Row]:
    """Give every row the sentence of its own text that has most to do with the claim, or "" when none has.

    Without a claim the rows stay as they are. Words are matched, not meaning: an empty signal says that no words are
    shared, which in another language says nothing.
    """
    text = arguments.get("claim")
    if not isinstance(text, str) or not text.strip():
        return rows
    claim = to_claim(text)
    return [{**row, "claim_signal": best_sentence(_texts(row), claim)} for row in rows]


def _texts(row: Row) -> Iterable[str]:
    # The title comes last: where it ties with a sentence of the page, the sentence says more.
    extra = row.get("extra_snippets")
    candidates = [row.get("snippet"), *(extra if isinstance(extra, list | tuple) else ()), row.get("title")]
    return (text for text in candidates if isinstance(text, str))


# --- Whether the source that a claim is cited from speaks of it: the source is read, and what it says is measured -----


LONGEST_PAGE = 50_000
"""Bytes of a source that are read for a claim (the tool contract's figure)."""
FEW_WORDS = 150
"""Below so many words a source is thin (the tool contract's figure)."""
_MOST_CUES = 5
_LONGEST_ERROR = 200
_NOTE = (
    "The source has only {words} words, which may be a notice or an abstract: what it lacks, the whole text may have."
)


@dataclass(frozen=True, slots=True)
class SourceReading:
    """A source as it was read: the record of the page, None where no address could be, and what stood in the way."""

    page: Mapping[str, Any] | None
    url: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class ClaimEvidence:
    """What a source has of a claim; of a thin source its words are counted, and noted what that means."""

    check: ClaimCheck
    words: int | None = None
    note: str | None = None


async def read_first(context: Context, urls: Sequence[str]) -> SourceReading:
    """The first of some addresses that can be read; it is said where that is not the first of all."""
    error, tried = "", ""
    for url in urls:
        tried = url
        try:
            page = await context.run("read_page", {"url": url, "mode": "full", "max_length": LONGEST_PAGE})
        except Fault as fault:
            error = error or f"{KINDS[fault.kind].wire}: {fault.message}"[:_LONGEST_ERROR]
            continue
        if str(page.get("content") or "").strip():
            if error:
                context.notice(f"{urls[0]} could not be read ({error.partition(':')[0]}); {url} was read instead.")
            return SourceReading(page, url)
        error = error or "content_empty: the page has no text"
    return SourceReading(None, tried, error)


def judge_claim(claim: str, reading: SourceReading) -> ClaimEvidence:
    """What a source that was read has of a claim; `source_unavailable` where none was.

    The page is Markdown: its marks and the addresses of its links are no words of it.
    """
    claim = claim.strip()[:LONGEST_CLAIM]
    if reading.page is None:
        return to_unread(claim, reading.error)
    coverage = assess(claim, to_plain(str(reading.page["content"])))
    return to_evidence(to_check(claim, coverage, str(reading.page.get("url") or reading.url)), coverage.words)


def to_evidence(check: ClaimCheck, words: int) -> ClaimEvidence:
    """What a source of so many words has of a claim, with a note where they are few."""
    if words >= FEW_WORDS:
        return ClaimEvidence(check)
    return ClaimEvidence(check, words, _NOTE.format(words=words))


def to_check(claim: str, coverage: Coverage, address: str) -> ClaimCheck:
    """What a text at an address has of a claim, as the tools tell it."""
    return ClaimCheck(
        claim=claim,
        claim_support=coverage.label,
        claim_coverage=coverage.coverage,
        claim_reason=coverage.reason,
        claim_evidence=coverage.evidence,
        claim_source_url=address,
        contrast_signal=coverage.contrast or None,
        contrast_cues=_to_json(coverage.cues) or None,
        contrast_note=coverage.cue_note or None,
        distortion_cues=_to_json(coverage.distortions) or None,
        quote_found=all(quotation.found for quotation in coverage.quotations) if coverage.quotations else None,
    )


def _to_json(cues: Sequence[Cue]) -> list[dict[str, Any]]:
    return [{name: value for name, value in asdict(cue).items() if value} for cue in cues[:_MOST_CUES]]


def to_unread(claim: str, error: str) -> ClaimEvidence:
    """What is told of a claim whose source could not be read."""
    return ClaimEvidence(ClaimCheck(claim=claim, claim_support="source_unavailable", claim_fetch_error=error or None))
