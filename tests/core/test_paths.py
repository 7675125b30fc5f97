"""Folders are those of platformdirs on every system, without its import."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
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


MODES = pytest.mark.skipif(os.name == "nt", reason="modes are a matter of Unix")


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@MODES
def test_a_folder_and_those_above_it_are_for_their_owner_whatever_the_umask(tmp_path: Path, no_umask: None) -> None:
    paths.make_folder(tmp_path / "a" / "b" / "c")
    paths.make_folder(tmp_path / "a" / "b" / "c")

    assert {mode(tmp_path / name) for name in ("a", "a/b", "a/b/c")} == {0o700}


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(FileExistsError):
        paths.make_folder(tmp_path / "file")
    with pytest.raises(OSError):
        paths.make_folder(tmp_path / "file" / "below")


@MODES
def test_the_engines_own_folder_is_closed_and_one_that_a_variable_names_keeps_its_mode(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "SPECLOOM_STATE_DIR": str(tmp_path / "shared")}
    for folder in (paths.cache_folder(environ), paths.state_folder(environ)):
        Path(folder).mkdir(parents=True)
        Path(folder).chmod(0o755)
        paths.make_own_folder(folder, environ)

    assert mode(Path(paths.cache_folder(environ))) == 0o700
    assert mode(tmp_path / "shared") == 0o755


@MODES
def test_a_file_is_made_for_its_owner_and_one_that_others_could_read_is_closed(tmp_path: Path, no_umask: None) -> None:
    (tmp_path / "old").write_bytes(b"kept")
    for name in ("old", "new"):
        os.close(paths.open_private(tmp_path / name, os.O_RDWR | os.O_CREAT))

    assert (tmp_path / "old").read_bytes() == b"kept"
    assert {mode(tmp_path / name) for name in ("old", "new")} == {0o600}


@MODES
def test_a_database_and_its_journals_are_closed_without_being_opened(tmp_path: Path, no_umask: None) -> None:
    for name in ("a.db", "a.db-wal", "a.db-shm"):
        (tmp_path / name).write_bytes(b"")
    paths.make_database(tmp_path / "a.db")
    paths.make_database(tmp_path / "b.db")

    assert {mode(path) for path in tmp_path.iterdir()} == {0o600}
    assert (tmp_path / "b.db").exists()


def _write(path: Path, name: str, when: float) -> None:
    path.write_text(f"spec: project/1\nname: {name}\n", encoding="utf-8")
    os.utime(path, (when, when))


def test_the_file_of_a_project_is_read_once_for_as_long_as_it_stays_as_it_is(tmp_path: Path) -> None:
    file, environ = tmp_path / "project.yaml", {"SPECLOOM_PROJECT": str(tmp_path)}
    _write(file, "wren", 1_700_000_000)
    names = [paths.command_name(environ)]

    # Of the same day and size, so that only who reads it sees the difference.
    _write(file, "lark", 1_700_000_000)
    names.append(paths.command_name(environ))
    _write(file, "lark", 1_700_000_001)
    names.append(paths.command_name(environ))

    assert names == ["wren", "wren", "lark"]


def test_the_file_of_a_project_that_was_just_written_is_read_anew(tmp_path: Path) -> None:
    file, environ = tmp_path / "project.yaml", {"SPECLOOM_PROJECT": str(tmp_path)}
    later = 4_000_000_000  # long after the clock of any machine that runs this
    _write(file, "wren", later)
    names = [paths.command_name(environ)]

    _write(file, "lark", later)
    names.append(paths.command_name(environ))

    assert names == ["wren", "lark"]
