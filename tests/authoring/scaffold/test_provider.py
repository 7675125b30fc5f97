"""New providers: guesses from a sample that compile, and an example that fails only where somebody must decide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from specloom.authoring.examples.providers import check_provider
from specloom.authoring.scaffold.common import ScaffoldError, default_folder, folder_of
from specloom.authoring.scaffold.leaves import Leaf
from specloom.authoring.scaffold.likeness import SURE, fits, likeness, match
from specloom.authoring.scaffold.provider import UNDECIDED, converters, draft_provider
from specloom.authoring.scaffold.sample import parse_sample
from specloom.authoring.scaffold.words import words_of
from specloom.compiler.build import weave
from specloom.core.diagnostics import Place, Report
from specloom.language.types import TEXT
from specloom.model.model import Model
from specloom.model.provider import Argument
from specloom.specs.library import load_library
from tests.support.spec_library import weave_texts

CAPABILITY = """
    spec: capability/1
    name: papers
    title: Papers
    description: Articles.
    routing: {key: papers, order: [alpha]}
    arguments:
      query: {type: text, description: What.}
      num_results: {type: integer, description: How many.}
    row:
      title: {type: text, required: true, description: The title.}
      url: {type: url, required: true, description: The address.}
      snippet: {type: text, description: A quotation.}
      published_at: {type: timestamp, description: When.}
      authors: {type: list, description: Who.}
      citations: {type: integer, description: How often cited.}
"""
ALPHA = """
    spec: provider/1
    name: alpha
    title: Alpha
    service: {base: "https://alpha.example.org"}
    operations:
      papers:
        input: [query]
        steps:
          - get: /
            query: {q: =args.query}
            json: {each: items, map: {title: {at: t, required: true}, url: {at: u, required: true}}}
    examples:
      - name: one
        operation: papers
        args: {query: x}
        replies: {main: {json: {items: [{t: T, u: "https://example.org/"}]}}}
        expect: {count: 1}
"""
SAMPLE: dict[str, Any] = {
    "meta": {"total": 2, "facets": [{"label": "year", "n": 3}]},
    "data": {
        "hits": [
            {
                "id": "W1",
                "headline": "Otters &amp; <b>rivers</b>",
                "links": {"landing_page": "https://example.org/1"},
                "abstract": "All about otters.",
                "publishedDate": "2026-03-04",
                "authorNames": ["Ann", "Bob"],
                "citedByCount": "12",
            },
            {"id": "W2", "headline": "Seals", "links": {"landing_page": "https://example.org/2"}},
        ]
    },
}
FEED = """<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>All</title>
  <entry><title>Otters</title><link href="https://example.org/1"/><updated>2026-03-04T05:06:07Z</updated>
    <summary>All about otters.</summary></entry>
  <entry><title>Seals</title><link href="https://example.org/2"/><updated>2026-03-05T05:06:07Z</updated></entry>
