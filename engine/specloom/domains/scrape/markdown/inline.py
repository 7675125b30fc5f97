"""Elements within a line: links, emphasis, code, images, formulas, exponents and line breaks."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from lxml import etree

from specloom.core import text as invisible

from ..html.parse import text_of
from . import code
from .walk import Links, MarkdownWalk, ends, starts

# --- Links to a heading that stand in it or beside it, as sites of documentation have them: no words of the page ------


_MARKS: Final = frozenset(("", "#", "¶", "§", "🔗"))
_SIGNS: Final = frozenset("#¶§🔗⚓⛓🖇")
_BACK: Final = frozenset("↩↑⤴⬆⏎↵^")
"""What leads from a note back to where it is referred to."""
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_BOXES: Final = frozenset(("div", "span", "p", "header", "small", "sup"))
_MOST_BOXES: Final = 3
"""Boxes in each other that may stand around such a link alone."""
_LONGEST: Final = 300
_MOST_PARTS: Final = 50
"""Elements of a heading in which words beside those of a link are looked for."""
_WORDS: Final = re.compile(
    r"(?:(?:copy|direct|permanent|section|heading|anchor|self) ?)?(?:link|anchor|url)(?: (?:to|for) .*)?"
    r"|perma-?link(?: (?:to|for) .*)?|section titled .*",
    re.IGNORECASE,
)
_ICON: Final = re.compile(r"\b(?:arrow|button|caret|chevron|close|icon|menu|toggle)\b", re.IGNORECASE)
_FORM: Final = re.compile("[\u200b-\u200d\u2060\ufe0e\ufe0f\ufeff]")


def is_anchor(link: etree._Element, links: Links, *, in_heading: bool) -> bool:
    """Whether a link stands for a place on its page alone, by a mark, nothing, or words such as "Permalink".

    Words count in or beside a heading that has others. A sign alone, such as a chain, says nothing there wherever it
    leads.
    """
    href = link.get("href")
    if not href:
        return False
    heading = next(link.iterancestors(*_HEADINGS), None) if in_heading else find_beside(link)
    if not in_heading and _is_picture(link):
        return False
    if not in_heading and heading is None:
        return href.startswith("#") and is_mark(text_of(link))
    text = " ".join(_FORM.sub("", text_of(link)[:_LONGEST]).split())
    if text and _SIGNS.issuperset(text):
        return True
    if not links.stays(href):
        return False
    if not any(map(str.isalnum, text)):
        return True
    if not _WORDS.fullmatch(text) and text != href[href.find("#") :]:
        return False
    return heading is not None and _count(heading) > (sum(map(str.isalnum, text)) if in_heading else 0)


def is_mark(text: str) -> bool:
    """Whether the text of a link is no more than a mark for a place, or a sign that leads back to one."""
    text = _FORM.sub("", text[:_LONGEST]).strip()
    return text in _MARKS or _BACK.issuperset(text)


def find_beside(link: etree._Element) -> etree._Element | None:
    """The heading next to which a link stands alone, or a box that holds nothing else; None where there is none."""
    node = link
    for _ in range(_MOST_BOXES):
        before, after = node.getprevious(), node.getnext()
        if before is not None and not (before.tail or "").strip() and (heading := _to_heading(before)) is not None:
            return heading
        alone = not (node.tail or "").strip()
        if alone and after is not None and (heading := _to_heading(after)) is not None:
            return heading
        box = node.getparent()
        if not alone or box is None or box.tag not in _BOXES or len(box) > 1 or (box.text or "").strip():
            return None
        node = box
    return None


def _is_picture(link: etree._Element) -> bool:
    """Whether there is a picture in a link that is described by other words than those of such links."""
    alts = (" ".join((image.get("alt") or "").split()) for image in islice(link.iter("img"), _MOST_PARTS))
    return any(
        any(map(str.isalnum, alt)) and not (_WORDS.fullmatch(alt[:_LONGEST]) or _ICON.search(alt)) for alt in alts
    )


def _to_heading(element: etree._Element) -> etree._Element | None:
    """The element, or what is alone in it, if that is a heading."""
    if element.tag in _HEADINGS:
        return element
    if element.tag not in _BOXES or len(element) != 1 or (element.text or "").strip():
        return None
    inner = element[0]
    return inner if inner.tag in _HEADINGS and not (inner.tail or "").strip() else None


def _count(element: etree._Element) -> int:
    """The letters and digits of an element."""
    inside = islice(element.iterdescendants("*"), _MOST_PARTS)
    text = (element.text or "") + "".join(f"{part.text or ''}{part.tail or ''}" for part in inside)
    return sum(map(str.isalnum, text))


_EXPONENT: Final = re.compile(r"[-−+]?\d{1,4}|[-−+]?[a-z]|[-−]?\d[\d,.]*|[nkmxij][-+−]\d")
_NOTE: Final = re.compile(r"(?:\d{1,4}|[a-z]{1,2}|[*†‡§]{1,3})(?:\s*[,;–-]\s*(?:\d{1,4}|[a-z]{1,2}))*")
_NUMBER: Final = re.compile(r"\d{1,4}")
"""What refers to a note: raised, or as the text of a link that follows a word."""
_NO_BRACKETS: Final = str.maketrans("[]", "()")
_EMOJI_LENGTH: Final = 8


@starts("a")
def start_link(walk: MarkdownWalk, element: etree._Element) -> bool:
    """A link, if it leads to another page; the anchor in or beside a heading is left out with its sign."""
    if is_anchor(element, walk.links, in_heading=walk.out.heading > 0):
        return True
    href = element.get("href") or ""
    if href.startswith("#") and walk.out.ends_sentence() and _NUMBER.fullmatch(text := text_of(element).strip()):
        walk.out.raw(f"[{text}]")
        return True
    walk.out.begin("a", walk.links.resolve(element.get("href")))
    return False


def _register(kind: str, *tags: str) -> None:
    """Emphasis of a kind of the writer for these elements."""
    starts(*tags)(lambda walk, _: walk.out.begin(kind))
    ends(*tags)(lambda walk, _: walk.out.end(kind))


_register("strong", "strong", "b")
_register("em", "em", "i")
_register("del", "del", "s", "strike")
ends("a")(lambda walk, _: walk.out.end("a"))  # the link is written, unless there is no word in it
starts("br")(lambda walk, _: walk.out.line_break())
# The parts of a table that arranges the page, and what a field is called, are parted from their neighbours.
for register in (starts, ends):
    register("td", "th", "label")(lambda walk, _: walk.out.raw(" "))
# How the characters before it are read stands in brackets; those for readers that know no ruby go.
starts("rp")(lambda _, __: True)
starts("rt")(lambda walk, _: walk.out.raw("("))
ends("rt")(lambda walk, _: walk.out.raw(")"))
ends("q")(lambda walk, _: walk.out.raw("”"))


@starts("q")
def start_quotation(walk: MarkdownWalk, element: etree._Element) -> bool:
    """A quotation in a line; browsers add the marks. One without text is left out."""
    empty = next(element.itertext(), None) is None
    if not empty:
        walk.out.raw("“")
    return empty


@starts("code", "kbd", "samp", "tt")
def add_span_of_code(walk: MarkdownWalk, element: etree._Element) -> bool:
    """Code in a line, or a fenced block if there are lines in it."""
    if next(element.iterdescendants("pre"), None) is not None:
        return False
    text = text_of(element)
    has_lines = "\n" in text.strip() or next(element.iterdescendants("br", "div"), None) is not None
    if has_lines and element.tag == "code" and not walk.out.flat and not walk.out.heading:
        return bool(code.add_code(walk, element))
    walk.out.raw(code.render_span(text))
    return True


@starts("img", "amp-img")
def add_image(walk: MarkdownWalk, element: etree._Element) -> bool:
    """An image that is described; emoji and formulas that are images become what they stand for."""
    alt = " ".join(invisible.clean(element.get("alt") or "")[0].split())
    if not alt:
        return True
    if "mwe-math" in (element.get("class") or ""):
        parent = element.getparent()
        if parent is None or next(parent.iter("math"), None) is None:
            walk.out.raw(code.wrap_tex(alt, display=False))
        return True
    if len(alt) <= _EMOJI_LENGTH and not any(char.isalnum() or char.isascii() for char in alt):
        walk.out.raw(alt)
        return True
    url = walk.links.resolve(_find_source(element))
    if url:
        walk.out.raw(f" ![{alt.translate(_NO_BRACKETS)}]({url}) ")
    return True


def _find_source(image: etree._Element) -> str:
    """The address of an image; those that load late have it in another attribute."""
    source: str = image.get("src") or ""
    if source and not source.startswith("data:"):
        return source
    for name in ("data-src", "data-original", "data-lazy-src"):
        late: str | None = image.get(name)
        if late:
            return late
    many: list[str] = (image.get("srcset") or image.get("data-srcset") or "").split()
    return many[0].rstrip(",") if many else ""


@starts("span")
def start_span(walk: MarkdownWalk, element: etree._Element) -> bool:
    """Nothing, but for formulas (those in TeX are written, those set for the eye are left to their twin) and for the
    links of a wiki by which a section is edited."""
    names = element.get("class")
    if not names:
        return False
    if "mw-editsection" in names:
        return True
    if "math-tex" in names:
        _add_formula(walk, code.wrap_tex(element.text or "", display="display" in names))
        return True
    return ("katex" in names or "athJax" in names or "mjx" in names) and code.is_set_twice(element)


@starts("math")
def add_math(walk: MarkdownWalk, element: etree._Element) -> bool:
    """A formula."""
    _add_formula(walk, code.render_math(element))
    return True


def _add_formula(walk: MarkdownWalk, text: str) -> None:
    if text.startswith("$$"):
        walk.out.block()
        walk.out.raw(text)
        walk.out.block()
    else:
        walk.out.raw(text)


@starts("sup")
def start_raised(walk: MarkdownWalk, element: etree._Element) -> bool:
    """An exponent is told from its base by a caret, and the number of a note stands in brackets; ordinals and trade
    marks need nothing."""
    text = text_of(element).strip()
    if _NOTE.fullmatch(text) and _refers(walk, element):
        walk.out.raw(f"[{' '.join(text.split())}]")
        return True
    if _EXPONENT.fullmatch(text) and walk.out.ends_word():
        walk.out.raw("^")
    return False


def _refers(walk: MarkdownWalk, raised: etree._Element) -> bool:
    """Whether there is a link in or around the element that leads to a place on its page."""
    around = raised.getparent()
    link = around if around is not None and around.tag == "a" else next(raised.iterdescendants("a"), None)
    return link is not None and walk.links.stays(link.get("href") or "")
