"""A small document of each kind that has something of all that is read, to be damaged by tests."""

from __future__ import annotations

from tests.support.documents import (
    CHART,
    DIAGRAM,
    WORD,
    area,
    chart,
    diagram,
    grid,
    lines,
    make_docx,
    make_pdf,
    make_pptx,
    paragraph,
    rows,
    shape,
)
from tests.support.spreadsheets import make_xlsx, number, text
from tests.support.spreadsheets import rows as cells

_TABLE = [["City", "Bridges", "Share"], ["Aldburg", "12", "41.0%"], ["Brenn", "7", "33.4%"], ["Cott", "-", "25.6%"]]
_PDF = make_pdf(
    [
        [*lines(["The bridge was opened on", "Tuesday."]), *rows(_TABLE, (60, 160, 260), top=600)],
        [*lines(["Page two has a", "second line."]), *rows(_TABLE, (60, 160, 260), top=600, leading=20)],
        [],
    ],
    info={"Title": "On bridges", "Author": "Ann", "CreationDate": "D:20240507"},
    outline=[(0, "The bridge")],
    picture={2},
    resources="/Pattern << /P << /PatternType 2 /Shading << /ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 600 0] "
    "/Function << /FunctionType 2 /Domain [0 1] /C0 [0 0 1] /C1 [1 0 0] /N 1 >> >> >> >>",
    catalog="/Lang (en)",
    fields=["<< /Subtype /Widget /Rect [9 9 99 29] /FT /Tx /T (Town) /TU (Your town) /V (Aldburg) >>"],
    drawn={
        0: "3 Tr BT /F1 9 Tf 60 90 Td (unpainted) Tj ET 0 Tr 1 1 1 rg 50 70 90 20 re f BT /F1 9 Tf 60 75 Td (white) "
        "Tj ET "
        "/Pattern cs /P scn 50 40 90 20 re f 1 1 1 rg BT /F1 9 Tf 60 45 Td (on colours) Tj ET q 0 0 9 9 re W n "
        "0 0 900 900 re f Q 0 0 0 rg BT /F1 9 Tf 0 -1 1 0 300 300 Tm (down) "
        "Tj ET BT /F1 9 Tf 0 -1 1 0 280 300 Tm (to) Tj ET",
        1: grid((50, 150, 250, 350), (615, 595, 575, 555, 535))
        + " 50 500 99 9 re f q 0 1 -1 0 9 9 cm 1 1 m 1 99 l S Q",
    },
)
_NUMBERING = (
    f'<w:numbering xmlns:w="{WORD}"><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="upperRoman"/>'
    '<w:lvlText w:val="Part %1"/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2"/></w:lvl>'
    '</w:abstractNum><w:num w:numId="5"><w:abstractNumId w:val="1"/></w:num></w:numbering>'
)
_DOCX = make_docx(
    paragraph("Bridges", style="H1")
    + paragraph("one", number="5")
    + paragraph("two", number="5", depth=1)
    + f'<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{paragraph("a")}</w:tc></w:tr>'
    + f"<w:tr><w:tc>{paragraph('b')}</w:tc>"
    + f"<w:tc><w:tbl><w:tr><w:tc>{paragraph('c')}</w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>"
    + '<w:p><w:hyperlink r:id="l1"><w:r><w:t>link</w:t></w:r></w:hyperlink>'
    + '<w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    + '<w:p><w:r><w:fldChar w:fldCharType="begin"/><w:instrText>HYPERLINK "https://example.org/"</w:instrText>'
    + '<w:fldChar w:fldCharType="separate"/><w:t>field</w:t><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    + "<w:p><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num>"
    + "<m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></w:p>"
    + '<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:rPr><w:color w:val="FFFFFF"/><w:sz w:val="9"/></w:rPr>'
    + '<w:t>white</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>2</w:t></w:r></w:p>'
    + f"<w:p><w:r><w:pict><w:txbxContent>{paragraph('boxed')}</w:txbxContent></w:pict></w:r></w:p>"
    + f'<w:p><w:r><w:drawing><c:chart xmlns:c="{CHART}" r:id="pchart"/></w:drawing></w:r></w:p>',
    links={"l1": "https://example.org/"},
    parts={
        "styles": f'<w:styles xmlns:w="{WORD}">'
        '<w:style w:styleId="H1"><w:name w:val="heading 1"/><w:basedOn w:val="H2"/></w:style></w:styles>',
        "footnotes": f'<w:footnotes xmlns:w="{WORD}">'
        f'<w:footnote w:id="2">{paragraph("note")}</w:footnote></w:footnotes>',
        "numbering": _NUMBERING,
        "chart": chart("Ships", ["May", "June"], {"in": [1, 2], "out": [3, 4]}),
    },
    title="Bridges",
    creator="Ann",
)
_FRAME = f"<p:graphicFrame>{area(0, 200, 400, 90, name='p')}<a:graphic>%s</a:graphic></p:graphicFrame>"
_PPTX = make_pptx(
    [
        shape("Title", "title") + shape("one\n\ttwo", "body"),
        f"<p:grpSp>{shape('x')}</p:grpSp>",
        shape("below", at=(0, 600, 400, 90))
        + shape("right", at=(500, 200, 400, 90))
        + _FRAME % f'<c:chart xmlns:c="{CHART}" r:id="chart"/>'
        + _FRAME % f'<d:relIds xmlns:d="{DIAGRAM}" r:dm="diagramData"/>',
    ],
    notes={0: "Say."},
    size='<p:sldSz cx="9000" cy="7000"/>',
    related={
        "chart": chart("Ships", ["45000", "45001"], {"in": [1, 2]}, dates="d/m/yy"),
        "diagramData": diagram({"a": "Build", "b": "Test"}, {"top": ["a"], "a": ["b"]}),
    },
)
_XLSX = make_xlsx(
    {
        "One": f'<cols><col min="3" max="3" hidden="1"/></cols>{cells(text("City") + number("45419", 1) + text("x"))}',
        "Two": cells(number("0.5", 2) + '<c t="s"><v>0</v></c><c r="AB3" t="b"><v>1</v></c>', text("end")),
    },
    strings="<si><r><t>run</t></r></si>",
    styles='<numFmts><numFmt numFmtId="170" formatCode="0.0%"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs>',
)
SEEDS = {"pdf": _PDF, "docx": _DOCX, "pptx": _PPTX, "xlsx": _XLSX}
"""The documents by their kinds."""
