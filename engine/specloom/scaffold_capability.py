"""The start of a capability: what may be asked, and what a row holds, guessed from a sample if there is one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .diagnostics import Place
from .model import Model
from .model_providers import Argument
from .sample import Leaf, Sample, fits, match, parse_sample
from .scaffold import ScaffoldError, check_name
from .scaffold_fields import excerpt, flow

_KINDS = ("url", "boolean", "integer", "number", "timestamp", "list")
"""Kinds that a value's shape tells, the most particular first; anything else is text."""
_MOST_FIELDS = 24
_TITLE = {"title": Argument("title", "text", "", Place("")), "id": Argument("id", "text", "", Place(""))}


def draft_capability(model: Model, name: str, data: bytes | None) -> str:
    """The text of a capability for searches; with a sample of an API's answer its row has the sample's fields."""
    check_name("capability", name, model.capabilities)
    try:
        sample = parse_sample(data, _TITLE) if data is not None else None
    except ValueError as error:
        raise ScaffoldError(str(error)) from None
    title = name.replace("_", " ").capitalize()
    lines = [
        "# yaml-language-server: $schema=../../schema/capability.json",
        "spec: capability/1",
        f"name: {name}",
        f"title: {title}",
        f"description: {title} for a query, best first.  # decide: what every provider of it promises",
        "routing:",
        f"  key: {name}",
        "  order: []  # decide: providers in the order in which they are asked, once they are there",
        "arguments:",
        "  query: {type: text, description: What is asked.}",
        "  num_results: {type: integer, description: How many are wanted.}",
        "row:  # decide: the words of the trade, not those of one API; require only what every provider has",
        *_row(sample),
    ]
    return "\n".join(lines) + "\n"


def _row(sample: Sample | None) -> list[str]:
    if sample is None:
        return [
            "  title: {type: text, required: true, description: The title.}",
            "  url: {type: url, description: Its page.}",
        ]
    named = _named(sample)
    if not named:
        raise ScaffoldError("the sample has no results with fields; give one with at least one result")
    found = match(_TITLE, list(named.values()))
    main = found["title"] or found["id"] or next(iter(named.values()))
    lines = []
    for name, leaf in named.items():
        said: dict[str, Any] = {"type": _kind(name, leaf)}
        if leaf is main:
            said["required"] = True
        said["description"] = f"Its {' '.join(name.split('_'))}."
        lines.append(f"  {name}: {flow(said)}  # {excerpt(leaf.value)}")
    return lines


def _named(sample: Sample) -> Mapping[str, Leaf]:
    """The leaves of the sample's results by the name that a field of a row would have."""
    named: dict[str, Leaf] = {}
    for leaf in sample.leaves:
        if isinstance(leaf.value, list) and not fits("list", leaf.value):
            continue  # what is in it has fields of its own
        words = [re.sub(r"^[A-Za-z0-9]+:", "", part).lstrip("@") for part in leaf.path]
        for length in range(1, len(words) + 1):
            name = _snake("_".join(words[-length:]))
            if name and name not in named:
                named[name] = leaf
                break
        if len(named) == _MOST_FIELDS:
            break
    return named


def _snake(text: str) -> str:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    return re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_").lstrip("0123456789_")[:40]


def _kind(name: str, leaf: Leaf) -> str:
    if name.rpartition("_")[2] == "id":
        return "text"  # nobody counts with it, and the next provider's has letters
    return next((kind for kind in _KINDS if all(_is_sure(kind, value) for value in leaf.values)), "text")


def _is_sure(kind: str, value: Any) -> bool:
    """Whether a value is of a kind, and not only text or a number that could be read as one."""
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "timestamp":
        return isinstance(value, str) and bool(re.match(r"\d{4}-\d{2}-\d{2}", value)) and fits(kind, value)
    return fits(kind, value)
