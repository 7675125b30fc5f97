"""Tables of data become pipe tables; tables that arrange a page become its text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.html.parse import parse
from specloom.domains.scrape.markdown.render import render
from specloom.domains.scrape.markdown.tables import escape_cell


def md(html: str) -> str:
    return render([parse(html)], base="https://example.org/")


def rows(*lines: str) -> str:
    return "\n".join(lines)


def test_a_head_and_a_body_become_a_pipe_table() -> None:
    html = """<table><thead><tr><th>Year</th><th>Births</th></tr></thead>
    <tbody><tr><td>2019</td><td>1,204</td></tr><tr><td>2020</td><td>1,187</td></tr></tbody></table>"""

    assert md(html) == rows("| Year | Births |", "| --- | --- |", "| 2019 | 1,204 |", "| 2020 | 1,187 |")


def test_a_row_of_header_cells_is_the_head() -> None:
    html = "<table><tr><th>a<th>b<tr><td>1<td>2</table>"

    assert md(html) == rows("| a | b |", "| --- | --- |", "| 1 | 2 |")


def test_a_table_without_a_head_gets_an_empty_one() -> None:
    html = "<table><tr><td>a<td>b<tr><td>1<td>2</table>"

    assert md(html) == rows("|  |  |", "| --- | --- |", "| a | b |", "| 1 | 2 |")


def test_a_caption_stands_before_its_table() -> None:
    html = "<table><caption>Births by year</caption><tr><th>a<th>b<tr><td>1<td>2</table>"

    assert md(html).startswith("Births by year\n\n| a | b |")


def test_spans_are_written_in_every_place_that_they_cover() -> None:
    html = """<table>
    <tr><th rowspan=2>Region<th colspan=2>Births</tr><tr><th>2019<th>2020</tr>
    <tr><td rowspan=2>North<td>1<td>2</tr><tr><td colspan=2>none</tr></table>"""

    assert md(html) == rows(
        "| Region | Births | Births |",
        "| --- | --- | --- |",
        "| Region | 2019 | 2020 |",
        "| North | 1 | 2 |",
        "| North | none | none |",
    )


def test_places_between_spans_from_above_are_empty() -> None:
    html = """<table><tr><td rowspan=2>a<td>b<td>c<td rowspan=2>d<td>e<td rowspan=3>f</tr>
    <tr><td>x</tr><tr></tr><tr><td>y</table>"""

    assert md(html) == rows(
        "|  |  |  |  |  |  |",
        "| --- | --- | --- | --- | --- | --- |",
        "| a | b | c | d | e | f |",
        "| a | x |  | d |  | f |",
        "| y |  |  |  |  | f |",
    )


def test_a_foot_comes_last_and_rows_without_words_go() -> None:
    html = "<table><tfoot><tr><td>Sum<td>3</tfoot><tr><th>a<th>b<tr><td> <td><tr><td>1<td>2</table>"

    assert md(html) == rows("| a | b |", "| --- | --- |", "| 1 | 2 |", "| Sum | 3 |")


def test_columns_without_words_go_and_short_rows_are_filled() -> None:
    html = "<table><tr><th>a<th> <th>c<tr><td>1<td><td>3<tr><td>4</table>"

    assert md(html) == rows("| a | c |", "| --- | --- |", "| 1 | 3 |", "| 4 |  |")


def test_cells_hold_inline_markdown_on_one_line() -> None:
    html = """<table><tr><th>a<th>b<tr><td><a href="/x">link</a><br>two <b>lines</b><td><ul><li>one<li>two</ul>
    <tr><td><code>a|b</code><td>1 | 2 \\ 3</table>"""

    lines = md(html).split("\n")

    assert lines[2] == "| [link](https://example.org/x) two **lines** | one two |"
    assert lines[3] == "| `a\\|b` | 1 \\| 2 \\ 3 |"
    assert len(lines) == 4


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<table><tr><td>only<tr><td>one<tr><td>column</table>", "only\n\none\n\ncolumn"),
        ("<table><tr><td>one<td>row</table>", "one row"),
        ("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>", "a b\n\nc d"),
        ("<table><tr><td>a<td> <tr><td>b<td></table>", "a\n\nb"),
        ("<table><tr><td><p>a</p><p>b</p><td>c</table>", "a\n\nb\n\nc"),
        ("<table><tr></tr></table>after", "after"),
        ("<table>loose<tr><td>a<td>b</table>", "loose\n\na b"),
    ],
)
def test_tables_that_arrange_a_page_become_text(html: str, text: str) -> None:
    assert md(html) == text


def test_a_table_around_another_is_text_and_the_inner_one_a_table() -> None:
    html = "<table><tr><td>side<td><table><tr><th>a<th>b<tr><td>1<td>2</table><tr><td>x<td>y</table>"

    text = md(html)

    assert "| a | b |\n| --- | --- |\n| 1 | 2 |" in text
    assert text.startswith("side")
    assert text.endswith("x y")


def test_a_table_with_code_in_it_keeps_the_lines_of_the_code() -> None:
    html = "<table><tr><td class=gutter><pre>1\n2</pre><td><pre>if x:\n    y</pre><tr><td>a<td>b</table>"

    assert "```\nif x:\n    y\n```" in md(html)


def test_a_passage_in_a_cell_is_no_data() -> None:
    passage = "A sentence of a passage. " * 60

    assert "|" not in md(f"<table><tr><td>a<td>{passage}<tr><td>b<td>c</table>")


@pytest.mark.parametrize("span", ["99999999999", "-1", "0", "x", "", "1e9", "٣"])
def test_spans_that_make_no_sense_are_bounded(span: str) -> None:
    html = f"<table><tr><th colspan='{span}' rowspan='{span}'>a<th>b<tr><td>1<td>2<tr><td>3<td>4</table>"

    text = md(html)

    assert "a" in text
    assert len(text) < 50_000


def test_a_table_that_spans_blow_up_becomes_text() -> None:
    cell = "<td colspan=1000 rowspan=1000>" + "word " * 50
    html = "<table>" + f"<tr>{cell * 20}" * 60 + "</table>"

    assert len(md(html)) < 2 * len(html)


def test_a_pipe_does_not_end_a_cell() -> None:
    assert escape_cell(" a | b\n c ") == "a \\| b c"


@given(st.text(alphabet='abx |\\`*\n<>/"=tdhrbl 123', max_size=200))
def test_every_row_has_as_many_cells_as_its_head(inner: str) -> None:
    text = md(f"<table><tr><th>a<th>b<tr><td>{inner}<td>z</table>")

    lines = [line for line in text.split("\n") if line.startswith("| ")]
    assert len({line.replace("\\|", "").count("|") for line in lines}) <= 1
