"""The image of a model: the byte code of every spec in one file, each loaded when a call first needs it.

The file has a line that names the format, the digest and the length of its table in hexadecimal, the table as JSON, and
the parts behind it, each the marshalled code of a module that `compiler.codegen` made. An image is code, so it is taken
only from a file that nobody but its owner and the administrator can write, and no part is unmarshalled whose digest is
not that of the table. Nothing is unpickled.
"""

from __future__ import annotations

import importlib.util
import json
import marshal
import mmap
import os
import stat
import sys

try:  # hashlib has the same function, and would load OpenSSL with it
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import CodeType
    from typing import Any

    from specloom.core import PageTemplate, ViewTemplate

    from .heads import Heads
    from .late_mappings import LazyMapping
    from .model import Model
    from .resource import Resource
    from .tool import Tool
    from .toolset import Toolset

MAGIC = b"specloom image 1\n"
KINDS = ("providers", "capabilities", "tools", "lenses", "collections", "toolsets", "resources", "templates", "views")
"""The mappings of a model, each a kind of part."""
HEADS = "heads"
TABLES = "tables"
"""The kind of part that holds a table of the engine: data, not code."""
LISTED = "listed"
"""The kind of part that holds how a tool is listed: data, which spares a first start the tools themselves."""
SPEC = "SPEC"
"""The name under which a generated module has what its spec became."""
_VERSION = 2
"""Of the marshal format: the later ones have references where a value happens to be held elsewhere, and so differ."""
_DIGEST = 16
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class ImageError(ValueError):
    """Why a file is no image that may be used."""


def interpreter() -> str:
    """Which byte code this interpreter reads."""
    return f"{sys.implementation.cache_tag} {importlib.util.MAGIC_NUMBER.hex()}"


def pack_image(
    digest: str, fingerprint: str, heads: CodeType, parts: Iterable[tuple[str, str, Any]], names: Mapping[str, Any]
) -> bytes:
    """The bytes of an image; the same for the same specs, engine and interpreter.

    `parts` are the code of modules, and plain data, by kind and name; `names` the names of each kind in their order.
    """
    listed = ((f"{kind}/{name}", marshal.dumps(code, _VERSION)) for kind, name, code in [(HEADS, "", heads), *parts])
    return _pack(digest, fingerprint, names, listed)


def repack_image(image: Image, digest: str, fingerprint: str, parts: Iterable[tuple[str, str, CodeType]]) -> bytes:
    """The bytes of an image that has other code for some of its parts, by kind and name, and the same for the rest.

    Raises ImageError where a part is damaged.
    """
    new = {f"{kind}/{name}": marshal.dumps(code, _VERSION) for kind, name, code in parts}
    listed = ((part, new[part] if part in new else image.read_part(part)) for part in image.parts)
    return _pack(digest, fingerprint, image.names, listed)


def _pack(digest: str, fingerprint: str, names: Mapping[str, Any], parts: Iterable[tuple[str, bytes]]) -> bytes:
    table: dict[str, Any] = {
        "interpreter": interpreter(),
        "fingerprint": fingerprint,
        "digest": digest,
        "names": {kind: list(names[kind]) for kind in KINDS},
        "parts": {},
    }
    bodies, at = [], 0
    for part, body in parts:
        table["parts"][part] = [at, len(body), _digest(body)]
        bodies.append(body)
        at += len(body)
    written = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
    return b"".join([MAGIC, f"{_digest(written)} {len(written):08x}\n".encode(), written, *bodies])


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=_DIGEST).hexdigest()


