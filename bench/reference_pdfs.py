"""How many references of a PDF come out of it whole: split right, with their DOI, first author, year and title.

    python bench/reference_pdfs.py [--only LAYOUT] [--wrong]

The PDFs are **made**: lists of works that do not exist, written in the styles of this product and set by fpdf2
(`pip install fpdf2`, for this script alone) in eight layouts as journals print them. They say how well a list is parted
and read where its letters are right; real PDFs have further troubles (ligatures, odd orders, scans), so that figures of
them are lower. Real files in a folder of one's own are looked at with `--folder`: how many references each gives.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from trust import to_interval

from specloom.domains.scrape.documents.read import read
from specloom.domains.text.people import Name
from specloom.domains.trust.bibliography.entry import BibliographyEntry
from specloom.domains.trust.bibliography.formatting import render
from specloom.domains.trust.bibliography.plain import find_reference_section, parse_plain, split_list

LISTS, LENGTH = 5, 30
"""Lists of a layout, and references of a list."""
FAMILIES = (
    "Abel Brook Carter Dace Eliot Finch Garnet Hale Irving Juniper Keller Lund Marsh Nash Osprey Perch Quill Reed "
)
FAMILIES += "Stone Thorne Umber Vale Weir Yarrow van~Dyke de~la~Cruz O'Brien Smith-Jones"
GIVEN = "Ann Bruno Clara Daniel Elena Frank Greta Hugo"
SUBJECTS = "otters rivers weirs kelp salmon ballast harbours tides estuaries wetlands plankton glaciers sediments dunes"
VERBS = "shape predict limit explain disturb sustain outlive reveal follow replace"
JOURNALS = ("Journal of Made-up Rivers", "Annals of Invented Lakes", "Otter Letters", "Quarterly Review of Weirs")
PROSE = "This sentence stands for the text of the paper, which nobody has to read, and goes on to the end of the line. "


class Layout(NamedTuple):
    """How a list is set: its style, how it is marked, and how its lines stand."""

    style: str
    mark: str = ""
    hang: float = 0.0
    columns: int = 1
    size: float = 9.0
    gap: float = 0.0
    first: float = 0.0
    head: str = "References"


LAYOUTS = {
    "APA, hanging": Layout("apa", hang=14),
    "APA, hanging, two columns": Layout("apa", hang=10, columns=2, size=8),
    "MLA, hanging, apart": Layout("mla", hang=24, gap=6, size=11, head="Works Cited"),
    "Chicago, hanging, two columns": Layout("chicago-author-date", hang=12, columns=2, size=8, head="Bibliography"),
    "IEEE, [n], two columns": Layout("ieee", mark="[{}] ", hang=16, columns=2, size=8),
    "Vancouver, n.": Layout("vancouver", mark="{}. ", hang=0),
    "Harvard, apart, no indent": Layout("harvard", gap=7),
    "Harvard, first line in": Layout("harvard", first=14, head="Literature"),
}


def make_works(chance: random.Random) -> list[BibliographyEntry]:
    """Works that there are not, with DOIs of all kinds and one in five without."""
    works = []
    for number in range(LENGTH):
        people = chance.sample(FAMILIES.split(), chance.randrange(1, 5))
        authors = tuple(Name(family.replace("~", " "), chance.choice(GIVEN.split())) for family in people)
        first, second, third = chance.sample(SUBJECTS.split(), 3)
        title = f"How {first} {chance.choice(VERBS.split())} {second}"
        title += chance.choice(("", f" and what {third} have to do with it", f": a study of {third} over ten years"))
        suffix = chance.choice(
            (f"otters.{number}.2019", f"s1234-019-0{number:03}-x", f"j.rivers.2019.{1000 + number}", "x")
        )
        doi = f"10.{chance.randrange(1000, 9999)}/{suffix}{number}" if chance.random() < 0.8 else ""
        volume, page = chance.randrange(1, 60), chance.randrange(1, 900)
        works.append(
            BibliographyEntry(
                title=title,
                authors=authors,
                container=chance.choice(JOURNALS),
                issued=(chance.randrange(1960, 2025),),
                volume=str(volume),
                issue=str(chance.randrange(1, 12)),
                pages=f"{page}-{page + 12}",
                doi=doi,
                url=f"https://doi.org/{doi}" if doi else "",
                kind="article-journal",
            )
        )
    return works


def set_list(layout: Layout, references: Sequence[str]) -> bytes:
    """A PDF of two pages of prose and the list, with a running head and numbers."""
    from fpdf import FPDF  # type: ignore[import-untyped]  # for this script alone

    pdf = FPDF(unit="pt", format="a4")
    pdf.set_auto_page_break(False)
    width = (595 - 120 - 20 * (layout.columns - 1)) / layout.columns
    column, y = layout.columns, 0.0

    def advance(height: float) -> float:
        """The left edge of the column in which there is room for a line."""
        nonlocal column, y
        if column >= layout.columns or y + height > 780:
            column += 1
            y = 70.0
            if column >= layout.columns:
                column = 0
                pdf.add_page()
                pdf.set_font("Times", size=8)
                pdf.text(60, 40, "Otters of the north")
                pdf.text(530, 810, str(pdf.page_no() + 100))
        return 60 + column * (width + 20)

    def write(text: str, *, first: float = 0.0, hang: float = 0.0, size: float = layout.size, style: str = "") -> None:
        nonlocal y
        pdf.set_font("Times", style=style, size=size)
        indent = first
        for line in wrap(pdf, text, width, first, hang):
            left = advance(size * 1.2)
            pdf.set_font("Times", style=style, size=size)
            y += size * 1.2
            pdf.text(left + indent, y, line)
            indent = hang

    for _ in range(14):
        write(PROSE * 5, size=10, first=12)
    y += 16
    write(layout.head, size=13, style="B")
    y += 6
    for number, reference in enumerate(references, 1):
        write(layout.mark.format(number) + reference, hang=layout.hang, first=layout.first)
        y += layout.gap
    return bytes(pdf.output())


def wrap(pdf: Any, text: str, width: float, first: float, hang: float) -> list[str]:
    """The lines of a text; addresses break behind a stroke, a dot or a hyphen, as typesetters have them."""
    lines, line, room = [], "", width - first
    pieces = [
        piece
        for word in re.split(r"(?<= )", text)
        for piece in (re.split(r"(?<=[/.-])(?=\w)", word) if "10." in word else [word])
    ]
    for piece in pieces:
        if line and pdf.get_string_width((line + piece).rstrip()) > room:
            lines.append(line.rstrip())
            line, room = "", width - hang
        line += piece
    return [*lines, line.rstrip()]


def to_latin(text: str) -> str:
    """A reference in the letters of the fonts that every reader has, without the marks of Markdown."""
    return re.sub("[*_]", "", text.translate(str.maketrans("–’‘“”", "-''\"\"")))


def compact(text: str) -> str:
    """Letters and digits alone: what a break of a line may change does not count."""
    return re.sub(r"[\W_]", "", text).casefold()


def judge(
    body: bytes, references: Sequence[str], works: Sequence[BibliographyEntry]
) -> tuple[dict[str, int], list[str]]:
    """How much of a list came out right, and what did not."""
    section = find_reference_section(read(body, "application/pdf", "list.pdf").text) or ""
    parts = [part for _, part in split_list(section)]
    found = {compact(re.sub(r"^\W{0,2}\d+\W{1,3}", "", part)): part for part in parts}
    counts = dict.fromkeys(("split", "doi", "dois", "author", "year", "title"), 0)
    wrong = []
    for reference, work in zip(references, works, strict=True):
        part = found.get(compact(reference))
        entry = parse_plain(part) if part else "not split right"
        counts["dois"] += bool(work.doi)
        if isinstance(entry, str):
            wrong.append(f"{reference[:110]}: {entry}")
            continue
        rights = {
            "split": True,
            "doi": bool(work.doi) and entry.doi.lower() == work.doi.lower(),
            "author": bool(entry.authors) and entry.authors[0].family == work.authors[0].family,
            "year": bool(entry.issued) and entry.issued[0] == work.issued[0],
            "title": compact(entry.title) == compact(work.title),
        }
        for name, is_right in rights.items():
            counts[name] += is_right
        if lacking := [name for name, is_right in rights.items() if not is_right and (name != "doi" or work.doi)]:
            wrong.append(f"{part}: {', '.join(lacking)}")
    return counts, wrong


def main(arguments: Sequence[str]) -> int:
    """Print the share of each layout."""
    parser = argparse.ArgumentParser(description="References of made PDFs against the lists that they were made of.")
    parser.add_argument("--only", default="")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args(arguments)
    if options.folder:
        for path in sorted(options.folder.glob("*.pdf")):
            section = find_reference_section(read(path.read_bytes(), "application/pdf", path.name).text) or ""
            entries = [parse_plain(part) for _, part in split_list(section)]
            print(f"{path.name}: {len(entries)} references, {sum(isinstance(one, str) for one in entries)} not read")
        return 0
    total = dict.fromkeys(("all", "split", "doi", "dois", "author", "year", "title"), 0)
    print(f"{'made PDFs':32} split        DOI          author year  title")
    for name, layout in LAYOUTS.items():
        if options.only and options.only not in name:
            continue
        sums = dict.fromkeys(total, 0)
        for seed in range(LISTS):
            works = make_works(random.Random(f"{name} {seed}"))
            references = [render([work], layout.style)[0].strip() for work in works]
            references = [re.sub(r"^(?:\[1\]|1\.)\s*", "", to_latin(one)) for one in references]
            counts, wrong = judge(set_list(layout, references), references, works)
            for key, count in (*counts.items(), ("all", len(works))):
                sums[key] += count
            if options.wrong:
                print("\n".join(f"  {line}" for line in wrong))
        for key, count in sums.items():
            total[key] += count
        print(f"{name:32} {tell(sums)}")
    print(f"{'all':32} {tell(total)}")
    low, high = to_interval(total["split"], total["all"])
    print(f"split right: {total['split']}/{total['all']} ({low:.3f} to {high:.3f})")
    return 0 if total["split"] >= 0.95 * total["all"] else 1


def tell(sums: dict[str, int]) -> str:
    """Counts as a line."""
    rest = " ".join(f"{sums[name] / sums['all']:.3f}" for name in ("author", "year", "title"))
    return f"{sums['split']:4}/{sums['all']:<6} {sums['doi']:4}/{sums['dois']:<6} {rest}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
