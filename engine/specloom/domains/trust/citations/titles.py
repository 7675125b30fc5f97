"""Titles compared: equal but for how they are written, translated, or other titles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from specloom.core import load_table
from specloom.domains.text import (
    compact,
    find_script,
    is_near,
    is_number,
    stem,
    strip_markup,
    terms,
    to_alternatives,
    to_american,
    to_word_set,
)
from specloom.domains.text.fold import fold
from specloom.domains.text.tokens import tokens

# --- Titles laid word beside word: how many slips of the pen part them, and which differences are none ----------------


_TABLE = load_table(__file__, "titles.yaml")
_SMALL = to_word_set(_TABLE["small"])
_MOST_SLIPS = 2
# A capital A in the middle of a title is no article: influenza A, hepatitis A.
_ARTICLE = re.compile(r"(?:^|[^\w\s]\s*)A\s")
_DIGRAPH = re.compile(r"(?<=[aou])e")
# Words one slip apart that are two words; those that differ in the first two letters (absorption, adsorption) or in the
# vowel of the ending (nitrate, nitrite) are never taken for one.
_PAIRS = frozenset(frozenset(map(stem, pair)) for pair in _TABLE["pairs"].items())


def count_slips(one: str, two: str) -> int | None:
    """In how many words of weight two titles differ by no more than a slip; None when they differ in more.

    A word may stand in the other title as two.
    """
    left, right = to_words(one), to_words(two)
    slips = at = to = 0
    while at < len(left) and to < len(right):
        if left[at] == right[to]:
            at, to = at + 1, to + 1
        elif _join(left, at) == right[to]:
            at, to = at + 2, to + 1
        elif _join(right, to) == left[at]:
            at, to = at + 1, to + 2
        elif _is_slip(left[at], right[to]):
            at, to, slips = at + 1, to + 1, slips + 1
        else:
            return None
    ended = at == len(left) and to == len(right) and len(left) > 1
    return slips if ended and slips <= _MOST_SLIPS else None


def to_words(title: str) -> list[str]:
    """The words of a title that tell works apart, in order; letters that stand alone (vitamin D) are among them."""
    title = fold(title) if "\\" in title or "$" in title else _ARTICLE.sub(" ", strip_markup(title))
    return [word if word == "A" else word.casefold() for word in tokens(title) if word not in _SMALL]


def _join(words: list[str], at: int) -> str:
    return "".join(words[at : at + 2])


def _is_slip(one: str, two: str) -> bool:
    if len(one) >= 4 and len(two) >= 4 and _DIGRAPH.sub("", one) == _DIGRAPH.sub("", two):
        return True
    if not is_near(one, two) or one[:2] != two[:2] or frozenset((one, two)) in _PAIRS:
        return False
    changed = [(first, second) for first, second in zip(one[-3:], two[-3:], strict=True) if first != second]
    # One vowel for another near the end.
    return len(one) != len(two) or len(changed) != 1 or not all(letter in "aeiouy" for letter in changed[0])


# A title of this many substantive words is not shared by chance.
DISTINCTIVE = 3
_NEGATIONS = frozenset(("not", "no", "without", "never"))
# What stands in front of a title or behind it and is no part of it: what became of the work (publishers), the number of
# an article in its issue (old journals), the edition, and what kind of thing it is (references).
_FATE = r"(?:retracted|withdrawn|removed)(?:\s++(?:article|chapter|paper|manuscript))?"
_FATE_BEHIND = r"(?:(?<!\s)\s++)?[\[(]\s*+(?:retracted|withdrawn)[^()\[\]]{0,40}[\])]\s*+$"
_MARKER = re.compile(
    rf"""^\s*+[\[(]?{_FATE}[\])]?(?:\s*+[:–—-])?\s++(?=\S)
    |^\s*[IVXL]{{1,5}}\.\s*[—–]\s*
    |{_FATE_BEHIND}
    |(?:(?<!\s)\s++)?[\[(](?:pdf|html|internet|online|preprint|e-?book|book|video|data\s?set|(?:computer\s)?software)[\])]\s*$
    |(?<![,\s])[,\s]++[\[(]?(?:[0-9]{{1,2}}(?:st|nd|rd|th)|second|third|fourth|fifth|revised)\s+ed(?:ition|n|\.)?\.?[\])]?\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
