"""What can be read beside calling tools: statistics, diagnostics, lenses, and the owner's kept answers and sessions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

from specloom.core import Fault, did_you_mean, from_epoch, mask
from specloom.model import Lens
from specloom.plugins import ARTIFACTS as LARGE
from specloom.plugins import PROCEDURES, split_owner
from specloom.runtime import REFUSED, Count, Executor, LiveContext, next_midnight

from .protocol import NotFound

STATIC_MS = 3_600_000
"""Lenses change only with the specs, and those only with a new process."""
ARTIFACTS = "research://artifact/"
SESSIONS = "research://session/"
LENSES = "lenses://"
RECOVER = "recover_session"
"""The procedure that tells a session whole; without it there are no sessions to read."""
MOST_SESSIONS = 100
MOST_ARTIFACTS = 20
"""Large answers that are completed; each is opened for its name."""
TYPES: Mapping[str, str] = MappingProxyType(
    {
        "web": "web",
        "patents": "patent",
        "scholarly": "academic",
        "filings": "filing",
        "cases": "legal",
        "series": "econ",
        "trials": "clinical",
        "places": "local",
    }
)
"""The contract's words for what a provider is, by what it offers; the first that fits. Others are what they offer."""


class Resources:
    """The resources of one owner over an executor."""

    def __init__(self, executor: Executor, owner: str) -> None:
        self._executor = executor
        self._owner = owner

    async def read(self, uri: str) -> dict[str, Any]:
        """The result of reading an address; raises NotFound where there is nothing for this owner."""
        told = {
            "lenses://catalog": self._lenses,
            "stats://providers": self._providers,
            "stats://rate-limits": self._limits,
            "stats://tools": self._tools,
            "diagnostics://errors/recent": self._errors,
            "diagnostics://health": self._health,
        }.get(uri)
        if told is not None:
            return _contents(uri, told(), STATIC_MS if uri.startswith(LENSES) else 0)
        if uri == "stats://sessions":
            return _contents(uri, await self._count_sessions(), 0)
        if uri.startswith(LENSES):
            lenses, name = self._executor.model.lenses, uri.removeprefix(LENSES)
            if name not in lenses:
                raise NotFound(uri, did_you_mean(name, lenses) or "lenses://catalog lists the lenses")
            return _contents(uri, _lens(lenses[name]), STATIC_MS)
        if uri.startswith(ARTIFACTS) and self._executor.artifacts is not None:
            kept = await self._executor.artifacts.read(self._owner, uri.removeprefix(ARTIFACTS))
            if kept is not None:
                text, mime_type = kept
                return {"contents": [{"uri": uri, "mimeType": mime_type, "text": text}], "cacheScope": "private"}
            raise NotFound(uri, "a large answer is kept for half an hour, so repeat the call that gave it")
        if uri.startswith(SESSIONS):
            return await self._session(uri, unquote(uri.removeprefix(SESSIONS)))
        raise NotFound(uri)

    async def list_sessions(self) -> list[str]:
        """The identifiers of the owner's sessions, the newest first."""
        if self._executor.drawers is None or RECOVER not in PROCEDURES:
            return []
        items = await self._executor.drawers.drawer("sessions", self._owner).items(limit=MOST_SESSIONS)
        return [item.key for item in items]

    async def list_artifacts(self) -> list[str]:
        """The identifiers of the owner's large answers, the newest first."""
        if self._executor.drawers is None or self._executor.artifacts is None:
            return []
        items = await self._executor.drawers.drawer(LARGE.name, self._owner).items(limit=MOST_ARTIFACTS)
        return [item.key for item in items]

    async def _session(self, uri: str, session: str) -> dict[str, Any]:
        # A context is a tool's; whose settings it shows does not matter to a session.
        tool = next(iter(self._executor.model.tools.values()), None)
        if tool is None or self._executor.drawers is None or RECOVER not in PROCEDURES:
            raise NotFound(uri)
        context = LiveContext(self._executor, tool, self._owner, None)
        try:
            found = await PROCEDURES[RECOVER].function(context, {"sessionId": session})
        except Fault as fault:
            if fault.kind == "session_not_found":
                raise NotFound(uri, "the session has ended, or it is not the caller's") from None
            raise
        return _contents(uri, found, 0)

    async def _count_sessions(self) -> dict[str, Any]:
        if self._executor.drawers is None or RECOVER not in PROCEDURES:
            return {"activeSessions": 0, "completedSessions": 0}
        items = await self._executor.drawers.drawer("sessions", self._owner).items(limit=MOST_SESSIONS)
        done = sum(bool(item.value["completed"]) for item in items)
        return {"activeSessions": len(items) - done, "completedSessions": done}

    def _lenses(self) -> dict[str, Any]:
        lenses = self._executor.model.lenses.values()
        return {
            "lenses": [
                {
                    "name": one.name,
                    "description": one.description,
                    "domainCount": len(one.domains),
                    "hasCX": bool(one.engine),
                    "hasGoggle": bool(one.goggle),
                }
                for one in lenses
            ]
        }

    def _providers(self) -> dict[str, Any]:
        executor = self._executor
        found = []
        for provider in executor.model.providers.values():
            offered = sorted({one.capability for one in provider.operations.values()})
            said: dict[str, Any] = {
                "name": provider.name,
                "type": next((word for name, word in TYPES.items() if name in offered), offered[0] if offered else ""),
                "title": provider.title,
                "capabilities": offered,
                "configured": provider.name in executor.configured,
            }
            if provider.name in executor.missing:
                said["set"] = list(executor.missing[provider.name])
            calls = {
                one.name: _count(executor.upstreams.counts[one.id])
                for one in provider.operations.values()
                if one.id in executor.upstreams.counts
            }
            found.append({**said, "calls": calls} if calls else said)
        return {"providers": found, "routes": {name: list(order) for name, order in executor.routes.orders.items()}}

    def _tools(self) -> dict[str, Any]:
        return {"tools": {name: _count(count) for name, count in self._executor.tool_counts.items()}}

    def _limits(self) -> dict[str, Any]:
        """What callers may do and did, where 0 is no limit, and the pace that providers ask for."""
        executor = self._executor
        paces = {}
        for provider in executor.model.providers.values():
            rate, at_once = provider.service.rate, provider.service.concurrency
            pace: dict[str, Any] = {"calls": rate.count, "perSeconds": rate.per} if rate else {}
            if at_once:
                pace["atOnce"] = at_once
            if pace and provider.name in executor.configured:
                counts = [executor.upstreams.counts.get(one.id) for one in provider.operations.values()]
                refused = sum(count.kinds.get(REFUSED, 0) for count in counts if count)
                paces[provider.name] = {**pace, "refused": refused}
        tenant, now = split_owner(self._owner)[0], executor.clock()
        tally = executor.tallies.of(tenant, now)
        return {
            "config": {"perMinutePerTenant": 0, "globalPerSecond": 0, "dailyPerTenant": 0},
            "defaultTenant": {
                "tenantId": tenant,
                "perMinuteLimit": 0,
                "dailyLimit": 0,
                "dailyUsed": tally.calls,
                "dailyRemaining": 0,
                "dailyRefused": tally.refused,
                "dailyResetsAt": from_epoch(next_midnight(now)) or "",
            },
            "providers": paces,
            "guidance": (
                "A limit of 0 is none: this server bounds no caller, and counts the calls of a tenant by the day of "
                "UTC, from its own start on. Calls to a provider wait for their turn at the pace given here, and are "
                "refused where their turn would come too late; `refused` and `dailyRefused` count calls that ended so, "
                "or that the provider itself refused as too many."
            ),
        }

    def _errors(self) -> dict[str, Any]:
        tenant = split_owner(self._owner)[0]
        errors = []
        for one in self._executor.recent:
            if split_owner(one.owner)[0] != tenant:
                continue
            said = {"timestamp": from_epoch(one.at) or "", "tool": one.tool, "kind": one.kind, "tenantId": tenant}
            told = {"provider": one.provider, "cause": mask(one.message)}
            errors.append(said | {name: text for name, text in told.items() if text})
        return {"count": len(errors), "errors": errors}

    def _health(self) -> dict[str, Any]:
        found = sorted(self._executor.breakers.snapshot(), key=lambda one: (one["family"], one["provider"]))
        open_ones = sum(not one["available"] for one in found)
        state = "healthy" if not open_ones else "unhealthy" if open_ones == len(found) else "degraded"
        providers = [
            {
                "name": one["provider"],
                "type": TYPES.get(one["family"], one["family"]),
                "breaker": one["state"].replace("_", "-"),
                "available": one["available"],
                "failures": one["failures"],
                "retryAfterSeconds": one["retry_after"],
            }
            for one in found
        ]
        return {"status": state, "providers": providers, "problems": list(self._executor.problems)}


def _lens(lens: Lens) -> dict[str, Any]:
    said = {
        "name": lens.name,
        "title": lens.title,
        "description": lens.description,
        "domains": list(lens.domains),
        "goggle": lens.goggle,
        "engine": lens.engine,
    }
    return {key: value for key, value in said.items() if value}


def _count(count: Count) -> dict[str, Any]:
    said: dict[str, Any] = {
        "totalCalls": count.calls,
        "successCalls": count.calls - count.faults,
        "errorCalls": count.faults,
        "cacheHits": count.hits,
        "avgLatencyMs": round(count.mean * 1000, 1),
        "p95LatencyMs": round(count.slow * 1000, 1),
    }
    if count.last:
        said["lastCalled"] = from_epoch(count.last) or ""
    return {**said, "kinds": dict(count.kinds)} if count.kinds else said


def _contents(uri: str, data: Mapping[str, Any] | Sequence[Any], ttl: int) -> dict[str, Any]:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return {
        "contents": [{"uri": uri, "mimeType": "application/json", "text": text}],
        "ttlMs": ttl,
        "cacheScope": "private",
    }
