"""The content of a page: blocks, what is measured of them, what the model makes of that, and the best choice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

import numpy as np
from lxml import etree

from specloom.core import dataclass

from .blocks import BITS, MASKS, VOCABULARY, Block, split_name, to_blocks
from .features import KINDS, SERIES, Frame, Units, count_elements, measure, number_series
from .model import MIN_WORDS, ContentModel, best_cut, expect, load_model, to_chances, to_shares
from .page import PageFacts
from .reweight import EACH, TITLE, reweight

PARTS: Final = frozenset(VOCABULARY["tags"]["parts"].split())


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a page: `nodes` in document order, without what is in `drop`."""

    nodes: Sequence[etree._Element]
    drop: Collection[etree._Element]
    page_type: str
    """`article`, `documentation`, `service`, `forum`, `listing`, `product` or `collection`."""
    confidence: float
    """The F1 that the choice is expected to have against what a person would choose, 0 to 1."""
    words: int
    """Words of the page that are content; a CJK character is a word."""


def find_content(root: etree._Element, page: PageFacts) -> Content:
    """The content of a sanitised tree; `nodes` is empty and the confidence 0 where there is no text.

    `page` is what it said about itself before its scripts were taken out.
    """
    blocks = to_blocks(root)
    model = load_model()
    units = measure(blocks, page, model.words)
    if units is None:
        return Content((), (), "", 0.0, 0)
    kinds, chances = judge(units, model)
    likely = dict(zip(model.types, kinds.tolist(), strict=True))
    chances = reweight(units.frame, page, likely, chances)
    taken, expected = choose(units.frame, chances)
    nodes, drop = to_nodes(units.frame, taken)
    confidence = float(np.interp(expected, model.expected, model.reached))
    return Content(nodes, drop, max(likely, key=likely.__getitem__), confidence, int(units.frame.words[taken].sum()))


def judge(units: Units, model: ContentModel) -> tuple[Any, Any]:
    """The chances of each type of page, and those of each unit to be content."""
    kinds = to_shares(model.page.evaluate(units.overall[:, None])[0])
    return kinds, to_chances(model.blocks.evaluate(with_kinds(units, kinds))[:, 0])


def with_kinds(units: Units, kinds: Any) -> Any:
    """The columns of the units, with the chances of each type of page behind."""
    columns = units.columns
    spread = np.broadcast_to(kinds.astype(np.float32)[:, None], (len(kinds), columns.shape[1]))
    return np.concatenate((columns, spread))


def to_nodes(frame: Frame, taken: Any) -> tuple[list[etree._Element], set[etree._Element]]:
    """The elements to render: the narrowest one around all that is taken, and the widest ones in it that are not.

    A block without text, such as a picture, goes with its neighbours: it stays between two that stay. What is not taken
    and stands in an element around what is, as its own text, is taken out of the tree.
    """
    blocks, at, end = frame.blocks, frame.at, frame.end
    count = len(blocks)
    order = np.arange(count)

    def over(flags: Any) -> Any:
        run = np.concatenate(([0], np.cumsum(flags)))
        return run[end] - run[order]

    with_text, with_taken = np.zeros(count, np.int32), np.zeros(count, np.int32)
    with_text[at] = 1
    with_taken[at[taken]] = 1
    texts, held = over(with_text), over(with_taken)
    if not held[0]:
        return [], set()
    before = np.concatenate(([-1], np.maximum.accumulate(np.where(with_text, order, -1))))[order]
    after = np.append(np.minimum.accumulate(np.where(with_text, order, count)[::-1])[::-1], count)[end]
    padded = np.append(with_taken, 0)  # both "none before" (-1) and "none after" (count) find the zero
    stays = (held > 0) | ((texts == 0) & (padded[before] > 0) & (padded[after] > 0))
    kept = stays.tolist()
    top = int(np.nonzero(held == held[0])[0][-1])
    while blocks[top].tag in PARTS:
        top = blocks[top].parent
    drop: set[etree._Element] = set()
    gone = top
    for index in range(top + 1, blocks[top].end):
        if index < gone:
            continue
        block = blocks[index]
        if not kept[index]:
            drop.add(block.element)
            gone = block.end
        elif block.tag == "tr" and block.text:
            gone = block.end  # cells belong to their row
    _silence(frame, taken)
    return [blocks[top].element], drop


