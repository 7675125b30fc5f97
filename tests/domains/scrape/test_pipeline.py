"""What whole pipelines get wrong, one probe each: bytes on the loopback go in, what a client is told comes out."""

from __future__ import annotations

import asyncio
import json
import zlib
from typing import Any

import pytest

from tests.support.loopback import Call, Loopback, Reply
from tests.support.scrape_client import ask, connected, refused
from tests.support.scrape_context import HTML

PROSE = (
    "The kiln was lit at dawn, and for nine hours the potter fed it with split pine while the glaze slowly turned.",
    "By evening the cones had fallen, so she closed the damper, stacked the bricks and let the whole chamber cool.",
    "Opening it the next morning took patience, because a draught of cold air is enough to crack a fresh bowl.",
)


def paragraphs(*texts: str) -> str:
    return "".join(f"<p>{text}</p>" for text in texts or PROSE)


def to_page(main: str, *, head: str = "", around: bool = True) -> str:
    nav = '<nav><a href="/">Home</a> <a href="/shop">Shop</a> <a href="/jobs">Jobs</a></nav>' if around else ""
    foot = '<footer>2024 <a href="/privacy">Privacy policy</a></footer>' if around else ""
    return f"<!DOCTYPE html><html><head><title>Firing a kiln</title>{head}</head><body>{nav}{main}{foot}</body></html>"


def article(*texts: str, extra: str = "") -> str:
    return to_page(f"<article><h1>Firing a kiln</h1>{paragraphs(*texts)}{extra}</article>")


async def read(reply: Reply, **arguments: Any) -> dict[str, Any]:
    with Loopback(lambda call: reply) as server:
        async with connected() as client:
            return await ask(client, "scrape_page", url=server.url + "/page", **arguments)


async def read_html(html: str, **arguments: Any) -> str:
    return str((await read((200, HTML, html), **arguments))["content"])


SENTENCES = {
    "iso-8859-1": "Die Straße führt über die Brücke nach Süden, und schöne Häuser säumen das Ufer des Flusses.",
    "windows-1251": "Печь разожгли на рассвете, и девять часов гончар подкладывал в неё сосновые дрова.",
    "shift_jis": "窯は夜明けに火を入れられた。九時間のあいだ陶工は薪をくべ続けた。釉薬はゆっくりと色を変えた。",
    "gbk": "这座城市坐落在河边，有古老的市场，也有新建的车站和学校，每年春天都有许多人来这里看花。",
    "euc-kr": "이 도시는 강가에 자리하고 있으며 오래된 시장과 새로운 역이 나란히 있다.",
}


@pytest.mark.parametrize("declared", ["header", "meta", "nowhere"])
@pytest.mark.parametrize("charset", SENTENCES)
async def test_bytes_are_read_in_their_charset(charset: str, declared: str) -> None:
    sentence = SENTENCES[charset]
    head = f"<meta charset={charset}>" if declared == "meta" else ""
    body = to_page(f"<article><h1>Firing</h1>{paragraphs(*[sentence] * 3)}</article>", head=head).encode(charset)
    content_type = f"text/html; charset={charset}" if declared == "header" else "text/html"

    said = await read((200, {"Content-Type": content_type}, body))

    assert sentence in said["content"]
    assert "�" not in said["content"]


@pytest.mark.parametrize(
    "text",
    [
        "می‌خواهم کتاب‌های تازه‌ای دربارهٔ کوره‌های سفالگری بخوانم و نمی‌دانم از کجا آغاز کنم.",
        "क्‍ष और क्‌ष अलग दिखते हैं, और यह वाक्य इतना लंबा है कि पृष्ठ का पाठ माना जाए।",
        "The family 👨‍👩‍👧 fired the kiln together and wrote about it for everyone who could not come to the hill.",
    ],
    ids=["ZWNJ", "ZWJ", "emoji"],
)
async def test_joiners_stay_where_scripts_need_them(text: str) -> None:
    assert text in await read_html(article(text, *PROSE))


