"""Reads one paper: the text that an archive gives as data, else a free PDF of it, else the page at its address."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from specloom.core import Fault
from specloom.domains.text import PaperName, to_arxiv_doi, to_paper_name
from specloom.domains.trust import cite_for_bibliography
from specloom.plugins import FLAG, TEXT, WHOLE, closed, listed, procedure, record, texts

if TYPE_CHECKING:
    from specloom.plugins import Context


DIRECT = "direct-url"
"""The source of what was read at an address that nobody found for us (the tool contract's word)."""
_UNNAMED = (
    "identifier names no paper; write a DOI such as 10.1234/abc, arXiv:1706.03762, PMC123456, pmid:123, "
    "a Semantic Scholar id, or an address"
)
_FROM_PAGE = "No archive and no free PDF gave the text; this is the paper's page, which may have the abstract only."
_BYTES_PER_CHARACTER = 4
"""The most that UTF-8 takes; a page is cut in bytes, and has to have as many characters as are wanted."""
PATIENCE = 20.0
"""Seconds that one upstream has for an answer, and twice as many one copy for its text; others may have it too."""
_MOST_COPIES = 4
"""Of many open copies, how many are tried."""
_WORDS_OF_A_TEXT = 1000
"""From so many words on, a page that stands where a PDF should is taken for the paper; an abstract has some 300."""


@dataclass(slots=True)
class _Search:
    """What is known of a paper so far, and what could not be asked."""

    context: Context
    name: PaperName
    most: int
    patience: float
    record: Mapping[str, Any] | None = None
    """What is known of the paper; None before anybody was asked."""
    recorded_by: str = ""
    faults: list[Fault] = field(default_factory=list)
    short: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Pages by their address that were too short to be the paper."""

    async def ask(self, operation: str, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
        """The first row that anybody has, in the order of the route, and who had it; nothing where nobody has one."""
        for provider in self.context.offering(operation):
            try:
                async with asyncio.timeout(self.patience):
                    answer = await self.context.ask(operation, arguments, provider=provider)
            except TimeoutError:
                self.faults.append(Fault("upstream_unavailable", f"{provider} gave no answer in time"))
                continue
            except Fault as fault:
                # What somebody does not have says nothing of the next.
                self.faults += [fault] if fault.kind != "not_found" else []
                continue
            if answer.rows:
                return answer.rows[0], provider
        return {}, ""

    async def read(self, address: str) -> dict[str, Any]:
        """The record of a page or document; it may be some characters longer than is wanted."""
        given = {"url": address, "mode": "full", "max_length": self.most * _BYTES_PER_CHARACTER}
        return await self.context.run("read_page", given)


async def read(context: Context, identifier: str, most: int, *, patience: float = PATIENCE) -> dict[str, Any]:
    """The text of one paper in at most `most` characters, and what is known of it; see `paper_procedures.PAPER`."""
    search = _Search(context, to_paper_name(identifier), most, patience)
    if not search.name:
        raise Fault("validation", _UNNAMED)
    # The archives do not know such names, but may know those that stand in the record.
    if search.name.index_id or search.name.arxiv_id:
        await _look_up(search)
    return await _read_archives(search) or await _read_copies(search) or await _read_landing_page(search)


async def _look_up(search: _Search) -> None:
    """Find the record of the paper, and with it the names under which others know it."""
    name = search.name
    asked = {"doi": name.doi, "arxiv_id": name.arxiv_id, "pmid": name.pmid, "pmcid": name.pmcid, "id": name.index_id}
    record, by = await search.ask("paper", {key: value for key, value in asked.items() if value})
    search.name = replace(
        name, doi=name.doi or record.get("doi") or "", arxiv_id=name.arxiv_id or record.get("arxiv_id") or ""
    )
    doi = search.name.doi or (to_arxiv_doi(name.arxiv_id) if name.arxiv_id else "")
    if not record and doi:
        work, _ = await search.ask("work", {"doi": doi})
        authors = [_to_plain(one) for one in work.get("authors") or ()]
        record = {**work, "journal": work.get("venue"), "authors": authors} if work else {}
    search.record, search.recorded_by = record, by


def _to_plain(author: str) -> str:
    """A name in the order in which it is spoken."""
    family, comma, given = author.partition(", ")
    return f"{given} {family}" if comma else author


async def _read_archives(search: _Search) -> dict[str, Any] | None:
    name = search.name
    asked = {key: value for key, value in (("doi", name.doi), ("pmid", name.pmid), ("pmcid", name.pmcid)) if value}
    row, by = await search.ask("fulltext", asked) if asked else ({}, "")
    if not row:
        return None
    known = {**(search.record or {}), **{key: value for key, value in row.items() if value is not None}}
    return _tell(search, known, {"url": row["url"], "content": row["text"]}, by)


async def _read_copies(search: _Search) -> dict[str, Any] | None:
    """The first copy that is the paper itself."""
    tried: set[str] = set()
    async for address, by in _find_copies(search):
        if address in tried:
            continue
        tried.add(address)
        try:
            async with asyncio.timeout(2 * search.patience):
                page = await search.read(address)
        except TimeoutError:
            search.faults.append(Fault("network", f"{address} gave no text in time"))
            continue
        except Fault as fault:
            search.faults.append(fault)
            continue
        if _is_whole(page):
            known = {**(search.record or {})}
            if by != DIRECT:
                known["open_access"] = True
            if page["content_type"] == "pdf":
                known["pdf_url"] = address
            return _tell(search, known, page, by)
        search.short[address] = page
    return None


def _is_whole(page: Mapping[str, Any]) -> bool:
    """Whether what was read is the paper and not a page about it."""
    return bool(page["content_type"] == "pdf" or page.get("word_count", 0) >= _WORDS_OF_A_TEXT)


async def _find_copies(search: _Search) -> AsyncIterator[tuple[str, str]]:
    """Addresses of copies that anyone can read, mostly PDFs, the surest first, and who knows them."""
    if not search.name.is_known:
        return
    if search.name.address and search.name.doi and "doi.org/" not in search.name.address:
        yield search.name.address, DIRECT
    if search.name.arxiv_id:
        yield f"https://arxiv.org/pdf/{search.name.arxiv_id}", "arxiv"
    if search.record is None:
        await _look_up(search)
    if search.record and search.recorded_by and search.record.get("pdf_url"):
        yield search.record["pdf_url"], search.recorded_by
    row, by = await search.ask("oa_locations", {"doi": search.name.doi}) if search.name.doi else ({}, "")
    for place in list(row.get("locations") or ())[:_MOST_COPIES]:
        if address := place.get("url_for_pdf") or place.get("url"):
            yield address, by


async def _read_landing_page(search: _Search) -> dict[str, Any]:
    """The page at the address that was given, or where the identifier leads."""
    note = _FROM_PAGE if search.name.is_known else ""
    if note and search.faults:
        note += f" Not all could be asked: {_join(search.faults)}."
    address = (search.record.get("url") if search.name.index_id and search.record else "") or search.name.to_page()
    if not address:
        raise search.faults[0] if search.faults else Fault("not_found", f"nobody knows a paper {search.name.index_id}")
    try:
        page = search.short.get(address) or await search.read(address)
    except Fault as fault:
        if search.short:
            return _tell(search, search.record or {}, next(iter(search.short.values())), DIRECT, note)
        if not note:
            raise
        said = f"No archive and no free PDF gives the text of this paper, and its page cannot be read: {fault.message}"
        raise fault.told_as(message=said, detail=_join([*search.faults, fault])) from fault
    return _tell(search, search.record or {}, page, DIRECT, "" if _is_whole(page) else note)


def _join(faults: list[Fault]) -> str:
    return "; ".join(dict.fromkeys(fault.message.rstrip(".") for fault in faults))


def _tell(
    search: _Search, known: Mapping[str, Any], page: Mapping[str, Any], source: str, note: str = ""
) -> dict[str, Any]:
    """The record of a reading: `known` of the paper, and the `page` or text that was read."""
    of_page = page.get("metadata") or {}
    title = known.get("title") or of_page.get("title")
    told = {
        "url": page["url"],
        "title": title,
        "content": page["content"][: search.most],
        "truncated": bool(page.get("truncated")) or len(page["content"]) > search.most,
        "source": source,
        "tier": page.get("extracted_by"),
        "note": note or None,
        "doi": known.get("doi") or search.name.doi or page.get("detected_doi"),
        "authors": known.get("authors") or None,
        **{
            key: known.get(key)
            for key in ("pdf_url", "open_access", "year", "journal", "abstract", "tldr", "citation_count")
        },
        "citation": _cite(search, known, page["url"]) if known.get("title") else page.get("citation"),
    }
    told["citation"] = told["citation"] or _cite(search, {}, page["url"])
    return {key: value for key, value in told.items() if value is not None}


def _cite(search: _Search, known: Mapping[str, Any], url: str) -> dict[str, Any]:
    """The citation of a paper whose record is known, in the form of that of a page."""
    authors, year = "; ".join(known.get("authors") or ()), str(known.get("year") or "")
    today = datetime.fromtimestamp(search.context.now(), UTC).date().isoformat()
    doi = known.get("doi") or search.name.doi
    title, journal = known.get("title") or "", known.get("journal") or ""
    return cite_for_bibliography(url, title, authors, journal, year, today, doi=doi)


# --- The procedure that reads a paper as specs name it: what it takes and gives. Its work is imported when done -------


_CITATION = closed(
    {
        **texts("url", "accessedDate"),
        "metadata": closed(texts("title", "author", "site", "date")),
        "formatted": closed(texts("apa", "mla", "bibtex")),
    }
)

PAPER = record(
    {
        **texts("url", "title", "content", "source", "tier", "note"),
        "truncated": FLAG,
        **texts("doi", "pdf_url", "journal", "abstract", "tldr"),
        "open_access": FLAG,
        "authors": listed(TEXT),
        "year": WHOLE,
        "citation_count": WHOLE,
        "citation": _CITATION,
    },
    "url",
    "content",
    "source",
    "truncated",
    "citation",
)
"""What reading a paper gives; what is not known is left out."""


@procedure(
    "read_paper",
    parameters={"identifier": TEXT, "max_length": WHOLE},
    gives=PAPER,
    asks=("fulltext", "paper", "work", "oa_locations"),
    runs=("read_page",),
    needs=("identifier", "max_length"),
)
async def read_paper(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Reads one paper: its text from an archive, else a free PDF, else its page.

    `max_length` is in characters of content. `source` is who gave or found the text: the provider, or `direct-url` for
    an address; `note` says so where only the paper's page could be read. What names no paper is a `validation` fault.
    """

    return await read(context, given["identifier"], given["max_length"])
