"""Whether a page ranks the brand of its own host first: a sign to read it with care, found word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate, pairwise

from specloom.trust.hosts import to_host, to_registrable
from specloom.trust.plain import to_plain

_SHORTEST_TOKEN = 3
_LONGEST_BRAND = 4
# An item of a list at the start of a line: heading, list and emphasis marks, then its number.
_ITEM = re.compile(
    r"""^[ \t>]*(?:\#{1,6}[ \t]+)?(?:[-*+•][ \t]+)?[*_]{0,3}(?:\#|no\.?[ \t]*)?([0-9]{1,2})
    [.):]?[*_]{0,3}[ \t.):–—-]+(?=\S)(.*)$""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
# What only a ranking says; a privacy policy has numbered lines that begin with the brand, too.
_RANKING = re.compile(
    r"""\b(?:best|top|ranked|ranking|rankings|leading|alternatives?|compared|comparison|versus|vs|review(?:s|ed)?
    |beste[nrs]?|vergleich|meilleure?s?|comparatif|mejores?|comparativa|miglior[ei]|melhores?)\b|最佳|おすすめ|ランキング|推荐|排行""",
    re.IGNORECASE | re.VERBOSE,
)
_LABELLED = re.compile(r"^[^:–—]{1,80}(?::|[ \t][–—-])[ \t*_]+(.+)$")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?(?:\.[^\W_]+)*")
_LOOK_BACK = 3000


@dataclass(frozen=True, slots=True)
class SelfPromotion:
    """A ranking on a brand's own host that puts the brand first; `item` is the line that says so."""

    brand_domain: str
    brand_token: str
    rank_position: int
    confidence: str
    item: str


def find_self_promotion(url: str, text: str) -> SelfPromotion | None:
    """The first item of a ranking that is the brand of the host it stands on, or None.

    The brand is the label that was registered (`acme` of `blog.acme.co.uk`), in three letters or more, and the item has
    to begin with it as a word, behind a label such as "Best overall:" or not. A list counts as a ranking when a second
    item follows that is another name and when the title or the item says so. What a firm owns under other names is not
    known here.
    """
    domain = to_registrable(to_host(url))
    token = domain.partition(".")[0].removeprefix("xn--")
    # best.example does not praise itself wherever a list has a best of something.
    if len(token) < _SHORTEST_TOKEN or _RANKING.fullmatch(token):
        return None
    items = list(_ITEM.finditer(text))
    for first, second in pairwise(items):
        if (first[1].lstrip("0"), second[1].lstrip("0")) != ("1", "2"):
            continue
        before = text[max(0, first.start() - _LOOK_BACK) : first.end()]
        wins = _names(first[2], token, domain) and not _names(second[2], token, domain)
        if wins and _RANKING.search(to_plain(before)):
            return SelfPromotion(domain, token, 1, "high", " ".join(first[0].split())[:200])
    return None


def _names(item: str, token: str, domain: str) -> bool:
    """Whether an item begins with the brand, as one word or several ("Mail Works" for mailworks)."""
    labelled = _LABELLED.match(item)
    brands = {_plain(token), _plain(domain)}
    return any(_begins(start, brands) for start in (item, labelled[1] if labelled else "") if start)


def _begins(text: str, brands: set[str]) -> bool:
    words = [_plain(re.sub(r"['’]s$", "", word)) for word in _WORD.findall(text[:200])[:_LONGEST_BRAND]]
    return any(joined in brands for joined in accumulate(words))


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
