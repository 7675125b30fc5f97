"""The corrected bibliography of an audit in parts: each part is kept, so that the last one has all entries."""

from __future__ import annotations

import re
from typing import Final

from specloom.core import dataclass
from specloom.plugins import Context

_KEPT_SECONDS: Final = 6 * 3600.0
_MOST_PARTS: Final = 100
_KEY: Final = re.compile(r"^(@[a-z]{2,20}\{)([^,\s]{1,200})(?=,)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CorrectedPart:
    """Corrected entries as BibTeX, the numbers of the first and the last, and at which index the next part begins."""

    text: str
    first: int
    last: int
    following: int | None


async def join_parts(context: Context, digest: str, begin: int, part: CorrectedPart) -> str:
    """The entries of all parts up to one that begins at an index, of the document with a digest.

    Where a part before was not corrected, or too long ago, these are the entries of this part alone; the first line
    says which there are.
    """
    value = {"text": part.text, "first": part.first, "last": part.last, "following": part.following}
    await context.keep(_to_key(digest, begin), value, _KEPT_SECONDS)
    before: list[CorrectedPart] = []
    at: int | None = 0
    while at is not None and at < begin and len(before) < _MOST_PARTS:
        kept = await context.recall(_to_key(digest, at))
        if kept is None:
            break
        before.append(CorrectedPart(**kept.value))
        at = before[-1].following
    parts = [*before, part] if at == begin else [part]
    rest = "" if part.following is None else "; the rest was not looked at"
    told = f"% entries {parts[0].first} to {part.last}{rest}"
    if parts[0] is part and begin:
        told += "; those before were not audited with a report, or too long ago"
    return "\n\n".join((told, *_with_own_keys([each.text for each in parts if each.text])))


def _to_key(digest: str, begin: int) -> str:
    return f"corrected bibliography:{digest}:{begin}"


def _with_own_keys(texts: list[str]) -> list[str]:
    """Texts in BibTeX without a key that an earlier one has."""
    taken: set[str] = set()

    def rename(match: re.Match[str]) -> str:
        key, count = match[2], 2
        while key in taken:
            key = f"{match[2]}_{count}"
            count += 1
        taken.add(key)
        return f"{match[1]}{key}"

    return [_KEY.sub(rename, text) for text in texts]
