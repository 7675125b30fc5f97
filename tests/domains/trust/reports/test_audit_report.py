"""An audit as a report: everything of it is in each form, what others wrote stays theirs, and a browser shows it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

from specloom.core.faults import Fault
from specloom.domains.scrape.browser.browser import find_browser
from specloom.domains.trust.bibliography.bibtex import split_bibtex
from specloom.domains.trust.reports import word
from specloom.domains.trust.reports.document import (
    LONGEST_QUOTE,
    ReportDocument,
    ReportPart,
    ReportTable,
    link,
    own,
    quote,
)
from specloom.domains.trust.reports.markup import to_html, to_markdown
from specloom.domains.trust.reports.word import to_docx
from tests.support.audited import WORLD, desk
from tests.support.browser import needs_browser
from tests.support.research_server import ADA, ERAS, Server

FORGED = "Entry 9: No finding"
HOSTILE = (
    f"</bdi></p><h3>{FORGED}</h3><script>document.title='taken'</script><img src=http://evil.example/x.png>",
    f"a `` b\n\n### {FORGED}\n\n| Retracted | 0 |\n|---|---|\n- Existence: confirmed",
    f"```\n# {FORGED}\n```` [all is well](https://evil.example/) ![x](https://evil.example/x.png)",
    "<!-- --> <style>*{display:none}</style> &lt;script&gt; {{ 7*7 }} {% raw %}",
    "\u202edettim\u2066 \x00\x1b[2J \ufffe\uffff \U000e0041 ends in a tick `",
)
ENTRIES: Sequence[dict[str, str]] = (
    {"doi": "10.1234/swim", "title": "How otters swim under winter ice", "url": "https://pages.example.org/river"},
    {"doi": "10.1234/fly", "title": "How otters fly in summer", "date": "2009"},
    {"title": "The lost book of otters", "url": "https://pages.example.org/river", "claim": "Otters eat fish."},
    {"doi": "10.1234/none", "title": "Otters that nobody has seen", "url": "https://pages.example.org/none"},
    *({"title": title, "url": f'https://evil.example/"><script>{at}|`'} for at, title in enumerate(HOSTILE)),
    {"title": "A title", "url": "javascript:document.title='taken'", "claim": HOSTILE[1]},
)
HEADS = ["What was checked", "Findings", "What was not checked", "Who was asked", "Entries with a finding"]


def make(form: str, *, world: Mapping[str, Any] = WORLD, **given: Any) -> tuple[dict[str, Any], Any]:
    """The answer of an audit with a report, and the report."""

    async def work() -> tuple[dict[str, Any], Any]:
        async with desk(world, down=frozenset(("europepmc",))) as audits:
            answer = await audits.audit(report=form, **(given or {"entries": list(ENTRIES)}))
            return answer, (await audits.read(answer["reportResource"])).content

    return asyncio.run(work())


@pytest.fixture(scope="module")
def page() -> str:
    return str(make("html")[1])


@pytest.fixture(scope="module")
def markdown() -> str:
    return str(make("markdown")[1])


def strip_code(text: str) -> str:
    """What stands outside of code spans, as CommonMark finds them: a run of ticks up to the next of its length."""
    outside, at = [], 0
    runs = list(re.finditer(r"`+", text))
    while True:
        opening = next((run for run in runs if run.start() >= at), None)
        closing = opening and next(
            (run for run in runs if run.start() > opening.start() and run[0] == opening[0]), None
        )
        if opening is None or closing is None:
            return "".join([*outside, text[at:]])
        outside.append(text[at : opening.start()])
        at = closing.end()


def test_a_report_says_what_was_checked_by_whom_and_what_was_not(markdown: str) -> None:
    assert "# Audit of a bibliography" in markdown
    assert re.search(
        r"10 entries were checked on 2026-01-01T00:00:00Z: retracted 1, not found 1, .*without a flag 1", markdown
    )
    assert "- Checked by: specloom " in markdown
    assert "| Retracted | 1 | 2 | a retraction" in markdown
    assert "| crossref | records of DOIs | 1 | 1 | 0 | – |" in markdown
    assert "| europepmc | notices of retraction | 1 | 0 | 0 | upstream\\_unavailable (1) |" in markdown
    assert "| Entry 3 | existence | `" in markdown
    assert "### Entry 2: Retracted\n" in markdown
    assert "- Why: `the work was retracted on 2010-02-06`" in markdown
    assert "  - `retraction` `2010-02-06` listed by `publisher`" in markdown
    assert "  - register crossref DOI <https://doi.org/10.1234/fly>" in markdown
    assert "| year | match | `2009` | `2009` | `the year is the same` |" in markdown
    assert "- Claim: `Otters eat fish.`" in markdown
    assert "  - not addressed by its source" in markdown


def test_the_gravest_stand_first_and_nobody_is_left_out(markdown: str) -> None:
    heads = re.findall(r"^### Entry (\d+): (.*)", markdown, re.MULTILINE)

    assert heads[0] == ("2", "Retracted")
    assert heads[1][0] == "4"
    assert heads[-1] == ("1", "No finding")
    assert sorted(int(number) for number, _ in heads) == list(range(1, 11))


@pytest.mark.parametrize("form", ["html", "markdown", "docx"])
def test_the_digest_is_that_of_the_document_as_it_was_handed_in(form: str) -> None:
    document = "TY  - JOUR\nTI  - How otters swim under winter ice é\nDO  - 10.1234/swim\nER  -"

    answer, report = make(form, bibliography=f"{document}  \n")

    digest = hashlib.sha256(document.encode()).hexdigest()
    assert answer["inputDigest"] == digest
    text = str(zipfile.ZipFile(io.BytesIO(report)).read("word/document.xml")) if form == "docx" else report
    assert digest in text
    assert "bibliography as ris" in text


KEPT = """@article{zebra, title={How otters swim under winter ice}, author={Otter, Ann and Weir, Bob}, year={2019},
  journal={Journal of Otters}, doi={10.1234/swim}, keywords={ice}, annote={keep me}}

