"""What cannot be read, told by its first bytes and its declared type: what it is, and what to do instead."""

from __future__ import annotations

from typing import Final

# The first bytes of formats (https://mimesniff.spec.whatwg.org and the formats' own descriptions), each with its kind.
_MAGIC: Final = (
    (0, b"\x89PNG\r\n\x1a\n", "picture"), (0, b"\xff\xd8\xff", "picture"), (0, b"GIF8", "picture"),
    (0, b"II*\x00", "picture"), (0, b"MM\x00*", "picture"), (0, b"8BPS", "picture"), (8, b"WEBP", "picture"),
    (0, b"AT&TFORM", "picture"), (4, b"ftypavif", "picture"), (4, b"ftyphei", "picture"),
    (0, b"ID3", "sound"), (0, b"fLaC", "sound"), (8, b"WAVE", "sound"), (4, b"ftypM4A", "sound"),
    (0, b"OggS", "sound"), (0, b"\x1aE\xdf\xa3", "film"), (4, b"ftyp", "film"), (8, b"AVI ", "film"),
    (0, b"PK\x03\x04", "archive"), (0, b"PK\x05\x06", "archive"), (0, b"\x1f\x8b", "archive"), (0, b"BZh", "archive"),
    (0, b"\xfd7zXZ\x00", "archive"), (0, b"7z\xbc\xaf\x27\x1c", "archive"), (0, b"Rar!\x1a\x07", "archive"),
    (0, b"\x28\xb5\x2f\xfd", "archive"), (257, b"ustar", "archive"),
    (0, b"wOFF", "font"), (0, b"wOF2", "font"), (0, b"OTTO", "font"), (0, b"\x00\x01\x00\x00\x00", "font"),
    (0, b"MZ", "program"), (0, b"\x7fELF", "program"), (0, b"\x00asm", "program"), (0, b"\xca\xfe\xba\xbe", "program"),
    (0, b"SQLite format 3\x00", "database"), (0, b"PAR1", "database"),
)  # fmt: skip
_FAMILIES: Final = {"image": "picture", "audio": "sound", "video": "film", "font": "font"}
_ADVICE: Final = {
    "picture": ("a picture", "look for a page that describes it"),
    "sound": ("a sound recording", "look for a transcript"),
    "film": ("a film", "look for a transcript or a page about it"),
    "archive": ("an archive", "give the address of a single file of it"),
    "font": ("a font", "give the address of a page"),
    "program": ("a program", "give the address of a page about it"),
    "database": ("a database file", "look for a page or a CSV file with its data"),
}


def find_magic(body: bytes) -> str:
    """The kind of file that some bytes begin like: `picture`, `sound`, `archive` and so on; "" for none of these."""
    return next((kind for at, sign, kind in _MAGIC if body[at : at + len(sign)] == sign), "")


def tell_unread(body: bytes, content_type: str) -> str:
    """A sentence that tells what a body is which is neither a page nor a text nor a document, and what to do."""
    declared = content_type.partition(";")[0].strip().lower()[:60]
    kind = find_magic(body) or _FAMILIES.get(declared.partition("/")[0], "")
    what, advice = _ADVICE.get(kind, ("binary data", "give the address of a page, a text, or a PDF or office file"))
    return f"{declared or 'what came'} is not a page or document that can be read: it is {what}; {advice}."
