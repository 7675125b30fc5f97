"""Content codings undone piece by piece, so that a small body cannot become a large one before it is noticed."""

from __future__ import annotations

import zlib

from specloom.core import Fault

ACCEPTED = ("gzip", "deflate")
"""Codings that can be undone here with a bound on every piece, and so the only ones that are asked for."""

_FOREIGN = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip"})
_GZIP = 16 + zlib.MAX_WBITS
_MAGIC = b"\x1f\x8b"


class Inflater:
    """Undoes gzip (any number of members) or deflate (with the zlib wrapper or, as some servers send it, without)."""

    def __init__(self, coding: str, host: str) -> None:
        self._gzip = coding == "gzip"
        self._host = host
        self._zlib = zlib.decompressobj(_GZIP) if self._gzip else None
        self._held = b""

    def feed(self, data: bytes, room: int) -> bytes:
        """What `data` unpacks to, but never more than one byte over `room`."""
        data = self._held + data
        self._held = b""
        pieces: list[bytes] = []
        while data and room >= 0:
            if self._zlib is None or (self._zlib.eof and self._gzip):
                if len(data) < 2:
                    self._held = data
                    break
                if self._gzip and not data.startswith(_MAGIC):
                    break  # Padding after the last member means nothing.
                self._zlib = zlib.decompressobj(_GZIP if self._gzip else _find_window(data))
            elif self._zlib.eof:
                break
            try:
                piece = self._zlib.decompress(data, room + 1)
            except zlib.error:
                message = f"{self._host} sent a body that cannot be decompressed."
                raise Fault("upstream_unavailable", message) from None
            pieces.append(piece)
            room -= len(piece)
            data = self._zlib.unused_data if self._zlib.eof else self._zlib.unconsumed_tail
        return b"".join(pieces)

    def finish(self) -> None:
        """Nothing, once the end of the compressed data was seen; a fault where it is missing."""
        if self._zlib is None or not self._zlib.eof:
            raise Fault("upstream_unavailable", f"{self._host} sent a compressed body that ends too early.")


def find_inflater(header: str, host: str) -> Inflater | None:
    """What undoes the codings of a Content-Encoding header; nothing for a body that is as it should be."""
    codings = [name for part in header.lower().split(",") if (name := part.strip().removeprefix("x-"))]
    known = [name for name in codings if name in ACCEPTED or name in _FOREIGN]
    if not known:
        return None
    if len(known) > 1 or known[0] in _FOREIGN:
        # The names are ours, so a hostile header cannot put words into the sentence.
        message = f"{host} answered in an encoding that was not asked for ({', '.join(known[:3])})."
        raise Fault("upstream_unavailable", message)
    return Inflater(known[0], host)


def _find_window(head: bytes) -> int:
    wrapped = head[0] & 0x0F == 8 and (head[0] << 8 | head[1]) % 31 == 0
    return zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS
