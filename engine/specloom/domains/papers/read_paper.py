"""Reads one paper: the text that an archive gives as data, else a free PDF of it, else the page at its address."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from specloom.core import Fault, clean, count_tokens, dataclass, from_epoch
from specloom.domains.scrape.records import PageCitation
from specloom.domains.text import Onward, PaperName, is_cite_key, open_text, to_arxiv_doi, to_cost, to_paper_name
from specloom.plugins import Context, from_json, procedure, to_json
from specloom.plugins.records import record

from .entries import turned


@record(naming="same")
class PaperText:
    """What reading a paper gives; what is not known is left out."""

    url: str
    title: str | None = None
    content: str
    source: str
    tier: str | None = None
    note: str | None = None
    truncated: bool
    doi: str | None = None
    pdf_url: str | None = None
    journal: str | None = None
    abstract: str | None = None
    tldr: str | None = None
    open_access: bool | None = None
    authors: Sequence[str] | None = None
    year: int | None = None
    citation_count: int | None = None
    citation: PageCitation
    length: int
    """Characters of the whole text, of which `content` may be the beginning."""
    outline: Sequence[str] | None = None
    read_on: Onward | None = None


ASKS = ("fulltext", "paper", "work", "oa_locations")
"""The capabilities that reading a paper may ask."""
TTL = 3600.0
"""Seconds for which a text is kept to be read on."""
MOST = 5_000_000
"""Characters of a paper that are read at most."""
RESERVE = 120
"""Tokens of a budget that are left for how to read on."""
DIRECT = "direct-url"
"""The source of what was read at an address that nobody found for us (the tool contract's word)."""
_UNNAMED = (
    "identifier names no paper; write a DOI such as 10.1234/abc, arXiv:1706.03762, PMC123456, pmid:123, "
    "a Semantic Scholar id, or an address"
)
_KEYED = (
    "identifier is a cite key, which only the store of papers knows; read_more reads the stored work, and doiget_info "
    "tells its DOI"
)
_FROM_PAGE = "No archive and no free PDF gave the text; this is the paper's page, which may have the abstract only."
PATIENCE = 20.0
"""Seconds that one upstream has for an answer, and twice as many one copy for its text; others may have it too."""
_MOST_COPIES = 4
"""Of many open copies, how many are tried."""
_WORDS_OF_A_TEXT = 1000
"""From so many words on, a page that stands where a PDF should is taken for the paper; an abstract has some 300."""


@procedure("read_paper", asks=ASKS, runs=("read_page",))
async def read_paper(context: Context, identifier: str, max_length: int, max_tokens: int = 0) -> PaperText:
    """Reads one paper: its text from an archive, else a free PDF, else its page.

    `max_length` is in characters of content, `max_tokens` in tokens of the whole answer (0 for no bound). `source` is
    who gave or found the text: the provider, or `direct-url` for an address; `note` says so where only the paper's page
    could be read. Where the content was cut, an outline and the arguments that read on stand beside it. What names no
    paper is a `validation` fault.
    """
    name = to_paper_name(identifier)
    if not name:
        raise Fault("validation", _KEYED if is_cite_key(identifier) else _UNNAMED)
    paper = await read_whole(context, name)
    source = to_source(name) or to_source(to_paper_name(paper.doi or "")) or paper.url
    if not paper.note:
        # Who reads on goes on in this text, also where another archive would answer by then.
        await context.keep(to_key(source), {"title": paper.title or "", "text": paper.content}, TTL)
    return _open(paper, source, max_length, max_tokens)


def _open(paper: PaperText, source: str, most: int, budget: int) -> PaperText:
    """What is told of a paper: the beginning of its text within a length and a budget, and how to read on."""
    text = paper.content
    beside = count_tokens(json.dumps(to_json(replace(paper, content="")), ensure_ascii=False))
    room = max(budget * 2 // 5, budget - beside - 2 * to_cost(source) - RESERVE) if budget else 0
    most_bytes = len(text[:most].encode("utf-8", "replace")) if len(text) > most else 0
    window = open_text(text, source, room, most=most_bytes)
    return replace(
        paper,
        content=window.content,
        truncated=paper.truncated or window.onward is not None,
        outline=list(window.outline) or None,
        read_on=window.onward,
    )


async def read_whole(context: Context, name: PaperName) -> PaperText:
    """The whole text of a paper with what is known of it; a fault where nobody gives it."""
    search = PaperReading(context, name)
    # The archives do not know such names, but may know those that stand in the record.
    if name.index_id or name.arxiv_id:
        await search.look_up()
    paper = await search.read_archives() or await search.read_copies() or await search.read_landing_page()
    if search.faults and not paper.note:
        context.notice(f"Not all could be asked for this text, which is from {paper.source}: {_join(search.faults)}.")
    return paper


def to_source(name: PaperName) -> str:
    """The address under which a paper is read on, by the first of its identifiers; "" where it has none of those."""
    named = (("doi:", name.doi), ("", name.pmcid), ("pmid:", name.pmid), ("arxiv:", name.arxiv_id))
    return next((scheme + value for scheme, value in named if value), "")


def to_key(source: str) -> str:
    """The key under which the text that an address reads on is kept."""
    return f"paper-text:1:{source}"


@dataclass(slots=True)
class PaperReading:
    """What is known of a paper so far, and what could not be asked."""

    context: Context
    name: PaperName
    record: Mapping[str, Any] | None = None
    """What is known of the paper; None before anybody was asked."""
    recorded_by: str = ""
    faults: list[Fault] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    """Who was asked for something and has nothing of it, in that order."""
    short: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Pages by their address that were too short to be the paper."""

    async def ask(self, operation: str, **arguments: str) -> tuple[Mapping[str, Any], str]:
        """The first row that anybody has, in the order of the route, and who had it; nothing where nobody has one."""
        asked = {key: value for key, value in arguments.items() if value}
        for provider in self.context.offering(operation) if asked else ():
            try:
                async with asyncio.timeout(PATIENCE):
                    answer = await self.context.ask(operation, asked, provider=provider)
            except TimeoutError:
                self.faults.append(Fault("upstream_unavailable", f"{provider} gave no answer in time"))
            except Fault as fault:
                # What somebody does not have says nothing of the next.
                if fault.kind != "not_found":
                    self.faults.append(fault)
                else:
                    self.without.append(provider)
            else:
                if answer.rows:
                    return answer.rows[0], provider
                self.without += [provider] if answer.asked else []
        return {}, ""

    async def read(self, address: str) -> dict[str, Any]:
        """The record of a page or document."""
        return await self.context.run("read_page", {"url": address, "mode": "full", "max_length": MOST})

    async def look_up(self) -> None:
        """Find the record of the paper, and with it the names under which others know it."""
        name = self.name
        more = {"pmid": name.pmid, "pmcid": name.pmcid, "id": name.index_id}
        record, self.recorded_by = await self.ask("paper", doi=name.doi, arxiv_id=name.arxiv_id, **more)
        self.name = replace(
            name, doi=name.doi or record.get("doi") or "", arxiv_id=name.arxiv_id or record.get("arxiv_id") or ""
        )
        doi = self.name.doi or (to_arxiv_doi(name.arxiv_id) if name.arxiv_id else "")
        if not record and doi:
            work, _ = await self.ask("work", doi=doi)
            record = {**work, "journal": work.get("venue"), "authors": turned(work.get("authors"))} if work else {}
        self.record = record

    async def read_archives(self) -> PaperText | None:
        """The text that an archive gives as data."""
        name = self.name
        row, by = await self.ask("fulltext", doi=name.doi, pmid=name.pmid, pmcid=name.pmcid)
        known = {**(self.record or {}), **{key: value for key, value in row.items() if value is not None}}
        return self._tell(known, {"url": row["url"], "content": row["text"]}, by) if row else None

    async def read_copies(self) -> PaperText | None:
        """The first copy that is the paper itself."""
        tried: set[str] = set()
        async for address, by in self._find_copies():
            if address in tried:
                continue
            tried.add(address)
            try:
                async with asyncio.timeout(2 * PATIENCE):
                    page = await self.read(address)
            except TimeoutError:
                self.faults.append(Fault("network", f"{address} gave no text in time"))
            except Fault as fault:
                self.faults.append(fault)
            else:
                if _is_whole(page):
                    more: dict[str, Any] = {"open_access": True} if by != DIRECT else {}
                    more |= {"pdf_url": address} if page["contentType"] == "pdf" else {}
                    return self._tell({**(self.record or {}), **more}, page, by)
                self.short[address] = page
        return None

    async def _find_copies(self) -> AsyncIterator[tuple[str, str]]:
        """Addresses of copies that anyone can read, mostly PDFs, the surest first, and who knows them."""
        if not self.name.is_known:
            return
        if self.name.address and self.name.doi and "doi.org/" not in self.name.address:
            yield self.name.address, DIRECT
        if self.name.arxiv_id:
            yield f"https://arxiv.org/pdf/{self.name.arxiv_id}", "arxiv"
        if self.record is None:
            await self.look_up()
        if self.record and self.recorded_by and self.record.get("pdf_url"):
            yield self.record["pdf_url"], self.recorded_by
        row, by = await self.ask("oa_locations", doi=self.name.doi)
        for place in list(row.get("locations") or ())[:_MOST_COPIES]:
            if address := place.get("url_for_pdf") or place.get("url"):
                yield address, by

    async def read_landing_page(self) -> PaperText:
        """The page at the address that was given, or where the identifier leads."""
        name, record = self.name, self.record or {}
        note = _FROM_PAGE if name.is_known else ""
        if note and self.faults:
            note += f" Not all could be asked: {_join(self.faults)}."
        address = (record.get("url") if name.index_id else "") or name.to_page()
        if not address:
            raise self.faults[0] if self.faults else Fault("not_found", f"nobody knows a paper {name.index_id}")
        try:
            page = self.short.get(address) or await self.read(address)
        except Fault as fault:
            if self.short:
                return self._tell(record, next(iter(self.short.values())), DIRECT, note)
            if not note:
                raise
            why = f"its page cannot be read: {fault.message}"
            message = f"No archive and no free PDF gives the text of this paper, and {why}"
            raise fault.told_as(message=message, detail=self._tell_tried(fault)) from fault
        return self._tell(record, page, DIRECT, "" if _is_whole(page) else note)

    def _tell_tried(self, page: Fault) -> str:
        """Who was asked: how each failed, who has nothing, and every way in which the page was tried."""
        nothing = f"nothing of it at {', '.join(dict.fromkeys(self.without))}" if self.without else ""
        return "; ".join(filter(None, [_join(self.faults), nothing, (page.detail or page.message).rstrip(".")]))

    def _tell(self, known: Mapping[str, Any], page: Mapping[str, Any], source: str, note: str = "") -> PaperText:
        """The record of a reading: `known` of the paper, and the `page` or text that was read."""
        citation = None if known.get("title") else page.get("citation")
        citation = citation or self._cite(known if known.get("title") else {}, page["url"])
        names = ("pdf_url", "open_access", "year", "journal", "abstract", "tldr", "citation_count")
        text = clean(page["content"])[0]
        return PaperText(
            url=page["url"],
            title=known.get("title") or (page.get("metadata") or {}).get("title"),
            content=text[:MOST],
            length=len(text),
            truncated=bool(page.get("truncated")) or len(text) > MOST,
            source=source,
            tier=page.get("extractedBy"),
            note=note or None,
            doi=known.get("doi") or self.name.doi or page.get("detectedDoi"),
            authors=known.get("authors") or None,
            citation=from_json(PageCitation, citation),
            **{name: known.get(name) for name in names},
        )

    def _cite(self, known: Mapping[str, Any], url: str) -> dict[str, Any]:
        """The citation of a paper whose record is known, in the form of that of a page."""
        from specloom.domains.trust import cite_for_bibliography

        authors, year = "; ".join(known.get("authors") or ()), str(known.get("year") or "")
        today = (from_epoch(self.context.now()) or "")[:10]
        title, journal, doi = known.get("title") or "", known.get("journal") or "", known.get("doi") or self.name.doi
        return cite_for_bibliography(url, title, authors, journal, year, today, doi=doi)


def _is_whole(page: Mapping[str, Any]) -> bool:
    """Whether what was read is the paper and not a page about it."""
    return bool(page["contentType"] == "pdf" or page.get("wordCount", 0) >= _WORDS_OF_A_TEXT)


def _join(faults: list[Fault]) -> str:
    return "; ".join(dict.fromkeys(fault.message.rstrip(".") for fault in faults))
