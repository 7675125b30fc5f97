"""How long a pattern can take, told before it runs.

Python's `re` tries one way through a pattern after another. Where a text can be read in many ways and none of them
leads to a match, it tries them all: with nested repetitions their number doubles with each character, and with
repetitions that follow each other it grows as a power of the length.

The tree of a pattern becomes an automaton without empty steps, whose ambiguity is what costs: Weber and Seidl, "On the
degree of ambiguity of finite automata" (1991), say when it is exponential (EDA: a loop that reads one text in two ways)
and of which power (IDA: a text that two loops and the way between them read); Weideman et al., "Analyzing matching time
behavior of backtracking regular expression matchers" (2016), apply this to matchers. That a search begins at every
character is one more loop, in front.

The judgement errs to the strict side: a back-reference stands for whatever its group may match, a lookaround for
nothing (what is in it is judged by itself, as if it were tried at each step), a counted repetition of more than
`_UNROLLED` times for one without end that takes no more than its count, and an atomic group for a plain one, unless it
repeats one character. Whether another part of the pattern would match before is not asked.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import lru_cache
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import Any, Final

from specloom.core import dataclass

MAX_STEPS: Final = 20_000_000
"""How many steps of the matcher the worst text may cost: the square of 4,000 characters, and a little.

The square of 4,000 is halved in truth, and takes 0.05 to 0.4 s.
"""
_UNROLLED: Final = 8
_COPIES: Final = 100
"""How often a part that is repeated exactly so often is written out."""
_MOST_STATES: Final = 1_500
_MOST_WORK: Final = 150_000
"""Steps of the analysis, about 0.2 s; what needs more is refused."""
_MOST_WAYS: Final = 5_000
"""In how many ways counted repetitions may read one text."""
_BEAM: Final = 4
_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class SlowPattern:
    """Why a pattern is slow: `part` of it, and texts `prefix + pump * n + suffix` on which it shows.

    `degree` is the power of the length with which the time grows; 0 where it doubles with each `pump`, and -1 where the
    pattern is too large to be judged.
    """

    degree: int
    part: str = ""
    prefix: str = ""
    pump: str = ""
    suffix: str = ""

    def __str__(self) -> str:
        if self.degree < 0:
            return "the pattern is too large to tell how long it may take"
        text = f"{_show(self.pump)} repeated" + (f" behind {_show(self.prefix)}" if self.prefix else "")
        text += f", then {_show(self.suffix)}" if self.suffix else ""
        if not self.degree:
            return f"{self.part} can read the same text in so many ways that trying them never ends: {text}"
        power = {2: "square", 3: "cube"}.get(self.degree, f"{self.degree}th power")
        return f"the time of {self.part} grows with the {power} of the length of a text: {text}"


ADVICE: Final = "let one part alone take each character, as in ([^,]+,)* for (.+,?)*, or bound the repetition: {1,20}"


def _show(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


@lru_cache(maxsize=512)
def find_slow_part(pattern: str, length: int, *, whole: bool = False) -> SlowPattern | None:
    """Why the pattern is too slow for texts of up to `length` characters; None if it is not.

    It is searched for, or has to match the `whole` text. The pattern compiles.
    """
    try:
        tree = sre_parser.parse(pattern)
        slow, steps = _judge(
            tree, tree.state.flags, length, tree.state, _AnalysisBudget(), start="whole" if whole else "search"
        )
    except (_TooLargeError, RecursionError):
        return SlowPattern(-1)
    return slow if slow is not None and (not slow.degree or steps > MAX_STEPS) else None


class _TooLargeError(Exception):
    """The analysis would take too long."""


@dataclass(slots=True)
class _AnalysisBudget:
    """What is left of the work that one analysis may do."""

    left: int = _MOST_WORK

    def spend(self, count: int = 1) -> None:
        self.left -= count
        if self.left < 0:
            raise _TooLargeError


def _judge(
    items: Any, flags: int, length: int, groups: Any, work: _AnalysisBudget, *, start: str
) -> tuple[SlowPattern | None, int]:
    """The slowest part of a tree and its steps in the worst text; a part without a degree is exponential."""
    built = _Builder(flags, length, groups, work)
    automaton = built.build(items, start)
    slow, steps = _Ambiguity(automaton, length, work).find()
    for inner, inner_flags in built.lookarounds:
        if slow is not None and not slow.degree:
            break
        worse, inner_steps = _judge(inner, inner_flags, length, groups, work, start="match")
        if worse is not None and not worse.degree:
            return worse, inner_steps
        if inner_steps > 1:
            steps *= inner_steps
            told = worse or slow or SlowPattern(1, _write(inner))
            slow = SlowPattern(max(told.degree, (slow.degree if slow else 1) + 1), told.part, told.prefix, told.pump)
    return slow, steps


# --- From the tree of a pattern to an automaton -----------------------------------------------------------------------


_SINGLES: Final = (sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY)
_REPEATS: Final = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_ALWAYS, _AT_END, _MAYBE = 1, 2, 4
"""What leads to a match: nothing more, the end of the text, an assertion that may hold."""


@dataclass(slots=True, eq=False)
class _CharacterReader:
    """A place that reads one character of a set, and what stands behind it."""

    set: _Set
    behind: int
    loops: tuple[_Loop, ...]


@dataclass(slots=True, eq=False)
class _Set:
    """A set of characters: whether it has one, and which of the atoms of the pattern are in it."""

    has: Callable[[str], bool]
    only: tuple[str, ...] = ()
    """All that it has, where that is one character in its cases."""
    atoms: int = 0


@dataclass(slots=True, eq=False)
class _Loop:
    """A repetition: how often at most (the length of the text where there is no end), and the tree of it."""

    most: int
    item: Any


@dataclass(frozen=True, slots=True)
class _Step:
    """A way to a node that reads nothing; `loop` goes round once more, `guard` says what may be read next."""

    target: int
    kind: str = ""
    loop: _Loop | None = None
    guard: tuple[_Set, bool] | None = None
    """The set, and whether what is read next is in it or not."""


@dataclass(slots=True)
class _Automaton:
    """States are places that were read last; 0 is the start. `edges` have the atoms that lead to the next place."""

    edges: list[list[tuple[int, int]]]
    accepts: list[int]
    spans: list[int]
    loops: list[tuple[_Loop, ...]]
    atoms: list[str]
    search: int = -1
    """The state of a search that passes over characters, or -1."""


@dataclass(slots=True)
class _Builder:
    """Builds the automaton from the end of the pattern to its beginning: a part is built before what it leads to."""

    flags: int
    length: int
    groups: Any
    work: _AnalysisBudget
    nodes: list[list[_Step]] = field(default_factory=list)
    readers: dict[int, _CharacterReader] = field(default_factory=dict)
    bodies: dict[int, tuple[Any, int]] = field(default_factory=dict)
    lookarounds: list[tuple[Any, int]] = field(default_factory=list)
    samples: set[str] = field(default_factory=set)
    sets: dict[tuple[str, str, int], _Set] = field(default_factory=dict)

    def build(self, items: Any, start: str) -> _Automaton:
        self._note_groups(items, self.flags)
        last = self._node([])
        behind = self._node([_Step(last, "end")]) if start == "whole" else last
        first = self._sequence(items, behind, self.flags, ())
        return self._finish(first, last, is_search=start == "search")

    def _node(self, steps: list[_Step]) -> int:
        self.work.spend()
        self.nodes.append(steps)
        return len(self.nodes) - 1

    def _sequence(self, items: Any, behind: int, flags: int, loops: tuple[_Loop, ...]) -> int:
        for item in reversed(list(items)):
            behind = self._item(item, behind, flags, loops)
        return behind

    def _note_groups(self, items: Any, flags: int) -> None:
        """Keep what each group matches, for the references to it."""
        for operator, value in items:
            if operator is sre.SUBPATTERN:
                group, added, removed, inner = value
                inner_flags = (flags | added) & ~removed
                if group is not None:
                    self.bodies[group] = (inner, inner_flags)
                self._note_groups(inner, inner_flags)
            elif operator is sre.BRANCH:
                for branch in value[1]:
                    self._note_groups(branch, flags)
            elif operator in _REPEATS or operator in (sre.ASSERT, sre.ASSERT_NOT):
                self._note_groups(value[-1], flags)
            elif operator is sre.ATOMIC_GROUP:
                self._note_groups(value, flags)

    def _item(self, item: Any, behind: int, flags: int, loops: tuple[_Loop, ...]) -> int:
        operator, value = item
        if operator in _SINGLES:
            return self._reader(item, behind, flags, loops)
        if operator in _REPEATS:
            return self._repeat(item, behind, flags, loops)
        if operator is sre.SUBPATTERN:
            _, added, removed, inner = value
            flags = (flags | added) & ~removed
            return self._sequence(inner, behind, flags, loops)
        if operator is sre.ATOMIC_GROUP:
            if len(value) == 1 and value[0][0] is sre.MAX_REPEAT:
                return self._repeat((sre.POSSESSIVE_REPEAT, value[0][1]), behind, flags, loops)
            return self._sequence(value, behind, flags, loops)
        if operator is sre.BRANCH:
            return self._node([_Step(self._sequence(branch, behind, flags, loops)) for branch in value[1]])
        if operator in (sre.ASSERT, sre.ASSERT_NOT):
            return self._lookaround(item, behind, flags)
        if operator is sre.GROUPREF:
            inner, inner_flags = self.bodies[value]
            return self._sequence(inner, behind, inner_flags, loops)
        if operator is sre.GROUPREF_EXISTS:
            _, yes, no = value
            return self._node(
                [_Step(self._sequence(branch, behind, flags, loops) if branch else behind) for branch in (yes, no)]
            )
        if operator is sre.AT:
            at_start = value is sre.AT_BEGINNING_STRING or (value is sre.AT_BEGINNING and not flags & re.MULTILINE)
            at_end = value is sre.AT_END_STRING or (value is sre.AT_END and not flags & re.MULTILINE)
            return self._node([_Step(behind, "start" if at_start else "end" if at_end else "maybe")])
        return behind  # FAILURE and the like read nothing

    def _reader(self, item: Any, behind: int, flags: int, loops: tuple[_Loop, ...]) -> int:
        node = self._node([])
        self.readers[node] = _CharacterReader(self._set(item, flags), behind, loops)
        if len(self.readers) > _MOST_STATES:
            raise _TooLargeError
        return node

    def _set(self, item: Any, flags: int) -> _Set:
        key = (str(item[0]), str(item[1]), int(flags))
        if key not in self.sets:
            if item[0] is sre.LITERAL:
                letter = chr(item[1])
                cases = {letter, letter.lower(), letter.upper()} if flags & re.IGNORECASE else {letter}
                only = tuple(one for one in cases if len(one) == 1)
                self.samples.update(only)
                self.sets[key] = _Set(frozenset(only).__contains__, only)
            else:
                self.sets[key] = _Set(_membership(item, flags, self.samples))
        return self.sets[key]

    def _repeat(self, item: Any, behind: int, flags: int, loops: tuple[_Loop, ...]) -> int:
        operator, (least, most, inner) = item
        if most == 0:
            return behind
        is_one = len(inner) == 1 and inner[0][0] in _SINGLES
        unbounded = most is sre.MAXREPEAT or most >= self.length
        guard = None
        if operator is sre.POSSESSIVE_REPEAT and is_one and unbounded:
            guard = (self._set(inner[0], flags), False)
        copies = min(least, _COPIES)
        is_written_out = not unbounded and (most <= _UNROLLED or (most == least and least <= _COPIES))
        if is_written_out:
            entry = behind
            for _ in range(most - least):
                # Who skips one skips the rest.
                entry = self._node([_Step(self._sequence(inner, entry, flags, loops)), _Step(behind)])
        else:
            loop = _Loop(self.length if unbounded else int(most), item)
            entry = self._node([])
            again = self._node([_Step(entry, loop=loop), _Step(behind, guard=guard)])
            body = self._sequence(inner, again, flags, (*loops, loop))
            self.nodes[entry].append(_Step(body))
            if least == 0:
                return self._node([_Step(entry), _Step(behind, guard=guard)])
            copies -= 1
        for _ in range(copies):
            entry = self._sequence(inner, entry, flags, loops)
        return entry

    def _lookaround(self, item: Any, behind: int, flags: int) -> int:
        operator, (direction, inner) = item
        if direction < 0:
            return self._node([_Step(behind, "maybe")])  # it reads a bounded number of characters
        if len(inner) == 1 and inner[0][0] in _SINGLES:
            guard = (self._set(inner[0], flags), operator is sre.ASSERT)
            return self._node([_Step(behind, "maybe", guard=guard)])
        self.lookarounds.append((inner, flags))
        return self._node([_Step(behind, "maybe")])

    # The automaton

    def _finish(self, first: int, last: int, *, is_search: bool) -> _Automaton:
        atoms = self._partition()
        every = (1 << len(atoms)) - 1
        numbers = {node: at + 1 for at, node in enumerate(self.readers)}
        edges: list[list[tuple[int, int]]] = []
        accepts: list[int] = []
        for at, node in enumerate([first, *(reader.behind for reader in self.readers.values())]):
            ways, accept = self._closure(node, last, at_start=at == 0)
            edges.append([(numbers[target], mask) for target, mask in ways])
            accepts.append(accept)
        loops = [(), *(reader.loops for reader in self.readers.values())]
        automaton = _Automaton(edges, accepts, [], loops, atoms)
        if is_search:
            ways, _ = self._closure(first, last, at_start=False)
            automaton.search = len(edges)
            skipped = (automaton.search, every)
            edges[0].append(skipped)
            edges.append([skipped, *((numbers[target], mask) for target, mask in ways)])
            accepts.append(0)
            loops.append(())
        for at, around in enumerate(loops):
            span = 1
            for loop in around:
                span = min(self.length, span * loop.most)
            automaton.spans.append(self.length if at == automaton.search else span)
        return automaton

    def _partition(self) -> list[str]:
        """One character of each kind that the pattern tells apart; each set learns which of them it has."""
        sets = list(self.sets.values())
        samples = {*self.samples, *_SAMPLES}
        columns = dict.fromkeys(sorted(samples, key=lambda one: (not one.isalnum(), not one.isprintable(), one)), 0)
        for at, characters in enumerate(sets):
            self.work.spend(len(characters.only or columns) // 8 + 1)
            for character in characters.only or filter(characters.has, columns):
                columns[character] |= 1 << at
        found: dict[int, str] = {}
        for character, column in columns.items():
            found.setdefault(column, character)
        for at, characters in enumerate(sets):
            characters.atoms = sum(1 << place for place, column in enumerate(found) if column >> at & 1)
        return list(found.values())

    def _closure(self, node: int, last: int, *, at_start: bool) -> tuple[list[tuple[int, int]], int]:
        """What is read next from a node, once for each way that leads there (at most two), and how it may match."""
        ways: list[tuple[int, int]] = []
        accept = 0
        visits: dict[tuple[int, frozenset[int], int, int], int] = {}
        waiting: list[tuple[int, frozenset[int], int, int]] = [(node, frozenset(), -1, _ALWAYS)]
        while waiting:
            state = waiting.pop()
            self.work.spend()
            if visits.get(state, 0) == 2:
                continue
            visits[state] = visits.get(state, 0) + 1
            at, rounds, guard, how = state
            if at == last:
                accept |= how
            reader = self.readers.get(at)
            if reader is not None:
                mask = reader.set.atoms & guard
                if mask:
                    ways.append((at, mask))
                continue
            for step in self.nodes[at]:
                if step.kind == "start" and not at_start:
                    continue
                onward, allowed, sure = rounds, guard, how
                if step.loop is not None:
                    # A round that reads nothing is not followed by another one.
                    if id(step.loop) in rounds:
                        continue
                    onward = rounds | {id(step.loop)}
                if step.guard is not None:
                    characters, is_inside = step.guard
                    allowed &= characters.atoms if is_inside else ~characters.atoms
                if step.kind == "maybe" or (step.kind == "end" and how == _MAYBE):
                    sure = _MAYBE
                elif step.kind == "end":
                    sure = _AT_END
                waiting.append((step.target, onward, allowed, sure))
        return ways, accept


_SAMPLES: Final = 'aZ0_ \t\n\r!-."<{\u00e9\u0663\u00a0\u2028\u4e2d\x00'
"""Characters of every kind that categories tell apart."""


@lru_cache(maxsize=16)
def _category(name: Any, flags: int) -> Callable[[str], bool]:
    letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[str(name).rpartition("_")[2]]
    found = re.compile(f"\\{letter.upper() if '_NOT_' in str(name) else letter}", flags & re.ASCII).match
    return lambda character: found(character) is not None


def _membership(item: Any, flags: int, samples: set[str]) -> Callable[[str], bool]:
    """Whether a character is read by a part that reads one; characters at the edges of its set become samples."""
    operator, value = item
    if operator is sre.ANY:
        samples.add("\n")
        return (lambda _: True) if flags & re.DOTALL else (lambda character: character != "\n")
    if operator is sre.IN:
        parts, is_negated = [part for part in value if part[0] is not sre.NEGATE], value[0][0] is sre.NEGATE
    else:
        parts, is_negated = [(sre.LITERAL, value)], operator is sre.NOT_LITERAL
    ranges: list[tuple[int, int]] = []
    categories: list[Callable[[str], bool]] = []
    for kind, what in parts:
        if kind is sre.CATEGORY:
            categories.append(_category(what, int(flags) & re.ASCII))
            continue
        low, high = what if kind is sre.RANGE else (what, what)
        ranges.append((low, high))
        for code in (low - 1, low, (low + high) // 2, high, high + 1) if low < high else (low,):
            if 0 <= code <= 0x10FFFF:
                samples.add(chr(code))
                if flags & re.IGNORECASE and len(chr(code).swapcase()) == 1:
                    samples.add(chr(code).swapcase())

    def has(character: str) -> bool:
        code = ord(character)
        return any(low <= code <= high for low, high in ranges) or any(one(character) for one in categories)

    def has_either(character: str) -> bool:
        return any(has(one) for one in {character, character.lower(), character.upper()} if len(one) == 1)

    plain = has_either if flags & re.IGNORECASE else has
    return (lambda character: not plain(character)) if is_negated else plain


# --- The ambiguity of the automaton -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Ambiguity:
    """Finds what makes an automaton ambiguous without bound, and what that costs."""

    automaton: _Automaton
    length: int
    work: _AnalysisBudget
    component: list[int] = field(default_factory=list)

    def find(self) -> tuple[SlowPattern | None, int]:
        """The slowest part, and the steps that the worst text costs."""
        self.component = _components([[target for target, _ in edges] for edges in self.automaton.edges], self.work)
        members: dict[int, list[int]] = {}
        for state, number in enumerate(self.component):
            members.setdefault(number, []).append(state)
        # Those that lead somewhere have higher numbers than where they lead.
        cycles = [members[number] for number in sorted(members, reverse=True) if self._is_cycle(members[number])]
        for states in cycles:
            doubled = self._find_doubled(states)
            if doubled is not None:
                return doubled, 0
        many = self._find_many()
        if many is not None:
            return many, 0
        if not cycles:
            return None, 1
        return self._find_chain(cycles)

    def _is_cycle(self, states: list[int]) -> bool:
        return len(states) > 1 or any(target == states[0] for target, _ in self.automaton.edges[states[0]])

    def _inside(self, state: int) -> Iterator[tuple[int, int]]:
        number = self.component[state]
        return (edge for edge in self.automaton.edges[state] if self.component[edge[0]] == number)

    # Exponential: one text leads from a state back to it in two ways

    def _find_doubled(self, states: list[int]) -> SlowPattern | None:
        around = {state: list(self._inside(state)) for state in states}
        inside = set(states)
        came: dict[tuple[int, int], tuple[tuple[int, int] | None, int]] = {(one, one): (None, 0) for one in states}
        parted: list[tuple[tuple[int, int], int, tuple[int, int]]] = []
        waiting = deque(came)
        while waiting:
            pair = waiting.popleft()
            first, second = pair
            for at, (left, left_mask) in enumerate(around[first]):
                for place, (right, right_mask) in enumerate(around[second]):
                    self.work.spend()
                    mask = left_mask & right_mask
                    if not mask or (first == second and place <= at):
                        continue
                    onward = (left, right)
                    if first == second and left == right:
                        parted.append((pair, mask, onward))
                    elif onward not in came:
                        came[onward] = (pair, mask)
                        waiting.append(onward)
        ends = [(pair, mask, onward) for pair, mask, onward in parted]
        ends += [
            (pair, left_mask & right_mask, (left, right))
            for pair in came
            if pair[0] != pair[1]
            for left, left_mask in around[pair[0]]
            for right, right_mask in around[pair[1]]
            if left == right and left_mask & right_mask
        ]
        for pair, mask, (end, _) in ends:
            masks = [mask]
            where: tuple[int, int] | None = pair
            while where is not None and came[where][0] is not None:
                masks.append(came[where][1])
                where = came[where][0]
            assert where is not None
            back = self._path(end, where[0], inside)
            told = self._tell(0, where[0], where[0], [*reversed(masks), *back])
            if told is not None:
                return told
        return None

    # Without end for all that it matters: counted repetitions that read a text in thousands of ways

    def _find_many(self) -> SlowPattern | None:
        edges = self.automaton.edges
        counts = [0] * len(edges)
        counts[0] = 1
        for state in sorted(range(len(edges)), key=lambda one: -self.component[one]):
            for target, _ in edges[state]:
                if self.component[target] != self.component[state] and target != self.automaton.search:
                    counts[target] += counts[state]
        if sum(counts) <= _MOST_WAYS:
            return None
        # So many ways there are through the pattern; whether one text takes them all is tried, greatest first.
        beam: list[tuple[dict[int, int], list[int]]] = [({0: 1}, [])]
        for _ in range(len(edges)):
            onward: list[tuple[dict[int, int], list[int]]] = []
            for ways, word in beam:
                for at in range(len(self.automaton.atoms)):
                    after: dict[int, int] = {}
                    for state, count in ways.items():
                        self.work.spend(len(edges[state]) // 4 + 1)
                        for target, mask in edges[state]:
                            if mask >> at & 1 and target != self.automaton.search:
                                after[target] = after.get(target, 0) + count
                    if after:
                        onward.append((after, [*word, 1 << at]))
            beam = sorted(onward, key=lambda one: -sum(one[0].values()))[:_BEAM]
            if beam and sum(beam[0][0].values()) > _MOST_WAYS:
                told = self._tell(0, 0, next(iter(beam[0][0])), [])
                return replace(told, pump=self._text(beam[0][1])) if told is not None else None
        return None

    # Polynomial: one text goes round in one loop, round in a later one, and from the one to the other

    def _find_chain(self, cycles: list[list[int]]) -> tuple[SlowPattern | None, int]:
        spans = [max(self.automaton.spans[state] for state in states) for states in cycles]
        reached = [self._reach(states) for states in cycles]
        # The ways in which a text may be read up to and in each cycle, and the pairs of loops that make them many.
        ways = [1] * len(cycles)
        degree = [0] * len(cycles)
        told: list[SlowPattern | None] = [None] * len(cycles)
        worst: tuple[int, int, SlowPattern | None] = (1, 0, None)
        for later, states in enumerate(cycles):
            for earlier in range(later):
                if not reached[earlier] & {states[0]}:
                    continue
                if ways[earlier] > ways[later]:
                    ways[later], degree[later] = ways[earlier], degree[earlier]
            for earlier in range(later):
                if not reached[earlier] & {states[0]}:
                    continue
                count = ways[earlier] * min(spans[earlier], spans[later])
                if count <= ways[later]:
                    continue
                slow = self._find_pair(cycles[earlier], states, reached[earlier], degree[earlier] + 2)
                if slow is not None:
                    ways[later], degree[later], told[later] = count, degree[earlier] + 1, slow
            if ways[later] > worst[0]:
                worst = (ways[later], degree[later], told[later])
        slow = worst[2]
        return slow, worst[0] * self.length

    def _find_pair(self, earlier: list[int], later: list[int], onward: set[int], degree: int) -> SlowPattern | None:
        """Where a text goes round from `first`, from `first` to `second`, and round from `second`."""
        edges = self.automaton.edges
        near, far = set(earlier), set(later)
        reads = [0, 0]
        for at, states in enumerate((earlier, later)):
            for member in states:
                for _, mask in self._inside(member):
                    reads[at] |= mask
        if not reads[0] & reads[1]:
            return None
        between = onward & self._lead(later)
        for second in later:
            for first in earlier:
                begin, end = (first, first, second), (first, second, second)
                came: dict[tuple[int, int, int], tuple[tuple[int, int, int], int]] = {}
                waiting = deque([begin])
                while waiting and end not in came:
                    state = waiting.popleft()
                    one, two, three = state
                    for left, left_mask in edges[one]:
                        if left not in near:
                            continue
                        for middle, middle_mask in edges[two]:
                            if middle not in between or not left_mask & middle_mask:
                                continue
                            for right, right_mask in edges[three]:
                                self.work.spend()
                                mask = left_mask & middle_mask & right_mask
                                if mask and right in far and (left, middle, right) not in came:
                                    came[left, middle, right] = (state, mask)
                                    waiting.append((left, middle, right))
                if end in came:
                    masks: list[int] = []
                    state = end
                    while not masks or state != begin:
                        state, mask = came[state]
                        masks.append(mask)
                    told = self._tell(degree, first, second, masks[::-1])
                    if told is not None:
                        return told
        return None

    def _reach(self, states: list[int]) -> set[int]:
        found = set(states)
        waiting = list(states)
        while waiting:
            for target, _ in self.automaton.edges[waiting.pop()]:
                self.work.spend()
                if target not in found:
                    found.add(target)
                    waiting.append(target)
        return found

    def _lead(self, states: list[int]) -> set[int]:
        """What leads to these states."""
        before: dict[int, list[int]] = {}
        for state, edges in enumerate(self.automaton.edges):
            for target, _ in edges:
                before.setdefault(target, []).append(state)
        found = set(states)
        waiting = list(states)
        while waiting:
            for state in before.get(waiting.pop(), ()):
                self.work.spend()
                if state not in found:
                    found.add(state)
                    waiting.append(state)
        return found

    # The text on which it shows

    def _tell(self, degree: int, first: int, second: int, masks: list[int]) -> SlowPattern | None:
        """The slow part with a text that shows it; None where every text that is read so matches after all."""
        for pump in dict.fromkeys(self._text(masks, at) for at in range(len(self.automaton.atoms))):
            suffix = self._find_end(second, pump)
            if suffix is not None:
                prefix = self._text(self._path(0, first, None))
                return SlowPattern(degree, self._part(first, second), prefix, pump, suffix)
        return None

    def _find_end(self, state: int, pump: str) -> str | None:
        """What behind the pumped text keeps it from matching, or None."""
        states = {state}
        for character in pump * 2:
            if self._accepts(states) & _ALWAYS:
                return None
            states = self._after(states, character)
        atoms = sorted(self.automaton.atoms, key=lambda one: (one != "!", one.isalnum(), not one.isprintable()))
        waiting: deque[tuple[frozenset[int], str]] = deque([(frozenset(states), "")])
        seen = set()
        while waiting:
            here, text = waiting.popleft()
            accepts = self._accepts(here)
            if accepts & _ALWAYS:
                continue
            if not here or not accepts & _AT_END:
                return text
            if len(text) < 3 and here not in seen:
                seen.add(here)
                for one in atoms:
                    # The end may stand before one last line break, not before two.
                    behind = one * 2 if one == "\n" and accepts & _AT_END else one
                    left: set[int] = set(here)
                    for character in behind:
                        left = self._after(left, character)
                    waiting.append((frozenset(left), text + behind))
        return None

    def _accepts(self, states: Iterable[int]) -> int:
        how = 0
        for state in states:
            how |= self.automaton.accepts[state]
        return how

    def _after(self, states: Iterable[int], character: str) -> set[int]:
        bit = 1 << self.automaton.atoms.index(character)
        self.work.spend()
        return {target for state in states for target, mask in self.automaton.edges[state] if mask & bit}

    def _path(self, begin: int, end: int, inside: set[int] | None) -> list[int]:
        """The masks of what is read on a shortest way from the one state to the other."""
        came: dict[int, tuple[int, int]] = {}
        waiting = deque([begin])
        while waiting and begin != end and end not in came:
            state = waiting.popleft()
            for target, mask in self.automaton.edges[state]:
                self.work.spend()
                if target not in came and target != begin and (inside is None or target in inside):
                    came[target] = (state, mask)
                    waiting.append(target)
        masks: list[int] = []
        state = end
        while state != begin:
            state, mask = came[state]
            masks.append(mask)
        return masks[::-1]

    def _text(self, masks: Iterable[int], wanted: int = 0) -> str:
        """A text of these masks, with the wanted atom where a mask has it."""
        places = (wanted if mask >> wanted & 1 else (mask & -mask).bit_length() - 1 for mask in masks)
        return "".join(self.automaton.atoms[place] for place in places)

    def _part(self, first: int, second: int) -> str:
        parts = [self._loop(state) for state in dict.fromkeys((first, second)) if state != self.automaton.search]
        return " and ".join(f"`{part}`" for part in dict.fromkeys(parts))

    def _loop(self, state: int) -> str:
        """The outermost repetition around a state that its cycle goes through."""
        loops = self.automaton.loops[state]
        text = _write([loops[0].item]) if loops else "the pattern"
        return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _components(edges: Sequence[Sequence[int]], work: _AnalysisBudget) -> list[int]:
    """The number of the strongly connected component of each state (Tarjan); what it leads to has a lower one."""
    component = [-1] * len(edges)
    order = [-1] * len(edges)
    low = [0] * len(edges)
    stack: list[int] = []
    count = made = 0
    for root in range(len(edges)):
        if order[root] >= 0:
            continue
        walk: list[tuple[int, int]] = [(root, 0)]
        while walk:
            state, at = walk.pop()
            work.spend()
            if at == 0:
                order[state] = low[state] = count
                count += 1
                stack.append(state)
            elif component[edges[state][at - 1]] < 0:
                low[state] = min(low[state], low[edges[state][at - 1]])
            for place in range(at, len(edges[state])):
                target = edges[state][place]
                if order[target] < 0:
                    walk += [(state, place + 1), (target, 0)]
                    break
                if component[target] < 0:
                    low[state] = min(low[state], order[target])
            else:
                if low[state] == order[state]:
                    while component[state] < 0:
                        component[stack.pop()] = made
                    made += 1
    return component


# --- A part of the tree as text ---------------------------------------------------------------------------------------


_SIGNS: Final = {
    "DIGIT": r"\d", "NOT_DIGIT": r"\D", "SPACE": r"\s", "NOT_SPACE": r"\S", "WORD": r"\w", "NOT_WORD": r"\W",
}  # fmt: skip
_PLACES: Final = {
    "AT_BEGINNING": "^", "AT_BEGINNING_STRING": r"\A", "AT_BOUNDARY": r"\b", "AT_NON_BOUNDARY": r"\B", "AT_END": "$",
    "AT_END_STRING": r"\Z",
}  # fmt: skip


def _write(items: Any) -> str:
    """The tree as a pattern that means the same; names of groups are lost."""
    return "".join(_write_item(*item) for item in items)


def _write_item(operator: Any, value: Any) -> str:
    match str(operator):
        case "LITERAL":
            return re.escape(chr(value)) if not chr(value).isspace() or value == 32 else repr(chr(value))[1:-1]
        case "NOT_LITERAL":
            return f"[^{re.escape(chr(value))}]"
        case "ANY":
            return "."
        case "IN":
            text = "".join(map(_write_member, value))
            return text if len(value) == 1 and value[0][0] is sre.CATEGORY else f"[{text}]"
        case "BRANCH":
            return f"(?:{'|'.join(map(_write, value[1]))})"
        case "SUBPATTERN":
            inner = value[3]
            text = _write(inner)
            has_branch = len(inner) == 1 and inner[0][0] is sre.BRANCH
            return f"({text[3:-1] if has_branch else text})" if value[0] is not None else f"(?:{text})"
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT" as name:
            least, most, inner = value
            ends = {(0, sre.MAXREPEAT): "*", (1, sre.MAXREPEAT): "+", (0, 1): "?"}
            count = "" if most is sre.MAXREPEAT else most
            text = ends.get((least, most), f"{{{least}}}" if least == most else f"{{{least or ''},{count}}}")
            body = _write(inner)
            if len(inner) != 1 or str(inner[0][0]).endswith("REPEAT"):
                body = f"(?:{body})"
            return body + text + {"MIN_REPEAT": "?", "POSSESSIVE_REPEAT": "+"}.get(name, "")
        case "AT":
            return _PLACES.get(str(value), "")
        case "ASSERT" | "ASSERT_NOT" as name:
            return f"(?{'' if value[0] > 0 else '<'}{'=' if name == 'ASSERT' else '!'}{_write(value[1])})"
        case "GROUPREF":
            return f"\\{value}"
        case "ATOMIC_GROUP":
            return f"(?>{_write(value)})"
    return "…"


def _write_member(part: Any) -> str:
    kind, value = part
    if kind is sre.NEGATE:
        return "^"
    if kind is sre.RANGE:
        return f"{_write_sign(value[0])}-{_write_sign(value[1])}"
    return _SIGNS[str(value).removeprefix("CATEGORY_")] if kind is sre.CATEGORY else _write_sign(value)


def _write_sign(code: int) -> str:
    sign = chr(code)
    return f"\\{sign}" if sign in "\\]^-" else sign if sign.isprintable() else repr(sign)[1:-1]
