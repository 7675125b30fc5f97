"""Heuristics over the model's probabilities: what is known of pages beside what was learned.

A rule makes some units likelier or less likely, by what the page is or by where they stand in it, and leaves the choice
to the cut. A rule is here because it earns something on pages of sites that the model was not learned from, and the
constants because other values earn less there: see docs/decisions/reading-pages.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from specloom.core import dataclass

from .blocks import BITS, MASKS, MAX_NAME
from .features import KINDS, Frame, count_elements, number_series
from .model import MIN_WORDS, best_cut, times_odds
from .page import SIGNALS, PageFacts

LIKELY: Final = 0.5
"""Chance from which a page is of a type, and a unit is content."""

LEFT: Final = 0.1
"""What is left of the chance of what is no content. Not nothing: where a page has little else, it may be taken."""

LESS: Final = 0.3
"""How many times the odds of what is written as content are those of the same where little is."""

HALF: Final = 0.5
"""Share of a page, or of what is expected of it, that is no part but the page itself."""


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """What a rule knows of a page: its units, what it says of itself, and the chance of each type by its name."""

    frame: Frame
    page: PageFacts
    types: Mapping[str, float]

    @property
    def article(self) -> bool:
        return self.types["article"] >= LIKELY


def reweight(frame: Frame, page: PageFacts, types: Mapping[str, float], chances: Any) -> Any:
    """The chances of the units after all rules."""
    evidence = PageEvidence(frame, page, types)
    for rule in RULES:
        chances = rule(evidence, chances)
    return chances


def weigh(chances: Any, units: Any, factor: float) -> Any:
    """The chances, with so many times the odds for these units."""
    return np.where(units, times_odds(chances, factor), chances)


def suppress(chances: Any, units: Any) -> Any:
    """The chances, with little left of those of these units, however sure they are."""
    return np.where(units, LEFT * chances, chances)


# Articles


AHEAD: Final = 60
"""Words of prose before the first comment from which they are the article. Posts of a forum have next to none."""


def lower_comments(evidence: PageEvidence, chances: Any) -> Any:
    """Comments under an article: many times its length at times, and no part of it. One page in fifty is such a one:
    too few for the model to learn it, and each is lost as a whole.

    None are lowered where the article is too short for one, or they are less than it: then the model's judgement does
    little harm, and knows of threads that begin with a long post.
    """
    frame = evidence.frame
    called = frame.names.groups[frame.at] >> BITS["comment"] & 1 > 0
    first = int(np.argmax(called & (frame.prose > 0)))
    behind = called & (np.arange(len(called)) >= first)
    ahead = frame.prose[:first].sum()
    if ahead < AHEAD or frame.prose[behind].sum() < ahead or 2 * called[:first].sum() > first:
        return chances
    return suppress(chances, behind) if _says_article(evidence) else chances


def _says_article(evidence: PageEvidence) -> bool:
    """Whether a page says that it is an article, or looks like one, and does not say that it is a forum."""
    signals = dict(zip(SIGNALS, evidence.page.signals, strict=True))
    if signals["data:forum"] or signals["made:forum"] or signals["body:forum"]:
        return False
    if signals["data:newsarticle"] or evidence.article:
        return True
    return bool(signals["og:article"] and (signals["body:article"] or evidence.types["forum"] < LIKELY))


LINKED: Final = 0.6
"""Share of a pointer's characters that are its link."""

COLONS: Final = (":", "：")
"""What ends the label of a pointer; the second is the wide one of Chinese and Japanese."""


def lower_pointers(evidence: PageEvidence, chances: Any) -> Any:
    """Pointers out of an article: a label with a colon and a link, beside prose in one element ("Read more: Kilns")."""
    frame = evidence.frame
    if not evidence.article:
        return chances
    pointers = np.zeros(len(frame.at), bool)
    up = frame.parent[frame.at]
    for unit in np.nonzero((frame.linked >= LINKED) & (frame.level == 0))[0].tolist():
        block = frame.blocks[frame.at[unit]]
        label = block.text[: max(len(block.text) - block.linked, 0)]
        if any(colon in label for colon in COLONS):
            near = slice(max(0, unit - 1), unit + 2)
            pointers[unit] = ((up[near] == up[unit]) & (frame.prose[near] > 0)).any()
    return suppress(chances, pointers)