def _find_around(frame: Frame, taken: Any) -> Any:
    """Which units are not taken, and stand in an element that holds something taken; none that stands around all of
    it, which is not shown."""
    held = frame.over(taken)
    narrowest = np.nonzero(held == held[0])[0][-1]
    return (held[frame.at] > 0) & ~taken & (frame.at >= narrowest)


def _silence(frame: Frame, taken: Any) -> None:
    """Takes their own text out of the elements that are kept for what they hold; linear in the page.

    Pictures in it stay, as they do between two blocks that stay.
    """
    units = np.nonzero(_find_around(frame, taken))[0].tolist()
    if units:
        blocks = {block.element for block in frame.blocks}
        for unit in units:
            _empty(frame.blocks[frame.at[unit]].element, blocks)


def _empty(element: etree._Element, blocks: Collection[etree._Element]) -> None:
    """Empties an element of its text, and of that of the elements in it that are no blocks."""
    element.text = None
    inner = [element]
    while inner:
        for part in inner.pop():
            part.tail = None
            if part not in blocks:
                part.text = None
                inner.append(part)


LEAST: Final = 0.1
"""The chance from which a unit goes with what is taken around it."""


def choose(frame: Frame, chances: Any) -> tuple[Any, float]:
    """Which units are taken, and the F1 that is expected of it."""
    words = np.maximum(frame.words, MIN_WORDS)
    taken, _ = best_cut(chances, words)
    for rule in RULES:
        taken = rule(frame, chances, taken)
    return taken, expect(chances, words, taken)


TABLE_GAP: Final = 3
LIST_GAP: Final = 1
"""Units before and behind a table, and a list, among which some are taken where it stands amid the text. With 1 rows of
tables are lost, and with 3 for lists services lose 0.002."""

LISTS: Final = frozenset({"dl", "ol", "ul"})

MENU: Final = 0.3
"""Share of its words from which a list of links is a menu."""

MAX_CELL: Final = 100
MAX_MEAN: Final = 20
"""Words of a cell, and of all cells of a table in the mean, up to which a table holds data: longer ones are passages
that stand in a table for its layout, such as the posts of a forum."""

ARRANGING: Final = frozenset(VOCABULARY["tags"]["arranging"].split())


def take_tables(frame: Frame, chances: Any, taken: Any) -> Any:
    """The tables of data amid what is taken, whole: they are no prose, and yet rarely beside the point there."""
    return _take_amid(find_tables(frame), TABLE_GAP, chances, taken)


def take_lists(frame: Frame, chances: Any, taken: Any) -> Any:
    """The lists of few links directly between what is taken, whole."""
    return _take_amid(find_lists(frame), LIST_GAP, chances, taken)


def _take_amid(spans: Iterable[tuple[int, int]], gap: int, chances: Any, taken: Any) -> Any:
    """The choice, with the spans of units that have something taken on both sides and are not unlikely in the mean."""
    whole = taken.copy()
    for first, last in spans:
        amid = taken[max(0, first - gap) : first].any() and taken[last : last + gap].any()
        if amid and chances[first:last].mean() >= LEAST:
            whole[first:last] = True
    return whole


def find_tables(frame: Frame) -> list[tuple[int, int]]:
    """The first unit of each table of data, and the one behind its last."""
    tables = []
    for at, block in enumerate(frame.blocks):
        if block.tag == "table":
            first, last = np.searchsorted(frame.at, (at + 1, block.end)).tolist()
            if last - first > 1 and _is_data(frame.blocks, at, frame.at[first:last], frame.words[first:last]):
                tables.append((first, last))
    return tables


def _is_data(blocks: Sequence[Block], table: int, units: Any, words: Any) -> bool:
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


def find_lists(frame: Frame) -> list[tuple[int, int]]:
    """The same of each list of few links, of lists in one another those of the outermost."""
    begins, ends = [], []
    until = 0
    for at, block in enumerate(frame.blocks):
        if at >= until and block.tag in LISTS:
            until = block.end
            begins.append(at)
            ends.append(until)
    first, last = np.searchsorted(frame.at, begins), np.searchsorted(frame.at, ends)
    words, links = (np.concatenate(([0.0], values.cumsum())) for values in (frame.words, frame.link_words))
    few = (links[last] - links[first] <= MENU * (words[last] - words[first])) & (last > first)
    return list(zip(first[few].tolist(), last[few].tolist(), strict=True))


