"""Tables of a PDF page become pipe tables; what only looks like one stays text, and no word is lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.documents import read as documents
from tests.support.documents import Text, grid, lines, make_pdf, rows

pytest.importorskip("pypdfium2")

PROSE = [
    "The bridge over the harbour was opened on Tuesday after ten",
    "years of work. It carries two tracks and a path for people",
    "who walk, and it replaces the ferry that had been there.",
]
CITIES = [
    ["City", "Bridges", "Length (m)", "Share"],
    ["Aldburg", "12", "1,204.5", "41.0%"],
    ["Brenn on Sea", "7", "980.0", "33.4%"],
    ["Cottlestone", "-", "755.2", "25.6%"],
]
PIPES = """| City | Bridges | Length (m) | Share |
| --- | --- | --- | --- |
| Aldburg | 12 | 1,204.5 | 41.0% |
| Brenn on Sea | 7 | 980.0 | 33.4% |
| Cottlestone | - | 755.2 | 25.6% |"""
AT = (60.0, -240.0, -330.0, -420.0)


def read(body: bytes) -> str:
    return documents.read(body, "application/pdf", "").text


def words(text: str) -> Counter[str]:
    """The words of a Markdown text, how often each; without signs that may be those of a heading or an item."""
    plain = re.sub(r"^\|(?: --- \|)+$", "", text, flags=re.MULTILINE).replace("\\", "").replace("|", " ")
    return Counter(word for word in plain.split() if word.strip("#") not in ("", "-"))


def test_a_ruled_table_has_its_cells_by_its_lines() -> None:
    at = (60, 160, 260)
    cells = [["Name", "What it is for"], ["pier", "ships"], ["arch", ""], ["", "weight"]]
    texts = rows(cells, (64, 164), top=690, leading=20)
    wrapped = [(164.0, 619.0, 10.0, "of ships")]

    text = read(make_pdf([[*texts, *wrapped]], drawn={0: grid(at, (705, 685, 665, 645, 612))}))

    assert text == (
        "--- Page 1 ---\n\n"
        "| Name | What it is for |\n| --- | --- |\n| pier | ships |\n| arch |  |\n|  | weight of ships |"
    )


@pytest.mark.parametrize(
    "how", ["lines", "one path", "rectangles", "filled rectangles", "no outer lines", "turned by a matrix"]
)
def test_however_the_lines_are_drawn(how: str) -> None:
    across, up = (705, 685, 665, 645, 625), (55, 150, 245, 335, 430)
    drawn = {
        "lines": grid(up, across),
        "one path": grid(up, across).replace(" S", "") + "\nS",
        "rectangles": "\n".join(
            f"{left} {top} {right - left} {low - top} re S"
            for left, right in pairwise(up)
            for top, low in pairwise(across)
        ),
        "filled rectangles": "\n".join(
            [f"55 {at} 375 0.5 re f" for at in across] + [f"{at} 625 0.5 80 re f" for at in up]
        ),
        "no outer lines": "\n".join(
            [f"55 {at} m 430 {at} l S" for at in across[1:-1]] + [f"{at} 625 m {at} 705 l S" for at in up[1:-1]]
        ),
        "turned by a matrix": "q 0 1 1 0 0 0 cm\n" + grid(across[::-1], up) + "\nQ",
    }[how]

    assert PIPES in read(make_pdf([rows(CITIES, AT, top=690, leading=20)], drawn={0: drawn}))


def test_a_cell_over_several_columns_stands_in_the_first_of_them() -> None:
    cells = [["Year", "Length", ""], ["", "new", "old"], ["1990", "10", "20"], ["2000", "30", "40"]]
    drawn = grid((50, 150, 250), (705, 685)) + "\n" + grid((50, 150, 200, 250), (685, 665, 645, 625))
    texts = rows(cells, (60, 160, 210), top=690, leading=20)

    assert "| Year | Length |  |\n| --- | --- | --- |\n|  | new | old |\n| 1990 | 10 | 20 |" in read(
        make_pdf([texts], drawn={0: drawn})
    )


def test_lines_around_a_whole_table_leave_its_rows_to_the_numbers() -> None:
    drawn = grid((50, 150, 245, 335, 430), (705, 685, 625))

    assert PIPES in read(make_pdf([rows(CITIES, AT, top=690, leading=18)], drawn={0: drawn}))


def across(*heights: float) -> str:
    return "\n".join(f"55 {at} m 430 {at} l S" for at in heights)


WRAPPED = [
    ["City", "What it is known for", "Length (m)"],
    ["Aldburg", "a bridge over the", "1,204.5"],
    ["", "harbour", ""],
    ["Brenn on", "seven small", "980.0"],
    ["Sea", "bridges", ""],
    ["Cottlestone", "a ford", "755.2"],
]
WIDE = (60.0, 160.0, 330.0)


@pytest.mark.parametrize("heads", ["Length (m)", "Language"])
def test_lines_between_rows_make_one_cell_of_what_goes_on_below(heads: str) -> None:
    cells = [[*row[:2], row[2] if heads == "Length (m)" else "old" * bool(row[2])] for row in WRAPPED]
    cells[0][2] = heads
    last = [row[2] for row in cells if row[2]]
    drawn = across(702, 686, 662, 638, 626)

    text = read(make_pdf([rows(cells, WIDE, top=690, leading=12)], drawn={0: drawn}))

    assert text == (
        f"--- Page 1 ---\n\n| City | What it is known for | {last[0]} |\n| --- | --- | --- |\n"
        f"| Aldburg | a bridge over the harbour | {last[1]} |\n| Brenn on Sea | seven small bridges | {last[2]} |\n"
        f"| Cottlestone | a ford | {last[3]} |"
    )


@pytest.mark.parametrize("heights", [(705, 685, 660, 632), (705, 685, 632), (705, 685, 673, 661, 649, 637)])
def test_lines_between_groups_of_rows_join_none(heights: tuple[float, ...]) -> None:
    cities = [*CITIES, ["Dunes", "3", "65.2", "2.0%"]]

    text = read(make_pdf([rows(cities, AT, top=690, leading=12)], drawn={0: across(*heights)}))

    assert f"{PIPES}\n| Dunes | 3 | 65.2 | 2.0% |" in text


def test_a_group_of_rows_that_lacks_a_number_is_not_joined() -> None:
    cities = [*CITIES, ["Dunes", "", "65.2", "2.0%"], ["Ebb", "", "5.2", "1.0%"]]

    text = read(make_pdf([rows(cities, AT, top=690, leading=12)], drawn={0: across(705, 685, 661, 637, 620)}))

    assert f"{PIPES}\n| Dunes |  | 65.2 | 2.0% |\n| Ebb |  | 5.2 | 1.0% |" in text


@pytest.mark.parametrize(
    "cells",
    [
        [["Coast", "Bridges", "Metres"], ["North", "12", "1,204"], ["", "7", "980"], ["South", "5", "755"],
         ["", "3", "65"]],
        [["City", "Made of", "Age"], ["Aldburg", "stone", "old"], ["Brenn", "wood", "new"], ["Ebb", "iron", "old"],
         ["Fell", "brick", "new"]],
    ],
)  # fmt: skip
def test_rows_of_a_group_stay_rows(cells: list[list[str]]) -> None:
    text = read(make_pdf([rows(cells, WIDE, top=690, leading=12)], drawn={0: across(702, 686, 662, 638)}))

    assert [line for line in text.splitlines() if line.startswith("| ") and "---" not in line] == [
        f"| {' | '.join(row)} |" for row in cells
    ]


def test_aligned_numbers_are_a_table_without_any_line() -> None:
    text = read(make_pdf([[*lines(PROSE), *rows(CITIES, AT, top=630), *lines(PROSE, top=550)]]))

    assert text == f"--- Page 1 ---\n\n{' '.join(PROSE)}\n\n{PIPES}\n\n{' '.join(PROSE)}"


def test_a_caption_stays_beside_its_table() -> None:
    above = [(60.0, 655.0, 10.0, "Table 1: Bridges of the coast, by city.")]
    below = [(60.0, 560.0, 10.0, "Source: the harbour office.")]

    text = read(make_pdf([[*lines(PROSE), *above, *rows(CITIES, AT, top=630), *below]]))

    assert f"Table 1: Bridges of the coast, by city.\n\n{PIPES}\n\nSource: the harbour office." in text


def test_words_between_two_lines_are_a_table_too() -> None:
    cells = [["Part", "Material"], ["arch", "stone"], ["deck", "oak"], ["rail", "iron"]]
    ruled = "60 712 m 200 712 l S 60 696 m 200 696 l S 60 650 m 200 650 l S"

    assert "| Part | Material |\n| --- | --- |\n| arch | stone |" in read(
        make_pdf([rows(cells, (60, 150))], drawn={0: ruled})
    )
    assert "|" not in read(make_pdf([rows(cells, (60, 150))]))


def test_a_table_that_runs_up_the_page_is_read() -> None:
    turned = [(800 - y, x, size, text) for x, y, size, text in rows(CITIES, AT)]
    drawn = "\n".join(f"BT /F1 {size} Tf 0 1 -1 0 {x} {y} Tm ({text}) Tj ET" for x, y, size, text in turned)

    assert PIPES in read(make_pdf([[]], drawn={0: drawn.replace("(m)", "\\(m\\)")}, turned=90))


def test_a_table_over_two_pages_is_two() -> None:
    body = make_pdf([rows(CITIES, AT), rows(CITIES, AT)])

    assert read(body).count(PIPES) == 2


CONTENTS = [["1", "Of bridges", "3"], ["1.1", "Of stone", "3"], ["1.2", "Of iron", "17"], ["2", "Of ferries", "20"]]
FIELDS = [["Name:", "Born:"], ["Street:", "Town:"], ["Signed:", "On:"], ["Seen:", "By:"]]
AUTHORS = [["Ann Lee", "Bo Day", "Cy Poe"], ["Harbour", "School", "Town hall"], ["a@x.example", "b@x.example", ""]]
LOOK_ALIKES: dict[str, list[Text]] = {
    "contents": rows(CONTENTS, (60, 90, -400)),
    "contents with dots": rows([[f"{row[1]} {'. ' * 20}", row[2]] for row in CONTENTS], (60, -400)),
    "contents without numbers": rows([row[1:] for row in CONTENTS], (60, -400)),
    "a list": rows([[f"{at}.", f"thing number {at}"] for at in range(1, 8)], (60, 90)),
    "references": rows([[f"[{at}]", f"A. Lee. On bridges of {1990 + at}. Sea, {at}."] for at in range(1, 8)], (60, 90)),
    "a form": rows([*FIELDS, *FIELDS], (60, 250)),
    "authors": rows([*AUTHORS, *AUTHORS], (60, 200, 340)),
    "the lines of a form": rows([[f"{at} Wages and tips", f"{at}", f"{at}"] for at in range(7, 15)], (60, -300, -400)),
    "a formula": rows([["a", "=", "b"], ["c", "=", "d"], ["e", "+", "f"], ["x", "=", "y"]], (60, 90, 120)),
    "two columns": [
        text
        for at, (one, two) in enumerate(zip(PROSE * 5, reversed(PROSE * 5), strict=True))
        for text in ((40.0, 700.0 - 12 * at, 8.0, one), (320.0, 700.0 - 12 * at, 8.0, two))
    ],
    "names beside each other": rows([["Ann Lee", "Bo Day"], ["Cy Poe", "Di Fox"], ["Ed Gun", "Flo Hay"]], (60, 250)),
    "two rows": rows(CITIES[1:3], AT),
    "a paragraph of wide gaps": rows([["the bridge", "was", "opened"]] * 2 + [["on", "a", "Tuesday"]], (60, 150, 250)),
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_what_only_looks_like_a_table_stays_text(name: str) -> None:
    assert "|" not in read(make_pdf([LOOK_ALIKES[name]]))


CODE = [
    "int main(void) {",
    "  int a   =  1;    /* one */",
    "  int bb  =  22;   /* two */",
    "  long c  =  3;    /* 3 */",
    "}",
]


def test_code_stays_text() -> None:
    assert "|" not in read(make_pdf([lines(CODE)], font="Courier"))


@pytest.mark.parametrize(
    ("name", "texts", "drawn"),
    [
        ("a frame around prose", lines(PROSE), grid((50, 400), (720, 660))),
        ("a line between columns", LOOK_ALIKES["two columns"], grid((30, 310, 580), (720, 520))),
        ("boxes of a form", rows(FIELDS, (60, 250)), grid((50, 240), (712, 690)) + grid((50, 130, 300), (690, 640))),
        ("an empty grid", lines(PROSE), grid((50, 100, 150, 200), (600, 580, 560, 540))),
        ("the axes of a chart", rows([["10", "", ""], ["", "", ""], ["", "May", "June"]], (52, 120, 180)),
         grid((50, 110, 170, 230), (712, 700, 690, 680))),
    ],
)  # fmt: skip
def test_lines_that_make_no_table_change_nothing(name: str, texts: Sequence[Text], drawn: str) -> None:
    assert read(make_pdf([texts], drawn={0: drawn})) == read(make_pdf([texts])), name


def test_a_drawing_of_very_many_lines_is_left_alone_and_its_words_are_read() -> None:
    many = "\n".join(f"{at % 500} {at // 500} m {at % 500 + 9} {at // 500} l S" for at in range(20_500))

    assert " ".join(PROSE) in read(make_pdf([lines(PROSE)], drawn={0: many}))


@given(
    cells=st.lists(
        st.lists(st.text("abc019.,-%(|\\x ", max_size=14).map(str.strip), min_size=3, max_size=3), max_size=9
    ),
    at=st.lists(st.integers(20, 560), min_size=3, max_size=3, unique=True).map(sorted),
    up=st.lists(st.integers(10, 590), max_size=6),
    across=st.lists(st.integers(500, 720), max_size=9),
    leading=st.integers(5, 30),
)
def test_no_word_is_lost_or_made(
    cells: list[list[str]], at: list[int], up: list[int], across: list[int], leading: int
) -> None:
    from specloom.domains.scrape.documents.pdf import read as pdf

    texts = [*lines(PROSE, top=760), *rows(cells, at, leading=leading)]
    body = make_pdf([texts], drawn={0: grid(sorted(up), sorted(across)) if len(up) > 1 and len(across) > 1 else ""})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pdf, "find_tables", lambda *_: [])
        without = read(body)

    assert words(read(body)) == words(without)
