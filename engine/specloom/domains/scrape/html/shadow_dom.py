"""Parts of a page that its markup puts into shadow trees are shown as browsers show them: in place, slots filled.

See "declarative shadow roots" and "slots" in the HTML standard. A shadow tree has style sheets of its own, which hide
nothing outside of it and are not seen from there; so it is sanitised alone, before it joins the page. What an element
with a shadow tree holds beside it and no slot takes up is shown nowhere, and goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .parse import query, text_of
from .sanitise import Stripped, sanitise

if TYPE_CHECKING:
    from lxml import etree


MOST: Final = 500
DEEPEST: Final = 4
"""Shadow trees of a page that are opened, and how many of them in one another: what is in each is looked through."""

_MODES: Final = ("open", "closed")
_FIND: Final = f"descendant::template[@shadowrootmode][count(ancestor::template) < {DEEPEST}]"


def open_shadows(root: etree._Element) -> Stripped:
    """Puts the shadow trees of a page into it, in place, the innermost first; gives what was taken out of them."""
    found = query(_FIND)(root)[:MOST]
    total = Stripped()
    for template in reversed(found):
        host = template.getparent()
        if host is not None and template.get("shadowrootmode").strip().lower() in _MODES:
            total += _open(host, template)
    return total


def _open(host: etree._Element, template: etree._Element) -> Stripped:
    from lxml import etree

    shadow = etree.Element("html")
    body = etree.SubElement(shadow, "body")
    body.text = template.text
    body.extend(list(template))
    stripped = sanitise(shadow)
    light = _gather_light(host, template)
    for slot in list(body.iter("slot")):
        _fill(slot, light.pop(slot.get("name") or "", None))
    host.text = body.text
    host.extend(list(body))
    unseen = sum(not text_of(box).isspace() for box in light.values() if text_of(box))
    return stripped + Stripped(hidden=unseen)


def _gather_light(host: etree._Element, template: etree._Element) -> dict[str, etree._Element]:
    """What the host holds beside its shadow tree, out of it and by the names of slots, in boxes; "" is the default."""
    from lxml import etree

    light: dict[str, etree._Element] = {}
    texts = [host.text or "", template.tail or ""]
    template.tail = host.text = None
    host.remove(template)
    rest = light[""] = etree.Element("span")
    rest.text = "".join(texts)
    for child in list(host):
        tail, child.tail = child.tail, None
        name = child.get("slot") or ""
        box = rest if not name else light.setdefault(name, etree.Element("span"))
        box.append(child)
        if tail and name:
            _append_text(rest, tail)
        elif tail:
            child.tail = tail
    return light


def _append_text(box: etree._Element, text: str) -> None:
    if len(box):
        box[-1].tail = (box[-1].tail or "") + text
    else:
        box.text = (box.text or "") + text


def _fill(slot: etree._Element, light: etree._Element | None) -> None:
    """Puts what is meant for a slot in the place of what stands there where nothing is."""
    if light is None or not (len(light) or (light.text or "").strip()):
        return
    tail = slot.tail
    slot.clear()
    slot.tail = tail
    slot.text = light.text
    slot.extend(list(light))