@article{ape, title={How otters swim under winter ice}, doi={10.1234/swim}, pages={3--5}}

@article{broken, title={Left open

@article{other, title={Quantum gravity of black holes and strings}, author={Smith, B.}, year={2015}, doi={10.1234/fly}}

@book{unseen, title={Otters that nobody has seen}, year={1999}, doi={10.1234/none}}
"""


def test_the_bibliography_comes_back_with_the_values_of_its_records_and_each_change_is_named() -> None:
    report = str(make("markdown", bibliography=KEPT)[1])

    part = report.split("## The bibliography with the values of its records\n")[1]
    assert "| Entry 1 | year | `2019` | `2021` |" in part
    assert "| Entry 2 | authors | – | `Ann Otter; Bob Weir` |" in part
    code = part.partition("```bibtex\n")[2].partition("\n```")[0]
    blocks = code.split("\n\n")
    assert [block.partition("\n")[0] for block in blocks] == [
        "% entry 1, changed: year",
        "% entry 2, added: authors, year, venue",
        "% entry 4, as it was",
        "% entry 5, as it was",
    ]
    assert blocks[0].partition("\n")[2] == KEPT.partition("\n\n")[0].replace("2019", "2021")
    assert "pages={3--5}, author = {Otter, Ann and Weir, Bob}, year = {2021}, journal = {" in blocks[1]
    assert blocks[2].partition("\n")[2] in KEPT, "an identifier of another work corrects nothing"
    assert blocks[3].partition("\n")[2] in KEPT


OWN = r"""@string{dam = "Dam"}

@Article{zebra, title={How otters swim under winter ice}, author = {Otter, Ann and others}, year = {2019},
  doi={10.1234/swim},  publisher = dam # " Press", mycustom = {keep {me}, too}, note = {\emph{so}}}

@misc{old, title={Quantum gravity of black holes and strings}, year={c. 1850}, mycustom={and {me}}}
@misc{empty, mycustom = "nothing else"}

@article{open, title={Left open, note={@ home}

@book{unseen, title={Otters that nobody has seen}, year={1999}, doi={10.1234/none}}
"""


def test_what_the_corrected_bibliography_does_not_correct_stands_in_it_as_it_was_handed_in() -> None:
    async def work() -> str:
        async with desk(WORLD, down=frozenset(("europepmc",))) as audits:
            answer = await audits.audit(report="markdown", bibliography=OWN)
            return str((await audits.read(answer["correctedResource"])).content)

    text = asyncio.run(work())

    for entry in ("@string{dam", "@misc{old", "@misc{empty", "@book{unseen"):
        assert next(line for line in OWN.splitlines() if line.startswith(entry)) in text.splitlines()
    assert "mycustom = {keep {me}, too}, note = {\\emph{so}}" in text
    assert "and others}" in text
    assert 'publisher = dam # " Press"' in text
    assert "year = {2021}" in text
    assert "% entry 2, as it was\n@misc{old" in text
    assert "% entry 3, not checked: the entry has no title" in text
    assert "\n% (at)article{open, title={Left open, note={(at) home}" in text
    assert [problem for _, _, problem in split_bibtex(text) if problem] == []
    assert [fields["key"] for _, fields, _ in split_bibtex(text)] == ["zebra", "old", "empty", "unseen"]


def test_an_unreadable_entry_of_another_format_is_named_in_the_corrected_bibliography() -> None:
    async def work() -> str:
        async with desk(WORLD, down=frozenset(("europepmc",))) as audits:
            answer = await audits.audit(
                report="markdown", bibliography='[{"title": "Otters at @home", "type": "book"}, 7]'
            )
            return str((await audits.read(answer["correctedResource"])).content)

    assert (
        "% entry 2, not checked: an item has to be an object, and this is int; it is not in this file"
        in asyncio.run(work())
    )


UNSURE_WORLD = {
    "crossref": {
        "10.1234/two": {
            "title": "Otters of northern rivers, part two",
            "authors": [["Reed", "Rhea"], ["Lake", "Leo"]],
            "year": 2015,
            "venue": "Annals of Lakes",
        },
        "10.1234/note": {
            "title": "Editorial",
            "authors": [["Reed", "Rhea"]],
            "year": 2015,
            "venue": "Annals of Lakes",
        },
    }
}
WEIR = "author={Weir, Wim}, year={2001}, journal={Journal of Rivers}"


@pytest.mark.parametrize(
    "entry",
    [
        "@article{a, title={Otters of northern rivers, part one}, WEIR, doi={10.1234/two}}",
        "@article{a, title={Northern rivers}, author={Reed, Rhea}, doi={10.1234/two}}",
        "@article{a, title={Editorial}, WEIR, doi={10.1234/note}}",
        "@article{a, WEIR, doi={10.1234/two}}",
        "@article{a, author={Reed, Rhea}, year={2001}, doi={10.1234/two}}",
        "@article{a, author={Reed, Rhea}, year={2015}, journal={Rivers and lakes}, doi={10.1234/two}}",
        "@misc{a, howpublished={Talk}, url={https://blog.example.org/post?about=10.1234/two}}",
    ],
    ids=["part one", "a part of it", "a title of many", "no title", "another year", "another journal", "an address"],
)
def test_a_record_that_may_be_of_another_work_corrects_nothing(entry: str) -> None:
    report = str(make("markdown", world=UNSURE_WORLD, bibliography=entry.replace("WEIR", WEIR))[1])

    code = report.partition("```bibtex\n")[2].partition("\n```")[0]
    assert code.startswith("% entry 1, as it was\n")
    assert "Nothing had to be changed." in report
    assert "Annals of Lakes" not in code


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("@article{a, doi={10.1234/two}}", "added: title, authors, year, venue"),
        ("@article{a, author={Reed, R.}, year={2015}, doi={10.1234/two}}", "added: title, venue"),
        ("@article{a, title={Otters of northern rivers, part two}, WEIR, doi={10.1234/two}}", "changed: authors"),
    ],
    ids=["only a DOI", "a DOI with its author", "its title with other authors"],
)
def test_a_record_that_nothing_speaks_against_corrects_its_entry(entry: str, told: str) -> None:
    report = str(make("markdown", world=UNSURE_WORLD, bibliography=entry.replace("WEIR", WEIR))[1])

    assert f"% entry 1, {told}" in report


def check(form: str, **given: Any) -> tuple[dict[str, Any], Any]:
    """The answer of a check of one citation with a report, and the report."""

    async def work() -> tuple[dict[str, Any], Any]:
        async with desk(down=frozenset(("europepmc",))) as audits:
            answer = (await audits.executor.call("verify_citation", {**given, "report": form})).answer
            return answer, (await audits.read(answer["reportResource"])).content

    return asyncio.run(work())


CITED = "Mink, M. (2011). How otters fly in summer. Journal of Otters. https://doi.org/10.1234/fly"


def test_one_citation_is_a_report_with_its_record_its_notice_and_who_was_asked() -> None:
    answer, report = check("markdown", citation=f"{CITED} ", claim="Otters fly at night.")

    assert answer["inputDigest"] == hashlib.sha256(CITED.encode()).hexdigest()
    assert re.findall(r"^#+ (.*)", report, re.MULTILINE) == [
        *("Check of a citation", "What was checked", "Finding", "Record", "Claim", "What was not checked"),
        *("Who was asked", "What this rests on"),
    ]
    for line in (
        f"- Citation: `{CITED}`",
        f"  - {answer['inputDigest']}",
        "- Existence: confirmed",
        "  - `retraction` `2010-02-06` listed by `publisher`",
        "| year | mismatch | `2011` | `2009` |",
        "- Title: `How otters fly in summer`",
        "- DOI: <https://doi.org/10.1234/fly>",
        "- Claim: `Otters fly at night.`",
        "| crossref | the record of a DOI | 1 | 1 | 0 | – |",
    ):
        assert line in report, line


@pytest.mark.parametrize("citation", HOSTILE)
def test_no_citation_makes_an_element_or_a_heading_of_its_report(citation: str) -> None:
    page = html.document_fromstring(check("html", citation=citation)[1])
    markdown = check("markdown", citation=citation)[1]

    assert not [element.tag for element in page.iter("script", "img", "iframe", "link", "object", "base", "form")]
    assert FORGED not in [str(head.text_content()) for head in page.iter("h1", "h2", "h3")]
    assert not [line for line in markdown.split("\n") if line.startswith("#") and FORGED in line]


def test_one_citation_is_a_file_for_word_processors() -> None:
    report = check("docx", citation=CITED)[1]

    text = "".join(etree.fromstring(zipfile.ZipFile(io.BytesIO(report)).read("word/document.xml")).itertext())
    assert "How otters fly in summer" in text
    assert "The citation against its record" in text


@pytest.mark.parametrize("form", ["html", "docx"])
def test_the_corrected_bibliography_is_in_each_form(form: str) -> None:
    report = make(form, bibliography=KEPT)[1]

    text = (
        html.document_fromstring(report).xpath("string(//pre)")
        if form == "html"
        else "".join(etree.fromstring(zipfile.ZipFile(io.BytesIO(report)).read("word/document.xml")).itertext())
    )
    assert "% entry 1, changed: year" in text
    assert "annote={keep me}" in text


def test_an_audit_without_a_report_is_as_it_was() -> None:
    async def work() -> dict[str, Any]:
        async with desk() as audits:
            return await audits.audit(entries=[ENTRIES[0]])

    assert not {"reportResource", "inputDigest"} & asyncio.run(work()).keys()


def test_where_nothing_is_kept_the_answer_says_so_and_has_no_address() -> None:
    async def work() -> dict[str, Any]:
        async with desk(keeps=False) as audits:
            return await audits.audit(entries=[ENTRIES[0]], report="html")

    answer = asyncio.run(work())

    assert "reportResource" not in answer
    assert any("could not be kept" in notice for notice in answer["notices"])


# --- words of others stay theirs ---


def test_no_title_makes_an_element_or_a_heading_of_the_page(page: str) -> None:
    tree = html.document_fromstring(page)
    heads = [str(head.text_content()) for head in tree.iter("h1", "h2", "h3")]

    assert not [element.tag for element in tree.iter("script", "img", "iframe", "link", "object", "base", "form")]
    assert not [name for element in tree.iter() for name in element.attrib if name.startswith("on")]
    assert FORGED not in heads
    assert [head for head in heads if head in HEADS] == HEADS
    assert len(heads) == len(HEADS) + 3 + len(ENTRIES)
    assert FORGED in tree.text_content(), "it is quoted all the same"


def test_what_is_quoted_has_nothing_that_nobody_sees(page: str, markdown: str) -> None:
    for text in (page, markdown):
        assert not re.search("[\x00\x1b\u202e\u2066\ufffe\uffff\U000e0041]", text)


def test_every_link_of_the_page_leads_to_the_web_and_says_where(page: str) -> None:
    anchors = list(html.document_fromstring(page).iter("a"))

    assert anchors
    for anchor in anchors:
        assert re.fullmatch(r"https?://[^\s\"<>]+", anchor.get("href", ""))
        assert anchor.get("rel") == "noreferrer noopener nofollow"
        assert str(anchor.text_content()).startswith("http")
    assert "javascript:" in html.document_fromstring(page).text_content()


def test_words_of_others_stand_in_code_spans_that_they_cannot_end(markdown: str) -> None:
    markdown, blocks = re.subn(r"^(`{3,})bibtex\n.*?\n\1$", "", markdown, flags=re.DOTALL | re.MULTILINE)
    assert blocks == 1
    for line in markdown.split("\n"):
        outside = strip_code(line)
        assert FORGED not in outside
        assert "evil.example/x" not in outside
        assert "script" not in re.sub(r"<https?://[^<>\s]*>", "", outside)
    heads = [line for line in markdown.split("\n") if line.startswith("#")]
    assert len(heads) == 1 + len(HEADS) + 2 + len(ENTRIES)


@given(st.text(max_size=60), st.booleans())
def test_no_text_ends_its_code_span_or_its_cell(text: str, in_table: bool) -> None:
    block: Any = (
        ReportTable("T", ("A", "B"), (((quote(text),), (own("b"),)),)) if in_table else (quote(text), own(" z"))
    )
    written = to_markdown(ReportDocument("R", (), (ReportPart("P", (block,)),)))

    line = next(one for one in written.split("\n") if one.startswith("`") or one.endswith("| b |"))
    if in_table:
        cells = re.split(r"(?<!\\)\|", line)
        assert len(cells) == 4
        line = cells[1].strip()
        assert strip_code(line) == ""
    else:
        assert strip_code(line) == " z"


def test_the_page_asks_nobody_and_is_told_so() -> None:
    report = ReportDocument("R", ((own("a < b & c"),),), (ReportPart("P", ((link("https://a.example/<x>"),),)),))
    page = to_html(report)

    assert "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'" in page
    assert not re.search(r"\b(?:src|srcset|action|data)\s*=|@import|url\(", page)
    assert "a &lt; b &amp; c" in page
    assert 'href="https://a.example/%3Cx%3E"' in page


def test_a_very_long_text_is_cut_and_shows_it() -> None:
    assert quote("x" * 5000).text == "x" * LONGEST_QUOTE + "…"


# --- DOCX ---


def test_a_docx_has_headings_tables_and_words_of_others_in_a_style_of_their_own() -> None:
    docx = pytest.importorskip("docx")
    body = make("docx")[1]
    document = docx.Document(io.BytesIO(body))

    heads = [one.text for one in document.paragraphs if one.style.name.startswith("Heading")]
    assert [head for head in heads if head in HEADS] == HEADS
    assert FORGED not in heads
    assert sum(head.startswith("Entry ") for head in heads) == len(ENTRIES)
    for paragraph in document.paragraphs:
        for run in paragraph.runs:
            assert FORGED not in run.text or run.style.name == "Words of others"
    assert [one.text for one in document.tables[0].rows[0].cells] == ["Finding", "Count", "Entries", "What it means"]
    assert document.tables[0]._tbl.xpath("./w:tr[1]/w:trPr/w:tblHeader")
    targets = [one.target_ref for one in document.part.rels.values() if one.is_external]
    assert targets
    assert all(re.fullmatch(r"https?://[^\s\"<>]+", target) for target in targets)
    assert document.core_properties.title == "Audit of a bibliography"


def test_every_part_of_a_docx_is_well_formed() -> None:
    pytest.importorskip("docx")
    with zipfile.ZipFile(io.BytesIO(make("docx")[1])) as package:
        for name in package.namelist():
            if name.endswith((".xml", ".rels")):
                etree.fromstring(package.read(name))


def test_without_the_library_one_sentence_says_so_before_anybody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word, "find_spec", lambda name: None)

    async def work() -> list[str]:
        async with desk() as audits:
            with pytest.raises(Fault, match=r"pip install 'specloom\[docx\]'") as raised:
                await audits.audit(entries=[ENTRIES[0]], report="docx")
            assert raised.value.kind == "config"
            return audits.registries.asked

    assert asyncio.run(work()) == []
    with pytest.raises(Fault, match="as html or markdown it needs nothing"):
        to_docx(ReportDocument("R", (), ()))


# --- a browser ---


@pytest.fixture
def shown(page: str, tmp_path: Path) -> Iterator[tuple[Any, list[str], Path]]:
    """The page as a browser has opened it, what it asked for, and where its pictures go."""
    from playwright.sync_api import sync_playwright

    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    asked: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser("").path or None, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1000, "height": 800})
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto((tmp_path / "report.html").as_uri())
        yield tab, asked, tmp_path
        browser.close()


@pytest.mark.process
@needs_browser
def test_a_browser_shows_it_loads_nothing_and_runs_nothing(shown: tuple[Any, list[str], Path]) -> None:
    tab, asked, folder = shown

    assert tab.title() == "Audit of a bibliography"
    assert [one.partition(":")[0] for one in asked] == ["file"]
    assert tab.evaluate("document.documentElement.lang") == "en"
    heads = tab.locator("h1, h2, h3").all_inner_texts()
    assert heads[0] == "Audit of a bibliography"
    assert FORGED not in heads
    assert tab.get_by_role("columnheader", name="Finding").count() == 1
    assert tab.get_by_role("region", name="Entry 2: Retracted").count() == 1
    grounds = {}
    for scheme, width in (("light", 1000), ("dark", 1000), ("dark", 360)):
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size({"width": width, "height": 800})
        grounds[scheme] = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert grounds["light"] != grounds["dark"]
    tab.pdf(path=str(folder / "report.pdf"))
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF-")


# --- over the protocol ---


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_reads_a_file_byte_for_byte_and_a_tool_says_that_it_is_no_text(era: str) -> None:
    server = Server()
    assert server.executor.artifacts is not None
    kept = await server.executor.artifacts.keep(ADA, b"PK\x03\x04\xff", name="a report", mime_type="application/zip")

    async with server.client(ADA, era) as client:
        contents = (await client.read_resource(kept.uri)).contents[0]
        problem = await client.call_tool("read_more", {"source": kept.uri})

    assert base64.b64decode(contents.blob) == b"PK\x03\x04\xff"
    assert contents.mime_type == "application/zip"
    assert "is a file of the type application/zip and no text" in problem.content[0].text
