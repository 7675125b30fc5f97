"""What fills a view is of the types of its slots and no more, and no text of it gets out of its document."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from specloom.compiler.build import weave_from
from specloom.core import ViewSlot
from specloom.model import Model
from specloom.runtime import fill_view, parse_arguments, script_json, view_document
from specloom.runtime.view import MOST_ROWS, show_answer
from tests.support.shipped import shipped_model
from tests.support.viewed import VIEW, draw, kept_answers, write_viewed

POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')
ANSWER = {
    "count": 2,
    "field": "",
    "pages": [
        {"title": "A", "url": "https://example.org/a", "rank": 1},
        {"title": "B", "url": "javascript:alert(1)", "rank": 2.5},
    ],
}


def fill(root: Path, answer: dict[str, Any], view: str = VIEW) -> dict[str, Any]:
    model, _, report = weave_from([write_viewed(root, view)])
    assert report.errors == []
    tool = model.tools["demo_find"]
    return fill_view(tool, model, parse_arguments(tool, {"query": "otters"}), answer)


def test_slots_get_what_they_are_bound_to_and_nothing_else(tmp_path: Path) -> None:
    filled = fill(tmp_path, ANSWER)

    assert filled == {
        "template": "tiles",
        "title": "Find demo pages",
        "slots": {
            "title": "otters",
            "count": 2,
            "tiles": [{"label": "A", "url": "https://example.org/a", "weight": 1}, {"label": "B", "weight": 2.5}],
        },
    }


def test_what_has_to_be_known_before_an_answer_goes_with_it(tmp_path: Path) -> None:
    filled = fill(tmp_path, {**ANSWER, "notices": ["Another answered."], "trust": "untrusted-external-content"})

    assert (filled["notices"], filled["trust"]) == (["Another answered."], "untrusted-external-content")


@pytest.mark.parametrize(
    "page",
    [
        {"url": "https://example.org/", "rank": 1},
        {"title": None, "url": "https://example.org/"},
        {"title": {"a": 1}, "url": "https://example.org/"},
    ],
)
def test_a_row_without_what_it_needs_is_left_out(tmp_path: Path, page: dict[str, Any]) -> None:
    assert fill(tmp_path, {**ANSWER, "pages": [page]})["slots"]["tiles"] == []


@pytest.mark.parametrize("rank", ["1", True, float("nan"), float("inf"), None, [1]])
def test_what_is_no_number_is_none(tmp_path: Path, rank: Any) -> None:
    page = {"title": "A", "url": "https://example.org/", "rank": rank}

    assert fill(tmp_path, {**ANSWER, "pages": [page]})["slots"]["tiles"] == [
        {"label": "A", "url": "https://example.org/"}
    ]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//example.org", "file:///etc/passwd", "https://", "x", "", 7]
)
def test_only_web_addresses_are_addresses(tmp_path: Path, url: Any) -> None:
    tiles = fill(tmp_path, {**ANSWER, "pages": [{"title": "A", "url": url}]})["slots"]["tiles"]

    assert tiles == [{"label": "A"}]


def test_rows_have_a_bound(tmp_path: Path) -> None:
    pages = [{"title": "A", "url": "https://example.org/a"}] * (MOST_ROWS + 5)

    assert len(fill(tmp_path, {**ANSWER, "pages": pages})["slots"]["tiles"]) == MOST_ROWS


def test_groups_of_rows_follow_each_other_where_they_hold(tmp_path: Path) -> None:
    group = "{each: answer.pages, map: {label: title}}"
    never = "{each: answer.pages, when: args.query == 'minks', map: {label: url}}"
    third = "{each: 'answer.pages[:1]', when: \"args.query == 'otters'\", map: {label: =args.query}}"
    view = VIEW.replace(
        "{each: answer.pages, map: {label: title, url: url, weight: rank}}", f"[{group}, {never}, {third}]"
    )

    tiles = fill(tmp_path, ANSWER, view)["slots"]["tiles"]

    assert [one["label"] for one in tiles] == ["A", "B", "otters"]


def test_a_view_that_cannot_be_worked_out_loses_no_answer(tmp_path: Path) -> None:
    view = VIEW.replace("title: =args.query", "title: \"=join(', ', answer.pages[*].title)\"", 1)
    model, _, report = weave_from([write_viewed(tmp_path, view)])
    assert report.errors == []
    tool = model.tools["demo_find"]
    arguments = parse_arguments(tool, {"query": "otters"})

    assert show_answer(tool, model, arguments, ANSWER) is not None
    assert show_answer(tool, model, arguments, {**ANSWER, "pages": [{"title": 7}]}) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_data_in_a_document_closes_nothing_and_reads_as_it_was(value: Any) -> None:
    text = script_json(value)

    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == value


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--<script>", "]]>", "\ud800"])
def test_no_text_ends_the_data(text: str) -> None:
    template = shipped_model().views["graph"]
    document = view_document(template, {"template": "graph", "title": text, "slots": {"title": text}})

    assert document.count("</script>") == document.count("<script")
    assert "alert(1)</script>" not in document
    document.encode()


def shown() -> list[str]:
    return sorted(kept_answers())


@pytest.mark.parametrize("name", shown())
def test_kept_answers_fit_what_their_tools_publish(name: str) -> None:
    kept = kept_answers()[name]
    tool = shipped_model().tools[kept["tool"]]

    Draft7Validator(tool.output_schema).validate(kept["answer"])


@pytest.mark.parametrize("name", shown())
def test_a_document_that_stands_alone_allows_its_own_scripts_and_nothing_else(name: str) -> None:
    document = draw(shipped_model(), kept_answers()[name])
    policy = POLICY.search(document)
    scripts = re.findall(r"<script>(.*?)</script>", document, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", document, re.DOTALL)

    def hashes(texts: list[str]) -> str:
        return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in texts)

    assert policy is not None
    assert policy[1] == (
        f"default-src 'none'; script-src {hashes(scripts)}; style-src {hashes(styles)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert len(document.encode()) <= 150_000
    assert not re.search(r"<(link|img|iframe|object|embed|form|base)\b", document)


@pytest.mark.parametrize("name", shown())
def test_each_kept_answer_fills_every_slot_that_its_template_needs(name: str) -> None:
    model, kept = shipped_model(), kept_answers()[name]
    tool = model.tools[kept["tool"]]
    filled = fill_view(tool, model, parse_arguments(tool, kept["arguments"]), kept["answer"])

    def check(slots: tuple[ViewSlot, ...], values: dict[str, Any]) -> None:
        for slot in slots:
            if slot.required:
                assert values.get(slot.name) not in (None, "", []), slot.name
            for row in values.get(slot.name, ()) if slot.type == "rows" else ():
                check(slot.fields, row)

    check(model.views[filled["template"]].slots, filled["slots"])


def test_every_shipped_view_has_a_kept_answer() -> None:
    model: Model = shipped_model()
    drawn = {model.tools[kept["tool"]].view.template for kept in kept_answers().values()}  # type: ignore[union-attr]

    assert drawn == set(model.views)
