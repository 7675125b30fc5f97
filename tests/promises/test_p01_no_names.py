"""The promises of the design, each held by a check that can fail, and each check shown to fail."""

from __future__ import annotations

import ast
import re
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from specloom.compiler.published_schemas import LINKED
from specloom.plugins.collections import ENGINE_NEEDS
from specloom.plugins.registry import PROCEDURES
from tests.support.shipped import shipped_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "engine" / "specloom"
DOMAIN = "domains"
"""The package whose job is domain Python: it may name sites and tools."""

HOMONYMS: Mapping[str, str] = MappingProxyType(
    {
        "answer": "a key of the tool language, and the word for what a call returns",
        "core": "the word for what has no transport, and the toolset that is on by default",
        "lens": "a kind of spec",
        "library_import": "what Python writes to import from the module of that name",
    }
)
"""Names of specs that are words of the engine too; finding one proves nothing, so they are not looked for."""


def find_spec_names(root: Path) -> frozenset[str]:
    """The stems of all tools and providers: a file's stem is its name. Beside the folders of tools are toolsets."""
    files = [*(root / "tools.d").glob("*/**/*.yaml"), *(root / "providers.d").glob("*.yaml")]
    return frozenset(file.stem for file in files)


def find_named(engine: Path, names: Iterable[str]) -> list[str]:
    """`file:line names 'x'` for each line of the engine that has a name as a whole word, in any case."""
    wanted = sorted(set(names) - HOMONYMS.keys(), key=len, reverse=True)
    if not wanted:
        return []
    # `a-b`, `a_b` and `a b` are one name, written for a file, for Python and for people.
    spellings = "|".join(re.sub(r"[-_]", "[-_ ]?", re.sub(r"[^\w-]", ".", name)) for name in wanted)
    pattern = re.compile(rf"(?<![a-z0-9_])(?:{spellings})(?![a-z0-9_])", re.IGNORECASE)
    found = []
    for file in sorted(engine.rglob("*.py")):
        at = file.relative_to(engine)
        if at.parts[0] == DOMAIN:
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            found += [f"{at.as_posix()}:{number} names {hit.group()!r}" for hit in pattern.finditer(line)]
    return found


def test_engine_python_names_no_tool_and_no_provider() -> None:
    names = find_spec_names(ROOT)

    found = find_named(ENGINE, names)

    assert names, "no specs were found in tools.d and providers.d, so nothing was looked for"
    assert not found, "what a tool or a provider is belongs in its YAML file:\n" + "\n".join(found)


OWN_KEYS = frozenset({"tenantId", *LINKED})
"""Answer keys that are words of the engine: whose something is, and what stands in place of a linked answer."""


@dataclass(frozen=True, slots=True)
class DomainNames:
    """What specs and packages name and the engine may not: collections, procedures, addresses and keys of answers."""

    collections: frozenset[str]
    procedures: frozenset[str]
    schemes: frozenset[str]
    keys: frozenset[str]


@cache
def find_domain_names() -> DomainNames:
    """The names in the shipped specs. Of the keys of answers only those in camelCase: others are words like `title`."""
    model = shipped_model()
    own = {needed.name for needed in ENGINE_NEEDS}
    keys = {key for tool in model.tools.values() for key in tool.output_schema["properties"]}
    return DomainNames(
        frozenset(model.collections) - own,
        frozenset(PROCEDURES),
        frozenset(one.uri.partition("://")[0] for one in model.resources.values()),
        frozenset(key for key in keys if re.search("[a-z][A-Z]", key)) - OWN_KEYS,
    )


def find_domain_words(engine: Path, names: DomainNames) -> list[str]:
    """`file:line …` for each text of the engine that is or has such a name, and for keys that it reads of `answer`."""
    procedures = re.compile(rf"\b(?:{'|'.join(sorted(names.procedures))})\b")
    schemes = re.compile(rf"\b(?:{'|'.join(sorted(names.schemes))})://")
    found = []
    for file in sorted(engine.rglob("*.py")):
        at = file.relative_to(engine)
        if at.parts[0] == DOMAIN:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            key = _key_of_answer(node)
            if key or text in names.collections | names.keys or procedures.search(text) or schemes.search(text):
                found.append(f"{at.as_posix()}:{getattr(node, 'lineno', 0)} names {key or text[:60]!r}")
    return found


def _key_of_answer(node: ast.AST) -> str:
    """The key that is read of a variable `answer` by a text; "" for everything else."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="answer"), attr="get"), args=[ast.Constant(value=str(key)), *_]
        ):
            return key
        case ast.Subscript(value=ast.Name(id="answer"), slice=ast.Constant(value=str(key))):
            return key
    return ""


def test_engine_python_names_no_collection_procedure_address_or_answer_key_of_a_domain() -> None:
    names = find_domain_names()

    found = find_domain_words(ENGINE, names)

    assert all((names.collections, names.procedures, names.schemes, names.keys)), "a kind of name was not found"
    assert not found, "what is kept, done or told belongs in a spec or a domain package:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "planted",
    [
        'drawer("memories", owner)',
        'PROCEDURES["read_page"]',
        '"""As read_page does."""',
        'ADDRESS = "stats://tools"',
        'KEY = "scrapeFailures"',
        'rows = answer.get("sources")',
        'about = answer["metadata"]',
    ],
)
def test_a_planted_name_of_a_domain_is_found_with_its_file_and_line(engine: Path, planted: str) -> None:
    (engine / "planted_module.py").write_text(f"first = 1\n{planted}\n", encoding="utf-8")

    found = find_domain_words(engine, find_domain_names())

    assert [hit.partition(" ")[0] for hit in found] == ["planted_module.py:2"]


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """A copy of one room of the engine to plant names beside: what is searched is the same for each."""
    ignore = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(ENGINE / "core", tmp_path / "specloom" / "core", ignore=ignore)).parent


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        ("zorble_search", "# as zorble_search does"),
        ("zorble_search", "URL = 'https://api.zorble-search.example'"),
        ("zorble", 'if provider == "Zorble":'),
        ("zorble-data", "ZORBLE = zorble_data"),
    ],
)
def test_a_planted_name_is_found_with_its_file_and_line(engine: Path, name: str, planted: str) -> None:
    (engine / "serve").mkdir(exist_ok=True)
    (engine / "serve" / "planted_module.py").write_text(f"first = 1\n{planted}\n", encoding="utf-8")

    found = find_named(engine, {*find_spec_names(ROOT), name})

    assert any(hit.startswith("serve/planted_module.py:2 names") for hit in found)


def test_a_name_inside_a_longer_word_is_not_a_name(engine: Path) -> None:
    (engine / "innocent.py").write_text("zorble_search_results = unzorble = zorbles = 1\n", encoding="utf-8")

    found = find_named(engine, {"zorble_search", "zorble"})

    assert found == []


@pytest.mark.parametrize("package", ["scrape", "trust", "sessions", "papers", "text"])
def test_domain_packages_may_name_what_they_are_about(engine: Path, package: str) -> None:
    (engine / DOMAIN / package).mkdir(parents=True)
    (engine / DOMAIN / package / "sites.py").write_text("# zorble_search\n", encoding="utf-8")

    found = find_named(engine, {"zorble_search"})

    assert found == []


def test_names_are_the_stems_of_tools_in_any_folder_and_of_providers_but_not_capabilities(tmp_path: Path) -> None:
    for path in ("tools.d/group/demo_search.yaml", "providers.d/demo.yaml", "providers.d/capabilities/web.yaml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()

    assert find_spec_names(tmp_path) == {"demo_search", "demo"}
