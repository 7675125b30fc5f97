"""Sixty-five published works of all kinds through the store and every format, against values written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.paper_store import World

HERE = Path(__file__).parent / "references"
BIB = (HERE / "works.bib").read_text(encoding="utf-8")
EXPECTED: Mapping[str, dict[str, Any]] = yaml.safe_load((HERE / "works.yaml").read_text(encoding="utf-8"))
ROLES = ("author", "editor", "translator", "container-author", "director")
IN_FILES_ALONE = ("files", "collections")
"""What CSL-JSON has no variable for."""
NOT_IN_RIS = {
    "authority", "collection-number", "collections", "container-author", "director", "event-place", "jurisdiction",
    "name-particle", "number-of-volumes", "original-date",
}  # fmt: skip
"""What RIS has no tag for, beside dates that are no day and types that it has no word for."""


def to_date(edtf: str) -> dict[str, Any]:
    about = edtf.endswith("~")
    points = []
    for point in edtf.rstrip("~").split("/"):
        sign, digits = (-1, point[1:]) if point.startswith("-") else (1, point)
        year, *rest = map(int, digits.split("-"))
        # EDTF has a year 0, and CSL has none.
        points.append([sign * year - (sign < 0), *rest])
    return {"date-parts": points, **({"circa": True} if about else {})}


def to_name(text: str) -> dict[str, str]:
    if text.startswith("= "):
        return {"literal": text[2:]}
    particle, _, rest = text.rpartition(" > ")
    family, given, *suffix = rest.split(", ")
    more = {"suffix": suffix[0]} if suffix else {}
    return {"family": family, "given": given, **more, **({"non-dropping-particle": particle} if particle else {})}


def to_item(key: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    item: dict[str, Any] = {"id": key}
    for name, value in fields.items():
        if name in ROLES:
            item[name] = [to_name(each) for each in value]
        elif name in ("issued", "accessed", "original-date"):
            item[name] = to_date(value)
        elif name not in IN_FILES_ALONE:
            item[name] = value
    return item


ITEMS = {key: to_item(key, fields) for key, fields in EXPECTED.items()}


def carried(world: World, text: str, style: str) -> tuple[str, dict[str, int]]:
    """A bibliography through a new store and out of it, and what the format did not keep."""
    world.environ = {"DOIGET_STORE_ROOT": str(next(world.stores))}  # type: ignore[attr-defined]
    told = world.call("library_import", bibliography=text)
    assert (told["failed"], told.get("unreadable")) == (0, None)
    assert told["added"] == len(EXPECTED)
    answer = world.call("library_export", style=style, max_tokens=100_000)
    return answer["bibliography"], {each["field"]: each["entries"] for each in answer.get("notKept") or []}


@pytest.fixture
def stores(world: World) -> World:
    def numbered() -> Iterator[Path]:
        yield from (world.folder / f"store-{number}" for number in range(9))

    world.stores = numbered()  # type: ignore[attr-defined]
    return world


def items_of(text: str) -> dict[str, dict[str, Any]]:
    return {item["id"]: item for item in json.loads(text)}


def test_every_work_comes_out_of_the_store_as_it_is_known(stores: World) -> None:
    text, lost = carried(stores, BIB, "csl-json")

    assert items_of(text) == ITEMS
    assert lost == {"collections": 1, "files": 1}


@pytest.mark.parametrize("style", ["bibtex", "biblatex"])
def test_bibtex_keeps_all_and_gives_the_same_text_again(stores: World, style: str) -> None:
    text, lost = carried(stores, BIB, style)
    again, _ = carried(stores, text, style)
    items, _ = carried(stores, again, "csl-json")

    assert lost == {}
    assert again == text
    assert items_of(items) == ITEMS


def test_items_of_zotero_keep_all_that_one_item_can(stores: World) -> None:
    text, lost = carried(stores, BIB, "zotero-json")
    items, _ = carried(stores, text, "csl-json")

    assert lost == {"collections": 1, "files": 1}
    assert items_of(items) == ITEMS


def test_a_way_through_four_formats_loses_what_ris_says_that_it_has_no_place_for(stores: World) -> None:
    ris, lost = carried(stores, BIB, "ris")
    csl, _ = carried(stores, ris, "csl-json")
    bibtex, _ = carried(stores, csl, "bibtex")
    items, _ = carried(stores, bibtex, "csl-json")

    assert set(lost) == NOT_IN_RIS | {"issued", "type"}
    told = items_of(items)
    assert set(told) == set(ITEMS)
    changed = {
        (key, name) for key, item in ITEMS.items() for name, value in item.items() if told[key].get(name) != value
    }
    names = {(key, "author") for key in ("price1965", "debroglie1924")}
    assert {each for each in changed if each[1] not in NOT_IN_RIS} - names == {
        ("whitehead1910", "issued"),
        ("euclid", "issued"),
        ("euclid", "type"),
    }


@pytest.mark.parametrize("style", ["bibtex", "biblatex"])
def test_a_parser_of_latex_takes_every_export(stores: World, style: str) -> None:
    from bibtexparser.entrypoint import parse_string
    from pylatexenc.latexwalker import LatexWalker

    text, _ = carried(stores, BIB, style)

    library = parse_string(text)
    assert library.failed_blocks == []
    assert sorted(entry.key for entry in library.entries) == sorted(EXPECTED)
    verbatim = {"doi", "url", "file", "eprint"}
    for entry in library.entries:
        for field in entry.fields:
            if field.key not in verbatim:
                LatexWalker(str(field.value), tolerant_parsing=False).get_latex_nodes()


@pytest.mark.parametrize("style", ["endnote-xml", "nbib"])
def test_what_other_formats_lose_is_named_and_is_no_title_and_no_author(stores: World, style: str) -> None:
    text, lost = carried(stores, BIB, style)

    assert text.count("\n") > len(EXPECTED)
    assert "entry" not in lost
    assert not {"title", "author", "DOI", "volume", "page"} & set(lost)
