"""Styles by pandoc: found by a plain name, called without a shell, and told how to get where it is not there."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from specloom.core.faults import Fault
from specloom.domains.trust.bibliography import csl_processor
from specloom.domains.trust.bibliography.csl_processor import find_style, styles_folder, write_in_csl

# Says what it was called with, and gives back what it was given.
PROGRAM = """#!{python}
import sys
print(" ".join(sys.argv[1:]))
print()
print("1.", sys.stdin.read())
print()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration with one style, and a program in place of pandoc."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(csl_processor, "_folders_of", lambda _: [])
    styles_folder().mkdir(parents=True)
    (styles_folder() / "otters.csl").write_text("<style/>", encoding="utf-8")
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    monkeypatch.setenv("PATH", str(bin_folder))
    return bin_folder


def put_program(folder: Path) -> None:
    program = folder / "pandoc"
    program.write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)


@pytest.mark.parametrize("name", ["../otters", "/etc/otters.csl", "otters/../otters", "", "a b", "otters.yaml", "."])
def test_a_style_is_a_name_without_folders(folder: Path, name: str) -> None:
    assert find_style(name) is None
    assert find_style("otters") == find_style("otters.csl") == styles_folder() / "otters.csl"


def test_what_is_not_there_is_told_with_how_to_get_it(folder: Path) -> None:
    with pytest.raises(Fault, match=r"unknown style 'otters': pandoc is not there; .*specloom\[styles\]"):
        asyncio.run(write_in_csl("[]", "otters", "apa"))
    put_program(folder)
    with pytest.raises(Fault, match="unknown style 'minks': there is no style of this name"):
        asyncio.run(write_in_csl("[]", "minks", "apa"))


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script")
def test_the_program_gets_the_items_and_may_reach_nothing_else(folder: Path) -> None:
    put_program(folder)

    called, line = asyncio.run(write_in_csl('[{"title": "; rm -rf *"}]', "otters", "apa"))

    assert called.startswith(f"--sandbox --citeproc --csl {styles_folder() / 'otters.csl'} --from csljson")
    assert line == '1. [{"title": "; rm -rf *"}]'
