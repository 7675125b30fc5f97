"""Whether elements still stand in a tree, asked of many at once: each way up to the root is walked a single time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml import etree


def to_standing(root: etree._Element) -> Callable[[etree._Element], bool]:
    """What tells of an element whether it stands in the tree, for as long as nothing is moved in it."""
    known = {root: True}

    def stands(element: etree._Element) -> bool:
        passed: list[etree._Element] = []
        at: etree._Element | None = element
        while at is not None and at not in known:
            passed.append(at)
            at = at.getparent()
        result = at is not None and known[at]
        known.update(dict.fromkeys(passed, result))
        return result

    return stands
