"""What strangers and accidents put in the way: replies, files of the store, the log, links, disks and clocks."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from specloom.domains.papers import store as store_module
from specloom.domains.papers.download import check_hop
from specloom.domains.papers.entries import to_bibtex
from specloom.domains.papers.errors import PaperFault
from specloom.domains.papers.limits import LASTING, Replays
from specloom.domains.papers.provenance_log import ProvenanceLog, verify
from specloom.domains.papers.store import PaperStore
from specloom.storage import files
from tests.support.paper_store import PDF, World, as_json, crossref, pdf, unpaywall

DOI = "10.1234/otters"
KEY = "doi_10.1234_otters"
PLACE = "www.nature.com/otters.pdf"


def stored(world: World, text: str = "", *, key: str = KEY) -> Path:
    """An entry as another program wrote it."""
    path = world.root / ".metadata" / f"{key}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or f'schema_version = "1.0"\nauthors = []\ndoi = "{DOI}"\ntitle = "Otters"\n', "utf-8")
    return path


def open_copy(world: World, place: str = f"https://{PLACE}", **more: Any) -> None:
    world.pages |= crossref(DOI) | unpaywall(DOI, place, **more) | {PLACE: pdf()}


# --- replies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "delay"),
    [
        ("²", None),
        ("9" * 5000, None),
        ("soon", None),
        ("7", 7000),
        ("Thu, 01 Jan 2026 00:02:00 GMT", 120_000),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ],
)
@pytest.mark.parametrize(("status", "code"), [(429, "RATE_LIMITED"), (503, "NETWORK_ERROR")])
def test_a_delay_is_told_where_it_is_one(world: World, status: int, code: str, said: str, delay: int | None) -> None:
    open_copy(world)
    world.pages[PLACE] = (status, {"Retry-After": said}, b"")

    told = world.call("fetch_paper", ref=DOI)

    assert told["pdf"]["code"] == code
    assert told["pdf"].get("retry_after_ms") == delay


def test_a_licence_of_any_length_and_sign_leaves_a_log_that_can_be_continued(world: World) -> None:
    open_copy(world, license_="cc\n" + "x" * 200_000 + "\ud800")

    told = world.call("fetch_paper", ref=DOI)
    again = world.call("fetch_paper", ref=DOI, force=True)

    assert (told["pdf"]["status"], again["pdf"]["status"]) == ("fetched", "fetched")
    assert len(told["license"]) <= 100
    assert verify(world.log).problem == ""


@pytest.mark.parametrize(
    "name", ["10.48550/arXiv.2401.1?id_list=9", "10.48550/arXiv." + "9" * 5000, "10.48550/arXiv.."]
)
def test_a_preprint_that_is_none_is_not_asked_for(world: World, name: str) -> None:
    relation = {"has-preprint": [{"id-type": "doi", "id": name}]}
    world.pages |= crossref(DOI, relation=relation) | unpaywall(DOI, status="closed")

    told = world.call("fetch_paper", ref=DOI)

    assert told["pdf"]["status"] == "no_oa_url"
    assert not any("export.arxiv.org" in url or "48550" in url for url in world.asked)


def test_a_list_of_places_without_an_end_is_not_tried_to_its_end(world: World) -> None:
    world.pages |= crossref(DOI) | unpaywall(DOI, *(f"https://{number}.example.com/x.pdf" for number in range(500)))

    steps = world.call("fetch_paper", ref=DOI)["attempts"]

    assert len([one for one in steps if one["outcome"] == "consulted_denied"]) == 30


def test_a_record_of_any_size_is_kept_only_if_it_can_be_read_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "LARGEST", 1000)
    world.pages |= crossref(DOI, abstract="otters " * 1000)

    assert world.call("metadata_only", ref=DOI)["error"]["code"] == "STORE_ERROR"
    assert world.call("info", ref=DOI)["metadata"] is None


BOOKS = ["[" * 200_000, "{" * 200_000, "@a{" * 50_000, "@article{x, doi = {" + "{" * 200_000, "@a{b,c={d}" * 40_000]


@pytest.mark.parametrize("text", BOOKS, ids=["lists", "objects", "entries", "braces", "fields"])
def test_a_bibliography_that_nests_without_an_end_is_refused(world: World, text: str) -> None:
    path = world.folder / "my.bib"
    path.write_text(text, "utf-8")

    told = world.call("batch_from_bibliography", path=str(path))

    assert told["ok"] or told["error"]["code"] == "INVALID_REF"


def test_signs_that_are_no_characters_are_told_and_kept_as_such(world: World) -> None:
    world.pages |= crossref(DOI, title=["Otters \ud800 swim\x1b[2J"]) | unpaywall(DOI, status="closed")

    told = world.call("fetch_paper", ref=DOI)

    assert told["ok"], told
    assert world.call("info", ref=DOI)["metadata"]["title"].startswith("Otters")
    assert "\x1b" not in world.call("bibtex_export", refs=[DOI])["entries"][0]["bibtex"]


def test_a_name_cannot_end_its_field_or_the_entry() -> None:
    text = to_bibtex(KEY, {"title": "A}\n}\n@misc{evil, note={x}\x00\x9b", "authors": ["B}, C\\"], "doi": DOI})

    assert text.count("@") == 2
    assert text.splitlines()[0] == f"@misc{{{KEY},"
    assert len(text.splitlines()) == 5
    assert not any(ord(one) < 32 or 127 <= ord(one) < 160 for one in text.replace("\n", ""))


# --- arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["batch_fetch", "bibtex_export", "csl_export"])
def test_what_is_no_text_is_no_reference(world: World, tool: str) -> None:
    for one in (7, None, ["10.1234/a"], {"doi": "10.1234/a"}):
        told = world.call(tool, refs=[one])
        error = told.get("error") or told["entries"][0]["error"]
        assert error["code"] == "INVALID_REF", told


def test_tags_are_texts_of_a_sensible_length_and_number(world: World) -> None:
    stored(world, f'schema_version = "1.0"\nauthors = []\ndoi = "{DOI}"\ntitle = "Otters"\n\n[doiget]\ntags = "one"\n')

    assert world.call("tag", ref=DOI, add=["two"])["tags"] == ["one", "two"]
    assert world.call("tag", ref=DOI, add=["x" * 10_000])["error"]["code"] == "INVALID_REF"
    assert world.call("tag", ref=DOI, add=[str(one) for one in range(5000)])["error"]["code"] == "INVALID_REF"
    assert world.call("tag", ref=DOI, add=[""])["error"]["code"] == "INVALID_REF"


# --- files of the store ---------------------------------------------------------------------------------------------


HOSTILE = {
    "deep": "a = " + "[" * 20_000,
    "digits": "year = " + "9" * 5000,
    "bytes": 'title = "\\u0000"\nauthors = 7\n',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_one_entry_that_cannot_be_read_hides_no_other(world: World, text: str) -> None:
    stored(world)
    stored(world, text, key="doi_10.1234_broken")

    assert KEY in [one["safekey"] for one in world.call("list_recent")["entries"]]
    assert world.call("info", ref="10.1234/broken").get("error", {}).get("code") in {None, "STORE_ERROR"}


def test_a_file_that_is_none_is_not_waited_for(world: World) -> None:
    stored(world)
    os.mkfifo(world.root / ".metadata" / "doi_10.1234_pipe.toml")

    assert world.call("list_recent")["count"] == 1
    assert world.call("info", ref="10.1234/pipe")["error"]["code"] == "STORE_ERROR"


def test_values_that_json_does_not_have_are_told_as_texts(world: World) -> None:
    more = "seen = 2026-05-05T08:30:12Z\nday = 2026-05-05\nratio = nan\nmost = [inf, -inf, 1.5]\n"
    stored(world, f'schema_version = "1.0"\nauthors = []\ndoi = "{DOI}"\ntitle = "Otters"\n{more}')

    metadata = world.call("info", ref=DOI)["metadata"]

    assert (metadata["seen"], metadata["day"]) == ("2026-05-05T08:30:12+00:00", "2026-05-05")
    assert (metadata["ratio"], metadata["most"]) == ("nan", ["inf", "-inf", 1.5])


def test_times_are_listed_in_one_form_and_by_what_they_mean(world: World) -> None:
    times = {
        "a": '"2026-05-05T09:30:00+02:00"',
        "b": '"2026-05-05T08:00:00.5Z"',
        "c": '"zzz"',
        "d": "2026-05-05T07:45:00Z",
    }
    for name, said in times.items():
        stored(
            world,
            f'schema_version = "1.0"\nauthors = []\ntitle = "Otters"\n\n[doiget]\nfetched_at = {said}\n',
            key=f"doi_10.1234_{name}",
        )

    listed = world.call("list_recent")["entries"]

    assert [(one["safekey"][-1], one["fetched_at"]) for one in listed] == [
        ("b", "2026-05-05T08:00:00Z"),
        ("d", "2026-05-05T07:45:00Z"),
        ("a", "2026-05-05T07:30:00Z"),
        ("c", None),
    ]


def test_an_entry_with_values_of_other_kinds_is_fetched_all_the_same(world: World) -> None:
    own = '[doiget]\nsize_bytes = "many"\nrepaired_fields = []\nlicense = 7\nsource = []\n'
    path = f'pdf_path = "{KEY}.pdf"\n'
    stored(world, f'schema_version = "1.0"\nauthors = "Ann Otter"\ndoi = "{DOI}"\n{path}title = 7\n\n{own}')
    (world.root / f"{KEY}.pdf").write_bytes(PDF)

    told = world.call("fetch_paper", ref=DOI)

    assert told["ok"], told
    assert (told["authors"], told["size_bytes"], told["repaired_fields"]) == (["Ann Otter"], 0, {})


@pytest.mark.parametrize("named", ["../../otters.pdf", "gone.pdf"])
def test_a_pdf_that_is_fetched_is_the_one_that_the_entry_names(world: World, named: str) -> None:
    own = "[doiget]\nsize_bytes = 1\n"
    stored(
        world, f'schema_version = "1.0"\nauthors = []\ndoi = "{DOI}"\npdf_path = "{named}"\ntitle = "Otters"\n\n{own}'
    )
    open_copy(world)

    told = world.call("fetch_paper", ref=DOI)

    assert (told["path"], told["size_bytes"]) == (str(world.root / f"{KEY}.pdf"), len(PDF))
    assert world.call("paper_pdf_path", ref=DOI)["pdf_exists"] is True


def test_a_pdf_of_another_program_has_no_size_that_is_not_its_own(world: World) -> None:
    stored(world, f'schema_version = "1.0"\ntitle = "T"\npdf_path = "{KEY}.pdf"\n')
    (world.root / f"{KEY}.pdf").write_bytes(b"%PDF-1.4 of another program")
    open_copy(world)

    told = world.call("fetch_paper", ref=DOI, force=True)

    assert (told["pdf"], told["size_bytes"]) == ({"status": "fetched"}, 0)
    assert "size_bytes" not in world.call("info", ref=DOI)["metadata"]["doiget"]


def test_a_pdf_that_a_crash_left_is_not_told_as_the_one_that_was_fetched(world: World) -> None:
    open_copy(world)
    world.root.mkdir()
    (world.root / f"{KEY}.pdf").write_bytes(PDF + b"more")

    assert world.call("fetch_paper", ref=DOI)["size_bytes"] == len(PDF)
    assert Path(world.call("paper_pdf_path", ref=DOI)["path"]).read_bytes() == PDF
    assert (world.root / f"{KEY}.pdf").read_bytes() == PDF + b"more"


@pytest.mark.parametrize(
    "name", [f"{KEY}.pdf.tmp", f".metadata/{KEY}.toml.tmp", f"{KEY}.pdf", f".metadata/{KEY}.toml.lock"]
)
def test_a_link_in_the_store_writes_to_nothing_outside_of_it(world: World, name: str) -> None:
    outside = world.folder / "precious"
    outside.write_bytes(b"mine")
    (world.root / ".metadata").mkdir(parents=True)
    (world.root / name).symlink_to(outside)
    open_copy(world)

    told = world.call("fetch_paper", ref=DOI)

    assert outside.read_bytes() == b"mine"
    assert told["ok"] or told["error"]["code"] == "STORE_ERROR"


def test_a_pipe_in_place_of_a_lock_is_not_waited_for(world: World) -> None:
    (world.root / ".metadata").mkdir(parents=True)
    os.mkfifo(world.root / ".metadata" / f"{KEY}.toml.lock")
    open_copy(world)

    assert world.call("metadata_only", ref=DOI)["error"]["code"] == "STORE_ERROR"


def test_a_store_that_cannot_be_written_is_told_before_anybody_is_asked(world: World) -> None:
    (world.folder / "papers").write_text("a file", "utf-8")
    open_copy(world)

    assert world.call("fetch_paper", ref=DOI)["error"]["code"] == "STORE_ERROR"
    assert world.call("metadata_only", ref=DOI)["error"]["code"] == "STORE_ERROR"
    assert world.asked == []


# --- disks, logs and clocks -----------------------------------------------------------------------------------------


def full(path: Path, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full for the next flushes."""
    left = [times]
    sync = os.fsync

    def fsync(handle: int) -> None:
        if left[0]:
            left[0] -= 1
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(handle)

    monkeypatch.setattr(files.os, "fsync", fsync)


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full(tmp_path, 1, monkeypatch)

    with pytest.raises(OSError, match="No space"):
        files.write_whole(tmp_path / "x.pdf", PDF)

    assert list(tmp_path.iterdir()) == []


