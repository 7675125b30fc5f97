"""The benchmarks run and say what they should; how fast anything is, is not looked at here."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import run  # the benches are scripts and no package

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
        assert figure["ours"]["q1"] <= figure["ours"]["median"] <= figure["ours"]["q3"]
        assert figure["name"] in done.stdout
    assert "budgets are missed" in done.stdout


def test_a_part_that_does_not_exist_is_named_with_those_that_do() -> None:
    done = bench("--only", "spede")

    assert done.returncode == 2
    assert "there is no part 'spede'; known: start, commands, memory, calls, http, scale, mapping" in done.stderr


def test_that_the_machine_is_busy_is_said() -> None:
    assert run.tell_load({"load": 2.0, "processors": 2}) == ""
    assert run.tell_load({"processors": None}) == ""
    assert "the machine is busy, with a load of 8.5" in run.tell_load({"load": 8.5, "processors": 2})


def test_a_quick_run_is_not_recorded() -> None:
    done = bench("--quick", "--only", "mapping", "--record")

    assert done.returncode == 2
    assert "--record is for a whole run" in done.stderr


def test_a_rival_that_cannot_be_run_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    done = bench("--quick", "--only", "calls", "--rival", str(tmp_path / "nobody"))

    assert done.returncode == 1
    assert f"--rival {tmp_path / 'nobody'} is no program that can be run" in done.stderr


@pytest.mark.process
@pytest.mark.skipif(find_spec("web_researcher_mcp") is not None, reason="the rival is installed")
def test_without_a_rival_a_stand_in_is_measured_without_budgets_and_that_is_said(tmp_path: Path) -> None:
    done = bench("--quick", "--only", "memory,calls", "--json", str(tmp_path / "figures.json"))

    assert done.returncode == 0, done.stderr
    assert "no rival: web-researcher-mcp is not installed and --rival names no program" in done.stdout
    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))["figures"]
    rates = [figure for figure in figures if figure["name"] == "calls a second"]
    assert [figure["beside"] for figure in rates] == ["the SDK by hand"] * 6
    assert all(figure["ours"]["median"] > 0 and figure["theirs"]["median"] > 0 for figure in rates)
    assert not any("budget" in figure for figure in rates)
    assert any("budget" in figure for figure in figures if figure["name"] == "p99 by p50")
    assert any("budget" in figure for figure in figures if figure["group"] == "memory, resident")
