"""The store as a library: what comes in of a bibliography stays, and comes out of it in every format."""

from __future__ import annotations

import asyncio
import json
import threading
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from specloom.core.faults import Fault
from specloom.domains.papers import local_file
from specloom.domains.papers.library import PaperLibrary
from specloom.server.start import make_executor
from tests.support.paper_store import PDF, World, crossref, pdf, unpaywall

DOI = "10.1234/otters"
BIB = r"""
@article{Mine:21, title = {How {DNA} of otters \& weirs flows}, author = {van der Weir, Ann and {Otter Survey Group}},
  journal = {Rivers}, year = 2021, month = mar, volume = 3, pages = {1--9}, doi = {10.1234/otters},
  keywords = {river, {a, b}}, annote = {read twice}, groups = {thesis},
  file = {Full text:files/otters.pdf:application/pdf}}
@book{weir, title = {Weirs}, author = {Weir, Bob}, editor = {Reed, Cy}, year = {2001}, publisher = {Lake Press},
  address = {Bonn}, edition = {2}, series = {Studies of Water}, number = {7}}
"""


def stored(world: World, key: str) -> dict[str, Any]:
    return tomllib.loads((world.root / ".metadata" / f"{key}.toml").read_text("utf-8"))


def exported(world: World, style: str = "bibtex", **given: Any) -> str:
    text: str = world.call("library_export", style=style, **given)["bibliography"]
    return text


def test_a_bibliography_comes_in_whole_where_older_programs_find_it_too(world: World) -> None:
    told = world.call("library_import", bibliography=BIB, tags=["mine"], collections=["later"])

    assert [(row["status"], row["key"], row["ref"]) for row in told["entries"]] == [
        ("added", "Mine:21", DOI),
        ("added", "weir", "@weir"),
    ]
    entry = stored(world, "doi_10.1234_otters")
    assert {name: entry[name] for name in ("title", "authors", "year", "venue", "pages", "type", "keywords")} == {
        "title": "How DNA of otters & weirs flows",
        "authors": ["Ann van der Weir", "Otter Survey Group"],
        "year": 2021,
        "venue": "Rivers",
        "pages": "1-9",
        "type": "journal-article",
        "keywords": ["river", "a, b"],
    }
    own = entry["doiget"]
    assert (own["annotation"], own["tags"], own["collections"]) == ("read twice", ["mine"], ["thesis", "later"])
    assert entry["specloom"] == {
        "citekey": "Mine:21",
        "citekey_by": "import",
        "files": ["Full text:files/otters.pdf:application/pdf"],
        "issued": "2021-03",
        "kind": "article-journal",
        "names": ["author|van der Weir|Ann|||van der|", "author||||Otter Survey Group"],
    }
    assert world.call("search_local", query="@mine:21")["results"][0]["key"] == "Mine:21"
    assert world.call("search_local", query="weirs bob")["results"][0]["ref"] == "@weir"


def test_no_table_stands_in_a_table_so_that_the_older_program_can_write_the_entry(world: World) -> None:
    world.call("library_import", bibliography=BIB)

    for path in (world.root / ".metadata").glob("*.toml"):
        entry = tomllib.loads(path.read_text("utf-8"))
        tables = {name: value for name, value in entry.items() if isinstance(value, dict)}
        assert set(tables) == {"doiget", "specloom"}
        assert not [name for table in tables.values() for name, value in table.items() if isinstance(value, dict)]


def test_a_bibliography_comes_out_with_the_keys_with_which_it_came_in(world: World) -> None:
    world.call("library_import", bibliography=BIB)

    text = exported(world)

    assert text.splitlines()[0] == "@article{Mine:21,"
    for line in (
        "  author = {van der Weir, Ann and {Otter Survey Group}},",
        r"  title = {How {DNA} of otters \& weirs flows},",
        "  month = mar,",
        "  pages = {1--9},",
        "  keywords = {river, {a, b}},",
        "  groups = {thesis},",
        "  file = {Full text:files/otters.pdf:application/pdf},",
        "  series = {Studies of Water},",
        "  number = {7},",
    ):
        assert line in text.splitlines()
    assert exported(world) == text
    assert world.call("library_import", bibliography=text)["unchanged"] == 2


