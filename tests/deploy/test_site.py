"""The documentation as a site: links that lead somewhere, a page for each thing, and Markdown for models."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import json
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TOOLS = """\
# Tools

- [web_search](#web_search)

## web_search

See [read_more](#read_more) and [a guide](../guide/add.md#steps).

### Errors

## read_more

[Errors](tools.md#errors)

```sh
# [no link](nowhere.md)
```
"""
GUIDE = (
    "# Add\n\n## Steps\n\n`[code](nowhere.md)` and [a tool](../reference/tools.md#web_search), [code](../../LICENSE).\n"
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script over a checkout of three pages."""
    spec = importlib.util.spec_from_file_location("site_script", ROOT / "scripts" / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "site_script", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(module, "version", lambda: "1.2.3")
    files = {
        "docs/reference/tools.md": TOOLS,
        "docs/guide/add.md": GUIDE,
        "docs/index.md": "# Start\n\nWords. More.\n",
        "docs/language.md": "# L\n",
    }
    for name, text in {**files, "CHANGELOG.md": "# Changelog\n", "LICENSE": ""}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return module


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# A\n\n**Decided.**\nIt is kept: once.\nIt goes on.\n", "It is kept: once."),
        ("# A\n\n**Decision.** It is kept.\n", "It is kept."),
        ("# A\n\n**Decided.** It is one of these:\n\n- a\n", "It is one of these"),
        ("# A\n\nShort; " + "long " * 60 + "end.\n", "Short"),
        ("# A\n\n**All.** of it\n\n- a\n", "of it"),
        ("# A\n\n- a\n", ""),
    ],
)
def test_a_page_is_summed_up_by_its_first_sentence_of_meaning(site: ModuleType, text: str, says: str) -> None:
    assert site.Page(text, "a.md").summary == says


def test_a_long_page_becomes_a_page_for_each_thing(site: ModuleType) -> None:
    pages = site.read_pages()

    assert {"reference/tools.md", "reference/tools/web_search.md", "reference/tools/read_more.md"} <= pages.keys()
    assert "[web_search](tools/web_search.md)" in pages["reference/tools.md"].text
    assert pages["reference/tools/web_search.md"].text.startswith("# web_search\n")
    assert "## Errors" in pages["reference/tools/web_search.md"].text


def test_links_lead_to_where_things_are_in_the_site(site: ModuleType) -> None:
    pages = site.read_pages()

    assert (
        "[read_more](read_more.md) and [a guide](../../guide/add.md#steps)"
        in pages["reference/tools/web_search.md"].text
    )
    assert "[Errors](web_search.md#errors)" in pages["reference/tools/read_more.md"].text
    assert "[a tool](../reference/tools/web_search.md)" in pages["guide/add.md"].text
    assert "/blob/v1.2.3/LICENSE)" in pages["guide/add.md"].text
    assert "(nowhere.md)" in pages["guide/add.md"].text
    assert "(nowhere.md)" in pages["reference/tools/read_more.md"].text


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("gone.md", "docs/guide/add.md: gone.md leads to no file"),
        ("#gone", "docs/guide/add.md: #gone leads to no heading of guide/add.md"),
        ("../index.md#gone", "docs/guide/add.md: ../index.md#gone leads to no heading of index.md"),
    ],
)
def test_a_link_that_leads_nowhere_is_told(site: ModuleType, link: str, problem: str) -> None:
    (site.DOCS / "guide" / "add.md").write_text(f"# Add\n\n## Steps\n\n[x]({link})\n", encoding="utf-8")

    with pytest.raises(site.SiteError, match="^" + problem.replace(".", r"\.") + "$"):
        site.read_pages()


def test_the_index_for_models_has_every_page_with_what_it_says_and_costs(site: ModuleType) -> None:
    pages = site.read_pages()
    index = site.to_llms(pages, len)

    assert [name for name in pages if f"]({name})" not in index] == []
    assert f"- [Start](index.md): Words. ({len(pages['index.md'].text)})" in index
    assert "`[code](nowhere.md)`" in site.to_full(pages)


def test_versions_are_listed_from_the_newest(site: ModuleType, tmp_path: Path) -> None:
    for name in ("0.9.0", "0.10.0"):
        (tmp_path / "site" / name).mkdir(parents=True)
        (tmp_path / "site" / name / "llms.txt").write_text("", encoding="utf-8")
    site.write_versions(tmp_path / "site")

    rows = json.loads((tmp_path / "site" / "versions.json").read_text(encoding="utf-8"))
    assert [row["version"] for row in rows] == ["0.10.0", "0.9.0"]
    assert "0.10.0/index.html" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_what_is_wrong_with_a_page_is_told(site: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="a">A</h1><a href="#a">a</a><a href="#b">b</a><a href="b.html">c</a>'
        '<img src="https://example.org/x.png">',
        encoding="utf-8",
    )

    assert site.examine(tmp_path) == [
        "a.html: https://example.org/x.png would be loaded from elsewhere",
        "a.html: #b leads to no part of its page",
        "a.html: b.html leads to no page",
    ]