# Without a mark behind it, it is a word like any other ("Withdrawn children").
_CALLED = re.compile(rf"^\s*+[\[(]{_FATE}|^\s*+{_FATE}\s*+[:–—-]\s|{_FATE_BEHIND}", re.IGNORECASE)
_OTHER_WORK = re.compile(
    rf"""^(?:an?\s+|the\s+|some\s+|further\s+|(?:author|editor|publisher)(?:['’]?s['’]?)?\s+)?(?:{to_alternatives(_TABLE["answers"])})\b
    |\bprotocol\b|\bsupplement(?:ary|al)?\b
    |\b(?:part|vol(?:ume)?|no|book|chapter|issue)\.?\s+(?:[ivx]+|[0-9]+|two|three|four|five)\b
    |^(?:[ivx]+|[0-9]{{1,2}})\W*$""",
    re.VERBOSE,
)
_LAST_ONE = re.compile(r"(?<!\s)\s++I$")
_SUBTITLE = re.compile(r"(?:(?<!\s)\s++)?[:：]\s++|(?<!\s)\s++[–—-]\s++|(?<=[?!？！])\s++|\.\s++(?=[A-Z])|—|：")


class Sameness(NamedTuple):
    """Why two titles are the title of one work, and whether all of them agrees or one leaves a subtitle out."""

    reason: str
    whole: bool = True


def find_sameness(supplied: str, recorded: str) -> Sameness | None:
    """Why two titles are the title of one work; None when that cannot be said.

    Each word of weight has to have its like in the other title, in the same order: works that differ in nothing but one
    word (men and women, northern and southern) are as a rule two works.
    """
    supplied, recorded = (_LAST_ONE.sub("", _MARKER.sub("", title)) for title in (supplied, recorded))
    if not _same_numbers(supplied, recorded) or _negated(supplied) != _negated(recorded):
        return None
    left, right = compact(supplied), compact(recorded)
    if left and left == right:
        return Sameness("equal but for case, punctuation, accents or markup")
    for whole, part, name in ((recorded, supplied, "supplied"), (supplied, recorded, "recorded")):
        head, rest = _split_subtitle(whole)
        same = head and compact(head) == compact(part) and not is_other_work(rest)
        if same and (len(terms(part)) >= 2 or find_script(part) == "CJK"):
            return Sameness(f"equal but for the subtitle, which the {name} title leaves out", whole=False)
    slips = count_slips(supplied, recorded)
    if slips == 0:
        return Sameness("equal but for small words and how words are spelled or inflected")
    if slips is not None and len(to_words(recorded)) >= DISTINCTIVE:
        return Sameness("equal but for a few letters")
    return None


DIVIDER = re.compile(r"\s[|·•»–—-]\s|\s::\s")
"""What stands in the title of a page between its own title and the name of its site."""
_SITES = to_word_set(_TABLE["sites"])
_SHORTEST_LABEL = 3


def cut_page_title(title: str, host: str) -> list[str]:
    """What the title of a page may call the page itself: the whole, and the whole without the names of its site.

    All pages of a site share its name, so that a citation which has nothing but that name means any of them. The name
    stands last, or first where its words are those of the host.
    """
    marks = list(DIVIDER.finditer(title))
    starts, ends = [0, *(mark.end() for mark in marks)], [*(mark.start() for mark in marks), len(title)]
    parts = [title[start:end] for start, end in zip(starts, ends, strict=True)]
    if len(parts) < 2:
        return [title]
    first, last = 0, len(parts)
    if is_site_name(parts[0], host) and not is_site_name(parts[-1], host):
        first = 1
    else:
        last -= 1
    cuts = [title[starts[first] : ends[at]] for at in range(first, last)]
    # Names of sites stand beside each other; "Otters – a reply" is no page about otters.
    kept = [
        cut
        for at, cut in enumerate(cuts, first)
        if not is_other_work(cut) and not (at + 1 < len(parts) and is_other_work(parts[at + 1]))
    ]
    return [title, *(cut for cut in dict.fromkeys(kept) if terms(cut))]


