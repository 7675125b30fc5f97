"""Who looks at calls for this package. Work is imported when done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specloom.drawer import CONSENTS
from specloom.hooks import Seen, observer

from .collections import SESSIONS, USAGE
from .switches import USAGE_COUNTS

if TYPE_CHECKING:
    from specloom.drawer import Drawers


@observer(settings=USAGE_COUNTS, every="USER_ANALYTICS_ENABLED", keeps=(SESSIONS, CONSENTS, USAGE))
async def remember_call(drawers: Drawers, seen: Seen) -> None:
    """Put what a call found and met into its session, and count it for a user who agreed to that."""
    from .observing import count_for_user, note_in_session

    if seen.session:
        await note_in_session(drawers, seen)
    if seen.config.get("USER_ANALYTICS_ENABLED"):
        await count_for_user(drawers, seen)
