"""What the text of a brand page says: its colours, its fonts, and how the brand speaks. Markdown or plain lines."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from specloom.core import Fault, dataclass, load_table
from specloom.domains.text import join, to_alternatives, to_host
from specloom.plugins import Context

from .findings import MOST_SWATCHES, Findings, Swatch, find_hex, to_hex, to_slots
from .homepage import to_image
from .portal import BrandPage

if TYPE_CHECKING:
    from lxml.html import HtmlElement


# --- The text of a page as lines that know the heading above them; Markdown or plain ----------------------------------


_MOST_CHARACTERS = 400_000
_MOST_LINES = 10_000
_MOST_BELOW = 300
_LONGEST_LINE = 2000
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,2000}(?:\s[^()]{0,300})?\)")
_MARKS = re.compile(r"[*_`|]+|^\s*(?:[-+•·–]|\d{1,2}[.)])\s+|^\s{0,3}#{1,6}\s+(?![0-9A-Fa-f]{6}\b)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.{1,200})")
_BOLD = re.compile(r"\s*\*\*([^*]{1,80})\*\*:?\s*")


@dataclass(frozen=True, slots=True)
class GuidelineLine:
    """One line: what it says without marks, the heading above it, and 1 to 6 where it is a heading itself."""

    text: str
    heading: str = ""
    level: int = 0
    item: bool = False


def to_lines(text: str) -> list[GuidelineLine]:
    """The lines that say something, without links and marks. A line that is bold as a whole is a heading of level 6."""
    lines: list[GuidelineLine] = []
    heading = ""
    for raw in text[:_MOST_CHARACTERS].splitlines():
        if len(lines) == _MOST_LINES:
            break
        if not raw or raw.isspace():
            continue
        plain = _LINK.sub(r"\1", raw[:_LONGEST_LINE])
        head = _HEADING.fullmatch(plain.rstrip()) or None
        bold = _BOLD.fullmatch(plain) if head is None else None
        words = " ".join(_MARKS.sub(" ", plain).split())
        if not words:
            continue
        level = len(head[1]) if head else 6 if bold else 0
        lines.append(
            GuidelineLine(words, heading, level, item=re.match(r"\s*(?:[-+*•·–]|\d{1,2}[.)])\s+\S", plain) is not None)
        )
        if level:
            heading = words
    return lines


def to_section(lines: list[GuidelineLine], first: int) -> list[GuidelineLine]:
    """The lines below the heading at `first`, until one of its own or a higher level."""
    level = lines[first].level or 6
    section: list[GuidelineLine] = []
    for line in islice(lines, first + 1, first + 1 + _MOST_BELOW):
        if line.level and line.level <= level:
            break
        section.append(line)
    return section


# --- How a brand says that it speaks: what stands under a heading about it, never what a text sounds like -------------


_TABLE = load_table(__file__, "brand.yaml")
_VOICE_HEADING = re.compile("|".join(_TABLE["voice"]), re.IGNORECASE)
_DOS = re.compile(r"(?:do|dos|do's|do’s|we are|we do|yes)\s*:?", re.IGNORECASE)
_DONTS = re.compile(r"(?:don'?ts?|don’ts?|do nots?|we are not|we're not|we don't|avoid|no)\s*:?", re.IGNORECASE)
_DO = re.compile(r"do[:\s–-]+(?!not\b)(\S.{2,200})", re.IGNORECASE)
_DONT = re.compile(r"(?:don['’]?t|do not|avoid|never)[:\s–-]+(\S.{2,200})", re.IGNORECASE)
_LISTED = re.compile(
    r"\b(?:voice|tone|personality|we|brand) (?:is|are|sounds?|should be|should sound)(?: always)?:? "
    r"((?:[A-Za-z-]{3,25}, ){0,5}[A-Za-z-]{3,25},? (?:and|but|&) [A-Za-z-]{3,25})(?=[.!;,]|$)",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"[A-Z][\w-]*(?: [\w,-]+){0,3}")
_MOST = 12
_SHORTEST_SUMMARY = 40
_LONGEST_SUMMARY = 600


def find_voice(lines: list[GuidelineLine]) -> dict[str, Any]:
    """`summary`, `attributes` and `dos_and_donts` of the first section about the voice that says something."""
    for at, line in enumerate(lines):
        if line.level and len(line.text) <= 80 and _VOICE_HEADING.search(line.text):
            voice = _read(to_section(lines, at))
            if voice:
                return voice
    return {}


def _read(section: list[GuidelineLine]) -> dict[str, Any]:
    prose = (line.text for line in section if not line.level and not line.item)
    summary = next((text for text in prose if len(text) >= _SHORTEST_SUMMARY), "")
    attributes: list[str] = []
    for line in section:
        if match := _LISTED.search(line.text):
            attributes += re.split(r",? (?:and|but|&) |, ", match[1])
    dos: list[str] = []
    donts: list[str] = []
    under: list[str] | None = None
    for line in section:
        if line.level or not line.item:
            under = dos if _DOS.fullmatch(line.text) else donts if _DONTS.fullmatch(line.text) else None
            if line.level and under is None and _ATTRIBUTE.fullmatch(line.text):
                attributes.append(line.text)
            continue
        if under is not None:
            under.append(line.text)
        elif match := _DONT.fullmatch(line.text):
            donts.append(match[1])
        elif match := _DO.fullmatch(line.text):
            dos.append(match[1])
        elif (head := line.text.partition(":")[0].strip()) and _ATTRIBUTE.fullmatch(head) and len(head) <= 40:
            attributes.append(head)
    voice: dict[str, Any] = {
        "summary": summary[:_LONGEST_SUMMARY],
        "attributes": _unique(attributes),
        "dos_and_donts": {name: found for name, found in (("dos", _unique(dos)), ("donts", _unique(donts))) if found},
    }
    return {name: value for name, value in voice.items() if value}


def _unique(words: list[str]) -> list[str]:
    unique: dict[str, str] = {}
    for word in words:
        unique.setdefault(word.strip().lower(), word.strip())
    return list(unique.values())[:_MOST]


# --- The fonts that a brand page names for headings, body and code, with their weights and where they come from -------


_FAMILY = r"[\"'“‘]?([A-Z][A-Za-z0-9]{0,40}+(?: [A-Z0-9][A-Za-z0-9]{0,40}+){0,3})[\"'”’]?"
_FONT = r"(?:type ?faces?|fonts?(?: famil(?:y|ies))?)"
_IS = r"\s*+(?:[:=–—-]|\bis\b|\bare\b)\s*+(?:called |set in |the )?"
_STATED = [
    (role, re.compile(rf"\b(?i:{use}(?: {_FONT})?|{_FONT} for {use}){_IS}{_FAMILY}"))
    for role, use in _TABLE["fonts"].items()
]
_FOR = r"(?i: (?:is used )?for (?:all )?(?:our )?)"
_SET_IN = [
    (role, re.compile(rf"(?i:\b{use}(?: text)? (?:is|are) set in ){_FAMILY}|{_FAMILY}{_FOR}(?i:{use}\b)"))
    for role, use in _TABLE["fonts"].items()
]
_ONLY = re.compile(rf"(?i:\b(?:our|the|brand) (?:brand |corporate )?{_FONT}{_IS}|\bfont-family\s*:\s*){_FAMILY}")
_ABOUT = re.compile(r"typograph|type ?face|\bfonts?\b|lettering", re.IGNORECASE)
_WEIGHT = re.compile(r"\b(thin|extra ?light|light|regular|medium|semi ?bold|bold|extra ?bold|black|[1-9]00)\b", re.I)
_ABOUT_ALL = re.compile(r"\b(?:both|all|each)\b[^.;]*", re.IGNORECASE)
_NO_FAMILY = frozenset(_TABLE["no_family"])
_GOOGLE = re.compile(r"https?://fonts\.(?:googleapis|google)\.com/[^\s\"'<>)]{1,500}")
_FROM_GOOGLE = re.compile(r"\bgoogle fonts?\b|fonts\.google\.com", re.IGNORECASE)
_SCALE = re.compile(r"\b(H[1-6]|Body|Caption|Display)\b[^\d\n]{0,30}?(\d{1,3}(?:\.\d{1,3})?\s?(?:px|pt|rem))\b")


def find_fonts(lines: list[GuidelineLine]) -> dict[str, Any]:
    """`heading`, `body` and `mono` where the page says which font they have, and `scale` with sizes it gives."""
    fonts: dict[str, Any] = {}
    scale: dict[str, str] = {}
    for line in lines:
        about = bool(_ABOUT.search(f"{line.heading} {line.text}"))
        if not about:
            continue
        for role, family, words in _families_of(line):
            fonts.setdefault(role, _tell(family, words))
        for match in _SCALE.finditer(line.text):
            scale.setdefault(match[1].lower(), re.sub(r"\s", "", match[2].lower()))
    if scale:
        fonts["scale"] = scale
    return fonts


def _families_of(line: GuidelineLine) -> list[tuple[str, str, str]]:
    """The role and family of each font in a line, with the words of the line that are about it."""
    families: list[tuple[int, str, str]] = []
    for role, pattern in (*_STATED, *_SET_IN):
        match = pattern.search(line.text)
        family = _clean(next(filter(None, match.groups()))) if match else ""
        if match and family:
            families.append((match.start(), role, family))
    if not families and (match := _ONLY.search(line.text)) and (family := _clean(match[1])):
        families.append((match.start(), "heading", family))
    starts = sorted({start for start, _, _ in families})
    if len(starts) < 2:
        return [(role, family, line.text) for _, role, family in families]
    # Each font has the words up to the next one, and those before the first or of a sentence about all of them.
    shared = " ".join((line.text[: starts[0]], *_ABOUT_ALL.findall(line.text)))
    spans = dict(zip(starts, pairwise((*starts, len(line.text))), strict=True))
    return [(role, family, f"{line.text[slice(*spans[start])]} {shared}") for start, role, family in families]


def _clean(family: str) -> str:
    """The family without the words of its weight; "" where nothing but ordinary words is left."""
    words = family.split()
    while words and _WEIGHT.fullmatch(words[-1]):
        words.pop()
    name = " ".join(words)
    return "" if not words or name.lower() in _NO_FAMILY or words[0].lower() in _NO_FAMILY else name


def _tell(family: str, text: str) -> dict[str, Any]:
    words = {match[1].lower().replace(" ", "") for match in _WEIGHT.finditer(text)}
    weights = sorted({int(word) if word.isdecimal() else _TABLE["weights"][word] for word in words})
    font: dict[str, Any] = {"family": family}
    if weights:
        font["weights"] = weights
    if _FROM_GOOGLE.search(text):
        font |= {"origin": "google", "origin_id": family}
    return font


_CODE = re.compile(r"(?<![\w#/&=.])#([0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})(?![\w-])|\bHEX[:\s]{1,3}([0-9A-Fa-f]{6})\b", re.I)
_PARTED = r"(?:\s*+[,/|]\s*+|\s++)"
_RGB = re.compile(
    rf"\bRGBA?\b\s*+[:(]?\s*+(?:R\s*+:?\s*+)?(\d{{1,3}}){_PARTED}(?:G\s*+:?\s*+)?(\d{{1,3}}){_PARTED}(?:B\s*+:?\s*+)?(\d{{1,3}})\b",
    re.IGNORECASE,
)
_COLOUR_WORD = re.compile(r"colou?r|hex|rgb|palette|--", re.IGNORECASE)
_LABELS = re.compile(
    r"\b(?:HEX|RGBA?|CMYK|HSLA?|HSB|HSV|PMS|Pantone|RAL|Coated|Uncoated|Copy|Colou?r codes?)\b.*", re.IGNORECASE
)
_NAME = re.compile(r"[^\W\d_][\w'&.+-]*(?: [\w'&.+-]+){0,4}")
_NO_NAME = re.compile(
    r"\b(?:primary|secondary|accent|background|text|surface|neutral|brand|main|colou?rs?|palette|code|value|our|the)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\(([^()]{1,60})\)")
_CLAUSE_END = re.compile(r"[.,;|/•·]")
_SENTENCE_END = re.compile(r"[.;|](?:\s|$)")
_ROLES = [(role, re.compile(words, re.IGNORECASE)) for role, words in _TABLE["roles"].items()]


def read_guidelines(text: str) -> Findings:
    """The colours, fonts and tone of voice that a page's text states; what it does not state is not there."""
    lines = to_lines(text)
    findings = Findings()
    findings.palette = find_swatches(lines)
    findings.colors = to_slots(findings.palette)
    findings.typography = find_fonts(lines)
    findings.tone_of_voice = find_voice(lines)
    return findings