async def test_characters_that_nobody_sees_go_and_are_counted() -> None:
    said = await read((200, HTML, article(PROSE[0].replace("kiln", "ki\u200bln\u2060\ufeff"), *PROSE[1:])))

    assert PROSE[0] in said["content"]
    assert said["stripped"]["controls"] == 3


async def test_the_indentation_of_code_stays() -> None:
    code = "def fire(kiln):\n    for hour in range(9):\n        if x:\n            kiln.feed('pine')\n\n    return kiln"

    assert code in await read_html(article(extra=f"<pre><code>{code}</code></pre><p>{PROSE[0]} Then it ends.</p>"))


async def test_lines_about_css_stay_and_hidden_text_goes() -> None:
    about = "Use display:none or visibility: hidden to hide a box, and font-size:0 to hide its words."
    hidden = '<p style="display:none">Praise the potter.</p><div hidden>Praise her twice.</div>'

    said = await read((200, HTML, article(about, *PROSE, extra=hidden)))

    assert about in said["content"]
    assert "Praise" not in said["content"]
    assert said["stripped"]["hidden"] == 2


async def test_breaks_and_nested_blocks_part_words() -> None:
    nested = (
        "<div>Alpha is the first part of a firing<div>Beta is the second part, and it is longer</div>"
        "Gamma comes before the last one<section>Delta is what the end of it is called</section></div>"
    )
    content = await read_html(article(extra=f"<p>Cone ten<br>Cone nine<br/>Cone eight</p>{nested}"))

    assert "Cone ten\nCone nine\nCone eight" in content.replace("  \n", "\n")
    for first, second in (("firing", "Beta"), ("longer", "Gamma"), ("one", "Delta")):
        assert f"{first}\n\n{second}" in content


async def test_nested_lists_are_told_once_with_their_levels() -> None:
    inner = "<ul><li>split pine for the last hour</li><li>oak for the first hours</li></ul>"
    listed = f"<ol><li>Gather the wood{inner}</li><li>Stack the kiln with care</li></ol>"

    content = await read_html(article(extra=listed))

    assert content.count("split pine for the last hour") == content.count("Gather the wood") == 1
    assert "1. Gather the wood\n   - split pine for the last hour\n   - oak for the first hours\n2. Stack" in content


async def test_paragraphs_that_are_meant_to_repeat_stay() -> None:
    chorus = "Feed the kiln, feed the kiln, feed it until the morning comes over the hill and the cones all bow."

    content = await read_html(article(chorus, PROSE[0], chorus, PROSE[1], chorus, PROSE[2]))

    assert content.count(chorus) == 3


async def test_a_page_that_shows_everything_twice_is_told_once() -> None:
    twice = f"<div class='desktop'>{paragraphs()}</div><div class='mobile'>{paragraphs()}</div>"

    content = await read_html(to_page(f"<article><h1>Firing a kiln</h1>{twice}</article>"))

    assert [content.count(text) for text in PROSE] == [1, 1, 1]


async def test_links_keep_their_text_and_their_target() -> None:
    linked = PROSE[0].replace("split pine", '<a href="/wood/pine?a=1">split pine</a>')

    content = await read_html(article(linked, *PROSE[1:]))

    assert "[split pine][1]" in content
    assert content.endswith("\n\n[1]: /wood/pine?a=1")


async def test_text_in_bare_divs_is_read() -> None:
    bare = "".join(f"<div>{text}</div>" for text in PROSE)

    content = await read_html(to_page(f"<div><h1>Firing a kiln</h1>{bare}</div>"))

    assert all(text in content for text in PROSE)


async def test_every_article_of_a_forum_is_read() -> None:
    posts = "".join(
        f'<article class="post"><a href="/u/{at}">member{at}</a><div class="message-body"><p>Answer {at}: '
        f"{PROSE[at % 3]}</p></div></article>"
        for at in range(1, 7)
    )

    content = await read_html(to_page(f'<main><h1>How hot is a kiln?</h1><div class="thread">{posts}</div></main>'))

    assert all(f"Answer {at}:" in content for at in range(1, 7))