SHORT: Final = 120
"""Words of the choice up to which a page is short: the model learned from long ones."""

SURE: Final = 0.5
"""The chance from which a unit is sure."""

LINKED: Final = 0.3
"""Share of its characters from which a unit leads to other pages."""

REST: Final = 0.5
"""Words of the rest, by those of the choice, up to which it is one: a body with more is not of this text alone."""

AROUND: Final = MASKS["nav"] | MASKS["footer"] | MASKS["aside"] | MASKS["dialog"] | MASKS["form"]
BESIDE: Final = sum(
    1 << BITS[name]
    for name in (
        "comment", "related", "share", "nav", "side", "foot", "ad", "meta", "user", "modal", "review", "unseen",
    )
)  # fmt: skip
"""Elements, and what elements are called, that stand in a body and hold none of its text."""


def take_rest(frame: Frame, chances: Any, taken: Any) -> Any:
    """The rest of a short page: what stands in its body, the narrowest element around all that is sure, and is no part
    of what pages put around it. The last line, a term or a note of a short page look half likely to the model."""
    sure = taken & (chances >= SURE)
    words = frame.words[taken].sum()
    if words > SHORT or not sure.any():
        return taken
    held = frame.over(sure)
    body = int(np.nonzero(held == held[0])[0][-1])
    if frame.end[body] == body + 1:  # one paragraph is no body
        body = int(frame.parent[body])
    names = frame.names
    beside = names.groups[frame.at] & ~int(names.groups[body]) & BESIDE
    beside |= names.masks[frame.at] & ~int(names.masks[body]) & AROUND
    rest = ~taken & (beside == 0) & (chances >= LEAST) & (frame.linked <= LINKED)
    rest &= (frame.at >= body) & (frame.at < frame.end[body])
    return taken | rest if frame.words[rest].sum() <= REST * words else taken


def take_series(frame: Frame, chances: Any, taken: Any) -> Any:
    """The rest of each series of which more than half is taken, in number and in words: half a thread is worth less
    than all of it or nothing, and short answers look like little. Nothing is added before the first one that is taken,
    nor behind the last; headings are no series, their sections decide."""
    series = np.where(frame.level > 0, 0, number_series(frame))
    size, held = np.bincount(series), np.bincount(series, taken)
    words, read = np.bincount(series, frame.words), np.bincount(series, frame.words * taken)
    most = (2 * held > size) & (held < size) & (2 * read > words)
    most[0] = False
    if not most.any():
        return taken
    elements = count_elements(frame, series)
    most &= (elements >= SERIES) & (size <= EACH * elements)
    first, last = _find_ends(series, np.nonzero(taken)[0])
    order = np.arange(len(series))
    amid = (order > first[series]) & (order < last[series])
    return taken | (most[series] & amid & (chances >= LEAST))


def _find_ends(series: Any, units: Any) -> tuple[Any, Any]:
    """The first and the last of these units of each series; the last is 0 where there is none."""
    first, last = np.zeros((2, int(series.max()) + 1), np.intp)
    first[series[units[::-1]]] = units[::-1]
    last[series[units]] = units
    return first, last


LONG: Final = 8
"""Words from which an equal text is a copy; shorter ones are labels."""

NEAR: Final = 1
"""Units behind the first up to which an equal text is said again on purpose. Without it, documentation loses 0.003."""

CONTEXT: Final = 3
"""Elements, the text's own and those around it, that are called the same in texts of one series. With 2, forums lose
0.002; with 4, collections lose 0.002."""


