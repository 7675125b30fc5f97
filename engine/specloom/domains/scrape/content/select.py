"""What belongs together whatever the chance of its parts: a table of data, a list, a section with its heading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .class_names import BITS, MASKS, split_name
from .frame import KINDS, SERIES
from .threshold import MIN_WORDS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lxml import etree

    from .blocks import Block
    from .frame import Frame


HEADING: Final = 0.05
TITLE: Final = 0.07
"""Chances from which a heading, and one of the first level, is taken with what stands under it. Measured: lower ones
keep more headings, and cost F1 where the truth is without the title."""

TABLE: Final = 0.1
AMID: Final = 3
"""The chance from which a table is taken with what is taken within so many blocks before and after it."""

LISTS: Final = frozenset({"dl", "ol", "ul"})
LIST: Final = 0.1
BETWEEN: Final = 1
LINKED: Final = 0.3
"""The same for a list, and the share of its words up to which they may be links: more make a menu."""

LAST: Final = 0.25
"""The chance from which a table or a list is taken right behind what is taken beside it, as short pages end. Lower ones
bring in lists of references; from 0.35 on short tables are lost. On sites not seen it costs nothing."""

WHOLE: Final = 2 / 3
EACH: Final = 0.2
"""The share of a list's words from which it is taken as a whole, and the chance that each of its items has: from a half
of the words on, and from 0.2 to 0.3, no figure changes by more than 0.001; without the second, forums lose 0.005."""

MAX_CELL: Final = 100
MAX_MEAN: Final = 20
"""Words of a cell, and of all cells of a table in the mean, up to which a table holds data: longer ones are passages
that stand in a table for its layout, such as the posts of a forum."""

ARRANGING: Final = frozenset(
    {"article", "blockquote", "form", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "section", "table"}
)
"""Elements that no table of data has in it."""


def find_tables(frame: Frame) -> list[Any]:
    """The units of each table of data; half a table is worth little, so they are taken or left together."""
    found = []
    for at, block in enumerate(frame.blocks):
        if block.tag == "table":
            first, last = np.searchsorted(frame.at, (at + 1, block.end)).tolist()
            if last - first > 1 and is_data(frame.blocks, at, frame.at[first:last], frame.words[first:last]):
                found.append(np.arange(first, last))
    return found


def is_data(blocks: Sequence[Block], table: int, units: Any, words: Any) -> bool:
    """Whether a table has two rows with text, two columns and no passages; `words` are those of its `units`."""
    cells: dict[int, float] = {}
    rows: dict[int, int] = {}
    for at in range(table + 1, blocks[table].end):
        block = blocks[at]
        if block.tag in ARRANGING:
            return False
        if block.tag in {"td", "th"}:
            cells[at] = 0.0
            rows[block.parent] = rows.get(block.parent, 0) + 1
    filled = set()
    longest = 0.0
    for unit, size in zip(units.tolist(), words.tolist(), strict=True):
        if unit in rows:  # a plain row is one unit with all its cells
            longest = max(longest, size / rows[unit])
            filled.add(unit)
            continue
        at = unit
        while at not in cells and at > table:
            at = blocks[at].parent
        if at > table:
            cells[at] += size
            filled.add(blocks[at].parent)
    if len(filled) < 2 or max(rows.values()) < 2:
        return False
    return max(longest, *cells.values()) <= MAX_CELL and words.sum() <= MAX_MEAN * len(cells)


def find_lists(frame: Frame) -> list[Any]:
    """The units of each list of few links, of lists in one another those of the outermost."""
    begins, ends = [], []
    until = 0
    for at, block in enumerate(frame.blocks):
        if at >= until and block.tag in LISTS:
            until = block.end
            begins.append(at)
            ends.append(until)
    first, last = np.searchsorted(frame.at, begins), np.searchsorted(frame.at, ends)
    words, links = (np.concatenate(([0.0], values.cumsum())) for values in (frame.words, frame.link_words))
    few = (links[last] - links[first] <= LINKED * (words[last] - words[first])) & (last > first)
    return [np.arange(begin, end) for begin, end in zip(first[few].tolist(), last[few].tolist(), strict=True)]


def take_amid(groups: Sequence[Any], chances: Any, taken: Any, *, least: float, amid: int) -> Any:
    """The choice, with the groups that stand amid what is taken, before and behind within so many units, and whose mean
    chance is at least this: tables and lists are no prose, and yet rarely beside the point there."""
    found = taken.copy()
    for units in groups:
        first, last = int(units[0]), int(units[-1])
        around = taken[max(0, first - amid) : first].any() and taken[last + 1 : last + 1 + amid].any()
        if around and chances[units].mean() >= least:
            found[units] = True
    return found


def take_whole(groups: Sequence[Any], words: Any, chances: Any, taken: Any) -> Any:
    """The choice, with all of each group of which most is taken, where no part is unlikely: half a list misleads."""
    found = taken.copy()
    for units in groups:
        if np.average(taken[units], weights=words[units]) >= WHOLE and chances[units].min() >= EACH:
            found[units] = True
    return found


def take_behind(frame: Frame, groups: Sequence[Any], chances: Any, taken: Any) -> Any:
    """The choice, with the groups right behind what is taken beside them in one element, where they are not unlikely:
    texts end with tables and lists, and then there is nothing behind these."""
    found = taken.copy()
    for units in groups:
        first = int(units[0])
        if first and found[first - 1] and chances[units].mean() >= LAST and _stands_behind(frame, first):
            found[units] = True
    return found


def _stands_behind(frame: Frame, first: int) -> bool:
    """Whether the table or list that begins with a unit is beside the unit before it, in one element."""
    blocks = frame.blocks
    before = blocks[frame.at[first - 1]].parent
    at = int(frame.at[first])
    while at > before and blocks[at].parent != before:
        at = blocks[at].parent
    return at > before and (blocks[at].tag == "table" or blocks[at].tag in LISTS)


def take_headings(frame: Frame, chances: Any, taken: Any) -> Any:
    """The choice, with the headings of the sections that hold what is taken: the best cut sees few words in a heading,
    but readers see more. A section ends with the next heading that is not below its own; one of the same level that is
    taken makes that before it worth taking too, as of parallel headings with little between them."""
    found = taken.copy()
    levels = frame.level.tolist()
    # Whether something is taken between here and the next heading that ends a section of each level.
    holds = [False] * 7
    for at in range(len(levels) - 1, -1, -1):
        level = levels[at]
        if not level:
            if taken[at]:
                holds = [True] * 7
            continue
        if not found[at] and holds[level] and chances[at] >= (TITLE if level == 1 else HEADING):
            found[at] = True
        if found[at]:
            holds = [upper <= level for upper in range(7)]
        else:
            holds[level:] = [False] * (7 - level)
    return found


# --- The own text of elements around what is taken: a name before an answer, a price beside a card, a button's
# label ----------------------------------------------------------------------------------------------------------------


LEAST: Final = 0.12
"""The chance from which such a text stays. From 0.05 to 0.15 no type loses more than 0.0005; from 0.18 on, collections
lose 0.0015 by two pages."""


def take_around(frame: Frame, chances: Any, taken: Any) -> Any:
    """The choice, with those own texts of elements around what is taken that are not unlikely: the cards of collections
    say their names there."""
    return taken | (find_around(frame, taken) & (chances >= LEAST))


def find_around(frame: Frame, taken: Any) -> Any:
    """Which units are not taken, and stand in an element that holds something taken; none that stands around all of
    it, which is not shown."""
    held = frame.over(taken)
    narrowest = np.nonzero(held == held[0])[0][-1]
    return (held[frame.at] > 0) & ~taken & (frame.at >= narrowest)


def silence(frame: Frame, taken: Any) -> None:
    """Takes their own text out of the elements that are kept for what they hold; linear in the page.

    Pictures in it stay, as they do between two blocks that stay.
    """
    units = np.nonzero(find_around(frame, taken))[0].tolist()
    if units:
        blocks = {block.element for block in frame.blocks}
        for unit in units:
            empty(frame.blocks[frame.at[unit]].element, blocks)


def empty(element: etree._Element, blocks: Collection[etree._Element]) -> None:
    """Empties an element of its text, and of that of the elements in it that are no blocks."""
    element.text = None
    inner = [element]
    while inner:
        for part in inner.pop():
            part.tail = None
            if part not in blocks:
                part.text = None
                inner.append(part)


# --- What is one of a series: a post among posts, a card among cards, an entry among entries --------------------------


SERIES_EACH: Final = 4
"""Units that one element of a series has of it in the mean, at most: more are the paragraphs of one text, which are
judged one by one. From 2 to 4 the figures hardly differ; with 6, forums lose 0.001."""

SERIES_LEAST: Final = 0.1
"""The chance from which one of a series is taken with it; what `articles` and `asides` made unlikely is below."""


def number_series(frame: Frame) -> Any:
    """A number for each unit from 1 on, the same for those that are alike in blocks that are alike."""
    signs, at = frame.names.signs, frame.at
    pairs = signs[at] * (int(signs.max()) + 1) + signs[frame.parent[at]]
    return np.unique(pairs, return_inverse=True)[1] + 1


def take_series(frame: Frame, numbers: Any, chances: Any, taken: Any) -> Any:
    """The choice, with the rest of each series of which more than half is taken, in number and in words: half a thread
    is worth less than all of it or nothing, and short answers look like little. Nothing is added before the first one
    that is taken, nor behind the last; headings are no series, their sections decide. `numbers` are those of
    `number_series`."""
    series = np.where(frame.level > 0, 0, numbers)
    size, held = np.bincount(series), np.bincount(series, taken)
    words, read = np.bincount(series, frame.words), np.bincount(series, frame.words * taken)
    most = (2 * held > size) & (held < size) & (2 * read > words)
    most[0] = False
    if not most.any():
        return taken
    elements = count_elements(frame, series)
    most &= (elements >= SERIES) & (size <= SERIES_EACH * elements)
    first, last = find_ends(series, np.nonzero(taken)[0])
    order = np.arange(len(series))
    amid = (order > first[series]) & (order < last[series])
    return taken | (most[series] & amid & (chances >= SERIES_LEAST))


def find_ends(series: Any, units: Any) -> tuple[Any, Any]:
    """The first and the last of these units of each series; the last is 0 where there is none."""
    first, last = np.zeros((2, int(series.max()) + 1), np.intp)
    first[series[units[::-1]]] = units[::-1]
    last[series[units]] = units
    return first, last


def count_elements(frame: Frame, series: Any) -> Any:
    """In how many elements each series stands."""
    count = len(frame.blocks)
    pairs = np.unique(series * count + frame.parent[frame.at])
    return np.bincount(pairs // count)


# --- Who wrote what: the names of a series of posts, answers or reviews -----------------------------------------------


MAX_NAME: Final = 4
"""Words of a name, with what is written beside it. From 3 to 6 the figures hardly differ."""

SHORT: Final = 0.8
"""Share of a series that is as short as names are; beside the others stands that they began the thread."""

INITIALS: Final = 2
"""Characters up to which texts are initials in the place of a picture."""

PERSON: Final = frozenset(
    {"author", "commenter", "creator", "member", "nick", "nickname", "poster", "reviewer", "user", "username"}
)
NAME: Final = frozenset({"name", "nicename"})
"""Words by which elements with a name are called; the second kind says it surer, if no word of the third is there."""

ELSE: Final = frozenset(
    {
        "avatar", "badge", "banner", "brand", "category", "credits", "date", "extras", "file", "forum", "group", "item",
        "joined", "location", "mention", "photo", "picture", "posts", "product", "quote", "rank", "registered", "role",
        "stats", "statistics", "status", "tag", "time", "title", "topic", "totalposts",
    }
)  # fmt: skip
"""Words by which elements are called that tell something else of a person, or have the name of something else."""


def take_authors(frame: Frame, numbers: Any, taken: Any) -> Any:
    """The choice, with the name of who wrote it before each post, where the page has a series of names between what is
    taken; of several such series, the one that is called a name, or of which more is taken already. `numbers` are those
    of `number_series`."""
    short = frame.words <= MAX_NAME
    run = np.concatenate(([0], np.cumsum(taken & ~short)))
    first, last = find_ends(numbers, np.arange(len(numbers)))
    size = np.bincount(numbers)
    brief = (size >= SERIES) & (np.bincount(numbers, short) >= SHORT * size)
    likely = np.nonzero(brief & (2 * (run[last] - run[first] + 1) >= size))[0]
    best = (0, 0.0)
    found = taken
    for number in likely.tolist():
        sure = judge_name(frame.blocks[frame.at[first[number]]].name)
        if not sure:
            continue
        units = np.nonzero(numbers == number)[0]
        heads = run[np.append(units[1:], len(taken))] > run[units]
        texts = [frame.blocks[at].text for at in frame.at[units].tolist()]
        long = sum(len(text) > INITIALS for text in texts)
        mark = (sure, float(taken[units].mean()))
        if 2 * heads.sum() >= len(units) and 2 * long > len(units) and len(set(texts)) > 1 and mark > best:
            best = mark
            found = taken.copy()
            found[units[heads & short[units]]] = True
    return found


def judge_name(name: str) -> int:
    """How sure an element that is called so holds the name of a person: 0 to 2."""
    words = split_name(name)
    if words & ELSE:
        return 0
    return 2 if words & NAME else 1 if words & PERSON else 0


# --- Elements that a page says again as a whole: a row for each width of a screen, a slide of a carousel once
# more -----------------------------------------------------------------------------------------------------------------


LONG: Final = 8
"""Words from which an element is a clone. From 5 to 10 the figures hardly differ; with 15, a quarter of the gain is
lost."""

MANY: Final = 3
"""Texts from which an element is a clone though it is called as the first one. With 4, a tenth of the gain is lost;
with 2, documentation loses 0.0016."""

MORE: Final = 0.1
"""How much likelier the second must be to stay in the place of the first: 0.1 and 0.2 give the same."""


def merge_clones(frame: Frame, chances: Any) -> Any:
    """The chances, where two elements have the same texts in their order: nothing in one, and in the other the higher
    of both, which are two judgements of one text. The first stays, or the one that is likelier or has more headings:
    a title may be said before in a list of contents.

    Unlike `copies`, this is before the choice, which would otherwise count the words twice. Elements with listings of
    code are no clones, nor are those of few texts that are called the same.
    """
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
    found = chances.copy()
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
        more = np.average(found[second] - found[first], weights=words[second])
        if headings > 0 or (headings == 0 and more > MORE):
            first, second, stays[number] = second, first, block
        found[first] = np.maximum(found[first], found[second])
        found[second] = 0
    return found


# --- What a page says a second time: a copy for narrow screens, the first post once more for who is not signed in -----


COPIES_LONG: Final = 8
"""Words from which an equal text is a copy; shorter ones are labels. From 6 to 15 the figures hardly differ."""

NEAR: Final = 1
"""Units behind the first up to which an equal text is said again on purpose. Measured: without it, documentation loses
0.003; with 2 or 3, products lose 0.002."""

AROUND: Final = 3
"""Elements, the text's own and those around it, that are called the same in texts of one series. Measured: with 2,
forums lose 0.005; with 4, collections lose 0.002."""


def leave_copies(frame: Frame, taken: Any) -> Any:
    """The choice, without each long text that was taken before and stands here in elements called otherwise.

    Texts that repeat in elements called the same are written so: what each of three plans includes, a note at each of
    two methods. So are listings of code, and quotations, which say what an answer is about.
    """
    quoted = frame.names.masks[frame.at] & MASKS["blockquote"] > 0
    able = taken & (frame.words >= COPIES_LONG) & (frame.level == 0) & (frame.kind != KINDS["pre"])
    units = np.nonzero(able)[0].tolist()
    texts = [frame.blocks[at].text for at in frame.at[units].tolist()]
    if len(set(texts)) == len(texts):
        return taken
    found = taken.copy()
    last: dict[str, int] = {}
    seen: dict[str, set[tuple[int, ...]]] = {}
    for unit, text in zip(units, texts, strict=True):
        before, around = seen.setdefault(text, set()), look_around(frame, int(frame.at[unit]))
        if before and not quoted[unit] and unit - last[text] > NEAR and around not in before:
            found[unit] = False
        else:
            before.add(around)
            last[text] = unit
    return found


def look_around(frame: Frame, at: int) -> tuple[int, ...]:
    """The signs of a block and of those around it."""
    signs = []
    for _ in range(AROUND):
        signs.append(int(frame.names.signs[at]))
        at = int(frame.parent[at])
    return tuple(signs)


# --- The rest of a short page: what stands in its body beside what is sure, and is no part of what pages put
# around it ------------------------------------------------------------------------------------------------------------


SHORT_SHORT: Final = 120
"""Words of the choice up to which a page is short. From 150 on magic loses 0.0007, from 220 on zyte 0.0006."""

SURE: Final = 0.5
SHORT_LEAST: Final = 0.12
"""The chance from which a unit is sure, and that from which it is the rest. The model learned from long pages; the last
line, a term or a note of a short one it gives some 0.15 to 0.4, and what stands around it less than 0.1. From 0.12 to
0.2 the figures hardly differ; from 0.3 on nothing is gained."""

SHORT_LINKED: Final = 0.3
"""Share of its characters from which a unit leads to other pages; with 0.5 the figures are the same."""

MOST: Final = 0.5
"""Words of the rest, by those of the choice, up to which it is one: a body with more is not of this text alone,
and listings that were learned from lose 0.003."""

SHORT_AROUND: Final = MASKS["nav"] | MASKS["footer"] | MASKS["aside"] | MASKS["dialog"] | MASKS["form"]
BESIDE: Final = sum(
    1 << BITS[name]
    for name in (
        "comment", "related", "share", "nav", "side", "foot", "ad", "meta", "user", "modal", "review", "unseen",
    )
)  # fmt: skip
"""Elements, and what elements are called, that stand in a body and hold none of its text."""


def take_rest(frame: Frame, chances: Any, taken: Any) -> Any:
    """The choice, on a short page with the rest of its body: the narrowest element around all that is sure.

    On sites not seen collections gain 0.0035, listings 0.0038 and no figure falls.
    """
    sure = taken & (chances >= SURE)
    words = frame.words[taken].sum()
    if words > SHORT_SHORT or not sure.any():
        return taken
    held = frame.over(sure)
    body = int(np.nonzero(held == held[0])[0][-1])
    if frame.end[body] == body + 1:  # one paragraph is no body
        body = int(frame.parent[body])
    names = frame.names
    beside = names.groups[frame.at] & ~int(names.groups[body]) & BESIDE
    beside |= names.masks[frame.at] & ~int(names.masks[body]) & SHORT_AROUND
    rest = ~taken & (beside == 0) & (chances >= SHORT_LEAST) & (frame.linked <= SHORT_LINKED)
    rest &= (frame.at >= body) & (frame.at < frame.end[body])
    return taken | rest if frame.words[rest].sum() <= MOST * words else taken
