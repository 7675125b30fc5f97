"""`specloom call TOOL --html FILE` writes what there is to look at, and says so where there is nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from specloom.cli.main import main
from tests.support.loopback import Loopback
from tests.support.operated import PAGE
from tests.support.viewed import write_viewed


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("SPECLOOM_CACHE_DIR", "SPECLOOM_STATE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("SPECLOOM_PATH", str(write_viewed(tmp_path / "specs")))
    monkeypatch.setenv("DEMO_KEY", "k")
    return tmp_path


def test_an_answer_is_written_as_a_document(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / "otters.html"
    with Loopback(lambda _: PAGE) as upstream:
        monkeypatch.setenv("DEMO_URL", upstream.url)
        code = main(["call", "demo_find", "query=otters", "--html", str(file)])

    said = capsys.readouterr()
    document = file.read_text(encoding="utf-8")
    assert (code, said.out) == (0, "")
    assert f"wrote {file}" in said.err
    assert '"slots":{"title":"otters","count":1,"tiles":[{"label":"A","url":"https://example.org/a"}]}' in document
    assert "default-src 'none'" in document


def test_a_tool_without_a_view_is_refused_before_anybody_is_asked(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["call", "web_search", "query=otters", "--html", str(home / "x.html")])

    assert code == 2
    assert "web_search has no view; tools that have one: audit_bibliography, " in capsys.readouterr().err
    assert not (home / "x.html").exists()
