"""The tools as their contract has them: what they take and say, what they leave alone, and every code and reason."""

from __future__ import annotations

import ast
import asyncio
import re
import socket
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from paper_support import PDF, World, as_json, crossref, model, pdf, unpaywall

from specloom.hooks import PROCEDURES
from specloom.papers import codes, pacing
from specloom.papers.codes import DISPOSITIONS, REASONS, Refusal

PACKAGE = Path(codes.__file__).parent
DOI = "10.1234/otters"
KEY = "doi_10.1234_otters"

TOOLS = {name: tool for name, tool in model().tools.items() if name.startswith("doiget_")}
SEED = {
    "doiget_resolve_paper": {"ref", "include_oa_location"},
    "doiget_fetch_paper": {"ref", "dry_run", "force"},
    "doiget_metadata_only": {"ref", "dry_run", "include_oa_location"},
    "doiget_batch_fetch": {"refs", "dry_run", "force"},
    "doiget_info": {"ref"},
    "doiget_search_local": {"query", "limit"},
    "doiget_list_recent": {"limit"},
    "doiget_paper_pdf_path": {"ref"},
    "doiget_capability_profile": set(),
    "doiget_health": set(),
    "doiget_expand_citation_graph": {"ref", "depth", "total", "per_paper"},
    "doiget_bibtex_export": {"refs"},
    "doiget_csl_export": {"refs"},
}
READING = {
    *("doiget_health", "doiget_capability_profile", "doiget_info", "doiget_search_local", "doiget_list_recent"),
    *("doiget_paper_pdf_path", "doiget_bibtex_export", "doiget_csl_export"),
}
SECTIONS = ["WHEN TO USE", "INPUTS", "OUTPUTS", "COSTS", "SIDE EFFECTS", "LIMITS"]


# --- the contract -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEED)
def test_a_tool_takes_what_the_contract_says_and_nothing_else(name: str) -> None:
    schema = TOOLS[name].input_schema

    assert set(schema["properties"]) == SEED[name]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_description_has_its_six_sections_in_order(name: str) -> None:
    labels = [line.partition(":")[0] for line in TOOLS[name].description.splitlines()]

    assert labels == SECTIONS


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_hints_tell_who_reads_and_who_writes(name: str) -> None:
    hints = TOOLS[name].annotations

    assert hints["read_only"] == (name in READING)
    assert hints["destructive"] is False
    assert hints["open_world"] == (name not in READING | {"doiget_tag", "doiget_annotate"})


def test_the_toolset_is_a_toolset_of_its_own() -> None:
    assert all(tool.toolsets == ("papers",) for tool in TOOLS.values())


@pytest.mark.parametrize("name", [name for name, inputs in SEED.items() if "ref" in inputs])
def test_the_published_pattern_takes_whatever_the_contract_takes(name: str) -> None:
    schema = TOOLS[name].input_schema["properties"]["ref"]

    assert (schema["minLength"], schema["maxLength"]) == (7, 256)
    for text in ("10.1234/abc", "10.1016/S0370-1573(98)00122-3", "arXiv:2401.12345", "2401.12345"):
        assert re.search(schema["pattern"], text)


@pytest.mark.parametrize("name", sorted(TOOLS))
@pytest.mark.parametrize(
    "arguments", [{}, {"ref": None}, {"ref": "x"}, {"ref": 7}, {"nothing": 1}, {"dry_run": "maybe"}]
)
def test_arguments_that_do_not_fit_are_told_in_the_envelope(world: World, name: str, arguments: dict[str, Any]) -> None:
    told = world.call(name.removeprefix("doiget_"), **arguments)

    Draft7Validator(TOOLS[name].output_schema).validate(told)
    if told["ok"] is False:
        assert told["error"]["code"] == "INVALID_REF"
        assert told["error"]["disposition"] == "terminal"
        assert "denial_context" not in told["error"]


