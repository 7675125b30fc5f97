"""What a reader does not see is taken out of a tree, and counted.

Scripts, comments, templates and invisible characters go, and elements that are hidden: by the `hidden` attribute, by
`display: none`, `visibility: hidden`, zero size, clipping, a place off the screen, a font of no size, no opacity or the
colour of their ground, in a style of their own or in the page's style sheets. What stays although it is hidden was
chosen by measuring which hidden words readers marked as content:

- what a reader can open (`unfolding`);
- `opacity: 0` beside a transform, transition or animation: it fades in;
- `aria-hidden`: it is shown, and only not read aloud (12 % of it was content, most of the rest stood there twice);
- the body itself, and an element or `noscript` with most of the page's words: the page waits for a script to show it.

What is meant for another reader than a person, such as a hidden instruction to a program, has none of these marks.
Text of one colour or size inside which another is set loses only its own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from specloom.core import clean
from specloom.core import text as invisible

from .markdown_source import find_indented
from .normalise import find_controlled, is_openable
from .parse import Attributes, gather_attributes, query
from .visibility import Sheet, hides, parse_declarations, read_sheets

if TYPE_CHECKING:
    from lxml import etree


@dataclass(frozen=True, slots=True)
class Stripped:
    """What was taken out: hidden elements with words in them, scripts and sheets, comments, invisible characters."""

    hidden: int = 0
    scripts: int = 0
    comments: int = 0
    controls: int = 0

    def __add__(self, other: Stripped) -> Stripped:
        """What was taken out of two parts of a page."""
        return Stripped(
            self.hidden + other.hidden,
            self.scripts + other.scripts,
            self.comments + other.comments,
            self.controls + other.controls,
        )


MOST: Final = 0.5
"""The share of a page's characters with which a hidden element is the page."""
LEAST: Final = 1000
"""Characters that such an element has at least: nobody has to hide an instruction behind so little page."""

MAX_JUDGED: Final = 2000
"""Hidden elements that are looked at closely; on a page with more the others are taken out."""
MAX_PAGES: Final = 20
"""Elements in one another that may be the page."""

Place = tuple["etree._Element", str]  # noqa: SLF001 - the name of the type
"""Where a text stands: `text` or `tail` of an element."""
_UNSHOWN: Final = ("script", "style", "template", "noembed", "noframes")
_ROOTS: Final = frozenset(("html", "head", "body", "frameset", "main"))
_OPENED: Final = frozenset(("attribute", "display", "visibility", "opacity", "size"))
_REVEALED: Final = frozenset(("attribute", "display", "visibility", "opacity"))
_SETTINGS: Final = frozenset(("mjx-math", "svg"))
_RESTYLED: Final = {
    "colour": ("color", "background", "background-color"),
    "font-size": ("font-size", "font"),
    "visibility": ("visibility",),
}


def sanitise(root: etree._Element, attributes: Attributes | None = None) -> Stripped:
    """Take what is not shown out of the tree, in place, and say how much that was.

    `attributes` are those of the tree, where they are already known.
    """
    from lxml import etree

    attributes = attributes or gather_attributes(root)
    sheet = read_sheets(root, attributes)
    comments = int(query("count(descendant::comment()|descendant::processing-instruction())")(root))
    _keep_formulas(root)
    unshown = list(root.iter(*_UNSHOWN))
    scripts = len(unshown)
    for element in unshown:
        # What is in it goes with it. The text of a script stays, for those who hold the script.
        if len(element):
            element.clear(keep_tail=True)  # type: ignore[call-arg]  # unknown to the stubs
    cleaned = _strip(root, etree.Comment, etree.PI, *{element.tag for element in unshown})
    # Before anything else moves: lxml does not take back the controls that references put into a tree.
    if not invisible.is_clean(query("string()")(root)):
        _clean_texts(root, cleaned)
    controls = sum(cleaned.values())
    fallbacks = _drop_fallbacks(root)
    if fallbacks:
        scripts += fallbacks
        _strip(root, etree.Comment)
    hidden = _drop_hidden(root, sheet, attributes)
    return Stripped(hidden=hidden, scripts=scripts, comments=comments, controls=controls)


def _strip(root: etree._Element, *tags: Any) -> dict[Place, int]:
    """Take everything with these tags out and leave the tails, all of a run at once joined to the text before it.

    lxml alone would leave them as texts of their own, and join these anew whenever that text is asked for: no harm if
    there is one, and most often there is. A text that lxml would not take is cleaned; gives where that was, and how
    many characters were taken out.
    """
    from lxml import etree

    cleaned: dict[Place, int] = {}
    for node in list(root.iter(*tags)):
        before, above = node.getprevious(), node.getparent()
        if above is None or (before is not None and before.tag in tags):
            continue
        following = node.getnext()
        if following is None or following.tag not in tags:
            continue
        tails: list[str] = []
        at: etree._Element | None = node
        while at is not None and at.tag in tags:
            tails.append(at.tail or "")
            at.tail = None
            at = at.getnext()
        if tail := "".join(tails):
            place = (above, "text") if before is None else (before, "tail")
            text = (getattr(*place) or "") + tail
            try:
                setattr(*place, text)
            except ValueError:
                text, cleaned[place] = invisible.clean(text)
                setattr(*place, text)
    etree.strip_elements(root, *tags, with_tail=False)
    return cleaned


