"""Fills the slots of a view from an answer, and puts its document together: for a client's frame, or to stand alone."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from specloom.core import ViewSlot, ViewTemplate, command_name, shipped_folder, to_clean
from specloom.language import Unworkable, evaluate, truthy
from specloom.model import NOTICES, TRUST, Model, Tool, ViewRows

from .answer_text import to_words
from .arguments import Arguments
from .response import map_row

MOST_ROWS = 2000
"""Rows of a slot that are shown; no answer within a budget has as many."""
_SCHEMES = frozenset({"http", "https"})
_FOR_SCRIPT = re.compile("[<>&\u2028\u2029]")


# --- Slots ------------------------------------------------------------------------------------------------------------


def fill_view(tool: Tool, model: Model, arguments: Arguments, answer: Mapping[str, Any]) -> dict[str, Any]:
    """What a document is given to show an answer: its template, what fills the slots, and what has to be said before.

    Nothing of the answer is in it but what a slot was bound to.
    """
    assert tool.view is not None
    template = model.views[tool.view.template]
    known = {slot.name: slot for slot in template.slots}
    context = {"args": arguments.given, "requested": arguments.requested, "answer": answer}
    slots: dict[str, Any] = {}
    for name, bound in tool.view.slots:
        slot = known[name]
        if isinstance(bound, tuple):
            slots[name] = [row for group in bound for row in _fill_rows(slot, group, context)][:MOST_ROWS]
        elif (value := _to_type(slot, evaluate(bound, context))) is not None:
            slots[name] = value
    filled: dict[str, Any] = {"template": template.name, "title": tool.title, "slots": slots}
    if notices := answer.get(NOTICES):
        filled["notices"] = list(notices)
    if isinstance(trust := answer.get(TRUST), str):
        filled["trust"] = trust
    filled_clean: dict[str, Any] = to_clean(filled)
    return filled_clean


def show_answer(tool: Tool, model: Model, arguments: Arguments, answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """The same; None where an expression of the spec cannot be worked out, which is no reason to lose the answer."""
    try:
        return fill_view(tool, model, arguments, answer)
    except Unworkable:
        return None


def _fill_rows(slot: ViewSlot, group: ViewRows, context: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    if group.when is not None and not truthy(evaluate(group.when, context)):
        return
    for item in evaluate(group.each, context) or ():
        row = _to_row(slot.fields, map_row(group.fields, item, {**context, "item": item}) or {})
        if row is not None:
            yield row


def _to_row(fields: Iterable[ViewSlot], found: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a row that are there and of their type; None where one that it needs is not."""
    row: dict[str, Any] = {}
    for field in fields:
        value = _to_type(field, found.get(field.name))
        if value is not None:
            row[field.name] = value
        elif field.required:
            return None
    return row


def _to_type(slot: ViewSlot, value: Any) -> Any:
    """A value as a slot holds it; None for what it cannot hold."""
    if value is None:
        return None
    match slot.type:
        case "text":
            words = value if isinstance(value, str) else "" if isinstance(value, (dict, list)) else to_words(value)
            return words or None
        case "url":
            return value if isinstance(value, str) and _is_web(value) else None
        case "number":
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
            return value if is_number else None
        case "flag":
            return value if isinstance(value, bool) else None
    if not isinstance(value, list):
        return None
    if slot.type == "texts":
        return [one if isinstance(one, str) else to_words(one) for one in value if not isinstance(one, (dict, list))]
    rows = (_to_row(slot.fields, one) for one in value[:MOST_ROWS] if isinstance(one, dict))
    return [row for row in rows if row is not None]


def _is_web(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme.lower() in _SCHEMES and bool(parts.hostname)


# --- Documents --------------------------------------------------------------------------------------------------------


def view_document(template: ViewTemplate, filled: Mapping[str, Any] | None = None) -> str:
    """The whole HTML document of a view; with what fills it, it stands alone, without it a client's frame gives that.

    It asks nobody for anything. One that stands alone also says so: its policy names each script and style by its hash.
    """
    style = [_shared("palette.css"), _shared("view.css"), template.style]
    scripts = [*(_shared(f"vendor/{one}.js") for one in template.scripts)]
    scripts += [_shared("view.js").replace('specloom."', f'{command_name(os.environ)}."'), template.script]
    styles = "".join(style)
    head, data = "", ""
    title = template.title
    if filled is not None:
        policy = "; ".join(
            (
                "default-src 'none'",
                f"script-src {' '.join(_hash(one) for one in scripts)}",
                f"style-src {_hash(styles)}",
                "img-src data:",
                "base-uri 'none'",
                "form-action 'none'",
            )
        )
        head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        data = f'<script type="application/json" id="view-data">{script_json(filled)}</script>\n'
        title = str(filled["slots"].get("title") or filled["title"])
    code = "".join(f"<script>{one}</script>\n" for one in scripts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{head}"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{_escape(title)}</title>\n<style>{styles}</style>\n</head>\n"
        f'<body data-template="{template.name}">\n<main id="view" tabindex="-1"></main>\n{data}{code}</body>\n</html>\n'
    )


def script_json(value: Any) -> str:
    """A value as JSON that can stand in a script element of HTML, whatever texts are in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _FOR_SCRIPT.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode("utf-8", "replace").decode()


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").encode("utf-8", "replace").decode()


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@lru_cache(maxsize=32)
def _shared(name: str) -> str:
    return Path(shipped_folder(), "templates", "views", "shared", name).read_text(encoding="utf-8")
