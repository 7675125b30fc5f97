"""Blocks of code: exact lines without gutters and buttons, and the language if the page names it."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree

from ..html.parse import VOCABULARY
from .walk import MarkdownWalk, fence_for, starts

_LANGUAGE: Final = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight-source|highlight-text|highlight|code)-|brush:\s*|sourceCode\s+"
    r"|syntaxhighlighter\s+(?:nogutter\s+)?)"
    r"([a-zA-Z0-9+#.\-]{1,20})"
)
_FIGURE: Final = re.compile(r"(?:^|\s)(?:highlight\s+|language-)([a-zA-Z0-9+#.\-]{1,20})")
_BRUSH: Final = re.compile(r"\s*brush:\s*([a-zA-Z0-9+#.\-]{1,20})")
_NOT_A_LANGUAGE: Final = frozenset(VOCABULARY["code"]["no_languages"].split())
_GUTTER: Final = re.compile(
    r"(?:^|[\s_-])(?:line-?no|line-?nos|linenos?|line-?numbers?(?:-rows)?|lineno(?:s)?|gutter|ln-num|hljs-ln-numbers|hljs-ln-n|blob-num"
    r"|react-syntax-highlighter-line-number|crayon-nums|rouge-gutter|copy|copy-?(?:btn|button|code)|btn-copy|clipboard(?:-copy)?)(?:$|\s)",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"(?:^|[\s-])code(?:$|[\s-])")
_LINES: Final = frozenset(("div", "p", "li", "tr", "ol", "ul", "table", "tbody"))
_FARTHEST: Final = 8
"""Elements around a block in which a table with its lines is looked for."""
_SKIPPED: Final = frozenset(("button", "script", "style", "template", "clipboard-copy", "svg"))


def settle_listings(root: etree._Element) -> None:
    """Tables of which one column is numbers of lines and the other their code become `pre`, in place.

    Highlighters that copy no `pre` write them; each line would be judged alone, and none is shown as code.
    """
    gone: set[etree._Element] = set()
    for table in list(root.iter("table")):
        parent = table.getparent()
        if parent is None or table in gone or not _is_listing(table):
            continue
        gone.update(table.iterdescendants("table"))
        if next(table.iterdescendants("pre"), None) is None and next(table.iterancestors("pre"), None) is None:
            pre = etree.Element("pre")
            pre.text = "\n".join(to_lines(table))
            pre.tail, table.tail = table.tail, None
            parent.replace(table, pre)


def _is_listing(table: etree._Element) -> bool:
    """Whether the first row has numbers of lines or copying buttons, and then code."""
    row = next(iter(table), None)
    if row is not None and row.tag in ("thead", "tbody"):
        row = next(iter(row), None)
    cells = list(row) if row is not None and row.tag == "tr" else []
    if len(cells) < 2 or not _CODE.search(cells[-1].get("class") or ""):
        return False
    return all(_GUTTER.search(cell.get("class") or "") for cell in cells[:-1])


def find_language(pre: etree._Element) -> str:
    """The name after `language-`, `lang-`, `highlight-source-` …: of the block, the code in it or what is around it."""
    outside: list[etree._Element] = []
    above = pre.getparent()
    while above is not None and len(outside) < _FARTHEST:
        outside.append(above)
        above = above.getparent()
    tags = [element.tag for element in outside]
    elements = [pre, *outside[:2]]
    before = outside[tags.index("td")].getprevious() if "td" in tags else None
    if before is not None and "table" in tags and _GUTTER.search(before.get("class") or ""):
        # A block beside the numbers of its lines stands in a table.
        elements += outside[tags.index("table") + 1 :][:2]
    code = pre.find("code")
    for element in elements if code is None else (code, *elements):
        named = element.get("data-lang") or element.get("data-language")
        if not named and (brush := _BRUSH.match(element.get("data-syntaxhighlighter-params") or "")):
            named = brush[1]
        if named and re.fullmatch(r"[a-zA-Z0-9+#.\-]{1,20}", named):
            return "" if named.lower() in _NOT_A_LANGUAGE else named.lower()
        pattern = _FIGURE if element.tag == "figure" else _LANGUAGE
        match = pattern.search(element.get("class") or "")
        if match and match[1].lower() not in _NOT_A_LANGUAGE:
            return match[1].lower()
    return ""


def to_lines(pre: etree._Element) -> list[str]:
    """The lines of the block as they are shown, blank ones at either end left out."""
    parts: list[str] = [pre.text or ""]
    numbers: list[tuple[int, int]] = []
    holder = _find_holder(pre)
    at_start = not parts[0] or parts[0].endswith("\n")
    walker = etree.iterwalk(pre, events=("start", "end", "comment", "pi"))
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
    text = "".join(parts).replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ")
    plain = "\n".join([line.rstrip() for line in text.split("\n")]).strip("\n")
    return plain.split("\n") if plain else []


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
    are_lines = all(
        child.tag == "span" and "line" in (child.get("class") or "").split() and "\n" not in (child.tail or "")
        for child in children
    )
    return holder if are_lines else None


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


@starts("pre", "listing", "xmp", "plaintext")
def add_code(walk: MarkdownWalk, element: etree._Element) -> bool:
    """A fenced block; in a heading or a table cell a span."""
    out = walk.out
    walk.enter_block()
    lines = to_lines(element)
    if out.flat or out.heading:
        out.raw(" " + render_span(" ".join(lines)) + " ")
    elif lines:
        out.put(render_block(lines, find_language(element)))
    return True


# --- Formulas: the TeX that a page carries beside its MathML, else a line that reads the MathML aloud -----------------


MAX_DEPTH: Final = 60
"""Elements in one another that are read as structure; what is deeper is read as a row of signs."""

_STYLED: Final = re.compile(r"^\{\\(?:display|text)style\s*+(.*)\}$", re.DOTALL)
_LEAVES: Final = frozenset(("mi", "mn", "mo", "mtext", "ms"))
_SET: Final = frozenset(("MathJax_Preview", "MathJax_CHTML", "MathJax_SVG", "mjx-chtml"))
"""Classes of formulas set for the eye, beside which the same formula stands as MathML or TeX."""


def is_set_twice(element: etree._Element) -> bool:
    """Whether the element repeats a formula for the eye that its neighbour or a part of it states."""
    names = (element.get("class") or "").split()
    after, before = element.getnext(), element.getprevious()
    if "katex-html" in names:
        # Without its twin the glyphs are all that there is.
        return before is not None and next(before.iter("math"), None) is not None
    if not _SET.isdisjoint(names):
        return True
    return "MathJax" in names and after is not None and "math-tex" in (after.get("class") or "")


def render_math(math: etree._Element) -> str:
    """`$…$`, or `$$…$$` on lines of its own, where there is TeX; plain signs elsewhere."""
    tex = _find_tex(math)
    display = math.get("display") == "block"
    if tex:
        return wrap_tex(tex, display=display)
    return " ".join(_read(math, 0).split())


def wrap_tex(tex: str, *, display: bool) -> str:
    """TeX between the dollars that readers and renderers know."""
    tex = " ".join(tex.split())
    styled = _STYLED.match(tex)
    if styled:
        tex = styled[1].strip()
    if not tex:
        return ""
    return f"$${tex}$$" if display else f"${tex}$"


def _find_tex(math: etree._Element) -> str:
    for annotation in math.iterdescendants("annotation"):
        if "tex" in (annotation.get("encoding") or "").lower():
            return annotation.text or ""
    return math.get("alttext") or ""


def _read(element: etree._Element, depth: int) -> str:
    tag = element.tag
    if tag in ("annotation", "annotation-xml"):
        return ""
    if tag in _LEAVES or depth > MAX_DEPTH:
        text = "".join(map(str, element.itertext())).strip()
        return f" {text} " if tag == "mo" and len(text) == 1 and text in "=+-−×·<>≤≥≈≠→∈∪∩±" else text
    parts = [_read(child, depth + 1) + (child.tail or "").strip() for child in element.iterchildren("*")]
    if element.text and not element.text.isspace():
        parts.insert(0, element.text)
    match tag, parts:
        case "mfrac", [over, under]:
            return f"{_group(over)}/{_group(under)}"
        case "msup" | "mover", [base, above]:
            return f"{base}^{_group(above)}"
        case "msub" | "munder", [base, below]:
            return f"{base}_{_group(below)}"
        case "msubsup" | "munderover", [base, below, above]:
            return f"{base}_{_group(below)}^{_group(above)}"
        case "msqrt", _:
            return f"√({''.join(parts)})"
        case "mroot", [base, degree]:
            return f"{_group(base)}^(1/{degree})"
        case "mtr" | "mlabeledtr", _:
            return " ".join(parts) + "; "
    return "".join(parts)


def _group(text: str) -> str:
    text = text.strip()
    return text if len(text) == 1 or text.isalnum() else f"({text})"
