"""Long texts kept for their owner for half an hour: named by what is in them, and there for nobody else."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from .desk import Artifact
from .drawer import CollectionSpec, declare

if TYPE_CHECKING:
    from .drawer import Drawers

SCHEME = "research://artifact/"
MEBIBYTE = 1024 * 1024
LIFETIME = 1800.0
"""Seconds that a text is kept after it was last kept; the contract's number."""

ARTIFACTS = CollectionSpec(
    "artifacts",
    lifetime=LIFETIME,
    max_items=200,
    when_full="evict",
    # The longest page that may be asked for, in characters of up to four bytes, and what JSON adds to it.
    max_value=24 * MEBIBYTE,
    max_bytes=256 * MEBIBYTE,
)
declare(ARTIFACTS)
_ID = re.compile(r"[0-9a-f]{64}")


class Artifacts:
    """What `specloom.desk.ArtifactKeeper` promises, over a store that has the collection `ARTIFACTS`."""

    def __init__(self, drawers: Drawers, *, clock: Callable[[], float] = time.time) -> None:
        self._drawers = drawers
        self._clock = clock

    async def keep(self, owner: str, text: str, *, name: str, mime_type: str) -> Artifact:
        """Keep a text; the same text of the same owner has the same address, and half an hour again."""
        encoded = text.encode("utf-8", "surrogatepass")
        # The type is part of the name: the same bytes as HTML and as plain text are two things to whoever reads them.
        id_ = hashlib.sha256(mime_type.encode() + b"\0" + encoded).hexdigest()
        value = {"name": name, "mime_type": mime_type, "text": text}
        item = await self._drawers.drawer(ARTIFACTS.name, owner).put(id_, value)
        expires = item.expires if item.expires is not None else self._clock() + LIFETIME
        return Artifact(SCHEME + id_, name, mime_type, len(encoded), expires)

    async def read(self, owner: str, identifier: str) -> tuple[str, str] | None:
        """The text and its MIME type, or None when it is gone, was never there, or is somebody else's."""
        if not _ID.fullmatch(identifier):
            return None
        item = await self._drawers.drawer(ARTIFACTS.name, owner).get(identifier)
        return None if item is None else (item.value["text"], item.value["mime_type"])
