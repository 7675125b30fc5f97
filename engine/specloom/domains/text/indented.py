"""Where a Markdown text has indented code: https://spec.commonmark.org/0.31.2/#indented-code-blocks."""

from __future__ import annotations

import re
from typing import Final

# In doubt a line is none: what is taken for code is shown with all that stands in it.


_CODE: Final = 4
"""Columns by which code stands deeper than the text around it."""
_DEEPEST: Final = 20
"""Lists that begin within each other on one line."""
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)[ \t]*")
# What dialects have whose further paragraphs are indented: footnotes, definitions, boxes, tabs.
_HOLDER: Final = re.compile(r"\[\^[^\]\n]{1,100}\]:|:[ \t]|!!!|\?\?\?|===[ \t!+\"]")
_FENCE: Final = re.compile(r"(`{3,})[^`\n]*$|(~{3,})")
_ENDS: Final = re.compile(r"#{1,6}(?:[ \t]|$)|(?:[-*_][ \t]*){3,}$")
"""A heading or a rule: no paragraph goes on after it."""
_MARKUP: Final = re.compile(r"<(?:(?P<name>pre|script|style|textarea)\b|(?P<comment>!--)|[?!])", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[a-zA-Z]")
_BLANK: Final = re.compile(r"^\s*$")


def find_indented(markdown: str) -> list[tuple[int, int]]:
    """The beginning and the end of each line of indented code, in their order."""
    if "    " not in markdown and "\t" not in markdown:
        return []
    spans: list[tuple[int, int]] = []
    holders: list[int] = []
    """Columns at which the contents of the lists stand that a line is in."""
    in_paragraph = in_quotation = False
    until: re.Pattern[str] | None = None
    at = 0
    for line in markdown.split("\n"):
        start, at = at, at + len(line) + 1
        if until is not None:
            if until.search(line):
                until, in_paragraph = None, False
            continue
        text = line.lstrip(" \t")
        if not text.strip():
            in_paragraph = False
            continue
        column = _to_column(line[: len(line) - len(text)], 0)
        if not in_paragraph or _begins(text):
            while holders and column < holders[-1]:
                holders.pop()
        if column - (holders[-1] if holders else 0) >= _CODE:
            if not in_paragraph:
                spans.append((start, at - 1))
            continue
        # Behind a quotation, and in a list, more may begin a list than what may interrupt a paragraph.
        in_quotation = (in_quotation and in_paragraph) or text.startswith(">")
        may_begin = not in_paragraph or in_quotation or bool(holders)
        first = len(holders)
        while (
            len(holders) < first + _DEEPEST
            and not _ENDS.match(text)
            and (item := _ITEM.match(text))
            and (may_begin or _begins(text))
        ):
            in_paragraph = False
            inside = _to_column(item[0], column)
            marker = column + len(item[0].rstrip())
            text = text[item.end() :]
            # From five blanks on, all but one belong to code in the item.
            is_code = bool(text) and inside - marker > _CODE
            column = marker + 1 if is_code or not text else inside
            holders.append(column)
            if is_code:
                spans.append((at - 1 - len(text), at - 1))
                text = ""
        if _HOLDER.match(text):
            holders.append(column + _CODE)
        until = _find_closing(text)
        in_paragraph = bool(text) and not (_ENDS.match(text) or _FENCE.match(text) or _MARKUP.match(text))
    return spans


def _begins(text: str) -> bool:
    """Whether a line begins something else than the paragraph before it goes on with."""
    if _ENDS.match(text) or text.startswith(">"):
        return True
    item = _ITEM.match(text)
    return item is not None and item.end() < len(text) and (not text[0].isdigit() or text.startswith(("1.", "1)")))


def _to_column(blanks: str, column: int) -> int:
    """The column behind a text that begins at `column`; a tab leads to the next multiple of four."""
    for character in blanks:
        column += _CODE - column % _CODE if character == "\t" else 1
    return column


def _find_closing(text: str) -> re.Pattern[str] | None:
    """What ends a fence or markup that begins with this line, and goes on over others; None for any other line."""
    if fence := _FENCE.match(text):
        sign = fence[1] or fence[2]
        return re.compile(rf"^[ \t>]{{0,40}}{sign[0]}{{{len(sign)},}}[ \t]*$")
    if markup := _MARKUP.match(text):
        name = markup["name"]
        closing = re.compile(rf"</{name}>", re.IGNORECASE) if name else re.compile("-->" if markup["comment"] else ">")
        return None if closing.search(text, markup.end()) else closing
    return _BLANK if _TAG.match(text) else None
