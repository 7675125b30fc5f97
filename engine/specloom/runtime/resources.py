"""What a resource answers with, from what is known of its address, the engine and its source; nothing is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specloom.core import dataclass, field, from_epoch, mask
from specloom.language import Moment, RunBindings, build, evaluate
from specloom.model import (
    BreakerRow,
    CallCounts,
    FailureRow,
    LensRow,
    Pace,
    ProviderRow,
    Resource,
    StallsRow,
    TenantRow,
)
from specloom.plugins import split_owner, to_json

from .executor import Executor
from .metrics import REFUSED, Count, next_midnight
from .strategies import answer_of


@dataclass(slots=True)
class ResourceContext(RunBindings):
    """The bindings of a resource's expressions, by the names that specs use."""

    args: Mapping[str, str]
    """What fills the holes of the address."""
    engine: Mapping[str, Any]
    """The tables of the engine that are looked into, by name."""
    now: float
    rows: list[dict[str, Any]] = field(default_factory=list)
    row: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def moment(self) -> Moment:
        """When it is read, as converters want it."""
        return Moment(self.now, "")


def parameters_of(resource: Resource, context: ResourceContext) -> dict[str, Any]:
    """What the procedure of a resource is given, for a source of that kind."""
    return build(resource.source.parameters, context)


def list_rows(resource: Resource, context: ResourceContext) -> list[dict[str, Any]]:
    """The rows of which one is meant, for a source of that kind."""
    rows = evaluate(resource.source.value, context) if resource.source.value is not None else None
    return rows or []


def answer_resource(resource: Resource, context: ResourceContext) -> dict[str, Any] | None:
    """The answer, or None where the row that is meant is not there; the context has what the source gives."""
    source = resource.source
    if source.kind == "one_of":
        wanted = context.args[source.name]
        context.row = next((row for row in list_rows(resource, context) if row.get(source.name) == wanted), None)
        if context.row is None:
            return None
    for name, value in resource.values:
        context.values[name] = evaluate(value, context)
    return answer_of(resource.answer, resource.whole, context)


# --- What the engine knows of itself, worked out for one caller: the rows behind `engine.NAME` in resources -----------


@dataclass(frozen=True, slots=True)
class _Caller:
    """For whom a table is worked out: an operator is told of all tenants, anybody else of their own."""

    owner: str
    tenant: str
    is_operator: bool
    used: int | None
    """What is taken of the tenant's quota of the day, where there is one that is shared."""


USAGE = "tenant"
"""The table that tells what is taken of a quota."""


async def count_usage(executor: Executor, owner: str) -> int | None:
    """What is taken of the quota of the day of an owner's tenant, in all processes; None without one."""
    return await executor.count_day(split_owner(owner)[0]) if executor.count_day is not None else None


def read_table(executor: Executor, owner: str, name: str, *, is_operator: bool = True, used: int | None = None) -> Any:
    """One table as JSON data, as the caller may see it; a KeyError for a name that `model_tables.Tables` lacks.

    Who is no operator of the server sees nothing from which the calls of other tenants could be told. `used` is what
    `count_usage` gives; without it the calls of this process are told.
    """
    return to_json(_READERS[name](executor, _Caller(owner, split_owner(owner)[0], is_operator, used)))


def _lenses(executor: Executor, _caller: _Caller) -> list[LensRow]:
    return [
        LensRow(
            name=lens.name,
            title=lens.title,
            description=lens.description,
            domains=list(lens.domains) or None,
            goggle=lens.goggle or None,
            engine=lens.engine or None,
        )
        for lens in executor.model.lenses.values()
    ]


def _providers(executor: Executor, caller: _Caller) -> list[ProviderRow]:
    counts = executor.upstreams.counts if caller.is_operator else {}
    missing = executor.missing if caller.is_operator else {}
    spent = executor.spending.totals if caller.is_operator else {}
    return [
        ProviderRow(
            name=provider.name,
            title=provider.title,
            capabilities=sorted({operation.capability for operation in provider.operations.values()}),
            configured=provider.name in executor.configured,
            set=list(missing[provider.name]) if provider.name in missing else None,
            calls={each.name: _calls(counts[each.id]) for each in provider.operations.values() if each.id in counts}
            or None,
            requests=spent[provider.name].requests if provider.name in spent else None,
            usd=round(spent[provider.name].usd, 6) if provider.name in spent else None,
        )
        for provider in executor.model.providers.values()
    ]


def _routes(executor: Executor, _caller: _Caller) -> dict[str, list[str]]:
    return {name: list(order) for name, order in executor.routes.orders.items()}


