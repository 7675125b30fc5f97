"""Front matter: YAML between two lines of dashes and a text below, as files of prompts and views have."""

from __future__ import annotations

import re
from typing import NamedTuple

from specloom.core import Place, Report

from .grammar import STEM
from .yaml import SourceText, parse_source

_FRAME = re.compile(rb"---\n(.*?)\n?---\n(.*)", re.DOTALL)


class FrontMatter(NamedTuple):
    """A file in its two parts; `first` is the line of the file where its text begins."""

    head: bytes
    text: bytes
    first: int
    whole: bytes

    def parse(self, shown: str, report: Report) -> SourceText:
        """The YAML of the head, whose lines count as in the file."""
        # An empty line stands for that of the dashes.
        return parse_source(shown, b"\n" + self.head, report)

    def decode(self, shown: str, report: Report) -> str | None:
        """The text, or None where it is not UTF-8, with the sentence that any file of specs gets."""
        try:
            return self.text.decode()
        except UnicodeDecodeError:
            parse_source(shown, self.whole, report)
            return None


def read_front_matter(kind: str, name: str, shown: str, data: bytes, report: Report) -> FrontMatter | None:
    """The parts of a file of this kind, or None where it has no front matter; a name that cannot be is reported too."""
    plain = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    if not re.fullmatch(STEM, name):
        hint = "lower case, digits, hyphens and underscores, starting with a letter"
        report.add("E104", Place(shown), f"a {kind} cannot be called {name!r}", hint)
    frame = _FRAME.fullmatch(plain)
    if frame is None:
        return None
    return FrontMatter(frame[1], frame[2], plain[: frame.start(2)].count(b"\n") + 1, plain)
