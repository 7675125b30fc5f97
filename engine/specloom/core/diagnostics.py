"""A diagnostic is about a spec: what is wrong, where, and what to try. All of them are collected and shown at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


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
        found = {
            "code": self.code,
            "severity": "error" if self.is_error else "warning",
            **place,
            "message": self.message,
        }
        return {**found, "hint": self.hint} if self.hint else found


CODES: Mapping[str, str] = MappingProxyType(
    {
        "E001": "The file is not valid YAML.",
        "E002": "A key stands twice in one mapping; YAML would silently keep one of them.",
        "E003": "Anchors and aliases are not part of the language: every spec is read as it stands.",
        "E004": "Tags are not part of the language: a value is text, a number, true, false or null.",
        "E005": "A key is not plain text.",
        "E006": "The file is not UTF-8 text.",
        "E007": "The file holds nothing, or something other than one mapping.",
        "E008": "The file is larger or more deeply nested than any spec needs.",
        "E009": "The file's stem and its `name` differ; a file is one thing and its stem is its name.",
        "E010": "The first key must be `spec`, with a kind this version knows.",
        "E011": "Two files of one layer define the same thing.",
        "E101": "A key that the language does not have.",
        "E102": "A key that must be there is missing.",
        "E103": "A value of the wrong kind (text where a mapping belongs, and the like).",
        "E104": "A value that is outside of what is allowed.",
        "E105": "Keys that exclude each other, or none of several of which one is needed.",
        "E110": (
            "A name that nothing defines: a capability, an operation, a step, a hook, a lens, a table or a setting."
        ),
        "E111": "Something is used before it exists, such as a later step.",
        "E120": "An operation takes an argument that its capability does not have.",
        "E121": "A row field that the capability does not have.",
        "E122": "A required row field of the capability that an operation does not map.",
        "E123": "A table does not cover the values that its key can have.",
        "E124": "A routing order names a provider that is not there or does not offer the capability, or one twice.",
        "E125": "A collection lacks something on which the code that keeps things in it relies.",
        "E131": "The cache ignores an input that changes the answer.",
        "E132": "The cache ignores an input that does not exist.",
        "E133": "The answer of a tool that tells what is kept of its caller would be kept for others too.",
        "E201": "An expression or a selector that does not parse.",
        "E202": "A name that does not exist where it is used.",
        "E203": "A function that does not exist.",
        "E204": "A function called with the wrong number or kind of arguments.",
        "E205": "`!a.b` means `(!a).b`, which is always null.",
        "E206": "A whole context where a named value is needed; it would hide what is used.",
        "E207": "A secret inside an expression; a secret may only be sent as it is.",
        "E208": "A table that does not exist, or whose name is not written out.",
        "E209": "A converter that does not exist.",
        "E210": "A converter with the wrong parameters.",
        "E211": "A path with a placeholder that cannot be filled.",
        "E401": "An example does not do what it says.",
        "E402": "An example that cannot be run: it names something that does not exist.",
        "E403": "An operation or a tool without an example.",
        "E404": "The answer of an example does not fit the output schema that the tool publishes.",
        "W001": "A file or a folder that looks like a spec, or like specs, and is not read, or not where it lies.",
        "W201": "A text that stands for itself and reads like an expression: the `=` before it may be missing.",
        "W202": "A text that looks like a secret; a secret comes from the environment and stands in no file.",
        "W301": "A mapped field that no example shows.",
        "W302": "A request value that no example shows.",
        "W303": "An error rule that no example triggers.",
        "W304": "A strategy or a stage that no example reaches.",
        "W305": "A required field without an example in which it is missing.",
        "W306": "A catalogue that costs more tokens than its budget.",
        "W307": "A declared argument or setting that nothing uses.",
        "W308": "A collection in which nothing is kept.",
    }
)
"""Every code with what it means. Codes are stable.

E0 and W0 are the file, E1 its shape, E2 and W2 names and expressions, E4 examples, W3 coverage.
"""


@dataclass(slots=True)
class Report:
    """All diagnostics of one run, in the order they were found."""

    found: list[Diagnostic] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)
    """Names of specs that have problems of their own, so that who names one of them is not blamed for it."""
    checked: bool = False
    """These specs passed before, so a check that loads a library is left to the first use of what it checks."""

    def add(self, code: str, place: Place, message: str, hint: str = "") -> None:
        """Note one more problem; the code must be a documented one."""
        if code not in CODES:
            raise ValueError(f"undocumented diagnostic code {code}")
        diagnostic = Diagnostic(code, place, message, hint)
        if diagnostic not in self.found:
            self.found.append(diagnostic)

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


def count_errors(report: Report) -> str:
    """How many errors there are, in words."""
    count = len(report.errors)
    return f"{count} error{'s' if count != 1 else ''} in the specs"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suggestion for a mistyped word, or the list of what is known when that is short, or nothing."""
    names = sorted(set(known))
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f'did you mean "{close[0]}"?'
    return f"known: {', '.join(names)}" if 0 < len(names) <= 16 else ""


def render(diagnostic: Diagnostic, sources: Mapping[str, str], *, colour: bool = False) -> str:
    """The diagnostic as a person reads it: the sentence, the place, the line with a caret, and the hint."""
    severity = "error" if diagnostic.is_error else "warning"
    red, bold, blue, plain = ("\033[31m", "\033[1m", "\033[34m", "\033[0m") if colour else ("", "", "", "")
    tint = red if diagnostic.is_error else "\033[33m" if colour else ""
    place = diagnostic.place
    lines = [
        f"{tint}{severity}[{diagnostic.code}]{plain}{bold}: {diagnostic.message}{plain}",
        f"  {blue}-->{plain} {place}",
    ]
    text = sources.get(place.file, "").splitlines()
    if 0 < place.line <= len(text):
        # A file that is not text, or that means harm, may hold signs that a terminal obeys.
        shown = "".join(one if one.isprintable() else " " if one == "\t" else "·" for one in text[place.line - 1])
        number = str(place.line)
        pad = " " * len(number)
        width = max(1, min(place.width, len(shown) - place.column + 1))
        start, stop = _window(len(shown), place.column - 1)
        caret = " " * (place.column - 1 - start) + tint + "^" * min(width, stop - place.column + 1) + plain
        lines += [
            f"{pad} {blue}|{plain}",
            f"{number} {blue}|{plain} {shown[start:stop]}",
            f"{pad} {blue}|{plain} {caret}",
        ]
    if diagnostic.hint:
        lines.append(f"   = {diagnostic.hint}")
    return "\n".join(lines)


def _window(length: int, at: int, width: int = 110) -> tuple[int, int]:
    if length <= width:
        return 0, max(length, at + 1)
    start = max(0, min(at - width // 2, length - width))
    return start, start + width
