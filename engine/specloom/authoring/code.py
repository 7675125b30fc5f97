"""The code that a tool or a provider becomes, for people: each statement under the place of the spec that it is of."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specloom.compiler import generate
from specloom.core import Fault, did_you_mean
from specloom.model import Model, Provider, Tool

WIDTH = 120
"""Characters of a line beyond which a call is written with one argument a line."""


def code_lines(model: Model, name: str) -> list[str]:
    """The module that a tool or provider becomes; a Fault names what does not exist."""
    spec = _find(model, name)
    lines = [f"# {spec.place.file}: what is loaded when {name} is first called"]
    at = 0
    for statement in generate(spec, spec.place.file).body:
        if statement.lineno != at and not isinstance(statement, ast.ImportFrom):
            at = statement.lineno
            lines += ["", f"# line {at}"]
        lines += _write(statement)
    return lines


def _find(model: Model, name: str) -> Tool | Provider:
    if name in model.tools:
        return model.tools[name]
    if name in model.providers:
        return model.providers[name]
    hint = did_you_mean(name, [*model.tools, *model.providers])
    raise Fault("config", f"no tool and no provider is called {name!r}" + (f"; {hint}" if hint else ""))


def _write(statement: ast.stmt) -> Iterator[str]:
    text = ast.unparse(statement)
    if isinstance(statement, ast.ImportFrom) and len(text) > WIDTH:
        names = ", ".join(alias.name for alias in statement.names)
        yield from (f"from {statement.module} import (", f"    {names},", ")")
    elif isinstance(statement, ast.Assign) and len(text) > WIDTH:
        (target,) = statement.targets
        before = f"{ast.unparse(target)} = "
        first, *rest = _spread(statement.value, "", len(before))
        yield f"{before}{first}"
        yield from rest
    else:
        yield from text.splitlines()


def _spread(value: ast.expr, indent: str, used: int) -> list[str]:
    """A value over as many lines as it takes, the first without its indent and behind so many characters."""
    text = ast.unparse(value)
    if used + len(text) < WIDTH:
        return [text]
    inner = f"{indent}    "
    if isinstance(value, ast.Call):
        parts = [("", one) for one in value.args] + [(f"{one.arg}=", one.value) for one in value.keywords]
        opening, closing = f"{ast.unparse(value.func)}(", ")"
    elif isinstance(value, ast.Dict):
        parts = [(f"{ast.unparse(key)}: ", one) for key, one in zip(value.keys, value.values, strict=True) if key]
        opening, closing = "{", "}"
    elif isinstance(value, (ast.Tuple, ast.List)):
        parts = [("", one) for one in value.elts]
        opening, closing = ("(", ")") if isinstance(value, ast.Tuple) else ("[", "]")
    else:
        return [text]
    lines = [opening]
    for before, part in parts:
        first, *rest = _spread(part, inner, len(inner) + len(before))
        lines += [f"{inner}{before}{first}", *rest]
        lines[-1] += ","
    return [*lines, f"{indent}{closing}"]
