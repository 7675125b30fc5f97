"""New tools, lenses, toolsets, collections and capabilities: each passes the check at once, or says what it lacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from specloom.authoring.check import judge, judge_one
from specloom.authoring.scaffold.common import ScaffoldError, folder_of
from specloom.authoring.scaffold.declarations import (
    draft_capability,
    draft_collection,
    draft_lens,
    draft_resource,
    draft_toolset,
)
from specloom.authoring.scaffold.provider import draft_provider
from specloom.authoring.scaffold.tool import draft_tool
from specloom.cli.main import main
from specloom.compiler.build import weave_from
from specloom.model.model import Model
from specloom.plugins.registry import PROCEDURES
from tests.support.shipped import shipped_model

BASE = Path(__file__).parents[2] / "compiler" / "golden" / "base"
TAXA = """\
spec: capability/1
name: taxa
title: Taxa
description: Names of species.
routing: {key: taxa, order: []}
arguments:
  query: {type: text, description: The name.}
  seen_since: {type: date, description: The first day.}
  groups: {type: list, description: Classes and families.}
  kind: {type: text, enum: [bird, fish], description: The kind.}
  box: {type: object, description: A rectangle on the map.}
row:
  name: {type: text, required: true, description: The name.}
  place: {type: object, description: Where it lives.}
"""
TAXON = """\
spec: provider/1
name: taxon
title: Taxon
service: {base: "https://taxon.example"}
operations:
  taxa:
    input: [query, seen_since, groups, kind]
    steps:
      - get: /
        query: {q: =args.query, s: =args.seen_since, g: =args.groups, k: =args.kind}
        json: {each: items, map: {name: {at: n, required: true}}}
examples:
  - name: one without a name is left out
    operation: taxa
    args: {query: x, seen_since: "2026-01-01", groups: [a], kind: bird}
    replies: {main: {json: {items: [{n: T}, {}]}}}
    expect:
      sent: {main: {get: "https://taxon.example/", query: {q: x, s: "2026-01-01", g: a, k: bird}}}
      rows: [{name: T}]
"""
BIRDS: dict[str, Any] = {
    "found": 2,
    "data": [
        {
            "birdId": 7,
            "commonName": "Barn owl",
            "seenAt": "2026-03-04T05:06:07Z",
            "where": {"lat": 1.5, "hide": {"lat": 2}},
            "link": "https://birds.example/7",
            "tags": ["night"],
            "rare": False,
            "2nd": 3,
            "rings": [{"no": 1}],
        },
        {"birdId": "x8", "commonName": "Dipper", "where": {"lat": 3}},
    ],
}


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """A layer of one's own with a further capability, and a provider of it."""
    for path, text in {"providers.d/capabilities/taxa.yaml": TAXA, "providers.d/taxon.yaml": TAXON}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def model(layer: Path) -> Model:
    found, _, report = weave_from([BASE, layer])
    assert not report.errors, list(report)
    return found


def said_of(layer: Path, kind: str, name: str, text: str, toolset: str = "") -> list[str]:
    """What the check says about a file, once it is in its folder."""
    path = layer / folder_of(kind, toolset) / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    found = judge([BASE, layer]).diagnostics
    return [f"{one.code} {one.message}" for one in found if one.place.file == path.as_posix()]


# --- tools ----------------------------------------------------------------------------------------------------------


def test_a_tool_over_one_capability_passes_at_once(model: Model, layer: Path) -> None:
    text = draft_tool(model, "page_find", "nature", ["find"], "")

    assert said_of(layer, "tool", "page_find", text, "nature") == []
    assert "first_of: {providers: =route.find, operation: find}" in text
    assert "query: {type: string, required: true, max_length: 500, description: What is asked.}" in text
    assert "- take: args.num_results" in text
    assert "trust: untrusted-external-content" in text


def test_a_tool_over_two_capabilities_asks_them_side_by_side_and_passes_at_once(model: Model, layer: Path) -> None:
    text = draft_tool(model, "both", "nature", ["find", "taxa"], "")

    # Who offers the second capability is in no order yet.
    (warning,) = said_of(layer, "tool", "both", text, "nature")
    assert warning.startswith("W311 nobody is in the order of 'taxa'")
    assert "find: {operation: find, providers: =route.find}" in text
    assert "each: parts.taxa.rows" in text
    assert 'failed: "=[parts.find.fault.message, parts.taxa.fault.message][?@]"' in text


