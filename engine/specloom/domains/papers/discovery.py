"""What an index of works knows beyond one record: which works there are for some words, and the preprint of one."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from specloom.core import Fault

from . import pacing
from .errors import Refusal, from_fault, to_refusal
from .identifiers import PaperId, parse_entry_ref
from .provenance_log import Journal, open_journal

if TYPE_CHECKING:
    from specloom.core import Answer
    from specloom.plugins import Context


SOURCE, PROVIDER = "openalex", "openalex_discovery"

KINDS: Mapping[str, str] = {"author": "A", "venue": "S", "publisher": "P"}
"""The names that a search may be held to, and the letter that identifiers of each begin with."""

CANDIDATES = 5
"""Records that are asked for of a name."""

DOMINANT = 10
"""How many times the works of any other record of a name the first one has, to be the one that is meant."""

MANY_WORDS = 8
"""Words beyond which a search in full texts finds next to nothing, because all of them have to be there."""

_BOUNDS = {
    "limit": "num_results",
    "from_year": "year_from",
    "to_year": "year_to",
    "min_citations": "min_citations",
    "min_fwci": "min_fwci",
    "min_percentile": "min_percentile",
    "sort": "sort_by",
}
"""Arguments that are passed on, by the name that the capability has for each."""


async def paper_search(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Works for some words; AMBIGUOUS or NOT_FOUND where a name cannot be made out, for none is left out in silence."""
    journal = open_journal(context)
    with journal.session():
        asked = {theirs: given.get(ours) for ours, theirs in _BOUNDS.items()}
        asked |= {"query": given["query"], "open_access": given.get("oa_only") or None}
        for kind in KINDS:
            name = str(given.get(kind) or "").strip()
            if name:
                asked[f"{kind}_id"] = await _identify(context, journal, kind, name)
        answer = await _ask(context, journal, None, "discovery", asked)
    # A work may move to the next page while the first one is read.
    results = [_tell(row) for row in {row["id"]: row for row in answer.rows}.values()]
    said = {
        "scope": "external",
        "query": given["query"],
        "total_results": int(answer.meta.get("total") or len(results)),
        "count": len(results),
        "results": results,
    }
    words = len(str(given["query"]).split())
    if not results and words > MANY_WORDS:
        said["hint"] = f"All of the {words} words have to be found; ask with {MANY_WORDS} or fewer."
    return said


