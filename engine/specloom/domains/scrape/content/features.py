"""The blocks of a page as arrays and as rows of numbers: what a block is, where it stands, what is around it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from specloom.core import dataclass

from .blocks import BITS, GROUPS, MASKS, Block, Descent, descend
from .page import SIGNALS, PageFacts
from .text_features import TEXT, PageClaims, Words, read_texts

LONG: Final = 12
"""Words that make a block prose when few of them are links."""

LINKED: Final = 0.34
"""Share of linked characters from which no block is prose."""

SERIES: Final = 3
"""Blocks of a kind that make a series."""

KINDS: Final = {
    tag: at
    for at, tags in enumerate(
        (
            ("p",), ("li",), ("h1",), ("h2",), ("h3",), ("h4", "h5", "h6"), ("div", "section", "article", "main"),
            ("td", "th", "tr"), ("pre",), ("dt", "dd"), ("blockquote",), ("button", "label", "legend"), ("summary",),
            ("figcaption", "caption"), ("body", "html", "center"),
        )
    )
    for tag in tags
}  # fmt: skip
OTHER_KIND: Final = 15
LEVELS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}


@dataclass(frozen=True, slots=True)
class Frame:
    """Arrays over blocks (`parent` … `series`) and over units, the blocks with text (`at` … `prose`)."""

    blocks: Sequence[Block]
    parent: Any
    end: Any
    names: Descent
    words_in: Any
    """Words inside each block; likewise links, prose, units, headings."""
    links_in: Any
    prose_in: Any
    units_in: Any
    heads_in: Any
    alike: Any
    """How many blocks of the page have each sign."""
    alike_words: Any
    alike_links: Any
    siblings: Any
    """How many children of the same parent are alike."""
    repeated: Any
    """Whether a block is one of a series and holds more than a line."""
    item: Any
    """The nearest repeated block around each block, itself included; 0 for none."""
    at: Any
    """The block of each unit."""
    text: Any
    """The columns of `TEXT`, one a row."""
    counts: Any
    """Links, pictures, line breaks and emphases of each unit."""
    words: Any
    linked: Any
    """Share of each unit's characters that are inside links."""
    link_words: Any
    prose: Any
    """Words of each unit if it is prose, else 0."""
    depth: Any
    kind: Any
    level: Any
    """Level of a heading; 0 for what is none."""
    claimed: int

    def get(self, name: str) -> Any:
        """A column of `TEXT`."""
        return self.text[TEXT.index(name)]

    @property
    def page_words(self) -> float:
        return max(float(self.words.sum()), 1.0)

    @property
    def page_prose(self) -> float:
        return max(float(self.prose.sum()), 1.0)

    def over(self, values: Any) -> Any:
        """Sums over what is inside each block, of values of units: a subtree is a range of blocks."""
        return sum_inside(values, self.at, self.end)


def sum_inside(values: Any, at: Any, end: Any) -> Any:
    flat = np.zeros(len(end) + 1)
    flat[at + 1] = values
    run = flat.cumsum()
    return run[end] - run[:-1]


