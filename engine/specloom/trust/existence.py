"""Whether a work exists: registries are asked in turn, and who could not be asked is never taken for a no."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from specloom.faults import Fault
from specloom.trust.dois import to_doi
from specloom.trust.titles import is_called_retracted
from specloom.trust.works import Work, to_work

if TYPE_CHECKING:
    from specloom.desk import Desk
    from specloom.wire import Answer

State = Literal["found", "absent", "unknown"]
BATCH = 100
"""DOIs of one question for several works; each provider parts them further as its API wants it."""
AT_ONCE = 5
"""Questions about single DOIs that are under way at a time."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a work: whether it exists, its record where a registry gave one, and who was asked with what.

    `absent` means that somebody who would know was asked and has nothing of the kind; `unknown` that nobody could say.
    `reason` says in words why it is one of those, and `near` is a record that is like it.
    """

    state: State
    work: Work | None = None
    trail: tuple[str, ...] = ()
    doi: str = ""
    reason: str = ""
    near: Work | None = None

    @property
    def notice(self) -> dict[str, Any] | None:
        """The most severe notice about the work, as the tools tell it; None when there is none or nobody knows."""
        return dict(self.work.notice) if self.work is not None and self.work.notice is not None else None


async def find_by_doi(desk: Desk, doi: str) -> Standing:
    """The standing of one DOI in its normal form: every registry in the route, then the handle system of all DOIs."""
    trail: list[str] = []
    for provider in desk.offering("work"):
        try:
            answer = await desk.ask("work", {"doi": doi}, provider=provider)
        except Fault as fault:
            trail.append(tell_fault(provider, fault, f"no record of {doi}"))
            continue
        work = _find_exact(answer.rows, provider, doi)
        if work is not None:
            trail.append(f"existence: {provider} has a record of exactly {doi}")
            return Standing("found", work, (*trail, _tell_notices(work)), doi)
        trail.append(f"existence: {provider} has no record of {doi}")
    return await _ask_registry(desk, doi, trail)


async def find_by_dois(desk: Desk, dois: Iterable[str]) -> dict[str, Standing]:
    """The standing of many DOIs: each registry is asked for many in one request, and the handle system for the rest."""
    import asyncio

    left = list(dict.fromkeys(dois))
    found: dict[str, Standing] = {}
    trails: dict[str, list[str]] = {doi: [] for doi in left}
    for provider in desk.offering("works"):
        # A comma parts the items of such a question, so the few DOIs that have one are asked for alone.
        plain = [doi for doi in left if "," not in doi and '"' not in doi]
        parts = [plain[at : at + BATCH] for at in range(0, len(plain), BATCH)]
        answers = await asyncio.gather(*[_ask_many(desk, provider, part) for part in parts])
        for part, answer in zip(parts, answers, strict=True):
            rows = [] if isinstance(answer, Fault) else answer.rows
            for doi in part:
                work = _find_exact(rows, provider, doi)
                if work is not None:
                    told = (*trails[doi], f"existence: {provider} has a record of exactly {doi}", _tell_notices(work))
                    found[doi] = Standing("found", work, told, doi)
                elif isinstance(answer, Fault):
                    trails[doi].append(tell_fault(provider, answer, f"no record of {doi}"))
                else:
                    trails[doi].append(f"existence: {provider} has no record of {doi}")
        left = [doi for doi in left if doi not in found]
    turns = asyncio.Semaphore(AT_ONCE)

    async def ask_alone(doi: str) -> Standing:
        async with turns:
            return await (_ask_registry(desk, doi, trails[doi]) if trails[doi] else find_by_doi(desk, doi))

    others = await asyncio.gather(*[ask_alone(doi) for doi in left])
    return found | dict(zip(left, others, strict=True))


async def _ask_many(desk: Desk, provider: str, dois: Sequence[str]) -> Answer | Fault:
    try:
        return await desk.ask("works", {"dois": list(dois)}, provider=provider)
    except Fault as fault:
        return fault


def _find_exact(rows: Iterable[dict[str, Any]], provider: str, doi: str) -> Work | None:
    """The record whose DOI equals the one that was asked for; never a neighbour."""
    return next((to_work(row, provider) for row in rows if to_doi(str(row.get("doi") or "")) == doi), None)


async def _ask_registry(desk: Desk, doi: str, trail: list[str]) -> Standing:
    """What the handle system says: registered or not, or nothing when it cannot be asked."""
    try:
        answer = await desk.ask("handles", {"doi": doi})
    except Fault as fault:
        told = f"existence: the registry of all DOIs could not be asked ({_short(fault)}), so nobody can say"
        reason = f"nobody could say whether {doi} is registered"
        return Standing("unknown", None, (*trail, told), doi, reason)
    if any(to_doi(str(row["doi"])) == doi for row in answer.rows):
        return Standing("found", None, (*trail, f"existence: {doi} is registered; nobody asked has its record"), doi)
    reason = f"{doi} is not registered with any agency"
    return Standing("absent", None, (*trail, f"existence: {reason}"), doi, reason)


# --- telling ---


def _tell_notices(work: Work) -> str:
    if work.notice is not None:
        return f"retraction: {work.provider} lists a notice ({work.notice.get('kind')})"
    if is_called_retracted(work.title):
        return f"retraction: {work.provider} lists no notice, but the recorded title says that it was retracted"
    if work.notices_known:
        return f"retraction: {work.provider} lists no notice"
    return f"retraction: {work.provider} does not list notices, so nothing is known"


def tell_fault(provider: str, fault: Fault, absent: str) -> str:
    """The line of a trail for a provider that raised a fault; `absent` says what it then has."""
    if fault.kind == "not_found":
        return f"existence: {provider} has {absent}"
    return f"existence: {provider} could not be asked ({_short(fault)})"


def _short(fault: Fault) -> str:
    return f"{fault.kind}: {fault.message}"[:200]
