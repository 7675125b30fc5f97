"""Consent walls as a real Chromium meets them: in every shape, in many languages, and told from what is no wall."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from specloom.domains.scrape.browser.browser import Browser, find_browser
from specloom.domains.scrape.browser.consent import ABOUT, ACCEPTING, CONSENT, LABELS, REFUSING
from specloom.net.connections import resolve_name
from tests.support.browser import needs_browser, page
from tests.support.loopback import Call, Loopback, Reply
from tests.support.scrape_context import HTML, OPTIONS, take_text

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="module")]
OPEN = replace(OPTIONS, chrome="", browser_timeout=60.0)
ROOT = "<div id=root></div>"
GO = "function go(how) { document.getElementById('wall').remove(); root.innerHTML = (how + ' ').repeat(40) }"
WE = "We and our partners use cookies and process personal data."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    one = Browser(resolve=resolve_name)
    yield one
    await one.aclose()


def wall(buttons: str, words: str = WE) -> str:
    return f"<div id=wall style='position:fixed;inset:0;background:#fff'><p>{words}</p>{buttons}</div>{ROOT}"


def button(label: str, how: str = "passed", names: str = "") -> str:
    return f"<button {names} onclick=\"go('{how}')\">{label}</button>"


async def read(browser: Browser, body: str, script: str = GO, **others: str) -> str:
    """The text of a page that holds a wall; `others` are further pages, by their paths."""

    def reply(call: Call) -> Reply:
        return 200, HTML, others.get(call.path.strip("/")) or page(body, script)

    with Loopback(reply) as server:
        return take_text(await browser.render(server.url, OPEN)).text


REFUSALS = """
Reject all|Reject All Cookies|Decline|Only necessary cookies|Use essential cookies only
Continue without accepting →|NO THANKS
Alle ablehnen|Nur notwendige Cookies|Weigeren|Alles weigeren|Tout refuser|Continuer sans accepter
Rechazar todo|Rifiuta tutti
Rejeitar todos|Avvisa alla|Kun nødvendige|Hylkää kaikki|Odrzuć wszystkie|Odmítnout vše|Отклонить все
すべて拒否|全部拒绝|모두 거부
"""
ACCEPTANCES = """
Accept all|I Accept|Accept & Close|Accept recommended cookies|Yes, I agree|Agree and proceed
✓ Allow all cookies|OK, I understand
Alle akzeptieren|Zustimmen und weiter|Mit Werbung weiterlesen|Alles accepteren|Akkoord|Accepter et continuer|J’accepte
Aceptar y continuar|Aceitar todos|Accetta e continua|Accept toate|Godkänn alla|Tillåt alla cookies
Tillad alle|Hyväksy kaikki
Zaakceptuj wszystko|Souhlasím|Принять все|Elfogadom|Αποδοχή όλων|Kabul et
すべて同意する|全部接受|모두 동의|אישור הכל|موافقة
"""


async def press(browser: Browser, *labels: str, words: str = WE) -> list[str]:
    """What is pressed in a wall that has only a button of this label, for each label; "" for nothing."""
    running = await browser._ensure(find_browser("").path, OPEN)
    tab = await running.browser.new_page()
    try:
        pressed = []
        for label in labels:
            await tab.set_content(page(wall(button(label), words), GO))
            pressed.append(await tab.evaluate(CONSENT, [REFUSING, ACCEPTING, LABELS, ABOUT, False]))
        return pressed
    finally:
        await tab.close()


def split(lines: str) -> list[str]:
    return [label for line in lines.split("\n") for label in line.split("|") if label]


@pytest.mark.parametrize("labels", [REFUSALS, ACCEPTANCES], ids=["refusals", "acceptances"])
async def test_what_is_on_buttons_is_understood_in_many_languages(browser: Browser, labels: str) -> None:
    pressed = await press(browser, *split(labels))

    assert [label for label, how in zip(split(labels), pressed, strict=True) if not how] == []


async def test_a_wall_speaks_of_cookies_in_many_languages(browser: Browser) -> None:
    for words in (
        "Wir brauchen Ihre Einwilligung.",
        "プライバシーについて",
        "Nous respectons votre vie privée",
        "Мы используем куки",
    ):
        assert await press(browser, "Accept all", words=words) != [""], words


async def test_other_buttons_are_let_be(browser: Browser) -> None:
    others = [
        "Subscribe",
        "Manage options",
        "Settings",
        "Learn more",
        "Cookie policy",
        "Accept the invitation",
        "Log in",
        "No",
    ]

    assert await press(browser, *others) == [""] * len(others)
    assert await press(browser, "Accept", "OK", words="You must be 18 or older to enter.") == ["", ""]


@pytest.mark.parametrize("other", ["Accept all", "OK", "Save and exit"])
@pytest.mark.parametrize("refusal", ["Reject all", "Nur notwendige Cookies", "Continuer sans accepter"])
async def test_refusing_comes_first(browser: Browser, other: str, refusal: str) -> None:
    said = await read(browser, wall(button(other, "accepted") + button(refusal, "refused")))

    assert said.startswith("refused")


async def test_the_buttons_of_frameworks_are_known_by_their_names(browser: Browser) -> None:
    for names in ("id=onetrust-reject-all-handler", "class='btn sp_choice_type_13'", "data-testid=uc-deny-all-button"):
        other = button("Fine", "accepted", "id=onetrust-accept-btn-handler")
        said = await read(browser, wall(other + button("?", "refused", names), "A word to our readers."))
        assert said.startswith("refused"), names


SHADOW = """
  const host = document.body.appendChild(document.createElement("x-consent"));
  host.attachShadow({mode: "open"}).innerHTML =
    "<div style='position:fixed;inset:0'><p>We use cookies.</p><button>Alle akzeptieren</button></div>";
  host.shadowRoot.querySelector("button").onclick = () => { root.innerHTML = "passed ".repeat(40); host.remove(); };
