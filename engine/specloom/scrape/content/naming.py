"""What elements are called, and what that says about everything inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.groups import read_names

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from specloom.scrape.content.blocks import Block

MASKS: Final = {
    tag: 1 << at
    for at, tag in enumerate(
        (
            "nav", "header", "footer", "aside", "main", "article", "form", "table", "ul", "section", "figure", "dialog",
            "dl", "blockquote", "button", "details", "a", "noscript", "td",
        )
    )
}  # fmt: skip
"""A bit for each element that says what is inside it."""

ALIASES: Final = {"ol": "ul", "menu": "ul", "th": "td", "dt": "dl", "dd": "dl"}
ROLES: Final = {
    "navigation": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "main": "main",
    "article": "article",
    "dialog": "dialog",
    "alertdialog": "dialog",
    "search": "form",
}
"""What a role makes of an element, by the names of WAI-ARIA's landmarks."""

TAG_MASKS: Final = MASKS | {tag: MASKS[alias] for tag, alias in ALIASES.items()}

MOST: Final = 4.0
"""What the words of one element say at most, for or against."""

FADING: Final = 0.8
"""How much of what a name says is left one block further in."""


@dataclass(frozen=True, slots=True)
class Descent:
    """What the names from the root down to each block say; one value a block."""

    own: Any
    lowest: Any
    highest: Any
    faded: Any
    """Sums in which nearer names count more."""
    nearest: Any
    """The score of the nearest block with a known name."""
    masks: Any
    groups: Any
    """A bit for each of `groups.GROUPS` that any name on the way is about."""
    near_groups: Any
    """The same for the nearest name that is about any."""
    signs: Any
    """A number for each different pair of tag and name."""


def descend(blocks: Sequence[Block], names: Mapping[str, float]) -> Descent:
    """One walk from the root down; `names` are log odds of words in names."""
    count = len(blocks)
    own, lowest, highest, faded, nearest = ([0.0] * count for _ in range(5))
    masks, groups, near_groups, signs = ([0] * count for _ in range(4))
    seen = judge_names({block.name for block in blocks}, names)
    numbers: dict[tuple[str, str], int] = {}
    for at, block in enumerate(blocks):
        name, tag, up = block.name, block.tag, block.parent
        signs[at] = numbers.setdefault((tag, name), len(numbers))
        mask = TAG_MASKS.get(tag, 0)
        # The classes of the whole page say what the page is, not which part of it matters.
        if up < 0 or tag == "body" or tag == "html":  # noqa: PLR1714 - twice as fast as a set of two
            masks[at] = mask
            continue
        score, known, about, role = seen[name]
        masks[at] = masks[up] | mask | role
        own[at] = score
        low, high = lowest[up], highest[up]
        lowest[at] = score if score < low else low
        highest[at] = score if score > high else high
        faded[at] = faded[up] * FADING + score
        nearest[at] = score if known else nearest[up]
        groups[at] = groups[up] | about
        near_groups[at] = about or near_groups[up]
    marks = (np.array(values, np.float32) for values in (own, lowest, highest, faded, nearest))
    bits = (np.array(values, np.int64) for values in (masks, groups, near_groups, signs))
    return Descent(*marks, *bits)


def judge_names(written: Collection[str], names: Mapping[str, float]) -> dict[str, tuple[float, bool, int, int]]:
    """For each class, id and role as written: the score, whether a word of it is known, the groups, the role's bit."""
    parts = {name: name.split() for name in written}
    readings = read_names({part for split in parts.values() for part in split})
    judged = {}
    for name, split in parts.items():
        if len(split) == 1:
            said, about = readings[split[0]]
        else:
            said, about = (), 0
            for part in split:
                some, bits = readings[part]
                said += some
                about |= bits
        words = said if len(said) < 2 else set(said)
        scores = [names[word] for word in words if word in names]
        score = sum(scores)
        # A name as written ends with the role, or with the blank before it.
        role = MASKS.get(ROLES.get(name.rpartition(" ")[2], ""), 0) if name[-1:] != " " else 0
        judged[name] = (-MOST if score < -MOST else min(score, MOST), bool(scores), about, role)
    return judged
