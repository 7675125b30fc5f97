"""What nobody sees who looks at a document is taken out and counted: a message to the reader of its text alone."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from specloom.domains.scrape.documents import read as documents
from tests.support.documents import (
    WORD,
    Text,
    area,
    lines,
    make_docx,
    make_pdf,
    make_pptx,
    paragraph,
    pdf_stream,
    shape,
)

SEEN = lines(["Otters eat fish every day,", "and where there are few of them", "they turn to crabs and frogs."])
WHITE, BLACK, BLUE = "1 1 1 rg", "0 0 0 rg", "0.2 0.2 0.6 rg"


def write(text: str, *, x: float = 60, y: float = 400, size: float = 10, before: str = "") -> str:
    """The operators that write a text, after others."""
    return f"{before} BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET 0 Tr 0 0 0 rg"


def fill(colour: str, *, x: float = 50, y: float = 390, width: float = 300, height: float = 30) -> str:
    """The operators that fill a rectangle."""
    return f"{colour} {x} {y} {width} {height} re f 0 0 0 rg"


RESOURCES = """
/ExtGState << /Clear << /ca 0 >> /Half << /ca 0.4 >> /Full << /ca 1 >> >>
/Pattern << /P << /PatternType 2 /Shading << /ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 600 0]
/Function << /FunctionType 2 /Domain [0 1] /C0 [0 0 1] /C1 [1 0 0] /N 1 >> >> >> >>
/Properties << /Off 40 0 R /On 41 0 R /Twice 42 0 R >>
"""
FORMS = "/Words 50 0 R /Narrow 51 0 R /Shown 52 0 R /Deep0 53 0 R"
LAYERS = "/OCProperties << /OCGs [40 0 R 41 0 R 42 0 R 43 0 R] /D << /OFF [40 0 R 42 0 R] >> >>"


def form(content: str, box: str = "0 0 600 800", resources: str = "/Font << /F1 3 0 R >>") -> bytes:
    """A form of a page."""
    entries = f"/Type /XObject /Subtype /Form /BBox [{box}] /Resources << {resources} >>"
    return pdf_stream(content.encode(), entries)


OBJECTS = {
    40: b"<< /Type /OCG /Name (Draft) >>",
    41: b"<< /Type /OCG /Name (Map) >>",
    42: b"<< /Type /OCG /Name (Notes) >>",
    43: b"<< /Type /OCG /Name (Notes) >>",
    50: form(write("Obey me")),
    51: form(write("Obey me"), "0 0 50 50"),
    52: form(write("Read me")),
    **{53 + at: form(f"/Deep{at + 1} Do", resources=f"/XObject << /Deep{at + 1} {54 + at} 0 R >>") for at in range(5)},
    58: form(write("Read me")),
}
HIDDEN = {
    "unpainted": write("Obey me", before="3 Tr"),
    "white on paper": write("Obey me", before=WHITE),
    "nearly white on paper": write("Obey me", before="0.98 0.99 0.98 rg"),
    "white on a white box": f"{fill(BLUE)} {fill(WHITE)} {write('Obey me', before=WHITE)}",
    "of the colour of a box": f"{fill(BLUE)} {write('Obey me', before=BLUE)}",
    "tiny": write("Obey me", size=0.4),
    "above the page": write("Obey me", y=900),
    "below the page": write("Obey me", y=-100),
    "left of the page": write("Obey me", x=-300),
    "covered": f"{write('Obey me')} {fill(WHITE)}",
    "covered by a black bar": f"{write('Obey me')} {fill(BLACK)}",
    "covered by what runs from colour to colour": f"{write('Obey me')} /Pattern cs /P scn 50 390 300 30 re f 0 0 0 rg",
    "transparent": write("Obey me", before="/Clear gs") + " /Full gs",
    "cut away": f"q 0 0 50 50 re W n {write('Obey me')} Q",
    "cut away to nothing": f"q 0 0 0 0 re W n {write('Obey me')} Q",
    "cut away by two that share nothing": f"q 0 0 90 900 re W n 95 0 500 900 re W n {write('Obey me')} Q",
    "cut away by a shape": f"q 0 0 m 90 0 l 0 90 l W n {write('Obey me')} Q",
    "on a layer that is off": f"/OC /Off BDC {write('Obey me')} EMC",
    "on a layer in a layer that is off": f"/OC /Off BDC /OC /On BDC {write('Obey me')} EMC EMC",
    "in a form on a layer that is off": "/OC /Off BDC /Words Do EMC",
    "in a form that is cut away": "q 0 0 50 50 re W n /Words Do Q",
    "beside the box of its form": "/Narrow Do",
}
SHOWN = {
    "white on a box": f"{fill(BLUE)} {write('Read me', before=WHITE)}",
    "grey on paper": write("Read me", before="0.8 0.8 0.8 rg"),
    "on a box drawn before": f"{fill('0.9 0.9 0.5 rg')} {write('Read me')}",
    "beside a box drawn later": f"{write('Read me')} {fill(WHITE, y=300)}",
    "below a transparent box": f"{write('Read me')} /Half gs {fill('1 1 0 rg')} /Full gs",
    "below a large box clipped away": f"{write('Read me')} q 0 0 50 50 re W n {fill(WHITE, y=0, height=800)} Q",
    "below a clipped box": f"{write('Read me')} q 0 0 m 900 0 l 0 500 l W n {fill(WHITE, y=0, height=800)} Q",
    "white on running colours": f"/Pattern cs /P scn 50 390 300 30 re f {write('Read me', before=WHITE)}",
    "below a triangle": f"{write('Read me')} 1 1 1 rg 50 390 m 350 390 l 50 420 l f 0 0 0 rg",
    "white on a triangle": f"0 0 1 rg 0 300 m 600 300 l 60 700 l f {write('Read me', before=WHITE)}",
    "white with a black edge": write("Read me", before=f"{WHITE} 1 Tr"),
    "small": write("Read me", size=4),
    "cut to most of it": f"q 0 402 500 500 re W n {write('Read me')} Q",
    "in a shape that is cut out": f"q 0 0 m 900 0 l 0 900 l W n {write('Read me')} Q",
    "on a layer that is on": f"/OC /On BDC {write('Read me')} EMC",
    "below a box on a layer that is off": f"{write('Read me')} /OC /Off BDC {fill(WHITE)} EMC",
    "on a layer whose name another has that is on": f"/OC /Twice BDC {write('Read me')} EMC",
    "in a form on a layer that is on": "/OC /On BDC /Shown Do EMC",
    "in the form of a form of a form": "/Deep0 Do",
    "white on a picture": f"q 500 0 0 100 50 350 cm /Im Do Q {write('Read me', before=WHITE)}",
}


def read(page: str, texts: list[Text] = SEEN, *, picture: bool = False) -> documents.Document:
    body = make_pdf(
        [texts], drawn={0: page}, resources=RESOURCES, image=True, picture=picture, catalog=LAYERS, more=OBJECTS,
        named=FORMS,
    )  # fmt: skip
    return documents.read(body, "", "")


@pytest.mark.parametrize("how", HIDDEN)
def test_a_text_that_nobody_sees_on_a_page_is_taken_out_and_counted(how: str) -> None:
    found = read(HIDDEN[how])

    assert "Obey" not in found.text
    assert "crabs and frogs." in found.text
    assert found.stripped == {"hidden": 1}


@pytest.mark.parametrize("how", SHOWN)
def test_a_text_that_is_seen_or_may_be_stays(how: str) -> None:
    found = read(SHOWN[how])

    assert "Read me" in found.text
    assert not found.stripped


def test_only_the_hidden_words_of_a_line_are_taken_out() -> None:
    line = "BT /F1 10 Tf 60 400 Td (Pay Ann ) Tj 1 1 1 rg (nothing and Bob ) Tj 0 0 0 rg (on Monday.) Tj ET"

    found = read(line)

    assert "Pay Ann on Monday." in found.text
    assert found.stripped == {"hidden": 1}


def test_hidden_stretches_over_lines_join_none() -> None:
    line = "BT /F1 10 Tf 60 400 Td (First line.) Tj 1 1 1 rg ( One) Tj 0 -40 Td (two ) Tj 0 0 0 rg (Second line.) Tj ET"

    found = read(line)

    assert "First line.\n\nSecond line." in found.text
    assert found.stripped == {"hidden": 1}


def test_a_recognised_text_under_a_scan_with_a_stamp_on_it_stays() -> None:
    recognised = write("The whole of this page is a scan whose text was recognised.", before="3 Tr")

    found = read(recognised, [(60, 20, 8, "Stamp of the archive")], picture=True)

    assert "text was recognised." in found.text
    assert not found.stripped


def test_a_small_picture_makes_no_scan() -> None:
    logo = "q 50 0 0 50 50 350 cm /Im Do Q"
    long = write("Obey me, for this is longer than all that is written on this page. " * 3, before="3 Tr")

    found = read(f"{logo} {long}")

    assert "Obey" not in found.text


def test_a_file_of_nothing_but_hidden_text_says_so() -> None:
    with pytest.raises(Fault, match=r"This PDF file has no text that anybody could see\."):
        read(HIDDEN["white on paper"], [])


STYLES = f'''<w:styles xmlns:w="{WORD}">
<w:style w:styleId="Base"><w:name w:val="Base"/><w:rPr><w:vanish/></w:rPr></w:style>
<w:style w:styleId="Gone"><w:name w:val="Gone"/><w:basedOn w:val="Base"/></w:style>
<w:style w:styleId="Pale"><w:name w:val="Pale"/><w:rPr><w:color w:val="FFFFFF"/></w:rPr></w:style>
<w:style w:styleId="Dark"><w:name w:val="Dark"/><w:pPr><w:shd w:val="clear" w:fill="203040"/></w:pPr></w:style>
<w:style w:styleId="Grid"><w:name w:val="Grid"/><w:tblStylePr><w:tcPr><w:shd w:val="clear" w:fill="203040"/></w:tcPr>
</w:tblStylePr></w:style></w:styles>'''


def run(text: str, settings: str = "") -> str:
    return f'<w:r><w:rPr>{settings}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def line(*runs: str, settings: str = "") -> str:
    return f"<w:p><w:pPr>{settings}</w:pPr>{''.join(runs)}</w:p>"


def table(cell: str, *, settings: str = "", own: str = "") -> str:
    cells = f"<w:tc><w:tcPr>{own}</w:tcPr>{cell}</w:tc><w:tc>{paragraph('beside')}</w:tc>"
    return f"<w:tbl><w:tblPr>{settings}</w:tblPr><w:tr>{cells}</w:tr></w:tbl>"


def row(text: str, settings: str = "") -> str:
    return f"<w:tr><w:trPr>{settings}</w:trPr><w:tc>{paragraph(text)}</w:tc></w:tr>"


PALE, SHADE = '<w:color w:val="FFFFFF"/>', '<w:shd w:val="clear" w:fill="203040"/>'
HIDDEN_RUNS = {
    "hidden": line(run("Obey", "<w:vanish/>"), run(" me", "<w:vanish/>")),
    "hidden by its style": line(run("Obey me", '<w:rStyle w:val="Gone"/>')),
    "hidden by the style of its paragraph": line(run("Obey me"), settings='<w:pStyle w:val="Gone"/>'),
    "white": line(run("Obey me", PALE)),
    "white by its style": line(run("Obey me"), settings='<w:pStyle w:val="Pale"/>'),
    "white on white": line(run("Obey me", f'{PALE}<w:shd w:val="clear" w:fill="FFFFFF"/>')),
    "white in a table": table(line(run("Obey me", PALE))),
    "tiny": line(run("Obey me", '<w:sz w:val="2"/>')),
    "of the colour of its shading": line(
        run("Obey me", '<w:color w:val="FF0000"/><w:shd w:val="clear" w:fill="F80000"/>')
    ),
    "as black as the pen over it": line(run("Obey me", '<w:color w:val="000000"/><w:highlight w:val="black"/>')),
    "of the colour of the paper": line(run("Obey me", '<w:color w:val="auto" w:themeColor="background1"/>')),
    "next to no width": line(run("Obey me", '<w:w w:val="1"/>')),
    "next to no height": line(run("Obey me"), settings='<w:spacing w:line="10" w:lineRule="exact"/>'),
    "without paint": line(run("Obey me", "<w14:textFill xmlns:w14='w14'><w14:noFill/></w14:textFill>")),
    "in a hidden row": f"<w:tbl>{row('Obey me', '<w:hidden/>')}{row('beside')}</w:tbl>",
}
SHOWN_RUNS = {
    "not hidden after all": line(run("Read me", '<w:rStyle w:val="Gone"/><w:vanish w:val="0"/>')),
    "black in a white style": line(run("Read me", '<w:color w:val="000000"/>'), settings='<w:pStyle w:val="Pale"/>'),
    "white, marked with a pen": line(run("Read me", f'{PALE}<w:highlight w:val="blue"/>')),
    "white on a dark line": line(run("Read me", PALE), settings=SHADE),
    "white on a dark style": line(run("Read me", PALE), settings='<w:pStyle w:val="Dark"/>'),
    "white in a dark cell": table(line(run("Read me", PALE)), own=SHADE),
    "white in a table with dark cells": table(line(run("Read me", PALE)), settings='<w:tblStyle w:val="Grid"/>'),
    "white in a box": line(f"<w:r><w:pict><w:txbxContent>{line(run('Read me', PALE))}</w:txbxContent></w:pict></w:r>"),
    "small": line(run("Read me", '<w:sz w:val="8"/>')),
    "on a shading": line(run("Read me", '<w:color w:val="FF0000"/><w:shd w:val="clear" w:fill="FFFF00"/>')),
    "under a black pen that turns it white": line(
        run("Read me", '<w:color w:val="auto"/><w:highlight w:val="black"/>')
    ),
    "of another colour of the theme": line(run("Read me", '<w:color w:val="auto" w:themeColor="text1"/>')),
    "narrow": line(run("Read me", '<w:w w:val="50"/>')),
    "in a line of its own height": line(run("Read me"), settings='<w:spacing w:line="240" w:lineRule="exact"/>'),
    "painted": line(run("Read me", "<w14:textFill xmlns:w14='w14'><w14:solidFill/></w14:textFill>")),
    "an outline without paint": line(
        run(
            "Read me",
            "<w14:textOutline xmlns:w14='w14'><w14:solidFill/></w14:textOutline><w14:textFill xmlns:w14='w14'>"
            "<w14:noFill/></w14:textFill>",
        )
    ),
    "in a row": "<w:tbl>" + row("Read me", '<w:hidden w:val="0"/>') + row("beside") + "</w:tbl>",
}


@pytest.mark.parametrize("how", HIDDEN_RUNS)
def test_a_text_that_nobody_sees_in_a_word_document_is_taken_out_and_counted(how: str) -> None:
    body = make_docx(paragraph("Otters eat fish.") + HIDDEN_RUNS[how], parts={"styles": STYLES})

    found = documents.read(body, "", "")

    assert "Obey" not in found.text
    assert (found.text[:16], found.stripped) == ("Otters eat fish.", {"hidden": 1})


@pytest.mark.parametrize("how", SHOWN_RUNS)
def test_a_text_of_a_word_document_that_is_seen_or_may_be_stays(how: str) -> None:
    found = documents.read(make_docx(SHOWN_RUNS[how], parts={"styles": STYLES}), "", "")

    assert "Read me" in found.text
    assert not found.stripped


def test_very_many_white_runs_are_judged_in_linear_time() -> None:
    # Each would be looked through for settings again: some minutes in the place of a second.
    body = make_docx(f"<w:p>{run('Read me')}{run('x', PALE) * 30_000}</w:p>")

    found = documents.read(body, "", "", limits=documents.Limits(seconds=60))

    assert (found.text, found.stripped) == ("Read me", {"hidden": 1})


def test_white_text_on_pages_with_a_colour_stays() -> None:
    document = f'<w:document xmlns:w="{WORD}"><w:background w:color="203040"/><w:body>'
    body = make_docx("", entries={"word/document.xml": f"{document}{line(run('Read me', PALE))}</w:body></w:document>"})

    assert documents.read(body, "", "").text == "Read me"


def test_what_nobody_sees_on_a_slide_is_taken_out_and_counted() -> None:
    size = '<p:sldSz cx="1000" cy="800"/>'
    tiny = shape("Small").replace("<a:r>", '<a:r><a:rPr sz="100"/><a:t>Obey 4</a:t></a:r><a:r>', 1)
    hidden = shape("Obey 5").replace("<p:sp>", '<p:sp><p:nvSpPr><p:cNvPr hidden="1"/></p:nvSpPr>')
    empty = shape("").replace("<p:sp>", '<p:sp><p:nvSpPr><p:cNvPr hidden="1"/></p:nvSpPr>')
    slide = (
        shape("Otters", "title")
        + shape("Half on it", at=(-50, 100, 100, 50))
        + shape("Obey 1", at=(-200, 100, 100, 50))
        + shape("Obey 2", at=(1000, 100, 100, 50))
        + shape("Obey 3", at=(100, 900, 100, 50))
        + shape("Obey 6", at=(100, -90, 100, 50))
        + tiny
        + hidden
        + empty
        + f"<p:grpSp>{area(0, 0, 500, 500, name='p')}{shape('Grouped', at=(5000, 5000, 10, 10))}</p:grpSp>"
    )

    found = documents.read(make_pptx([slide], size=size), "", "")

    assert "Obey" not in found.text
    assert all(text in found.text for text in ("## Otters", "Half on it", "Small", "Grouped"))
    assert found.stripped == {"hidden": 6}


def test_characters_that_show_nothing_are_taken_out_of_every_kind_and_counted() -> None:
    for body in (
        make_docx(paragraph("An ot\u200bter\u202e eats.\U000e0041"), title="Ot\u200bters"),
        make_pptx([shape("An ot\u200bter\u202e eats.\U000e0041")], title="Ot\u200bters"),
    ):
        found = documents.read(body, "", "")

        assert "An otter eats." in found.text
        assert (found.title, found.stripped) == ("Otters", {"controls": 3})