def test_inputs_have_the_types_of_the_arguments_that_somebody_takes(model: Model) -> None:
    text = draft_tool(model, "taxon_find", "nature", ["taxa"], "")

    assert "seen_since: {type: string, format: date, description: The first day.}" in text
    assert "groups: {type: list, max_items: 20, description: Classes and families.}" in text
    assert "kind: {type: string, enum: [bird, fish], description: The kind.}" in text
    assert "box" not in text
    assert "place" not in text


def test_a_tool_that_runs_a_procedure_passes_at_once_and_needs_what_the_procedure_needs(
    model: Model, layer: Path
) -> None:
    text = draft_tool(model, "page_read", "nature", [], "read_page")

    assert said_of(layer, "tool", "page_read", text, "nature") == []
    assert (
        "procedure: {name: read_page, with: {url: =args.url, mode: =args.mode, max_length: =args.max_length, " in text
    )
    assert "max_length: {type: integer, required: true" in text
    assert "content: =result.content" in text
    assert "# also in the result, and not in this example: " in text


@pytest.mark.parametrize(
    ("name", "toolset", "capabilities", "procedure", "says"),
    [
        ("Ask", "nature", ["find"], "", "lower case, digits and underscores"),
        ("ask", "nature", ["find"], "", "there is a tool 'ask' already, in tools.d/demo/ask.yaml"),
        ("other", "", ["find"], "", "--toolset NAME, a new one or one that is there (demo)"),
        ("other", "No!", ["find"], "", "'No!' is not a name; use lower case, digits, hyphens"),
        ("other", "nature", ["fynd"], "", "there is no capability 'fynd'; did you mean \"find\"?"),
        ("other", "nature", [], "", "say which capability: --capability find or taxa"),
        ("other", "nature", ["find"], "read_page", "leave out --capability or --procedure"),
        ("other", "nature", [], "read_pag", "no procedure is called 'read_pag'; did you mean \"read_page\"?"),
        ("other", "nature", [], "check_recommendations", "needs 'recommendations', which no simple input can be"),
    ],
)
def test_a_tool_that_cannot_be_started_says_why(
    model: Model, name: str, toolset: str, capabilities: list[str], procedure: str, says: str
) -> None:
    with pytest.raises(ScaffoldError) as refused:
        draft_tool(model, name, toolset, capabilities, procedure)

    assert says in str(refused.value)


def test_a_capability_that_nobody_offers_wants_a_provider_first(layer: Path) -> None:
    (layer / "providers.d/taxon.yaml").unlink()
    model, _, _ = weave_from([BASE, layer])

    with pytest.raises(
        ScaffoldError, match=r"no provider offers 'taxa' yet.*specloom new provider NAME --capability taxa"
    ):
        draft_tool(model, "other", "nature", ["taxa"], "")


@pytest.fixture(scope="module")
def shipped() -> Model:
    return shipped_model()


def test_a_tool_over_what_is_kept_is_not_cached(shipped: Model) -> None:
    text = draft_tool(shipped, "recall", "nature", [], "recover_session")

    assert "cache:" not in text
    assert "read_only: false" in text


def test_every_capability_that_is_shipped_makes_a_tool(shipped: Model) -> None:
    for capability in shipped.capabilities:
        text = draft_tool(shipped, "a_new_one", "nature", [capability], "")

        assert list(judge_one("tools.d/nature/a_new_one.yaml", text.encode(), shipped)) == []


def test_every_procedure_that_is_shipped_makes_a_tool_or_a_sentence(shipped: Model) -> None:
    refused = []
    for procedure in PROCEDURES:
        try:
            text = draft_tool(shipped, "a_new_one", "nature", [], procedure)
        except ScaffoldError as error:
            refused.append(str(error))
            continue
        errors = [one for one in judge_one("tools.d/nature/a_new_one.yaml", text.encode(), shipped) if one.is_error]
        assert errors == [], procedure
    assert [one for one in refused if "which no simple input can be" not in one] == []
    assert len(refused) < 5


# --- the others -----------------------------------------------------------------------------------------------------


