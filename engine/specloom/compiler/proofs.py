"""What is proved instead of tested: every value that a key can have has its row in the table it is looked up in.

That the cache ignores nothing which matters is proved by the compiler of tools, which has the data flow at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specloom.core import Report
from specloom.language import Choice, parse, strip
from specloom.model import Capability, Provider
from specloom.specs import Map, Node, Spec, YamlScalar


def check_tables(spec: Spec, provider: Provider, capabilities: Mapping[str, Capability], report: Report) -> None:
    """Report every `lookup` of an argument whose declared values are not all in the table.

    A look-up with an alternative (`lookup(…) || 'x'`) covers the rest by itself.
    A table that deliberately leaves a value out says so with null.
    """
    operations = spec.root.get("operations")
    for entry in operations if isinstance(operations, Map) else ():
        operation = provider.operations.get(entry.key)
        capability = capabilities.get(operation.capability) if operation else None
        if capability is None:
            continue
        for node, text in _expressions(entry.value):
            for table, argument in _looked_up(text):
                shape = strip(capability.arguments[argument].shape) if argument in capability.arguments else None
                rows = provider.tables.get(table)
                if not isinstance(shape, Choice) or rows is None:
                    continue
                missing = [value for value in shape.values if value not in rows]
                if missing:
                    listed = ", ".join(map(repr, missing))
                    message = f"table {table!r} has no row for {listed}, which {argument!r} can be"
                    report.add("E123", node.place, message, "add it; null says that nothing is sent for it")


def _expressions(node: Node) -> Iterator[tuple[YamlScalar, str]]:
    if isinstance(node, YamlScalar):
        if isinstance(node.value, str) and "lookup" in node.value:
            yield node, node.value.removeprefix("=")
        return
    parts = [one.value for one in node] if isinstance(node, Map) else node.items
    for part in parts:
        yield from _expressions(part)


def _looked_up(text: str) -> Iterator[tuple[str, str]]:
    """Each (table, argument) of a look-up by `args.NAME` that has no alternative."""
    tree = parse(text)
    if isinstance(tree, dict):
        yield from _walk(tree, covered=False)


def _walk(tree: dict[str, Any], *, covered: bool) -> Iterator[tuple[str, str]]:
    is_lookup = tree["type"] == "function_expression" and tree["value"] == "lookup" and len(tree["children"]) == 2
    if is_lookup and not covered:
        table, key = tree["children"]
        if table["type"] == "literal" and key["type"] == "subexpression":
            owner, name = key["children"]
            if owner["type"] == name["type"] == "field" and owner["value"] == "args":
                yield str(table["value"]), str(name["value"])
    for index, child in enumerate(tree.get("children", ())):
        if isinstance(child, dict):
            yield from _walk(child, covered=covered or (tree["type"] == "or_expression" and index == 0))
