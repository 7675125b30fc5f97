"""Looks at what stands written out in a request of a spec: what cannot be sent, and what should not stand in a file."""

from __future__ import annotations

from .audit_masking import looks_secret
from .diagnostics import Place, Report
from .load_tree import Listing, Map, Node, Scalar

_HINT = "declare a setting under `config` with `secret: true`, and send it as =config.NAME"


def check_constants(node: Node | None, report: Report, *, headers: bool = False) -> None:
    """Report the texts of a mapping of request values that look like a secret (W202).

    With `headers` those that hold a line break or another control character are reported too (E104).
    """
    for entry in node if isinstance(node, Map) else ():
        for text, place in _texts(entry.value):
            if headers and not text.isprintable() and any(one < " " or one == "\x7f" for one in text):
                message = f"the header {entry.key!r} holds a control character, which cannot be sent"
                report.add("E104", place, message, "write it on one line")
            if looks_secret(entry.key, text):
                report.add("W202", place, f"what is sent as {entry.key!r} looks like a secret", _HINT)


def _texts(node: Node) -> list[tuple[str, Place]]:
    """The texts below a request value that are no expressions, each with its place."""
    if isinstance(node, Scalar):
        is_text = isinstance(node.value, str) and not node.value.startswith("=")
        return [(str(node.value), node.place)] if is_text else []
    parts = node.items if isinstance(node, Listing) else [entry.value for entry in node]
    return [found for part in parts for found in _texts(part)]
