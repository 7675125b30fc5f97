"""Sessions over the drawer they are kept in: begun, continued, taken up again, and fed by the calls of their owner."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from specloom.core import Fault, canonical_url, from_epoch
from specloom.plugins import CollectionNeed, ObservedCall

from .session import (
    GOAL_CHARACTERS,
    LIMIT_REACHED,
    MOST_OUTCOMES,
    MOST_SOURCES,
    CallOutcome,
    ResearchSession,
    SessionSource,
    SessionStep,
    StepReport,
    find_oddities,
    from_json,
    step_from_json,
    step_to_json,
    take_step,
    to_json,
)

if TYPE_CHECKING:
    from specloom.plugins import Collection, Json


# --- Sources as every call finds them, merged: one entry for one thing, with whatever any of them knew about it -------


# The form of a DOI that registrars recommend to match, without its trailing punctuation.
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>?#]+", re.IGNORECASE)
_LONGEST = {"url": 2048, "title": 500, "author": 600, "site": 300, "date": 40, "doi": 200}
"""Characters of a field that are kept."""

_ADDRESSES = ("url", "link", "pdfUrl", "sourceUrl", "website")
_TITLES = ("title", "name", "caseName", "label", "subjectLabel")
_AUTHORS = ("author", "authors", "inventor", "inventors", "creator")
_SITES = ("journal", "site")
_DOIS = ("doi", "detectedDoi")
_BEFORE_A_SITE = (" - ", " | ", " – ", " — ", " · ", " :: ")
_DATES = (
    "publishedAt", "published_at", "publishedDate", "published", "date", "filingDate", "dateFiled", "publicationDate",
    "granted", "filed", "year",
)  # fmt: skip


def merge_sources(session: ResearchSession, found: Iterable[SessionSource]) -> ResearchSession:
    """The session with these sources among its own: known ones learn what they lacked, new ones come last."""
    sources = list(session.sources)
    at = {identity: place for place, source in enumerate(sources) for identity in identities(source)}
    more = session.more_sources
    for source in found:
        known = next((at[identity] for identity in identities(source) if identity in at), None)
        if known is not None:
            sources[known] = _join(sources[known], source)
        elif len(sources) < MOST_SOURCES:
            known = len(sources)
            sources.append(source)
        else:
            more += 1
            continue
        at.update(dict.fromkeys(identities(sources[known]), known))
    return replace(session, sources=tuple(sources), more_sources=more)


def _join(known: SessionSource, found: SessionSource) -> SessionSource:
    """What was known first, completed by what was found later."""
    return replace(
        known,
        title=found.title if _is_cut_or_longer(known.title, found.title) else known.title,
        kind=known.kind or found.kind,
        author=known.author or found.author,
        site=known.site or found.site,
        # A later and more exact date of the same year completes a bare year.
        date=found.date if len(found.date) > len(known.date) and found.date.startswith(known.date) else known.date,
        doi=known.doi or found.doi,
        found_in=known.found_in or found.found_in,
        seen=known.seen + 1,
    )


def _is_cut_or_longer(known: str, found: str) -> bool:
    """Whether a known title is another one as searches show it: cut, or with the name of a site behind it."""
    if not known or not found:
        return not known
    is_cut = known.endswith(("…", "...")) and len(found) > len(known) - 3 and found.startswith(known.rstrip(".… "))
    return is_cut or (known.startswith(found) and known[len(found) :].startswith(_BEFORE_A_SITE))


def identities(source: SessionSource) -> list[str]:
    """What makes two sources one: the DOI, and the address without what changes nothing."""
    names = [f"doi:{source.doi.lower()}"] if source.doi else []
    return [*names, canonical_url(source.url)]


def read_sources(rows: Iterable[Any], kind: str, step: int = 0) -> list[SessionSource]:
    """The sources in the rows of an answer, whatever tool gave it; rows without an http address have none."""
    return [source for row in rows if isinstance(row, Mapping) and (source := _read_source(row, kind, step))]


def _read_source(row: Mapping[str, Any], kind: str, step: int) -> SessionSource | None:
    doi = find_doi(_first(row, _DOIS))
    url = _first(row, _ADDRESSES) or (f"https://doi.org/{doi}" if doi else "")
    if not url.lower().startswith(("http://", "https://")):
        return None
    doi = doi or (find_doi(unquote(url)) if "doi.org/" in url.lower() else "")
    if len(url) > _LONGEST["url"]:
        return None
    return SessionSource(
        url,
        title=" ".join(_find_title(row).split())[: _LONGEST["title"]],
        kind=kind or _first(row, ("sourceType",)),
        author=_cut_names(_first(row, _AUTHORS), _LONGEST["author"]),
        site=_first(row, _SITES)[: _LONGEST["site"]],
        date=_first(row, _DATES)[: _LONGEST["date"]],
        doi=doi[: _LONGEST["doi"]],
        found_in=step,
    )


def _find_title(row: Mapping[str, Any]) -> str:
    """The title; of a filing, which has none, its company, its form and the period that it is about."""
    period = _first(row, ("periodOfReport",))
    parts = (_first(row, ("company",)), _first(row, ("formType",)), period and f"({period})")
    return _first(row, _TITLES) or " ".join(filter(None, parts))


def _first(row: Mapping[str, Any], names: Iterable[str]) -> str:
    """The first of these fields that says something; of a list of people the names, parted by semicolons."""
    for name in names:
        value = row.get(name)
        if isinstance(value, list):
            value = "; ".join(one if isinstance(one, str) else str(one.get("name", "")) for one in value[:20] if one)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return ""


def _cut_names(names: str, most: int) -> str:
    """Names within a length, and none of them in part where there are several."""
    return names if len(names) <= most else names[:most].rpartition(";")[0] or names[:most]


def find_doi(text: str) -> str:
    """The DOI in a text, in lower case, or nothing."""
    match = _DOI.search(text)
    return match[0].rstrip(".,;:)]}'").lower() if match else ""


def host_of(url: str) -> str:
    """The host of an address without `www.`; empty for what has none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


