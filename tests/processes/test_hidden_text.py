"""Which ways of hiding text a browser really hides, and which twins it paints: the judge of the corpus of ways."""

from __future__ import annotations

import base64

from specloom.domains.scrape.browser.browser import find_browser
from tests.corpus.test_hidden_text import WAYS, to_page
from tests.support.browser import needs_browser

SEEN = 48
"""The largest difference of a channel, of 255, that two pages with other words have where nobody sees the words."""

COMPARE = """async ([one, other]) => {
  const draw = async (data) => {
    const image = new Image(); image.src = 'data:image/png;base64,' + data; await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext('2d'); pen.drawImage(image, 0, 0);
    return pen.getImageData(0, 0, image.width, image.height).data;
  };
  const [a, b] = [await draw(one), await draw(other)];
  let most = 0;
  for (let at = 0; at < a.length; at++) most = Math.max(most, Math.abs(a[at] - b[at]));
  return most;
}"""


@needs_browser
def test_a_browser_paints_the_twins_and_nothing_else() -> None:
    from playwright.sync_api import sync_playwright

    wrong = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser("").path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 480, "height": 200})
        judge = browser.new_page()
        for way in WAYS:
            for kind in ("hidden", "shown"):
                pictures = []
                for words in ("MHWMHWMHW", "iljiljilj"):
                    page.set_content(to_page(way, kind, words))
                    pictures.append(base64.b64encode(page.screenshot()).decode())
                is_seen = judge.evaluate(COMPARE, pictures) > SEEN
                if is_seen != (kind == "shown" or "unreadable" in way):
                    wrong.append((way["name"], kind))
        browser.close()

    assert wrong == []