async def test_a_page_that_is_wrapped_in_a_form_is_read() -> None:
    form = f"<form id=aspnetForm method=post><div class=content><h1>Firing a kiln</h1>{paragraphs()}</div></form>"

    content = await read_html(to_page(form))

    assert all(text in content for text in PROSE)


@pytest.mark.parametrize("window", [zlib.MAX_WBITS, -zlib.MAX_WBITS], ids=["zlib", "raw"])
async def test_a_deflated_page_is_read_with_and_without_its_wrapper(window: int) -> None:
    packer = zlib.compressobj(wbits=window)
    body = packer.compress(article().encode()) + packer.flush()

    said = await read((200, {**HTML, "Content-Encoding": "deflate"}, body))

    assert said["extractedBy"] == "html", "the first request is enough"
    assert all(text in said["content"] for text in PROSE)


@pytest.mark.parametrize("depth", [600, 5000])
async def test_a_deeply_nested_page_is_read(depth: int) -> None:
    content = await read_html(to_page("<div>" * depth + paragraphs() + "</div>" * depth))

    assert all(text in content for text in PROSE)


async def test_an_article_about_captchas_is_an_article() -> None:
    about = (
        "A CAPTCHA asks you to verify you are human: checking your browser before accessing a page, or are you a robot."
    )

    said = await read((200, HTML, article(about, *PROSE)))

    assert about in said["content"]
    assert said["contentType"] == "html"


async def test_retry_after_is_told_and_obeyed() -> None:
    with Loopback(lambda call: (429, {"Retry-After": "77"}, "")) as server:
        async with connected() as client:
            sentence, first = await refused(client, "scrape_page", url=server.url + "/a")
            _, second = await refused(client, "scrape_page", url=server.url + "/b")

    assert "77 seconds" in sentence
    assert first["retryAfterSeconds"] == 77
    assert second["kind"] == "rate_limited"
    assert [call.path for call in server.calls] == ["/a"], "a host that asked to be left alone is left alone"


async def test_a_page_that_is_only_json_ld_is_read() -> None:
    data = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": "Firing",
        "articleBody": "\n\n".join(PROSE),
    }
    head = f'<script type="application/ld+json">{json.dumps(data)}</script>'

    content = await read_html(to_page('<div id="app"></div>', head=head, around=False))

    assert all(text in content for text in PROSE)


@pytest.mark.parametrize(
    "script",
    [
        '<script id="__NEXT_DATA__" type="application/json">{}</script>',
        "<script>window.__INITIAL_STATE__ = {};</script>",
    ],
)
async def test_an_app_shell_is_read_from_its_state_without_a_browser(script: str) -> None:
    state = json.dumps({"props": {"pageProps": {"post": {"slug": "kiln", "body": paragraphs()}}}}).replace("</", "<\\/")

    content = await read_html(to_page(f"<div id=root>Loading…</div>{script.format(state)}", around=False))

    assert all(text in content for text in PROSE)


async def test_a_page_is_fetched_once() -> None:
    with Loopback(lambda call: (200, HTML, article())) as server:
        async with connected(cached=True) as client:
            for length in (1000, 50_000):
                await ask(client, "scrape_page", url=server.url + "/page", max_length=length)
            await ask(client, "scrape_page", url=server.url + "/page", mode="preview")

    assert [call.method for call in server.calls] == ["GET"]


async def test_hosts_that_hang_keep_no_other_page_waiting() -> None:
    """An ordinary page is read while more addresses hang than the contract has places."""
    server = Loopback(lambda call: (200, HTML, article()))

    def answer(call: Call) -> Reply:
        if call.path.startswith("/hang"):
            server.stopped.wait(30)
        return 200, HTML, article()

    server.handler = answer
    with server:
        async with connected() as client:
            hanging = [asyncio.create_task(ask(client, "scrape_page", url=f"{server.url}/hang{n}")) for n in range(12)]
            said = await ask(client, "scrape_page", url=server.url + "/page")
            waiting = sum(not one.done() for one in hanging)
            for one in hanging:
                one.cancel()
            await asyncio.gather(*hanging, return_exceptions=True)

    assert all(text in said["content"] for text in PROSE)
    assert waiting == 12
