"""What is counted of a server, who may see it, that workers add up, and the lines of the log of requests."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from specloom.http.dashboard import describe_health
from specloom.http.metrics import FAMILIES, Meter, merge, render
from specloom.runtime.metrics import Failed
from tests.support.operated import KEY, Operated, operated

GONE = 3_999_999
"""A number that no process has."""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Operated]:
    with operated(tmp_path, {"METRICS_PORT": "0"}) as running:
        yield running


def read(text: str) -> dict[str, float]:
    """The samples of a text, by name and labels."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def test_numbers_are_for_who_has_the_key_or_reaches_their_own_port(desk: Operated) -> None:
    refused, by_key = desk.ask("/metrics", key=""), desk.ask("/metrics")
    port = desk.ports["/metrics"]
    by_port = desk.ask("/metrics", key="", port=port)

    assert (refused.status, refused.body) == (401, b"")
    assert by_key.status == by_port.status == 200
    assert by_key.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert desk.ask("/admin/analytics", port=port).status == 404
    assert desk.ask("/mcp", "POST", b"{}", port=port).status == 404


def test_calls_hits_failures_and_latencies_are_counted(desk: Operated) -> None:
    desk.call("otters")
    desk.call("otters")
    found = read(desk.ask("/metrics").body.decode())

    assert found['mcp_tool_calls_total{tool="demo_find"}'] == 2
    assert found['mcp_cache_hits_total{tool="demo_find"}'] == 1
    assert found['mcp_cache_misses_total{tool="demo_find"}'] == 1
    assert found['mcp_tool_latency_seconds_bucket{tool="demo_find",le="+Inf"}'] == 2
    assert found['mcp_tool_latency_seconds_count{tool="demo_find"}'] == 2
    assert found['specloom_provider_calls_total{provider="demo",operation="demo_pages"}'] == 1
    assert found['specloom_http_requests_total{status="200",route="/mcp"}'] == 2
    assert found[f'mcp_active_connections{{worker="{os.getpid()}"}}'] >= 1
    assert found[f'process_resident_memory_bytes{{worker="{os.getpid()}"}}'] > 1e6


def test_failures_are_counted_by_their_kind(tmp_path: Path) -> None:
    with operated(tmp_path, reply=lambda call: (401, {"Content-Type": "application/json"}, "{}")) as desk:
        desk.call("otters")
        found = read(desk.ask("/metrics").body.decode())

    assert sum(value for name, value in found.items() if name.startswith("mcp_tool_errors_total{")) == 1
    assert found['specloom_provider_errors_total{provider="demo",operation="demo_pages"}'] == 1


def test_buckets_are_cumulative_and_every_metric_is_described(desk: Operated) -> None:
    desk.call("otters")
    text = desk.ask("/metrics").body.decode()

    buckets = [value for name, value in read(text).items() if name.startswith("mcp_tool_latency_seconds_bucket{")]
    assert len(buckets) == 14
    assert buckets == sorted(buckets)
    named = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert set(named) <= FAMILIES.keys()
    assert len(named) == len(set(named))


def test_a_path_that_is_no_route_makes_no_label_of_its_own(desk: Operated) -> None:
    for number in range(20):
        desk.ask(f"/secret-{number}", key="")

    text = desk.ask("/metrics").body.decode()
    assert "secret" not in text
    assert read(text)['specloom_http_requests_total{status="404",route="other"}'] == 20


def test_workers_add_up_and_what_has_ended_counts_on(desk: Operated, tmp_path: Path) -> None:
    folder = tmp_path / "workers-1"
    folder.mkdir()
    own = {"mcp_tool_calls_total": {'{tool="demo_find"}': 5.0}, "mcp_active_calls": {'{worker="7"}': 3.0}}
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        for number in (other.pid, GONE):
            (folder / f"{number}.json").write_text(json.dumps(own), encoding="utf-8")
        (folder / "12.json").write_text("{half", encoding="utf-8")
        desk.call("otters")
        meter = Meter(desk.server.app, desk.service, desk.trail, lambda: desk.executor, folder)
        added = meter.add_up()
    finally:
        other.communicate(b"\n")

    assert added["mcp_tool_calls_total"]['{tool="demo_find"}'] == 11
    assert added["mcp_active_calls"]['{worker="7"}'] == 3
    assert meter.add_up()["mcp_tool_calls_total"]['{tool="demo_find"}'] == 11
    assert '{worker="7"}' not in meter.add_up()["mcp_active_calls"]


def test_the_newest_failures_of_all_workers_that_run_are_told_together(desk: Operated, tmp_path: Path) -> None:
    folder, executor = tmp_path / "workers-1", desk.executor
    folder.mkdir()
    rows = [{"timestamp": f"{year}-01-01T00:00:00Z", "tool": "other"} for year in (2999, 2001)]
    executor.failures.add(Failed(executor.clock(), "acme:ann", "demo_find", "network", "network", "demo", "of otters"))
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        for number in (other.pid, GONE):
            (folder / f"{number}.errors").write_text(json.dumps(rows), encoding="utf-8")
        (folder / "12.errors").write_text("{half", encoding="utf-8")
        meter = Meter(desk.server.app, desk.service, desk.trail, lambda: executor, folder)
        told = asyncio.run(meter.add_up_failures())
        meter.stop()
    finally:
        other.communicate(b"\n")

    assert [one["tool"] for one in told] == ["other", "demo_find", "other"]
    written = json.loads((folder / f"{os.getpid()}.errors").read_text("utf-8"))
    assert [(one["tool"], one["tenantId"], one["reason"]) for one in written] == [("demo_find", "acme", "network")]
    assert "otters" not in json.dumps(written)


