"""A report as DOCX, with the styles of headings by which word processors navigate (the extra `docx`: python-docx)."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from typing import Any

from specloom.core import Fault

from .document import Line, ReportCode, ReportDocument, ReportFacts, ReportOutline, ReportTable
from .markup import to_target

MISSING = (
    "a report as DOCX needs an extra of specloom that is not installed: pip install 'specloom[docx]'; as html or "
    "markdown it needs nothing"
)
_GROUND, _LINK = "E8ECF3", "0B4F9E"
"""Colours of the ground below words of others, and of links."""


def expect_library() -> None:
    """A `config` fault where the library of the extra is not there."""
    if find_spec("docx") is None:
        raise Fault("config", MISSING)


def to_docx(report: ReportDocument) -> bytes:
    """The report as the bytes of a .docx file."""
    expect_library()
    return _Writer(report).write()


class _Writer:
    """Writes one report; the library is imported when the first is written."""

    def __init__(self, report: ReportDocument) -> None:
        from docx import Document
        from docx.opc.constants import RELATIONSHIP_TYPE

        self._report = report
        self._document: Any = Document()
        self._relation = RELATIONSHIP_TYPE.HYPERLINK
        self._quoted = self._make_style("Words of others")
        self._linked = self._make_style("Link of others", color=_LINK)
        self._label = self._make_style("Label", bold=True)
        self._bullet, self._grid = (self._document.styles[name].style_id for name in ("List Bullet", "Table Grid"))

    def _make_style(self, name: str, *, color: str = "", bold: bool = False) -> str:
        from docx.enum.style import WD_STYLE_TYPE
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn
        from docx.shared import RGBColor

        style: Any = self._document.styles.add_style(name, WD_STYLE_TYPE.CHARACTER)
        if bold:
            style.font.bold = True
            return str(style.style_id)
        shade: Any = OxmlElement("w:shd")
        for key, value in (("val", "clear"), ("color", "auto"), ("fill", _GROUND)):
            shade.set(qn(f"w:{key}"), value)
        style.element.get_or_add_rPr().append(shade)
        if color:
            style.font.color.rgb = RGBColor.from_string(color)
            style.font.underline = True
        return str(style.style_id)

    def write(self) -> bytes:
        """The bytes of the file."""
        document, report = self._document, self._report
        document.core_properties.title = report.title
        document.core_properties.author = report.maker
        document.core_properties.comments = ""
        document.core_properties.language = "en"
        document.add_heading(report.title, 0)
        for line in report.lead:
            self._add(document.add_paragraph(), line)
        for part in report.parts:
            document.add_heading(part.title, part.level - 1)
            for block in part.blocks:
                if isinstance(block, ReportFacts):
                    self._add_facts(block)
                elif isinstance(block, ReportTable):
                    self._add_table(block)
                elif isinstance(block, ReportOutline):
                    self._add_outline(block)
                elif isinstance(block, ReportCode):
                    for piece in block.text.split("\n\n"):
                        _add_run(document.add_paragraph(), piece, self._quoted)
                else:
                    self._add(document.add_paragraph(), block)
        if report.maker:
            document.add_paragraph(report.maker)
        file = BytesIO()
        document.save(file)
        return file.getvalue()

    def _add_facts(self, facts: ReportFacts) -> None:
        for label, lines in facts.rows:
            for at, line in enumerate(lines):
                paragraph = self._document.add_paragraph()
                paragraph._p.style = self._bullet  # noqa: SLF001 - as of a run
                if at == 0:
                    _add_run(paragraph, f"{label}: ", self._label)
                self._add(paragraph, line)

    def _add_outline(self, outline: ReportOutline) -> None:
        from docx.shared import Mm

        for level, line in outline.rows:
            paragraph = self._document.add_paragraph()
            paragraph._p.style = self._bullet  # noqa: SLF001 - as of a run
            if level > 1:
                paragraph.paragraph_format.left_indent = Mm(6 * level)
            self._add(paragraph, line)

    def _add_table(self, table: ReportTable) -> None:
        from docx.oxml import OxmlElement

        self._document.add_paragraph(f"{table.caption}:")
        grid = self._document.add_table(rows=0, cols=len(table.head))
        grid._tbl.tblStyle_val = self._grid  # noqa: SLF001 - as of a run
        heads = grid.add_row()
        # Repeated on every page, and told as the heads of columns by programs that read aloud.
        heads._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))  # noqa: SLF001 - the library has no other way
        for cell, name in zip(heads.cells, table.head, strict=True):
            _add_run(cell.paragraphs[0], name, self._label)
        for row in table.rows:
            for cell, line in zip(grid.add_row().cells, row, strict=True):
                self._add(cell.paragraphs[0], line)

    def _add(self, paragraph: Any, line: Line) -> None:
        for span in line:
            if span.address:
                self._add_link(paragraph, span.text, to_target(span.address))
            else:
                _add_run(paragraph, span.text, self._quoted if span.is_foreign else "")

    def _add_link(self, paragraph: Any, text: str, address: str) -> None:
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn

        anchor: Any = OxmlElement("w:hyperlink")
        anchor.set(qn("r:id"), paragraph.part.relate_to(address, self._relation, is_external=True))
        # A run is made at the end of its paragraph, and moved into the link.
        anchor.append(_add_run(paragraph, text, self._linked))
        paragraph._p.append(anchor)  # noqa: SLF001 - the library has no other way


def _add_run(paragraph: Any, text: str, style: str) -> Any:
    """The element of a new run in a style, by its id: the library looks at all styles whenever it is given one."""
    element = paragraph.add_run(text)._r  # noqa: SLF001 - see above
    if style:
        element.style = style
    return element
