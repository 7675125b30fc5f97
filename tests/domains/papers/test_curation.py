"""The store put in order through its tools: duplicates, merging, removal, labels."""

from __future__ import annotations

import os
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from specloom.core.faults import Fault
from tests.support.paper_store import PDF, World

PREPRINT = """
@misc{pre, title = {How otters swim}, author = {Otter, Ann}, year = 2020,
  eprint = {2001.00001}, archiveprefix = {arXiv},
  annote = {Read the appendix.}, groups = {thesis}, keywords = {fish}}
@article{pub, title = {How otters swim}, author = {Otter, Ann}, year = 2021,
  journal = {Rivers}, doi = {10.1234/otters},
  annote = {Cite this one.}, groups = {later}, keywords = {river}}
"""


def stored(world: World, key: str) -> dict[str, Any]:
    return tomllib.loads((world.root / ".metadata" / f"{key}.toml").read_text("utf-8"))


def files(world: World) -> list[str]:
    return sorted(path.name for path in (world.root / ".metadata").glob("*.toml"))


@pytest.mark.parametrize(
    ("first", "second", "groups"),
    [
        ("title={Otters}, doi={10.1234/a}, pmid={12345}", "title={Weirs}, doi={10.1234/b}, pmid={12345}", ["same"]),
        ("title={Otters}, author={Weir, Bob}, year=2020", "title={Otters!}, author={Weir, B.}, year=2021", ["likely"]),
        ("title={Otters}, author={Weir, Bob}, year=2020", "title={Otters}, author={Reed, Cy}, year=2020", []),
        ("title={Otters}, author={Weir, Bob}, year=2020", "title={Otters}, author={Weir, Bob}, year=2024", []),
    ],
)
def test_two_works_are_one_or_not(world: World, first: str, second: str, groups: list[str]) -> None:
    world.call("library_import", bibliography=f"@article{{a, {first}}}\n@article{{b, {second}}}")

    told = world.call("library_duplicates")

    assert told["compared"] == 2
    assert [group["kind"] for group in told["groups"]] == groups


def test_a_preprint_is_merged_into_what_came_of_it_and_nothing_that_a_person_wrote_is_lost(world: World) -> None:
    world.call("library_import", bibliography=PREPRINT)
    (world.root / "arxiv_2001.00001.pdf").write_bytes(PDF)
    path = world.root / ".metadata" / "arxiv_2001.00001.toml"
    path.write_text(path.read_text("utf-8").replace("title =", 'pdf_path = "arxiv_2001.00001.pdf"\ntitle ='), "utf-8")
    world.call("tag", ref="2001.00001", add=["mine"])
    [group] = world.call("library_duplicates")["groups"]

    assert (group["kind"], [work["key"] for work in group["works"]]) == ("versions", ["pre", "pub"])
    dry = world.call("library_merge", keep="pub", others=["pre"], dry_run=True)
    assert (dry["merged"], len(files(world))) == (["arxiv:2001.00001"], 2)
    told = world.call("library_merge", keep="pub", others=["pre"])

    assert files(world) == ["doi_10.1234_otters.toml"]
    entry = stored(world, "doi_10.1234_otters")
    assert (entry["year"], entry["specloom"]["citekey"], entry["pdf_path"]) == (2021, "pub", "doi_10.1234_otters.pdf")
    assert entry["keywords"] == ["river", "fish"]
    assert entry["specloom"]["versions"] == ["arxiv:2001.00001"]
    own = entry["doiget"]
    assert (own["tags"], own["collections"]) == (["mine"], ["later", "thesis"])
    assert own["annotation"] == "Cite this one.\n\nRead the appendix."
    assert (world.root / "doi_10.1234_otters.pdf").read_bytes() == PDF
    assert len(told["trash"]) == 3
    assert all(Path(path).is_file() for path in told["trash"])


class Ended(BaseException):
    """The process was ended."""


CHANGES = ("link", "replace", "rename", "unlink", "remove")
"""What changes the names of files; each is a step between which a process may be ended."""


def end_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """End whoever changes a name in the store after so many changes, and from then on; the changes that were done."""
    done: list[str] = []

    def guard(name: str) -> None:
        change = getattr(os, name)

        def act(path: Any, *more: Any, **options: Any) -> Any:
            if "papers" not in Path(path).parts:
                return change(path, *more, **options)
            if len(done) >= steps:
                raise Ended
            result = change(path, *more, **options)
            done.append(name)
            return result

        monkeypatch.setattr(os, name, act)

    for name in CHANGES:
        guard(name)
    return done


def pdfs(world: World, folder: str = "") -> set[bytes]:
    return {path.read_bytes() for path in (world.root / folder).glob("*.pdf")}


def named(world: World) -> set[str]:
    """The PDFs that entries name."""
    entries = [tomllib.loads(path.read_text("utf-8")) for path in (world.root / ".metadata").glob("*.toml")]
    return {entry["pdf_path"] for entry in entries if "pdf_path" in entry}


def add_pdf(world: World, key: str, pdf: bytes) -> None:
    (world.root / f"{key}.pdf").write_bytes(pdf)
    path = world.root / ".metadata" / f"{key}.toml"
    path.write_text(path.read_text("utf-8").replace("title =", f'pdf_path = "{key}.pdf"\ntitle ='), "utf-8")


