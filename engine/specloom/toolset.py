"""Compiles toolset files: what a client is told at the start about the tools of a folder, and their prompts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from .diagnostics import Report, did_you_mean
from .load_tree import Listing, Scalar
from .model import Toolset
from .model_tools import Tool
from .names import Spec

_NAMED = re.compile(r"\{([^\s{}]*)\}")


def compile_toolset(
    spec: Spec, tools: Mapping[str, Tool], written: Collection[str], prompts: Collection[str], report: Report
) -> Toolset:
    """A toolset, after a report of every name in it that no tool or none of the `prompts` has.

    `written` are the names of all tools, since one that does not compile has its own report.
    """
    own = [tool.name for tool in tools.values() if spec.name in tool.toolsets]
    is_whole = len(tools) == len(written) and not report.left_out
    if not own and is_whole:
        known = {name for tool in tools.values() for name in tool.toolsets}
        hint = did_you_mean(spec.name, known)
        report.add("E202", spec.place, f"no tool is in the toolset {spec.name!r}", hint)
    node = spec.root.get("instructions")
    paragraphs = []
    for item in node.items if isinstance(node, Listing) else ():
        assert isinstance(item, Scalar)
        paragraphs.append(" ".join(str(item.value).split()))
        for name in _NAMED.findall(paragraphs[-1]):
            if own and name not in own and name not in report.left_out and (name in tools or name not in written):
                hint = did_you_mean(name, own)
                report.add("E202", item.place, f"there is no tool {name!r} in the toolset {spec.name!r}", hint)
    listed = spec.root.get("prompts")
    offered = []
    for item in listed.items if isinstance(listed, Listing) else ():
        assert isinstance(item, Scalar)
        offered.append(str(item.value))
        if offered[-1] not in prompts:
            report.add("E202", item.place, f"there is no prompt {item.value!r}", did_you_mean(offered[-1], prompts))
    return Toolset(spec.name, tuple(paragraphs), spec.place, tuple(offered))


def instructions_for(toolsets: Iterable[Toolset], tools: Mapping[str, Tool], served: Collection[str]) -> list[str]:
    """The paragraphs for a client that is served these tools, toolset after toolset.

    A toolset speaks where one of its tools is served, and a paragraph where every tool that it names is.
    """
    return [
        _NAMED.sub(r"\1", paragraph)
        for toolset in toolsets
        if _is_served(toolset, tools, served)
        for paragraph in toolset.instructions
        if all(name in served for name in _NAMED.findall(paragraph))
    ]


def served_prompts(
    toolsets: Iterable[Toolset], tools: Mapping[str, Tool], served: Collection[str], prompts: Iterable[str]
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


def _is_served(toolset: Toolset, tools: Mapping[str, Tool], served: Collection[str]) -> bool:
    return any(toolset.name in tools[name].toolsets for name in served)
