"""Finds the work that a reference in plain words means, by its title; what is only like it is never taken for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specloom.core import Fault
from specloom.domains.text import terms

from .match import Match, match_reference
from .reference import Reference
from .work import Work, to_work

if TYPE_CHECKING:
    from specloom.plugins import Context


RESULTS = 5
"""Results that are compared of each provider (the tool contract's figure)."""
LONGEST_QUERY = 300
_ORDER = ("high", "medium", "low", "none")
# Without so many words of substance a reference could be anything.
_FEWEST_TERMS = 2


@dataclass(frozen=True, slots=True)
class RegistrySearch:
    """The best record for a reference: the work and how it compares, or None; who answered, and who could not."""

    work: Work | None
    match: Match | None
    answered: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    trail: tuple[str, ...] = ()

    @property
    def obstacle(self) -> str:
        """Why nobody answered; "" when somebody did."""
        if self.answered:
            return ""
        return (
            f"{' and '.join(self.failed)} could not be asked"
            if self.failed
            else self.trail[-1].removeprefix("search: ")
        )

    @property
    def confidence(self) -> str:
        """How sure it is that the work is the cited one: high, medium, low or none."""
        return self.match.confidence if self.match is not None else "none"


async def find_by_reference(context: Context, reference: Reference, *, most: int = 9) -> RegistrySearch:
    """The best record for a reference whose parts are known."""
    query = _to_query(reference)
    if len(terms(query)) < _FEWEST_TERMS:
        return RegistrySearch(None, None, trail=("search: the text has too few words to look for",))
    best: tuple[Work, Match] | None = None
    trail: list[str] = []
    answered: list[str] = []
    failed: list[str] = []
    for provider in context.offering("scholarly")[:most]:
        try:
            answer = await context.ask("scholarly", {"query": query, "num_results": RESULTS}, provider=provider)
        except Fault as fault:
            trail.append(f"search: {provider} could not be asked ({fault.kind})")
            failed.append(provider)
            continue
        answered.append(provider)
        found = _find_best(answer.rows, provider, reference)
        level = found[1].confidence if found else "none"
        trail.append(f"search: the best of {len(answer.rows)} results of {provider} matches with confidence {level}")
        if found and (best is None or _rank(found[1]) < _rank(best[1])):
            best = found
        if level == "high":
            break
    if not trail:
        trail.append("search: no scholarly index is configured")
    work, match = best or (None, None)
    return RegistrySearch(work, match, tuple(answered), tuple(failed), tuple(trail))


def _find_best(rows: list[dict[str, Any]], provider: str, reference: Reference) -> tuple[Work, Match] | None:
    works = [to_work(row, provider) for row in rows[:RESULTS]]
    matches = [(work, match_reference(reference, work.record)) for work in works]
    matches = [one for one in matches if one[1].confidence != "none"]
    return min(matches, key=lambda one: _rank(one[1]), default=None)


def _rank(match: Match) -> tuple[int, bool, int]:
    """The surest first; of equally sure ones that whose whole title agrees, then that with most other fields."""
    agreed = sum(one.verdict == "match" for one in match.judgements)
    return _ORDER.index(match.confidence), match.title.partial, -agreed


def _to_query(reference: Reference) -> str:
    """What is looked for: the title and the first author where they are certain, else the whole text."""
    if reference.title and len(terms(reference.title)) >= _FEWEST_TERMS:
        author = reference.authors[0].family if reference.authors else ""
        return f"{reference.title} {author}".strip()[:LONGEST_QUERY]
    return reference.text[:LONGEST_QUERY]
