"""What this domain registers with the engine, by being imported: the entry point that the package announces."""

from __future__ import annotations

from specloom.domains.text import hosts, reading

from . import procedures
from .claims import coverage
from .sources import classify

__all__ = ["classify", "coverage", "hosts", "procedures", "reading"]