@pytest.mark.parametrize("style", ["bibtex", "biblatex", "ris", "csl-json", "endnote-xml", "zotero-json", "nbib"])
def test_a_tag_comes_back_as_it_was(world: World, style: str) -> None:
    tags = ["x;y", "a, b", "plain"]
    world.call("library_import", bibliography="@book{weir, title={Weirs}}", tags=tags)
    told = world.call("library_export", style=style)
    assert "keyword" not in [lost["field"] for lost in told.get("notKept", [])]
    world.call("library_remove", refs=["@weir"])

    world.call("library_import", bibliography=told["bibliography"])

    labels = world.call("library_labels")
    assert sorted(each["name"] for each in labels["keywords"]) == sorted(tags)


def test_a_second_import_fills_and_overwrites_nothing(world: World) -> None:
    world.call("library_import", bibliography=BIB)
    world.call("annotate", ref=DOI, text="Mine alone.")
    other = "@article{other, title={How DNA flows}, year={2021}, issue={4}, doi={10.1234/OTTERS}, annote={theirs}}"

    [row] = world.call("library_import", bibliography=other)["entries"]

    assert (row["status"], row["key"], row["givenKey"]) == ("changed", "Mine:21", "other")
    assert row["kept"] == ["title", "citekey", "annotation"]
    assert stored(world, "doi_10.1234_otters")["issue"] == "4"
    assert stored(world, "doi_10.1234_otters")["doiget"]["annotation"] == "Mine alone."
    assert not (world.root / ".trash").exists()


@pytest.mark.parametrize("more", [{}, {"replace": True}])
def test_a_dry_run_says_what_the_import_then_does(world: World, more: dict[str, Any]) -> None:
    twice = """@article{a1, title={Sea}, author={A B}, year={2020}, doi={10.1234/sea}}
@article{a2, title={Sea}, author={A B}, year={2020}, doi={10.1234/SEA}}
@book{w, title={Weirs}, abstract={One
and two}}
@book{W, title={Weirs}, publisher={Lake Press}}
@article{a1, title={Another}, doi={10.1234/other}}
"""
    told = world.call("library_import", bibliography=twice, dry_run=True, **more)
    assert not (world.root / ".metadata").exists()

    done = world.call("library_import", bibliography=twice, **more)

    assert told.pop("dryRun") is True
    without_copies = [{**row, "copy": None} for row in done["entries"]]
    assert [{**row, "copy": None} for row in told["entries"]] == without_copies
    counts = ("added", "changed", "unchanged", "failed")
    assert [told[name] for name in counts] == [done[name] for name in counts]
    assert told["failed"] == 0


def test_what_an_import_writes_over_is_kept_as_a_copy(world: World) -> None:
    world.call("library_import", bibliography=BIB)
    before = (world.root / ".metadata" / "doi_10.1234_otters.toml").read_bytes()
    other = "@article{other, title={Corrected}, author={Weir, Ann}, year={2022}, doi={10.1234/otters}}"

    [row] = world.call("library_import", bibliography=other, replace=True)["entries"]

    assert Path(row["copy"]).read_bytes() == before
    entry = stored(world, "doi_10.1234_otters")
    assert (entry["title"], entry["authors"], entry["year"]) == ("Corrected", ["Ann Weir"], 2022)
    assert (entry["volume"], entry["specloom"]["citekey"]) == ("3", "other")
    assert entry["specloom"]["names"] == ["author|Weir|Ann||"]
    assert exported(world, refs=["@other"]).startswith("@article{other,")


@pytest.mark.parametrize("style", ["bibtex", "biblatex", "csl-json", "zotero-json"])
@pytest.mark.parametrize("more", [{}, {"replace": True}])
def test_what_comes_back_from_an_export_is_unchanged(world: World, style: str, more: dict[str, Any]) -> None:
    world.pages |= crossref(DOI)
    world.call("metadata_only", ref=DOI)
    world.call("tag", ref=DOI, add=["x;y", "river"])
    world.call("annotate", ref=DOI, text="One\n\nand two.")
    world.call("library_import", bibliography="@misc{pre, title={Weirs}, eprint={1706.03762}, archiveprefix={arXiv}}")
    text = exported(world, style)
    before = {path: path.read_bytes() for path in (world.root / ".metadata").glob("*.toml")}

    told = world.call("library_import", bibliography=text, **more)

    assert (told["unchanged"], told["changed"], told["added"]) == (2, 0, 0)
    assert {path: path.read_bytes() for path in (world.root / ".metadata").glob("*.toml")} == before


