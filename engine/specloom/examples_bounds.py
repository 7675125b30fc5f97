"""Holds the `refuse` and `accept` lists of an example against what its tool takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .arguments import parse_arguments
from .comparing import short
from .diagnostics import Report
from .faults import Fault
from .load_tree import Listing, Map, to_plain
from .model_tools import Tool


def check_bounds(node: Map, said: Mapping[str, Any], tool: Tool, report: Report) -> None:
    """Run the `refuse` and `accept` lists of an example: the first are `validation`, the second stay as they are."""
    for word in ("refuse", "accept"):
        listed = node.get(word)
        for item in listed.items if isinstance(listed, Listing) else ():
            more = {name: spread(value) for name, value in to_plain(item).items()}
            given = {**said["args"], **more}
            try:
                taken = parse_arguments(tool, given)
            except Fault as fault:
                if word == "accept":
                    report.add("E401", item.place, f"{said['name']!r}: {short(more)} is refused: {fault.message}")
                continue
            if word == "refuse":
                report.add("E401", item.place, f"{said['name']!r}: {short(more)} is not refused")
            elif any(taken.given.get(name) != value for name, value in more.items()):
                changed = {name: taken.given.get(name) for name in more}
                report.add("E401", item.place, f"{said['name']!r}: {short(more)} becomes {short(changed)}")


def spread(value: Any) -> Any:
    """`{characters: N}` stands for a text of that length and `{times: N, of: X}` for a list of that one, anywhere."""
    if isinstance(value, list):
        return [spread(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"characters"}:
        return "x" * value["characters"]
    if set(value) == {"times", "of"}:
        return [spread(value["of"])] * value["times"]
    return {name: spread(item) for name, item in value.items()}
