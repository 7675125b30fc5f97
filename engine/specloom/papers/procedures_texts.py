"""The procedures that give the text of a preprint, as specs name them; the work is imported when it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import procedure
from specloom.records import FLAG, TEXT, WHOLE, listed, record, texts

from .declared import LOG, REF, gives

if TYPE_CHECKING:
    from specloom.desk import Desk

_PARAMETERS = {"ref": TEXT, "max_chars": WHOLE}
_MEASURES = {"char_count": WHOLE, "truncated": FLAG, "retrieved_from": TEXT}


@procedure(
    "paper_text",
    parameters=_PARAMETERS,
    gives=gives(
        {
            **REF,
            **texts("arxiv_id", "source", "title"),
            "sections": listed(record(texts("heading", "text"), "heading", "text")),
            **_MEASURES,
        }
    ),
    runs=("read_markup",),
    settings=LOG,
)
async def paper_text(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The text of a preprint by sections, from its HTML rendering; no PDF is opened and nothing is kept."""
    from . import texts as work
    from .working import answered

    return await answered(work.paper_text, desk, parameters, echo="always")


@procedure(
    "paper_tex_source",
    parameters=_PARAMETERS,
    gives=gives({**REF, **texts("arxiv_id", "main_file", "tex_source"), **_MEASURES}),
    settings=LOG,
)
async def paper_tex_source(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The TeX of a preprint as its authors wrote it, in one text; nothing is kept."""
    from . import texts as work
    from .working import answered

    return await answered(work.paper_tex_source, desk, parameters, echo="always")
