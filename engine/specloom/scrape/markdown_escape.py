"""Page text that would read as Markdown structure is escaped, and ordinary prose is left alone."""

from __future__ import annotations

import re
from typing import Final

_LINE: Final = re.compile(r"(?:#{1,6}(?= |$)|[-+*](?= |$)|>|`{3}|~{3}|=+$|-{2,}$|\|)")
_NUMBERED: Final = re.compile(r"(\d{1,9})([.)])(?= |$)")
_REFERENCE: Final = re.compile(r"\[[^\[\]]{1,999}\]:")
_SPECIAL_STARTS: Final = frozenset("#-+*>`~=|[0123456789")
_TAG: Final = re.compile(r"<(?=[a-zA-Z/!?])")
_STAR: Final = re.compile(r"(?<![\w*\\])(\*{1,3})(?=[^\s*][^*\n]{0,300}\*)")
_LOW_LINE: Final = re.compile(r"(?<![\w\\])(_{1,3})(?=[^\s_](?:[^_\n]|_(?=\w)){0,60}_(?!\w))")


def escape_inline(text: str) -> str:
    """Text in which no tag, link, image or emphasis begins that the page does not have."""
    if "<" in text:
        text = _TAG.sub(r"\\<", text)
    if "](" in text:
        text = text.replace("](", "]\\(")
    if "*" in text:
        text = _STAR.sub(_escape_run, text)
    if "_" in text:
        text = _LOW_LINE.sub(_escape_run, text)
    return text


def _escape_run(match: re.Match[str]) -> str:
    return "".join("\\" + char for char in match[1])


def escape_line(line: str) -> str:
    """The line of a paragraph, not read as a heading, list item, quote, fence, rule or table row."""
    if line[:1] not in _SPECIAL_STARTS:
        return line
    if _LINE.match(line) or _REFERENCE.match(line):
        return "\\" + line
    numbered = _NUMBERED.match(line)
    if numbered:
        return f"{numbered[1]}\\{line[numbered.end(1) :]}"
    return line


def fence_for(text: str, char: str = "`", least: int = 3) -> str:
    """The shortest fence that no run inside the text closes."""
    longest = max((len(run) for run in re.findall(f"{re.escape(char)}+", text)), default=0)
    return char * max(least, longest + 1)
