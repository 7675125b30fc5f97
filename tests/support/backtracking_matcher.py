"""A matcher that backtracks as Python's does and counts its steps, which `re` does not tell."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from re import _constants as sre
from re import _parser as sre_parser
from typing import Any

Next = Callable[[int], bool]
SINGLES = (sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY)


class StepMatcher:
    """Matches by continuations; `steps` are the characters that were looked at and the ways that were begun."""

    def __init__(self, pattern: str, text: str, *, most: int = 2_000_000) -> None:
        self.tree = sre_parser.parse(pattern)
        self.text = text
        self.steps = 0
        self.most = most
        self.groups: dict[int, tuple[int, int]] = {}
        self.singles: dict[int, Any] = {}

    def search(self) -> bool:
        return any(self._items(list(self.tree), start, lambda _: True) for start in range(len(self.text) + 1))

    def fullmatch(self) -> bool:
        return self._items(list(self.tree), 0, lambda at: at == len(self.text))

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.most:
            raise OverflowError("too many steps")

    def _items(self, items: list[Any], at: int, onward: Next) -> bool:
        self._step()
        if not items:
            return onward(at)
        first, rest = items[0], items[1:]
        return self._item(first, at, lambda here: self._items(rest, here, onward))

    def _reads(self, item: Any, character: str) -> bool:
        if id(item) not in self.singles:
            sub = sre_parser.SubPattern(self.tree.state, [item])
            from re import _compiler

            self.singles[id(item)] = (_compiler.compile(sub, self.tree.state.flags), item)
        return self.singles[id(item)][0].match(character) is not None

    def _item(self, item: Any, at: int, onward: Next) -> bool:
        operator, value = item
        if operator in SINGLES:
            return at < len(self.text) and self._reads(item, self.text[at]) and onward(at + 1)
        if operator is sre.SUBPATTERN:
            return self._items(list(value[3]), at, lambda here: self._close(value[0], at, here, onward))
        if operator is sre.BRANCH:
            return any(self._items(list(branch), at, onward) for branch in value[1])
        if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            least, most, inner = value
            return self._repeat(list(inner), least, most, at, 0, -1, onward, is_lazy=operator is sre.MIN_REPEAT)
        if operator is sre.POSSESSIVE_REPEAT:
            return self._atomic([(sre.MAX_REPEAT, value)], at, onward)
        if operator is sre.ATOMIC_GROUP:
            return self._atomic(list(value), at, onward)
        if operator in (sre.ASSERT, sre.ASSERT_NOT):
            found = self._items(list(value[1]), at, lambda _: True)
            return found == (operator is sre.ASSERT) and onward(at)
        if operator is sre.GROUPREF:
            start, end = self.groups.get(value, (-1, -1))
            word = self.text[start:end]
            return start >= 0 and self.text.startswith(word, at) and onward(at + len(word))
        if operator is sre.AT:
            place = {"AT_BEGINNING": "^", "AT_END": "$", "AT_BOUNDARY": r"\b"}[str(value)]
            return re.compile(place).match(self.text, at) is not None and onward(at)
        raise NotImplementedError(operator)

    def _close(self, group: int | None, start: int, end: int, onward: Next) -> bool:
        if group is None:
            return onward(end)
        before = self.groups.get(group)
        self.groups[group] = (start, end)
        if onward(end):
            return True
        if before is None:
            del self.groups[group]
        else:
            self.groups[group] = before
        return False

    def _atomic(self, items: list[Any], at: int, onward: Next) -> bool:
        ends: list[int] = []

        def stop(here: int) -> bool:
            ends.append(here)
            return True

        return self._items(items, at, stop) and onward(ends[0])

    def _repeat(
        self, inner: list[Any], least: int, most: Any, at: int, count: int, last: int, onward: Next, *, is_lazy: bool
    ) -> bool:
        def again(here: int) -> bool:
            return self._repeat(inner, least, most, here, count + 1, at, onward, is_lazy=is_lazy)

        self._step()
        if count < least:
            return self._items(inner, at, again)
        may_go_on = (most is sre.MAXREPEAT or count < most) and at != last
        if is_lazy:
            return onward(at) or (may_go_on and self._items(inner, at, again))
        return (may_go_on and self._items(inner, at, again)) or onward(at)


def count_steps(pattern: str, text: str, *, whole: bool = False, most: int = 2_000_000) -> tuple[bool, int]:
    """Whether the pattern matches, and after how many steps; OverflowError after `most`."""
    matcher = StepMatcher(pattern, text, most=most)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        return (matcher.fullmatch() if whole else matcher.search()), matcher.steps
    finally:
        sys.setrecursionlimit(limit)
