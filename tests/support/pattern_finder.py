"""Every regular expression of the engine and of the shipped specs, with the way each is used.

Run as a program (`python -m tests.support.pattern_finder`) it prints them as JSON: a fresh process in which `re` is
watched imports every module, compiles the specs and runs their examples. What is compiled later, inside functions, is
read from the source: each call of `re` whose pattern can be told from the names of its module.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "engine" / "specloom"
CALLS = frozenset(("compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"))
# How a pattern is "used" that is compiled only to see whether it can be.
UNUSED = "compile"
ANCHORED = frozenset(("fullmatch", "match"))


class Expression(NamedTuple):
    """One compiled pattern: `ways` are the methods it is used by, none when that cannot be told from the source."""

    file: str
    line: int
    pattern: str
    flags: int
    binary: bool
    ways: tuple[str, ...]


class _Source(ast.NodeVisitor):
    """What one module says about its patterns: calls of `re`, the names they are bound to, how names are used."""

    def __init__(self, tree: ast.Module) -> None:
        self.calls: list[ast.Call] = []
        self.names: dict[str, tuple[int, int]] = {}
        self.ways: defaultdict[str, set[str]] = defaultdict(set)
        self.loose: set[str] = set()
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                child.parent = node  # type: ignore[attr-defined]
        self.visit(tree)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.names[target.id] = (node.lineno, node.end_lineno or node.lineno)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.names[node.target.id] = (node.lineno, node.end_lineno or node.lineno)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if (
            isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.value.id == "re"
            and function.attr in CALLS
        ):
            self.calls.append(node)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            parent = node.parent  # type: ignore[attr-defined]
            if isinstance(parent, ast.Attribute) and parent.attr in CALLS:
                self.ways[node.id].add(_to_way(parent))
            elif not (isinstance(parent, ast.Attribute) and parent.attr in ("pattern", "flags")):
                self.loose.add(node.id)


def _to_way(attribute: ast.Attribute) -> str:
    """The method of a use; one that is given a place to begin at is used all along a text, as a search is."""
    call = attribute.parent  # type: ignore[attr-defined]
    places = len(call.args) if isinstance(call, ast.Call) and call.func is attribute else 1
    return "finditer" if attribute.attr in ANCHORED and places > 1 else attribute.attr


def find_expressions() -> tuple[list[Expression], list[str]]:
    """All patterns, found by a fresh process, and the calls (file and text) whose pattern was not seen."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.support.pattern_finder"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    if run.returncode:
        raise AssertionError(f"the patterns could not be collected:\n{run.stderr[-4000:]}")
    rows, unseen = json.loads(run.stdout)
    return [Expression(*row[:-1], tuple(row[-1])) for row in rows], unseen


def _collect() -> tuple[list[Expression], list[str]]:
    compiled: dict[tuple[str, int, str | bytes, int], None] = {}
    original = re._compile  # type: ignore[attr-defined]

    def watch(pattern: object, flags: int) -> object:
        expression = original(pattern, flags)
        frame = sys._getframe(1)
        while frame is not None and "/re/" in frame.f_code.co_filename:
            frame = frame.f_back  # type: ignore[assignment]
        if isinstance(pattern, str | bytes) and frame.f_code.co_filename.startswith(str(ENGINE)):
            compiled[frame.f_code.co_filename, frame.f_lineno, pattern, expression.flags & ~re.DEBUG] = None
        return expression

    re._compile = watch  # type: ignore[attr-defined]
    import specloom

    modules = [
        importlib.import_module(name)
        for _, name, _ in pkgutil.walk_packages(specloom.__path__, "specloom.")
        if not name.endswith("__main__")
    ]
    from tests.support.shipped import shipped_examples

    shipped_examples()
    sources = {path: _Source(ast.parse(path.read_text(encoding="utf-8"))) for path in ENGINE.rglob("*.py")}
    for module in modules:
        for pattern, flags, line in _read_calls(sources[Path(module.__file__ or "")], vars(module)):
            with contextlib.suppress(re.error, TypeError):
                compiled[module.__file__ or "", line, pattern, original(pattern, flags).flags] = None
    lines = {(file, line) for file, line, *_ in compiled}
    unseen = [
        f"{path.relative_to(ENGINE).as_posix()}: {ast.unparse(call)}"
        for path, source in sources.items()
        for call in source.calls
        if not any((str(path), line) in lines for line in range(call.lineno, (call.end_lineno or call.lineno) + 1))
    ]
    expressions = sorted(
        Expression(
            Path(file).relative_to(ROOT).as_posix(),
            line,
            pattern if isinstance(pattern, str) else pattern.decode("latin-1"),
            flags,
            isinstance(pattern, bytes),
            tuple(sorted(_find_ways(sources, Path(file), line))),
        )
        for file, line, pattern, flags in compiled
    )
    return expressions, sorted(unseen)


def _read_calls(source: _Source, names: dict[str, object]) -> Iterator[tuple[str | bytes, int, int]]:
    """The patterns of calls that the names of a module are enough for."""
    for call in source.calls:
        flags: object = 0
        # What a function's own names are part of is compiled by the examples, or is not found here.
        with contextlib.suppress(NameError, AttributeError, TypeError, KeyError):
            pattern = eval(compile(ast.Expression(call.args[0]), "", "eval"), dict(names))
            for keyword in call.keywords:
                if keyword.arg == "flags":
                    flags = eval(compile(ast.Expression(keyword.value), "", "eval"), dict(names))
            if call.func.attr == "compile" and len(call.args) > 1:  # type: ignore[attr-defined]
                flags = eval(compile(ast.Expression(call.args[1]), "", "eval"), dict(names))
            if isinstance(pattern, str | bytes) and isinstance(flags, int):
                yield pattern, int(flags), call.lineno


def _find_ways(sources: dict[Path, _Source], path: Path, line: int) -> set[str]:
    source = sources[path]
    for call in source.calls:
        method = call.func.attr  # type: ignore[attr-defined]
        if method != "compile" and call.lineno <= line <= (call.end_lineno or line):
            return {method}
        if (
            method == "compile"
            and call.lineno <= line <= (call.end_lineno or line)
            and isinstance(call.parent, ast.Expr)
        ):  # type: ignore[attr-defined]
            return {UNUSED}
    for name, (first, last) in source.names.items():
        if first <= line <= last:
            # A name that begins with a line is its module's own.
            users = [source] if name.startswith("_") else list(sources.values())
            if any(name in user.loose for user in users):
                return set()
            return set().union(*(user.ways.get(name, set()) for user in users))
    return set()


if __name__ == "__main__":
    json.dump(_collect(), sys.stdout)
