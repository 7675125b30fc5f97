"""What this domain registers with the engine, by being imported: the entry point that the package announces."""

from __future__ import annotations

from . import export, steps, store, watches

__all__ = ["export", "steps", "store", "watches"]
