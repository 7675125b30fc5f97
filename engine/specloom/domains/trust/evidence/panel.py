"""Evidence tables: what was found about statements is joined, read side by side and held against each of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from specloom.core import KINDS, Fault, canonical_url, dataclass
from specloom.domains.text import to_doi, to_host, to_registrable
from specloom.plugins import Context, JsonObject, from_json

from ..records import (
    EvidenceGap,
    EvidenceGroup,
    EvidencePassage,
    EvidenceSource,
    EvidenceSummary,
    EvidenceTable,
    PanelRequest,
    Reach,
    Retraction,
    StatementEvidence,
)
from ..sources.classify import classify
from .independence import Group, Witness, find_groups
from .stances import STANCES, StanceFinding, find_stance

READ_FOR: Final = 25.0
"""Seconds after which what was read is told and the rest done without: with the searches before, the minute that
clients wait."""
AT_ONCE: Final = 6
PATIENCE: Final = 5.0
"""Seconds after which a page that is still read gives its turn to the next one."""
LONGEST_PAGE: Final = 200_000
"""Bytes of a page that are read."""
LONG_TEXTS: Final = 20_000
"""Characters of texts that are held against statements beside the calls of others."""
MOST_PASSAGES: Final = 8
"""Passages that are told of a statement."""
KINDS_OF_SOURCES: Final = ("academic", "web", "news")
TRUST: Final = "untrusted-external-content"
_LONGEST_REASON: Final = 200
_DAY: Final = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")


@dataclass(slots=True)
class _Source:
    """One source on its way through: what searches said of it, and what was read."""

    kind: str
    url: str
    row: Mapping[str, Any]
    statements: list[int]
    title: str = ""
    doi: str = ""
    text: str = ""
    reach: Reach = "excerpt"
    published: str = ""
    authors: tuple[str, ...] = ()
    page: Mapping[str, Any] = field(default_factory=dict)
    lack: str = ""
    findings: dict[int, StanceFinding] = field(default_factory=dict)

    @property
    def day(self) -> str:
        """When it was published, as far as that is known: YYYY, YYYY-MM or YYYY-MM-DD."""
        match = _DAY.match(self.published)
        return match[0] if match else ""

    def to_witness(self) -> Witness:
        """What shows whether it is another's."""
        return Witness(
            url=str(self.page.get("url") or self.url),
            title=self.title,
            doi=self.doi,
            outlet=str(self.row.get("source") or ""),
            text=self.text if self.reach == "page" else "",
            authors=self.authors,
            day=self.day,
            is_work=self.kind == "academic" or bool(self.doi),
        )


