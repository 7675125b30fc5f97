"""What the page of a package shows: a README whose links lead somewhere, and the addresses of the project."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HOME = "https://github.com/specloom/specloom"

hatchling = pytest.importorskip("hatchling")


def make_links_whole(text: str, tag: str) -> str:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    whole: str = module.make_links_whole(text, tag)
    return whole


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("[a](docs/a.md)", f"[a]({HOME}/blob/v1/docs/a.md)"),
        ("[a](docs/a.md#part)", f"[a]({HOME}/blob/v1/docs/a.md#part)"),
        ("[a](deploy/)", f"[a]({HOME}/tree/v1/deploy/)"),
        ("![a](docs/a.webp)", f"![a]({HOME}/blob/v1/docs/a.webp?raw=true)"),
        ("[a](#part) [b](https://x.example/a)", "[a](#part) [b](https://x.example/a)"),
    ],
)
def test_a_link_to_the_checkout_leads_to_the_release(text: str, whole: str) -> None:
    assert make_links_whole(text, "v1") == whole


def test_no_link_of_the_readme_is_left_relative_and_each_file_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    whole = make_links_whole(text, "v1")

    links = re.findall(r"\]\(([^)\s]+)\)", whole)
    files = [
        link.partition("/v1/")[2].partition("#")[0].partition("?")[0] for link in links if link.startswith(f"{HOME}/")
    ]

    assert [link for link in links if not link.startswith(("https://", "http://", "#"))] == []
    assert files
    assert [file for file in files if not (ROOT / file).exists()] == []
    assert "<!-- mcp-name: io.github.specloom/specloom -->" in whole.splitlines()


def test_the_project_says_where_it_lives() -> None:
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= PROJECT["urls"].keys()
    assert PROJECT["authors"]
    assert PROJECT["dynamic"] == ["readme"]