def test_a_correction_is_of_the_work_with_its_cite_key_unless_an_identifier_contradicts_it(world: World) -> None:
    world.call("library_import", bibliography="@article{k5, author={Reed, A}, title={Study of Weirs}, year={1995}}")
    again = "@article{k5, author={Reed, Ann}, title={Study of {Weirs}}, year={1996}}"
    kept = world.call("library_import", bibliography=again, dry_run=True)
    other = world.call("library_import", bibliography=again.replace("Study", "Survey"), replace=True, dry_run=True)
    named = again.replace("year", "doi={10.1234/weirs}, year")
    with_doi = world.call("library_import", bibliography=named, replace=True, dry_run=True)

    [row] = world.call("library_import", bibliography=again, replace=True)["entries"]

    assert (row["status"], row["key"]) == ("changed", "k5")
    assert row["replaced"] == ["authors 'A Reed'", "year 1995"]
    assert "year = {1996}" in exported(world, refs=["@k5"])
    assert [one["added"] for one in (kept, other, with_doi)] == [1, 0, 0]
    assert "title 'Study of Weirs'" in other["entries"][0]["replaced"]


def test_a_corrected_title_replaces_the_work_of_its_cite_key_and_leaves_a_copy(world: World) -> None:
    world.call("library_import", bibliography="@article{k5, title={Stduy of Weirs}, year={1995}, doi={10.1234/weirs}}")
    before = stored(world, "doi_10.1234_weirs")

    [row] = world.call(
        "library_import", bibliography="@article{K5, title={Study of Weirs}, year={1995}}", replace=True
    )["entries"]

    assert (row["status"], row["ref"]) == ("changed", "10.1234/weirs")
    assert row["replaced"] == ["title 'Stduy of Weirs'", "citekey 'k5'"]
    assert tomllib.loads(Path(row["copy"]).read_text("utf-8")) == before
    assert exported(world).count("@article") == 1


@pytest.mark.parametrize("name", ["doi={10.1234/others}", "pmid={31234567}", "isbn={978-0-306-40615-7}"])
def test_another_identifier_makes_another_work_of_the_same_cite_key(world: World, name: str) -> None:
    first = "@book{k5, title={Weirs}, doi={10.1234/weirs}, pmid={31234568}, isbn={978-3-16-148410-0}}"
    world.call("library_import", bibliography=first)

    [row] = world.call("library_import", bibliography=f"@book{{k5, title={{Otters}}, {name}}}", replace=True)["entries"]

    assert (row["status"], row["givenKey"], row["key"]) == ("added", "k5", "k5a")


def test_two_works_of_one_bibliography_that_have_one_key_are_two(world: World) -> None:
    twice = "@book{k5, title={Weirs}}\n@book{k5, title={Otters}}"

    told = world.call("library_import", bibliography=twice, replace=True)

    assert [(row["status"], row["key"]) for row in told["entries"]] == [("added", "k5"), ("added", "k5a")]


def test_keys_are_made_once_and_no_two_are_alike_but_for_capitals(world: World) -> None:
    world.pages |= crossref(DOI)
    world.call("metadata_only", ref=DOI)
    first = exported(world).splitlines()[0]

    world.call("library_import", bibliography="@misc{OTTER2021HOW, title={Another}}")
    world.call("library_import", bibliography="@misc{otter2021how, title={A third}}")

    assert first == "@article{otter2021how,"
    assert stored(world, "doi_10.1234_otters")["specloom"]["citekey_by"] == "made"
    keys = [line[line.index("{") + 1 : -1] for line in exported(world).splitlines() if line.startswith("@")]
    assert keys == ["otter2021how", "OTTER2021HOWa", "otter2021howb"]


def test_a_broken_entry_is_told_by_line_and_key_and_costs_no_other(world: World) -> None:
    told = world.call(
        "library_import", bibliography=f"{BIB}\n@article{{broken, title = {{x\n\n@misc{{ok, title={{Ok}}}}\n"
    )

    assert [row["key"] for row in told["entries"]] == ["Mine:21", "weir", "ok"]
    assert [(row["line"], row["key"]) for row in told["unreadable"]] == [(8, "broken")]


