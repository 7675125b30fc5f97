"""The start of a toolset: what a client is told about the tools of a folder."""

from __future__ import annotations

from .model import Model
from .record import to_yaml
from .scaffold import ScaffoldError, check_name


def draft_toolset(model: Model, name: str) -> str:
    """The text of a toolset with a paragraph for each of its tools, which have to be there."""
    check_name("toolset", name, model.toolsets)
    tools = [tool for tool in model.tools.values() if name in tool.toolsets]
    if not tools:
        start = f"specloom new tool NAME --toolset {name}"
        raise ScaffoldError(f"no tool is in the toolset {name!r} yet; start one first: {start}")
    paragraphs = [f"Call {{{tool.name}}} for: {tool.title.rstrip('.')}." for tool in tools]
    lines = [
        "# yaml-language-server: $schema=../schema/toolset.json",
        "spec: toolset/1",
        f"name: {name}",
        "# decide: what a client should know before it calls: which tool comes first, and what goes with what.",
        "# A paragraph that names a tool is left out where that tool is not served.",
        to_yaml({"instructions": paragraphs}).rstrip(),
    ]
    return "\n".join(lines) + "\n"
