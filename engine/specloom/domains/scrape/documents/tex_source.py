"""One text of the sources of a paper in TeX, taken out of a bundle that anybody may have made, in a process of its own.

A bundle is a tar archive or a single file, gzipped or not. Bounds hold for what it unpacks to, for the number and size
of its files and for their names; links, devices and everything that is no TeX are passed over. Nothing touches a disk.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from specloom.core import Fault, run_apart

SECONDS: Final = 20.0
"""Time for one bundle, the start of the process included."""
MEMORY: Final = 1024**3
"""Bytes of address space that the process may have."""
MOST_BYTES: Final = 256_000_000
"""Bytes that a bundle may unpack to."""
MOST_FILES: Final = 5_000
"""Entries of an archive that are looked at."""
MOST_TEXT: Final = 16_000_000
"""Bytes of all TeX files together."""
LONGEST_NAME: Final = 255

ENDINGS: Final = frozenset({".tex", ".ltx", ".latex"})
ALONE: Final = "main.tex"
"""What a file is called that is a bundle by itself and so has no name."""

ENCODINGS: Final[Mapping[str, str]] = {
    **{name: name for name in ("cp1250", "cp1251", "cp1257", "cp850", "cp852", "cp866", "koi8-r", "koi8-u")},
    "latin2": "iso8859-2",
    "latin4": "iso8859-4",
    "latin5": "iso8859-9",
    "latin9": "iso8859-15",
    "iso88595": "iso8859-5",
    "applemac": "mac-roman",
    "maccyr": "mac-cyrillic",
}
"""Codecs by the names of LaTeX's package inputenc; any other is read as Windows-1252, which is Latin-1 and more."""
_SAYS = re.compile(
    rb"^[^%\r\n]{0,200}\\usepackage\s{0,9}\[\s{0,9}([a-z0-9-]{1,20})\s{0,9}\]\s{0,9}\{inputenc\}", re.MULTILINE
)

_GZIP = b"\x1f\x8b"
_PDF = b"%PDF-"
_BROKEN = (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, OverflowError, RecursionError, KeyError)

DEEPEST: Final = 10
"""Files within one another; what is deeper stays a command."""

_COMMENT: Final = r"\\\\|\\%|%[^\n]*"
_BEGINS: Final = re.compile(rf"{_COMMENT}|(?P<begins>\\document(?:class|style)\b)")
_BODY: Final = re.compile(rf"{_COMMENT}|(?P<begins>\\begin\s*\{{document\}})")
_TAKES: Final = re.compile(
    rf"{_COMMENT}|\\(?:input|include|subfile)\s*\{{(?P<braced>[^{{}}\n]{{1,200}})\}}"
    r"|\\input[ \t]+(?P<bare>[^\s{}%\\]{1,200})"
)
_COMMAND: Final = re.compile(r"\\(?:documentclass|documentstyle|magnification|begin|input|title|def|bye|end)\b")
_USUAL: Final = ("main", "ms", "paper", "article", "manuscript")


class BundleError(Exception):
    """A bundle without TeX, or one that is not to be unpacked; the text is the reason."""


async def read_source(bundle: bytes, *, apart: bool = True) -> tuple[str, str]:
    """The name of a bundle's main TeX file, and its text with the files that it takes in.

    Fault `content_empty` where there is none and where it would take more than it may, `internal` where no process can
    be started to read it. Without `apart` it is read here.
    """
    if not apart:
        return read_here(bundle)
    try:
        main, text = await run_apart(read_here, bundle, what="source", seconds=SECONDS, memory=MEMORY)
    except Fault as fault:
        if fault.kind != "too_large":
            raise
        raise _refuse("the bundle needs more time or memory than it may take") from None
    return main, text


def read_here(bundle: bytes) -> tuple[str, str]:
    """The same in this process."""
    try:
        return assemble(read_bundle(bundle))
    except BundleError as error:
        raise _refuse(str(error)) from None
    except (MemoryError, RecursionError):
        raise _refuse("the bundle needs more memory than it may take") from None


def _refuse(problem: str) -> Fault:
    return Fault("content_empty", f"There is no TeX source: {problem}.")


def read_bundle(bundle: bytes) -> dict[str, str]:
    """The TeX files of a bundle by name, in their order; BundleError with the reason where there are none."""
    try:
        return _read_bundle(bundle)
    except _BROKEN as error:
        raise BundleError(f"the bundle is damaged ({type(error).__name__})") from None


