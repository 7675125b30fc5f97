"""What is known of pages beside what was learned: rules over the chances that the model gives, in their order.

Each makes some chances higher or lower, by what the page is or by where something stands in it, and leaves the choice
to the cut. `likely` has the chance of each type of page by its name, in all of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .class_names import BITS, MASKS, MAX_NAME
from .page import SIGNALS
from .select import SERIES_EACH, TITLE, count_elements, number_series
from .threshold import MIN_WORDS, best_cut, times_odds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .blocks import Block
    from .frame import Frame
    from .page import PageFacts


# --- Comments under an article: many times its length at times, and no part of it -------------------------------------


AHEAD: Final = 60
"""Words of prose before the first comment from which they are the article. Posts of a forum have next to none."""

LEFT: Final = 0.1
"""What is left of a comment's chance. Not nothing: where a page has little else, comments may still be taken."""

LIKELY: Final = 0.5
"""Chance of a type from which a page is taken to be of it."""


def without_comments(frame: Frame, page: PageFacts, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, lower for the comments if the page is an article; unchanged on other pages.

    `likely` has the chance of each type. One page in fifty is an article with more comments than text: too few for the
    model to learn it, and each is lost as a whole.
    """
    if not is_article(page, likely):
        return chances
    return np.where(find_comments(frame), LEFT * chances, chances)


def is_article(page: PageFacts, likely: Mapping[str, float]) -> bool:
    """Whether a page says that it is an article, or looks like one, and does not say that it is a forum."""
    said = dict(zip(SIGNALS, page.signals, strict=True))
    if said["data:forum"] or said["made:forum"] or said["body:forum"]:
        return False
    if said["data:newsarticle"] or likely["article"] >= LIKELY:
        return True
    return bool(said["og:article"] and (said["body:article"] or likely["forum"] < LIKELY))


def find_comments(frame: Frame) -> Any:
    """Which units are called comments and stand behind the article; none if it is too short for one, or if they are
    less than it: then the model's judgement does little harm, and knows of threads that begin with a long post."""
    called = frame.names.groups[frame.at] >> BITS["comment"] & 1 > 0
    first = int(np.argmax(called & (frame.prose > 0)))
    behind = called & (np.arange(len(called)) >= first)
    ahead = frame.prose[:first].sum()
    if ahead < AHEAD or frame.prose[behind].sum() < ahead or 2 * called[:first].sum() > first:
        return np.zeros(len(called), bool)
    return behind


# --- What stands in or beside an article and is no part of it: pointers to other articles, their boxes, far-off
# groups ---------------------------------------------------------------------------------------------------------------


LINKED: Final = 0.6
"""Share of a pointer's characters that are its link. From 0.5 to 0.8 the figures hardly differ."""

MAX_WORDS: Final = 40
"""Words of a pointer: what is longer says something itself."""

COLONS: Final = (":", "：")
"""What ends the label of a pointer; the second is the wide one of Chinese and Japanese."""

EMPTY: Final = 0.2
"""The chance from which a heading is taken though its box holds nothing that is. From 0.15 to 0.3 articles gain the
same; without it, headings that people keep are lost."""

APART: Final = 5
"""Units that are left between groups of what is taken. From 4 to 7 the figures hardly differ."""

SURE: Final = 0.6
"""The chance that one of a group has if it is content: from 0.55 to 0.65 the figures hardly differ."""


def without_asides(frame: Frame, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, lower for what stands beside the text if the page is an article; unchanged on other pages, where
    what is apart from the rest may well be content. `likely` has the chance of each type."""
    if likely["article"] < LIKELY:
        return chances
    chances = np.where(find_pointers(frame), LEFT * chances, chances)
    taken, _, _ = best_cut(chances, np.maximum(frame.words, MIN_WORDS))
    beside = find_apart(frame, chances, taken) | find_boxed(frame, chances, taken)
    return np.where(beside, LEFT * chances, chances)


def find_pointers(frame: Frame) -> Any:
    """Which units are a label with a colon and then a link, beside prose in the same element: "Read more: Kilns"."""
    found = np.zeros(len(frame.at), bool)
    up = frame.parent[frame.at]
    for unit in np.nonzero((frame.linked >= LINKED) & (frame.words <= MAX_WORDS) & (frame.level == 0))[0].tolist():
        block = frame.blocks[frame.at[unit]]
        label = block.text[: max(len(block.text) - block.linked, 0)]
        if any(colon in label for colon in COLONS):
            near = slice(max(0, unit - 1), unit + 2)
            found[unit] = ((up[near] == up[unit]) & (frame.prose[near] > 0)).any()
    return found


def find_apart(frame: Frame, chances: Any, taken: Any) -> Any:
    """Which units that are taken are in a group far from the others, less than they, and none of them is likely."""
    found = np.zeros(len(taken), bool)
    units = np.nonzero(taken)[0]
    words = frame.words[units].sum()
    for group in np.split(units, np.nonzero(np.diff(units) > APART)[0] + 1):
        found[group] = chances[group].max(initial=0) < SURE and 2 * frame.words[group].sum() < words
    return found


def find_boxed(frame: Frame, chances: Any, taken: Any) -> Any:
    """Which units are headings behind the first prose that is taken, in a box that holds nothing taken: "Related
    articles" over a list."""
    found = np.zeros(len(taken), bool)
    behind = np.cumsum(taken & (frame.prose > 0)) > 0
    units = np.nonzero(behind & (frame.level > 0) & (chances < EMPTY))[0].tolist()
    if units:
        held = frame.over(taken & (frame.level == 0))
        boxes: dict[int, int] = {}
        for unit in units:
            found[unit] = not held[find_box(frame, int(frame.at[unit]), boxes)]
    return found


def find_box(frame: Frame, at: int, boxes: dict[int, int]) -> int:
    """The narrowest block around a heading with something besides headings, the root if there is none; `boxes` holds
    those that were found before, so that a page of nested headings takes no longer than others."""
    inside = []
    while at not in boxes and at > 0 and frame.units_in[at] <= frame.heads_in[at]:
        inside.append(at)
        at = int(frame.parent[at])
    box = boxes.get(at, at)
    boxes.update(dict.fromkeys(inside, box))
    return box


# --- The body of an article: the narrowest element around nearly all that is surely content, up to the last of it -----


BODY_LIKELY: Final = 0.4
"""Chance of an article from which a page has a body. With 0.5 articles gain half as much; with 0.3 services lose
0.0005, with 0.15 documentation 0.0014."""

BODY_SURE: Final = 0.8
HELD: Final = 0.9
OUTSIDE: Final = 0.2
"""The chance from which a unit is surely content, the share of the words of all such units that the body holds, and how
many times the odds of what looks like content are those of the same outside. Chances of 0.7 and 0.8, shares of 0.9 and
0.95, and factors from 0.1 to 0.3 give the same."""

LAST: Final = 0.95
BEHIND: Final = 0.5
"""The chance that the last unit of a body has, and how many times the odds are those of the same behind it. Chances
from 0.93 to 0.97, and factors of 0.4 and 0.5, give the same; with 0.3 and 0.7 articles gain a little less."""

BODY_MOST: Final = 0.15
"""Share of the words of the best cut that may become less likely: where it is more, what is sure is a part of the text
and no body. With 0.1 and 0.2 articles gain the same within 0.001; with 0.2 a table is lost."""


def without_outskirts(frame: Frame, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, lower outside and behind its body if the page is an article; unchanged on other pages. Outside of
    it, headings keep theirs: a title stands before the body. `likely` has the chance of each type.

    On sites not seen, of what stands there with a chance of one half, little is content: calls to subscribe, pointers,
    what the author is and who else reported.
    """
    sure = np.where(chances >= BODY_SURE, frame.words, 0)
    if likely["article"] < BODY_LIKELY or not sure.any():
        return chances
    body = int(np.nonzero(frame.over(sure) >= HELD * sure.sum())[0][-1])
    outside = ((frame.at < body) | (frame.at >= frame.end[body])) & (frame.level == 0)
    chances = lower(frame, chances, outside, OUTSIDE)
    last = np.nonzero((chances >= LAST) & (frame.level == 0))[0]
    return lower(frame, chances, np.arange(len(chances)) > last[-1], BEHIND) if last.size else chances


def lower(frame: Frame, chances: Any, units: Any, factor: float) -> Any:
    """The chances, with so many times the odds for these units, unless they are much of the best cut."""
    taken, _, _ = best_cut(chances, np.maximum(frame.words, MIN_WORDS))
    much = frame.words[taken & units].sum() > BODY_MOST * frame.words[taken].sum()
    return chances if much else np.where(units, times_odds(chances, factor), chances)


# --- The cards of a page that lists: each says little, and all together they are what the page is for -----------------


MANY: Final = 5
"""Elements that make a series one of cards. From 4 to 8 the figures hardly differ; with 3, half the gain is left."""

UNSURE: Final = 2.0
"""How much the odds of a card rise with the F1 that is not expected: twofold where half of it is. From 2 to 3 the
figures hardly differ on sites not seen; with 2.5, listings that were learned from lose 0.003."""


def with_cards(frame: Frame, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, higher for what is one of a series if the page is a listing or a collection; unchanged on other
    pages. `likely` has the chance of each type.

    Beside an introduction in prose, each title, price and date looks unlikely where the model does not know the site,
    and the best cut leaves all of them.
    """
    if likely["listing"] + likely["collection"] < LIKELY:
        return chances
    series = number_series(frame)
    elements = count_elements(frame, series)
    cards = (elements >= MANY) & (np.bincount(series) <= SERIES_EACH * elements)
    _, expected, _ = best_cut(chances, np.maximum(frame.words, MIN_WORDS))
    return np.where(cards[series], times_odds(chances, 1 + UNSURE * (1 - expected)), chances)


# --- Notices of copyright at the foot of a page: who owns a page is no part of what it says ---------------------------


COLOPHON_LESS: Final = 0.1
"""How many times the odds of such a text are those of another. On sites not seen the model leaves these out by itself,
and no figure changes; beside short content they look like more of it."""

COLOPHON_MOST: Final = 40
"""Words up to which a text may be such a notice."""

_NOTICE: Final = re.compile(
    r"(?:©|\(c\)|\bcopyright\b)[^.]{0,60}?\b(?:19|20)\d\d"
    r"|\b(?:19|20)\d\d\s*(?:©|\(c\)|copyright\b)|^©|all rights reserved",
    re.IGNORECASE,
)


def without_colophon(frame: Frame, chances: Any) -> Any:
    """The chances, lower for notices of copyright in a footer, or in what is called so."""
    foot = (frame.names.masks[frame.at] & MASKS["footer"] > 0) | (frame.names.groups[frame.at] >> BITS["foot"] & 1 > 0)
    units = np.nonzero(foot & (frame.words <= COLOPHON_MOST))[0].tolist()
    notices = [unit for unit in units if _NOTICE.search(frame.blocks[frame.at[unit]].text)]
    if not notices:
        return chances
    lower = chances.copy()
    lower[notices] = times_odds(chances[notices], COLOPHON_LESS)
    return lower


# --- What is inserted into pages of all kinds and is no part of them: reviews by buyers, notices about cookies --------


REVIEW: Final = re.compile(r"(?<!p)review", re.IGNORECASE)
NOTICE: Final = re.compile(
    r"consent|gdpr|cookies?[-_]?(?:banner|bar|box|law|layer|message|modal|notice|notif|overlay|popup|status|wall)",
    re.IGNORECASE,
)
"""What elements with reviews, and those with notices about cookies, are called: no preview, no section on cookies."""

INSERTS_MOST: Final = 0.5
"""Share of the page's words up to which an element is an insert: what holds more is called so for the page's subject.
From 0.3 to 0.7 the figures hardly differ."""

SHOP: Final = 0.4
"""Chance from which a page is taken to be a product or a collection. From 0.3 to 0.45 the figures hardly differ."""

INSERTS_LESS: Final = 0.3
"""How many times the odds of what looks like content are those of the same in an insert. With 0.4, products gain a
quarter less on sites not seen; with 0.15, those that were learned from lose 0.005."""


def without_inserts(frame: Frame, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, lower for notices about cookies, and for reviews if the page is a product or a collection: a test is
    called a review too, and services put what customers say where others put their text. `likely` has the chance of
    each type."""
    found = find_called(frame, BITS["modal"], NOTICE)
    if likely["product"] + likely["collection"] >= SHOP:
        found |= find_called(frame, BITS["review"], REVIEW)
    return np.where(found, times_odds(chances, INSERTS_LESS), chances)


def find_called(frame: Frame, bit: int, pattern: re.Pattern[str]) -> Any:
    """Which units are in an element with such a name, or are one; `bit` is that of the group all such names are in."""
    at = np.nonzero((frame.names.groups >> bit & 1 > 0) & (frame.words_in <= INSERTS_MOST * frame.page_words))[0]
    _, first, number = np.unique(frame.names.signs[at], return_index=True, return_inverse=True)
    names = [frame.blocks[block].name[:MAX_NAME] for block in at[first].tolist()]
    at = at[np.array([pattern.search(name) is not None for name in names], bool)[number]]
    size = len(frame.blocks) + 1
    inside = np.cumsum(np.bincount(at, minlength=size) - np.bincount(frame.end[at], minlength=size))
    return inside[frame.at] > 0


# --- What stands around the content of what is no article: header, navigation, all outside `main` or before the
# title ----------------------------------------------------------------------------------------------------------------


LANDMARKS_LESS: Final = 0.3
MORE: Final = 1.1
"""How many times the odds of what looks like content are those of the same around it, and of the same inside: without
the second, as many words are lost as are spared. From 0.1 to 0.3, and from 1.05 to 1.2, the figures hardly differ."""

LANDMARKS_MOST: Final = 0.5
"""Share of the words expected to be content up to which they may stand outside of `main`, or before the title: what
holds more is the content. From 0.5 to 0.7 the figures hardly differ; with 0.35, products gain a third of it."""

AROUND: Final = MASKS["nav"] | MASKS["header"]
ASTRAY: Final = AROUND | MASKS["footer"] | MASKS["aside"]
"""Elements around content, and those in which a heading of the first level is the name of the site or of a box."""


def without_landmarks(frame: Frame, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, lower in navigation and headers, outside of `main` and before the title, and in a forum in what
    stands aside, and a little higher elsewhere; unchanged if the page is an article, whose headers may hold its lead. A
    heading of the first level is nowhere around: a title may stand in a header. `likely` has the chance of each type.

    What is announced there is written as content is, and on sites not seen it is likelier than short content.
    """
    if likely["article"] >= LIKELY:
        return chances
    inside = frame.names.masks[frame.at]
    around = inside & (AROUND | MASKS["aside"] if likely["forum"] >= LIKELY else AROUND) > 0
    expected = chances * np.maximum(frame.words, MIN_WORDS)
    for part in (inside & MASKS["main"] == 0, np.arange(len(chances)) < find_title(frame, inside)):
        if expected[part].sum() <= LANDMARKS_MOST * expected.sum():
            around |= part
    around &= frame.level != 1
    return np.where(around, times_odds(chances, LANDMARKS_LESS), times_odds(chances, MORE))


def find_title(frame: Frame, inside: Any) -> int:
    """The first heading of the first level that is not `ASTRAY`; if all are, the first; 0 if there is none."""
    first = frame.level == 1
    return int(np.argmax(first & (inside & ASTRAY == 0)) or np.argmax(first))


# --- The post that a page is for, where WordPress says which one: other posts, and what stands beside it, are not
# it -------------------------------------------------------------------------------------------------------------------


PAGE: Final = re.compile(r"(?:^|\s)postid-(\d+)(?!\S)")
POSTS_EACH: Final = "post-"
TYPE: Final = "type-"
"""What the body of a page for one post is called, and what the element of each post is called: see `get_body_class` and
`get_post_class` of the WordPress reference. An id may be `post-` with a number for other reasons, so that what makes an
element another post is its type beside it."""

THREAD: Final = re.compile(r"(?:^|\s)single-\S*(?:forum|question|topic)", re.IGNORECASE)
"""Pages on which the answers are posts of their own."""

BESIDE: Final = 0.03
"""How many times the odds of what looks like content are those of the same outside of the post. From 0.01 to 0.05 the
figures hardly differ."""


def without_other_posts(frame: Frame, chances: Any) -> Any:
    """The chances, lower outside of the post that the page is for; unchanged where it does not say which, where that is
    a thread, and where the element of the post holds no likely prose: a theme may have put its text elsewhere."""
    number = find_number(frame)
    if not number:
        return chances
    inside, other = np.zeros((2, len(chances)), bool)
    for at, block in enumerate(frame.blocks):
        if POSTS_EACH in block.name and (found := to_numbers(block)):
            first, last = np.searchsorted(frame.at, (at, block.end)).tolist()
            marks = inside if number in found else other
            # What is in one of the same mark is marked, so that nested posts take no longer than others.
            if first < last and not marks[first] and (marks is inside or TYPE in block.name):
                marks[first:last] = True
    inside &= ~other
    if chances[inside & (frame.prose > 0)].max(initial=0) < LIKELY:
        return chances
    return np.where(inside, chances, times_odds(chances, BESIDE))


def find_number(frame: Frame) -> str:
    """The number of the post that the page is for; "" if it names none, or a thread."""
    name = next((block.name for block in frame.blocks if block.tag == "body"), "")
    found = PAGE.search(name)
    return "" if found is None or THREAD.search(name) else found[1]


def to_numbers(block: Block) -> set[str]:
    """The numbers of the posts that an element is called after."""
    return {
        name[len(POSTS_EACH) :]
        for name in block.name.split()
        if name.startswith(POSTS_EACH) and name[len(POSTS_EACH) :].isdecimal()
    }


# --- The title of what is no article: the heading of the first level that says what the page says it is called --------


UNLIKELY: Final = 0.25
"""Chance of an article below which a page is none. From 0.1 to 0.35 the figures hardly differ; with 0.5, small pages
that are like no type lose 0.001."""

LEAST: Final = 0.01
"""The chance from which the heading is the title. From 0.005 to 0.03 headings kept rise by 0.007 to 0.009, and no set
differs by more than 0.0004 in words."""

TITLED: Final = 0.8
"""Share of its words that are in the title that the page gives itself. From 0.6 to 0.9 the figures hardly differ;
without it, forums of magic lose 0.001."""


def with_title(frame: Frame, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, high enough for the title to be taken with what stands under it, unless the page may be an article:
    what is learned from articles, where metadata say their titles, is hard on those of threads and services.
    `likely` has the chance of each type."""
    if likely["article"] >= UNLIKELY:
        return chances
    found = (frame.level == 1) & (frame.get("titled") >= TITLED) & (frame.words > 1)
    return np.where(found & (chances >= LEAST), np.maximum(chances, TITLE), chances)


def adjust(frame: Frame, page: PageFacts, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances of the units after all rules."""
    chances = without_comments(frame, page, likely, chances)
    chances = without_asides(frame, likely, chances)
    chances = with_cards(frame, likely, chances)
    chances = without_inserts(frame, likely, chances)
    chances = without_landmarks(frame, likely, chances)
    chances = without_other_posts(frame, chances)
    chances = without_colophon(frame, chances)
    chances = without_outskirts(frame, likely, chances)
    return with_title(frame, likely, chances)
