"""Markdown by its headings."""

from __future__ import annotations

import re

_HEADING = re.compile(r"(#{1,6}) +(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def split_sections(markdown: str) -> tuple[str, list[dict[str, str]]]:
    """The first heading of the first level, and each heading below it with the text up to the next one.

    Text before any heading but the title stands under an empty one; a heading without text is kept where another
    follows on a level below it, because it says what that one belongs to.
    """
    title, fence = "", ""
    sections: list[tuple[int, str, list[str]]] = [(0, "", [])]
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not line[mark.end() :].strip())):
            fence = "" if fence else mark[1]
        match = None if fence or mark else _HEADING.fullmatch(line)
        if match is None:
            sections[-1][2].append(line)
        elif len(match[1]) == 1 and not title:
            title = match[2].strip()
        else:
            sections.append((len(match[1]), match[2].strip(), []))
    kept: list[dict[str, str]] = []
    for (level, heading, lines), (below, *_) in zip(sections, [*sections[1:], (0, "", [])], strict=True):
        text = "\n".join(lines).strip()
        if text or (heading and below > level):
            kept.append({"heading": heading, "text": text})
    return title, kept
