"""Word and PowerPoint files become Markdown with their structure, and no archive can do harm."""

from __future__ import annotations

import io
import struct
import zipfile
from types import SimpleNamespace

import pytest

from specloom.core.faults import Fault
from specloom.core.sandbox import EndedFault
from specloom.domains.scrape.documents import read as documents
from specloom.domains.scrape.documents.document import Limits
from tests.support.documents import DRAW, WORD, lines, make_docx, make_pdf, make_pptx, make_zip, paragraph, shape

STYLES = f"""<w:styles xmlns:w="{WORD}">
  <w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>
  <w:style w:styleId="H2"><w:name w:val="Custom"/><w:basedOn w:val="H1"/>
    <w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
  <w:style w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style>
  <w:style w:styleId="Code"><w:name w:val="Source Code"/></w:style>
</w:styles>"""
NUMBERING = f"""<w:numbering xmlns:w="{WORD}">
  <w:abstractNum w:abstractNumId="1">
    <w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/></w:lvl>
    <w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl>
  </w:abstractNum>
  <w:num w:numId="5"><w:abstractNumId w:val="1"/></w:num>
</w:numbering>"""


def read(body: bytes, limits: Limits = Limits()) -> documents.Document:  # noqa: B008
    return documents.read(body, "", "https://x.example/a", limits=limits)


def cell(text: str, settings: str = "") -> str:
    return f"<w:tc><w:tcPr>{settings}</w:tcPr>{paragraph(text)}</w:tc>"


def test_headings_lists_and_code_keep_their_form() -> None:
    body = (
        paragraph("Bridges", style="H1")
        + paragraph("Costs", style="H2")
        + paragraph("Plain text.", style="Loop")
        + paragraph("third", number="5")
        + paragraph("inner", number="5", depth=1)
        + paragraph("fourth", number="5")
        + paragraph("x = 1", style="Code")
        + paragraph("  y = 2", style="Code")
    )

    found = read(make_docx(body, parts={"styles": STYLES, "numbering": NUMBERING}))

    assert found.kind == "docx"
    assert found.text == (
        "# Bridges\n\n## Costs\n\nPlain text.\n\n3. third\n   - inner\n4. fourth\n\n```\nx = 1\n  y = 2\n```"
    )
    assert found.title == "Bridges"


def test_tables_have_pipes_and_their_spans_are_filled() -> None:
    body = f"""<w:tbl>
      <w:tr>{cell("a|b")}{cell("c", '<w:gridSpan w:val="2"/>')}</w:tr>
      <w:tr>{cell("d", '<w:vMerge w:val="restart"/>')}{cell("e")}{cell("f")}</w:tr>
      <w:tr>{cell("", "<w:vMerge/>")}{cell("g")}{cell("h")}</w:tr></w:tbl>"""

    assert read(make_docx(body)).text == "| a\\|b | c |  |\n| --- | --- | --- |\n| d | e | f |\n|  | g | h |"


def test_links_and_notes_are_kept_and_what_was_deleted_or_hidden_is_not() -> None:
    notes = f'<w:footnotes xmlns:w="{WORD}"><w:footnote w:id="2">{paragraph("A note.")}</w:footnote></w:footnotes>'
    body = """<w:p>
      <w:r><w:t>See </w:t></w:r><w:hyperlink r:id="l1"><w:r><w:t>the plan</w:t></w:r></w:hyperlink>
      <w:hyperlink r:id="l2"><w:r><w:t> there</w:t></w:r></w:hyperlink>
      <w:r><w:footnoteReference w:id="2"/></w:r>
      <w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:ins><w:r><w:t> added</w:t></w:r></w:ins>
      <w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>"""

    found = read(
        make_docx(body, parts={"footnotes": notes}, links={"l1": "https://x.example/a(1)", "l2": "javascript:x"})
    )

    assert found.text == "See [the plan](https://x.example/a%281%29) there[^1] added\n\n[^1]: A note."


def test_the_core_properties_come_along() -> None:
    found = read(
        make_docx(
            paragraph("Text."),
            title="Bridges",
            creator="Ann Lee; Bo Day",
            created="2024-05-07T08:00:00Z",
            language="en",
        )
    )

    assert (found.title, found.authors, found.published) == ("Bridges", ("Ann Lee", "Bo Day"), "2024-05-07T08:00:00Z")
    assert found.language == "en"


