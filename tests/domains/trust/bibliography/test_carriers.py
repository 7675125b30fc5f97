"""NBIB and EndNote XML, and what every carrier keeps of a work: kinds, roles, dates, numbers, notes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from specloom.domains.text.people import Name
from specloom.domains.trust.bibliography.documents import parse_bibliography
from specloom.domains.trust.bibliography.entry import KIND_TABLE, BibliographyEntry, normalize
from specloom.domains.trust.bibliography.formatting import INTERCHANGE, render, write_entries
from specloom.domains.trust.bibliography.losses import READ_AS, find_losses

NBIB = """PMID- 31234567
OWN - NLM
IS  - 1234-5678 (Electronic)
VI  - 12
IP  - 3
DP  - 2019 Summer
TI  - Beavers as engineers of small streams and of what lives
      in them.
PG  - 123-8
LID - 10.5555/Stream.14 [doi]
AB  - BACKGROUND: Beavers build.
FAU - Bell, Jane Q
AU  - Bell JQ
FAU - de la Cruz, Ana
CN  - River Study Group
LA  - eng
PT  - Journal Article
TA  - River Ecol
JT  - River ecology
MH  - Beavers
OT  - streams
PMC - PMC7654321

PMID- 31234568
TI  - Second
DP  - 2020 Mar 9
"""
ENDNOTE = """<?xml version="1.0" encoding="UTF-8"?>
<xml><records>
<record><ref-type name="Book Section">5</ref-type><label>bell2019</label>
<contributors><authors><author><style face="normal">Bell, Jane</style></author></authors>
<secondary-authors><author>Smith, B.</author></secondary-authors></contributors>
<titles><title><style face="normal">Beavers in </style><style face="italic">small</style><style> streams</style></title>
<secondary-title>Handbook of rivers</secondary-title></titles>
<pages>1-20</pages><dates><year>2019</year></dates><publisher>Springer</publisher><pub-location>Bonn</pub-location>
<isbn>978-0-306-40615-7</isbn><electronic-resource-num>10.5555/rivers.1</electronic-resource-num>
<keywords><keyword>beaver</keyword></keywords><research-notes>mine</research-notes>
<urls><related-urls><url>https://rivers.example/1</url></related-urls><pdf-urls><url>internal-pdf://1.pdf</url></pdf-urls></urls>
</record>
<record><ref-type name="Report">27</ref-type><titles><title>Second</title></titles></record>
</records></xml>"""


def test_a_record_of_pubmed_is_read_whole() -> None:
    found = parse_bibliography(NBIB)

    first, second = found.entries
    assert (found.format, found.problems, found.places) == ("nbib", (), ((0, 1), (1, 24)))
    assert first.title == "Beavers as engineers of small streams and of what lives in them"
    assert first.authors == (Name("Bell", "Jane Q"), Name("de la Cruz", "Ana"), Name("River Study Group"))
    assert (first.issued, first.date) == ((2019,), "2019-22")
    assert (first.container, first.short_container, first.volume, first.issue, first.pages) == (
        "River ecology",
        "River Ecol",
        "12",
        "3",
        "123-128",
    )
    assert (first.doi, first.pmid, first.pmcid, first.issn) == (
        "10.5555/Stream.14",
        "31234567",
        "PMC7654321",
        "1234-5678",
    )
    assert first.keywords == ("Beavers", "streams")
    assert first.abstract == "BACKGROUND: Beavers build."
    assert (second.title, second.issued) == ("Second", (2020, 3, 9))


def test_text_before_the_first_tag_of_nbib_is_told_by_its_line() -> None:
    found = parse_bibliography(f"a search of 2019\n\n{NBIB}", "nbib")

    assert [(problem.line, problem.message) for problem in found.problems] == [(1, "text before the first tag")]
    assert len(found.entries) == 2


def test_a_record_of_endnote_is_read_whole() -> None:
    found = parse_bibliography(ENDNOTE)

    first, second = found.entries
    assert found.format == "endnote-xml"
    assert (first.title, first.container, first.kind) == ("Beavers in small streams", "Handbook of rivers", "chapter")
    assert (first.authors, first.editors) == ((Name("Bell", "Jane"),), (Name("Smith", "B."),))
    assert (first.publisher, first.place, first.pages, first.isbn) == ("Springer", "Bonn", "1-20", "9780306406157")
    assert (first.doi, first.key, first.annote, first.keywords, first.files) == (
        "10.5555/rivers.1",
        "bell2019",
        "mine",
        ("beaver",),
        ("internal-pdf://1.pdf",),
    )
    assert second.kind == "report"


def test_broken_xml_is_told_by_its_line_and_what_stands_before_is_read() -> None:
    found = parse_bibliography(ENDNOTE.replace('<record><ref-type name="Report">27</ref-type>', "<record><ref-type"))

    assert [entry.title for entry in found.entries] == ["Beavers in small streams"]
    assert found.problems[0].line == 13
    assert "the XML is broken here" in found.problems[0].message


def test_xml_opens_no_file_and_expands_no_entity() -> None:
    text = (
        '<?xml version="1.0"?><!DOCTYPE xml [<!ENTITY e SYSTEM "file:///etc/hostname">]>'
        "<xml><records><record><titles><title>Otters &e;</title></titles></record></records></xml>"
    )

    found = parse_bibliography(text, "endnote-xml")

    assert [entry.title for entry in found.entries] == ["Otters &e;"]


BIB = r"""
@string{nat = "Nature"}
@article{A&b:1, author={de la Cruz, Ana and {World Health Organization} and King, Jr., Martin Luther},
  title={Deep {DNA} \& {R\&D}}, journal=nat # " Rivers", month="10~" # jan, year=2015, number=3,
  file={PDF:papers/a.pdf:application/pdf;:b.pdf:PDF}, keywords={otter, {a, b}}, annote={mine}, abstract={Abs}}