def test_a_row_that_the_disk_has_no_room_for_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = ProvenanceLog(tmp_path / "log.jsonl")
    log.append("session_start", now=0.0)
    full(tmp_path, 1, monkeypatch)
    with pytest.raises(PaperFault, match="No space"):
        log.append("session_end", now=1.0)

    log.append("session_end", now=2.0)

    assert verify(log.path) == verify(log.path).__class__(2)


def test_a_last_row_without_its_line_end_is_followed_by_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    ProvenanceLog(path).append("session_start", now=0.0)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))

    ProvenanceLog(path).append("session_end", now=1.0)

    assert verify(path).rows == 2


def test_a_row_that_was_cut_off_is_told_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = ProvenanceLog(path)
    log.append("session_start", now=0.0)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])

    for one in (log, ProvenanceLog(path)):
        with pytest.raises(PaperFault, match="line 2 was cut off while it was written; remove it"):
            one.append("session_end", now=1.0)
    assert "row 2 was cut off while it was written; remove it" in verify(path).problem


def test_a_log_that_somebody_keeps_locked_ends_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WAIT", 0.1)
    path = tmp_path / "log.jsonl"

    with files.FileLock(tmp_path / "log.jsonl.lock"), pytest.raises(PaperFault, match="locked") as caught:
        ProvenanceLog(path).append("session_start", now=0.0)

    assert caught.value.code == "LOG_ERROR"
    assert not path.exists()


