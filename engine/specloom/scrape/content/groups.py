"""What classes and ids say: the words they are made of, and what they are about."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_RUN: Final = re.compile("[A-Za-z]+")
_WORD: Final = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
"""A word of a name; `postBody`, `post-body` and `post_body` are post and body."""

GROUPS: Final = tuple(
    (name, pattern.split("|"))
    for name, pattern in (
        ("comment", "comment|disqus|respond|reply|replies|discussion|feedback|pinglun|huifu"),
        (
            "related",
            r"relat|recommend|\bmore|also|popular|trending|latest|recent|teaser|suggest|upsell|cross-sell|similar|tuijian|hot",
        ),
        ("share", "share|social|follow|bookmark"),
        ("nav", r"nav|menu|breadcrumb|crumb|paginat|pager|\btoc|\btabs?\b|index"),
        ("side", "side|widget|rail|aside|right|left"),
        ("foot", "foot|copyright|legal|bottom|disclaim"),
        ("head", "head|masthead|topbar|hero|banner|logo"),
        ("ad", r"\bads?\b|advert|sponsor|promo|affiliate|dfp|\bgg\b"),
        ("meta", r"meta|byline|author|date|time|\btags?\b|categor|profile|avatar|signature|\bbio\b|stats|info"),
        ("user", "user|member|login|register|account|sign-i|sign-u|signi|signu"),
        ("modal", "modal|popup|cookie|consent|gdpr|newsletter|subscri|overlay|toast|drawer|cart|offcanvas|dialog"),
        ("content", "content|article|story|entry|body|main|text|prose|markdown|rich"),
        ("post", "post|message|msg|thread|topic|answer|question"),
        ("product", "product|price|sku|spec|descri|detail|feature"),
        ("review", "review|rating|testimonial|star"),
        ("item", r"item|card|list|grid|tile|result|row|\bcol"),
        ("caption", "caption|credit|figure|image|gallery|slide|carousel|swiper|video|photo"),
        ("unseen", "hidden|sr-only|visually|screen-reader|collapse|tooltip|noprint|print"),
        ("form", "form|input|search|filter|sort|facet|select|option"),
        ("fold", "accordion|faq|toggle|panel|expand"),
    )
)
"""What names are about, whatever a learned word says: what stands in them, and where it begins or ends a word."""

BITS: Final = {name: at for at, (name, _) in enumerate(GROUPS)}

MAX_NAME: Final = 80
"""Characters of one class or id that are read."""

MAX_KNOWN: Final = 1 << 15
"""Runs of letters that are remembered from one page to the next. Names are many and their runs few: `post`, `author`
and `wrapper` stand on most sites."""

Reading = tuple[tuple[str, ...], int]
"""The words of one class or id, in lower case, and a bit for each of `GROUPS` that it is about."""

_LITERALS: Final = tuple((part, 1 << at) for at, (_, parts) in enumerate(GROUPS) for part in parts if part.isalpha())
_ACROSS: Final = tuple((part, 1 << at) for at, (_, parts) in enumerate(GROUPS) for part in parts if not part.isalpha())
"""What no run of letters tells: it has a hyphen, or begins or ends with a word."""
_ANY_ACROSS: Final = re.compile("|".join(f"({part})" for part, _ in _ACROSS))
_MAYBE_ACROSS: Final = re.compile(
    "|".join(
        part.replace(r"\b", "^", 1).replace(r"\b", "$") if part[0] == "\\" else part.partition("-")[0] + "$"
        for part, _ in _ACROSS
    )
)
"""A run that may be the beginning of one."""

_known: dict[str, tuple[tuple[str, ...], int, bool]] = {}


def read_names(names: Iterable[str]) -> dict[str, Reading]:
    """What each of these classes and ids says; no name has a blank in it."""
    split = {name: _RUN.findall(name[:MAX_NAME]) for name in names}
    runs = {run for found in split.values() for run in found}
    known = {run: _known.get(run) for run in runs}
    fresh = [run for run, reading in known.items() if reading is None]
    if fresh:
        new = read_runs(fresh)
        known.update(new)
        if len(_known) + len(new) > MAX_KNOWN:
            _known.clear()
        _known.update(new)
    readings: dict[str, Reading] = {}
    for name, found in split.items():
        words: tuple[str, ...] = ()
        bits = 0
        across = False
        for run in found:
            some, about, maybe = known[run]  # type: ignore[misc]  # none is missing any more
            words += some
            bits |= about
            across = across or maybe
        if across:
            for match in _ANY_ACROSS.finditer(name[:MAX_NAME].lower()):
                bits |= _ACROSS[match.lastindex - 1][1]  # type: ignore[operator]  # one of them was found
        readings[name] = words, bits
    return readings


def read_runs(runs: Sequence[str]) -> dict[str, tuple[tuple[str, ...], int, bool]]:
    """The words of runs of ASCII letters, what they are about, and whether their names have to be looked at.

    They are read as one text: looking for 150 words in it takes a fraction of the time that looking in each run takes.
    """
    low = "\n".join(runs).lower()
    ends = list(accumulate([len(run) + 1 for run in runs]))
    bits = [0] * len(runs)
    for literal, bit in _LITERALS:
        at = low.find(literal)
        while at >= 0:
            bits[bisect_right(ends, at)] |= bit
            at = low.find(literal, at + 1)
    return {
        run: (
            tuple([word.lower() for word in _WORD.findall(run) if len(word) > 1]),
            about,
            _MAYBE_ACROSS.search(run.lower()) is not None,
        )
        for run, about in zip(runs, bits, strict=True)
    }


def split_name(name: str) -> set[str]:
    """The words of the classes and the id of one element."""
    return {word for words, _ in read_names(name.split()).values() for word in words}
