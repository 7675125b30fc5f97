"""What the engine knows of itself, as expressions of resources see it: tables of lenses, providers, calls, failures.

Who is no operator of the server is told of its own tenant alone: what would tell of others is absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specloom.plugins.records import record


@record
class LensRow:
    """One lens; what it does not have is absent."""

    name: str
    title: str
    description: str
    domains: Sequence[str] | None = None
    goggle: str | None = None
    engine: str | None = None


@record
class CallCounts:
    """How often something was called, and how that went; times are in milliseconds."""

    total_calls: int
    success_calls: int
    error_calls: int
    cache_hits: int
    avg_latency_ms: float
    p95_latency_ms: float
    last_called: str | None = None
    kinds: Mapping[str, int] | None = None


@record
class ProviderRow:
    """One provider: what it offers, in the order of the alphabet, and the settings without which it is not asked."""

    name: str
    title: str
    capabilities: Sequence[str]
    configured: bool
    set: Sequence[str] | None = None
    calls: Mapping[str, CallCounts] | None = None
    requests: int | None = None
    """Sent since this process began."""
    usd: float | None = None
    """What they cost, as far as prices are known."""


@record
class Pace:
    """At which pace a provider is asked, and how often that was too fast."""

    calls: float | None = None
    per_seconds: float | None = None
    at_once: int | None = None
    refused: int | None = None


@record
class TenantRow:
    """The calls of the caller's tenant on this day of UTC, and the limits of this server; one of 0 is none."""

    id: str
    calls: int
    refused: int
    resets_at: str
    per_minute: int = 0
    per_day: int = 0
    server_per_second: int = 0


@record
class FailureRow:
    """A call of the caller's tenant that failed; secrets are masked."""

    timestamp: str
    tool: str
    kind: str
    tenant_id: str
    provider: str | None = None
    cause: str | None = None


@record
class BreakerRow:
    """The circuit breaker of a provider in one family of its operations."""

    provider: str
    family: str
    state: str
    available: bool
    failures: int | None = None
    retry_after_seconds: float


@record
class StallsRow:
    """How often no call went on for over a second, because one held the event loop; the last time and where it was."""

    count: int
    longest_seconds: float
    last_at: str | None = None
    last_where: str | None = None


@record
class Tables:
    """Every table by its name."""

    lenses: Sequence[LensRow]
    providers: Sequence[ProviderRow]
    routes: Mapping[str, Sequence[str]]
    tools: Mapping[str, CallCounts]
    paces: Mapping[str, Pace]
    tenant: TenantRow
    failures: Sequence[FailureRow]
    breakers: Sequence[BreakerRow]
    stalls: StallsRow | None = None
    problems: Sequence[str] | None = None
