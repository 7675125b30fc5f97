"""What this domain registers with the engine, by being imported: the entry point that the package announces."""

from __future__ import annotations

from . import procedures

__all__ = ["procedures"]
