"""Rows of several indexes about one work become one, look-alikes stay apart, and no order changes anything."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from specloom.model import Merge, Row
from specloom.runtime.merge import join_marks, merge, split_marks
from tests.support.shipped import shipped_model, shipped_tool

A, B = "openalex", "crossref"


def stage_of(tool: str) -> Merge:
    return next(one.merge for one in shipped_tool(tool).after if one.merge is not None)


def work(title: str, doi: str = "", authors: str = "", year: int | None = None, url: str = "") -> Row:
    row: Row = {"title": title, "url": url or (f"https://doi.org/{doi}" if doi else "https://index.example/1")}
    more = {"doi": doi, "authors": authors.split(" | ") if authors else None, "year": year}
    return {**row, **{name: value for name, value in more.items() if value}}


def merged(*rows: Row, tool: str = "academic_search", seen: frozenset[str] = frozenset()) -> list[Row]:
    return merge(rows, stage_of(tool), shipped_model().providers, {}, seen).rows


def told(one: Row, other: Row) -> int:
    first, second = {**one, "provider": A, "place": 1}, {**other, "provider": B, "place": 1}
    if one["url"] == other["url"] == "https://index.example/1":
        second["url"] = "https://other.example/2"
    return len(merged(first, second))


NET = ("Deep residual learning for image recognition", "10.1109/cvpr.2016.90", "Kaiming He | Xiangyu Zhang", 2016)
ATTENTION = "Attention is all you need"
SAME: list[tuple[Row, Row]] = [
    # One DOI, as each index writes it.
    (work(*NET), work("Deep Residual Learning for Image Recognition", "10.1109/CVPR.2016.90", "He, Kaiming", 2016)),
    (work(*NET), work("Deep residual learning", url="https://doi.org/10.1109%2Fcvpr.2016.90")),
    (work(*NET), work("Another title altogether", "https://doi.org/10.1109/CVPR.2016.90.", "", 2015)),
    (work(*NET), work("RETRACTED: Deep residual learning", "doi:10.1109/cvpr.2016.90")),
    (work(*NET), work("", "http://dx.doi.org/10.1109/cvpr.2016.90")),
    # No DOI on one side or on both: title, year and the first author, whichever way round.
    (work(*NET), work("Deep Residual Learning for Image Recognition.", "", "He K | Zhang X", 2016)),
    (work(*NET), work("Deep residual learning for image recognition", "", "K. He", 2015)),
    (work(*NET), work("<i>Deep residual learning</i> for image recognition", "", "Kaiming He", 2017)),
    (work(*NET), work("Deep  Residual-Learning for Image Recognition", "", "He, K.", None)),
    (work(*NET), work("Deep residual learning for image recognition", "", "KAIMING HE", 2016)),
    (
        work("Sur l'évolution des loutres d'Europe", "", "Élise Müller", 1999),
        work("Sur l’evolution des loutres d’Europe", "10.1234/fr.1", "Muller, Elise", 1999),
    ),
    (
        work("Über die Otter der Elbe: ein Bericht", "", "José García-López", 2010),
        work("Uber die Otter der Elbe ein Bericht", "10.1234/de.2", "García-López J", 2011),
    ),
    (
        work("The decay of {heavy} nuclei revisited", "", "A. B. Smith", 2003),
        work("The decay of heavy nuclei revisited", "10.1234/al.3", "Smith AB", 2003),
    ),
    (
        work("日本におけるカワウソの生態について", "", "田中", 2012),
        work("日本における カワウソの生態について", "10.1234/jp.4", "田中", 2012),
    ),
    (
        work("Growth of sea otters in CO<sub>2</sub>-rich water", "", "Lee, Min", 2018),
        work("Growth of sea otters in CO2-rich water", "10.1234/co.5", "Min Lee", 2018),
    ),
    (
        work("Crystal structure of the otter protein at 2.1 Å", "", "Wang, Li", 2001),
        work("Crystal structure of the otter protein at 2.1 Å.", "10.1234/cs.6", "Wang L", 2001),
    ),
    # A number at arXiv.
    (
        work(ATTENTION, "10.48550/arXiv.1706.03762", "Ashish Vaswani", 2017),
        work(ATTENTION, "", "", None, "http://arxiv.org/abs/1706.03762v5"),
    ),
    (
        work(ATTENTION, "", "", None, "https://arxiv.org/pdf/1706.03762v5.pdf"),
        work("Attention", "10.48550/arxiv.1706.03762"),
    ),
    (
        work("On quivers", "", "", None, "https://arxiv.org/abs/hep-th/9901001"),
        work("On quivers", "10.48550/arXiv.hep-th/9901001"),
    ),
    # A number in PubMed.
    (
        work("Otters and mercury", url="https://pubmed.ncbi.nlm.nih.gov/29456894/"),
        work("Mercury", url="https://europepmc.org/article/MED/29456894"),
    ),
    # A preprint and its article.
    (
        work("A map of the otter genome in the wild", "10.1101/2020.12.01.406702", "Jane Doe", 2020),
        work("A map of the otter genome in the wild", "10.1038/s41586-021-00001-1", "Doe, Jane", 2021),
    ),
    (
        work("A map of the otter genome in the wild", "10.21203/rs.3.rs-12/v2", "Jane Doe", 2020),
        work("A Map of the Otter Genome in the Wild", "10.1038/s41586-021-00001-1", "Doe J", 2021),
    ),
    (
        work("Otters learn to open jars by watching", "10.48550/arxiv.2001.00001", "Jane Doe", 2020),
        work("Otters learn to open jars by watching", "10.1109/x.2020.1", "J. Doe", 2020),
    ),
    (
        work("Otters learn to open jars by watching", "", "Jane Doe", 2020, "https://arxiv.org/abs/2001.00001"),
        work("Otters learn to open jars by watching", "10.1109/x.2020.1", "Jane Doe", 2021),
    ),
    (
        work("Chemistry of the otter pelt surface", "10.26434/chemrxiv-2021-abc", "Ito, Ken", 2021),
        work("Chemistry of the otter pelt surface", "10.1021/jacs.1", "Ken Ito", 2022),
    ),
    # Two versions of one preprint.
    (
        work("A map of the otter genome in the wild", "10.1101/2020.12.01.406702v1"),
        work("A map of the otter genome", "10.1101/2020.12.01.406702"),
    ),
    (work("A map", "10.21203/rs.3.rs-12/v1"), work("A map, revised", "10.21203/rs.3.rs-12/v2")),
    # One page under two addresses.
    (
        work("Otters", url="https://www.otters.example/p/1?utm_source=x"),
        work("The otters", url="http://otters.example/p/1/"),
    ),
]
_P = "Otters of the northern rivers"
APART: list[tuple[Row, Row]] = [
    (work(f"{_P}, Part {one}", *first, "Bob Weir", 2020), work(f"{_P}, Part {two}", *second, "Bob Weir", 2020))
    for one, two in (("I", "II"), ("1", "2"), ("A", "B"))
    for first, second in itertools.product((("10.1234/p.1",), ("",)), (("10.1234/p.2",), ("",)))
] + [
    # Notices about a work.
    *(
        (
            work(f"{_P} and lakes", "10.1234/n.1", "Bob Weir", 2020),
            work(f"{before}{_P} and lakes", doi, "Bob Weir", 2020),
        )
        for before in (
            "Corrigendum to: ",
            "Erratum: ",
            "Correction to: ",
            "Comment on: ",
            "Reply to: ",
            "Retraction: ",
            "Addendum: ",
        )
        for doi in ("10.1234/n.2", "")
    ),
    # A notice that repeats the title, under a DOI of its own.
    (
        work(f"{_P} and lakes", "10.1234/n.1", "Bob Weir", 2020),
        work(f"{_P} and lakes", "10.1234/n.1c", "Bob Weir", 2020),
    ),
    (
        work(f"{_P} and lakes", "10.1234/n.1", "Bob Weir", 2020),
        work(f"{_P} and lakes", "10.5678/n.1", "Bob Weir", 2021),
    ),
    # Reports of every year, with the year in the title, before it, or nowhere.
    *(
        (
            work(f"Annual report on otters {year}", "", "Otter Society", year),
            work(f"Annual report on otters {year + 1}", "", "Otter Society", year + 1),
        )
        for year in (1999, 2009, 2019)
    ),
    *(
        (
            work("Annual report on the state of otters", f"10.1234/r.{year}", "Otter Society", year),
            work("Annual report on the state of otters", f"10.1234/r.{year + 1}", "Otter Society", year + 1),
        )
        for year in (1999, 2009)
    ),
    (
        work("Annual report on the state of otters", "", "Otter Society", 2009),
        work("Annual report on the state of otters", "", "Otter Society", 2011),
    ),
    # Titles that many works have.
    *(
        (work(title, "", "Bob Weir", 2020), work(title, "", "Bob Weir", 2020))
        for title in (
            "Introduction",
            "Editorial",
            "Reply",
            "Preface",
            "Book review",
            "Letter",
            "Index",
            "In this issue",
            "Obituary",
            "Foreword",
        )
    ),
    # Others who write under the same title, and the same ones in other years.
    (work("The ecology of otters", "", "Ann Otter", 2020), work("The ecology of otters", "", "Bob Weir", 2020)),
    (
        work("The ecology of otters in rivers", "", "Ann Otter", 1990),
        work("The ecology of otters in rivers", "", "Ann Otter", 2020),
    ),
    (work("The ecology of otters in rivers", "", "", 2020), work("The ecology of otters in rivers", "", "", 2020)),
    (
        work("The ecology of otters in rivers", "10.1234/e.1", "Ann Otter", 2020),
        work("The ecology of otters in lakes", "10.1234/e.2", "Ann Otter", 2020),
    ),
    # Two preprints are two, and an example's DOI is nobody's.
    (
        work("Otters of one kind", "10.1101/2020.01.01.1", "A B", 2020),
        work("Otters of another", "10.1101/2020.01.01.2", "A B", 2020),
    ),
    (work("Otters", "10.48550/arxiv.2001.00001"), work("Beavers", "10.48550/arxiv.2001.00002")),
    (
        work("Otters", "10.5555/12345678", url="https://a.example/"),
        work("Beavers", "10.5555/12345678", url="https://b.example/"),
    ),
    (work("Supplement A", "10.1234/s.1"), work("Supplement B", "10.1234/s.1.suppl")),
    (work("Otters", url="https://a.example/?id=1"), work("Otters", url="https://a.example/?id=2")),
    (work("Otters", url="https://a.example/Otters"), work("Otters", url="https://a.example/otters")),
    (
        work("Otters", url="https://pubmed.ncbi.nlm.nih.gov/29456894/"),
        work("Otters", url="https://pubmed.ncbi.nlm.nih.gov/29456895/"),
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_rows_of_one_work_are_one(one: Row, other: Row) -> None:
    assert told(one, other) == told(other, one) == 1


@pytest.mark.parametrize(("one", "other"), APART)
def test_works_that_look_alike_stay_apart(one: Row, other: Row) -> None:
    assert told(one, other) == told(other, one) == 2


def test_a_work_without_a_doi_that_could_be_either_of_two_is_neither() -> None:
    same: dict[str, Any] = {"title": "The ecology of otters in rivers", "authors": "Ann Otter", "year": 2020}
    rows = [work(**same, doi="10.1234/a"), work(**same, doi="10.1234/b"), work(**same)]

    found = merged(
        *({**row, "provider": name, "place": 1} for row, name in zip(rows, (A, B, "europepmc"), strict=True))
    )

    assert len(found) == 3


def test_no_order_of_answers_changes_a_row_or_its_place() -> None:
    rows = [
        {**row, "provider": provider, "place": place}
        for provider, rows in ((A, [one for one, _ in SAME]), (B, [other for _, other in SAME]))
        for place, row in enumerate(rows, 1)
    ]
    expected = merged(*rows)
    shuffled = random.Random(7)

    for _ in range(20):
        shuffled.shuffle(rows)
        assert merged(*rows) == expected


def test_every_field_is_that_of_a_row_which_is_named() -> None:
    rows = [
        {
            **row,
            "provider": provider,
            "place": place,
            "abstract": f"{provider} {place}" * place,
            "citation_count": place,
        }
        for provider, rows in ((A, [one for one, _ in SAME]), (B, [other for _, other in SAME]))
        for place, row in enumerate(rows, 1)
    ]

    for found in merged(*rows):
        of = found.get("origins", {})
        for name in ("title", "url", "doi", "year", "abstract", "citation_count"):
            provider = of.get(name, found["provider"])
            assert provider in found["found_by"]
            assert name not in found or any(row.get(name) == found[name] for row in rows if row["provider"] == provider)


def test_engines_of_one_index_count_once() -> None:
    def page(name: str, place: int, provider: str) -> Row:
        return {"title": name, "url": f"https://{name}.example/", "provider": provider, "place": place}

    rows = [
        page("a", 2, "google"),
        page("a", 2, "serper"),
        page("b", 1, "brave"),
        page("c", 3, "google"),
        page("c", 3, "brave"),
    ]

    assert [row["title"] for row in merged(*rows, tool="web_search")] == ["c", "b", "a"]


def test_what_was_given_before_is_left_out() -> None:
    rows = [
        {**work(f"Otters of the river number {at}", f"10.1234/{at}"), "provider": A, "place": at} for at in range(1, 9)
    ]
    first = merge(rows[:5], stage_of("academic_search"), shipped_model().providers, {})
    marks = join_marks("", first.marks)

    found = merge(rows, stage_of("academic_search"), shipped_model().providers, {}, split_marks(marks))

    assert [row["doi"] for row in found.rows] == ["10.1234/6", "10.1234/7", "10.1234/8"]
    assert len(join_marks(marks, [f"{at:04}" for at in range(500)])) == 4 * 340


def test_rows_are_the_same_where_nothing_of_them_is_marked() -> None:
    rows = [
        {**work(f"Otters of the river number {at}", f"10.1234/{at}"), "provider": name, "place": at}
        for at in range(1, 5)
        for name in (A, B)
    ]
    stage, providers = stage_of("academic_search"), shipped_model().providers

    marked, plain = (merge(rows, stage, providers, {}, marked=marked) for marked in (True, False))

    assert plain.rows == marked.rows
    assert (len(marked.marks), plain.marks) == (4, [])


def test_a_work_of_one_index_says_who_found_it_and_takes_no_word_of_the_index_for_that() -> None:
    row = {
        **work(*NET),
        "provider": A,
        "place": 1,
        "found_by": "somebody",
        "origins": {"title": "somebody"},
        "venue": "",
    }

    (found,) = merged(row)

    assert found["found_by"] == [A]
    assert "origins" not in found
    assert "venue" not in found
    assert found["title"] == NET[0]


# --- A key of which one value in common is enough --------------------------------------------------------------------


def book(title: str, *isbns: str, doi: str = "", provider: str = A, place: int = 1) -> Row:
    found = work(title, doi, url="" if doi else f"https://{provider}.example/{place}/{title}")
    return {**found, "isbns": list(isbns), "provider": provider, "place": place}


def test_one_isbn_in_common_makes_one_book_of_two_editions_however_it_is_written() -> None:
    rows = merged(
        book("Sea otters", "978-0-00-000001-9", "9780000000026", doi="10.1234/s"),
        book("The sea otter", "0000000000", "9780000000019", provider=B),
    )

    assert [row["found_by"] for row in rows] == [["crossref", "openalex"]]


def test_books_without_an_isbn_in_common_and_numbers_of_ten_digits_alone_join_nothing() -> None:
    rows = merged(
        book("Sea otters", "9780000000019", "0000000000"),
        book("River otters", "9780000000026", "0000000000", provider=B),
    )

    assert len(rows) == 2


def test_an_isbn_that_two_works_with_dois_share_joins_neither_of_them_to_a_third() -> None:
    rows = merged(
        book("Otters at night", "9780000000019", doi="10.1234/s.1"),
        book("Otters by day", "9780000000019", doi="10.1234/s.2", place=2),
        book("All about otters", "9780000000019", provider=B),
    )

    assert len(rows) == 3


def test_three_catalogues_each_of_which_shares_a_number_with_the_next_have_one_book_in_any_order() -> None:
    rows = [
        book("Otters", "9780000000019", provider="openlibrary"),
        book("Otters", "9780000000019", "9780000000026", provider="doab"),
        book("Otters, second edition", "9780000000026", provider=B),
    ]

    told = [[(row["title"], row["found_by"]) for row in merged(*order)] for order in itertools.permutations(rows)]

    assert all(one == told[0] for one in told)
    assert told[0][0][1] == ["crossref", "doab", "openlibrary"]
    assert len(told[0]) == 1
