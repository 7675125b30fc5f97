"""The rooms of the engine: a room imports rooms on lower floors alone, and nothing goes in a circle."""

from __future__ import annotations

import ast
import graphlib
import importlib
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from scripts.rooms import ENGINE, PAGE, Tree, draw

ROOMS: Mapping[str, str] = {
    "core": "",
    "plugins": "core",
    "net": "core",
    "cache": "core",
    "language": "core",
    "model": "core language plugins",
    "specs": "core language",
    "compiler": "core language model plugins specs",
    "runtime": "core plugins net cache language model",
    "storage": "core plugins",
    "server": "core plugins net cache model specs compiler runtime storage",
    "http": "core plugins net cache model specs compiler runtime storage server",
    "authoring": "core plugins net language model specs compiler runtime storage",
    "ui": "core plugins model specs compiler runtime storage server authoring",
    "cli": "core plugins net cache language model specs compiler runtime storage server http authoring ui",
    "domains.text": "core plugins net",
    "domains.trust": "core plugins net domains.text",
    "domains.scrape": "core plugins net domains.text domains.trust",
    "domains.sessions": "core plugins net storage domains.text domains.trust domains.scrape",
    "domains.papers": "core plugins net storage domains.text domains.trust domains.scrape",
}
"""What each room may import. The root (`__main__`) may import all, and every room the version."""


def misplaced(tree: Tree, rooms: Mapping[str, str]) -> list[str]:
    """What breaks the table of rooms, a line each."""
    problems = []
    for module in tree.trees:
        room = tree.room(module)
        if room in {"", "__main__", "domains"}:
            continue
        if room not in rooms:
            problems.append(f"{module} stands in no room of the table")
            continue
        for found in tree.imports(module):
            other = tree.room(found.target)
            if other not in {room, "", "domains"} and other not in rooms[room].split():
                problems.append(f"{module}:{found.line} imports {found.target}: {room} may not import {other}")
    return problems


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree(ENGINE)


def test_a_room_imports_the_rooms_that_the_table_gives_it(tree: Tree) -> None:
    assert misplaced(tree, ROOMS) == []


def test_the_table_lists_the_rooms_that_there_are(tree: Tree) -> None:
    rooms = {tree.room(module) for module in tree.packages} - {"", "domains"}

    assert rooms == set(ROOMS)


def test_no_import_goes_in_a_circle(tree: Tree) -> None:
    graphlib.TopologicalSorter(tree.graph()).prepare()


def test_few_names_stand_at_the_root() -> None:
    names = {path.name for path in ENGINE.iterdir() if path.name != "__pycache__"}

    assert len(names) <= 18
    assert {name for name in names if name.endswith(".py")} == {"__init__.py", "__main__.py"}


def test_paths_are_short(tree: Tree) -> None:
    deepest = max(len(module.split(".")) - 2 + (module in tree.packages) for module in tree.trees)

    assert deepest <= 4


def test_inside_a_room_imports_are_relative_and_between_rooms_absolute(tree: Tree) -> None:
    odd = []
    for module, syntax in tree.trees.items():
        for node in ast.walk(syntax):
            if not isinstance(node, ast.ImportFrom):
                continue
            if node.level == 0 and (node.module or "").startswith("specloom."):
                target = tree.room(node.module or "")
                if target == tree.room(module) and module != "specloom.__main__":
                    odd.append(f"{module}:{node.lineno} names its own room")
            elif node.level:
                parts = module.split(".")
                above = ".".join(parts[: len(parts) - node.level + (module in tree.packages)])
                if tree.room(above) != tree.room(module) and module in tree.trees and tree.room(module):
                    odd.append(f"{module}:{node.lineno} reaches out of its room with dots")

    assert odd == []


def test_a_door_has_what_it_offers_and_says_its_idea(tree: Tree) -> None:
    for name in sorted(tree.packages):
        package = importlib.import_module(name)

        assert package.__doc__, name
        offers = tree._statements(name) if hasattr(package, "__getattr__") else ()
        for _, base, offered in offers:
            if base.startswith(f"{name}.") and offered != "exports":
                assert getattr(package, offered) is getattr(importlib.import_module(base), offered)


def test_the_engine_is_reached_by_no_domain_but_through_its_doors(tree: Tree) -> None:
    engine = [module for module in tree.trees if not tree.room(module).startswith("domains")]

    assert [
        found for module in engine for found in tree.imports(module) if tree.room(found.target)[:7] == "domains"
    ] == []


def test_the_picture_of_the_rooms_is_drawn_from_the_imports(tree: Tree) -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert draw(page, tree) == page, "run `make docs`"


# --- that the checks can fail ---------------------------------------------------------------------------------------


def _write(root: Path, files: Mapping[str, str]) -> Tree:
    for name, text in files.items():
        path = root / "specloom" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Tree(root / "specloom")


PACKAGES = {"__init__.py": "", "core/__init__.py": "", "net/__init__.py": "", "core/dates.py": "", "net/pool.py": ""}


@pytest.mark.parametrize(
    "statement",
    [
        "from specloom.net import pool",
        "from specloom.net.pool import Pool",
        "from ..net.pool import Pool",
        "import specloom.net.pool",
        "def late():\n    from specloom.net import pool",
        "if TYPE_CHECKING:\n    from specloom.net.pool import Pool",
    ],
)
def test_an_import_of_a_higher_room_is_found_wherever_it_stands(tmp_path: Path, statement: str) -> None:
    tree = _write(tmp_path, {**PACKAGES, "core/dates.py": statement})

    assert [line.split(": ")[1] for line in misplaced(tree, {"core": "", "net": "core"})] == ["core may not import net"]


def test_a_circle_through_a_door_is_found(tmp_path: Path) -> None:
    files = {
        "core/__init__.py": "from .dates import Day",
        "core/dates.py": "def late():\n    from specloom.net.pool import Pool",
        "net/pool.py": "from specloom.core import Day",
    }
    tree = _write(tmp_path, {**PACKAGES, **files})

    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(tree.graph()).prepare()


def test_a_room_that_the_table_does_not_know_is_found(tmp_path: Path) -> None:
    tree = _write(tmp_path, {**PACKAGES, "attic/__init__.py": "", "attic/trunk.py": ""})

    assert misplaced(tree, {"core": "", "net": "core"}) == [
        "specloom.attic stands in no room of the table",
        "specloom.attic.trunk stands in no room of the table",
    ]


def test_a_class_name_stands_for_one_thing(tree: Tree) -> None:
    places: dict[str, list[str]] = {}
    for module, parsed in tree.trees.items():
        for node in ast.walk(parsed):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(module)

    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_the_map_names_what_is_there(page: str, tree: Tree) -> None:
    root = ENGINE.parents[1]
    text = (root / page).read_text(encoding="utf-8")
    paths = {path for path in re.findall(r"`([\w-][\w.-]*/[\w./-]*)`", text) if "NAME" not in path}
    rooms = "|".join(room for room in ROOMS if "." not in room)
    modules = set(re.findall(rf"`((?:{rooms})\.[a-z_.]+)`", text))

    assert paths | modules
    assert [path for path in sorted(paths) if not any((top / path).exists() for top in (root, ENGINE))] == []
    assert [name for name in sorted(modules) if f"specloom.{name}" not in tree.trees] == []
