"""Stance detection by cues: what a text says for or against a statement, only where the words leave no doubt.

Everything else that speaks of the statement bears on it, and whoever reads decides.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final, Literal

from specloom.core import dataclass
from specloom.domains.text import choose_passages, split_passages, to_plain
from specloom.domains.text.tokens import tokens

from ..claims.coverage import assess
from ..claims.cues import Cue

Stance = Literal["for", "against", "bears_on_it"]
STANCES: Final = (
    "By words and not by meaning. for: a sentence has every word of the statement, in its order, and nothing beside it "
    "speaks against it; against: a sentence denies it, or has another number, date or direction (see cue); "
    "bears_on_it: all else that speaks of it, which may say either. A question is neither confirmed nor denied."
)
"""What the three words mean, as the answer tells it."""

ROOM: Final = 1500
"""Tokens of a text's passages on a statement in which its stance is looked for."""
_AGAINST: Final = 0.6
"""The share of a statement that a sentence has to have by itself, or what it denies is another thing."""
_BEARS: Final = 0.35
"""The share from which on a text bears on a statement; below it words are shared by chance."""
_LONGEST_QUOTE: Final = 360
_IN_SEQUENCE: Final = 0.95
"""The share of a statement's words that a sentence has in their order where it states it."""
_ARTICLES: Final = frozenset({"a", "an", "the"})


@dataclass(frozen=True, slots=True)
class StanceFinding:
    """What a text has of a statement: the sentence, where the passage with it begins, and what decided."""

    stance: Stance
    quote: str
    offset: int
    coverage: float
    cue: Cue | None = None
    note: str = ""


def find_stance(statement: str, text: str) -> StanceFinding | None:
    """What a text, which may be Markdown, has of a statement; None where it does not speak of it."""
    passages = choose_passages([text], statement, ROOM)[0]
    plain = "\n\n".join(to_plain(text[one.start : one.end]) for one in passages)
    if not plain.strip():
        return None
    coverage = assess(statement, plain)
    cue = next(iter(coverage.cues), None)
    is_statement = not is_question(statement)
    stated = coverage.stated if coverage.stated and _has_every_word(coverage.stated, statement) else ""
    if is_statement and cue and stated in ("", cue.sentence) and _share(statement, cue.sentence) >= _AGAINST:
        return _quote("against", cue.sentence, text, coverage.coverage, cue)
    is_clear = not (cue or coverage.distortions or coverage.cue_note)
    if is_statement and stated and is_clear and not _is_denied(statement, plain.replace(stated, " ")):
        return _quote("for", stated, text, coverage.coverage)
    if coverage.label == "not_addressed" or not coverage.signal or coverage.coverage < _BEARS:
        return None
    if not is_statement:
        return _quote("bears_on_it", coverage.signal, text, coverage.coverage)
    signs = (*coverage.cues, *coverage.distortions)
    sign = next((sign for sign in signs if sign.sentence == coverage.signal), None)
    return _quote("bears_on_it", coverage.signal, text, coverage.coverage, sign, coverage.cue_note)


def _share(statement: str, sentence: str) -> float:
    """How much of a statement a sentence has by itself, from 0 to 1."""
    return assess(statement, sentence).coverage


def _is_denied(statement: str, text: str) -> bool:
    """Whether a text denies a statement, which it may do beside a sentence that has it word for word."""
    return any(_share(statement, cue.sentence) >= _AGAINST for cue in assess(statement, text).cues)


def _has_every_word(sentence: str, statement: str) -> bool:
    """Whether a sentence has the words of a statement, small ones too, in their order: who is named first may matter,
    and what is on the ice is not under it."""
    words = [word for word in tokens(statement) if word not in _ARTICLES]
    blocks = SequenceMatcher(None, words, tokens(sentence), autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) >= _IN_SEQUENCE * len(words)


def is_question(statement: str) -> bool:
    """Whether a text asks and states nothing."""
    return statement.rstrip().endswith(("?", "？", "؟"))


def _quote(
    stance: Stance, sentence: str, text: str, coverage: float, cue: Cue | None = None, note: str = ""
) -> StanceFinding:
    """A finding with its place: the first passage of the text that has the sentence."""
    words = " ".join(sentence.split())
    place = next(
        (one.start for one in split_passages(text) if words in " ".join(to_plain(text[one.start : one.end]).split())), 0
    )
    return StanceFinding(stance, shorten(words), place, coverage, cue, note)


def shorten(text: str) -> str:
    """A text of at most 360 characters, cut between words."""
    if len(text) <= _LONGEST_QUOTE:
        return text
    head = text[:_LONGEST_QUOTE]
    return f"{head.rsplit(' ', 1)[0] if ' ' in head[200:] else head} …"