def _read_bundle(bundle: bytes) -> dict[str, str]:
    with gzip.GzipFile(fileobj=io.BytesIO(bundle)) if bundle.startswith(_GZIP) else io.BytesIO(bundle) as source:
        data = source.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise BundleError(f"the bundle unpacks to more than {MOST_BYTES} bytes")
    if data.startswith(_PDF):
        raise BundleError("the authors sent a PDF and no source")
    try:
        archive = tarfile.open(fileobj=io.BytesIO(data), mode="r:")  # noqa: SIM115 - nothing but memory to close
    except tarfile.ReadError:
        return _to_texts({ALONE: data})
    bodies: dict[str, bytes] = {}
    total = 0
    for number, member in enumerate(archive):
        if number >= MOST_FILES:
            raise BundleError(f"the bundle has more than {MOST_FILES} files")
        name = _find_name(member.name)
        # The size of a sparse file says nothing of what reading it gives.
        if not name or member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
            continue
        file = archive.extractfile(member)
        body = file.read(MOST_TEXT - total + 1) if file is not None else b""
        total += len(body)
        if total > MOST_TEXT:
            raise BundleError(f"its texts have more than {MOST_TEXT} bytes")
        # Notes of a file system (._main.tex) have the ending of the file that they are about, and are no texts.
        if b"\0" not in body:
            bodies[name] = body
    if not bodies:
        raise BundleError("the bundle has no TeX file")
    return _to_texts(bodies)


def _find_name(entry: str) -> str:
    """The name of a TeX file inside the bundle; empty for one that leads out of it, and for any other file."""
    path = PurePosixPath(entry)
    if len(entry) > LONGEST_NAME or "\\" in entry or not entry.isprintable():
        return ""
    if path.is_absolute() or ".." in path.parts or path.suffix.lower() not in ENDINGS:
        return ""
    return str(path)


def _to_texts(bodies: Mapping[str, bytes]) -> dict[str, str]:
    """Texts as TeX files have them: UTF-8, or where one is not, in the encoding that any of them says for all."""
    if any(len(body) > MOST_TEXT for body in bodies.values()):
        raise BundleError(f"its texts have more than {MOST_TEXT} bytes")
    if any(b"\0" in body for body in bodies.values()):
        raise BundleError("the bundle holds something that is neither an archive nor a text")
    encoding = next((match[1].decode("latin-1") for body in bodies.values() if (match := _SAYS.search(body))), "")
    return {name: _to_text(body, ENCODINGS.get(encoding, "cp1252")) for name, body in bodies.items()}


def _to_text(body: bytes, encoding: str) -> str:
    text = body.decode("latin-1")
    for codec in (encoding, "utf-8-sig"):
        with contextlib.suppress(UnicodeDecodeError):
            text = body.decode(codec)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def assemble(texts: Mapping[str, str]) -> tuple[str, str]:
    """The name of the main file and the whole text; BundleError where no file is TeX.

    A file that is not in the bundle, or that takes itself in, stays the command that names it. The whole is as long as
    all texts of a bundle may be; what would make it longer stays a command as well.
    """
    main = find_main(texts)
    if not main:
        raise BundleError("no file of the bundle is TeX that could be read on its own")
    return main, _expand(texts, (main,), [MOST_TEXT])


def find_main(texts: Mapping[str, str]) -> str:
    """The file that begins a document, or in plain TeX the longest; empty where none has a command of TeX."""
    written = {name: text for name, text in texts.items() if _COMMAND.search(text) and not text.startswith("%!")}
    begins = {name for name, text in written.items() if _has(_BEGINS, text)}

    def rank(name: str) -> tuple[bool, bool, bool, int, int]:
        path = PurePosixPath(name)
        return (
            name in begins,
            _has(_BODY, written[name]),
            path.stem.lower() in _USUAL,
            -len(path.parts),
            len(written[name]),
        )

    return max(written, key=rank, default="")


def _has(pattern: re.Pattern[str], text: str) -> bool:
    return any(match["begins"] for match in pattern.finditer(text))


def _expand(texts: Mapping[str, str], within: tuple[str, ...], left: list[int]) -> str:
    """The text of the last file of `within`, and of those that it takes in; `left` is what the whole may still grow."""
    left[0] -= len(texts[within[-1]])

    def take(match: re.Match[str]) -> str:
        named = match["braced"] or match["bare"]
        name = _find(texts, within[0], named.strip()) if named else ""
        if not name or name in within or len(within) > DEEPEST or len(texts[name]) > left[0]:
            return match[0]
        return _expand(texts, (*within, name), left)

    return _TAKES.sub(take, texts[within[-1]])


def _find(texts: Mapping[str, str], main: str, named: str) -> str:
    """The file of the bundle that a command names, from the folder of the main file; its ending may be left out."""
    path = PurePosixPath(main).parent / named
    return next((name for name in (str(path), f"{path}.tex") if name in texts), "")
