"""What the tools leave alone: a dry run touches neither network nor disk, and no metadata leads to a document."""

from __future__ import annotations

import ast
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.domains.papers import errors
from specloom.plugins.registry import PROCEDURES, load_hooks
from tests.support.paper_store import World, crossref, model, unpaywall

PACKAGE = Path(errors.__file__).parent
DOI = "10.1234/otters"

WATCHED = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "socket.connect", "socket.bind"}
_WATCH: list[str] = []
_ON: list[bool] = []


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if not _ON or event not in WATCHED:
        return
    if event == "open":
        path, mode, _ = arguments
        writes = isinstance(mode, str) and any(letter in mode for letter in "wax+")
        if not writes or str(path).endswith((".pyc", ".tmp")) or "__pycache__" in str(path):
            return
    _WATCH.append(f"{event} {arguments[:1]}")


sys.addaudithook(_note)


@pytest.fixture
def watched() -> Iterator[list[str]]:
    """Every socket that is connected and every file that is opened for writing, made, moved or removed meanwhile."""
    _WATCH.clear()
    _ON.append(True)
    yield _WATCH
    _ON.clear()


class NoDesk:
    """A desk at which nothing may be asked, sent or kept."""

    owner = ""
    allow_private = False
    is_alone = True

    def __init__(self, root: Path) -> None:
        self.config = {"DOIGET_STORE_ROOT": str(root / "papers"), "DOIGET_LOG_PATH": str(root / "log" / "log.jsonl")}

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a dry run used desk.{name}")


DRY = [
    ("fetch_paper", {"ref": DOI, "dry_run": True}),
    ("fetch_paper", {"ref": "2401.12345", "dry_run": True}),
    ("paper_metadata", {"ref": DOI, "dry_run": True}),
    ("batch_fetch_papers", {"refs": [DOI, "2401.12345"], "dry_run": True}),
]


@pytest.mark.parametrize(("procedure", "given"), DRY)
def test_a_dry_run_touches_neither_network_nor_disk(
    tmp_path: Path, watched: list[str], procedure: str, given: dict[str, Any]
) -> None:
    load_hooks()
    watched.clear()
    coroutine = PROCEDURES[procedure].function(NoDesk(tmp_path), given)  # type: ignore[arg-type]
    with pytest.raises(StopIteration) as done:
        coroutine.send(None)  # type: ignore[attr-defined]

    assert done.value.value["dry_run"] is True
    assert watched == []
    assert list(tmp_path.iterdir()) == []


def test_the_watch_over_files_and_sockets_sees_both(tmp_path: Path, watched: list[str]) -> None:
    (tmp_path / "x").write_text("x", "utf-8")
    (tmp_path / "y").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()[:2]):
        pass

    assert [one.split()[0] for one in watched] == ["open", "os.mkdir", "socket.bind", "socket.connect"]


def test_a_dry_run_of_a_batch_is_all_or_nothing(world: World) -> None:
    told = world.call("batch_fetch", refs=[DOI, "pmid:12345"], dry_run=True)

    assert told["ok"] is False
    assert told["error"]["code"] == "INVALID_REF"


Graph = dict[str, set[str]]
"""Each function of the package as `module.name`, with all that its body may call."""


def may_call() -> Graph:
    """Who may call whom: a name leads to what it is in its module, an attribute to every function of that name.

    That is more than can happen, so what is not reachable here is not reachable at all.
    """
    trees = {file.stem: ast.parse(file.read_text("utf-8")) for file in PACKAGE.glob("*.py")}
    functions = {
        f"{module}.{node.name}": node
        for module, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    by_name: Graph = {}
    for name in functions:
        by_name.setdefault(name.partition(".")[2], set()).add(name)
    graph: Graph = {}
    for name, node in functions.items():
        module = name.partition(".")[0]
        imported = {
            alias.asname or alias.name: f"{one.module}.{alias.name}"
            for one in ast.walk(trees[module])
            if isinstance(one, ast.ImportFrom) and one.level == 1 and one.module
            for alias in one.names
        }
        graph[name] = called = set()
        for one in ast.walk(node):
            if isinstance(one, ast.Name):
                called |= {imported.get(one.id, f"{module}.{one.id}")} & set(functions)
            elif isinstance(one, ast.Attribute):
                called |= by_name.get(one.attr, set())
                if one.attr == "send":
                    called.add("desk.send")
    return graph


def reached_from(start: str, graph: Graph) -> set[str]:
    """Everything that a function may come to call."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph.get(name, ())
    return found


DOCUMENTS = {"desk.send", "download.download", "fetch.acquire", "fetch.fetch", "fetch.fetch_all"}


@pytest.mark.parametrize("start", ["procedures.paper_metadata", "procedures.resolve_paper"])
def test_no_call_leads_from_the_tools_of_metadata_to_a_document(start: str) -> None:
    graph = may_call()
    reached = reached_from(start, graph)

    assert "metadata._resolve_preprint" in reached
    assert reached & DOCUMENTS == set()
    assert reached_from("procedures.fetch_paper", graph) >= DOCUMENTS - {"fetch.fetch_all"}


@pytest.mark.parametrize(
    "start",
    [
        *("discovery.discover_papers", "discovery.preprint_of_paper"),
        *("discovery.resolve_citation", "discovery.resolve_citations"),
        *("discovery.paper_citation_graph", "procedures.paper_info", "procedures.search_papers"),
    ],
)
def test_neither_does_one_from_the_tools_that_find_and_list(start: str) -> None:
    graph = may_call()

    assert start in graph
    assert reached_from(start, graph) & DOCUMENTS == set()


def test_only_one_module_sends_requests_and_only_one_fetches_documents() -> None:
    graph = may_call()
    sending = {name.partition(".")[0] for name, called in graph.items() if "desk.send" in called}
    fetching = {name.partition(".")[0] for name, called in graph.items() if "download.download" in called}

    assert sending == {"download", "zotero"}  # the second uploads a stored PDF and brings none
    assert fetching == {"fetch"}


def test_no_capability_that_metadata_comes_from_gives_a_document() -> None:
    for name in PROCEDURES["paper_metadata"].asks:
        for operation in model().offering(name).values():
            for step in operation.steps:
                assert step.reading.decoder in {"json", "xml"}, operation.id


def test_an_open_copy_is_told_and_never_followed(world: World) -> None:
    world.pages |= {**crossref(DOI), **unpaywall(DOI, "https://www.nature.com/x.pdf")}

    told = world.call("metadata_only", ref=DOI, include_oa_location=True)

    assert told["oa_url"] == "https://www.nature.com/x.pdf"
    assert (told["source"], told["license"], told["oa_status"]) == ("crossref", "cc-by", "gold")
    assert all(url.startswith(("https://api.crossref.org/", "https://api.unpaywall.org/")) for url in world.asked)
