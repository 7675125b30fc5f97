"""Small XLSX files made by hand, so that a test says all that is in them."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.documents import RELATION, make_zip

_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def make_xlsx(
    sheets: Mapping[str, str],
    *,
    hidden: frozenset[str] = frozenset(),
    strings: str = "",
    styles: str = "",
    book: str = "",
    core: str = "",
) -> bytes:
    """An XLSX file: `sheets` have the XML of each sheet by its name, `strings` and `styles` that of their parts.

    `book` is what else the workbook says, `core` are the core properties.
    """
    named = "".join(
        f'<sheet name="{name}" r:id="r{at}" state="{"hidden" if name in hidden else "visible"}"/>'
        for at, name in enumerate(sheets)
    )
    listed = [(f"r{at}", "worksheet", f"worksheets/sheet{at}.xml") for at in range(len(sheets))]
    listed += [("rs", "sharedStrings", "sharedStrings.xml"), ("rf", "styles", "styles.xml")]
    entries = {
        "_rels/.rels": _relations(("r1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{RELATION}">{book}<sheets>{named}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relations(*listed),
        "xl/sharedStrings.xml": f'<sst xmlns="{_SHEET}">{strings}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{_SHEET}">{styles}</styleSheet>',
        "docProps/core.xml": f'<c:coreProperties xmlns:c="core" xmlns:x="dc">{core}</c:coreProperties>',
    }
    for at, inner in enumerate(sheets.values()):
        entries[f"xl/worksheets/sheet{at}.xml"] = f'<worksheet xmlns="{_SHEET}">{inner}</worksheet>'
    return make_zip(entries)


def rows(*rows: str) -> str:
    """The data of a sheet, from the XML of each row's cells."""
    return f"<sheetData>{''.join(f'<row>{cells}</row>' for cells in rows)}</sheetData>"


def text(said: str) -> str:
    """A cell with a text of its own."""
    return f'<c t="inlineStr"><is><t>{said}</t></is></c>'


def number(said: str, style: int = 0) -> str:
    """A cell with a number in a format."""
    return f'<c s="{style}"><v>{said}</v></c>'


def _relations(*relations: tuple[str, str, str]) -> str:
    inner = "".join(
        f'<Relationship Id="{name}" Type="{RELATION}/{kind}" Target="{target}"/>' for name, kind, target in relations
    )
    return f'<Relationships xmlns="{_PACKAGE}">{inner}</Relationships>'
