"""The two-tier answer cache: LRU in memory over an encrypted store on disk, and over what machines share.

Imports `core`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .cache import AnswerCache
    from .disk import ANSWERS, LOCK_WAIT, CacheEntry, erase_answers, forget_answers
    from .erasures import ERASURES
    from .shared import SHARED_ANSWERS

__getattr__ = exports(
    __name__,
    {
        "cache": "AnswerCache",
        "disk": "ANSWERS LOCK_WAIT CacheEntry erase_answers forget_answers",
        "erasures": "ERASURES",
        "shared": "SHARED_ANSWERS",
    },
)
