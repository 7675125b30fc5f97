"""Long texts kept for their owner for a while: named by what is in them, and there for nobody else."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from specloom.plugins import ARTIFACTS, Artifact

if TYPE_CHECKING:
    from specloom.plugins import Collections


_ID = re.compile(r"[0-9a-f]{64}")


class Artifacts:
    """What `specloom.plugins.context.ArtifactKeeper` promises, over drawers that have the collection `ARTIFACTS`."""

    def __init__(self, drawers: Collections, address: Callable[[str], str]) -> None:
        """`address` gives that under which a text is read, by its identifier."""
        self._drawers, self._address = drawers, address

    async def keep(self, owner: str, text: str, *, name: str, mime_type: str) -> Artifact:
        """Keep a text; the same text of the same owner has the same address, and its lifetime again."""
        encoded = text.encode("utf-8", "surrogatepass")
        # The type is part of the name: the same bytes as HTML and as plain text are two things to whoever reads them.
        id_ = hashlib.sha256(mime_type.encode() + b"\0" + encoded).hexdigest()
        value = {"name": name, "mime_type": mime_type, "text": text}
        item = await self._drawers.drawer(ARTIFACTS.name, owner).put(id_, value)
        # Declared with a lifetime, or the collection would not pass the check of what is relied on.
        assert item.expires is not None
        return Artifact(self._address(id_), name, mime_type, len(encoded), item.expires)

    async def read(self, owner: str, identifier: str) -> tuple[str, str] | None:
        """The text and its MIME type, or None when it is gone, was never there, or is somebody else's."""
        if not _ID.fullmatch(identifier):
            return None
        item = await self._drawers.drawer(ARTIFACTS.name, owner).get(identifier)
        return None if item is None else (item.value["text"], item.value["mime_type"])
