"""A page as one row of numbers: what it holds, what it is made of, and what it says about itself."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.frame import KINDS, OTHER_KIND, Frame
from specloom.scrape.content.groups import BITS, GROUPS
from specloom.scrape.content.naming import MASKS
from specloom.scrape.content.page import SIGNALS

if TYPE_CHECKING:
    from specloom.scrape.content.page import Page

KIND_SHARES: Final = tuple(
    f"page_k_{name}" for name in ("p", "li", "h1", "h2", "h3", "h456", "div", "cell", "pre", "dl")
)
GROUPED: Final = tuple(f"page_g_{name}" for name, _ in GROUPS)
HOLDING: Final = ("article", "main", "aside", "ul", "td", "form")
HELD: Final = tuple(f"page_in_{name}" for name in HOLDING)
_GROUP_BITS: Final = np.array([[1 << at] for at in range(len(GROUPS))])
_MASK_BITS: Final = np.array([[MASKS[name]] for name in HOLDING])


def to_overall(frame: Frame, page: Page, series: Any) -> dict[str, float]:
    """The columns that are about the page as a whole."""
    words, prose = frame.page_words, frame.page_prose
    paragraphs = float((frame.prose > 0).sum())
    tags = Counter(block.tag for block in frame.blocks)
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
        "page_said": math.log1p(frame.told),
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
    found = dict.fromkeys(
        (
            "rep_share",
            "rep_count",
            "rep_mean",
            "rep_ahead",
            "rep_ahead_w",
            "rep_link",
            "rep_comment",
            "rep_post",
            "rep_user",
            "rep_content",
            "rep_tag",
            "rep_name",
        ),
        0.0,
    )
    found["remark_ahead"] = math.log1p(before_remarks)
    found["remark_share"] = float(frame.prose[first_remark:].sum()) / frame.page_prose
    if not len(series):
        return found
    begin = int(series[0])
    size, words = float(frame.prose_in[series].sum()), float(frame.words_in[series].sum())
    ahead = float(frame.prose[frame.at < begin].sum())
    about = int(frame.names.groups[begin])
    return found | {
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
