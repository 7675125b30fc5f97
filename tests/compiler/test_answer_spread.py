"""`...` among the keys of an answer stands for the fields of a record that no other key is called like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from specloom.plugins import PROCEDURES, Context, key, procedure
from specloom.plugins.records import record
from tests.support.spec_library import Woven, a_tool, weave_texts

RUN = "- name: read it\n  procedure: {name: read_book, with: {title: =args.query}}\n"


@record
class BookTold:
    book_title: str
    page_count: int
    notes: Sequence[str] | None = None
    entity_qid: str | None = key("entityQID", default=None)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    @procedure("read_book")
    async def read_book(_context: Context, title: str, pages: int = 7) -> BookTold:
        """Reads a book."""
        return BookTold(book_title=title, page_count=pages, entity_qid="Q1")

    yield
    del PROCEDURES["read_book"]


def weave_answer(answer: str, more: str = "") -> Woven:
    return weave_texts(a_tool(plan=RUN, answer=answer, more=more))


def test_the_fields_stand_in_their_order_and_a_key_that_is_named_keeps_its_place() -> None:
    schema = weave_answer("trust: =upper('x')\n...: =result\nnotes: =result.notes").tool().output_schema

    assert list(schema["properties"]) == ["trust", "bookTitle", "pageCount", "entityQID", "notes", "notices"]
    assert schema["required"] == ["trust", "bookTitle", "pageCount"]
    assert schema["properties"]["pageCount"] == {"type": "integer"}


@pytest.mark.parametrize("value", ["=rows", "=args.query", "=meta", "text"])
def test_only_a_record_that_is_declared_has_fields_to_stand_for(value: str) -> None:
    assert weave_answer(f"...: {value}").codes == ["E104"]


def test_a_mistake_in_the_expression_is_said_as_what_it_is() -> None:
    assert weave_answer("...: =resutl").codes == ["E202"]


def test_a_link_and_the_failures_of_a_record_may_name_a_key_that_stands_in_it() -> None:
    more = "link: {above: 10, summary: answer.bookTitle}\nrecord: {session: query, as: book, failures: notes}\n"

    assert weave_answer("...: =result", more).codes == []


def test_what_a_procedure_needs_is_read_from_its_signature() -> None:
    without = a_tool(plan=RUN.replace("title: =args.query", "pages: '7'"), answer="...: =result")

    assert weave_texts(without).sentences[0].startswith("E102: procedure 'read_book' needs the parameter 'title'")
