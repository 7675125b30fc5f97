"""The rooms of the engine, read from its imports; drawn into docs/architecture.md, which `--check` compares."""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / "engine" / "specloom"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- rooms: drawn from the imports by scripts/rooms.py -->\n", "<!-- rooms: end -->\n"


class Import(NamedTuple):
    """One import of a module of the engine: where it stands, what it names, and the module that has that name."""

    importer: str
    line: int
    written: str
    target: str


class Tree:
    """The modules of a package as syntax trees, and what each import in them means, deferred and type-only ones too."""

    def __init__(self, root: Path) -> None:
        files = sorted(path for path in root.rglob("*.py") if "__pycache__" not in path.parts)
        self.root = root.name
        self.packages = {self._name(root, path) for path in files if path.name == "__init__.py"}
        self.trees = {self._name(root, path): ast.parse(path.read_text(encoding="utf-8")) for path in files}

    def _name(self, root: Path, path: Path) -> str:
        parts = (self.root, *path.relative_to(root).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def imports(self, module: str) -> Iterator[Import]:
        """Every import of this package in a module, wherever it stands."""
        for line, base, name in self._statements(module):
            target = self._resolve(base, name)
            if target is not None:
                yield Import(module, line, base, target)

    def _statements(self, module: str) -> Iterator[tuple[int, str, str]]:
        for node in ast.walk(self.trees[module]):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    parts = module.split(".")
                    above = parts[: len(parts) - node.level + (module in self.packages)]
                    base = ".".join([*above, base] if base else above)
                yield from ((node.lineno, base, alias.name) for alias in node.names)

    def _resolve(self, base: str, name: str, seen: frozenset[str] = frozenset()) -> str | None:
        """The module that an import means: a module by its name, or the one whose name a package passes on."""
        if f"{base}.{name}" in self.trees:
            return f"{base}.{name}"
        if base in self.packages and name and base not in seen:
            for _, further, offered in self._statements(base):
                if offered == name:
                    return self._resolve(further, offered, seen | {base})
        return base if base in self.trees else None

    def room(self, module: str) -> str:
        """The room of a module: the folder below the package, and below `domains` the one in there."""
        parts = module.split(".")[1:]
        return ".".join(parts[: 2 if parts[:1] == ["domains"] else 1])

    def graph(self) -> dict[str, set[str]]:
        """What each module imports; packages are left out, because they only pass names on."""
        modules = [name for name in self.trees if name not in self.packages]
        edges = {name: {found.target for found in self.imports(name)} for name in modules}
        return {name: {to for to in edges[name] if to != name and to in edges} for name in modules}

    def rooms(self) -> dict[str, set[str]]:
        """What each room really imports, rooms by rooms."""
        found: dict[str, set[str]] = {}
        for module in self.trees:
            room = self.room(module)
            if room in {"", "__main__", "domains"}:
                continue
            others = {self.room(each.target) for each in self.imports(module)} - {room, "", "domains"}
            found.setdefault(room, set()).update(others)
        return found


def reduce(edges: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The edges without those that longer ways say too (transitive reduction of an acyclic graph)."""

    def below(room: str) -> set[str]:
        return edges[room].union(*(below(other) for other in edges[room]))

    return {room: others - set[str]().union(*(below(other) for other in others)) for room, others in edges.items()}


def draw(page: str, tree: Tree) -> str:
    """The page with the picture of the rooms between its marks."""
    lines = ["```mermaid", "flowchart TD"]
    for room, others in sorted(reduce(tree.rooms()).items()):
        name = room.replace(".", "_")
        lines.append(f'    {name}["{room}"]')
        lines += [f"    {name} --> {other.replace('.', '_')}" for other in sorted(others)]
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n".join([*lines, "```"]) + "\n" + END + after


def main() -> int:
    """Draw, or with `--check` say whether what is drawn is true: 0 when it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 if the picture is out of date")
    only_check = parser.parse_args().check
    page = PAGE.read_text(encoding="utf-8")
    drawn = draw(page, Tree(ENGINE))
    if drawn == page:
        return 0
    if only_check:
        sys.stderr.write("docs/architecture.md does not show the rooms as they are; run `make docs`\n")
        return 1
    PAGE.write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
