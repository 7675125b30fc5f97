"""A project's folder of specs stands in the place of the shipped one, with a name and folders of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from specloom.authoring.examples.run import check_examples
from specloom.authoring.scaffold.common import ScaffoldError
from specloom.authoring.scaffold.project import draft_project
from specloom.compiler.build import weave_from
from specloom.core import paths
from specloom.server import catalogue as image
from specloom.server.catalogue import FORMAT, load_image, make_catalogue, name_server, pack_catalogue, save_image
from specloom.server.start import default_selection
from specloom.specs import Project, read_project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The specs of a new project."""
    for path, text in draft_project("bird-songs").items():
        file = tmp_path / "bird-songs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path / "bird-songs/src/bird_songs"


@pytest.fixture
def environ(folder: Path, tmp_path: Path) -> dict[str, str]:
    return {"SPECLOOM_PROJECT": str(folder), "HOME": str(tmp_path)}


def test_a_new_project_compiles_by_itself_and_its_examples_hold(folder: Path) -> None:
    model, library, report = weave_from([folder])
    check_examples(library, model, report)

    assert (report.errors, report.warnings) == ([], [])
    assert list(model.tools) == ["bird_songs_search"]


def test_its_catalogue_has_its_name_its_instructions_and_all_of_its_tools(
    folder: Path, environ: dict[str, str]
) -> None:
    model = weave_from([folder])[0]

    made = make_catalogue(model, default_selection(environ), environ)

    assert made.info() == {"name": "bird-songs", "version": "0.1.0", "title": "Bird songs"}
    assert made.tool_names == {"bird_songs_search"}
    assert made.instructions.splitlines()[0].startswith("Bird songs: ")


def test_toolsets_that_are_named_are_those_that_are_served(environ: dict[str, str]) -> None:
    assert default_selection(environ).toolsets == ("all",)
    assert default_selection({**environ, "SPECLOOM_TOOLSETS": "bird-songs"}).toolsets == ("bird-songs",)
    assert default_selection({}).toolsets == ()


def test_layers_begin_with_the_project_and_go_on_with_those_of_its_user(
    folder: Path, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths.sys, "platform", "linux")
    (tmp_path / ".config/specloom").mkdir(parents=True)
    alone = paths.spec_layers(environ)
    (tmp_path / ".config/bird_songs").mkdir()

    assert alone == [str(folder)]
    assert paths.spec_layers(environ) == [str(folder), str(tmp_path / ".config/bird_songs")]
    assert paths.spec_layers({**environ, "SPECLOOM_PATH": "/more"}) == [str(folder), "/more"]
    assert paths.cache_folder(environ) == str(tmp_path / ".cache/bird_songs")
    assert paths.state_folder(environ) == str(tmp_path / ".local/state/bird_songs")


def test_the_catalogue_that_comes_with_the_package_is_not_that_of_a_project(
    environ: dict[str, str], tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "shipped"
    (shipped / image.SHIPPED).mkdir(parents=True)
    monkeypatch.setattr(image, "shipped_folder", lambda: str(shipped))
    monkeypatch.setattr(paths, "shipped_folder", lambda: str(shipped))
    usual, own = default_selection({}), default_selection(environ)
    made = make_catalogue(weave_from([folder])[0], own)
    for selection in (usual, own):
        stamp = f"{FORMAT} {selection.key()}\n{image.stamp_shipped()[0]}"
        Path(image.shipped_catalogue()).write_bytes(pack_catalogue(made, stamp, {}))

        assert load_image({"HOME": str(tmp_path)}, selection) is not None
        assert load_image(environ, selection) is None


def test_an_image_is_stale_once_the_file_of_the_project_has_changed(folder: Path, environ: dict[str, str]) -> None:
    selection = default_selection(environ)
    save_image(make_catalogue(weave_from([folder])[0], selection, environ), environ, selection)
    assert load_image(environ, selection) is not None

    file = folder / "project.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("0.1.0", "0.1.10"), encoding="utf-8")

    assert load_image(environ, selection) is None
    assert name_server(environ) == ("bird-songs", "Bird songs", "0.1.10")


def test_without_a_project_the_server_is_specloom() -> None:
    assert name_server({})[:2] == ("specloom", "specloom")
    assert paths.program_name({"SPECLOOM_PROJECT": " "}) == "specloom"


@pytest.mark.parametrize("version", ["1.0", "0.1.0", "2026.6.1", "1.0.0rc1", "1.0.0+local.1"])
def test_a_version_is_one_that_packages_have(folder: Path, version: str) -> None:
    text = (folder / "project.yaml").read_text(encoding="utf-8")
    (folder / "project.yaml").write_text(text.replace("0.1.0", version), encoding="utf-8")

    assert read_project(str(folder)) == Project("bird-songs", "Bird songs", version)


@pytest.mark.parametrize("name", ["a", "bird2", "b" * 32, "a-b-c"])
def test_a_name_that_a_package_may_have_is_taken(name: str) -> None:
    assert f"src/{name.replace('-', '_')}/project.yaml" in draft_project(name)


@pytest.mark.parametrize(
    "name", ["", "A", "a_b", "-a", "a-", "a--b", "b" * 33, "a b", "ä", "json", "class", "specloom", "yaml", "mcp"]
)
def test_a_name_that_no_package_may_have_is_refused(name: str) -> None:
    with pytest.raises(ScaffoldError):
        draft_project(name)
