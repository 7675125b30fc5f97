"""Walls, log-ins and shells are told from pages, and pages about them from both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.fetch.block_pages import is_challenge, judge, judge_raw, score

WALLS = [
    ("Just a moment...", "Checking your browser before accessing example.org. This process is automatic."),
    ("", "Verify you are human by completing the action below. example.org needs to review your connection."),
    ("Attention Required! | Cloudflare", "Sorry, you have been blocked. You are unable to access example.org"),
    ("", "Please enable JavaScript and cookies to continue"),
    ("Access Denied", "Access Denied. You don't have permission to access this page. Reference #18.2d35"),
    ("", "Pardon Our Interruption. As you were browsing something about your browser made us think you were a bot."),
    ("Making sure you're not a bot!", "Loading... Protected by Anubis from Techaro."),
    ("", "Our systems have detected unusual traffic from your computer network."),
    ("", "Press & Hold to confirm you are a human (and not a bot)."),
    ("DDoS-Guard", "DDoS protection by DDoS-Guard"),
]
ABOUT = (
    "A CAPTCHA is a test that tells people from programs. Users are asked to verify you are human by typing letters, "
    "and many sites say that they are checking your browser before they show a page. Researchers found in 2023 that "
    "programs solve such tests faster than people do, and that people need nine seconds on average. Accessibility "
    "groups have asked for years that sites stop using them. Newer services look at how a visitor behaves instead, "
    "which raises other questions about privacy and about who is let in, as critics in several countries point out. "
)
PAGE = b"<html><body>" + b"<p>x</p>" * 300 + b"</body></html>"


@pytest.mark.parametrize(("title", "text"), WALLS)
def test_a_wall_is_told_by_what_it_says(title: str, text: str) -> None:
    assert judge(text, title=title, html=PAGE) == "wall"
    markup = f"<html><head><title>{title}</title><script>var x = '{'y' * 500}'</script></head><p>{text}</p></html>"
    assert judge_raw(markup.encode()) == "wall"


@pytest.mark.parametrize("times", [1, 2, 4])
def test_an_article_about_walls_is_an_article(times: int) -> None:
    text = ABOUT * times
    html = f"<html><body><article><p>{text}</p></article></body></html>".encode()

    assert judge(text, title="What is a CAPTCHA?", html=html) == "good"
    assert judge_raw(html) == "good"


def test_the_machinery_of_a_wall_counts_where_little_is_said() -> None:
    html = b"<html><script>window._cf_chl_opt = {}</script><body>Un instant</body></html>"

    assert judge("Un instant", html=html) == "wall"
    assert (
        judge(ABOUT.replace("verify you are human by ", "").replace("checking your browser", "slow"), html=html)
        == "good"
    )


def test_a_long_text_is_never_a_wall_whatever_it_says() -> None:
    assert judge("Verify you are human. " * 200, html=b"_cf_chl_opt") == "good"


def test_where_a_reading_ended_up_tells_a_log_in() -> None:
    html = b'<form><input name="u"><input type="password"></form>'
    at = {"asked": "https://a.example/doc/1", "url": "https://a.example/login?next=/doc/1"}

    assert judge("Welcome back. User name. Password.", html=html, **at) == "login"
    assert judge("Log in to continue", html=b"<p>", **at) == "login"
    assert judge("Please log in to read this portal.", html=html, asked="https://a.example/", url="") == "login"


def test_a_page_that_is_a_form_for_a_password_and_no_words_is_a_log_in() -> None:
    html = b'<form><input name="u"><input type="password"></form>'
    at = {"asked": "https://a.example/doc/1", "url": "https://a.example/login?next=/doc/1"}
    app = b'<div id="root"></div>'

    assert judge("", html=html, **at) == "login"
    assert judge("", html=html, asked="https://a.example/", url="https://a.example/") == "login"
    assert judge("", html=html + app, **at) == "login"
    unseen = html.replace(b"<form", b"<form action='/login' style='display: none'")
    assert judge("", html=unseen, asked="https://a.example/", url="https://a.example/") == "empty"
    for filled in (app, b"<script src='/forum.js'></script>"):
        assert judge("", html=html + filled, asked="https://a.example/", url="https://a.example/") == "empty"
    assert judge("", html=app, **at) == "empty"


def test_a_page_with_a_log_in_form_at_its_side_is_a_page() -> None:
    html = b'<input type="password">' + b"<p>text</p>" * 10

    assert judge(ABOUT, html=html, asked="https://a.example/x", url="https://a.example/x") == "good"
    assert judge("How to choose a password. " * 6, html=b"<p>", asked="https://a.example/login", url="/login") == "good"


@pytest.mark.parametrize(
    ("text", "html", "verdict"),
    [
        ("", b"<div id=root></div>", "empty"),
        ("Loading", b"<div id=root></div>", "shell"),
        ("word " * 40, b"x" * 5000, "shell"),
        ("word " * 40, b"x" * 1000, "good"),
        ("word " * 200, b"x" * 50_000, "good"),
        ("word " * 200, b"<div id='root'></div>" + b"x" * 50_000, "shell"),
        ("word " * 200, b"<noscript>You need to enable JavaScript.</noscript>" + b"x" * 50_000, "shell"),
        ("word " * 600, b"<div id='root'></div>" + b"x" * 500_000, "good"),
        ("word " * 29, b"", "shell"),
        ("word " * 30, b"", "good"),
        ("水獺在水面上仰臥睡覺。" * 8, b"", "good"),
    ],
)
def test_a_shell_says_little_for_its_size(text: str, html: bytes, verdict: str) -> None:
    assert judge(text, html=html) == verdict


@pytest.mark.parametrize(
    ("text", "html", "whole", "verdict"),
    [
        ("word " * 40, b"<div id='root'><p>word</p></div>" + b"x" * 50_000, True, "good"),
        ("word " * 40, b"<div id='root'><p>word</p></div>" + b"x" * 50_000, False, "shell"),
        ("word " * 40, b"<div id=root class='a'> </div>" + b"x" * 50_000, True, "shell"),
        ("word " * 40, b'<div id="__next"><main>\n</main></div>' + b"x" * 50_000, True, "shell"),
        ("word " * 40, b'<div id="__next"><div></div><p>word</p></div>' + b"x" * 50_000, True, "good"),
        ("word " * 40, b"<app-root></app-root>" + b"x" * 50_000, True, "shell"),
        ("word " * 10, b"x" * 50_000, True, "shell"),
        ("A short page.", b"<p>A short page.</p>", None, "good"),
        ("A short page.", b"<p>A short page.</p><script>1</script>", None, "shell"),
    ],
)
def test_what_the_extractor_is_sure_of_is_believed_unless_it_is_next_to_nothing(
    text: str, html: bytes, whole: bool | None, verdict: str
) -> None:
    assert judge(text, html=html, whole=whole) == verdict


def test_letters_of_any_script_count_alike() -> None:
    assert score("Выдры") == len("Выдры".encode())
    assert score("otters") > score("{}[];()")
    assert score("") == 0.0


@given(st.text(max_size=300), st.text(max_size=50), st.binary(max_size=400))
def test_anything_gets_a_verdict(text: str, title: str, html: bytes) -> None:
    assert judge(text, title=title, html=html) in {"good", "wall", "login", "missing", "shell", "empty"}
    assert judge_raw(html) in {"good", "wall", "empty"}


@pytest.mark.parametrize(
    "piece",
    [
        b"<script",
        b"<noscript",
        b"<input ",
        b"<title",
        b"<",
        b"<!--",
        b"<div id=root><p>",
        b"<div id=root>",
        b"<div id=root><div>",
    ],
)
def test_hostile_markup_is_judged_in_linear_time(piece: bytes) -> None:
    html = (piece * 200_000)[:199_000]

    # A quadratic search through this takes so many minutes that nobody overlooks it.
    assert judge("x", html=html) in {"wall", "shell", "login"}
    assert judge_raw(html) in {"good", "wall"}


NOTICE = "We and our partners use cookies to personalise content. Choose what you consent to, or subscribe."


@pytest.mark.parametrize(
    "url",
    [
        "https://consent.example.org/m?continue=https://www.example.org/",
        "https://www.example.org/zustimmung?url=%2Fa",
        "https://guce.example.org/v2/collectConsent",
        "https://www.example.org/sonstiges/zustimmung/auswahl.html",
    ],
)
def test_a_place_for_consent_that_one_was_led_to_is_no_page(url: str) -> None:
    assert judge(NOTICE, html=PAGE, asked="https://www.example.org/a", url=url) == "consent"
    assert judge(NOTICE + " " + ABOUT, html=PAGE, asked="https://www.example.org/a", url=url) == "consent"
    # Who asks for that very place reads it.
    assert judge(NOTICE * 3, html=PAGE, asked=url, url=url) != "consent"
    assert judge(ABOUT, html=PAGE, asked="https://a.example/", url="https://a.example/consent-in-law") != "consent"


def test_a_notice_about_cookies_and_nothing_else_is_a_shell() -> None:
    story = "The potter lit the kiln at dawn. " * 12
    html = b"<html><body>" + NOTICE.encode() + b"</body></html>"

    assert judge(NOTICE, html=html) == "shell"
    assert judge(f"{NOTICE} {story}", html=html) == "good"
    assert judge("Cookies keep a week in a tin, and ours are baked with butter. " * 2, html=html) == "good"


@pytest.mark.parametrize(
    ("body", "headers", "challenge"),
    [
        (b"<script>window.KPSDK={}</script>", {}, True),
        (b"<script src=https://a.awswaf.com/challenge.js></script>", {}, True),
        (b"verifying", {"x-vercel-mitigated": "challenge"}, True),
        (b"verifying", {"cf-mitigated": "challenge"}, True),
        (b"<div id=cf-error-details>Error 522: connection timed out</div>", {}, False),
        (b"Too many requests", {"retry-after": "30"}, False),
    ],
)
def test_a_refusal_by_the_machinery_of_a_vendor_is_a_wall(
    body: bytes, headers: dict[str, str], challenge: bool
) -> None:
    assert is_challenge(body, headers) is challenge
