"""What a Markdown text holds and nobody who reads it rendered would see is taken out: HTML that is not shown.

That is comments, also those that are written as link definitions leading nowhere (`[//]: # (…)`), scripts and styles,
and elements that are hidden by an attribute or by their own style. Code, fenced, indented or within a line, shows
whatever stands in it and stays.
"""

from __future__ import annotations

import re
from typing import Final

from ..invisible import clean
from .hiding import hides, parse_declarations
from .indented import find_indented

_START: Final = re.compile(
    r"^[ \t]{0,40}(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]{1,8}){0,8}(?P<fence>`{3,}|~{3,})"
    r"|(?P<code>`+)"
    r"|(?P<comment><!--)"
    r"|^[ ]{0,3}(?P<definition>\[[^\[\]\n]{1,200}\]:[ \t]*(?:#|<>)[ \t]*"
    r"(?:\([^\n]*\)|\"[^\n]*\"|'[^\n]*')?[ \t]*(?:\n|\Z))"
    r"|<(?P<tag>[a-zA-Z][a-zA-Z0-9-]{0,40})(?P<attributes>(?:\s[^<>]{0,2000})?)>",
    re.MULTILINE,
)
_UNSHOWN: Final = frozenset({"script", "style", "template", "noscript", "head"})
_VOID: Final = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_HIDDEN: Final = re.compile(r"(?:^|\s)hidden(?:\s|=(?!\s*[\"']?until-found)|$)", re.IGNORECASE)
_STYLE: Final = re.compile(r"""(?:^|\s)style\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_NEXT: Final = re.compile(r"(?:[ \t]*\n)*")
_LONGEST_CODE: Final = 2000
"""Characters after which code within a line is not closed any more."""


def strip(text: str, *, markdown: bool) -> tuple[str, dict[str, int]]:
    """A text without what nobody sees of it, and how much of which kind that was: `controls` are characters."""
    text, controls = clean(text)
    stripped = {"controls": controls} if controls else {}
    if markdown:
        text, unseen = strip_unseen(text)
        stripped |= unseen
    return text.strip(), stripped


def strip_unseen(markdown: str) -> tuple[str, dict[str, int]]:
    """The text without what is not shown, and how many `comments`, `scripts` and `hidden` elements were taken out.

    What is never closed stays: it may be prose about HTML.
    """
    if "<" not in markdown and "]:" not in markdown:
        return markdown, {}
    counts = {"hidden": 0, "scripts": 0, "comments": 0}
    kept: list[str] = []
    unclosed: set[str] = set()
    code = iter(find_indented(markdown))
    line = next(code, None)
    at = copied = 0
    while found := _START.search(markdown, at):
        while line and line[1] <= found.start():
            line = next(code, None)
        if line and line[0] <= found.start():
            at = line[1]
            continue
        kind, end = _find_end(markdown, found, unclosed)
        at = max(end, found.end())
        if kind:
            counts[kind] += 1
            kept.append(markdown[copied : found.start()])
            if markdown.endswith("\n\n", 0, found.start()):
                # What stood in a paragraph of its own leaves no gap.
                end = _NEXT.match(markdown, end).end()  # type: ignore[union-attr]  # matches anywhere
            at = copied = end
    kept.append(markdown[copied:])
    return "".join(kept), {kind: count for kind, count in counts.items() if count}


def _find_end(markdown: str, found: re.Match[str], unclosed: set[str]) -> tuple[str, int]:
    """Where it ends, and what it counts as if it is not shown, "" for what stays."""
    if fence := found["fence"]:
        close = re.compile(rf"^[ ]{{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE).search(
            markdown, found.end()
        )
        return "", close.end() if close else len(markdown)
    if code := found["code"]:
        near = found.end() + _LONGEST_CODE
        close = re.compile(rf"(?<!`)`{{{len(code)}}}(?!`)").search(markdown, found.end(), near)
        blank = markdown.find("\n\n", found.end(), near)
        return "", close.end() if close and (blank < 0 or close.start() < blank) else found.end()
    if found["definition"]:
        return "comments", found.end()
    name = found["tag"].lower() if found["tag"] else "--"
    if name in unclosed:
        return "", found.end()
    if name == "--":
        kind, end = "comments", markdown.find("-->", found.end())
        end = end + 3 if end >= 0 else -1
    elif name in _UNSHOWN or (name not in _VOID and _is_hidden(found["attributes"])):
        kind = "scripts" if name in _UNSHOWN else "hidden"
        end = _find_close(markdown, name, found.end())
    else:
        return "", found.end()
    if end < 0:
        # Looked for to the end of the text, once.
        unclosed.add(name)
        return "", found.end()
    return kind, end


def _is_hidden(attributes: str) -> bool:
    if not attributes.strip():
        return False
    bare = re.sub(r"\"[^\"]*\"|'[^']*'", '""', attributes)
    style = _STYLE.search(attributes)
    said = next(filter(None, style.groups()), "") if style else ""
    return bool(_HIDDEN.search(bare)) or bool(said and hides(parse_declarations(said)[0]))


def _find_close(markdown: str, name: str, start: int) -> int:
    """Where the element ends whose content begins there, others of its name in it counted; -1 where it does not."""
    depth = 1
    for tag in re.compile(rf"<(/?){re.escape(name)}\b[^<>]{{0,2000}}>", re.IGNORECASE).finditer(markdown, start):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.end()
    return -1