def leave_copies(frame: Frame, _chances: Any, taken: Any) -> Any:
    """Each long text that was taken before and stands here in elements called otherwise is left: a copy for narrow
    screens, the first post once more for who is not signed in.

    Texts that repeat in elements called the same are written so: what each of three plans includes, a note at each of
    two methods. So are listings of code, and quotations, which say what an answer is about.
    """
    quoted = frame.names.masks[frame.at] & MASKS["blockquote"] > 0
    able = taken & (frame.words >= LONG) & (frame.level == 0) & (frame.kind != KINDS["pre"])
    units = np.nonzero(able)[0].tolist()
    texts = [frame.blocks[at].text for at in frame.at[units].tolist()]
    if len(set(texts)) == len(texts):
        return taken
    left = taken.copy()
    last: dict[str, int] = {}
    contexts: dict[str, set[tuple[int, ...]]] = {}
    for unit, text in zip(units, texts, strict=True):
        before, context = contexts.setdefault(text, set()), _read_context(frame, int(frame.at[unit]))
        if before and not quoted[unit] and unit - last[text] > NEAR and context not in before:
            left[unit] = False
        else:
            before.add(context)
            last[text] = unit
    return left


def _read_context(frame: Frame, at: int) -> tuple[int, ...]:
    """The signs of a block and of those around it."""
    signs = []
    for _ in range(CONTEXT):
        signs.append(int(frame.names.signs[at]))
        at = int(frame.parent[at])
    return tuple(signs)


HEADING: Final = 0.05
"""The chance from which a heading is taken with what stands under it; `TITLE` is that of the first level. Lower ones
keep more headings, and cost F1 where the truth is without the title."""


def take_headings(frame: Frame, chances: Any, taken: Any) -> Any:
    """The headings of the sections that hold what is taken: the best cut sees few words in a heading, but readers see
    more. A section ends with the next heading that is not below its own; one of the same level that is taken makes that
    before it worth taking too, as of parallel headings with little between them."""
    headed = taken.copy()
    levels = frame.level.tolist()
    # Whether something is taken between here and the next heading that ends a section of each level.
    holds = [False] * 7
    for at in range(len(levels) - 1, -1, -1):
        level = levels[at]
        if not level:
            if taken[at]:
                holds = [True] * 7
            continue
        if not headed[at] and holds[level] and chances[at] >= (TITLE if level == 1 else HEADING):
            headed[at] = True
        if headed[at]:
            holds = [upper <= level for upper in range(7)]
        else:
            holds[level:] = [False] * (7 - level)
    return headed


MAX_NAME: Final = 4
"""Words of a name, with what is written beside it."""

BRIEF: Final = 0.8
"""Share of a series that is as short as names are; beside the others stands that they began the thread."""

PERSON, NAME, ELSE = (frozenset(VOCABULARY["words"][name].split()) for name in ("person", "name", "else"))


def take_authors(frame: Frame, _chances: Any, taken: Any) -> Any:
    """The name of who wrote it before each post, where the page has a series of names between what is taken; of several
    such series, the one that is called a name, or of which more is taken already."""
    numbers = number_series(frame)
    short = frame.words <= MAX_NAME
    run = np.concatenate(([0], np.cumsum(taken & ~short)))
    first, last = _find_ends(numbers, np.arange(len(numbers)))
    size = np.bincount(numbers)
    brief = (size >= SERIES) & (np.bincount(numbers, short) >= BRIEF * size)
    likely = np.nonzero(brief & (2 * (run[last] - run[first] + 1) >= size))[0]
    best = (0, 0.0)
    signed = taken
    for number in likely.tolist():
        sure = _judge_name(frame.blocks[frame.at[first[number]]].name)
        if not sure:
            continue
        units = np.nonzero(numbers == number)[0]
        heads = run[np.append(units[1:], len(taken))] > run[units]
        texts = {frame.blocks[at].text for at in frame.at[units].tolist()}
        mark = (sure, float(taken[units].mean()))
        if 2 * heads.sum() >= len(units) and len(texts) > 1 and mark > best:
            best = mark
            signed = taken.copy()
            signed[units[heads & short[units]]] = True
    return signed


def _judge_name(name: str) -> int:
    """How sure an element that is called so holds the name of a person: 0 to 2."""
    words = split_name(name)
    if words & ELSE:
        return 0
    return 2 if words & NAME else 1 if words & PERSON else 0


RULES: Final[tuple[Callable[[Frame, Any, Any], Any], ...]] = (
    take_tables,
    take_lists,
    take_rest,
    take_series,
    leave_copies,
    take_headings,
    take_authors,
)