def _keep_formulas(root: etree._Element) -> None:
    """A formula whose source stands in a script, for a library to set, becomes an element that is read as a formula."""
    for script in query("descendant::script[starts-with(@type, 'math/tex')]")(root):
        script.tag = "span"
        script.set("class", "math-tex display" if "display" in script.get("type") else "math-tex")


def _drop_fallbacks(root: etree._Element) -> int:
    """Take out what is shown without scripts, unless it is the page."""
    count = 0
    size_of_page = cache(lambda: _count_characters(root))
    for element in list(root.iter("noscript")):
        if _is_page(element, size_of_page):
            element.tag = "div"
            continue
        count += _drop(element)
    return count


def _drop_hidden(root: etree._Element, sheet: Sheet, attributes: Attributes) -> int:
    from lxml import etree

    found: dict[etree._Element, str] = {}
    for element in sheet.find_suspects(attributes):
        if element not in found and element.tag not in _ROOTS:
            reason = sheet.find_reason(element)
            if reason:
                found[element] = reason
    if not found:
        return 0
    controlled = cache(lambda: find_controlled(attributes))
    size_of_page = cache(lambda: _count_characters(root))
    gone: set[etree._Element] = set()
    wordless: set[etree._Element] = set()
    count = judged = pages = 0
    for element, reason in found.items():
        if element in gone:
            continue
        judged += 1
        if judged <= MAX_JUDGED:
            if reason in _OPENED and is_openable(element, controlled):
                continue
            may_be_page = reason in _REVEALED and pages < MAX_PAGES and element not in wordless
            if may_be_page and _is_page(element, size_of_page):
                pages += 1
                continue
            if _is_formula(element):
                continue
        if not _has_words(element, wordless):
            if next(element.iterchildren("*"), None) is None:
                _drop(element)
            continue
        count += 1
        if reason in _RESTYLED and sheet.restyles_below(element, _RESTYLED[reason]):
            _blank(element)
        else:
            gone.update(element.iterdescendants())
            _drop(element)
    _strip(root, etree.Comment)
    return count


def _has_words(element: etree._Element, wordless: set[etree._Element]) -> bool:
    """Whether it has; if not, what is inside joins the `wordless`, and nothing in it is counted again."""
    if element in wordless:
        return False
    if query("boolean(normalize-space())")(element):
        return True
    wordless.update(element.iterdescendants())
    return False


def _is_formula(element: etree._Element) -> bool:
    """Whether the element is the readable twin of a formula that its neighbour shows to the eye."""
    if next(element.iter("math"), None) is None:
        return False
    for before in (False, True):
        other = next(element.itersiblings("*", preceding=before), None)
        if other is None:
            continue
        if (
            other.tag in _SETTINGS
            or "katex-html" in (other.get("class") or "")
            or "mwe-math" in (other.get("class") or "")
        ):
            return True
    return False


def _is_page(element: etree._Element, size_of_page: Callable[[], float]) -> bool:
    size = _count_characters(element)
    return size >= LEAST and size >= MOST * size_of_page()


def _count_characters(element: etree._Element) -> float:
    """Characters of its text, with runs of white space as one."""
    return float(query("string-length(normalize-space())")(element))


def _drop(element: etree._Element) -> int:
    """Take the element out and leave its tail, behind a comment that stands in its place until the end.

    To join the tail to the text before it would copy that text once for each of its neighbours that go.
    """
    from lxml import etree

    parent = element.getparent()
    if parent is None:
        return 0
    place = etree.Comment()
    place.tail, element.tail = element.tail, None
    parent.replace(element, place)
    return 1


def _blank(element: etree._Element) -> None:
    """Take out the element's own words and leave the elements in it."""
    from lxml import etree

    element.text = None
    for child in element:
        # What was dropped left a comment, which goes without a trace.
        child.tail = None if isinstance(child, etree._Comment) else " "  # noqa: SLF001 - the name of the type


def _clean_texts(root: etree._Element, cleaned: dict[Place, int]) -> None:
    """Clean every text that is not yet, and note how many characters were taken out of it."""
    for element in root.iter():
        for name in ("text", "tail"):
            text = getattr(element, name)
            if text and not invisible.is_clean(text) and (element, name) not in cleaned:
                text, cleaned[element, name] = invisible.clean(text)
                setattr(element, name, text)


# --- What a Markdown text holds and nobody who reads it rendered would see is taken out: HTML that is not shown -------
# That is comments, also those that are written as link definitions leading nowhere (`[//]: # (…)`), scripts and styles,
# and elements that are hidden by an attribute or by their own style. Code, fenced, indented or within a line, shows
# whatever stands in it and stays.


