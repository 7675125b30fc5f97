"""Records: schemas, published keys and JSON follow from one class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pytest

from specloom.plugins.records import (
    JsonObject,
    from_json,
    inline,
    key,
    keys_of,
    record,
    schema_of,
    signature_of,
    to_json,
)


@record
class Place:
    page_number: int
    note: str | None = None


@record
class Book:
    """A record with a field of every sort."""

    book_title: str
    kind: Literal["novel", "essay"]
    entity_qid: str | None = key("entityQID", default=None)
    place: Place | None = inline(default=None)
    quotes: Sequence[Place]
    rating: float | None
    about: JsonObject | None = None
    counts: Mapping[str, int] | None = None
    anything: Any = None


@record(naming="same")
class Request:
    title: str
    max_length: int = 10
    places: Sequence[Place] = ()


BOOK = Book(book_title="Dune", kind="novel", quotes=[Place(page_number=1)], rating=None)


def test_a_schema_has_every_field_under_its_key_in_order_and_names_those_that_are_always_there() -> None:
    place = {"type": "object", "properties": {"pageNumber": {"type": "integer"}, "note": {"type": "string"}}}

    assert schema_of(Book) == {
        "type": "object",
        "properties": {
            "bookTitle": {"type": "string"},
            "kind": {"type": "string", "enum": ["novel", "essay"]},
            "entityQID": {"type": "string"},
            "pageNumber": {"type": "integer"},
            "note": {"type": "string"},
            "quotes": {"type": "array", "items": {**place, "required": ["pageNumber"], "additionalProperties": False}},
            "rating": {},
            "about": {"type": "object"},
            "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
            "anything": {},
        },
        "required": ["bookTitle", "kind", "quotes"],
        "additionalProperties": False,
    }


def test_what_is_not_known_is_left_out_and_what_may_be_null_is_told_as_null() -> None:
    assert to_json(BOOK) == {"bookTitle": "Dune", "kind": "novel", "quotes": [{"pageNumber": 1}], "rating": None}


def test_the_fields_of_an_inline_record_stand_in_its_place() -> None:
    told = to_json(Book(book_title="Dune", kind="novel", quotes=[], rating=1.0, place=Place(page_number=7, note="x")))

    assert list(told) == ["bookTitle", "kind", "pageNumber", "note", "quotes", "rating"]


async def _shelve(_context: object, title: str, max_length: int = 10, places: Sequence[Place] | None = None) -> Book:
    notes = [f"{place.page_number}" for place in places or ()]
    return Book(
        book_title=title[:max_length], kind="novel", quotes=[], rating=None, place=Place(page_number=len(notes))
    )


async def _reshelve(_context: object, request: Request) -> Place:
    return Place(page_number=request.max_length, note=request.title)


async def test_the_parameters_of_a_function_are_those_of_its_procedure_and_those_without_a_default_are_needed() -> None:
    signature = signature_of(_shelve)

    told = await signature["function"](
        None, {"title": "Dune Messiah", "max_length": None, "places": [{"pageNumber": 3}]}
    )

    assert list(signature["parameters"]) == ["title", "max_length", "places"]
    assert signature["parameters"]["places"]["items"] == schema_of(Place)
    assert signature["needs"] == ("title",)
    assert signature["gives"] == schema_of(Book)
    assert (told["bookTitle"], told["pageNumber"]) == ("Dune Messi", 1)


async def test_the_fields_of_a_record_are_the_parameters_where_a_function_takes_one() -> None:
    signature = signature_of(_reshelve)

    assert list(signature["parameters"]) == list(keys_of(Request)) == ["title", "max_length", "places"]
    assert signature["needs"] == ("title",)
    assert await signature["function"](None, {"title": "x", "max_length": 3}) == {"pageNumber": 3, "note": "x"}


def test_data_becomes_a_record_with_its_defaults_and_a_key_that_it_does_not_have_is_refused() -> None:
    made = from_json(Request, {"title": "Dune", "places": [{"pageNumber": 3}]})

    with pytest.raises(TypeError, match="Place has no page_number"):
        from_json(Request, {"title": "Dune", "places": [{"page_number": 3}]})

    assert made == Request(title="Dune", places=[Place(page_number=3)])
    assert from_json(Book, to_json(BOOK) | {"pageNumber": 2}).place == Place(page_number=2)


@pytest.mark.parametrize("annotation", [int | str, set[str], object])
def test_a_type_that_no_schema_can_say_is_refused(annotation: Any) -> None:
    made = record(type("Odd", (), {"__annotations__": {"odd": annotation}}))

    with pytest.raises(TypeError, match=r"no schema|several kinds"):
        schema_of(made)
