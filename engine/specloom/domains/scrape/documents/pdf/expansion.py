"""How much a page of a PDF file comes to when every form, pattern and glyph on it is drawn as often as it is named.

Content streams draw content streams, so a few bytes may stand for more drawing than anybody can wait for ("billion
laughs"), and those that name themselves are only ended by the depth to which PDFium follows them. It follows them while
a page is loaded, where it cannot be interrupted, so the sum is made before: over the graph of the streams, each looked
at once and its sum kept by depth.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any, Final

from specloom.core import dataclass

from .layers import find_hidden_layers
from .object_store import (
    ObjectStore,
    PdfReference,
    PdfStream,
    TooLargeError,
    UnsureError,
    copy_objects,
    decode_name,
    index_objects,
)

# PDFium follows forms so deep (kMaxFormLevel), and the fields of a form (kMaxRecursion).
_DEEPEST: Final = 41
_DEEPEST_FIELD: Final = 33
# Bytes of drawing. Beyond the first a page is not read if most of it is repeated, and beyond the second never.
_MUCH: Final = 8 * 1024 * 1024
_REPEATED: Final = 4
_MOST: Final = 64 * 1024 * 1024
# What an empty form costs, in bytes of drawing.
_FORM: Final = 500
# Packed by one filter, a stream is at most so many times as large.
_RATIO: Final = 1032
_MOST_EDGES: Final = 200_000
_MOST_UNPACKED: Final = 256 * 1024 * 1024
# Of that, for a first look at all pages of a file.
_LITTLE: Final = 32 * 1024 * 1024
_MOST_NODES: Final = 50_000
_MOST_FIELDS: Final = 100_000
_MOST_PARENTS: Final = 32
# Bytes of drawing of a page of which parts are drawn to look at them.
_MOST_DRAWN: Final = 64 * 1024 * 1024

_END: Final = rb"(?=[\0\t\n\f\r /<>\[\](){}%]|$)"
_SPACES: Final = rb"[\0\t\n\f\r ]*+"
_DO: Final = re.compile(rb"/([^\0\t\n\f\r /<>\[\](){}%]*+)" + _SPACES + rb"Do" + _END)
# A name that is written as a string, or one with a comment behind it.
_STRING_DO: Final = re.compile(rb"[)>]" + _SPACES + rb"Do" + _END)
_COMMENT_DO: Final = re.compile(rb"%[^\r\n]*+(?:[\r\n]" + _SPACES + rb"(Do)" + _END + rb")?+")
_PAINT: Final = re.compile(rb"[\0\t\n\f\r ](?:f\*?|F|[Bb]\*?|[Ss]|sh|T[jJ])" + _END)
_SHOW: Final = re.compile(rb"T[jJ]|[\0\t\n\f\r )>]['\"]")
_PATTERN: Final = re.compile(rb"scn|SCN")


@dataclass(frozen=True, slots=True)
class _Scan:
    """What a content stream does: its length, how often it draws what by name, and by a name that cannot be told.

    And how often it paints, and whether it may show letters, use patterns and set masks, where that is asked for.
    """

    length: int
    named: Mapping[bytes, int]
    unnamed: int
    paints: int = 0
    shows: bool = False
    has_patterns: bool = False
    has_masks: bool = False


@dataclass(frozen=True, slots=True)
class _Resources:
    """What resources have that is drawn by a stream of its own."""

    forms: Mapping[bytes, int]
    patterns: tuple[int, ...]
    masks: tuple[int, ...]
    fonts: tuple[int, ...]
    has_forms: bool
    """Whether they say anything of forms and pictures: if not, those of the page count."""

    is_there: bool = True

    def __bool__(self) -> bool:
        return self.is_there

    @property
    def is_flat(self) -> bool:
        """Whether nothing in them has a stream of its own."""
        return not (self.forms or self.patterns or self.masks or self.fonts)


_NOTHING: Final = _Resources({}, (), (), (), has_forms=False, is_there=False)


@dataclass(slots=True)
class _Walk:
    """One sum: over what is drawn, or only over what is followed while a page is loaded."""

    page: _Resources
    is_drawn: bool
    sums: dict[tuple[int, int, int], int] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)
    fonts: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Expansion:
    """The sums for the pages of a document. Pages are numbered from 0."""

    store: ObjectStore
    pages: list[dict[bytes, Any]]
    is_ordered: bool
    """Whether the pages are certainly those that the reader has, in its order; else all there are must be bearable."""
    hidden_layers: frozenset[str] = frozenset()
    """The names of the layers that are off."""
    _scans: dict[tuple[int, bool], _Scan] = field(default_factory=dict)
    _resources: dict[int, _Resources] = field(default_factory=dict)
    _unpacked: int = 0
    _edges: int = 0
    _verdict: bool | None = None

    def is_harmless(self) -> bool:
        """Whether every page can certainly be loaded in a bearable time, which took little to find out.

        `UnsureError` or `TooLargeError` where it cannot be said.
        """
        self.has_few_fields()
        self._verdict = self.is_ordered and all(map(self._is_bearable, self.pages))
        return self._verdict

    def is_readable(self, number: int) -> bool:
        """Whether a page can be loaded in a bearable time."""
        if self._verdict:
            return True
        if self.is_ordered:
            self._edges = 0
            return number >= len(self.pages) or self._is_bearable(self.pages[number])
        if self._verdict is None:
            drawn = (self.store.get_dict(each) for each in self.store.find_with(b"/Contents"))
            self._verdict = all(map(self._is_bearable, drawn))
        return self._verdict

    def is_drawable(self, number: int) -> bool:
        """Whether a page that is readable can be drawn in a bearable time."""
        if not self.is_ordered or number >= len(self.pages):
            return False
        page = self.pages[number]
        resources = self._read_resources(self._inherit(page))
        if resources.is_flat:
            return True
        self._edges = 0
        try:
            return self._weigh_page(page, _Walk(resources, is_drawn=True)) <= _MOST_DRAWN
        except (TooLargeError, UnsureError):
            return False

    def has_few_fields(self) -> bool:
        """Whether the form of the document has a bearable number of fields, each counted as often as it is named."""
        form = self.store.get_dict(self.store.get_dict(self.store.trailer.get(b"Root")).get(b"AcroForm"))
        counts: dict[tuple[int, int], int] = {}
        try:
            return sum(self._count_fields(each, 1, counts) for each in self._kids(form, b"Fields")) <= _MOST_FIELDS
        except TooLargeError:
            return False

    def _is_bearable(self, page: dict[bytes, Any]) -> bool:
        resources = self._read_resources(self._inherit(page))
        contents = [each for _, each in self._contents(page)]
        if not self._nests(resources) and len({each.start for each in contents}) == len(contents):
            packed = sum(map(self.store.size, contents))
            if packed * _RATIO <= _MOST and all(map(self.store.is_plain, contents)):
                return True
        walk = _Walk(resources, is_drawn=False)
        try:
            total = self._weigh_page(page, walk)
        except TooLargeError:
            return False
        return total <= _MUCH or (total <= _MOST and total <= _REPEATED * sum(walk.lengths.values()))

    def _weigh_page(self, page: dict[bytes, Any], walk: _Walk) -> int:
        return sum(self._weigh(number, each, walk.page, 0, walk) for number, each in self._contents(page))

    def _weigh(self, number: int, stream: PdfStream, outer: _Resources, depth: int, walk: _Walk) -> int:
        """The bytes of drawing that a stream comes to, where these resources are around it."""
        key = number, id(outer), depth
        if depth > _DEEPEST or key in walk.sums:
            return walk.sums.get(key, 0)
        walk.sums[key] = 0
        own = outer if depth == 0 else self._read_resources(stream.entries.get(b"Resources")) or outer
        scan = self._scan(number, stream, is_drawn=walk.is_drawn)
        walk.lengths[number] = scan.length
        forms = own.forms if own.has_forms else walk.page.forms
        total = scan.length + _FORM * (depth > 0)
        for name, times in scan.named.items() if forms else ():
            if name in forms:
                total += times * self._weigh_numbers((forms[name],), own, depth, walk)
        if scan.unnamed:
            total += scan.unnamed * self._weigh_numbers(set(forms.values()), own, depth, walk)
        for font in own.fonts:
            total += self._weigh_font(font, scan, depth, walk)
        if walk.is_drawn and scan.paints and not own.is_flat:
            for numbers, is_used in ((own.patterns, scan.has_patterns), (own.masks, scan.has_masks)):
                total += scan.paints * self._weigh_numbers(numbers if is_used else (), own, depth, walk)
        walk.sums[key] = total
        return total

    def _weigh_numbers(self, numbers: Iterable[int], outer: _Resources, depth: int, walk: _Walk) -> int:
        """The most that one of some streams comes to."""
        most = 0
        for number in numbers:
            self._count_edge()
            stream = self.store.get(PdfReference(number))
            if isinstance(stream, PdfStream):
                weight = self._weigh(number, stream, outer, depth + 1, walk)
                most = max(most, weight * (self._to_overlap(stream) if walk.is_drawn else 1))
        return most

    def _weigh_font(self, number: int, scan: _Scan, depth: int, walk: _Walk) -> int:
        """What the glyphs of a font come to: loaded once a page, and drawn for every letter."""
        font = self.store.get_dict(PdfReference(number))
        glyphs = {each.number for each in self.store.get_dict(font.get(b"CharProcs")).values() if _is_reference(each)}
        resources = self._read_resources(font.get(b"Resources")) or walk.page
        if walk.is_drawn:
            return scan.length // 2 * self._weigh_numbers(glyphs if scan.shows else (), resources, depth, walk)
        if number in walk.fonts or not self._nests(resources):
            return 0
        walk.fonts.add(number)
        return len(glyphs) * self._weigh_numbers(glyphs, resources, 0, walk)

    def _to_overlap(self, stream: PdfStream) -> int:
        """How many tiles of a pattern lie over one another; 1 for what is no pattern."""
        box = [abs(self.store.get_figure(each)) for each in self.store.get_list(stream.entries.get(b"BBox"))]
        steps = [abs(self.store.get_figure(stream.entries.get(key), 0.0)) for key in (b"XStep", b"YStep")]
        if b"PatternType" not in stream.entries or len(box) != 4:
            return 1
        across, down = box[0] + box[2], box[1] + box[3]
        return max(1, int(across / max(steps[0], 1e-3))) * max(1, int(down / max(steps[1], 1e-3)))

    def _nests(self, resources: _Resources) -> bool:
        """Whether something in these resources is followed when a page is loaded."""
        if resources.forms:
            return True
        fonts = (self.store.get_dict(PdfReference(number)) for number in resources.fonts)
        return any(self._read_resources(font.get(b"Resources")).forms for font in fonts)

    def _scan(self, number: int, stream: PdfStream, *, is_drawn: bool) -> _Scan:
        key = number, is_drawn
        if key not in self._scans:
            data = self.store.unpack(stream, _MOST)
            if data is None:
                raise TooLargeError
            self._unpacked += len(data)
            if self._unpacked > (_MOST_UNPACKED if self.store.is_copy else _LITTLE):
                raise TooLargeError
            has_any = b"Do" in data
            named = Counter(map(decode_name, _DO.findall(data) if has_any else ()))
            unnamed = len(_STRING_DO.findall(data)) + sum(map(bool, _COMMENT_DO.findall(data))) if has_any else 0
            scan = _Scan(len(data), named, unnamed)
            if is_drawn:
                shows = _SHOW.search(data) is not None
                uses = _PATTERN.search(data) is not None, b"gs" in data
                scan = _Scan(len(data), named, unnamed, len(_PAINT.findall(data)) + shows, shows, *uses)
            self._scans[key] = scan
        return self._scans[key]

    def _contents(self, page: dict[bytes, Any]) -> list[tuple[int, PdfStream]]:
        """The streams of a page with their numbers."""
        value = page.get(b"Contents")
        parts = self.store.get_list(value) or [value]
        streams = ((each.number, self.store.get(each)) for each in parts if isinstance(each, PdfReference))
        return [(number, stream) for number, stream in streams if isinstance(stream, PdfStream)]

    def _inherit(self, page: dict[bytes, Any]) -> Any:
        """The resources of a page: its own, or the nearest of those that it is below."""
        for _ in range(_MOST_PARENTS):
            if b"Resources" in page or not page:
                return page.get(b"Resources")
            page = self.store.get_dict(page.get(b"Parent"))
        return None

    def _read_resources(self, value: Any) -> _Resources:
        """What of these resources has a stream of its own; something false for none at all."""
        entries = self.store.get(value)
        if not isinstance(entries, dict):
            return _NOTHING
        if id(entries) not in self._resources:
            get = self.store.get_dict
            forms = {name: each.number for name, each in self._find(entries, b"XObject", b"Subtype", b"Form")}
            masks = (get(get(each).get(b"SMask")).get(b"G") for each in get(entries.get(b"ExtGState")).values())
            self._resources[id(entries)] = _Resources(
                forms,
                tuple(each.number for _, each in self._find(entries, b"Pattern", b"PatternType", 1.0)),
                tuple(each.number for each in masks if isinstance(each, PdfReference)),
                tuple(each.number for _, each in self._find(entries, b"Font", b"Subtype", b"Type3")),
                has_forms=b"XObject" in entries,
            )
        return self._resources[id(entries)]

    def _find(
        self, resources: dict[bytes, Any], kind: bytes, key: bytes, wanted: Any
    ) -> list[tuple[bytes, PdfReference]]:
        """The objects of a kind in some resources that have this value there."""
        get = self.store.get_dict
        references = ((name, each) for name, each in get(resources.get(kind)).items() if isinstance(each, PdfReference))
        return [(name, each) for name, each in references if self.store.get(get(each).get(key)) == wanted]

    def _count_fields(self, value: Any, depth: int, counts: dict[tuple[int, int], int]) -> int:
        key = (value.number if isinstance(value, PdfReference) else 0), depth
        if depth > _DEEPEST_FIELD:
            return 0
        if key[0] and key in counts:
            return counts[key]
        self._count_edge()
        kids = self._kids(self.store.get_dict(value), b"Kids")
        counts[key] = 1 + sum(self._count_fields(each, depth + 1, counts) for each in kids)
        return counts[key]

    def _kids(self, holder: dict[bytes, Any], key: bytes) -> list[Any]:
        return self.store.get_list(holder.get(key))

    def _count_edge(self) -> None:
        self._edges += 1
        if self._edges > _MOST_EDGES:
            raise TooLargeError


def _is_reference(value: Any) -> bool:
    return isinstance(value, PdfReference)


def measure(document: Any, body: bytes, most: int) -> Expansion:
    """The sums for an open document of the reader, of whose file `most` pages are read.

    `TooLargeError` when its objects are too many to be looked at.
    """
    with suppress(UnsureError, TooLargeError):
        expansion = _list_pages(document, index_objects(body), most)
        if expansion.is_harmless():
            return expansion
    return _list_pages(document, copy_objects(document, len(body)), most)


def _list_pages(document: Any, store: ObjectStore, most: int) -> Expansion:
    count = min(len(document), most)
    pages: list[dict[bytes, Any]] = []
    root = store.get_dict(store.trailer.get(b"Root")).get(b"Pages")
    waiting: list[Any] = [root]
    met: set[int] = set()
    while waiting and len(pages) < count and len(met) < _MOST_NODES:
        node = waiting.pop()
        entries = store.get_dict(node)
        if b"Kids" not in entries:
            pages.append(entries)
        elif isinstance(node, PdfReference) and node.number not in met:
            met.add(node.number)
            waiting += reversed(store.get_list(entries[b"Kids"]))
        else:
            break
    return Expansion(store, pages, is_ordered=len(pages) == count, hidden_layers=find_hidden_layers(store))
