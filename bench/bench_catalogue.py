"""What the list of tools costs the model that reads it: bytes and tokens, with and without the schemas of answers."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from figures import Figure
from specs import environment, roots

from specloom.image import make_catalogue
from specloom.selection import Selection
from specloom.weave import weave_from

if TYPE_CHECKING:
    from collections.abc import Callable

BUDGETS = {"core": 2500.0, "all": 12_000.0}


def find_counter() -> tuple[str, Callable[[str], float]]:
    """A real tokenizer where one is installed, else a quarter of the characters."""
    try:
        import tiktoken  # type: ignore[import-not-found,unused-ignore]

        encoding = tiktoken.get_encoding("o200k_base")
    except Exception:  # the package is not there, or its table is not at hand
        return "tokens (characters / 4)", lambda text: len(text) / 4
    return "tokens", lambda text: float(len(encoding.encode(text)))


def measure() -> list[Figure]:
    """Each selection in all, then each tool."""
    with TemporaryDirectory() as folder:
        layers = roots(environment(Path(folder)))
        model, _, report = weave_from(layers)
    if report.errors:
        raise SystemExit(f"bench: the specs have {len(report.errors)} errors; run `specloom check`")
    unit, count = find_counter()
    found: list[Figure] = []
    for toolset, budget in BUDGETS.items():
        tools: list[dict[str, Any]] = json.loads(make_catalogue(model, Selection([toolset])).tools)
        group = f"catalogue: toolset {toolset}, {len(tools)} tools"
        found += [
            Figure(group, "the list", "bytes", (float(len(_text(tools).encode())),)),
            Figure(group, "the list", unit, (count(_text(tools)),), budget=budget),
            Figure(group, "without output schemas", unit, (count(_text([_lean(tool) for tool in tools])),)),
        ]
    tools = json.loads(make_catalogue(model, Selection(["all"])).tools)
    group = f"catalogue: {unit} by tool; the other side is without its output schema"
    for tool in sorted(tools, key=lambda one: -len(_text(one))):
        found.append(Figure(group, tool["name"], "tokens", (count(_text(tool)),), (count(_text(_lean(tool))),)))
    return found


def _lean(tool: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in tool.items() if key != "outputSchema"}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