_START: Final = re.compile(
    r"^[ \t]{0,40}(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]{1,8}){0,8}(?P<fence>`{3,}|~{3,})"
    r"|(?P<code>`+)"
    r"|(?P<comment><!--)"
    r"|^[ ]{0,3}(?P<definition>\[[^\[\]\n]{1,200}\]:[ \t]*(?:#|<>)[ \t]*"
    r"(?:\([^\n]*\)|\"[^\n]*\"|'[^\n]*')?[ \t]*(?:\n|\Z))"
    r"|<(?P<tag>[a-zA-Z][a-zA-Z0-9-]{0,40})(?P<attributes>(?:\s[^<>]{0,2000})?)>",
    re.MULTILINE,
)
_STRIPPED_UNSHOWN: Final = frozenset({"script", "style", "template", "noscript", "head"})
_VOID: Final = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_HIDDEN: Final = re.compile(r"(?:^|\s)hidden(?:\s|=(?!\s*[\"']?until-found)|$)", re.IGNORECASE)
_STYLE: Final = re.compile(r"""(?:^|\s)style\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_NEXT: Final = re.compile(r"(?:[ \t]*\n)*")
_LONGEST_CODE: Final = 2000
"""Characters after which code within a line is not closed any more."""


def strip(text: str, *, markdown: bool) -> tuple[str, dict[str, int]]:
    """A text without what nobody sees of it, and how much of which kind that was: `controls` are characters."""
    text, controls = clean(text)
    stripped = {"controls": controls} if controls else {}
    if markdown:
        text, unseen = strip_unseen(text)
        stripped |= unseen
    return text.strip(), stripped


def strip_unseen(markdown: str) -> tuple[str, dict[str, int]]:
    """The text without what is not shown, and how many `comments`, `scripts` and `hidden` elements were taken out.

    What is never closed stays: it may be prose about HTML.
    """
    if "<" not in markdown and "]:" not in markdown:
        return markdown, {}
    counts = {"hidden": 0, "scripts": 0, "comments": 0}
    kept: list[str] = []
    unclosed: set[str] = set()
    code = iter(find_indented(markdown))
    line = next(code, None)
    at = copied = 0
    while found := _START.search(markdown, at):
        while line and line[1] <= found.start():
            line = next(code, None)
        if line and line[0] <= found.start():
            at = line[1]
            continue
        kind, end = _find_end(markdown, found, unclosed)
        at = max(end, found.end())
        if kind:
            counts[kind] += 1
            kept.append(markdown[copied : found.start()])
            if markdown.endswith("\n\n", 0, found.start()):
                # What stood in a paragraph of its own leaves no gap.
                end = _NEXT.match(markdown, end).end()  # type: ignore[union-attr]  # matches anywhere
            at = copied = end
    kept.append(markdown[copied:])
    return "".join(kept), {kind: count for kind, count in counts.items() if count}


def _find_end(markdown: str, found: re.Match[str], unclosed: set[str]) -> tuple[str, int]:
    """Where it ends, and what it counts as if it is not shown, "" for what stays."""
    if fence := found["fence"]:
        close = re.compile(rf"^[ ]{{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE).search(
            markdown, found.end()
        )
        return "", close.end() if close else len(markdown)
    if code := found["code"]:
        near = found.end() + _LONGEST_CODE
        close = re.compile(rf"(?<!`)`{{{len(code)}}}(?!`)").search(markdown, found.end(), near)
        blank = markdown.find("\n\n", found.end(), near)
        return "", close.end() if close and (blank < 0 or close.start() < blank) else found.end()
    if found["definition"]:
        return "comments", found.end()
    name = found["tag"].lower() if found["tag"] else "--"
    if name in unclosed:
        return "", found.end()
    if name == "--":
        kind, end = "comments", markdown.find("-->", found.end())
        end = end + 3 if end >= 0 else -1
    elif name in _STRIPPED_UNSHOWN or (name not in _VOID and _is_hidden(found["attributes"])):
        kind = "scripts" if name in _STRIPPED_UNSHOWN else "hidden"
        end = _find_close(markdown, name, found.end())
    else:
        return "", found.end()
    if end < 0:
        # Looked for to the end of the text, once.
        unclosed.add(name)
        return "", found.end()
    return kind, end


def _is_hidden(attributes: str) -> bool:
    if not attributes.strip():
        return False
    bare = re.sub(r"\"[^\"]*\"|'[^']*'", '""', attributes)
    style = _STYLE.search(attributes)
    said = next(filter(None, style.groups()), "") if style else ""
    return bool(_HIDDEN.search(bare)) or bool(said and hides(parse_declarations(said)[0]))


def _find_close(markdown: str, name: str, start: int) -> int:
    """Where the element ends whose content begins there, others of its name in it counted; -1 where it does not."""
    depth = 1
    for tag in re.compile(rf"<(/?){re.escape(name)}\b[^<>]{{0,2000}}>", re.IGNORECASE).finditer(markdown, start):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.end()
    return -1
