"""A project's folder of specs stands in the place of the shipped one, with a name and folders of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from specloom.authoring.docs import generate_project
from specloom.authoring.examples.run import check_examples
from specloom.authoring.scaffold.common import ScaffoldError
from specloom.authoring.scaffold.project import draft_project
from specloom.cli.main import main
from specloom.compiler.build import weave_from
from specloom.core import Fault, paths
from specloom.server import catalogue as image
from specloom.server.catalogue import FORMAT, load_image, make_catalogue, name_server, pack_catalogue, save_image
from specloom.server.start import default_selection, load_catalogue
from specloom.specs import Project, read_project
from specloom.storage.redis_link import read_redis_settings


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


def id_of(folder: Path) -> str:
    """What the folders of a project's users are called."""
    return read_project(str(folder)).id


def without_id(folder: Path) -> Path:
    """The project as one that was made before projects had ids."""
    file = folder / "project.yaml"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not line.startswith("id:")), encoding="utf-8")
    return folder


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
    home = id_of(folder)
    (tmp_path / ".config" / home).mkdir()

    assert alone == [str(folder)]
    assert paths.spec_layers(environ) == [str(folder), str(tmp_path / ".config" / home)]
    assert paths.spec_layers({**environ, "SPECLOOM_PATH": "/more"}) == [str(folder), "/more"]
    assert paths.cache_folder(environ) == str(tmp_path / ".cache" / home)
    assert paths.state_folder(environ) == str(tmp_path / ".local/state" / home)


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


def test_two_projects_of_one_name_keep_what_they_remember_apart(environ: dict[str, str], folder: Path) -> None:
    other = draft_project("bird-songs")["src/bird_songs/project.yaml"]
    before = paths.state_folder(environ)

    (folder / "project.yaml").write_text(other, encoding="utf-8")

    assert paths.state_folder(environ) != before
    assert id_of(folder).startswith("bird-songs-")


def test_a_project_without_an_id_stays_where_it_was(environ: dict[str, str], folder: Path) -> None:
    without_id(folder)

    assert read_project(str(folder)).id == ""
    assert Path(paths.state_folder(environ)).name == "bird_songs"
    assert Path(paths.cache_folder(environ)).name == "bird_songs"


def test_the_state_of_another_project_of_the_same_folder_is_not_taken(environ: dict[str, str], folder: Path) -> None:
    file = without_id(folder) / "project.yaml"
    paths.make_own_folder(paths.state_folder(environ), environ)
    assert paths.find_other_owner(environ) == ""

    file.write_text(file.read_text(encoding="utf-8").replace("name: bird-songs", "name: whales"), encoding="utf-8")

    sentence = paths.find_other_owner(environ)
    assert f"keeps what the project 'bird-songs' in {folder.resolve()} remembers" in sentence
    assert "write an `id` into" in sentence
    owner = Path(paths.state_folder(environ), "project")
    assert sentence.endswith(f"under a new name or in a new place, write `whales` as the only line of {owner}")
    assert paths.find_other_owner({**environ, "SPECLOOM_STATE_DIR": "/elsewhere"}) == ""
    with pytest.raises(SystemExit):
        load_catalogue(environ, default_selection(environ))

    owner.write_text("whales\n", encoding="utf-8")
    assert paths.find_other_owner(environ) == ""


