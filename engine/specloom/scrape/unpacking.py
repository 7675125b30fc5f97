"""A body that is a file packed with gzip (RFC 1952), as `sitemap.xml.gz`, becomes what is in it, within the caps."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Final

from specloom.faults import Fault

from .kinds import find_kind

if TYPE_CHECKING:
    from .reading import Fetched

_GZIP: Final = b"\x1f\x8b\x08"
# What is left is copied for each of them.
_MOST_MEMBERS: Final = 64
_PACKED: Final = re.compile(r"\.gz(?=$|[?#])", re.IGNORECASE)


def unpack(fetched: Fetched, *, most: int) -> Fetched:
    """What was fetched, unpacked where its body is one file packed with gzip; its type is told by what is in it.

    Fault `too_large` for more than `most` bytes, `content_empty` for a file that is damaged or was cut.
    """
    if fetched.kind != "other" or not fetched.body.startswith(_GZIP):
        return fetched
    body, rest = b"", fetched.body
    # Files are packed one after another into one, too.
    for number in count():
        if not rest.startswith(_GZIP):
            break
        if number >= _MOST_MEMBERS:
            raise _refuse("too_large", f"is made of more than {_MOST_MEMBERS} others")
        packed = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            body += packed.decompress(rest, most + 1 - len(body))
        except zlib.error:
            raise _refuse("content_empty", "cannot be unpacked: it is damaged") from None
        if len(body) > most:
            raise _refuse("too_large", f"unpacks to more than {most} bytes")
        if not packed.eof:
            raise _refuse("content_empty", "cannot be unpacked: its end is missing")
        rest = packed.unused_data
    kind = find_kind(body, "", _PACKED.sub("", fetched.url))
    # The header told of the file that is packed, and nothing of what is in it.
    return fetched if kind == "other" else replace(fetched, body=body, kind=kind, headers=_without_type(fetched))


def _without_type(fetched: Fetched) -> dict[str, str]:
    return {name: value for name, value in fetched.headers.items() if name != "content-type"}


def _refuse(kind: str, why: str) -> Fault:
    return Fault(kind, f"This gzip file {why}.", action="inform_user")
