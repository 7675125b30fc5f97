"""The title of a document: what it states, unless a program stated it for want of one."""

from __future__ import annotations

import re
from typing import Final

_NO_TITLE: Final = re.compile(
    r"untitled.*|microsoft (?:word|powerpoint|excel).*|(?:powerpoint )?presentation\d*|slide ?\d*|document ?\d*"
    r"|book ?\d*|word document|\S+\.\w{2,5}|[\d\W_]+|pii: \S+|(?:no )?title|doi:\S+|normal|\(anonymous\)",
    re.IGNORECASE,
)


def to_title(stated: str, shown: str) -> str:
    """The stated title, the one that the text shows where the stated one is a file's name or a default, else ""."""
    return shown if not stated or _NO_TITLE.fullmatch(stated) else stated
