"""Blocks of code: exact lines without gutters and buttons, and the language if the page names it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .markdown_escape import fence_for

if TYPE_CHECKING:
    from lxml import etree

_LANGUAGE: Final = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight-source|highlight-text|highlight|code)-|brush:\s*|sourceCode\s+)"
    r"([a-zA-Z0-9+#.\-]{1,20})"
)
_NOT_A_LANGUAGE: Final = frozenset(
    (
        "none", "plaintext", "text", "plain", "default", "notranslate", "block", "wrapper", "container", "inline",
        "nohighlight", "example", "snippet", "toolbar", "box", "content", "line", "lines",
    )
)  # fmt: skip
_GUTTER: Final = re.compile(
    r"(?:^|[\s_-])(?:line-?no|line-?nos|linenos?|line-?numbers?(?:-rows)?|lineno(?:s)?|gutter|ln-num|hljs-ln-numbers|hljs-ln-n|blob-num"
    r"|react-syntax-highlighter-line-number|rouge-gutter|copy|copy-?(?:btn|button|code)|btn-copy|clipboard(?:-copy)?)(?:$|\s)",
    re.IGNORECASE,
)
_LINES: Final = frozenset(("div", "p", "li", "tr", "ol", "ul", "table", "tbody"))
_SKIPPED: Final = frozenset(("button", "script", "style", "template", "clipboard-copy", "svg"))


def find_language(pre: etree._Element) -> str:
    """The name after `language-`, `lang-`, `highlight-source-` …: of the block, the code in it or what is around it."""
    around = pre.getparent()
    outer = around.getparent() if around is not None else None
    for element in (pre.find("code"), pre, around, outer):
        if element is None:
            continue
        named = element.get("data-lang") or element.get("data-language")
        if named and re.fullmatch(r"[a-zA-Z0-9+#.\-]{1,20}", named):
            return "" if named.lower() in _NOT_A_LANGUAGE else named.lower()
        match = _LANGUAGE.search(element.get("class") or "")
        if match and match[1].lower() not in _NOT_A_LANGUAGE:
            return match[1].lower()
    return ""


def to_lines(pre: etree._Element) -> list[str]:
    """The lines of the block as they are shown, blank ones at either end left out."""
    from lxml.etree import iterwalk

    parts: list[str] = [pre.text or ""]
    numbers: list[tuple[int, int]] = []
    holder = _find_holder(pre)
    at_start = not parts[0] or parts[0].endswith("\n")
    walker = iterwalk(pre, events=("start", "end", "comment", "pi"))
    for event, element in walker:
        if element is pre:
            continue
        text = None
        if event == "start":
            tag = element.tag
            if tag in _SKIPPED or _GUTTER.search(element.get("class") or ""):
                walker.skip_subtree()
                continue
            if tag == "br" or (tag in _LINES and not at_start):
                parts.append("\n")
                at_start = True
            text = element.text
            if text and at_start and len(element) == 0 and text.strip().isdecimal() and len(text) < 9:
                numbers.append((len(parts), int(text)))
        else:
            is_line = event == "end" and (
                element.tag in _LINES or (holder is not None and element.getparent() is holder)
            )
            if is_line and (not at_start or holder is not None):
                parts.append("\n")
                at_start = True
            text = element.tail
        if text:
            parts.append(text)
            at_start = text.endswith("\n")
    _drop_numbers(parts, numbers)
    lines = [line.rstrip() for line in _to_plain("".join(parts)).split("\n")]
    start, end = 0, len(lines)
    while start < end and not lines[start]:
        start += 1
    while end > start and not lines[end - 1]:
        end -= 1
    return lines[start:end]


def _to_plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ")


def _drop_numbers(parts: list[str], numbers: list[tuple[int, int]]) -> None:
    """Numbers that stand alone in an element at the start of each line and count up are a gutter."""
    if len(numbers) < 2 or any(number != numbers[0][1] + at for at, (_, number) in enumerate(numbers)):
        return
    if len(numbers) * 2 + 2 > "".join(parts).count("\n"):
        for at, _ in numbers:
            parts[at] = ""
            if parts[at + 1 : at + 2] == ["\n"]:
                parts[at + 1] = ""


def _find_holder(pre: etree._Element) -> etree._Element | None:
    """The element whose children are lines without line ends between them, as some highlighters write them."""
    holder = pre.find("code")
    if holder is None:
        holder = pre
    children = list(holder)
    if len(children) < 2 or (holder.text and holder.text.strip()):
        return None
    for child in children:
        if (
            child.tag != "span"
            or "line" not in (child.get("class") or "").split()
            or (child.tail and "\n" in child.tail)
        ):
            return None
    return holder


def render_block(lines: list[str], language: str) -> list[str]:
    """The fence, the lines, the fence."""
    fence = fence_for("\n".join(line for line in lines if "```" in line))
    return [fence + language, *lines, fence]


def render_span(text: str) -> str:
    """Inline code; the fence is longer than any run of backticks in it."""
    text = " ".join(text.split())
    if not text:
        return ""
    if "`" not in text:
        return f"`{text}`"
    fence = fence_for(text, least=1)
    return f"{fence} {text} {fence}"
