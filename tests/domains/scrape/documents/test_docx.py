"""Of a Word file no word is lost that a reader sees, and none is told that was deleted or is not shown."""

from __future__ import annotations

import pytest

from specloom.domains.scrape.documents import read as documents
from tests.support.documents import CHART, DIAGRAM, RELATION, WORD, chart, diagram, make_docx, paragraph


def read(body: str, **how: object) -> str:
    return documents.read(make_docx(body, **how), "", "").text  # type: ignore[arg-type]


def run(text: str, settings: str = "") -> str:
    return f"<w:r><w:rPr>{settings}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>"


def box(*texts: str) -> str:
    return f"<w:txbxContent>{''.join(map(paragraph, texts))}</w:txbxContent>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def row(*cells: str, settings: str = "") -> str:
    return f"<w:tr><w:trPr>{settings}</w:trPr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in cells)}</w:tr>"


def test_every_text_box_of_a_drawing_is_read() -> None:
    grouped = f"<w:r><w:pict><w:group><w:a>{box('one', 'more')}</w:a><w:b>{box('two')}</w:b></w:group></w:pict></w:r>"

    assert read(f"<w:p>{run('Before.')}{grouped}</w:p>") == "Before.\n\none\n\nmore\n\ntwo"


def test_what_was_moved_or_changed_is_read_once_where_it_is_now() -> None:
    changes = (
        f"<w:moveFrom>{run('from')}</w:moveFrom><w:moveTo>{run('to ')}</w:moveTo>"
        f"<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins>{run('new')}</w:ins>"
    )
    rows = table(row(paragraph("kept"), paragraph("x")), row(paragraph("gone"), settings="<w:del/>"))

    assert read(f"<w:p>{changes}</w:p>{rows}") == "to new\n\n| kept | x |\n| --- | --- |"


def test_comments_are_left_out() -> None:
    comments = f'<w:comments xmlns:w="{WORD}"><w:comment w:id="1">{paragraph("Is it?")}</w:comment></w:comments>'
    body = f"<w:p>{run('It is.')}<w:commentRangeEnd w:id='1'/><w:r><w:commentReference w:id='1'/></w:r></w:p>"

    assert read(body, parts={"comments": comments}) == "It is."


def test_a_switch_that_is_off_hides_nothing() -> None:
    off, on = "<w:vanish w:val='0'/>", "<w:vanish/>"

    assert read(f"<w:p>{run('seen', off)}{run('unseen', on)}</w:p>") == "seen"


def test_the_heads_and_feet_of_pages_are_left_out() -> None:
    head = f'<w:hdr xmlns:w="{WORD}">{paragraph("Confidential")}</w:hdr>'

    assert read(paragraph("Text."), parts={"header": head}) == "Text."


LEVELS = (
    ("upperRoman", "Part %1"),
    ("decimal", "%1.%2"),
    ("lowerLetter", "(%3)"),
    ("lowerRoman", "%4."),
    ("decimal", "%5)"),
    ("bullet", "x"),
)
NUMBERING = (
    f'<w:numbering xmlns:w="{WORD}"><w:abstractNum w:abstractNumId="1">'
    + "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{shown}"/></w:lvl>'
        for at, (kind, shown) in enumerate(LEVELS)
    )
    + '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="1"/>'
    '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num></w:numbering>'
)


def test_lists_have_the_marks_that_are_printed() -> None:
    body = "".join(paragraph(f"at {depth}", number="1", depth=depth) for depth in (0, 1, 1, 2, 2, 3, 3, 4, 5, 0))

    assert read(body, parts={"numbering": NUMBERING}).split("\n") == [
        "- Part I at 0",
        "   - I.1 at 1",
        "   - I.2 at 1",
        "      - (a) at 2",
        "      - (b) at 2",
        "         - i. at 3",
        "         - ii. at 3",
        "            1. at 4",
        "               - at 5",
        "- Part II at 0",
    ]


def test_lists_of_one_kind_count_on_unless_they_begin_anew() -> None:
    body = "".join(paragraph("x", number=number) for number in ("1", "2", "3", "3"))

    assert read(body, parts={"numbering": NUMBERING}) == "- Part I x\n- Part II x\n- Part VII x\n- Part VIII x"


