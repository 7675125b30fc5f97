"""Adversarial texts for a regular expression, made from its own parse tree, and the time that the worst of them take.

Run as a program it reads patterns from standard input, a JSON line each, and prints a JSON line for each. A process
that looks for longer than is allowed is ended by its own timer of CPU time, for a pattern in the middle of its
work hears nothing; what it was at is in the file that the first argument names.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from pathlib import Path
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple
from uuid import uuid4

from .pattern_finder import ROOT, Expression

# What a text is tried at: the first tells the exponential, the second picks the worst, the others are the measure.
SHORT, MIDDLE, LONG, LONGEST = 200, 2_000, 20_000, 100_000
BOUNDS = {SHORT: 0.5, MIDDLE: 0.5, LONG: 0.5, LONGEST: 2.5}
# What takes so long is tried at the next length at once: there it takes a hundred times as long, or ten times.
SUSPECT = {SHORT: 0.02, MIDDLE: 0.02, LONG: 0.3}
_UNITS = (
    *(
        " ",
        "\n",
        " \n",
        "\t",
        "\r\n",
        "a",
        "a ",
        "A",
        "Aa ",
        "1",
        "1 ",
        ".",
        ". ",
        ",",
        ", ",
        "[",
        "(",
        "<",
        "{",
        '"',
        "'",
    ),
    *("&", "é", "-", "/", "\\", "_", "=", "*", "#", "`", "|", ":", ";", "]", ")", ">", "}", "a.", "1.", "1,", "\x00"),
)
_ALPHABET = " \na1A.-,:/_=\"'()[]{}<>é\\|#*&%@!?+~`^$;\t\u3042\u00a0"
_REPEATS = (_parser.MAX_REPEAT, _parser.MIN_REPEAT, _parser.POSSESSIVE_REPEAT)
_MOST_PUMPED = 60
_MOST_TEXTS = 250


class Try(NamedTuple):
    """One text, `prefix + unit * n + suffix`, and the way in which the pattern is asked."""

    way: str
    prefix: str
    unit: str
    suffix: str

    def to_text(self, length: int) -> str:
        """The text, of about so many characters."""
        return self.prefix + self.unit * max(1, length // len(self.unit)) + self.suffix


class Verdict(NamedTuple):
    """The most time that a pattern took at `length` characters, in seconds of CPU; None when it was stopped."""

    expression: Expression
    length: int
    seconds: float | None
    text: str

    def __str__(self) -> str:
        took = "was stopped" if self.seconds is None else f"took {self.seconds:.2f} s"
        file, line, pattern, *_ = self.expression
        return f"{file}:{line} {took} at {self.length:,} characters ({self.text}): {pattern[:300]!r}"


class _Tree:
    """What can be made of a pattern: texts that it matches in part."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.root = _parser.parse(pattern, flags & ~re.TEMPLATE)
        self.flags = flags
        self.binary = isinstance(pattern, bytes)
        self.groups: dict[int, Any] = {}
        self.known: dict[str, str] = {}
        self.literals = "".join(dict.fromkeys(self._find_literals(self.root)))[:200]

    def _find_literals(self, sequence: Any) -> Iterator[str]:
        for operator, value in sequence:
            if operator in (_parser.LITERAL, _parser.NOT_LITERAL):
                yield chr(value)
            elif operator is _parser.RANGE:
                yield chr(value[0])
                yield chr(value[1])
            elif isinstance(value, (tuple, list, _parser.SubPattern)):
                yield from self._find_literals([(None, part) if not _is_node(part) else part for part in value])

    def characters(self, node: Any) -> str:
        """Some characters that one node (a class, a literal, a full stop) matches."""
        key = repr(node)
        if key not in self.known:
            part = _parser.SubPattern(self.root.state, [node])
            expression = _compiler.compile(part, self.flags & ~re.DEBUG)
            alphabet = dict.fromkeys(_ALPHABET + self.literals)
            self.known[key] = "".join(
                sign
                for sign in alphabet
                if expression.fullmatch(sign.encode("latin-1", "replace") if self.binary else sign)
            )
        return self.known[key]

    def sample(self, sequence: Any, choice: int) -> str:
        """A text that a sequence matches, another for each choice; what is only looked at is left out."""
        text = ""
        for operator, value in sequence:
            if operator in (_parser.LITERAL, _parser.NOT_LITERAL, _parser.IN, _parser.ANY):
                signs = self.characters((operator, value)) or "a"
                text += signs[choice % len(signs)]
            elif operator in _REPEATS:
                lowest, _, part = value
                text += self.sample(part, choice) * max(lowest, choice % 2)
            elif operator is _parser.BRANCH:
                text += self.sample(value[1][choice % len(value[1])], choice)
            elif operator is _parser.SUBPATTERN:
                if value[0]:
                    self.groups[value[0]] = value[3]
                text += self.sample(value[3], choice)
            elif operator is _parser.ATOMIC_GROUP:
                text += self.sample(value, choice)
            elif operator is _parser.GROUPREF and value in self.groups:
                text += self.sample(self.groups[value], choice)
            if len(text) > 2_000:
                break
        return text

    def texts(self) -> Iterator[tuple[str, str, str]]:
        """Prefix, unit and suffix of texts that make the pattern work much and fail late."""
        for choice in range(3):
            yield from islice(self._pump(self.root, "", choice), _MOST_PUMPED)
        signs = "".join(dict.fromkeys(self.literals[:4] + "".join(value[:1] for value in self.known.values())))[:6]
        for unit in (*_UNITS, *signs, *("".join(pair) for pair in product(signs, repeat=2))):
            yield "a", unit, "\x00"

    def _pump(self, sequence: Any, before: str, choice: int) -> Iterator[tuple[str, str, str]]:
        for index, (operator, value) in enumerate(sequence):
            prefix = before + self.sample(sequence[:index], choice)
            if len(prefix) > 1_000:
                return
            # The beginning of a match again and again: each is a place to begin at.
            yield "", before + self.sample(sequence[: index + 1], choice), "\x00"
            if operator in _REPEATS:
                bodies = [self.sample(value[2], choice + other) for other in range(3)]
                after = [
                    self.sample(following[2], choice)
                    for name, following in sequence[index + 1 : index + 4]
                    if name in _REPEATS
                ]
                for body in dict.fromkeys(bodies):
                    for suffix in ("", "\x00", "\n!"):
                        yield prefix, body, suffix
                    yield "", prefix + body, "\x00"
                    for other in after:
                        yield prefix, body + other, "\x00"
                        yield prefix, body, other * 50 + "\x00"
                yield from self._pump(value[2], prefix, choice)
            elif operator is _parser.SUBPATTERN:
                yield from self._pump(value[3], prefix, choice)
            elif operator is _parser.ATOMIC_GROUP:
                yield from self._pump(value, prefix, choice)
            elif operator is _parser.BRANCH:
                for branch in value[1]:
                    yield from self._pump(branch, prefix, choice)
            elif operator in (_parser.ASSERT, _parser.ASSERT_NOT) and value[0] > 0:
                yield from self._pump(value[1], prefix, choice)