@pytest.mark.parametrize("line", ["[" * 100_000, "9" * 5000, "null", "{}"])
def test_a_line_of_any_kind_is_told_and_not_stumbled_over(tmp_path: Path, line: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(line + "\n", "utf-8")

    assert verify(path).problem
    with pytest.raises(PaperFault) as caught:
        ProvenanceLog(path).append("session_start", now=0.0)
    assert caught.value.code == "LOG_ERROR"


def test_a_clock_that_goes_back_forgets_nothing_and_keeps_the_chain(world: World) -> None:
    world.environ = {"DOIGET_LOG_RETENTION_DAYS": "999999999"}
    open_copy(world)
    world.call("fetch_paper", ref=DOI)
    world.now -= 40 * 365 * 86_400

    told = world.call("fetch_paper", ref=DOI, force=True)

    assert told["pdf"]["status"] == "fetched"
    assert verify(world.log).problem == ""


def test_what_was_refused_keeps_its_first_time_although_it_was_asked_again() -> None:
    known, refusal = Replays(), PaperFault("NOT_FOUND", "Nobody knows it.")
    known.note("x", refusal, 0.0)
    known.note("x", refusal, LASTING - 1)

    known.check("x", LASTING + 1)

    known.note("x", refusal, LASTING + 1)
    with pytest.raises(PaperFault):
        known.check("x", LASTING + 2)


def test_a_session_with_a_blocked_copy_ends_with_an_error_and_one_that_was_not_granted_is_denied(world: World) -> None:
    open_copy(world, "https://elsewhere.example.com/x.pdf")
    world.call("fetch_paper", ref=DOI)
    assert (world.rows()[-1]["result"], world.rows()[-1]["error_code"]) == ("err", "CAPABILITY_DENIED")


def test_entries_with_a_file_of_the_same_time_and_size_are_read_again(world: World) -> None:
    path = stored(world)
    assert world.call("search_local", query="otters")["count"] == 1
    before = path.stat()
    changed = path.with_suffix(".new")
    changed.write_text(path.read_text("utf-8").replace("Otters", "Weasel"), "utf-8")
    os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed.replace(path)

    assert world.call("search_local", query="otters")["count"] == 0


def test_health_of_a_store_that_cannot_be_looked_at_is_told(tmp_path: Path) -> None:
    assert PaperStore(tmp_path / ("x" * 300) / "papers").is_writable() is True
    assert json.dumps(PaperStore(Path("/dev/null/papers")).is_writable()) == "false"
    assert as_json({})[0] == 200


@pytest.mark.parametrize("named", ["x" * 300 + ".pdf", "a/" * 3000, "."])
def test_a_pdf_whose_name_no_file_can_have_is_not_there(world: World, named: str) -> None:
    stored(world, f'schema_version = "1.0"\ntitle = "T"\npdf_path = "{named}"\n')

    assert world.call("paper_pdf_path", ref=DOI)["pdf_exists"] is False

    world.pages |= crossref(DOI) | unpaywall(DOI, "https://www.nature.com/a.pdf") | {"www.nature.com/a.pdf": pdf()}
    assert world.call("fetch_paper", ref=DOI)["path"] == str(world.root / f"{KEY}.pdf")


@pytest.mark.parametrize(
    "place",
    [
        "https://" + "x" * 300 + ".example/",
        "https://pay attention.example/",
        "x" * 300 + "://a.example/",
    ],
)
def test_a_place_whose_host_is_none_is_not_told(world: World, place: str) -> None:
    world.pages |= crossref(DOI) | unpaywall(DOI, place)

    leg = world.call("fetch_paper", ref=DOI)["pdf"]

    assert (leg["code"], leg["message"]) == ("NETWORK_ERROR", "oa-publisher leads to something that is not a URL.")


def test_a_host_with_signs_that_do_not_show_is_none() -> None:
    with pytest.raises(PaperFault, match="something that is not a URL"):
        check_hop("https://a\u2028b.example/", "oa-publisher", {}, None)