def test_the_calls_of_each_tenant_are_those_of_all_workers_with_what_has_ended(desk: Operated, tmp_path: Path) -> None:
    folder = tmp_path / "workers-1"
    folder.mkdir()
    buckets = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0]
    row = {"calls": 10, "faults": 4, "hits": 2, "seconds": 60.0, "last": 32503680000.0, "buckets": buckets}
    for number in (GONE, GONE + 1):
        (folder / f"{number}.tenants").write_text(json.dumps({"acme": row, "globex": row}), encoding="utf-8")
    (folder / "12.tenants").write_text("{half", encoding="utf-8")
    desk.call("otters")
    meter = Meter(desk.server.app, desk.service, desk.trail, lambda: desk.executor, folder)
    told = asyncio.run(meter.add_up_tenants())
    meter.stop()

    assert told.keys() == {"acme", "globex"}
    acme = told["acme"]
    assert (acme["totalCalls"], acme["errorCalls"], acme["cacheHits"]) == (21, 8, 4)
    assert acme["lastCalled"] == "3000-01-01T00:00:00Z"
    assert 5000 < acme["p95LatencyMs"] <= 10_000
    written = json.loads((folder / f"{os.getpid()}.tenants").read_text("utf-8"))
    assert (written["acme"]["calls"], sum(written["acme"]["buckets"])) == (1, 1)


def test_who_serves_oneself_is_one_tenant(tmp_path: Path) -> None:
    with operated(tmp_path) as desk:
        desk.call("otters")
        desk.executor.tenant_counts = None
        meter = Meter(desk.server.app, desk.service, desk.trail, lambda: desk.executor, tenant="default")
        told = asyncio.run(meter.add_up_tenants())

    assert [(name, row["totalCalls"]) for name, row in told.items()] == [("default", 1)]


def test_a_breaker_that_is_open_in_another_worker_is_shown(desk: Operated) -> None:
    desk.call("otters")
    numbers = {
        "specloom_breaker_open": {'{provider="demo",operation="pages"}': 0.0, '{provider="x",operation="y"}': 1.0}
    }

    shown = describe_health(desk.executor, numbers)

    assert shown == {"status": "degraded", "breakers": [{"provider": "x", "family": "y", "state": "open"}]}


def test_what_providers_cost_is_counted(desk: Operated) -> None:
    desk.call("otters")
    desk.executor.spending.totals["demo"].usd = 0.25
    found = read(desk.ask("/metrics").body.decode())

    assert found['specloom_provider_requests_total{provider="demo"}'] == 1
    assert found['specloom_provider_usd_total{provider="demo"}'] == 0.25
    assert found['specloom_provider_seconds_total{provider="demo",operation="demo_pages"}'] > 0


def test_of_a_state_the_highest_of_all_workers_is_told() -> None:
    states = [{"specloom_breaker_open": {'{provider="x"}': value}} for value in (1.0, 1.0, 0.0)]
    assert read(render(merge(states))) == {'specloom_breaker_open{provider="x"}': 1.0}


PLANTED = ("planted-query", "planted-page", "planted-user", "planted-tenant", "planted-key", KEY)


def test_nothing_of_who_asks_or_what_is_asked_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = json.dumps({"results": [{"title": "planted-page", "link": "https://example.org/planted-page"}]})
    with operated(
        tmp_path,
        {"METRICS_PORT": "0", "LOG_FORMAT": "json"},
        reply=lambda call: (200, {"Content-Type": "application/json"}, page),
    ) as desk:
        answered = desk.call("planted-query", "planted-tenant/planted-user")
        desk.ask("/admin/analytics", key="planted-key is a wrong one", X_Request_Id="bad\tid planted-key")
        metrics = desk.ask("/metrics").body.decode()
        desk.executor.audit.open().flush()
        audit = desk.ask("/admin/audit").body.decode()
    logged = capfd.readouterr().err

    assert b"planted-page" in answered.body
    assert not [word for word in PLANTED if word in metrics]
    assert not [word for word in PLANTED if word in logged and word != "planted-tenant"]
    assert not [word for word in ("planted-query", "planted-page", "planted-key", KEY) if word in audit]


def test_a_request_is_a_line_of_json_where_that_is_asked_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with operated(tmp_path, {"LOG_FORMAT": "json"}) as desk:
        desk.call("otters")
        desk.server.post(
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "<script>", "arguments": {}}},
            X_Request_Id="mine-1",
        )
        desk.server.post({"jsonrpc": "2.0", "id": 3, "method": "made/up"}, X_Request_Id="a b")
        desk.ask("/admin/analytics", key="")
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]

    first, second, third, fourth = lines
    assert (first["tenant"], first["method"], first["tool"], first["status"]) == (
        "acme",
        "tools/call",
        "demo_find",
        200,
    )
    assert first["worker"] == os.getpid()
    assert first["ms"] > 0
    assert len(first["user"]) == 12
    assert (second["request"], second["user"]) == ("mine-1", first["user"])
    assert "tool" not in second
    assert (third["method"], len(third["request"])) == ("other", 32)
    assert (fourth["route"], fourth["status"]) == ("/admin/analytics", 401)
    assert "tenant" not in fourth


def test_requests_are_not_logged_unless_that_is_asked_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with operated(tmp_path) as desk:
        desk.call("otters")
    assert "{" not in capfd.readouterr().err
