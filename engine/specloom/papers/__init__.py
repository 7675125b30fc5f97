"""Papers that are resolved, fetched once and kept in a store that people and other programs read."""

from __future__ import annotations

from . import procedures as procedures