def find_swatches(lines: list[GuidelineLine]) -> list[Swatch]:
    """At most 20 colours in the order of the page, each with the name and role that stand with it or above it."""
    swatches: dict[str, Swatch] = {}
    for at, line in enumerate(lines):
        # A line with many codes is a ramp or code: its codes are colours, and no words stand with one of them.
        codes = _codes_of(line)
        phrases = _to_phrases(line.text, [code.span for code in codes])
        roles = _to_roles(phrases)
        for number, (code, phrase, own) in enumerate(zip(codes, phrases, roles, strict=True)):
            label = "" if len(codes) > 3 else _to_label(phrase.before) if number else _find_label(lines, at, code)
            # Where the line gives some of its colours a role, it gives none to the others.
            role = own or ("" if any(roles) else find_role(label) or find_role(line.text)) or find_role(line.heading)
            # "Primary colour" is what a colour is for and not what it is called.
            names = (label, _to_label(phrase.aside) if len(codes) < 4 else "")
            name = next((text for text in names if _NO_NAME.sub("", text).strip(" -")), "")
            swatch = Swatch(code.hex, name, role)
            if code.hex in swatches:
                swatches[code.hex] = swatches[code.hex].joined(swatch)
            elif len(swatches) < MOST_SWATCHES:
                swatches[code.hex] = swatch
    return list(swatches.values())


