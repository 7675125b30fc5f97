"""Any text of a page becomes a bounded tree that holds all of its words, looked through once for all who ask."""

from __future__ import annotations

import re
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from specloom.domains.scrape.content.text_features import find_dates
from specloom.domains.scrape.html.parse import gather_attributes, parse, text_of, to_standing


def words_in(html: str) -> str:
    return " ".join("".join(parse(html).itertext()).split())


@pytest.mark.parametrize(
    "html",
    [
        "",
        " \n",
        "\0",
        "<!-- x -->",
        "<",
        "</p>",
        "<!doctype html>",
        "<?xml version='1.0'?>",
        "\ud800",
        "<![CDATA[",
        "&#0;",
    ],
)
def test_there_is_always_a_body(html: str) -> None:
    root = parse(html)

    assert root.tag == "html"
    assert root.find("body") is not None


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("just text", "just text"),
        ("<p>one<p>two", "onetwo"),
        ("<?xml version='1.0' encoding='iso-8859-1'?><html><body>é", "é"),
        ("<p>a\0b</p>", "ab"),
        ("<body><p>one</p></body></html>late <b>text</b>", "onelate text"),
        ("<html><body>one</body></html><html><body> two</body></html>", "one two"),
        ("<body>one</body> two <i>three</i></html>", "one two three"),
        ("<frameset><frame src=x><noframes>Frames</noframes></frameset>", "Frames"),
        ("<b>bold <p>and</b> on</p>", "bold and on"),
        ("<table><td>cell", "cell"),
        ("<p>a<wbr>b</p><picture><source srcset='x>y'><img></picture><embed src=x>c", "abc"),
        ("1 < 2 & 3 &amp 4 &nosuch; 5", "1 < 2 & 3 & 4 &nosuch; 5"),
    ],
)
def test_broken_pages_keep_their_words(html: str, text: str) -> None:
    assert words_in(html) == text


def test_what_follows_the_end_of_the_page_is_in_the_body() -> None:
    body = parse("<html><body><p>one</p></body></html>two<p>three</p>").find("body")

    assert "".join(body.itertext()) == "onetwothree"


@pytest.mark.parametrize(
    "tag", ["div", "b", "blockquote", "font", "ul><li", "table><tr><td", "p><b", "div class='a>b'"]
)
@pytest.mark.parametrize("depth", [600, 3000, 50_000])
def test_a_page_of_any_depth_keeps_its_words(tag: str, depth: int) -> None:
    root = parse(f"<{tag}>word " * depth + "deep</div><p>after")
    text = "".join(root.itertext())

    assert text.count("word") == depth
    assert "deep" in text
    assert "after" in text


def test_a_page_that_the_parser_can_hold_is_not_flattened() -> None:
    root = parse("<div>" * 1000 + "x")

    assert sum(1 for _ in root.iter("div")) == 1000


def test_end_tags_of_what_was_flattened_close_nothing_else() -> None:
    root = parse("<section>" + "<div>" * 3000 + "deep" + "</div>" * 3000 + "<p>after</p></section>")

    (after,) = root.iter("p")
    assert after.getparent().tag == "section"


def test_a_thousand_items_that_are_never_closed_are_not_deep() -> None:
    root = parse("<ul>" + "<li>x" * 30_000)

    assert sum(1 for _ in root.iter("li")) == 30_000


def test_an_element_without_content_swallows_nothing() -> None:
    body = parse("<div>" + "<wbr>word" * 5000 + "<source src=x /><p>after</p></div>").find("body")

    assert [element.tag for element in body[0]].count("wbr") == 5000
    assert body[0][-1].tag == "p"
    assert all(not wbr.text for wbr in body.iter("wbr"))


def test_a_heading_with_a_paragraph_in_it_stays_a_heading() -> None:
    heading = parse("<h2 id=a> <p class=b>One <b>two</b></p> </h2><p>three</p>").find("body/h2")

    assert text_of(heading).split() == ["One", "two"]


@given(st.text(alphabet="<>/!-\"'= abpdivtable\0\n&;#x?", max_size=300))
def test_any_text_becomes_a_tree(html: str) -> None:
    assert parse(html).find("body") is not None


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


def test_elements_are_listed_by_their_tags_and_so_are_comments() -> None:
    root = parse("<title>A</title><!-- a --><p><script>1</script><svg><title>B</title></svg><?pi x?><script>2</script>")
    tagged = gather_attributes(root).tagged

    assert [element.text for element in tagged["script"]] == ["1", "2"]
    assert [element.text for element in tagged["title"]] == ["A", "B"]
    assert [len(tagged[kind]) for kind in (etree.Comment, etree.PI)] == [2, 0]  # HTML knows no such instruction
    assert "p" not in tagged


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


def test_what_was_taken_out_stands_no_longer_and_neither_does_what_is_in_it() -> None:
    root = parse("<div><p>one <b>two</b></p><ul><li>three</ul></div>")
    paragraph, bold, item = (next(root.iter(tag)) for tag in ("p", "b", "li"))
    above = paragraph.getparent()
    assert above is not None
    above.remove(paragraph)

    for order in permutations((root, above, paragraph, bold, item)):
        stands = to_standing(root)
        told = {element: stands(element) for element in order}
        assert told == {root: True, above: True, paragraph: False, bold: False, item: True}
        assert told == {element: stands(element) for element in order}
