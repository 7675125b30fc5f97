"""Full-text search over sealed items: what each is about is sealed too, and ranked in memory.

The words are opened once and held by place while there is room; an item that changed is opened again. So the file says
nothing about what is in it, and a search costs what its own place holds and not what the store holds.
"""

from __future__ import annotations

import json
import math
import re
import threading
import unicodedata
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from specloom.plugins import SearchHit

from .addresses import ViewAddress, bind
from .keys import unseal_value
from .rows import Rows

# --- A text as the words it is about, each reduced to one form, with how often it has them ----------------------------


MOST_TERMS = 400
"""Distinct words of one item that are kept, the most frequent first; the longest notes have more."""

# Scripts that do not part words with blanks are compared by pairs of characters, as search engines do.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
# Vowels of Indic scripts and Tibetan are marks on the letter before them, and as much of the word as that.
_MARKED = range(0x0900, 0x1000)
_MARKS = "".join(chr(code) for code in _MARKED if unicodedata.category(chr(code)).startswith("M"))
_NUKTA = 7
"""The combining class of a dot that many leave out."""
_SHORT_I = ("и\u0306", "й")
"""The one letter of Russian that is not the one without its mark."""
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[{_MARKS}])"
_WORD = re.compile(rf"[{_UNSPACED}]+|\b[^\W\d_{_UNSPACED}](?:\+\+|\#)(?!\w)|{_LETTER}+(?:['’.]{_LETTER}+)*")
_STEMMERS: Mapping[str, str] = MappingProxyType(
    {
        r"[a-z]+": "english",
        r"[\u0370-\u03ff]+": "greek",
        r"[\u0400-\u04ff]+": "russian",
        r"[\u0530-\u058f]+": "armenian",
        r"[\u0600-\u06ff]+": "arabic",
        r"[\u0900-\u097f]+": "hindi",
        r"[\u0b80-\u0bff]+": "tamil",
    }
)
"""By its letters, whose endings a word is stripped of; where languages share letters, those of the commonest one."""
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_STOP_WORDS: frozenset[str] = frozenset(
    re.findall(
        r"\w+",
        """a about after all also am an and any are as at be been before being but by can could did
        do does during for from had has have he her his how i if in into is it its may might more
        most must my no not of on or our she should so some such than that the their them then there
        these they this those to too under up us was we were what when where which while who why
        will with would you your""",
    )
)


def count_terms(texts: Iterable[str]) -> dict[str, int]:
    """How often each word occurs in the texts, by its stem; words that say nothing are left out."""
    counted: Counter[str] = Counter()
    for text in texts:
        counted.update(_terms(text))
    return dict(counted.most_common(MOST_TERMS))


def read_texts(value: Any, fields: Iterable[str]) -> list[str]:
    """The texts in these fields of a value, lists of texts opened."""
    if not isinstance(value, dict):
        return []
    texts = []
    for field in fields:
        one = value.get(field)
        texts += [one] if isinstance(one, str) else [text for text in one or [] if isinstance(text, str)]
    return texts


