"""Imports point one way: a module may import its own layer and those below it."""

from __future__ import annotations

import ast
import graphlib
import shutil
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ENGINE = Path(__file__).parents[1] / "engine" / "specloom"

LAYERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "values",
        (
            "",
            "audit_masking",
            "faults",
            "garbage",
            "invisible",
            "isolation",
            "vault",
            "wire",
            "shapes",
            "diagnostics",
            "drawer",
            "desk",
            "hooks",
            "limits",
            "folders",
            "records",
            "urls",
            "variables",
        ),
    ),
    ("text", ("load", "rules")),
    (
        "words",
        ("convert", "converter", "dates", "decode", "evaluate", "expressions", "functions", "signatures", "xpaths"),
    ),
    ("grammar", ("fields", "grammar", "model", "names", "settings", "tracker", "values")),
    (
        "operation",
        (
            "arranging",
            "capability",
            "collection",
            "conform",
            "constants",
            "driving",
            "grant",
            "operation",
            "paging",
            "perform",
            "provider",
            "requests",
            "responses",
            "row_mapping",
            "service",
            "steps",
        ),
    ),
    (
        "plan",
        (
            "answering",
            "arguments",
            "asking",
            "collecting",
            "config",
            "hinting",
            "holding",
            "inputs",
            "overrides",
            "parts",
            "plan",
            "proofs",
            "published",
            "running",
            "pursue",
            "refusals",
            "route",
            "sameness",
            "stages",
            "staging",
            "strategies",
            "surroundings",
            "toolset",
            "weave",
        ),
    ),
    (
        "runtime",
        (
            "addresses",
            "guard",
            "network",
            "inflate",
            "exchange",
            "pool",
            "transport",
            "breaker",
            "cache",
            "flights",
            "state",
            "recording",
            "cachekeys",
            "counts",
            "keyring",
            "provenance",
            "tally",
            "linking",
            "answer_check",
            "called",
            "conducting",
            "observing",
            "upstreams",
            "livedesk",
            "executor",
            "artifacts",
            "audit",
            "consents",
            "members",
        ),
    ),
    ("serve", ("prompts", "serve")),
    ("start", ("image", "remembering", "selection", "serving")),
    (
        "workshop",
        (
            "__main__",
            "cli",
            "comparing",
            "coverage",
            "docs",
            "doctor",
            "examples",
            "explain",
            "findings",
            "mutate",
            "overlooked",
            "places",
            "record",
            "sample",
            "scaffold",
            "schema",
            "show",
            "trying",
            "verdict",
        ),
    ),
)
"""Modules and packages by layer, lowest first. The package itself is the empty name."""

SURFACE = frozenset(
    {
        "",
        "addresses",
        "consents",
        "dates",
        "desk",
        "drawer",
        "faults",
        "garbage",
        "guard",
        "hooks",
        "invisible",
        "isolation",
        "members",
        "network",
        "records",
        "urls",
        "vault",
        "wire",
    }
)
"""What packages beside the layers may import of the engine."""

OUTSIDE: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "trust": SURFACE,
        "scrape": SURFACE | {"trust"},
        "research": SURFACE | {"trust", "scrape"},
        "papers": SURFACE | {"trust"},
    }
)
"""Packages beside the layers, and all that each may import; nobody imports them, they register hooks."""

RANKS = {module: rank for rank, (_, modules) in enumerate(LAYERS) for module in modules}


def find_rank(module: str) -> int | None:
    """The layer of a module; a part of a split noun (`decode_xml`) is where the noun is unless it is listed."""
    return RANKS.get(module, RANKS.get(module.partition("_")[0] if not module.startswith("_") else module))


class Import(NamedTuple):
    """One import of a part of the package by a module of it."""

    module: str
    target: str
    place: str
    at_load: bool
    """It runs when the module is loaded: not inside a function, and not for the type checker alone."""

    @property
    def source(self) -> str:
        return self.module.partition(".")[0]


def find_imports(engine: Path) -> Iterator[Import]:
    """Every import inside the package, with `file:line`; targets are dotted names below the package."""
    files = sorted(engine.rglob("*.py"))
    modules = {to_module(file.relative_to(engine)) for file in files}
    for file in files:
        at = file.relative_to(engine)
        module = to_module(at)
        package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
        tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
        at_load = set(find_load_time(tree.body))
        for node in ast.walk(tree):
            for target in find_targets(node, [part for part in package if part], modules):
                yield Import(module, target, f"{at.as_posix()}:{getattr(node, 'lineno', 0)}", node in at_load)


def to_module(at: Path) -> str:
    """`serve/stdio.py` → `serve.stdio`; `serve/__init__.py` → `serve`; `__init__.py` → the empty name."""
    parts = at.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def find_load_time(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from find_load_time(node.orelse)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef):
            yield from find_load_time(node.body)
            yield from find_load_time(getattr(node, "orelse", []))


