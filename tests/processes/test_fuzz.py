"""Malformed pages and documents end in a text or a fault, within bounds of time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import fuzz

ROOT = Path(__file__).parents[2]
CASES = {"html": 400, "pdf": 1500, "docx": 1500, "pptx": 1500, "xlsx": 1500}
SHORTER = 5
"""How many times fewer are tried where nobody asked for `--many`."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="bounds the memory of a process and looks into /proc")
@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_no_case_crashes_hangs_or_grows(kind: str, tries: Callable[[int, int], int]) -> None:
    cases = tries(CASES[kind], CASES[kind] // SHORTER)
    command = [sys.executable, "-m", fuzz.__name__, kind, "--count", str(cases), "--seconds", "120"]

    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd=ROOT)

    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (told[-3:], done.stderr[-3000:])
    assert told[-1]["broken"] == 0
    assert told[-1]["cases"] > cases // 10


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_a_case_is_made_from_its_number(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [fuzz.make(kind, number) for number in range(20)]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_400)

    assert made == [fuzz.make(kind, number) for number in range(20)]
    assert len(set(made)) > 15


def test_what_breaks_a_reader_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def read(body: bytes) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(fuzz, "read_html", read)

    broken = fuzz.run("html", 3, 2, 60)

    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert broken == 2
    assert [one["broke"] for one in told if "broke" in one] == [3, 4]
    assert told[-1]["broken"] == 2
