"""Commands start without what they do not use; how long they take is measured in `bench/`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PATIENCE = 300
MODULES = """
import sys
from specloom.cli.main import main
code = main(sys.argv[1:])
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the specs are compiled."""
    folder = tmp_path_factory.mktemp("home")
    run(folder, "list", "tools")
    return folder


def run(home: Path, *words: str) -> tuple[str, set[str]]:
    """What a command prints, and the modules that it imports."""
    names = ("PATH", "PYTHONPATH", "SYSTEMROOT")
    environ = {name: os.environ[name] for name in names if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", MODULES, *words],
        env={**environ, "HOME": str(home), "SPECLOOM_CACHE_DIR": str(home), "SPECLOOM_STATE_DIR": str(home)},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=True,
    )
    return done.stdout, set(done.stderr.splitlines()[-1].split())


HEAVY = {"argparse", "asyncio", "dataclasses", "pathlib", "ssl", "typing", "yaml"}


@pytest.mark.parametrize(
    ("words", "says", "without"),
    [
        (["--version"], "specs ", HEAVY),
        (["--help"], "explain  ", HEAVY),
        (
            ["list", "tools"],
            "web_search",
            {"asyncio", "dataclasses", "inspect", "jmespath", "lzma", "specloom.model.model", "ssl", "yaml"},
        ),
        (
            ["explain", "web_search", "query=otters"],
            "cache: ",
            {
                "asyncio",
                "dataclasses",
                "html",
                "lzma",
                "random",
                "specloom.compiler.symbols",
                "specloom.language.decoders.formats",
                "ssl",
                "yaml",
            },
        ),
    ],
    ids=["version", "help", "list", "explain"],
)
def test_a_command_imports_nothing_that_it_does_not_use(
    home: Path, words: list[str], says: str, without: set[str]
) -> None:
    printed, modules = run(home, *words)

    assert says in printed
    assert modules & without == set()


def test_the_digest_is_that_of_the_texts_whether_they_are_compiled_or_not(home: Path, tmp_path: Path) -> None:
    (printed, _), (elsewhere, modules) = run(home, "--version"), run(tmp_path, "--version")

    assert printed == elsewhere
    assert "yaml" in modules
