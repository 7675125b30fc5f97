"""Markdown as it is told to a model: its links with numbers and one list of addresses, its pictures as their words.

What is kept of a page stays as it is, and offsets are characters of that; a piece of it is rendered when it is told.
Numbers are those of the whole text, so that one means the same address in every piece, and those that the text itself
has in brackets, such as its notes, are left out. Addresses on the host of the page are told from their path on. A link
is read as CommonMark reads it (https://spec.commonmark.org/0.31.2/#links), but for targets that are no addresses, which
are mostly formulas. Code, tags and addresses that are written out stay as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from specloom.core import dataclass, strip_trackers

from .indented import find_indented
from .windows import LONGEST_TOKEN, find_end, find_pause, to_cost

INLINE, NUMBERED, NONE, ALT = "inline", "numbered", "none", "alt"
LINKS: Final = (NUMBERED, INLINE, NONE)
IMAGES: Final = (ALT, INLINE, NONE)
LONGEST_TEXT: Final = 4_000
"""Characters of the text of a link; a bracket that is open for longer is one of prose."""
_LONGEST_CODE: Final = 20_000
"""Characters after which code within a line is not closed any more."""
_TRIES: Final = 10
_FULL: Final = 0.93
"""Which part of a budget has to be used for a window not to be tried larger."""

_FENCE: Final = re.compile(
    r"^[ \t]{0,40}(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]{1,8}){0,8}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})", re.MULTILINE
)
_TOKEN: Final = re.compile(
    r"\\[!-/:-@\[-`{-~]|`+|<[A-Za-z/!?][^<>\n]{0,2000}+>|!?\[|\]"
    r"|\n(?=[ \t]*(?:\n|\||#{1,6}[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t]|>[ \t]*\n))"
)
_TARGET: Final = re.compile(
    r"\([ \t]{0,8}+(?:<(?P<marked>[^<>\n]{0,2000})>|(?P<bare>(?:[^\s()<\\]++|\\.|\([^\s()\\]{0,500}+\)){0,400}+))"
    r"(?:[ \t]{1,8}(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|\([^()\n]{0,200}\)))?[ \t]{0,8}\)"
)
_LABEL: Final = re.compile(r"\[([^\[\]\n]{0,200})\]")
_DEFINITION: Final = re.compile(
    r"^ {0,3}\[(?P<label>(?!\^)[^\[\]\n]{1,200})\]:[ \t]{0,40}"
    r"(?:<(?P<marked>[^<>\n]{1,2000})>|(?P<bare>[^\s<]\S{0,2000}))"
    r"(?:[ \t]{1,8}(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|\([^()\n]{0,200}\)))?[ \t]{0,40}$",
    re.MULTILINE,
)
_ADDRESS: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,30}:|[^/.#?]{0,2000}[/.#?]|$")
_ELSEWHERE: Final = re.compile(r"(?:#|javascript:|data:|vbscript:|blob:)|$", re.IGNORECASE)
"""Targets that nobody can open: places on the page itself, scripts, what holds its own data."""
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_NUMBER: Final = re.compile(r"\[[ \t\n]{0,9}(\d{1,4})[ \t\n]{0,9}\]")
_ORIGIN: Final = re.compile(r"https?://[^/?#\s]{1,300}(?=[/?#]|$)", re.IGNORECASE)
_SCHEME: Final = re.compile(r"(?:https?://(?:www\.)?|mailto:)", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")
_MARKERS: Final = re.compile(r"(?:[ \t>]|[-*+](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))*+")
_STRUCTURE: Final = frozenset("#>~`=+-*|")
"""What begins a block where a line begins with it."""
_OPENING: Final = frozenset("([:")
"""What makes a link or a definition of the bracket that is closed before it."""
_FILE: Final = re.compile(r"[\w .()%+,@~-]{1,200}\.(?:jpe?g|png|gif|svg|webp|avif|bmp|tiff?|ico|heic)", re.IGNORECASE)
_CAMERA: Final = re.compile(
    r"(?:img|dsc[nf]?|pict?|image|photo|picture|figure|logo|icon)?[\s_#-]{0,4}\d[\d_-]{0,40}", re.I
)
_NOTHING: Final = frozenset(
    (
        "alt", "arrow", "author avatar", "author image", "author photo", "avatar", "background", "banner", "cover",
        "cover image", "decorative", "default", "featured image", "graphic", "hero", "hero image", "icon", "image",
        "img", "loading", "logo", "main image", "photo", "pic", "picture", "placeholder", "post image", "profile image",
        "profile photo", "profile picture", "spacer", "thumb", "thumbnail", "user avatar", "user image",
    )
)  # fmt: skip
"""Alternative texts that say no more than that there is a picture."""


@dataclass(frozen=True, slots=True)
class LinkStyle:
    """How links and pictures are told.

    `links`: `numbered` (`[text][3]`, and the address of 3 in a list behind it), `none` (the words) or `inline` (as they
    are). `images`: `alt` (`![words]`, where they say something), `none` or `inline`.
    """

    links: str = NUMBERED
    images: str = ALT

    @property
    def is_plain(self) -> bool:
        """Whether everything stays as it is."""
        return self.links == INLINE and self.images == INLINE


AS_KEPT: Final = LinkStyle(INLINE, INLINE)
WORDS: Final = LinkStyle(NONE, ALT)


@dataclass(frozen=True, slots=True)
class _Link:
    """A link or a picture, from `start` to `end`; what is shown of it stands from `first` to `last`."""

    start: int
    first: int
    last: int
    end: int
    target: str
    is_image: bool
    is_reference: bool
    picture: _Link | None = None
    """The picture that is all that the link has."""
    is_repeat: bool = False
    """Whether another link leads there as well, and has the words of the picture."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """What is told in the place of a part of the text; `number` is that of an address, 0 for none."""

    start: int
    end: int
    text: str = ""
    number: int = 0
    is_drop: bool = False


class Rendition:
    """A kept Markdown text, any piece of which can be told with its links and pictures in a style.

    `page` is its own address: links to it are told as their words. `base` is the address that stands beside what is
    told, that of the page where it is left out: what is on its host is told without it.
    """

    __slots__ = ("_addresses", "_code", "_edits", "_ends", "_gains", "_solid", "_starts", "text")

    def __init__(self, text: str, style: LinkStyle = AS_KEPT, *, page: str = "", base: str | None = None) -> None:
        self.text = text
        self._addresses: dict[int, str] = {}
        self._edits: list[_Edit] = []
        self._code: list[tuple[int, int]] = []
        solid: list[tuple[int, int]] = []
        if not style.is_plain and ("](" in text or "]:" in text):
            self._code = _find_code(text)
            links, definitions = _parse(text, self._code)
            links = _mark_repeats(text, links) if style.images == ALT else links
            if style.links != NUMBERED:
                page = ""
            numbers = _number(text, links, definitions, style, page) if style.links == NUMBERED else {}
            host = to_origin(page if base is None else base)
            self._addresses = {number: _to_destination(address, host) for address, number in numbers.items()}
            self._edits = list(_edit(text, links, definitions, style, numbers, page))
            solid = _join([*((one.start, one.end) for one in links), *((one.start, one.end) for one in self._edits)])
        self._starts = [one.start for one in self._edits]
        self._ends = [one.end for one in self._edits]
        self._solid = solid
        # What the pieces before each edit and the edits themselves have in characters less than the text.
        self._gains = [0]
        for one in self._edits:
            self._gains.append(self._gains[-1] + one.end - one.start - len(one.text))

    def tell(self, start: int = 0, end: int = -1) -> str:
        """A piece of the text as it is told, with the list of the addresses that it refers to."""
        end = len(self.text) if end < 0 else end
        return self.with_addresses(*self.tell_body(start, end), end)

    def tell_body(self, start: int, end: int) -> tuple[str, set[int]]:
        """A piece without the list, and the numbers of the addresses that it refers to."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        if first >= last:
            return self.text[start:end], set()
        parts: list[str] = []
        numbers: set[int] = set()
        at = start
        for edit in self._edits[first:last]:
            parts.append(self.text[at : edit.start] if edit.start > at else "")
            # What is replaced is never told by halves.
            if edit.start >= start and edit.end <= end:
                parts.append(edit.text)
                numbers |= {edit.number} if edit.number else set()
            at = edit.end
        parts.append(self.text[at:end])
        return "".join(parts), numbers

    def with_addresses(self, body: str, numbers: Iterable[int], end: int) -> str:
        """What was told up to `end` of the text, with the list of the addresses of these numbers."""
        lines = [f"[{number}]: {self._addresses[number]}" for number in sorted(numbers)]
        if not lines:
            return body
        fence = self._find_open_fence(end)
        if fence and not body.rstrip().endswith(fence):
            body = f"{body.rstrip()}\n{fence}"
        return f"{body.rstrip()}\n\n" + "\n".join(lines)

    def _find_open_fence(self, end: int) -> str:
        """The fence of code that is open at a place, "" for none."""
        place = bisect_left(self._code, (end,)) - 1
        if place < 0 or not (end < self._code[place][1] or end == len(self.text)):
            return ""
        fence = _FENCE.match(self.text, self._code[place][0])
        return fence["fence"] if fence else ""

    def find_end(self, start: int, room: int, *, end: int = -1, most: int = 0) -> int:
        """Where the window ends that begins at `start` and is told in `room` tokens and `most` bytes; 0 is no bound.

        It ends in no link, unless its first one has more than there is room for.
        """
        end = len(self.text) if end < 0 else min(end, len(self.text))
        if not self._edits:
            return find_end(self.text, start, room, end=end, most=most)
        bounds = [bound for bound in (room * LONGEST_TOKEN, most) if bound]
        far = min([end, *(self._reach(start, bound) for bound in bounds)])

        def spend(last: int) -> float:
            """Which part of the larger bound the window takes."""
            told = self.tell(start, last)
            taken = to_cost(told) / room if room else 0.0
            return max(taken, len(told.encode("utf-8", "replace")) / most) if most else taken

        low, least, high, spent = start, 0.0, far, spend(far)
        if spent > 1:
            for _ in range(_TRIES):
                middle = low + int((high - low) * min(0.95, max(0.05, (0.99 - least) / (spent - least))))
                if middle <= low:
                    break
                taken = spend(middle)
                if taken > 1:
                    high, spent = middle, taken
                else:
                    low, least = middle, taken
                    if taken >= _FULL:
                        break
        last = far if high == far and spent <= 1 else low
        if last >= end:
            return end
        return self._snap(max(start + 1, find_pause(self.text, start, max(last, start + 1))), start)

    def _reach(self, start: int, length: int) -> int:
        """How far in the text so many characters of what is told go from `start`; the lists not counted."""
        first = bisect_right(self._ends, start)
        before = self._gains[first]
        low, high = first, len(self._edits)
        while low < high:
            middle = (low + high) // 2
            if self._starts[middle] - start - (self._gains[middle] - before) > length:
                high = middle
            else:
                low = middle + 1
        return min(len(self.text), start + length + self._gains[low] - before)

    def _snap(self, at: int, start: int) -> int:
        """A place at which no link is cut, before `at` where there is one behind `start`."""
        place = bisect_right(self._solid, (at, -1)) - 1
        if place < 0 or not self._solid[place][0] < at < self._solid[place][1]:
            return at
        first, last = self._solid[place]
        return first if first > start else last


