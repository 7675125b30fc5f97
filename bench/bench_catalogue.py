"""What the list of tools costs the model that reads it: bytes and tokens, with and without the schemas of answers."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from figures import Figure
from specs import environment, roots

from specloom.compiler.build import weave_from
from specloom.core import count_tokens
from specloom.server.catalogue import OUTPUT_SCHEMAS, Selection, make_catalogue

if TYPE_CHECKING:
    from collections.abc import Callable

    from specloom.model.model import Model

BUDGETS = {"core": 2500.0, "research": 12_000.0, "all": None}


def find_counter() -> tuple[str, Callable[[str], float]]:
    """A real tokeniser where one is installed, else the estimate of the engine."""
    try:
        import tiktoken  # type: ignore[import-not-found,unused-ignore]

        encoding = tiktoken.get_encoding("o200k_base")
    except Exception:  # the package is not there, or its table is not at hand
        return "tokens (estimated)", lambda text: float(count_tokens(text))
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
        listed = {said: _list(model, toolset, said) for said in OUTPUT_SCHEMAS}
        group = f"catalogue: toolset {toolset}"
        size = float(len(_text(listed["full"]).encode()))
        found.append(Figure(group, "the list", "bytes", (size,), note=f"{len(listed['full'])} tools"))
        for said, tools in listed.items():
            held = budget if said != "full" else None
            found.append(Figure(group, f"the list, output schemas {said}", unit, (count(_text(tools)),), budget=held))
    group = f"catalogue: {unit} by tool; the other side is without its output schema"
    tools = _list(model, "all", "full")
    for tool in sorted(tools, key=lambda one: -len(_text(one))):
        sides = (count(_text(tool)),), (count(_text(_lean(tool))),)
        found.append(Figure(group, tool["name"], "tokens", *sides, beside="without its schema", passing=True))
    return found


def _list(model: Model, toolset: str, said: str) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = json.loads(make_catalogue(model, Selection([toolset], output_schemas=said)).tools)
    return tools


def _lean(tool: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in tool.items() if key != "outputSchema"}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