def to_frame(blocks: Sequence[Block], page: PageFacts, words: Words) -> Frame | None:
    """The arrays of a page; nothing if it has no text."""
    count = len(blocks)
    index = [at for at, block in enumerate(blocks) if block.text]
    if not index:
        return None
    claims = PageClaims(page)
    picked = [blocks[at] for at in index]
    text = read_texts([block.text for block in picked], words, claims)
    at = np.array(index)
    parent = np.array([block.parent for block in blocks])
    parent[0] = 0
    end = np.array([block.end for block in blocks])
    names = descend(blocks, words.named)
    rows = np.array(
        [(block.linked, block.links, block.images, block.breaks, block.strong, block.depth) for block in picked],
        np.float32,
    )
    sizes = text[0].astype(np.float64)
    linked = np.minimum(rows[:, 0] / np.maximum(text[1], 1), 1)
    prose = np.where((sizes >= LONG) & (linked < LINKED), sizes, 0)
    level = np.array([LEVELS.get(block.tag, 0) for block in picked])
    link_words = sizes * linked
    words_in, links_in, prose_in = (sum_inside(values, at, end) for values in (sizes, link_words, prose))
    units_in = sum_inside(np.ones(len(at)), at, end)
    alike = np.bincount(names.signs)
    repeated = (alike[names.signs] >= SERIES) & (units_in >= 2) & (words_in >= LONG / 2)
    _, inverse, same = np.unique(parent * (len(alike) + 1) + names.signs, return_inverse=True, return_counts=True)
    return Frame(
        blocks=blocks,
        parent=parent,
        end=end,
        names=names,
        words_in=words_in,
        links_in=links_in,
        prose_in=prose_in,
        units_in=units_in,
        heads_in=sum_inside(level > 0, at, end),
        alike=alike,
        alike_words=np.bincount(names.signs, weights=words_in),
        alike_links=np.bincount(names.signs, weights=links_in),
        siblings=same[inverse],
        repeated=repeated,
        item=find_items(repeated.tolist(), parent.tolist(), count),
        at=at,
        text=text,
        counts=rows[:, 1:5],
        words=sizes,
        linked=linked,
        link_words=link_words,
        prose=prose,
        depth=rows[:, 5],
        kind=np.array([KINDS.get(block.tag, OTHER_KIND) for block in picked]),
        level=level,
        claimed=len(claims.words),
    )


def find_items(repeated: list[bool], parent: list[int], count: int) -> Any:
    items = [0] * count
    for at in range(1, count):
        items[at] = at if repeated[at] else items[parent[at]]
    return np.array(items)


def number_series(frame: Frame) -> Any:
    """A number for each unit from 1 on, the same for those that are alike in blocks that are alike."""
    signs, at = frame.names.signs, frame.at
    pairs = signs[at] * (int(signs.max()) + 1) + signs[frame.parent[at]]
    return np.unique(pairs, return_inverse=True)[1] + 1