def test_names_that_somebody_changed_in_the_file_are_those_that_count(world: World) -> None:
    world.call("library_import", bibliography=BIB)
    path = world.root / ".metadata" / "doi_10.1234_otters.toml"
    path.write_text(path.read_text("utf-8").replace('"Ann van der Weir", ', '"Cy Reed", '), "utf-8")

    assert "  author = {Reed, Cy and {Otter Survey Group}}," in exported(world, refs=[DOI])


def test_a_registry_gives_names_in_their_parts(world: World) -> None:
    people = [{"family": "García Márquez", "given": "Gabriel"}, {"name": "ATLAS Collaboration"}]
    world.pages |= crossref(DOI, author=people, issued={"date-parts": [[2021, 3, 9]]})
    world.call("metadata_only", ref=DOI)

    [item] = json.loads(exported(world, "csl-json"))

    assert item["author"] == [{"family": "García Márquez", "given": "Gabriel"}, {"literal": "ATLAS Collaboration"}]
    assert item["issued"] == {"date-parts": [[2021, 3, 9]]}


@pytest.mark.parametrize("again", ["10.1234/OTTERS", "doi:10.1234/Otters"])
def test_capitals_part_no_two_dois(world: World, again: str) -> None:
    world.pages |= {**crossref(DOI), **crossref("10.1234/OTTERS"), **crossref("10.1234/Otters")}
    world.call("metadata_only", ref=DOI)

    assert world.call("info", ref=again)["metadata"]["doi"] == DOI
    assert world.call("tag", ref=again, add=["river"])["tags"] == ["river"]
    assert world.call("annotate", ref=again, text="Read.")["annotation"] == "Read."
    world.call("metadata_only", ref=again)
    assert [path.name for path in (world.root / ".metadata").glob("*.toml")] == ["doi_10.1234_otters.toml"]
    assert exported(world, refs=[again]).startswith("@article{otter2021how,")


def test_two_dois_of_one_file_name_live_side_by_side(world: World) -> None:
    first, second, third = "10.1234/a_b", "10.1234/a/b", "10.1234/a(b)"
    world.pages |= {**crossref(first), **crossref(second), **unpaywall(second), **crossref("10.1234/A/B")}
    world.call("metadata_only", ref=first)
    fetched = world.call("fetch_paper", ref=second)
    imported = world.call("library_import", bibliography=f"@article{{third, title = {{Thirds}}, doi = {{{third}}}}}")
    again = world.call("metadata_only", ref="https://doi.org/10.1234/A/B")
    tagged = world.call("tag", ref=second.upper(), add=["river"])
    listed = {row["ref"]: row["safekey"] for row in world.call("list_recent")["entries"]}

    assert (fetched["ok"], imported["added"], again["ok"], tagged["tags"]) == (True, 1, True, ["river"])
    assert set(listed) == {first, second, third}
    assert listed[first] == "doi_10.1234_a_b", "the older program finds the first one"
    assert len(set(listed.values())) == 3
    for ref in (first, second, third):
        assert world.call("info", ref=ref)["metadata"]["doi"] == ref
        assert f"doi = {{{ref}}}" in exported(world, refs=[ref]).replace("\\_", "_")
    assert world.call("info", ref=second)["metadata"]["doiget"]["tags"] == ["river"]
    assert fetched["path"].endswith(f"{listed[second]}.toml")
    stored = [row["store_path"] for row in world.rows() if row.get("store_path")]
    assert stored[:2] == [f".metadata/{listed[first]}.toml", f".metadata/{listed[second]}.toml"]


def test_what_a_format_has_no_place_for_is_told(world: World) -> None:
    world.call("library_import", bibliography=BIB)

    told = {style: world.call("library_export", style=style).get("notKept") for style in ("bibtex", "biblatex", "ris")}

    assert told == {
        "bibtex": None,
        "biblatex": None,
        "ris": [
            {"field": "collection-number", "entries": 1},
            {"field": "collections", "entries": 1},
            {"field": "name-particle", "entries": 1},
        ],
    }


def test_what_is_to_be_exported_can_be_a_search_a_collection_or_some_references(world: World) -> None:
    world.call("library_import", bibliography=BIB)

    assert "@book{weir," not in exported(world, query="in:thesis")
    assert exported(world, query="water weirs").count("@") == 0
    assert exported(world, query="bob").startswith("@book{weir,")
    told = world.call("library_export", refs=["weir", "@WEIR", "key_weir", "10.1234/none"])
    assert (told["entryCount"], told["missing"]) == (1, ["10.1234/none"])
    assert exported(world, "ieee", refs=["weir"]).startswith("[1] B. Weir, ")