GAP: Final = 5
"""Units that are left between groups of what is taken."""

SURE: Final = 0.6
"""The chance that one of a group has if it is content. With 0.5, articles of magic lose 0.002."""


def lower_far_groups(evidence: PageEvidence, chances: Any) -> Any:
    """Groups in an article that are far from the others, less than they, and of which no unit is likely."""
    frame = evidence.frame
    if not evidence.article:
        return chances
    taken, _ = best_cut(chances, np.maximum(frame.words, MIN_WORDS))
    units = np.nonzero(taken)[0]
    words = frame.words[units].sum()
    far = np.zeros(len(taken), bool)
    for group in np.split(units, np.nonzero(np.diff(units) > GAP)[0] + 1):
        far[group] = chances[group].max(initial=0) < SURE and 2 * frame.words[group].sum() < words
    return suppress(chances, far)


BODY: Final = 0.8
HELD: Final = 0.9
"""The chance from which a unit is surely of the body, and the share of the words of all such units that it holds."""

END: Final = 0.95
"""The chance that the last unit of a body has."""

MOST: Final = 0.15
"""Share of the words of the best cut that may become less likely: where it is more, what is sure is a part of the text
and no body. With 0.2 tables are lost, and without it articles of wcxb lose 0.004."""


def lower_outskirts(evidence: PageEvidence, chances: Any) -> Any:
    """What stands in an article outside of its body, the narrowest element around nearly all that is surely content,
    and what stands behind the last of it: calls to subscribe, what the author is, who else reported. Headings outside
    keep their chance: a title stands before the body."""
    frame = evidence.frame
    sure = np.where(chances >= BODY, frame.words, 0)
    if not evidence.article or not sure.any():
        return chances
    body = int(np.nonzero(frame.over(sure) >= HELD * sure.sum())[0][-1])
    outside = ((frame.at < body) | (frame.at >= frame.end[body])) & (frame.level == 0)
    chances = _lower_few(frame, chances, outside)
    last = np.nonzero((chances >= END) & (frame.level == 0))[0]
    return _lower_few(frame, chances, np.arange(len(chances)) > last[-1]) if last.size else chances


def _lower_few(frame: Frame, chances: Any, units: Any) -> Any:
    """The chances, lower for these units, unless they are much of the best cut."""
    taken, _ = best_cut(chances, np.maximum(frame.words, MIN_WORDS))
    much = frame.words[taken & units].sum() > MOST * frame.words[taken].sum()
    return chances if much else weigh(chances, units, LESS)


# Other types of page


CARDS: Final = 5
"""Elements that make a series one of cards. With 4, listings lose 0.001."""

EACH: Final = 4
"""Units that one element of a series has of it in the mean, at most: more are the paragraphs of one text."""

UNSURE: Final = 2.0
"""How much the odds of a card rise with the F1 that is not expected: twofold where half of it is."""


def raise_cards(evidence: PageEvidence, chances: Any) -> Any:
    """The cards of a page that lists: beside an introduction in prose, each title, price and date looks unlikely where
    the model does not know the site, and the best cut leaves all of them."""
    frame = evidence.frame
    if evidence.types["listing"] + evidence.types["collection"] < LIKELY:
        return chances
    series = number_series(frame)
    elements = count_elements(frame, series)
    cards = (elements >= CARDS) & (np.bincount(series) <= EACH * elements)
    _, expected = best_cut(chances, np.maximum(frame.words, MIN_WORDS))
    return weigh(chances, cards[series], 1 + UNSURE * (1 - expected))


REVIEW: Final = re.compile(r"(?<!p)review", re.IGNORECASE)
"""What elements with reviews are called: no preview."""


def lower_reviews(evidence: PageEvidence, chances: Any) -> Any:
    """Reviews by buyers, on a product or a collection alone: a test is called a review too, and services put what
    customers say where others put their text. What holds most of the page is called so for its subject."""
    frame = evidence.frame
    if evidence.types["product"] + evidence.types["collection"] < LIKELY:
        return chances
    at = np.nonzero((frame.names.groups >> BITS["review"] & 1 > 0) & (frame.words_in <= HALF * frame.page_words))[0]
    at = at[[REVIEW.search(frame.blocks[block].name[:MAX_NAME]) is not None for block in at.tolist()]]
    size = len(frame.blocks) + 1
    inside = np.cumsum(np.bincount(at, minlength=size) - np.bincount(frame.end[at], minlength=size))
    return weigh(chances, inside[frame.at] > 0, LESS)


