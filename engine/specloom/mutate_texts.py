"""Ways to break one text of a spec so that it still looks like one: expressions, selectors and constants."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<raw>'(?:\\.|[^'\\])*') | (?P<literal>`(?:\\.|[^`\\])*`) | (?P<quoted>"(?:\\.|[^"\\])*")
      | (?P<name>[A-Za-z_]\w*) | (?P<number>-?\d+) | (?P<operator>&&|\|\||==|!=|<=|>=|<|>|!)
      | (?P<mark>[()\[\]{},.:])""",
    re.VERBOSE,
)
_SWAPPED = {"&&": "||", "||": "&&", "==": "!=", "!=": "==", "<=": ">", ">": "<=", ">=": "<", "<": ">=", "!": ""}
_XPATH_WORDS = frozenset({"and", "or", "div", "mod", "self", "text", "node", "not"})

Broken = tuple[str, str, int]
"""The new text, what was changed in it, and at which character."""


def break_expression(text: str) -> Iterator[Broken]:
    """Each literal, operator, last name of a path and call of an expression, changed one at a time."""
    tokens = list(_TOKEN.finditer(text))
    for index, token in enumerate(tokens):
        after = tokens[index + 1][0] if index + 1 < len(tokens) else ""
        word, at = token[0], token.start()

        def put(new: str, *, stop: int = token.end(), at: int = at) -> Broken:
            return text[:at] + new + text[stop:], _said(text[at:stop], new), at

        if token.lastgroup in {"raw", "quoted"}:
            yield put(f"{word[:-1]}x{word[-1]}")
        elif token.lastgroup == "literal":
            new = _other_literal(word[1:-1].strip())
            if new:
                yield put(f"`{new}`")
        elif token.lastgroup == "number":
            yield put(str(int(word) + 1))
        elif token.lastgroup == "operator":
            yield put(_SWAPPED[word])
        elif token.lastgroup == "name" and after == "(":
            yield from _break_call(text, tokens, index)
        elif token.lastgroup == "name" and after != ".":
            yield put(f"{word}x")


def _said(old: str, new: str) -> str:
    return f"{old} → {new}" if new else f"{old} left out"


def _other_literal(text: str) -> str:
    if re.fullmatch(r"-?\d+", text):
        return str(int(text) + 1)
    if re.fullmatch(r"-?\d*\.\d+", text):
        return str(float(text) + 1)
    if text in {"true", "false"}:
        return "false" if text == "true" else "true"
    if text == "null":
        return "0"
    return f'{text[:-1]}x"' if text.startswith('"') else ""


def _break_call(text: str, tokens: list[re.Match[str]], index: int) -> Iterator[Broken]:
    """A call without its last argument, and its first argument instead of the call."""
    depth = 0
    commas: list[int] = []
    for token in tokens[index + 1 :]:
        if token[0] in {"(", "[", "{"}:
            depth += 1
        elif token[0] in {")", "]", "}"}:
            depth -= 1
        elif token[0] == "," and depth == 1:
            commas.append(token.start())
        if depth == 0:
            start, inside, stop = tokens[index].start(), tokens[index + 1].end(), token.start()
            call = text[start : stop + 1]
            if commas:
                shorter = text[start : commas[-1]] + ")"
                yield text[:start] + shorter + text[stop + 1 :], _said(call, shorter), start
            first = text[inside : commas[0] if commas else stop].strip()
            if first and not first.startswith("&"):
                yield text[:start] + first + text[stop + 1 :], _said(call, first), start
            return


def break_selector(text: str) -> Iterator[Broken]:
    """A selector in either language with each quoted text, each index and the last name changed."""
    last: re.Match[str] | None = None
    for token in _TOKEN.finditer(text):
        called = text[token.end() : token.end() + 1] == "(" or text[token.end() : token.end() + 2] == "::"
        if token.lastgroup == "name" and not called and token[0] not in _XPATH_WORDS:
            last = token
        elif token.lastgroup in {"raw", "quoted"}:
            new = f"{token[0][:-1]}x{token[0][-1]}"
            yield text[: token.start()] + new + text[token.end() :], _said(token[0], new), token.start()
        elif token.lastgroup == "number" and text[token.start() - 1 : token.start()] == "[":
            new = str(int(token[0]) + 1)
            yield text[: token.start()] + new + text[token.end() :], _said(token[0], new), token.start()
    if last is not None:
        # A name may go on after a hyphen (`data-url`), which the pattern of an expression does not know.
        end = last.end() + len(re.match(r"(?:-[\w-]+)?", text[last.end() :])[0])  # type: ignore[index]
        word = text[last.start() : end]
        yield text[:end] + "x" + text[end:], _said(word, word + "x"), last.start()
