"""The whole text of a paper for whoever reads on: of the store, of what was read within the hour, or read anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, clean
from specloom.domains.text import PaperId, PaperName, find_ref, to_paper_name
from specloom.plugins import Context, WholeText, procedure
from specloom.plugins.records import record

from .config import CACHE, LOG, STORE
from .entries import cite_key_of, to_plain
from .fulltext import RENDERING, TEX_SOURCE, read_rendering, read_tex, to_markdown
from .read_paper import ASKS, TTL, read_whole, to_key, to_source
from .search import say_unknown_key

if TYPE_CHECKING:
    from .store import PaperStore
    from .texts import PdfText

_UNNAMED = "{address!r} names no paper; write doi:10.1234/abc, arxiv:2401.12345, PMC123456 or pmid:123"


@procedure(
    "whole_paper_text",
    asks=ASKS,
    runs=("read_page",),
    settings={**STORE, **CACHE},
    reads=("doi:", "10.", "arxiv:", "pmid:", "pmcid:", "pmc", "@"),
)
async def whole_paper_text(context: Context, address: str) -> WholeText:
    """The whole text of a paper by its identifier: as it was read within the hour, of the stored PDF, else read anew.

    `@` with a cite key names a stored work. A stored PDF without readable text counts as none. A `validation` fault for
    what names no paper, `not_found` for a key that no stored work has.
    """
    if address.startswith("@"):
        return await _read_keyed(context, address)
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
    """`stored_pdf`, `stored_abstract`, `stored_record` for an entry with neither, or "" for what is not stored."""
    text: str = ""
    abstract: str = ""
    address: str = ""
    is_cut: bool = False
    """Whether the PDF has more than the text."""


@procedure("stored_text", settings={**STORE, **CACHE})
async def stored_text(context: Context, doi: str = "", arxiv: str = "", ref: str = "") -> StoredText:
    """What the store has of a paper to be read, and nothing where the store is nobody's.

    `ref` is a DOI, an arXiv identifier, or a cite key.
    """
    from .library import PaperLibrary

    if not context.is_personal:
        return StoredText()
    library = PaperLibrary.open(context)
    names = (ref, doi, f"arxiv:{arxiv}" if arxiv else "")
    keys = dict.fromkeys(key for name in names if name and (key := library.find(name)) is not None)
    entries = {key: library.read(key) for key in keys}
    for key, entry in entries.items():
        pdf = await _read_pdf(context, library.store, key, entry, instead="something else was read")
        if pdf is not None:
            return StoredText(kind="stored_pdf", text=pdf.text, address=_to_address(entry), is_cut=pdf.is_cut)
    for entry in entries.values():
        if abstract := to_plain(str(entry.get("abstract") or "")):
            return StoredText(kind="stored_abstract", abstract=abstract, address=_to_address(entry))
    return StoredText(kind="stored_record" if entries else "")


def _to_address(entry: Mapping[str, Any]) -> str:
    """Under which address `read_more` reads an entry on."""
    doi, arxiv = str(entry.get("doi") or ""), str(entry.get("arxiv_id") or "")
    return f"doi:{doi}" if doi else f"arxiv:{arxiv}" if arxiv else f"@{cite_key_of(entry)}"


async def _read_stored(context: Context, address: str, name: PaperName) -> WholeText | None:
    """The text of the PDF that is stored of a paper; None where there is none, or none with a text."""
    # Entries are named by references as they were written: with their case, and with the version of a preprint.
    scheme, _, value = address.strip().partition(":") if ":" in address else ("doi", "", address)
    refs = (find_ref(scheme.lower(), value), find_ref("doi", name.doi), find_ref("arxiv", name.arxiv_id))
    return await _read_pdfs(context, refs, instead="this text is from elsewhere")


async def _read_keyed(context: Context, address: str) -> WholeText:
    """The text of a stored work by its cite key; what has no PDF is read by its DOI or arXiv identifier."""
    from .library import PaperLibrary

    library = PaperLibrary.open(context) if context.is_personal else None
    key = library.find(address) if library is not None else None
    if library is None or key is None:
        entries = [entry for entry, _ in library.store.summaries()] if library is not None else []
        raise Fault("not_found", say_unknown_key(address, entries), action="fix_arguments")
    entry = library.read(key)
    whole = await _read_entry(context, library.store, key, entry, instead="this text is from elsewhere")
    if whole is not None:
        return whole
    doi, arxiv = str(entry.get("doi") or ""), str(entry.get("arxiv_id") or "")
    if doi or arxiv:
        return await whole_paper_text(context, doi or f"arxiv:{arxiv}")
    message = f"The stored work {address[:200]} has no PDF with a text, and neither a DOI nor an arXiv identifier."
    raise Fault("not_found", message, action="inform_user")


async def _read_pdfs(context: Context, refs: Sequence[PaperId | None], *, instead: str) -> WholeText | None:
    """The text of the first PDF that is stored under some references; a notice says which cannot be read."""
    from .store import open_store

    store = open_store(context.config)
    for ref in dict.fromkeys(one for one in refs if one is not None and one.kind != "pubmed"):
        stored = store.locate(ref)
        entry = store.find(stored)
        if entry is not None and (
            whole := await _read_entry(context, store, store.key(stored), entry, instead=instead, name=ref.value)
        ):
            return whole
    return None


async def _read_entry(
    context: Context, store: PaperStore, key: str, entry: Mapping[str, Any], *, instead: str, name: str = ""
) -> WholeText | None:
    """The text of the PDF of an entry with its title; None where it has none that can be read."""
    pdf = await _read_pdf(context, store, key, entry, instead=instead, name=name)
    return None if pdf is None else WholeText(text=pdf.text, title=clean(str(entry.get("title") or ""))[0], kind="pdf")


async def _read_pdf(
    context: Context, store: PaperStore, key: str, entry: Mapping[str, Any], *, instead: str, name: str = ""
) -> PdfText | None:
    """The text of the PDF of an entry; None where it has none, with a notice where that cannot be read."""
    from .texts import open_texts

    path = store.stored_pdf(entry) if store.has_pdf(entry) else None
    if path is None:
        return None
    try:
        async with open_texts(context) as texts:
            return await texts.read(context, key, path)
    except (Fault, OSError) as error:
        why = f": {error.message.rstrip('.')}" if isinstance(error, Fault) else ""
        context.notice(f"The stored PDF of {name or key} cannot be read{why}; {instead}.")
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
