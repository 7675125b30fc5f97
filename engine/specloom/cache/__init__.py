"""The two-tier answer cache: LRU in memory over an encrypted store on disk.

Imports `core`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .cache import LOCK_WAIT, AnswerCache
    from .disk import ANSWERS, CacheEntry, erase_answers
    from .erasures import ERASURES

__getattr__ = exports(
    __name__,
    {
        "cache": "LOCK_WAIT AnswerCache",
        "disk": "ANSWERS CacheEntry erase_answers",
        "erasures": "ERASURES",
    },
)
