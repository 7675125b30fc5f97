"""Examples that begin with files: where they are, what stands for their folder, and that nothing of them stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from specloom.authoring.examples.context import placed
from tests.support.spec_library import weave_texts

SAID = {"args": {"path": "{folder}/a.txt", "more": ["{folder}"], "limit": 3}, "config": {"ROOT": "{folder}/deep"}}


def test_files_are_there_for_the_example_and_gone_after_it() -> None:
    with placed({**SAID, "files": {"a.txt": "otters", "deep/b.txt": ""}}) as (said, _):
        path = Path(said["args"]["path"])
        assert path.read_text("utf-8") == "otters"
        assert Path(said["config"]["ROOT"], "b.txt").is_file()
        assert said["args"]["limit"] == 3

    assert not path.parent.exists()


def test_many_files_have_a_number_each() -> None:
    with placed({**SAID, "files": {"{number}.txt": {"times": 3, "of": "otter {number}"}}}) as (said, _):
        found = {one.name: one.read_text("utf-8") for one in Path(said["args"]["path"]).parent.iterdir()}

    assert found == {"0.txt": "otter 0", "1.txt": "otter 1", "2.txt": "otter 2"}


def test_an_example_without_files_is_left_as_it_is() -> None:
    with placed(SAID) as (said, folder):
        assert said is SAID
        assert folder == ""


@pytest.mark.parametrize("path", ["../a.txt", "a/../../b", "/etc/a", "a//b", "a\\\\b", "~/a", ""])
def test_a_path_that_could_leave_the_folder_is_no_path(path: str) -> None:
    text = (Path(__file__).parents[2] / "compiler" / "golden" / "base" / "tools.d" / "demo" / "ask.yaml").read_text(
        "utf-8"
    )
    broken = f'{text}\n  - name: files\n    args: {{query: x}}\n    files: {{"{path}": x}}\n    expect: {{count: 0}}\n'

    assert "E104" in weave_texts(broken).codes
