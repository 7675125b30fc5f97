"""What goes wrong when specs are kept over time, between files: told where it is, once, and with what to do."""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
from pathlib import Path

import pytest

from specloom.authoring.check import find_verdict, judge
from specloom.authoring.examples.compare import differing_row
from specloom.core.diagnostics import render
from specloom.plugins.registry import PROCEDURES, load_hooks
from tests.authoring.test_check import TOOL, said
from tests.authoring.test_check import lay as lay_lights

TOOLSET = """\
spec: toolset/1
name: coast
instructions:
  - Lighthouses, and what was written about them.
  - Call {find_lights} first, then {read_light}.
"""
READ = """\
spec: tool/1
name: read_light
title: Read about a lighthouse
description: Reads a page about a lighthouse.
annotations: {read_only: true, destructive: false, idempotent: true, open_world: true}
input:
  url: {type: string, required: true, max_length: 500, description: Its address.}
plan:
  - name: read it
    procedure: {name: read_page, with: {url: =args.url, max_length: 2000, mode: full}}
answer: {url: =result.url}
examples:
  - name: a page that is not there
    args: {url: "https://lights.example/7"}
    expect: {error: network}
  - name: a page that is there
    args: {url: "https://lights.example/7"}
    pages: {"https://lights.example/7": {text: "<html><title>Seven</title><body><p>It blinks.</p></body></html>"}}
    expect: {answer: {url: "https://lights.example/7"}}
  - name: an address that is as long as it may be
    args: {url: "https://lights.example/7"}
    accept: [{url: {characters: 500}}]
"""
TABLE = """\
spec: provider/1
name: almanac
title: Almanac
service: {base: "https://almanac.example"}
operations:
  lights:
    input: [query]
    steps:
      - get: /list.csv
        query: {q: =args.query}
        csv:
          header: true
          map:
            name: {at: '"Name of light"', required: true}
examples:
  - name: a light without a name is left out
    operation: lights
    args: {query: x}
    replies: {main: {text: "Name of light,No\\nWolf Rock,1\\n,2\\n"}}
    expect: {sent: {main: {get: "https://almanac.example/list.csv", query: {q: x}}}, rows: [{name: Wolf Rock}]}
"""
FILES = {
    "coast": ("tools.d/coast.yaml", TOOLSET),
    "find": ("tools.d/coast/find_lights.yaml", TOOL),
    "read": ("tools.d/coast/read_light.yaml", READ),
    "almanac": ("providers.d/almanac.yaml", TABLE),
}


def lay(root: Path) -> Path:
    """The house of the slips with its tool in a toolset of its own, a tool that runs a procedure, and a CSV."""
    lay_lights(root)
    for path in root.glob("tools.d/*/find_lights.yaml"):
        path.unlink()
    for path, text in FILES.values():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def test_the_house_is_right(tmp_path: Path) -> None:
    assert said(judge([lay(tmp_path)])) == []


@pytest.mark.parametrize(
    ("which", "old", "new", "told"),
    [
        ("read", ", max_length: 2000", "", "E102 read_light:10:23 procedure 'read_page' needs the parameter 'max"),
        ("read", "2000", '"2000"', "E204 read_light:10:69 the parameter 'max_length' of 'read_page' is a number, and"),
        ("read", "=args.url, ", "=length(args.url), ", "E204 read_light:10:46 the parameter 'url' of 'read_page' is t"),
        ("find", "first_of", "fisrt_of", "E101 find_lights:13:5 a strategy has no key 'fisrt_of'"),
        ("find", "title: ", "titel: ", "E101 find_lights:3:1 a tool has no key 'titel'"),
        ("read", "read_light", "read_lights", "E009 read_light:2:7 the file is called 'read_light'"),
        ("coast", "name: coast", "name: coats", "E009 coast:2:7 the file is called 'coast' and its name is 'coats'"),
        ("coast", "{read_light}", "{read_lihgt}", "E202 coast:5:5 there is no tool 'read_lihgt' in the tool"),
        ("almanac", "'\"Name of light\"'", "Name of light", "E201 almanac:14:29 'of' does not belong here (a name"),
        ("almanac", "title: ", "title:", "E001 almanac:4:1 not valid YAML: could not find expected ':'"),
        ("almanac", "[query]", "[query, region]", "W307 almanac:7:20 operation 'lights' takes 'region' but"),
    ],
)  # fmt: skip
def test_one_mistake_is_told_once_and_nothing_that_follows_from_it(
    which: str, old: str, new: str, told: str, tmp_path: Path
) -> None:
    path = lay(tmp_path) / FILES[which][0]
    text = path.read_text(encoding="utf-8")
    assert old in text

    path.write_text(text.replace(old, new, 1), encoding="utf-8")

    (found,) = said(judge([tmp_path]))
    assert found.startswith(told)


