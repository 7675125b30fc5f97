"""The block of `key: value` lines before a Markdown text, between two rules, in which it says what it is."""

from __future__ import annotations

import re
from typing import Final

from .metadata_dates import to_iso
from .metadata_names import to_names, to_text

_BLOCK: Final = re.compile(r"\A---[ \t]*\n((?:[^\n]*\n){1,200}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_LINE: Final = re.compile(r"(?P<key>[A-Za-z][\w.-]{0,60})[ \t]*:(?:[ \t]+(?P<value>.*))?")
_FURTHER: Final = re.compile(r"[ \t]|- |#|$")
"""How a line begins that belongs to the key above it, or is a remark."""
_KEYS: Final = {
    "title": ("title",),
    "description": ("description", "summary"),
    "author": ("author", "authors"),
    "published": ("date", "published", "published_at", "pubdate", "datepublished", "publishdate"),
    "modified": ("lastmod", "updated", "updated_at", "modified", "last_modified", "lastupdated"),
    "language": ("lang", "language"),
    "site": ("site_name", "site"),
}
_LONGEST: Final = 1000


def part_front_matter(markdown: str) -> tuple[dict[str, str], str]:
    """What a text says of itself (`title`, `description`, `author`, `published`, `modified`, `language`, `site`), and
    the text behind it. A text that begins with a rule and says nothing is given as it is."""
    block = _BLOCK.match(markdown)
    found = _parse(block[1]) if block else None
    said = {name: text for name, keys in _KEYS.items() if (text := _find(found or {}, name, keys))}
    return (said, markdown[block.end() :].lstrip("\n")) if block and said else ({}, markdown)


def _parse(block: str) -> dict[str, list[str]] | None:
    """The values of each key in small letters, several for a list; nothing if a line is none of a front matter."""
    found: dict[str, list[str]] = {}
    key = ""
    for line in block.split("\n"):
        if said := _LINE.fullmatch(line):
            key = said["key"].lower()
            found.setdefault(key, []).extend(_to_values(said["value"] or ""))
        elif not _FURTHER.match(line):
            return None
        elif (item := line.strip()).startswith("- ") and key:
            found[key].extend(_to_values(item[2:]))
    return found


def _to_values(text: str) -> list[str]:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [value for part in text[1:-1].split(",") for value in _to_values(part)]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return [text] if text and text not in ("|", ">", "|-", ">-", "null", "~") else []


def _find(found: dict[str, list[str]], name: str, keys: tuple[str, ...]) -> str:
    values = next((found[key] for key in keys if found.get(key)), [])
    if name == "author":
        return "; ".join(to_names(values, split=True))
    if name in ("published", "modified"):
        return to_iso(values[0]) if values else ""
    return to_text(values[0], _LONGEST) if values else ""
