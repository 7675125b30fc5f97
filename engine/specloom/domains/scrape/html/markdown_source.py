"""Markdown as it is fetched: its front matter, its indented code, and what in it nobody who reads it would see."""

from __future__ import annotations

import json
import re
from typing import Final

from specloom.core import clean
from specloom.domains.text import find_indented

from ..metadata.fields import to_iso, to_names, to_text
from .css_declarations import hides, parse_declarations

_BLOCK: Final = re.compile(r"\A---[ \t]*\n((?:[^\n]*\n){1,200}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_UNQUOTED: Final = re.compile(r"^(\w[\w.-]*):[ \t]+([^\s\"'\[>|].*)$", re.MULTILINE)
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
_LARGEST: Final = 20_000
"""Characters of a front matter that is read."""


def part_front_matter(markdown: str) -> tuple[dict[str, str], str]:
    """What a text says of itself (`title`, `description`, `author`, `published`, `modified`, `language`, `site`), and
    the text behind it. A text that begins with a rule and says nothing is given as it is."""
    block = _BLOCK.match(markdown)
    fields = _parse(block[1]) if block and len(block[1]) <= _LARGEST else {}
    facts = {name: text for name, keys in _KEYS.items() if (text := _find(fields, name, keys))}
    return (facts, markdown[block.end() :].lstrip("\n")) if block and facts else ({}, markdown)


def _parse(block: str) -> dict[str, list[str]]:
    """The texts of each key in small letters, several for a list; nothing where the block is no YAML, nor becomes it
    when the values that stand on the line of their key are quoted ("title: Otters: a life")."""
    import yaml

    fields: object = None
    for text in (block, _UNQUOTED.sub(lambda line: f"{line[1]}: {json.dumps(line[2], ensure_ascii=False)}", block)):
        try:
            fields = yaml.load(text, yaml.BaseLoader)  # noqa: S506 - texts, lists and mappings alone
            break
        except (yaml.YAMLError, RecursionError):
            continue
    pairs = fields.items() if isinstance(fields, dict) else ()
    return {
        key.lower(): [each for each in (value if isinstance(value, list) else [value]) if _is_text(each)]
        for key, value in pairs
        if isinstance(key, str)
    }


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.strip() not in ("", "null", "~")


def _find(fields: dict[str, list[str]], name: str, keys: tuple[str, ...]) -> str:
    values = next((fields[key] for key in keys if fields.get(key)), [])
    if name == "author":
        return "; ".join(to_names(values, split=True))
    if name in ("published", "modified"):
        return to_iso(values[0]) if values else ""
    return to_text(values[0], _LONGEST) if values else ""


# --- What a Markdown text holds and nobody who reads it rendered would see is taken out: HTML that is not shown -------
# That is comments, also those that are written as link definitions leading nowhere (`[//]: # (…)`), scripts and styles,
# and elements that are hidden by an attribute or by their own style. Code, fenced, indented or within a line, shows
# whatever stands in it and stays.


_UNSEEN: Final = re.compile(
    r"^[ \t]{0,40}(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]{1,8}){0,8}(?P<fence>`{3,}|~{3,})"
    r"|(?P<code>`+)"
    r"|(?P<comment><!--)"
    r"|^[ ]{0,3}(?P<definition>\[[^\[\]\n]{1,200}\]:[ \t]*+(?:#|<>)[ \t]*+"
    r"(?:(?:\([^\n]*\)|\"[^\n]*\"|'[^\n]*')[ \t]*+)?(?:\n|\Z))"
    r"|<(?P<tag>[a-zA-Z][a-zA-Z0-9-]{0,40})(?P<attributes>(?:\s[^<>]{0,2000})?)>",
    re.MULTILINE,
)
_UNSHOWN: Final = frozenset({"script", "style", "template", "noscript", "head"})
_VOID: Final = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_HIDDEN: Final = re.compile(r"(?:^|\s)hidden(?:\s|=(?!\s*[\"']?until-found)|$)", re.IGNORECASE)
_STYLE: Final = re.compile(r"""(?:^|\s)style\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_NEXT: Final = re.compile(r"(?:[ \t]{0,200}+\n)*+")
_LONGEST_CODE: Final = 2000
"""Characters after which code within a line is not closed any more."""


def strip(text: str, *, markdown: bool) -> tuple[str, dict[str, int]]:
    """A text without what nobody sees of it, and how much of which kind that was: `controls` are characters."""
    text, controls = clean(text)
    stripped = {"controls": controls} if controls else {}
    if markdown:
        text, unseen = strip_unseen(text)
        stripped |= unseen
    return text.strip(), stripped


def strip_unseen(markdown: str) -> tuple[str, dict[str, int]]:
    """The text without what is not shown, and how many `comments`, `scripts` and `hidden` elements were taken out.

    What is never closed stays: it may be prose about HTML.
    """
    if "<" not in markdown and "]:" not in markdown:
        return markdown, {}
    counts = {"hidden": 0, "scripts": 0, "comments": 0}
    parts: list[str] = []
    unclosed: set[str] = set()
    code = iter(find_indented(markdown))
    line = next(code, None)
    at = copied = 0
    while match := _UNSEEN.search(markdown, at):
        while line and line[1] <= match.start():
            line = next(code, None)
        if line and line[0] <= match.start():
            at = line[1]
            continue
        kind, end = _find_end(markdown, match, unclosed)
        at = max(end, match.end())
        if kind:
            counts[kind] += 1
            parts.append(markdown[copied : match.start()])
            if markdown.endswith("\n\n", 0, match.start()):
                # What stood in a paragraph of its own leaves no gap.
                end = _NEXT.match(markdown, end).end()  # type: ignore[union-attr]  # matches anywhere
            at = copied = end
    parts.append(markdown[copied:])
    return "".join(parts), {kind: count for kind, count in counts.items() if count}


def _find_end(markdown: str, match: re.Match[str], unclosed: set[str]) -> tuple[str, int]:
    """Where it ends, and what it counts as if it is not shown, "" for what stays."""
    if fence := match["fence"]:
        close = re.compile(rf"^[ ]{{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE).search(
            markdown, match.end()
        )
        return "", close.end() if close else len(markdown)
    if code := match["code"]:
        near = match.end() + _LONGEST_CODE
        close = re.compile(rf"(?<!`)`{{{len(code)}}}(?!`)").search(markdown, match.end(), near)
        blank = markdown.find("\n\n", match.end(), near)
        return "", close.end() if close and (blank < 0 or close.start() < blank) else match.end()
    if match["definition"]:
        return "comments", match.end()
    name = match["tag"].lower() if match["tag"] else "--"
    if name in unclosed:
        return "", match.end()
    if name == "--":
        kind, end = "comments", markdown.find("-->", match.end())
        end = end + 3 if end >= 0 else -1
    elif name in _UNSHOWN or (name not in _VOID and _is_hidden(match["attributes"])):
        kind = "scripts" if name in _UNSHOWN else "hidden"
        end = _find_close(markdown, name, match.end())
    else:
        return "", match.end()
    if end < 0:
        # Looked for to the end of the text, once.
        unclosed.add(name)
        return "", match.end()
    return kind, end


def _is_hidden(attributes: str) -> bool:
    if not attributes.strip():
        return False
    bare = re.sub(r"\"[^\"]*\"|'[^']*'", '""', attributes)
    style = _STYLE.search(attributes)
    declarations = next(filter(None, style.groups()), "") if style else ""
    return bool(_HIDDEN.search(bare)) or bool(declarations and hides(parse_declarations(declarations)[0]))


def _find_close(markdown: str, name: str, start: int) -> int:
    """Where the element ends whose content begins there, others of its name in it counted; -1 where it does not."""
    depth = 1
    for tag in re.compile(rf"<(/?){re.escape(name)}\b[^<>]{{0,2000}}>", re.IGNORECASE).finditer(markdown, start):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.end()
    return -1