def test_a_text_box_is_read_once_although_it_is_there_twice() -> None:
    box = f"<w:drawing><w:txbxContent>{paragraph('In a box')}</w:txbxContent></w:drawing>"
    twice = f"<m:Choice>{box}</m:Choice><m:Fallback>{box}</m:Fallback>"
    body = f'<w:p><w:r><m:AlternateContent xmlns:m="x">{twice}</m:AlternateContent></w:r></w:p>'

    assert read(make_docx(body)).text == "In a box"


def test_slides_come_in_the_order_of_the_presentation() -> None:
    slides = [shape(f"Title {at}", "title") + shape(f"Text {at}") for at in range(12)]

    found = read(make_pptx(slides, title="Bridges", creator="Ann Lee"))

    assert (found.kind, found.pages, found.title) == ("pptx", 12, "Bridges")
    assert found.text.startswith("--- Slide 1 ---\n\n## Title 0\n\nText 0\n\n--- Slide 2 ---\n\n## Title 1")
    assert found.text.index("Text 9") < found.text.index("Text 10")


def test_lists_tables_notes_and_groups_of_a_slide_are_read_and_its_frame_is_not() -> None:
    table = (
        "<p:graphicFrame><a:tbl>"
        + "".join(
            f"<a:tr><a:tc><p:txBody><a:p><a:r><a:t>{one}</a:t></a:r></a:p></p:txBody></a:tc>"
            f"<a:tc><p:txBody><a:p><a:r><a:t>{two}</a:t></a:r></a:p></p:txBody></a:tc></a:tr>"
            for one, two in (("a", "b"), ("c", "d"))
        )
        + "</a:tbl></p:graphicFrame>"
    )
    tree = (
        shape("Bridges", "ctrTitle")
        + shape("first\n\tinner\nsecond", "body")
        + f"<p:grpSp>{shape('grouped')}</p:grpSp>"
        + table
        + shape("7", "sldNum")
    )

    found = read(make_pptx([tree], notes={0: "Say hello."}))

    assert found.text == (
        "--- Slide 1 ---\n\n## Bridges\n\n- first\n   - inner\n- second\n\ngrouped\n\n"
        "| a | b |\n| --- | --- |\n| c | d |\n\n> Notes: Say hello."
    )
    assert DRAW


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (make_docx(""), "no text"),
        (make_pptx([]), "no slides"),
        (make_pptx(["<p:pic/>"]), "only pictures"),
        (make_docx(paragraph("Text."))[:-30], "end is missing"),
        (b"PK\x03\x04 word/document", "end is missing"),
        (make_zip({"word/document.xml": "<a"}), "no document"),
        (make_zip({"word/document.xml": b"\xff\xfe\x00"}), r"not XML|no document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 100, "old office format"),
        (b"<html>", "no PDF, DOCX, PPTX or XLSX"),
        (b"", "This file is empty: what came has 0 bytes."),
    ],
)
def test_what_cannot_be_read_says_why(body: bytes, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence) as caught:
        read(body)

    assert caught.value.kind == "content_empty"


def test_the_bytes_tell_the_kind_and_not_their_name() -> None:
    assert documents.detect(make_docx(paragraph("x")), "application/pdf", "a.pptx") == "docx"
    assert documents.detect(make_pptx([]), "", "") == "pptx"
    assert documents.detect(b"junk\n%PDF-1.4", "text/html", "") == "pdf"
    assert documents.detect(b"<!doctype html>", "application/pdf", "a.pdf") == ""
    assert documents.detect(make_zip({"x": "y"}), "", "a.zip") == ""
    assert documents.announced("text/html; charset=utf-8", "https://x.example/A.PDF?x=1") == "pdf"
    assert (
        documents.announced("application/vnd.openxmlformats-officedocument.presentationml.presentation", "") == "pptx"
    )
    assert documents.announced("", "http://[") == ""


def bomb(entries: int = 1, size: int = 40_000_000) -> bytes:
    return make_zip({"word/document.xml": b"<a>" + b" " * size, **{f"x{at}": b"" for at in range(entries)}})


@pytest.mark.parametrize(
    ("body", "limits", "sentence"),
    [
        (bomb(), Limits(), "unpacks to more than"),
        (bomb(size=3_000_000), Limits(), "times its size"),
        (bomb(entries=200, size=10), Limits(entries=100), "more than 100 entries"),
        (make_docx(paragraph("x" * 5000), parts={"styles": STYLES}), Limits(total_bytes=5000), "unpacks to more"),
    ],
)
def test_an_archive_that_unpacks_without_end_is_refused(body: bytes, limits: Limits, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence) as caught:
        read(body, limits)

    assert caught.value.kind == "too_large"


