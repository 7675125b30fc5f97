"""Tags of HTML, JATS and MathML in short texts, told from signs of "less than" and "greater than" in prose."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final

_TAG: Final = re.compile(
    r"<(/?)([a-zA-Z][a-zA-Z0-9.:_-]*+)([^<>]*+)>|<!--(?s:.{0,200}?)-->|<(?:![A-Za-z\[-]|\?[A-Za-z])[^<>]*>"
)
_CLOSING: Final = re.compile(r"</([a-zA-Z][a-zA-Z0-9.:_-]*+)\s*+>")
_NAMES: Final = """
a abbr abstract acronym address applet area article aside audio b base basefont bdi bdo big blink blockquote body bold
br button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed
fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img
input ins italic kbd label legend li link listing main map mark marquee math menu meta meter monospace nav nobr noembed
noframes noscript object ol optgroup option output p param picture plaintext pre progress q roman rp rt ruby s samp sc
scp script search sec section select slot small source span strike strong style sub summary sup svg table tbody td
template textarea tfoot th thead time title tr track tt u ul underline var video wbr xmp
"""
_ELEMENTS: Final = frozenset(_NAMES.split())
"""Elements that are markup although nothing closes them; what stands in prose as `x<y and z>w` is none."""


def drop_tags(text: str, *, is_closed: bool = False, blanks: Container[str] = ()) -> str:
    """The text without its tags; with `is_closed` only without those of elements that it closes.

    What is in angle brackets and no tag stays. In place of the tags of the elements `blanks`, in small letters, there
    is a blank.
    """
    closed = {name.lower() for name in _CLOSING.findall(text)}

    known: dict[str, str] = {}

    def drop(tag: re.Match[str]) -> str:
        if tag[0] not in known:
            known[tag[0]] = judge(tag)
        return known[tag[0]]

    def judge(tag: re.Match[str]) -> str:
        ending, said, attributes = tag[1], tag[2] or "", (tag[3] or "").strip()
        name = said.lower()
        blank = " " if name in blanks else ""
        if not name or ending:
            return tag[0] if is_closed and name not in closed else blank
        if attributes.rstrip("/").strip() and "=" not in attributes:
            return tag[0]
        # In two cases it is the name of a type, as in `Optional<Object>`; with `::` one of C++.
        is_element = (name in _ELEMENTS and said in (name, said.upper())) or (":" in name and "::" not in name)
        is_markup = name in closed or (not is_closed and (is_element or "=" in attributes))
        return blank if is_markup else tag[0]

    return _TAG.sub(drop, text)
