"""What a paragraph of a brand page says of several colours and fonts: each has the words that stand with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.trust.brand.guidelines import read_guidelines


@pytest.mark.parametrize(
    ("text", "palette"),
    [
        (
            "Primary: #0055FF (River Blue). Secondary: #FF0055. Accent #00CC88.",
            [("River Blue", "primary"), ("", "secondary"), ("", "accent")],
        ),
        ("Primary: #0055FF, #3377FF. Secondary: #FF0055", [("", "primary"), ("", "primary"), ("", "secondary")]),
        ("#0055FF primary, #FF0055 secondary", [("", "primary"), ("", "secondary")]),
        ("#0055FF primary #FF0055 secondary", [("", "primary"), ("", "secondary")]),
        ("Blue #0055FF is primary, red #FF0055 is secondary", [("Blue", "primary"), ("red", "secondary")]),
        ("Blue #0055FF (primary), Red #FF0055 (secondary)", [("Blue", "primary"), ("Red", "secondary")]),
        ("Primary #0055FF and secondary #FF0055", [("", "primary"), ("", "secondary")]),
        ("Our primary colors are River Blue #0055FF and Reed #00CC88", [("", "primary"), ("Reed", "primary")]),
        ("#0055FF is our primary color", [("", "primary")]),
        ("Primary: #0055FF. Also #654321.", [("", "primary"), ("", "")]),
        (
            "Primary #0055FF. Secondary #FF0055. Accent #00CC88. Background #FAFAFA. Text #111111.",
            [("", "primary"), ("", "secondary"), ("", "accent"), ("", "background"), ("", "text")],
        ),
    ],
)
def test_each_colour_of_a_paragraph_has_its_own_role_and_name(text: str, palette: list[tuple[str, str]]) -> None:
    assert [(swatch.name, swatch.role) for swatch in read_guidelines(text).palette] == palette


@pytest.mark.parametrize(
    ("text", "heading", "body"),
    [
        ("Headings: Lato Bold. Body: Open Sans Regular.", [700], [400]),
        ("Headings: Lato Bold, Body: Open Sans Light and Regular", [700], [300, 400]),
        ("Lato Bold is used for headings, Open Sans Light for body", [700], [300]),
        ("Weights are Regular and Bold. Headings: Lato. Body: Open Sans.", [400, 700], [400, 700]),
        ("Headings: Lato. Body: Open Sans. Both in Regular and Bold.", [400, 700], [400, 700]),
        ("Headings: Lato Black. Body: Open Sans.", [900], None),
    ],
)
def test_each_font_of_a_paragraph_has_its_own_weights(text: str, heading: list[int], body: list[int] | None) -> None:
    fonts = read_guidelines(f"# Typography\n\n{text}").typography

    assert (fonts["heading"]["family"], fonts["body"]["family"]) == ("Lato", "Open Sans")
    assert (fonts["heading"].get("weights"), fonts["body"].get("weights")) == (heading, body)


@given(st.lists(st.sampled_from(["#0055FF", "Primary", "accent", ": ", ". ", ", ", "(", ")", "RGB 1, 2, 3", "and "])))
def test_any_paragraph_has_an_answer_without_a_colour_that_it_does_not_name(parts: list[str]) -> None:
    palette = read_guidelines(" ".join(parts)).palette

    assert {swatch.hex for swatch in palette} <= {"#0055ff", "#010203"}
