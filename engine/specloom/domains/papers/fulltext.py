"""The text of a preprint: its HTML rendering by sections, or the LaTeX that its authors sent. Neither opens a PDF."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from specloom.core import Fault, clean
from specloom.domains.text import PaperId
from specloom.plugins import FLAG, TEXT, WHOLE, Context, listed, record, texts

from .answers import REF, paper_procedure, parse_entry_ref
from .config import LOG
from .errors import PaperFault, to_paper_fault
from .read_paper import TTL, to_key

RENDERINGS = "https://ar5iv.labs.arxiv.org/html/"
SOURCES = "https://export.arxiv.org/src/"
RENDERING, TEX_SOURCE = "ar5iv:", "arxiv-tex:"
"""How the addresses begin under which the texts of preprints are read on, before the arXiv identifier."""

_LABEL = re.compile(r"\[[^\]\s]{1,100}\] +")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_MEASURES = {"char_count": WHOLE, "truncated": FLAG, "retrieved_from": TEXT}
_SECTIONS = listed(record(texts("heading", "text"), "heading", "text"))

Sections = list[dict[str, str]]
T = TypeVar("T")


@paper_procedure(
    {**REF, **texts("arxiv_id", "source", "title"), "sections": _SECTIONS, **_MEASURES},
    runs=("read_markup",),
    settings=LOG,
)
async def paper_text(context: Context, ref: str, max_chars: int | None = None) -> dict[str, Any]:
    """The text of a preprint by sections, from its HTML rendering; no PDF is opened and the store stays as it is.

    The bodies have no more than `max_chars` characters in all.
    """
    paper, title, sections = await read_rendering(context, ref)
    kept, truncated = cut(sections, max_chars)
    return {
        "arxiv_id": paper.value,
        "source": "ar5iv",
        "title": title,
        "sections": kept,
        "char_count": sum(len(section["text"]) for section in kept),
        "truncated": truncated,
        "retrieved_from": RENDERINGS + paper.value,
    }


async def read_rendering(context: Context, ref: str) -> tuple[PaperId, str, Sections]:
    """The preprint that a reference names, its title and its sections; the text is kept for an hour to be read on."""
    paper = _parse_preprint(ref)
    url = RENDERINGS + paper.value

    async def read(body: bytes) -> tuple[str, Sections]:
        try:
            page = await context.run("read_markup", {"html": body.decode("utf-8", "replace"), "url": url})
        except Fault as fault:
            message = f"The rendering of {paper.value} cannot be read: {fault.message}"
            raise PaperFault("TEXT_UNAVAILABLE", message) from None
        sections: Sections = page["sections"]
        if not any(_LETTERS.search(section["text"]) for section in sections):
            raise PaperFault("TEXT_UNAVAILABLE", f"ar5iv has a page for {paper.value}, and there is no text on it.")
        return page["heading"] or _LABEL.sub("", page["title"], count=1), sections

    title, sections = await _obtain(context, paper, url, "ar5iv", "text/html, */*;q=0.1", read)
    await context.keep(to_key(RENDERING + paper.value), {"title": clean(title)[0], "text": to_markdown(sections)}, TTL)
    return paper, title, sections


def to_markdown(sections: Sections) -> str:
    """The sections as one text, each below its heading."""
    told = [[f"## {one['heading']}" if one["heading"] else "", one["text"]] for one in sections]
    return clean("\n\n".join(part for parts in told for part in parts if part))[0]


@paper_procedure({**REF, **texts("arxiv_id", "main_file", "tex_source"), **_MEASURES}, settings=LOG)
async def paper_tex_source(context: Context, ref: str, max_chars: int | None = None) -> dict[str, Any]:
    """The TeX of a preprint as its authors wrote it, in one text; the store stays as it is."""
    paper, main, text = await read_tex(context, ref)
    kept = text[:max_chars]
    return {
        "arxiv_id": paper.value,
        "main_file": main,
        "tex_source": kept,
        "char_count": len(kept),
        "truncated": len(kept) < len(text),
        "retrieved_from": SOURCES + paper.value,
    }


async def read_tex(context: Context, ref: str) -> tuple[PaperId, str, str]:
    """The preprint that a reference names, its main file and its TeX; the text is kept for an hour to be read on."""
    from specloom.domains.scrape.documents import tex_source

    paper = _parse_preprint(ref)

    async def read(body: bytes) -> tuple[str, str]:
        return await tex_source.read_source(body, apart=context.is_live)

    accept = "application/gzip, application/x-tar, */*;q=0.1"
    main, text = await _obtain(context, paper, SOURCES + paper.value, "arxiv", accept, read)
    await context.keep(to_key(TEX_SOURCE + paper.value), {"title": main, "text": clean(text)[0]}, TTL)
    return paper, main, text


async def _obtain(
    context: Context, ref: PaperId, url: str, source: str, accept: str, read: Callable[[bytes], Awaitable[T]]
) -> T:
    """What is read of a file that a source has of a preprint, written down."""
    from .download import HOSTS, matches, obtain
    from .provenance_log import open_journal

    journal = open_journal(context)
    with journal.session(ref):
        try:
            body = await obtain(context, url, source, accept=accept)
            text = await read(body)
        except Fault as raised:
            fault = to_paper_fault(raised)
            denial = fault.denial or {}
            # A paper that was not rendered is sent on to its abstract, which is another host.
            is_elsewhere = source == "ar5iv" and matches(str(denial.get("attempted")), HOSTS["arxiv"])
            if denial.get("reason") == "redirect_not_in_allowlist" and is_elsewhere:
                fault = PaperFault("NOT_FOUND", f"ar5iv has no rendering of {ref.value}.")
            journal.asked(ref, source, fault=fault, capability="oa")
            raise fault from None
        journal.asked(ref, source, capability="oa", size_bytes=len(body))
    return text


def cut(sections: Sections, most: int | None) -> tuple[Sections, bool]:
    """The sections whose texts have `most` characters together, the last one cut; and whether any was lost."""
    if most is None:
        return sections, False
    kept: Sections = []
    for section in sections:
        if most <= 0:
            break
        kept.append({**section, "text": section["text"][:most]})
        most -= len(section["text"])
    return kept, most < 0 or len(kept) < len(sections)


def _parse_preprint(text: str) -> PaperId:
    ref = parse_entry_ref(text)
    if ref.kind != "arxiv":
        raise PaperFault(
            "NOT_IMPLEMENTED", f"{ref.value} is a DOI, and only preprints of arXiv have a text here; give its arXiv id."
        )
    return ref
