"""One text of the TeX files of a paper: its main file, with the files that it takes in put where it takes them in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from .unpacking import MOST_TEXT, BundleError

DEEPEST: Final = 10
"""Files within one another; what is deeper stays a command."""

_COMMENT: Final = r"\\\\|\\%|%[^\n]*"
_BEGINS: Final = re.compile(rf"{_COMMENT}|(?P<begins>\\document(?:class|style)\b)")
_BODY: Final = re.compile(rf"{_COMMENT}|(?P<begins>\\begin\s*\{{document\}})")
_TAKES: Final = re.compile(
    rf"{_COMMENT}|\\(?:input|include|subfile)\s*\{{(?P<braced>[^{{}}\n]{{1,200}})\}}"
    r"|\\input[ \t]+(?P<bare>[^\s{}%\\]{1,200})"
)
_COMMAND: Final = re.compile(r"\\(?:documentclass|documentstyle|magnification|begin|input|title|def|bye|end)\b")
_USUAL: Final = ("main", "ms", "paper", "article", "manuscript")


def assemble(texts: Mapping[str, str]) -> tuple[str, str]:
    """The name of the main file and the whole text; BundleError where no file is TeX.

    A file that is not in the bundle, or that takes itself in, stays the command that names it. The whole is as long as
    all texts of a bundle may be; what would make it longer stays a command as well.
    """
    main = find_main(texts)
    if not main:
        raise BundleError("no file of the bundle is TeX that could be read on its own")
    return main, _expand(texts, (main,), [MOST_TEXT])


def find_main(texts: Mapping[str, str]) -> str:
    """The file that begins a document, or in plain TeX the longest; empty where none has a command of TeX."""
    written = {name: text for name, text in texts.items() if _COMMAND.search(text) and not text.startswith("%!")}
    begins = {name for name, text in written.items() if _has(_BEGINS, text)}

    def rank(name: str) -> tuple[bool, bool, bool, int, int]:
        path = PurePosixPath(name)
        return (
            name in begins,
            _has(_BODY, written[name]),
            path.stem.lower() in _USUAL,
            -len(path.parts),
            len(written[name]),
        )

    return max(written, key=rank, default="")


def _has(pattern: re.Pattern[str], text: str) -> bool:
    return any(found["begins"] for found in pattern.finditer(text))


def _expand(texts: Mapping[str, str], within: tuple[str, ...], left: list[int]) -> str:
    """The text of the last file of `within`, and of those that it takes in; `left` is what the whole may still grow."""
    left[0] -= len(texts[within[-1]])

    def take(found: re.Match[str]) -> str:
        named = found["braced"] or found["bare"]
        name = _find(texts, within[0], named.strip()) if named else ""
        if not name or name in within or len(within) > DEEPEST or len(texts[name]) > left[0]:
            return found[0]
        return _expand(texts, (*within, name), left)

    return _TAKES.sub(take, texts[within[-1]])


def _find(texts: Mapping[str, str], main: str, named: str) -> str:
    """The file of the bundle that a command names, from the folder of the main file; its ending may be left out."""
    path = PurePosixPath(main).parent / named
    return next((name for name in (str(path), f"{path}.tex") if name in texts), "")
