"""Providers while they are written: rows and verdicts follow the text, and it is saved into one's own layer alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.authoring.preview import ExampleChoice, preview_provider
from specloom.compiler.build import weave_from
from specloom.core.faults import Fault
from specloom.core.paths import shipped_folder
from specloom.domains.scrape.browser.browser import find_browser
from specloom.ui.provider_files import list_provider_files, read_provider_file, save_provider_file
from tests.support.browser import needs_browser
from tests.support.demo_specs import PROVIDER, TEXTS, demo_executor, edit, write_demo
from tests.support.local_page import CHECKS, HOSTILE, LocalPage, Window, local_page
from tests.support.loopback import Call, Loopback
from tests.support.shipped import shipped_model

TEXT = TEXTS[PROVIDER]
KEY = "s3cr3t-demo-key"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return weave_from([write_demo(tmp_path_factory.mktemp("specs"))])[0]


def preview(model: Any, text: str = TEXT, **choice: Any) -> dict[str, Any]:
    told = preview_provider("demo.yaml", text, model, ExampleChoice(**choice)).to_json()
    assert json.dumps(told)
    return told


def test_an_example_is_run_and_its_rows_are_told(model: Any) -> None:
    told = preview(model)

    assert told["diagnostics"] == []
    assert told["rows"] == [{"title": "A", "url": "https://example.org/a", "rank": 1}]
    assert told["fields"] == {"title": 1, "url": 1, "rank": 1}
    assert told["sent"][0]["url"] == "https://demo.example.org/search"
    assert len(told["examples"]) == 5
    assert json.loads(told["examples"][0]["replies"][0]["body"])["results"][0]["title"] == "A"


def test_a_changed_map_gives_other_rows_and_says_which_example_no_longer_holds(model: Any) -> None:
    changed = edit(TEXT, "            title: title\n", "            title: rank\n")

    told = preview(model, changed)

    assert told["rows"][0]["title"] == "1"
    assert told["diagnostics"][0]["code"] == "E401"
    assert changed.splitlines()[told["diagnostics"][0]["line"] - 1].strip().startswith("rows:")


def test_a_reply_of_ones_own_is_mapped_and_held_against_nothing(model: Any) -> None:
    body = json.dumps({"results": [{"title": "Mine", "link": "https://example.org/m"}] * 3})

    told = preview(model, step="main", body=body)

    assert [row["title"] for row in told["rows"]] == ["Mine"] * 3
    assert told["fields"] == {"title": 3, "url": 3, "rank": 0}
    assert told["diagnostics"] == []
    assert preview(model, number=4, step="main", body="no JSON at all")["fault"]["kind"] == "layout_changed"
    assert preview(model, number=99)["fault"]["kind"] == "layout_changed"
    assert preview(model, number=-1, step="other", body="{}")["count"] == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "E"),
        ("spec: provider/1\nname: demo\n  x: [", "E"),
        (TEXTS["lenses/demo_field.yaml"], "E"),
        (edit(TEXT, "rank: rank\n", "rank: rnk(\n"), "E"),
        (
            edit(
                TEXT,
                "operation: demo_pages\n    args: {query: otters, num_results",
                "operation: other\n    args: {query: o, num_results",
            ),
            "E402",
        ),
        ("\ud800", "E"),
    ],
)
def test_a_text_with_errors_has_a_verdict_with_places(model: Any, text: str, code: str) -> None:
    told = preview(model, text)

    assert told["diagnostics"]
    assert all(one["code"].startswith("E") and one["line"] >= 1 for one in told["diagnostics"][:1])
    assert any(one["code"].startswith(code) for one in told["diagnostics"])


def test_shipped_providers_are_previewed_as_they_are_checked() -> None:
    for name in sorted(shipped_model().providers)[:5]:
        text = (Path(shipped_folder()) / "providers.d" / f"{name}.yaml").read_text("utf-8")
        told = preview_provider(f"providers.d/{name}.yaml", text, shipped_model(), ExampleChoice()).to_json()

        assert told["diagnostics"] == []
        assert told["sent"]


# --- Files, and saving ----------------------------------------------------------------------------------------------


@pytest.fixture
def upstream() -> Iterator[Loopback]:
    def answer(_: Call) -> tuple[int, dict[str, str], str]:
        results = [{"title": "Found", "link": "https://example.org/a", "headline": "<b>Otherwise</b>", "key": KEY}]
        return 200, {"Content-Type": "application/json"}, json.dumps({"results": results})

    with Loopback(answer) as server:
        yield server


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    return write_demo(tmp_path / "specs")


@pytest.fixture
def page(specs: Path, upstream: Loopback) -> Iterator[LocalPage]:
    with local_page(
        lambda sender: demo_executor(specs, upstream.url, sender=sender),
        {"SPECLOOM_PATH": str(specs), "DEMO_URL": upstream.url, "DEMO_KEY": KEY},
    ) as opened:
        yield opened


TITLE = ("            title: title\n", "            title: headline\n")
REPLY = ("{title: A, link:", "{headline: A, link:")


def test_a_saved_provider_answers_the_next_call(page: LocalPage, specs: Path) -> None:
    call = {"tool": "demo_find", "arguments": {"query": "otters"}}
    before = page.ask("call", call).json["answer"]["pages"][0]["title"]
    file = page.ask("provider", {"name": "demo"}).json
    text = edit(edit(file["text"], *TITLE), *REPLY)

    saved = page.ask("save", {"name": "demo", "text": text, "digest": file["digest"]}).json
    after = page.ask("call", call).json["answer"]["pages"][0]["title"]

    assert saved["saved"] == file["target"] == str(specs / PROVIDER)
    assert (specs / PROVIDER).read_text(encoding="utf-8") == text
    assert (before, after) == ("Found", "<b>Otherwise</b>")


def test_a_text_with_errors_is_not_saved(page: LocalPage, specs: Path) -> None:
    file = page.ask("provider", {"name": "demo"}).json

    told = page.ask("save", {"name": "demo", "text": edit(file["text"], *TITLE), "digest": file["digest"]}).json

    assert told["fault"]["kind"] == "validation"
    assert "errors, the first in line" in told["fault"]["message"]
    assert (specs / PROVIDER).read_text(encoding="utf-8") == TEXT


def test_a_file_that_was_changed_meanwhile_is_not_overwritten(page: LocalPage, specs: Path) -> None:
    file = page.ask("provider", {"name": "demo"}).json
    (specs / PROVIDER).write_text(TEXT + "# mine\n", encoding="utf-8")

    told = page.ask("save", {"name": "demo", "text": TEXT, "digest": file["digest"]}).json

    assert "changed meanwhile" in told["fault"]["message"]
    assert (specs / PROVIDER).read_text(encoding="utf-8").endswith("# mine\n")


def test_what_is_shipped_is_saved_beside_and_never_over_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped, own = write_demo(tmp_path / "shipped"), tmp_path / "own"
    monkeypatch.setattr("specloom.core.paths.shipped_folder", lambda: str(shipped))
    environ = {"SPECLOOM_PATH": str(own)}
    file = read_provider_file(environ, "demo")

    path = save_provider_file(environ, "demo", TEXT + "# mine\n", file.digest)

    assert path == own / PROVIDER
    assert file.target == str(path)
    assert (shipped / PROVIDER).read_text(encoding="utf-8") == TEXT
    assert list_provider_files(environ)["demo"] == (path, True)
    assert read_provider_file(environ, "demo").text == TEXT + "# mine\n"


def test_a_provider_of_ones_own_project_is_saved_over_its_own_file(tmp_path: Path) -> None:
    project, other = write_demo(tmp_path / "project"), tmp_path / "own"
    environ = {"SPECLOOM_PROJECT": str(project), "SPECLOOM_PATH": str(other)}
    file = read_provider_file(environ, "demo")

    path = save_provider_file(environ, "demo", TEXT + "# mine\n", file.digest)

    assert path == project / PROVIDER
    assert file.target == str(path)
    assert path.read_text(encoding="utf-8") == TEXT + "# mine\n"
    assert not other.exists()


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "", "capabilities/demo_pages", "demo_pages"])
def test_no_other_file_is_read_or_written(page: LocalPage, name: str) -> None:
    assert page.ask("provider", {"name": name}).json["fault"]["kind"] == "config"
    assert page.ask("save", {"name": name, "text": TEXT, "digest": ""}).json["fault"]["kind"] == "config"


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_that_leads_out_of_the_own_layer_is_not_written_through(tmp_path: Path) -> None:
    elsewhere, own = write_demo(tmp_path / "elsewhere"), tmp_path / "own"
    (own / "providers.d").mkdir(parents=True)
    (own / PROVIDER).symlink_to(elsewhere / PROVIDER)

    with pytest.raises(Fault, match="leads out of your own layer"):
        read_provider_file({"SPECLOOM_PATH": str(own)}, "demo")


def test_an_operation_is_tried_live_as_the_text_says_it(page: LocalPage, upstream: Loopback) -> None:
    text = edit(TEXT, "get: /search\n", "get: /find\n")
    given = {"name": "demo", "text": text, "example": 0, "arguments": {"query": "minks"}}

    told = page.ask("try", given).json

    assert [(call.path, call.query[0]) for call in upstream.calls] == [("/find", ("q", "minks"))]
    assert upstream.calls[0].headers["x-key"] == KEY
    assert json.loads(told["bodies"][0]["body"])["results"][0]["title"] == "Found"
    assert told["exchanges"][0]["response"]["status"] == 200
    assert "operation: demo_pages" in told["yaml"]
    assert KEY not in json.dumps(told)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": "spec: ["}, "mend the file first"),
        ({"example": 99}, "mend the file first"),
        ({"arguments": []}, "an object of JSON"),
        ({"arguments": {"qery": "x"}}, "takes no argument 'qery'"),
        (
            {"text": edit(TEXT, "config:\n", "config:\n  DEMO_MORE: {required: true, description: More.}\n")},
            "DEMO_MORE",
        ),
    ],
)
def test_what_cannot_be_tried_is_said_and_nothing_is_sent(
    page: LocalPage, upstream: Loopback, change: dict[str, Any], message: str
) -> None:
    given = {"name": "demo", "text": TEXT, "example": 0, "arguments": {"query": "minks"}} | change

    assert message in page.ask("try", given).json["fault"]["message"]
    assert upstream.calls == []


# --- In a browser -----------------------------------------------------------------------------------------------------


@pytest.fixture
def window(page: LocalPage) -> Iterator[Window]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser("").path or None, args=["--no-sandbox"])
        opened = Window(browser, page)
        opened.tab.click("nav a:text-is('Providers')")
        opened.tab.select_option("#provider", "demo")
        opened.tab.wait_for_selector("#rows td")
        yield opened
        browser.close()


@pytest.mark.process
@needs_browser
def test_rows_and_verdicts_follow_what_is_typed(window: Window, specs: Path, upstream: Loopback) -> None:
    tab = window.tab
    tab.fill("#editor", edit(TEXT, *TITLE))
    tab.wait_for_selector("#verdict:has-text('E401')")
    assert tab.get_attribute("button:text-is('Save')", "aria-disabled") == "true"
    tab.click("#verdict button")
    line = tab.evaluate(
        "(() => { const one = document.getElementById('editor');"
        " return one.value.slice(0, one.selectionStart).split('\\n').length; })()"
    )
    assert f"line {line}:" in tab.inner_text("#verdict button >> nth=0")
    tab.fill("#body", json.dumps({"results": [{"headline": HOSTILE, "link": "https://example.org/n"}] * 2}))
    tab.wait_for_selector("#rows h2:text-is('2 rows')")
    assert tab.locator("#rows td").nth(1).text_content() == HOSTILE
    tab.fill("#editor", edit(edit(TEXT, *TITLE), *REPLY))
    tab.wait_for_selector("#verdict h2:has-text('0 errors')")
    tab.wait_for_selector("button:text-is('Save'):not([aria-disabled=true])")
    tab.click("button:text-is('Save')")
    tab.wait_for_selector("#status:has-text('saved')")
    tab.fill("#editor", "spec: [")
    tab.wait_for_selector("#rows:has-text('does not compile')")

    assert (specs / PROVIDER).read_text(encoding="utf-8") == edit(edit(TEXT, *TITLE), *REPLY)
    assert tab.title() == "specloom"
    assert upstream.calls == []
    assert window.console == []


@pytest.mark.process
@needs_browser
def test_a_live_reply_takes_the_place_of_the_stated_one(window: Window, upstream: Loopback) -> None:
    tab = window.tab
    tab.click("summary:has-text('Try it live')")
    tab.fill("#arguments", '{"query": "minks"}')
    tab.click("button:text-is('Ask the upstream once')")
    tab.wait_for_selector("#rows td:text-is('Found')")

    assert '"Found"' in tab.input_value("#body")
    assert ("q", "minks") in upstream.calls[0].query
    assert len(upstream.calls) == 1
    tab.click("button:text-is('As stated')")
    tab.wait_for_selector("#rows td:text-is('A')")
    assert KEY not in tab.content()
    assert window.console == []


@pytest.mark.process
@needs_browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 380)])
def test_the_desk_of_an_author_can_be_read(window: Window, scheme: str, width: int) -> None:
    window.tab.emulate_media(color_scheme=scheme)
    window.tab.set_viewport_size({"width": width, "height": 900})
    window.tab.fill("#editor", edit(TEXT, *TITLE))
    window.tab.wait_for_selector("#verdict:has-text('E401')")
    window.tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")

    assert window.tab.evaluate(CHECKS) == []
