"""Every way of hiding text in a page that is known, each with a twin that is seen and has to stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from specloom.domains.scrape.html.parse import parse
from specloom.domains.scrape.html.sanitise import sanitise
from specloom.domains.scrape.markdown.render import render

WAYS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("hidden_text.yaml").read_text(encoding="utf-8"))
WORDS = "The pump is under the stairs."


def to_page(way: dict[str, Any], kind: str, words: str) -> str:
    """The page of one way, or of its twin, with these words."""
    head = f"<style>body{{font:16px monospace;background:#fff;color:#000}}{way.get('head', '')}</style>"
    body = way[kind].replace("TEXT", words)
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}<p>A paragraph that is seen.</p></body></html>"


def read(page: str) -> str:
    root = parse(page)
    sanitise(root)
    return render([root])


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way["name"])
def test_what_is_hidden_goes(way: dict[str, Any]) -> None:
    text = read(to_page(way, "hidden", WORDS))

    assert WORDS not in text
    assert "A paragraph that is seen." in text


@pytest.mark.parametrize("way", [way for way in WAYS if "left_out" not in way], ids=lambda way: way["name"])
def test_its_twin_stays(way: dict[str, Any]) -> None:
    assert WORDS in read(to_page(way, "shown", WORDS))