def test_a_lens_takes_hosts_and_addresses_and_passes_at_once(model: Model, layer: Path) -> None:
    text = draft_lens(model, "small-mammals", ["https://Otters.example/", "rivers.example/mammals", "otters.example"])

    assert said_of(layer, "lens", "small-mammals", text) == []
    assert "domains:\n- otters.example\n- rivers.example/mammals\n" in text


@pytest.mark.parametrize(
    ("name", "sites", "says"),
    [
        ("new", [], "say which sites: --domain HOST"),
        ("new", ["otters"], "'otters' is not a site"),
        ("new", ["otters.example?q=1"], "is not a site"),
        ("nature", ["otters.example"], "there is a lens 'nature' already"),
    ],
)
def test_a_lens_that_cannot_be_started_says_why(model: Model, name: str, sites: list[str], says: str) -> None:
    with pytest.raises(ScaffoldError, match=says):
        draft_lens(model, name, sites)


def test_a_toolset_speaks_of_each_of_its_tools_and_passes_at_once(model: Model, layer: Path) -> None:
    text = draft_toolset(model, "demo")

    assert said_of(layer, "toolset", "demo", text) == []
    assert "- 'Call {ask} for: Ask.'" in text


def test_a_toolset_wants_a_tool_first(model: Model) -> None:
    with pytest.raises(ScaffoldError, match="specloom new tool NAME --toolset nature"):
        draft_toolset(model, "nature")


def test_a_collection_that_is_there_is_copied_with_what_may_be_changed(shipped: Model, layer: Path) -> None:
    text = draft_collection(shipped, "sessions")

    assert said_of(layer, "collection", "sessions", text) == []
    assert "lifetime: 4h" in text
    assert "`lifetime`, `limits` and `config` are yours to change" in text


def test_a_further_collection_says_that_nothing_is_kept_in_it_yet(model: Model, layer: Path) -> None:
    text = draft_collection(model, "life_lists")

    assert said_of(layer, "collection", "life_lists", text) == ["W308 nothing is kept in 'life_lists'"]


def test_a_resource_reads_what_the_engine_knows_a_collection_or_a_procedure_and_passes_at_once(shipped: Model) -> None:
    drafts = {
        "of_the_engine": draft_resource(shipped, "of_the_engine", "", ""),
        "of-the-caller": draft_resource(shipped, "of-the-caller", "memories", ""),
        "of_a_session": draft_resource(shipped, "of_a_session", "", "recover_session"),
    }

    for name, text in drafts.items():
        assert list(judge_one(f"resources.d/{name}.yaml", text.encode(), shipped)) == [], text
    assert "uri: of-the-engine://all  # decide" in drafts["of_the_engine"]
    assert "source:\n  collection: memories\n" in drafts["of-the-caller"]
    assert "uri: of-a-session://{session_id}  # decide" in drafts["of_a_session"]


def test_every_procedure_that_is_shipped_makes_a_resource_or_a_sentence(shipped: Model) -> None:
    started, refused = [], []
    for procedure in PROCEDURES:
        try:
            text = draft_resource(shipped, "a_new_one", "", procedure)
        except ScaffoldError as error:
            refused.append(str(error))
            continue
        started.append(procedure)
        assert list(judge_one("resources.d/a_new_one.yaml", text.encode(), shipped)) == [], procedure
    assert len(started) > 5
    assert [one for one in refused if "which is no text and so no part of an address" not in one] == []


@pytest.mark.parametrize(
    ("name", "collection", "procedure", "says"),
    [
        ("lenses", "", "", "there is a resource 'lenses' already"),
        ("new", "memorie", "", "there is no collection 'memorie'; did you mean \"memories\"?"),
        ("new", "", "read_pag", "no procedure is called 'read_pag'; did you mean \"read_page\"?"),
        ("new", "memories", "read_page", "leave out --collection or --procedure"),
    ],
)
def test_a_resource_that_cannot_be_started_says_why(
    shipped: Model, name: str, collection: str, procedure: str, says: str
) -> None:
    with pytest.raises(ScaffoldError) as refused:
        draft_resource(shipped, name, collection, procedure)

    assert says in str(refused.value)


