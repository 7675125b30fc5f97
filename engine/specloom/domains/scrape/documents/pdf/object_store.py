"""The objects of an open PDF file as PDFium has them: dictionaries, arrays, streams, by number; parsed when asked for.

They are read from the file where it can be read in one way only: every object there is once, whatever the
cross-references say. Else they are read from the copy that PDFium writes of a document: there cross-references, object
streams and encryption are undone by the same code that will draw the pages. So no second opinion about what the file
says can be played off against that of PDFium.
"""

from __future__ import annotations

import base64
import ctypes
import re
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field
from typing import Any, Final

from pypdfium2 import raw

from specloom.core import dataclass

# A copy is about as large as its file, but for what object streams packed.
_LARGEST_RATIO: Final = 8
_LEAST_ROOM: Final = 32 * 1024 * 1024
_MOST_TOKENS: Final = 500_000
# What leads from one reference to the next.
_MOST_STEPS: Final = 16

# Longer ones are read from the copy, as everything that is written in an unusual way.
_SPACE: Final = rb"[\0\t\n\f\r ]{0,128}+"
_TOKEN: Final = re.compile(
    _SPACE + rb"(?:(?P<open><<|\[)|(?P<close>>>|\])|/(?P<name>[^\0\t\n\f\r /<>\[\](){}%]*+)"
    rb"|(?P<number>\d{1,10})[\0\t\n\f\r ]{1,128}+\d{1,5}[\0\t\n\f\r ]{1,128}+R\b"
    rb"|(?P<figure>[+-]?[\d.]++)|\((?P<string>(?:[^\\()]|\\.)*+)\)"
    rb"|<(?P<hex>[0-9A-Fa-f\s]*+)>|(?P<word>[A-Za-z]++))",
    re.DOTALL,
)
_ENTRY: Final = re.compile(rb"(\d{10}) \d{5} n")
_SECTION: Final = re.compile(rb"\s{0,128}+(\d{1,10}+) (\d{1,10}+)\s{1,128}+(?=\d{10} )")
_START_OF_STREAM: Final = re.compile(_SPACE + rb"stream(?:\r\n|\n|(?=\r))")
_END_OF_STREAM: Final = re.compile(_SPACE + rb"endstream")
_WORDS: Final = frozenset({b"true", b"false", b"null", b"endobj"})
_ESCAPE: Final = re.compile(rb"#([0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class PdfReference:
    """An indirect object, by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class PdfStream:
    """The dictionary of a stream, and where its bytes begin in the copy."""

    entries: dict[bytes, Any]
    start: int


class TooLargeError(Exception):
    """The copy, or what a stream unpacks to, is more than may be looked at."""


class UnsureError(Exception):
    """The file could be read in more than one way, or in none."""


@dataclass(slots=True)
class ObjectStore:
    """The objects of a document.

    A value is a dict, a list, a `PdfReference`, a float, bytes (names and strings) or None; an object may be a
    `PdfStream` besides.
    """

    data: bytes
    offsets: dict[int, int]
    trailer: dict[bytes, Any] = field(default_factory=dict)
    is_copy: bool = True
    """Whether this is what PDFium wrote, and not the file itself."""
    packed: dict[int, tuple[bytes, int]] = field(default_factory=dict)
    """Of the objects in object streams: what these unpack to, and where they begin in it."""
    _kept: dict[int, Any] = field(default_factory=dict)

    def get(self, value: Any) -> Any:
        """What a value stands for: the object itself where it is a reference."""
        for _ in range(_MOST_STEPS):
            if not isinstance(value, PdfReference):
                return value
            value = self._load(value.number)
        return None

    def get_dict(self, value: Any) -> dict[bytes, Any]:
        """The dictionary that a value stands for, that of a stream too; an empty one for anything else."""
        value = self.get(value)
        if isinstance(value, PdfStream):
            return value.entries
        return value if isinstance(value, dict) else {}

    def get_list(self, value: Any) -> list[Any]:
        """The array that a value stands for; an empty one for anything else."""
        value = self.get(value)
        return value if isinstance(value, list) else []

    def get_figure(self, value: Any, default: float = 0.0) -> float:
        """The number that a value stands for, or the default."""
        value = self.get(value)
        return value if isinstance(value, float) else default

    def find_with(self, key: bytes) -> Iterator[PdfReference]:
        """The objects in whose text a key stands, once each, in the order of the copy."""
        starts = sorted((offset, number) for number, offset in self.offsets.items())
        at = 0
        for (start, number), (end, _) in zip(starts, [*starts[1:], (len(self.data), 0)], strict=True):
            if at < start:
                at = self.data.find(key, start)
            if at < 0:
                return
            if at < end:
                yield PdfReference(number)

    def size(self, stream: PdfStream) -> int:
        """How many bytes a stream has as it is packed."""
        size = max(0, min(int(self.get_figure(stream.entries.get(b"Length"))), len(self.data) - stream.start))
        if not self.is_copy and not _END_OF_STREAM.match(self.data, stream.start + size):
            raise UnsureError
        return size

    def is_plain(self, stream: PdfStream) -> bool:
        """Whether a stream is packed by at most one filter, and so not beyond a thousand times its size."""
        filters = self.get(stream.entries.get(b"Filter"))
        return not isinstance(filters, list) or len(filters) < 2

    def unpack(self, stream: PdfStream, most: int) -> bytes | None:
        """What is in a stream, as far as it can be unpacked; None for a way of packing that no drawing uses.

        `TooLargeError` for more than `most` bytes.
        """
        filters = self.get(stream.entries.get(b"Filter"))
        names = filters if isinstance(filters, list) else [filters] if filters else []
        parameters = self.get(stream.entries.get(b"DecodeParms"))
        for each in parameters if isinstance(parameters, list) else [parameters]:
            if self.get_figure(self.get_dict(each).get(b"Predictor"), 1.0) > 1:
                return None
        data = self.data[stream.start : stream.start + self.size(stream)]
        for name in names:
            decode = _DECODERS.get(self.get(name)) if isinstance(self.get(name), bytes) else None
            if decode is None:
                return None
            data = decode(data, most)
            if len(data) > most:
                raise TooLargeError
        return data

    def _load(self, number: int) -> Any:
        if number not in self._kept:
            self._kept[number] = None
            # What PDFium wrote in a way that cannot be parsed is nothing that it draws.
            with suppress(*([UnsureError] if self.is_copy else [])):
                self._kept[number] = self._parse(number)
        return self._kept[number]

    def _parse(self, number: int) -> Any:
        offset = self.offsets.get(number)
        if offset is not None:
            return parse(self.data, offset)
        value = parse(*self.packed[number]) if number in self.packed else None
        if isinstance(value, PdfStream):
            raise UnsureError
        return value


def copy_objects(document: Any, size: int) -> ObjectStore:
    """The objects of an open document of the reader, whose file has so many bytes, as the reader has them.

    `TooLargeError` when they are many times that, or cannot be had.
    """
    data = _copy(document, size * _LARGEST_RATIO + _LEAST_ROOM)
    at = data.rfind(b"startxref")
    table = re.compile(rb"startxref\s+(\d+)").match(data, max(at, 0))
    if at < 0 or not table:
        raise TooLargeError
    offsets: dict[int, int] = {}
    place = data.find(b"xref", int(table[1])) + 4
    while section := _SECTION.match(data, place):
        number, place = int(section[1]), section.end()
        for entry in range(number, number + int(section[2])):
            if match := _ENTRY.match(data, place):
                offsets[entry] = data.find(b"obj", int(match[1])) + 3
            place += 20
    start = data.find(b"trailer", place - 2)
    trailer = parse(data, start + 7) if start >= 0 else {}
    return ObjectStore(data, offsets, trailer if isinstance(trailer, dict) else {})


def _copy(document: Any, most: int) -> bytes:
    """The copy that the reader writes of a document, without encryption."""
    parts: list[bytes] = []
    room = most

    def write(_: Any, data: Any, size: int) -> int:
        nonlocal room
        room -= size
        if room < 0:
            return 0
        parts.append(ctypes.string_at(data, size))
        return 1

    writer = raw.FPDF_FILEWRITE(version=1)
    writer.WriteBlock = type(writer.WriteBlock)(write)
    if not raw.FPDF_SaveAsCopy(document.raw, ctypes.byref(writer), raw.FPDF_REMOVE_SECURITY):
        raise TooLargeError
    return b"".join(parts)


# --- A file that can be read in one way only --------------------------------------------------------------------------


def _spell(name: bytes) -> bytes:
    """A pattern for a name, whichever letters of it are escaped."""
    letters = (b"(?:%c|#(?i:%x))" % (letter, letter) for letter in name)
    return b"/" + b"".join(letters) + rb"(?![^\0\t\n\f\r /<>\[\](){}%])"


_ENCRYPTED: Final = re.compile(_spell(b"Encrypt"))
_OBJECT_STREAM: Final = re.compile(_spell(b"ObjStm"))
_ROOT: Final = re.compile(_spell(b"Root") + rb"(?:[\0\t\n\f\r ]++(\d{1,10})[\0\t\n\f\r ]++\d{1,5}[\0\t\n\f\r ]++R\b)?")
_OBJECT: Final = re.compile(rb"obj\b")
_HEAD: Final = re.compile(rb"(?<!\d)(\d{1,10})[\0\t\n\f\r ]++\d{1,5}[\0\t\n\f\r ]++$")
_LONGEST_HEAD: Final = 24
_BLANKS: Final = frozenset(b"\0\t\n\f\r ")
_MOST_PACKED: Final = 64 * 1024 * 1024


def index_objects(body: bytes) -> ObjectStore:
    """The objects of a file, each of which is in it once.

    `UnsureError` where one is there twice, as after a later change, or where something is written in an odd way: a file
    may then say one thing here and another to PDFium. `TooLargeError` for object streams that unpack to too much.
    """
    roots = {match[1] for match in _ROOT.finditer(body)}
    if len(roots) != 1 or None in roots or _ENCRYPTED.search(body):
        raise UnsureError
    offsets: dict[int, int] = {}
    for match in _OBJECT.finditer(body):
        at = match.start()
        if at and body[at - 1] in _BLANKS:
            head = _HEAD.search(body[max(0, at - _LONGEST_HEAD) : at])
            if head is None or int(head[1]) in offsets:
                raise UnsureError
            offsets[int(head[1])] = match.end()
    store = ObjectStore(body, offsets, {b"Root": PdfReference(int(roots.pop()))}, is_copy=False)
    starts = sorted((offset, number) for number, offset in offsets.items())
    room = _MOST_PACKED
    for match in _OBJECT_STREAM.finditer(body):
        before = bisect_right(starts, (match.start(), 0)) - 1
        stream = store.get(PdfReference(starts[before][1])) if before >= 0 else None
        if not isinstance(stream, PdfStream) or stream.start <= match.start():
            raise UnsureError
        data = store.unpack(stream, room)
        if data is None:
            raise UnsureError
        room -= len(data)
        store.packed |= _list_packed(store, stream, data)
    return store


def _list_packed(store: ObjectStore, stream: PdfStream, data: bytes) -> dict[int, tuple[bytes, int]]:
    """Where the objects of an object stream begin in what it unpacks to."""
    first, count = (stream.entries.get(key) for key in (b"First", b"N"))
    if not isinstance(first, float) or not isinstance(count, float):
        raise UnsureError
    figures = data[: int(first)].split()
    if len(figures) != 2 * int(count) or not all(map(bytes.isdigit, figures)):
        raise UnsureError
    numbers = [int(number) for number in figures[::2]]
    if len(set(numbers)) < len(numbers) or any(each in store.offsets or each in store.packed for each in numbers):
        raise UnsureError
    places = (int(first) + int(offset) for offset in figures[1::2])
    return {number: (data, place) for number, place in zip(numbers, places, strict=True)}


# --- Parsing ----------------------------------------------------------------------------------------------------------


def parse(data: bytes, at: int) -> Any:
    """The object that begins at a place. `UnsureError` for what is none, or is written in an odd way."""
    values: list[Any] = []
    holders: list[list[Any]] = []
    for _ in range(_MOST_TOKENS):
        match = _TOKEN.match(data, at)
        if match is None:
            raise UnsureError
        at = match.end()
        kind = match.lastgroup
        if kind == "open":
            holders.append(values)
            values = []
            continue
        value: Any = None
        if kind == "close":
            if not holders:
                raise UnsureError
            value = values if match[0].endswith(b"]") else _to_dict(values)
            values = holders.pop()
        elif kind == "name":
            value = decode_name(match["name"])
        elif kind == "number":
            value = PdfReference(int(match["number"]))
        elif kind == "figure":
            value = _to_figure(match["figure"])
        elif kind in ("string", "hex"):
            value = _to_string(match)
        elif match["word"] not in _WORDS:
            raise UnsureError
        if holders:
            values.append(value)
        elif isinstance(value, dict) and (start := _START_OF_STREAM.match(data, at)):
            return PdfStream(value, start.end())
        else:
            return value
    raise UnsureError


def _to_dict(values: list[Any]) -> dict[bytes, Any]:
    pairs = zip(values[::2], values[1::2], strict=False)
    return {key: value for key, value in pairs if isinstance(key, bytes)}


def _to_figure(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _to_string(match: re.Match[bytes]) -> bytes:
    if match["string"] is not None:
        return re.sub(rb"\\(.)", rb"\1", match["string"], flags=re.DOTALL)
    digits = b"".join(match["hex"].split())
    return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))


def decode_name(name: bytes) -> bytes:
    """A name without its escapes (`#20`)."""
    return _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), name) if b"#" in name else name


# --- Ways in which drawings are packed (ISO 32000-1, 7.4) -------------------------------------------------------------


def _inflate(data: bytes, most: int) -> bytes:
    """What can be inflated: files cut short are common."""
    for bits in (15, -15):
        machine = zlib.decompressobj(bits)
        parts: list[bytes] = []
        size = 0
        try:
            rest = data
            while rest and size <= most and not machine.eof:
                part = machine.decompress(rest, 65_536)
                rest = machine.unconsumed_tail
                parts.append(part)
                size += len(part)
        except zlib.error:
            pass
        if parts:
            return b"".join(parts)
    return b""


def _from_hex(data: bytes, _most: int) -> bytes:
    digits = re.sub(rb"[^0-9A-Fa-f]", b"", data.partition(b">")[0])
    return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))


def _from_base85(data: bytes, _most: int) -> bytes:
    text = re.sub(rb"[^!-uz]", b"", data.removeprefix(b"<~").partition(b"~")[0])
    try:
        return base64.a85decode(text)
    except ValueError:
        return b""


def _from_runs(data: bytes, most: int) -> bytes:
    out = bytearray()
    at = 0
    while at < len(data) and data[at] != 128 and len(out) <= most:
        length = data[at]
        if length < 128:
            out += data[at + 1 : at + 2 + length]
            at += 2 + length
        else:
            out += data[at + 1 : at + 2] * (257 - length)
            at += 2
    return bytes(out)


def _from_lzw(data: bytes, most: int) -> bytes:
    """LZW with codes of 9 to 12 bits, longer ones from a code early, as nearly all files have it."""
    table = [bytes([each]) for each in range(256)] + [b"", b""]
    out = bytearray()
    bits = held = 0
    width, last = 9, b""
    for byte in data:
        held, bits = (held << 8 | byte) & 0xFFFFFF, bits + 8
        if bits < width:
            continue
        bits -= width
        code = held >> bits & ((1 << width) - 1)
        if code == 256:
            del table[258:]
            width, last = 9, b""
            continue
        if code == 257 or len(out) > most:
            break
        entry = table[code] if code < len(table) else last + last[:1]
        out += entry
        if last and len(table) < 4096:
            table.append(last + entry[:1])
        last = entry
        size = len(table) + 1
        width = 12 if size >= 2048 else 11 if size >= 1024 else 10 if size >= 512 else 9
    return bytes(out)


_DECODERS: Final = {
    b"FlateDecode": _inflate, b"Fl": _inflate, b"ASCIIHexDecode": _from_hex, b"AHx": _from_hex,
    b"ASCII85Decode": _from_base85, b"A85": _from_base85, b"RunLengthDecode": _from_runs, b"RL": _from_runs,
    b"LZWDecode": _from_lzw, b"LZW": _from_lzw,
}  # fmt: skip
