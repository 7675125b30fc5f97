"""What nobody sees on a slide is taken out of it: hidden shapes, shapes beside it, and letters too small to be read.

The colour of a text is not judged: it may stand on any shape, picture or background of the slide, its layout or master.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lxml import etree

from specloom.scrape.documents.archive import attribute, child, children, local
from specloom.scrape.documents.docx_styles import to_int
from specloom.scrape.documents.pptx_order import Area, to_area, to_key

SHAPES: Final = {"sp": "nvSpPr", "graphicFrame": "nvGraphicFramePr", "pic": "nvPicPr", "grpSp": "nvGrpSpPr"}
"""What may say something on a slide, and the element that has its settings."""
_ON: Final = frozenset({"1", "true"})
# Hundredths of a point: one point and less is read by nobody.
_TINY: Final = 100


def strip_unseen(tree: etree._Element | None, slide: Area | None, inherited: Mapping[str, Area]) -> int:
    """Take out of a slide what is not seen on it, and tell how many shapes and stretches with words that were.

    `inherited` has the places that the layout gives to what fills them. Without `slide` nothing stands beside it.
    """
    if tree is None:
        return 0
    count = 0
    for shape in [each for each in tree.iter() if local(each) in SHAPES]:
        is_hidden = attribute(child(shape, SHAPES[local(shape)], "cNvPr"), "hidden") in _ON
        is_outer = not any(local(each) == "grpSp" for each in shape.iterancestors())
        if is_hidden or (slide is not None and is_outer and _is_beside(shape, slide, inherited)):
            count += _has_words(shape)
            _remove(shape)
    for run in [each for each in tree.iter("{*}r", "{*}fld") if _is_tiny(each)]:
        count += _has_words(run)
        _remove(run)
    return count


def read_size(presentation: etree._Element | None) -> Area | None:
    """The area of the slides of a presentation, None where it does not say it."""
    size = child(presentation, "sldSz")
    width, height = to_int(attribute(size, "cx")), to_int(attribute(size, "cy"))
    return Area(0, 0, width, height) if width and height else None


def _is_beside(shape: etree._Element, slide: Area, inherited: Mapping[str, Area]) -> bool:
    area = to_area(shape) or inherited.get(to_key(shape))
    return area is not None and not (
        area.left < slide.right and area.right > slide.left and area.top < slide.bottom and area.bottom > slide.top
    )


def _is_tiny(run: etree._Element) -> bool:
    settings = next(children(run, "rPr"), None)
    size = attribute(settings, "sz")
    return bool(size) and to_int(size, _TINY + 1) <= _TINY


def _has_words(element: etree._Element) -> bool:
    return any((each.text or "").strip() for each in element.iter("{*}t"))


def _remove(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