def test_a_numbered_heading_has_its_number() -> None:
    styles = (
        f'<w:styles xmlns:w="{WORD}"><w:style w:styleId="a"><w:name w:val="heading 2"/>'
        '<w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style></w:styles>'
    )

    body = paragraph("Terms", style="a") + paragraph("Costs", style="a")

    assert read(body, parts={"styles": styles, "numbering": NUMBERING}) == "## I.1 Terms\n\n## I.2 Costs"


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("Überschrift 2", 2), ("Titre 3", 3), ("Nagłówek 1", 1), ("Rubrik 4", 4), ("見出し 2", 2), ("Titel", 1),
        ("heading 7", 6), ("Heading text", 0), ("Titre du document", 0),
    ],
)  # fmt: skip
def test_headings_are_known_by_their_style_in_other_languages(name: str, level: int) -> None:
    styles = f'<w:styles xmlns:w="{WORD}"><w:style w:styleId="a"><w:name w:val="{name}"/></w:style></w:styles>'

    assert read(paragraph("Bridges", style="a"), parts={"styles": styles}) == f"{'#' * level} Bridges".strip()
    assert read(paragraph("Bridges", style="Heading2")) == "## Bridges"


def test_links_are_read_from_relations_of_their_part_and_from_fields() -> None:
    note = (
        f'<w:footnotes xmlns:w="{WORD}" xmlns:r="{RELATION}"><w:footnote w:id="2"><w:p>'
        f'<w:hyperlink r:id="l1">{run("there")}</w:hyperlink></w:p></w:footnote></w:footnotes>'
    )
    links = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="l1" Type="x" Target="https://x.example/note" TargetMode="External"/></Relationships>'
    )
    marks = [f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")]
    told = '<w:r><w:instrText> HYPERLINK "https://x.example/f" </w:instrText></w:r>'
    page = f"{marks[0]}<w:r><w:instrText>PAGE</w:instrText></w:r>{marks[1]}{run('7')}{marks[2]}"
    body = (
        f'<w:p><w:hyperlink r:id="l1">{run("here")}</w:hyperlink>{run(" ")}{marks[0]}{told}{marks[1]}{run("page ")}'
        f'{page}{marks[2]}<w:r><w:footnoteReference w:id="2"/></w:r></w:p><w:p>{marks[0]}{told}{run("open")}</w:p>'
    )

    assert read(
        body,
        parts={"footnotes": note},
        links={"l1": "https://x.example/text"},
        entries={"word/_rels/footnotes.xml.rels": links},
    ) == (
        "[here](https://x.example/text) [page 7](https://x.example/f)[^1]\n\nopen\n\n"
        "[^1]: [there](https://x.example/note)"
    )


def math(name: str, **parts: str) -> str:
    return f"<m:{name}>{''.join(f'<m:{part}>{text}</m:{part}>' for part, text in parts.items())}</m:{name}>"


def var(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("equation", "line"),
    [
        (math("f", num=var("a+b"), den=var("2")), "(a+b)/2"),
        (math("sSup", e=var("x"), sup=var("n+1")), "x^(n+1)"),
        (math("sSubSup", e=var("x"), sub=var("i"), sup=var("2")), "x_i^2"),
        (math("rad", radPr="", deg=var("3"), e=var("y")), "3√(y)"),
        (math("nary", naryPr="<m:chr m:val='∑'/>", sub=var("i=1"), sup=var("n"), e=var("i")), "∑_(i=1)^n i"),
        (math("d", dPr="<m:begChr m:val='['/><m:endChr m:val=']'/>", e=var("a")), "[a]"),
        (math("d", e=var("a")), "(a)"),
        (math("m", mr="<m:e>" + var("a") + "</m:e><m:e>" + var("b") + "</m:e>"), "[a, b]"),
        (math("func", fName=math("limLow", e=var("lim"), lim=var("n")), e=var("a")), "lim_n(a)"),
        (math("acc", e=var("v")), "v"),
    ],
)
def test_equations_are_told_in_one_line(equation: str, line: str) -> None:
    assert read(f"<w:p>{run('So ')}<m:oMath>{equation}</m:oMath>{run('.')}</w:p>") == f"So {line}."
    assert read(f"<m:oMathPara><m:oMath>{equation}</m:oMath></m:oMathPara>") == line


def test_pictures_are_told_by_their_words_and_no_program_s() -> None:
    pictures = [
        "A bridge at dawn. Description automatically generated with medium confidence",
        "image1.png",
        "",
    ]
    drawn = "".join(f"<w:r><w:drawing><w:docPr descr='{text}'/></w:drawing></w:r>" for text in pictures)
    drawn += "<w:r><w:drawing><w:docPr hidden='1' descr='A hidden bridge'/></w:drawing></w:r>"

    assert read(f"<w:p>{run('Look: ')}{drawn}</w:p>") == "Look: ![A bridge at dawn.]()"


def test_charts_and_diagrams_are_told_by_their_data() -> None:
    one = f'<w:drawing><c:chart xmlns:c="{CHART}" r:id="pchart1"/></w:drawing>'
    two = f'<w:drawing><d:relIds xmlns:d="{DIAGRAM}" r:dm="pdata1"/></w:drawing>'
    parts = {
        "chart1": chart("Ships", ["May", "June"], {"in": [1.1, 4.4000000000000004], "out": [2, 3]}),
        "data1": diagram({"a": "Build", "b": "Test", "c": "Plan"}, {"top": ["c", "a"], "a": ["b", "a"]}),
    }

    assert read(f"<w:p><w:r>{one}</w:r><w:r>{two}</w:r></w:p>", parts=parts) == (
        "Ships\n\n|  | in | out |\n| --- | --- | --- |\n| May | 1.1 | 2 |\n| June | 4.4 | 3 |\n\n"
        "- Plan\n- Build\n   - Test"
    )


def test_dates_of_a_chart_are_dates() -> None:
    drawn = f'<w:p><w:r><w:drawing><c:chart xmlns:c="{CHART}" r:id="pc"/></w:drawing></w:r></w:p>'

    parts = {"c": chart("", ["45000.0"], {"in": [1]}, dates="m/d/yyyy")}

    assert "| 2023-03-15 | 1 |" in read(drawn, parts=parts)
    limits = documents.Limits(cells=1)
    assert documents.read(make_docx(paragraph("x") + drawn, parts=parts), "", "", limits=limits).truncated


def test_words_with_readings_above_them_and_signs_are_kept() -> None:
    ruby = f"<w:r><w:ruby><w:rt>{run('かま')}</w:rt><w:rubyBase>{run('窯')}</w:rubyBase></w:ruby></w:r>"
    signs = "<w:r><w:sym w:char='2713'/><w:sym w:char='F0FC'/><w:sym w:char='zz'/></w:r>"

    assert read(f"<w:p>{ruby}{signs}</w:p>") == "窯\u2713"


def test_a_frame_of_one_cell_is_its_text_and_a_table_in_a_table_is_told_in_words() -> None:
    inner = table(row(paragraph("c"), paragraph("d")), row(paragraph("e"), paragraph("f")))
    shifted = row(paragraph("g"), settings='<w:gridBefore w:val="1"/>')

    assert read(table(row(paragraph("One.") + inner))) == "One.\n\n| c | d |\n| --- | --- |\n| e | f |"
    assert read(table(row(paragraph("a"), inner), shifted)) == "| a | c, d; e, f |\n| --- | --- |\n|  | g |"


def test_an_endless_nest_of_fields_or_boxes_is_no_crash() -> None:
    begun = "<w:r><w:fldChar w:fldCharType='begin'/></w:r>" * 20_000

    assert read(f"<w:p>{begun}{run('word')}</w:p>") == "word"


def test_an_exponent_is_told_by_a_caret_and_what_else_is_raised_is_not() -> None:
    raised = '<w:vertAlign w:val="superscript"/>'
    parts = [run("x"), run("2", raised), run(" on the 1"), run("st", raised), run(" of "), run("3", raised)]

    assert read(f"<w:p>{''.join(parts)}</w:p>") == "x^2 on the 1st of 3"