@pytest.fixture
def built(tmp_path: Path) -> Iterator[str]:
    """The address of the real site, as it was just built."""
    pytest.importorskip("zensical")
    spec = importlib.util.spec_from_file_location("site_script", ROOT / "scripts" / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["site_script"] = module
    spec.loader.exec_module(module)
    assert module.build(tmp_path) == []
    handler = functools.partial(Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/{module.version()}"
        server.shutdown()
        thread.join()
    shutil.rmtree(tmp_path / module.version())


MOST_CLICKS = 2
QUESTIONS = {
    "What is it?": (
        "index.html",
        "specloom",
        ("A server that an assistant searches with", "without a key", "make demo"),
    ),
    "Can I try it without a key?": (
        "reference/search-routes.html",
        "Who answers a search",
        ("with no key", "web_search"),
    ),
    "How do I put it into my editor?": (
        "guide/put-it-into-your-editor.html",
        "Put it into your editor or assistant",
        ("specloom install cursor", "specloom uninstall cursor", "Claude Desktop", "VS Code"),
    ),
    "How do I add my API?": (
        "guide/add-a-provider.html",
        "Add a provider",
        ("specloom new provider", "specloom check"),
    ),
    "What does it store about me, and how do I erase it?": (
        "guide/what-is-kept-of-you.html",
        "What it keeps of you, and how to erase it",
        ("~/.local/state/specloom", "specloom data erase", "no telemetry"),
    ),
}
"""What a newcomer asks first: the page that answers, its heading, and words of the answer."""


def read_article(folder: Path, name: str) -> tuple[list[str], str, set[str]]:
    """The headings of a page, its text on one line, and the pages to which its text leads; menus do not count."""
    html = pytest.importorskip("lxml.html")
    (article,) = html.parse(str(folder / name)).getroot().iter("article")
    for mark in article.xpath(".//a[@class='headerlink']"):
        mark.drop_tree()
    headings = [" ".join(one.text_content().split()) for one in article.xpath(".//h1|.//h2|.//h3")]
    targets = {str(one).partition("#")[0] for one in article.xpath(".//a/@href") if "://" not in one}
    near = {os.path.normpath(Path(name).parent / target) for target in targets if target.endswith(".html")}
    return headings, " ".join(article.text_content().split()), near


def count_clicks(folder: Path) -> dict[str, int]:
    """How many links away from the first page each page is, as far as a newcomer clicks."""
    clicks, newest = {"index.html": 0}, {"index.html"}
    for number in range(1, MOST_CLICKS + 1):
        newest = {target for name in newest for target in read_article(folder, name)[2]} - clicks.keys()
        clicks |= dict.fromkeys(newest, number)
    return clicks


@pytest.mark.process
def test_what_a_newcomer_asks_first_is_answered_within_two_clicks(built: str, tmp_path: Path) -> None:
    folder = tmp_path / built.rpartition("/")[2]
    clicks = count_clicks(folder)

    assert clicks.keys() >= {page for page, _, _ in QUESTIONS.values()}
    for question, (page, heading, words) in QUESTIONS.items():
        headings, text, _ = read_article(folder, page)
        assert headings[0].startswith(heading), question
        assert [one for one in words if one not in text] == [], question


def test_the_first_page_asks_what_a_newcomer_does() -> None:
    text = (ROOT / "docs/index.md").read_text(encoding="utf-8")

    asked = re.findall(r"^\*\*(.+\?)\*\*", text, re.MULTILINE)

    assert asked == [
        "What is it?",
        "Can I try it?",
        "How do I put it into my editor?",
        "How do I add my API?",
        "What does it store about me?",
    ]


def test_the_guide_to_hosts_has_each_that_the_command_writes() -> None:
    text = (ROOT / "docs/guide/put-it-into-your-editor.md").read_text(encoding="utf-8")
    hosts = yaml.safe_load((ROOT / "engine/specloom/cli/hosts.yaml").read_text(encoding="utf-8"))

    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ") and "`" in line]
    said = {row[2].strip(" `"): (row[1].strip(), row[4].strip(" `")) for row in rows}

    assert said == {name: (host["title"], host.get("project", "")) for name, host in hosts.items()}
    assert len(hosts) >= 10


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@pytest.mark.process
async def test_the_site_is_built_without_a_warning_and_searched_in_a_browser(built: str) -> None:
    playwright = pytest.importorskip("playwright.async_api")
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    if browser_path is None:
        pytest.skip("no browser")
    asked: list[str] = []
    async with playwright.async_playwright() as started:
        browser = await started.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = await browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(f"{built}/index.html", wait_until="networkidle")
        await page.get_by_role("button", name="Search").first.click()
        await page.get_by_placeholder("Search").first.fill("evidence_panel")
        result = page.locator("a[href*='evidence_panel.html']").first
        await result.wait_for(state="visible", timeout=120_000)
        twin = await page.goto(f"{built}/reference/tools/evidence_panel.md")
        assert twin.status == 200
        await browser.close()

    assert [url for url in asked if not url.startswith(built.rpartition("/")[0])] == []
