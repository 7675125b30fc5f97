"""Compiles how the answer of a tool reads: its `text`, lines of Markdown with expressions in braces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from specloom.core import Place, Report, did_you_mean
from specloom.language import (
    ANY,
    INTEGER,
    ListOf,
    RecordType,
    Shape,
    compile_expression,
    describe,
    from_schema,
    strip,
)
from specloom.model import (
    BUDGET,
    SEPARATOR,
    AnswerBody,
    AnswerBudget,
    AnswerGroup,
    AnswerKey,
    AnswerLine,
    AnswerPart,
    AnswerWindow,
    Input,
    Reads,
    Shortening,
    Value,
    has_window,
)
from specloom.plugins import OpenedText, schema_of
from specloom.specs import Listing, Map, Node, YamlScalar, to_plain

from .inputs import check_names
from .values import Scope, compile_text, maps_of, note_problems, whole

LEAST_TOKENS, MOST_TOKENS = 200, 100_000
"""Between which bounds a caller may set the budget of an answer."""
_QUOTES = "'\"`"


def answer_shape(answer: Iterable[AnswerKey], returned: Value | None) -> Shape:
    """The answer as its text sees it: every key with its type, and the fields of the rows that it lists."""
    if returned is not None:
        return returned.shape
    return RecordType(
        {
            key.name: key.value.shape
            if key.fields is None
            else ListOf(RecordType({one.name: one.shape for one in key.fields}, closed=True))
            for key in answer
        },
        closed=True,
    )


def compile_answer_text(node: Node | None, scope: Scope, answer: Shape) -> tuple[AnswerPart, ...]:
    """The parts of a text; it is told from arguments and answer alone, because a kept answer is told as well."""
    if node is None:
        return ()
    fields = scope.names.fields
    names = whole({"args": fields["args"], "requested": fields["requested"], "answer": answer})
    return _compile_lines(node, Scope(names, scope.tables, scope.report))


def _compile_lines(node: Node | None, scope: Scope) -> tuple[AnswerPart, ...]:
    assert isinstance(node, Listing)
    parts = (_compile_part(item, scope) for item in node.items)
    return tuple(part for part in parts if part is not None)


def _compile_part(node: Node, scope: Scope) -> AnswerPart | None:
    if isinstance(node, YamlScalar):
        return _compile_line(node, scope)
    assert isinstance(node, Map)
    when = _compile_key("when", node, scope)
    if "markdown" in node:
        value = _compile_key("markdown", node, scope)
        body = AnswerBody(value) if value is not None else None
        return AnswerGroup((body,), None, when) if body and when else body
    if "window" in node:
        opened = node.get("window")
        assert isinstance(opened, Map)
        value, source = _compile_key("of", opened, scope), _compile_key("source", opened, scope)
        lines = _compile_lines(node.get("lines"), scope.plus(window=from_schema(schema_of(OpenedText))))
        window = AnswerWindow(value, source, lines) if value and source else None
        return AnswerGroup((window,), None, when) if window and when else window
    each = _compile_key("each", node, scope)
    if each is not None:
        listed = strip(each.shape)
        if listed != ANY and not isinstance(listed, ListOf):
            scope.report.add("E104", each.place, f"`each` goes over a list, and this is {describe(listed)}")
        scope = scope.plus(item=listed.item if isinstance(listed, ListOf) else ANY, n=INTEGER)
    return AnswerGroup(_compile_lines(node.get("lines"), scope), each, when)


def _compile_key(name: str, node: Map, scope: Scope) -> Value | None:
    said = node.get(name)
    return compile_text(said, scope) if said is not None else None


def _compile_line(node: YamlScalar, scope: Scope) -> AnswerLine | None:
    """A line with what stands in its braces compiled; `{{` and `}}` are braces of the text."""
    text = node.value if isinstance(node.value, str) else str(node.value)
    parts: list[str | Value] = []
    for literal, expression, offset in _split(text):
        if literal:
            parts.append(literal)
        if expression is None:
            continue
        if offset < 0:
            hint = "write {{ for a brace of the text"
            scope.report.add("E201", node.place, f"a brace is not closed in {text!r}", hint)
            return None
        compiled, problems = compile_expression(expression, scope.names, tables=scope.tables)
        note_problems(problems, node, offset, scope.report)
        if compiled is None or problems:
            return None
        shape = strip(compiled.shape)
        if isinstance(shape, RecordType) or (isinstance(shape, ListOf) and isinstance(strip(shape.item), RecordType)):
            message = f"{expression!r} is {describe(shape)}, which is no text of a line"
            scope.report.add("E104", node.at(offset), message, "name one of its fields, or go over it with `each`")
            return None
        parts.append(Value(compiled.evaluate, compiled.shape, node.place, expression, compiled.uses, compiled.tables))
    pieces = tuple(_to_pieces(parts))
    first = pieces[0][0] if pieces[0] and isinstance(pieces[0][0], str) else ""
    return AnswerLine(pieces, " " * (len(first) - len(first.lstrip(" "))))


def _to_pieces(parts: Iterable[str | Value]) -> Iterator[tuple[str | Value, ...]]:
    """The parts of a line, cut where a separator stands in its fixed text."""
    piece: list[str | Value] = []
    for part in parts:
        if isinstance(part, Value):
            piece.append(part)
            continue
        first, *others = part.split(SEPARATOR)
        piece += [first] if first else []
        for text in others:
            yield tuple(piece)
            piece = [text] if text else []
    yield tuple(piece)


def _split(text: str) -> Iterator[tuple[str, str | None, int]]:
    """Each piece of fixed text with the expression behind it and its offset; offset -1 for a brace without its end."""
    literal, at = "", 0
    while at < len(text):
        character = text[at]
        if character in "{}" and text[at : at + 2] == character * 2:
            literal, at = literal + character, at + 2
        elif character == "{":
            end = _end_of_hole(text, at + 1)
            yield literal, text[at + 1 : end], at + 1 if end >= 0 else -1
            if end < 0:
                return
            literal, at = "", end + 1
        else:
            literal, at = literal + character, at + 1
    if literal or not text:
        yield literal, None, 0


def _end_of_hole(text: str, at: int) -> int:
    """Where the brace is that closes an expression, past braces and quoted texts inside it; -1 where there is none."""
    depth, quote = 0, ""
    while at < len(text):
        character = text[at]
        if quote:
            if character == "\\":
                at += 1
            elif character == quote:
                quote = ""
        elif character in _QUOTES:
            quote = character
        elif character == "{":
            depth += 1
        elif character == "}":
            if not depth:
                return at
            depth -= 1
        at += 1
    return -1


# --- How much an answer may be, and who reads on what was cut ---------------------------------------------------------


def budget_input(node: Node | None, place: Place, *, of_text: bool) -> dict[str, Input]:
    """The input of a tool with a budget by which its caller changes it; `of_text` where it is of the text alone."""
    if not isinstance(node, Map):
        return {}
    tokens = to_plain(node)["tokens"]
    said = "Size of the text in tokens." if of_text else "Size in tokens."
    made = Input(BUDGET, "integer", said, place, INTEGER, default=tokens, clamp=True)
    return {BUDGET: replace(made, minimum=LEAST_TOKENS, maximum=MOST_TOKENS)}


def compile_budget(node: Node | None, scope: Scope, answer: Shape) -> AnswerBudget | None:
    """How many tokens an answer has, and what gives way; every key that gives way is one of the answer."""
    if not isinstance(node, Map):
        return None
    inside = Scope(whole({"args": scope.names.fields["args"], "answer": answer}), scope.tables, scope.report)
    steps = []
    for item in maps_of(node.get("cut")):
        said = to_plain(item)
        key, _, field = said["of"].partition(".")
        _check_key(item.get("of"), key, field, answer, scope)
        source = _compile_key("source", item, inside)
        keep = None
        if item.get("keep") is not None:
            listed = strip(answer.fields[key]) if isinstance(answer, RecordType) and key in answer.fields else ANY
            keep = _compile_key("keep", item, inside.plus(item=listed.item if isinstance(listed, ListOf) else ANY))
        when = _compile_key("when", item, inside)
        last = said.get("last", False)
        steps.append(Shortening(key, field, said["to"], source, said.get("called", ""), keep, when, last))
    return AnswerBudget(to_plain(node)["tokens"], tuple(steps))


def _check_key(node: Node | None, key: str, field: str, answer: Shape, scope: Scope) -> None:
    """Report a key that the answer does not have, or that its rows do not have."""
    assert node is not None
    for name, what in ((key, "the answer"), (field, f"a row of {key!r}")):
        if not name or not isinstance(answer, RecordType) or not answer.closed:
            return
        if name not in answer.fields:
            hint = did_you_mean(name, answer.fields)
            scope.report.add("E110", node.place, f"{what} has no key {name!r}", hint)
            return
        inner = strip(answer.fields[name])
        answer = strip(inner.item) if isinstance(inner, ListOf) else inner


def check_window(root: Map, text: Iterable[AnswerPart], report: Report) -> None:
    """Report a window that nothing bounds, and a budget of which nothing gives way."""
    budget, is_windowed = root.get("budget"), has_window(text)
    if is_windowed and "envelope" not in root:
        hint = "an answer without an envelope is cut as data too: name its keys under `cut`"
        report.add("E105", root.place, "only a tool with an `envelope` has a `window` in its text", hint)
    elif is_windowed and budget is None:
        report.add("E102", root.place, "a text with a `window` needs a `budget`", "add `budget: {tokens: 6000}`")
    elif isinstance(budget, Map) and not is_windowed and "cut" not in budget:
        report.add("E102", budget.place, "a `budget` needs `cut`, which says what gives way")


def compile_reads(node: Node | None, inputs: Mapping[str, Input], report: Report) -> Reads | None:
    """The inputs of the tool that reads on."""
    if not isinstance(node, Map):
        return None
    items = [item for name in ("source", "offset") if isinstance(item := node.get(name), YamlScalar)]
    check_names(Listing(tuple(items), node.place), inputs, report)
    return Reads(*(str(item.value) for item in items))
