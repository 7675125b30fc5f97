"""The files of the store: layout, bytes, merging, locks and what reading leaves alone."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.papers.entries import make_entry, merge, write_toml
from specloom.domains.papers.errors import PaperFault
from specloom.domains.papers.store import PaperStore
from specloom.domains.text.paper_refs import PaperId

EXAMPLE = """\
schema_version = "1.0"
authors = ["Alice Researcher", "Bob Coauthor"]
doi = "10.1234/example"
title = "Example"
type = "journal-article"
year = 2026

[doiget]
fetched_at = "2026-05-05T08:30:12Z"
license = "cc-by"
oa_status = "gold"
size_bytes = 1234567
source = "unpaywall"
"""

REF = PaperId("doi", "10.1234/example")


def entry(**own: Any) -> dict[str, Any]:
    record = {"title": "Example", "authors": ["Ann Otter"], "doi": "10.1234/example", "year": 2026}
    return make_entry(record, {"fetched_at": "2026-05-05T08:30:12Z", "source": "crossref", "license": "unknown", **own})


def test_an_entry_is_written_as_the_published_layout_has_it() -> None:
    assert write_toml(tomllib.loads(EXAMPLE)) == EXAMPLE


_PLAIN = st.text(st.characters(exclude_categories=["Cs"])).map(lambda text: text.replace("\r", ""))


@given(
    st.dictionaries(
        st.text(max_size=8),
        st.one_of(
            _PLAIN, st.integers(-(2**63), 2**63 - 1), st.booleans(), st.floats(allow_nan=False), st.lists(_PLAIN)
        ),
    ),
    st.dictionaries(st.text(max_size=8), _PLAIN),
)
def test_what_is_written_is_read_back(plain: dict[str, Any], own: dict[str, str]) -> None:
    said = {**plain, "doiget": own}

    assert tomllib.loads(write_toml(said)) == said


def test_a_table_inside_an_unknown_table_is_refused_and_not_dropped() -> None:
    with pytest.raises(PaperFault, match="a table inside a table"):
        write_toml({"schema_version": "1.0", "other": {"deep": {"a": 1}}})


def test_the_one_table_that_stands_on_a_line_is_kept() -> None:
    said = {"schema_version": "1.0", "doiget": {"repaired_fields": {"title": "crossref"}}}

    assert tomllib.loads(write_toml(said)) == said


def test_pdf_metadata_and_lock_lie_where_the_layout_has_them(tmp_path: Path) -> None:
    merged, wrote = asyncio.run(PaperStore(tmp_path / "s").commit(REF, entry(), b"%PDF-1"))

    names = sorted(
        path.relative_to(tmp_path / "s").as_posix() for path in (tmp_path / "s").rglob("*") if path.is_file()
    )
    assert names == [
        ".metadata/doi_10.1234_example.toml",
        ".metadata/doi_10.1234_example.toml.lock",
        "doi_10.1234_example.pdf",
    ]
    assert wrote
    assert merged["pdf_path"] == "doi_10.1234_example.pdf"


def test_a_pdf_that_is_there_is_never_replaced(tmp_path: Path) -> None:
    store = PaperStore(tmp_path)
    asyncio.run(store.commit(REF, entry(), b"%PDF-first"))

    _, wrote = asyncio.run(store.commit(REF, entry(), b"%PDF-second"))

    assert not wrote
    assert store.read("doi_10.1234_example")["doiget"]["size_bytes"] == len(b"%PDF-first")
    assert store.pdf_path("doi_10.1234_example").read_bytes() == b"%PDF-first"


def test_a_later_record_keeps_what_is_known_and_what_the_user_wrote() -> None:
    stored = {
        **entry(license="cc-by", oa_status="gold", size_bytes=7, tags=["otters"], annotation="Read it."),
        "pdf_path": "doi_10.1234_example.pdf",
        "x_other": "kept",
        "elsewhere": {"note": "kept"},
    }

    merged = merge(stored, {**entry(), "title": "Another", "venue": "Otters & Co"})

    assert merged["title"] == "Example"
    assert merged["venue"] == "Otters & Co"
    assert merged["x_other"] == "kept"
    assert merged["elsewhere"] == {"note": "kept"}
    own = merged["doiget"]
    assert (own["license"], own["oa_status"], own["size_bytes"]) == ("cc-by", "gold", 7)
    assert (own["tags"], own["annotation"]) == (["otters"], "Read it.")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("journal-article", "journal-article"),
        ("article", "journal-article"),
        ("JournalArticle", "journal-article"),
        ("Preprint", "posted-content"),
        ("ConferencePaper", "proceedings-article"),
        ("BookChapter", "book-chapter"),
        ("Dataset", "dataset"),
        ("peer-review", "peer-review"),
        ("posted-content", "posted-content"),
        ("Software", "Software"),
    ],
)
def test_what_a_work_is_is_kept_in_the_words_of_one_registry(said: str, kind: str) -> None:
    assert make_entry({"title": "T", "type": said}, {})["type"] == kind


def test_a_title_with_markup_gives_way_to_the_same_without() -> None:
    assert merge({**entry(), "title": "An <i>Example</i>"}, {**entry(), "title": "An Example"})["title"] == "An Example"


@pytest.mark.parametrize(("version", "actual", "cap"), [("1.1", 1, 0), ("2.0", 2, 1)])
def test_an_entry_of_a_newer_program_is_read_and_not_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, version: str, actual: int, cap: int
) -> None:
    store = PaperStore(tmp_path)
    asyncio.run(store.commit(REF, entry()))
    path = store.metadata_path("doi_10.1234_example")
    path.write_text(path.read_text("utf-8").replace('"1.0"', f'"{version}"'), "utf-8")
    before = path.read_bytes()

    assert store.find(REF) is not None
    with pytest.raises(PaperFault) as caught:
        asyncio.run(store.commit(REF, entry()))

    assert caplog.messages == [f"{path} was written by a newer program (schema {version})"]

    assert caught.value.code == "SCHEMA_TOO_NEW"
    assert caught.value.denial == {"reason": "schema_drift", "cap": cap, "actual": actual}
    assert path.read_bytes() == before


ALIKE = [PaperId("doi", "10.1234/a_b"), PaperId("doi", "10.1234/a/b"), PaperId("doi", "10.1234/a(b)")]
"""Papers whose references come to one name of files."""


async def put(store: PaperStore, ref: PaperId) -> None:
    await store.commit(ref, {**entry(), "doi": ref.value, "title": ref.value}, b"%PDF-" + ref.value.encode())


def test_papers_whose_names_come_to_one_have_each_its_files(tmp_path: Path) -> None:
    store = PaperStore(tmp_path)
    for ref in (*ALIKE, *ALIKE):
        asyncio.run(put(store, ref))

    found = [store.find(store.locate(ref)) for ref in ALIKE]
    assert [one and one["doi"] for one in found] == [ref.value for ref in ALIKE]
    names = sorted(path.stem for path in (tmp_path / ".metadata").glob("*.toml"))
    assert names == sorted((ALIKE[0].key, ALIKE[1].longer_key, ALIKE[2].longer_key))
    assert {path.stem: path.read_bytes()[5:].decode() for path in tmp_path.glob("*.pdf")} == {
        store.key(ref): ref.value for ref in ALIKE
    }
    assert store.spelled(PaperId("doi", "10.1234/A/B")) == ALIKE[1]
    assert store.find(PaperId("doi", "10.1234/a:b")) is None


def test_a_paper_keeps_its_longer_name_when_the_shorter_one_is_free_again(tmp_path: Path) -> None:
    store = PaperStore(tmp_path)
    for ref in ALIKE[:2]:
        asyncio.run(put(store, ref))
    asyncio.run(store.discard(store.key(ALIKE[0]), 1_700_000_000.0))
    asyncio.run(put(store, ALIKE[1]))

    assert store.find(ALIKE[0]) is None
    assert [path.stem for path in (tmp_path / ".metadata").glob("*.toml")] == [ALIKE[1].longer_key]
    asyncio.run(put(store, ALIKE[0]))
    assert store.key(ALIKE[0]) == ALIKE[0].key


def test_what_has_the_shorter_name_is_as_the_older_program_writes_and_reads_it(tmp_path: Path) -> None:
    """It computes the name of the first paper and finds it; the second one is one more plain entry of its list."""
    store = PaperStore(tmp_path)
    for ref in ALIKE[:2]:
        asyncio.run(put(store, ref))
    first, second = (
        tomllib.loads((tmp_path / ".metadata" / f"{name}.toml").read_text("utf-8"))
        for name in ("doi_10.1234_a_b", ALIKE[1].longer_key)
    )

    assert (first["doi"], first["pdf_path"]) == ("10.1234/a_b", "doi_10.1234_a_b.pdf")
    assert (second["doi"], second["pdf_path"]) == ("10.1234/a/b", f"{ALIKE[1].longer_key}.pdf")
    assert set(second) == set(first), "no key is there that the older program does not know"


async def test_papers_of_one_name_that_are_written_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    stores = [PaperStore(tmp_path) for _ in range(4)]
    await asyncio.gather(*(put(store, ref) for store in stores for ref in ALIKE))

    entries = [tomllib.loads(path.read_text("utf-8")) for path in (tmp_path / ".metadata").glob("*.toml")]
    assert sorted(one["doi"] for one in entries) == sorted(ref.value for ref in ALIKE)
    for one in entries:
        assert (tmp_path / one["pdf_path"]).read_bytes() == b"%PDF-" + one["doi"].encode()


ALIKE_RIVAL = """
import asyncio, sys
from pathlib import Path
from tests.domains.papers.test_store import ALIKE, put
from specloom.domains.papers.store import PaperStore

