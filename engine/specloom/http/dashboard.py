"""One page on which an operator sees what goes on: it is open and empty, and what it shows needs the admin key."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from specloom import __version__
from specloom.core import dump_clean, from_epoch
from specloom.storage import StateStores

from .admin import NAMES
from .metrics import Numbers, read_labels, summarize, summarize_providers

if TYPE_CHECKING:
    from specloom.runtime import CallerLimits, Executor

    from .admin_keys import AdminKeys
    from .app import HttpRequest, Route
    from .metrics import Meter

PAGE = "/dashboard"
COUNTED = "activeSessions"
JSON = ((b"content-type", b"application/json"),)
WORKERS = {
    "calls": "mcp_active_calls",
    "connections": "mcp_active_connections",
    "streams": "mcp_active_streams",
    "memoryBytes": "process_resident_memory_bytes",
    "cpuSeconds": "process_cpu_seconds_total",
}


class Dashboard:
    """The page and its data."""

    def __init__(self, keys: AdminKeys, meter: Meter, engine: Callable[[], Awaitable[Executor]]) -> None:
        self._keys = keys
        self._meter = meter
        self._engine = engine
        self._page = files(__package__).joinpath("dashboard.html").read_text(encoding="utf-8")

    def routes(self) -> dict[str, Route]:
        """What answers each path."""
        return {PAGE: self._show, f"{PAGE}/data": self._tell}

    async def _show(self, request: HttpRequest) -> None:
        request.only("GET", "HEAD")
        nonce = secrets.token_urlsafe(16)
        policy = (
            f"default-src 'none'; connect-src 'self'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        headers = (
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-security-policy", policy.encode()),
            (b"x-frame-options", b"DENY"),
        )
        await request.answer(200, self._page.replace("NONCE", nonce).encode(), headers)

    async def _tell(self, request: HttpRequest) -> None:
        self._keys.check(request)
        request.only("GET", "HEAD")
        executor = await self._engine()
        numbers = await asyncio.to_thread(self._meter.add_up)
        failures = await self._meter.add_up_failures()
        data = {
            "generatedAt": from_epoch(executor.clock()),
            "version": __version__,
            "tools": summarize(numbers),
            "providers": summarize_providers(numbers),
            COUNTED: await count_items(executor, NAMES["counted"][COUNTED]),
            "activeCalls": int(sum(numbers.get("mcp_active_calls", {}).values())),
            "rateLimit": describe_limits(executor.caller_limits),
            "health": describe_health(executor, numbers),
            "recentErrors": failures,
            "workers": describe_workers(numbers),
        }
        await request.answer(200, dump_clean(data).encode(), JSON)


async def count_items(executor: Executor, collection: str) -> int:
    """How many items of a collection are kept, of all users."""
    if not isinstance(executor.drawers, StateStores):
        return 0
    return await executor.drawers.store().count(collection)


def describe_limits(limits: CallerLimits) -> dict[str, Any]:
    """The limits that hold for tenants; 0 is none."""
    return {
        "perMinutePerTenant": limits.per_minute,
        "globalPerSecond": limits.server_per_second,
        "dailyPerTenant": limits.per_day,
        "defaultTenant": "default",
    }


def describe_health(executor: Executor, numbers: Numbers) -> dict[str, Any]:
    """Whether all that is asked can be, and the breakers of what cannot, in any worker."""
    own = {(one["provider"], one["family"]): one["state"] for one in executor.breakers.snapshot()}
    named = [read_labels(labels) for labels, is_open in numbers.get("specloom_breaker_open", {}).items() if is_open]
    rows = [
        # What is closed here is open in another worker.
        {"provider": provider, "family": family, "state": state if state != "closed" else "open"}
        for provider, family in sorted((one["provider"], one["operation"]) for one in named)
        for state in [own.get((provider, family), "open")]
    ]
    return {"status": "degraded" if rows else "healthy", "breakers": rows}


def describe_workers(numbers: Numbers) -> list[dict[str, Any]]:
    """What each worker does now."""
    rows = []
    for label in numbers.get(WORKERS["memoryBytes"], {}):
        numbered = {name: numbers.get(metric, {}).get(label, 0) for name, metric in WORKERS.items()}
        rows.append({"worker": label.split('"')[1], **numbered})
    return rows
