"""What is kept of research, as declared collections: whose it is, how long it lives, and how much there may be.

Lifetimes and numbers are those of the tool contract.
"""

from __future__ import annotations

from ..consents import CONSENTS
from ..drawer import CollectionSpec, declare

HOUR, DAY = 3600.0, 86_400.0
KIBIBYTE, MEBIBYTE = 1024, 1024 * 1024

SESSIONS = CollectionSpec(
    "sessions",
    lifetime=4 * HOUR,
    sliding=True,
    max_items=50,
    when_full="evict",
    # 500 sources with everything that is kept of them, and the outcomes
    max_value=2 * MEBIBYTE,
    max_bytes=128 * MEBIBYTE,
    max_events=200,
    variables=(("lifetime", "SESSION_TTL"), ("max_events", "SESSION_MAX_STEPS")),
)
MEMORIES = CollectionSpec(
    "memories",
    lifetime=90 * DAY,
    max_items=5000,
    max_value=96 * KIBIBYTE,
    indexes=("topic",),
    search=("note", "topic", "tags"),
    variables=(("lifetime", "MEMORY_RETENTION"),),
)
FINDINGS = CollectionSpec(
    "findings",
    scope="shared",
    lifetime=30 * DAY,
    max_items=5000,
    max_value=96 * KIBIBYTE,
    search=("note", "tags"),
    variables=(("lifetime", "WORKSPACE_TTL"),),
)
MEMBERS = CollectionSpec("members", scope="shared", max_items=10_000, max_value=KIBIBYTE)
"""Who belongs to a shared space; each entry is the member's own, so that it goes when they are erased."""
USAGE = CollectionSpec("usage", max_items=1)
WATCHES = CollectionSpec("watches", lifetime=90 * DAY, max_items=100, max_value=MEBIBYTE)
COLLECTIONS = (SESSIONS, MEMORIES, FINDINGS, MEMBERS, USAGE, WATCHES)
# Nothing of this is kept without asking for consent, so no store may be opened without those.
declare(*COLLECTIONS, CONSENTS)