@pytest.mark.parametrize(
    "name", sorted(set(SEED) - {"doiget_fetch_paper", "doiget_metadata_only", "doiget_batch_fetch"})
)
def test_a_stray_dry_run_is_refused_in_the_envelope(world: World, name: str) -> None:
    given: dict[str, Any] = {"ref": DOI} if "ref" in SEED[name] else {"refs": [DOI]} if "refs" in SEED[name] else {}

    told = world.call(name.removeprefix("doiget_"), **given, dry_run=True)

    assert told["ok"] is False
    assert told["error"]["code"] == "INVALID_REF"
    assert world.asked == []


# --- what is left alone -------------------------------------------------------------------------------------------

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


@pytest.mark.parametrize("name", sorted(READING))
def test_reading_makes_no_folder_and_asks_nobody(world: World, name: str) -> None:
    given: dict[str, Any] = {"ref": DOI} if "ref" in SEED[name] else {"refs": [DOI]} if "refs" in SEED[name] else {}
    given |= {"query": "otters"} if "query" in SEED[name] else {}

    told = world.call(name.removeprefix("doiget_"), **given)

    assert told["ok"] is True
    assert list(world.folder.iterdir()) == []
    assert world.asked == []


def imports_of(module: str) -> set[str]:
    """The modules of the package that one of them can reach through imports, those inside functions too."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        tree = ast.parse((PACKAGE / f"{name}.py").read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                named = [node.module] if node.module else [alias.name for alias in node.names]
                waiting += [str(one).split(".")[0] for one in named]
    return found


def test_what_resolves_metadata_cannot_reach_what_downloads() -> None:
    reached = imports_of("metadata")

    assert not reached & {"fetching", "acquiring", "hosts"}
    assert "fetching" in imports_of("acquiring"), "the walk over imports would not have seen it"


def test_only_one_module_sends_requests_and_only_one_calls_it() -> None:
    sending = [file.stem for file in PACKAGE.glob("*.py") if "desk.send(" in file.read_text("utf-8")]
    calling = [file.stem for file in PACKAGE.glob("*.py") if re.search(r"\bdownload\(", file.read_text("utf-8"))]

    assert sending == ["fetching"]
    assert sorted(calling) == ["acquiring", "fetching"]


@pytest.mark.parametrize("function", ["metadata_only", "resolve_paper", "_tell"])
def test_the_work_of_the_metadata_tools_names_no_download(function: str) -> None:
    tree = ast.parse((PACKAGE / "working.py").read_text("utf-8"))
    [work] = [node for node in tree.body if isinstance(node, ast.AsyncFunctionDef) and node.name == function]
    named = {node.id for node in ast.walk(work) if isinstance(node, ast.Name)}
    named |= {alias.name for node in ast.walk(work) if isinstance(node, ast.ImportFrom) for alias in node.names}

    assert not named & {"fetch", "fetch_all", "download", "fetch_paper", "batch_fetch", "acquiring", "fetching"}


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


# --- metadata -----------------------------------------------------------------------------------------------------


def test_metadata_are_what_the_source_sent_and_are_kept(world: World) -> None:
    world.pages |= crossref(DOI, volume="7", **{"container-title": ["Otters <i>&amp;</i> Co"]})

    told = world.call("metadata_only", ref=DOI)

    assert told["metadata"]["container-title"] == ["Otters <i>&amp;</i> Co"]
    assert told["oa_url"] is None
    assert told["oa_status"] is None
    assert told["license"] == "unknown"
    stored = tomllib.loads((world.root / ".metadata" / f"{KEY}.toml").read_text("utf-8"))
    assert (stored["volume"], stored["year"], stored["type"]) == ("7", 2021, "journal-article")
    assert [row["event"] for row in world.rows()] == ["session_start", "fetch", "store_write", "session_end"]
    assert not any(world.root.glob("*.pdf"))


def test_resolving_keeps_nothing(world: World) -> None:
    world.pages |= crossref(DOI)

    told = world.call("resolve_paper", ref=DOI)

    assert told["metadata"]["DOI"] == DOI
    assert not world.root.exists()
    assert [row["event"] for row in world.rows()] == ["session_start", "fetch", "session_end"]


def test_where_the_registry_has_nothing_the_index_of_open_copies_is_asked(world: World) -> None:
    record = {"doi": DOI, "oa_status": "closed", "title": "Otters", "year": 2020, "best_oa_location": None}
    world.pages[f"api.unpaywall.org/v2/{DOI.replace('/', '%2F')}"] = as_json(record)

    told = world.call("metadata_only", ref=DOI)

    assert (told["source"], told["oa_status"]) == ("unpaywall", "closed")
    assert told["metadata"] == record


def test_a_source_that_is_switched_on_is_asked_where_the_registry_has_nothing(world: World) -> None:
    world.environ = {"DOIGET_ENABLE_DATACITE": "0"}
    attributes = {
        "doi": DOI,
        "titles": [{"title": "Otters"}],
        "creators": [{"name": "Otter, Ann"}],
        "publicationYear": 2019,
    }
    world.pages[f"api.datacite.org/dois/{DOI.replace('/', '%2F')}"] = as_json({"data": {"attributes": attributes}})

    told = world.call("metadata_only", ref=DOI)

    assert told["source"] == "datacite"
    assert world.call("csl_export", refs=[DOI])["entries"][0]["csl"][0]["author"] == [
        {"family": "Otter", "given": "Ann"}
    ]


# --- the store through its tools ----------------------------------------------------------------------------------


def fetched(world: World) -> None:
    world.pages |= {**crossref(DOI), **unpaywall(DOI, "https://www.nature.com/x.pdf"), "www.nature.com/x.pdf": pdf()}
    assert world.call("fetch_paper", ref=DOI)["ok"] is True
    world.now += 60
    world.pages |= crossref("10.1234/fish", title=["What fish fear"], publisher="Otter Press", author=[])
    assert world.call("metadata_only", ref="10.1234/fish")["ok"] is True


def test_what_is_stored_is_told_found_and_listed(world: World) -> None:
    fetched(world)
    fish = {
        "safekey": "doi_10.1234_fish",
        "title": "What fish fear",
        "year": 2021,
        "fetched_at": "2026-01-01T00:01:00Z",
    }

    assert world.call("info", ref=DOI)["metadata"]["title"] == "How otters swim"
    assert world.call("info", ref="10.1234/none")["metadata"] is None
    assert world.call("search_local", query="FISH")["results"] == [fish]
    assert world.call("search_local", query="otter")["count"] == 2
    assert world.call("search_local", query="ann otter ben")["count"] == 1
    assert world.call("search_local", query="otter", limit=1)["count"] == 1
    assert world.call("search_local", query="swim ann")["count"] == 0
    assert [one["safekey"] for one in world.call("list_recent")["entries"]] == ["doi_10.1234_fish", KEY]
    assert world.call("list_recent", limit="1")["count"] == 1


def test_the_path_of_a_pdf_is_told_without_opening_it(world: World) -> None:
    fetched(world)

    assert world.call("paper_pdf_path", ref=DOI) == {
        "ok": True,
        "ref": DOI,
        "safekey": KEY,
        "path": str(world.root / f"{KEY}.pdf"),
        "pdf_exists": True,
        "origin": None,
        "license": "cc-by",
    }
    told = world.call("paper_pdf_path", ref="10.1234/fish")
    assert (told["path"], told["pdf_exists"]) == (None, False)
    assert world.call("paper_pdf_path", ref="10.1234/none") == {
        "ok": True,
        "ref": "10.1234/none",
        "safekey": "doi_10.1234_none",
        "path": None,
        "pdf_exists": False,
    }


def test_exports_have_an_element_for_each_reference(world: World) -> None:
    fetched(world)

    told = world.call("bibtex_export", refs=[DOI, "10.1234/none", "otters"])["entries"]

    assert told[0]["bibtex"].startswith(f"@article{{{KEY},\n  title      = {{How otters swim}},\n")
    assert told[1] == {"ref": "10.1234/none", "safekey": "doi_10.1234_none", "bibtex": None}
    assert told[2]["error"]["code"] == "INVALID_REF"
    assert world.call("csl_export", refs=[DOI])["entries"][0]["csl"][0]["id"] == KEY
    assert world.call("csl_export", refs=["10.1234/a"] * 201)["error"]["code"] == "INVALID_REF"


def test_tags_and_notes_are_the_users_and_survive_a_fetch(world: World) -> None:
    fetched(world)

    told = world.call("tag", ref=DOI, add=["b", "a", "b"], collection_add=["reading"], remove=["none"])
    assert told == {"ok": True, "ref": DOI, "tags": ["b", "a"], "collections": ["reading"]}
    assert world.call("tag", ref=DOI, add=["c"], remove=["b"], collection_remove=["reading"])["tags"] == ["a", "c"]
    assert world.call("annotate", ref=DOI, text="Read it.")["annotation"] == "Read it."
    world.call("fetch_paper", ref=DOI, force=True)
    own = world.call("info", ref=DOI)["metadata"]["doiget"]
    assert (own["tags"], own["annotation"]) == (["a", "c"], "Read it.")
    assert "collections" not in own

    assert world.call("annotate", ref=DOI, text="x", clear=True)["annotation"] is None
    assert "annotation" not in world.call("info", ref=DOI)["metadata"]["doiget"]
    assert (world.root / f"{KEY}.pdf").read_bytes() == PDF


def test_a_newer_entry_refuses_every_write_and_none_of_the_reading(world: World) -> None:
    fetched(world)
    path = world.root / ".metadata" / f"{KEY}.toml"
    path.write_text(path.read_text("utf-8").replace('"1.0"', '"2.3"'), "utf-8")

    for tool, given in (("metadata_only", {}), ("tag", {"add": ["x"]}), ("annotate", {"text": "x"})):
        error = world.call(tool, ref=DOI, **given)["error"]
        assert error["code"] == "SCHEMA_TOO_NEW"
        assert error["denial_context"] == {"reason": "schema_drift", "cap": 1, "actual": 2}
    assert world.call("info", ref=DOI)["metadata"]["schema_version"] == "2.3"


# --- citations ----------------------------------------------------------------------------------------------------


def cites(world: World, works: dict[str, list[str]]) -> None:
    """OpenAlex's references: the first work is that of the DOI."""
    world.environ = {"DOIGET_ENABLE_OPENALEX": ""}
    world.environ = {"DOIGET_ENABLE_OPENALEX": "1"}
    for at, (work, cited) in enumerate(works.items()):
        said = {
            "id": f"https://openalex.org/{work}",
            "referenced_works": [f"https://openalex.org/{one}" for one in cited],
        }
        world.pages[f"api.openalex.org/works/{work}"] = as_json(said)
        if at == 0:
            world.pages[f"api.openalex.org/works/doi%3A{DOI.replace('/', '%2F')}"] = as_json(said)


