"""Views in a real browser: drawn from kept answers, alone and in a client's frame, whatever texts are in them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.domains.scrape.browser.browser import find_browser
from specloom.runtime import fill_view, parse_arguments, script_json, view_document
from tests.support.browser import needs_browser
from tests.support.shipped import shipped_model
from tests.support.viewed import draw, kept_answers

pytestmark = [pytest.mark.process, needs_browser]

NAMES = sorted(kept_answers())
CHECKS = (Path(__file__).parents[1] / "support/view_checks.js").read_text(encoding="utf-8")
SCRIPT = "</script><script>document.title='taken'</script><img src=https://evil.example/x.png onerror=\"taken=1\">"
HOSTILE = (
    SCRIPT,
    "javascript:document.title='taken'",
    '"><svg onload="document.title=\'taken\'"><style>*{display:none}</style>',
    "{{7*7}} ${alert(1)} `x` __proto__ \u202edettim \u2066<!-- -->",
)
DRAWN = "html:not([data-state=waiting])"
FRAME_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "media-src 'self' data:; connect-src 'none'"
)
HOST = """
<!DOCTYPE html><html><body><script>
window.seen = [];
const filled = JSON.parse(GIVEN);
addEventListener("message", (event) => {
  const frame = document.querySelector("iframe").contentWindow, message = event.data;
  if (event.source !== frame) return;
  seen.push(message);
  const send = (one) => frame.postMessage({ jsonrpc: "2.0", ...one }, "*");
  const variables = { "--font-sans": "serif", "--color-x": "red", "background": "red" };
  const hostContext = { theme: "dark", displayMode: "inline", styles: { variables } };
  const result = { protocolVersion: "2026-01-26", hostInfo: {}, hostCapabilities: {}, hostContext };
  if (message.method === "ui/initialize") send({ id: message.id, result });
  if (message.method === "ui/notifications/initialized") {
    send({ method: "ui/notifications/tool-input", params: { arguments: {} } });
    send({ method: "ui/notifications/tool-result", params: filled });
  }
  if (message.method === "ui/open-link") send({ id: message.id, result: {} });
});
</script></body></html>
"""


PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


class Seen:
    """What a page did while it was open, beside showing something."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.console: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self.opened: list[str] = []
        page.on("console", lambda message: self.console.append(message.text))
        page.on("pageerror", lambda error: self.console.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        page.on("popup", lambda popup: self.opened.append(popup.url))

    def nothing(self) -> bool:
        """Whether it did nothing at all."""
        asked = [url for url in self.requests if not url.startswith(("file:", "data:", "about:"))]
        return not (self.console or asked or self.dialogs or self.opened)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=find_browser("").path or None, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1000, "height": 800}, offline=True)
    context.set_default_timeout(120_000)
    yield context.new_page()
    context.close()


def show(page: Any, document: str, tmp_path: Path) -> Seen:
    """Open a document from the disk and wait until it is drawn."""
    file = tmp_path / "view.html"
    file.write_text(document, encoding="utf-8")
    seen = Seen(page)
    page.goto(file.as_uri())
    page.wait_for_selector(DRAWN, state="attached")
    return seen


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_answer_is_drawn_without_asking_anybody(page: Any, tmp_path: Path, name: str) -> None:
    kept = kept_answers()[name]
    seen = show(page, draw(shipped_model(), kept), tmp_path)

    assert page.evaluate("document.documentElement.dataset.state") == "ready"
    assert seen.nothing(), vars(seen)
    assert page.locator("h1").inner_text() == page.title()
    assert page.locator("main h1, main svg, main table, main li, main td").count() > 5
    assert page.locator("footer").inner_text().endswith("Made by specloom.")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1000), ("dark", 1000), ("light", 380), ("dark", 380)])
