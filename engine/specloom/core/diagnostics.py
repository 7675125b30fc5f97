"""A diagnostic is about a spec: what is wrong, where, and what to try. All of them are collected and shown at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from .dataclasses import dataclass, field
from .tables import LateTable


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A spot in a file: line and column count from 1; `width` is how many characters the caret underlines."""

    file: str
    line: int = 1
    column: int = 1
    width: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong with a spec, where it is, and what to try."""

    code: str
    place: Place
    message: str
    hint: str = ""

    @property
    def is_error(self) -> bool:
        """Errors stop a build; warnings (W…) do not."""
        return self.code.startswith("E")

    def to_json(self) -> dict[str, object]:
        """The diagnostic as an editor or a build wants it."""
        place = {"file": self.place.file, "line": self.place.line, "column": self.place.column}
        head = {"code": self.code, "severity": "error" if self.is_error else "warning"}
        return {**head, **place, "message": self.message} | ({"hint": self.hint} if self.hint else {})


CODES: Mapping[str, str] = LateTable(__file__, "diagnostics.yaml")
"""Every code with what it means; codes are stable."""


LONGEST_MESSAGE = 1_000
"""Characters of a message that are kept; a spec may hold a name of a megabyte."""


class TooManyProblemsError(Exception):
    """A report has as many problems as it takes; what is left to look at is passed over."""


@dataclass(slots=True)
class Report:
    """All diagnostics of one run, in the order they were found."""

    found: list[Diagnostic] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)
    """Names of specs that have problems of their own, so that who names one of them is not blamed for it."""
    most: int = 0
    """How many problems it takes before `add` raises TooManyProblemsError; 0 for any number."""
    _seen: set[Diagnostic] = field(default_factory=set)

    def add(self, code: str, place: Place, message: str, hint: str = "") -> None:
        """Note one more problem; the code must be a documented one."""
        if code not in CODES:
            raise ValueError(f"undocumented diagnostic code {code}")
        if len(message) > LONGEST_MESSAGE:
            message = f"{message[: LONGEST_MESSAGE // 2]} … {message[-LONGEST_MESSAGE // 2 :]}"
        diagnostic = Diagnostic(code, place, message, hint)
        if diagnostic in self._seen:
            return
        if self.most and len(self.found) >= self.most:
            raise TooManyProblemsError
        self._seen.add(diagnostic)
        self.found.append(diagnostic)

    def apart(self) -> Report:
        """A report for one spec alone, which knows what was left out; see `take`."""
        return Report(left_out=self.left_out, most=self.most)

    def take(self, other: Report | Iterable[Diagnostic]) -> None:
        """Note what is in another report as well."""
        for one in other.found if isinstance(other, Report) else other:
            self.add(one.code, one.place, one.message, one.hint)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(sorted(self.found, key=lambda one: (one.place.file, one.place.line, one.place.column, one.code)))

    @property
    def errors(self) -> list[Diagnostic]:
        """Only what stops a build."""
        return [one for one in self if one.is_error]

    @property
    def warnings(self) -> list[Diagnostic]:
        """What does not stop a build."""
        return [one for one in self if not one.is_error]


def count_errors(errors: Sequence[Diagnostic]) -> str:
    """How many errors there are, in words."""
    count = len(errors)
    return f"{count} error{'s' if count != 1 else ''} in the specs"


def find_nearest(word: str, known: Iterable[str]) -> str:
    """The name that a mistyped word most likely stands for, whatever its case; "" where none is near."""
    import difflib

    names = {name.casefold(): name for name in sorted(known, reverse=True)}
    close = difflib.get_close_matches(word.casefold(), sorted(names), n=1, cutoff=0.6)
    return names[close[0]] if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suggestion for a mistyped word, or the list of what is known when that is short, or nothing."""
    names = sorted(set(known))
    if near := find_nearest(word, names):
        return f'did you mean "{near}"?'
    return f"known: {', '.join(names)}" if 0 < len(names) <= 16 else ""


def render(diagnostic: Diagnostic, sources: Mapping[str, str], *, colour: bool = False) -> str:
    """The diagnostic as a person reads it: the sentence, the place, the line with a caret, and the hint."""
    from .text import escape  # what it compiles is for no start

    severity = "error" if diagnostic.is_error else "warning"
    red, bold, blue, plain = ("\033[31m", "\033[1m", "\033[34m", "\033[0m") if colour else ("", "", "", "")
    tint = red if diagnostic.is_error else "\033[33m" if colour else ""
    place = diagnostic.place
    # A message may quote a file, and a name of a file is anybody's.
    lines = [
        f"{tint}{severity}[{diagnostic.code}]{plain}{bold}: {escape(diagnostic.message)}{plain}",
        f"  {blue}-->{plain} {escape(str(place))}",
    ]
    text = _split_lines(sources.get(place.file, ""))
    if 0 < place.line <= len(text):
        line = text[place.line - 1]
        number = str(place.line)
        pad = " " * len(number)
        width = max(1, min(place.width, len(line) - place.column + 1))
        start, stop = _window(len(line), place.column - 1)
        # A file that is not text, or that means harm, may hold signs that a terminal obeys.
        shown = "".join(one if one.isprintable() else " " if one == "\t" else "·" for one in line[start:stop])
        caret = " " * (place.column - 1 - start) + tint + "^" * min(width, stop - place.column + 1) + plain
        lines += [
            f"{pad} {blue}|{plain}",
            f"{number} {blue}|{plain} {shown}",
            f"{pad} {blue}|{plain} {caret}",
        ]
    if diagnostic.hint:
        lines.append(f"   = {escape(diagnostic.hint)}")
    return "\n".join(lines)


@lru_cache(maxsize=2)
def _split_lines(text: str) -> list[str]:
    return text.splitlines()


def _window(length: int, at: int, width: int = 110) -> tuple[int, int]:
    if length <= width:
        return 0, max(length, at + 1)
    start = max(0, min(at - width // 2, length - width))
    return start, start + width