def find_role(text: str) -> str:
    """The role that words give a colour, "" where they give none."""
    return next((role for role, words in _ROLES if words.search(text.replace("-", " "))), "")


@dataclass(frozen=True, slots=True)
class _Code:
    """A colour code in a line: which colour it is, and from where to where it stands."""

    hex: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Phrase:
    """The words of a line that are about one of its colours: before its code, behind it, and in brackets behind it.

    `is_linked` says that no sentence ends between the colour before and this one.
    """

    before: str
    behind: str
    aside: str
    is_linked: bool


def _to_phrases(text: str, spans: Sequence[tuple[int, int]]) -> list[_Phrase]:
    """The words about each colour of a line, by where the codes of the colours stand.

    Words between two codes are parted where a clause ends. Without an end they belong to the code behind them, unless
    the line begins with a code, as in "#0055FF primary #FF0055 secondary".
    """
    leads = bool(spans) and any(character.isalpha() for character in text[: spans[0][0]])
    parts: list[tuple[str, str, bool]] = [("", text[: spans[0][0]], False)] if spans else []
    for (_, end), (start, _) in pairwise(spans):
        between = text[end:start]
        aside = _ASIDE.match(between)
        cut = _CLAUSE_END.search(between, aside.end() if aside else 0)
        at = cut.start() if cut else aside.end() if aside else 0 if leads else len(between)
        parts.append((between[:at], between[at:], not _SENTENCE_END.search(between)))
    parts.append((text[spans[-1][1] :] if spans else "", "", False))
    phrases = []
    for (_, before, is_linked), (behind, _, _) in pairwise(parts):
        aside = _ASIDE.match(behind)
        phrases.append(_Phrase(before, _SENTENCE_END.split(behind)[0], aside[1] if aside else "", is_linked))
    return phrases