"""
FRAMED = """
  addEventListener("message", event => { wall.remove(); root.innerHTML = (event.data + " ").repeat(40) });
"""
DELAYED = GO + f"setTimeout(() => document.body.insertAdjacentHTML('beforeend', `{wall(button('Accept all'))}`), 1500)"
RELOADED = """
  if (document.cookie.includes("passed")) document.body.innerHTML = "passed ".repeat(40);
  function go() { document.cookie = "passed=1"; location.reload(); }
"""


@pytest.mark.parametrize(
    ("body", "script"),
    [
        (ROOT, SHADOW),
        ("<div id=wall style='position:fixed;inset:0'><iframe src=/frame></iframe></div>" + ROOT, FRAMED),
        (ROOT.replace("root", "none"), DELAYED),
        (wall(button("Accept all")), RELOADED),
        (wall("<a href=/subscribe>Subscribe now</a>" + button("Accept and continue")), GO),
        (wall("<a href='#' onclick=\"go('passed')\">I agree</a>"), GO),
    ],
    ids=["in a shadow root", "in a frame", "late", "with a cookie and a reload", "pay or accept", "a link"],
)
async def test_a_wall_of_any_shape_is_passed(browser: Browser, body: str, script: str) -> None:
    frame = f"<p>{WE}</p><button onclick=\"parent.postMessage('passed', '*')\">Accept all</button>"

    said = await read(browser, body, script, frame=frame)

    assert said.startswith("passed")


async def test_what_leads_to_another_page_is_pressed_only_in_what_lies_over_the_page(browser: Browser) -> None:
    body = (
        "<div class=privacy-notice><p>The history of privacy, " + "long " * 60 + "</p><a href=/next>Continue</a></div>"
    )

    said = await read(browser, body, "", next=page("<p>" + "elsewhere " * 40 + "</p>"))

    assert said.startswith("The history of privacy")
