"""Titles compared: equal but for how they are written, translated, or other titles."""

from __future__ import annotations

import re
from collections.abc import Sequence

from specloom.trust.folding import compact, find_script, fold, is_near
from specloom.trust.words import is_number, terms, to_american, to_word_set, tokens

# Shares of substantive words and of letters, calibrated on tests/gold: two titles of one work that differ in more than
# spelling share nine words in ten.
_SAME = 0.85
_NEAR_SPELLING = 0.92
# A title of this many substantive words is not shared by chance.
DISTINCTIVE = 3
_NEGATIONS = frozenset(("not", "no", "without", "never"))
# Publishers put what became of a work in front of its title.
_MARKER = re.compile(
    r"^\s*[\[(]?(?:retracted|withdrawn|removed)(?:\s+(?:article|chapter|paper|manuscript))?[\])]?\s*[:–—-]?\s+(?=\S)",
    re.IGNORECASE,
)


def find_sameness(supplied: str, recorded: str) -> str:
    """Why two titles are the title of one work; "" when that cannot be said."""
    supplied, recorded = _MARKER.sub("", supplied), _MARKER.sub("", recorded)
    if not _same_numbers(supplied, recorded) or _negated(supplied) != _negated(recorded):
        return ""
    one, two = compact(supplied), compact(recorded)
    if one and one == two:
        return "equal but for case, punctuation, accents or markup"
    for whole, part, name in ((recorded, supplied, "supplied"), (supplied, recorded, "recorded")):
        head = _main_part(whole)
        if head and compact(head) == compact(part) and (len(terms(part)) >= 2 or find_script(part) == "CJK"):
            return f"equal but for the subtitle, which the {name} title leaves out"
    left, right = terms(supplied), terms(recorded)
    if min(len(left), len(right)) < DISTINCTIVE:
        return ""
    if to_share(supplied, recorded) >= _SAME and to_share(recorded, supplied) >= _SAME:
        return "nearly all substantive words are the same"
    if _spelling_ratio(one, two) >= _NEAR_SPELLING and len(one) >= 20:
        return "equal but for a few letters"
    return ""


def _main_part(title: str) -> str:
    """A title up to its subtitle, "" when it has none."""
    parts = re.split(r"\s*[:：]\s+|\s+[–—-]\s+|(?<=[?!？！])\s+|\.\s+(?=[A-Z])|—|：", title, maxsplit=1)
    return parts[0] if len(parts) > 1 else ""


def _same_numbers(first: str, second: str) -> bool:
    """Whether two titles name the same numbers and parts; a subtitle that is left out may take some with it."""
    one, two = _numbers(first), _numbers(second)
    return one <= two or two <= one if _is_part_of(first, second) else one == two


def _numbers(title: str) -> set[str]:
    found = {token for token in tokens(title) if is_number(token)}
    # Of Roman numbers, those that count parts of a work.
    parts = re.findall(r"\b(?:part|vol(?:ume)?|no)\.?\s+([ivx]+|[a-h])\b", fold(title))
    return found.union(parts, re.findall(r"\b(?:ii|iii|iv|vi|vii|viii|ix)\b", fold(title)))


def _is_part_of(first: str, second: str) -> bool:
    one, two = compact(first), compact(second)
    return one in two or two in one


def _negated(title: str) -> tuple[bool, frozenset[str]]:
    """Whether a title denies, and the words that it denies with "non", however that is joined to them."""
    words = re.findall(r"\bnon[\s‐-―-]?(\w{2,})", fold(title))
    return any(token in _NEGATIONS for token in tokens(title)), frozenset(map(to_american, words))


def to_share(supplied: str, recorded: str) -> float:
    """The share of the substantive words of one title that the other has, slips of the pen allowed for."""
    left, right = terms(supplied), frozenset(terms(recorded))
    if not left:
        return 0.0
    joined = compact(recorded)
    # "nano-metre" and "nanometre": a long word may stand in the other title as two.
    hits = sum(
        word in right or any(is_near(word, other) for other in right) or (len(word) >= 6 and word in joined)
        for word in left
    )
    return hits / len(left)


def _spelling_ratio(one: str, two: str) -> float:
    from difflib import SequenceMatcher

    if not one or not two or abs(len(one) - len(two)) > max(len(one), len(two)) * 0.15:
        return 0.0
    return SequenceMatcher(None, one[:400], two[:400], autojunk=False).ratio()


def find_inside(text: str, recorded: Sequence[str]) -> str:
    """The recorded title that stands as a whole in a text, "" when none that is distinctive does."""
    joined = compact(text)
    for title in recorded:
        if len(terms(title)) >= DISTINCTIVE and compact(title) in joined:
            return title
    return ""


def is_translated(supplied: str, recorded: Sequence[str]) -> bool:
    """Whether the languages of two titles can be told and differ."""
    known = {_language(title) for title in recorded}
    own = _language(supplied)
    return bool(own) and "" not in known and own not in known


# Function words that tell languages apart in as little as a title; one hit is enough, two languages make none.
_TELLING = {
    "en": to_word_set("the of and for with from by an is are on"),
    "de": to_word_set("der die das und für mit von über bei zur zum eine einer des im"),
    "fr": to_word_set("le les des et pour avec sur une dans du aux par"),
    "es": to_word_set("el los las y para con una por del sobre"),
    "it": to_word_set("il gli e per con una di della dei delle nel sul"),
    "pt": to_word_set("o os as e para com uma por da do das dos em sobre"),
    "nl": to_word_set("het een en voor met van over bij op"),
}


def _language(title: str) -> str:
    """The language of a title in Latin letters, "" when its function words do not tell."""
    words = re.findall(r"[^\W\d_]+", title.casefold())
    counts = {name: sum(word in telling for word in words) for name, telling in _TELLING.items()}
    best = max(counts.values())
    leaders = [name for name, count in counts.items() if count == best]
    return leaders[0] if best and len(leaders) == 1 else ""
