"""A provider from a sample of CSV or TSV: the decoder and the map are right, and what its cells leave open is asked."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from specloom.authoring.examples.providers import check_provider
from specloom.authoring.scaffold.common import ScaffoldError
from specloom.authoring.scaffold.declarations import draft_capability
from specloom.authoring.scaffold.provider import draft_provider
from specloom.compiler import compile_provider
from specloom.core.diagnostics import Report
from specloom.model.model import Model
from specloom.specs.library import parse_spec
from specloom.specs.yaml import find_marks
from tests.support.spec_library import weave_texts

CAPABILITY = """
    spec: capability/1
    name: studies
    title: Studies
    description: Studies.
    routing: {key: studies, order: []}
    arguments:
      query: {type: text, description: What.}
    row:
      title: {type: text, required: true, description: The title.}
      url: {type: url, required: true, description: The page.}
      snippet: {type: text, description: A summary.}
      authors: {type: list, description: Who.}
      published_at: {type: timestamp, description: When.}
      citations: {type: integer, description: How often cited.}
      score: {type: number, description: How good.}
      open: {type: boolean, description: Whether it is free.}
"""
FULL = '''title,url,Summary,authors,published_at,citations,score,open
"Otters, and ""rivers""",https://example.org/1,"They
swim.",Ann Ash; Bob Birch,2026-03-04,12,0.5,true
Seals,https://example.org/2,NA,Cy Cone,2026-03-05,3,0.25,false
'''


@pytest.fixture(scope="module")
def model() -> Model:
    woven = weave_texts(CAPABILITY, base=False)
    assert not woven.report.errors, woven.sentences
    return woven.model


def read(model: Model, sample: str | bytes) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """A drafted spec, its step and what it asks by the key of its line; the examples hold where nothing is missing."""
    data = sample.encode() if isinstance(sample, str) else sample
    text = draft_provider(model, "shore", "studies", data, "https://api.example.org/find?q=otters")
    report = Report()
    spec = parse_spec("shore.yaml", text.encode(), report)
    assert spec is not None
    provider = compile_provider(spec, model.capabilities, report)
    assert provider is not None
    check_provider(spec, provider, report)
    marks = {text.splitlines()[place.line - 1].split(":")[0].strip(): what for place, what in find_marks(spec.source)}
    assert not report.errors or {"title", "url"} & marks.keys(), list(report)
    written: dict[str, Any] = yaml.safe_load(text)
    return written, written["operations"]["studies"]["steps"][0], marks


def test_a_sample_of_csv_is_read_by_its_decoder_with_each_field_converted(model: Model) -> None:
    spec, step, marks = read(model, FULL)

    assert step["csv"] == {
        "map": {
            "title": {"at": "title", "required": True},
            "url": {"at": "url", "required": True},
            "snippet": {"at": "Summary", "then": [{"null_if": ["NA"]}]},
            "authors": {"at": "authors", "then": [{"split": ";"}]},
            "published_at": {"at": "published_at", "then": ["timestamp"]},
            "citations": {"at": "citations", "then": ["integer"]},
            "score": {"at": "score", "then": ["number"]},
            "open": {"at": "open", "then": ["boolean"]},
        }
    }
    assert marks == {}
    first, *lacking = spec["examples"]
    assert first["expect"]["rows"] == [
        {
            "title": 'Otters, and "rivers"',
            "url": "https://example.org/1",
            "snippet": "They\nswim.",
            "authors": ["Ann Ash", "Bob Birch"],
            "published_at": "2026-03-04T00:00:00Z",
            "citations": 12,
            "score": 0.5,
            "open": True,
        }
    ]
    names = [one["name"] for one in lacking]
    assert names == ["a result without title is left out", "a result without url is left out"]


def test_a_name_with_blanks_is_quoted_in_its_selector(model: Model) -> None:
    _, step, _ = read(model, "Title,Page URL,Open\nOtters,https://example.org/1,yes\n")

    assert step["csv"]["map"]["url"] == {"at": '"Page URL"', "required": True}


@pytest.mark.parametrize(
    ("delimiter", "decoder", "options"),
    [(",", "csv", {}), (";", "csv", {"delimiter": ";"}), ("|", "csv", {"delimiter": "|"}), ("\t", "tsv", {})],
)
def test_what_parts_the_cells_is_found(model: Model, delimiter: str, decoder: str, options: dict[str, Any]) -> None:
    lines = (("title", "url"), ("Otters", "https://example.org/1"), ("Seals", "https://example.org/2"))

    _, step, _ = read(model, "".join(delimiter.join(line) + "\r\n" for line in lines))

    assert {name: value for name, value in step[decoder].items() if name != "map"} == options


def test_tabs_with_a_line_end_inside_quotes_are_read_as_csv(model: Model) -> None:
    _, step, _ = read(model, 'title\turl\n"Otters\nand rivers"\thttps://example.org/1\n')

    assert step["csv"]["delimiter"] == "\t"


@pytest.mark.parametrize(
    ("cells", "field", "asks"),
    [
        ({"published_at": "04/03/2026"}, "published_at", "whether the day or the month is written first"),
        ({"score": "12,5"}, "score", "whether its comma parts a fraction"),
        ({"authors": "Ash, Ann"}, "authors", "what parts the items in a cell; as it stands ','"),
        ({"authors": "Ann Ash"}, "authors", "what parts the items in a cell; as it stands ';'"),
    ],
)
def test_what_a_cell_leaves_open_is_asked(model: Model, cells: dict[str, str], field: str, asks: str) -> None:
    row = {"title": "Otters", "url": "https://example.org/1", **cells}

    _, _, marks = read(model, f"{'|'.join(row)}\n{'|'.join(row.values())}\n")

    assert list(marks) == [field]
    assert marks[field].startswith(asks)


def test_a_decimal_comma_is_read_as_one_where_it_is_asked_about(model: Model) -> None:
    spec, _, _ = read(model, "title;url;score\nOtters;https://example.org/1;12,5\n")

    assert spec["examples"][0]["expect"]["rows"][0]["score"] == 12.5


def test_a_first_line_of_values_names_no_columns(model: Model) -> None:
    _, step, marks = read(model, "1\tOtters\thttps://example.org/1\n2\tSeals\thttps://example.org/2\n")

    assert step["tsv"]["header"] is False
    assert marks["header"].startswith("the names of the columns")
    assert marks["title"].endswith("it could be c1 or c2")
    assert marks["url"].endswith("it could be c3")


def test_an_example_of_a_wide_table_has_what_is_read_and_little_else(model: Model) -> None:
    names = [f"field_{letter}{other}" for letter in "abcdefgh" for other in "pqrstuvw"]
    head = ["title", *names, "url"]

    spec, _, _ = read(model, f"{','.join(head)}\nOtters,{','.join(names)},https://example.org/1\n")

    header = spec["examples"][0]["replies"]["main"]["text"].splitlines()[0].split(",")
    assert (header[0], header[-1], len(header)) == ("title", "url", 14)


def test_a_sample_in_windows_1252_is_read_as_the_decoder_reads_it(model: Model) -> None:
    spec, _, _ = read(model, "title,url\nFischötter,https://example.org/1\n".encode("cp1252"))

    assert spec["examples"][0]["expect"]["rows"][0]["title"] == "Fischötter"


@pytest.mark.parametrize(
    ("sample", "says"),
    [
        ("Service unavailable, try later", "it is a single line"),
        ("title\nOtters\nSeals\n", "its first line has no cells"),
        ("# made in March, by hand\ntitle,url,year\na,b,1\n", "its first line has 2 cells and its second 3"),
        ('{"title": "Otters"', "the sample is neither JSON nor XML:"),
    ],
)
def test_text_that_is_no_table_is_refused_with_the_reason(model: Model, sample: str, says: str) -> None:
    with pytest.raises(ScaffoldError) as refused:
        draft_provider(model, "shore", "studies", sample.encode(), "")

    assert says in str(refused.value)


def test_a_capability_from_a_table_has_the_kinds_that_its_cells_spell(model: Model) -> None:
    spec = yaml.safe_load(draft_capability(model, "seals", FULL.encode()))

    kinds = {name: declared["type"] for name, declared in spec["row"].items()}
    assert kinds == {
        "title": "text",
        "url": "url",
        "summary": "text",
        "authors": "text",
        "published_at": "timestamp",
        "citations": "integer",
        "score": "number",
        "open": "boolean",
    }
