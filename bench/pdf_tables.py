"""How well the tables of PDF files are found: precision, recall and F1 of neighbouring cells, and milliseconds a page.

    python bench/pdf_tables.py FOLDER           the mean of the files
    python bench/pdf_tables.py FOLDER --each    before it a line for each file, the worst first

FOLDER has PDF files, in it or below, each with its tables beside it in `NAME-str.xml`, as in the data set of the ICDAR
2013 Table Competition; what lacks the other is left out. The data set is no part of this repository; the project
Camelot, which finds tables too, carries it among its tests.

The measure is that of Göbel, Hassan, Oro and Orsi, "ICDAR 2013 Table Competition" (2013): a table says of each filled
cell which filled cell is nearest to the right and which below, and all that the tables of a file say so is compared,
without white space and the escapes of Markdown. A file that cannot be read, or of which nothing is found, counts as 0.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from statistics import fmean
from typing import Literal

from specloom.core.faults import Fault
from specloom.domains.scrape.documents import read as documents

Relation = tuple[str, Literal["right", "below"], str]
"""A cell, where its neighbour stands, and the neighbour."""

TRUTH = "-str.xml"
# How GitHub-flavoured Markdown has a table: a row, cells and escapes in it, and the line below the head.
_ROW = re.compile(r"\|.*\|$")
_CELL = re.compile(r"((?:\\.|[^|\\])*)\|")
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+$")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell over the rows and columns from the first to the last, and its text without white space."""

    text: str
    row: int
    column: int
    last_row: int
    last_column: int


@dataclass(frozen=True, slots=True)
class Score:
    """How many relations were found, how many are true, and how many are both; shares from 0 to 1."""

    found: int
    true: int
    right: int

    @property
    def precision(self) -> float:
        """The share of what was found that is true; 1 where there is nothing to find and nothing was found."""
        return self.right / self.found if self.found else float(not self.true)

    @property
    def recall(self) -> float:
        """The share of what is true that was found; 1 where there is nothing to find and nothing was found."""
        return self.right / self.true if self.true else float(not self.found)

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A file that was read: its score, the tables it truly has, and why it could not be read ("" if it could)."""

    name: str
    score: Score
    tables: int
    pages: int = 0
    seconds: float = 0.0
    fault: str = ""


def relate(cells: Iterable[Cell]) -> Counter[Relation]:
    """The neighbours of a table: of a cell over several rows or columns those of each, but none twice."""
    filled = [cell for cell in cells if cell.text]
    places = {
        (row, column): at
        for at, cell in enumerate(filled)
        for row in range(cell.row, cell.last_row + 1)
        for column in range(cell.column, cell.last_column + 1)
    }
    pairs: set[tuple[int, Literal["right", "below"], int]] = set()
    for (here, one), (there, other) in pairwise(sorted(places.items())):
        if here[0] == there[0] and one != other:
            pairs.add((one, "right", other))
    for (here, one), (there, other) in pairwise(sorted(places.items(), key=lambda item: item[0][::-1])):
        if here[1] == there[1] and one != other:
            pairs.add((one, "below", other))
    return Counter((filled[one].text, where, filled[other].text) for one, where, other in pairs)


def compare(found: Counter[Relation], true: Counter[Relation]) -> Score:
    """What two counts of relations have in common; one that is twice in a file has to be found twice."""
    return Score(found.total(), true.total(), (found & true).total())


def read_truth(path: Path) -> list[list[Cell]]:
    """The tables of a `-str.xml`, each with its regions on one grid, as their increments say."""
    try:
        return [
            [
                _place(cell, int(region.get("row-increment", 0)), int(region.get("col-increment", 0)))
                for region in table.iter("region")
                for cell in region.iter("cell")
            ]
            for table in ET.parse(path).iter("table")
        ]
    except (ET.ParseError, KeyError, ValueError) as error:
        sys.exit(f"bench: the tables in {path} cannot be read ({error!r}); take the file from the data set anew")


def _place(cell: ET.Element, down: int, right: int) -> Cell:
    row, column = int(cell.attrib["start-row"]), int(cell.attrib["start-col"])
    last_row, last_column = int(cell.get("end-row", row)), int(cell.get("end-col", column))
    text = "".join((cell.findtext("content") or "").split())
    return Cell(text, row + down, column + right, last_row + down, last_column + right)


def read_pipes(markdown: str) -> list[list[Cell]]:
    """The pipe tables of a Markdown text, their heads as rows like others."""
    tables: list[list[Cell]] = []
    for is_row, lines in groupby(markdown.splitlines(), key=lambda line: bool(_ROW.match(line))):
        rows = [*lines]
        if is_row and len(rows) > 1 and _RULE.match(rows[1]):
            tables.append([*_cut([rows[0], *rows[2:]])])
    return tables


def _cut(rows: Sequence[str]) -> Iterator[Cell]:
    for at, row in enumerate(rows):
        for column, text in enumerate(_CELL.findall(row[1:])):
            yield Cell("".join(_ESCAPE.sub(r"\1", text).split()), at, column, at, column)


def measure(path: Path) -> Reading:
    """One PDF file read as the server reads it, beside its truth."""
    tables = read_truth(path.with_name(path.stem + TRUTH))
    true = sum(map(relate, tables), Counter[Relation]())
    body = path.read_bytes()
    began = time.perf_counter()
    try:
        document = documents.read(body, "application/pdf", path.name)
    except Fault as fault:
        if fault.kind == "config":
            sys.exit(f"bench: {fault}")
        return Reading(path.stem, compare(Counter(), true), len(tables), fault=str(fault))
    seconds = time.perf_counter() - began
    found = sum(map(relate, read_pipes(document.text)), Counter[Relation]())
    return Reading(path.stem, compare(found, true), len(tables), document.pages, seconds)


def say(readings: Sequence[Reading], *, each: bool) -> Iterator[str]:
    """The lines of the report."""
    yield f"{'':30}{'precision':>10}{'recall':>8}{'F1':>6}{'ms a page':>11}"
    for one in sorted(readings, key=lambda reading: reading.score.f1) if each else ():
        yield f"{_line(one.name, [one.score], one.seconds, one.pages)}  {one.fault}".rstrip()
    pages = sum(one.pages for one in readings)
    yield _line("mean of the files", [one.score for one in readings], sum(one.seconds for one in readings), pages)
    yield f"{len(readings)} files, {sum(one.tables for one in readings)} tables, {pages} pages"


def _line(name: str, scores: Sequence[Score], seconds: float, pages: int) -> str:
    precision, recall, f1 = (fmean(getattr(one, name) for one in scores) for name in ("precision", "recall", "f1"))
    return f"{name:30}{precision:10.3f}{recall:8.3f}{f1:6.3f}{1000 * seconds / max(pages, 1):11.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--each", action="store_true", help="a line for each file, the worst first")
    options = parser.parse_args()
    paths = [path for path in sorted(options.folder.rglob("*.pdf")) if path.with_name(path.stem + TRUTH).is_file()]
    if not paths:
        sys.exit(f"bench: {options.folder} has no PDF file with its tables beside it in NAME{TRUTH}")
    measure(paths[0])  # the reader is loaded before anything is timed
    print("\n".join(say([measure(path) for path in paths], each=options.each)))


if __name__ == "__main__":
    main()
