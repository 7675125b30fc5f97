"""What a page says a second time: a copy for narrow screens, the first post once more for who is not signed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.frame import KINDS
from specloom.scrape.content.naming import MASKS

if TYPE_CHECKING:
    from specloom.scrape.content.frame import Frame

LONG: Final = 8
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
    able = taken & (frame.words >= LONG) & (frame.level == 0) & (frame.kind != KINDS["pre"])
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