def test_a_field_that_an_example_leaves_out_is_told_as_that() -> None:
    had = {"lights": [{"name": "Wolf Rock", "height": 41}]}

    assert list(differing_row(had, {"lights": [{"name": "Wolf Rock"}]})) == [
        "has lights[0].height = 41, which the example does not have"
    ]
    assert list(differing_row(had, {"lights": [{"name": "Wolf Rock", "height": 4}]})) == [
        "has lights[0].height = 41, not 4"
    ]


def test_what_a_procedure_needs_may_not_be_null(tmp_path: Path) -> None:
    path = lay(tmp_path) / FILES["read"][0]
    most = "  most: {type: integer, minimum: 1, description: Bytes at most.}\nplan:"
    path.write_text(READ.replace("plan:", most).replace("2000", "=args.most"), encoding="utf-8")

    (found,) = said(judge([tmp_path]))

    assert found.startswith(
        "E204 read_light:11:69 the parameter 'max_length' of 'read_page' is needed, and this may be"
    )


def test_a_toolset_without_tools_is_told_once(tmp_path: Path) -> None:
    lay(tmp_path)
    (tmp_path / "tools.d/coast").rename(tmp_path / "tools.d/shore")

    assert said(judge([tmp_path])) == ["E202 coast:2:7 no tool is in the toolset 'coast' (known: shore)"]


def test_a_tool_outside_of_a_toolset_is_served_to_nobody(tmp_path: Path) -> None:
    lay(tmp_path)
    (tmp_path / "tools.d/coast.yaml").unlink()
    (tmp_path / "tools.d/coast/read_light.yaml").rename(tmp_path / "tools.d/read_light.yaml")

    (found,) = said(judge([tmp_path]))

    assert found.startswith("W001 read_light:2:7 this tool is in no toolset, so no client is served it (move it to")


def test_a_spec_in_the_folder_of_another_kind_is_told(tmp_path: Path) -> None:
    lay(tmp_path)
    (tmp_path / "providers.d/almanac.yaml").rename(tmp_path / "tools.d/almanac.yaml")

    (found,) = said(judge([tmp_path]))

    assert found.startswith("W001 almanac:2:7 a provider lies in providers.d/, and may be missed elsewhere")


def test_a_file_that_is_checked_alone_may_lie_anywhere(tmp_path: Path) -> None:
    alone = tmp_path / "read_light.yaml"
    alone.write_text(READ, encoding="utf-8")

    assert said(judge([alone])) == []


def test_a_file_that_is_written_anew_with_the_same_text_is_no_change(tmp_path: Path) -> None:
    root, environ = lay(tmp_path / "specs"), {"SPECLOOM_CACHE_DIR": str(tmp_path / "cache")}
    find_verdict([root], environ)

    os.utime(root / "providers.d/almanac.yaml", (1, 1))
    same = find_verdict([root], environ)
    (root / "providers.d/almanac.yaml").unlink()
    other = find_verdict([root], environ)

    assert (same.remembered, other.remembered) == (True, False)


def test_a_problem_that_is_remembered_is_shown_as_it_was(tmp_path: Path) -> None:
    root, environ = lay(tmp_path / "specs"), {"SPECLOOM_CACHE_DIR": str(tmp_path / "cache")}
    path = root / "providers.d/almanac.yaml"
    path.write_bytes(b"\xef\xbb\xbfspec: provider/2\n" + path.read_bytes())

    shown = [
        [render(one, verdict.sources) for one in verdict.diagnostics]
        for verdict in (find_verdict([root], environ) for _ in range(2))
    ]

    assert shown[0] == shown[1] != []


def test_a_procedure_names_every_parameter_that_it_takes_for_granted() -> None:
    load_hooks()

    for one in PROCEDURES.values():
        (function,) = ast.parse(textwrap.dedent(inspect.getsource(one.function))).body
        assert isinstance(function, ast.AsyncFunctionDef)
        given = function.args.args[1].arg
        taken = {
            node.slice.value
            for node in ast.walk(function)
            if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id == given
            and isinstance(node.slice, ast.Constant)
        }
        assert taken <= set(one.needs) <= set(one.parameters), one.name
