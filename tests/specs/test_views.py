"""Templates of views: what a file has to be, and where it is told what is wrong with it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from specloom.core import VIEW_SCRIPTS, Report, ViewTemplate
from specloom.specs import shipped_root, view_files
from specloom.specs.views import read_view
from tests.support.viewed import kept_answers

HEAD = """\
title: Tiles
description: A tile
  for each.
slots:
  title: {type: text, required: true, description: What they are about.}
  tiles: {type: rows, description: The tiles., fields: {label: {type: text, required: true, description: A word.}}}
"""
BODY = "<style>\np { color: red; }\n</style>\n<script>\nspecloom.view(() => []);\n</script>\n"
SHARED = shipped_root() / "templates/views/shared"


def read(head: str = HEAD, body: str = BODY, name: str = "tiles") -> tuple[ViewTemplate | None, list[str]]:
    report = Report()
    found = read_view(name, f"{name}.html", f"---\n{head}---\n{body}".encode(), report)
    return found, [f"{one.code} {one.place.line}: {one.message}" for one in report]


def test_a_template_has_slots_styles_and_a_script() -> None:
    view, problems = read()

    assert problems == []
    assert view is not None
    assert (view.title, view.description) == ("Tiles", "A tile for each.")
    assert [(slot.name, slot.type, slot.required) for slot in view.slots] == [
        ("title", "text", True),
        ("tiles", "rows", False),
    ]
    assert view.slots[1].fields[0].name == "label"
    assert (view.style, view.script) == ("p { color: red; }\n", "specloom.view(() => []);\n")


@pytest.mark.parametrize(
    ("head", "body", "problem"),
    [
        (HEAD.replace("type: text", "type: words"), BODY, "E104 6: `type` cannot be 'words'"),
        (HEAD + "scripts: [d4]\n", BODY, "E110 8: no script is called 'd4'"),
        (HEAD.replace(", fields: {label: {type: text, required: true, description: A word.}}", ""), BODY, "E105 7"),
        (HEAD.replace("type: rows", "type: texts"), BODY, "E105 7"),
        (HEAD, "<p>Hello</p>" + BODY, "E104 9: below its slots"),
        (HEAD, BODY.replace("<script>", '<script src="https://example.org/x.js">'), "E104 9: below its slots"),
        (HEAD, BODY + BODY, "E104 9: below its slots"),
        (HEAD, BODY.replace("[]", "eval('1')"), "E141 13: a view may not use 'eval'"),
        (HEAD, BODY.replace("[]", "fetch('/')"), "E141 13: a view may not use 'fetch'"),
        (HEAD, BODY.replace("red", "url(https://example.org/x.png)"), "E141 10: a view may not use 'url('"),
    ],
)
def test_what_is_wrong_is_told_at_its_line(head: str, body: str, problem: str) -> None:
    view, problems = read(head, body)

    assert view is None
    assert problems[0].startswith(problem)


def test_a_file_without_slots_and_one_with_an_odd_name_are_told() -> None:
    report = Report()
    assert read_view("tiles", "tiles.html", BODY.encode(), report) is None
    assert [one.code for one in report] == ["E007"]
    assert read(name="Tiles!")[1] == ["E104 1: a view cannot be called 'Tiles!'"]


def test_the_template_that_the_page_about_the_language_shows_is_one() -> None:
    text = (shipped_root() / "docs/language.md").read_text(encoding="utf-8")
    shown = text.partition("```html\n")[2].partition("```")[0]
    report = Report()

    assert read_view("tiles", "tiles.html", shown.encode(), report) is not None
    assert list(report) == []


def test_shipped_templates_are_read_and_small() -> None:
    for path in view_files(shipped_root()):
        report = Report()
        view = read_view(path.stem, path.name, path.read_bytes(), report)

        assert list(report) == []
        assert view is not None
        assert len(path.read_bytes()) <= 16_000


def test_scripts_of_others_are_those_that_are_pinned() -> None:
    folder = SHARED / "vendor"
    pinned = json.loads((folder / "vendor.json").read_text(encoding="utf-8"))
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    del found["vendor.json"]

    assert found == pinned["files"]
    assert {name.removesuffix(".js") for name in found if name.endswith(".js")} == set(VIEW_SCRIPTS)
    packages = {name.rpartition("@")[0] for name in pinned["packages"]}
    assert {name.removeprefix("LICENSE-").removesuffix(".txt") for name in found if name.endswith(".txt")} == packages


@pytest.mark.parametrize("name", VIEW_SCRIPTS)
def test_the_terms_of_others_stand_in_every_script_of_theirs(name: str) -> None:
    text = (SHARED / "vendor" / f"{name}.js").read_text(encoding="utf-8")

    assert text.startswith("/*\n")
    assert "Permission to use, copy, modify" in text.partition("*/")[0]
    assert "</script" not in text.lower()
    assert "<!--" not in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_kept_answer_has_a_small_picture(scheme: str) -> None:
    folder = shipped_root() / "docs/pictures"
    pictures = {path.name: path.read_bytes() for path in folder.glob(f"view-*-{scheme}.webp")}

    assert {name.removeprefix("view-").removesuffix(f"-{scheme}.webp") for name in pictures} == set(kept_answers())
    for data in pictures.values():
        assert data[:4] + data[8:12] == b"RIFFWEBP"
        assert len(data) <= 60_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_local_page_has_a_small_picture_that_its_guide_shows(scheme: str) -> None:
    data = (shipped_root() / f"docs/pictures/local-page-{scheme}.webp").read_bytes()
    guide = (shipped_root() / "docs/guide/local-page.md").read_text(encoding="utf-8")

    assert data[:4] + data[8:12] == b"RIFFWEBP"
    assert len(data) <= 60_000
    assert "](../pictures/local-page-light.webp)" in guide


def test_the_palette_of_reports_is_that_of_views() -> None:
    report = (shipped_root() / "templates/research/audit.html.j2").read_text(encoding="utf-8")

    assert '{% include "palette.css" %}' in report
    assert ":root {" not in report


def test_what_views_share_makes_no_markup_of_texts() -> None:
    text = Path(SHARED / "view.js").read_text(encoding="utf-8")

    for word in ("innerHTML", "outerHTML", "insertAdjacent", "eval", "Function(", "fetch", "XMLHttp", "localStorage"):
        assert word not in text
