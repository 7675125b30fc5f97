"""Two servers in turns: their figures, and what a profile of one says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pairs
import pytest

HERE = Path(__file__).parents[2]
SCRIPT = HERE / "bench" / "pairs.py"


@pytest.mark.process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the processor clock of another process")
def test_a_checkout_beside_itself_gives_ratios_for_each_width_and_the_same_answers(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    options = ["--against", str(HERE), "--rounds", "2", "--count", "4", "--widths", "1,3", "--same"]

    done = subprocess.run(
        [sys.executable, str(SCRIPT), *options, "--json", str(figures)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 0, done.stderr
    said = json.loads(figures.read_text(encoding="utf-8"))
    assert [one["width"] for one in said] == [1, 3]
    assert all(one["cpu"]["ratio"] > 0 and one["rate"]["ours"] > 0 for one in said)


def test_a_burst_is_held_against_the_mean_of_those_around_it() -> None:
    ours, theirs = pairs.Side(client=None), pairs.Side(client=None)  # type: ignore[arg-type]
    ours.bursts[8] = [pairs.Burst(1.0, 300.0, [1.0, 9.0]), pairs.Burst(2.0, 300.0, [1.0])]
    theirs.bursts[8] = [pairs.Burst(cpu, 100.0, [2.0]) for cpu in (1.0, 3.0, 5.0)]

    (said,) = pairs.compare(ours, theirs)

    assert said["cpu"]["ratio"] == 0.5
    assert said["rate"]["ratio"] == 3.0
    assert said["latency ours"] == {"p50": 1.0, "p99": 9.0}


def test_samples_are_told_by_thread_with_what_was_in_a_function_and_below_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pairs.show_samples(
        "thread (1): calls;outer (a.py:1);inner (a.py:2) 6\n"
        "thread (1): calls;outer (a.py:3) 3\n"
        "thread (2): reader;read (b.py:1) 1\n"
    )

    told = capsys.readouterr().out
    assert "calls: 90.0% of 10 samples" in told
    assert "90.0% outer (a.py)" in told
    assert "60.0% inner (a.py)" in told
    assert "30.0% outer (a.py)" in told
    assert "reader: 10.0%" in told
