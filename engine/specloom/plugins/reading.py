"""What stands under an address, whole, so that what an answer cut can be read on: one form for whatever it is.

A room says of a procedure which addresses it `reads`; artifacts are read by the context itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .records import record


@record
class WholeText:
    """The whole text under an address. `text` is Markdown where `kind` does not say otherwise."""

    text: str
    title: str = ""
    kind: str = ""
    """What it was before it was text, in a word such as `html`, `pdf` or `application/json`."""
    is_anew: bool = False
    """Whether it was fetched now, because nothing was kept of it; it may be another text than before."""
    page: str = ""
    """Its own address, where redirects ended; "" for what is no page."""


@record
class OpenedText:
    """How a long text begins: what of it fits, its outline, and where it was cut what reads on."""

    content: str
    end: int
    """Where the content ends, in characters of the whole."""
    length: int
    """Characters of the whole."""
    outline: Sequence[str] = ()
    read_on: dict[str, Any] | None = None
    """The arguments of the tool that reads on."""
