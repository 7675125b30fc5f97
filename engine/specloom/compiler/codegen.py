"""Generates the code of a compiled spec: Python that makes it again, without reading, checking or proving anything.

What comes out is a syntax tree whose lines are those of the spec, so that a traceback points there; nothing is put
together as text. Expressions become functions, everything else calls of the classes of the model and of `makers`.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from specloom.core import Place
from specloom.language import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    OPEN,
    SECRET,
    TEXT,
    ExpressionSource,
    emit_expression,
    made_by,
)
from specloom.model import NULL_KEPT, SPEC, Field, PageModel, Provider, Value

_SUPPORT = "specloom.language"
_DROPPED: Mapping[type, frozenset[str]] = {
    Field: frozenset({"shape", "uses", "tables"}),
    Value: frozenset({"shape", "tables"}),
    Provider: frozenset({"tables"}),
}
"""What only proofs read of a compiled spec."""
_NOTHING: Mapping[str, Any] = {"shape": ANY, "tables": MappingProxyType({})}
"""What stands in the place of what is not left out."""
_LOAD, _STORE = ast.Load(), ast.Store()
_SINGLETONS = {
    id(one): name
    for name, one in {
        "ANY": ANY,
        "BOOLEAN": BOOLEAN,
        "INTEGER": INTEGER,
        "NUMBER": NUMBER,
        "OPEN": OPEN,
        "SECRET": SECRET,
        "TEXT": TEXT,
    }.items()
}
"""Shapes that there is one of."""
_SCALARS = (str, int, float, bool, type(None), bytes)


def generate(spec: Any, file: str) -> ast.Module:
    """The module that makes one compiled spec, a tool or a provider, whose file is this one."""
    return _ModuleBuilder(spec, file).build()


def compile_code(module: ast.Module, file: str) -> Any:
    """The byte code of a generated module; its tracebacks name the spec's file."""
    return compile(module, file, "exec", dont_inherit=True, optimize=0)


