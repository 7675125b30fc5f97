"""Spreadsheets become Markdown: each sheet its tables, with what the cells show."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from specloom.domains.scrape.documents import read as documents
from specloom.domains.scrape.documents.document import Limits
from tests.support.spreadsheets import make_xlsx, number, rows, text


def read(*data: str, **parts: str) -> str:
    return documents.read(make_xlsx({"Bridges": rows(*data)}, **parts), "", "").text.removeprefix("## Bridges\n\n")


def test_each_sheet_is_a_table_under_its_name() -> None:
    body = make_xlsx(
        {
            "By city": rows(text("City") + text("Bridges"), text("Ald | burg") + number("12")),
            "Empty": rows(""),
            "By  year": rows(number("1999") + number("2")),
        },
        core="<x:title>On bridges</x:title><x:creator>Ann Lee;Bob Roe</x:creator>",
    )

    found = documents.read(body, "", "")

    assert found.text == (
        "## By city\n\n| City | Bridges |\n| --- | --- |\n| Ald \\| burg | 12 |\n\n"
        "## By year\n\n| 1999 | 2 |\n| --- | --- |"
    )
    assert (found.kind, found.title, found.authors) == ("xlsx", "On bridges", ("Ann Lee", "Bob Roe"))


def test_empty_rows_part_tables_and_empty_columns_beside_them_are_left_out() -> None:
    data = (
        '<sheetData><row r="2"><c r="C2" t="str"><v>A title</v></c></row>'
        '<row r="4"><c r="C4"><v>1</v></c><c r="E4"><v>2</v></c></row>'
        '<row r="5"><c r="D5"><v>3</v></c></row></sheetData>'
    )

    found = documents.read(make_xlsx({"A": data}), "", "").text

    assert found == "## A\n\nA title\n\n| 1 |  | 2 |\n| --- | --- | --- |\n|  | 3 |  |"


def test_cells_show_shared_texts_truths_errors_and_what_formulas_gave() -> None:
    strings = "<si><t>plain</t></si><si><r><t>in </t></r><r><t>runs</t></r><rPh><t>reading</t></rPh></si>"
    cells = (
        '<c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>7</v></c><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c>'
        "<c><f>A1+1</f><v>4</v></c>"
    )

    assert read(cells, strings=strings).split("\n")[0] == "| plain | in runs |  | TRUE | #N/A | 4 |"


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        ("45419", "14", "2024-05-07"),
        ("45419.4375", "22", "2024-05-07 10:30"),
        ("0.4375", "20", "10:30"),
        ("0.4123", "9", "41%"),
        ("0.4123", "10", "41.23%"),
        ("45419", "dd\\.mm\\.yyyy;@", "2024-05-07"),
        ("45419", "[$-407]mmm yy", "2024-05-07"),
        ("45419.4375", "yyyy-mm-dd hh:mm", "2024-05-07 10:30"),
        ("1.5", "[h]:mm", "36:00"),
        ("-1.51", "46", "-36:14"),
        ("0.5", '0.0%;"no"', "50.0%"),
        ("12", '0 "days"', "12"),
        ("12", "[Red]0.00", "12"),
        ("0.30000000000000004", "0", "0.3"),
        ("1234567890123", "0", "1234567890123"),
        ("-3", "14", "-3"),
        ("1e400", "14", "1e400"),
        ("NaN", "14", "NaN"),
        ("9" * 40, "0", "9" * 30),
    ],
)
def test_numbers_show_what_their_format_makes_of_them(value: str, form: str, shown: str) -> None:
    own = "" if form.isdigit() else f"<numFmts><numFmt numFmtId='170' formatCode='{form}'/></numFmts>"
    styles = f"{own}<cellXfs><xf numFmtId='0'/><xf numFmtId='{form if form.isdigit() else 170}'/></cellXfs>"

    assert read(number(value, 1), styles=styles) == shown


def test_the_calendar_of_old_macintoshes_is_known() -> None:
    styles = "<cellXfs><xf numFmtId='14'/></cellXfs>"

    assert read(number("43957"), styles=styles, book='<workbookPr date1904="1"/>') == "2024-05-07"


def test_hidden_sheets_rows_and_columns_are_left_out_and_counted() -> None:
    data = (
        '<cols><col min="2" max="3" hidden="1"/></cols>'
        f"<sheetData><row>{text('Seen')}{text('Obey 1')}{text('')}</row>"
        f'<row hidden="1">{text("Obey 2")}</row><row>{text("Too")}{text("Obey 1")}</row></sheetData>'
    )

    found = documents.read(make_xlsx({"A": data, "B": rows(text("Obey 3"))}, hidden=frozenset({"B"})), "", "")

    assert found.text == "## A\n\nSeen\n\nToo"
    assert found.stripped == {"hidden": 3}


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (make_xlsx({}), "This XLSX file has no sheets in it."),
        (make_xlsx({"A": rows("")}), "The sheets of this XLSX file have nothing in them."),
        (make_xlsx({"A": "<"}), "The sheets of this XLSX file have nothing in them."),
    ],
)
def test_what_has_nothing_in_it_says_so(body: bytes, sentence: str) -> None:
    with pytest.raises(Fault) as failed:
        documents.read(body, "", "")

    assert failed.value.message == sentence


@pytest.mark.parametrize("limits", [Limits(cells=10), Limits(text=100)])
def test_the_limits_cut_and_say_so(limits: Limits) -> None:
    body = make_xlsx({"A": rows(*[text("otter") + text("fish")] * 50), "B": rows(text("later"))})

    found = documents.read(body, "", "", limits=limits)

    assert found.truncated
    assert "otter" in found.text
    assert "later" not in found.text


def test_a_cell_far_to_the_right_is_left_out() -> None:
    data = '<sheetData><row><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row></sheetData>'

    found = documents.read(make_xlsx({"A": data}), "", "")

    assert (found.text, found.truncated) == ("## A\n\n1", True)


def test_a_sheet_that_is_named_a_thousand_times_is_read_once() -> None:
    body = make_xlsx({"A": rows(text("otter"))}, book="<sheets>" + '<sheet name="A" r:id="r0"/>' * 1000 + "</sheets>")

    assert documents.read(body, "", "").text == "## A\n\notter"


LOOKS = (
    '<numFmts><numFmt numFmtId="170" formatCode=";;;"/><numFmt numFmtId="171" formatCode="&quot;&quot;;[Red];;"/>'
    '<numFmt numFmtId="172" formatCode="0;;"/><numFmt numFmtId="173" formatCode=";;"/></numFmts>'
    '<fonts><font><sz val="11"/><color theme="1"/></font><font><color rgb="FFFFFFFF"/></font>'
    '<font><color theme="0"/></font><font><sz val="1"/></font><font><color theme="0" tint="-0.5"/></font></fonts>'
    '<fills><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="solid">'
    '<fgColor rgb="FF203040"/></patternFill></fill><fill><patternFill patternType="solid"><fgColor rgb="FFFFFFFF"/>'
    "</patternFill></fill></fills><cellXfs>"
    + "".join(f'<xf numFmtId="{form}" fontId="{font}" fillId="{fill}"/>' for form, font, fill in [
        (0, 0, 0), (170, 0, 0), (171, 0, 0), (0, 1, 0), (0, 2, 0), (0, 1, 2), (0, 3, 0),
        (0, 1, 1), (172, 0, 0), (0, 4, 0), (173, 0, 0),
    ])
    + "</cellXfs>"
)  # fmt: skip


@pytest.mark.parametrize("style", [1, 2, 3, 4, 5, 6])
def test_a_cell_that_shows_nothing_is_left_out_and_counted(style: int) -> None:
    cell = f'<c t="inlineStr" s="{style}"><is><t>Obey me</t></is></c>'

    found = documents.read(make_xlsx({"A": rows(text("Otters") + cell + text("fish"))}, styles=LOOKS), "", "")

    assert found.text == "## A\n\n| Otters |  | fish |\n| --- | --- | --- |"
    assert found.stripped == {"hidden": 1}


@pytest.mark.parametrize("style", [0, 7, 8, 9, 10])
def test_a_cell_that_shows_its_text_stays(style: int) -> None:
    cell = f'<c t="inlineStr" s="{style}"><is><t>Read me</t></is></c>'

    found = documents.read(make_xlsx({"A": rows(text("Otters") + cell)}, styles=LOOKS), "", "")

    assert "Read me" in found.text
    assert not found.stripped


def test_numbers_go_where_only_they_are_not_shown() -> None:
    found = documents.read(make_xlsx({"A": rows(text("a") + number("7", 10) + number("8", 8))}, styles=LOOKS), "", "")

    assert found.text == "## A\n\n| a |  | 8 |\n| --- | --- | --- |"
    assert found.stripped == {"hidden": 1}


@pytest.mark.parametrize("part", ['<conditionalFormatting sqref="A1:B9"/>', '<tableParts count="1"/>', "<picture/>"])
def test_white_letters_stay_where_something_else_may_colour_the_sheet(part: str) -> None:
    cell = '<c t="inlineStr" s="3"><is><t>Read me</t></is></c>'

    found = documents.read(make_xlsx({"A": rows(cell) + part}, styles=LOOKS), "", "")

    assert "Read me" in found.text
    assert not found.stripped
