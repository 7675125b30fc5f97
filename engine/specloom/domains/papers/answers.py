"""Procedures of the paper tools: `{ok: true, …}` with the record, while a fault is told by the tool's envelope."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from specloom.plugins import FLAG, OBJECT, TEXT, ProcedureFunction, listed, procedure

from . import config
from .errors import ERROR

if TYPE_CHECKING:
    from specloom.plugins import Context

TEXTS, ROWS = listed(TEXT), listed(OBJECT)
OPEN: dict[str, Any] = {}
"""What may be null, which a schema of one type cannot say."""
REF = {"ref": OPEN}

RECORDS = ("publication", "publisher_record", "oa_locations", "preprint", "work", "article_identifiers")
"""The capabilities that tell of papers; none gives a document."""
FETCHING = {**config.STORE, **config.LOG, **config.SOURCES, **config.HOSTS}
"""The settings of whoever fetches documents."""


def paper_procedure(
    name: str, parameters: Mapping[str, Mapping[str, Any]], gives: Mapping[str, Any], **more: Any
) -> Callable[[ProcedureFunction], ProcedureFunction]:
    """Register a function `(context, parameters) -> record` whose record has these keys beside `ok`."""

    def register(function: ProcedureFunction) -> ProcedureFunction:
        @functools.wraps(function)
        async def answer(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
            return {"ok": True, **await function(context, arguments)}

        properties = {"ok": FLAG, **gives, "error": ERROR}
        schema = {"type": "object", "properties": properties, "required": ["ok"]}
        procedure(name, parameters=parameters, gives=schema, **more)(answer)
        return function

    return register
