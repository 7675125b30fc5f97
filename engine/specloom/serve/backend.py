"""Answers the protocol from an executor: tools, resources and completions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..counts import Count
from ..executor import Executor
from ..model import Lens
from .contract import INVALID_PARAMS, Backend, Call, NotFound, ProtocolError
from .results import render_text

STATIC_MS = 3_600_000
"""Lenses change only with the specs, and those only with a new process."""
MOST_VALUES = 100
ARTIFACTS = "research://artifact/"


class ExecutorBackend(Backend):
    """The backend of `serve`: one owner, who is whoever started the process."""

    def __init__(self, executor: Executor, *, owner: str = "") -> None:
        self._executor = executor
        self._owner = owner

    def call_now(self, name: str, arguments: dict[str, Any]) -> bytes | None:
        done = self._executor.peek(name, arguments, owner=self._owner)
        return render_text(done.body, done.meta) if done else None

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Call) -> bytes:
        done = await self._executor.call(name, arguments, owner=self._owner, progress=call.progress)
        if done.linked is None:
            return render_text(done.body, done.meta)
        one = done.linked
        title = done.answer["summary"]
        link = {"uri": one.uri, "name": one.name, "title": title, "mimeType": one.mime_type, "size": one.size}
        return render_text(done.body, done.meta, link)

    async def read_resource(self, uri: str, call: Call) -> dict[str, Any]:  # noqa: ARG002
        read = {
            "lenses://catalog": self._lenses,
            "stats://providers": self._providers,
            "stats://tools": self._tools,
            "diagnostics://health": self._health,
        }.get(uri)
        if read is not None:
            ttl = STATIC_MS if uri.startswith("lenses:") else 0
            return _contents(uri, read(), ttl)
        scheme, _, name = uri.partition("://")
        if scheme == "lenses" and name in self._executor.model.lenses:
            return _contents(uri, _lens(self._executor.model.lenses[name]), STATIC_MS)
        if uri.startswith(ARTIFACTS) and self._executor.artifacts is not None:
            kept = await self._executor.artifacts.read(self._owner, uri.removeprefix(ARTIFACTS))
            if kept is not None:
                text, mime_type = kept
                return {"contents": [{"uri": uri, "mimeType": mime_type, "text": text}], "cacheScope": "private"}
        raise NotFound(uri)

    async def get_prompt(self, name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:  # noqa: ARG002
        raise ProtocolError(INVALID_PARAMS, f"Unknown prompt: {name}")

    async def complete(self, ref: dict[str, Any], argument: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        if ref.get("type") != "ref/resource" or ref.get("uri") != "lenses://{name}":
            raise ProtocolError(INVALID_PARAMS, "Nothing is completed for this reference")
        typed = str(argument.get("value", "")).lower()
        names = sorted(self._executor.model.lenses)
        found = [name for name in names if name.startswith(typed)] + [
            name for name in names if typed in name[1:] and not name.startswith(typed)
        ]
        return {"values": found[:MOST_VALUES], "total": len(found), "hasMore": len(found) > MOST_VALUES}

    async def close(self, grace: float) -> None:  # noqa: ARG002
        await self._executor.aclose()

    def _lenses(self) -> dict[str, Any]:
        lenses = self._executor.model.lenses.values()
        return {
            "lenses": [
                {
                    "name": one.name,
                    "description": one.description,
                    "domains": len(one.domains),
                    "engine": bool(one.engine),
                    "goggle": bool(one.goggle),
                }
                for one in lenses
            ]
        }

    def _providers(self) -> dict[str, Any]:
        executor = self._executor
        found = []
        for provider in executor.model.providers.values():
            said: dict[str, Any] = {
                "name": provider.name,
                "title": provider.title,
                "capabilities": sorted({one.capability for one in provider.operations.values()}),
                "configured": provider.name in executor.configured,
            }
            if provider.name in executor.missing:
                said["set"] = list(executor.missing[provider.name])
            calls = {
                one.name: _count(executor.provider_counts[one.id])
                for one in provider.operations.values()
                if one.id in executor.provider_counts
            }
            found.append({**said, "calls": calls} if calls else said)
        return {"providers": found, "routes": {name: list(order) for name, order in executor.routes.orders.items()}}

    def _tools(self) -> dict[str, Any]:
        return {"tools": {name: _count(count) for name, count in self._executor.tool_counts.items()}}

    def _health(self) -> dict[str, Any]:
        found = sorted(self._executor.breakers.snapshot(), key=lambda one: (one["family"], one["provider"]))
        open_ones = sum(not one["available"] for one in found)
        state = "healthy" if not open_ones else "unhealthy" if open_ones == len(found) else "degraded"
        return {"status": state, "providers": found, "problems": list(self._executor.problems)}


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
    said: dict[str, Any] = {"calls": count.calls, "faults": count.faults, "cacheHits": count.hits}
    if count.calls:
        said["meanMilliseconds"] = round(count.seconds / count.calls * 1000, 1)
        said["errorRate"] = round(count.faults / count.calls, 3)
    return {**said, "kinds": dict(count.kinds)} if count.kinds else said


def _contents(uri: str, data: Mapping[str, Any], ttl: int) -> dict[str, Any]:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return {
        "contents": [{"uri": uri, "mimeType": "application/json", "text": text}],
        "ttlMs": ttl,
        "cacheScope": "private",
    }
