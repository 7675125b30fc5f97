"""A folder of Markdown notes: what is generated comes again byte for byte, and what a person wrote is never lost."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml

from specloom.core.faults import Fault
from specloom.domains.papers.notes import LONGEST_NAME, to_file_name
from specloom.server.backend import ExecutorBackend
from specloom.server.start import make_executor
from specloom.storage.store import open_memory
from tests.support.paper_store import Quiet, Rerouted, World, model

BIB = r"""
@article{Mine:21, title = {How <script>otters</script> [of] *weirs* flow: a $5 tale},
  author = {van der Weir, Ann and {Otter Survey Group}},
  journal = {Rivers}, year = 2021, doi = {10.1234/otters}, keywords = {river otters, "quoted" }, annote = {read twice},
  groups = {thesis}, abstract = {# First
<img src=x> [[link]]}}
@book{weir, title = {Weirs}, author = {Weir, Bob}, editor = {Reed, Cy}, year = {2001}, publisher = {Lake Press}}
"""


@pytest.fixture
def vault(world: World) -> Path:
    """The folder of the notes of a store with two works."""
    folder = world.folder / "vault"
    world.environ["SPECLOOM_VAULT"] = str(folder)
    world.call("library_import", bibliography=BIB)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def front_matter(note: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(note.read_text("utf-8").split("---\n")[1])
    return loaded


def note_of(folder: Path, cite_key: str) -> Path:
    return next(path for path in (folder / "works").glob("*.md") if front_matter(path)["citekey"] == cite_key)


def test_written_twice_no_byte_changes(world: World, vault: Path) -> None:
    first = world.call("library_notes")
    before = files(vault)

    second = world.call("library_notes")

    assert (first["created"], second["unchanged"], second["created"], second["updated"]) == (3, 3, 0, 0)
    assert files(vault) == before


def test_a_work_is_a_note_with_flat_properties(world: World, vault: Path) -> None:
    world.call("library_notes")

    facts = front_matter(note_of(vault, "Mine:21"))

    assert facts["authors"] == ["Ann van der Weir", "Otter Survey Group"]
    assert (facts["year"], facts["venue"], facts["doi"], facts["type"]) == (
        2021,
        "Rivers",
        "10.1234/otters",
        "article-journal",
    )
    assert facts["collections"] == ["thesis"]
    assert all(" " not in tag for tag in facts["tags"])
    assert not [value for value in facts.values() if isinstance(value, dict)]


def test_every_link_leads_to_a_note(world: World, vault: Path) -> None:
    world.call("library_notes", folder="my works")

    index = (vault / "my works" / "index.md").read_text("utf-8")
    targets = re.findall(r"\]\(([^)]+)\)", index)

    assert len(targets) == 2
    assert all((vault / "my works" / unquote(target)).is_file() for target in targets)


def test_what_others_wrote_is_text_and_no_markup(world: World, vault: Path) -> None:
    world.call("library_notes")

    body = note_of(vault, "Mine:21").read_text("utf-8").split("---\n", 2)[2]

    assert "<img" not in body.replace(r"\<img", "")
    assert "[[link]]" not in body
    assert "> \\# First" in body


def test_what_a_person_wrote_below_the_mark_stays(world: World, vault: Path) -> None:
    world.call("library_notes")
    note = note_of(vault, "weir")
    note.write_text(note.read_text("utf-8") + "\nMy own thought.\n", "utf-8")
    world.call(
        "library_import",
        bibliography="@book{weir, title={Weirs}, author={Weir, Bob}, year={2001}, volume={2}, abstract={New}}",
    )

    told = world.call("library_notes")

    text = note.read_text("utf-8")
    assert "New" in text
    assert text.endswith("-->\n\nMy own thought.\n")
    assert told["updated"] == 1
    assert [row.get("copy") for row in told["notes"]] == [None, None, None]


def test_a_note_that_was_changed_above_the_mark_is_kept_as_a_copy(world: World, vault: Path) -> None:
    world.call("library_notes")
    note = note_of(vault, "weir")
    changed = note.read_text("utf-8").replace("# Weirs", "# My weirs") + "Below.\n"
    note.write_text(changed, "utf-8")

    told = world.call("library_notes")

    [copy] = [row["copy"] for row in told["notes"] if row.get("copy")]
    assert (vault / copy).read_text("utf-8") == changed
    assert "# Weirs" in note.read_text("utf-8")
    assert note.read_text("utf-8").endswith("Below.\n")
    note.write_text(changed + "More.\n", "utf-8")
    again = world.call("library_notes")
    [second] = [row["copy"] for row in again["notes"] if row.get("copy")]
    assert second != copy
    assert (vault / copy).read_text("utf-8") == changed


def test_a_note_that_an_editor_saved_with_other_line_ends_is_gone_on_with(world: World, vault: Path) -> None:
    world.call("library_notes")
    note = note_of(vault, "weir")
    saved = note.read_bytes().replace(b"\n", b"\r\n") + b"\r\nMy own thought.\r\n"
    note.write_bytes(saved)

    same = world.call("library_notes")

    assert (same["unchanged"], same["skipped"], note.read_bytes()) == (3, 0, saved)
    world.call(
        "library_import", bibliography="@book{weir, title={Weirs}, author={Weir, Bob}, year={2001}, abstract={New}}"
    )
    told = world.call("library_notes")
    text = note.read_bytes()
    assert (told["updated"], [row.get("copy") for row in told["notes"]]) == (1, [None, None, None])
    assert b"> New\r\n" in text
    assert text.endswith(b"-->\r\n\r\nMy own thought.\r\n")
    assert text.count(b"\n") == text.count(b"\r\n")
    assert world.call("library_notes")["unchanged"] == 3


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no modes")
def test_a_note_that_is_written_again_keeps_its_mode(world: World, vault: Path) -> None:
    world.call("library_notes")
    note = note_of(vault, "weir")
    assert note.stat().st_mode & 0o777 == 0o644
    note.write_text(note.read_text("utf-8").replace("# Weirs", "# My weirs"), "utf-8")
    note.chmod(0o600)

    told = world.call("library_notes")

    [copy] = [row["copy"] for row in told["notes"] if row.get("copy")]
    assert [path.stat().st_mode & 0o777 for path in (note, vault / copy)] == [0o600, 0o600]


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_file_where_a_folder_is_needed_is_told_with_its_path(world: World, vault: Path, dry_run: bool) -> None:
    vault.mkdir()
    (vault / "works").write_text("mine", "utf-8")

    with pytest.raises(Fault, match="a file, and a folder is needed") as caught:
        world.call("library_notes", dry_run=dry_run)

    assert caught.value.kind == "config"
    assert str(vault / "works") in caught.value.message
    assert files(vault) == {"works": b"mine"}


def test_a_disk_that_takes_nothing_is_told_with_the_path(
    world: World, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, data: bytes, *, mode: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("specloom.domains.papers.notes.write_whole", refuse)

    with pytest.raises(Fault, match="No space left on device") as caught:
        world.call("library_notes")

    assert caught.value.kind == "config"
    assert str(vault / "index.md") in caught.value.message


def test_a_file_of_somebody_else_is_never_touched(world: World, vault: Path) -> None:
    (vault / "works").mkdir(parents=True)
    (vault / "works" / "weir.md").write_bytes(b"mine\r\n")
    (vault / "index.md").write_bytes(b"\xff\xfe")

    told = world.call("library_notes")

    assert told["skipped"] == 2
    assert (vault / "works" / "weir.md").read_bytes() == b"mine\r\n"
    assert (vault / "index.md").read_bytes() == b"\xff\xfe"


def test_a_link_out_of_the_folder_is_not_followed(world: World, vault: Path) -> None:
    outside = world.folder / "outside"
    outside.mkdir()
    vault.mkdir()
    (vault / "works").symlink_to(outside)

    with pytest.raises(Fault, match="leads out of"):
        world.call("library_notes")

    assert not list(outside.iterdir())


@pytest.mark.parametrize("asked", [{"query": "in:nowhere"}, {"refs": ["@nobody"]}])
def test_what_finds_nothing_empties_no_list(world: World, vault: Path, asked: dict[str, Any]) -> None:
    world.call("library_notes")
    before = files(vault)

    told = world.call("library_notes", **asked)

    assert told["notices"] == ["Nothing in the store is what was asked for, so that no note and no list was written."]
    assert files(vault) == before


def test_a_dry_run_writes_nothing(world: World, vault: Path) -> None:
    store = files(world.root)

    told = world.call("library_notes", dry_run=True)

    assert told["created"] == 3
    assert not vault.exists()
    assert files(world.root) == store


@pytest.mark.parametrize("goal", ["What otters eat", "index"])
async def test_sessions_with_one_goal_have_a_note_each_beside_the_list_of_works(
    world: World, tmp_path: Path, goal: str
) -> None:
    vault = tmp_path / "vault"
    world.environ["SPECLOOM_VAULT"] = str(vault)
    store = open_memory([one.spec for one in model().collections.values()], clock=lambda: world.now)
    engine = world.engine(Rerouted("http://127.0.0.1:9"), store)
    step = {"searchStep": "First", "stepNumber": 1, "nextStepNeeded": True, "researchGoal": goal}
    try:
        sessions = [json.loads((await engine.call("sequential_search", step)).body)["sessionId"] for _ in range(2)]
        for arguments in ({}, *({"sessionId": session} for session in sessions)):
            await engine.call("library_notes", arguments)
    finally:
        await engine.aclose()
        store.close()

    notes = {path.name: front_matter(path) for path in vault.glob("*.md")}
    assert notes.pop("index.md")["title"] == "Works"
    assert sorted(note["session"] for note in notes.values()) == sorted(sessions)


@pytest.mark.parametrize("summary", ["", "Fish, then crabs."])
async def test_a_note_of_a_session_says_nothing_twice(world: World, tmp_path: Path, summary: str) -> None:
    vault = tmp_path / "vault"
    world.environ["SPECLOOM_VAULT"] = str(vault)
    store = open_memory([one.spec for one in model().collections.values()], clock=lambda: world.now)
    engine = world.engine(Rerouted("http://127.0.0.1:9"), store)
    step = {"searchStep": "Read diets", "stepNumber": 1, "nextStepNeeded": True, "researchGoal": "What otters eat"}
    try:
        session = json.loads((await engine.call("sequential_search", step)).body)["sessionId"]
        more = {"searchStep": "Read zoos", "stepNumber": 2, "sessionId": session, "sessionSummary": summary}
        await engine.call("sequential_search", {**step, **more})
        await engine.call("library_notes", {"sessionId": session})
    finally:
        await engine.aclose()
        store.close()

    (note,) = vault.glob("*.md")
    text = note.read_text("utf-8").partition("---\n\n")[2]
    assert [text.count(said) for said in ("What otters eat", "Read diets", "Read zoos")] == [1, 1, 1]
    assert ("## Summary\n\n> Fish, then crabs." in text) == bool(summary)


@pytest.mark.parametrize(
    "key",
    ["a/b", "../up", "con", "CON.x", "a:b", "a_b*", "x" * 300, "ü" * 80, "...", "", "a\u202eb", "-", "a  b"],
)
def test_every_key_makes_a_safe_name(key: str) -> None:
    name = to_file_name(key)

    assert re.fullmatch(r"[\w.+-]+", name)
    assert not name.startswith(".")
    assert len(name.encode()) <= LONGEST_NAME + 9
    assert name.split(".")[0].lower() not in {"con", "prn", "aux", "nul"}


def test_keys_that_differ_have_names_that_differ() -> None:
    assert len({to_file_name(key) for key in ("a:b", "a/b", "a-b", "a b")}) == 4
    assert to_file_name("weir2001") == "weir2001"


def test_tenants_who_share_the_store_do_not_write_into_the_vault_of_who_runs_the_server(
    world: World, vault: Path
) -> None:
    environ = {
        "DOIGET_STORE_ROOT": str(world.root),
        "SPECLOOM_VAULT": str(vault),
        "SPECLOOM_PAPERS_SHARED": "true",
        "SPECLOOM_PATH": "",
        "SPECLOOM_CACHE_DIR": str(world.folder / "cache"),
        "SPECLOOM_STATE_DIR": str(world.folder / "state"),
    }

    async def write(*, shared: bool) -> None:
        executor = make_executor(environ, shared=shared, disk_cache=False)
        try:
            await ExecutorBackend(executor, owner="north:ada").call_tool("library_notes", {}, Quiet())
        finally:
            await executor.aclose()

    with pytest.raises(Fault, match="only where one person runs the server"):
        asyncio.run(write(shared=True))
    assert not vault.exists()
    asyncio.run(write(shared=False))
    assert len(files(vault)) == 3
