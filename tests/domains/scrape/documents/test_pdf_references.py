"""Lists of references in PDF files, by how journals set them: each reference comes out as a paragraph of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import pytest

from specloom.domains.scrape.documents.read import read
from specloom.domains.trust.bibliography.plain import find_reference_section, split_list
from tests.support.documents import Text, lines, make_pdf

REFERENCES = (
    "Abel, A., & Weir, B. (2019). How otters swim in cold rivers and what it costs them over the winter. Journal of "
    "Otters, 12(3), 45-67. https://doi.org/10.1234/otters.12.45",
    "Brook, C. (2020). Weirs and the salmon that climb them. Rivers, 4, 1-12. https://doi.org/10.1234/weirs.7",
    "Carp, D., Eel, E., & Fish, F. (2018). Ballast water and the larvae that travel in it from one harbour to another. "
    "Ships, 30(1), 9-19. https://doi.org/10.1234/ships-30-9",
    "Dace, G. (2015). Kelp. Otter Press.",
    "Eliot, H. (2011). Sediments of estuaries, and what becomes of them when a dam is built above. Tides, 1, 3-9.",
)
PROSE = lines(["This line stands for the text of a paper that nobody has to read here at all."] * 12)


def set_list(
    references: Sequence[str], *, hang: float = 0, first: float = 0, gap: float = 0, left: float = 60, width: int = 80
) -> list[Text]:
    y, texts = 700.0, [(left, 724.0, 14.0, "References")]
    for reference in references:
        for number, line in enumerate(textwrap.wrap(reference, width)):
            texts.append((left + (hang if number else first), y, 10.0, line))
            y -= 12
        y -= gap
    return texts


def parted(pages: Sequence[Sequence[Text]]) -> list[str]:
    section = find_reference_section(read(make_pdf([PROSE, *pages]), "application/pdf", "a.pdf").text)
    assert section is not None
    return [reference for _, reference in split_list(section)]


@pytest.mark.parametrize("form", [{"hang": 20}, {"first": 20}, {"gap": 6}])
def test_references_are_parted_by_indents_and_by_gaps(form: dict[str, float]) -> None:
    assert parted([set_list(REFERENCES, **form)]) == [*REFERENCES]


def test_a_list_goes_on_in_the_next_column_and_on_the_next_page() -> None:
    columns = [*set_list(REFERENCES[:3], hang=12, width=44), *set_list(REFERENCES[3:], hang=12, left=340, width=44)[1:]]
    further = [text.replace("20", "19") for text in REFERENCES]

    assert parted([columns, set_list(further, hang=12)[1:]]) == [*REFERENCES, *further]


@pytest.mark.parametrize("at", ["https://doi.org/", "10.1234/", "otters.", "10."])
def test_an_address_that_a_line_breaks_stays_whole(at: str) -> None:
    reference = "Abel, A. (2019). How otters swim. https://doi.org/10.1234/otters.12.45"
    place = reference.rindex(at) + len(at)
    texts = [(60.0, 724.0, 14.0, "References"), (60.0, 700.0, 10.0, f"1. {reference[:place]}")]
    texts += [(60.0, 688.0, 10.0, reference[place:]), (60.0, 676.0, 10.0, f"2. {REFERENCES[1]}")]

    assert parted([texts])[0] == f"1. {reference}"


def test_a_paragraph_of_prose_with_lines_that_stand_in_is_no_list() -> None:
    prose = (
        "Otters swim where the water is deep, and Weirs hold it back. They Rest on stones and eat what they Catch. " * 3
    )
    texts = [
        (60 + 20 * (number % 2), 700.0 - 12 * number, 10.0, line)
        for number, line in enumerate(textwrap.wrap(prose, 80))
    ]
    told = read(make_pdf([texts]), "application/pdf", "a.pdf").text

    assert "eat what they Catch. Otters" in told