def test_an_archive_that_lies_about_its_entries_is_refused() -> None:
    body = bytearray(bomb(entries=5000, size=10))
    at = body.rindex(b"PK\x05\x06")
    body[at + 8 : at + 12] = struct.pack("<HH", 1, 1)

    with pytest.raises(Fault, match="entries"):
        read(bytes(body), Limits(entries=100))


def test_entities_are_not_read() -> None:
    declared = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd"><!ENTITY b "&a;&a;">]>'
    evil = f'{declared}<w:document xmlns:w="{WORD}"><w:body>{paragraph("&a;&b;")}</w:body></w:document>'

    with pytest.raises(Fault, match="document type"):
        read(make_zip({"word/document.xml": evil}))


def test_an_entry_under_a_password_or_packed_oddly_is_refused() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("word/document.xml", "<a/>")
    locked = bytearray(make_zip({"word/document.xml": "<a/>"}))
    at = locked.rindex(b"PK\x01\x02")
    locked[at + 8] |= 1

    with pytest.raises(Fault, match="packed in a way"):
        read(data.getvalue())
    with pytest.raises(Fault, match="password"):
        read(bytes(locked))


def test_a_target_outside_the_archive_is_an_entry_that_is_not_there() -> None:
    relation = '<Relationship Id="r" Type="x/officeDocument" Target="../../../etc/passwd"/>'
    relations = f'<Relationships xmlns="x">{relation}</Relationships>'

    with pytest.raises(Fault, match="no document"):
        read(make_zip({"_rels/.rels": relations, "word/document.xml.x": "x"}))


def test_deep_nesting_is_no_crash() -> None:
    deep = "<w:sdt>" * 3000 + paragraph("x") + "</w:sdt>" * 3000

    with pytest.raises(Fault):
        read(make_docx(deep))


def test_the_limits_of_text_slides_and_cells_cut_and_say_so() -> None:
    long = read(make_docx(paragraph("word " * 20) * 50), Limits(text=500))
    row = f"<w:tr>{cell('a')}{cell('b')}</w:tr>"
    table = read(make_docx(f"<w:tbl>{row * 50}</w:tbl>"), Limits(cells=20))
    slides = read(make_pptx([shape("x")] * 9), Limits(pages=3))

    late = read(make_docx(paragraph("one") + paragraph("two")), Limits(seconds=0))

    assert (late.text, late.truncated) == ("one", True)
    assert read(make_pptx([shape("x")] * 9), Limits(seconds=0)).text.count("Slide") == 1
    assert long.truncated
    assert len(long.text) <= 500
    assert table.truncated
    assert table.text.count("\n") == 10
    assert (slides.pages, slides.truncated, slides.text.count("Slide")) == (9, True, 3)


async def test_a_process_of_its_own_gives_the_same_document_and_the_same_faults() -> None:
    body = make_docx(paragraph("Bridges", style="H1"), parts={"styles": STYLES}, creator="Ann Lee")

    assert await documents.read_apart(body, "", "") == read(body)
    with pytest.raises(Fault, match="no PDF") as caught:
        await documents.read_apart(b"junk", "text/x", "")
    assert caught.value.kind == "content_empty"
    assert caught.value.action == "inform_user"


async def test_a_process_that_needs_too_much_memory_is_a_fault() -> None:
    pytest.importorskip("resource")

    with pytest.raises(Fault) as caught:
        await documents.read_apart(
            make_pdf([lines(["x" * 100])]) + b"x" * 300_000_000, "", "", limits=Limits(memory=200_000_000)
        )

    assert caught.value.kind == "too_large"


async def test_a_process_that_cannot_be_started_or_is_late_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("specloom.core.process.sys", SimpleNamespace(executable="/no/such/interpreter"))
        with pytest.raises(Fault, match="No process could be started to read the document: No such file") as missing:
            await documents.read_apart(make_docx(paragraph("x")), "", "")
    monkeypatch.setattr(documents, "_GRACE", 0)
    with pytest.raises(EndedFault, match="could not be read within 0 seconds") as late:
        await documents.read_apart(make_docx(paragraph("x")), "", "", limits=Limits(seconds=0))

    assert (missing.value.kind, late.value.kind) == ("internal", "too_large")
