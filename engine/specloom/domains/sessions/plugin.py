"""What this domain registers with the engine, by being imported: the entry point that the package announces."""

from __future__ import annotations

from . import observer, procedures

__all__ = ["observer", "procedures"]
