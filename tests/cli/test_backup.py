"""What is remembered is backed up and restored from the command line, and what is not in it is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specloom.authoring.scaffold.project import draft_project
from specloom.cli.main import main
from specloom.storage.audit_log import AuditRecord, open_audit
from tests.storage.test_backup import notes, put


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("SPECLOOM_CACHE_KEY", "AUDIT_OUTPUT_PATH", "DOIGET_LOG_PATH"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "state"
    monkeypatch.setenv("SPECLOOM_STATE_DIR", str(folder))
    monkeypatch.setenv("DOIGET_STORE_ROOT", str(tmp_path / "papers"))
    put(folder, "1")
    return folder


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_backup_says_what_is_not_in_it(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "papers").mkdir()

    code, out, err = run(capsys, "backup", str(tmp_path / "b.zip"))
    _, _, with_key = run(capsys, "backup", str(tmp_path / "k.zip"), "--with-key")

    assert code == 0
    assert out.startswith(f"{tmp_path / 'b.zip'}: 1 files of {folder}, ")
    assert f"keep a copy of {folder / 'cache.key'}" in err
    assert f"the paper store is not in it: {tmp_path / 'papers'}" in err
    assert "whoever has the file can read everything" in with_key


@pytest.mark.parametrize("keeps_papers", [False, True])
def test_of_a_project_only_what_its_tools_keep_is_named(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    keeps_papers: bool,
) -> None:
    for path, text in draft_project("bird-songs").items():
        file = tmp_path / "bird-songs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    specs = tmp_path / "bird-songs/src/bird_songs"
    if keeps_papers:
        tool = next((specs / "tools.d").glob("*/*.yaml"))
        setting = "\nconfig:\n  DOIGET_STORE_ROOT: {description: Where papers are.}\n"
        tool.write_text(tool.read_text(encoding="utf-8") + setting, encoding="utf-8")
    monkeypatch.setenv("SPECLOOM_PROJECT", str(specs))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "papers").mkdir()

    code, _, err = run(capsys, "backup", str(tmp_path / "b.zip"))

    assert code == 0
    assert ("the paper store is not in it" in err) is keeps_papers


def test_what_was_erased_since_is_named_when_it_comes_back(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = open_audit(folder, {}, warn=print)
    assert log is not None
    log.record(AuditRecord("data.erasure", "acme", "before"))
    log.close()
    run(capsys, "backup", str(tmp_path / "b.zip"))
    assert run(capsys, "data", "erase", "--tenant", "acme", "--user", "ann", "--yes")[0] == 0
    assert run(capsys, "data", "erase", "--tenant", "zoo corp", "--whole-tenant", "--yes")[0] == 0
    assert notes(folder) == []

    code, out, err = run(capsys, "restore", str(tmp_path / "b.zip"))
    assert (code, out) == (1, "")
    assert "--replace" in err

    code, out, err = run(capsys, "restore", str(tmp_path / "b.zip"), "--replace")

    assert code == 0
    assert notes(folder) == ["note 1"]
    assert "each held against its digest" in out
    assert "  specloom data erase --tenant acme --user ann --yes\n" in err
    assert "  specloom data erase --tenant 'zoo corp' --whole-tenant --yes\n" in err
    assert "before" not in err.partition("erase it again")[2]


def test_what_is_no_backup_is_said(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.zip").write_text(json.dumps({}), encoding="utf-8")

    code, out, err = run(capsys, "restore", str(tmp_path / "x.zip"), "--replace")

    assert (code, out) == (1, "")
    assert "is no backup, or a damaged one" in err
    assert notes(folder) == ["note 1"]
