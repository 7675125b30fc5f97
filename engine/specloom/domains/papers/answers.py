"""Procedures of the paper tools: the references that they take, and `{ok: true, …}` with the record that they give.

A fault is told by the tool's envelope.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from specloom.domains.text import PaperId, paper_refs
from specloom.plugins import FLAG, OBJECT, TEXT, Context, listed, procedure
from specloom.plugins.records import signature_of

from . import config
from .errors import ERROR, PaperFault, to_paper_fault

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Awaitable[dict[str, Any]]])

TEXTS, ROWS = listed(TEXT), listed(OBJECT)
OPEN: dict[str, Any] = {}
"""What may be null, which a schema of one type cannot say."""
REF = {"ref": OPEN}

RECORDS = ("publication", "publisher_record", "oa_locations", "preprint", "work", "article_identifiers")
"""The capabilities that tell of papers; none gives a document."""
FETCHING = {**config.STORE, **config.LOG, **config.ASKING, **config.HOSTS}
"""The settings of whoever fetches documents."""
AT_ONCE = 5
"""Papers or citations of a batch that are worked on at a time."""


def paper_procedure(gives: Mapping[str, Any], **more: Any) -> Callable[[F], F]:
    """Register a function `(context, …) -> record` under its name; its record has these keys beside `ok`."""

    def register(function: F) -> F:
        signature = signature_of(function)

        async def answer(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
            return {"ok": True, **await signature["function"](context, arguments)}

        properties = {"ok": FLAG, **gives, "error": ERROR}
        signature["gives"] = {"type": "object", "properties": properties, "required": ["ok"]}
        procedure(function.__name__, **{**signature, "function": answer}, **more)(function)
        return function

    return register


async def answer_each(
    context: Context, items: Sequence[T], answer: Callable[[T], Awaitable[dict[str, Any]]], *, in_row: bool = False
) -> list[dict[str, Any]]:
    """What `answer` gives for each item in order, or `{error}`: what fails for one changes nothing for others."""
    turns, done = asyncio.Semaphore(AT_ONCE), 0

    async def answer_one(item: T) -> dict[str, Any]:
        nonlocal done
        async with turns:
            try:
                row = await answer(item)
            except Exception as error:  # noqa: BLE001 - a defect that one brings to light is no reason to lose the others
                row = {"error": to_paper_fault(error).to_error(in_row=in_row)}
        done += 1
        context.tell(done, len(items), f"{done} of {len(items)}: {row['error']['code'] if 'error' in row else 'done'}")
        return row

    return list(await asyncio.gather(*map(answer_one, items)))


def parse_ref(text: str) -> PaperId:
    """The paper that a text names; INVALID_REF for what is neither a DOI nor an arXiv or PubMed identifier."""
    try:
        return paper_refs.parse_ref(text)
    except ValueError as error:
        raise PaperFault("INVALID_REF", str(error)) from None


def parse_entry_ref(text: str) -> PaperId:
    """Like `parse_ref`, for tools that look into the store: entries have DOIs and arXiv identifiers only."""
    ref = parse_ref(text)
    if ref.kind == "pubmed":
        raise PaperFault(
            "INVALID_REF",
            f"{text[:80]!r} is a PubMed identifier, and entries are kept by DOI or arXiv identifier; "
            "doiget_fetch_paper, doiget_metadata_only, doiget_resolve_paper and doiget_batch_fetch take references.",
        )
    return ref
