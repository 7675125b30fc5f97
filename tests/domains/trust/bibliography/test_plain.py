"""Lists of references in plain words: parted as people lay them out, and each reference read as an entry."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
import reference_lists

from specloom.core.faults import Fault
from specloom.domains.trust.bibliography.documents import detect_format, parse_bibliography
from specloom.domains.trust.bibliography.plain import find_reference_section, parse_plain, read_source, split_list

APA = [
    "Bell, J., & Quinn, R. T. (2019). Beavers as engineers of small streams. River Ecology, 14(2), 101–119. "
    "https://doi.org/10.5555/stream.14",
    "de la Cruz, A. (2021). What otters remember. Oxford University Press.",
    "World Health Organization. (2020). Water and rivers: A report. https://who.example/water-report",
    "Zhou, L. (2018). Mapping wetlands with drones. In B. Smith (Ed.), Handbook of rivers (pp. 1–20). Springer.",
]
VANCOUVER = [
    "Bell J, Quinn RT. Beavers as engineers of small streams. River Ecol. 2019;14(2):101-19.",
    "Zhou L. Mapping wetlands with drones. J Drones. 2018;3:1-20. doi:10.5555/drones.3",
    "Cruz A, Weir B, Otter C, et al. What otters remember of the river. Otter Mem. 2021;8(1):5-9.",
]
ISO = [
    "BELL, John and QUINN, Rita T., 2019. Beavers as engineers of small streams. River Ecology. Vol. 14, no. 2.",
    "ZHOU, Lan, 2018. Mapping wetlands with drones. Journal of Drones. Vol. 3, p. 1–20.",
]
GBT = [
    "王小明, 李华. 水獭的研究[J]. 动物学报, 2011, 5(2): 1-3.",
    "BELL J, QUINN R T. Beavers as engineers of small streams[J]. River Ecology, 2019, 14(2): 101-119.",
]
MLA = [
    "Bell, Jane, and Ray Quinn. “Beavers as Engineers of Small Streams.” River Ecology, vol. 14, no. 2, 2019, "
    "pp. 101–19.",
    "———. “What Beavers Do at Night.” River Ecology, vol. 15, no. 1, 2020, pp. 1–9.",
]


def wrapped(references: list[str], *, width: int = 60, hang: int = 0, gap: str = "\n", mark: str = "") -> str:
    return gap.join(
        "\n".join(textwrap.wrap(mark.format(at) + one, width, subsequent_indent=" " * hang))
        for at, one in enumerate(references, 1)
    )


def texts(document: str) -> list[str]:
    return [text for _, text in split_list(document)]


@pytest.mark.parametrize("references", [APA, VANCOUVER, ISO, GBT, MLA])
@pytest.mark.parametrize(
    "layout",
    [
        {"mark": "[{}] "},
        {"mark": "{}. ", "hang": 4},
        {"mark": "({}) "},
        {"mark": "{}) ", "gap": "\n\n"},
        {"hang": 4},
        {"gap": "\n\n"},
        {"width": 1000},
        {"width": 1000, "gap": "\n\n"},
        {"mark": "- "},
        {"mark": "• ", "hang": 2},
    ],
)
def test_a_list_is_parted_by_what_marks_its_references(references: list[str], layout: dict[str, Any]) -> None:
    mark = layout.get("mark", "")

    found = texts(wrapped(references, **layout))

    assert found == [mark.format(at) + one for at, one in enumerate(references, 1)]


@pytest.mark.parametrize("references", [APA, VANCOUVER])
def test_wrapped_lines_that_nothing_marks_are_parted_by_their_ends(references: list[str]) -> None:
    assert texts(wrapped(references, width=70)) == references


@pytest.mark.parametrize("references", [APA, VANCOUVER, ISO])
@pytest.mark.parametrize("is_stripped", [False, True])
def test_first_lines_that_are_indented_begin_references(references: list[str], *, is_stripped: bool) -> None:
    text = "\n".join("\n".join(textwrap.wrap(one, 60, initial_indent="    ")) for one in references)

    assert texts(text.strip() if is_stripped else text) == references


@pytest.mark.parametrize(
    "heading",
    ["References", "## Bibliography", "**Works Cited**", "Literaturverzeichnis", "参考文献", "Список литературы"],
)
def test_a_heading_and_numbers_of_pages_are_no_references(heading: str) -> None:
    lines = wrapped(VANCOUVER, mark="{}. ", width=50).split("\n")
    paged = [heading, "", *lines[:3], "17", "--- Page 18 ---", *lines[3:5], "Page 19 of 40", *lines[5:]]

    assert texts("\n".join(paged)) == [f"{at}. {one}" for at, one in enumerate(VANCOUVER, 1)]


def test_an_address_and_a_word_that_a_line_cuts_are_whole_again() -> None:
    [found] = texts(
        "1. Bell J. Beavers as engi-\n   neers of streams. 2019. https://doi.org/10.5555/\n   stream.14-b. Accessed."
    )

    assert "engi-neers of streams" in found
    assert "https://doi.org/10.5555/stream.14-b." in found


def test_numbers_on_one_line_part_a_list_of_one_line() -> None:
    line = " ".join(f"[{at}] {one}" for at, one in enumerate(VANCOUVER, 1))

    assert texts(line) == [f"[{at}] {one}" for at, one in enumerate(VANCOUVER, 1)]


def test_each_reference_has_its_parts() -> None:
    found = parse_bibliography("\n".join(APA)).entries

    assert [entry.title for entry in found] == [
        "Beavers as engineers of small streams",
        "What otters remember",
        "Water and rivers: A report",
        "Mapping wetlands with drones",
    ]
    assert [entry.authors[0].family for entry in found] == ["Bell", "de la Cruz", "World Health Organization", "Zhou"]
    assert [entry.issued for entry in found] == [(2019,), (2021,), (2020,), (2018,)]
    assert (found[0].doi, found[0].volume, found[0].issue, found[0].pages) == (
        "10.5555/stream.14",
        "14",
        "2",
        "101-119",
    )
    assert found[0].kind == "article-journal"
    assert found[2].url == "https://who.example/water-report"
    assert found[3].kind == "chapter"


def test_a_bar_in_place_of_authors_stands_for_those_before() -> None:
    first, second = parse_bibliography("\n\n".join(MLA)).entries

    assert second.authors == first.authors
    assert second.title == "What Beavers Do at Night"


def test_what_is_no_reference_is_told_by_its_line_and_loses_no_other() -> None:
    found = parse_bibliography(f"1. {VANCOUVER[0]}\n2. Ibid., 45.\n3. see above\n4. {VANCOUVER[1]}")

    assert list(found.places) == [(0, 1), (3, 4)]
    assert [(problem.index, problem.line) for problem in found.problems] == [(1, 2), (2, 3)]
    assert "refers back to another note" in found.problems[0].message
    assert "too few words" in found.problems[1].message


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        ("[1] Bell J. Beavers. River Ecol. 2019;14:1-9.", "text"),
        ("[Bell19] Bell J. Beavers. River Ecol. 2019;14:1-9.", "text"),
        ("  [ 12 ] Bell J. Beavers. River Ecol. 2019;14:1-9.", "text"),
        ('[{"title": "A"}]', "csl-json"),
        ('[{"title": "A", "itemType": "book"}]', "zotero-json"),
        ("[]", "csl-json"),
        ("[1, 2]", "csl-json"),
        ("PMID- 1234\nTI  - A\n", "nbib"),
        ('<?xml version="1.0"?><xml><records/></xml>', "endnote-xml"),
        ("Otters are nice.", ""),
    ],
)
def test_a_list_is_not_taken_for_another_format(text: str, format_: str) -> None:
    assert detect_format(text) == format_


def test_a_text_without_a_reference_is_refused_where_it_is_said_to_be_a_list() -> None:
    found = parse_bibliography("Otters are nice.", "text")

    assert (found.entries, len(found.problems)) == ((), 1)
    with pytest.raises(Fault, match="no entry in the format text"):
        parse_bibliography("   \n\n", "text")


def test_a_whole_reference_in_a_title_is_read_as_one_and_a_title_is_not() -> None:
    whole = read_source({"title": APA[0]})
    title = read_source({"title": "Nineteen eighty-four: a reader's guide (2nd ed.)"})
    given = read_source({"title": APA[0], "author": "Somebody Else"})

    assert (whole.title, whole.doi, whole.issued) == (
        "Beavers as engineers of small streams",
        "10.5555/stream.14",
        (2019,),
    )
    assert title.title == "Nineteen eighty-four: a reader's guide (2nd ed.)"
    assert given.title.startswith("Bell, J.")


def test_the_references_of_a_document_stand_below_their_last_heading() -> None:
    listed = f"## References\n\n{APA[0]}\n\n{APA[1]}"
    document = f"# Otters\n\nReferences to otters are old.\n\n{listed}\n\n## Appendix A\n\n{APA[2]}"

    section = find_reference_section(document)

    assert section is not None
    assert texts(section) == APA[:2]
    assert find_reference_section("# Otters\n\nNothing is cited.") is None


@pytest.mark.parametrize(
    "part",
    ["1. a\n", "[1] ", "\n\n", "A, ", "—", "a. ", "https://a.example/", "10.1234/", "(2020) ", "and ", "“", "A. B "],
)
def test_a_list_of_signs_alone_is_parted_in_linear_time(part: str) -> None:
    text = part * (400_000 // len(part))
    began = time.process_time()

    for _, reference in split_list(text):
        parse_plain(reference)

    assert time.process_time() - began < 10


def test_the_page_tells_how_many_styles_and_layouts_are_tried() -> None:
    page = (Path(reference_lists.__file__).parents[1] / "docs" / "trust.md").read_text(encoding="utf-8")
    layouts = sum(len(lays) for _, lays in reference_lists.STYLES.values())

    assert len(reference_lists.STYLES) == 11
    assert f"in eleven styles and {layouts} layouts are judged as their BibTeX in {60 * layouts:,} of " in page