MORE: Final = 1.1
"""How many times the odds of what looks like content are those of the same where nothing speaks against it: without it,
as many words are lost as are spared."""

AROUND: Final = MASKS["nav"] | MASKS["header"]
ASTRAY: Final = AROUND | MASKS["footer"] | MASKS["aside"]
"""Elements around content, and those in which a heading of the first level is the name of the site or of a box."""


def lower_surroundings(evidence: PageEvidence, chances: Any) -> Any:
    """Navigation and headers, what is outside of `main` and before the title, and in a forum what stands aside: what is
    announced there is written as content is. Elsewhere units become a little likelier. Not in articles, whose headers
    may hold their leads; and a heading of the first level is nowhere around: a title may stand in a header."""
    frame = evidence.frame
    if evidence.article:
        return chances
    inside = frame.names.masks[frame.at]
    around = inside & (AROUND | MASKS["aside"] if evidence.types["forum"] >= LIKELY else AROUND) > 0
    expected = chances * np.maximum(frame.words, MIN_WORDS)
    for part in (inside & MASKS["main"] == 0, np.arange(len(chances)) < _find_title(frame, inside)):
        if expected[part].sum() <= HALF * expected.sum():
            around |= part
    around &= frame.level != 1
    return np.where(around, times_odds(chances, LESS), times_odds(chances, MORE))


def _find_title(frame: Frame, inside: Any) -> int:
    """The first heading of the first level that is not `ASTRAY`; if all are, the first; 0 if there is none."""
    first = frame.level == 1
    return int(np.argmax(first & (inside & ASTRAY == 0)) or np.argmax(first))


TITLE: Final = 0.07
"""The chance from which a heading of the first level is taken with what stands under it."""


def raise_title(evidence: PageEvidence, chances: Any) -> Any:
    """The headings of the first level of what is no article, high enough to be taken with what stands under them: what
    is learned from articles, where metadata say their titles, is hard on those of threads and services."""
    frame = evidence.frame
    if evidence.article:
        return chances
    return np.where((frame.level == 1) & (frame.words > 1), np.maximum(chances, TITLE), chances)


# Pages of all types


PAGE: Final = re.compile(r"(?:^|\s)postid-(\d+)(?!\S)")
EACH_POST: Final = re.compile(r"(?:^|\s)post-(\d+)(?!\S)")
TYPE: Final = "type-"
"""What the body of a page for one post is called, and what the element of each post is called: see `get_body_class` and
`get_post_class` of the WordPress reference. An id may be `post-` with a number for other reasons, so that what makes an
element another post is its type beside it."""

THREAD: Final = re.compile(r"(?:^|\s)single-\S*(?:forum|question|topic)", re.IGNORECASE)
"""Pages on which the answers are posts of their own."""


def lower_other_posts(evidence: PageEvidence, chances: Any) -> Any:
    """All outside of the post that a page of WordPress is for; not where that is a thread, nor where the element of the
    post holds no likely prose: a theme may have put its text elsewhere."""
    frame = evidence.frame
    name = next((block.name for block in frame.blocks if block.tag == "body"), "")
    number = PAGE.search(name)
    if number is None or THREAD.search(name):
        return chances
    inside, other = np.zeros((2, len(chances)), bool)
    for at, block in enumerate(frame.blocks):
        if "post-" in block.name and (numbers := EACH_POST.findall(block.name)):
            first, last = np.searchsorted(frame.at, (at, block.end)).tolist()
            marks = inside if number[1] in numbers else other
            # What is in one of the same mark is marked, so that nested posts take no longer than others.
            if first < last and not marks[first] and (marks is inside or TYPE in block.name):
                marks[first:last] = True
    inside &= ~other
    if chances[inside & (frame.prose > 0)].max(initial=0) < LIKELY:
        return chances
    return suppress(chances, ~inside)


