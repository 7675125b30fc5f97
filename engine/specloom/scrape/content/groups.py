"""What classes and ids say: the words they are made of, and what they are about."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    ),
    re.MULTILINE,
)
"""A run that may be the beginning of one."""

_BLANKS: Final = bytes(code if chr(code).isalpha() or code == 10 else 32 for code in range(128)).ljust(256)
"""A blank for all that is no ASCII letter, but for line ends."""


class Memory:
    """What runs of letters were found to say."""

    __slots__ = ("across", "readings")

    def __init__(self) -> None:
        self.readings: dict[str, Reading] = {}
        self.across: set[str] = set()
        """Those whose names have to be looked at as well."""

    def learn(self, runs: Sequence[str]) -> None:
        """Reads these runs, as one text: looking for 150 words in it takes a fraction of what each run would take."""
        text = "\n".join(runs)
        low = text.lower()
        ends = list(accumulate([len(run) + 1 for run in runs]))
        bits = [0] * len(runs)
        for literal, bit in _LITERALS:
            at = low.find(literal)
            while at >= 0:
                bits[bisect_right(ends, at)] |= bit
                at = low.find(literal, at + 1)
        # Before the readings: another thread takes a run that has one for known.
        self.across.update(runs[bisect_right(ends, match.start())] for match in _MAYBE_ACROSS.finditer(low))
        for run, about in zip(runs, bits, strict=True):
            words = (run,) if run.islower() else tuple([word.lower() for word in _WORD.findall(run)])
            self.readings[run] = tuple([word for word in words if len(word) > 1]), about


_memory = Memory()


def read_names(names: Iterable[str]) -> dict[str, Reading]:
    """What each of these classes and ids says; no name has a blank in it."""
    global _memory  # noqa: PLW0603 - begun anew when it is full; who still reads the old one is not disturbed
    listed = list(names)
    text = "\n".join([name[:MAX_NAME] for name in listed]).encode("ascii", "replace").translate(_BLANKS).decode("ascii")
    split = [line.split() for line in text.split("\n")]
    runs = set(chain.from_iterable(split))
    memory = _memory
    fresh = list(runs.difference(memory.readings))
    if len(memory.readings) + len(fresh) > MAX_KNOWN:
        memory = _memory = Memory()
        fresh = list(runs)
    if fresh:
        memory.learn(fresh)
    known, across = memory.readings, memory.across
    found: dict[str, Reading] = {}
    for name, parts in zip(listed, split, strict=False):
        if len(parts) == 1:
            reading = known[parts[0]]
        else:
            words: tuple[str, ...] = ()
            bits = 0
            for run in parts:
                some, about = known[run]
                words += some
                bits |= about
            reading = words, bits
        if not across.isdisjoint(parts):
            words, bits = reading
            for match in _ANY_ACROSS.finditer(name[:MAX_NAME].lower()):
                bits |= _ACROSS[match.lastindex - 1][1]  # type: ignore[operator]  # one of them was found
            reading = words, bits
        found[name] = reading
    return found


def split_name(name: str) -> set[str]:
    """The words of the classes and the id of one element."""
    return {word for words, _ in read_names(name.split()).values() for word in words}
