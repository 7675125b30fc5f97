"""What the tools do with a store, an index and a log, and where codes and reasons come from."""

from __future__ import annotations

import asyncio
import json
import tomllib

import pytest

from specloom.domains.papers import limits
from specloom.domains.papers.errors import PaperFault
from tests.support.paper_store import PDF, World, arxiv, as_json, crossref, pdf, unpaywall

DOI = "10.1234/otters"
KEY = "doi_10.1234_otters"


def test_a_preprint_stored_with_its_version_is_found_without_it(world: World) -> None:
    for version in ("2401.00001v2", "2401.00001v10", "2401.00001v9"):
        world.pages |= arxiv(version)
        assert world.call("metadata_only", ref=f"arxiv:{version}")["ok"] is True

    told = world.call("info", ref="arxiv:2401.00001")

    assert told["safekey"] == "arxiv_2401.00001v10"
    assert told["metadata"]["arxiv_id"] == "2401.00001v10"
    assert world.call("bibtex_export", refs=["2401.00001"])["entries"][0]["safekey"] == "arxiv_2401.00001v10"
    assert world.call("info", ref="arxiv:2401.00001v3")["metadata"] is None
    assert world.call("info", ref="arxiv:2401.0000")["metadata"] is None


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
        "ref": "10.1234/fish",
    }

    assert world.call("info", ref=DOI)["metadata"]["title"] == "How otters swim"
    assert world.call("info", ref="10.1234/none")["metadata"] is None
    assert world.call("search_local", query="FISH")["results"] == [fish]
    assert world.call("search_local", query="otter")["count"] == 2
    assert world.call("search_local", query="ann otter ben")["count"] == 1
    assert world.call("search_local", query="otter", limit=1)["count"] == 1
    assert world.call("search_local", query="swim ann")["count"] == 1
    assert world.call("search_local", query='"swim ann"')["count"] == 0
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


def test_a_work_of_a_walk_is_told_by_name_where_it_was_read_and_nobody_is_asked_for_a_name(world: World) -> None:
    cites(world, {"W1": ["W2"], "W2": ["W3"]})
    for page in [one for one in world.pages if one.startswith("api.openalex.org/works/")]:
        named = {"title": "How <i>otters</i> swim", "publication_year": 2019, "doi": "https://doi.org/10.1234/swim"}
        world.pages[page] = as_json({**json.loads(world.pages[page][2]), **named})

    told = world.call("expand_citation_graph", ref=DOI, depth=2)

    named = {"title": "How otters swim", "year": 2019, "doi": "10.1234/swim"}
    assert told["nodes"] == [
        {"id": "W1", "depth": 0, **named},
        {"id": "W2", "depth": 1, **named},
        {"id": "W3", "depth": 2},
    ]


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
    assert told["error"]["message"] == f"openalex has no record of {DOI}."
    assert "denial_context" not in told["error"]


# --- codes and reasons --------------------------------------------------------------------------------------------


def test_a_queue_that_is_full_refuses_the_next(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUEUE", -limits.AT_ONCE)

    told = world.call("resolve_paper", ref=DOI)

    assert told["error"]["code"] == "RATE_LIMITED"
    assert told["error"]["denial_context"] == {
        "reason": "rate_limit_window",
        "source": "crossref",
        "cap": -limits.AT_ONCE,
    }


def test_a_lock_that_another_process_keeps_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from specloom.storage import files

    fetched(world)
    monkeypatch.setattr(files, "POLL", 0.001)
    monkeypatch.setattr(files, "WAIT", 0.003)

    with files.FileLock(world.root / ".metadata" / f"{KEY}.toml.lock"):
        told = world.call("tag", ref=DOI, add=["x"])

    assert told["error"]["code"] == "LOCK_TIMEOUT"
    assert told["error"]["disposition"] == "retry_after"


def test_what_an_example_came_to_is_nothing_to_the_next_nor_to_a_call() -> None:
    class Desk:
        is_live = False

    class Call:
        is_live = True

    one, other = Desk(), Desk()
    limits.replays_of(one).note("paper", PaperFault("NOT_FOUND", "x"), 0.0)  # type: ignore[arg-type]

    with pytest.raises(PaperFault):
        limits.replays_of(one).check("paper", 1.0)  # type: ignore[arg-type]
    limits.replays_of(other).check("paper", 1.0)  # type: ignore[arg-type]
    limits.replays_of(Call()).check("paper", 1.0)  # type: ignore[arg-type]


def test_turns_of_one_source_keep_their_distance() -> None:
    starts: list[tuple[str, float]] = []
    now = [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    async def run() -> None:
        pacer = limits.Pacer(
            limits.PER_SECOND, limits.AT_ONCE, limits.GAP, limits.GAPS, clock=lambda: now[0], sleep=sleep
        )
        for source in ("a", "a", "b", "arxiv", "c", "c", "arxiv"):
            async with pacer.turn(source):
                starts.append((source, round(now[0], 3)))

    asyncio.run(run())

    times = [at for _, at in starts]
    assert starts[1] == ("a", 0.2)
    assert all(sum(start <= other < start + 1 for other in times) <= 5 for start in times)
    assert [at for source, at in starts if source == "arxiv"] == [0.2, 3.2]


def test_a_refusal_in_a_row_always_has_its_context() -> None:
    assert PaperFault("NOT_FOUND", "x").to_error(in_row=True)["denial_context"] is None
    assert "denial_context" not in PaperFault("NOT_FOUND", "x").to_json()


def test_what_a_registry_writes_as_entities_is_kept_as_characters(world: World) -> None:
    """The payload is told as it came; the store, lists and exports have the text."""
    names = {"container-title": ["Science &amp; Justice"], "short-container-title": ["Sci. &amp; Just."]}
    world.pages |= crossref(
        DOI,
        title=["Otters &amp; weasels: p &lt; 0.05"],
        publisher="Weir &amp; Sons",
        author=[{"name": "The O&amp;W Group"}],
        **names,
    )

    told = world.call("metadata_only", ref=DOI)

    assert told["metadata"]["title"] == ["Otters &amp; weasels: p &lt; 0.05"]
    stored = world.call("info", ref=DOI)["metadata"]
    assert (stored["title"], stored["authors"]) == ("Otters & weasels: p < 0.05", ["The O&W Group"])
    assert (stored["venue"], stored["publisher"]) == ("Science & Justice", "Weir & Sons")
    assert stored["doiget"]["short_venue"] == "Sci. & Just."
    assert world.call("search_local", query="otters & weasels")["count"] == 1
    assert "journal    = {Science \\& Justice}," in world.call("bibtex_export", refs=[DOI])["entries"][0]["bibtex"]


def test_requests_to_a_source_that_wants_one_connection_do_not_overlap_and_hold_nobody_up() -> None:
    now, running, told = [0.0], [0], []

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    async def run() -> None:
        pacer, done = (
            limits.Pacer(*limits.PACE, clock=lambda: now[0], sleep=sleep),
            asyncio.Event(),
        )

        async def ask(source: str) -> None:
            async with pacer.turn(source):
                running[0] += 1
                told.append((source, running[0]))
                await done.wait()
                running[0] -= 1

        waiting = [asyncio.create_task(ask(name)) for name in (*["arxiv"] * (limits.AT_ONCE + 1), "crossref")]
        for _ in range(10):
            await asyncio.sleep(0)
        assert told == [("arxiv", 1), ("crossref", 2)]
        done.set()
        await asyncio.gather(*waiting)

    asyncio.run(run())

    assert told[2:] == [("arxiv", 1)] * limits.AT_ONCE