def test_a_capability_has_the_fields_of_a_sample_and_passes_at_once(model: Model, layer: Path) -> None:
    text = draft_capability(model, "birds", json.dumps(BIRDS).encode())

    assert said_of(layer, "capability", "birds", text) == []
    rows = [line.strip() for line in text.partition("row:")[2].splitlines()[1:]]
    assert rows == [
        "bird_id: {type: text, description: Its bird id.}  # 7",
        "common_name: {type: text, required: true, description: Its common name.}  # Barn owl",
        "seen_at: {type: timestamp, description: Its seen at.}  # 2026-03-04T05:06:07Z",
        "lat: {type: number, description: Its lat.}  # 1.5",
        "hide_lat: {type: integer, description: Its hide lat.}  # 2",
        "link: {type: url, description: Its link.}  # https://birds.example/7",
        'tags: {type: list, description: Its tags.}  # ["night"]',
        "rare: {type: boolean, description: Its rare.}  # false",
        "nd: {type: integer, description: Its nd.}  # 3",
    ]


def test_a_capability_of_a_hostile_sample_has_its_fields_and_nothing_else(model: Model, layer: Path) -> None:
    sample = [{"null": "1\n  - a: {{ b }} {% c %}", "x: y # {{": "\"'\u2028\x85z: {", "title": "#\r\nowner: me"}]

    text = draft_capability(model, "birds", json.dumps(sample).encode())

    row = yaml.safe_load(text)["row"]
    assert {name: field["type"] for name, field in row.items()} == {"null": "text", "y": "text", "title": "text"}
    assert said_of(layer, "capability", "birds", text) == []


def test_a_capability_and_a_provider_of_it_come_from_one_sample(model: Model, layer: Path) -> None:
    sample = json.dumps(BIRDS).encode()
    assert said_of(layer, "capability", "birds", draft_capability(model, "birds", sample)) == []
    model, _, _ = weave_from([BASE, layer])

    text = draft_provider(model, "beta", "birds", sample, "https://birds.example/find?q=owl&limit=5")

    assert said_of(layer, "provider", "beta", text) == []


def test_a_capability_without_a_sample_passes_at_once(model: Model, layer: Path) -> None:
    assert said_of(layer, "capability", "birds", draft_capability(model, "birds", None)) == []


@pytest.mark.parametrize("sample", [b"", b"[]", b"{}", b"7", b"<a/>"])
def test_a_sample_without_fields_makes_no_capability(model: Model, sample: bytes) -> None:
    with pytest.raises(ScaffoldError, match="sample"):
        draft_capability(model, "birds", sample)


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_catalogue")
def test_each_kind_is_written_where_it_is_read(
    layer: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("SPECLOOM_PATH", str(layer))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    started = (
        ("new tool taxon_find --toolset taxa-tools --capability taxa", "tools.d/taxa-tools/taxon_find.yaml"),
        ("new toolset taxa-tools", "tools.d/taxa-tools.yaml"),
        ("new lens small-taxa --domain otters.example", "lenses/small-taxa.yaml"),
        ("new collection sessions", "collections.d/sessions.yaml"),
        ("new capability owls", "providers.d/capabilities/owls.yaml"),
        ("new resource owl-list --collection sessions", "resources.d/owl-list.yaml"),
    )

    for words, path in started:
        code = main(words.split())
        said = capsys.readouterr()
        assert (code, said.out) == (0, f"{layer / path}\n")
        assert "next: " in said.err
        assert "error[" not in said.err
    code = main(["check", "--json", "--no-cache"])
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    # The capability came without an order.
    assert [one["code"] for one in found if str(layer) in one["file"]] == ["W311"]


@pytest.mark.usefixtures("small_catalogue")
def test_the_first_spec_makes_the_folder_that_is_named_for_specs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("SPECLOOM_PATH", str(tmp_path / "mine"))
    monkeypatch.chdir(tmp_path)

    assert main(["new", "lens", "small-taxa", "--domain", "otters.example"]) == 0
    said = capsys.readouterr()

    assert said.out == f"{tmp_path}/mine/lenses/small-taxa.yaml\n"
    assert said.err.startswith("next: ")


def test_an_option_of_another_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "lens", "birds", "--capability", "web"]) == 2
    assert "usage: specloom new lens" in capsys.readouterr().err