def _to_roles(phrases: Sequence[_Phrase]) -> list[str]:
    """The role of each colour of a line, "" where it has none; a colour that is only listed has that of the last."""
    roles: list[str] = []
    for phrase in phrases:
        role = find_role(phrase.before) or (find_role(phrase.behind) if len(phrases) > 1 else "")
        roles.append(role or (roles[-1] if phrase.is_linked else ""))
    return roles


def _codes_of(line: GuidelineLine) -> list[_Code]:
    """The colour codes of a line in their order."""
    codes = []
    for match in _CODE.finditer(line.text):
        digits = match[1] or match[2]
        # "#123" counts things; three digits are a colour right behind a word that says so.
        if len(digits) == 3 and not _COLOUR_WORD.search(line.text[max(0, match.start() - 25) : match.start()]):
            continue
        codes.append(_Code(find_hex(digits), match.span()))
    for match in _RGB.finditer(line.text):
        channels = [int(match[part]) for part in (1, 2, 3)]
        code = to_hex(channels[0], channels[1], channels[2]) if max(channels) < 256 else ""
        # Where both are given they are one colour, whose code is the more exact of the two.
        if code and not codes:
            codes.append(_Code(code, match.span()))
    return sorted(codes, key=lambda code: code.span)


def _find_label(lines: list[GuidelineLine], at: int, code: _Code) -> str:
    """What a colour is called: the words before its code, else the short line above that is no code itself."""
    start = code.span[0]
    own = _to_label(lines[at].text[:start])
    if own:
        return own
    if lines[at].text[:start].strip(" :-–—(") and not _LABELS.match(lines[at].text):
        return ""
    for above in reversed(lines[max(0, at - 3) : at]):
        if _codes_of(above) or _LABELS.match(above.text):
            continue
        return _to_label(above.text) if len(above.text) <= 40 else ""
    return ""


