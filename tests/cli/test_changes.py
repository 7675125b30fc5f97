"""What is new is told once for each version, out of the changelog that comes with the package."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from specloom import __version__
from specloom.cli import changes
from specloom.cli.main import main

CHANGELOG = """# Changelog

The format is that of others.

## [Unreleased]

## [0.10.0] - 2027-02-01

### Added

- `wash` washes [otters](docs/otters.md).
- It is quick.

### Removed

- Soap.

## [0.2.0] - 2026-12-01

### Added

- Otters.

## [0.1.0] - 2026-11-01

### Added

- Rivers.
"""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty state beside a package with a changelog of its own."""
    (tmp_path / "shipped").mkdir()
    (tmp_path / "shipped" / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    monkeypatch.setattr(changes, "shipped_folder", lambda: str(tmp_path / "shipped"))
    monkeypatch.setattr("specloom.__version__", "0.10.0")
    monkeypatch.setenv("SPECLOOM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "state"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["changes", *words]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def test_the_newest_version_is_told_first_and_once(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = run(capsys), run(capsys)

    assert first == ("specloom 0.10.0\nAdded:\n  - `wash` washes otters.\n  - It is quick.\nRemoved:\n  - Soap.\n")
    assert second == "specloom 0.10.0: nothing is new since 0.10.0\n"
    assert (state / "version").read_text(encoding="utf-8") == "0.10.0\n"
    if os.name != "nt":
        assert stat.S_IMODE((state / "version").stat().st_mode) == 0o600


def test_all_versions_since_the_one_that_was_told_are_told(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state.mkdir()
    (state / "version").write_text("0.1.0\n", encoding="utf-8")

    told = run(capsys)

    assert [line for line in told.splitlines() if line.startswith("specloom ")] == ["specloom 0.10.0", "specloom 0.2.0"]
    assert "Rivers" not in told


def test_a_version_that_is_named_is_told_from_and_nothing_is_kept(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(run(capsys, "--since", "0.2.0", "--json"))

    assert told == {
        "version": "0.10.0",
        "since": "0.2.0",
        "changes": [{"version": "0.10.0", "Added": ["`wash` washes otters.", "It is quick."], "Removed": ["Soap."]}],
    }
    assert not state.exists()


def test_what_was_kept_and_is_no_version_is_not_believed(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state.mkdir()
    (state / "version").write_bytes(b"\xff../../etc")

    assert run(capsys).startswith("specloom 0.10.0\n")


def test_versions_are_compared_as_numbers() -> None:
    mixed = ["Unreleased", "0.10.0", "v1", "0.1.0", "0.2.0"]

    assert sorted(mixed, key=changes.parse_version) == ["0.1.0", "0.2.0", "0.10.0", "v1", "Unreleased"]


def test_the_changelog_of_the_project_is_read() -> None:
    root = Path(__file__).parents[2]
    found = changes.read_changes((root / "CHANGELOG.md").read_text(encoding="utf-8"))

    assert found[0].kinds["Added"]
    assert all(changes.parse_version(one.version) for one in found)
    assert changes.parse_version(__version__)
