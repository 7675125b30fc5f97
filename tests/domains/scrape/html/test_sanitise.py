"""What a reader does not see is taken out and counted; what is seen, or can be opened, stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from specloom.domains.scrape.extract import extract
from specloom.domains.scrape.html.css_colours import find_colour
from specloom.domains.scrape.html.css_declarations import hides, parse_declarations, to_pixels
from specloom.domains.scrape.html.parse import parse
from specloom.domains.scrape.html.sanitise import Stripped, find_skips, sanitise
from specloom.domains.scrape.markdown.render import render

PAGE = "<html><head>{head}</head><body><h1>Seen</h1><p>A paragraph that is seen.</p>{body}</body></html>"


def clean(body: str, head: str = "") -> tuple[str, Stripped]:
    root = parse(PAGE.format(head=head, body=body))
    stripped = sanitise(root)
    return render([root]), stripped


def is_hidden(body: str, head: str = "") -> bool:
    text, stripped = clean(body, head)
    assert "A paragraph that is seen." in text
    assert ("SECRET" in text) == (stripped.hidden == 0)
    return "SECRET" not in text


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        "DISPLAY : None !important",
        "color:red;display:none;margin:0",
        "visibility:hidden",
        "visibility: collapse",
        "opacity:0",
        "opacity: 0.0",
        "opacity:1%",
        "font-size:0",
        "font-size:0px",
        "font-size: 1px",
        "font: 0/0 a",
        "position:absolute;left:-9999px",
        "position:fixed; top:-200em",
        "position:absolute;right:-100000px",
        "text-indent:-9999px",
        "margin-left:-5000px",
        "width:0;height:0;overflow:hidden",
        "height:1px;overflow:hidden",
        "max-height:0;overflow-y:hidden",
        "position:absolute;clip:rect(0 0 0 0)",
        "position:absolute;clip:rect(1px, 1px, 1px, 1px)",
        "clip-path:inset(50%)",
        "clip-path: circle(0)",
        "transform:scale(0)",
        "transform: translateX(-9999px)",
        "color:white",
        "color:#FFF",
        "color:#fefefe",
        "color:rgb(255, 255, 255)",
        "color: hsl(0 0% 100%)",
        "color:transparent",
        "color:rgba(0,0,0,0)",
        "background:#123456;color:#123456",
        "background-color:black;color:rgb(2,2,2)",
        "content-visibility:hidden",
    ],
)
def test_text_hidden_by_a_style_of_its_own_is_taken_out(style: str) -> None:
    assert is_hidden(f'<div style="{style}">SECRET <b>more</b></div>')
    assert is_hidden("<div class=x>SECRET</div>", f"<style>.x{{{style}}}</style>")


@pytest.mark.parametrize(
    "style",
    [
        "display:block",
        "display:none;display:block",
        "visibility:visible",
        "opacity:0.5",
        "opacity:0;transform:translateY(20px)",
        "opacity:0;transition:opacity 1s",
        "font-size:11px",
        "font-size:80%",
        "left:-9999px",
        "position:absolute;left:-20px",
        "text-indent:-2em",
        "height:0",
        "width:0;height:200px",
        "color:#333",
        "background:#000;color:#fff",
        "background:url(dark.jpg);color:#fff",
        "background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent",
        "transform:translateX(-50%)",
        "clip:rect(0 0 0 0)",
        "content:'display:none'",
        "--display:none",
        "line-height:1;overflow:hidden",
        "letter-spacing:-2%",
        "font-size:96px;letter-spacing:-12px",
        "position:absolute;left:50%;translate:-50% -50%",
    ],
)
def test_text_that_is_shown_stays(style: str) -> None:
    assert not is_hidden(f'<div style="{style}">SECRET</div>')


@pytest.mark.parametrize(
    "body",
    [
        "<p hidden>SECRET</p>",
        '<p hidden="">SECRET</p>',
        '<font color="white">SECRET</font>',
        '<div style="background:#fff"><p style="color:#fff">SECRET</p></div>',
        '<table bgcolor="#000000"><tr><td style="color:black">SECRET</td></tr></table>',
    ],
)
def test_other_ways_of_hiding_are_known(body: str) -> None:
    assert is_hidden(body)


@pytest.mark.parametrize(
    "body",
    [
        '<p hidden="until-found">SECRET</p>',
        '<p aria-hidden="true">SECRET</p>',
        "<details><summary>More</summary>SECRET</details>",
        '<div style="background:#000"><p style="color:#fff">SECRET</p></div>',
        '<div hidden id="S:1a">SECRET</div>',
        '<div role="tabpanel" hidden>SECRET</div>',
        '<button aria-controls="x">Open</button><div id="x" style="display:none">SECRET</div>',
        '<div class="faq-answer" style="display:none">SECRET</div>',
    ],
)
def test_what_is_shown_or_can_be_opened_stays(body: str) -> None:
    assert not is_hidden(body)


@pytest.mark.parametrize(
    "body",
    [
        '<nav><div role="tabpanel" hidden>SECRET</div></nav>',
        '<button aria-controls="m">Menu</button><div id="m" class="menu" hidden>SECRET</div>',
        '<div class="modal"><div class="tab-pane" style="display:none">SECRET</div></div>',
        '<div role="tabpanel" style="position:absolute;left:-9999px">SECRET</div>',
        '<div class="accordion" style="font-size:0">SECRET</div>',
    ],
)
def test_menus_dialogs_and_tricks_are_no_content_that_is_opened(body: str) -> None:
    assert is_hidden(body)


@pytest.mark.parametrize(
    ("sheet", "element"),
    [
        (".x{display:none}", "<p class='a x'>{}</p>"),
        ("#x{display:none}", "<p id=x>{}</p>"),
        ("aside{display:none}", "<aside>{}</aside>"),
        ("p.x.y{display:none}", "<p class='y x'>{}</p>"),
        ("a, p.x , b{display:none}", "<p class=x>{}</p>"),
        (".o .x{display:none}", "<div class=o><div><p class=x>{}</p></div></div>"),
        (".o>.x{display:none}", "<div class=o><p class=x>{}</p></div>"),
        ("p[data-x='1']{display:none} .z{color:red}", "<p data-x=1>{}</p>"),
        ("/* .x{} */ .x{/* } */display:none}", "<p class=x>{}</p>"),
        ("@media screen{.x{display:none}}", "<p class=x>{}</p>"),
        ("@layer base{.x{display:none}}", "<p class=x>{}</p>"),
        ("@import url(a.css);.x{display:none}", "<p class=x>{}</p>"),
        (".x{display:none!important} .x.y{display:block}", "<p class='x y'>{}</p>"),
        (".x{display:block} .x{display:none}", "<p class=x>{}</p>"),
        ("p:hover .x{display:block} .x{display:none}", "<p><b class=x>{}</b></p>"),
        (".x{display:none", "<p class=x>{}</p>"),
    ],
)
def test_embedded_sheets_hide(sheet: str, element: str) -> None:
    assert is_hidden(element.format("SECRET"), f"<style>{sheet}</style>")


@pytest.mark.parametrize(
    ("sheet", "element"),
    [
        ("@media print{.x{display:none}}", "<p class=x>{}</p>"),
        ("@media (max-width:600px){.x{display:none}}", "<p class=x>{}</p>"),
        (".x{display:none} .x.on{display:block}", "<p class='x on'>{}</p>"),
        (".x{display:none} .x{display:flex}", "<p class=x>{}</p>"),
        (".x{display:none}", "<p class=x style='display:block'>{}</p>"),
        (".x:hover{display:none}", "<p class=x>{}</p>"),
        (".x::before{display:none}", "<p class=x>{}</p>"),
        (".x:not(.y){display:none}", "<p class='x y'>{}</p>"),
        (".o>.x{display:none}", "<div class=o><div><p class=x>{}</p></div></div>"),
        ("a+.x{display:none}", "<p class=x>{}</p>"),
        (".xx{display:none}", "<p class=x>{}</p>"),
        (".x{color:#fff}", "<div style='background:#000'><p class=x>{}</p></div>"),
        (".x{color:#fff;background:#06c}", "<p class=x>{}</p>"),
        ("[data-x]{background:#06c} i{color:#fff}", "<div data-x><i>{}</i></div>"),
        (".x{display:none} @media (min-width:768px){.x{display:block}}", "<p class=x>{}</p>"),
        (".x:not(.on){display:none} @media screen and (min-width:60em){.y.x{display:flex}}", "<p class='x y'>{}</p>"),
        ("[v-cloak]{display:none}", "<p v-cloak style='margin:0'>{}</p>"),
        (".lazyload:not(.done){opacity:0}", "<p class=lazyload>{}</p>"),
    ],
)
def test_embedded_sheets_that_do_not_apply_hide_nothing(sheet: str, element: str) -> None:
    assert not is_hidden(element.format("SECRET"), f"<style>{sheet}</style>")


@pytest.mark.parametrize("attribute", ["media=print", "media='(max-width: 600px)'"])
def test_a_sheet_for_other_media_hides_nothing(attribute: str) -> None:
    assert not is_hidden("<p class=x>SECRET</p>", f"<style {attribute}>.x{{display:none}}</style>")


def test_a_sheet_for_readers_without_scripts_hides_nothing() -> None:
    head = "<noscript><style>#app{display:none !important}</style></noscript>"

    assert not is_hidden("<div id=app>SECRET</div>", head)


def test_white_text_stays_where_the_ground_is_in_a_sheet_that_is_not_read() -> None:
    head = '<link rel="stylesheet" href="dark.css">'

    assert not is_hidden('<p style="color:#fff">SECRET</p>', head)


def test_text_of_no_size_loses_its_own_words_where_others_have_a_size() -> None:
    text, stripped = clean('<div style="font-size:0">SECRET<p style="font-size:16px">shown</p>SECRET</div>')

    assert "shown" in text
    assert "SECRET" not in text
    assert stripped.hidden == 1


def test_a_page_that_waits_for_its_script_is_read() -> None:
    words = "Many words of an article. " * 100

    text, _ = clean(f'<div style="visibility:hidden">{words}</div>')

    assert words.strip() in text


@pytest.mark.parametrize(
    "dialog", ["<div role=dialog>{}</div>", "<div id=cookie-consent>{}</div>", "<nav>{}</nav>", "<form>{}</form>"]
)
def test_a_long_dialog_that_is_hidden_is_not_the_page(dialog: str) -> None:
    text, stripped = clean(dialog.format(f'<div style="display:none">{"SECRET words. " * 200}</div>'))

    assert "SECRET" not in text
    assert stripped.hidden == 1


def test_what_waits_for_a_script_elsewhere_is_read() -> None:
    element = '<p style="visibility:var(--ready, hidden)">SECRET</p>'

    assert not is_hidden(element, '<script src="reviews.js"></script>')
    assert is_hidden(element, "<script>start()</script>")
    assert is_hidden('<p style="display:var(--ready, none)">SECRET</p>', '<script src="reviews.js"></script>')


def test_a_long_hidden_text_off_the_screen_is_not_the_page() -> None:
    text, _ = clean(f'<div style="position:absolute;left:-9999px">{"SECRET words. " * 200}</div>')

    assert "SECRET" not in text


def test_what_is_shown_without_scripts_goes_unless_it_is_the_page() -> None:
    dropped, _ = clean("<noscript>Please switch scripts on.</noscript>")
    kept, _ = clean(f"<noscript><article>{'The whole discussion. ' * 100}</article></noscript>")

    assert "scripts on" not in dropped
    assert "The whole discussion." in kept


def test_everything_is_counted() -> None:
    body = (
        "<!-- one --><!-- two --><script>1</script><style>p{}</style><template>t</template>"
        "<p hidden>SECRET <b hidden>inner</b></p><p hidden></p><p>zero\u200bwidth\u202e</p>"
    )

    _, stripped = clean(body)

    assert stripped == Stripped(hidden=1, scripts=3, comments=2, controls=2)


def test_text_after_what_is_taken_out_stays() -> None:
    text, _ = clean("<p>before<!-- c -->, <script>x</script>between <span hidden>SECRET</span>and after</p>")

    assert "before, between and after" in text


def test_an_article_about_styles_keeps_its_lines() -> None:
    text, stripped = clean("<p>Use <code>display: none</code> or visibility:hidden, never font-size:0.</p>")

    assert "Use `display: none` or visibility:hidden, never font-size:0." in text
    assert stripped == Stripped()


def test_the_readable_twin_of_a_formula_stays() -> None:
    body = (
        '<span class="katex"><span style="position:absolute;clip:rect(1px,1px,1px,1px)"><math><semantics><mi>x</mi>'
        '<annotation encoding="application/x-tex">x^2</annotation></semantics></math></span>'
        '<span class="katex-html" aria-hidden="true">x2</span></span>'
    )

    text, _ = clean(body)

    assert "$x^2$" in text
    assert "x2" not in text


def test_formulas_that_stand_in_scripts_are_text() -> None:
    text, _ = clean('<p>Where <script type="math/tex">a_1 < b</script> holds.</p>')

    assert "Where $a_1 < b$ holds." in text


LOST = "<style>.lost{color:#fff;background:#fff}</style>"
"""A rule is looked at after the attributes of all elements, so what these hide is gone by then."""


def to_body(body: str) -> etree._Element:
    root = parse(f"<html><head>{LOST}</head><body>{body}</body></html>")
    sanitise(root)
    found = root.find("body")
    assert found is not None
    return found


def test_words_between_what_goes_stay_where_they_were() -> None:
    body = to_body(
        "<p>one <b hidden>x</b>two <i hidden>y</i>three <u>four</u><b hidden>z</b> five</p><b hidden>w</b>six"
    )

    (paragraph,) = body
    assert (paragraph.text, paragraph[0].tail, paragraph.tail) == ("one two three ", " five", "six")
    assert [node.tag for node in paragraph] == ["u"]


@pytest.mark.parametrize(
    "gone", ["<!-- c -->", "<script>s</script>", "<b hidden>x</b>", "<?pi?>", "<!----><style></style>"]
)
def test_text_around_what_goes_is_one_text(gone: str) -> None:
    """As several it would be joined whenever somebody asks for it."""
    body = to_body(f"<p>one {gone}two {gone}{gone}three <u>four</u>{gone}five{gone} six</p>{gone}seven")

    assert body.xpath("//text()") == ["one two three ", "four", "five six", "seven"]


def test_controls_beside_what_goes_are_counted_once() -> None:
    root = parse(
        PAGE.format(head="", body="<p>o&#7;n<!---->e\u200b<script>&#7;</script> two&#7;<b hidden>&#7;</b></p>")
    )

    stripped = sanitise(root)

    assert stripped == Stripped(hidden=0, scripts=1, comments=1, controls=4)
    assert root.findtext(".//p[2]") == "one two"


def test_no_comment_is_left_behind() -> None:
    body = to_body("<!-- a --><p>one<b hidden>x</b></p><noscript>y</noscript><!-- b --><div hidden></div>")

    assert etree.tostring(body) == b"<body><p>one</p></body>"


def test_a_formula_finds_its_twin_beyond_what_is_gone() -> None:
    body = to_body("<p><span class=katex-html>2</span><b hidden>w</b><span hidden><math><mi>x</mi></math></span>")

    assert [node.tag for node in body[0]] == ["span", "span"]


def test_own_words_behind_what_is_gone_are_lost_with_the_others() -> None:
    body = to_body("<p class=lost>own <b hidden>x</b>more<i style='color:red'>shown</i> and <b hidden>y</b>more</p>")

    assert "".join(body.itertext()).split() == ["shown"]


def test_an_element_in_which_nothing_is_left_goes_too() -> None:
    assert len(to_body("<p class=lost><b hidden></b><i hidden></i></p>")) == 0
    assert len(to_body("<p hidden><b hidden></b><img></p>")[0]) == 1


def test_deep_and_wide_pages_with_many_rules_are_read_in_bounded_work() -> None:
    sheet = "".join(f".o{at} .x{{display:none}}" for at in range(3000))
    root = parse(f"<style>{sheet}</style>" + "<div class='o1 x'>" * 1500 + "deep" + "</div>" * 1500)

    assert sanitise(root).scripts == 1


@pytest.mark.parametrize(
    ("value", "channels"),
    [
        ("#fff", (255, 255, 255, 1)),
        ("#10203080", (16, 32, 48, 128 / 255)),
        ("rgb(1 2 3 / 50%)", (1, 2, 3, 0.5)),
        ("rgba(100%,0%,0%,.25)", (255, 0, 0, 0.25)),
        ("no-repeat black", (0, 0, 0, 1)),
        ("url(x.png) white", None),
        ("var(--c)", None),
        ("currentcolor", None),
        ("rgb(1,2)", None),
    ],
)
def test_colours_are_read(value: str, channels: tuple[float, ...] | None) -> None:
    assert find_colour(value) == channels


def test_lengths_are_read() -> None:
    assert [to_pixels(value) for value in ("0", "1px", "-2em", ".5px", "auto", "calc(1px + 2em)", "", None)] == [
        0, 1, -32, 0.5, None, 33, None, None,
    ]  # fmt: skip


@given(st.text(alphabet="{}@.#:;!()/*\"'<>-, abdisplayne0px%", max_size=200))
def test_any_style_is_read(text: str) -> None:
    declarations, important = parse_declarations(text)

    assert important <= declarations.keys()
    hides(declarations)
    root = parse(f"<style>{text}</style><p class=a id=b>x")
    sanitise(root)


PROSE = "<h1>Firing a kiln</h1>" + "".join(
    f"<p>The kiln was lit at dawn on day {day}, and the potter fed it with split pine for nine hours.</p>"
    for day in range(6)
)


@pytest.mark.parametrize(
    "text",
    [
        "Skip to main content",
        "SKIP NAVIGATION",
        "Skip this section",
        "Jump to content",
        "Zum Inhalt springen",
        "Direkt zum Hauptinhalt",
        "Aller au contenu principal",
        "Saltar al contenido",
        "Vai al contenuto",
        "Pular para o conteúdo",
        "Naar de hoofdinhoud",
        "Hoppa till huvudinnehåll",
        "Siirry sisältöön",
        "Przejdź do treści",
        "Перейти к основному содержанию",
        "コンテンツへスキップ",
        "跳转到主要内容",
        "본문 바로가기",
    ],
)
def test_a_link_past_the_menus_is_found(text: str) -> None:
    root = parse(f"<body><div> <a href='#main' class='x'><span>{text}</span></a> </div>{PROSE}</body>")

    assert [link.get("class") for link in find_skips([root])] == ["x"]


@pytest.mark.parametrize(
    "html",
    [
        "<p>Whoever is in a hurry may <a href='#end'>skip to the end</a> of this page.</p>",
        "<p><a href='#end'>Skip to the end</a>, if you are in a hurry.</p>",
        "<ul><li><a href='#skip-lists'>Skip lists</a></li></ul>",
        "<p><a href='#skip'>Skip Johnson</a></p>",
        "<p><a href='/main'>Skip to main street</a></p>",
        "<p><a href='#x'>Skip to what the potter said about the seventh firing of the great kiln by the river</a></p>",
    ],
)
def test_other_links_stay(html: str) -> None:
    assert find_skips([parse(f"<body>{html}</body>")]) == []


def test_a_page_is_read_without_them() -> None:
    found = extract(f"<body><a class=sr-only href='#main'>Skip to content</a>{PROSE}</body>")

    assert found.markdown.startswith("# Firing a kiln")


def test_what_goes_with_the_element_around_it_is_not_counted_as_cleaned() -> None:
    inside = "<div>a<script>1</script>&#7;<script>2</script>&#7;</div>"

    assert clean(inside)[1] == Stripped(scripts=2, controls=2)
    assert clean(f"<template>{inside}</template>")[1] == Stripped(scripts=3)
