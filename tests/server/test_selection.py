"""Tools that exist under a condition, a switch or a provider: absent until it holds, in lists and in images."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specloom.model.model import Model
from specloom.model.tool import stages_of
from specloom.server.catalogue import Conditions, Selection, conditions, load_image, make_catalogue, save_image, select
from specloom.server.start import default_selection
from tests.support.demo_specs import TOOL, codes, weave_demo, write_demo
from tests.support.shipped import shipped_model

ALL = Selection(["all"])
KEYS = {"DEMO_URL": "http://127.0.0.1:9", "DEMO_KEY": "made-up"}
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
    assert save_image(make_catalogue(model, ALL, environ), environ, ALL, Conditions(["DEMO_OPEN"]))

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
        SWITCH.replace("false", "true"),
    ],
    ids=["no such setting", "no boolean", "on by default"],
)
def test_the_switch_has_to_be_a_boolean_setting_of_the_tool_that_is_off(tmp_path: Path, more: str) -> None:
    _, problems = woven(tmp_path, more)

    assert problems == ["E110"]


def test_a_tool_that_needs_a_provider_is_absent_until_one_is_configured(tmp_path: Path) -> None:
    model, problems = woven(tmp_path, "needs_provider: true\n")

    assert problems == []
    assert select(model, ALL, {}) == []
    assert select(model, ALL, {"DEMO_KEY": "made-up"}) == []
    assert select(model, ALL, KEYS) == ["demo_find"]
    assert select(model, ALL, {}, always_configured=True) == ["demo_find"], "a replay needs no keys"
    assert select(model, ALL) == ["demo_find"]


def test_a_tool_that_needs_none_is_there_without(tmp_path: Path) -> None:
    model, _ = woven(tmp_path, "")

    assert select(model, ALL, {}) == ["demo_find"]


def test_a_tool_that_is_named_and_has_no_provider_is_told_with_what_to_set(tmp_path: Path) -> None:
    model, _ = woven(tmp_path, "needs_provider: true\n")

    with pytest.raises(ValueError, match="'demo_find' is off; set DEMO_URL and DEMO_KEY"):
        select(model, Selection(tools=["demo_find"]), {})


def test_an_image_is_stale_when_a_key_came_or_went_and_holds_none(tmp_path: Path) -> None:
    model, _ = woven(tmp_path / "specs", "needs_provider: true\n")
    environ = {"SPECLOOM_CACHE_DIR": str(tmp_path / "cache"), "SPECLOOM_PATH": str(tmp_path / "specs"), **KEYS}
    assert save_image(make_catalogue(model, ALL, environ), environ, ALL, conditions(model))

    other = load_image({**environ, "DEMO_KEY": "another"}, ALL)
    gone = load_image({**environ, "DEMO_KEY": ""}, ALL)

    assert other is not None
    assert gone is None
    assert all(b"made-up" not in path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file())


def test_a_tool_whose_providers_all_want_a_key_is_absent_until_one_has_it() -> None:
    model = shipped_model()
    research = Selection(["research"])

    assert "answer" not in select(model, research, {})
    assert "answer" in select(model, research, {"EXA_API_KEY": "made-up"})
    assert "news_search" in select(model, research, {})


def test_an_input_that_names_a_provider_lists_those_that_are_configured() -> None:
    model = shipped_model()

    def listed(environ: dict[str, str]) -> object:
        tools = json.loads(make_catalogue(model, Selection(tools=["econ_search"]), environ).tools)
        return tools[0]["inputSchema"]["properties"]["provider"].get("enum")

    assert listed({}) == ["worldbank", "oecd", "eurostat"]
    assert "fred" in str(listed({"FRED_API_KEY": "made-up"}))
    assert "FRED_API_KEY" in conditions(model).given


TOOLSET = """\
spec: toolset/1
name: research
shared_by: DEMO_SHARED
instructions: [Finds pages.]
"""


def test_a_toolset_without_owners_is_left_out_for_several_tenants_until_they_share_it(tmp_path: Path) -> None:
    root = write_demo(tmp_path / "specs")
    (root / "tools.d" / "research.yaml").write_text(TOOLSET, encoding="utf-8")
    model, _, report = weave_demo(root)
    many = Selection(["all"], shared=True)

    assert codes(report) == []
    assert select(model, ALL, {}) == ["demo_find"], "one person's server"
    assert select(model, many, {}) == []
    assert select(model, many, {"DEMO_SHARED": "no"}) == []
    assert select(model, many, {"DEMO_SHARED": "true"}) == ["demo_find"]
    with pytest.raises(ValueError, match="'demo_find' is off; set DEMO_SHARED=true"):
        select(model, Selection(tools=["demo_find"], shared=True), {})


def test_images_for_one_person_and_for_several_tenants_are_apart_and_stale_when_sharing_changes(
    tmp_path: Path,
) -> None:
    root = write_demo(tmp_path / "specs")
    (root / "tools.d" / "research.yaml").write_text(TOOLSET, encoding="utf-8")
    model, _, _ = weave_demo(root)
    environ = {"SPECLOOM_CACHE_DIR": str(tmp_path / "cache"), "SPECLOOM_PATH": str(root)}
    many = Selection(["all"], shared=True)
    assert save_image(make_catalogue(model, many, environ), environ, many, conditions(model))

    assert load_image(environ, many) is not None
    assert load_image(environ, ALL) is None
    assert load_image({**environ, "DEMO_SHARED": "true"}, many) is None


def test_papers_are_served_to_several_tenants_only_where_they_share_them() -> None:
    model = shipped_model()

    def papers(environ: dict[str, str], *, shared: bool) -> int:
        selection = default_selection({"SPECLOOM_TOOLSETS": "all", **environ}, shared=shared)
        return sum("papers" in model.tools[name].toolsets for name in select(model, selection, environ))

    everything = papers({}, shared=False)
    assert everything > 20
    assert papers({}, shared=True) == 0
    assert papers({"SPECLOOM_PAPERS_SHARED": "true"}, shared=True) == everything


def test_a_tool_without_owners_is_left_out_for_several_tenants_beside_others_of_its_toolset(tmp_path: Path) -> None:
    model, problems = woven(tmp_path, "shared_by: DEMO_SHARED\n")
    many = Selection(["all"], shared=True)

    assert problems == []
    assert select(model, ALL, {}) == ["demo_find"], "one person's server"
    assert select(model, many, {}) == []
    assert select(model, many, {"DEMO_SHARED": "true"}) == ["demo_find"]
    assert "DEMO_SHARED" in conditions(model).switches
    with pytest.raises(ValueError, match="'demo_find' is off; set DEMO_SHARED=true"):
        select(model, Selection(tools=["demo_find"], shared=True), {})


OPEN = {"MEMORY_ENABLED": "true", "MONITORING_ENABLED": "true", "ZOTERO_WRITE": "true"}
OF_ONES_OWN = {
    "delete_research_session",
    "list_research_sessions",
    "memory_delete",
    "monitor_query_change",
    "monitor_query_digest",
    "monitor_query_list",
    "monitor_query_stop",
    "update_research_session",
}
"""The tools of the toolset `library` that reach nothing but what the calling user keeps."""
REACH_THE_STORE = {
    "export_references",
    "find_duplicates",
    "import_references",
    "list_labels",
    "merge_works",
    "remove_works",
    "rename_label",
    "write_notes",
}


def test_several_tenants_are_served_neither_the_store_of_papers_nor_a_zotero_library() -> None:
    model = shipped_model()

    def served(toolsets: str, *, shared: bool, **environ: str) -> set[str]:
        given = {"SPECLOOM_TOOLSETS": toolsets, **OPEN, "ZOTERO_API_KEY": "made-up", **environ}
        return set(select(model, default_selection(given, shared=shared), given))

    alone = served("library", shared=False)
    reaching = {
        tool.name
        for tool in model.tools.values()
        if any(name.startswith("zotero") for name in tool.capabilities)
        or any(one.hook in REACH_THE_STORE for one in (*tool.plan, *stages_of(tool.plan, tool.after)))
    }
    assert served("library", shared=True) == OF_ONES_OWN
    assert len(reaching) == len(alone - OF_ONES_OWN) == 14
    assert served("all", shared=True) & (reaching | (alone - OF_ONES_OWN)) == set()
    assert served("all", shared=True) >= OF_ONES_OWN
    assert served("library", shared=True, SPECLOOM_PAPERS_SHARED="true") == alone
    assert served("papers", shared=False) == {one.name for one in model.tools.values() if "papers" in one.toolsets}


def test_lists_for_several_tenants_name_the_program_of_one_person_only_where_it_is_set() -> None:
    model = shipped_model()
    key = {"ZOTERO_API_KEY": "made-up", "ZOTERO_LIBRARY": "users/0", "SPECLOOM_PAPERS_SHARED": "true"}
    named = {"ZOTERO_LOCAL_URL": "http://127.0.0.1:23119"}

    def listed(environ: dict[str, str], *, shared: bool) -> list[str]:
        catalogue = make_catalogue(model, Selection(tools=["zotero_search"], shared=shared), environ)
        names: list[str] = json.loads(catalogue.tools)[0]["inputSchema"]["properties"]["provider"]["enum"]
        return names

    assert listed(key, shared=False) == listed({**key, **named}, shared=True) == ["zotero_local", "zotero"]
    assert listed(key, shared=True) == ["zotero"]
    assert "ZOTERO_LOCAL_URL" in conditions(model).given
