"""An empty home, this Python and the wheel: two commands, and a host has its first answer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.first_answer import FILE, HOST, PATIENCE, build_wheel, reach_first_answer

pytestmark = pytest.mark.process


def test_two_commands_lead_from_an_empty_home_to_an_answer_and_one_leads_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()

    done = reach_first_answer(build_wheel(tmp_path), home, offline=True)

    assert done.answer["structuredContent"]["results"][0]["title"] == "Sea otter"
    assert "[Sea otter](https://example.org/sea-otter)" in done.answer["content"][0]["text"]
    assert len(done.waits) == 3
    assert (home / FILE).is_file()
    subprocess.run([done.program, "uninstall", HOST], env=done.environ, cwd=home, check=True, timeout=PATIENCE)
    assert not (home / FILE).exists()