# --- What the calls of a session met, in sum: which errors keep coming back, and which providers answer ---------------


PATTERN_FROM = 3
"""Times that a kind of error must have been met before it is called a pattern."""
MOST_ADDRESSES = 5
"""Addresses that a pattern names."""

ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "auth_required": "These sources ask for a login: look for open-access copies or preprints of the same work.",
        "blocked": "These sites turn automated readers away: use other sources, or archived copies of these.",
        "rate_limited": "The providers ask to slow down: name another provider, or leave more time between calls.",
        "browser_unavailable": "These pages need a browser: install Chromium, or prefer pages that work without.",
        "network": "Connections keep failing: try again later, and check the addresses.",
        "content_empty": "Nothing readable was found there: try the PDF, or another source for the same content.",
        "upstream_unavailable": "The providers keep failing: name another one, or come back later.",
    }
)
"""What to do about a kind of error that keeps coming back, by the contract's word for it."""


def add_outcomes(session: ResearchSession, outcomes: Iterable[CallOutcome]) -> ResearchSession:
    """The session with these outcomes as its newest; the oldest are forgotten."""
    return replace(session, outcomes=(*session.outcomes, *outcomes)[-MOST_OUTCOMES:])


def error_patterns(outcomes: Iterable[CallOutcome]) -> list[dict[str, Any]]:
    """The kinds of error that were met three times or more, the most frequent first."""
    met: dict[str, list[CallOutcome]] = {}
    for one in outcomes:
        if one.error:
            met.setdefault(one.error, []).append(one)
    patterns = [
        {
            "kind": kind,
            "count": len(some),
            "affectedUrls": list(dict.fromkeys(one.url for one in reversed(some) if one.url))[:MOST_ADDRESSES],
            "suggestion": ADVICE.get(kind, "Try another way to the same content."),
            "lastSeen": from_epoch(max(one.at for one in some)) or "",
        }
        for kind, some in met.items()
        if len(some) >= PATTERN_FROM
    ]
    return sorted(patterns, key=lambda one: (-one["count"], one["kind"]))


def provider_stats(outcomes: Iterable[CallOutcome]) -> dict[str, dict[str, int]]:
    """How often each provider was asked, and how often it answered."""
    stats: dict[str, dict[str, int]] = {}
    for one in outcomes:
        if one.provider:
            counted = stats.setdefault(one.provider, {"attempts": 0, "successes": 0})
            counted["attempts"] += 1
            counted["successes"] += not one.error
    return dict(sorted(stats.items()))


LONGEST_ID, LONGEST_URL = 100, 2048


class SessionLost(Fault):
    """There is no such session for this owner, or it has expired."""

    def __init__(self, lifetime: float | None, last_step: int = 0) -> None:
        lasts = f"a session lasts {_say(lifetime)} from when it was last used" if lifetime else "it was deleted"
        super().__init__(
            "session_not_found",
            f"There is no such session, or it has expired: {lasts}. Check the sessionId, or begin anew with "
            "stepNumber 1 and what is known so far as sessionSummary.",
        )
        self.last_step = last_step

    def to_json(self) -> dict[str, Any]:
        """The block of a fault, with what is known about where the caller was."""
        block = super().to_json()["error"]
        return {"error": {**block, "recoveryHint": {"lastKnownStep": self.last_step, "canResume": False}}}