def _join(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that overlap as one, in their order."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif end > start:
            joined.append((start, end))
    return joined


# --- What a text has of links and pictures ---------------------------------------------------------------------------


def _find_code(text: str) -> list[tuple[int, int]]:
    """Where fenced and indented code begins and ends, in order; a fence that is not closed goes on to the end."""
    spans = find_indented(text)
    at = 0
    closing: dict[str, re.Pattern[str]] = {}
    while fence := _FENCE.search(text, at) if "```" in text or "~~~" in text else None:
        sign = fence["fence"]
        if sign not in closing:
            closing[sign] = re.compile(rf"^[ \t>]{{0,60}}{sign[0]}{{{len(sign)},}}[ \t]*$", re.MULTILINE)
        close = closing[sign].search(text, fence.end())
        at = close.end() if close else len(text)
        spans.append((fence.start(), at))
    return _join(spans)


def _parse(text: str, code: Sequence[tuple[int, int]]) -> tuple[list[_Link], list[tuple[int, int]]]:
    """The links and pictures of a text as they are closed, those in others first; and where addresses are defined."""
    definitions: dict[str, str] = {}
    places: list[tuple[int, int]] = []
    if "]:" in text:
        for match in _DEFINITION.finditer(text):
            start = match.start()
            place = bisect_right(code, (start, len(text))) - 1
            is_code = place >= 0 and start < code[place][1]
            # No definition interrupts a paragraph.
            is_first = not start or text.endswith("\n\n", 0, start) or (places and places[-1][1] == start - 1)
            if is_first and not is_code:
                target = match["marked"] or match["bare"]
                definitions.setdefault(_fold(match["label"]), _ESCAPED.sub(r"\1", target))
                places.append((start, match.end()))
    opaque = _join([*code, *places])
    links: list[_Link] = []
    openers: list[tuple[int, int, bool]] = []
    closed = 0
    """Below which opener a bracket holds a link, and is none itself."""
    at = skipped = 0
    while token := _TOKEN.search(text, at):
        start, at = token.start(), token.end()
        while skipped < len(opaque) and opaque[skipped][1] <= start:
            skipped += 1
        if skipped < len(opaque) and opaque[skipped][0] <= start:
            at = opaque[skipped][1]
            openers.clear()
            closed = 0
            continue
        sign = token[0]
        if sign in {"[", "!["}:
            openers.append((start, at, sign == "!["))
        elif sign[0] == "\n":
            openers.clear()
            closed = 0
        elif sign[0] == "`":
            most = min(at + _LONGEST_CODE, opaque[skipped][0] if skipped < len(opaque) else len(text))
            at = _find_span_end(text, at, len(sign), most)
        elif sign == "]" and openers:
            opener, first, is_image = openers.pop()
            is_holder = not is_image and len(openers) < closed
            closed = min(closed, len(openers))
            if start - first > LONGEST_TEXT:
                continue
            found = _find_target(text, first, start, at, definitions)
            if found is None:
                continue
            target, end, is_reference = found
            if is_holder:
                # What holds a link is none; the link stays as it is, so that nothing becomes one without it.
                while links and links[-1].start > opener:
                    links.pop()
                at = max(at, end)
                continue
            picture = links[-1] if links and links[-1].start >= first else None
            if picture is not None and (
                is_image
                or not picture.is_image
                or text[first : picture.start].strip()
                or text[picture.end : start].strip()
            ):
                picture = None
            links.append(_Link(opener, first, start, end, target, is_image, is_reference, picture))
            at = end
            if not is_image:
                closed = len(openers)
    return links, places


def _find_target(
    text: str, first: int, last: int, at: int, definitions: dict[str, str]
) -> tuple[str, int, bool] | None:
    """The address of a bracket that was closed at `last`, where that ends, and whether it is defined elsewhere."""
    following = text[at : at + 1]
    if following == "(":
        target = _TARGET.match(text, at)
        if target is not None:
            address = target["marked"] if target["marked"] is not None else target["bare"]
            return (_ESCAPED.sub(r"\1", address), target.end(), False) if _ADDRESS.match(address) else None
    if not definitions:
        return None
    label = _LABEL.match(text, at) if following == "[" else None
    name = (label[1] if label else "") or text[first:last]
    address = definitions.get(_fold(name)) if len(name) <= 200 else None
    return None if address is None else (address, label.end() if label else at, True)


def _find_span_end(text: str, at: int, length: int, most: int) -> int:
    """Where code within a line ends that is opened by so many marks before `at`; `at` itself where it is prose."""
    blank = text.find("\n\n", at, most)
    stop = blank if blank >= 0 else most
    mark = "`" * length
    found = text.find(mark, at, stop)
    while found >= 0:
        after = found + length
        while after < stop and text[after] == "`":
            after += 1
        if after - found == length:
            return after
        found = text.find(mark, after, stop)
    return at


def _fold(label: str) -> str:
    return " ".join(label.split()).casefold()


def _mark_repeats(text: str, links: list[_Link]) -> list[_Link]:
    """The links, those marked that are a picture and repeat a link of words: of a card, its title mostly."""
    if not any(one.picture for one in links):
        return links
    words: dict[str, set[str]] = {}
    for one in links:
        if not one.is_image and one.picture is None:
            words.setdefault(one.target, set()).update(_WORD.findall(text[one.first : one.last].casefold()))
    return [
        replace(one, is_repeat=True)
        if one.picture
        and one.target in words
        and words[one.target].issuperset(_WORD.findall(text[one.picture.first : one.picture.last].casefold()))
        else one
        for one in links
    ]


# --- What is told in their place -------------------------------------------------------------------------------------


def to_origin(address: str) -> str:
    """The scheme and host of an address, "" where it has none."""
    origin = _ORIGIN.match(address)
    return origin[0] if origin else ""


def _to_address(target: str, page: str) -> str:
    """The address of a link: without the marks of who linked it, and whole where it is one of the page's own host."""
    address = target.strip()
    head, mark, _ = address.partition("#:~:")
    address = strip_trackers(head.rstrip("#") if mark else address)
    return f"{to_origin(page)}{address}" if address.startswith("/") and not address.startswith("//") else address


def _to_destination(address: str, host: str = "") -> str:
    """An address as it is defined in Markdown, without the host that it shares with the page."""
    if host and address.startswith(f"{host}/") and not address.startswith(f"{host}//"):
        address = address[len(host) :]
    address = address.replace("\\", "%5C").replace("<", "%3C").replace(">", "%3E")
    return f"<{address}>" if any(map(str.isspace, address)) else address


def _number(
    text: str, links: Sequence[_Link], definitions: Sequence[tuple[int, int]], style: LinkStyle, page: str
) -> dict[str, int]:
    """The number of each address in the order in which they come, without the numbers that stand in brackets."""
    referring = [one for one in links if _refers(text, one, style, page)]
    if not referring:
        return {}
    shown = sorted((one.start, _to_address(one.target, page)) for one in referring)
    tails = _join([*((one.last, one.end) for one in links), *definitions])
    starts = [start for start, _ in tails]
    # Brackets that are not told take no number.
    kept = {one.start for one in referring} | {one.picture.start for one in referring if one.picture}
    gone = {
        one.first - 1 for one in links if one.start not in kept and not (one.is_image and _is_told(text, one, style))
    }
    taken = set()
    for match in _NUMBER.finditer(text):
        place = bisect_right(starts, match.start()) - 1
        if match.start() not in gone and (place < 0 or tails[place][1] <= match.start()):
            taken.add(int(match[1]))
    numbers: dict[str, int] = {}
    number = 0
    for _, address in shown:
        if address not in numbers:
            number += 1
            while number in taken:
                number += 1
            numbers[address] = number
    return numbers


def _refers(text: str, link: _Link, style: LinkStyle, page: str) -> bool:
    """Whether a link is told with a number: it has words, which are not its address, and leads somewhere else."""
    if link.is_image or not text[link.first : link.last].strip() or _is_bare(text, link, style):
        return False
    address = _to_address(link.target, page)
    if not address or _ELSEWHERE.match(address) or (page and address == page.partition("#")[0]):
        return False
    words = text[link.first : link.last].strip().replace("\\", "")
    return words not in {address, link.target} and _SCHEME.sub("", words).rstrip("/") != _SCHEME.sub(
        "", address
    ).rstrip("/")


def _is_bare(text: str, link: _Link, style: LinkStyle) -> bool:
    """Whether nothing is left of a link: it has no words, and its picture is not told."""
    if link.picture is None:
        return not text[link.first : link.last].strip()
    return style.images == NONE or (style.images == ALT and (link.is_repeat or not _words_of(text, link.picture)))


def _is_told(text: str, image: _Link, style: LinkStyle) -> bool:
    """Whether a picture that is not all that a link has is told."""
    return style.images == INLINE or (style.images == ALT and says_something(text[image.first : image.last]))


def _words_of(text: str, picture: _Link) -> str:
    words = " ".join(text[picture.first : picture.last].split())
    return "" if _FILE.fullmatch(words) else words


def says_something(alt: str) -> bool:
    """Whether an alternative text says more than that there is a picture: no file name, no number, no "logo"."""
    words = " ".join(alt.split())
    return any(map(str.isalpha, words)) and not (
        words.casefold() in _NOTHING or _FILE.fullmatch(words) or _CAMERA.fullmatch(words)
    )


def _edit(
    text: str,
    links: Sequence[_Link],
    definitions: Sequence[tuple[int, int]],
    style: LinkStyle,
    numbers: dict[str, int],
    page: str,
) -> Iterator[_Edit]:
    """What is changed of the text, in its order and none within another."""
    edits: list[_Edit] = []
    for link in links:
        if link.is_image:
            made = _edit_image(text, link, style)
            while made and made[0].is_drop and edits and edits[-1].start >= link.start:
                edits.pop()
            edits += made
            continue
        if link.picture is not None and _is_bare(text, link, style) and style.images != INLINE:
            while edits and edits[-1].start >= link.start:
                edits.pop()
            edits.append(_drop(text, link.start, link.end))
            continue
        if link.picture is not None and style.images == ALT:
            while edits and edits[-1].start >= link.start:
                edits.pop()
            edits.append(_Edit(link.picture.last, link.picture.end, "]"))
        if style.links == INLINE:
            continue
        if not text[link.first : link.last].strip():
            edits.append(_drop(text, link.start, link.end))
        elif _refers(text, link, style, page) and style.links == NUMBERED:
            number = numbers[_to_address(link.target, page)]
            edits.append(_Edit(link.last, link.end, f"][{number}]", number))
        elif link.picture is not None:
            # A picture that leads nowhere is told as one that is no link.
            while edits and edits[-1].start >= link.start:
                edits.pop()
            edits.append(_Edit(link.start, link.first))
            edits += _edit_image(text, link.picture, style, link.end)
            edits.append(_Edit(link.last, link.end))
        elif _may_be_bared(text, link):
            before = _line_start(text, link.start)
            mark = "\\" if not before.strip(" \t>") and text[link.first] in _STRUCTURE else ""
            # Code of two links in a row stays that of two.
            gap = " " if text[link.last - 1] == "`" and text[link.end : link.end + 1] in {"`", "["} else ""
            edits += [_Edit(link.start, link.first, mark), _Edit(link.last, link.end, gap)]
    if style.links != INLINE:
        edits += [_Edit(start, end, is_drop=True) for start, end in definitions]
    edits.sort(key=lambda one: (one.start, one.end))
    return _drop_lines(text, edits)


def _edit_image(text: str, image: _Link, style: LinkStyle, end: int = -1) -> list[_Edit]:
    """What is changed of a picture that is not all that a link has, or of one in a link that goes and has its `end`."""
    if style.images == INLINE:
        is_undefined = image.is_reference and style.links != INLINE
        return [_Edit(image.last, image.end, f"]({_to_destination(image.target)})")] if is_undefined else []
    if not _is_told(text, image, style):
        return [_drop(text, image.start, image.end)]
    end = image.end if end < 0 else end
    gap = " " if text[end : end + 1] in _OPENING else ""
    return [_Edit(image.last, image.end, f"]{gap}")]


def _drop(text: str, start: int, end: int) -> _Edit:
    """Nothing in the place of a part, but a blank where what stands around it would become one thing."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if not _line_start(text, start).strip(" \t>"):
        while text[end : end + 1] in {" ", "\t"}:
            end += 1
        return _Edit(start, end, "\\" if text[end : end + 1] in _STRUCTURE else "", is_drop=True)
    is_joint = (before.isalnum() and after.isalnum()) or (before in {"]", "`", "!", "\\", "<"} and not after.isspace())
    return _Edit(start, end, " " if is_joint and after else "", is_drop=True)


def _line_start(text: str, at: int) -> str:
    """What stands before a place on its line; the last of it where that is long."""
    most = text[max(0, at - 60) : at]
    return most[most.rfind("\n") + 1 :]


def _may_be_bared(text: str, link: _Link) -> bool:
    """Whether the words of a link make nothing new of what stands around them."""
    before, after = text[link.start - 1 : link.start], text[link.end : link.end + 1]
    first, last = text[link.first], text[link.last - 1]
    if before in {"]", "!"} and first in _OPENING:
        return False
    if text.count("`", link.first, link.last) % 2 or (first == before == "`"):
        return False
    if last == "]" and after and after in _OPENING:
        return False
    following = text[link.end + 1 : link.end + 2]
    return not (before == "[" and after == "]" and following and following in _OPENING)


def _drop_lines(text: str, edits: Sequence[_Edit]) -> Iterator[_Edit]:
    """The edits, with a line of which nothing is left dropped whole, and with it one of the blank lines around it."""
    lines: list[tuple[int, int]] = []
    at = 0
    while at < len(edits):
        if not edits[at].is_drop:
            at += 1
            continue
        start = text.rfind("\n", 0, edits[at].start) + 1
        end = text.find("\n", edits[at].end)
        end = len(text) if end < 0 else end
        first = at
        while at < len(edits) and edits[at].start < end:
            at += 1
        group = edits[first:at]
        if first and edits[first - 1].end > start:
            continue
        between = [start, *(place for one in group for place in (one.start, one.end)), end]
        left = "".join(text[one:other] for one, other in list(pairwise(between))[::2])
        if all(one.is_drop for one in group) and _MARKERS.fullmatch(left) and _is_alone(text, left, end):
            if lines and lines[-1][1] == start:
                lines[-1] = (lines[-1][0], min(len(text), end + 1))
            else:
                lines.append((start, min(len(text), end + 1)))
    spans = [(start, _to_gap_end(text, start, end)) for start, end in lines]
    place = 0
    for one in edits:
        while place < len(spans) and spans[place][1] <= one.start:
            yield _Edit(*spans[place], is_drop=True)
            place += 1
        if place == len(spans) or one.end <= spans[place][0]:
            yield one
    for span in spans[place:]:
        yield _Edit(*span, is_drop=True)


def _is_alone(text: str, left: str, end: int) -> bool:
    """Whether what follows a line stands for itself, and is not the rest of an item that begins with the line."""
    if not left.strip(" \t>"):
        return True
    while text[end : end + 1] == "\n":
        end += 1
    return text[end : end + 1] not in {" ", "\t"}


def _to_gap_end(text: str, start: int, end: int) -> int:
    """Where the blank lines end behind lines that are dropped, if blank lines stand before them as well."""
    if start and not text.endswith("\n\n", 0, start):
        return end
    while text[end : end + 1] == "\n":
        end += 1
    return end