def test_references_are_walked_breadth_first_and_a_circle_ends(world: World) -> None:
    cites(world, {"W1": ["W2", "W3"], "W2": ["W1", "W3", "W3"], "W3": []})

    told = world.call("expand_citation_graph", ref=DOI)

    assert told["seed_work_id"] == "W1"
    assert told["nodes"] == [{"id": "W1", "depth": 0}, {"id": "W2", "depth": 1}, {"id": "W3", "depth": 1}]
    assert [(one["from"], one["to"]) for one in told["edges"]] == [
        ("W1", "W2"),
        ("W1", "W3"),
        ("W2", "W1"),
        ("W2", "W3"),
    ]
    assert (told["truncated"], told["total_visited"]) == (False, 3)


@pytest.mark.parametrize(
    ("bounds", "nodes"), [({"depth": 1}, 3), ({"total": 2}, 2), ({"per_paper": 1}, 4), ({"depth": 0}, 3)]
)
def test_bounds_cut_the_walk_and_the_answer_says_so(world: World, bounds: dict[str, int], nodes: int) -> None:
    cites(world, {"W1": ["W2", "W3"], "W2": ["W4"], "W3": [], "W4": ["W5"], "W5": []})

    told = world.call("expand_citation_graph", ref=DOI, **bounds)

    assert (len(told["nodes"]), told["truncated"], told["total_visited"]) == (nodes, True, nodes)


