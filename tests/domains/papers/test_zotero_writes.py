"""Works into Zotero through a real client: its documented interface on a loopback server, request by request."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from specloom.domains.trust.bibliography.entry import BibliographyEntry
from specloom.domains.trust.bibliography.zotero import parse_zotero
from tests.support.loopback import Loopback
from tests.support.research_server import ADA, Server, begin
from tests.support.research_server import ask as call
from tests.support.zotero_client import add, ask, call_all, environ
from tests.support.zotero_library import KEY, Loss, ToLibrary, ZoteroLibrary

BIB = """@article{weir21, title={How otters swim}, author={Weir, Ann and {Otter Survey}}, journal={Rivers}, year={2021},
  doi={10.1234/otters}, keywords={river}, annote={Read part two}}
@book{reed99, title={Reeds}, author={Reed, Bo}, year={1999}, publisher={Lake}}
"""
ENTRY = """schema_version = '1.0'
title = 'How otters swim'
authors = ['Ann Weir']
year = 2021
doi = '10.1234/otters'
type = 'journal-article'
venue = 'Rivers'
pdf_path = 'doi_10.1234_otters.pdf'
[specloom]
citekey = 'weir21'
"""
PDF = b"%PDF-1.4\n\xff\x00otters"


def put_paper(folder: Path, text: str = ENTRY, name: str = "doi_10.1234_otters", pdf: bytes | None = PDF) -> None:
    (folder / "papers" / ".metadata").mkdir(parents=True, exist_ok=True)
    (folder / "papers" / ".metadata" / f"{name}.toml").write_text(text, encoding="utf-8")
    if pdf is not None:
        (folder / "papers" / f"{name}.pdf").write_bytes(pdf)


def books(count: int, begin: int = 0) -> str:
    return "\n".join(f"@book{{b{at}, title={{Book {at}}}, year={{2000}}}}" for at in range(begin, begin + count))


def test_works_of_a_bibliography_become_items_with_their_notes(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    thesis = library.collect("Thesis")

    told = add(tmp_path, library, bibliography=BIB, collection="thesis", tags=["new"])

    assert (told["provider"], told["added"], told["known"], told["failed"]) == ("zotero", 2, 0, 0)
    assert told["collection"] == {"name": "Thesis", "key": thesis}
    first, second = library.works()
    assert first["creators"] == [
        {"creatorType": "author", "firstName": "Ann", "lastName": "Weir"},
        {"creatorType": "author", "name": "Otter Survey"},
    ]
    assert (first["publicationTitle"], first["extra"]) == ("Rivers", "Citation Key: weir21")
    assert first["tags"] == [{"tag": "river"}, {"tag": "new"}]
    assert (first["collections"], second["collections"]) == ([thesis], [thesis])
    assert [work["item"] for work in told["works"]] == [first["key"], second["key"]]
    notes = [item for item in library.items.values() if item["itemType"] == "note"]
    assert [(note["parentItem"], note["note"]) for note in notes] == [(first["key"], "<p>Read part two</p>")]


def test_each_request_is_as_the_interface_wants_it(tmp_path: Path) -> None:
    library = ZoteroLibrary()

    told = add(tmp_path, library, bibliography=books(120))

    assert told["added"] == 120
    writes = library.writes("/items")
    assert [len(json.loads(call.body)) for call in writes] == [50, 50, 20]
    assert len({call.headers["zotero-write-token"] for call in writes}) == 3
    assert {len(call.headers["zotero-write-token"]) for call in writes} == {32}
    assert {call.headers["zotero-api-key"] for call in library.calls} == {KEY}
    assert all("key" not in item and "version" not in item for call in writes for item in json.loads(call.body))
    assert not any(call.method in ("DELETE", "PUT", "PATCH") for call in library.calls)


def test_what_is_added_twice_is_there_once(tmp_path: Path) -> None:
    library = ZoteroLibrary()

    first, again = ask(tmp_path, library, *[("zotero_add", {"bibliography": BIB})] * 2)

    assert (first["added"], again["added"], again["known"]) == (2, 0, 2)
    assert [work["matchedBy"] for work in again["works"]] == ["doi", "citekey"]
    assert len(library.works()) == 2


@pytest.mark.parametrize(
    ("there", "matched"),
    [
        ({"title": "Other words", "DOI": "https://doi.org/10.1234/OTTERS"}, "doi"),
        ({"title": "Other words", "itemType": "book", "extra": "DOI: 10.1234/otters"}, "doi"),
        ({"title": "How otters swim: a survey", "citationKey": "WEIR21"}, "citekey"),
        ({"title": "How Otters swim!", "date": "2020", "extra": "read\nCitation Key: weir21"}, "citekey"),
        (
            {
                "date": "2021",
                "extra": "Citation Key: weir21",
                "creators": [{"creatorType": "author", "lastName": "Weir", "firstName": "A."}],
            },
            "citekey",
        ),
        (
            {
                "title": "How Otters swim!",
                "date": "March 2021",
                "creators": [{"creatorType": "author", "lastName": "Weir", "firstName": "A."}],
            },
            "title",
        ),
        ({"title": "How otters swim", "date": "2021"}, "title"),
    ],
)
def test_a_work_that_the_library_has_is_told_and_left_as_it_is(
    tmp_path: Path, there: dict[str, Any], matched: str
) -> None:
    library = ZoteroLibrary()
    key = library.put(**{"itemType": "journalArticle", **there})
    before = dict(library.items[key])

    told = add(tmp_path, library, bibliography=BIB, tags=["new"])

    assert (told["added"], told["known"]) == (1, 1)
    assert told["works"][0]["matchedBy"] == matched
    assert told["works"][0]["item"] == key
    assert library.items[key] == before


@pytest.mark.parametrize(
    "there",
    [
        {"title": "How otters swim", "date": "2021", "DOI": "10.1234/preprint"},
        {"title": "How otters swim", "date": "2020"},
        {"title": "Swimming", "citationKey": "weir21"},
        {
            "title": "Swimming",
            "date": "2021",
            "citationKey": "weir21",
            "creators": [{"creatorType": "author", "lastName": "Weir", "firstName": "A."}],
        },
        {"date": "2021", "citationKey": "weir21"},
        {
            "title": "How otters swim",
            "date": "2021",
            "creators": [{"creatorType": "author", "lastName": "Reed", "firstName": "C."}],
        },
    ],
)
def test_a_work_that_is_merely_called_alike_is_added(tmp_path: Path, there: dict[str, Any]) -> None:
    library = ZoteroLibrary()
    library.put(itemType="journalArticle", **there)

    assert add(tmp_path, library, bibliography=BIB)["added"] == 2


def test_a_work_that_stands_twice_in_one_call_is_added_once(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    twice = BIB + "@misc{other, title={Swim}, doi={10.1234/Otters}}"

    told = add(tmp_path, library, bibliography=twice)

    assert (told["added"], told["known"]) == (2, 1)
    assert told["works"][2]["message"] == "the same work as weir21 of this call"
    assert len(library.works()) == 2


def test_known_works_get_labels_where_that_is_asked_for_and_keep_what_they_have(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    later, thesis = library.collect("Later"), library.collect("Thesis")
    key = library.put(
        itemType="journalArticle",
        title="Mine",
        DOI="10.1234/otters",
        tags=[{"tag": "old", "type": 1}],
        collections=[later],
    )

    told = add(tmp_path, library, bibliography=BIB, collection="Thesis", tags=["new", "old"], label_known=True)

    assert (told["added"], told["known"], told["labelled"]) == (1, 0, 1)
    assert library.items[key]["tags"] == [{"tag": "old", "type": 1}, {"tag": "new"}]
    assert library.items[key]["collections"] == [later, thesis]
    assert library.items[key]["title"] == "Mine"


def test_what_a_person_changes_meanwhile_is_read_again_and_stays(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    thesis = library.collect("Thesis")
    key = library.put(itemType="book", title="Weirs")
    library.meanwhile = [lambda: library.change(key, tags=[{"tag": "by hand"}], title="Weirs!")]

    (told,) = ask(tmp_path, library, ("zotero_label", {"items": [key], "tags": ["new"], "collection": "Thesis"}))

    assert told["items"] == [{"item": key, "status": "labelled", "title": "Weirs!", "merged": True}]
    assert library.items[key]["tags"] == [{"tag": "by hand"}, {"tag": "new"}]
    assert library.items[key]["title"] == "Weirs!"
    assert library.items[key]["collections"] == [thesis]
    sent = [json.loads(call.body)[0] for call in library.writes("/items")]
    assert [set(change) for change in sent] == [{"key", "version", "tags", "collections"}] * 2


def test_a_second_change_meanwhile_is_told_and_nothing_is_written_over_it(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    key = library.put(itemType="book", title="Weirs")
    library.meanwhile = [lambda tag=tag: library.change(key, tags=[{"tag": tag}]) for tag in ("one", "two")]  # type: ignore[misc]

    (told,) = ask(tmp_path, library, ("zotero_label", {"items": [key], "tags": ["new"]}))

    (row,) = told["items"]
    assert row["status"] == "failed"
    assert "Item has been modified since specified version" in row["message"]
    assert library.items[key]["tags"] == [{"tag": "two"}]


def test_labels_that_are_there_and_items_that_are_not_are_told(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    key = library.put(itemType="book", title="Weirs", tags=[{"tag": "river"}])

    dry, told = ask(
        tmp_path,
        library,
        ("zotero_label", {"items": [key], "tags": ["lake"], "dry_run": True}),
        ("zotero_label", {"items": [key, "ZZZZ2222"], "tags": ["river"]}),
    )

    assert (dry["labelled"], dry["dryRun"]) == (1, True)
    assert (told["unchanged"], told["failed"]) == (1, 1)
    assert [row["status"] for row in told["items"]] == ["unchanged", "missing"]
    assert library.writes() == []


def test_a_collection_is_made_once_and_only_where_that_is_asked_for(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    library.collect("Later")
    wanted = {"bibliography": BIB, "collection": "Thesis"}

    refused, dry, made, again = ask(
        tmp_path,
        library,
        ("zotero_add", wanted),
        ("zotero_add", {**wanted, "make_collection": True, "dry_run": True}),
        ("zotero_add", {**wanted, "make_collection": True}),
        ("zotero_label", {"items": [], "collection": "thesis", "make_collection": True}),
    )

    assert (
        "no collection that is called Thesis; set make_collection to make it, or give one of: Later" in refused["error"]
    )
    assert dry["collection"] == {"name": "Thesis", "made": True}
    assert made["collection"]["made"] is True
    assert again["collection"] == {"name": "Thesis", "key": made["collection"]["key"]}
    assert [one["name"] for one in library.collections.values()] == ["Later", "Thesis"]
    assert len(library.writes("/collections")) == 1


def test_of_several_collections_of_a_name_none_is_taken(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    keys = [library.collect("Thesis"), library.collect("thesis")]

    told = add(tmp_path, library, bibliography=BIB, collection="Thesis")

    assert (
        f"several collections that are called Thesis; give the key of one: {keys[0]} (Thesis), {keys[1]} (thesis)"
        in told["error"]
    )
    assert library.works() == []


def test_a_dry_run_tells_what_would_be_sent_and_sends_questions_alone(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    thesis = library.collect("Thesis")
    library.put(itemType="book", title="Reeds", date="1999")
    put_paper(tmp_path)

    told = add(
        tmp_path, library, bibliography=BIB, collection=thesis, files=True, dry_run=True, label_known=True, tags=["x"]
    )

    assert {call.method for call in library.calls} == {"GET"}
    assert (told["added"], told["labelled"], told["dryRun"], told["files"]) == (1, 1, True, 1)
    assert [item["title"] for item in told["items"]] == ["How otters swim"]
    assert told["items"][0]["collections"] == [thesis]
    assert told["items"][0]["notes"] == [{"note": "<p>Read part two</p>"}]
    assert "Nothing was written" in told["text"]


def test_one_item_that_zotero_refuses_is_told_in_its_words_and_costs_no_other(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    long = "t" * 256

    told = add(tmp_path, library, bibliography=BIB + f"@book{{bad, title={{Bad}}, keywords={{{long}}}}}")

    assert (told["added"], told["failed"]) == (2, 1)
    (failed,) = [work for work in told["works"] if work["status"] == "failed"]
    assert failed["key"] == "bad"
    assert failed["message"].startswith("Tag 'ttt")
    assert failed["message"].endswith("is too long to sync (413)")


def test_a_key_that_may_only_read_is_one_sentence_with_what_to_do(tmp_path: Path) -> None:
    library = ZoteroLibrary(may_write=False)

    told = add(tmp_path, library, bibliography=BIB)

    assert (
        "lets the key only read this library; give it write access at https://www.zotero.org/settings/keys"
        in told["error"]
    )
    assert len(library.writes()) == 1


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        ((409, {}, "Library is locked"), "locked the library for the moment"),
        ((412, {}, "Write token already used"), "Write token already used; nothing of this request was written"),
        ((413, {}, "Too many items submitted"), "takes no more of this: Too many items submitted"),
        ((428, {}, "Precondition Required"), "wants to be told what the request is based on"),
        ((500, {}, ""), "Zotero"),
    ],
)
def test_a_request_that_is_refused_is_told_and_not_sent_again(
    tmp_path: Path, refusal: tuple[int, dict[str, str], str], words: str
) -> None:
    library = ZoteroLibrary(refusals=[refusal])

    told = add(tmp_path, library, bibliography=books(60))

    assert words in told.get("error", json.dumps(told))
    assert len(library.writes()) == 1
    assert library.works() == []


def test_a_later_request_that_is_refused_costs_those_before_it_nothing(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    library.meanwhile = [lambda: library.refusals.append((413, {}, "No more")), lambda: None]

    told = add(tmp_path, library, bibliography=books(120))

    assert (told["added"], told["failed"]) == (50, 70)
    messages = [work.get("message") for work in told["works"]]
    assert messages[50] == "Zotero takes no more of this: No more"
    assert messages[119] == "not sent, because of what came before: Zotero takes no more of this: No more"
    assert len(library.writes()) == 2


def test_who_is_asked_to_slow_down_waits_and_sends_once_more(tmp_path: Path) -> None:
    library = ZoteroLibrary(refusals=[(429, {"Retry-After": "0"}, "Too Many Requests")])

    told = add(tmp_path, library, bibliography=BIB)

    assert told["added"] == 2
    assert (
        len({call.headers["zotero-write-token"] for call in library.writes("/items")}) == 2
    )  # the items, and the note
    assert len(library.writes("/items")) == 3


def test_a_service_that_asks_for_a_pause_beside_a_good_answer_gets_it(tmp_path: Path) -> None:
    library = ZoteroLibrary(headers={"Backoff": "3600"})

    told = add(tmp_path, library, bibliography=books(60))

    assert (told["added"], told["failed"]) == (50, 10)
    assert len(library.writes("/items")) == 1
    assert told["works"][59]["message"]


def test_a_stored_pdf_goes_with_its_work(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    put_paper(tmp_path)

    told = add(tmp_path, library, refs=["10.1234/OTTERS", "@none"], files=True)

    assert (told["added"], told["files"], told["missing"]) == (1, 1, ["@none"])
    (work,) = library.works()
    (file,) = [item for item in library.items.values() if item["itemType"] == "attachment"]
    assert (file["parentItem"], file["linkMode"], file["filename"]) == (
        work["key"],
        "imported_file",
        "Weir - 2021 - How otters swim.pdf",
    )
    assert library.files == {file["key"]: PDF}
    _, made, leave, sent, done = library.writes()
    assert json.loads(made.body)[0]["parentItem"] == work["key"]
    assert (leave.path, done.path) == (f"/users/0/items/{file['key']}/file",) * 2
    assert (leave.headers["if-none-match"], done.headers["if-none-match"]) == ("*", "*")
    assert sent.path.startswith("/storage/")
    assert KEY not in json.dumps(sent.headers)


def test_a_full_storage_is_told_once_and_no_further_file_is_sent(tmp_path: Path) -> None:
    library = ZoteroLibrary(quota=3)
    put_paper(tmp_path)
    more = ENTRY.replace("otters", "weirs").replace("weir21", "weir22")
    put_paper(tmp_path, more, "doi_10.1234_weirs")

    told = add(tmp_path, library, refs=["@weir21", "@weir22"], files=True)

    assert (told["added"], told["files"]) == (2, 0)
    assert [work["file"] for work in told["works"]] == ["failed", "failed"]
    assert "its PDF was not sent: Zotero takes no more of this: File would exceed quota" in told["works"][0]["message"]
    (empty,) = [item["key"] for item in library.items.values() if item["itemType"] == "attachment"]
    assert (
        f"its attachment {empty} is there without its file; a later call with files fills it"
        in told["works"][0]["message"]
    )
    assert "attachment" not in told["works"][1]["message"]


def test_the_program_on_this_machine_takes_new_works_as_browsers_hand_them_over(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    thesis = library.collect("Thesis")
    put_paper(tmp_path)
    library.put(itemType="book", title="Reeds", date="1999")

    told = add(
        tmp_path,
        library,
        is_local=True,
        refs=["@weir21"],
        collection="Thesis",
        tags=["new"],
        files=True,
        label_known=True,
    )

    assert (told["provider"], told["added"], told["files"]) == ("zotero_local", 1, 1)
    (work,) = [item for item in library.works() if item["title"] != "Reeds"]
    assert work["collections"] == [thesis]
    assert work["tags"] == [{"tag": "new"}]
    assert [*library.files.values()] == [PDF]
    paths = [call.path for call in library.writes()]
    assert paths == [
        f"/connector/{name}" for name in ("getSelectedCollection", "saveItems", "updateSession", "saveAttachment")
    ]


def test_works_that_the_program_saved_elsewhere_are_told_as_saved(tmp_path: Path) -> None:
    library = ZoteroLibrary(may_move=False)
    library.collect("Thesis")

    told = add(tmp_path, library, is_local=True, bibliography=BIB, collection="Thesis")

    assert (told["added"], told["failed"], len(library.works())) == (2, 0, 2)
    for work in told["works"]:
        assert "was not put where it should be: Zotero on this machine failed (HTTP 500)" in work["message"]
    assert [call.path for call in library.writes()].count("/connector/updateSession") == 1


def test_the_program_is_told_nothing_of_what_it_has(tmp_path: Path) -> None:
    library = ZoteroLibrary()

    first, again = ask(
        tmp_path,
        library,
        *[("zotero_add", {"bibliography": BIB, "label_known": True, "tags": ["x"]})] * 2,
        is_local=True,
    )

    assert (first["added"], again["added"], again["known"]) == (2, 0, 2)
    assert "takes new works only" in again["text"]
    assert len(library.works()) == 2
    assert [item["note"] for item in library.items.values() if item["itemType"] == "note"] == ["<p>Read part two</p>"]


def test_the_program_makes_no_collection_which_is_one_sentence(tmp_path: Path) -> None:
    told = add(tmp_path, ZoteroLibrary(), is_local=True, bibliography=BIB, collection="New", make_collection=True)

    assert (
        "makes no collection for other programs; make New there, or set ZOTERO_API_KEY and ZOTERO_LIBRARY"
        in told["error"]
    )


def test_a_program_that_lets_nobody_read_gets_nothing_twice(tmp_path: Path) -> None:
    library = ZoteroLibrary(is_open=False)

    told = add(tmp_path, library, is_local=True, bibliography=BIB)

    assert "Allow other applications on this computer to communicate with Zotero" in told["error"]
    assert library.writes() == []


def test_a_session_goes_into_a_collection_and_comes_back_as_the_same_works(tmp_path: Path) -> None:
    library = ZoteroLibrary()

    async def run(url: str) -> tuple[dict[str, Any], ...]:
        server = Server(environ(tmp_path, url), web=ToLibrary(url))
        try:
            async with server.client(ADA) as client:
                session = await begin(client)
                await call(client, "web_search", query="otters", sessionId=session)
                await call(client, "academic_search", query="otters", sessionId=session)
                added, before = await call_all(
                    client,
                    ("zotero_add", {"sessionId": session, "collection": "Otters", "make_collection": True}),
                    ("library_export", {"sessionId": session, "style": "csl-json"}),
                )
                server.executor.tool_settings["zotero_import"]["DOIGET_STORE_ROOT"] = str(tmp_path / "other")
                server.executor.tool_settings["library_export"]["DOIGET_STORE_ROOT"] = str(tmp_path / "other")
                back, after = await call_all(
                    client, ("zotero_import", {"collection": "Otters"}), ("library_export", {"style": "csl-json"})
                )
                return added, before, back, after
        finally:
            await server.executor.aclose()

    with Loopback(library) as server:
        added, before, back, after = asyncio.run(run(server.url))

    assert (added["added"], back["added"], back["failed"]) == (3, 3, 0)
    assert json.loads(after["bibliography"]) == json.loads(before["bibliography"])


class FailingReads(ZoteroLibrary):
    """A library whose items cannot be read by their keys after so many times."""

    good = 0

    def _read(self, call: Any, path: str, plain: dict[str, str]) -> Any:
        if dict(call.query).get("itemKey"):
            self.good -= 1
            if self.good < 0:
                return 500, plain, "out of order"
        return super()._read(call, path, plain)


def test_what_cannot_be_read_is_found_out_before_anything_is_written(tmp_path: Path) -> None:
    library = FailingReads()
    library.put(itemType="book", title="Reeds", date="1999")

    told = add(
        tmp_path,
        library,
        bibliography=BIB,
        tags=["x"],
        label_known=True,
        collection="New",
        make_collection=True,
    )

    assert "HTTP 500" in told["error"]
    assert library.writes() == []


def test_an_item_that_cannot_be_read_again_is_told_beside_those_that_were_labelled(tmp_path: Path) -> None:
    library = FailingReads()
    library.good = 1
    keys = [library.put(itemType="book", title=title) for title in ("Weirs", "Locks")]
    library.meanwhile = [lambda: library.change(keys[0], title="Weirs!")]

    (told,) = ask(tmp_path, library, ("zotero_label", {"items": keys, "tags": ["new"]}))

    assert [row["status"] for row in told["items"]] == ["failed", "labelled"]
    assert "somebody changed it meanwhile, and it could not be read again" in told["items"][0]["message"]
    assert library.items[keys[1]]["tags"] == [{"tag": "new"}]


def test_a_collection_that_was_made_is_told_though_no_work_came_into_it(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    library.meanwhile = [lambda: library.refusals.append((413, {}, "No more"))]

    told = add(tmp_path, library, bibliography=BIB, collection="New", make_collection=True)

    assert (told["added"], told["failed"]) == (0, 2)
    assert told["collection"] == {"name": "New", "key": next(iter(library.collections)), "made": True}
    assert "No more" in told["works"][0]["message"]


@pytest.mark.parametrize(("name", "there"), [("C++", "C"), ("★", "→"), ("Thesis (old)", "Thesis old")])
def test_collections_whose_names_differ_in_signs_are_not_one(tmp_path: Path, name: str, there: str) -> None:
    library = ZoteroLibrary()
    library.collect(there)
    key = library.put(itemType="book", title="Weirs")
    wanted = {"items": [key], "collection": name}

    refused, made, again = ask(
        tmp_path,
        library,
        ("zotero_label", wanted),
        ("zotero_label", {**wanted, "make_collection": True}),
        ("zotero_label", {**wanted, "collection": f" {name.lower()} "}),
    )

    assert f"no collection that is called {name}" in refused["error"]
    assert made["collection"] == {"name": name, "key": made["collection"]["key"], "made": True}
    assert again["collection"]["key"] == made["collection"]["key"]
    assert library.items[key]["collections"] == [made["collection"]["key"]]


def test_chapters_of_one_title_are_told_apart_by_their_books(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    smith = [{"creatorType": "author", "lastName": "Smith", "firstName": "Al"}]
    _, there = [
        library.put(itemType="bookSection", title="Introduction", bookTitle=book, date="2020", creators=smith)
        for book in ("Lakes", "Rivers")
    ]
    chapter = (
        "@incollection{{{key}, title={{Introduction}}, author={{Smith, Al}}, year={{2020}}, booktitle={{{book}}}}}"
    )
    told = add(
        tmp_path,
        library,
        bibliography="\n".join(chapter.format(key=book.lower(), book=book) for book in ("Rivers", "Weirs")),
    )

    assert [(work["status"], work["item"] == there) for work in told["works"]] == [("known", True), ("added", False)]


def test_titles_of_signs_alone_are_no_name_of_a_work(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    library.put(itemType="book", title="???", date="2000")

    assert add(tmp_path, library, bibliography="@book{a, title={!!!}, year={2000}}")["added"] == 1


def test_a_dry_run_says_that_items_would_come_into_a_new_collection(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    key = library.put(itemType="book", title="Weirs")
    wanted = {"items": [key], "collection": "New", "make_collection": True}

    dry, told = ask(tmp_path, library, ("zotero_label", {**wanted, "dry_run": True}), ("zotero_label", wanted))

    assert (dry["labelled"], told["labelled"]) == (1, 1)
    assert dry["items"] == told["items"]


def test_without_works_no_collection_is_said_to_be_made(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    (tmp_path / "papers").mkdir()

    told = add(tmp_path, library, refs=["10.1234/none"], collection="New", make_collection=True)

    assert told.get("collection") is None
    assert library.collections == {}


def test_a_double_of_a_work_that_failed_has_failed(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    bad = f"@book{{a, title={{Otters}}, year={{2000}}, keywords={{{'x' * 256}}}}}"
    good = "@book{c, title={Weirs}, year={2000}}"
    works = (bad, bad.replace("{a,", "{b,"), good, good.replace("{c,", "{d,"))

    told = add(tmp_path, library, bibliography="\n".join(works))

    assert [work["status"] for work in told["works"]] == ["failed", "failed", "added", "known"]
    assert told["works"][1]["message"] == "the same work as a of this call, which failed"
    assert told["works"][3]["item"] == told["works"][2]["item"]


@pytest.mark.parametrize("is_local", [False, True])
def test_files_for_which_no_time_is_left_are_told_and_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_local: bool
) -> None:
    library = ZoteroLibrary()
    put_paper(tmp_path)

    with monkeypatch.context() as patch:
        patch.setattr("specloom.domains.papers.zotero.SENDING", -1.0)
        told = add(tmp_path, library, is_local=is_local, refs=["@weir21"], files=True)

    assert (told["added"], told["files"], library.files) == (1, 0, {})
    assert told["works"][0]["file"] == "failed"
    assert "its PDF was not sent: the time of the call was over" in told["works"][0]["message"]
    made = ["journalArticle"] if is_local else ["journalArticle", "attachment"]
    assert [item["itemType"] for item in library.items.values()] == made
    if not is_local:
        assert told["works"][0]["message"].endswith("the same call again sends it")
        again = add(tmp_path, library, refs=["@weir21"], files=True)
        assert (again["added"], again["files"], len(library.files)) == (0, 1, 1)
        assert [item["itemType"] for item in library.items.values()] == made


LOST = pytest.mark.parametrize(
    "loss", [Loss(502), Loss(504, is_done=False), Loss(500), Loss(), Loss(is_done=False)], ids=repr
)


@LOST
def test_works_whose_answer_is_lost_are_unsure_and_those_behind_them_are_not_sent(tmp_path: Path, loss: Loss) -> None:
    library = ZoteroLibrary(losses={1: loss})

    told, again = ask(tmp_path, library, *[("zotero_add", {"bibliography": books(120)})] * 2)

    assert (told["added"], told["unsure"], told["failed"]) == (50, 50, 20)
    assert [work["status"] for work in told["works"]] == ["added"] * 50 + ["unsure"] * 50 + ["failed"] * 20
    assert {work.get("suggestedAction") for work in told["works"][50:100]} == {"look_before_retry"}
    assert {work.get("suggestedAction") for work in told["works"][:50] + told["works"][100:]} == {None}
    assert told["works"][50]["message"].endswith("look at what is there before you write it again.")
    assert told["works"][100]["message"].startswith("not sent, because of what came before: ")
    assert "may have been written" not in told["works"][100]["message"]
    assert "Nobody knows whether Zotero has done what was asked for 50 of the works" in told["text"]
    # Who has looked calls again, and nothing is there twice.
    assert (again["added"], again["known"]) == ((20, 100) if loss.is_done else (70, 50))
    assert len(library.works()) == 120


@LOST
def test_a_first_request_whose_answer_is_lost_is_unsure_too(tmp_path: Path, loss: Loss) -> None:
    library = ZoteroLibrary(losses={0: loss})
    twice = BIB + "@misc{other, title={Swim}, doi={10.1234/Otters}}"

    told = add(tmp_path, library, bibliography=twice)

    assert (told["added"], told["failed"], told["unsure"]) == (0, 0, 3)
    assert told["works"][2]["message"] == (
        "the same work as weir21 of this call, of which nobody knows whether it is there"
    )
    assert len(library.writes()) == 1


@LOST
def test_labels_whose_answer_is_lost_are_unsure(tmp_path: Path, loss: Loss) -> None:
    library = ZoteroLibrary(losses={0: loss, 1: loss})
    keys = [library.put(itemType="book", title=f"Book {at}", date="2000") for at in range(60)]

    label, added = ask(
        tmp_path,
        library,
        ("zotero_label", {"items": keys, "tags": ["new"], "max_tokens": 20000}),
        ("zotero_add", {"bibliography": books(1), "tags": ["newer"], "label_known": True}),
    )

    assert (label["labelled"], label["unsure"], label["failed"]) == (0, 50, 10)
    assert {row.get("suggestedAction") for row in label["items"]} == {"look_before_retry", None}
    (work,) = added["works"]
    assert (work["status"], work["item"], work["suggestedAction"]) == ("unsure", keys[0], "look_before_retry")
    assert work["message"].startswith("it may be labelled: ")


@LOST
def test_a_note_whose_answer_is_lost_is_told_beside_its_work(tmp_path: Path, loss: Loss) -> None:
    library = ZoteroLibrary(losses={1: loss})

    told = add(tmp_path, library, bibliography=BIB)

    assert (told["added"], told.get("unsure")) == (2, None)
    assert told["works"][0]["message"].startswith("its note may have been added: ")


@LOST
def test_a_pdf_whose_last_answer_is_lost_is_unsure(tmp_path: Path, loss: Loss) -> None:
    library = ZoteroLibrary(losses={4: loss})
    put_paper(tmp_path)

    told = add(tmp_path, library, refs=["@weir21"], files=True)

    (work,) = told["works"]
    assert (work["status"], work["file"], work["suggestedAction"]) == ("added", "unsure", "look_before_retry")
    assert (told["added"], told["files"], len(library.files)) == (1, 0, int(loss.is_done))


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_pdf_that_cannot_have_arrived_has_failed(tmp_path: Path, at: int) -> None:
    library = ZoteroLibrary(losses={at: Loss(502)})
    put_paper(tmp_path)

    told = add(tmp_path, library, refs=["@weir21"], files=True)

    (work,) = told["works"]
    assert (work["status"], work["file"], work.get("suggestedAction")) == ("added", "failed", None)
    assert "an attachment" in work["message"] or "its attachment" in work["message"]
    assert library.files == {}


@LOST
def test_works_that_the_program_may_have_saved_are_unsure(tmp_path: Path, loss: Loss) -> None:
    library = ZoteroLibrary(losses={1: loss})

    told, again = ask(tmp_path, library, *[("zotero_add", {"bibliography": books(2)})] * 2, is_local=True)

    assert (told["unsure"], told["failed"]) == (2, 0)
    assert {work["suggestedAction"] for work in told["works"]} == {"look_before_retry"}
    assert (again["added"], again["known"]) == ((0, 2) if loss.is_done else (2, 0))


@LOST
def test_a_pdf_that_the_program_may_have_is_unsure(tmp_path: Path, loss: Loss) -> None:
    library = ZoteroLibrary(losses={3: loss})
    put_paper(tmp_path)

    told = add(tmp_path, library, is_local=True, refs=["@weir21"], files=True)

    assert (told["works"][0]["status"], told["works"][0]["file"], told["files"]) == ("added", "unsure", 0)


@LOST
def test_a_collection_whose_answer_is_lost_ends_the_call_with_what_to_do(tmp_path: Path, loss: Loss) -> None:
    library = ZoteroLibrary(losses={0: loss})

    told = add(tmp_path, library, bibliography=BIB, collection="New", make_collection=True)

    assert "look at what is there before you write it again" in told["error"]
    assert library.works() == []


def put_two(folder: Path) -> None:
    put_paper(folder)
    put_paper(folder, ENTRY.replace("otters", "weirs").replace("weir21", "weir22"), "doi_10.1234_weirs")


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_later_call_fills_the_attachment_that_an_earlier_one_left_empty(tmp_path: Path, at: int) -> None:
    library = ZoteroLibrary(losses={at: Loss(502, is_done=at == 1)})
    put_paper(tmp_path)
    wanted = {"refs": ["@weir21"], "files": True}

    first, dry, filled, again = ask(
        tmp_path,
        library,
        ("zotero_add", wanted),
        ("zotero_add", {**wanted, "dry_run": True}),
        ("zotero_add", wanted),
        ("zotero_add", wanted),
    )

    assert (first["added"], first["files"]) == (1, 0)
    assert (dry["known"], dry["files"], dry["works"][0]["file"]) == (1, 1, "sent")
    assert (filled["known"], filled["files"], filled["works"][0]["file"]) == (1, 1, "sent")
    assert (again["known"], again["files"], again["works"][0]["file"]) == (1, 0, "there")
    (attachment,) = [item["key"] for item in library.items.values() if item["itemType"] == "attachment"]
    assert library.files == {attachment: PDF}


def test_a_file_of_which_nobody_was_sure_is_there_when_it_is_looked_for(tmp_path: Path) -> None:
    library = ZoteroLibrary(losses={4: Loss(502)})
    put_paper(tmp_path)

    first, again = ask(tmp_path, library, *[("zotero_add", {"refs": ["@weir21"], "files": True})] * 2)

    assert [told["works"][0]["file"] for told in (first, again)] == ["unsure", "there"]
    assert len([item for item in library.items.values() if item["itemType"] == "attachment"]) == 1


@pytest.mark.parametrize(
    "attachment",
    [
        {"linkMode": "imported_file", "filename": "Weir - 2021 - How otters swim.pdf", "title": "Full Text PDF"},
        {"linkMode": "linked_file", "filename": "Weir - 2021 - How otters swim.pdf"},
        {"linkMode": "imported_file", "filename": "mine.pdf", "title": "mine.pdf"},
        None,
    ],
)
def test_an_attachment_that_a_person_has_made_is_left_as_it_is(
    tmp_path: Path, attachment: dict[str, str] | None
) -> None:
    library = ZoteroLibrary()
    key = library.put(itemType="journalArticle", title="How otters swim", DOI="10.1234/otters")
    if attachment is not None:
        library.put(itemType="attachment", parentItem=key, contentType="application/pdf", **attachment)
    put_paper(tmp_path)

    told = add(tmp_path, library, refs=["@weir21"], files=True)

    assert (told["known"], told["files"], told["works"][0].get("file")) == (1, 0, None)
    assert library.writes() == []


def test_files_that_cannot_be_looked_for_are_told_and_cost_no_new_work(tmp_path: Path) -> None:
    class NoChildren(ZoteroLibrary):
        def _read(self, call: Any, path: str, plain: dict[str, str]) -> Any:
            return (500, plain, "") if path.endswith("/children") else super()._read(call, path, plain)

    library = NoChildren()
    library.put(itemType="journalArticle", title="How otters swim", DOI="10.1234/otters")
    put_two(tmp_path)

    told = add(tmp_path, library, refs=["@weir21", "@weir22"], files=True)

    assert [(work["status"], work["file"]) for work in told["works"]] == [("known", "failed"), ("added", "sent")]
    assert told["works"][0]["message"].startswith("it was not looked whether its PDF is there: ")


def test_a_known_work_without_a_stored_pdf_is_not_looked_at(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    library.put(itemType="book", title="Reeds", date="1999")

    told = add(tmp_path, library, bibliography=BIB, files=True)

    assert told["known"] == 1
    assert not [call for call in library.calls if call.path.endswith("/children")]


def test_a_note_of_several_lines_keeps_them_on_its_way_to_zotero_and_back(tmp_path: Path) -> None:
    library = ZoteroLibrary()
    note = "Read part two & three\nask about x < 2\n\nLend to Ann"
    item = {"id": "o", "type": "book", "title": "Otters", "annote": note}

    (told,) = ask(tmp_path, library, ("zotero_add", {"bibliography": json.dumps([item]), "format": "csl-json"}))

    assert told["added"] == 1
    (sent,) = [each["note"] for each in library.items.values() if each["itemType"] == "note"]
    assert sent == "<p>Read part two &amp; three<br/>ask about x &lt; 2</p><p>Lend to Ann</p>"
    back = parse_zotero({"itemType": "book", "title": "Otters", "notes": [{"note": sent}]})
    assert isinstance(back, BibliographyEntry)
    assert back.annote == note