def count_elements(frame: Frame, series: Any) -> Any:
    """In how many elements each series stands."""
    count = len(frame.blocks)
    pairs = np.unique(series * count + frame.parent[frame.at])
    return np.bincount(pairs // count)


# --- A page as one row of numbers: what it holds, what it is made of, and what it says about itself -------------------


KIND_SHARES: Final = tuple(
    f"page_k_{name}" for name in ("p", "li", "h1", "h2", "h3", "h456", "div", "cell", "pre", "dl")
)
GROUPED: Final = tuple(f"page_g_{name}" for name, _ in GROUPS)
HOLDING: Final = ("article", "main", "aside", "ul", "td", "form")
HELD: Final = tuple(f"page_in_{name}" for name in HOLDING)
_GROUP_BITS: Final = np.array([[1 << at] for at in range(len(GROUPS))])
_MASK_BITS: Final = np.array([[MASKS[name]] for name in HOLDING])


def to_overall(frame: Frame, page: PageFacts, series: Any) -> dict[str, float]:
    """The columns that are about the page as a whole."""
    words, prose = frame.page_words, frame.page_prose
    paragraphs = float((frame.prose > 0).sum())
    tags = Counter([block.tag for block in frame.blocks])
    whole = {
        "page_w": math.log1p(words),
        "page_n": math.log1p(len(frame.at)),
        "page_prose": prose / words,
        "page_np": math.log1p(paragraphs),
        "page_pmean": prose / max(paragraphs, 1),
        "page_link": float(frame.link_words.sum()) / words,
        "page_cjk": float((frame.get("cjk") * frame.words).sum()) / words,
        "page_h1": float(tags["h1"]),
        "page_h2": math.log1p(tags["h2"] + tags["h3"]),
        **{f"page_{tag}": math.log1p(tags[tag]) for tag in ("li", "p", "td", "pre", "article", "form", "button")},
        "page_money": math.log1p(float(frame.get("money").sum())),
        "page_date": math.log1p(float(frame.get("date").sum())),
        "page_main": float(tags["main"]),
        "page_repeat": float(np.max(np.where(frame.alike >= 4, frame.alike_words, 0))) / words,
        "page_said": math.log1p(frame.claimed),
        "page_big": float(frame.prose.max()) / words,
    }
    groups, masks = frame.names.groups[frame.at], frame.names.masks[frame.at]
    for names, bits, flags in ((GROUPED, _GROUP_BITS, groups), (HELD, _MASK_BITS, masks)):
        # Products with the prose of each unit: how much of it stands in what is called or is so.
        shares = ((flags & bits) > 0) @ frame.prose / prose
        whole |= zip(names, shares.tolist(), strict=True)
    whole |= describe_series(frame, series)
    whole["page_outside"] = math.log1p(float(frame.prose[groups & 1 == 0].sum()))
    kinds = np.bincount(frame.kind, frame.words, len(KIND_SHARES)) / words
    whole |= zip(KIND_SHARES, kinds.tolist()[: len(KIND_SHARES)], strict=True)
    return whole | dict(zip(SIGNALS, page.signals, strict=True))


def describe_series(frame: Frame, series: Any) -> dict[str, float]:
    """The posts, comments or cards of a page: how many, how long, how called, and how much stands before them."""
    remarks = np.nonzero(((frame.names.groups[frame.at] & 1) > 0) & (frame.prose > 0))[0]
    first_remark = int(remarks[0]) if len(remarks) else len(frame.at)
    before_remarks = float(frame.prose[:first_remark].sum())
    columns = dict.fromkeys([name for name in KEPT if name.startswith("rep_")], 0.0)
    columns["remark_ahead"] = math.log1p(before_remarks)
    columns["remark_share"] = float(frame.prose[first_remark:].sum()) / frame.page_prose
    if not len(series):
        return columns
    begin = int(series[0])
    size, words = float(frame.prose_in[series].sum()), float(frame.words_in[series].sum())
    ahead = float(frame.prose[frame.at < begin].sum())
    about = int(frame.names.groups[begin])
    return columns | {
        "rep_share": size / frame.page_prose,
        "rep_count": math.log1p(len(series)),
        "rep_mean": math.log1p(size / len(series)),
        "rep_ahead": ahead / frame.page_prose,
        "rep_ahead_w": math.log1p(ahead),
        "rep_link": float(frame.links_in[series].sum()) / max(words, 1),
        **{f"rep_{name}": float(about >> BITS[name] & 1) for name in ("comment", "post", "user", "content")},
        "rep_tag": float(KINDS.get(frame.blocks[begin].tag, OTHER_KIND)),
        "rep_name": float(frame.names.faded[begin]),
    }


FAR: Final = 500
"""Blocks beyond which distance no longer matters."""

KEPT: Final = (
    "page_w", "page_n", "page_prose", "page_np", "page_pmean", "page_link", "page_cjk", "page_said", "page_big",
    "page_outside", "og:article", "rep_share", "rep_count", "rep_mean", "rep_ahead", "rep_ahead_w", "rep_link",
    "rep_comment", "rep_post", "rep_user", "rep_content", "rep_tag", "rep_name", "remark_ahead", "remark_share",
)  # fmt: skip
"""Columns about the page that each block is judged by. The others serve to tell the page's type, and reach the blocks
as that: with all of them, the trees learn pages by heart."""

MAX_COLUMNS: Final = 320

Columns = Iterator[Any]
"""Values for all units: one column, several as the rows of an array, or one value for all."""


@dataclass(frozen=True, slots=True)
class Units:
    """The blocks that hold text, and what is measured of them."""

    frame: Frame
    columns: Any
    """One row for each column, with one value for each unit: columns are read and written whole."""
    overall: Any
    """The columns that are about the page as a whole."""


def measure(blocks: Sequence[Block], page: PageFacts, words: Words) -> Units | None:
    """The units of a page with their features; nothing if it has no text."""
    frame = to_frame(blocks, page, words)
    if frame is None:
        return None
    series = find_series(frame)
    whole = to_overall(frame, page, series)
    parts = (
        measure_holders(frame),
        measure_itself(frame),
        measure_names(frame),
        measure_upwards(frame),
        measure_series(frame, series),
        measure_place(frame),
        measure_section(frame),
        measure_neighbours(frame),
        [whole[name] for name in KEPT],
    )
    columns = gather_columns((column for part in parts for column in part), len(frame.at))
    return Units(frame, columns, np.array(list(whole.values()), np.float32))


def gather_columns(columns: Iterable[Any], count: int) -> Any:
    """The columns as one array."""
    table = np.empty((MAX_COLUMNS, count), np.float32)
    at = 0
    for column in columns:
        if getattr(column, "ndim", 0) == 2:
            table[at : at + len(column)] = column
            at += len(column)
        else:
            table[at] = column
            at += 1
    return table[:at]


def measure_holders(frame: Frame) -> Columns:
    """The narrowest blocks that hold most of the prose: whether a unit is inside, behind, and how far down."""
    for share in (0.3, 0.55, 0.8, 0.95):
        root = int(np.nonzero(frame.prose_in >= share * frame.page_prose)[0][-1:].sum())
        stop = int(frame.end[root])
        inside = (frame.at >= root) & (frame.at < stop)
        yield inside
        yield frame.at >= stop
        yield frame.words_in[root] / frame.page_words
        yield np.where(inside, frame.depth - frame.blocks[root].depth, -1)


def measure_itself(frame: Frame) -> Columns:
    """The unit alone: its size, its text, its links, its element."""
    yield np.log1p(frame.words)
    yield frame.text[1:]
    chars = frame.get("nchars")
    yield np.log1p(chars)
    yield chars / np.maximum(frame.words, 1)
    yield frame.linked
    yield frame.counts.T
    yield frame.depth
    yield frame.kind == np.arange(OTHER_KIND + 1)[:, None]


def measure_names(frame: Frame) -> Columns:
    """What the unit is called and is inside of."""
    at, names = frame.at, frame.names
    yield names.masks[at] >> np.arange(len(MASKS))[:, None] & 1
    bits = np.arange(len(GROUPS))[:, None]
    groups = np.stack((names.groups[at] >> bits & 1, names.near_groups[at] >> bits & 1), axis=1)
    yield groups.reshape(2 * len(GROUPS), len(at))
    for scores in (names.own, names.lowest, names.highest, names.faded, names.nearest):
        yield scores[at]


def measure_upwards(frame: Frame) -> Columns:
    """The blocks around the unit: the three next, and the fifth."""
    words, units = np.maximum(frame.words_in, 1), np.maximum(frame.units_in, 1)
    around = np.array(
        (
            np.log1p(frame.words_in),
            frame.links_in / words,
            frame.words_in / frame.page_words,
            frame.prose_in / words,
            frame.prose_in / frame.page_prose,
            np.log1p(frame.units_in),
            frame.words_in / units,
            frame.names.own,
            np.log1p(frame.siblings),
            frame.heads_in / units,
        )
    )
    up = frame.at
    for step in range(1, 6):
        up = frame.parent[up]
        if step != 4:
            yield around[: 10 if step < 5 else 7, up]


def find_series(frame: Frame) -> Any:
    """The blocks of the series that holds most prose, such as posts, comments or cards; empty if there is none."""
    signs = frame.names.signs
    if not frame.repeated.any():
        return np.zeros(0, int)
    prose = np.bincount(signs[frame.repeated], weights=frame.prose_in[frame.repeated])
    return np.nonzero((signs == int(np.argmax(prose))) & frame.repeated)[0]


def measure_series(frame: Frame, series: Any) -> Columns:
    """How often the like of the unit, and of the item that it is in, is on the page."""
    at, signs = frame.at, frame.names.signs
    sign = signs[at]
    unit_words = np.bincount(sign, weights=frame.words, minlength=len(frame.alike))
    yield np.log1p(frame.alike[sign])
    yield unit_words[sign] / frame.page_words
    yield np.log1p(unit_words[sign] / np.maximum(frame.alike[sign], 1))
    yield np.log1p(frame.siblings[at])
    item = frame.item[at]
    kind, has = signs[item], item > 0
    yield np.where(has, np.log1p(frame.alike[kind]), 0)
    yield np.where(has, np.log1p(frame.words_in[item]), 0)
    yield np.where(has, np.log1p(frame.alike_words[kind] / np.maximum(frame.alike[kind], 1)), 0)
    yield np.where(has, frame.alike_words[kind] / frame.page_words, 0)
    yield np.where(has, frame.alike_links[kind] / np.maximum(frame.alike_words[kind], 1), 0)
    yield np.where(has, frame.prose_in[item] / np.maximum(frame.words_in[item], 1), 0)
    yield np.where(has, frame.names.own[item], 0)
    yield np.where(has, np.log1p(frame.siblings[item]), 0)
    none = not len(series)
    yield False if none else np.isin(item, series)
    yield False if none else at < series[0]
    yield False if none else at >= frame.end[series].max()
    yield np.cumsum(((frame.names.groups[at] & 1) > 0) & (frame.prose > 0)) > 0


def measure_place(frame: Frame) -> Columns:
    """Where on the page the unit is, and how far from prose and from the title."""
    count = len(frame.at)
    order = np.arange(count)
    run, prose_run = frame.words.cumsum(), frame.prose.cumsum()
    prose = frame.prose > 0
    yield (run - frame.words) / frame.page_words
    yield order / count
    yield np.log1p(order)
    yield np.log1p(order[::-1])
    yield (prose_run - frame.prose) / frame.page_prose
    yield np.log1p(frame.page_prose - np.minimum(prose_run, frame.page_prose))
    last = np.maximum.accumulate(np.where(prose, order, -FAR))
    following = np.minimum.accumulate(np.where(prose, order, count + FAR)[::-1])[::-1]
    yield np.log1p(np.minimum(order - last, FAR))
    yield np.log1p(np.minimum(following - order, FAR))
    up = frame.parent[frame.at]
    yield (last >= 0) & (up[np.maximum(last, 0)] == up)
    heads = np.nonzero(frame.level == 1)[0]
    titles = np.nonzero((frame.get("titled") > 0.6) & (frame.words >= 3) & (frame.words < 40))[0]
    yield np.sign(order - heads[0]) if len(heads) else -2
    yield np.sign(order - titles[0]) if len(titles) else -2


def measure_section(frame: Frame) -> Columns:
    """The heading that the unit is under, and what is between it and the next."""
    order = np.arange(len(frame.at))
    head = find_heads(frame)
    has, at = head >= 0, np.maximum(head, 0)
    yield np.where(has, np.log1p(order - head), -1)
    yield np.where(has, frame.level[at], 0)
    for name in ("said_mean", "said_low", "phrase"):
        yield np.where(has, frame.get(name)[at], 0)
    yield np.where(has, frame.names.faded[frame.at[at]], 0)
    section = np.cumsum(frame.level > 0)
    words, prose = (np.bincount(section, weights=values)[section] for values in (frame.words, frame.prose))
    yield np.log1p(words)
    yield prose / np.maximum(words, 1)


def find_heads(frame: Frame) -> Any:
    """The unit of the last heading at or before each unit; -1 for none."""
    return np.maximum.accumulate(np.where(frame.level > 0, np.arange(len(frame.at)), -1))


def measure_neighbours(frame: Frame) -> Columns:
    """The units before and after."""
    count = len(frame.at)
    order = np.arange(count)
    up = frame.parent[frame.at]
    faded = frame.names.faded[frame.at]
    beside = np.array((np.log1p(frame.words), frame.linked, faded, frame.kind))
    next_to = np.array((up, frame.get("said_mean"), frame.get("ends")))
    for step in (-2, -1, 1, 2):
        other = order + step
        there = np.minimum(np.maximum(other, 0), count - 1)
        found = beside[:, there]
        found[0, there != other] = -1
        yield found
        if abs(step) == 1:
            found = next_to[:, there]
            found[0] = found[0] == up
            yield found
    runs = [np.concatenate(([0.0], values.cumsum())) for values in (frame.words, frame.prose, frame.link_words)]
    for span in (3, 8):
        low, high = np.maximum(order - span, 0), np.minimum(order + span + 1, count)
        words, prose, links = (run[high] - run[low] for run in runs)
        yield np.log1p(words)
        yield prose / np.maximum(words, 1)
        yield links / np.maximum(words, 1)
