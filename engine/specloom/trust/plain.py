"""What Markdown says, without its marks: for whoever weighs or quotes its words. Lines stay lines.

Addresses, of links and pictures or written out, are no words of a page: a headline in an address says nothing about
the page that links it.
"""

from __future__ import annotations

import re
from typing import Final

_TEXT: Final = r"((?:[^\[\]\\\n]|\n(?!\n)|\\.|\[[^\[\]\n]{0,200}\]){0,1000})"
_TARGET: Final = r"(?:<[^<>\n]{0,2000}>|[^()\s]{0,2000}(?:\([^()\s]{0,2000}\)[^()\s]{0,2000}){0,20})"
_LINK: Final = re.compile(rf"!?\[{_TEXT}\]\({_TARGET}\)")
_ADDRESS: Final = re.compile(r"<https?://[^<>\s]{1,2000}>|https?://[!-;=?-_a-{}~]{1,2000}(?<![.,;:!?)\]'\"*])")
# Stars of the page itself that would read as emphasis are escaped, so what is left at the edge of a word is a mark.
_EMPHASIS: Final = re.compile(r"(?<![\w\\*])\*{1,3}(?=[^\s*])|(?<=[^\s*\\])\*{1,3}(?![\w*])")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_LEADING: Final = re.compile(r"^[ \t]{0,40}(?:(?:>|[-*+]|\d{1,9}[.)]|#{1,6})(?:[ \t]+|$)){1,20}", re.MULTILINE)
_ALONE: Final = re.compile(
    r"^[ \t]{0,40}(?:(?:`{3,}|~{3,})[^\n]{0,100}|\|(?:[ ]?:?-{3,}:?[ ]?\|)+|(?:-{3,}|\*{3,}))[ \t]*$", re.MULTILINE
)
_ROW: Final = re.compile(r"^\| ?| ?\|$", re.MULTILINE)


def to_plain(markdown: str) -> str:
    """The words of a Markdown text: the texts of its links and pictures, and what its marks enclose."""
    text = _ALONE.sub("", markdown)
    if "](" in text:
        # Twice, because a picture may stand in a link.
        text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))
    text = _ADDRESS.sub("", text) if "://" in text else text
    text = _LEADING.sub("", text)
    text = _ROW.sub("", text)
    text = _EMPHASIS.sub("", text) if "*" in text else text
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text