def find_targets(node: ast.AST, package: list[str], modules: set[str]) -> Iterator[str]:
    """What one import statement reaches inside the package."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.partition(".")[0] == "specloom":
                yield alias.name.partition(".")[2]
    elif isinstance(node, ast.ImportFrom):
        if node.level:
            base = package[: len(package) - node.level + 1]
        elif (node.module or "").partition(".")[0] == "specloom":
            base = []
        else:
            return
        named = (node.module or "").split(".") if node.level else (node.module or "").split(".")[1:]
        at = ".".join([*base, *(part for part in named if part)])
        for alias in node.names:
            # `from . import load` reaches a module, `from .load import parse` a name in one.
            below = f"{at}.{alias.name}" if at else alias.name
            yield below if below in modules else at


def find_violations(engine: Path) -> list[str]:
    """One sentence for each import that points the wrong way and each module that has no layer."""
    found = []
    parts = {to_module(file.relative_to(engine)).partition(".")[0] for file in engine.rglob("*.py")}
    for part in sorted(parts - OUTSIDE.keys()):
        if find_rank(part) is None:
            found.append(f"{part}: has no layer; add it to the table in tests/test_architecture.py")
    for each in find_imports(engine):
        source, target = each.source, each.target.partition(".")[0]
        if source == target:
            continue
        if source in OUTSIDE:
            if target not in OUTSIDE[source]:
                allowed = ", ".join(sorted(filter(None, OUTSIDE[source])))
                found.append(f"{each.place}: {source} imports {target}, and may import only {allowed}")
        elif target in OUTSIDE:
            found.append(f"{each.place}: {source} imports {target}, which is reached through hooks and never by name")
        else:
            own, other = find_rank(source), find_rank(target)
            # A module without a layer has been reported above.
            if own is not None and other is not None and other > own:
                names = f"{source} ({LAYERS[own][0]}) imports {target} ({LAYERS[other][0]})"
                found.append(f"{each.place}: {names}, a higher layer")
    return found


def test_imports_point_from_higher_layers_to_lower_ones() -> None:
    found = find_violations(ENGINE)

    assert not found, "\n".join(found)


def test_modules_do_not_import_each_other_in_a_circle_when_they_load() -> None:
    graph: dict[str, set[str]] = {}
    for each in find_imports(ENGINE):
        # A package is loaded before what is in it, so importing it from inside is no circle.
        if each.at_load and each.target != each.module and not f"{each.module}.".startswith(f"{each.target}."):
            graph.setdefault(each.module, set()).add(each.target)
    graph.pop("", None)

    try:
        order = list(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        pytest.fail("these modules import each other: " + " → ".join(part or "specloom" for part in error.args[1]))

    assert order


def test_a_module_has_one_layer() -> None:
    modules = [module for _, layer in LAYERS for module in layer]

    assert len(modules) == len(set(modules))


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("load.py", "from .serve import stdio", "load.py:1: load (text) imports serve (serve), a higher layer"),
        ("load.py", "from . import plan", "load.py:1: load (text) imports plan (plan), a higher layer"),
        ("load.py", "import specloom.plan", "load.py:1: load (text) imports plan (plan), a higher layer"),
        ("load.py", "def f():\n    from specloom.plan import x", "load.py:2: load (text) imports plan"),
        ("serve/stdio.py", "from ..cli import main", "serve/stdio.py:1: serve (serve) imports cli (workshop)"),
        ("cli.py", "from .trust import x", "cli.py:1: cli imports trust, which is reached through hooks"),
        (
            "trust/x.py",
            "from ..cache import x",
            "trust/x.py:1: trust imports cache, and may import only addresses, consents, dates",
        ),
        ("trust/x.py", "from ..scrape import x", "trust/x.py:1: trust imports scrape, and may import only"),
        ("load_text.py", "from . import plan", "load_text.py:1: load_text (text) imports plan (plan), a higher layer"),
        ("novel.py", "", "novel: has no layer; add it to the table"),
    ],
)
def test_a_planted_import_is_found_with_its_file_and_line(tmp_path: Path, file: str, text: str, sentence: str) -> None:
    engine = tmp_path / "specloom"
    for name in ("__init__.py", "load.py", "plan.py", "cli.py", "serve/__init__.py", "trust/__init__.py", file):
        (engine / name).parent.mkdir(parents=True, exist_ok=True)
        (engine / name).touch()
    (engine / file).write_text(text + "\n", encoding="utf-8")

    found = find_violations(engine)

    assert len(found) == 1
    assert found[0].startswith(sentence)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("plan.py", "from . import __version__\nfrom .load import x\nimport specloom.load"),
        ("cli.py", "from .serve import stdio\nfrom . import plan"),
        ("trust/x.py", "from ..hooks import hook\nfrom ..faults import Fault\nfrom . import y\nimport json"),
        ("serve/stdio.py", "from .protocol import x\nfrom . import protocol\nfrom ..plan import x"),
    ],
)
def test_imports_that_point_down_are_fine(tmp_path: Path, file: str, text: str) -> None:
    engine = tmp_path / "specloom"
    for name in ("__init__.py", "load.py", "plan.py", "serve/stdio.py", "serve/protocol.py", "trust/y.py", file):
        (engine / name).parent.mkdir(parents=True, exist_ok=True)
        (engine / name).touch()
    (engine / file).write_text(text + "\n", encoding="utf-8")

    assert find_violations(engine) == []


def test_the_engine_is_parsed_where_it_stands(tmp_path: Path) -> None:
    """A copy of the real engine with one import turned round is refused, so the checks above read real code."""
    engine = tmp_path / "specloom"
    shutil.copytree(ENGINE, engine, ignore=shutil.ignore_patterns("__pycache__"))
    faults = engine / "faults.py"
    faults.write_text(faults.read_text(encoding="utf-8") + "\nfrom .cli import main\n", encoding="utf-8")

    found = find_violations(engine)

    assert any("faults (values) imports cli (workshop)" in each for each in found)
