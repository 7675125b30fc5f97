"""Every command that a page shows is one of the program, and those of the first page do what it says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from specloom.cli.parser import make_parser

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SET = re.compile(r"(?:[A-Z_]+=(?:'[^']*'|\S+) )*specloom ")


def find_commands(page: Path) -> list[str]:
    """The commands in the shell blocks of a page, without what is set before them and said behind."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:sh|bash|console)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [line[match.end() - len("specloom ") :] for line in lines if (match := SET.match(line))]


@pytest.mark.parametrize("page", [page for page in PAGES if find_commands(page)], ids=lambda page: page.name)
def test_every_command_of_a_page_can_be_parsed(page: Path) -> None:
    for command in find_commands(page):
        make_parser().parse_args(shlex.split(command, comments=True)[1:])


def test_there_are_pages_with_commands() -> None:
    assert sum(len(find_commands(page)) for page in PAGES) >= 30


@pytest.mark.process
def test_the_commands_for_authors_on_the_first_page_do_what_it_says(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "SPECLOOM_"))}
    shown = find_commands(ROOT / "docs" / "index.md")
    commands = {one.split()[1]: shlex.split(one, comments=True)[1:] for one in shown}
    said = {}
    for name in ("new", "explain", "check"):
        said[name] = subprocess.run(
            [sys.executable, "-m", "specloom", *commands[name]],
            cwd=tmp_path,
            env={**environ, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    assert said["new"].returncode == 0, said["new"].stderr
    assert "birds.yaml" in said["new"].stdout + said["new"].stderr
    assert "gulls" in said["explain"].stdout
    assert "examples in" in said["check"].stdout, said["check"].stderr
