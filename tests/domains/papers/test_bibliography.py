"""Papers of a bibliography file: which one an entry names, what is told of an entry without one, and the whole call."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from specloom.domains.papers import metadata
from specloom.domains.papers.config import file_roots
from specloom.domains.text.paper_refs import PaperId
from tests.support.paper_store import World, as_json, crossref, pdf, unpaywall

DOI = "10.1234/Otters"
KEY = "doi_10.1234_Otters"
PLACE = "www.nature.com/otters.pdf"

BIBTEX = r"""
@string{weir = "Weir Press"}
@article{otter2021, title = {How otters swim}, doi = {https://doi.org/10.1234/Ott\_ers}, publisher = weir}
@misc{vaswani, title = {Attention}, journal = {arXiv preprint arXiv:1706.03762}}
@misc{old, eprint = "cond-mat/9501001v2", archivePrefix = "arXiv", primaryClass = {cond-mat}}
@book{none, title = {No identifier}}
@software{tool, title = {A tool}, url = {https://github.com/otters/swim}}
@article{broken, doi = {10.1234/}}
@article{otter2021, doi = {10.1234/twice}}
"""


def written(world: World, text: str | bytes, name: str = "refs.bib") -> str:
    path = world.folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def known(world: World, doi: str = DOI) -> None:
    """The registries know a paper with an open copy."""
    world.pages |= {**crossref(doi), **unpaywall(doi, f"https://{PLACE}"), PLACE: pdf()}


# --- entries ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"doi": "11.1234/a"}, "INVALID_REF"),
        ({"eprint": "otters", "archiveprefix": "arXiv"}, "INVALID_REF"),
        ({"title": "Otters"}, "INVALID_REF"),
        ({"type": "software"}, "NOT_IMPLEMENTED"),
        ({"type": "webpage", "URL": "https://www.github.com/otters"}, "NOT_IMPLEMENTED"),
        ({"type": "webpage", "URL": "https://[otters"}, "INVALID_REF"),
    ],
)
def test_an_entry_without_a_paper_says_why(world: World, fields: dict[str, Any], code: str) -> None:
    told = world.call("batch_from_bibliography", path=written(world, json.dumps([{"id": "a", **fields}])))

    [row] = told["results"]
    assert (row["entry_key"], row["ok"], row["error"]["code"]) == ("a", False, code)


# --- the call -----------------------------------------------------------------------------------------------------


def test_entries_without_a_paper_come_first_and_the_others_are_fetched(world: World) -> None:
    known(world, "10.1234/Ott_ers")

    told = world.call("batch_from_bibliography", path=written(world, BIBTEX))

    assert told["summary"] == {"total": 7, "ok": 1, "failed": 3, "parse_errors": 3}
    bad, rest = told["results"][:3], told["results"][3:]
    assert [(row["entry_key"], row["ref"], row["error"]["code"]) for row in bad] == [
        ("none", None, "INVALID_REF"),
        ("tool", "https://github.com/otters/swim", "NOT_IMPLEMENTED"),
        ("broken", "10.1234/", "INVALID_REF"),
    ]
    assert all(row["error"]["denial_context"] is None and row["ok"] is False for row in bad)
    assert [(row["entry_key"], row["ref"], row["ok"]) for row in rest] == [
        ("otter2021", "10.1234/Ott_ers", True),
        ("vaswani", "arXiv:1706.03762", False),
        ("old", "arXiv:cond-mat/9501001v2", False),
        ("otter2021", "10.1234/twice", False),
    ]
    assert rest[0]["pdf"] == {"status": "fetched"}
    assert (world.root / "doi_10.1234_Ott_ers.pdf").is_file()
    assert all(row["error"]["denial_context"] is None for row in rest[1:])
    assert [row["event"] for row in world.rows()].count("session_start") == 1


def test_csl_json_and_plain_references_are_read_too(world: World) -> None:
    known(world)
    items = [{"id": "a", "DOI": DOI}, {"DOI": DOI}, 7, {"id": 9, "title": "Otters"}]

    told = world.call("batch_from_bibliography", path=written(world, json.dumps(items)), format="CSL_JSON")
    assert [(row["entry_key"], row["error"]["message"]) for row in told["results"][:2]] == [
        (None, "The entry at place 3 cannot be read: it is no object."),
        ("9", "The entry '9' has no DOI, arXiv or PubMed identifier."),
    ]
    assert [row.get("entry_key", "no key") for row in told["results"][2:]] == ["a", "no key"]
    assert told["summary"] == {"total": 4, "ok": 2, "failed": 0, "parse_errors": 2}

    told = world.call("batch_from_bibliography", path=written(world, f"# mine\n\n doi:{DOI} \notters\n"))
    assert [(row["ref"], row["ok"]) for row in told["results"]] == [(None, False), (f"doi:{DOI}", True)]
    assert told["results"][0]["entry_key"] is None
    assert "entry_key" not in told["results"][1]


def test_a_line_may_be_an_address_and_may_have_a_remark(world: World) -> None:
    lines = f"https://doi.org/{DOI}\thow they swim\nhttps://doi.org/{DOI} # how they swim\n# https://doi.org/{DOI}\n"
    known(world)

    told = world.call("batch_from_bibliography", path=written(world, lines))

    assert [(row["ref"], row["ok"]) for row in told["results"]] == [(None, False), (DOI, True)]
    assert "line 1 is neither" in told["results"][0]["error"]["message"]


def test_the_first_bad_entry_ends_a_strict_call_before_anybody_is_asked(world: World) -> None:
    path = written(world, BIBTEX)

    told = world.call("batch_from_bibliography", path=path, strict=True)

    assert told["error"]["code"] == "INVALID_REF"
    assert "'none'" in told["error"]["message"]
    assert "ref" not in told
    assert world.asked == []


def test_a_blocked_paper_is_replayed_and_force_asks_anew(world: World) -> None:
    world.pages |= {**crossref(DOI), **unpaywall(DOI, "https://elsewhere.example.com/otters.pdf")}
    path = written(world, f"{DOI}\n{DOI}\n")

    first, second = world.call("batch_from_bibliography", path=path)["results"]
    assert first["pdf"]["code"] == "CAPABILITY_DENIED"
    assert second["error"]["replayed"] is True
    assert second["error"]["denial_context"]["reason"] == "redirect_not_in_allowlist"

    asked = len(world.asked)
    assert world.call("batch_from_bibliography", path=path, force=True)["summary"]["ok"] == 2
    assert len(world.asked) > asked
    assert "repeat_forced" in [row["event"] for row in world.rows()]


def test_a_pubmed_identifier_stands_for_its_doi_and_without_one_is_not_taken(world: World) -> None:
    known(world)
    row = {"result": {"uids": ["7"], "7": {"uid": "7", "articleids": [{"idtype": "doi", "value": DOI}]}}}
    world.pages["eutils.ncbi.nlm.nih.gov/entrez/eutils/esummary.fcgi"] = as_json(row)
    path = written(world, json.dumps([{"id": "a", "PMID": "7"}]))

    [told] = world.call("batch_from_bibliography", path=path)["results"]

    assert (told["entry_key"], told["ref"], told["ok"]) == ("a", "pmid:7", True)
    assert (world.root / f"{KEY}.pdf").is_file()


def test_a_defect_that_one_entry_brings_to_light_stops_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    known(world)

    resolve = metadata.PaperLookup.resolve

    async def resolve_one(lookup: Any, ref: PaperId) -> Any:
        return 1 / 0 if ref.value == "10.1234/bad" else await resolve(lookup, ref)

    monkeypatch.setattr(metadata.PaperLookup, "resolve", resolve_one)

    told = world.call("batch_from_bibliography", path=written(world, f"10.1234/bad\n{DOI}\n"))

    assert [row["ok"] for row in told["results"]] == [False, True]
    assert told["results"][0]["error"]["code"] == "INTERNAL_ERROR"
    assert world.rows()[-1]["event"] == "session_end"


def test_a_file_of_only_bad_entries_asks_nobody_and_writes_nothing(world: World) -> None:
    told = world.call("batch_from_bibliography", path=written(world, "@book{a, title = {Otters}}"))

    assert told["summary"] == {"total": 1, "ok": 0, "failed": 0, "parse_errors": 1}
    assert world.asked == []
    assert world.rows() == []


@pytest.mark.parametrize(
    ("content", "format_", "sentence"),
    [
        (b"\xff\xfe@article", "auto", "is no text in UTF-8"),
        ("x" * 1_000_001, "auto", "is larger than 1000000 bytes"),
        ("", "auto", "holds no reference, and is neither CSL-JSON nor BibTeX"),
        ("TY  - JOUR\nDO  - 10.1234/a\nER  - \n", "auto", "holds no reference"),
        ("[{", "csl-json", "is no JSON"),
        ("[]", "csl-json", "holds no entry in the format csl-json"),
        ("no entry at all", "bibtex", "holds no entry in the format bibtex"),
        ("10.1234/a", "ris", "is no format of bibliographies"),
    ],
)
def test_what_is_no_bibliography_refuses_the_call(
    world: World, content: str | bytes, format_: str, sentence: str
) -> None:
    told = world.call("batch_from_bibliography", path=written(world, content), format=format_)

    assert told["error"]["code"] == "INVALID_REF"
    assert sentence in told["error"]["message"]
    assert world.asked == []


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("refs.bib", "is no absolute path"),
        ("~/refs.bib", "is no absolute path"),
        ("/nowhere/refs.bib", "is not below a folder that may be read"),
        ("/dev/zero", "is not below a folder that may be read"),
        ("/", "is not below a folder that may be read"),
        ("/tmp/\0", "cannot be read: the path is none"),
        ("{folder}/refs.bib", "is no file"),
        ("{folder}/pipe", "is no file"),
        ("{folder}/library", "is no file"),
        ("{folder}/library/../../elsewhere.bib", "is not below a folder that may be read"),
        ("{folder}/link.bib", "is not below a folder that may be read"),
        ("{folder}/.hidden/refs.bib", "has a name that begins with a dot"),
    ],
)
def test_a_path_names_an_ordinary_file_below_an_allowed_folder(world: World, path: str, sentence: str) -> None:
    outside = world.folder.parent / "elsewhere.bib"
    outside.write_text(DOI, encoding="utf-8")
    for name in ("library", ".hidden"):
        (world.folder / name).mkdir()
    (world.folder / ".hidden" / "refs.bib").write_text(DOI, encoding="utf-8")
    (world.folder / "link.bib").symlink_to(outside)
    os.mkfifo(world.folder / "pipe")

    error = world.call("batch_from_bibliography", path=path.replace("{folder}", str(world.folder)))["error"]

    assert error["code"] == "INVALID_REF"
    assert sentence in error["message"]


def test_of_a_file_that_is_no_bibliography_little_is_told(world: World) -> None:
    secrets = json.dumps({"key": "s3cret", "token": "s3cret", "DOI": "s3cret" * 100})

    told = world.call("batch_from_bibliography", path=written(world, secrets))

    [row] = told["results"]
    assert (row["entry_key"], row["ref"]) == (None, None)
    assert "s3cret" not in str(told)
    for text in (
        "A=s3cret\nB=s3cret\n",
        f"s3cret\n{DOI}\n",
        f"root:x:0:0 {DOI} s3cret\nhttps://s3cret.example/\n{DOI}\n",
    ):
        assert "s3cret" not in str(world.call("batch_from_bibliography", path=written(world, text)))


def test_without_a_setting_the_home_folder_that_of_the_server_and_the_store_may_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    monkeypatch.chdir("/")

    assert file_roots({"DOIGET_STORE_ROOT": "/srv/papers"}) == [str(tmp_path / "ann"), "/srv/papers"]
    assert file_roots({"DOIGET_FILE_ROOTS": f"~/library{os.pathsep}/"}) == [str(tmp_path / "ann" / "library"), "/"]


def test_a_hundred_papers_are_the_most(world: World) -> None:
    lines = "\n".join(f"10.1234/{at}" for at in range(101))

    told = world.call("batch_from_bibliography", path=written(world, lines))

    assert told["error"]["code"] == "INVALID_REF"
    assert told["error"]["message"].startswith("TOO_MANY_REFS: the file has 101 papers, and 100")
    assert world.asked == []


def test_a_file_of_thousands_of_records_is_refused_where_it_is_read(world: World) -> None:
    told = world.call("batch_from_bibliography", path=written(world, "a\n" * 2_500))

    assert told["error"]["code"] == "INVALID_REF"
    assert "2500 records, and 2000 are read at most; split it" in told["error"]["message"]


def test_a_file_is_only_read(world: World) -> None:
    known(world)
    path = Path(written(world, DOI))
    before = path.stat()

    world.call("batch_from_bibliography", path=str(path))

    assert path.read_text("utf-8") == DOI
    assert path.stat().st_mtime_ns == before.st_mtime_ns
