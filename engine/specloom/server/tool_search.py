"""A list of few tools for hosts with many: the core tools, one that finds the others, and one that calls them.

`find_tool` ranks all tools that are served by the words of their names, titles, descriptions and arguments (BM25), and
`call_tool` is the call of the tool that it names: checked, recorded, answered and refused as that would be.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from math import log
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, clean, did_you_mean, dump_clean, find_nearest

from .frames import render_text

if TYPE_CHECKING:
    from specloom.model import Tool

FIND_TOOL, CALL_TOOL = "find_tool", "call_tool"
LEAST, USUAL, MOST = 1, 3, 10
"""How many tools one search shows."""
MOST_CHARACTERS = 500
K1, B = 1.2, 0.75
"""Of BM25, as Robertson and Zaragoza recommend them (The Probabilistic Relevance Framework, 2009, §3.5)."""
WEIGHTS = {"name": 4, "title": 3, "description": 2, "arguments": 1}
"""How often the words of each part count."""
STEM = 5
"""Words that begin with as many equal letters are one, so that "citation" finds "cites" no worse than "citing"."""
_WORDS = re.compile(r"[a-z0-9]+")
_STOP = frozenset(
    _WORDS.findall(
        "a about an and are as at by do find for from how i in is it me my of on one or that the this to what with"
    )
)
_QUOTED = "What to do, in a few words."


def list_search(tools: Iterable[Tool], unlisted: int) -> list[dict[str, Any]]:
    """The entries of `find_tool` and `call_tool` in `tools/list`; a call may do whatever one of the tools does."""
    hints = [tool.annotations for tool in tools]
    text = {"type": "string", "maxLength": MOST_CHARACTERS}
    return [
        {
            "name": FIND_TOOL,
            "title": "Find a tool",
            "description": f"Find one of {unlisted} more tools by what it does, with its arguments and how to call it.",
            "inputSchema": _object(
                {
                    "query": {**text, "description": _QUOTED},
                    "limit": {"type": "integer", "minimum": LEAST, "maximum": MOST, "default": USUAL},
                },
                "query",
            ),
            "annotations": _annotations(read_only=True, destructive=False, idempotent=True, open_world=False),
        },
        {
            "name": CALL_TOOL,
            "title": "Call a tool",
            "description": f"Call a tool that {FIND_TOOL} found.",
            "inputSchema": _object({"name": text, "arguments": {"type": "object"}}, "name"),
            "annotations": _annotations(
                read_only=all(one["read_only"] for one in hints),
                destructive=any(one["destructive"] for one in hints),
                idempotent=all(one["idempotent"] for one in hints),
                open_world=any(one["open_world"] for one in hints),
            ),
        },
    ]


def _object(properties: dict[str, Any], needed: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [needed], "additionalProperties": False}


def _annotations(**hints: bool) -> dict[str, bool]:
    words = {name: name.replace("_", " ").title().replace(" ", "") for name in hints}
    return {f"{words[name][0].lower()}{words[name][1:]}Hint": value for name, value in hints.items()}


class ToolSearch:
    """Finds tools by words among those that a client is served, and unpacks calls of them."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._counts = {name: _count(tool) for name, tool in tools.items()}
        self._lengths = {name: counts.total() for name, counts in self._counts.items()}
        self._usual = sum(self._lengths.values()) / max(1, len(self._lengths))
        self._holders = Counter(stem for counts in self._counts.values() for stem in counts)

    def rank(self, query: str) -> list[Tool]:
        """The tools that have a word of the query, best first; of equals the first by name."""
        stems = {_stem(word) for word in _WORDS.findall(query.lower()) if word not in _STOP}
        scores = {name: self._score(name, stems) for name in self._tools}
        return [self._tools[name] for name in sorted(scores, key=lambda name: (-scores[name], name)) if scores[name]]

    def _score(self, name: str, stems: Collection[str]) -> float:
        counts, room = self._counts[name], K1 * (1 - B + B * self._lengths[name] / self._usual)
        return sum(
            log(1 + (len(self._tools) - held + 0.5) / (held + 0.5)) * times * (K1 + 1) / (times + room)
            for stem in stems
            if (times := counts[stem]) and (held := self._holders[stem])
        )

    def answer(self, raw: Mapping[str, Any]) -> bytes:
        """The result of a call of `find_tool`; raises Fault."""
        body, text = self._find(raw)
        return render_text(body, text=clean(text)[0])

    def _find(self, raw: Mapping[str, Any]) -> tuple[str, str]:
        _check_names(FIND_TOOL, raw, ("query", "limit"))
        query, limit = raw.get("query"), raw.get("limit", USUAL)
        if not isinstance(query, str) or not query.strip():
            raise _refuse("query", f"query is required: {_QUOTED}")
        if isinstance(limit, bool) or not isinstance(limit, int):
            raise _refuse("limit", f"limit must be a whole number, not {json.dumps(limit)[:80]}")
        found = self.rank(query[:MOST_CHARACTERS])
        shown = found[: min(max(limit, LEAST), MOST)]
        tools = [_describe(tool) for tool in shown]
        if not tools:
            # A list of all is what helps who knows no better word.
            everything = [{"name": tool.name, "title": tool.title} for tool in self._tools.values()]
            lines = [f"No tool has a word of {query!r}. These are all:", ""]
            lines += [f"- {tool['name']}: {tool['title']}" for tool in everything]
            return dump_clean({"query": query, "total": 0, "tools": everything}), "\n".join(lines)
        lines = [f"{len(found)} of {len(self._tools)} tools have words of {query!r}; the best {len(shown)}:"]
        for tool in shown:
            lines += ["", *_to_lines(tool)]
        return dump_clean({"query": query, "total": len(found), "tools": tools}), "\n".join(lines)

    def unpack(self, raw: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The tool and the arguments of a call of `call_tool`; raises Fault."""
        _check_names(CALL_TOOL, raw, ("name", "arguments"))
        name, arguments = raw.get("name"), raw.get("arguments")
        if not isinstance(name, str) or not name:
            raise _refuse("name", f"name is required: a tool that {FIND_TOOL} found")
        if name not in self._tools:
            advice = did_you_mean(name[:100], self._tools) or f"ask {FIND_TOOL}"
            raise _refuse("name", f"there is no tool {name[:100]!r}; {advice}", find_nearest(name[:100], self._tools))
        if isinstance(arguments, str):
            # Models send an object as the text of one.
            try:
                arguments = json.loads(arguments) if arguments.strip() else {}
            except (ValueError, RecursionError):
                raise _refuse("arguments", "arguments must be an object, and this text is none in JSON") from None
        if arguments is not None and not isinstance(arguments, dict):
            raise _refuse("arguments", f"arguments must be an object, not {json.dumps(arguments)[:80]}")
        return name, arguments or {}


def _check_names(tool: str, raw: Mapping[str, Any], known: Collection[str]) -> None:
    for name in raw:
        if name not in known:
            advice = did_you_mean(name[:80], known) or f"known: {', '.join(known)}"
            raise _refuse(name[:80], f"{tool} has no argument {name[:80]!r}; {advice}", find_nearest(name[:80], known))


def _refuse(argument: str, sentence: str, near: str = "") -> Fault:
    return Fault("validation", sentence, action="fix_arguments", argument=argument, near=near)


def _count(tool: Tool) -> Counter[str]:
    """How often each stem stands in what is said of a tool, by the weight of the part."""
    inputs = tool.inputs.values()
    parts = {
        "name": tool.name.replace("_", " "),
        "title": tool.title,
        "description": tool.description,
        "arguments": " ".join(f"{one.name.replace('_', ' ')} {one.description}" for one in inputs),
    }
    counts: Counter[str] = Counter()
    for part, text in parts.items():
        for word in _WORDS.findall(text.lower()):
            if word not in _STOP:
                counts[_stem(word)] += WEIGHTS[part]
    return counts


def _stem(word: str) -> str:
    return word.removesuffix("s")[:STEM]


def _describe(tool: Tool) -> dict[str, Any]:
    annotations = _annotations(**{name: bool(value) for name, value in tool.annotations.items()})
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": annotations,
    }


def _to_lines(tool: Tool) -> Iterable[str]:
    yield f"### {tool.name}: {tool.title}"
    yield tool.description
    for one in tool.inputs.values():
        published = tool.input_schema["properties"].get(one.name, {})
        facts = [one.kind, "required" if one.required else ""]
        if choices := published.get("enum"):
            facts.append("one of " + ", ".join(map(str, choices)))
        if one.default is not None:
            facts.append(f"default {json.dumps(one.default)}")
        yield f"- {one.name} ({', '.join(filter(None, facts))}): {one.description}"
    if tool.annotations["destructive"]:
        yield "It deletes or overwrites."
    elif not tool.annotations["read_only"]:
        yield "It writes."
    needed = {one.name: "…" for one in tool.inputs.values() if one.required}
    yield f"Call: {CALL_TOOL} {json.dumps({'name': tool.name, 'arguments': needed}, ensure_ascii=False)}"
