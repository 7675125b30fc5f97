"""How much a source is likely to be worth for a question: four figures from 0 to 1 and their weighted sum.

The figures and bands are those of the tool contract; the authority of a host is looked up elsewhere and handed in. They
describe and never filter: an unknown date or host scores in the middle.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from specloom.core import dataclass
from specloom.domains.text import to_plain

from ..excerpt import count_words, drop_repeats, is_unspaced, name_blocks, split_unspaced
from ..metadata.fields import to_seconds, to_words
from ..records import Scores, SourceAdvice, SourceResult

_WEIGHTS: Final = {"relevance": 0.35, "freshness": 0.20, "authority": 0.25, "content_quality": 0.20}
_TITLE_SHARE, _CONTENT_SHARE = 0.4, 0.6
_UNKNOWN: Final = 0.5

_FILLERS: Final = to_words(
    "a an and are as at be by for from how in is it of on or that the this to was what when where which who why with"
)
_UNSPACED_FILLERS: Final = re.compile(
    "為什麼|为什么|什麼|什么|怎麼|怎么|如何|哪些|哪裡|哪里|多少|[的是嗎吗呢了在和與与]|とは|ですか|ますか|[はがをのにでとか何]"
)
_DAY: Final = 86_400.0
_AGES: Final = ((1, 1.0), (7, 0.9), (30, 0.7), (365, 0.5))
_OLD: Final = 0.3

_MARK: Final = re.compile(r"[.!?。！？]")
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")
# What search engines do not look for in the text: words left out, and where, when and as what a page stands.
_OPERATOR: Final = re.compile(r"-\w|(?:OR|AND|NOT|\|)$|-?(?:after|before|ext|filetype|inurl|lang|loc|site):", re.ASCII)
_OF_THE_PAGE: Final = re.compile(r"^\+|^(?:allintitle|inbody|intext|intitle):", re.IGNORECASE)
_EDGES: Final = "\"'“”‘’«»()[]{}<>,.;:!?¿¡`*"


def score(query: str, *, title: str, content: str, authority: float, published: str = "", now: float) -> Scores:
    """The scores of one source. `published` is an ISO date or "", `now` epoch seconds, `authority` that of its host.

    `content` is Markdown; a word of the query that only stands in the address of a link is not found.
    """
    relevance = score_relevance(query, title=title, content=to_plain(content))
    freshness = score_freshness(published, now)
    quality = score_content(content)
    figures = {"relevance": relevance, "freshness": freshness, "authority": authority, "content_quality": quality}
    overall = sum(weight * figures[name] for name, weight in _WEIGHTS.items())
    return Scores(overall=round(overall, 2), **{name: round(figure, 2) for name, figure in figures.items()})


def score_relevance(query: str, *, title: str, content: str) -> float:
    """The share of the query's words in title and content, long words weighing more; 0.5 for an empty query."""
    words = _to_query_words(query)
    if not words:
        return _UNKNOWN
    total = sum(map(len, words))
    return min(1.0, _TITLE_SHARE * _share(words, title) / total + _CONTENT_SHARE * _share(words, content) / total)


def score_freshness(published: str, now: float) -> float:
    """1 within a day, 0.9 a week, 0.7 a month, 0.5 a year, 0.3 after that; 0.5 for an unknown date.

    A date that names no day counts from its end, so that "2024" is not old in December 2024. A date more than a day
    ahead is a slip and unknown.
    """
    moment = to_seconds(published) if published else None
    if moment is None:
        return _UNKNOWN
    age = (now - moment) / _DAY - {4: 365, 7: 30}.get(len(published), 0)
    if age < -1 and len(published) > 7:
        return _UNKNOWN
    return next((figure for days, figure in _AGES if age < days), _OLD)


def score_content(content: str) -> float:
    """How much a text looks like one that was written to be read: length, paragraphs, words, sentences, links."""
    words = count_words(content)
    runs = content.split()
    length = sum(map(len, runs)) / len(runs) if runs else 0.0
    # Scripts without blanks have no words to measure; the count of characters says that they are there.
    ordinary = 3 <= length <= 10 or words > 2 * len(runs) > 0
    marks = sum(1 for _ in zip(_MARK.finditer(content), range(6), strict=False))
    points = (
        (3 if words > 500 else 2 if words > 200 else 1 if words > 50 else 0)
        + 2 * (len(_PARAGRAPH.split(content.strip())) > 3)
        + 2 * ordinary
        + ("http" in content)
        + 2 * (marks > 5)
    )
    return min(1.0, points / 10)


def _to_query_words(query: str) -> list[str]:
    """The words that a page is to have: none that search engines are told to leave out, or to look for elsewhere.

    Of a run in a script without blanks, every two characters that follow each other are a word.
    """
    runs = [_OF_THE_PAGE.sub("", each) for each in query.split() if not _OPERATOR.match(each)]
    words = [word for each in runs if (edged := each.casefold().strip(_EDGES)) for word in _to_parts(edged)]
    return [word for word in words if word not in _FILLERS] or words


