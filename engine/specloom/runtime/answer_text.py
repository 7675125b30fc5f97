"""Renders an answer as the Markdown that a model reads, by the `text` of its tool."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from specloom.language import MISSING, Bindings, Layer, evaluate, truthy
from specloom.model import SEPARATOR, AnswerBody, AnswerGroup, AnswerLine, AnswerPart
from specloom.plugins import open_text, to_json

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d{1,9})?)?(?:Z|\+00:00)")
_NO_ADDRESS = re.compile(r"\[([^\[\]]*)\]\(\)")
"""A link that leads nowhere, because nothing is known of its address."""
NUMBER = "n"
"""What an expression is called that is the number of an item."""
_EMPTY_LINES = re.compile(r"\n{3,}")


def render_answer(nodes: Iterable[AnswerPart], context: Bindings, *, room: int = 0) -> str:
    """The text, without empty lines at its ends and with one at most between two lines; Markdown is as it came.

    A window is told in at most `room` tokens; 0 is no bound.
    """
    pieces: list[str] = []
    lines: list[str] = []
    told: list[tuple[str, bool]] = []
    _add_lines(nodes, context, room, told)
    for line, is_body in told:
        if is_body:
            pieces += [_tidy(lines, pieces), line.strip("\n").rstrip()]
            lines = []
        else:
            lines.append(line)
    pieces.append(_tidy(lines, pieces).rstrip("\n"))
    return "".join(pieces).rstrip("\n")


def _tidy(lines: list[str], before: list[str]) -> str:
    """Lines with one empty line at most between two of them, parted from what stands before and behind them."""
    if not (lines or before):
        return ""
    text = _EMPTY_LINES.sub("\n\n", "\n".join([*([""] if before else []), *lines, ""]))
    return text if before else text.lstrip("\n")


def _add_lines(nodes: Iterable[AnswerPart], context: Bindings, room: int, told: list[tuple[str, bool]]) -> None:
    """Add each line, and whether it is Markdown that stays as it is."""
    for node in nodes:
        if isinstance(node, AnswerLine):
            line = _line(node, context)
            if line is not None:
                told.append((line, False))
        elif isinstance(node, AnswerGroup):
            _add_group(node, context, room, told)
        elif isinstance(node, AnswerBody):
            body = evaluate(node.value, context)
            if body not in MISSING:
                told.append((str(body), True))
        else:
            text, source = (evaluate(value, context) or "" for value in (node.value, node.source))
            window = to_json(open_text(str(text), str(source), room))
            _add_lines(node.lines, Layer(context, window=window), room, told)


def _add_group(group: AnswerGroup, context: Bindings, room: int, told: list[tuple[str, bool]]) -> None:
    if group.when is not None and not truthy(evaluate(group.when, context)):
        return
    if group.each is None:
        _add_lines(group.lines, context, room, told)
        return
    for number, item in enumerate(evaluate(group.each, context) or (), 1):
        _add_lines(group.lines, Layer(context, item=item, n=number), room, told)


def _line(line: AnswerLine, context: Bindings) -> str | None:
    """The line, as far in as its spec has it; None where it has values and nothing was found for any.

    A piece that has values and of them nothing is left out. The number of an item says nothing, and keeps its piece.
    """
    pieces: list[str] = []
    is_said = False
    for parts in line.pieces:
        texts: list[str] = []
        says = is_kept = False
        is_fixed = True
        for part in parts:
            if isinstance(part, str):
                texts.append(part)
                continue
            is_fixed = False
            if text := to_words(evaluate(part, context)):
                texts.append(text)
                if part.text == NUMBER:
                    is_kept = True
                else:
                    says = True
        is_said = is_said or says or is_fixed
        if says or is_fixed or is_kept:
            pieces.append("".join(texts))
    if not is_said:
        return None
    told = SEPARATOR.join(pieces).strip()
    return line.indent + (_NO_ADDRESS.sub(r"\1", told) if "]()" in told else told)


def to_words(value: Any) -> str:
    """A value in a line: text on one line, a moment to the minute (UTC), numbers as they are, yes and no, lists with
    commas."""
    if isinstance(value, str):
        if value[:1].isdigit() and (moment := _MOMENT.fullmatch(value)):
            day, minute = moment.groups()
            return day if minute == "00:00" else f"{day} {minute}"
        return " ".join(value.split())
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}" if not value.is_integer() else str(int(value))
    if isinstance(value, (list, tuple)):
        return ", ".join(filter(None, map(to_words, value)))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {words}" for name, inner in value.items() if (words := to_words(inner)))
    return str(value)