def _is_node(part: object) -> bool:
    return isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], type(_parser.LITERAL))


def attack(
    pattern: str | bytes, flags: int, ways: Sequence[str], most_read: int, note: Callable[[Try, int], None]
) -> list[tuple[int, float, str]]:
    """The longest time at each length and the text that took it; `note` is told of each try before it.

    `most_read` are the characters that the pattern is ever given.
    """
    expression = re.compile(pattern, flags & ~re.DEBUG)
    texts = dict.fromkeys((p, u[:200], s) for p, u, s in _Tree(pattern, flags).texts() if u)
    tries = [Try(way, *text) for text in islice(texts, _MOST_TEXTS) for way in ways]
    taken: list[tuple[int, float, str]] = []
    for length, most in ((SHORT, len(tries)), (MIDDLE, 5), (LONG, 2), (LONGEST, 0)):
        times = []
        for attempt in tries:
            text = attempt.to_text(min(length, most_read))
            subject = text.encode("latin-1", "replace") if isinstance(pattern, bytes) else text
            note(attempt, length)
            signal.setitimer(signal.ITIMER_PROF, 2 * BOUNDS[length])
            began = time.process_time()
            _ask(expression, attempt.way, subject)
            times.append((time.process_time() - began, attempt))
            signal.setitimer(signal.ITIMER_PROF, 0)
            if most and times[-1][0] > SUSPECT[length]:
                break
        times.sort(key=lambda pair: -pair[0])
        if times:
            taken.append((length, times[0][0], describe(times[0][1])))
            if times[0][0] > BOUNDS[length]:
                break
        if length != SHORT:
            tries = [attempt for _, attempt in times[:most]]
        elif times[0][0] > SUSPECT[SHORT]:
            tries = [times[0][1]]
    signal.setitimer(signal.ITIMER_PROF, 0)
    return taken


def _ask(expression: re.Pattern[Any], way: str, subject: Any) -> None:
    if way == "finditer":
        for _ in expression.finditer(subject):
            pass
    else:
        getattr(expression, way)(subject)


def describe(attempt: Try) -> str:
    """A try in a few words: how it was asked, and the text."""
    return f"{attempt.way} of {attempt.prefix[:60]!r} + {attempt.unit[:60]!r} * n + {attempt.suffix[:20]!r}"


def judge(expressions: Sequence[tuple[Expression, int]], folder: Path) -> list[Verdict]:
    """What each pattern takes at most, with the characters that it is given at most.

    They are tried in a process that may be ended; `folder` is for its notes.
    """
    verdicts: list[Verdict] = []
    left = list(expressions)
    place = folder / f"{uuid4()}.json"
    while left:
        with tempfile.TemporaryFile() as lines:
            lines.write("".join(json.dumps(expression) + "\n" for expression in left).encode())
            lines.seek(0)
            run = subprocess.run(
                [sys.executable, "-W", "ignore", "-m", "tests.support.pattern_attack", str(place)],
                cwd=ROOT,
                stdin=lines,
                stdout=subprocess.PIPE,
                check=False,
            )
        rows = [json.loads(line) for line in run.stdout.decode().splitlines()]
        for (expression, _), taken in zip(left, rows, strict=False):
            length, seconds, text = max(taken, key=lambda row: row[1] / BOUNDS[row[0]])
            verdicts.append(Verdict(expression, length, seconds, text))
        left = left[len(rows) :]
        if left:
            assert run.returncode == -signal.SIGPROF, f"the attack ended by {run.returncode} at {left[0]}"
            length, text = json.loads(place.read_text(encoding="utf-8"))
            verdicts.append(Verdict(left.pop(0)[0], length, None, text))
    return verdicts


def main() -> None:
    with Path(sys.argv[1]).open("w", encoding="utf-8") as place:

        def note(attempt: Try, length: int) -> None:
            place.seek(0)
            place.truncate()
            json.dump((length, describe(attempt)), place)
            place.flush()

        for line in sys.stdin:
            (*_, pattern, flags, binary, ways), most_read = json.loads(line)
            subject = pattern.encode("latin-1") if binary else pattern
            ways = sorted({way if way in ("match", "fullmatch", "search") else "finditer" for way in ways})
            print(json.dumps(attack(subject, flags, ways or ["finditer", "fullmatch"], most_read, note)), flush=True)


if __name__ == "__main__":
    main()
