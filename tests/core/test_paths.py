"""Folders are those of platformdirs on every system, without its import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from specloom.core import paths

ENVIRONMENTS: list[dict[str, str]] = [
    {},
    {"HOME": "/home/else"},
    {"XDG_CONFIG_HOME": "/etc/conf", "XDG_CACHE_HOME": "/var/tmp/cache"},
    {"XDG_CONFIG_HOME": "relative/conf", "XDG_CACHE_HOME": "relative"},
    {"XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""},
    {"XDG_CACHE_HOME": "/cache with a blank/ü"},
    {"XDG_CONFIG_HOME": "/trailing/", "XDG_CACHE_HOME": "/trailing/"},
]
ASK = """\
import json, platformdirs
print(platformdirs.user_config_dir("specloom", appauthor=False))
print(platformdirs.user_cache_dir("specloom", appauthor=False))
"""


@pytest.mark.parametrize("said", ENVIRONMENTS, ids=str)
def test_the_folders_are_those_of_platformdirs(said: dict[str, str]) -> None:
    cleared = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    environ = {**cleared, **said, "PYTHONIOENCODING": "utf-8"}
    # A process of its own, because platformdirs reads the real environment.
    done = subprocess.run([sys.executable, "-c", ASK], env=environ, capture_output=True, encoding="utf-8", check=True)

    found = [paths.config_folder(environ), paths.cache_folder(environ)]

    assert [os.path.normpath(path) for path in found] == [os.path.normpath(path) for path in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("system", "environ", "config", "cache"),
    [
        ("linux", {"HOME": "/home/a"}, "/home/a/.config/specloom", "/home/a/.cache/specloom"),
        (
            "darwin",
            {"HOME": "/Users/a"},
            "/Users/a/Library/Application Support/specloom",
            "/Users/a/Library/Caches/specloom",
        ),
        ("darwin", {"HOME": "/Users/a", "XDG_CACHE_HOME": "/x"}, "/Users/a/Library/Application Support/specloom", None),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/specloom", "/local/specloom/Cache"),
        ("win32", {"HOME": "/users/a"}, "/users/a/AppData/Local/specloom", "/users/a/AppData/Local/specloom/Cache"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="paths are joined with the separator of the system that runs this")
def test_other_systems_have_their_own_places(
    monkeypatch: pytest.MonkeyPatch, system: str, environ: dict[str, str], config: str, cache: str | None
) -> None:
    monkeypatch.setattr(sys, "platform", system)

    assert paths.config_folder(environ) == config
    assert cache is None or paths.cache_folder(environ) == cache


@pytest.mark.parametrize(("said", "expected"), [("/elsewhere", "/elsewhere"), ("  /elsewhere ", "/elsewhere")])
def test_a_chosen_cache_folder_is_taken_as_it_is(said: str, expected: str) -> None:
    assert paths.cache_folder({"SPECLOOM_CACHE_DIR": said, "XDG_CACHE_HOME": "/x"}) == expected


def test_a_tilde_in_a_chosen_folder_is_the_home() -> None:
    assert paths.cache_folder({"SPECLOOM_CACHE_DIR": "~/kept"}) == str(Path("~/kept").expanduser())
    assert paths.spec_layers({"SPECLOOM_PATH": "~/specs"})[1:] == [str(Path("~/specs").expanduser())]


def test_layers_are_the_shipped_specs_and_then_the_users_folder_if_there_is_one(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}

    before = paths.spec_layers(environ)
    Path(paths.config_folder(environ)).mkdir(parents=True)
    after = paths.spec_layers(environ)

    assert before == [paths.shipped_folder()]
    assert after == [paths.shipped_folder(), paths.config_folder(environ)]


def test_a_path_that_is_set_replaces_the_users_folder_and_an_empty_one_leaves_only_the_shipped_specs(
    tmp_path: Path,
) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    (tmp_path / "specloom").mkdir()
    listed = os.pathsep.join(["/one", "", "/two"])

    assert paths.spec_layers({**environ, "SPECLOOM_PATH": listed}) == [paths.shipped_folder(), "/one", "/two"]
    assert paths.spec_layers({**environ, "SPECLOOM_PATH": ""}) == [paths.shipped_folder()]


def test_the_shipped_folder_holds_specs() -> None:
    shipped = Path(paths.shipped_folder())

    assert {"providers.d", "tools.d", "lenses", "collections.d", "resources.d"} <= {
        entry.name for entry in shipped.iterdir()
    }