def _to_label(text: str) -> str:
    text = _LABELS.sub("", text).strip(" \t:;,.()[]-–—=>")
    text = re.sub(r"^(?:--|(?:also|and|or)\b\s*|&\s*)", "", text, flags=re.IGNORECASE)
    match = _NAME.fullmatch(text)
    return match[0] if match and len(text) <= 40 else ""


# --- Reads an accepted brand page and those below it about colours, fonts, logos and voice, and tells what they
# say ------------------------------------------------------------------------------------------------------------------


THIN_WORDS = 150
"""Words below which a page says too little for its silence to mean anything (the tool contract's figure)."""
MOST_BELOW = 4
"""Pages below a portal that are read with it."""
MOST_BYTES = 100_000
"""Bytes of one page's text."""
_BELOW = re.compile(r"\b(?:colou?rs?|palette|typography|typefaces?|fonts?|logos?|voice|tone|visual identity)\b", re.I)
_MARKDOWN_LINK = re.compile(r"(?<!!)\[([^\[\]]{1,100})\]\((https?://[^()\s]{1,2000})\)")
_LOGO_WORDS = re.compile(r"\b(?:logo|logotype|wordmark|brandmark|logomark|symbol)\b", re.IGNORECASE)
_DARK = re.compile(r"\b(?:dark|white|reversed?|inverted?|negative|knockout)\b", re.IGNORECASE)
_ICON = re.compile(r"\b(?:icon|symbol|logomark|brandmark|glyph|avatar)\b", re.IGNORECASE)
_MOST_IMAGES = 1000
_IMAGE = re.compile(r"\.(?:svg|png|webp)$", re.IGNORECASE)


