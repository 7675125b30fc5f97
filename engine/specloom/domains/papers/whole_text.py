"""The whole text of a paper for whoever reads on: of the store, of what was read within the hour, or read anew."""

from __future__ import annotations

from collections.abc import Sequence

from specloom.core import Fault, clean
from specloom.domains.text import PaperId, PaperName, find_ref, to_paper_name
from specloom.plugins import Context, WholeText, procedure
from specloom.plugins.records import record

from .config import CACHE, LOG, STORE
from .entries import to_plain
from .fulltext import RENDERING, TEX_SOURCE, read_rendering, read_tex, to_markdown
from .read_paper import ASKS, TTL, read_whole, to_key, to_source

_UNNAMED = "{address!r} names no paper; write doi:10.1234/abc, arxiv:2401.12345, PMC123456 or pmid:123"


@procedure(
    "whole_paper_text",
    asks=ASKS,
    runs=("read_page",),
    settings={**STORE, **CACHE},
    reads=("doi:", "10.", "arxiv:", "pmid:", "pmcid:", "pmc"),
)
async def whole_paper_text(context: Context, address: str) -> WholeText:
    """The whole text of a paper by its identifier: as it was read within the hour, of the stored PDF, else read anew.

    A stored PDF without readable text counts as none. A `validation` fault for what names no paper.
    """
    name = to_paper_name(address)
    source = to_source(name)
    if not source:
        raise Fault("validation", _UNNAMED.format(address=address[:200]), action="fix_arguments")
    kept = await context.recall(to_key(source))
    if kept is not None:
        return WholeText(text=kept.value["text"], title=kept.value["title"], kind="paper")
    stored = await _read_stored(context, address, name) if context.is_personal else None
    if stored is not None:
        return stored
    paper = await read_whole(context, name)
    if not paper.note:
        await context.keep(to_key(source), {"title": paper.title or "", "text": paper.content}, TTL)
    return WholeText(text=paper.content, title=paper.title or "", kind="paper", is_anew=True)


@record
class StoredText:
    """What is stored of a paper: the text of its PDF by pages, else its abstract; `address` reads it on."""

    kind: str = ""
    """`stored_pdf`, `stored_abstract`, or "" for a paper of which there is neither."""
    text: str = ""
    abstract: str = ""
    address: str = ""


@procedure("stored_text", settings={**STORE, **CACHE})
async def stored_text(context: Context, doi: str = "", arxiv: str = "") -> StoredText:
    """What the store has of a paper to be read, and nothing where the store is nobody's."""
    from .store import open_store

    refs = [one for one in (find_ref("doi", doi), find_ref("arxiv", arxiv)) if one is not None]
    if not context.is_personal or not refs:
        return StoredText()
    for ref in refs:
        whole = await _read_pdfs(context, [ref], instead="something else was read")
        if whole is not None:
            return StoredText(kind="stored_pdf", text=whole.text, address=f"{ref.kind}:{ref.value}")
    store = open_store(context.config)
    for ref in refs:
        entry = store.find(store.locate(ref)) or {}
        if abstract := to_plain(str(entry.get("abstract") or "")):
            return StoredText(kind="stored_abstract", abstract=abstract, address=f"{ref.kind}:{ref.value}")
    return StoredText()


async def _read_stored(context: Context, address: str, name: PaperName) -> WholeText | None:
    """The text of the PDF that is stored of a paper; None where there is none, or none with a text."""
    # Entries are named by references as they were written: with their case, and with the version of a preprint.
    scheme, _, value = address.strip().partition(":") if ":" in address else ("doi", "", address)
    refs = (find_ref(scheme.lower(), value), find_ref("doi", name.doi), find_ref("arxiv", name.arxiv_id))
    return await _read_pdfs(context, refs, instead="this text is from elsewhere")


async def _read_pdfs(context: Context, refs: Sequence[PaperId | None], *, instead: str) -> WholeText | None:
    """The text of the first PDF that is stored under some references; a notice says which cannot be read."""
    from .store import open_store
    from .texts import open_texts

    store = open_store(context.config)
    for ref in dict.fromkeys(one for one in refs if one is not None and one.kind != "pubmed"):
        entry = store.find(store.locate(ref))
        path = store.stored_pdf(entry) if entry is not None and store.has_pdf(entry) else None
        if entry is None or path is None:
            continue
        try:
            async with open_texts(context) as texts:
                text = await texts.read(context, ref.key, path)
        except (Fault, OSError) as error:
            why = f": {error.message.rstrip('.')}" if isinstance(error, Fault) else ""
            context.notice(f"The stored PDF of {ref.value} cannot be read{why}; {instead}.")
            continue
        return WholeText(text=text, title=clean(str(entry.get("title") or ""))[0], kind="pdf")
    return None


@procedure("rendering_text", runs=("read_markup",), settings=LOG, reads=(RENDERING,))
async def rendering_text(context: Context, address: str) -> WholeText:
    """The whole text of a preprint from its HTML rendering, as it was told within the hour, else asked for anew."""
    kept = await context.recall(to_key(address))
    if kept is not None:
        return WholeText(text=kept.value["text"], title=kept.value["title"], kind="html")
    _, title, sections = await read_rendering(context, address[len(RENDERING) :])
    return WholeText(text=to_markdown(sections), title=title, kind="html", is_anew=True)


@procedure("tex_source_text", settings=LOG, reads=(TEX_SOURCE,))
async def tex_source_text(context: Context, address: str) -> WholeText:
    """The whole TeX of a preprint, as it was told within the hour, else asked for anew."""
    kept = await context.recall(to_key(address))
    if kept is not None:
        return WholeText(text=kept.value["text"], title=kept.value["title"], kind="tex")
    _, main, text = await read_tex(context, address[len(TEX_SOURCE) :])
    return WholeText(text=text, title=main, kind="tex", is_anew=True)
