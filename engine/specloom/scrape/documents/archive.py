"""The archive of an office document, opened so that none can fill the memory: counted, bounded, no entities."""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote

from lxml import etree

from specloom.faults import Fault
from specloom.scrape.documents.model import Limits
from specloom.scrape.metadata_names import to_names, to_text

# APPNOTE.TXT 6.3.10, 4.3.16: the end of central directory record, found from the end because of its comment.
_END: Final = b"PK\x05\x06"
_END_SIZE: Final = 22
_LONGEST_COMMENT: Final = 65_535
_ENTRY_SIZE: Final = 46
_SMALL: Final = 1024 * 1024

RELATION: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_STRICT_RELATION: Final = "{http://purl.oclc.org/ooxml/officeDocument/relationships}"


class Archive:
    """An opened office document. Every read counts against the limits; Fault `too_large` when they are passed."""

    def __init__(self, body: bytes, limits: Limits) -> None:
        self._limits = limits
        self._read = 0
        _check_directory(body, limits)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as error:
            raise _broken(str(error)) from None
        self._names = {name.lower(): name for name in self._zip.namelist()}

    def read(self, name: str) -> bytes | None:
        """The unpacked bytes of an entry, None when there is none."""
        found = self._names.get(name.lstrip("/").lower())
        if found is None:
            return None
        info = self._zip.getinfo(found)
        if info.flag_bits & 1:
            raise Fault("auth_required", "This document is encrypted with a password.", action="inform_user")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _broken(f"its entry {name!r} is packed in a way that office documents do not use")
        room = min(self._limits.entry_bytes, self._limits.total_bytes - self._read)
        try:
            with self._zip.open(info) as entry:
                data = entry.read(room + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            ValueError,
            NotImplementedError,
            struct.error,
        ) as error:
            raise _broken(f"its entry {name!r} cannot be unpacked ({type(error).__name__})") from None
        self._read += len(data)
        if len(data) > room:
            raise _too_large(f"{name!r} unpacks to more than {room} bytes")
        if len(data) > _SMALL and len(data) > self._limits.ratio * max(info.compress_size, 1):
            raise _too_large(f"{name!r} unpacks to more than {self._limits.ratio} times its size")
        return data

    def xml(self, name: str) -> etree._Element | None:
        """The root of an entry, None when there is none or nothing in it; entities are not read."""
        data = self.read(name)
        if data is None:
            return None
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True, remove_pis=True
        )
        try:
            root = etree.fromstring(data, parser)
        except (etree.XMLSyntaxError, ValueError) as error:
            raise _broken(f"its part {name!r} is not XML ({type(error).__name__})") from None
        if root is not None and root.getroottree().docinfo.internalDTD is not None:
            raise _broken(f"its part {name!r} declares a document type, which office documents never do")
        return root

    def optional(self, name: str) -> etree._Element | None:
        """The root of an entry that the rest can be read without: None also when it is broken.

        Half of what may be read goes to such entries at most, and the others are left.
        """
        found = self._names.get(name.lstrip("/").lower())
        if found is None or self._read + self._zip.getinfo(found).file_size > self._limits.total_bytes // 2:
            return None
        try:
            return self.xml(name)
        except Fault as fault:
            if fault.kind != "content_empty":
                raise
            return None

    def relations(self, name: str) -> Mapping[str, str]:
        """What a part refers to by id: names of other parts, or addresses as they are."""
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: dict[str, str] = {}
        for relation in root if root is not None else ():
            target = relation.get("Target") or ""
            if relation.get("TargetMode") != "External":
                target = _to_name(folder, target)
            found[relation.get("Id") or ""] = target
        return found

    def related(self, name: str, kind: str) -> str:
        """The first part that a part refers to as a `kind`, the last word of a relation's type; "" for none."""
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        for relation in root if root is not None else ():
            if (relation.get("Type") or "").rpartition("/")[2] == kind and relation.get("TargetMode") != "External":
                return _to_name(folder, relation.get("Target") or "")
        return ""


def get_relation(element: etree._Element, name: str = "id") -> str:
    """The id in an attribute of the relationship namespace, of either edition of the standard."""
    return element.get(RELATION + name) or element.get(_STRICT_RELATION + name) or ""


def local(element: etree._Element) -> str:
    """The name of an element without its namespace; "" for what is no element."""
    tag: object = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: etree._Element | None, *names: str) -> Iterator[etree._Element]:
    """The children with one of these names, in any namespace: both editions of the standard have their own."""
    for child in element if element is not None else ():
        if local(child) in names:
            yield child


def child(element: etree._Element | None, *path: str) -> etree._Element | None:
    """The first child of that name, its first of the next name and so on; None if there is none."""
    for name in path:
        element = next(children(element, name), None)
    return element


def attribute(element: etree._Element | None, name: str) -> str:
    """The value of an attribute in any namespace, "" without one."""
    if element is None:
        return ""
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def properties(archive: Archive) -> dict[str, str]:
    """The document's core properties by their names: `title`, `creator`, `created`, `language` and so on."""
    root = archive.xml("docProps/core.xml")
    found: dict[str, str] = {}
    for each in root if root is not None else ():
        if (name := local(each)) and (text := to_text(each.text or "", 1000)):
            found.setdefault(name, text)
    return found


def to_authors(found: Mapping[str, str]) -> tuple[str, ...]:
    """The people that the core properties name."""
    return to_names(found.get("creator", "").split(";"), split=False)


def _to_name(folder: str, target: str) -> str:
    """The entry that a target means; it stays inside the archive however many `..` it has."""
    path = unquote(target)
    return posixpath.normpath(path if path.startswith("/") else posixpath.join("/", folder, path)).lstrip("/")


def _check_directory(body: bytes, limits: Limits) -> None:
    """Refuse an archive by the size of its directory, before anything makes objects of its entries."""
    at = body.rfind(_END, max(0, len(body) - _END_SIZE - _LONGEST_COMMENT))
    if at < 0 or len(body) - at < _END_SIZE:
        raise _broken("its end is missing; it may have been cut while it was fetched")
    count, size = struct.unpack("<HI", body[at + 10 : at + 16])
    if count > limits.entries or (size > limits.entries * (_ENTRY_SIZE + 200)):
        raise _too_large(f"it has more than {limits.entries} entries")


def _broken(detail: str) -> Fault:
    return Fault("content_empty", f"This office document cannot be read: {detail}.", action="inform_user")


def _too_large(detail: str) -> Fault:
    return Fault("too_large", f"This office document is refused because {detail}.")
