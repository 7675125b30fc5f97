"""The image answers for the specs as long as nothing changed, runs no code, and its loss only costs time."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from specloom.compiler.build import weave_from
from specloom.core import paths
from specloom.model.model import Model
from specloom.server import catalogue as image
from specloom.server.catalogue import Selection, fingerprint, image_path, load_image, make_catalogue, save_image, select
from specloom.server.protocol import Catalogue
from tests.support.demo_specs import LENS, TEXTS, TOOL, write_demo

SECOND = TEXTS[TOOL].replace("demo_find", "demo_other").replace("toolsets: [core]", "toolsets: [extra]")
ALL = Selection(["all"])


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Demo specs with a second tool in another folder; the shipped specs are out of the way."""
    (tmp_path / "shipped").mkdir()
    monkeypatch.setattr(image, "shipped_folder", lambda: str(tmp_path / "shipped"))
    monkeypatch.setattr(paths, "shipped_folder", lambda: str(tmp_path / "shipped"))
    root = write_demo(tmp_path / "specs")
    (root / "tools.d" / "annex").mkdir()
    (root / "tools.d" / "annex" / "demo_other.yaml").write_text(SECOND, encoding="utf-8")
    return root


@pytest.fixture
def environ(specs: Path, tmp_path: Path) -> dict[str, str]:
    return {"SPECLOOM_PATH": str(specs), "SPECLOOM_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture
def model(specs: Path) -> Model:
    found, _, report = weave_from([specs])
    assert not report.errors
    return found


@pytest.fixture
def saved(model: Model, environ: dict[str, str]) -> Catalogue:
    catalogue = make_catalogue(model, ALL)
    assert save_image(catalogue, environ, ALL)
    return catalogue


def content(catalogue: Catalogue) -> dict[str, object]:
    return vars(catalogue)


def test_what_is_loaded_is_what_was_saved(saved: Catalogue, environ: dict[str, str]) -> None:
    found = load_image(environ, ALL)

    assert found is not None
    assert content(found) == content(saved)
    assert found.tool_names == {"demo_find", "demo_other"}


def test_an_image_is_json_and_no_code(saved: Catalogue, environ: dict[str, str]) -> None:
    said = json.loads(Path(image_path(environ, ALL)).read_text(encoding="utf-8"))

    assert {tool["name"] for tool in json.loads(said["tools"])} == {"demo_find", "demo_other"}


def _edit(root: Path) -> None:
    file = root / TOOL
    file.write_text(file.read_text(encoding="utf-8").replace("Find pages for tests.", "Find pages."), encoding="utf-8")


def _touch(root: Path) -> None:
    stat = (root / TOOL).stat()
    os.utime(root / TOOL, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))


def _add(root: Path) -> None:
    (root / "lenses" / "new.yaml").write_text(TEXTS[LENS].replace("demo_field", "new"), encoding="utf-8")


def _rename(root: Path) -> None:
    (root / TOOL).rename(root / "tools.d" / "annex" / "demo_find.yaml")


def _remove(root: Path) -> None:
    (root / TOOL).unlink()


@pytest.mark.parametrize("change", [_edit, _touch, _add, _rename, _remove])
def test_an_image_is_stale_after_any_change_of_a_spec(
    saved: Catalogue, environ: dict[str, str], specs: Path, change
) -> None:
    change(specs)

    assert load_image(environ, ALL) is None


@pytest.mark.parametrize("name", ["core/paths.py", "core/environment.yaml", "storage/schema.sql", "domains/quiet.js"])
def test_an_image_is_stale_after_a_change_of_the_engine(
    model: Model, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    engine = tmp_path / "engine"
    monkeypatch.setattr(image, "__file__", str(engine / "server" / "catalogue.py"))
    file = engine / name
    file.parent.mkdir(parents=True)
    file.write_text("before", encoding="utf-8")
    (engine / "notes.md").write_text("before", encoding="utf-8")
    assert save_image(make_catalogue(model, ALL), environ, ALL)

    (engine / "notes.md").write_text("and after", encoding="utf-8")
    assert load_image(environ, ALL) is not None

    file.write_text("and after", encoding="utf-8")
    assert load_image(environ, ALL) is None


def test_specs_inside_of_the_package_are_noticed_once(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "engine" / "shipped"
    write_demo(shipped)
    monkeypatch.setattr(image, "__file__", str(tmp_path / "engine" / "server" / "catalogue.py"))
    monkeypatch.setattr(image, "shipped_folder", lambda: str(shipped))
    monkeypatch.setattr(paths, "shipped_folder", lambda: str(shipped))

    lines = fingerprint(environ, ALL).splitlines()

    assert sum(str(shipped / TOOL) in line for line in lines) == 1


def test_files_that_are_not_specs_change_nothing(saved: Catalogue, environ: dict[str, str], specs: Path) -> None:
    (specs / "tools.d" / "notes.txt").write_text("x", encoding="utf-8")
    (specs / "README.md").write_text("x", encoding="utf-8")

    assert load_image(environ, ALL) is not None


def test_an_image_is_stale_with_another_version_or_another_layer(
    saved: Catalogue, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "more").mkdir()
    layered = {**environ, "SPECLOOM_PATH": f"{environ['SPECLOOM_PATH']}{os.pathsep}{tmp_path / 'more'}"}
    other = load_image(layered, ALL)
    monkeypatch.setattr(image, "__version__", "99")

    assert other is None
    assert load_image(environ, ALL) is None


def test_each_selection_has_an_image_of_its_own(saved: Catalogue, environ: dict[str, str]) -> None:
    selections = [
        ALL,
        Selection(["core"]),
        Selection(tools=["demo_find"]),
        Selection(exclude=["demo_find"]),
        Selection(output_schemas="none"),
        Selection(),
    ]

    assert len({image_path(environ, one) for one in selections}) == len(selections)
    assert len({fingerprint(environ, one) for one in selections}) == len(selections)
    assert load_image(environ, Selection(["core"])) is None


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"null", b"[]", b"{}", b"\x80\x04\x95", b"\xff\xfe", b'{"fingerprint": 1}', b"[" * 100_000],
    ids=["empty", "cut", "null", "list", "nothing in it", "a pickle", "no text", "one key", "deep"],
)
def test_a_damaged_image_is_ignored(saved: Catalogue, environ: dict[str, str], damage: bytes) -> None:
    Path(image_path(environ, ALL)).write_bytes(damage)

    assert load_image(environ, ALL) is None


