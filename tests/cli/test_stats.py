"""What was spent is added up by day out of the audit log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from specloom.cli.main import main
from specloom.cli.stats import add_up
from specloom.plugins import CallRecord
from specloom.storage import AuditTrail

BY = {"alpha": {"requests": 2, "usd": 0.01}, "beta": {"requests": 1, "usd": 0.001}}
COST = {"usd": 0.011, "requests": 3, "by": BY}


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which two calls were recorded, of which one asked nobody."""
    monkeypatch.setenv("SPECLOOM_STATE_DIR", str(tmp_path))
    monkeypatch.delenv("AUDIT_OUTPUT_PATH", raising=False)
    warned: list[str] = []
    trail = AuditTrail({"SPECLOOM_STATE_DIR": str(tmp_path)}, warned.append)
    trail(CallRecord("acme\0ann", "find", "", 0.1, "", {}, cost=COST))
    trail(CallRecord("umbra\0eve", "find", "", 0.1, "", {}))
    trail.close()
    assert warned == []
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["stats", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)["days"]


@pytest.mark.usefixtures("installation")
def test_the_calls_of_a_day_are_added_up_by_provider(capsys: pytest.CaptureFixture[str]) -> None:
    days = told(capsys)

    assert [(one["calls"], one["requests"], one["usd"]) for one in days] == [(2, 3, 0.011)]
    assert days[0]["providers"] == BY


@pytest.mark.usefixtures("installation")
def test_a_person_reads_the_dearest_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "--days", "1"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("3 requests, $0.0110, in 2 calls")
    assert [line.split()[0] for line in lines[1:]] == ["alpha", "beta"]


def test_other_rows_of_the_log_and_other_days_are_apart() -> None:
    row = {"event_type": "tool_call", "timestamp": "2026-01-01T00:00:00Z", "metadata": {"cost": COST}}
    rows = [row, {**row, "timestamp": "2026-01-02T00:00:00Z"}, row, {"event_type": "data.export"}]

    assert [(one["day"], one["calls"], one["usd"]) for one in add_up(rows)] == [
        ("2026-01-01", 2, 0.022),
        ("2026-01-02", 1, 0.011),
    ]


@pytest.mark.parametrize("days", ["0", "many", "-1"])
@pytest.mark.usefixtures("installation")
def test_a_count_of_days_that_is_none_is_told(days: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "--days", days]) != 0

    assert "write a number from 1" in capsys.readouterr().err


def test_without_a_log_there_is_nothing_to_add_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPECLOOM_STATE_DIR", str(tmp_path))

    assert main(["stats"]) == 1

    assert "no call was recorded here" in capsys.readouterr().err
