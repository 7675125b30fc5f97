"""A wrong file in a user's folder takes away itself and what names it, never all tools, and the client is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from specloom.core import Diagnostic, Place, paths, render
from specloom.server import catalogue as image
from specloom.server.catalogue import Selection, load_image
from specloom.server.start import load_catalogue, make_executor
from tests.support.demo_specs import TEXTS, TOOL, write_demo

ALL = Selection(["all"])
OTHER = TEXTS[TOOL].replace("demo_find", "demo_other")
WRONG = TEXTS[TOOL].replace("demo_find", "demo_wrong") + "no_such_key: 1\n"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder beside the demo specs, which count as shipped."""
    shipped = write_demo(tmp_path / "shipped")
    monkeypatch.setattr(image, "shipped_folder", lambda: str(shipped))
    monkeypatch.setattr(paths, "shipped_folder", lambda: str(shipped))
    folder = tmp_path / "own"
    (folder / "tools.d" / "annex").mkdir(parents=True)
    return folder


@pytest.fixture
def environ(own: Path, tmp_path: Path) -> dict[str, str]:
    return {"SPECLOOM_PATH": str(own), "SPECLOOM_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)}


def write(own: Path, name: str, text: str) -> None:
    (own / "tools.d" / "annex" / f"{name}.yaml").write_text(text, encoding="utf-8")


def test_the_rest_is_served_and_the_client_is_told(own, environ):
    write(own, "demo_other", OTHER)
    write(own, "demo_wrong", WRONG)

    catalogue = load_catalogue(environ, ALL)

    assert catalogue.tool_names == {"demo_find", "demo_other"}
    assert (
        "Tell the user: 1 of their own spec files has errors and is not served (demo_wrong.yaml); "
        "`specloom check` shows what to mend."
    ) in catalogue.instructions
    kept = load_image(environ, ALL)
    assert kept is not None
    assert kept.instructions == catalogue.instructions
    assert kept.left_out == catalogue.left_out


def test_a_file_that_is_mended_is_served_at_the_next_start(own, environ):
    write(own, "demo_wrong", WRONG)
    assert load_catalogue(environ, ALL).left_out
    write(own, "demo_wrong", WRONG.replace("no_such_key: 1\n", ""))

    catalogue = load_catalogue(environ, ALL)

    assert catalogue.tool_names == {"demo_find", "demo_wrong"}
    assert catalogue.left_out == ""
    assert "Tell the user" not in catalogue.instructions


def test_the_shipped_file_serves_on_where_its_replacement_is_wrong(own, environ):
    write(own, "demo_find", TEXTS[TOOL] + "no_such_key: 1\n")

    catalogue = load_catalogue(environ, ALL)

    assert catalogue.tool_names == {"demo_find"}
    assert "demo_find.yaml" in catalogue.left_out


def test_the_backend_serves_the_same_and_its_health_and_log_say_why(own, environ, capsys):
    write(own, "demo_wrong", WRONG)

    executor = make_executor(environ, disk_cache=False)

    assert set(executor.model.tools) == {"demo_find"}
    assert executor.problems[0].startswith("1 of their own spec files has errors and is not served (demo_wrong.yaml)")
    assert "no key 'no_such_key'" in capsys.readouterr().err


def test_wrong_shipped_specs_are_not_served(own, environ, tmp_path):
    (tmp_path / "shipped" / "tools.d" / "wrong.yaml").write_text("spec: tool/1\n", encoding="utf-8")

    with pytest.raises(SystemExit):
        load_catalogue(environ, ALL)


def test_a_folder_that_is_not_there_takes_away_nothing(environ, own, tmp_path):
    environ["SPECLOOM_PATH"] = f"{own}{os.pathsep}{tmp_path / 'gone'}"

    assert load_catalogue(environ, ALL).tool_names == {"demo_find"}


def test_what_is_no_file_is_passed_over(own, environ):
    write(own, "demo_other", OTHER)
    folder = own / "tools.d" / "annex"
    os.mkfifo(folder / "pipe.yaml")
    (folder / "folder.yaml").mkdir()
    (folder / "gone.yaml").symlink_to(folder / "nowhere.yaml")
    (folder / "loop.yaml").symlink_to(folder / "loop.yaml")
    (folder / "up").symlink_to(own / "tools.d")
    (folder / "down").symlink_to(folder)
    (folder / "zero.yaml").symlink_to("/dev/zero")
    (own / "templates" / "pages").mkdir(parents=True)
    os.mkfifo(own / "templates" / "pages" / "pipe.md.j2")
    for name, data in {"empty": b"", "nul": b"spec: tool/1\n\0", "latin": b"spec: tool/1\ntitle: \xe9\n"}.items():
        (folder / f"{name}.yaml").write_bytes(data)
    with (folder / "sparse.yaml").open("wb") as file:
        file.truncate(10_000_000_000)

    catalogue = load_catalogue(environ, ALL)

    assert catalogue.tool_names == {"demo_find", "demo_other"}
    assert "4 of their own spec files have errors" in catalogue.left_out
    assert load_image(environ, ALL) is not None


def test_signs_that_a_terminal_obeys_are_shown_as_what_they_are_in_the_log():
    place = Place("own/a\x1b[2J.yaml", 1, 1)
    shown = render(Diagnostic("E101", place, "it says \x1b[31m\u202e", "try \u200b"), {place.file: "x: \x1b[31m"})

    assert "it says \\u001b[31m\\u202e" in shown
    assert "own/a\\u001b[2J.yaml:1:1" in shown
    assert "try \\u200b" in shown
    assert not any(sign in shown for sign in "\x1b\u202e\u200b")


def test_what_an_operator_writes_of_a_tool_is_clean_in_the_list(own, environ):
    title = next(line for line in OTHER.splitlines() if line.startswith("title:"))
    write(own, "demo_other", OTHER.replace(title, 'title: "Find\\u202e others\\e[31m\\u200b"'))

    catalogue = load_catalogue(environ, ALL)

    assert b'"title":"Find others[31m"' in catalogue.tools
