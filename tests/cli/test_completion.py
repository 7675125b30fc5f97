"""What a shell offers after Tab is what can stand there, and the scripts of shells ask for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts import manual
from specloom.cli import completion
from specloom.cli.main import main
from tests.support.demo_specs import write_demo

ROOT = Path(__file__).parents[2]


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_catalogue: Path) -> Path:
    root = write_demo(tmp_path / "specs")
    monkeypatch.setenv("SPECLOOM_PATH", str(root))
    monkeypatch.setenv("SPECLOOM_CACHE_DIR", str(tmp_path / "cache"))
    return root


def offered(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["__complete", *words]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out.splitlines()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["serv"], ["serve"]),
        (["data", "e"], ["export", "erase"]),
        (["new", "pro"], ["provider", "project"]),
        (["call", "demo_"], ["demo_find"]),
        (["call", "--cache", "demo_"], ["demo_find"]),
        (["call", "--replay", "folder", "demo_"], ["demo_find"]),
        (["call", "demo_find", "qu"], ["query="]),
        (["call", "demo_find", "query=otters", "qu"], []),
        (["call", "nobody", ""], []),
        (["try", "demo."], ["demo.demo_pages"]),
        (["install", "clau"], ["claude-desktop", "claude-code"]),
        (["install", "cursor", ""], []),
        (["install", "cursor", "--no"], ["--no-keys"]),
        (["serve", "--catalogue", ""], ["full", "search"]),
        (["serve", "--budget", "--output-schemas", "f"], ["full"]),
        (["list", "pro"], ["providers"]),
        (["completion", "z"], ["zsh"]),
        (["check", ""], []),
        (["frob", ""], []),
    ],
)
def test_what_can_stand_there_is_offered(
    specs: Path, capsys: pytest.CaptureFixture[str], words: list[str], found: list[str]
) -> None:
    assert offered(capsys, *words) == found


def test_without_a_word_every_command_is_offered(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = yaml.safe_load(Path(completion.__file__).with_name("commands.yaml").read_text(encoding="utf-8"))

    assert offered(capsys) == offered(capsys, "") == [name for name in table if name != "shared"]


def test_values_of_a_closed_list_are_offered_in_one_word_or_in_three(capsys: pytest.CaptureFixture[str]) -> None:
    whole = offered(capsys, "call", "web_search", "depth=")

    assert whole
    assert all(one.startswith("depth=") for one in whole)
    parts = [one.partition("=")[2] for one in whole]
    assert offered(capsys, "call", "web_search", "depth", "=") == parts
    assert offered(capsys, "call", "web_search", "depth", "=", parts[0][:2]) == [parts[0]]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_there_is_a_script_for_each_shell_that_it_can_read(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    said = capsys.readouterr()

    assert "specloom __complete" in said.out
    assert f"specloom completion {shell}" in said.err
    program = shutil.which({"powershell": "pwsh"}.get(shell, shell))
    if program and shell != "powershell":
        done = subprocess.run([program, "-n"], input=said.out, text=True, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_by_its_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out
    program = tmp_path / "specloom"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specloom "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    tab = 'COMP_WORDS=(specloom list pro); COMP_CWORD=2; _specloom; printf "%s\\n" "${COMPREPLY[@]}"'

    done = subprocess.run(
        ["bash", "-c", f"{script}\n{tab}"],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "providers\n"


def test_the_manual_page_is_that_of_the_commands() -> None:
    table = yaml.safe_load(manual.TABLE.read_text(encoding="utf-8"))
    page = manual.draw(table)

    assert manual.PAGE.read_text(encoding="utf-8") == page, "run `make docs`"
    assert [f".SS {name}" in page for name in table if name != "shared"] == [True] * (len(table) - 1)
    if shutil.which("man"):
        done = subprocess.run(["man", "--warnings", "-l", "-"], input=page, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