@software{s, title={otterlib}, version={3.1}, author={Doe, J}, url={https://x.example}, date={2022-05}}
@standard{iso, title={Guidelines}, number={ISO 690:2021}, date={2021}}
@article{b, author={X, Y}, title={T}, journaltitle={J}, date={2014-22}}
@book{bce, author={{Plato}}, title={Old}, date={-0379~}, editor={E, F}}
@thesis{t, author={X, Y}, title={T2}, type={mathesis}, institution={Oslo}, date={2010}}
@inbook{ib, author={X, Y}, title={Ch}, booktitle={Bk}, bookauthor={Z, Q}, date={1999/2001}, location={Bonn}}
@misc{pre, author={X, Y}, title={P}, eprint={1706.03762}, archiveprefix={arXiv}, year=2017}
@xdata{pub, publisher={Press}, location={Rome}}
@book{x, title={With data}, xdata={pub}, year=2000}
"""


def test_bibtex_keeps_what_the_audit_does_not_need() -> None:
    found = {entry.key: entry for entry in parse_bibliography(BIB).entries}

    article = found["A&b:1"]
    assert (article.title, article.container, article.issued, article.issue) == (
        "Deep DNA & R&D",
        "Nature Rivers",
        (2015, 1, 10),
        "3",
    )
    assert article.authors[2] == Name("King", "Martin Luther", "Jr.")
    assert article.keywords == ("otter", "a, b")
    assert article.files == ("PDF:papers/a.pdf:application/pdf", ":b.pdf:PDF")
    assert (article.annote, article.abstract) == ("mine", "Abs")
    assert (found["s"].kind, found["s"].version) == ("software", "3.1")
    assert (found["iso"].kind, found["iso"].number) == ("standard", "ISO 690:2021")
    assert (found["b"].issued, found["b"].date) == ((2014,), "2014-22")
    assert (found["bce"].issued, found["bce"].date, found["bce"].editors) == ((), "-0379~", (Name("E", "F"),))
    assert (found["t"].kind, found["t"].genre, found["t"].publisher) == ("thesis", "Master's thesis", "Oslo")
    assert (found["ib"].roles, found["ib"].date, found["ib"].place) == (
        (("container-author", (Name("Z", "Q"),)),),
        "1999/2001",
        "Bonn",
    )
    assert (found["pre"].kind, found["pre"].arxiv) == ("article", "1706.03762")
    assert (found["x"].publisher, found["x"].place) == ("Press", "Rome")


ITEMS = [
    {
        "id": "one",
        "type": "article-journal",
        "title": "Beavers of the north",
        "author": [
            {"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"},
            {"family": "Fontaine", "given": "Jean", "dropping-particle": "de"},
            {"literal": "River Study Group"},
        ],
        "editor": [{"family": "Smith", "given": "B.", "suffix": "Jr."}],
        "issued": {"date-parts": [[2014]], "season": 2},
        "accessed": {"date-parts": [[2024, 2, 3]]},
        "container-title": "River Ecology",
        "container-title-short": "River Ecol.",
        "volume": "12",
        "issue": "3",
        "page": "101-119",
        "DOI": "10.5555/Stream.14",
        "ISSN": "1234-5678",
        "abstract": "Beavers build.",
        "keyword": "beaver, stream",
        "note": "in print",
        "annote": "read twice",
    },
    {"id": "bce", "type": "book", "title": "Old", "issued": {"date-parts": [[-380]], "circa": True}, "publisher": "A"},
    {"id": "range", "type": "book", "title": "Works", "issued": {"date-parts": [[1911], [1975]]}, "volume": "1"},
    {
        "id": "case",
        "type": "legal_case",
        "title": "Otter v. Weir",
        "authority": "River Court",
        "jurisdiction": "US",
        "number": "12-34",
        "container-title": "R.",
        "page": "113",
    },
    {"id": "map", "type": "map", "title": "Rivers", "scale": "1:50000", "collection-title": "Maps", "version": "2"},
    {
        "id": "event",
        "type": "paper-conference",
        "title": "Talk",
        "event-title": "Rivers 2018",
        "publisher-place": "Bonn",
    },
]


def test_csl_comes_out_as_it_went_in() -> None:
    told = json.loads(render(parse_bibliography(json.dumps(ITEMS)).entries, "csl-json")[0])

    # An entry without an address has that of its DOI.
    linked = [item | ({"URL": f"https://doi.org/{item['DOI']}"} if "DOI" in item else {}) for item in ITEMS]
    assert sorted(told, key=lambda item: item["id"]) == sorted(linked, key=lambda item: str(item["id"]))


@pytest.mark.parametrize("style", ["bibtex", "ris"])
def test_what_is_read_of_one_carrier_is_written_in_another(style: str) -> None:
    entry = replace(parse_bibliography(json.dumps(ITEMS[:1])).entries[0], accessed="2024-02-03", short_container="")

    [back] = parse_bibliography(render([entry], style)[0]).entries

    # RIS has no place for which part of a name is a particle.
    particle = "van" if style == "bibtex" else ""
    plain = tuple(replace(name, particle=name.particle and particle) for name in entry.authors if not name.dropped)
    assert tuple(name for name in back.authors if name.family in ("van Beethoven", "River Study Group")) == plain
    for field in (
        "title",
        "container",
        "volume",
        "issue",
        "pages",
        "doi",
        "issn",
        "abstract",
        "note",
        "annote",
        "accessed",
    ):
        assert getattr(back, field) == getattr(entry, field), field
    assert (back.keywords, back.editors, back.key, back.issued) == (entry.keywords, entry.editors, "one", (2014,))


WORDS = [
    ("x;y",),
    ("x;y", "z"),
    ("a, b", "c; d", "plain"),
    ("a;b,c",),
    (";", ","),
]


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("style", sorted(INTERCHANGE))
def test_signs_that_part_lists_elsewhere_part_no_keyword(style: str, words: tuple[str, ...]) -> None:
    entry = normalize(BibliographyEntry(title="Otters", kind="book", key="one", keywords=words))

    text = write_entries([entry], style)

    assert "keyword" not in find_losses([entry], text, style)
    assert parse_bibliography(text, READ_AS.get(style, style)).entries[0].keywords == words


NOTES = [
    "one\ntwo",
    "one\n\ntwo\nthree",
    "50% & {x}\n[p. 7]\n* a\n- b\n\n@article(x, y",
    'back\\\\\nslash \\par x\n= "y", %z',
]


@pytest.mark.parametrize("note", NOTES)
@pytest.mark.parametrize("style", sorted(INTERCHANGE - {"nbib"}))
def test_a_note_keeps_its_lines(style: str, note: str) -> None:
    entries = [normalize(BibliographyEntry(title="Otters", kind="book", key=key, annote=note)) for key in ("a", "b")]

    text = write_entries(entries, style)

    assert [entry.annote for entry in entries] == [note, note]
    assert "annote" not in find_losses(entries, text, style)
    assert [entry.annote for entry in parse_bibliography(text, READ_AS.get(style, style)).entries] == [note, note]


def test_latex_reads_the_lines_of_a_note_by_commands_and_ris_has_them_as_they_are() -> None:
    entry = BibliographyEntry(title="Otters", kind="book", key="a", annote="one\n\ntwo\nthree")

    assert r"  annote = {one \par two \newline three}," in write_entries([entry], "bibtex").splitlines()
    assert r"  annotation = {one \par two \newline three}," in write_entries([entry], "biblatex").splitlines()
    assert "RN  - one\n\ntwo\nthree\nER  -" in write_entries([entry], "ris")


def test_a_line_of_a_note_that_would_be_a_tag_of_ris_makes_none_and_is_told() -> None:
    entry = BibliographyEntry(title="Otters", kind="book", key="a", annote="one\n\nER  - \nTY  - JOUR\ntwo")

    text = write_entries([entry], "ris")

    [back] = parse_bibliography(text, "ris").entries
    assert (back.title, back.annote) == ("Otters", "one ER - TY - JOUR\ntwo")
    assert find_losses([entry], text, "ris") == {"annote": 1}


def test_notes_of_other_programs_come_with_their_lines() -> None:
    bib = "@book{a, title={Otters}, annote={First\n  of many,\n\n  second\\\\third}}"
    ris = "TY  - BOOK\nTI  - Otters\nN1  - printed\nN1  - mine\nRN  - First\nof many\n\nsecond\nER  - \n"

    assert parse_bibliography(bib).entries[0].annote == "First of many,\n\nsecond\nthird"
    [entry] = parse_bibliography(ris).entries
    assert (entry.note, entry.annote) == ("printed", "First\nof many\n\nsecond\n\nmine")


def test_a_list_of_keywords_in_csl_that_another_program_changed_counts_as_it_left_it() -> None:
    entry = BibliographyEntry(title="Otters", kind="book", key="one", keywords=("x;y", "z"))
    [item] = json.loads(write_entries([entry], "csl-json"))
    assert (item["keyword"], item["custom"]) == ("x;y, z", {"keywords": ["x;y", "z"]})

    item["keyword"] = "river, lake"

    assert parse_bibliography(json.dumps([item])).entries[0].keywords == ("river", "lake")


def test_bibtex_saves_capitals_and_names_months() -> None:
    entry = normalize(
        BibliographyEntry(
            title="Deep DNA of the Otter", issued=(2020, 3), kind="article-journal", url="https://a.example/"
        )
    )
    headline = replace(entry, title="The Otters of the North: DNA in Deep Water")

    assert "  title = {Deep {DNA} of the {Otter}},\n" in render([entry], "bibtex")[0]
    assert "  month = mar,\n" in render([entry], "bibtex")[0]
    assert "  title = {The Otters of the North: {DNA} in Deep Water},\n" in render([headline], "bibtex")[0]
    assert "{Der Otter im Fluss}" in render([replace(entry, title="Der Otter im Fluss", language="de")], "bibtex")[0]


CLASSIC = """
article book booklet conference inbook incollection inproceedings manual mastersthesis misc phdthesis proceedings
techreport unpublished
"""
"""The entry types that the styles of BibTeX itself know: plain, abbrv, alpha, unsrt, and most that came of them."""
MODERN = """
article book mvbook inbook bookinbook suppbook booklet collection mvcollection incollection suppcollection dataset
manual misc online patent periodical suppperiodical proceedings mvproceedings inproceedings reference mvreference
inreference report software thesis unpublished artwork audio commentary image jurisdiction legislation legal letter
movie music performance review standard video
"""
"""Those that biblatex knows, the ones among them that its standard styles print as `misc`."""


@pytest.mark.parametrize("kind", sorted(KIND_TABLE))
@pytest.mark.parametrize(("style", "known"), [("bibtex", CLASSIC), ("biblatex", MODERN)])
def test_every_kind_is_written_under_a_type_that_styles_know_and_read_again(style: str, known: str, kind: str) -> None:
    row = KIND_TABLE[kind]
    is_numbered = {**KIND_TABLE.get(row.get("like", ""), {}), **row}.get("numbered")
    work = normalize(
        BibliographyEntry(
            key="weir01",
            kind=kind,
            title="Weirs",
            authors=(Name("Weir", "Ann"),),
            container="Rivers",
            publisher="Weir Press",
            place="Oslo",
            issued=(2001, 3),
            number="7" if is_numbered else "",
            genre="Field study",
            note="Read it",
            more=(("type", "figure"),) if kind == "graphic" else (),
        )
    )

    text, _ = render([work], style)

    assert text.partition("{")[0].removeprefix("@") in known.split()
    assert parse_bibliography(text, "bibtex").entries == (work,)