@pytest.mark.parametrize(
    ("doi", "again"),
    [
        (
            "10.1002/(SICI)1(1998)43:4<338::AID-J16>3.0.CO;2-B",
            "https://doi.org/10.1002/(sici)1(1998)43:4%3C338::aid-j16%3E3.0.co;2-b",
        ),
        ("10.1234/a+b#c[d]", "doi:10.1234/A+B#C[D]"),
    ],
)
def test_a_doi_with_odd_signs_is_taken_everywhere_and_in_any_spelling(world: World, doi: str, again: str) -> None:
    world.pages[f"api.crossref.org/works/{quote(doi, safe='')}"] = next(iter(crossref(doi).values()))
    world.call("library_import", bibliography=f"@article{{odd, title={{Otters}}, doi={{{doi}}}}}")

    for ref in (doi, again):
        assert world.call("info", ref=ref)["metadata"]["doi"] == doi
        assert world.call("tag", ref=ref, add=["river"])["ok"] is True
        assert world.call("annotate", ref=ref, text="Read.")["ok"] is True
        assert world.call("paper_pdf_path", ref=ref)["ok"] is True
        assert world.call("bibtex_export", refs=[ref])["entries"][0]["bibtex"]
        assert world.call("library_export", refs=[ref])["entryCount"] == 1
    assert len(list((world.root / ".metadata").glob("*.toml"))) == 1
    assert f"  doi = {{{doi}}}," in exported(world)


def test_papers_that_are_fetched_from_a_file_keep_what_it_says_of_them(world: World) -> None:
    world.pages |= {**crossref(DOI), **unpaywall(DOI, "https://www.nature.com/x.pdf"), "www.nature.com/x.pdf": pdf()}
    path = world.folder / "mine.bib"
    path.write_text(BIB, "utf-8")

    told = world.call("batch_from_bibliography", path=str(path))

    assert told["summary"] == {"total": 2, "ok": 1, "failed": 0, "parse_errors": 1}
    entry = stored(world, "doi_10.1234_otters")
    assert (entry["title"], entry["specloom"]["citekey"]) == ("How otters swim", "Mine:21")
    assert entry["doiget"]["annotation"] == "read twice"
    assert [path.name for path in (world.root / ".metadata").glob("*.toml")] == ["doi_10.1234_otters.toml"]
    assert exported(world).startswith("@article{Mine:21,")


def test_a_wrong_path_is_for_the_caller_to_mend(world: World) -> None:
    for path in ("my.bib", "/nowhere/my.bib"):
        with pytest.raises(Fault) as caught:
            world.call("library_import", path=path)

        assert (caught.value.kind, caught.value.action) == ("validation", "fix_arguments")


def test_a_work_without_an_identifier_is_tagged_noted_and_exported_by_its_cite_key(world: World) -> None:
    folder = world.root / ".metadata"
    folder.mkdir(parents=True)
    entry = "schema_version = '1.0'\nauthors = ['Ann Weir']\ntitle = 'Weirs'\n[specloom]\ncitekey = 'Weir'\n"
    (folder / "key_weir.toml").write_text(entry, encoding="utf-8")

    tagged = world.call("tag", ref="@weir", add=["river"], collection_add=["thesis"])
    noted = world.call("annotate", ref="@weir", text="Read this.")
    told = world.call("info", ref="@weir")["metadata"]["doiget"]
    (exported,) = world.call("bibtex_export", refs=["@WEIR"])["entries"]

    assert (tagged["tags"], tagged["collections"], noted["annotation"]) == (["river"], ["thesis"], "Read this.")
    assert told == {"annotation": "Read this.", "collections": ["thesis"], "tags": ["river"]}
    assert "title      = {Weirs}" in exported["bibtex"]
    assert world.call("paper_pdf_path", ref="@weir")["pdf_exists"] is False
    assert world.call("search_local", query="tag:river")["results"][0]["ref"] == "@Weir"


