"""The score of the tables of PDF files, on cells made by hand; how well tables are found is not looked at."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pdf_tables as bench  # the benches are scripts and no package
import pytest

from tests.support.documents import grid, make_pdf, rows


def cells(*table: str) -> list[bench.Cell]:
    """A cell for each letter of each row; a dot is one without text."""
    return [
        bench.Cell(letter.strip("."), row, column, row, column)
        for row, letters in enumerate(table)
        for column, letter in enumerate(letters)
    ]


def told(*relations: str) -> Counter[bench.Relation]:
    """`a>b` is b to the right of a, `a/b` is b below a."""
    return Counter((one[0], "right" if one[1] == ">" else "below", one[2]) for one in relations)


def test_the_neighbours_of_a_cell_are_the_nearest_filled_ones_to_the_right_and_below() -> None:
    assert bench.relate(cells("abc", "d.e", ".f.")) == told("a>b", "b>c", "d>e", "a/d", "b/f", "c/e")


def test_a_cell_over_two_columns_stands_above_both_and_counts_once_for_each() -> None:
    wide = bench.Cell("w", 0, 1, 1, 2)

    assert bench.relate([wide, *cells("a..", "b..", ".cd")]) == told("a>w", "b>w", "a/b", "c>d", "w/c", "w/d")


def test_a_score_counts_what_was_found_what_is_true_and_what_is_both() -> None:
    score = bench.compare(told("a>b", "a>b", "a/c", "b>a"), told("a>b", "a/c", "b/d", "c>d", "d>e", "e>f"))

    assert (score.found, score.true, score.right) == (4, 6, 2)
    assert (score.precision, score.recall, score.f1) == (0.5, pytest.approx(1 / 3), pytest.approx(0.4))


@pytest.mark.parametrize(("found", "true", "share"), [(0, 3, 0.0), (3, 0, 0.0), (0, 0, 1.0)])
def test_where_nothing_was_found_or_is_true_the_shares_are_none_or_all(found: int, true: int, share: float) -> None:
    score = bench.Score(found, true, 0)

    assert (score.precision, score.recall, score.f1) == (share, share, share)


def test_the_cells_of_pipe_tables_are_told_without_white_space_and_escapes() -> None:
    text = "| no | table |\n\n| a b | \\|x\\\\ |\n| --- | --- |\n| 1\u00a02 |  |\n\n| y | z |\n| --- | --- |\n| 3 | 4 |"

    first, second = bench.read_pipes(text)

    assert [(cell.text, cell.row, cell.column) for cell in first] == [
        ("ab", 0, 0),
        ("|x\\", 0, 1),
        ("12", 1, 0),
        ("", 1, 1),
    ]
    assert [cell.text for cell in second] == ["y", "z", "3", "4"]


def test_the_regions_of_a_table_are_put_on_one_grid(tmp_path: Path) -> None:
    path = tmp_path / "a-str.xml"
    path.write_text(
        "<document><table id='1'><region row-increment='0' col-increment='0'>"
        "<cell start-row='0' start-col='0' end-col='1'><content>a\n b</content></cell></region>"
        "<region row-increment='-1' col-increment='2'><cell start-row='1' start-col='0'><content/></cell></region>"
        "</table></document>",
        encoding="utf-8",
    )

    assert bench.read_truth(path) == [[bench.Cell("ab", 0, 0, 0, 1), bench.Cell("", 0, 2, 0, 2)]]


@pytest.mark.parametrize("damaged", ["<document><table>", "<table><region><cell start-row='0'/></region></table>"])
def test_a_damaged_truth_is_named(tmp_path: Path, damaged: str) -> None:
    path = tmp_path / "a-str.xml"
    path.write_text(damaged, encoding="utf-8")

    with pytest.raises(SystemExit, match=r"the tables in .*a-str\.xml cannot be read"):
        bench.read_truth(path)


def test_a_folder_gives_the_mean_of_its_files_and_what_could_not_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pypdfium2")
    table = [["pier", "ships"], ["arch", "weight"]]
    lines = {0: grid((60, 160, 260), (705, 685, 665))}
    truth = "".join(
        f"<cell start-row='{row}' start-col='{column}'><content>{text}</content></cell>"
        for row, texts in enumerate(table)
        for column, text in enumerate(texts)
    )
    (tmp_path / "good.pdf").write_bytes(make_pdf([rows(table, (64, 164), top=690, leading=20)], drawn=lines))
    (tmp_path / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    (tmp_path / "alone.pdf").write_bytes(b"%PDF-1.7 without a truth")
    for name in ("good", "torn"):
        (tmp_path / f"{name}-str.xml").write_text(f"<t><table><region>{truth}</region></table></t>", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["pdf_tables.py", str(tmp_path), "--each"])

    bench.main()

    _, torn, good, mean, count = capsys.readouterr().out.splitlines()
    assert torn.split()[:4] == ["torn", "0.000", "0.000", "0.000"]
    assert "cannot be read" in torn
    assert good.split()[:4] == ["good", "1.000", "1.000", "1.000"]
    assert mean.split()[4:7] == ["0.500", "0.500", "0.500"]
    assert count == "2 files, 2 tables, 1 pages"
