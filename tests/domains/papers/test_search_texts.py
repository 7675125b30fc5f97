"""Searches of the texts of stored PDFs as people type them, each with the paper and the page where they should lead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from specloom.core import EndedFault
from specloom.domains.scrape.documents import read as documents
from specloom.domains.scrape.documents.document import Document
from tests.support.documents import lines, make_pdf, pdf_stream
from tests.support.paper_store import World

FILLER = "This page goes on about what everybody knows, and there is nothing on it that anybody would look for."
PAPERS: dict[str, tuple[str, str, Sequence[str]]] = {
    "10.1234/otters": (
        "How otters swim",
        "2019",
        [
            "Introduction. Otters swim in rivers.",
            "We glued accelerometers to the tails of fourteen animals.",
            "Thermoregulation costs them a fifth of their energy in the winter, as calorimetry shows.",
        ],
    ),
    "10.1234/weirs": (
        "Weirs: a survey",
        "2021",
        ["Weirs hold back rivers.", "The ladder of Müller and Łukasiewicz lets salmon pass.", "O'Brien built none."],
    ),
    "10.1234/kelp": (
        "Forests under water",
        "2015",
        ["Kelp grows fast.", "Urchins graze on kelp where otters are gone.", "A trophic cascade follows within years."],
    ),
    "10.1234/sleep": (
        "Sleep of mammals",
        "2010",
        [
            "Mammals sleep.",
            "Dolphins sleep with half of the brain; self-efficacy was not measured.",
            "IL-6 rises at 3.5 h.",
        ],
    ),
    "10.1234/ships": (
        "Ships",
        "2001",
        ["Ships sail.", "Anti-fouling paint kills barnacles.", "Ballast water carries larvae."],
    ),
}
SEARCHES = {
    "accelerometers": ("10.1234/otters", 2),
    "accelerometer tails": ("10.1234/otters", 2),
    "thermoregulation winter otters": ("10.1234/otters", 3),
    '"a fifth of their energy"': ("10.1234/otters", 3),
    "CALORIMETRY": ("10.1234/otters", 3),
    "calorimet": ("10.1234/otters", 3),
    "salmon ladder": ("10.1234/weirs", 2),
    "lukasiewicz": ("10.1234/weirs", 2),
    "müller weirs": ("10.1234/weirs", 2),
    "muller salmon year:2020-2022": ("10.1234/weirs", 2),
    "obrien": ("10.1234/weirs", 3),
    "urchins": ("10.1234/kelp", 2),
    "trophic cascades": ("10.1234/kelp", 3),
    "otters urchins": ("10.1234/kelp", 2),
    "self-efficacy dolphins": ("10.1234/sleep", 2),
    "il-6": ("10.1234/sleep", 3),
    "antifouling barnacles": ("10.1234/ships", 2),
    "anti-fouling paint": ("10.1234/ships", 2),
    "ballast larvae -otters": ("10.1234/ships", 3),
    "水獭": ("10.1234/chinese", 1),
    "水獭吃鱼": ("10.1234/chinese", 1),
}


def put(root: Path, doi: str, title: str, year: str, pdf: bytes) -> Path:
    key = "doi_" + doi.replace("/", "_")
    (root / ".metadata").mkdir(parents=True, exist_ok=True)
    entry = (
        f"schema_version = '1.0'\nauthors = ['Ann Weber']\ndoi = '{doi}'\npdf_path = '{key}.pdf'\ntitle = '{title}'\n"
    )
    (root / ".metadata" / f"{key}.toml").write_text(f"{entry}year = {year}\n", encoding="utf-8")
    path = root / f"{key}.pdf"
    path.write_bytes(pdf)
    return path


def to_pdf(pages: Sequence[str]) -> bytes:
    # What is drawn is in the encoding of the font; letters beyond it are spelled in another file.
    return make_pdf([lines([page.replace("Ł", "L"), FILLER]) for page in pages])


def chinese_pdf(text: str) -> bytes:
    """A page in Chinese: a font of two bytes a sign, with the table that says which sign each is."""
    signs = "".join(dict.fromkeys(text))
    pairs = "\n".join(f"<{at:04x}> <{ord(sign):04x}>" for at, sign in enumerate(signs, 1))
    table = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        f"1 begincodespacerange <0000> <ffff> endcodespacerange\n{len(signs)} beginbfchar\n{pairs}\nendbfchar\n"
        "endcmap end end"
    )
    shown = "".join(f"{signs.index(sign) + 1:04x}" for sign in text)
    more = {
        3: b"<< /Type /Font /Subtype /Type0 /BaseFont /Some /Encoding /Identity-H /DescendantFonts [900 0 R]"
        b" /ToUnicode 901 0 R >>",
        900: b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Some /DW 1000 /FontDescriptor 902 0 R"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
        901: pdf_stream(table.encode(), ""),
        902: b"<< /Type /FontDescriptor /FontName /Some /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800"
        b" /Descent -200 /CapHeight 700 /StemV 80 >>",
    }
    return make_pdf([[]], drawn={0: f"BT /F1 12 Tf 60 700 Td <{shown}> Tj ET"}, more=more)


@pytest.fixture
def library(world: World) -> World:
    for doi, (title, year, pages) in PAPERS.items():
        put(world.root, doi, title, year, to_pdf(pages))
    put(world.root, "10.1234/chinese", "Food", "2018", chinese_pdf("水獭吃鱼和蟹。水獭在河里游泳。"))
    world.environ["DOIGET_CACHE_ROOT"] = str(world.folder / "cache")
    return world


def test_what_a_person_types_leads_to_the_page_of_the_paper_that_says_it(library: World) -> None:
    answers = library.calls(*(("search_local", {"query": query, "limit": 3}) for query in SEARCHES))
    led = {
        query: [(row["ref"], row.get("in_text", {}).get("page")) for row in answer["results"]][:1]
        for query, answer in zip(SEARCHES, answers, strict=True)
    }

    assert {query: [place] for query, place in SEARCHES.items()} == led
    assert not any({"unread_pdfs", "partial", "corrected"} & answer.keys() for answer in answers)


def test_a_record_that_has_the_words_comes_first_and_tells_no_passage(library: World) -> None:
    rows = library.call("search_local", query="otters")["results"]

    assert [(row["ref"], "in_text" in row) for row in rows] == [("10.1234/otters", False), ("10.1234/kelp", True)]


def test_a_passage_is_read_on_by_the_reference_and_offset_of_its_row(library: World) -> None:
    (row,) = library.call("search_local", query="ballast")["results"]

    assert row["in_text"]["passage"].startswith("Ballast water carries larvae.")
    assert len(row["in_text"]["passage"]) <= 250


def test_a_replaced_pdf_is_searched_as_it_is_now_and_a_removed_one_no_longer(library: World) -> None:
    assert library.call("search_local", query="barnacles")["count"] == 1
    path = put(library.root, "10.1234/ships", "Ships", "2001", to_pdf(["Sails are of hemp."]))
    now = [library.call("search_local", query=query)["count"] for query in ("barnacles", "hemp")]
    path.unlink()

    assert now == [0, 1]
    assert library.call("search_local", query="hemp")["count"] == 0


def test_a_search_reads_a_dozen_pdfs_and_says_how_many_are_left(world: World) -> None:
    for number in range(14):
        put(world.root, f"10.1234/{number}", f"Paper {number}", "2000", to_pdf([f"Page of the weasel {number}."]))
    put(world.root, "10.1234/broken", "Broken", "2000", b"%PDF-1.7 and nothing behind it")
    world.environ["DOIGET_CACHE_ROOT"] = str(world.folder / "cache")

    first, second = world.call("search_local", query="weasel"), world.call("search_local", query="weasel")

    assert (first["unread_pdfs"], first["count"]) == (3, 12)
    assert ("unread_pdfs" in second, second["count"]) == (False, 14)


def test_pdfs_that_fail_for_the_moment_come_behind_all_others(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    is_late = True

    async def read_late(body: bytes, content_type: str, url: str) -> Document:
        if is_late and b"late" in body:
            raise EndedFault("too_large", "The document could not be read within 20 seconds.", late=True)
        return documents.read(body, content_type, url)

    monkeypatch.setattr(documents, "read_apart", read_late)
    for number in range(14):
        put(world.root, f"10.1234/a{number:02}", f"Paper {number}", "2000", to_pdf([f"Otter {number}."]) + b"late")
    put(world.root, "10.1234/z", "Last", "2000", to_pdf(["Page of the weasel."]))
    world.environ["DOIGET_CACHE_ROOT"] = str(world.folder / "cache")

    answers = [world.call("search_local", query="weasel") for _ in range(2)]
    is_late = False
    after = [world.call("search_local", query="otter") for _ in range(2)]

    assert [(answer["count"], answer["unread_pdfs"]) for answer in answers] == [(0, 15), (1, 14)]
    assert [(answer["count"], answer.get("unread_pdfs")) for answer in after] == [(12, 2), (14, None)]
