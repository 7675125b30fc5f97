"""What is taken together: the rows and cells of a table of data, and a section with its headings."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import Frame, to_frame
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.select import (
    AMID,
    TABLE,
    find_lists,
    find_tables,
    take_amid,
    take_behind,
    take_headings,
    take_whole,
)
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.html import parse as tree

SAYS_NOTHING = PageFacts((), "", "", ())


def frame(body: str) -> Frame:
    found = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), SAYS_NOTHING, Words({}, {}, {}))
    assert found is not None
    return found


def texts(of: Frame, units: object) -> list[str]:
    return [of.blocks[at].text for at in of.at[units].tolist()]


def headings(body: str, *, taken: str, chance: float = 0.2) -> list[str]:
    """The units that are taken when those with this text are."""
    page = frame(body)
    chosen = np.array([page.blocks[at].text == taken for at in page.at])
    return texts(page, take_headings(page, np.full(len(chosen), chance), chosen))


@pytest.mark.parametrize(
    "rows",
    [
        "<tr><td>Cone</td><td>Heat</td></tr><tr><td>4</td><td>1060 °C</td></tr>",
        "<tr><td><div>Cone</div></td><td>Heat</td></tr><tr><td>4<p>soft</p></td><td>1060 °C</td></tr>",
        "<tr><x-row><td>Cone</td></x-row></tr><tr><x-a></x-a><td>Cone</td><td>Heat</td></tr><tr><td>a</td><td>b</td></tr>",
        "<tbody><tr><td>Cone</td><td>Heat</td></tr></tbody><tbody><tr><td>4</td><td>1060 °C</td></tr></tbody>",
    ],
)
def test_all_of_a_table_of_data_is_one_choice(rows: str) -> None:
    page = frame(f"<p>Before</p><table>{rows}</table><p>Behind</p>")

    (units,) = find_tables(page)

    assert texts(page, units) == [text for text in texts(page, slice(None)) if text not in {"Before", "Behind"}]


@pytest.mark.parametrize(
    "table",
    [
        "<table><tr><td>One column</td></tr><tr><td>is a list</td></tr></table>",
        "<table><tr><td>One row</td><td>is none</td></tr></table>",
        "<table><tr><td>One row</td><td>with text</td></tr><tr><td></td><td></td></tr></table>",
        f"<table><tr><td>ann</td><td>{'word ' * 201}</td></tr><tr><td>bo</td><td>yes</td></tr></table>",
        f"<table><tr><td>ann</td><td>{'word ' * 60}</td></tr><tr><td>bo</td><td>{'word ' * 60}</td></tr></table>",
        "<table><tr><td><h2>A</h2>x</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>",
    ],
)
def test_a_table_that_arranges_a_page_is_judged_piece_by_piece(table: str) -> None:
    assert find_tables(frame(table)) == []


def test_of_tables_in_one_another_only_the_innermost_holds_data() -> None:
    inner = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"
    page = frame(f"<table><tr><td>{inner}</td><td>x</td></tr><tr><td>y</td><td>z</td></tr></table>")

    assert [texts(page, units) for units in find_tables(page)] == [["a b", "c d"]]


@pytest.mark.parametrize(("chance", "kept"), [(0.11, True), (0.09, False)])
def test_a_table_amid_what_is_taken_is_taken_from_a_low_chance(chance: float, *, kept: bool) -> None:
    page = frame("<p>Before</p><table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table><p>Behind</p>")

    chosen = take_amid(
        find_tables(page), np.full(4, chance), np.array([True, False, False, True]), least=TABLE, amid=AMID
    )

    assert chosen.tolist() == [True, kept, kept, True]


def test_a_table_at_the_edge_of_what_is_taken_needs_its_own_chance() -> None:
    page = frame("<p>Before</p><table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>")

    chosen = take_amid(find_tables(page), np.full(3, 0.5), np.array([True, False, False]), least=TABLE, amid=AMID)

    assert chosen.tolist() == [True, False, False]


def test_a_list_is_one_choice_with_the_lists_in_it() -> None:
    page = frame("<p>Eaten are:</p><ul><li>urchins</li><li>crabs<ol><li>Dungeness</li></ol></li></ul><p>Often.</p>")

    (units,) = find_lists(page)

    assert texts(page, units) == ["urchins", "crabs", "Dungeness"]


def test_a_list_of_links_is_a_menu() -> None:
    assert find_lists(frame("<ul><li><a href='/a'>Home</a></li><li>About</li></ul>")) == []


def test_a_heading_is_taken_with_what_stands_in_its_section() -> None:
    body = "<h1>Kilns</h1><p>By ann</p><h2>Firing</h2><p>Share</p><h3>Dawn</h3><p>It was lit.</p><h2>Jobs</h2><p>No</p>"

    assert headings(body, taken="It was lit.") == ["Kilns", "Firing", "Dawn", "It was lit."]


def test_a_section_ends_with_the_next_heading_above_it() -> None:
    assert headings("<h3>Related</h3><p>Other</p><h2>Firing</h2><p>Lit.</p>", taken="Lit.") == ["Firing", "Lit."]


def test_a_heading_beside_one_that_is_taken_is_taken_too() -> None:
    body = "<h2>Kilns</h2><h2>Firing</h2><p>Lit.</p><h2>Jobs</h2>"

    assert headings(body, taken="Lit.") == ["Kilns", "Firing", "Lit."]


@pytest.mark.parametrize(("tag", "chance", "kept"), [("h1", 0.06, False), ("h2", 0.06, True), ("h2", 0.04, False)])
def test_a_heading_that_is_hardly_content_is_left_out(tag: str, chance: float, *, kept: bool) -> None:
    found = headings(f"<{tag}>Firing</{tag}><p>Lit.</p>", taken="Lit.", chance=chance)

    assert ("Firing" in found) is kept


def test_what_is_taken_is_never_given_up_for_its_headings() -> None:
    page = frame("<h1>a</h1><p>b</p><h2>c</h2><p>d</p>")
    chosen = np.array([False, True, True, False])

    assert (take_headings(page, np.zeros(4), chosen) >= chosen).all()


DATA = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"


@pytest.mark.parametrize(
    ("behind", "kept"),
    [
        (DATA, True),
        ("<ul><li>a</li><li>b</li></ul>", True),
        ("<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>", True),
        (f"<div>{DATA}</div>", False),
        (f"<p>Other</p>{DATA}", False),
    ],
)
def test_a_table_or_list_beside_what_is_taken_and_right_behind_it_is_taken(behind: str, *, kept: bool) -> None:
    page = frame(f"<article><p>Before</p>{behind}</article><p>Far</p>")
    chosen = np.array([text == "Before" for text in texts(page, slice(None))])
    groups = [*find_tables(page), *find_lists(page)]

    found = take_behind(page, groups, np.full(len(chosen), 0.3), chosen)

    assert texts(page, found) == (["Before", *texts(page, slice(1, len(chosen) - 1))] if kept else ["Before"])
    assert take_behind(page, groups, np.full(len(chosen), 0.2), chosen).tolist() == chosen.tolist()


@pytest.mark.parametrize(
    ("chances", "whole"), [((0.2, 0.8, 0.8), True), ((0.19, 0.8, 0.8), False), ((0.2, 0.2, 0.8), False)]
)
def test_a_list_of_which_most_is_taken_is_taken_unless_a_part_is_unlikely(chances: list[float], *, whole: bool) -> None:
    page = frame("<p>Before</p><ul><li>one</li><li>two</li><li>six</li></ul><p>Behind</p>")
    each = np.array([0.1, *chances, 0.1])

    found = take_whole(find_lists(page), page.words, each, each > 0.5)

    assert texts(page, found) == (["one", "two", "six"] if whole else texts(page, each > 0.5))
