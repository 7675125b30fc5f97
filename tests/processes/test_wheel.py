"""What a user installs: the wheel has the specs in it, and works where there is no checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
# Far above what any step takes; only a hang gets there.
PATIENCE = 300
# The wheel is built and installed once by each worker that gets tests of this file.


def run(*command: str | Path, cwd: Path, text: str = "") -> subprocess.CompletedProcess[str]:
    """The finished process of a command that must succeed, started with nothing of this checkout in its environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        input=text,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the build backend that is installed: building in isolation would ask the network."""
    if find_spec("hatchling") is None:
        pytest.fail("hatchling is not installed, so no wheel can be built; `make setup` installs it", pytrace=False)
    folder = tmp_path_factory.mktemp("dist")

    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)

    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel in it; its dependencies are those installed here, so nothing is fetched."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, with_pip=False, symlinks=os.name != "nt")
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / Path(sys.executable).name
    if not python.exists():
        python = scripts / ("python.exe" if os.name == "nt" else "python")

    if find_spec("pip"):
        install: list[str | Path] = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--quiet",
            "--no-input",
        ]
        run(*install, "--no-deps", "--no-index", wheel, cwd=home)
    elif which("uv"):
        run("uv", "pip", "install", "--python", python, "--offline", "--no-deps", "--no-index", wheel, cwd=home)
    else:
        pytest.fail("neither pip nor uv is here to install the wheel with", pytrace=False)
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).stdout.strip())
    # A folder named in a .pth file is searched, but the .pth files in it are not read: the editable install stays out.
    folders = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    (site / "zz_dependencies.pth").write_text("".join(f"{folder}\n" for folder in folders), encoding="utf-8")
    return scripts


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder that is not in any checkout."""
    return tmp_path


def test_the_wheel_has_the_specs_the_licence_and_the_type_marker_and_no_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    for folder in ("providers.d", "tools.d", "collections.d", "resources.d"):
        shipped = {name.partition(f"shipped/{folder}/")[2] for name in names if f"shipped/{folder}/" in name}
        sources = {file.relative_to(ROOT / folder).as_posix() for file in (ROOT / folder).rglob("*.yaml")}
        assert sources <= shipped
        assert sources
    assert "specloom/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith("tests/") or "/tests/" in name or ".venv" in name]


def test_what_is_imported_is_what_was_installed(installed: Path, elsewhere: Path) -> None:
    done = run(installed / "python", "-c", "import specloom; print(specloom.__file__)", cwd=elsewhere)

    assert Path(done.stdout.strip()).is_relative_to(installed.parent)


def test_the_installed_command_says_its_version(installed: Path, elsewhere: Path) -> None:
    done = run(installed / "specloom", "--version", cwd=elsewhere)

    assert done.stdout.startswith(f"specloom {VERSION},")


def test_the_shipped_specs_compile_and_their_examples_hold(installed: Path, elsewhere: Path) -> None:
    run(installed / "specloom", "check", cwd=elsewhere)


def test_the_installed_server_answers_on_a_pipe_and_ends_with_its_input(installed: Path, elsewhere: Path) -> None:
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]

    done = run(installed / "specloom", "serve", cwd=elsewhere, text="".join(f"{json.dumps(m)}\n" for m in messages))

    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    assert answers.keys() == {1, 2}
    assert answers[1]["protocolVersion"] == "2025-11-25"
    assert answers[1]["serverInfo"]["version"] == VERSION
    assert answers[2]["tools"]
    assert done.stderr == ""