async def weigh(context: Context, request: PanelRequest) -> EvidenceTable:
    """The table of what was found: statements with their passages, sources, groups and gaps."""
    statements = [text.strip() for text in request.statements]
    sources, repeated = join_rows(request.searches)
    chosen = _choose_pages(sources, len(statements), request.pages)
    gaps = [*_find_unanswered(request.searches, len(statements)), *await _read_pages(context, chosen)]
    if sum(len(source.text) for source in sources) > LONG_TEXTS:
        # Who else is served meanwhile does not wait for long texts.
        speaking, groups = await asyncio.to_thread(_compare, sources, statements)
    else:
        speaking, groups = _compare(sources, statements)
    rows = [_to_row(number, text, speaking, groups) for number, text in enumerate(statements, 1)]
    gaps += [*_find_silence(rows, sources, gaps), *_find_left_out(rows)]
    told = {passage.source for row in rows for passage in row.passages}
    unread = sum(bool(source.lack) for source in chosen)
    records = [_to_record(at, speaking, groups, rows, told) for at in range(len(speaking)) if _name(at) in told]
    return EvidenceTable(
        statements=rows,
        sources=records,
        groups=[
            EvidenceGroup(id=f"g{number}", sources=members, why=group.why)
            for number, group in enumerate(groups, 1)
            if len(members := [_name(at) for at in group.members if _name(at) in told]) > 1
        ],
        gaps=_join_gaps(gaps),
        stances=STANCES,
        summary=EvidenceSummary(
            found=len(sources),
            repeated=repeated,
            read=len(chosen) - unread,
            unread=unread,
            silent=len(sources) - len(speaking),
            independent=_count_independent(range(len(speaking)), groups),
        ),
        checked_at=datetime.fromtimestamp(context.now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


# --- What was found, each source once ---------------------------------------------------------------------------------


def join_rows(searches: JsonObject) -> tuple[list[_Source], int]:
    """Every source once, in the order of the statements, and how many rows were about one that was there already."""
    known: dict[str, _Source] = {}
    sources: list[_Source] = []
    repeated = 0
    for kind, number, part in sorted(_parts_of(searches), key=lambda each: each[1]):
        for row in part.get("rows") or ():
            url = str(row.get("url") or "")
            if not url:
                continue
            doi = to_doi(str(row.get("doi") or "")) or ""
            keys = [canonical_url(url), *([f"doi:{doi}"] if doi else [])]
            source = next((known[key] for key in keys if key in known), None)
            if source is None:
                source = _to_source(kind, url, doi, row)
                sources.append(source)
            else:
                repeated += 1
            if number not in source.statements:
                source.statements.append(number)
            known.update(dict.fromkeys(keys, source))
    return sources, repeated


def _parts_of(searches: JsonObject) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Each search with its kind and the number of its statement."""
    for name, part in searches.items():
        kind, _, number = name.rpartition("_")
        if kind in KINDS_OF_SOURCES and number.isdecimal():
            yield kind, int(number), part


def _to_source(kind: str, url: str, doi: str, row: Mapping[str, Any]) -> _Source:
    excerpts = [row.get("snippet"), *(row.get("extra_snippets") or ())]
    abstract = str(row.get("abstract") or "")
    return _Source(
        kind=kind,
        url=url,
        row=row,
        statements=[],
        title=str(row.get("title") or ""),
        doi=doi,
        text=abstract or "\n\n".join(str(text) for text in excerpts if text),
        reach="abstract" if abstract else "excerpt",
        published=str(row.get("published_at") or row.get("year") or ""),
        authors=tuple(map(str, row.get("authors") or ())),
    )


# --- Reading ----------------------------------------------------------------------------------------------------------


def _choose_pages(sources: Sequence[_Source], statements: int, most: int) -> list[_Source]:
    """The sources that are read: of each statement in turn the best of each kind, so that none takes all the time."""
    queues = [
        [source for source in sources if source.kind == kind and number in source.statements]
        for number in range(1, statements + 1)
        for kind in ("web", "news")
    ]
    chosen: list[_Source] = []
    while len(chosen) < most and any(queues):
        for queue in queues:
            while queue and queue[0] in chosen:
                queue.pop(0)
            if queue and len(chosen) < most:
                chosen.append(queue.pop(0))
    return chosen


async def _read_pages(context: Context, chosen: Sequence[_Source]) -> list[EvidenceGap]:
    """Read them side by side; the gaps of those that could not be read, of which their excerpts stay."""
    end = asyncio.get_running_loop().time() + READ_FOR
    turns, done = asyncio.Semaphore(AT_ONCE), 0

    async def read(source: _Source) -> EvidenceGap | None:
        nonlocal done
        try:
            async with asyncio.timeout_at(end):
                page = await _read_in_turn(context, source.url, turns)
        except Fault as fault:
            source.lack = f"{KINDS[fault.kind].wire}: {fault.message}"[:_LONGEST_REASON]
        except TimeoutError:
            source.lack = f"late: not read within {READ_FOR:g} seconds"
        else:
            _take_page(source, page)
        finally:
            done += 1
            context.tell(done, len(chosen), f"read {done} of {len(chosen)} sources")
        return EvidenceGap(what="not_read", why=source.lack, url=source.url) if source.lack else None

    return [gap for gap in await asyncio.gather(*map(read, chosen)) if gap is not None]


async def _read_in_turn(context: Context, url: str, turns: asyncio.Semaphore) -> JsonObject:
    async with turns:
        reading = asyncio.ensure_future(
            context.run("read_page", {"url": url, "mode": "full", "max_length": LONGEST_PAGE})
        )
        try:
            await asyncio.wait((reading,), timeout=PATIENCE)
        except asyncio.CancelledError:
            reading.cancel()
            raise
    return await reading


def _take_page(source: _Source, page: JsonObject) -> None:
    text = str(page.get("content") or "")
    if not text.strip():
        source.lack = "content_empty: the page has no text"
        return
    cited = (page.get("citation") or {}).get("metadata") or {}
    source.page, source.text, source.reach = page, text, "page"
    source.title = str(cited.get("title") or source.title)
    source.doi = source.doi or str(page.get("detectedDoi") or "")
    source.published = source.published or str(cited.get("date") or "")
    source.authors = source.authors or tuple(filter(None, (str(cited.get("author") or ""),)))


# --- The table --------------------------------------------------------------------------------------------------------


def _compare(sources: Sequence[_Source], statements: Sequence[str]) -> tuple[list[_Source], list[Group]]:
    """The sources that have something of a statement, whichever they were found for, and which are not independent."""
    for source in sources:
        for number, statement in enumerate(statements, 1):
            finding = find_stance(statement, source.text or source.title)
            if finding is not None:
                source.findings[number] = finding
    speaking = [source for source in sources if source.findings]
    return speaking, find_groups([source.to_witness() for source in speaking])


def _to_row(number: int, statement: str, speaking: Sequence[_Source], groups: Sequence[Group]) -> StatementEvidence:
    places = [at for at, source in enumerate(speaking) if number in source.findings]
    findings = [speaking[at].findings[number] for at in places]
    stances = {
        stance: [at for at, finding in zip(places, findings, strict=True) if finding.stance == stance]
        for stance in ("for", "against", "bears_on_it")
    }
    days = sorted(speaking[at].day for at in places if speaking[at].day)
    return StatementEvidence(
        number=number,
        statement=statement,
        sources={_to_key(stance): len(members) for stance, members in stances.items()},
        independent={_to_key(stance): _count_independent(members, groups) for stance, members in stances.items()},
        oldest=days[0] if days else None,
        newest=days[-1] if days else None,
        passages=[_to_passage(at, speaking, number) for at in _rank(places, speaking, number)[:MOST_PASSAGES]],
    )


def _rank(places: Sequence[int], speaking: Sequence[_Source], number: int) -> list[int]:
    """The places of sources: the sure ones first, then those with most of a statement, of equals those found for it."""

    def order(at: int) -> tuple[Any, ...]:
        finding = speaking[at].findings[number]
        is_own = number in speaking[at].statements
        return finding.stance == "bears_on_it", -round(finding.coverage, 1), not is_own, -finding.coverage, at

    return sorted(places, key=order)


def _to_key(stance: str) -> str:
    return "bearsOnIt" if stance == "bears_on_it" else stance


def _to_passage(at: int, speaking: Sequence[_Source], number: int) -> EvidencePassage:
    source, finding = speaking[at], speaking[at].findings[number]
    cue = asdict(finding.cue) if finding.cue else {}
    return EvidencePassage(
        source=_name(at),
        stance=finding.stance,
        quote=finding.quote,
        at=finding.offset if source.reach == "page" else None,
        cue={name: value for name, value in cue.items() if value and name != "sentence"} or None,
        note=finding.note or None,
    )


def _name(at: int) -> str:
    """What a source is called in the table."""
    return f"s{at + 1}"


def _to_record(
    at: int, speaking: Sequence[_Source], groups: Sequence[Group], rows: Sequence[StatementEvidence], told: Set[str]
) -> EvidenceSource:
    source = speaking[at]
    group = next((number for number, one in enumerate(groups, 1) if at in one.members), 0)
    page, row = source.page, source.row
    url = str(page.get("url") or source.url)
    labels = classify(url)
    retraction = page.get("retractionStatus")
    cited = [_name(place) for place, each in enumerate(speaking) if place != at and _cites(source, each)]
    return EvidenceSource(
        id=_name(at),
        kind=source.kind,
        title=source.title or None,
        url=source.url,
        doi=source.doi or None,
        published_at=source.published or None,
        publisher=str(row.get("journal") or row.get("source") or to_registrable(to_host(url)) or to_host(url)),
        read=source.reach,
        group=f"g{group}" if group else None,
        cites=[name for name in cited if name in told] or None,
        best_for=[row.number for row in rows if row.passages and row.passages[0].source == _name(at)] or None,
        source_type=_unless_unknown(str(page.get("sourceType") or labels.source_type)),
        authority_tier=str(page.get("authorityTier") or labels.authority_tier),
        retraction_status=from_json(Retraction, retraction) if retraction else None,
        stripped=page.get("stripped"),
        lack=source.lack or None,
        trust=TRUST,
    )


def _unless_unknown(source_type: str) -> str | None:
    return source_type if source_type != "unknown" else None


def _cites(source: _Source, other: _Source) -> bool:
    """Whether a page leads to another source, by its address or its DOI."""
    if source.reach != "page":
        return False
    return other.url in source.text or bool(other.doi and other.doi.casefold() in source.text.casefold())


def _count_independent(places: Sequence[int], groups: Sequence[Group]) -> int:
    """How many of these sources there are when those of one group count once."""
    of = {at: number for number, group in enumerate(groups) for at in group.members}
    return len({("group", of[at]) if at in of else ("source", at) for at in places})


# --- Gaps -------------------------------------------------------------------------------------------------------------


def _find_unanswered(searches: JsonObject, statements: int) -> list[EvidenceGap]:
    """The searches that failed or found nothing, by statement."""
    gaps = []
    for kind, number, part in sorted(_parts_of(searches), key=lambda each: each[1]):
        if number > statements or not part.get("asked"):
            continue
        fault = part.get("fault")
        if fault:
            why = str(fault.get("message"))[:_LONGEST_REASON]
            gaps.append(EvidenceGap(statements=[number], kind=kind, what="failed", why=why))
        elif not part.get("rows"):
            why = f"{part.get('provider')} was asked and has nothing"
            gaps.append(EvidenceGap(statements=[number], kind=kind, what="nothing_found", why=why))
    return gaps


def _find_silence(
    rows: Sequence[StatementEvidence], sources: Sequence[_Source], gaps: Sequence[EvidenceGap]
) -> list[EvidenceGap]:
    """The statements of which nothing that was found speaks, though something was found."""
    told = {number for gap in gaps for number in gap.statements or ()}
    silent = []
    for row in rows:
        count = sum(row.number in source.statements for source in sources)
        if not row.passages and (count or row.number not in told):
            why = f"none of the {count} sources found speaks of it in its words"
            silent.append(EvidenceGap(statements=[row.number], what="nothing_bears", why=why))
    return silent


def _find_left_out(rows: Sequence[StatementEvidence]) -> list[EvidenceGap]:
    """The statements of which more sources speak than are told."""
    return [
        EvidenceGap(
            statements=[row.number], what="left_out", why=f"{more} further sources speak of it and are only counted"
        )
        for row in rows
        if (more := sum(row.sources.values()) - len(row.passages)) > 0
    ]


def _join_gaps(gaps: Sequence[EvidenceGap]) -> list[EvidenceGap]:
    """The gaps, those that differ only in their statements as one."""
    joined: dict[EvidenceGap, list[int]] = {}
    for gap in gaps:
        joined.setdefault(replace(gap, statements=None), []).extend(gap.statements or ())
    return [replace(gap, statements=numbers or None) for gap, numbers in joined.items()]