async def main():
    store = PaperStore(Path(sys.argv[1]))
    for _ in range(20):
        await put(store, ALIKE[int(sys.argv[2])])

asyncio.run(main())
"""


def test_processes_that_write_papers_of_one_name_mix_none_of_them_up(tmp_path: Path) -> None:
    paths = os.pathsep.join(filter(None, [str(Path(__file__).parents[3]), *sys.path]))
    running = [
        subprocess.Popen(
            [sys.executable, "-c", ALIKE_RIVAL, str(tmp_path), str(at % 3)], env={**os.environ, "PYTHONPATH": paths}
        )
        for at in range(4)
    ]

    assert [one.wait(timeout=120) for one in running] == [0] * 4
    store = PaperStore(tmp_path)
    assert [(store.find(ref) or {}).get("title") for ref in ALIKE] == [ref.value for ref in ALIKE]
    assert len(list((tmp_path / ".metadata").glob("*.toml"))) == len(list(tmp_path.glob("*.pdf"))) == 3
    for ref in ALIKE:
        assert store.pdf_path(store.key(ref)).read_bytes() == b"%PDF-" + ref.value.encode()


def test_only_entries_that_changed_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, read = PaperStore(tmp_path), []
    asyncio.run(store.commit(REF, entry()))
    asyncio.run(store.commit(PaperId("arxiv", "2401.12345"), {**entry(), "doi": "", "arxiv_id": "2401.12345"}))
    original = PaperStore.read
    monkeypatch.setattr(PaperStore, "read", lambda self, key: (read.append(key), original(self, key))[1])

    assert len(store.summaries()) == 2
    assert len(store.summaries()) == 2
    path = store.metadata_path("arxiv_2401.12345")
    path.write_text(path.read_text("utf-8").replace("Example", "Changed title"), "utf-8")

    assert [row["title"] for _, row in store.summaries()] == ["Changed title", "Example"]
    assert read == ["arxiv_2401.12345", "doi_10.1234_example", "arxiv_2401.12345"]


def test_a_broken_entry_is_passed_over_in_lists_and_told_when_it_is_asked_for(tmp_path: Path) -> None:
    store = PaperStore(tmp_path)
    asyncio.run(store.commit(REF, entry()))
    store.metadata_path("doi_10.1234_example").write_text("title = ", "utf-8")

    assert store.summaries() == []
    with pytest.raises(PaperFault, match="no valid TOML") as caught:
        store.find(REF)
    assert caught.value.code == "STORE_ERROR"


@pytest.mark.parametrize("path", ["../x.pdf", "/etc/passwd", "a\\b.pdf", ""])
def test_a_path_that_leaves_the_store_is_no_path(tmp_path: Path, path: str) -> None:
    assert PaperStore(tmp_path).stored_pdf({"pdf_path": path}) is None


def put_entry(folder: Path, key: str, text: str, **pdfs: bytes) -> None:
    """An entry as another program leaves it, and PDFs by their names without the ending."""
    (folder / ".metadata").mkdir(exist_ok=True)
    (folder / ".metadata" / f"{key}.toml").write_text(f"schema_version = '1.0'\n{text}\n[doiget]\n", "utf-8")
    for name, content in pdfs.items():
        (folder / f"{name}.pdf").write_bytes(content)


def test_a_pdf_that_wins_is_written_where_its_entry_has_the_old_one(tmp_path: Path) -> None:
    store = PaperStore(tmp_path)
    put_entry(tmp_path, "a", "title = 'A'\npdf_path = 'old.pdf'", old=b"%PDF-old", a=b"%PDF-only copy")
    put_entry(tmp_path, "b", "title = 'B'\npdf_path = 'a.pdf'")

    status, copy = asyncio.run(store.put_pdf("a", b"%PDF-new", 1e9, wins=True))

    assert copy is not None
    assert (status, copy.read_bytes()) == ("replaced", b"%PDF-old")
    assert (tmp_path / "a.pdf").read_bytes() == b"%PDF-only copy"
    assert store.stored_pdf(store.read("a") or {}) == tmp_path / "old.pdf"
    assert (tmp_path / "old.pdf").read_bytes() == b"%PDF-new"


@pytest.mark.parametrize("other", ["title = 'B'\npdf_path = 'a.pdf'", "pdf_path = './A.pdf'"])
@pytest.mark.parametrize("own", ["", "pdf_path = 'a.pdf'", "pdf_path = 'gone.pdf'"])
def test_a_pdf_that_another_entry_names_is_never_replaced(tmp_path: Path, own: str, other: str) -> None:
    store = PaperStore(tmp_path)
    put_entry(tmp_path, "a", f"title = 'A'\n{own}", a=b"%PDF-only copy")
    put_entry(tmp_path, "b", other)

    asyncio.run(store.put_pdf("a", b"%PDF-new", 1e9, wins=True))

    stored = store.stored_pdf(store.read("a") or {})
    assert (tmp_path / "a.pdf").read_bytes() == b"%PDF-only copy"
    assert stored == tmp_path / "a-2.pdf"
    assert stored.read_bytes() == b"%PDF-new"


def test_a_pdf_is_not_written_over_what_an_entry_names_for_one_by_mistake(tmp_path: Path) -> None:
    store = PaperStore(tmp_path)
    put_entry(tmp_path, "a", "title = 'A'\npdf_path = '.metadata/b.toml'")
    put_entry(tmp_path, "b", "title = 'B'")
    before = (tmp_path / ".metadata" / "b.toml").read_bytes()

    asyncio.run(store.put_pdf("a", b"%PDF-new", 1e9, wins=True))

    assert (tmp_path / ".metadata" / "b.toml").read_bytes() == before
    assert (tmp_path / "a.pdf").read_bytes() == b"%PDF-new"


@pytest.mark.parametrize(("left", "name"), [(b"%PDF-of another paper", "-2"), (b"%PDF-mine", "")])
def test_a_pdf_without_an_entry_is_taken_for_ones_own_only_where_it_is_the_same(
    tmp_path: Path, left: bytes, name: str
) -> None:
    store = PaperStore(tmp_path)
    (tmp_path / "doi_10.1234_example.pdf").write_bytes(left)

    merged, wrote = asyncio.run(store.commit(REF, entry(), b"%PDF-mine"))

    assert (merged["pdf_path"], wrote) == (f"doi_10.1234_example{name}.pdf", bool(name))
    assert (tmp_path / merged["pdf_path"]).read_bytes() == b"%PDF-mine"
    assert (tmp_path / "doi_10.1234_example.pdf").read_bytes() == left
    assert merged["doiget"]["size_bytes"] == len(b"%PDF-mine")