async def link(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arXiv preprint that belongs to a DOI, null where none is known; NOT_FOUND where the work is not."""
    ref = parse_entry_ref(given["ref"])
    if ref.kind != "doi":
        raise Refusal("INVALID_REF", f"{given['ref']!r} is no DOI, and preprints are looked up by DOI only.")
    journal = open_journal(context)
    with journal.session(ref):
        rows = (await _ask(context, journal, ref, "preprint_of", {"doi": ref.value})).rows
        if not rows:
            raise Refusal("NOT_FOUND", _absent(ref))
    row = rows[0]
    return {"doi": ref.value, "arxiv": row.get("arxiv_id"), "openalex_id": row["id"], "title": row.get("title")}


async def _ask(
    context: Context, journal: Journal, ref: PaperId | None, capability: str, arguments: Mapping[str, Any]
) -> Answer:
    """The answer of the index, written down."""
    try:
        async with pacing.turn(SOURCE, live=context.is_live):
            answer = await context.ask(capability, arguments, provider=PROVIDER)
    except Fault as fault:
        refusal = from_fault(fault, absent=_absent(ref) if ref else "")
        journal.asked(ref, SOURCE, refusal=refusal, event="resolve")
        raise refusal from None
    journal.asked(ref, SOURCE, event="resolve")
    return answer


def _absent(ref: PaperId) -> str:
    return f"{SOURCE} has no record of {ref.value}."


async def _identify(context: Context, journal: Journal, kind: str, name: str) -> str:
    """The identifier of whoever a name means; what is an identifier already is taken as it is."""
    if name[0].upper() == KINDS[kind] and name[1:].isascii() and name[1:].isdigit():
        return name.upper()
    asked = {"kind": kind, "name": name, "num_results": CANDIDATES}
    return choose(kind, name, (await _ask(context, journal, None, "authorities", asked)).rows)


def choose(kind: str, name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The one record that a name means: the only one, the only one of just that name, or by far the largest."""
    if not rows:
        raise Refusal("NOT_FOUND", f"{SOURCE} has no {kind} called {name!r}.")
    same = [row for row in rows if row["name"].casefold() == name.casefold()]
    first, *others = same or rows
    most = max((row.get("works_count") or 0 for row in others), default=0)
    if not others or (first.get("works_count") or 0) >= DOMINANT * max(most, 1):
        return str(first["id"])
    told = "; ".join(_show(row) for row in rows)
    raise Refusal("AMBIGUOUS", f"The {kind} {name!r} may be one of: {told}. Name one in full, or by its identifier.")


def _show(row: Mapping[str, Any]) -> str:
    of = f"{row['of']}, " if row.get("of") else ""
    return f"{row['name']} ({of}{row.get('works_count') or 0} works, {row['id']})"


def _tell(row: Mapping[str, Any]) -> dict[str, Any]:
    """A work as a result; what is not known is null, and no key is left out."""
    return {
        "doi": row.get("doi"),
        "openalex_id": row["id"],
        "arxiv": row.get("arxiv_id"),
        "title": row.get("title"),
        "authors": row.get("authors"),
        "year": row.get("year"),
        "venue": row.get("venue"),
        "abstract": row.get("abstract"),
        "cited_by_count": row.get("citation_count"),
        "oa_status": row.get("oa_status"),
        "source": SOURCE,
    }


# --- Which registered work a citation in words means: candidates by the share of its words that their records
# have -----------------------------------------------------------------------------------------------------------------


CITATIONS_SOURCE = "crossref"
CITATIONS = 50
"""The most citations of one call."""
LONGEST = 2000
"""Characters of a citation, which has to fit into an address."""
AT_ONCE = 5
"""Citations that are looked for at a time."""

LEAST, PROBABLE, EXACT = 0.5, 0.8, 0.999
"""Shares of found words: below the first no candidate is told, the others part weak, probable and exact."""

_RUN = re.compile(r"[^\W_]+")


async def resolve_citation(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """The candidates for one citation, the likeliest first."""
    return {"query": given["query"], "candidates": await _find(context, str(given["query"]), int(given["limit"]))}


async def batch_resolve_citations(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """A row for each citation in their order; what fails for one changes nothing for the others."""
    queries, limit = [str(one) for one in given["queries"]], int(given["limit"])
    if not 0 < len(queries) <= CITATIONS:
        raise Refusal("INVALID_REF", f"{len(queries)} citations were given; 1 to {CITATIONS} are taken.")
    different = list(dict.fromkeys(queries))
    turns, done = asyncio.Semaphore(AT_ONCE), 0

    async def one(query: str) -> dict[str, Any]:
        nonlocal done
        async with turns:
            try:
                row: dict[str, Any] = {"query": query, "candidates": await _find(context, query, limit)}
            except Exception as error:  # noqa: BLE001 - what fails for one changes nothing for the others
                row = {"query": query, "error": to_refusal(error).to_json()}
        done += 1
        context.tell(done, len(different), f"citations: {done} of {len(different)} looked for")
        return row

    rows = dict(zip(different, await asyncio.gather(*map(one, different)), strict=True))
    return {"results": [rows[query] for query in queries]}


def words_of(text: str) -> list[str]:
    """The runs of letters and digits of a text in small letters, each once.

    A letter with an accent is one character, however it is written, and a ligature is its letters (Unicode NFKC).
    """
    return list(dict.fromkeys(_RUN.findall(normalize("NFKC", text).lower())))


def judge(words: Sequence[str], row: Mapping[str, Any]) -> dict[str, Any]:
    """A record as a candidate: which of the words it has in title, authors, venue or year, and how sure that makes."""
    authors = [str(one) for one in row.get("authors") or ()]
    recorded = (row.get("title"), *authors, row.get("venue"), row.get("year"))
    own = frozenset(words_of(" ".join(str(part) for part in recorded if part)))
    matched = [word for word in words if word in own]
    score = len(matched) / len(words)
    return {
        "doi": row["doi"],
        "title": row.get("title"),
        "author": authors[0] if authors else None,
        "year": row.get("year"),
        "score": score,
        "confidence": "exact" if score >= EXACT else "probable" if score >= PROBABLE else "weak",
        "matched": matched,
        "source": CITATIONS_SOURCE,
    }


async def _find(context: Context, query: str, limit: int) -> list[dict[str, Any]]:
    words = words_of(query)
    if not words:
        raise Refusal("INVALID_REF", "A citation needs words: give authors, title, journal or year as one text.")
    if len(query) > LONGEST:
        raise Refusal("INVALID_REF", f"A citation has {len(query)} characters, and {LONGEST} are taken at most.")
    if not limit:
        return []
    async with pacing.turn(CITATIONS_SOURCE, live=context.is_live):
        asked = {"query": query, "num_results": limit}
        rows = (await context.ask("citation_candidates", asked, provider=CITATIONS_SOURCE)).rows
    found = [one for one in (judge(words, row) for row in rows) if one["score"] >= LEAST]
    return sorted(found, key=lambda one: -one["score"])


# --- What a paper builds on, breadth first over the references that an index lists, within hard bounds ----------------


DEPTH, TOTAL, PER_PAPER = 3, 100, 20
"""The most of each, whatever is asked for."""

GRAPH_SOURCE = "openalex"


async def expand(context: Context, ref: PaperId, *, depth: int, total: int, per_paper: int) -> dict[str, Any]:
    """Nodes and edges from the paper outwards; an edge points from the citing work to the cited one.

    A work that cannot be read is left unexpanded and `truncated` says so. The seed must be found.
    """
    depth, total, per_paper = min(depth, DEPTH), min(total, TOTAL), min(per_paper, PER_PAPER)
    journal = open_journal(context)
    with journal.session(ref):
        return await _walk(context, ref, journal, depth, total, per_paper)


async def _walk(
    context: Context, ref: PaperId, journal: Journal, depth: int, total: int, per_paper: int
) -> dict[str, Any]:
    seed = await _ask_graph(context, ref, journal, {"doi": ref.value})
    nodes = {seed["id"]: 0}
    edges: dict[tuple[str, str], None] = {}
    truncated = False
    waiting = deque([(str(seed["id"]), 0, list(seed.get("references") or ()))])
    while waiting:
        work, at, cited = waiting.popleft()
        truncated = truncated or len(cited) > per_paper
        for other in dict.fromkeys(map(str, cited[:per_paper])):
            if other not in nodes:
                if len(nodes) >= total:
                    truncated = True
                    continue
                nodes[other] = at + 1
                if at + 1 >= depth:
                    truncated = True
                else:
                    try:
                        found = await _ask_graph(context, ref, journal, {"id": other})
                        waiting.append((other, at + 1, list(found.get("references") or ())))
                    except Refusal as refusal:
                        if refusal.code == "LOG_ERROR":
                            raise
                        truncated = True
                context.tell(len(nodes), total, other)
            edges[work, other] = None
    return {
        "seed_work_id": seed["id"],
        "nodes": [{"id": name, "depth": level} for name, level in nodes.items()],
        "edges": [{"from": start, "to": end} for start, end in edges],
        "truncated": truncated,
        "total_visited": len(nodes),
    }


async def _ask_graph(context: Context, ref: PaperId, journal: Journal, arguments: dict[str, str]) -> dict[str, Any]:
    refusal: Refusal | None = None
    rows: list[dict[str, Any]] = []
    absent = f"{GRAPH_SOURCE} has no record of {next(iter(arguments.values()))}."
    try:
        async with pacing.turn(GRAPH_SOURCE, live=context.is_live):
            rows = (await context.ask("references", arguments, provider=GRAPH_SOURCE)).rows
    except Fault as fault:
        refusal = from_fault(fault, absent=absent)
    if refusal is None and not rows:
        refusal = Refusal("NOT_FOUND", absent)
    journal.asked(ref, GRAPH_SOURCE, refusal=refusal, event="resolve")
    if refusal is not None:
        raise refusal
    return rows[0]
