"""Which collection of a Zotero library is read or written to, where a caller names one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import Loopback
from tests.support.research_server import ADA, Server
from tests.support.zotero_client import ask, call_all, environ
from tests.support.zotero_library import ToLibrary, ZoteroLibrary

DECOMPOSED = "u\N{COMBINING DIAERESIS}bersicht"
BIB = "@book{new, title={Locks}, year={2001}}"


def filled(*names: str) -> tuple[ZoteroLibrary, list[str]]:
    """A library with these collections, in each of which is one book that is called like it."""
    library = ZoteroLibrary()
    keys = [library.collect(name) for name in names]
    for name, key in zip(names, keys, strict=True):
        library.put(itemType="book", title=f"All of {name}", collections=[key])
    return library, keys


def read(folder: Path, library: ZoteroLibrary, collection: str, *, is_local: bool = False) -> list[dict[str, Any]]:
    """What the tools that read a collection tell of it: a search, an import, an audit."""
    provider = "zotero_local" if is_local else "zotero"
    calls = [
        ("zotero_search", {"collection": collection, "provider": provider}),
        ("zotero_import", {"collection": collection, "provider": provider, "dry_run": True}),
        ("zotero_audit", {"collection": collection, "provider": provider}),
    ]
    return ask(folder, library, *calls, is_local=is_local)


@pytest.mark.parametrize("is_local", [False, True])
@pytest.mark.parametrize(
    ("names", "wanted", "at"),
    [
        (["C", "C++", "C#"], "C++", 1),
        (["C", "C++", "C#"], " c ", 0),
        (["Thesis (old)", "Thesis old"], "thesis  old", 1),
        (["Übersicht", "Ubersicht"], DECOMPOSED, 0),
        (["Straße", "Other"], "STRASSE", 0),
        (["RESEARCH", "Other"], "RESEARCH", 0),
    ],
)
def test_the_collection_of_exactly_that_name_is_read(
    tmp_path: Path, names: list[str], wanted: str, at: int, *, is_local: bool
) -> None:
    library, keys = filled(*names)

    search, brought, audit = read(tmp_path, library, wanted, is_local=is_local)

    assert [work["title"] for work in search["works"]] == [f"All of {names[at]}"]
    assert [work["collections"] for work in search["works"]] == [[keys[at]]]
    assert (brought["total"], brought["added"]) == (1, 1)
    assert audit["entryCount"] == 1


@pytest.mark.parametrize("is_local", [False, True])
@pytest.mark.parametrize(
    ("names", "wanted", "words"),
    [
        (["C", "Later"], "C++", "no collection that is called C++; C ({0}) has the same words; zotero_collections"),
        (["Later"], "★", "no collection that is called ★; zotero_collections lists"),
        ([], "Thesis", "no collection that is called Thesis; zotero_collections lists"),
    ],
)
def test_a_collection_of_another_name_is_not_read(
    tmp_path: Path, names: list[str], wanted: str, words: str, *, is_local: bool
) -> None:
    library, keys = filled(*names)

    for told in read(tmp_path, library, wanted, is_local=is_local):
        assert words.format(*keys) in told["error"]


@pytest.mark.parametrize("is_local", [False, True])
def test_of_several_collections_of_one_name_the_keys_are_told(tmp_path: Path, *, is_local: bool) -> None:
    library, (rivers, first, second) = filled("Rivers", "Thesis", "thesis")
    library.collections[second]["parentCollection"] = rivers

    for told in read(tmp_path, library, "Thesis", is_local=is_local):
        sentence = f"several collections that are called Thesis; give the key of one: {first}, {second} (in {rivers})"
        assert sentence in told["error"]
    (by_key,) = ask(tmp_path, library, ("zotero_search", {"collection": second}), is_local=is_local)
    assert [work["title"] for work in by_key["works"]] == ["All of thesis"]


def test_where_works_would_be_added_to_one_of_several_their_paths_are_told(tmp_path: Path) -> None:
    library, (rivers, first, second) = filled("Rivers", "Thesis", "thesis")
    library.collections[second]["parentCollection"] = rivers

    add, label = ask(
        tmp_path,
        library,
        ("zotero_add", {"bibliography": BIB, "collection": "Thesis"}),
        ("zotero_label", {"items": [], "collection": "Thesis"}),
    )

    for told in (add, label):
        assert f"give the key of one: {first} (Thesis), {second} (Rivers / thesis)" in told["error"]
    assert library.writes() == []


def test_accents_in_two_parts_are_the_same_name_where_works_are_added(tmp_path: Path) -> None:
    library, (there,) = filled("Übersicht")

    (told,) = ask(
        tmp_path,
        library,
        (
            "zotero_add",
            {"bibliography": BIB, "collection": DECOMPOSED, "make_collection": True},
        ),
    )

    assert told["collection"] == {"name": "Übersicht", "key": there}


REEDS = "@book{reeds, title={Reeds}, year={1999}}"


@pytest.mark.parametrize("dry_run", [False, True])
def test_no_collection_is_made_for_works_that_are_there_already_unless_they_are_put_into_it(
    tmp_path: Path, *, dry_run: bool
) -> None:
    library = ZoteroLibrary()
    key = library.put(itemType="book", title="Reeds", date="1999")
    wanted = {"bibliography": REEDS, "collection": "New", "make_collection": True, "dry_run": dry_run}

    left, put = ask(tmp_path, library, ("zotero_add", wanted), ("zotero_add", {**wanted, "label_known": True}))

    assert (left["known"], left.get("collection")) == (1, None)
    assert (
        "The collection New is not made, since Zotero has all of the works already; label_known makes" in left["text"]
    )
    assert (put["labelled"], put["collection"]["name"], put["collection"]["made"]) == (1, "New", True)
    assert "is not made" not in put["text"]
    if not dry_run:
        assert library.items[key]["collections"] == [*library.collections] == [put["collection"]["key"]]
    else:
        assert library.writes() == []


def test_works_that_are_there_and_stay_out_of_the_collection_are_told(tmp_path: Path) -> None:
    library, (thesis,) = filled("Thesis")
    library.put(itemType="book", title="Reeds", date="1999")

    told, inside = ask(
        tmp_path,
        library,
        ("zotero_add", {"bibliography": f"{BIB}\n{REEDS}", "collection": "Thesis"}),
        ("zotero_add", {"bibliography": BIB, "collection": "Thesis"}),
    )

    assert (told["added"], told["known"], told["collection"]["key"]) == (1, 1, thesis)
    assert "1 of the works that Zotero has already are not in the collection Thesis; label_known puts" in told["text"]
    assert (inside["known"], "label_known" in inside["text"]) == (1, False)


def test_a_collection_for_items_that_are_not_there_is_not_made(tmp_path: Path) -> None:
    library = ZoteroLibrary()

    (told,) = ask(
        tmp_path, library, ("zotero_label", {"items": ["ZZZZ2222"], "collection": "New", "make_collection": True})
    )

    assert (told["failed"], told.get("collection"), library.collections) == (1, None, {})


def test_an_audit_with_a_report_names_the_corrected_bibliography_which_can_be_read(tmp_path: Path) -> None:
    library, _ = filled("Thesis")

    async def run(url: str) -> tuple[dict[str, Any], str]:
        server = Server(environ(tmp_path, url), web=ToLibrary(url))
        try:
            async with server.client(ADA) as client:
                (told,) = await call_all(client, ("zotero_audit", {"collection": "Thesis", "report": "markdown"}))
                kept = await client.read_resource(told["correctedResource"])
                return told, kept.contents[0].text
        finally:
            await server.executor.aclose()

    with Loopback(library) as loopback:
        told, bibliography = asyncio.run(run(loopback.url))

    assert f"in BibTeX: {told['correctedResource']}" in told["text"]
    assert "@book{" in bibliography
    assert "All of {Thesis}" in bibliography