def test_it_can_be_read_in_both_schemes_and_on_a_small_screen(
    page: Any, tmp_path: Path, name: str, scheme: str, width: int
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    show(page, draw(shipped_model(), kept_answers()[name]), tmp_path)

    assert page.evaluate(CHECKS) == []


@pytest.mark.parametrize("name", NAMES)
def test_it_is_printed_whole_and_dark_on_light(page: Any, tmp_path: Path, name: str) -> None:
    page.emulate_media(color_scheme="dark", media="print")
    show(page, draw(shipped_model(), kept_answers()[name]), tmp_path)

    assert page.evaluate(CHECKS) == []
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.locator(".no-print:visible, .pages:visible").count() == 0


@pytest.mark.parametrize("name", NAMES)
def test_every_control_is_reached_by_the_keyboard_and_in_the_order_of_the_page(
    page: Any, tmp_path: Path, name: str
) -> None:
    show(page, draw(shipped_model(), kept_answers()[name]), tmp_path)
    page.evaluate("window.reached = []")
    while True:
        page.keyboard.press("Tab")
        if not page.evaluate(
            """() => { const now = document.activeElement, is_new = now !== document.body && !reached.includes(now);
            if (is_new) reached.push(now); return is_new; }"""
        ):
            break
    order = page.evaluate(
        """() => { const stops = [...document.querySelectorAll(
        'a[href], button:not([disabled]), input, select, summary, [tabindex="0"]')]
        .filter((one) => one.checkVisibility() && one.tabIndex >= 0);
        return [stops.length, ...reached.map((one) => stops.indexOf(one))]; }"""
    )

    assert order[0] > 0
    assert order[1:] == list(range(order[0]))


def poison(value: Any, text: str) -> Any:
    """The same with this text in the place of every text; addresses stay some of the time."""
    if isinstance(value, dict):
        return {key: poison(one, text) for key, one in value.items()}
    if isinstance(value, list):
        return [poison(one, text) for one in value]
    return text if isinstance(value, str) else value


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", NAMES)
def test_texts_stay_texts_whatever_they_say(page: Any, tmp_path: Path, name: str, text: str) -> None:
    model, kept = shipped_model(), kept_answers()[name]
    tool = model.tools[kept["tool"]]
    assert tool.view is not None
    filled = fill_view(tool, model, parse_arguments(tool, kept["arguments"]), kept["answer"])
    hostile = poison(copy.deepcopy(filled["slots"]), text)
    document = view_document(model.views[filled["template"]], {**filled, "slots": hostile, "notices": [text]})
    seen = show(page, document, tmp_path)
    for _ in range(12):
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")

    assert page.evaluate("document.documentElement.dataset.state") == "ready"
    assert page.evaluate("typeof taken") == "undefined"
    assert "taken" not in page.title() or text in page.title() or page.title() == " ".join(text.split())
    assert seen.nothing(), vars(seen)
    assert page.locator("main img, main style, main script, main iframe").count() == 0
    hrefs = page.eval_on_selector_all("[href], [src]", "nodes => nodes.map((node) => node.href || node.src)")
    assert [one for one in hrefs if not one.startswith(("http://", "https://"))] == []


def frame(page: Any, document: str, result: dict[str, Any], tmp_path: Path) -> tuple[Any, Seen]:
    """A document in the frame of a client, once it is drawn."""
    seen = Seen(page)
    file = tmp_path / "host.html"
    file.write_text(HOST.replace("GIVEN", f"{json.dumps(script_json(result))}"), encoding="utf-8")
    page.goto(file.as_uri())
    policy = f'<meta http-equiv="Content-Security-Policy" content="{FRAME_POLICY}">'
    page.evaluate(
        """(text) => { const frame = document.createElement("iframe"); frame.sandbox = "allow-scripts";
        frame.width = 800; frame.height = 500; frame.srcdoc = text; document.body.append(frame); }""",
        document.replace("<head>", f"<head>{policy}"),
    )
    inner = page.frames[-1]
    inner.wait_for_selector(DRAWN, state="attached")
    return inner, seen


@pytest.mark.parametrize("name", NAMES)
def test_a_client_shows_it_in_a_frame_that_may_do_nothing(page: Any, tmp_path: Path, name: str) -> None:
    model, kept = shipped_model(), kept_answers()[name]
    tool = model.tools[kept["tool"]]
    assert tool.view is not None
    filled = fill_view(tool, model, parse_arguments(tool, kept["arguments"]), kept["answer"])
    result = {"content": [{"type": "text", "text": "T"}], "_meta": {"specloom/view": filled}}
    inner, seen = frame(page, view_document(model.views[tool.view.template]), result, tmp_path)
    page.wait_for_function(
        "seen.some((one) => one.method === 'ui/notifications/size-changed' && one.params.height > 60)"
    )

    assert inner.evaluate("document.documentElement.dataset.state") == "ready"
    assert inner.evaluate("[document.documentElement.dataset.theme, document.documentElement.style.cssText]") == [
        "dark",
        "--font-sans: serif;",
    ]
    assert seen.nothing(), vars(seen)
    link = inner.locator("main a[href]:visible")
    if link.count():
        address = link.first.get_attribute("href")
        link.first.click()
        page.wait_for_function("seen.some((one) => one.method === 'ui/open-link')")
        assert address in page.evaluate(
            "seen.filter((one) => one.method === 'ui/open-link').map((one) => one.params.url)"
        )
        assert seen.opened == []


def test_an_answer_without_slots_is_told_as_text(page: Any, tmp_path: Path) -> None:
    document = view_document(shipped_model().views["graph"])
    result = {"content": [{"type": "text", "text": SCRIPT}], "isError": True}
    inner, seen = frame(page, document, result, tmp_path)

    assert inner.evaluate("document.documentElement.dataset.state") == "told"
    assert inner.locator("pre").inner_text() == SCRIPT
    assert seen.nothing()


def test_slots_of_another_template_are_not_drawn(page: Any, tmp_path: Path) -> None:
    document = view_document(shipped_model().views["graph"])
    result = {"content": [{"type": "text", "text": "T"}], "_meta": {"specloom/view": {"template": "map", "slots": {}}}}
    inner, _ = frame(page, document, result, tmp_path)

    assert inner.locator("pre").inner_text() == "T"


def test_a_gallery_shows_the_picture_that_its_answer_holds_and_links_the_others(page: Any, tmp_path: Path) -> None:
    others = {"label": "Far", "file": "https://img.example.org/far.webp", "small": "https://small.example.net/1"}
    images = [{"label": "Near", "file": "https://img.example.org/near", "picture": PICTURE}, others]
    filled = {"template": "gallery", "title": "Images", "slots": {"title": "otters", "images": images}}
    seen = show(page, view_document(shipped_model().views["gallery"], filled), tmp_path)

    assert page.locator("img").evaluate_all("all => all.map((one) => [one.alt, one.naturalWidth])") == [["Near", 1]]
    far = page.locator(".tile", has_text="Far")
    assert far.locator("svg").get_attribute("aria-label").startswith("Far: the picture is not loaded")
    assert far.locator("a").evaluate_all("all => all.map((one) => one.textContent)") == [
        "Far",
        "WebP",
        "from small.example.net",
    ]
    assert seen.nothing(), vars(seen)
    assert page.evaluate(CHECKS) == []


def test_a_picture_by_its_address_is_not_loaded(page: Any, tmp_path: Path) -> None:
    image = {"label": "Far", "picture": "https://img.example.org/far.png"}
    filled = {"template": "gallery", "title": "Images", "slots": {"title": "otters", "images": [image]}}
    seen = show(page, view_document(shipped_model().views["gallery"], filled), tmp_path)

    assert page.locator("img").count() == 0
    assert seen.nothing(), vars(seen)