NOTICE_WORDS: Final = 40
"""Words up to which a text may be a notice of copyright."""

_NOTICE: Final = re.compile(
    r"(?:©|\(c\)|\bcopyright\b)[^.]{0,60}?\b(?:19|20)\d\d"
    r"|\b(?:19|20)\d\d\s*(?:©|\(c\)|copyright\b)|^©|all rights reserved",
    re.IGNORECASE,
)


_NOTICES: Final = ("©", "(c)", "copyright", "all rights reserved")
"""One of these is in each notice: to look for them takes a tenth of the time of the pattern."""


def lower_copyright(evidence: PageEvidence, chances: Any) -> Any:
    """Notices of copyright in a footer, or in what is called so: beside short content they look like more of it."""
    frame = evidence.frame
    foot = (frame.names.masks[frame.at] & MASKS["footer"] > 0) | (frame.names.groups[frame.at] >> BITS["foot"] & 1 > 0)
    notices = foot & (frame.words <= NOTICE_WORDS)
    units = np.nonzero(notices)[0]
    texts = [frame.blocks[at].text for at in frame.at[units].tolist()]
    notices[units] = [
        any(sign in low for sign in _NOTICES) and _NOTICE.search(text) is not None
        for text, low in zip(texts, map(str.lower, texts), strict=True)
    ]
    return suppress(chances, notices)


LONG: Final = 8
"""Words from which an element is a clone. With 15, a quarter of the gain is lost."""

MANY: Final = 3
"""Texts from which an element is a clone though it is called as the first one."""

AHEAD_BY: Final = 0.1
"""How much likelier the second must be to stay in the place of the first. Without it, services lose 0.002."""


def merge_clones(evidence: PageEvidence, chances: Any) -> Any:
    """Elements that a page says again as a whole, such as a row for each width of a screen: nothing in one, and in the
    other the higher of both, which are two judgements of one text. The first stays, or the one that is likelier or has
    more headings: a title may be said before in a list of contents.

    This is before the choice, which would otherwise count the words twice. Elements with listings of code are no
    clones, nor are those of few texts that are called the same.
    """
    frame = evidence.frame
    start, stop = np.searchsorted(frame.at, (np.arange(len(frame.blocks)), frame.end))
    # Of elements around the same texts, the outermost.
    outer = (start != start[frame.parent]) | (stop != stop[frame.parent])
    codes = np.concatenate(([0], np.cumsum(frame.kind == KINDS["pre"])))
    able = np.nonzero(outer & (frame.words_in >= LONG) & (codes[stop] == codes[start]))[0]
    texts = np.array([hash(frame.blocks[at].text) for at in frame.at.tolist()])
    run = np.concatenate(([0], np.cumsum(texts)))
    sums, numbers, sizes = np.unique(run[stop[able]] - run[start[able]], return_inverse=True, return_counts=True)
    if len(sums) == len(able):
        return chances
    merged = chances.copy()
    words = np.maximum(frame.words, MIN_WORDS)
    again = sizes[numbers] > 1
    stays: dict[int, int] = {}
    gone = 0
    for block, number in zip(able[again].tolist(), numbers[again].tolist(), strict=True):
        other = stays.setdefault(number, block)
        first, second = slice(start[other], stop[other]), slice(start[block], stop[block])
        named = frame.names.signs[other] != frame.names.signs[block]
        if block < gone or other == block or not (named or stop[block] - start[block] >= MANY):
            continue
        if not np.array_equal(texts[first], texts[second]):
            continue
        gone = int(frame.end[block])
        headings = int(frame.heads_in[block] - frame.heads_in[other])
        more = np.average(merged[second] - merged[first], weights=words[second])
        if headings > 0 or (headings == 0 and more > AHEAD_BY):
            first, second, stays[number] = second, first, block
        merged[first] = np.maximum(merged[first], merged[second])
        merged[second] = 0
    return merged


RULES: Final[tuple[Callable[[PageEvidence, Any], Any], ...]] = (
    lower_comments,
    lower_pointers,
    lower_far_groups,
    raise_cards,
    lower_reviews,
    lower_surroundings,
    lower_other_posts,
    lower_copyright,
    lower_outskirts,
    raise_title,
    merge_clones,
)
