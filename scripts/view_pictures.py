"""Makes the pictures of views in `docs/pictures`: `python scripts/view_pictures.py [NAME…]` (needs Chromium).

What they show are answers with invented names, kept in `tests/support/view_answers`: each is drawn as
`specloom call TOOL … --html FILE` draws it, in light and dark. With `--to DIR` they go elsewhere.
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

from specloom.model import Model
from specloom.runtime import fill_view, parse_arguments, view_document
from specloom.server import load_served

if TYPE_CHECKING:
    from playwright.async_api import Page

ROOT = Path(__file__).resolve().parents[1]
ANSWERS = ROOT / "tests/support/view_answers"
PICTURES = ROOT / "docs/pictures"
WIDTH, HEIGHT = 1000, 760
MOST_BYTES = 60_000


def draw_answer(model: Model, path: Path) -> str:
    """The document of a kept answer."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    tool = model.tools[kept["tool"]]
    arguments = parse_arguments(tool, kept["arguments"])
    assert tool.view is not None
    return view_document(model.views[tool.view.template], fill_view(tool, model, arguments, kept["answer"]))


async def take(documents: dict[str, str], folder: Path, kind: str) -> None:
    """A picture of each document in light and in dark."""
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
            await context.close()
        await browser.close()


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
    parser.add_argument("names", nargs="*", metavar="NAME", help="a file of tests/support/view_answers without .json")
    parser.add_argument("--to", type=Path, default=PICTURES, metavar="DIR")
    parser.add_argument("--png", action="store_true", help="as PNG, of any size")
    options = parser.parse_args()
    served = load_served({**os.environ, "SPECLOOM_PATH": ""})
    names = options.names or sorted(path.stem for path in ANSWERS.glob("*.json"))
    documents = {name: draw_answer(served.model, ANSWERS / f"{name}.json") for name in names}
    options.to.mkdir(parents=True, exist_ok=True)
    asyncio.run(take(documents, options.to, "png" if options.png else "webp"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
