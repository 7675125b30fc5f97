"""The commands over the paper store: what they print and what they exit with."""

from __future__ import annotations

from pathlib import Path

import pytest

from specloom.cli import main
from specloom.papers.log import Log


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DOIGET_STORE_ROOT", str(tmp_path / "papers"))
    monkeypatch.setenv("DOIGET_LOG_PATH", str(tmp_path / "log.jsonl"))
    monkeypatch.setenv("SPECLOOM_CACHE", "off")
    return tmp_path


def test_a_dry_run_prints_the_plan_and_makes_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "fetch", "10.1234/abc", "--dry-run"]) == 0

    assert f'"target_pdf_path": "{place / "papers" / "doi_10.1234_abc.pdf"}"' in capsys.readouterr().out
    assert not (place / "papers").exists()


def test_what_is_no_reference_is_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "fetch", "otters!"]) == 2
    assert main(["papers", "fetch", "10.1234/abc", "otters!"]) == 2
    assert main(["papers", "info", "otters!"]) == 2
    assert '"code": "INVALID_REF"' in capsys.readouterr().out


def test_what_is_not_stored_is_a_failure_and_an_empty_search_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "info", "10.1234/abc"]) == 1
    assert main(["papers", "bib", "10.1234/abc"]) == 1
    assert "specloom: 10.1234/abc: not in the store" in capsys.readouterr().err
    assert main(["papers", "search", "otters"]) == 0


def test_a_changed_log_is_told_at_its_row(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = place / "log.jsonl"
    Log(path).append("session_start", now=0.0)
    assert main(["papers", "verify"]) == 0
    path.write_text(path.read_text("utf-8").replace("session_start", "session_end"), "utf-8")

    assert main(["papers", "verify"]) == 1

    assert "row 1 was changed: its hash is another" in capsys.readouterr().out