@pytest.mark.parametrize("style", ["ieee", "vancouver", "apa", "mla", "bibtex"])
def test_the_parts_of_a_long_list_are_those_of_the_whole_one(world: World, style: str) -> None:
    works = [
        f"@article{{{key}, title = {{{word} otters swim, {'and what they eat in the rivers of the north, ' * 3} told}},"
        f" author = {{Weir, Ann}}, journal = {{Rivers}}, year = 2020}}"
        for key, word in zip("edcba", ("Before", "When", "As", "Why", "How"), strict=True)
    ]
    world.call("library_import", bibliography="\n".join(works))
    whole = exported(world, style, max_tokens=100_000)

    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        told = world.call("library_export", style=style, max_tokens=250, offset=offset)
        assert told["told"] < 5
        parts.append(told["bibliography"])
        offset = told.get("nextOffset")

    assert len(parts) > 1
    assert "\n\n".join(parts) == whole


def test_the_pdf_of_a_work_without_a_doi_comes_with_its_bibliography_and_is_never_lost(world: World) -> None:
    path, mine = world.folder / "my.bib", world.folder / "weir.pdf"
    path.write_text("@book{weir, title = {Weirs}, file = {:weir.pdf:PDF}}", "utf-8")
    mine.write_bytes(PDF + b"one")
    arguments = {"path": str(path), "pdfs": True}

    dry = world.call("library_import", **arguments, dry_run=True)["entries"][0]
    first = world.call("library_import", **arguments)["entries"][0]
    again = world.call("library_import", **arguments)["entries"][0]
    mine.write_bytes(PDF + b"two")
    kept = world.call("library_import", **arguments)["entries"][0]
    stored = world.call("paper_pdf_path", ref="@weir")
    replaced = world.call("library_import", **arguments, replace=True)["entries"][0]

    assert [row["pdf"] for row in (dry, first, again, kept, replaced)] == [
        "stored",
        "stored",
        "same",
        "kept",
        "replaced",
    ]
    assert (stored["pdf_exists"], stored["origin"]) == (True, "user-supplied")
    assert Path(stored["path"]).read_bytes() == PDF + b"two"
    assert Path(replaced["pdfCopy"]).read_bytes() == PDF + b"one"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("weir.pdf", "is relative to a file that is not known"),
        ("/nowhere/weir.pdf", "is not below a folder that may be read"),
    ],
)
def test_a_pdf_that_cannot_be_taken_is_told_and_costs_no_entry(world: World, name: str, problem: str) -> None:
    told = world.call("library_import", bibliography=f"@book{{weir, title = {{Weirs}}, file = {{{name}}}}}", pdfs=True)

    assert (told["added"], told["entries"][0]["pdf"]) == (1, "failed")
    assert problem in told["entries"][0]["pdfMessage"]
    assert world.call("paper_pdf_path", ref="@weir")["pdf_exists"] is False


@pytest.mark.parametrize("roots", ["", "mine"])
def test_tenants_take_pdfs_only_from_folders_that_the_operator_names(world: World, roots: str) -> None:
    (world.root / "weir.pdf").parent.mkdir(parents=True, exist_ok=True)
    (world.root / "weir.pdf").write_bytes(PDF)
    environ = {
        "DOIGET_STORE_ROOT": str(world.root),
        "DOIGET_FILE_ROOTS": str(world.root) if roots else "",
        "SPECLOOM_PAPERS_SHARED": "true",
        "SPECLOOM_PATH": "",
        "SPECLOOM_CACHE_DIR": str(world.folder / "cache"),
        "SPECLOOM_STATE_DIR": str(world.folder / "state"),
    }
    text = f"@book{{weir, title = {{Weirs}}, file = {{{world.root}/weir.pdf}}}}"

    async def take(*, shared: bool) -> dict[str, Any]:
        executor = make_executor(environ, shared=shared, disk_cache=False)
        try:
            given = {"bibliography": text, "pdfs": True}
            return (await executor.call("library_import", given, owner="north:ada")).answer
        finally:
            await executor.aclose()

    if not roots:
        with pytest.raises(Fault, match=r"takes no PDFs from its machine: its operator sets DOIGET_FILE_ROOTS"):
            asyncio.run(take(shared=True))
        assert not (world.root / "key_weir.pdf").exists()
    told = asyncio.run(take(shared=bool(roots)))

    assert told["entries"][0]["pdf"] == "stored"
    assert (world.root / "key_weir.pdf").read_bytes() == PDF