def is_site_name(part: str, host: str) -> bool:
    """Whether a part of a page's title is the name of its site: it has a word of the host, or one that sites have."""
    labels = [label for label in host.casefold().split(".")[:-1] if len(label) >= _SHORTEST_LABEL]
    words = re.findall(r"[^\W_]+", fold(part))
    joined = "".join(words)
    named = any(label in words or (len(label) > _SHORTEST_LABEL and label in joined) for label in labels)
    return named or not _SITES.isdisjoint(words)


def is_called_retracted(title: str) -> bool:
    """Whether a title says in front or behind that the work was retracted or withdrawn."""
    return bool(_CALLED.search(title))


def is_other_work(text: str) -> bool:
    """Whether what stands beside a title says that it is of another work: a reply, a correction, a second part."""
    return bool(_OTHER_WORK.search(fold(text).strip(" .()[]")))


def answers(before: str) -> bool:
    """Whether the last words in front of a title say that it is only spoken of ("Comment on", "A reply to Weir")."""
    words = re.findall(r"[^\W_]+", before)
    return any(is_other_work(" ".join(words[-count:])) for count in (1, 2, 3, 4) if len(words) >= count)


def _split_subtitle(title: str) -> tuple[str, str]:
    """A title up to its subtitle, and the subtitle; "" for both when it has none."""
    parts = _SUBTITLE.split(title, maxsplit=1)
    return (parts[0], parts[1]) if len(parts) > 1 else ("", "")


def _same_numbers(first: str, second: str) -> bool:
    """Whether two titles name the same numbers and parts; a subtitle that is left out may take some with it."""
    left, right = _numbers(first), _numbers(second)
    is_part = compact(first) in compact(second) or compact(second) in compact(first)
    return left <= right or right <= left if is_part else left == right


def _numbers(title: str) -> set[str]:
    numbers = {token for token in tokens(title) if is_number(token)}
    # Of Roman numbers, those that count parts of a work.
    parts = re.findall(r"\b(?:part|vol(?:ume)?|no)\.?\s+([ivx]+|[a-h])\b", fold(title))
    return numbers.union(parts, re.findall(r"\b(?:ii|iii|iv|vi|vii|viii|ix)\b", fold(title)))


def _negated(title: str) -> tuple[bool, frozenset[str]]:
    """Whether a title denies, and the words that it denies with "non", however that is joined to them."""
    words = re.findall(r"\bnon[\s‐-―-]?(\w{2,})", fold(title))
    return any(token in _NEGATIONS for token in tokens(title)), frozenset(map(to_american, words))


def to_share(supplied: str, recorded: str) -> float:
    """The share of the substantive words of one title that the other has, slips of the pen allowed for."""
    left, right = terms(supplied), _to_lookup(recorded)
    return sum(map(right.has, left)) / len(left) if left else 0.0


_LONG = 6
"""Letters of a word in which a slip makes no other word; see `is_near`."""


class _Lookup(NamedTuple):
    """The substantive words of a title, for many words to be looked up in."""

    words: frozenset[str]
    by_ends: Mapping[str, Sequence[str]]
    """Words of six letters or more by their first two and by their last three: one slip leaves one of the two whole."""
    joined: str

    def has(self, word: str) -> bool:
        """Whether the title has this word, perhaps with a slip of the pen."""
        if word in self.words:
            return True
        if len(word) < _LONG:
            return False
        if any(is_near(word, other) for end in _to_ends(word) for other in self.by_ends.get(end, ())):
            return True
        # "nano-metre" and "nanometre": a long word may stand in the other title as two.
        return word in self.joined


@lru_cache(maxsize=64)
def _to_lookup(title: str) -> _Lookup:
    words = frozenset(terms(title))
    by_ends: dict[str, list[str]] = {}
    for word in words:
        if len(word) >= _LONG and not is_number(word):
            for end in _to_ends(word):
                by_ends.setdefault(end, []).append(word)
    return _Lookup(words, by_ends, compact(title))


def _to_ends(word: str) -> tuple[str, str]:
    return f"{word[:2]}…", f"…{word[-3:]}"