def _tools(executor: Executor, caller: _Caller) -> dict[str, CallCounts]:
    tenants = executor.tenant_counts
    if caller.is_operator or tenants is None:
        return {name: _calls(count) for name, count in executor.tool_counts.items()}
    return {name: _calls(tenants.of(caller.tenant, name)) for name in executor.tool_counts}


def _calls(count: Count) -> CallCounts:
    return CallCounts(
        total_calls=count.calls,
        success_calls=count.calls - count.faults,
        error_calls=count.faults,
        cache_hits=count.hits,
        avg_latency_ms=round(count.mean * 1000, 1),
        p95_latency_ms=round(count.slow * 1000, 1),
        last_called=(from_epoch(count.last) or "") if count.last else None,
        kinds=dict(count.kinds) or None,
    )


def _paces(executor: Executor, caller: _Caller) -> dict[str, Pace]:
    paces = {}
    for provider in executor.model.providers.values():
        rate, at_once = executor.upstreams.pace_of(provider.name), provider.service.concurrency
        if provider.name in executor.configured and (rate or at_once):
            counts = [executor.upstreams.counts.get(one.id) for one in provider.operations.values()]
            refused = sum(count.kinds.get(REFUSED, 0) for count in counts if count)
            paces[provider.name] = Pace(
                calls=rate.count if rate else None,
                per_seconds=rate.per if rate else None,
                at_once=at_once or None,
                refused=refused if caller.is_operator else None,
            )
    return paces


def _tenant(executor: Executor, caller: _Caller) -> TenantRow:
    now = executor.clock()
    tally = executor.tallies.of(caller.tenant, now)
    midnight = from_epoch(next_midnight(now)) or ""
    limits = executor.caller_limits
    return TenantRow(
        id=caller.tenant,
        calls=tally.calls if caller.used is None else caller.used,
        refused=tally.refused,
        resets_at=midnight,
        per_minute=limits.per_minute,
        per_day=limits.per_day,
        server_per_second=limits.server_per_second,
    )


def _failures(executor: Executor, caller: _Caller) -> list[FailureRow]:
    failures = executor.failures
    if executor.cache is not None:
        executor.cache.notice_erasure()
    return [
        FailureRow(
            timestamp=from_epoch(failed.at) or "",
            tool=failed.tool,
            kind=failed.kind,
            tenant_id=split_owner(failed.owner)[0],
            provider=failed.provider or None,
            # A sentence may quote the arguments of a call, which are a person's own.
            cause=(mask(failed.message) or None) if failed.owner == caller.owner else None,
        )
        for failed in (failures.newest() if caller.is_operator else failures.of(caller.tenant))
    ]


def _breakers(executor: Executor, caller: _Caller) -> list[BreakerRow]:
    """Those of what was asked; for who is no operator, of all that can be asked, since asking is somebody's."""
    rows = [
        BreakerRow(
            provider=one["provider"],
            family=one["family"],
            state=one["state"].replace("_", "-"),
            available=one["available"],
            failures=one["failures"] if caller.is_operator else None,
            retry_after_seconds=one["retry_after"],
        )
        for one in executor.breakers.snapshot()
    ]
    if caller.is_operator:
        return rows
    known = {(row.family, row.provider): row for row in rows}
    asked = sorted(
        (operation.name, provider.name)
        for provider in executor.model.providers.values()
        if provider.name in executor.configured
        for operation in provider.operations.values()
    )
    return [
        known.get((family, name))
        or BreakerRow(provider=name, family=family, state="closed", available=True, retry_after_seconds=0)
        for family, name in asked
    ]


def _stalls(executor: Executor, caller: _Caller) -> StallsRow | None:
    if not caller.is_operator:
        return None
    stalls = executor.stalls
    return StallsRow(
        count=stalls.count,
        longest_seconds=round(stalls.longest, 1),
        last_at=(from_epoch(stalls.last) or "") if stalls.count else None,
        last_where=stalls.where or None,
    )


def _problems(executor: Executor, caller: _Caller) -> list[str] | None:
    return list(executor.problems) if caller.is_operator else None


_READERS: Mapping[str, Callable[[Executor, _Caller], Any]] = {
    "lenses": _lenses,
    "providers": _providers,
    "routes": _routes,
    "tools": _tools,
    "paces": _paces,
    "tenant": _tenant,
    "failures": _failures,
    "breakers": _breakers,
    "stalls": _stalls,
    "problems": _problems,
}