@dataclass(frozen=True, slots=True)
class Trail:
    """A session with its steps."""

    session: ResearchSession
    steps: tuple[SessionStep, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """A session after a step was told, and what was odd about it."""

    trail: Trail
    warnings: tuple[str, ...]
    is_full: bool
    """The session had all its steps, so this one was not kept."""


async def begin(drawer: Collection, told: StepReport, *, new_id: str, tenant: str = "") -> Taken:
    """Open a session with its first step."""
    session = ResearchSession(new_id, told.goal or told.step.description[:GOAL_CHARACTERS], told.step.at, tenant=tenant)
    await drawer.put(new_id, to_json(session), expect=0)
    return await proceed(drawer, new_id, told)


async def proceed(drawer: Collection, id_: str, told: StepReport) -> Taken:
    """Put one more step on a session; SessionLost when there is none."""
    trail = await find(drawer, id_, last_step=told.step.number - 1)
    if len(trail.steps) >= drawer.spec.max_events:
        return Taken(trail, (LIMIT_REACHED,), is_full=True)
    warnings = find_oddities(trail.session, trail.steps, told)

    def change(value: Json, _: int) -> Json:
        return to_json(take_step(from_json(value), told))

    try:
        item = await drawer.append(id_, step_to_json(told.step), change=change)
    except Fault as fault:
        if fault.kind == "not_found":  # it made room for another one since it was looked for
            raise SessionLost(drawer.spec.lifetime, max(0, told.step.number - 1)) from None
        raise
    steps = trail.steps
    if item.last != len(steps) + 1:
        # Somebody else told a step in between, which belongs before this one.
        steps = (await find(drawer, id_)).steps[: item.last - 1]
    return Taken(Trail(from_json(item.value), (*steps, told.step)), tuple(warnings), is_full=False)


async def find(drawer: Collection, id_: str, *, last_step: int = 0) -> Trail:
    """The session with its steps; SessionLost when there is none, `last_step` being all that the caller knows."""
    item = await drawer.get(id_) if 0 < len(id_) <= LONGEST_ID else None
    if item is None:
        raise SessionLost(drawer.spec.lifetime, max(0, last_step))
    events = await drawer.events(id_, last=item.last)
    return Trail(from_json(item.value), tuple(step_from_json(event.value) for event in events))


async def note_call(drawer: Collection, seen: ObservedCall) -> None:
    """Keep the sources and the outcomes of a call in its session; one that does not exist is nobody's loss."""
    if seen.rows and seen.kind:
        await note_rows(drawer, seen.session, seen.kind, seen.rows)
    if seen.outcomes:
        ended = [
            CallOutcome(
                str(one["provider"]), str(one.get("error", "")), str(one.get("url", ""))[:LONGEST_URL], at=seen.at
            )
            for one in seen.outcomes
        ]
        await note_outcomes(drawer, seen.session, ended)


async def note_rows(drawer: Collection, id_: str, kind: str, rows: Sequence[Any], step: int = 0) -> bool:
    """Keep the sources in the rows of a call; whether there is such a session. `kind` is theirs where none is said."""
    found = read_sources(rows, kind, step)
    return await _change(drawer, id_, lambda session: merge_sources(session, found))


async def note_outcomes(drawer: Collection, id_: str, outcomes: Iterable[CallOutcome]) -> bool:
    """Keep how calls of a session ended; whether there is such a session."""
    ended = list(outcomes)
    return await _change(drawer, id_, lambda session: add_outcomes(session, ended))


async def _change(drawer: Collection, id_: str, change: Any) -> bool:
    if not 0 < len(id_) <= LONGEST_ID:
        return False

    def apply(value: Json | None) -> Json | None:
        return None if value is None else to_json(change(from_json(value)))

    return await drawer.update(id_, apply) is not None


def _say(seconds: float) -> str:
    """A lifetime in words."""
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length and seconds % length == 0:
            count = int(seconds // length)
            return f"{count} {unit}" + ("s" if count > 1 else "")
    return f"{seconds:g} seconds"


# --- In which declared collections this package keeps things, and what it relies on in each of them -------------------


SESSIONS = CollectionNeed("sessions", events=True)
USAGE = CollectionNeed("usage")
