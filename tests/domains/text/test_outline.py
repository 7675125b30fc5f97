"""Outlines: headings with their places and sizes, by number or by words."""

from __future__ import annotations

import pytest

from specloom.domains.text import find_section, find_sections, show_outline
from specloom.domains.text.outline import find_pages

TEXT = """\
Before.

# Otters

Text.

## Diet *of* [otters](https://a.example/)

Fish.

### Fish ###

```
# no heading
```

## Winter

Ice.

# Beavers

Wood.
"""


def test_a_section_goes_to_the_next_heading_of_its_level_or_above() -> None:
    sections = find_sections(TEXT)

    assert [(one.number, one.level, one.heading) for one in sections] == [
        (1, 1, "Otters"),
        (2, 2, "Diet of otters"),
        (3, 3, "Fish"),
        (4, 2, "Winter"),
        (5, 1, "Beavers"),
    ]
    assert TEXT[sections[1].start : sections[1].end].startswith("## Diet")
    assert TEXT[sections[1].start : sections[1].end].endswith("```\n\n")
    assert sections[0].end == sections[4].start


@pytest.mark.parametrize(
    ("wanted", "number"),
    [("winter", 4), ("3", 3), ("Diet", 2), ("of otters", 2), ("WINTER.", 4), ("9", 0), ("ice", 0), ("  ", 0)],
)
def test_a_section_is_found_by_its_words_or_its_number(wanted: str, number: int) -> None:
    found = find_section(find_sections(TEXT), wanted)

    assert (found.number if found else 0) == number


def test_a_heading_that_is_a_number_comes_before_the_number_of_a_section() -> None:
    sections = find_sections("# One\n\n# 2024\n\n# 1\n\n# Four\n")

    assert [find_section(sections, one).heading for one in ("2024", "1", "4")] == ["2024", "1", "Four"]  # type: ignore[union-attr]


def test_the_deepest_levels_give_way_where_an_outline_is_long() -> None:
    text = "".join(f"# Part {n}\n\n" + "".join(f"## Chapter {n}.{k}\n\nText.\n\n" for k in range(9)) for n in range(5))

    lines = show_outline(text, find_sections(text), most=20)

    assert [line.split(" (")[0] for line in lines] == [
        *(f"{n * 10 + 1}. Part {n}" for n in range(5)),
        "… 45 more, up to 50",
    ]


def test_a_text_with_hardly_a_heading_has_no_outline() -> None:
    assert show_outline("# One\n\n## Two\n", find_sections("# One\n\n## Two\n")) == []


def test_the_pages_of_a_document_are_found_by_their_lines() -> None:
    text = "--- Page 1 ---\n\nA.\n\n--- Page 2 ---\n\nB.\n"

    assert [(one.heading, text[one.start : one.end]) for one in find_pages(text)] == [
        ("Page 1", "--- Page 1 ---\n\nA.\n\n"),
        ("Page 2", "--- Page 2 ---\n\nB.\n"),
    ]
