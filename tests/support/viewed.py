"""A tool with a view in a library of its own, and the answers that are kept to look at the shipped views with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specloom.model import Model
from specloom.runtime import fill_view, parse_arguments, view_document
from tests.support.demo_specs import TOOL, write_demo

ANSWERS = Path(__file__).parent / "view_answers"
DECLARED = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
"""The capabilities of a client that shows views."""
TILES = """\
---
title: Tiles
description: A tile for each thing.
slots:
  title: {type: text, required: true, description: What the tiles are about.}
  count: {type: number, description: How many there are.}
  words: {type: texts, description: Words.}
  tiles:
    type: rows
    required: true
    description: The tiles.
    fields:
      label: {type: text, required: true, description: What stands on it.}
      url: {type: url, description: Where it leads.}
      weight: {type: number, description: How large it is.}
---
<script>
specloom.view((slots, ui) => slots.tiles.map((one) => ui.el("p", { class: "tile" }, ui.link(one.url, one.label))));
</script>
"""
VIEW = """\
view:
  template: tiles
  slots:
    title: =args.query
    count: =answer.count
    tiles: {each: answer.pages, map: {label: title, url: url, weight: rank}}
"""


def write_viewed(root: Path, view: str = VIEW, template: str = TILES) -> Path:
    """The demo specs under a root, with a view; the root."""
    write_demo(root, {TOOL: [("record: {session", f"{view}record: {{session")]})
    place = root / "templates/views/tiles.html"
    place.parent.mkdir(parents=True)
    place.write_text(template, encoding="utf-8")
    return root


def kept_answers() -> dict[str, dict[str, Any]]:
    """The kept answers by their names: each a tool, the arguments of its call, and what it answered."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(ANSWERS.glob("*.json"))}


def draw(model: Model, kept: Mapping[str, Any]) -> str:
    """The document of a kept answer that stands alone."""
    tool = model.tools[kept["tool"]]
    assert tool.view is not None
    filled = fill_view(tool, model, parse_arguments(tool, kept["arguments"]), kept["answer"])
    return view_document(model.views[tool.view.template], filled)