def _to_parts(word: str) -> list[str]:
    parts: list[str] = []
    for run in split_unspaced(word):
        if not is_unspaced(run[0]):
            parts.append(run)
            continue
        for part in filter(None, _UNSPACED_FILLERS.split(run)):
            parts += [part[at : at + 2] for at in range(max(1, len(part) - 1))]
    return parts or [word]


def _share(words: Iterable[str], text: str) -> float:
    folded = text.casefold()
    return float(sum(len(word) for word in words if word in folded))


# --- What several sources say alike is told once, by the first, and each that mostly repeats another is named ---------


MOSTLY = 0.5
"""Share of the words of a source from which on, found in one before it, it is a copy with something added."""
SOME_WORDS = 40
"""Words below which what two sources share is a quotation or a notice, and makes neither a copy."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of a text after those before it."""

    text: str
    repeats: str = ""
    """The name of the text that it repeats all or most of."""
    is_whole: bool = False
    """Nothing of it is its own."""


def tell_once(texts: Iterable[tuple[str, str]]) -> list[Rest]:
    """What is left of each of these texts, given with their names: prose that stood in none before it.

    Compared are whole blocks, word for word. A text that is all of an earlier one leaves nothing, not even its lists.
    """
    seen: set[str] = set()
    wholes: dict[str, str] = {}
    first: dict[str, str] = {}
    rests = []
    for name, text in texts:
        key = " ".join(text.split())
        if key and key in wholes:
            rests.append(Rest("", wholes[key], is_whole=True))
            continue
        wholes[key] = name
        named = name_blocks(text)
        shared: Counter[str] = Counter()
        for _, key in named:
            if key and (other := first.setdefault(key, name)) != name:
                shared[other] += count_words(key)
        ((other, words),) = shared.most_common(1) or [("", 0)]
        rest = drop_repeats(named, seen)
        is_copy = words >= max(SOME_WORDS, MOSTLY * count_words(text))
        rests.append(Rest(rest, other if is_copy else "", is_whole=is_copy and not rest))
    return rests


def name_copies(rests: Iterable[tuple[str, Rest]]) -> str:
    """A sentence that says which of these named sources say the same, and not who had it first; "" where none do."""
    copies = [(name, "" if rest.is_whole else "mostly ", rest.repeats) for name, rest in rests if rest.repeats]
    sentence = "; ".join(f"{name} says {how}the same as {other}" for name, how, other in copies)
    return f"Not independent of each other, and what they share told once: {sentence}." if copies else ""


# --- What is pointed out of sources that were read, and cards and tables of them: made from figures, by rule ----------


LABEL = "mcp-auto-formatted"
MOST = 3
LEAST = 0.6
"""How many sources are recommended, and from which overall score on (the tool contract's figures)."""
SNIPPET = 200
"""Bytes of text on a card (the tool contract's figure)."""
_BEGINNING = 20 * SNIPPET
"""Characters of Markdown in which the text of a card is looked for."""

_REASONS = (
    ("authority", "the authority of its host"),
    ("relevance", "how much of the question it has"),
    ("freshness", "how new it is"),
    ("content_quality", "how much there is to read"),
)
_COLUMNS = ("source", "overall", "authority", "relevance", "freshness")


def recommend(sources: list[SourceResult]) -> list[SourceAdvice]:
    """Up to three of the sources with text, best first; each says which figure speaks most for it."""
    good = [source for source in sources if source.content and source.scores.overall >= LEAST]
    advice = []
    for source in sorted(good, key=lambda each: -each.scores.overall)[:MOST]:
        # Of equal figures the first one speaks.
        figure, words = max(
            ((float(getattr(source.scores, name)), words) for name, words in _REASONS), key=lambda each: each[0]
        )
        reason = f"Advisory: it stands out by {words} ({figure:.2f}); the order of the sources is not changed."
        advice.append(SourceAdvice(url=source.url, title=source.title, reason=reason, score=source.scores.overall))
    return advice


def make_components(sources: list[SourceResult]) -> list[dict[str, Any]]:
    """A card for each source with text, and for two sources or more a table that compares them."""
    shown = [source for source in sources if source.content]
    components = [_card(source) for source in shown]
    if len(shown) > 1:
        figures = [[f"{getattr(source.scores, column):.2f}" for column in _COLUMNS[1:]] for source in shown]
        rows = [[source.title or source.url, *row] for source, row in zip(shown, figures, strict=True)]
        table = {"columns": list(_COLUMNS), "rows": rows}
        components.append(_component("table", "Quality of the sources compared", [one.url for one in shown], table))
    return components


def _card(source: SourceResult) -> dict[str, Any]:
    content = source.content
    text = " ".join(to_plain(content[:_BEGINNING]).split())
    snippet = text.encode()[:SNIPPET].decode("utf-8", "ignore")
    title = source.title or source.url
    card = {
        "url": source.url,
        "title": title,
        "score": source.scores.overall,
        "snippet": snippet if snippet == text and len(content) <= _BEGINNING else snippet + "…",
    }
    return _component("card", title, [source.url], card)


def _component(kind: str, title: str, refs: list[str], body: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "autoFormatted": True, "label": LABEL, "title": title, "sourceRefs": refs, kind: body}