def test_larger_bounds_are_reduced_whatever_is_asked(world: World) -> None:
    cites(
        world,
        {"W1": [f"W{at}" for at in range(2, 60)], **{f"W{at}": [f"W{at}{n}" for n in range(9)] for at in range(2, 60)}},
    )

    told = world.call("expand_citation_graph", ref=DOI, depth=9, total=900, per_paper=900)

    assert len(told["nodes"]) <= 100
    assert max(one["depth"] for one in told["nodes"]) <= 3
    assert sum(one["from"] == "W1" for one in told["edges"]) == 20


def test_a_work_that_cannot_be_read_is_left_as_it_is(world: World) -> None:
    cites(world, {"W1": ["W2", "W9"], "W2": []})

    told = world.call("expand_citation_graph", ref=DOI)

    assert {"id": "W9", "depth": 1} in told["nodes"]
    assert told["truncated"] is True


def test_a_seed_that_is_not_known_ends_the_walk(world: World) -> None:
    cites(world, {"W2": []})
    world.pages.clear()

    told = world.call("expand_citation_graph", ref=DOI)

    assert told["error"]["code"] == "NOT_FOUND"
    assert "denial_context" not in told["error"]


# --- codes and reasons --------------------------------------------------------------------------------------------


def literals(name: str) -> set[str]:
    """The first argument of every `Refusal(…)` in the package, or every `reason` of a denial."""
    found: set[str] = set()
    for file in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if (
                name == "code"
                and isinstance(node, ast.Call)
                and getattr(node.func, "id", "") == "Refusal"
                and node.args
            ):
                found |= {one.value for one in ast.walk(node.args[0]) if isinstance(one, ast.Constant)}
            if name == "reason" and isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "reason" and isinstance(value, ast.Constant):
                        found.add(str(value.value))
    return found


