"""What a client is told of the tools of one folder, by what is served of it."""

from __future__ import annotations

import re

from specloom.core import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from specloom.core import Place

    from .heads import ToolHead
    from .tool import Tool

NAMED_TOOL = re.compile(r"\{([^\s{}]*)\}")
"""A tool that a paragraph names."""


@dataclass(frozen=True, slots=True)
class Toolset:
    """What a client is told at the start about the tools of one folder; `{tool}` in a paragraph names one of them.

    `prompts` are listed only where one of these tools is served.
    """

    name: str
    instructions: tuple[str, ...]
    place: Place
    prompts: tuple[str, ...] = ()
    shared_by: str = ""
    """The variable by which an operator says that all tenants share what its tools keep; empty where it has owners."""


def instructions_for(
    toolsets: Iterable[Toolset], tools: Mapping[str, Tool | ToolHead], served: Collection[str]
) -> list[str]:
    """The paragraphs for a client that is served these tools, toolset after toolset.

    A toolset speaks where one of its tools is served, and a paragraph where every tool that it names is.
    """
    return [
        NAMED_TOOL.sub(r"\1", paragraph)
        for toolset in toolsets
        if _is_served(toolset, tools, served)
        for paragraph in toolset.instructions
        if all(name in served for name in NAMED_TOOL.findall(paragraph))
    ]


def served_prompts(
    toolsets: Iterable[Toolset], tools: Mapping[str, Tool | ToolHead], served: Collection[str], prompts: Iterable[str]
) -> list[str]:
    """Those of the prompts that a client is shown who is served these tools, in their order.

    A prompt belongs to every toolset that names it; one that none names is shown to everybody.
    """
    homes: dict[str, bool] = {}
    for toolset in toolsets:
        is_served = _is_served(toolset, tools, served)
        for name in toolset.prompts:
            homes[name] = homes.get(name, False) or is_served
    return [name for name in prompts if homes.get(name, True)]


def _is_served(toolset: Toolset, tools: Mapping[str, Tool | ToolHead], served: Collection[str]) -> bool:
    return any(toolset.name in tools[name].toolsets for name in served)
