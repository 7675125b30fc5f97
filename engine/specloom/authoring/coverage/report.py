"""What the examples of a spec do not show: fields, request values, error rules, strategies, missing required fields.

Whether a rule decides or a stage runs is seen by running the examples on a copy of the compiled spec whose closures
tell when they are evaluated; what an example says about requests and rows is read from the example itself.
"""

from __future__ import annotations

import json

from specloom.compiler import check_use
from specloom.core import Report
from specloom.model import Model, Tool
from specloom.specs import Library

from .providers import cover_provider
from .tools import cover_tool

TOOL_TOKENS = 800
CATALOGUE_TOKENS = 12_000  # for one toolset; others of this size were seen to take 228 to 35,000


def check_coverage(library: Library, model: Model, report: Report) -> None:
    """Warn of everything in the compiled specs that no example shows, at the place where it stands.

    What has errors is looked at once they are mended, and so are tools whose providers may be among what was left out:
    before that, an example may show less than it will.
    """
    wrong = {one.place.file for one in report.errors}
    for name, spec in library.of("provider").items():
        if name in model.providers and spec.source.file not in wrong:
            cover_provider(spec, model.providers[name], report)
    for name, spec in library.of("tool").items():
        if name in model.tools and spec.source.file not in wrong and not report.left_out:
            cover_tool(spec, model.tools[name], model, report)
    check_use(model.collections, model.tools.values(), report)
    check_catalogue(model, report)


def check_catalogue(model: Model, report: Report) -> None:
    """Warn of a tool, or of a toolset, whose text costs its readers more than its budget (W306)."""
    costs = {tool.name: catalogue_cost(tool) for tool in model.tools.values()}
    for name, cost in costs.items():
        if cost > TOOL_TOKENS:
            message = f"{name} costs about {cost:,} tokens in the catalogue; {TOOL_TOKENS:,} is the budget of a tool"
            report.add("W306", model.tools[name].place, message, "shorten its description and those of its inputs")
    for toolset in sorted({one for tool in model.tools.values() for one in tool.toolsets}):
        listed = {name: cost for name, cost in costs.items() if toolset in model.tools[name].toolsets}
        whole = sum(listed.values())
        if whole > CATALOGUE_TOKENS:
            dearest = max(listed, key=listed.__getitem__)
            what = f"the tools of {toolset} cost about {whole:,} tokens in the catalogue"
            message = f"{what}; {CATALOGUE_TOKENS:,} is the budget"
            report.add("W306", model.tools[dearest].place, message, f"{dearest} costs most: {listed[dearest]:,}")


def catalogue_cost(tool: Tool) -> int:
    """About how many tokens a model reads for one tool: four characters of JSON are one."""
    said = {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    return len(json.dumps(said, ensure_ascii=False, separators=(",", ":"))) // 4
