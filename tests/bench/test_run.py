"""The benchmarks run and say what they should; how fast anything is, is not looked at here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / "bench" / "run.py"


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(RUN), *arguments], capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("part", ["mapping", "catalogue"])
def test_a_quick_part_gives_a_table_and_the_same_figures_as_json(tmp_path: Path, part: str) -> None:
    done = bench("--quick", "--only", part, "--json", str(tmp_path / "figures.json"))

    assert done.returncode == 0, done.stderr
    said = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert said["quick"] is True
    assert said["figures"]
    for figure in said["figures"]:
        assert {"group", "name", "unit", "ours"} <= figure.keys()
        assert figure["ours"]["min"] <= figure["ours"]["median"] <= figure["ours"]["max"]
        assert figure["name"] in done.stdout
    assert "budgets are missed" in done.stdout


def test_a_part_that_does_not_exist_is_named_with_those_that_do() -> None:
    done = bench("--only", "spede")

    assert done.returncode == 2
    assert "there is no part 'spede'; known: start, calls, mapping, growth, catalogue" in done.stderr
