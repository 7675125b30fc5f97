"""An equation of an office document (Office Math, ECMA-376 part 1, 22.1) in one line: `(a+b)/2`, `x^2`, `√(y)`."""

from __future__ import annotations

from typing import Final

from lxml import etree

from specloom.scrape.documents.archive import attribute, child, children, local

_SETTINGS: Final = "Pr"


def to_line(element: etree._Element) -> str:
    """What an equation or a part of it says, in one line."""
    name = local(element)
    if name == "t":
        return element.text or ""
    if name == "f":
        return f"{_grouped(_part(element, 'num'))}/{_grouped(_part(element, 'den'))}"
    if name in ("sSup", "sSub", "sSubSup", "limLow", "limUpp", "nary", "sPre"):
        return _with_scripts(element, name)
    if name == "rad":
        return f"{_part(element, 'deg')}√({_part(element, 'e')})"
    if name == "d":
        settings = child(element, "dPr")
        first, between, last = (
            _sign(settings, each, usual) for each, usual in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
        )
        return first + between.join(map(_inside, children(element, "e"))) + last
    if name == "m":
        return "[" + "; ".join(", ".join(map(_inside, children(row, "e"))) for row in children(element, "mr")) + "]"
    if name == "eqArr":
        return "; ".join(map(_inside, children(element, "e")))
    if name == "func":
        return f"{_part(element, 'fName')}({_part(element, 'e')})"
    return _inside(element)


def _with_scripts(element: etree._Element, name: str) -> str:
    base, low, high = _part(element, "e"), _part(element, "sub"), _part(element, "sup")
    if name == "limLow":
        low = _part(element, "lim")
    if name == "limUpp":
        high = _part(element, "lim")
    low, high = f"_{_grouped(low)}" if low else "", f"^{_grouped(high)}" if high else ""
    if name == "nary":
        return f"{_sign(child(element, 'naryPr'), 'chr', '∫')}{low}{high} {base}"
    return f"{low}{high}{base}" if name == "sPre" else f"{base}{low}{high}"


def _inside(element: etree._Element) -> str:
    return "".join(to_line(each) for each in element if not local(each).endswith(_SETTINGS))


def _part(element: etree._Element, name: str) -> str:
    found = child(element, name)
    return _inside(found) if found is not None else ""


def _sign(settings: etree._Element | None, name: str, usual: str) -> str:
    found = child(settings, name)
    return usual if found is None else attribute(found, "val")


def _grouped(text: str) -> str:
    """In parentheses what is more than a name or a number."""
    return text if text.isalnum() or not text else f"({text})"
