"""What this domain registers with the engine, by being imported: the entry point that the package announces."""

from __future__ import annotations

from . import (
    bibliography,
    curation,
    discovery,
    errors,
    exchange,
    fulltext,
    notes,
    procedures,
    read_paper,
    whole_text,
    zotero,
)

__all__ = [
    "bibliography",
    "curation",
    "discovery",
    "errors",
    "exchange",
    "fulltext",
    "notes",
    "procedures",
    "read_paper",
    "whole_text",
    "zotero",
]
