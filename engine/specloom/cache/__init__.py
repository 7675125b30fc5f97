"""The two-tier answer cache: LRU in memory over an encrypted store on disk.

Imports `core`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .cache import AnswerCache
    from .disk import ANSWERS, LOCK_WAIT, CacheEntry, erase_answers, forget_answers
    from .erasures import ERASURES

__getattr__ = exports(
    __name__,
    {
        "cache": "AnswerCache",
        "disk": "ANSWERS LOCK_WAIT CacheEntry erase_answers forget_answers",
        "erasures": "ERASURES",
    },
)