class Image:
    """An open image. Parts are read and run when they are asked for; any thread may ask."""

    def __init__(self, path: str) -> None:
        """Raises OSError or ImageError."""
        self.path = path
        # What is mapped stays as it is when a later image takes the name.
        with open(path, "rb") as file:
            check_owner(path, file.fileno())
            if not os.fstat(file.fileno()).st_size:
                raise ImageError(f"{path} is empty")
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        table = self._read_table()
        self.fingerprint: str = table["fingerprint"]
        self.digest: str = table["digest"]
        self.names: dict[str, list[str]] = table["names"]
        self._parts: dict[str, list[Any]] = table["parts"]
        self._start = self._data.tell()
        self._let_go()

    def _read_table(self) -> dict[str, Any]:
        if self._data.readline() != MAGIC:
            raise ImageError(f"{self.path} is no image of this format")
        digest, _, length = self._data.readline().decode("ascii", "replace").partition(" ")
        try:
            written = self._data.read(int(length, 16))
        except ValueError:
            written = b""
        if _digest(written) != digest:
            raise ImageError(f"{self.path} is damaged")
        table: dict[str, Any] = json.loads(written)
        if table["interpreter"] != interpreter():
            raise ImageError(f"{self.path} is for another interpreter")
        return table

    def _let_go(self) -> None:
        """Take what was read out of the memory of this process; the system still has it for who reads it again."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._data.madvise(mmap.MADV_DONTNEED)

    @property
    def parts(self) -> Iterable[str]:
        """The names of its parts, KIND/NAME, in their order."""
        return self._parts

    def read_part(self, part: str) -> bytes:
        """The bytes of a part that it has; an ImageError where they were damaged since the file was opened."""
        offset, length, digest = self._parts[part]
        body: bytes = self._data[self._start + offset : self._start + offset + length]
        self._let_go()
        if _digest(body) != digest:
            raise ImageError(f"{self.path} is damaged; remove it")
        return body

    def load(self, kind: str, name: str = "") -> Any:
        """What a spec became, or the data of a table; None where there is no such part.

        Raises ImageError where the file was damaged since it was opened.
        """
        if f"{kind}/{name}" not in self._parts:
            return None
        body = self.read_part(f"{kind}/{name}")
        module = {"__name__": f"specloom.image.{kind}.{name}" if name else f"specloom.image.{kind}"}
        part = marshal.loads(body)  # noqa: S302 - written by ourselves, as its owner and digest say
        if not hasattr(part, "co_code"):
            return part
        exec(part, module)  # noqa: S102
        return module[SPEC]


def check_owner(path: str, handle: int) -> None:
    """Raises ImageError for a file, or a folder of it, that others than its owner and the administrator can write."""
    if os.name == "nt":  # what is below a user's profile is that user's
        return
    trusted = (os.getuid(), 0)
    for name, found in ((path, os.fstat(handle)), (os.path.dirname(path), os.stat(os.path.dirname(path) or "."))):
        # Everybody may write into a folder such as /tmp, where nobody can replace what another owns.
        others = found.st_mode & _OTHERS and not (stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX)
        if found.st_uid not in trusted or others:
            raise ImageError(f"{name} can be written by others, so that nothing of it is run")


class ListedModel:
    """A model of which only that is there of which lists are made: heads, toolsets, and the kept entries of lists.

    What else is asked for comes from the whole model, which is loaded for it: that takes as long as all the rest of a
    first start.
    """

    __slots__ = ("_image", "_model", "heads", "toolsets")

    def __init__(self, image: Image) -> None:
        self._image = image
        self._model: Model | None = None
        self.heads: Heads = image.load(HEADS)
        self.toolsets: Mapping[str, Toolset] = {name: image.load("toolsets", name) for name in image.names["toolsets"]}

    def listed(self, name: str) -> dict[str, Any] | None:
        """How a tool is listed, where that was worked out before: a new value each time."""
        entry: dict[str, Any] | None = self._image.load(LISTED, name)
        return entry

    @property
    def tools(self) -> Mapping[str, Tool]:
        """Every tool."""
        return self._whole.tools

    @property
    def resources(self) -> Mapping[str, Resource]:
        """Every resource, in the order in which they are listed."""
        return self._whole.resources

    @property
    def views(self) -> Mapping[str, ViewTemplate]:
        """Every template of views."""
        return self._whole.views

    @property
    def _whole(self) -> Model:
        if self._model is None:
            self._model = load_model(self._image)
        return self._model


def load_model(image: Image) -> Model:
    """The model of an image: what is known of all specs at once, and each spec when it is first asked for."""
    from specloom.core import keep_tables
    from specloom.plugins import expect

    from .late_mappings import LazyMapping
    from .model import Model

    def late(kind: str) -> LazyMapping[Any]:
        return LazyMapping(tuple(image.names[kind]), _loader(image, kind))

    heads: Heads = image.load(HEADS)
    expect(heads.registered)
    keep_tables(lambda name: image.load(TABLES, name))
    templates: Mapping[str, PageTemplate] = late("templates")
    views: Mapping[str, ViewTemplate] = late("views")
    return Model(
        late("providers"),
        late("capabilities"),
        late("tools"),
        late("lenses"),
        image.digest,
        late("collections"),
        late("toolsets"),
        late("resources"),
        templates,
        views,
        given=heads,
        listed=lambda name: image.load(LISTED, name),
    )


def _loader(image: Image, kind: str) -> Callable[[str], Any]:
    return lambda name: image.load(kind, name)
