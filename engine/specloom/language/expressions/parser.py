"""From the text of an expression to a JMESPath tree that knows where each part stands, or to the problem with it."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

from jmespath.exceptions import EmptyExpressionError, IncompleteExpressionError, LexerError, ParseError
from jmespath.parser import ParsedResult, Parser

from specloom.core import dataclass

MAX_LENGTH = 20_000
"""Characters of an expression; the longest that is shipped has 690."""

Node = dict[str, Any]
"""A node of the package's tree: `type`, `children`, mostly `value`, and `at`, the character it starts with."""

# Outside of quotes nothing is escaped, so an escaped one opens nothing.
_QUOTED = re.compile(r"""(?<!\\)(?:'(?:\\.|[^'\\])*+'|"(?:\\.|[^"\\])*+"|`((?:\\.|[^`\\])*+)`)""", re.DOTALL)

_WORDS = re.compile(r"[A-Za-z_]\w*+(?: ++[A-Za-z_]\w*+)+")
"""Names side by side, as columns of tables are often called."""


@dataclass(frozen=True, slots=True)
class ExpressionProblem:
    """One thing that is wrong with an expression; `offset` is the character of its text that a caret points at."""

    code: str
    message: str
    hint: str
    offset: int


class _LocatingParser(Parser):
    """The package's parser, which also notes on each node where it starts.

    A first child without a note starts where its parent does.
    """

    # Own cache: the nodes are not those of the package's parser.
    _CACHE: ClassVar[dict[str, ParsedResult]] = {}

    def _expression(self, binding_power: int = 0) -> Node:
        start = self._lookahead_token(0)["start"]  # type: ignore[attr-defined]
        node: Node = super()._expression(binding_power)  # type: ignore[misc]
        node.setdefault("at", start)
        return node


def parse(text: str) -> Node | ExpressionProblem:
    """The tree of the expression, or why it has none (E201)."""
    if len(text) > MAX_LENGTH:
        message = f"the expression has {len(text):,} characters, and {MAX_LENGTH:,} are allowed"
        return ExpressionProblem("E201", message, "split it, or put its data into a table", 0)
    return _find_bad_literal(text) or _parse(text)


def forget_trees() -> None:
    """Let go of the trees of the texts that were parsed."""
    _LocatingParser.purge()


def _parse(text: str) -> Node | ExpressionProblem:
    try:
        return dict(_LocatingParser().parse(text).parsed)
    except EmptyExpressionError:
        return ExpressionProblem("E201", "the expression is empty", "write a name, a 'text' or a `literal`", 0)
    except IncompleteExpressionError:
        return ExpressionProblem("E201", "the expression ends too early", _unbalanced(text), max(len(text) - 1, 0))
    except LexerError as error:
        return _to_problem(text, error)
    except ParseError as error:
        name = str(error.token_value)
        message = f"{name!r} does not belong here" if name else "the expression ends too early"
        if name.lstrip("-").isdigit():
            return ExpressionProblem("E201", message, f"a number is written as a literal: `{name}`", error.lex_position)
        if "function name" in str(error.msg):
            return ExpressionProblem("E201", message, "a function is called by its bare name", error.lex_position)
        offset = min(error.lex_position, max(len(text) - 1, 0))
        if _WORDS.fullmatch(text.strip()):
            hint = f"a name with blanks stands in double quotes inside single ones: '\"{text.strip()}\"'"
            return ExpressionProblem("E201", message, hint, offset)
        return ExpressionProblem("E201", message, "" if name else _unbalanced(text), offset)
    except RecursionError:
        return ExpressionProblem("E201", "the expression is nested too deeply", "split it", 0)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        return ExpressionProblem("E201", f"the expression cannot be read: {str(error).splitlines()[0]}", "", 0)


def _find_bad_literal(text: str) -> ExpressionProblem | None:
    """The first `literal` that is not JSON; the package would take it as a text and warn."""
    for match in _QUOTED.finditer(text):
        literal = match[1]
        if literal is None:
            continue
        try:
            json.loads(literal.replace("\\`", "`"))
        except (ValueError, RecursionError):
            hint = f"for a text write '{literal.strip()}'" if literal.strip() else "write `null` or ''"
            return ExpressionProblem("E201", f"`{literal}` is not JSON", hint, match.start())
    return None


def _to_problem(text: str, error: LexerError) -> ExpressionProblem:
    offset = int(error.lexer_position)
    found = text[offset : offset + 1]
    if error.message.startswith("Unclosed"):
        return ExpressionProblem("E201", f"the {found} that starts here is not closed", "", offset)
    if found == "=":
        return ExpressionProblem("E201", "'=' does not compare", "write ==", offset)
    if found == '"':
        return ExpressionProblem(
            "E201", f"{error.lexer_value} is not a name in JSON quotes", "for a text use ' '", offset
        )
    hint = _foreign(found)
    if found == "-" and (name := _hyphened(text, offset)):
        hint = f'for the name {name} write "{name}" with its quotes, to take away subtract(a, b)'
    return ExpressionProblem("E201", f"{found!r} is not part of the language", hint, offset)


def _hyphened(text: str, offset: int) -> str:
    """The name with a hyphen that stands at an offset; "" where blanks or numbers are around the hyphen."""
    start, end = offset, offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] in "_-"):
        end += 1
    name = text[start:end]
    return name if name[:1].isalpha() and start < offset < end - 1 else ""


def _foreign(character: str) -> str:
    hints = {"+": "write add(a, b)", "-": "write subtract(a, b)", "/": "", "%": "", "$": "names have no $"}
    return hints.get(character, "")


def _unbalanced(text: str) -> str:
    bare = _QUOTED.sub("", text)
    for opening, closing in ("()", "[]", "{}"):
        if bare.count(opening) > bare.count(closing):
            return f"a '{opening}' is not closed; where a comma ended the value, put it in quotes"
    return ""
