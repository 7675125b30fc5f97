"""Work on a page grows with its size and no faster, however it is nested. It is counted, which no clock disturbs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lxml import etree

from specloom.domains.scrape.extract import extract
from specloom.domains.scrape.html import visibility
from specloom.domains.scrape.html.parse import parse
from specloom.domains.scrape.html.sanitise import sanitise
from specloom.domains.scrape.markdown.render import render
from specloom.domains.scrape.markdown.walk import MAX_COPIED

OPEN = "<table><tr><td>"
SHEET = "<style>.a{display:none}</style>"
CLOSE = "</td></tr></table>"
DATA = "<table><tr><td>a<td>b<tr><td>c<td>d</table>"
SHAPES: dict[str, Callable[[int], str]] = {
    "tables in one another": lambda n: OPEN * n + "word" + CLOSE * n,
    "tables in one another, with text": lambda n: "".join(f"<table><tr><td>a{at}<td>" for at in range(n)) + CLOSE * n,
    "tables in one another that are not closed": lambda n: "<table><tr><td>x" * n,
    "tables beside one another": lambda n: OPEN + DATA * n + CLOSE,
    "tables beside one another deep inside": lambda n: OPEN * n + DATA * n,
    "tables of tables": lambda n: ("<table>" + f"<tr><td>x<td>{DATA}" * 5 + "</table>") * n,
    "one wide row": lambda n: f"<table><tr>{'<td>a' * n}</table>",
    "many rows": lambda n: f"<table>{'<tr><td>a<td>b' * n}</table>",
    "rows before a table, in one another": lambda n: ("<table>" + "<tr><td>a<td>b" * 5 + "<tr><td>") * n,
    "rows without a table": lambda n: "<div><tr><td>x</td></tr></div>" * n,
    "tables in lists in tables": lambda n: f"{OPEN}<ul><li>" * n + "x" + f"</ul>{CLOSE}" * n,
    "headings deep in lists": lambda n: "<ul><li>x" * n + "<h2>x</h2>" * n,
    "blocks deep in definitions": lambda n: "<dl><dd>x" * n + "<pre>x</pre><table></table>" * n,
    "hidden words between words": lambda n: "<p>" + "word <b hidden>x</b>" * n,
    "hidden elements without words between words": lambda n: "<p>" + "word <b hidden></b>" * n,
    "notes for readers without scripts between words": lambda n: "<p>" + "word <noscript>x</noscript>" * n,
    "comments and scripts between words": lambda n: "<p>" + "word <!-- c --><script>s</script>" * n,
    "controls between words and comments": lambda n: "<p>" + "word&#7; <!-- c -->" * n,
    "hidden elements deep inside": lambda n: "<div>" * n + "<b hidden>x</b>" * n,
    "hidden elements in one another": lambda n: "<div hidden>" * n + "<img>" * n,
    "classes that hide, deep inside": lambda n: SHEET + "<div>" * n + "<b class=a>x</b>" * n,
    "controls deep inside": lambda n: "<div>" * n + "<a role=tab href=#x>x</a>" * n + "<p id=x hidden>folded",
    "code in tables": lambda n: "<table><tr><td><pre>x\n</pre><td>y</table>" * n,
    "lines of code in one another": lambda n: "<pre>" + "<div>x" * n,
    "listings in one another": lambda n: "<table><tr><td class=gutter>1<td class=code>x" * n,
    "shadow trees in one another": lambda n: "<a-x><template shadowrootmode=open><p>x<slot></slot>" * n,
    "shadow trees beside each other": lambda n: "<a-x><template shadowrootmode=open>x</template><p>y</p></a-x>" * n,
    "buttons that fold, in one another": lambda n: "<div><button aria-expanded=true>a b</button><div>x" * n,
}


class Looked(etree.ElementBase):
    """An element that counts what is asked of it: the characters of its texts, and the elements that are passed."""

    count = 0

    @property
    def text(self) -> str | None:
        return self._tell(etree._Element.text.__get__(self))  # type: ignore[attr-defined]

    @text.setter
    def text(self, value: str | None) -> None:
        etree._Element.text.__set__(self, self._tell(value))  # type: ignore[attr-defined]

    @property
    def tail(self) -> str | None:
        return self._tell(etree._Element.tail.__get__(self))  # type: ignore[attr-defined]

    @tail.setter
    def tail(self, value: str | None) -> None:
        etree._Element.tail.__set__(self, self._tell(value))  # type: ignore[attr-defined]

    def _tell(self, text: str | None) -> str | None:
        Looked.count += 1 + len(text or "")
        return text

    def getparent(self) -> Any:
        Looked.count += 1
        return super().getparent()

    def iterancestors(self, *tags: Any) -> Any:
        Looked.count += sum(1 for _ in super().iterancestors())
        return super().iterancestors(*tags)

    def iterdescendants(self, *tags: Any) -> Iterator[Any]:
        Looked.count += 1
        for below in super().iterdescendants(*tags):
            Looked.count += 1
            yield below


def to_counted(html: str) -> Any:
    parser = etree.HTMLParser(huge_tree=True)
    parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=Looked))
    return etree.fromstring(f"<html><body><p>word</p>{html}</body></html>", parser)


def looks(html: str) -> int:
    """Elements and characters that are looked at to take out what is hidden and to write the rest."""
    root = to_counted(html)
    Looked.count = 0
    sanitise(root)
    render([root.find("body")])
    return Looked.count


def calls(html: str) -> int:
    """Functions that are called to read a page, those of libraries among them."""
    seen = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal seen
        seen += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        extract(html)
    finally:
        sys.setprofile(before)
    return seen


@pytest.mark.parametrize("count", [looks, calls])
@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_size_of_a_page_and_no_faster(shape: str, count: Callable[[str], int]) -> None:
    make = SHAPES[shape]
    count(make(320))  # imports what is imported at first use

    small, large = count(make(80)), count(make(320))

    assert large < 4 * small * 1.3


@pytest.mark.parametrize("late", ["word</html>", "<p>x</p></html>word", "</html><b>x</b>word"])
def test_what_stands_behind_the_end_of_a_page_is_gathered_once(late: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make = etree.HTMLParser

    def make_counted(**options: Any) -> etree.HTMLParser:
        parser = make(**options)
        parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=Looked))
        return parser

    monkeypatch.setattr(etree, "HTMLParser", make_counted)
    counts = []
    for size in (80, 320):
        Looked.count = 0
        root = parse("<p>first</p>" + late * size)
        counts.append(Looked.count)
        assert "".join(root.itertext()).count("word") == size

    assert 0 < counts[1] < 4 * counts[0] * 1.3


def test_what_may_undo_hiding_is_looked_for_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    html = "<div style='font-size:0'>" * 300 + "<b></b>" * 300 + "<p style='font-size:12px'>shown</p>"
    whole, cut = parse(html), parse(html)

    sanitise(whole)
    monkeypatch.setattr(visibility, "MAX_LOOKS", 1000)
    sanitise(cut)

    assert "shown" in "".join(whole.itertext())
    assert "shown" not in "".join(cut.itertext())


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td colspan=1000>a<td>b<tr><td>c<td>d</table>" * 3000,
        "<table><tr><td colspan=1000>a word of ten<td>b<tr><td>c<td>d</table>" * 3000,
        ("<table>" + "<tr><td rowspan=100>a<td>b" * 100 + "</table>") * 60,
        f"<table><tr>{'<td>a' * 1000}{'<tr><td>b<td>c' * 10_000}</table>",
        ("<table><tr>" + "<td>a" * 300 + "<tr><td>b<td>c" * 300 + "</table>") * 40,
    ],
    ids=["wide spans", "wide spans of text", "high spans", "one wide row", "wide rows"],
)
def test_tables_do_not_make_a_page_much_longer(html: str) -> None:
    # A column has a head and a rule as well.
    assert len(render([parse(html)])) < 3 * (len(html) + MAX_COPIED)
