"""Makes the pictures in `docs/pictures`: `python scripts/view_pictures.py [NAME…]` (needs Chromium).

Those of views show answers with invented names, kept in `tests/support/view_answers`: each is drawn as
`specloom call TOOL … --html FILE` draws it, in light and dark. That of the local page shows a call of a recipe of the
cookbook, whose upstreams are invented too. With `--to DIR` they go elsewhere.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from cookbook import NOW, RECIPES, RecipeUpstreams

from specloom.model import Model
from specloom.runtime import Executor, fill_view, parse_arguments, view_document
from specloom.server import load_served
from specloom.ui import Actions, LoopbackServer, Wrap, serve_page

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

ROOT = Path(__file__).resolve().parents[1]
ANSWERS = ROOT / "tests/support/view_answers"
PICTURES = ROOT / "docs/pictures"
WIDTH, HEIGHT = 1000, 760
LOCAL_PAGE = "local-page"
"""The picture that is of no view."""
MOST_BYTES = 60_000


def draw_answer(model: Model, path: Path) -> str:
    """The document of a kept answer."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    tool = model.tools[kept["tool"]]
    arguments = parse_arguments(tool, kept["arguments"])
    assert tool.view is not None
    return view_document(model.views[tool.view.template], fill_view(tool, model, arguments, kept["answer"]))


async def take(documents: dict[str, str], folder: Path, kind: str, model: Model, *, pictures_page: bool) -> None:
    """A picture of each document in light and in dark, and one of the local page if it is wanted."""
    from playwright.async_api import async_playwright

    from specloom.domains.scrape.browser.browser import find_browser

    found = find_browser("")
    if found.why:
        sys.exit(found.why)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found.path or None)
        for scheme in ("light", "dark"):
            context = await browser.new_context(
                color_scheme=scheme, viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce"
            )
            for name, document in documents.items():
                with tempfile.TemporaryDirectory() as place:
                    file = Path(place) / f"{name}.html"
                    file.write_text(document, encoding="utf-8")
                    page = await context.new_page()
                    await page.goto(file.as_uri())
                    await page.wait_for_function("document.documentElement.dataset.state === 'ready'")
                    await save(page, folder / f"view-{name}-{scheme}.{kind}")
                    await page.close()
            if pictures_page:
                await take_local_page(context, model, folder / f"{LOCAL_PAGE}-{scheme}.{kind}")
            await context.close()
        await browser.close()


async def take_local_page(context: BrowserContext, model: Model, path: Path) -> None:
    """A picture of `specloom ui` after a call, which is answered as in the cookbook."""
    recipe = yaml.safe_load((RECIPES / "statistic.yaml").read_text(encoding="utf-8"))
    call = recipe["calls"][-1]

    def make(wrap: Wrap) -> Executor:
        upstreams = wrap(RecipeUpstreams(recipe["replies"], []))
        return Executor(model, environ=recipe["environ"], sender=upstreams, clock=lambda: NOW)

    actions = Actions(make, {})
    server = LoopbackServer(0, actions.act, actions.find_view)
    with serve_page(server):
        page = await context.new_page()
        await page.set_viewport_size({"width": 1280, "height": 860})
        await page.goto(server.address)
        await page.click(f".list button:text-is('{call['tool']}')")
        for name, value in call["args"].items():
            await page.fill(f"#input-{name}", str(value))
        await page.click("button[type=submit]")
        await page.wait_for_selector("#result iframe")
        frame = page.frame_locator("#result iframe")
        await frame.locator("html[data-state=ready]").wait_for(state="attached")
        await page.evaluate("scrollTo(0, 0)")
        await save(page, path)
        await page.close()
    await actions.aclose()


async def save(page: Page, path: Path) -> None:
    """What a page shows as a picture: WebP as good as its bound of bytes lets it be, or PNG to a name that ends so."""
    if path.suffix == ".png":
        await page.screenshot(path=path)
        return
    session = await page.context.new_cdp_session(page)
    data = b""
    for quality in range(90, 20, -10):
        taken = await session.send("Page.captureScreenshot", {"format": "webp", "quality": quality})
        data = base64.b64decode(taken["data"])
        if len(data) <= MOST_BYTES:
            break
    path.write_bytes(data)  # noqa: ASYNC240 - nothing waits meanwhile
    sys.stdout.write(f"{path.name}: {len(data):,} bytes\n")


def main() -> int:
    """Make those that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    words = f"a file of tests/support/view_answers without .json, or {LOCAL_PAGE}"
    parser.add_argument("names", nargs="*", metavar="NAME", help=words)
    parser.add_argument("--to", type=Path, default=PICTURES, metavar="DIR")
    parser.add_argument("--png", action="store_true", help="as PNG, of any size")
    options = parser.parse_args()
    served = load_served({**os.environ, "SPECLOOM_PATH": ""})
    names = options.names or [*sorted(path.stem for path in ANSWERS.glob("*.json")), LOCAL_PAGE]
    views = [name for name in names if name != LOCAL_PAGE]
    documents = {name: draw_answer(served.model, ANSWERS / f"{name}.json") for name in views}
    options.to.mkdir(parents=True, exist_ok=True)
    kind = "png" if options.png else "webp"
    asyncio.run(take(documents, options.to, kind, served.model, pictures_page=LOCAL_PAGE in names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
