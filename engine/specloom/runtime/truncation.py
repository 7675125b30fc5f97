"""Shortens what no step of a spec foresees: a title of a thousand words, a work of three thousand authors."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from specloom.core import cut_text
from specloom.model import HINTS, NOTICES, TRUST, AnswerBody, AnswerGroup, AnswerPart, AnswerWindow, Tool

LEAST_CHARACTERS, LEAST_ITEMS = 300, 10
"""What is left at least of a text and of a list that are shortened: more than any caveat of a spec is long."""
LONGEST_ADDRESS = 8192
"""Characters of an address that stays whole; tools take no longer one."""
ELLIPSIS = " …"
"""What ends a shortened text that nobody reads on."""

_ADDRESS = re.compile(r"(?!data:)[A-Za-z][A-Za-z0-9+.-]{1,20}:\S+")


def trim(
    tool: Tool, answer: dict[str, Any], budget: int, size: Callable[[Mapping[str, Any]], int]
) -> tuple[dict[str, Any], list[str]]:
    """The answer with its longest texts and lists shortened, at whatever depth; and of which keys those are.

    Addresses stay whole, and so does what a spec cuts or tells as Markdown, because it says itself where that ends.
    """
    kept = _kept_whole(tool)

    def clip(characters: int, items: int) -> dict[str, Any]:
        shortened: dict[str, Any] = _clip(answer, characters, items, kept)
        return shortened

    def find_most(least: int, most: int, clipped: Callable[[int], Mapping[str, Any]]) -> int:
        while most - least > max(1, least // 40):
            middle = (least + most) // 2
            least, most = (middle, most) if size(clipped(middle)) <= budget else (least, middle)
        return least

    characters, items = LEAST_CHARACTERS, LEAST_ITEMS
    if size(clip(characters, items)) <= budget:
        # Lists have their room first: many items say more than one long text.
        items = find_most(items, _longest_in(answer, list), lambda most: clip(LEAST_CHARACTERS, most))
        characters = find_most(characters, _longest_in(answer, str), lambda most: clip(most, items))
    shortened = clip(characters, items)
    return shortened, list(dict.fromkeys(_find_changes(answer, shortened)))


def _kept_whole(tool: Tool) -> frozenset[str]:
    """Keys, at any depth, whose texts end where the answer says so: Markdown, windows, what a reader goes on with."""
    assert tool.budget is not None
    keys = {step.field or step.key for step in tool.budget.cut if step.source is not None}
    keys |= {path[1] for path in _bodies(tool.text) if path[0] in ("answer", "item") and len(path) > 1}
    # Half a cursor is none.
    cursor = {tool.cursor.following} if tool.cursor is not None else set()
    return frozenset({*keys, *cursor, HINTS, NOTICES, TRUST})


def _bodies(parts: Iterable[AnswerPart]) -> Iterator[tuple[str, ...]]:
    """What the Markdown and the windows of a text are made of."""
    for part in parts:
        if isinstance(part, AnswerBody | AnswerWindow):
            yield from part.value.uses
        elif isinstance(part, AnswerGroup):
            yield from _bodies(part.lines)


def _clip(value: Any, characters: int, items: int, kept: Collection[str]) -> Any:
    """A copy in which no text and no list is longer, but for addresses and what stands under the keys that are kept."""
    if isinstance(value, str):
        if len(value) <= characters or (len(value) <= LONGEST_ADDRESS and _ADDRESS.fullmatch(value)):
            return value
        return f"{cut_text(value, characters)}{ELLIPSIS}"
    if isinstance(value, list):
        return [_clip(item, characters, items, kept) for item in value[:items]]
    if isinstance(value, dict):
        return {key: one if key in kept else _clip(one, characters, items, kept) for key, one in value.items()}
    return value


def _longest_in(value: Any, kind: type[str] | type[list[Any]]) -> int:
    """The length of the longest text or list in a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = len(value) if isinstance(value, kind) else 0
    return max((own, *(_longest_in(one, kind) for one in inner)))


def _find_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """The keys whose values are shorter, or key and field where that is so in the rows under it."""
    for key, value in before.items():
        left = after[key]
        if value == left:
            continue
        if not isinstance(value, list | dict) or len(value) != len(left):
            yield key
        for one, other in zip(value, left, strict=False) if isinstance(value, list) else [(value, left)]:
            if isinstance(one, dict):
                yield from (f"{key}.{name}" for name in one if one[name] != other[name])
            elif one != other and isinstance(value, list):
                yield f"{key}.texts"
