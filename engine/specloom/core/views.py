"""Templates of views: what a client shows of an answer beside its text, and the slots that a tool fills. Only data."""

from __future__ import annotations

from .dataclasses import dataclass

VIEW_EXTENSION = "io.modelcontextprotocol/ui"
"""The extension of the protocol (MCP Apps) by which a client says that it shows views."""
VIEW_MIME = "text/html;profile=mcp-app"
VIEW_ADDRESS = "ui://specloom/"
"""The beginning of the addresses under which clients read the documents of views."""
VIEW_META = "specloom/view"
"""The key of a result's `_meta` that has what fills the slots."""
VIEW_SCRIPTS = ("d3-force", "d3-geo", "land")
"""The scripts that come with the package and that a template may name: they give `d3`, or `land`, a geometry."""
SLOT_TYPES = ("text", "url", "number", "flag", "texts", "rows")
"""What a slot can hold. A `url` is http or https, `texts` is a list of texts, `rows` a list of objects with fields."""


def shows_views(capabilities: object) -> bool:
    """Whether a client with these capabilities shows views: it names the extension and their type of content."""
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    said = extensions.get(VIEW_EXTENSION) if isinstance(extensions, dict) else None
    types = said.get("mimeTypes") if isinstance(said, dict) else None
    return isinstance(types, list) and VIEW_MIME in types


@dataclass(frozen=True, slots=True)
class ViewSlot:
    """One thing that a template shows: of which type, and whether it can do without; `rows` have fields."""

    name: str
    type: str
    description: str
    required: bool = False
    fields: tuple[ViewSlot, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewTemplate:
    """One template: what is said of it, its slots, the shipped scripts that it needs, and its own styles and script."""

    name: str
    title: str
    description: str
    file: str
    slots: tuple[ViewSlot, ...]
    scripts: tuple[str, ...]
    style: str
    script: str