def _terms(text: str) -> Iterable[str]:
    flat = unicodedata.normalize("NFKD", text).casefold()
    flat = unicodedata.normalize("NFC", "".join(char for char in flat.replace(*_SHORT_I) if not _is_dropped(char)))
    for match in _WORD.finditer(flat):
        word = match[0]
        if _IS_UNSPACED.match(word):
            yield from (word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif word not in _STOP_WORDS:
            yield stem(word)


def _is_dropped(char: str) -> bool:
    """Whether a mark changes how a letter is written and not which one it is."""
    kind = unicodedata.combining(char)
    return kind != 0 and (ord(char) not in _MARKED or kind == _NUKTA)


def is_single(term: str) -> bool:
    """Whether this is one character of a script without blanks, which other items have in pairs."""
    return len(term) == 1 and _IS_UNSPACED.match(term) is not None


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """The word without its ending (by the snowballstemmer library), where its letters tell a language."""
    word = word.replace("’", "'").removesuffix("'s")
    language = next((language for letters, language in _STEMMERS.items() if re.fullmatch(letters, word)), "")
    if len(word) < 4 or not language:
        return word
    import snowballstemmer

    stemmed: str = snowballstemmer.stemmer(language).stemWord(word)
    return stemmed or word


# --- Which items are about a text: ranked by rare shared words, by related ones, and by words that go with them -------


# Term saturation and length normalisation of BM25 at the values that Robertson and Zaragoza (2009) recommend.
_K1, _B = 1.2, 0.75
_RELATED = 0.5
"""Weight of a word that shares its beginning with one of the question, so that it never beats the word itself."""
_COMPANION = 0.25
"""Weight of a word that keeps company with those of the question in this owner's items."""
_COMPANIONS = 4
_COMPANY = 500
"""Most items of a word whose company is looked at: what is in more says little, and costs as much as it has items."""
_CLOSENESS = 0.4
"""Least Dice coefficient of a companion: two words that share at least this much of their items."""
_BEGINNING, _SHARE = 5, 0.7
"""Two words are related when they begin with the same five letters, and those are seven tenths of the longer."""


class Index:
    """The words of the items of one place, in memory, kept up to date by adding and removing items."""

    def __init__(self) -> None:
        self.versions: dict[int, int] = {}
        self.change = ""
        """The last change of its place that it has seen, where a store counts them."""
        self._terms: dict[int, dict[str, int]] = {}
        self._lengths: dict[int, int] = {}
        self._postings: dict[str, dict[int, int]] = {}
        self._total = 0

    def __len__(self) -> int:
        return len(self._terms)

    @property
    def size(self) -> int:
        """Words held, over all items."""
        return sum(map(len, self._terms.values()))

    def add(self, item: int, version: int, terms: Mapping[str, int]) -> None:
        """Hold the words of an item in place of those it had."""
        self.remove(item)
        self.versions[item] = version
        self._terms[item] = dict(terms)
        self._lengths[item] = sum(terms.values())
        self._total += self._lengths[item]
        for term, count in terms.items():
            self._postings.setdefault(term, {})[item] = count

    def begin(self, versions: Mapping[int, int]) -> list[int]:
        """Forget what is not among these items with their versions; those whose words have to be added."""
        for item in [one for one in self.versions if one not in versions]:
            self.remove(item)
        return [item for item, version in versions.items() if self.versions.get(item) != version]

    def remove(self, item: int) -> None:
        """Forget an item."""
        self.versions.pop(item, None)
        terms = self._terms.pop(item, {})
        self._total -= self._lengths.pop(item, 0)
        for term in terms:
            posting = self._postings[term]
            del posting[item]
            if not posting:
                del self._postings[term]

    def rank(self, asked: Iterable[str]) -> list[tuple[int, float]]:
        """Items with their scores, best first, the newest first among equals."""
        weights = self._widen(dict.fromkeys(asked, 1.0))
        scores: defaultdict[int, float] = defaultdict(float)
        average = self._total / len(self._terms) if self._terms else 1.0
        for term, weight in weights.items():
            posting = self._postings.get(term, {})
            rarity = math.log(1 + (len(self._terms) - len(posting) + 0.5) / (len(posting) + 0.5))
            for item, count in posting.items():
                relative = self._lengths[item] / average
                saturated = count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * relative))
                scores[item] += weight * rarity * saturated
        return sorted(scores.items(), key=lambda pair: (-pair[1], -pair[0]))

    def _widen(self, asked: dict[str, float]) -> dict[str, float]:
        """The question's words with those that hold a single character of it, related ones, and their companions."""
        weights = dict(asked)
        long = [term for term in asked if len(term) >= _BEGINNING]
        if long:
            for term in self._postings:
                if term not in weights and any(_are_related(term, one) for one in long):
                    weights[term] = _RELATED
        single = [term for term in asked if is_single(term)]
        if single:
            for term in self._postings:
                if len(term) == 2 and any(one in term for one in single):
                    weights.setdefault(term, 1.0)
        near: dict[str, float] = {}
        for one in asked:
            posting = self._postings.get(one, {})
            if not 2 <= len(posting) <= _COMPANY:
                continue
            together = Counter(term for item in posting for term in self._terms[item] if term not in weights)
            for term, count in together.items():
                closeness = 2 * count / (len(posting) + len(self._postings[term]))
                if count > 1 and closeness >= _CLOSENESS:
                    near[term] = max(near.get(term, 0.0), closeness)
        best = sorted(near.items(), key=lambda pair: (-pair[1], pair[0]))[:_COMPANIONS]
        return {**weights, **{term: _COMPANION * closeness for term, closeness in best}}