def test_a_work_that_another_process_put_there_meanwhile_is_not_mixed_up_with_an_imported_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.call("library_import", bibliography="@book{reed, title={Reeds}}")
    other = world.root / ".metadata" / "key_weir.toml"
    written = 'schema_version = "1.0"\nauthors = []\ntitle = "Dams"\n\n[specloom]\ncitekey = "weir"\n'
    choose = PaperLibrary.make_file_key

    def choose_late(library: PaperLibrary, work: Any) -> str:
        key = choose(library, work)
        if not other.exists():
            other.write_text(written, encoding="utf-8")
        return key

    monkeypatch.setattr(PaperLibrary, "make_file_key", choose_late)
    told = world.call("library_import", bibliography="@book{weir, title={Weirs}}")

    [row] = told["entries"]
    assert (row["status"], row["givenKey"], row["key"] != "weir") == ("added", "weir", True)
    assert other.read_text("utf-8") == written
    assert stored(world, row["safekey"])["title"] == "Weirs"
    assert row["safekey"] != "key_weir"


@pytest.mark.parametrize("tool", ["library_import", "doiget_batch_from_bibliography"])
def test_a_second_tenant_reads_no_file_of_the_operator_unless_its_folder_is_named(
    world: World, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    home = world.folder / "operator"
    (home / "open").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for path in (home / "diary.bib", home / "open" / "list.bib"):
        path.write_text("@book{weir, title = {Weirs}}", encoding="utf-8")

    def ask(path: Path, *, owner: str = "south:grace", shared: bool = True, roots: str = "") -> dict[str, Any]:
        environ = {
            "DOIGET_STORE_ROOT": str(world.root),
            "DOIGET_LOG_PATH": str(world.log),
            "DOIGET_FILE_ROOTS": roots,
            "SPECLOOM_PAPERS_SHARED": "true",
            "SPECLOOM_PATH": "",
            "SPECLOOM_CACHE_DIR": str(world.folder / "cache"),
            "SPECLOOM_STATE_DIR": str(world.folder / "state"),
        }

        async def call() -> dict[str, Any]:
            executor = make_executor(environ, shared=shared, disk_cache=False)
            try:
                return (await executor.call(tool, {"path": str(path)}, owner=owner)).answer
            finally:
                await executor.aclose()

        try:
            return asyncio.run(call())
        except Fault as fault:
            return {"error": {"message": fault.message}}

    refusal = (
        "A server of several tenants reads no files of its machine: its operator sets DOIGET_FILE_ROOTS to the "
        "folders that all may read."
    )
    for path in (home / "diary.bib", home / "nowhere.bib"):
        assert ask(path)["error"]["message"] == refusal
    assert (
        "not below a folder that may be read" in ask(home / "diary.bib", roots=str(home / "open"))["error"]["message"]
    )
    for told in (
        ask(home / "open" / "list.bib", roots=str(home / "open")),
        ask(home / "diary.bib", shared=False, owner=""),
    ):
        assert "error" not in told
        assert "weir" in json.dumps(told)


def test_a_stored_pdf_that_cannot_be_read_fails_its_row_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"@book{{weir, title = {{Weirs}}, file = {{{world.folder}/weir.pdf}}}}"
    (world.folder / "weir.pdf").write_bytes(PDF)
    world.call("library_import", bibliography=text, pdfs=True)
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "key_weir.pdf":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    for dry_run in (True, False):
        (row,) = world.call("library_import", bibliography=text, pdfs=True, dry_run=dry_run)["entries"]
        assert (row["pdf"], "Permission denied" in row["pdfMessage"]) == ("failed", True)


def test_a_folder_that_does_not_answer_is_not_waited_for_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, asked = threading.Event(), []

    def hang(path: str, *_: object) -> bytes:
        asked.append(path)
        answers.wait()
        return PDF

    monkeypatch.setattr(local_file, "read_below", hang)
    monkeypatch.setattr(local_file, "SECONDS", 0.0)
    books = [f"@book{{b{at}, title = {{Weirs {at}}}, file = {{{world.folder}/{at}.pdf}}}}" for at in range(3)]
    try:
        told = world.call("library_import", bibliography="\n".join(books), pdfs=True)
    finally:
        answers.set()

    assert [row["pdf"] for row in told["entries"]] == ["failed"] * 3
    assert all("could not be read within" in row["pdfMessage"] for row in told["entries"])
    assert len(asked) <= 1