def test_a_project_is_checked_also_where_its_state_is_of_another_name(
    environ: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_id(folder)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    state = paths.state_folder(os.environ)
    paths.make_own_folder(state, os.environ)
    Path(state, "project").write_text("whales\n", encoding="utf-8")

    assert main(["check"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["list"]) == 2
    assert "keeps what the project 'whales' remembers" in capsys.readouterr().err


def place(tmp_path: Path, where: str, *lines: str) -> dict[str, str]:
    """The environment of a project in a folder whose file says these lines."""
    folder = tmp_path / where
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "project.yaml").write_text("\n".join(("spec: project/1", *lines, "")), encoding="utf-8")
    return {"SPECLOOM_PROJECT": str(folder), "HOME": str(tmp_path)}


def begin(environ: dict[str, str]) -> str:
    """What keeps a project from starting; else it starts, and has its state."""
    sentence = paths.find_other_owner(environ)
    if not sentence:
        paths.make_own_folder(paths.state_folder(environ), environ)
    return sentence


@pytest.mark.parametrize("is_turned", [False, True])
def test_an_id_that_is_the_folder_of_another_project_does_not_share_its_state(tmp_path: Path, is_turned: bool) -> None:
    named = place(tmp_path, "a/other", "name: alpha", "id: specs")
    unnamed = place(tmp_path, "b/specs", "name: beta")
    first, second = (unnamed, named) if is_turned else (named, unnamed)

    assert paths.state_folder(first) == paths.state_folder(second)
    assert begin(first) == ""
    assert "which is called like yours; write an" in begin(second)
    assert begin(first) == ""


def test_two_folders_of_one_name_with_one_name_of_the_project_do_not_share_their_state(tmp_path: Path) -> None:
    first, second = (place(tmp_path, f"{where}/specs", "name: birds") for where in ("a", "b"))

    assert begin(first) == ""
    sentence = begin(second)
    assert f"keeps what the project 'birds' in {(tmp_path / 'a/specs').resolve()} remembers" in sentence
    assert begin(first) == ""

    Path(paths.state_folder(second), "project").write_text("birds\n", encoding="utf-8")  # as the sentence says
    assert begin(second) == ""
    assert begin(first) != ""


def test_a_project_with_an_id_keeps_its_state_wherever_it_is_installed_and_whatever_its_name(tmp_path: Path) -> None:
    assert begin(place(tmp_path, "python3.11/birds", "name: birds", "id: birds-7")) == ""
    assert begin(place(tmp_path, "python3.14/birds", "name: birds", "id: birds-7")) == ""
    assert begin(place(tmp_path, "python3.14/birds", "name: whales", "id: birds-7")) == ""


def test_a_project_that_is_given_the_id_of_its_folder_goes_on_with_its_state(tmp_path: Path) -> None:
    assert begin(place(tmp_path, "a/specs", "name: birds")) == ""
    environ = place(tmp_path, "a/specs", "name: birds", "id: specs")

    assert begin(environ) == ""
    assert Path(paths.state_folder(environ), "project").read_text(encoding="utf-8") == "id: specs\n"
    assert "the project 'id: specs' remembers" in begin(place(tmp_path, "b/specs", "name: birds"))


@pytest.mark.parametrize(("where", "lines"), [("a/specloom", []), ("a/Specloom", []), ("a/birds", ["id: specloom"])])
def test_a_project_is_not_called_as_specloom_is(tmp_path: Path, where: str, lines: list[str]) -> None:
    environ = place(tmp_path, where, "name: birds", *lines)

    sentence = begin(environ)

    assert f"as those of specloom itself; write {'another' if lines else 'an'} `id` into" in sentence
    paths.make_own_folder(paths.state_folder(environ), environ)
    assert list(Path(paths.state_folder(environ)).iterdir()) == []
    assert paths.find_other_owner({"HOME": str(tmp_path)}) == ""
    assert begin(place(tmp_path, where, "name: birds", "id: birds-7")) == ""


@pytest.mark.parametrize("left", ["", "\n"])
def test_a_file_of_the_owner_that_a_crash_left_empty_is_written_anew(
    environ: dict[str, str], folder: Path, left: str
) -> None:
    without_id(folder)
    state = Path(paths.state_folder(environ))
    paths.make_own_folder(str(state), environ)
    (state / "project").write_text(left, encoding="utf-8")

    paths.make_own_folder(str(state), environ)

    assert (state / "project").read_text(encoding="utf-8") == f"bird-songs\n{folder.resolve()}\n"
    assert [one.name for one in state.iterdir()] == ["project"]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("spec: project/1\nname: bird-songs\ntitle: Birds\nversion: 0.1.0\nid : birds-7\n", "id: birds-7"),
        ("spec: project/1\nname: bird-songs\ntitle: Birds\nversion: 0.1.0\nid:\n  birds-7\n", "id: birds-7"),
        ("spec: project/1\nname : bird-songs\ntitle: Birds\nversion: 0.1.0\n", "name: bird-songs"),
        ("{spec: project/1, name: bird-songs, title: Birds, version: 0.1.0, id: birds-7}\n", "name: bird-songs"),
    ],
)
def test_an_id_that_gives_no_folder_its_name_is_refused(folder: Path, text: str, key: str) -> None:
    (folder / "project.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(ValueError, match=f"write `{key}` at the beginning of a line of its own"):
        read_project(str(folder))


@pytest.mark.parametrize("written", ["birds-7", "'birds-7'", '"birds-7"', "birds-7  # for ever", " birds-7"])
def test_an_id_gives_the_folders_its_name_however_it_is_written(
    environ: dict[str, str], folder: Path, written: str
) -> None:
    file = without_id(folder) / "project.yaml"
    file.write_text(f"{file.read_text(encoding='utf-8')}id: {written}\n", encoding="utf-8")

    assert read_project(str(folder)).id == "birds-7"
    assert Path(paths.state_folder(environ)).name == "birds-7"


def test_the_page_of_its_collections_names_its_own_command(folder: Path) -> None:
    model, library, _ = weave_from([folder])

    pages = generate_project(model, library, "bird-songs docs", folder.parents[1], "src/bird_songs")

    page = pages["docs/reference/collections.md"]
    assert "`bird-songs data export` and `bird-songs data erase`" in page
    assert "specloom" not in page


def test_what_machines_share_is_called_as_the_project(environ: dict[str, str], folder: Path) -> None:
    shared = {**environ, "REDIS_URL": "redis://127.0.0.1", "SPECLOOM_CACHE_KEY": "0" * 64}

    own, named = read_redis_settings(shared), read_redis_settings({**shared, "REDIS_PREFIX": "ours:"})
    plain = read_redis_settings({**shared, "SPECLOOM_PROJECT": ""})

    assert [one and one.prefix for one in (own, named, plain)] == [f"{id_of(folder)}:", "ours:", "specloom:"]


def test_sentences_call_commands_as_the_project_does(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "specloom: run `specloom check`; pip install 'specloom[browser]'"
    before = paths.own_words(sentence)
    monkeypatch.setenv("SPECLOOM_PROJECT", environ["SPECLOOM_PROJECT"])

    assert before == sentence
    assert paths.own_words(sentence) == "bird-songs: run `bird-songs check`; pip install 'specloom[browser]'"
    assert Fault("config", "Ask `specloom doctor`.").message == "Ask `bird-songs doctor`."


def test_the_views_of_the_package_are_there_for_a_project(folder: Path) -> None:
    model = weave_from([folder])[0]

    assert model.tools["bird_songs_search"].view is not None
    assert "records" in model.views


def test_a_view_of_its_own_takes_the_place_of_that_of_the_package(folder: Path) -> None:
    own = folder / "templates/views/records.html"
    own.parent.mkdir(parents=True)
    text = Path(paths.shipped_folder(), "templates/views/records.html").read_text(encoding="utf-8")
    own.write_text(text.replace("title: Records", "title: Songs", 1), encoding="utf-8")

    assert weave_from([folder])[0].views["records"].title == "Songs"


def test_a_view_that_is_misspelt_is_told_with_those_of_the_package(folder: Path) -> None:
    file = folder / "tools.d/bird-songs/bird_songs_search.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("template: records", "template: recrods"), encoding="utf-8")

    (error,) = weave_from([folder])[2].errors

    assert (error.code, error.hint) == ("E110", 'did you mean "records"?')


def test_a_linked_answer_needs_the_collection_in_which_it_is_kept(folder: Path) -> None:
    (folder / "collections.d/artifacts.yaml").unlink()

    (error,) = weave_from([folder])[2].errors

    assert error.code == "E110"
    assert "a linked answer is kept in the collection 'artifacts', which is not there" in error.message


def test_without_a_project_the_server_is_specloom() -> None:
    assert name_server({})[:2] == ("specloom", "specloom")
    assert paths.program_name({"SPECLOOM_PROJECT": " "}) == "specloom"


@pytest.mark.parametrize("version", ["1.0", "0.1.0", "2026.6.1", "1.0.0rc1", "1.0.0+local.1"])
def test_a_version_is_one_that_packages_have(folder: Path, version: str) -> None:
    text = (folder / "project.yaml").read_text(encoding="utf-8")
    (folder / "project.yaml").write_text(text.replace("0.1.0", version), encoding="utf-8")

    assert read_project(str(folder)) == Project("bird-songs", "Bird songs", version, id_of(folder))


@pytest.mark.parametrize("name", ["a", "bird2", "b" * 32, "a-b-c"])
def test_a_name_that_a_package_may_have_is_taken(name: str) -> None:
    assert f"src/{name.replace('-', '_')}/project.yaml" in draft_project(name)


@pytest.mark.parametrize(
    "name", ["", "A", "a_b", "-a", "a-", "a--b", "b" * 33, "a b", "ä", "json", "class", "specloom", "yaml", "mcp"]
)
def test_a_name_that_no_package_may_have_is_refused(name: str) -> None:
    with pytest.raises(ScaffoldError):
        draft_project(name)
