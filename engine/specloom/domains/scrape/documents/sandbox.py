"""A document read in a process of its own, which can be ended: where a file may be hostile, and on an event loop.

The process has a limit of time and memory, may write no file, and knows no variable of the environment that could be a
secret. It costs the start of an interpreter, about a tenth of a second.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any, Final

from specloom.core import KINDS, Ended, Fault, run

from .document import Document, Limits

# Starting up counts too, and so does a page that is being read when the time is over.
_GRACE: Final = 10.0


async def read_apart(body: bytes, content_type: str, url: str, *, limits: Limits = Limits()) -> Document:  # noqa: B008 - frozen
    """What `documents.read.read` gives, and the same faults, from a process that is ended when it is late.

    Fault `too_large` when the process ran out of time or memory or was brought down. It ends with this call, also when
    the call is cancelled.
    """
    head = json.dumps({"content_type": content_type, "url": url, "limits": asdict(limits)}).encode()
    try:
        ended = await run(
            "specloom.domains.scrape.documents.child", head + b"\n" + body, seconds=limits.seconds + _GRACE
        )
    except OSError as error:
        raise Fault("internal", f"No process could be started to read the document: {error.strerror}.") from None
    if ended.is_late:
        raise Fault("too_large", f"The document could not be read within {limits.seconds:g} seconds.")
    return _to_document(ended)


def _to_document(ended: Ended) -> Document:
    try:
        found: dict[str, Any] = json.loads(ended.output)
    except ValueError:
        raise Fault(
            "too_large",
            f"The reader of the document ended early ({ended.how}): the file is damaged, or needs more than it may "
            "use.",
        ) from None
    if fault := found.get("fault"):
        kind = fault["kind"] if fault["kind"] in KINDS else "internal"
        raise Fault(kind, fault["message"], action=fault["action"])
    values = {field.name: found["document"][field.name] for field in fields(Document)}
    return Document(**{**values, "authors": tuple(values["authors"])})