class _ModuleBuilder:
    """Knows by which name the module calls what it has made once."""

    def __init__(self, spec: Any, file: str) -> None:
        self.spec = spec
        self.file = file
        self.keeps_uses = not isinstance(spec, Provider)
        """Calls read what values use: those of tools and of pages, but no operation's."""
        self.line = 1
        self.imports: dict[str, set[str]] = {}
        self.made: dict[Any, str] = {}
        """Names of what is made once, by identity or, for what is compared, by value."""
        self.kept: list[Any] = []
        self.names: Counter[str] = Counter()
        self.statements: list[ast.stmt] = []

    def build(self) -> ast.Module:
        place = getattr(self.spec, "place", None)
        self.line = place.line if place else 1
        self.assign(SPEC, self.visit(self.spec))
        imports = [
            ast.ImportFrom(module, [ast.alias(name) for name in sorted(names)], 0)
            for module, names in sorted(self.imports.items())
        ]
        for one in imports:
            locate(one, 1)
        return ast.Module([*imports, *self.statements], [])

    # What the expressions of a module use; see `language.expressions.emit.Names`

    def support(self, name: str) -> ast.expr:
        return self.use(_SUPPORT, name)

    def function(self, name: str, applied: tuple[bool, ...]) -> ast.expr:
        suffix = "" if not any(applied) else "_" + "".join("e" if one else "v" for one in applied)
        return self.once(
            ("function", name, applied),
            f"call_{name}{suffix}",
            lambda: self.call(self.support("check_function"), name, *applied),
        )

    def lookup(self, name: str, table: Mapping[str, Any]) -> ast.expr:
        return self.once(
            ("lookup", name), f"look_into_{_slug(name)}", lambda: self.call(self.support("check_lookup"), name, table)
        )

    # Names

    def use(self, module: str, name: str) -> ast.expr:
        """A name that is imported."""
        self.imports.setdefault(module, set()).add(name)
        return ast.Name(name, _LOAD)

    def use_module(self, name: str) -> ast.expr:
        """A module that is imported."""
        return self.once(
            ("module", name), name, lambda: ast.Call(ast.Name("__import__", _LOAD), [ast.Constant(name)], [])
        )

    def once(self, key: Any, name: str, make: Callable[[], ast.expr]) -> ast.expr:
        """The variable that has what is made once for the whole module."""
        if key not in self.made:
            value = make()
            self.made[key] = self.name(name)
            self.assign(self.made[key], value)
        return ast.Name(self.made[key], _LOAD)

    def name(self, wanted: str) -> str:
        """A name that nothing in the module has yet."""
        self.names[wanted] += 1
        count = self.names[wanted]
        return wanted if count == 1 else f"{wanted}_{count}"

    def assign(self, name: str, value: ast.expr) -> None:
        self.add(ast.Assign([ast.Name(name, _STORE)], value))

    def add(self, statement: ast.stmt) -> None:
        """The next statement, on the spec's line that it comes from."""
        locate(statement, self.line)
        self.statements.append(statement)

    def call(self, function: ast.expr, *arguments: Any) -> ast.Call:
        return ast.Call(function, [self.visit(one) for one in arguments], [])

    # Values

    def visit(self, value: Any) -> ast.expr:
        """What makes a value again."""
        if value is NULL_KEPT:
            return self.use("specloom.model", "NULL_KEPT")
        if is_plain(value):
            return ast.Constant(value)
        if isinstance(value, Place):
            return self.place(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self.record(value)
        if isinstance(value, (tuple, list)):
            of = ast.Tuple if isinstance(value, tuple) else ast.List
            return of([self.visit(one) for one in value], _LOAD)
        if isinstance(value, Mapping):
            made = ast.Dict([self.visit(key) for key in value], [self.visit(one) for one in value.values()])
            return (
                ast.Call(self.use("types", "MappingProxyType"), [made], []) if type(value) is MappingProxyType else made
            )
        if isinstance(value, frozenset):
            return self.call(ast.Name("frozenset", _LOAD), tuple(sorted(value)))
        if isinstance(value, re.Pattern):
            return self.pattern(value)
        if callable(value):
            return self.callable(value)
        raise TypeError(f"no code makes a {type(value).__name__}")

    def place(self, place: Place) -> ast.expr:
        made = self.use("specloom.core", "Place")
        file = self.once(
            ("file", place.file), "FILE" if place.file == self.file else "OTHER_FILE", lambda: ast.Constant(place.file)
        )
        return ast.Call(made, [file, *(ast.Constant(one) for one in (place.line, place.column, place.width))], [])

    def record(self, value: Any) -> ast.expr:
        """A record, made once where it stands in several places; what its class gives by default is left out."""
        if id(value) in _SINGLETONS:
            return self.use("specloom.language", _SINGLETONS[id(value)])
        kind = type(value)
        key = ("record", id(value))
        if key in self.made:
            return ast.Name(self.made[key], _LOAD)
        before = self.line
        if isinstance(place := getattr(value, "place", None), Place) and place.file == self.file:
            self.line = place.line
        dropped = _DROPPED.get(kind, frozenset())
        kept = self.keeps_uses
        self.keeps_uses = kept or kind is PageModel
        if kind is Value and not self.keeps_uses:
            dropped |= {"uses"}
        keywords = []
        count = len(self.statements)
        for field in dataclasses.fields(value):
            said = getattr(value, field.name)
            if not field.init or (field.default is not dataclasses.MISSING and _same(said, field.default)):
                continue
            if field.name in dropped:
                if field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING:
                    continue
                said = _NOTHING[field.name]
            keywords.append(ast.keyword(field.name, self.visit(said)))
        made: ast.expr = ast.Call(self.use(_room(kind), kind.__name__), [], keywords)
        if len(self.statements) > count:
            # It holds a function, and stands on its own.
            self.kept.append(value)  # so that its identity is nobody else's
            name = self.made[key] = self.name(f"{_snake(kind.__name__)}_{self.line}")
            self.assign(name, made)
            made = ast.Name(name, _LOAD)
        self.line, self.keeps_uses = before, kept
        return made

    def pattern(self, value: re.Pattern[str]) -> ast.expr:
        flags = value.flags & ~re.UNICODE
        return self.call(
            ast.Attribute(self.use_module("re"), "compile", _LOAD), value.pattern, *([flags] if flags else [])
        )

    def callable(self, value: Callable[..., Any]) -> ast.expr:
        """A function, made again by its maker, or written out where it is that of an expression."""
        made = made_by(value)
        if made is None:
            raise TypeError(f"no code makes {value!r}")
        key = ("callable", id(value))
        if key not in self.made:
            self.kept.append(value)
            maker, parts = made
            if isinstance(parts, ExpressionSource):
                self.made[key] = self.define(parts)
            else:
                self.made[key] = self.name(f"{maker}_{self.line}")
                self.assign(self.made[key], self.call(self.use("specloom.language", maker), *parts))
        return ast.Name(self.made[key], _LOAD)

    def define(self, source: ExpressionSource) -> str:
        """The function of an expression."""
        root = "context" if source.rooted else "item"
        value: ast.stmt = ast.Return(emit_expression(source.node, source.tables, self, root, rooted=source.rooted))
        name = self.name(f"line_{self.line}")
        body = [value]
        if source.fails:
            failed = ast.Call(
                self.support("name_expression"), [ast.Constant(source.text), ast.Name("error", _LOAD)], []
            )
            raised = ast.Raise(failed, ast.Name("error", _LOAD))
            handler = ast.ExceptHandler(self.support("CAUGHT"), "error", [raised])
            body = [ast.Try([value], [handler], [], [])]
        parameters = ast.arguments([], [ast.arg(root)], None, [], [], None, [])
        self.add(ast.FunctionDef(name, parameters, body, []))
        return name


def locate(statement: ast.stmt, line: int) -> None:
    """Let a statement and all that is in it stand on this line."""
    nodes: list[Any] = [statement]
    while nodes:
        node = nodes.pop()
        node.lineno = node.end_lineno = line
        node.col_offset = node.end_col_offset = 0
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                nodes += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                nodes.append(value)


def is_plain(value: Any) -> bool:
    """Whether a value can stand in code as a constant."""
    if type(value) in (tuple, frozenset):
        return all(map(is_plain, value))
    return type(value) in _SCALARS


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and is_plain(value) and bool(value == default))


def _room(kind: type) -> str:
    """The room that offers a class of the engine."""
    return ".".join(kind.__module__.split(".")[:2])


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).strip("_").lower()


def _slug(name: str) -> str:
    return re.sub(r"\W", "_", name)
