"""Links of a heading to itself: left out where they say nothing, and kept where they are what the heading says."""

from __future__ import annotations

import time

import pytest

from specloom.domains.scrape.html.parse import parse
from specloom.domains.scrape.html.sanitise import sanitise
from specloom.domains.scrape.markdown.render import render

BASE = "https://docs.example/guide"
RIVER = "## Otters\n\n![A river](https://docs.example/r.png)"


def md(html: str) -> str:
    root = parse(html)
    sanitise(root)
    return render([root], base=BASE)


@pytest.mark.parametrize(
    "link",
    [
        '<a href="#otters">🔗</a>',
        '<a href="#otters">🔗\ufe0e</a>',
        '<a href="/guide#otters">¶</a>',
        '<a href="https://docs.example/guide#otters">#</a>',
        '<a href="#otters">\uf0c1</a>',
        '<a href="/guide#otters"><img alt="Permalink" src="/chain.png"></a>',
        '<a href="/guide#otters"><svg></svg></a>',
        '<a href="#otters"><span>Permalink to “Otters”</span></a>',
        '<a href="#otters">Link to this heading</a>',
        '<a href="#otters">Copy link</a>',
        '<a href="#otters">Anchor</a>',
        '<a href="#otters">Section titled “Otters”</a>',
        '<a href="#otters">#otters</a>',
        '<a href="/find?name=otters">🔗</a>',
    ],
)
@pytest.mark.parametrize(
    "heading", ["<h2>{}Otters</h2>", "<h2>Otters {}</h2>", "<h2><span>Otters</span><b>{}</b></h2>"]
)
def test_a_heading_comes_without_the_link_to_itself(heading: str, link: str) -> None:
    assert md(heading.format(link) + "<p>They swim.</p>") == "## Otters\n\nThey swim."


@pytest.mark.parametrize(
    "link",
    [
        '<a href="#otters" class="anchor">#</a>',
        '<a href="#otters">🔗\ufe0e</a>',
        '<a href="/guide#otters">¶</a>',
        '<a href="#otters" aria-label="Permalink: Otters"><svg></svg></a>',
        '<a href="/guide#otters"><span>Permalink to “Otters”</span></a>',
        '<a href="#otters"><svg></svg><span class="sr-only">Section titled “Otters”</span></a>',
        '<a href="#otters">Link to this heading</a>',
        '<a href="#otters">#otters</a>',
    ],
)
@pytest.mark.parametrize(
    "place",
    [
        "<h2>Otters</h2>{}",
        "<h2>Otters</h2>\n{}\n",
        "{}<h2>Otters</h2>",
        '<div class="wrapper"><h2>Otters</h2>{}</div>',
        "<div><h2>Otters</h2></div><div> {} </div>",
        "<header><h2>Otters</h2></header><span><span>{}</span></span>",
        "<h2>Otters</h2><p>{}</p>",
    ],
)
def test_a_heading_comes_without_the_link_beside_it(place: str, link: str) -> None:
    assert md(place.format(link) + "<p>They swim.</p>") == "## Otters\n\nThey swim."


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<h2>Otters</h2><a href="#rivers">Rivers</a>', "## Otters\n\nRivers"),
        ('<h2>Otters</h2>Words <a href="#rivers">Copy link</a>', "## Otters\n\nWords Copy link"),
        ('<h2>Otters</h2><p>See <a href="#rivers">Permalink</a></p>', "## Otters\n\nSee Permalink"),
        ('<h2>Otters</h2><p><a href="#rivers">Permalink</a> is a word.</p>', "## Otters\n\nPermalink is a word."),
        ('<h2>Otters</h2><a href="/rivers">Link</a>', "## Otters\n\n[Link](https://docs.example/rivers)"),
        ('<h2></h2><a href="#link">Link</a>', "Link"),
        ('<p>Otters</p><a href="#otters">Copy link</a>', "Otters\n\nCopy link"),
        ('<h2>Otters</h2><ul><li><a href="#otters">Anchor</a></li></ul>', "## Otters\n\n- Anchor"),
        ('<h2>Otters</h2><a href="#otters">#</a> and words.', "## Otters\n\nand words."),
        ('<h2>Otters</h2><a href="#big"><img alt="A river" src="/r.png"></a>', RIVER),
        (
            '<h2>Otters</h2><p>Words.</p><a href="#"><img alt="A river" src="/r.png"></a>',
            RIVER.replace("\n\n", "\n\nWords.\n\n"),
        ),
        ('<h2>Otters</h2><a href="#otters"><img alt="Permalink" src="/r.png"></a>', "## Otters"),
        ('<p>Otters</p><a href="#top"><img alt="Arrow icon" src="/r.png"></a>', "Otters"),
    ],
)
def test_other_links_beside_a_heading_keep_their_words(html: str, text: str) -> None:
    assert md(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<h2><a href="#otters">Otters</a></h2>', "## Otters"),
        ('<h2><a href="#link">Link</a></h2>', "## Link"),
        ('<div><h2><a href="#link">Link</a></h2>Words behind it.</div>', "## Link\n\nWords behind it."),
        ('<h2><a href="#anchor">Anchor</a> <a href="#anchor">#</a></h2>', "## Anchor"),
        ('<h2>NAME <a href="#top">top</a></h2>', "## NAME top"),
        ('<h2>On <a href="#river">rivers</a></h2>', "## On rivers"),
        ('<h2>On <a href="/rivers#top">top</a></h2>', "## On [top](https://docs.example/rivers#top)"),
        ('<h2>C<a href="/sharp">#1</a></h2>', "## C[#1](https://docs.example/sharp)"),
        (
            '<p>See this <a href="#x">link</a>, <a href="#x">Copy link</a> and <a href="/guide#x">top</a>.</p>',
            "See this link, Copy link and top.",
        ),
    ],
)
def test_other_links_keep_their_words(html: str, text: str) -> None:
    assert md(html) == text


@pytest.mark.parametrize("piece", ['<a href="#x">Permalink</a>', "<div>", '<h2>x</h2><a href="#x">Permalink</a>'])
def test_anchors_beside_headings_are_told_in_linear_time(piece: str) -> None:
    began = time.process_time()

    md("<h2>Otters</h2>" + piece * 30_000)

    assert time.process_time() - began < 10


@pytest.mark.parametrize("start", ["<b> </b>" * 30_000, "", "<i></i>" * 30_000])
def test_a_heading_of_anchors_is_written_in_linear_time(start: str) -> None:
    began = time.process_time()

    md(f"<h2>{start}" + '<a href="#x">Permalink</a>' * 30_000)

    assert time.process_time() - began < 10