def _are_related(one: str, other: str) -> bool:
    if one[:_BEGINNING] != other[:_BEGINNING]:
        return False
    shared = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    return (min(len(one), len(other)) if shared is None else shared) >= _SHARE * max(len(one), len(other))


MOST_WORDS = 2_000_000
"""Words held in memory over all places, about 200 MB at worst; the place that was searched longest ago goes first."""
CANDIDATES = 100
"""Best-ranked items that are looked at together, because `where` or the end of their life may take some away."""


class Indexes:
    """The words of the places that were searched lately, for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, bytes], Index] = OrderedDict()

    def search(
        self, rows: Rows, place: ViewAddress, text: str, where: Mapping[str, str], limit: int
    ) -> list[SearchHit]:
        """Living items about a text, best first, as they are in the transaction of `rows`."""
        terms = count_terms([text])
        if not terms or not place.spec.search or limit < 1:
            return []
        with self._lock:
            index = self._refresh(rows, place)
            ranked = index.rank(terms)
        hits: list[SearchHit] = []
        for at in range(0, len(ranked), CANDIDATES):
            some = dict(ranked[at : at + CANDIDATES])
            living = {row.id: row for row in rows.select(place, where, CANDIDATES, among=list(some))}
            rows_scored = [(living[id_], score) for id_, score in some.items() if id_ in living][: limit - len(hits)]
            hits += [SearchHit(rows.open(place, row), round(score, 4)) for row, score in rows_scored]
            if len(hits) >= limit:
                break
        return hits

    def forget(self) -> None:
        """Let go of everything, as after an erasure."""
        with self._lock:
            self._held.clear()

    def hold(self, place: ViewAddress) -> Index:
        """The words of a place as far as they are known; those that were searched longest ago are let go of."""
        key = (place.spec.name, place.place)
        index = self._held.pop(key, None)
        if index is None:
            index = Index()
        self._held[key] = index
        while len(self._held) > 1 and sum(one.size for one in self._held.values()) > MOST_WORDS:
            self._held.popitem(last=False)
        return index

    def _refresh(self, rows: Rows, place: ViewAddress) -> Index:
        index = self.hold(place)
        current = dict(
            rows.connection.execute(
                "SELECT id, version FROM items WHERE collection = ? AND place = ?", (place.spec.name, place.place)
            )
        )
        for id_, version, terms in _open_words(rows, place, index.begin(current)):
            index.add(id_, version, terms)
        return index


def _open_words(rows: Rows, place: ViewAddress, ids: list[int]) -> list[tuple[int, int, dict[str, int]]]:
    opened = []
    for at in range(0, len(ids), 500):
        some = ids[at : at + 500]
        stored = rows.connection.execute(
            "SELECT i.id, i.name, i.author, o.salt, v.version, v.value FROM items i JOIN owners o ON o.tag = i.author "  # noqa: S608 - marks
            f"JOIN vectors v ON v.item = i.id WHERE i.id IN ({','.join('?' * len(some))})",
            some,
        )
        for id_, name, author, salt, version, sealed in stored:
            plain = unseal_value(rows.keys, salt, sealed, bind("words", place, name, author, version))
            opened.append((id_, version, {} if plain is None else json.loads(plain)))
    return opened