def test_every_code_has_a_producer_and_none_is_made_that_is_not_declared() -> None:
    made = literals("code") | set(codes._CODES.values())

    assert made == set(DISPOSITIONS)


def test_every_denial_reason_has_a_producer() -> None:
    assert literals("reason") == set(REASONS)


def test_a_queue_that_is_full_refuses_the_next(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "QUEUE", -pacing.AT_ONCE)

    told = world.call("resolve_paper", ref=DOI)

    assert told["error"]["code"] == "RATE_LIMITED"
    assert told["error"]["denial_context"] == {
        "reason": "rate_limit_window",
        "source": "crossref",
        "cap": -pacing.AT_ONCE,
    }


def test_a_lock_that_another_process_keeps_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from specloom.papers import locks

    fetched(world)
    monkeypatch.setattr(locks, "POLL", 0.001)
    monkeypatch.setattr(locks, "WAIT", 0.003)

    with locks.held_now(world.root / ".metadata" / f"{KEY}.toml.lock"):
        told = world.call("tag", ref=DOI, add=["x"])

    assert told["error"]["code"] == "LOCK_TIMEOUT"
    assert told["error"]["disposition"] == "retry_after"


def test_turns_of_one_source_keep_their_distance() -> None:
    starts: list[tuple[str, float]] = []
    now = [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    async def run() -> None:
        pacer = pacing.Pacer(lambda: now[0], sleep)
        for source in ("a", "a", "b", "arxiv", "c", "c", "arxiv"):
            async with pacer.turn(source):
                starts.append((source, round(now[0], 3)))

    asyncio.run(run())

    times = [at for _, at in starts]
    assert starts[1] == ("a", 0.2)
    assert all(sum(start <= other < start + 1 for other in times) <= 5 for start in times)
    assert [at for source, at in starts if source == "arxiv"] == [0.2, 3.2]


def test_a_refusal_in_a_row_always_has_its_context() -> None:
    assert Refusal("NOT_FOUND", "x").to_json(in_row=True)["denial_context"] is None
    assert "denial_context" not in Refusal("NOT_FOUND", "x").to_json()
