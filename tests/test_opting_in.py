"""Tools that are opted in by a switch: absent until it is on, in lists, in images, and where the spec is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from demo_specs import TOOL, codes, weave_demo, write_demo
from specloom.image import Selection, load_image, make_catalogue, save_image, select
from specloom.model import Model

ALL = Selection(["all"])
SWITCH = 'config: {DEMO_OPEN: {type: boolean, default: false, description: "Whether it is open."}}\nopt_in: DEMO_OPEN\n'


def woven(root: Path, more: str = SWITCH) -> tuple[Model, list[str]]:
    text = "title: Find demo pages\n"
    model, _, report = weave_demo(write_demo(root, {TOOL: [(text, f"{more}{text}")]}))
    return model, codes(report)


def test_a_tool_is_absent_until_its_switch_is_on(tmp_path: Path) -> None:
    model, problems = woven(tmp_path)

    assert problems == []
    assert select(model, ALL, {}) == []
    assert select(model, ALL, {"DEMO_OPEN": "perhaps"}) == []
    assert select(model, ALL, {"DEMO_OPEN": "false"}) == []
    assert select(model, ALL, {"DEMO_OPEN": "yes"}) == ["demo_find"]
    assert select(model, ALL) == ["demo_find"], "without an environment the catalogue is that of the specs"


def test_a_tool_that_is_named_and_off_is_told_with_its_switch(tmp_path: Path) -> None:
    model, _ = woven(tmp_path)

    with pytest.raises(ValueError, match="'demo_find' is off; set DEMO_OPEN=true"):
        select(model, Selection(tools=["demo_find"]), {})


def test_an_image_is_stale_when_a_switch_changed(tmp_path: Path) -> None:
    model, _ = woven(tmp_path / "specs")
    environ = {"SPECLOOM_CACHE_DIR": str(tmp_path / "cache"), "SPECLOOM_PATH": str(tmp_path / "specs")}
    assert save_image(make_catalogue(model, ALL, environ), environ, ALL, ["DEMO_OPEN"])

    same = load_image(environ, ALL)
    switched = load_image({**environ, "DEMO_OPEN": "true"}, ALL)

    assert same is not None
    assert json.loads(same.tools) == []
    assert switched is None


@pytest.mark.parametrize(
    "more",
    [
        "opt_in: DEMO_OPEN\n",
        'config: {DEMO_OPEN: {type: integer, default: 0, description: "How many."}}\nopt_in: DEMO_OPEN\n',
    ],
    ids=["no such setting", "no boolean"],
)
def test_the_switch_has_to_be_a_boolean_setting_of_the_tool(tmp_path: Path, more: str) -> None:
    _, problems = woven(tmp_path, more)

    assert problems == ["E110"]
