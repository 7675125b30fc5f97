"""In which declared collections this package keeps things, and what it relies on in each of them."""

from __future__ import annotations

from ..drawer import Needed

SESSIONS = Needed("sessions", events=True)
MEMORIES = Needed("memories", indexes=("topic",), search=True)
FINDINGS = Needed("findings", "shared")
USAGE = Needed("usage")
WATCHES = Needed("watches")
