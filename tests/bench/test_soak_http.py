"""The soak of a server over HTTP asks, counts and ends; how fast anything is, is not looked at here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import soak_http

SOAK = Path(__file__).parents[2] / "bench" / "soak_http.py"


@pytest.mark.process
def test_a_short_soak_asks_all_kinds_of_requests_and_none_fails(tmp_path: Path) -> None:
    options = ["--minutes", "0.05", "--slice", "60", "--rate", "40", "--workers", "2", "--streams", "4"]
    done = subprocess.run(
        [sys.executable, str(SOAK), *options, "--json", str(tmp_path / "soak.json")],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads((tmp_path / "soak.json").read_text(encoding="utf-8"))
    assert said["whole"]["failed"] == 0
    assert set(said["slices"][0]["kinds"]) == set(soak_http.MIX)
    assert said["whole"]["requests"] >= 100


def test_growth_is_that_of_the_slices_behind_the_warm_up() -> None:
    sizes = [50.0, 90.0, *(100.0 + 2 * at for at in range(4))]
    rows = [{"minute": 60.0 * at, "memory": {"workers": size}} for at, size in enumerate(sizes)]

    assert soak_http.find_slope(rows, "workers") == pytest.approx(2.0)
    assert soak_http.find_slope(rows[:2], "workers") == 0.0


def test_a_percentile_is_a_value_that_was_measured() -> None:
    values = [float(at) for at in range(1, 101)]

    assert (soak_http.percentile(values, 50), soak_http.percentile(values, 100)) == (51.0, 100.0)
    assert soak_http.percentile([], 99) == 0.0
