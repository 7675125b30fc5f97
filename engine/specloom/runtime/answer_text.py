"""Renders an answer as the Markdown that a model reads, by the `text` of its tool."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from specloom.language import MISSING, Bindings, Layer, evaluate, truthy
from specloom.model import SEPARATOR, AnswerBody, AnswerGroup, AnswerLine, AnswerPart, AnswerWindow, Value
from specloom.plugins import open_text, to_json

_BLANKS = re.compile(r"\s+")
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
    for line, is_body in _lines(nodes, context, room):
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


def _lines(nodes: Iterable[AnswerPart], context: Bindings, room: int) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is Markdown that stays as it is."""
    for node in nodes:
        if isinstance(node, AnswerLine):
            line = _line(node, context)
            if line is not None:
                yield line, False
        elif isinstance(node, AnswerBody):
            body = evaluate(node.value, context)
            if body not in MISSING:
                yield str(body), True
        elif isinstance(node, AnswerWindow):
            text, source = (evaluate(value, context) or "" for value in (node.value, node.source))
            window = to_json(open_text(str(text), str(source), room))
            yield from _lines(node.lines, Layer(context, window=window), room)
        else:
            yield from _group(node, context, room)


def _group(group: AnswerGroup, context: Bindings, room: int) -> Iterator[tuple[str, bool]]:
    if group.when is not None and not truthy(evaluate(group.when, context)):
        return
    if group.each is None:
        yield from _lines(group.lines, context, room)
        return
    for number, item in enumerate(evaluate(group.each, context) or (), 1):
        yield from _lines(group.lines, Layer(context, item=item, n=number), room)


def _line(line: AnswerLine, context: Bindings) -> str | None:
    """The line, as far in as its spec has it; None where it has values and nothing was found for any."""
    first = line.pieces[0][0] if line.pieces and line.pieces[0] else ""
    indent = " " * (len(first) - len(first.lstrip(" "))) if isinstance(first, str) else ""
    texts, is_said = [], False
    for piece in line.pieces:
        text, says = _piece(piece, context)
        is_said = is_said or says
        if text is not None:
            texts.append(text)
    if not is_said:
        return None
    return indent + _NO_ADDRESS.sub(r"\1", SEPARATOR.join(texts).strip())


def _piece(parts: tuple[str | Value, ...], context: Bindings) -> tuple[str | None, bool]:
    """A piece, or None where it has values and of them nothing; and whether it says anything.

    The number of an item says nothing, and keeps its piece.
    """
    values = [part for part in parts if isinstance(part, Value)]
    if not values:
        return "".join(map(str, parts)), True
    words = [to_words(evaluate(value, context)) for value in values]
    says = any(text and value.text != NUMBER for text, value in zip(words, values, strict=True))
    if not says and all(value.text != NUMBER for value in values):
        return None, False
    filled = iter(words)
    return "".join(part if isinstance(part, str) else next(filled) for part in parts), says


def to_words(value: Any) -> str:
    """A value in a line: text on one line, a moment to the minute (UTC), numbers as they are, yes and no, lists with
    commas."""
    if value is None:
        return ""
    if isinstance(value, str):
        if value[:1].isdigit() and (moment := _MOMENT.fullmatch(value)):
            day, minute = moment.groups()
            return day if minute == "00:00" else f"{day} {minute}"
        return _BLANKS.sub(" ", value).strip()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}" if not value.is_integer() else str(int(value))
    if isinstance(value, (list, tuple)):
        return ", ".join(filter(None, map(to_words, value)))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {words}" for name, inner in value.items() if (words := to_words(inner)))
    return str(value)