@pytest.mark.parametrize("tool", ["library_remove", "library_merge"])
def test_wherever_a_process_ends_no_pdf_is_lost_and_the_next_call_leaves_none_behind(world: World, tool: str) -> None:
    arguments: dict[str, Any] = (
        {"refs": ["2001.00001"]} if tool == "library_remove" else {"keep": "pub", "others": ["2001.00001"]}
    )
    ends = 0
    while True:
        shutil.rmtree(world.root, ignore_errors=True)
        world.call("library_import", bibliography=PREPRINT)
        add_pdf(world, "arxiv_2001.00001", PDF)
        with pytest.MonkeyPatch.context() as patch:
            done = end_after(ends, patch)
            try:
                world.call(tool, **arguments)
                break
            except Ended:
                pass
        assert len(done) == ends
        there = {(world.root / name).read_bytes() for name in named(world) if (world.root / name).is_file()}
        assert all((world.root / name).is_file() for name in named(world))
        assert PDF in there | pdfs(world, ".trash")

        world.call("library_import", bibliography="@book{weir, title={Weirs}}")
        if "arxiv_2001.00001.toml" in files(world):
            world.call(tool, **arguments)
        world.call("library_remove", refs=["@weir"])

        assert {path.name for path in world.root.glob("*.pdf")} == named(world)
        assert PDF in pdfs(world, ".trash")
        assert pdfs(world) == (set() if tool == "library_remove" else {PDF})
        ends += 1
    assert ends >= 3


def test_a_removed_work_leaves_the_pdf_that_another_work_names(world: World) -> None:
    world.call("library_import", bibliography=PREPRINT)
    add_pdf(world, "arxiv_2001.00001", PDF)
    path = world.root / ".metadata" / "doi_10.1234_otters.toml"
    path.write_text(path.read_text("utf-8").replace("title =", 'pdf_path = "arxiv_2001.00001.pdf"\ntitle ='), "utf-8")

    [removed] = world.call("library_remove", refs=["2001.00001"])["removed"]

    assert [Path(one).suffix for one in removed["trash"]] == [".toml"]
    assert world.call("paper_pdf_path", ref="10.1234/otters")["pdf_exists"] is True


def test_a_merged_work_keeps_its_pdf_where_one_without_an_entry_has_its_name(world: World) -> None:
    world.call("library_import", bibliography=PREPRINT)
    add_pdf(world, "arxiv_2001.00001", PDF)
    (world.root / "doi_10.1234_otters.pdf").write_bytes(PDF + b"cut off")

    world.call("library_merge", keep="pub", others=["pre"])

    assert (world.root / stored(world, "doi_10.1234_otters")["pdf_path"]).read_bytes() == PDF
    assert (world.root / "doi_10.1234_otters.pdf").read_bytes() == PDF + b"cut off"


def test_a_work_cannot_be_merged_into_itself(world: World) -> None:
    world.call("library_import", bibliography=PREPRINT)
    before = files(world)

    with pytest.raises(Fault, match="to be kept and merged into itself"):
        world.call("library_merge", keep="pub", others=["10.1234/OTTERS"])

    assert files(world) == before


def test_what_is_removed_is_found_no_longer_and_can_be_put_back(world: World) -> None:
    world.call("library_import", bibliography=PREPRINT)

    told = world.call("library_remove", refs=["@pre", "10.1234/none"])

    assert (told["removed"][0]["ref"], told["missing"]) == ("arxiv:2001.00001", ["10.1234/none"])
    assert world.call("search_local", query="otters")["count"] == 1
    [path] = told["removed"][0]["trash"]
    Path(path).rename(world.root / ".metadata" / "arxiv_2001.00001.toml")
    assert world.call("search_local", query="otters")["count"] == 2


@pytest.mark.parametrize("refs", [["@pub", "10.1234/otters"], ["10.1234/OTTERS", "@pub", "@pub"]])
def test_a_work_that_is_named_twice_is_removed_once(world: World, refs: list[str]) -> None:
    world.call("library_import", bibliography=PREPRINT)

    told = world.call("library_remove", refs=[*refs, "10.1234/none"])

    assert [work["ref"] for work in told["removed"]] == ["10.1234/otters"]
    assert told["missing"] == ["10.1234/none"]
    assert files(world) == ["arxiv_2001.00001.toml"]


@pytest.mark.parametrize("days", [400_000, 10**12, 10**400])
def test_a_trash_that_is_kept_for_ages_loses_nothing_of_today(world: World, days: int) -> None:
    world.environ["DOIGET_TRASH_DAYS"] = str(days)
    world.call("library_import", bibliography=PREPRINT)

    told = world.call("library_remove", refs=["@pre"])

    [path] = told["removed"][0]["trash"]
    assert Path(path).is_file()
    assert not told.get("emptied")


def test_what_has_lain_in_the_trash_for_longer_is_deleted_and_what_has_no_moment_is_not_ours(world: World) -> None:
    world.environ["DOIGET_TRASH_DAYS"] = "30"
    world.call("library_import", bibliography=PREPRINT)
    trash = world.root / ".trash"
    trash.mkdir()
    for name in ("a.20251201T235959Z", "b.20251202T000001Z-2", "c.20259999T000000Z"):
        (trash / f"{name}.toml").write_text("")

    world.call("library_remove", refs=["@pre"])

    kept = {path.name[0]: path for path in trash.iterdir()}
    assert {"b", "c"} <= set(kept)
    assert not (trash / "a.20251201T235959Z.toml").exists()


def test_labels_are_listed_and_renamed_everywhere(world: World) -> None:
    world.call("library_import", bibliography=PREPRINT, tags=["old"])
    world.call("tag", ref="10.1234/otters", add=["river"])

    assert world.call("library_rename_label", kind="tag", name="old", new_name="river")["changed"] == 2
    assert world.call("library_rename_label", kind="collection", name="later", new_name="thesis")["changed"] == 1

    told = world.call("library_labels")
    assert told["tags"] == [{"name": "river", "works": 2}]
    assert told["collections"] == [{"name": "thesis", "works": 2}]
    assert stored(world, "doi_10.1234_otters")["doiget"]["tags"] == ["river"]
