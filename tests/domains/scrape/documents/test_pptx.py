"""A slide is read in the order in which people read it, with all that its shapes say."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.documents import read as documents
from specloom.domains.scrape.documents.pptx import Area, in_order
from tests.support.documents import CHART, DIAGRAM, area, chart, diagram, make_pptx, shape


def read(*slides: str, **how: object) -> str:
    return documents.read(make_pptx(list(slides), **how), "", "").text  # type: ignore[arg-type]


def told(*slides: str, **how: object) -> list[str]:
    return read(*slides, **how).split("\n\n")[1:]


WIDE = (0, 0, 900, 100)
LEFT, RIGHT = (0, 200, 400, 300), (500, 200, 400, 300)
LEFT_BELOW, RIGHT_BELOW = (0, 600, 400, 100), (500, 600, 400, 100)


def test_shapes_are_read_from_the_top_whatever_their_order_in_the_file() -> None:
    tree = shape("below", at=LEFT_BELOW) + shape("above", at=WIDE) + shape("between", at=LEFT)

    assert told(tree) == ["above", "between", "below"]


@pytest.mark.parametrize("by_columns", [True, False])
def test_where_rows_and_columns_are_both_right_the_file_decides(by_columns: bool) -> None:
    names = {"a": LEFT, "b": LEFT_BELOW, "c": RIGHT, "d": RIGHT_BELOW}
    order = "abcd" if by_columns else "acbd"

    assert told(shape("last", at=(0, 800, 900, 50)) + "".join(shape(each, at=names[each]) for each in order)) == [
        *order,
        "last",
    ]


def test_a_background_and_a_shape_without_a_place_do_not_disturb() -> None:
    background = f"<p:sp><p:spPr>{area(0, 0, 900, 900)}</p:spPr></p:sp>"
    tree = shape("below", at=LEFT_BELOW) + shape("above", at=WIDE)

    assert told(background + tree) == ["above", "below"]
    assert told(tree + shape("nowhere")) == ["below", "above", "nowhere"]


def test_a_group_is_read_as_one_in_its_own_order() -> None:
    inner = shape("two", at=(0, 50, 10, 10)) + shape("one", at=(0, 0, 10, 10))
    group = f"<p:grpSp><p:grpSpPr>{area(*WIDE)}</p:grpSpPr>{inner}</p:grpSp>"

    assert told(shape("after", at=LEFT) + group) == ["one", "two", "after"]


def test_a_placeholder_without_a_place_has_that_of_its_layout() -> None:
    def place(text: str, at: str = "") -> str:
        return shape(text).replace(
            "<p:sp>", f'<p:sp><p:nvSpPr><p:nvPr><p:ph idx="3"/></p:nvPr></p:nvSpPr><p:spPr>{at}</p:spPr>'
        )

    layout = (
        '<p:sldLayout xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
        ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
        f"<p:cSld><p:spTree>{place('Click here', area(*WIDE))}</p:spTree></p:cSld></p:sldLayout>"
    )

    assert told(shape("below", at=LEFT) + place("above"), related={"slideLayout": layout}) == ["above", "below"]


def test_charts_diagrams_and_the_words_for_pictures_are_told() -> None:
    frame = f"<p:graphicFrame>{area(*LEFT, name='p')}<a:graphic>%s</a:graphic></p:graphicFrame>"
    tree = (
        frame % f'<c:chart xmlns:c="{CHART}" r:id="chart"/>'
        + frame % f'<d:relIds xmlns:d="{DIAGRAM}" r:dm="diagramData"/>'
        + '<p:pic><p:nvPicPr><p:cNvPr descr="A [small] bridge"/></p:nvPicPr></p:pic>'
    )
    related = {"chart": chart("Ships", ["May"], {"in": [3]}), "diagramData": diagram({"a": "Build"}, {})}

    assert told(tree, related=related) == [
        "Ships",
        "|  | in |\n| --- | --- |\n| May | 3 |",
        "- Build",
        "![A (small) bridge]()",
    ]


def test_a_chart_takes_no_more_cells_than_are_left() -> None:
    frame = f'<p:graphicFrame><c:chart xmlns:c="{CHART}" r:id="chart"/></p:graphicFrame>'
    related = {"chart": chart("Ships", list("abcdefgh"), {"in": [1] * 8})}

    found = documents.read(make_pptx([frame], related=related), "", "", limits=documents.Limits(cells=6))

    assert found.truncated
    assert found.text.count("\n|") == 5
    assert "| d |" not in found.text


def test_a_broken_chart_or_a_large_one_leaves_the_rest() -> None:
    frame = f'<p:graphicFrame><c:chart xmlns:c="{CHART}" r:id="chart"/></p:graphicFrame>'
    large = f"<!--{'x' * 600_000}-->{chart('Ships', ['May'], {'in': [1]})}"
    limits = documents.Limits(total_bytes=1_000_000)

    assert told(frame + shape("Text"), related={"chart": "<!DOCTYPE x []><x/>"}) == ["Text"]
    assert told(frame + shape("Text"), related={"chart": "\0"}) == ["Text"]
    found = documents.read(make_pptx([frame + shape("Text")], related={"chart": large}), "", "", limits=limits)
    assert found.text == "--- Slide 1 ---\n\nText"


def test_the_layout_of_many_slides_is_read_once() -> None:
    layout = f"<x>{'<y/>' * 5000}</x>"

    body = make_pptx([shape("Text")] * 60, related={"slideLayout": layout})

    assert documents.read(body, "", "", limits=documents.Limits(total_bytes=400_000)).text.count("Text") == 60


def test_what_is_not_shown_on_a_slide_is_not_told() -> None:
    hidden = shape("unseen").replace("<p:sp>", '<p:sp><p:nvSpPr><p:cNvPr hidden="1"/></p:nvSpPr>')
    group = f'<p:grpSp><p:nvGrpSpPr><p:cNvPr hidden="true"/></p:nvGrpSpPr>{shape("unseen too")}</p:grpSp>'

    assert told(hidden + group + shape("seen")) == ["seen"]


def test_a_second_title_is_text() -> None:
    assert told(shape("One", "title") + shape("Two", "title")) == ["## One", "Two"]


@given(st.lists(st.none() | st.tuples(*[st.integers(-50, 50)] * 2, *[st.integers(0, 60)] * 2), max_size=12))
def test_every_shape_is_read_once(places: list[tuple[int, int, int, int] | None]) -> None:
    areas = [None if at is None else Area(at[0], at[1], at[0] + at[2], at[1] + at[3]) for at in places]

    assert sorted(in_order(areas)) == list(range(len(areas)))


def test_the_address_of_a_link_ends_no_link() -> None:
    entries = make_pptx([shape("see").replace("<a:r>", '<a:r><a:rPr><a:hlinkClick r:id="rl"/></a:rPr>')])
    body = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(entries)) as old, zipfile.ZipFile(body, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "ppt/slides/_rels/slide1.xml.rels":
                link = b'<Relationship Id="rl" Type="x" Target="https://example.org/a(b)" TargetMode="External"/>'
                part = part.replace(b"</Relationships>", link + b"</Relationships>")
            new.writestr(name, part)

    assert "[see](https://example.org/a%28b%29)" in documents.read(body.getvalue(), "", "").text