async def read_portal(context: Context, page: BrandPage, label: str) -> tuple[Findings, str, bool]:
    """What a brand page and up to four pages below it say; `label` is the brand's name as its domain has it.

    That is the findings, the text, and whether there is too little of it for its silence to mean anything. The page is
    read as any other, with a browser where it needs one; what cannot be read that way is taken as it came.
    """
    rendered = await read_text(context, page.url)
    below = find_below(page, rendered)
    more = await asyncio.gather(*[read_text(context, url) for url in below])
    findings = read_guidelines(rendered)
    findings.fill(read_guidelines(page.text))
    texts = [(page.url, rendered if len(rendered.split()) * 2 > len(page.text.split()) else page.text)]
    for url, text in zip(below, more, strict=True):
        if text:
            findings.fill(read_guidelines(text))
            texts.append((url, text))
    links = "\n".join(url for url, _ in page.links)
    linked = "\n".join(map(str, page.root.xpath("//link/@href")))
    if sheet := next((match[0] for match in _GOOGLE.finditer(f"{linked}\n{links}") if "/css" in match[0]), ""):
        findings.typography.setdefault("google_fonts_url", sheet)
    for role, image in find_logos(page.root, page.url, label).items():
        findings.logos.setdefault(role, image)
    whole = "\n\n".join(f"# {url}\n\n{text}" for url, text in texts if text)
    return findings, whole, sum(len(text.split()) for _, text in texts) < THIN_WORDS


async def read_text(context: Context, url: str) -> str:
    """The text of a page as it is read for people, "" where it cannot be read."""
    try:
        page = await context.run("read_page", {"url": url, "mode": "full", "max_length": MOST_BYTES})
    except Fault:
        return ""
    return str(page["content"])


def find_below(page: BrandPage, rendered: str) -> list[str]:
    """Pages of the same host that a brand page links to as its colours, fonts, logos or voice, by text or path."""
    links = [*page.links, *((match[2], match[1]) for match in _MARKDOWN_LINK.finditer(rendered))]
    host = to_host(page.url)
    pages: dict[str, None] = {}
    for url, text in links:
        at = url.partition("#")[0]
        path = re.sub(r"[-_/]+", " ", unquote(urlsplit(at).path))
        own = to_host(at) == host and at.rstrip("/") != page.url.rstrip("/")
        if own and not re.search(r"\.\w{2,4}$", urlsplit(at).path) and (_BELOW.search(text) or _BELOW.search(path)):
            pages.setdefault(at)
    return list(pages)[:MOST_BELOW]


def find_logos(root: HtmlElement, base: str, label: str) -> dict[str, Any]:
    """Logos that a brand page shows or lets download: those that are named logos, of the brand or of nobody else.

    A logo for dark grounds is `dark`, one without the name is `icon`, and any other is `primary`; the first counts.
    """
    logos: dict[str, Any] = {}
    images = [
        (str(node.get("src")), str(node.get("alt") or ""), node) for node in root.xpath("//img[@src]")[:_MOST_IMAGES]
    ]
    downloads = [
        (str(node.get("href")), str(node.text_content()), None) for node in root.xpath("//a[@href]")[:_MOST_IMAGES]
    ]
    for address, words, node in [*images, *downloads]:
        url = join(base, address)
        path = urlsplit(url).path
        if not url or not _IMAGE.search(path):
            continue
        file = re.sub(r"[-_.]+", " ", unquote(path.rpartition("/")[2]))
        named = f"{words} {file}"
        if not _LOGO_WORDS.search(named) or not _is_own(named, label):
            continue
        role = "dark" if _DARK.search(named) else "icon" if _ICON.search(named) else "primary"
        width, height = (_pixels(node, name) for name in ("width", "height"))
        logos.setdefault(role, to_image(url, width, height))
    return logos


_KNOWN = re.compile(rf"\b(?:{to_alternatives(_TABLE['logo_words'])})\b", re.IGNORECASE)


def _is_own(words: str, label: str) -> bool:
    """Whether words name the brand, or nobody at all; the logo of a partner names the partner."""
    squeezed = re.sub(r"[^a-z0-9]", "", words.lower())
    return (bool(label) and label in squeezed) or not re.sub(r"[\W_]+", "", _KNOWN.sub(" ", words))


def _pixels(node: HtmlElement | None, name: str) -> int | None:
    value = str(node.get(name) or "") if node is not None else ""
    return int(value) if re.fullmatch(r"\d{1,5}", value) else None
