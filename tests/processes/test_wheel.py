"""What a user installs: the wheel has the specs in it, and works where there is no checkout."""

from __future__ import annotations

import json
import os
import re
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


def test_the_page_of_the_package_has_no_link_that_leads_nowhere_and_the_manual_comes_with_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        page = archive.read(metadata).decode()

    links = re.findall(r"\]\(([^)\s]+)\)", page)
    assert links
    assert [link for link in links if not link.startswith(("https://", "http://", "#"))] == []
    assert any(name.endswith("/share/man/man1/specloom.1") for name in names)
    assert "specloom/shipped/CHANGELOG.md" in names


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


# --- What is compiled into the wheel ----------------------------------------------------------------------------------

START = """
import os, sys
from specloom.server import catalogue, served, start
environ = {"HOME": sys.argv[1], **({"SPECLOOM_PATH": sys.argv[2]} if len(sys.argv) > 2 else {})}
listed = catalogue.load_image(environ, start.default_selection(environ))
model = served.open_model(environ, served.stamp_everything(environ))
print("listed" if listed else "not listed", "loaded" if model else "not loaded")
if model:
    print(model.tools["web_search"].name, len(model.providers["brave"].operations), model.digest)
"""


def start(installed: Path, home: Path, *layers: Path) -> list[str]:
    """What a start in an empty home takes from the wheel."""
    return run(installed / "python", "-c", START, home, *layers, cwd=home).stdout.splitlines()


def test_a_first_start_compiles_nothing(installed: Path, elsewhere: Path) -> None:
    first, loaded = start(installed, elsewhere)

    assert first == "listed loaded"
    assert loaded.startswith("web_search ")
    assert not [path for path in elsewhere.rglob("*") if path.is_file()]
    assert loaded.split()[-1].startswith(run(installed / "specloom", "--version", cwd=elsewhere).stdout.split()[-1])


def test_a_folder_of_specs_that_is_added_is_compiled(installed: Path, elsewhere: Path) -> None:
    own = elsewhere / "own"
    (own / "providers.d").mkdir(parents=True)

    assert start(installed, elsewhere, own) == ["not listed not loaded"]


def test_a_shipped_spec_that_somebody_changed_is_compiled(installed: Path, elsewhere: Path) -> None:
    where = run(installed / "python", "-c", "import specloom; print(specloom.__file__)", cwd=elsewhere).stdout.strip()
    spec = Path(where).parent / "shipped" / "tools.d" / "research" / "web_search.yaml"
    before, times = spec.read_bytes(), (spec.stat().st_atime_ns, spec.stat().st_mtime_ns)
    try:
        spec.write_bytes(before + b"\n")
        os.utime(spec, ns=times)
        assert start(installed, elsewhere) == ["not listed not loaded"], "its size is another"

        spec.write_bytes(before.replace(b"open web", b"open Web", 1))
        os.utime(spec, ns=(times[0], times[1] + 3600 * 10**9))
        assert start(installed, elsewhere) == ["not listed not loaded"], "it is younger than what was compiled"
    finally:
        spec.write_bytes(before)
        os.utime(spec, ns=times)
    assert start(installed, elsewhere)[0] == "listed loaded"


def test_another_package_that_registers_something_is_seen(installed: Path, elsewhere: Path) -> None:
    site = Path(
        run(
            installed / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=elsewhere
        ).stdout.strip()
    )
    info = site / "tides-1.0.dist-info"
    info.mkdir()
    try:
        (info / "entry_points.txt").write_text("[specloom.hooks]\ntides = json\n", encoding="utf-8")
        assert start(installed, elsewhere) == ["listed not loaded"]
    finally:
        (info / "entry_points.txt").unlink()
        info.rmdir()


def test_the_wheel_is_the_same_when_it_is_built_again(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=ROOT)

    (again,) = tmp_path.glob("*.whl")
    assert again.read_bytes() == wheel.read_bytes()