@pytest.mark.parametrize("key", ["tools", "tool_names", "resources", "prompts"])
@pytest.mark.parametrize("value", [None, 3, {"a": 1}])
def test_an_image_with_a_wrong_part_is_ignored(
    saved: Catalogue, environ: dict[str, str], key: str, value: object
) -> None:
    file = Path(image_path(environ, ALL))
    said = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**said, key: value}), encoding="utf-8")

    found = load_image(environ, ALL)

    assert found is None or (key == "tool_names" and found.tool_names == {"a"})


def test_an_image_that_is_cut_short_anywhere_is_ignored(saved: Catalogue, environ: dict[str, str]) -> None:
    file = Path(image_path(environ, ALL))
    whole = file.read_bytes()
    for length in range(0, len(whole) - 1, max(1, len(whole) // 50)):
        file.write_bytes(whole[:length])

        assert load_image(environ, ALL) is None


def test_a_folder_that_cannot_be_written_costs_the_image_and_nothing_else(
    model: Model, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "a file").write_text("", encoding="utf-8")
    blocked = {**environ, "SPECLOOM_CACHE_DIR": str(tmp_path / "a file" / "cache")}

    saved = save_image(make_catalogue(model, ALL), blocked, ALL)

    assert saved is False
    assert load_image(blocked, ALL) is None


def test_writing_an_image_leaves_nothing_else_behind(saved: Catalogue, environ: dict[str, str]) -> None:
    folder = Path(environ["SPECLOOM_CACHE_DIR"])

    assert [file.name for file in folder.iterdir()] == [Path(image_path(environ, ALL)).name]


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        (Selection(), ["demo_find"]),
        (Selection(["all"]), ["demo_find", "demo_other"]),
        (Selection(["core"]), ["demo_find"]),
        (Selection(["extra"]), ["demo_other"]),
        (Selection(["annex"]), ["demo_other"]),
        (Selection(["core", "extra"]), ["demo_find", "demo_other"]),
        (Selection(tools=["demo_other"]), ["demo_other"]),
        (Selection(["core"], ["demo_other"]), ["demo_find", "demo_other"]),
        (Selection(["all"], exclude=["demo_find"]), ["demo_other"]),
        (Selection(tools=["demo_find"], exclude=["demo_find"]), []),
    ],
)
def test_tools_are_selected_by_toolset_and_by_name(model: Model, selection: Selection, names: list[str]) -> None:
    assert select(model, selection) == names


@pytest.mark.parametrize(
    ("selection", "sentence"),
    [
        (Selection(["cora"]), "there is no toolset 'cora'; did you mean \"core\"?"),
        (Selection(tools=["demo_fnd"]), "there is no tool 'demo_fnd'; did you mean \"demo_find\"?"),
        (Selection(exclude=["zzz"]), "there is no tool 'zzz'; known: demo_find, demo_other"),
    ],
)
def test_what_does_not_exist_is_named_with_what_does(model: Model, selection: Selection, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        select(model, selection)

    assert str(caught.value) == sentence


def test_the_order_of_words_does_not_make_another_selection() -> None:
    assert Selection(["b", "a", "a"]).key() == Selection(["a", "b"]).key()


def test_a_listed_tool_has_what_the_protocol_wants(model: Model) -> None:
    for tool in json.loads(make_catalogue(model, ALL).tools):
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
        assert set(tool["annotations"]) == {
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        }
        assert tool["description"]
