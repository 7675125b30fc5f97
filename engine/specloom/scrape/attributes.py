"""Which elements of a tree carry an attribute that somebody asks for: one walk, where each question would take its own.

A walk over a page costs more than what is done with its elements, and half a dozen parts of the work look for classes,
ids, styles or microdata. The lists are those of the moment of the walk; `standing` tells which still stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree


@dataclass(frozen=True, slots=True)
class Attributes:
    """Elements with the value of an attribute, in document order, `root` among them."""

    root: etree._Element
    named: list[tuple[etree._Element, str, str]]
    """`class` and `id`: element, name of the attribute, value."""
    unseen: list[tuple[etree._Element, str]]
    """`hidden` and `style`; an element with both stands here twice."""
    types: list[tuple[etree._Element, str]]
    """`itemtype`."""
    properties: list[tuple[etree._Element, str]]
    """`itemprop`."""
    relations: list[tuple[etree._Element, str]]
    """`rel`."""
    links: list[tuple[etree._Element, str]]
    """`href`."""
    opened: list[tuple[etree._Element, str]]
    """`aria-controls`."""
    controls: list[tuple[etree._Element, str]]
    """`data-target`, `data-bs-target`, and `role` where it is `tab`."""


def gather_attributes(root: etree._Element) -> Attributes:
    """The attributes of all elements of a tree."""
    found = Attributes(root, [], [], [], [], [], [], [], [])
    roles: list[tuple[etree._Element, str]] = []
    lists = {
        "hidden": found.unseen,
        "style": found.unseen,
        "itemtype": found.types,
        "itemprop": found.properties,
        "rel": found.relations,
        "href": found.links,
        "aria-controls": found.opened,
        "data-target": found.controls,
        "data-bs-target": found.controls,
        "role": roles,
    }
    named = found.named
    for element in root.iter("*"):
        items: list[tuple[str, str]] = element.items()  # type: ignore[assignment]  # a parser gives no bytes
        for name, value in items:
            if name == "class" or name == "id":  # noqa: PLR1714 - twice as fast as a set of two
                named.append((element, name, value))
            elif name in lists:
                lists[name].append((element, value))
    found.controls.extend(each for each in roles if each[1] == "tab")
    return found
