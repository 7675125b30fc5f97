"""Which tables hold data, and which headings are of a section that is read."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.features import Frame, to_frame
from specloom.domains.scrape.content.finder import find_tables, take_headings
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.html import parse as tree

SAYS_NOTHING = PageFacts((), "", "", ())


def frame(body: str) -> Frame:
    page = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), SAYS_NOTHING, Words({}, {}, {}))
    assert page is not None
    return page


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

    (span,) = find_tables(page)

    assert texts(page, slice(*span)) == [text for text in texts(page, slice(None)) if text not in {"Before", "Behind"}]


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

    assert [texts(page, slice(*span)) for span in find_tables(page)] == [["a b", "c d"]]


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
