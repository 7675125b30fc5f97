"""The text of a page becomes one tree: tolerant of any markup, bounded in depth, and without loss of words.

The parser is libxml2's, whose tokenizer follows the HTML standard since 2.14. A few things are added. Content after
`</html>` is moved into the body, where browsers show it. A page deeper than the parser goes (2048 elements) loses the
innermost *tags* and none of their text. NUL characters, which end the text for a C library, are taken out. Elements
that the library does not know to be empty (`<wbr>`, `<source>` …) are closed, or they would swallow what follows them,
a heading with a paragraph in it stays a heading, and what a page of frames says beside them is read as markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from specloom.core import dataclass, load_table

if TYPE_CHECKING:
    from lxml import etree


VOCABULARY: Final[dict[str, dict[str, str]]] = load_table(__file__, "vocabulary.yaml")
"""Tables of charsets, styles and phrases, by the names of both."""

MAX_DEPTH: Final = 400
"""Elements in one another after flattening, those aside that the parser closes by itself."""

_DECLARATION: Final = re.compile(r"\s*<\?xml[^>]*>", re.IGNORECASE)
_UNFIT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
"""What references such as `&#7;` can put into a tree, and lxml does not take back."""
# Runs are possessive and their number is bounded, so that a page of open quotes takes no longer than another.
_ATTRIBUTES: Final = r"(?:[^<>\"']++|\"[^\"]{0,3000}\"|'[^']{0,3000}'){0,40}+"
_TAG: Final = re.compile(rf"<(/?)([a-zA-Z][^\s/>\"'<]{{0,60}})({_ATTRIBUTES})>")
_UNCOUNTED: Final = frozenset(VOCABULARY["tags"]["uncounted"].split())
_VOID: Final = rf"(?:embed|source|track|wbr|keygen|command|bgsound)\b{_ATTRIBUTES}"
_PARAGRAPH_IN_HEADING: Final = (
    r"h(?P<level>[1-6])\b[^<>]*>\s*<p\b(?P<attributes>[^<>]*)>(?P<inside>(?:(?!</?(?:h[1-6]|p)\b).){0,2000})</p\s*>"
    r"(?=\s*</h(?P=level)\s*>)"
)
_ODD: Final = re.compile(rf"<(?:(?P<void>{_VOID})>|{_PARAGRAPH_IN_HEADING})", re.IGNORECASE | re.DOTALL)
"""What the parser would take for something else: one search for both, because each goes over the whole page."""
_MAYBE_ODD: Final = re.compile(
    rb"<(?:[eE][mM][bB]|[sS][oO][uU]|[tT][rR][aA][cC]|[wW][bB][rR]|[kK][eE][yY]|[cC][oO][mM][mM]|[bB][gG][sS]"
    rb"|[hH][1-6][^<>]*+>[^<]*+<[pP](?![a-zA-Z]))"
)
"""What such markup begins with, and most pages do not have: bytes are gone through in half the time."""


def parse(html: str) -> etree._Element:
    """The `<html>` element, always with a `<body>`; an empty one if there is nothing to parse.

    Comments stay. The tree is at most 2048 elements deep, so it may be deeper than Python recurses.
    """
    from lxml import etree

    text = html
    written = text.encode("utf-8", "replace")
    if b"\0" in written:
        text = html.replace("\0", "")
        written = text.encode("utf-8", "replace")
    declaration = _DECLARATION.match(text)
    if declaration or _MAYBE_ODD.search(written):
        text = _ODD.sub(_mend, text[declaration.end() :] if declaration else text)
        written = text.encode("utf-8", "replace")
    root, too_deep = _parse_once(written)
    for depth in (MAX_DEPTH, MAX_DEPTH // 8, 0):
        if not too_deep:
            break
        root, too_deep = _parse_once(_flatten(text, depth).encode("utf-8", "replace"))
    if root is None:
        root, _ = _parse_once(b"<html><body></body></html>")
        assert root is not None
    body = root.find("body")
    if body is None:
        frames = root.find("frameset")
        body = etree.SubElement(root, "body") if frames is None else _unframe(frames)
    _gather(root, body)
    return root


def _unframe(frames: etree._Element) -> etree._Element:
    """The frames of a page, with what it says to those who see none as markup: that is all that such a page says, and
    the parser takes it for text."""
    for element in list(frames.iter("noframes")):
        inner, too_deep = _parse_once((element.text or "").encode("utf-8", "replace"))
        shown_body = inner.find("body") if inner is not None and not too_deep else None
        if shown_body is not None:
            element.tag, element.text = "div", shown_body.text
            element.extend(list(shown_body))
    return frames


def _mend(match: re.Match[str]) -> str:
    """A void element that is closed; a heading with its paragraph as a span."""
    void = match["void"]
    if void is not None:
        return f"<{void} />"
    head = match[0][: match.start("attributes") - match.start() - len("<p")]
    return f"{head}<span{match['attributes']}>{_ODD.sub(_mend, match['inside'])}</span>"


def text_of(element: etree._Element) -> str:
    """All text in an element, in its order."""
    return str(query("string()")(element))


@cache
def query(path: str) -> Callable[[etree._Element], Any]:
    """An XPath, compiled once; its strings do not hold on to the tree."""
    from lxml import etree

    compiled: Callable[[etree._Element], Any] = etree.XPath(path, smart_strings=False)
    return compiled


def _parse_once(written: bytes) -> tuple[etree._Element | None, bool]:
    """The root of a page in UTF-8, nothing where there is no element; and whether the parser gave up for depth."""
    from lxml import etree

    # Elements of plain lxml: those of `lxml.html` are instances of a Python class, and slower to come by.
    # Nobody asks for an element by `id()`, so no table of them is made.
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, collect_ids=False)
    try:
        root: etree._Element | None = etree.fromstring(written, parser)
    except etree.XMLSyntaxError:
        if any(entry.type_name == "ERR_NO_MEMORY" for entry in parser.error_log):
            raise MemoryError("the parser has no memory left for the page") from None
        return None, False
    if root is None or root.tag != "html":
        return None, False
    gave_up = any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)
    return root, gave_up


def _flatten(text: str, limit: int) -> str:
    """The same text with the tags beyond a depth taken out, so that what stays is balanced as before."""
    open_tags: list[str] = []
    dropped: dict[str, int] = {}

    def keep(match: re.Match[str]) -> str:
        name = match[2].lower()
        if name in _UNCOUNTED:
            return match[0]
        if match[1]:
            if dropped.get(name):
                dropped[name] -= 1
                return " "
            if open_tags and open_tags[-1] == name:
                open_tags.pop()
            return match[0]
        if match[3].endswith("/"):
            return match[0]
        if len(open_tags) >= limit:
            dropped[name] = dropped.get(name, 0) + 1
            return " "
        open_tags.append(name)
        return match[0]

    return _TAG.sub(keep, text)


def _gather(root: etree._Element, body: etree._Element) -> None:
    """Move what follows `</body>` and `</html>` to the end of the body, each run of texts in one piece."""
    texts: list[str] = []

    def adopt(text: str | None, parts: list[etree._Element]) -> None:
        if text:
            texts.append(text)
        if parts:
            _append(body, texts)
            body.extend(parts)

    adopt(body.tail, list(body.itersiblings()))
    body.tail = None
    for late in list(root.itersiblings("html")):
        adopt(late.text, [])
        for part in list(late):
            if part.tag == "body":
                adopt(part.text, list(part))
                adopt(part.tail, [])
            else:
                adopt(None, [part])
    _append(body, texts)


def _append(body: etree._Element, texts: list[str]) -> None:
    """Put the texts behind what is in the body, and forget them."""
    if not texts:
        return
    last = next(body.iterchildren(reversed=True), None)
    before = body.text if last is None else last.tail
    text = _UNFIT.sub("", (before or "") + "".join(texts))
    texts.clear()
    if last is None:
        body.text = text
    else:
        last.tail = text


# --- Which elements have a tag or an attribute that somebody asks for: one walk, where each question would take its own
# A walk over a page costs more than what is done with its elements, also one inside of libxml2 for a single tag: a
# quarter of a millisecond. A dozen parts of the work look for scripts, links, tables, classes, ids, styles or
# microdata. The lists are those of the moment of the walk: `to_standing` tells what is left.


TAGS: Final = (
    "base", "font", "frame", "h1", "iframe", "link", "meta", "mphantom", "noembed", "noframes", "noscript", "script",
    "style", "table", "template", "time", "title",
)  # fmt: skip
"""The elements that are listed by their tags."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """Elements by their tag, and with the value of an attribute, in document order, `root` among them."""

    root: etree._Element
    tagged: dict[object, list[etree._Element]]
    """Elements by their tags, which are those of `TAGS`; comments and processing instructions by the functions of lxml
    that make them, as they are what lxml gives for the tag of one."""
    named: list[tuple[etree._Element, str, str]]
    """`class` and `id`: element, name of the attribute, value."""
    classes: frozenset[str]
    """The different values of `class`."""
    valued: dict[str, list[tuple[etree._Element, str]]]
    """The others by the name of the attribute. `style` has those with `hidden` and `popover` too, where an element with
    both stands twice; `data-target` has those with `data-bs-target`, and with `role` where it is `tab`."""


def gather_attributes(root: etree._Element) -> Attributes:
    """What stands in a tree, and the attributes of all its elements."""
    from lxml import etree

    named: list[tuple[etree._Element, str, str]] = []
    tagged: dict[object, list[etree._Element]] = {tag: [] for tag in TAGS}
    tagged[etree.Comment], tagged[etree.PI] = [], []
    lists: dict[str, list[tuple[etree._Element, str]]] = {
        name: [] for name in ("style", "itemtype", "itemprop", "rel", "href", "aria-controls", "data-target", "role")
    }
    lists["hidden"] = lists["popover"] = lists["style"]
    lists["data-bs-target"] = lists["data-target"]
    for element in root.iter():
        tag = element.tag
        if tag in tagged:
            tagged[tag].append(element)
        items: list[tuple[str, str]] = element.items()  # type: ignore[assignment]  # a parser gives no bytes
        for name, value in items:
            if name == "class" or name == "id":  # noqa: PLR1714 - twice as fast as a set of two
                named.append((element, name, value))
            elif name in lists:
                lists[name].append((element, value))
    classes = frozenset([value for _, name, value in named if name == "class"])
    lists["data-target"].extend(each for each in lists["role"] if each[1] == "tab")
    return Attributes(root, tagged, named, classes, lists)


def to_standing(root: etree._Element) -> Callable[[etree._Element], bool]:
    """What tells of an element whether it stands in the tree, for as long as nothing is moved in it."""
    standing = {root: True}

    def stands(element: etree._Element) -> bool:
        passed: list[etree._Element] = []
        at: etree._Element | None = element
        while at is not None and at not in standing:
            passed.append(at)
            at = at.getparent()
        result = at is not None and standing[at]
        standing.update(dict.fromkeys(passed, result))
        return result

    return stands
