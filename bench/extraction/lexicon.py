"""The words that tell content: log odds, learned over sites, so that no site counts twice."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from specloom.domains.scrape.content.blocks import split_name
from specloom.domains.scrape.content.text_features import CJK, PHRASE, WORD, Words, split_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labelled import Labelled

LEAST_SITES = (3, 5, 4)
"""Sites that must have a word before it counts: of names, of words in text, of whole phrases."""


def to_odds(content: float, all_of: float, prior: float = 1.0) -> float:
    """Log odds of being content, from how often something was and how often it was seen."""
    return math.log((content + prior) / (all_of - content + prior))


def count(page: Labelled) -> list[dict[str, float]]:
    """How much of what has a word is content, on one page: for names, words, phrases."""
    units = [at for at, block in enumerate(page.blocks) if block.text]
    weights = np.maximum(page.words, 1) ** 0.7
    size, content = np.zeros(len(page.blocks) + 1), np.zeros(len(page.blocks) + 1)
    size[np.array(units) + 1] = weights
    content[np.array(units) + 1] = weights * page.share
    size, content = np.cumsum(size), np.cumsum(content)
    tables: list[dict[str, list[float]]] = [defaultdict(lambda: [0.0, 0.0]) for _ in range(3)]
    for at, block in enumerate(page.blocks):
        whole = size[block.end] - size[at]
        if whole > 0 and block.tag not in {"html", "body"}:
            for word in split_name(block.name):
                tables[0][word][0] += content[block.end] - content[at]
                tables[0][word][1] += whole
    for share, at in zip(page.share, units, strict=True):
        low = page.blocks[at].text[:400].lower()
        cjk = 0 if low.isascii() else len(CJK.findall(low))
        for word in set(split_text(WORD.findall(low), cjk)):
            tables[1][word][0] += share
            tables[1][word][1] += 1
        if len(page.blocks[at].text) <= PHRASE:
            tables[2][low][0] += share
            tables[2][low][1] += 1
    return [{word: found / seen for word, (found, seen) in table.items() if "\n" not in word} for table in tables]


class Lexicon:
    """The counts of all sites; `without` leaves one out: no page is judged by words learned from its own site."""

    def __init__(self, pages: Iterable[Labelled]) -> None:
        of_site: dict[str, list[list[dict[str, float]]]] = defaultdict(list)
        for page in pages:
            of_site[page.site].append(count(page))
        self.totals: list[dict[str, list[float]]] = [defaultdict(lambda: [0.0, 0.0]) for _ in range(3)]
        self.sites: dict[str, list[dict[str, float]]] = {}
        for site, counts in of_site.items():
            means: list[dict[str, float]] = []
            for table in range(3):
                lists: dict[str, list[float]] = defaultdict(list)
                for page_counts in counts:
                    for word, share in page_counts[table].items():
                        lists[word].append(share)
                means.append({word: sum(shares) / len(shares) for word, shares in lists.items()})
                for word, share in means[table].items():
                    self.totals[table][word][0] += share
                    self.totals[table][word][1] += 1
            self.sites[site] = means
        self.all = [
            {word: to_odds(found, seen) for word, (found, seen) in table.items() if seen >= least}
            for table, least in zip(self.totals, LEAST_SITES, strict=True)
        ]

    def words(self) -> Words:
        """The words of all sites."""
        return Words(*self.all)

    def without(self, site: str) -> Words:
        """The words of all sites but one."""
        tables = []
        for odds, totals, own, least in zip(
            self.all, self.totals, self.sites.get(site, [{}] * 3), LEAST_SITES, strict=True
        ):
            table = dict(odds)
            for word, share in own.items():
                if word in table:
                    found, seen = totals[word]
                    if seen - 1 >= least:
                        table[word] = to_odds(found - share, seen - 1)
                    else:
                        del table[word]
            tables.append(table)
        return Words(*tables)
