"""Watched queries: what is new on all of them in one answer, and a change that forgets nothing that was seen."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Any

from specloom.core import Fault, all_failed, canonical_url, dataclass, from_epoch
from specloom.plugins import (
    CONSENTS,
    REASONS,
    Collection,
    CollectionNeed,
    Context,
    Item,
    Refusal,
    find_refusal,
    procedure,
)
from specloom.plugins.records import record

WATCHES = CollectionNeed("watches", lifetime=True)
SEARCH, RESULTS = "web", 10
"""The capability that is asked, and results of each look, as many as a single look asks for."""
AT_ONCE = 4
"""Queries that are looked for side by side."""
SECONDS = 100.0
"""Time for all of them, within that of the call; queries that nobody was asked for by then wait for the next call."""
MOST_SEEN = 5000
"""Addresses that a watched query remembers, the newest."""


@record
class NewResult:
    """A result that a watched query had not found before."""

    query: str
    title: str = ""
    url: str
    snippet: str = ""
    published_at: str | None = None


@record
class WatchNews:
    """A watched query on which there is something new."""

    query: str
    provider: str | None = None
    new_count: int
    note: str | None = None


@record
class WatchFailure:
    """A watched query that nobody answered, and why."""

    query: str
    provider: str | None = None
    reason: str


@record
class WatchDigest:
    """What is new on the watched queries of a user, those longest not looked at first."""

    status: str
    reason: str | None = None
    checked: int = 0
    unchanged: int = 0
    """Queries on which there is nothing new."""
    new_count: int = 0
    queries: Sequence[WatchNews] = ()
    new_results: Sequence[NewResult] = ()
    """Of all queries, in their order."""
    failed: Sequence[WatchFailure] = ()
    waiting: int = 0
    """Queries that were not looked for: the next call begins with them."""


ANY = "any"
"""The word for whichever provider answers."""
DAY = 86_400.0
UNWATCHED = "This query is not watched with this provider; monitor_query_list names those that are."
WATCHED = "The query that this would become is watched already; monitor_query_stop ends one of the two."


@record
class WatchChange:
    """What is to be changed of a watched query; what is None stays."""

    query: str
    provider: str | None = None
    to_query: str | None = None
    to_provider: str | None = None
    """Who is asked from now on, or `any`."""
    ttl_days: int | None = None
    """Days from now."""


@record
class ChangedWatch:
    """A watched query after a change; `status` says why there was none."""

    status: str
    reason: str | None = None
    query: str
    provider: str | None = None
    seen_count: int | None = None
    saved_at: str | None = None
    ttl_days: int | None = None
    ends_at: str | None = None


@procedure("change_watch", asks=(SEARCH,), keeps=(WATCHES, CONSENTS))
async def change_watch(context: Context, wanted: WatchChange) -> ChangedWatch:
    """Gives a watched query of the caller other words, another provider or other days; what it has seen stays seen.

    Nobody is asked. Where the new words and provider are watched already, both stay as they are.
    """
    if refusal := await _find_refusal(context):
        return ChangedWatch(status=refusal, reason=REASONS[refusal], query=wanted.query)
    if wanted.to_provider not in (None, ANY, *context.offering(SEARCH)):
        known = ", ".join(context.offering(SEARCH)) or "none"
        message = f"to_provider is {wanted.to_provider!r}, and those that can be asked are: {known}; or {ANY}."
        raise Fault("validation", message, argument="to_provider")
    if wanted.to_query is not None and not wanted.to_query.strip():
        message = "to_query is blank; give the new words, or leave it out so that they stay."
        raise Fault("validation", message, argument="to_query")
    watches, now, before = context.state(WATCHES.name), context.now(), to_key(wanted.query, wanted.provider or "")
    item = await watches.get(before)
    if item is None or not _is_watched(item.value, now):
        return ChangedWatch(status="not_found", reason=UNWATCHED, query=wanted.query)
    value = _changed(item.value, wanted, now)
    after = to_key(value["query"], value["provider"])
    told = await (
        _change_days(watches, before, wanted, value, now)
        if after == before
        else _move(watches, before, after, wanted, value["until"], now)
    )
    if isinstance(told, str):
        reason = WATCHED if told == "exists" else UNWATCHED
        return ChangedWatch(status=told, reason=reason, query=wanted.query)
    return ChangedWatch(
        status="ok",
        query=told["query"],
        provider=told["provider"] or None,
        seen_count=len(told["seen"]),
        saved_at=told["savedAt"],
        ttl_days=told["ttlDays"],
        ends_at=from_epoch(told["until"]),
    )


async def _find_refusal(context: Context) -> Refusal | None:
    """Why nothing may be watched for the caller; None where it may."""
    purpose = context.state(WATCHES.name).spec.consent
    return await find_refusal(context.state(CONSENTS.name), context.owner, purpose)


def _is_watched(value: Any, now: float) -> bool:
    return value is not None and bool(value["until"] > now)


async def _change_days(
    watches: Collection, key: str, wanted: WatchChange, value: Mapping[str, Any], now: float
) -> Mapping[str, Any] | str:
    """A watched query as it is after a change of what its key does not say; else the status that tells why not."""

    def change(stored: Any) -> Any:
        # What a look at the same time has seen is kept; what was ended meanwhile is not begun again.
        return _changed(stored, wanted, now) if _is_watched(stored, now) else None

    kept = await watches.update(key, change, lasts=value["until"] - now)
    if kept is None or not _is_watched(kept.value, now):
        return "not_found"
    told: Mapping[str, Any] = kept.value
    return told


async def _move(
    watches: Collection, before: str, after: str, wanted: WatchChange, until: float, now: float
) -> Mapping[str, Any] | str:
    """A watched query under its new key, with all that it has seen by then; else the status that tells why not."""
    status = "not_found"

    def change(stored: Any, other: Any) -> Any:
        nonlocal status
        status = "exists" if _is_watched(stored, now) and _is_watched(other, now) else "not_found"
        return _changed(stored, wanted, now) if _is_watched(stored, now) and not _is_watched(other, now) else None

    kept = await watches.move(before, after, change, lasts=until - now)
    if kept is None:
        return status
    told: Mapping[str, Any] = kept.value
    return told


def _merge_seen(*lists: Sequence[str]) -> list[str]:
    """The addresses of all lists, each once, the newest of them last; the oldest go where they are too many."""
    return [*dict.fromkeys(url for urls in lists for url in urls)][-MOST_SEEN:]


def _changed(value: Mapping[str, Any], wanted: WatchChange, now: float) -> dict[str, Any]:
    """A watched query as it is wanted, with all that it has seen."""
    changed = {**value, "query": wanted.to_query or value["query"]}
    if wanted.to_provider is not None:
        provider = "" if wanted.to_provider == ANY else wanted.to_provider
        changed |= {"provider": provider, "asked": provider or value.get("asked") or ""}
    if wanted.ttl_days:
        changed |= {"ttlDays": wanted.ttl_days, "until": now + wanted.ttl_days * DAY}
    return changed


def to_key(query: str, provider: str) -> str:
    """The key of a watched query, as the plans of the other tools make it: case and blanks part no two."""
    return "\0".join((provider, " ".join(filter(None, query.lower().split(" ")))))


@dataclass(slots=True)
class _Looks:
    """What came of the looks so far."""

    news: dict[str, tuple[WatchNews, list[NewResult]]] = field(default_factory=dict)
    failed: dict[str, WatchFailure] = field(default_factory=dict)
    unchanged: int = 0

    @property
    def checked(self) -> int:
        return len(self.news) + len(self.failed) + self.unchanged


@procedure("digest_watches", asks=(SEARCH,), keeps=(WATCHES, CONSENTS))
async def digest(context: Context, limit: int = 20) -> WatchDigest:
    """Looks for up to `limit` watched queries of the caller again and tells what is new on each.

    What is told counts as seen. A query that nobody answers stays as it was, and is told with the reason.
    """
    if refusal := await _find_refusal(context):
        return WatchDigest(status=refusal, reason=REASONS[refusal])
    watches = context.state(WATCHES.name)
    items = [item for item in await watches.items(limit=watches.spec.max_items) if item.value["until"] > context.now()]
    items.sort(key=lambda item: (item.value["lastRunAt"], item.key))
    chosen, looks, turns = items[:limit], _Looks(), asyncio.Semaphore(AT_ONCE)

    async def look(item: Item) -> None:
        async with turns:
            await _look(context, item, looks)
        context.tell(looks.checked, len(chosen), f"{looks.checked} of {len(chosen)} queries looked for")

    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(*[look(item) for item in chosen])
    order = [item.key for item in chosen]
    news = [looks.news[key] for key in order if key in looks.news]
    return WatchDigest(
        status="ok",
        checked=looks.checked,
        unchanged=looks.unchanged,
        new_count=sum(one.new_count for one, _ in news),
        queries=[one for one, _ in news],
        new_results=[result for _, results in news for result in results],
        failed=[looks.failed[key] for key in order if key in looks.failed],
        waiting=len(items) - looks.checked,
    )


async def _look(context: Context, item: Item, looks: _Looks) -> None:
    query, wanted, before = (str(item.value.get(name) or "") for name in ("query", "provider", "asked"))
    try:
        provider, rows = await _find(context, query, wanted, before)
    except Fault as fault:
        looks.failed[item.key] = WatchFailure(query=query, provider=wanted or None, reason=fault.message)
        return
    now, new = context.now(), list[Mapping[str, Any]]()
    at = from_epoch(now)

    def change(value: Any) -> Any:
        if not _is_watched(value, now):
            new.clear()
            return None
        seen = dict.fromkeys(value["seen"])
        new[:] = [row for url, row in rows.items() if url not in seen]
        return {**value, "seen": _merge_seen(value["seen"], [*rows]), "lastRunAt": at}

    # It may have been ended since it was listed, and is then not begun again.
    kept = await context.state(WATCHES.name).update(item.key, change, lasts=item.value["until"] - now)
    if kept is None or not new:
        looks.unchanged += 1
        return
    results = [
        NewResult(
            query=query,
            title=str(row.get("title") or ""),
            url=str(row["url"]),
            snippet=str(row.get("snippet") or ""),
            published_at=row.get("published_at"),
        )
        for row in new
    ]
    other = f"{before} was asked before and gave no answer now: what only {provider} finds counts as new."
    note = other if before and provider and provider != before else None
    news = WatchNews(query=query, provider=wanted or None, new_count=len(results), note=note)
    looks.news[item.key] = news, results


async def _find(context: Context, query: str, wanted: str, before: str) -> tuple[str, dict[str, Mapping[str, Any]]]:
    """Who answers and what they find, by address; whoever was asked before is asked first, since indexes differ."""
    offered = [wanted] if wanted else list(context.offering(SEARCH))
    failures: list[Fault] = []
    for provider in sorted(offered, key=lambda name: name != before) or [""]:
        try:
            answer = await context.ask(SEARCH, {"query": query, "num_results": RESULTS}, provider=provider)
        except Fault as fault:
            failures.append(fault)
            continue
        rows: dict[str, Mapping[str, Any]] = {}
        for row in answer.rows:
            if row.get("url"):
                rows.setdefault(canonical_url(str(row["url"])), row)
        return provider, rows
    raise all_failed(failures)
