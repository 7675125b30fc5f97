"""Reads templates of views: `templates/views/NAME.html` has its slots in YAML between two lines of dashes, and below
them at most one `<style>` and one `<script>`, without attributes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from specloom.core import VIEW_SCRIPTS, Place, Report, ViewSlot, ViewTemplate, did_you_mean

from .front_matter import read_front_matter
from .grammar import VIEW, check
from .yaml import Map, Node, YamlScalar, to_plain

_BODY = re.compile(
    r"\s*+(?:<style>\n?((?:[^<]|<(?!/style>))*+)</style>\s*+)?+<script>\n?((?:[^<]|<(?!/script>))*+)</script>\s*+"
)
_UNSAFE = re.compile(
    r"\b(innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|setHTMLUnsafe|srcdoc|eval|Function"
    r"|import|importScripts|fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon)\b|(document\.write)|(url\()|(@import)"
)
"""What makes markup or code of a text, or asks somebody: words that no template needs."""


def read_view(name: str, shown: str, data: bytes, report: Report) -> ViewTemplate | None:
    """One file as a template of views, or None when it has problems, which are then reported."""
    before = len(report.found)
    matter = read_front_matter("view", name, shown, data, report)
    if matter is None:
        hint = "a title, a description and its slots, and below them <style> and <script>"
        report.add("E007", Place(shown), "a view begins with its slots, between two lines of ---", hint)
        return None
    source = matter.parse(shown, report)
    if source.root is None or not check(source.root, VIEW, report):
        return None
    head: Mapping[str, Any] = to_plain(source.root)
    _check_scripts(source.root.get("scripts"), report)
    _check_slots(source.root.get("slots"), report)
    text = matter.decode(shown, report)
    if text is None:
        return None
    first = matter.first
    body = _BODY.fullmatch(text)
    if body is None or "<script" in text.split("<script>", 1)[1]:
        hint = "both without attributes; a view is drawn by its script alone"
        report.add("E104", Place(shown, first), "below its slots a view has <style> and then <script>", hint)
        return None
    for found in _UNSAFE.finditer(text):
        line = text.count("\n", 0, found.start())
        column = found.start() - (text.rfind("\n", 0, found.start()) + 1)
        hint = "draw with ui.el and ui.svg, whose texts are never markup"
        message = f"a view may not use {found[0]!r}: it makes markup or code of a text, or asks somebody"
        report.add("E141", Place(shown, first + line, column + 1, len(found[0])), message, hint)
    if len(report.found) > before:
        return None
    return ViewTemplate(
        name,
        head["title"],
        " ".join(head["description"].split()),
        shown,
        _to_slots(head["slots"]),
        tuple(head.get("scripts", ())),
        body[1] or "",
        body[2],
    )


def _check_scripts(node: Node | None, report: Report) -> None:
    for item in getattr(node, "items", ()):
        if isinstance(item, YamlScalar) and item.value not in VIEW_SCRIPTS:
            hint = did_you_mean(str(item.value), VIEW_SCRIPTS) or f"known: {', '.join(VIEW_SCRIPTS)}"
            report.add("E110", item.place, f"no script is called {item.value!r}", hint)


def _check_slots(node: Node | None, report: Report) -> None:
    """Rows have fields, and nothing else has."""
    for entry in node if isinstance(node, Map) else ():
        slot = entry.value
        assert isinstance(slot, Map)
        is_rows, fields = to_plain(slot.get("type")) == "rows", slot.get("fields")
        if is_rows != (fields is not None):
            hint = "say which `fields` each has" if is_rows else "give it the type `rows`"
            report.add("E105", entry.place, f"the slot {entry.key!r} has `fields` where it is of rows", hint)
        _check_slots(fields, report)


def _to_slots(said: Mapping[str, Any]) -> tuple[ViewSlot, ...]:
    return tuple(
        ViewSlot(
            name,
            one["type"],
            " ".join(one["description"].split()),
            one.get("required", False),
            _to_slots(one.get("fields", {})),
        )
        for name, one in said.items()
    )
