"""Whether a text has the words that a claim puts in quotation marks: verbatim, altered (fuzzy match), or not at all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

from specloom.core import dataclass
from specloom.domains.text import is_stop_word, sentences
from specloom.domains.text.fold import compact, fold

_MARKS: Final = (
    ("“", "”"),
    ("„", "“"),
    ("„", "”"),
    ("«", "»"),
    ("»", "«"),
    ("「", "」"),
    ("『", "』"),
    ('"', '"'),
    ("‹", "›"),
)
_LONGEST_QUOTATION: Final = 1000
_FEWEST_LETTERS, _FEWEST_SIGNS = 12, 5
"""Letters of a quotation that are looked for, and signs of one in a script without blanks: shorter ones are names."""
_LEFT_OUT: Final = re.compile(r"\[[^\]]{0,200}\]|\(?(?:\.\s?\.\s?\.|…)\)?|［[^］]{0,200}］")
_SCRIPT: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
# A passage is nearly a quotation with this share of the words of both in one order, of which so many are no function
# words.
_NEARLY: Final = 0.7
_FEWEST_SHARED: Final = 4
_FEWEST_TELLING: Final = 2
# Passages that are laid beside a quotation: those with most of its words.
_MOST_NEAR: Final = 8
_WORD: Final = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Alteration:
    """A passage that is nearly a quotation: its sentence, its own words, and those of either side that differ."""

    sentence: str
    passage: str
    quoted: str
    recorded: str

    @property
    def differing(self) -> str:
        """The words that differ, those of the quotation first."""
        return f"{self.quoted or '(nothing)'} → {self.recorded or '(nothing)'}"


@dataclass(frozen=True, slots=True)
class Quotation:
    """A passage that a claim has in quotation marks, whether the text has it verbatim, and else what is nearly it."""

    text: str
    found: bool
    altered: Alteration | None = None


def find_quotations(claim: str, text: str) -> tuple[Quotation, ...]:
    """The quotations of a claim, each with whether a text has it but for case, punctuation and marked omissions."""
    quotations = list(dict.fromkeys(_cut_quotations(claim)))
    if not quotations:
        return ()
    letters = compact(text)
    found = {each: _is_quoted(each, letters) for each in quotations}
    passages = [] if all(found.values()) else list(_to_passages(text))
    return tuple(
        Quotation(each, is_found, None if is_found else _find_altered(each, passages))
        for each, is_found in found.items()
    )


def _cut_quotations(claim: str) -> Iterator[str]:
    claim = claim[: 2 * _LONGEST_QUOTATION]
    for opening, closing in _MARKS:
        start = claim.find(opening)
        while start >= 0:
            end = claim.find(closing, start + 1)
            if end < 0:
                break
            quotation = claim[start + 1 : end].strip()
            letters = compact(quotation)
            fewest = _FEWEST_SIGNS if _SCRIPT.search(quotation) else _FEWEST_LETTERS
            if len(letters) >= fewest and (len(quotation.split()) > 2 or _SCRIPT.search(quotation)):
                yield quotation
            start = claim.find(opening, end + 1)


def _is_quoted(quotation: str, letters: str) -> bool:
    at = 0
    for part in map(compact, _LEFT_OUT.split(quotation)):
        found = letters.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


# --- what is nearly a quotation ---


@dataclass(frozen=True, slots=True)
class _Passage:
    """A sentence, or two in a row, as the words that are compared and where each stands."""

    text: str
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]


def _to_passages(text: str) -> Iterator[_Passage]:
    """The sentences of a text, and each with the one behind it, since a quotation may run over a full stop."""
    spoken = sentences(text)
    for sentence in spoken:
        yield _to_passage(sentence)
    for one, two in pairwise(spoken):
        yield _to_passage(f"{one} {two}")


def _to_passage(text: str) -> _Passage:
    pattern = _SIGN if _SCRIPT.search(text) else _WORD
    matches = list(pattern.finditer(text))
    return _Passage(text, tuple(fold(match[0]) for match in matches), tuple(match.span() for match in matches))


_SIGN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")


def _find_altered(quotation: str, passages: Sequence[_Passage]) -> Alteration | None:
    """The passage that has nearly the words of a quotation, in their order; None where none has."""
    own = _to_passage(_LEFT_OUT.sub(" ", quotation))
    fewest = max(_FEWEST_SHARED, _NEARLY * len(own.words))
    if len(own.words) < _FEWEST_SHARED:
        return None
    counts = Counter(own.words)
    shares = [((counts & Counter(passage.words)).total(), at) for at, passage in enumerate(passages)]
    near = sorted((share for share in shares if share[0] >= fewest), key=lambda share: (-share[0], share[1]))
    best: tuple[int, int, Alteration] | None = None
    for _, at in near[:_MOST_NEAR]:
        aligned = _align(own, passages[at])
        if aligned is not None and (best is None or aligned[:2] > best[:2]):
            best = aligned
    return best[2] if best is not None else None


def _align(own: _Passage, other: _Passage) -> tuple[int, int, Alteration] | None:
    """How many words two passages share in their order, how short the other one is, and in what they differ."""
    matcher = SequenceMatcher(None, own.words, other.words, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    shared = [word for block in blocks for word in own.words[block.a : block.a + block.size]]
    telling = [word for word in shared if not is_stop_word(word)]
    if len(shared) < max(_FEWEST_SHARED, _NEARLY * len(own.words)) or len(telling) < _FEWEST_TELLING:
        return None
    first, last = blocks[0].b, blocks[-1].b + blocks[-1].size
    # What stands before the first shared word in the one has its like before that word in the other.
    first = max(0, first - blocks[0].a)
    last = min(len(other.words), last + len(own.words) - (blocks[-1].a + blocks[-1].size))
    laid = SequenceMatcher(None, own.words, other.words[first:last], autojunk=False)
    if laid.ratio() < _NEARLY:
        return None
    codes = laid.get_opcodes()
    changed = [code for code in codes if code[0] != "equal"]
    quoted = " … ".join(_cut(own, one, two) for _, one, two, _, _ in changed if two > one)
    recorded = " … ".join(_cut(other, first + one, first + two) for _, _, _, one, two in changed if two > one)
    altered = Alteration(other.text, _cut(other, first, last), quoted, recorded)
    return len(shared), -(last - first), altered


def _cut(passage: _Passage, first: int, last: int) -> str:
    return passage.text[passage.places[first][0] : passage.places[last - 1][1]] if last > first else ""
