"""What a worker has counted, added up over all workers, as Prometheus text (exposition format 0.0.4).

Each worker writes its numbers to a file of its own, once a second; the one that is asked adds its own to those. No
label is a tenant, a user, a question or an address, so there are never more of them than tools and providers.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specloom.core import KINDS, from_epoch, make_folder, open_private
from specloom.plugins import split_owner
from specloom.runtime import LATENCY_BOUNDS, Count, new_histogram
from specloom.storage import AuditTrail

if TYPE_CHECKING:
    from specloom.runtime import Executor

    from .app import HttpApp
    from .service import HttpService

EVERY = 1.0
"""Seconds between two times that a worker writes its numbers."""
MOST_ERRORS = 20
"""Failed calls that operators are shown."""
TENANTS_EVERY = 5.0
"""Seconds between two times that it writes those of tenants, of which there may be thousands."""
MOST_GONE = 64
"""Files of workers that have ended, whose counts are still added."""
FOLDER = "workers-"
FAMILIES: Mapping[str, tuple[str, str]] = {
    "mcp_tool_calls_total": ("counter", "Calls of a tool."),
    "mcp_tool_errors_total": ("counter", "Calls of a tool that failed, by the kind of the failure."),
    "mcp_cache_hits_total": ("counter", "Calls of a tool that were answered with a kept answer."),
    "mcp_cache_misses_total": ("counter", "Calls of a tool that were not."),
    "mcp_tool_latency_seconds": ("histogram", "How long calls of a tool took."),
    "mcp_active_connections": ("gauge", "Open connections."),
    "mcp_active_calls": ("gauge", "Calls that run."),
    "mcp_active_streams": ("gauge", "Open streams of changes."),
    "mcp_audit_events_dropped_total": ("counter", "Audit records that could not be written."),
    "mcp_audit_log_rotations_total": ("counter", "Files of the audit log that were closed for another."),
    "mcp_ratelimit_redis_fallback_total": ("counter", "Times that shared counters were away and own ones were asked."),
    "specloom_limited_total": ("counter", "Requests and calls refused by a limit."),
    "specloom_provider_calls_total": ("counter", "Calls of an operation of a provider."),
    "specloom_provider_errors_total": ("counter", "Calls of an operation of a provider that failed."),
    "specloom_provider_seconds_total": ("counter", "Seconds that calls of an operation of a provider took together."),
    "specloom_provider_requests_total": ("counter", "Requests that were sent to a provider."),
    "specloom_provider_usd_total": ("counter", "What requests to a provider cost in dollars, as far as it is known."),
    "specloom_breaker_open": ("gauge", "Whether an operation of a provider is left alone (1)."),
    "specloom_http_requests_total": ("counter", "HTTP requests that were answered."),
    "specloom_auth_failures_total": ("counter", "Requests whose credentials did not do, by the reason."),
    "process_resident_memory_bytes": ("gauge", "Memory that a worker takes."),
    "process_cpu_seconds_total": ("counter", "Processor time that a worker has taken."),
    "process_start_time_seconds": ("gauge", "When a worker began, in seconds since 1970."),
}
"""Every metric with its type and its meaning."""
CALL_FIELDS = ("calls", "faults", "hits", "seconds", "last", "buckets")
"""What workers tell each other of the calls of a tenant: fields of `Count`; the last two are not just added."""
Numbers = dict[str, dict[str, float]]
"""Values by the name of a metric with its suffix, and by the labels as they are written."""


class Meter:
    """The numbers of one worker, and of those that serve beside it: they name the same `folder`, or there is none."""

    def __init__(
        self,
        app: HttpApp,
        service: HttpService,
        trail: AuditTrail,
        find_executor: Callable[[], Executor | None],
        folder: Path | None = None,
        *,
        tenant: str = "",
    ) -> None:
        """`find_executor` gives the engine's executor once it is loaded; all calls are of the `tenant` where nobody has
        to say who calls.
        """
        self._tenant = tenant
        self._tenants_due = 0.0
        self._find_executor = find_executor
        self._app = app
        self._service = service
        self._trail = trail
        self._folder = folder
        self._worker = str(os.getpid())
        self._told = "[]"
        """The failed calls that the other workers have been told of."""
        self._began = time.time()
        self._writing: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Write the numbers for the other workers from now on, where there are others; runs on the loop."""
        if self._folder is not None:
            remove_stale(self._folder)
            make_folder(self._folder, tighten=True)
            self._writing = asyncio.get_running_loop().create_task(self._write_on(self._folder))

    def stop(self) -> None:
        """Write no more, but what there is now."""
        if self._writing is not None:
            self._writing.cancel()
        self._tenants_due = 0.0
        if self._folder is not None:
            with contextlib.suppress(OSError):
                self._write(self._folder)

    def render(self) -> str:
        """The numbers of all workers as text."""
        return render(self.add_up())

    def add_up(self) -> Numbers:
        """The numbers of all workers."""
        return merge([self.read(), *self._read_others()])

    async def add_up_failures(self) -> list[dict[str, Any]]:
        """The newest failed calls of all workers that run, the newest first."""
        rows = self._read_failures()
        for worker, others in await asyncio.to_thread(lambda: list(self._read_folder(".errors"))):
            rows += others if is_alive(worker) else []
        return sorted(rows, key=lambda row: str(row["timestamp"]), reverse=True)[:MOST_ERRORS]

    async def add_up_tenants(self) -> dict[str, dict[str, Any]]:
        """The calls of each tenant in all workers, those that have ended too, as operators are told them."""
        every = [self._read_tenants(), *(rows for _, rows in await asyncio.to_thread(self._list_folder, ".tenants"))]
        return {tenant: describe_calls(tenant, row) for tenant, row in merge_calls(every).items() if row["calls"]}

    def _list_folder(self, suffix: str) -> list[tuple[str, Any]]:
        return list(itertools.islice(self._read_folder(suffix), MOST_GONE))

    def _read_tenants(self) -> dict[str, CallRow]:
        executor = self._find_executor()
        return read_calls(executor, self._tenant) if executor is not None else {}

    def _read_failures(self) -> list[dict[str, Any]]:
        executor = self._find_executor()
        return describe_failures(executor) if executor is not None else []

    def read(self) -> Numbers:
        """The numbers of this worker."""
        numbers: Numbers = {}

        def put(name: str, value: float, **labels: object) -> None:
            numbers.setdefault(name, {})[to_labels(labels)] = value

        guard = self._app.guard
        put("mcp_active_connections", len(guard.open) if guard is not None else 0, worker=self._worker)
        put("mcp_active_calls", self._service.running, worker=self._worker)
        put("mcp_active_streams", self._service.streams, worker=self._worker)
        for (route, status), count in self._app.answered.items():
            put("specloom_http_requests_total", count, status=status, route=route)
        for reason, count in getattr(self._app.gate, "refusals", Counter[str]()).items():
            put("specloom_auth_failures_total", count, reason=reason)
        limits = self._app.limits
        put("mcp_ratelimit_redis_fallback_total", limits.fallbacks if limits is not None else 0)
        for layer, count in (limits.refused if limits is not None else Counter[str]()).items():
            put("specloom_limited_total", count, layer=layer)
        put("process_resident_memory_bytes", read_memory(), worker=self._worker)
        put("process_cpu_seconds_total", time.process_time(), worker=self._worker)
        put("process_start_time_seconds", self._began, worker=self._worker)
        trails = [self._trail]
        executor = self._find_executor()
        if executor is not None:
            _read_executor(numbers, executor)
            if isinstance(executor.audit, AuditTrail):
                trails.append(executor.audit)
        put("mcp_audit_events_dropped_total", sum(one.dropped for one in trails))
        put("mcp_audit_log_rotations_total", sum(one.rotations for one in trails))
        return numbers

    async def _write_on(self, folder: Path) -> None:
        while True:
            with contextlib.suppress(OSError):
                self._write(folder)
            await asyncio.sleep(EVERY)

    def _write(self, folder: Path) -> None:
        self._put(folder, ".json", json.dumps(self.read()))
        told = json.dumps(self._read_failures())
        if told != self._told:
            self._put(folder, ".errors", told)
            self._told = told
        if time.monotonic() >= self._tenants_due:
            self._put(folder, ".tenants", json.dumps(self._read_tenants()))
            self._tenants_due = time.monotonic() + TENANTS_EVERY

    def _put(self, folder: Path, suffix: str, text: str) -> None:
        draft = folder / f"{self._worker}.draft"
        with os.fdopen(open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(folder / f"{self._worker}{suffix}")

    def _read_others(self) -> list[Numbers]:
        """The numbers of the other workers; of one that has ended what it counted, since no count may go back."""
        found: list[Numbers] = []
        gone = 0
        for worker, counted in self._read_folder(".json"):
            numbers = counted
            if not is_alive(worker):
                gone += 1
                if gone > MOST_GONE:
                    continue
                numbers = {name: rows for name, rows in numbers.items() if _is_kept(name)}
            found.append(numbers)
        return found

    def _read_folder(self, suffix: str) -> Iterator[tuple[str, Any]]:
        """What the other workers have written, with the number of each."""
        if self._folder is None:
            return
        for path in sorted(self._folder.glob(f"*{suffix}"), reverse=True):
            if path.stem != self._worker:
                with contextlib.suppress(OSError, ValueError):
                    yield path.stem, json.loads(path.read_text(encoding="utf-8"))


def _is_kept(name: str) -> bool:
    """Whether a metric of a worker that has ended counts on: those of the processes themselves do not."""
    return _kind(name) != "gauge" and not name.startswith("process_")


def _read_executor(numbers: Numbers, executor: Executor) -> None:
    def put(name: str, value: float, **labels: object) -> None:
        numbers.setdefault(name, {})[to_labels(labels)] = value

    for tool, count in executor.tool_counts.items():
        put("mcp_tool_calls_total", count.calls, tool=tool)
        for kind, faults in tuple(count.kinds.items()):
            put("mcp_tool_errors_total", faults, tool=tool, kind=kind)
        put("mcp_cache_hits_total", count.hits, tool=tool)
        put("mcp_cache_misses_total", count.calls - count.hits, tool=tool)
        below = 0
        for bound, within in zip((*LATENCY_BOUNDS, "+Inf"), count.buckets, strict=True):
            below += within
            put("mcp_tool_latency_seconds_bucket", below, tool=tool, le=bound)
        put("mcp_tool_latency_seconds_sum", count.seconds, tool=tool)
        put("mcp_tool_latency_seconds_count", below, tool=tool)
    for name, count in tuple(executor.upstreams.counts.items()):
        provider, _, operation = name.partition(".")
        put("specloom_provider_calls_total", count.calls, provider=provider, operation=operation)
        put("specloom_provider_errors_total", count.faults, provider=provider, operation=operation)
        put("specloom_provider_seconds_total", count.seconds, provider=provider, operation=operation)
    for provider, line in tuple(executor.spending.totals.items()):
        put("specloom_provider_requests_total", line.requests, provider=provider)
        put("specloom_provider_usd_total", line.usd, provider=provider)
    for row in executor.breakers.snapshot():
        put("specloom_breaker_open", row["state"] != "closed", provider=row["provider"], operation=row["family"])


def describe_failures(executor: Executor) -> list[dict[str, Any]]:
    """The newest calls of this worker that failed, in words of its own: the sentence of a fault may quote a caller."""
    if executor.cache is not None:
        executor.cache.notice_erasure()
    return [
        {
            "timestamp": from_epoch(failed.at),
            "tenantId": split_owner(failed.owner)[0],
            "tool": failed.tool,
            "kind": failed.kind,
            "reason": failed.reason,
            "provider": failed.provider or None,
            "message": KINDS[failed.reason].meaning,
        }
        for failed in executor.failures.newest()[:MOST_ERRORS]
    ]


CallRow = dict[str, Any]
"""What is counted of a tenant, as a worker tells the others."""


def read_calls(executor: Executor, tenant: str) -> dict[str, CallRow]:
    """The calls of each tenant in this worker; all are of `tenant` where nobody has to say who calls."""
    if executor.tenant_counts is not None:
        counts = executor.tenant_counts.sum()
    else:
        counts = {tenant: Count()}
        for count in executor.tool_counts.values():
            counts[tenant].merge(count)
    return {name: {field: getattr(count, field) for field in CALL_FIELDS} for name, count in counts.items()}


def merge_calls(every: Iterable[Mapping[str, CallRow]]) -> dict[str, CallRow]:
    """The calls of each tenant in several workers together."""
    merged: dict[str, CallRow] = {}
    for rows in every:
        for tenant, row in rows.items():
            into = merged.setdefault(tenant, {**dict.fromkeys(CALL_FIELDS, 0), "buckets": new_histogram()})
            for field in CALL_FIELDS[:-2]:
                into[field] += row[field]
            into["last"] = max(into["last"], row["last"])
            into["buckets"] = [one + more for one, more in zip(into["buckets"], row["buckets"], strict=False)]
    return merged


def describe_calls(tenant: str, row: CallRow) -> dict[str, Any]:
    """The calls of a tenant as operators are told them."""
    calls = row["calls"]
    described = {
        "tenantId": tenant,
        "totalCalls": calls,
        "errorCalls": row["faults"],
        "errorRate": round(row["faults"] / calls, 4),
        "cacheHits": row["hits"],
        "cacheHitRate": round(row["hits"] / calls, 4),
        "avgLatencyMs": round(row["seconds"] / calls * 1000, 1),
        "p95LatencyMs": estimate(list(itertools.accumulate(row["buckets"])), 0.95 * sum(row["buckets"])),
    }
    return {**described, "lastCalled": from_epoch(row["last"])} if row["last"] else described


def merge(every: Iterable[Numbers]) -> Numbers:
    """The numbers of several workers together: counts are added, and of what is a state the highest holds."""
    merged: Numbers = {}
    for numbers in every:
        for name, rows in numbers.items():
            into = merged.setdefault(name, {})
            is_state = _kind(name) == "gauge"
            for labels, value in rows.items():
                into[labels] = max(into.get(labels, 0), value) if is_state else into.get(labels, 0) + value
    return merged


def render(numbers: Numbers) -> str:
    """Numbers as Prometheus reads them."""
    lines = []
    for family, (kind, meaning) in FAMILIES.items():
        suffixes = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        rows = [(family + suffix, numbers.get(family + suffix, {})) for suffix in suffixes]
        if any(values for _, values in rows):
            lines += [f"# HELP {family} {meaning}", f"# TYPE {family} {kind}"]
            lines += [
                f"{name}{labels} {float(value):.10g}" for name, values in rows for labels, value in values.items()
            ]
    return "\n".join([*lines, ""])


def to_labels(labels: Mapping[str, object]) -> str:
    """Labels as they are written behind a name."""
    written = ",".join(f'{name}="{_escape(str(value))}"' for name, value in labels.items())
    return f"{{{written}}}" if written else ""


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _kind(name: str) -> str:
    return FAMILIES.get(name, ("histogram", ""))[0]


def read_memory() -> int:
    """Bytes of memory that this process has; 0 where a system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def is_alive(process: str) -> bool:
    """Whether there is a process with this number."""
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def remove_stale(folder: Path) -> None:
    """Remove the folders of servers that have ended, beside that of this one."""
    for one in folder.parent.glob(f"{FOLDER}*"):
        number = re.fullmatch(r"[0-9]+", one.name.removeprefix(FOLDER))
        if one != folder and number and not is_alive(number[0]):
            shutil.rmtree(one, ignore_errors=True)


def summarize(numbers: Numbers) -> dict[str, Any]:
    """What a person wants to see of each tool, by its name: calls, errors, hits, and latencies in milliseconds."""
    tools: dict[str, Any] = {}
    for labels, calls in numbers.get("mcp_tool_calls_total", {}).items():
        if not calls:
            continue
        tool = labels[len('{tool="') : -len('"}')]
        counted = numbers["mcp_tool_latency_seconds_count"][labels]
        buckets = [
            numbers["mcp_tool_latency_seconds_bucket"][to_labels({"tool": tool, "le": bound})]
            for bound in (*LATENCY_BOUNDS, "+Inf")
        ]
        errors = numbers.get("mcp_tool_errors_total", {})
        tools[tool] = {
            "calls": int(calls),
            "errors": int(sum(value for one, value in errors.items() if one.startswith(f'{{tool="{tool}",'))),
            "cacheHits": int(numbers["mcp_cache_hits_total"][labels]),
            "p50LatencyMs": estimate(buckets, 0.50 * counted),
            "p95LatencyMs": estimate(buckets, 0.95 * counted),
        }
    return tools


_LABEL = re.compile(r'\b(\w++)="((?:[^"\\]|\\.)*+)"')


def read_labels(written: str) -> dict[str, str]:
    """Labels by name, as they were before they were written; what is escaped in them stays so."""
    return dict(_LABEL.findall(written))


def summarize_providers(numbers: Numbers) -> list[dict[str, Any]]:
    """What a person wants to see of each provider that was asked, those that cost most first."""
    rows: dict[str, dict[str, Any]] = {}
    fields = {"calls": "calls", "errors": "errors", "seconds": "seconds", "requests": "requests", "usd": "usd"}
    for field, suffix in fields.items():
        for labels, value in numbers.get(f"specloom_provider_{suffix}_total", {}).items():
            name = read_labels(labels)["provider"]
            row = rows.setdefault(name, {"provider": name, **dict.fromkeys(fields, 0)})
            row[field] += value
    resting = {
        read_labels(labels)["provider"] for labels, value in numbers.get("specloom_breaker_open", {}).items() if value
    }
    summed = [
        {
            "provider": name,
            "calls": int(row["calls"]),
            "errors": int(row["errors"]),
            "avgLatencyMs": round(row["seconds"] / row["calls"] * 1000, 1) if row["calls"] else 0.0,
            "requests": int(row["requests"]),
            "usd": round(row["usd"], 6),
            "resting": name in resting,
        }
        for name, row in rows.items()
    ]
    return sorted(summed, key=lambda one: (-one["usd"], -one["requests"], one["provider"]))


def estimate(buckets: list[float], rank: float) -> float:
    """Milliseconds within which so many calls ended, as near as a histogram tells."""
    low = before = 0.0
    for bound, below in zip(LATENCY_BOUNDS, buckets, strict=False):
        if below >= rank:
            part = (rank - before) / (below - before) if below > before else 1.0
            return round((low + (bound - low) * part) * 1000, 1)
        low, before = bound, below
    return round(LATENCY_BOUNDS[-1] * 1000, 1)
