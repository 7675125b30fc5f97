"""What a user installs: a wheel of this checkout in a fresh environment, with the dependencies that are here."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]


def install(home: Path) -> Path:
    """The folder of commands of a new environment with the wheel; a SystemExit where it cannot be made.

    It is built by the backend that is installed and takes the dependencies that are installed, so nothing is fetched.
    """
    if find_spec("hatchling") is None or find_spec("pip") is None:
        raise SystemExit("bench: a wheel needs hatchling and pip in this environment; `make setup` installs them")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(home / "dist"), cwd=ROOT)
    (built,) = (home / "dist").glob("*.whl")
    place = home / "installed"
    venv.create(place, with_pip=False, symlinks=os.name != "nt")
    scripts = place / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-input"]
    _run(*command, "--no-deps", "--no-index", str(built), cwd=home)
    site = Path(_run(str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).strip())
    # A folder named in a .pth file is searched, but the .pth files in it are not read: the editable install stays out.
    folders = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    (site / "zz_dependencies.pth").write_text("".join(f"{folder}\n" for folder in folders), encoding="utf-8")
    return scripts


def find_specs(scripts: Path) -> Path:
    """The folder of specs in an environment that `install` has made."""
    (found,) = scripts.parent.rglob("specloom/shipped/providers.d")
    return found.parent


def _run(*command: str, cwd: Path) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise SystemExit(f"bench: {' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout
