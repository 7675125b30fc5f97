"""One walk finds what several parts of the work look for, and dates are told apart from other numbers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.content.text_features import find_dates
from specloom.domains.scrape.html.parse import gather_attributes, parse

PAGE = (
    '<html itemtype="a"><body class="x"><p id="one" class="y z" style="color:red">A</p><div hidden itemtype="b">B</div>'
    '<a rel="author" role="tab" href="#one">C</a><i role="note" data-target="#one">D</i></body></html>'
)


def test_elements_are_found_in_document_order_with_the_root_among_them() -> None:
    found = gather_attributes(parse(PAGE))

    assert [(element.tag, name, value) for element, name, value in found.named] == [
        ("body", "class", "x"),
        ("p", "id", "one"),
        ("p", "class", "y z"),
    ]
    assert [(element.tag, value) for element, value in found.valued["itemtype"]] == [("html", "a"), ("div", "b")]
    assert [element.tag for element, _ in found.valued["style"]] == ["p", "div"]
    assert [(element.tag, value) for element, value in found.valued["rel"]] == [("a", "author")]


def test_a_role_makes_a_control_only_where_it_is_a_tab() -> None:
    found = gather_attributes(parse(PAGE))

    assert [(element.tag, value) for element, value in found.valued["data-target"]] == [("i", "#one"), ("a", "tab")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("on 2024-05-07", True),
        ("7.5.24", True),
        ("at 9:30", True),
        ("sept. 3", True),
        ("two days ago", True),
        ("chicago 7", False),
        ("page 3 of 20", False),
        ("x2024-05", False),
        ("ratio 3:5", False),
    ],
)
def test_a_date_a_time_or_an_age_is_told_from_other_numbers(text: str, told: bool) -> None:
    assert find_dates([text]) == [told]


DAY = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d")


@given(
    st.lists(
        st.lists(
            st.sampled_from(["jan", "march", "xmay", " ", "5", "٣", "é", "(", "\n", "maré", "dec.", "a"]), max_size=9
        ),
        max_size=5,
    )
)
def test_a_day_is_a_number_behind_what_begins_like_a_month(said: list[list[str]]) -> None:
    texts = ["".join(parts).strip() for parts in said]

    assert find_dates(texts) == [DAY.search(text) is not None for text in texts]
