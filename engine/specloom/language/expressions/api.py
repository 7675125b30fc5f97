"""Compiled expressions: JMESPath 1.1 with our functions, checked before anything runs and fast when it does.

An expression sees a context whose roots are given as a `RecordType`; a selector sees one item. Both become an
`Expression`, or all that is wrong with the text at once. The codes are E201 (cannot be read), E202 (unknown name),
E203 (unknown function), E204 (wrong arguments), E205 (`!a.b`), E206 (a whole root), E207 (a secret in another value),
E208 (unknown table).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from specloom.core import dataclass

from ..types import ANY, RecordType, Shape
from .calls import SpecFunctions
from .compile import build, guard
from .parser import ExpressionProblem, Node, forget_trees, parse
from .typecheck import MAX_COPIES, TypeChecker, count_copies, share

Tables = Mapping[str, Mapping[str, Any]]
_NO_TABLES: Tables = MappingProxyType({})
_WITHOUT_TABLES = SpecFunctions(_NO_TABLES)


EXPRESSION = "expression"
"""The maker of the functions of expressions; code of their own is generated for each."""


class ExpressionSource(NamedTuple):
    """What code is generated from for an expression that was checked."""

    text: str
    node: Node
    tables: Tables
    rooted: bool
    """It is worked out from bindings, not from an item."""
    fails: bool
    """There are values that it cannot take."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression: `evaluate` gives its value or raises `EvaluationError`.

    `uses` are the paths it reads, from the context or from the item; `()` is the whole item.
    """

    text: str
    shape: Shape
    uses: frozenset[tuple[str, ...]]
    tables: frozenset[str]
    evaluate: Callable[[Any], Any]


def compile_expression(
    text: str, scope: RecordType, *, tables: Tables = _NO_TABLES
) -> tuple[Expression | None, list[ExpressionProblem]]:
    """The expression over a context with the roots of `scope`, or the problems that keep it from being one."""
    return _compile(text, scope, tables, rooted=True)


def compile_selector(
    text: str, item: Shape = ANY, *, tables: Tables = _NO_TABLES
) -> tuple[Expression | None, list[ExpressionProblem]]:
    """The expression over one item of the given shape, or the problems that keep it from being one."""
    if item == ANY and not tables:
        expression, problems = _compile_plain_selector(text)
        return expression, list(problems)
    return _compile(text, item, tables, rooted=False)


@lru_cache(maxsize=2048)
def _compile_plain_selector(text: str) -> tuple[Expression | None, list[ExpressionProblem]]:
    return _compile(text, ANY, _NO_TABLES, rooted=False)


def forget_texts() -> None:
    """Let go of what compiling remembers for the same text elsewhere, when all specs are compiled."""
    _compile_plain_selector.cache_clear()
    share.cache_clear()
    forget_trees()


def _compile(
    text: str, context: Shape, tables: Tables, *, rooted: bool
) -> tuple[Expression | None, list[ExpressionProblem]]:
    node = parse(text)
    if isinstance(node, ExpressionProblem):
        return None, [node]
    checker = TypeChecker(context, tables, rooted=rooted)
    try:
        copies = count_copies(node)
        if copies > MAX_COPIES:
            often = f"{copies:,}" if copies < 10**18 else "more than 10^18"
            message = f"the value would hold what it reads {often} times, and {MAX_COPIES:,} are allowed"
            return None, [ExpressionProblem("E212", message, "use @ once in each part between two |", 0)]
        shape = checker.run(node)
        if checker.problems:
            found = [_explain_quotes(text, problem) for problem in checker.problems.values()]
            return None, sorted(found, key=lambda problem: (problem.offset, problem.code))
        used = {name: tables[name] for name in checker.tables}
        code = build(node, SpecFunctions(used) if used else _WITHOUT_TABLES)
    except RecursionError:
        return None, [ExpressionProblem("E201", "the expression is nested too deeply", "split it", 0)]
    evaluate = guard(text, code.run) if code.fails else code.run
    vars(evaluate)["made_by"] = EXPRESSION, ExpressionSource(text, node, used, rooted, code.fails)
    return Expression(text, shape, checker.uses(), share(frozenset(checker.tables)), evaluate), []


def _explain_quotes(text: str, problem: ExpressionProblem) -> ExpressionProblem:
    """An unknown name in double quotes is mostly meant as a text, which the language writes in single ones."""
    if problem.code != "E202" or text[problem.offset : problem.offset + 1] != '"':
        return problem
    return replace(problem, hint="double quotes stand around names; a text is written in single quotes")
