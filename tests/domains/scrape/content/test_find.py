"""Which part of a page is its content: what is kept, what is left out, and how sure the finder is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape import content
from specloom.domains.scrape.content import Content
from specloom.domains.scrape.content.model import load_model
from specloom.domains.scrape.content.page import read_page
from specloom.domains.scrape.html import parse as tree
from specloom.domains.scrape.html import sanitise
from specloom.domains.scrape.markdown import render as markdown
from specloom.domains.scrape.metadata.sources import gather

NAV = (
    "<nav><ul>"
    + "".join(f'<li><a href="/{word}">{word}</a></li>' for word in ("Home", "Shop", "Jobs", "Press"))
    + "</ul></nav>"
)
FOOT = '<footer><p>© 2024 Example. All rights reserved.</p><a href="/privacy">Privacy policy</a></footer>'
PROSE = (
    "The kiln was lit at dawn, and for nine hours the potter fed it with split pine while the glaze slowly turned.",
    "By evening the cones had fallen, so she closed the damper, stacked the bricks and let the whole chamber cool.",
    "Opening it the next morning took patience, because a draught of cold air is enough to crack a fresh bowl.",
)


def find(html: str) -> tuple[Content, str]:
    root = tree.parse(html)
    page = read_page(gather(root))
    sanitise.sanitise(root)
    found = content.find_content(root, page)
    return found, markdown.render(found.nodes, drop=found.drop)


def page(main: str, *, head: str = "") -> str:
    return f"<html><head><title>Firing a kiln</title>{head}</head><body>{NAV}{main}{FOOT}</body></html>"


def paragraphs(tag: str = "p") -> str:
    return "".join(f"<{tag}>{text}</{tag}>" for text in PROSE)


def test_an_article_is_kept_without_what_stands_around_it() -> None:
    _, text = find(page(f"<article><h1>Firing a kiln</h1>{paragraphs()}</article>"))

    assert all(line in text for line in PROSE)
    assert "Jobs" not in text
    assert "Privacy" not in text


@pytest.mark.parametrize("tag", ["div", "section", "li", "td"])
def test_text_need_not_stand_in_paragraphs(tag: str) -> None:
    inner = paragraphs(tag)
    wrapped = {"li": f"<ul>{inner}</ul>", "td": f"<table><tr>{inner}</tr></table>"}.get(tag, inner)

    _, text = find(page(f"<h1>Firing a kiln</h1><div>{wrapped}</div>"))

    assert all(line in text for line in PROSE)


def test_text_between_line_breaks_of_a_bare_body_is_found() -> None:
    _, text = find("<body>" + "<br><br>".join(PROSE) + "</body>")

    assert all(line in text for line in PROSE)


def test_every_article_of_a_thread_is_kept() -> None:
    posts = "".join(
        f'<article class="post"><header><a href="/u/{at}">member{at}</a> <time>May {at}, 2024</time></header>'
        f'<div class="message-body"><p>Answer {at}: {PROSE[at % 3]}</p></div></article>'
        for at in range(1, 7)
    )

    _, text = find(page(f'<main><h1>How hot does a kiln get?</h1><div class="thread">{posts}</div></main>'))

    assert all(f"Answer {at}:" in text for at in range(1, 7))


def test_a_paragraph_that_is_repeated_stays_repeated() -> None:
    chorus = f"<p>{PROSE[0]}</p>"

    _, text = find(
        page(f"<article><h1>A song</h1>{chorus}<p>{PROSE[1]}</p>{chorus}<p>{PROSE[2]}</p>{chorus}</article>")
    )

    assert text.count(PROSE[0]) == 3


def test_a_page_wrapped_in_a_form_has_content() -> None:
    main = f"<form id='aspnetForm'>{NAV}<div class='content'><h1>Firing a kiln</h1>{paragraphs()}</div></form>"

    _, text = find(f"<body>{main}{FOOT}</body>")

    assert all(line in text for line in PROSE)


def test_text_deep_inside_is_found() -> None:
    depth = 700

    _, text = find(page("<div>" * depth + paragraphs() + "</div>" * depth))

    assert all(line in text for line in PROSE)


def comments() -> str:
    remarks = "".join(
        f'<div class="comment-body"><p>I have fired wood for twenty years, and number {at} of my kilns still '
        "surprises me every time that the wind turns and the chimney begins to draw.</p></div>"
        for at in range(30)
    )
    return f'<div id="comments" class="comment-list">{remarks}</div>'


ARTICLE = '<meta property="og:type" content="article"><meta name="generator" content="WordPress 6.4">'
THREAD = '<meta property="og:type" content="article"><meta name="generator" content="Discourse 3.1">'


def test_comments_that_are_many_times_their_article_are_left_out() -> None:
    entry = f'<div class="entry-content"><h1>Firing a kiln</h1>{paragraphs()}{paragraphs()}</div>'

    _, text = find(page(f"{entry}{comments()}", head=ARTICLE))

    assert all(line in text for line in PROSE)
    assert "surprises me" not in text


def test_comments_of_a_page_that_says_it_is_a_forum_are_kept() -> None:
    entry = f'<div class="entry-content"><h1>Firing a kiln</h1>{paragraphs()}{paragraphs()}</div>'

    _, text = find(page(f"{entry}{comments()}", head=THREAD))

    assert "number 29 of my kilns" in text


def test_comments_with_nothing_before_them_are_the_content() -> None:
    _, text = find(page(f"<h1>Firing a kiln</h1>{comments()}", head=ARTICLE))

    assert "number 29 of my kilns" in text


def test_half_a_table_is_never_taken() -> None:
    rows = "".join(
        f"<tr><td>Cone {at}</td><td>{900 + 20 * at} °C</td><td>{'slow' if at % 2 else ''}</td></tr>"
        for at in range(1, 13)
    )
    table = f"<table><tr><th>Cone</th><th>Temperature</th><th>Pace</th></tr>{rows}</table>"

    _, text = find(page(f"<article><h1>Firing a kiln</h1>{paragraphs()}{table}</article>"))

    assert sum(line.startswith("| Cone") for line in text.splitlines()) in (0, 13)


def test_a_short_list_between_paragraphs_is_read() -> None:
    listed = "<ul><li>urchins</li><li>crabs<ul><li>Dungeness</li></ul></li></ul>"

    _, text = find(
        page(f"<article><h1>Otters</h1><p>{PROSE[0]}</p><p>{PROSE[1]}</p>{listed}<p>{PROSE[2]}</p></article>")
    )

    assert all(word in text for word in ("urchins", "crabs", "Dungeness"))


def test_code_stays_whole() -> None:
    code = "def fire(kiln):\n    for hour in range(9):\n        kiln.feed('pine')\n\n    return kiln"

    _, text = find(
        page(f"<article><h1>Firing a kiln</h1>{paragraphs()}<pre><code>{code}</code></pre><p>{PROSE[0]}</p></article>")
    )

    assert code in text


def test_a_listing_is_one_block_whatever_its_lines_are() -> None:
    lines = "".join(f"<div>step({at})</div>" for at in range(9))

    _, text = find(page(f"<article><h1>Firing a kiln</h1>{paragraphs()}<pre>{lines}</pre><p>{PROSE[0]}</p></article>"))

    assert all(f"step({at})" in text for at in range(9))


def test_a_picture_stays_between_blocks_that_stay() -> None:
    picture = '<figure><img src="https://example.com/kiln.jpg" alt="The kiln at night"></figure>'

    _, text = find(
        page(f"<article><h1>Firing a kiln</h1><p>{PROSE[0]}</p>{picture}<p>{PROSE[1]}</p><p>{PROSE[2]}</p></article>")
    )

    assert "The kiln at night" in text


def test_a_page_without_text_has_no_content() -> None:
    found, text = find(
        "<html><body><div id='root'></div><script>let a = 'words that are not shown'</script></body></html>"
    )

    assert (found.nodes, text, found.confidence, found.words) == ((), "", 0.0, 0)


def test_the_finder_is_surer_of_an_article_than_of_a_list_of_links() -> None:
    article, _ = find(page(f"<article><h1>Firing a kiln</h1>{paragraphs() * 3}</article>"))
    links, _ = find(page("".join(f'<div><a href="/{at}">Offer {at}</a></div>' for at in range(40))))

    assert article.confidence > links.confidence


def test_the_page_type_is_one_of_the_types_of_the_model() -> None:
    article, _ = find(
        page(
            f"<article><h1>Firing a kiln</h1>{paragraphs()}</article>",
            head='<meta property="og:type" content="article">',
        )
    )

    assert article.page_type in load_model().types


def test_words_of_scripts_without_spaces_are_characters() -> None:
    text = "窯は夜明けに火を入れられた。九時間のあいだ陶工は薪をくべ続けた。釉薬はゆっくりと色を変えていった。" * 3

    found, rendered = find(f"<body><article><h1>窯</h1><p>{text}</p></article></body>")

    assert text in rendered
    assert found.words > 100


def test_a_page_of_very_many_blocks_is_judged_in_bounded_memory() -> None:
    rows = "".join(f"<li><div>Row {at} of a list that does not end</div></li>" for at in range(25_000))

    found, _ = find(f"<body><article><h1>Firing a kiln</h1>{paragraphs()}</article><ul>{rows}</ul></body>")

    assert found.nodes


TAGS = (
    "div",
    "p",
    "span",
    "table",
    "tr",
    "td",
    "ul",
    "li",
    "a",
    "h2",
    "pre",
    "form",
    "article",
    "nav",
    "br",
    "img",
    "x-y",
    "noscript",
    "svg",
    "select",
)
PIECES = st.one_of(
    st.sampled_from([f"<{tag} class='post-body comment'>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]),
    st.text(max_size=40),
    st.sampled_from([*PROSE, "<!-- -->", "<![CDATA[", "\u200b", "価格", "$ 12.00", "2024-05-01"]),
)


@given(st.lists(PIECES, max_size=60))
def test_any_markup_has_a_choice_that_lies_in_it(pieces: list[str]) -> None:
    root = tree.parse("".join(pieces))
    page = read_page(gather(root))
    sanitise.sanitise(root)

    found = content.find_content(root, page)

    assert 0.0 <= found.confidence <= 1.0
    assert all(element is root or root in element.iterancestors() for element in (*found.nodes, *found.drop))
