"""Formulas: the TeX that a page carries beside its MathML, else a line that reads the MathML aloud."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lxml import etree

MAX_DEPTH: Final = 60
"""Elements in one another that are read as structure; what is deeper is read as a row of signs."""

_STYLED: Final = re.compile(r"^\{\\(?:display|text)style\s*(.*)\}$", re.DOTALL)
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