</feed>"""


@pytest.fixture(scope="module")
def model() -> Model:
    woven = weave_texts(CAPABILITY, ALPHA, base=False)
    assert not woven.report.errors, woven.sentences
    return woven.model


def draft(model: Model, sample: Any = None, *, base: str = "", name: str = "beta") -> str:
    data = sample if isinstance(sample, bytes) or sample is None else json.dumps(sample).encode()
    return draft_provider(model, name, "papers", data, base)


def problems(text: str, tmp_path: Path) -> list[str]:
    """What compiling the text and running its examples finds."""
    for path, content in {"capabilities/papers": CAPABILITY, "alpha": ALPHA, "beta": text}.items():
        file = tmp_path / f"providers.d/{path}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = content.splitlines() if path != "beta" else []
        file.write_text("\n".join(line[4:] for line in lines) if lines else content, encoding="utf-8")
    report = Report()
    library = load_library([tmp_path], report)
    found = weave(library, report)
    assert not report.errors, list(report)
    check_provider(library.of("provider")["beta"], found.providers["beta"], report)
    return [f"{one.code} {one.message}" for one in report if one.is_error]


def test_results_and_fields_are_found_in_a_json_sample(model: Model) -> None:
    text = draft(model, SAMPLE)

    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "each: data.hits # 2 in the sample" in lines
    assert "title: {at: headline, required: true, then: [strip_tags]} # Otters &amp; <b>rivers</b>" in lines
    assert "url: {at: links.landing_page, required: true} # https://example.org/1" in lines
    assert "snippet: abstract # All about otters." in lines
    assert "published_at: {at: publishedDate, then: [timestamp]} # 2026-03-04" in lines
    assert 'authors: authorNames # ["Ann", "Bob"]' in lines
    assert "citations: {at: citedByCount, then: [integer]} # 12" in lines


def test_results_and_fields_are_found_in_an_xml_sample(model: Model, tmp_path: Path) -> None:
    text = draft(model, FEED.encode(), base="https://api.example.org/feed?search_query=all")

    assert 'each: "//n1:entry"  # 2 in the sample' in text
    assert 'namespaces: {n1: "http://www.w3.org/2005/Atom"}' in text
    assert 'url: {at: "n1:link/@href", required: true}' in text
    assert problems(text, tmp_path) == []


def test_a_sample_that_is_a_list_is_the_results(model: Model, tmp_path: Path) -> None:
    text = draft(model, SAMPLE["data"]["hits"], base="https://api.example.org/find?q=x")

    assert 'each: "[]"' in text
    assert problems(text, tmp_path) == []


@pytest.mark.parametrize(
    ("head", "each"),
    [
        (["title", "url", "abstract"], "table([[columns], rows][])"),
        (
            [{"type": "text", "name": "title"}, {"name": "url"}, {"name": "abstract"}],
            "table([[columns[].name], rows][])",
        ),
    ],
)
def test_rows_of_cells_beside_the_names_of_their_columns_are_the_results(
    model: Model, tmp_path: Path, head: list[Any], each: str
) -> None:
    rows = [["Otters", "https://example.org/1", "All about otters."], ["Wrens", "https://example.org/2", "Little."]]
    sample = {"columns": head, "rows": rows, "total": 2}

    text = draft(model, sample, base="https://api.example.org/find?q=x")

    (shown, *_) = yaml.safe_load(text)["examples"]
    assert f'each: "{each}"  # 2 in the sample' in text
    assert shown["replies"]["main"]["json"] == {"columns": head, "rows": rows[:1]}
    assert shown["expect"]["rows"] == [dict(zip(["title", "url", "snippet"], rows[0], strict=True))]
    assert problems(text, tmp_path) == []


@pytest.mark.parametrize("head", [["title", "title"], ["title", 2], [{"n": 1}, {"n": 2}], ["title"], []])
def test_a_list_that_names_no_columns_heads_no_rows(model: Model, head: list[Any]) -> None:
    text = draft(model, {"columns": head, "rows": [["Otters", "https://example.org/1"]]})

    assert "table(" not in text


def test_what_is_not_known_fails_in_one_place_that_says_what_to_decide(model: Model, tmp_path: Path) -> None:
    text = draft(model, SAMPLE)

    found = problems(text, tmp_path)

    assert len(found) == 1
    assert found[0].startswith("E401")
    assert UNDECIDED in found[0]


def test_with_an_address_and_a_sample_everything_is_decided(model: Model, tmp_path: Path) -> None:
    text = draft(model, SAMPLE, base="https://api.example.org/v2/find?q=old&limit=20&format=json")

    assert problems(text, tmp_path) == []
    assert "          q: =args.query\n          limit: =args.num_results\n          format: json\n" in text


def test_without_a_sample_the_spec_compiles_and_says_what_to_decide(model: Model, tmp_path: Path) -> None:
    text = draft(model)

    found = problems(text, tmp_path)

    assert len(found) == 1
    assert UNDECIDED in found[0]
    assert text.count("# decide") >= 4


def test_a_required_field_that_is_not_in_the_sample_is_left_to_the_author(model: Model, tmp_path: Path) -> None:
    text = draft(model, {"results": [{"title": "T", "when": "2026-01-01"}]}, base="https://api.example.org/find?q=x")

    found = problems(text, tmp_path)

    assert "url: {at: url, required: true}" in text
    assert any("url has no value in any item: `url` finds nothing" in one for one in found)


@pytest.mark.parametrize("name", ["Beta", "9lives", "be-ta", "", "a" * 50, "../beta"])
def test_a_name_that_is_none_is_refused(model: Model, name: str) -> None:
    with pytest.raises(ScaffoldError, match="lower case"):
        draft(model, name=name)


def test_a_name_that_is_taken_is_refused(model: Model) -> None:
    with pytest.raises(ScaffoldError, match="there is a provider 'alpha' already"):
        draft(model, name="alpha")


def test_an_unknown_capability_is_refused_with_a_suggestion(model: Model) -> None:
    with pytest.raises(ScaffoldError, match='did you mean "papers"'):
        draft_provider(model, "beta", "paper", None, "")


@pytest.mark.parametrize(
    "base", ["http://api.example.org", "api.example.org", "https://x.org/{a}", "https://x.org/ b", 'https://x.org/"']
)
def test_an_address_that_cannot_be_asked_is_refused(model: Model, base: str) -> None:
    with pytest.raises(ScaffoldError, match="https://"):
        draft(model, base=base)


@pytest.mark.parametrize("sample", [b"neither", b"", b"<unclosed>", b"\xff\xfe"])
def test_a_sample_that_cannot_be_read_is_refused(model: Model, sample: bytes) -> None:
    with pytest.raises(ScaffoldError, match="sample"):
        draft(model, sample)


@pytest.mark.parametrize(
    "sample", [[], {}, [1, 2], "text", None, {"a": {"b": [[]]}}, [{"": "", "a\nb": "\x1b[31m#: {"}]]
)
def test_a_sample_with_nothing_in_it_still_makes_a_spec_that_compiles(
    model: Model, tmp_path: Path, sample: Any
) -> None:
    text = draft(model, json.dumps(sample).encode())

    found = problems(text, tmp_path)

    assert all(one.startswith("E401") for one in found)


HOSTILE = "a: b\n  - c: \"d\" 'e' {{ base }} {% if %} {# #} # f\x7f\u2028 %TAG &g *h !i ]} \u00a0"


def test_a_hostile_sample_comes_out_as_it_was(model: Model, tmp_path: Path) -> None:
    title, address, results = '"{{": \ntitle # \x7f', "url'}}", 'results: "[{%" #'
    hit = {title: HOSTILE, address: "https://example.org/#{{x}}'\"", HOSTILE: {HOSTILE: [HOSTILE]}}
    sample = {results: [hit, hit]}

    text = draft(model, sample, base="https://api.example.org/find:?q=x&%23%20%7B%7B%0A=%22%0A%27%7D%7D%23")

    spec = yaml.safe_load(text)
    first = spec["operations"]["papers"]["steps"][0]
    assert first["get"] == "/find:"
    assert first["query"] == {"q": "=args.query", "# {{\n": "\"\n'}}#"}
    assert first["json"]["each"] == json.dumps(results)
    assert first["json"]["map"]["title"] == {"at": json.dumps(title), "required": True}
    assert first["json"]["map"]["url"] == {"at": json.dumps(address), "required": True}
    assert spec["examples"][0]["replies"] == {"main": {"json": {results: [hit]}}}
    assert problems(text, tmp_path) == []


def test_a_new_spec_goes_into_the_first_own_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert default_folder({"SPECLOOM_PATH": "/mine:/other"}, folder_of("provider")) == Path("/mine/providers.d")
    (tmp_path / "providers.d").mkdir()
    assert default_folder({"SPECLOOM_PATH": "/mine:/other"}, folder_of("provider")) == Path("providers.d")


# --- guesses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "value", "good"),
    [
        ("url", "https://example.org/a", True),
        ("url", "//example.org/a", True),
        ("url", "example", False),
        ("timestamp", "2026-01-02T03:04:05Z", True),
        ("timestamp", "3 days ago", True),
        ("timestamp", 1_767_225_600, True),
        ("timestamp", 12, False),
        ("timestamp", "soon", False),
        ("integer", "1,234", True),
        ("integer", True, False),
        ("boolean", True, True),
        ("list", ["a"], True),
        ("list", [1], False),
        ("text", "words", True),
        ("text", "https://example.org/", False),
        ("object", {}, False),
    ],
)
def test_a_value_fits_a_kind_by_its_shape(kind: str, value: Any, good: bool) -> None:
    assert fits(kind, value) is good


@pytest.mark.parametrize("name", ["publishedAt", "published_at", "@published-at", "published.at"])
def test_spellings_of_one_name_are_the_same_words(name: str) -> None:
    assert words_of(name) == {"published", "at"}


def test_a_leaf_is_used_once_and_a_date_is_better_than_a_distance(model: Model) -> None:
    row = model.capabilities["papers"].row
    leaves = [
        Leaf(("age",), ("3 days ago",), everywhere=True),
        Leaf(("page_age",), ("2026-01-02",), everywhere=True),
        Leaf(("link",), ("https://example.org/",), everywhere=True),
    ]

    found = match(row, leaves)

    assert found["published_at"] == leaves[1]
    assert found["url"] == leaves[2]
    assert found["title"] is None


def test_the_list_with_most_of_the_fields_is_the_results(model: Model) -> None:
    row: dict[str, Argument] = dict(model.capabilities["papers"].row)
    document = {"ads": [{"x": n} for n in range(9)], "found": [{"title": "T", "url": "https://example.org/"}]}

    assert parse_sample(json.dumps(document).encode(), row).each == "found"


def test_markup_inside_a_field_of_xml_is_part_of_its_text_and_names_stand_in_their_namespace() -> None:
    row = {name: Argument(name, "text", "", Place("x"), TEXT) for name in ("name", "id")}
    first, second = "<id>7</id><name>Wolf <i>Rock</i></name>", "<id>8</id><name>Bell</name>"
    text = f'<c xmlns="urn:c"><light>{first}</light><light>{second}</light></c>'

    sample = parse_sample(text.encode(), row)

    found = match(row, sample.leaves)
    assert {name: (leaf.path, leaf.value) for name, leaf in found.items() if leaf} == {
        "name": (("n1:name",), "Wolf Rock"),
        "id": (("n1:id",), "7"),
    }


def test_a_number_can_be_an_id_that_is_told_as_text() -> None:
    row = {"id": Argument("id", "text", "", Place("x"), TEXT)}

    leaf = match(row, parse_sample(b'{"items": [{"id": 7}]}', row).leaves)["id"]

    assert leaf is not None
    assert converters(row["id"], leaf) == ["text"]


def test_a_query_in_a_language_of_its_own_and_a_fixed_day_are_asked_for(model: Model) -> None:
    sample = {"items": [{"title": "Otters", "url": "https://example.org/1"}]}

    text = draft(model, sample, base="https://api.example.org/v1?q=title%3Aotters&since=2024-01-01")

    assert "q: =args.query  # decide: how args.query stands in it, by `fill` or `join`; the address has title:" in text
    assert "since: '2024-01-01'  # decide: a fixed day; what it follows from, or leave it out" in text


def test_an_answer_that_is_one_result_is_not_taken_for_a_list_in_it(model: Model) -> None:
    tags = [{"term": "Sea", "page": "https://example.org/t/1"}, {"term": "Fur", "page": "https://example.org/t/2"}]
    whole = {"title": "Otters", "url": "https://example.org/1", "abstract": "They swim.", "tags": tags}
    fields = model.capabilities["papers"].row

    assert parse_sample(json.dumps(whole).encode(), fields).each == ""
    assert parse_sample(json.dumps({"items": [whole, whole]}).encode(), fields).each == "items"


def test_a_value_far_inside_a_result_is_a_question() -> None:
    far = Leaf(("a", "b", "c", "title"), ("Otters",), everywhere=True)
    near = Leaf(("a", "title"), ("Otters",), everywhere=True)
    field = Argument("title", "text", "The title.", Place(""), TEXT)

    assert likeness(field, far) < SURE <= likeness(field, near)


PAGE = {"results": [{"title": "Otters", "url": "https://example.org/1"}], "next_cursor": "abc", "has_more": True}


@pytest.mark.parametrize("value", ["abc", "", None])
def test_a_cursor_in_a_body_is_no_constant_and_its_pages_are_proposed(model: Model, value: str | None) -> None:
    body = json.dumps({"query": "otters", "start_cursor": value, "filter": {"kind": "page"}}).encode()

    text = draft_provider(model, "beta", "papers", json.dumps(PAGE).encode(), "https://api.example.org/s", body)

    step = yaml.safe_load(text)["operations"]["papers"]["steps"][0]
    assert step["body"] == {"json": {"query": "=args.query", "filter": {"kind": "page"}}}
    paging = "{cursor: {at: page.next_cursor}, most: 3, resume: true}"
    proposed = f"if so: `paging: {paging}`, and `start_cursor: =position` in the body"
    assert f"# decide: whether further pages are read; {proposed}" in text


def test_a_cursor_in_an_address_is_no_constant_and_its_pages_are_proposed(model: Model) -> None:
    text = draft(model, PAGE, base="https://api.example.org/s?q=otters&cursor=abc")

    step = yaml.safe_load(text)["operations"]["papers"]["steps"][0]
    assert step["query"] == {"q": "=args.query"}
    assert "`paging: {cursor: {parameter: cursor, at: page.next_cursor}, most: 3, enough: " in text


@pytest.mark.parametrize(("key", "value"), [("cursor", "*"), ("after", "2026-03-04")])
def test_what_asks_for_the_first_page_or_is_a_day_is_no_cursor(model: Model, key: str, value: str) -> None:
    text = draft(model, PAGE, base=f"https://api.example.org/s?q=otters&{key}={value}")

    assert yaml.safe_load(text)["operations"]["papers"]["steps"][0]["query"][key] == value


def test_a_cursor_of_an_answer_that_is_no_json_is_left_for_its_author_to_find(model: Model) -> None:
    text = draft(model, FEED.encode(), base="https://api.example.org/s?q=otters&cursor=abc")

    assert "cursor" not in yaml.safe_load(text)["operations"]["papers"]["steps"][0]["query"]
    assert "{parameter: cursor, at: page.WHERE_THE_NEXT_IS}" in text
