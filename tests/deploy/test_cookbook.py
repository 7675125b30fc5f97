"""The cookbook: its pages are what its recipes give today, and a recipe that no longer holds is told."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from scripts import cookbook
from tests.support.shipped import shipped_model

INVENTED = re.compile(r"https?://[^\s\"'<>,)}]+")
KNOWN = {"doi.org", "openalex.org", "patents.google.com", "www.courtlistener.com"}
"""Hosts that answers name beside those of nobody."""


def cook(recipe: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    return asyncio.run(cookbook.cook(recipe, shipped_model(), []))


def recipe(**changes: Any) -> dict[str, Any]:
    """The smallest recipe, changed."""
    step = {"tool": "legal_search", "args": {"query": "dams"}, "show": "resultCount"}
    replies = {"courtlistener.com/api": {"json": {"count": 1, "results": [ROW]}}}
    return {"replies": replies, "calls": [step], **changes}


ROW = {"absolute_url": "/opinion/1/a/", "caseName": "A v. B", "citation": ["1 P.3d 1"], "dateFiled": "2020-01-01"}


def test_every_page_is_what_its_recipe_gives() -> None:
    assert cookbook.main(["--check"]) == 0


def test_there_are_ten_recipes_that_are_listed_and_explained() -> None:
    index = (cookbook.PAGES / "README.md").read_text(encoding="utf-8")

    pages = [path for path in cookbook.PAGES.glob("*.md") if path.name != "README.md"]

    assert len(pages) >= 10
    assert [path.name for path in pages if f"]({path.name})" not in index] == []
    assert [path.name for path in pages if "**What to read in it.**" not in path.read_text(encoding="utf-8")] == []


def test_pages_name_no_host_that_might_be_somebodys() -> None:
    strange = {
        host
        for path in cookbook.PAGES.glob("*.md")
        for address in INVENTED.findall(path.read_text(encoding="utf-8"))
        if not (host := urlsplit(address).hostname or "").endswith((".example.org", ".example.net"))
        and host not in KNOWN
    }

    assert strange == set()


def test_an_answer_is_shown_by_what_is_picked_of_it() -> None:
    assert cook(recipe()) == [({"query": "dams"}, "```json\n1\n```")]


def test_what_an_earlier_call_gave_is_handed_on_and_shown_by_its_name() -> None:
    first = {
        "tool": "legal_search",
        "args": {"query": "dams"},
        "keep": {"case": "cases[0].caseName"},
        "show": "cases[0].caseName",
    }
    second = {"tool": "legal_search", "args": {"query": "$case"}, "show": "query"}

    cooked = cook(recipe(calls=[first, second]))

    assert cooked == [({"query": "dams"}, "```text\n<case>\n```"), ({"query": "<case>"}, "```text\n<case>\n```")]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"calls": [{"tool": "legal_search", "args": {"query": "dams"}, "show": "{a: cases[0].nothing}"}]},
            "is not there",
        ),
        ({"replies": {**recipe()["replies"], "example.org/never": {"json": {}}}}, "nobody asks for example.org/never"),
    ],
)
def test_a_recipe_that_no_longer_holds_is_told(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(cookbook.CookbookError, match=re.escape(says)):
        cook(recipe(**changes))


def test_a_page_that_was_edited_by_hand_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recipes, pages = tmp_path / "recipes", tmp_path / "pages"
    recipes.mkdir()
    whole = {**recipe(), "place": 1, "title": "T", "why": "W.", "read": "R."}
    whole["calls"][0]["says"] = "S."
    (recipes / "a.yaml").write_text(yaml.safe_dump(whole), encoding="utf-8")
    for name, value in {"ROOT": tmp_path, "RECIPES": recipes, "PAGES": pages}.items():
        monkeypatch.setattr(cookbook, name, value)
    assert cookbook.main([]) == 0
    assert cookbook.main(["--check"]) == 0
    (pages / "a.md").write_text("edited\n", encoding="utf-8")
    (pages / "old.md").write_text("left\n", encoding="utf-8")

    code = cookbook.main(["--check"])

    assert code == 1
    assert "pages/old.md, pages/a.md" in capsys.readouterr().err