def find_inside(text: str, recorded: Sequence[str], around: Iterable[str] = ()) -> str:
    """The recorded title that stands as a whole in a text, "" when none that is distinctive does.

    It has to stand for itself: between marks, or beside words that are `around` a title (names of authors and venues).
    What goes on ("… in adolescents") or speaks of it ("Comment on …") is another title.
    """
    folded = fold(text)
    places = [at for at, character in enumerate(folded) if character.isalnum()]
    joined = "".join(folded[at] for at in places)
    around_words: set[str] | None = None
    for title in recorded:
        name = compact(_MARKER.sub("", title))
        if len(terms(title)) < DISTINCTIVE or not name:
            continue
        start = joined.find(name)
        while start >= 0:
            if around_words is None:
                around_words = {word for name in around for word in re.findall(r"\w+", fold(name))}
            before, after = folded[: places[start]], folded[places[start + len(name) - 1] + 1 :]
            if _ends_before(before, around_words) and _begins_after(after, around_words):
                return title
            start = joined.find(name, start + 1)
    return ""


_LEADS = to_word_set(_TABLE["leads"])
_QUOTES = "\"'“”„«»‘’"


def _ends_before(before: str, around: Set[str]) -> bool:
    """Whether what stands before a title ends there."""
    bare = before.rstrip(f" ([{_QUOTES}")
    words = re.findall(r"[^\W_]+", bare)
    if answers(bare):
        return False
    if not bare or any(mark in _QUOTES for mark in before[len(bare) :]):
        return True
    if not bare[-1].isalnum():
        return bare[-1] != "-" or before != bare
    return bare[-1].isdigit() or words[-1] in _LEADS or words[-1] in around


def _begins_after(after: str, around: Set[str]) -> bool:
    """Whether what stands behind a title is no part of it; a subtitle may follow it."""
    bare = after.lstrip(f" {_QUOTES})]")
    if not bare or any(mark in _QUOTES for mark in after[: len(after) - len(bare)]):
        return not is_other_work(bare.lstrip(" :.,–—-"))
    if not bare[0].isalnum():
        return (bare[0] != "-" or after != bare) and not is_other_work(re.split(r"[.;]", bare[1:], maxsplit=1)[0])
    first = re.match(r"[^\W_]+", bare)
    return bare[0].isdigit() or (first is not None and first[0] in around)


def is_translated(supplied: str, recorded: Sequence[str]) -> bool:
    """Whether two titles may be one in two languages: both can be told and differ, or only one of them is English."""
    languages = {_language(title) for title in recorded}
    own = _language(supplied)
    if own and "" not in languages:
        return own not in languages
    return _is_foreign(supplied) != any(map(_is_foreign, recorded))


_TELLING = {code: to_word_set(words) for code, words in _TABLE["telling"].items()}


def _language(title: str) -> str:
    """The language of a title in Latin letters, "" when neither its function words nor how its words end tell."""
    words = re.findall(r"[^\W\d_]+", title.casefold())
    counts = {name: sum(word in telling for word in words) for name, telling in _TELLING.items()}
    best = max(counts.values())
    leaders = [name for name, count in counts.items() if count == best]
    if best:
        return leaders[0] if len(leaders) == 1 else ""
    long = [word for word in words if len(word) >= _LONG]
    counts = {name: sum(word.endswith(endings) for word in long) for name, endings in _ENDINGS.items()}
    best = max(counts.values())
    leaders = [name for name, count in counts.items() if count == best]
    is_told = best and best * _ENDING >= len(long) and len(leaders) == 1
    # English endings are those of others too ("undersökning").
    return leaders[0] if is_told and leaders[0] != "en" else ""


_ENDINGS = {code: tuple(to_word_set(words)) for code, words in _TABLE["endings"].items()}
_ENDING = 3
"""Of how many longer words one has to have an ending of a language, where no function word tells it."""
_FOREIGN = to_word_set(_TABLE["foreign"])
_ACCENTED = 4
"""Of how many long words one with an accent tells a language."""


def _is_foreign(title: str) -> bool:
    """Whether a title in Latin letters is hardly English: by accents, function words, or how most of its words end."""
    language = _language(title)
    if language:
        return language != "en"
    words = re.findall(r"[^\W\d_]+", title.casefold())
    long = [word for word in words if len(word) >= 4]
    vowels = sum(word.endswith(("a", "i", "o", "u", "ie")) for word in long)
    # One name with an accent makes no title foreign.
    accented = sum(not word.isascii() for word in long)
    is_accented = accented > 1 or accented * _ACCENTED > len(long)
    return not _FOREIGN.isdisjoint(words) or is_accented or 0 < len(long) <= vowels * 2
