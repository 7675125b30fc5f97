"""A question put to the providers of web searches in turn, with who answered it and how the others fared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..faults import Fault, all_failed
from ..urls import canonical_url

if TYPE_CHECKING:
    from ..desk import Desk

SEARCH = "web"
"""The capability that questions are put to, and what kind of sources it finds."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How one provider fared: what it answered, or the fault with which it did not."""

    provider: str
    rows: tuple[dict[str, Any], ...] = ()
    fault: Fault | None = None


async def search(
    desk: Desk, query: str, results: int, order: Sequence[str], *, empty_counts: bool = False
) -> list[Asked]:
    """How each of these providers fared, up to the first that found something; at most so many results of it.

    An empty answer goes on to the next one, as in a search that a caller makes, unless it counts as one.
    """
    asked: list[Asked] = []
    # Where nobody can be asked, asking nobody in particular says why.
    for name in order or ("",):
        try:
            answer = await desk.ask(SEARCH, {"query": query, "num_results": results}, provider=name)
        except Fault as fault:
            asked.append(Asked(name, fault=fault))
            continue
        asked.append(Asked(name, tuple(_distinct(answer.rows))[:results]))
        if answer.rows or empty_counts:
            break
    return asked


def _distinct(rows: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """One row for each page, the first."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        found.setdefault(canonical_url(str(row.get("url") or "")), row)
    return found.values()


def find_answer(asked: Sequence[Asked]) -> Asked:
    """The answer among them: the last that found something, else the first empty one; a fault where there is none."""
    answered = [one for one in asked if one.fault is None]
    if not answered:
        raise all_failed([one.fault for one in asked if one.fault is not None])
    return answered[-1] if answered[-1].rows else answered[0]
