"""Files become specs by kind and name; later layers replace earlier ones, and what is no spec is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from specloom.core.diagnostics import Report
from specloom.specs.library import Library, load_library, parse_spec, spec_files

LENS = """\
spec: lens/1
name: nature
title: {title}
description: Sites about nature.
domains: [nature.example]
example: {{query: otters, makes: ["otters site:nature.example"]}}
"""


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def titles(library: Library) -> dict[str, str]:
    return {name: spec.source.text.split("title: ")[1].split("\n")[0] for name, spec in library.of("lens").items()}


def test_a_later_layer_replaces_what_has_the_same_kind_and_name(tmp_path: Path) -> None:
    write(tmp_path / "one", "lenses/nature.yaml", LENS.format(title="First"))
    write(tmp_path / "one", "lenses/other.yaml", LENS.format(title="Other").replace("name: nature", "name: other"))
    write(tmp_path / "two", "lenses/deep/nature.yaml", LENS.format(title="Second"))
    report = Report()

    library = load_library([tmp_path / "one", tmp_path / "two"], report)

    assert titles(library) == {"nature": "Second", "other": "Other"}
    assert list(report) == []


def test_a_broken_file_leaves_the_others(tmp_path: Path) -> None:
    write(tmp_path, "lenses/nature.yaml", LENS.format(title="Good"))
    write(tmp_path, "lenses/broken.yaml", "spec: lens/1\nname: [\n")
    write(tmp_path, "lenses/notes.txt", "not a spec")
    report = Report()

    library = load_library([tmp_path], report)

    assert titles(library) == {"nature": "Good"}
    assert [one.place.file for one in report] == ["lenses/broken.yaml"]


def test_a_layer_may_be_one_file(tmp_path: Path) -> None:
    path = write(tmp_path, "nature.yaml", LENS.format(title="Alone"))

    assert titles(load_library([path], Report())) == {"nature": "Alone"}


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    report = Report()

    load_library([tmp_path / "nowhere"], report)

    assert [one.hint for one in report] == ["see SPECLOOM_PATH"]


def test_a_file_is_shown_by_its_place_in_the_first_layer_and_by_its_whole_path_in_others(tmp_path: Path) -> None:
    for layer in ("shipped", "own"):
        write(tmp_path / layer, "lenses/nature.yaml", "spec: lens/1\n")
    report = Report()

    library = load_library([tmp_path / "shipped", tmp_path / "own"], report)

    own = (tmp_path / "own" / "lenses" / "nature.yaml").as_posix()
    assert list(library.sources) == ["lenses/nature.yaml", own]
    assert {one.place.file for one in report} == {"lenses/nature.yaml", own}


def test_only_the_folders_of_specs_are_read_and_in_order(tmp_path: Path) -> None:
    for name in ("tools.d/b/two.yaml", "tools.d/a/one.yaml", "providers.d/x.yaml", "elsewhere/y.yaml", "lenses/z.yml"):
        write(tmp_path, name, "")

    assert [path.relative_to(tmp_path).as_posix() for path in spec_files(tmp_path)] == [
        "providers.d/x.yaml",
        "tools.d/a/one.yaml",
        "tools.d/b/two.yaml",
    ]


@pytest.mark.parametrize(
    ("shown", "group"),
    [("tools.d/research/ask.yaml", "research"), ("tools.d/ask.yaml", ""), ("elsewhere/x/ask.yaml", "")],
)
def test_a_tool_belongs_to_the_toolset_of_its_folder(shown: str, group: str) -> None:
    text = (Path(__file__).parents[1] / "compiler" / "golden" / "base" / "tools.d" / "demo" / "ask.yaml").read_bytes()

    spec = parse_spec(shown, text, Report())

    assert spec is not None
    assert spec.group == group


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\nspec: lens/1\n", "the first key must be `spec`"),
        ("spec: lens\n", "'lens' is not a kind of spec"),
        ("spec: [lens/1]\n", "the first key"),
        ("{}", "the first key"),
    ],
)
def test_the_first_key_says_what_a_file_is(text: str, message: str) -> None:
    report = Report()

    assert parse_spec("lenses/x.yaml", text.encode(), report) is None
    assert [one.code for one in report] == ["E010"]
    assert report.found[0].message.startswith(message)


def test_two_layers_with_a_file_of_the_same_path_each_keep_their_text(tmp_path: Path) -> None:
    """A diagnostic shows the line of the file that it speaks of."""
    write(tmp_path / "one", "lenses/nature.yaml", "spec: lens/1\nname: nature\nfirst: x\n")
    write(tmp_path / "two", "lenses/nature.yaml", LENS.format(title="Second"))
    report = Report()

    library = load_library([tmp_path / "one", tmp_path / "two"], report)

    wrong = [one for one in report if one.code == "E101"]
    assert len(wrong) == 1
    assert "first: x" in library.sources[wrong[0].place.file]
