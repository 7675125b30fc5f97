"""Which items are about a text: ranked by rare shared words, by related ones, and by words that go with them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from .words import is_single

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
