"""What indexes know beyond one record: works for some words, the preprint of one, its references, and citations."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from specloom.domains.text import PaperId, is_cite_key
from specloom.plugins import FLAG, NUMBER, OBJECT, TEXT, WHOLE, Context, JsonObject, listed, texts

from .answers import OPEN, REF, TEXTS, answer_each, paper_procedure, parse_entry_ref
from .config import ASKING, CANDIDATES_SOURCE, DISCOVERY, DISCOVERY_PROVIDER, LOG
from .errors import PaperFault
from .limits import turn

if TYPE_CHECKING:
    from .provenance_log import Journal

KINDS: Mapping[str, str] = {"author": "A", "venue": "S", "publisher": "P"}
"""The names that a search may be held to, and the letter that identifiers of each begin with."""
CANDIDATES = 5
"""Records that are asked for of a name."""
DOMINANT = 10
"""How many times the works of any other record of a name the first one has, to be the one that is meant."""
MANY_WORDS = 8
"""Words beyond which a search in full texts finds next to nothing, because all of them have to be there."""
DEPTH, TOTAL, PER_PAPER = 3, 100, 20
"""The most steps, works, and references of a work that a walk follows, whatever is asked for."""
CITATIONS, LONGEST = 50, 2000
"""The most citations of one call, and characters of one, which has to fit into an address."""
LEAST, PROBABLE, EXACT = 0.5, 0.8, 0.999
"""Shares of found words: below the first no candidate is told, the others part weak, probable and exact."""

_WORK = ("doi", "openalex_id", "arxiv", "title", "authors", "year", "venue", "abstract", "cited_by_count", "oa_status")
"""The keys of a result; what is not known is null, and no key is left out."""
_FIELDS = {"openalex_id": "id", "arxiv": "arxiv_id", "cited_by_count": "citation_count"}
"""The fields of a row, where keys of a result have others."""
_RUN = re.compile(r"[^\W_]+")

_OPEN_WORK = dict.fromkeys((key for key in _WORK if key != "openalex_id"), OPEN)
_WORKS = listed({"type": "object", "properties": {**texts("openalex_id", "source"), **_OPEN_WORK}})
_CANDIDATE = {
    **texts("doi", "confidence", "source"),
    **dict.fromkeys(("title", "author", "year"), OPEN),
    "score": NUMBER,
    "matched": TEXTS,
}
_CANDIDATES = listed({"type": "object", "properties": _CANDIDATE})
_RESOLVED = {"query": TEXT, "candidates": _CANDIDATES, "error": OBJECT}


@paper_procedure(
    {**texts("scope", "query", "hint"), "total_results": WHOLE, "count": WHOLE, "results": _WORKS},
    asks=("discovery", "authorities"),
    pages="discovery",
    settings=LOG,
)
async def discover_papers(context: Context, query: str, names: JsonObject, bounds: JsonObject) -> dict[str, Any]:
    """Works for some words; AMBIGUOUS or NOT_FOUND where a name cannot be made out, for none is left out in silence.

    `names` are those of an author, a venue and a publisher, `bounds` what else the capability is asked with.
    """
    _refuse_key(query)
    journal, held = _open_journal(context), {"query": query, **bounds}
    with journal.session():
        for kind in KINDS:
            if name := str(names.get(kind) or "").strip():
                held[f"{kind}_id"] = await _identify(journal, kind, name)
        answer = await journal.ask(
            None, DISCOVERY.name, "discovery", held, provider=DISCOVERY_PROVIDER, event="resolve", resumes=True
        )
    # A work may move to the next page while the first one is read.
    rows = {row["id"]: row for row in answer.rows}.values()
    results = [{key: row.get(_FIELDS.get(key, key)) for key in _WORK} | {"source": DISCOVERY.name} for row in rows]
    total, words = int(answer.meta.get("total") or len(results)), len(query.split())
    works = {"scope": "external", "query": query, "total_results": total, "count": len(results), "results": results}
    if not total and words > MANY_WORDS:
        works["hint"] = f"All of the {words} words have to be found; ask with {MANY_WORDS} or fewer."
    return works


async def _identify(journal: Journal, kind: str, name: str) -> str:
    """The identifier of whoever a name means; what is an identifier already is taken as it is."""
    if name[0].upper() == KINDS[kind] and name[1:].isascii() and name[1:].isdigit():
        return name.upper()
    query = {"kind": kind, "name": name, "num_results": CANDIDATES}
    answer = await journal.ask(None, DISCOVERY.name, "authorities", query, provider=DISCOVERY_PROVIDER, event="resolve")
    return choose(kind, name, answer.rows)


def choose(kind: str, name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The one record that a name means: the only one, the only one of just that name, or by far the largest."""
    if not rows:
        raise PaperFault("NOT_FOUND", f"{DISCOVERY.name} has no {kind} called {name!r}.")
    same = [row for row in rows if row["name"].casefold() == name.casefold()]
    first, *others = same or rows
    most = max((row.get("works_count") or 0 for row in others), default=0)
    if not others or (first.get("works_count") or 0) >= DOMINANT * max(most, 1):
        return str(first["id"])
    candidates = "; ".join(
        f"{row['name']} ({row['of'] + ', ' if row.get('of') else ''}{row.get('works_count') or 0} works, {row['id']})"
        for row in rows
    )
    raise PaperFault(
        "AMBIGUOUS", f"The {kind} {name!r} may be one of: {candidates}. Name one in full, or by its identifier."
    )


@paper_procedure(
    {**REF, **texts("doi", "openalex_id"), "arxiv": OPEN, "title": OPEN}, asks=("preprint_of",), settings=LOG
)
async def preprint_of_paper(context: Context, ref: str) -> dict[str, Any]:
    """The arXiv preprint that belongs to a DOI, null where none is known; NOT_FOUND where the work is not."""
    paper, journal = _parse_doi(ref, "preprints are looked up by DOI only"), _open_journal(context)
    with journal.session(paper):
        row = await _ask_work(journal, paper, "preprint_of", {"doi": paper.value}, DISCOVERY_PROVIDER)
    return {"doi": paper.value, "arxiv": row.get("arxiv_id"), "openalex_id": row["id"], "title": row.get("title")}


_NAMED = {"title": TEXT, "year": WHOLE, "doi": TEXT}


@paper_procedure(
    {
        **REF,
        "seed_work_id": TEXT,
        "nodes": listed(
            {"type": "object", "properties": {"id": TEXT, "depth": WHOLE, **_NAMED}, "required": ["id", "depth"]}
        ),
        "edges": listed({"type": "object", "properties": texts("from", "to")}),
        "truncated": FLAG,
        "total_visited": WHOLE,
    },
    asks=("references",),
    settings={**LOG, **ASKING},
)
async def paper_citation_graph(context: Context, ref: str, depth: int, total: int, per_paper: int) -> dict[str, Any]:
    """Nodes and edges from the paper outwards; an edge points from the citing work to the cited one.

    A work that cannot be read is left unexpanded and `truncated` says so. The seed must be found. A node has the
    title, year and DOI of its work where that was read, which no work of the last step is.
    """
    paper, journal = _parse_doi(ref, "citations are known by DOI only"), _open_journal(context)
    if DISCOVERY.missing(context.config):
        raise PaperFault(
            "CAPABILITY_DENIED",
            f"Citations come from {DISCOVERY.name}, which is not switched on; set {DISCOVERY.switch}.",
            denial={"reason": "capability_not_granted", "source": DISCOVERY.name},
        )
    depth, total, per_paper = min(depth, DEPTH), min(total, TOTAL), min(per_paper, PER_PAPER)
    with journal.session(paper):
        seed = await _ask_work(journal, paper, "references", {"doi": paper.value})
        nodes, edges, truncated = {str(seed["id"]): 0}, dict[tuple[str, str], None](), False
        works = {str(seed["id"]): _name_work(seed)}
        waiting = deque([seed])
        while waiting:
            row = waiting.popleft()
            work, cited = str(row["id"]), list(row.get("references") or ())
            truncated = truncated or len(cited) > per_paper
            for other in dict.fromkeys(map(str, cited[:per_paper])):
                if other not in nodes and len(nodes) >= total:
                    truncated = True
                    continue
                if other not in nodes:
                    nodes[other] = level = nodes[work] + 1
                    below = await _try_work(journal, paper, other) if level < depth else None
                    waiting += [{**below, "id": other}] if below else []
                    works[other] = _name_work(below or {})
                    truncated = truncated or not below
                    context.tell(len(nodes), total, other)
                edges[work, other] = None
    return {
        "ref": ref,
        "seed_work_id": seed["id"],
        "nodes": [{"id": name, "depth": level, **works[name]} for name, level in nodes.items()],
        "edges": [{"from": start, "to": end} for start, end in edges],
        "truncated": truncated,
        "total_visited": len(nodes),
    }


def _name_work(row: Mapping[str, Any]) -> dict[str, Any]:
    """Title, year and DOI of a work, as far as it has them."""
    return {name: row[name] for name in _NAMED if row.get(name)}


def _open_journal(context: Context) -> Journal:
    from .provenance_log import open_journal

    return open_journal(context)


async def _try_work(journal: Journal, ref: PaperId, work: str) -> Mapping[str, Any] | None:
    try:
        return await _ask_work(journal, ref, "references", {"id": work})
    except PaperFault as fault:
        if fault.code == "LOG_ERROR":
            raise
        return None


async def _ask_work(
    journal: Journal, ref: PaperId, operation: str, arguments: Mapping[str, str], provider: str = ""
) -> Mapping[str, Any]:
    absent = f"{DISCOVERY.name} has no record of {next(iter(arguments.values()))}."
    more: dict[str, Any] = {"provider": provider, "event": "resolve", "absent": absent}
    return (await journal.ask(ref, DISCOVERY.name, operation, arguments, **more)).rows[0]


def _parse_doi(text: str, why: str) -> PaperId:
    ref = parse_entry_ref(text)
    if ref.kind != "doi":
        raise PaperFault("INVALID_REF", f"{text!r} is no DOI, and {why}.")
    return ref


@paper_procedure({**REF, "query": TEXT, "candidates": _CANDIDATES}, asks=("citation_candidates",))
async def resolve_citation(context: Context, query: str, limit: int) -> dict[str, Any]:
    """The candidates for one citation, the likeliest first."""
    return {"query": query, "candidates": await _find_candidates(context, query, limit)}


@paper_procedure(
    {"results": listed({"type": "object", "properties": _RESOLVED, "required": ["query"]})},
    asks=("citation_candidates",),
)
async def resolve_citations(context: Context, queries: list[str], limit: int) -> dict[str, Any]:
    """A row for each citation in their order; what fails for one changes nothing for the others."""
    if not 0 < len(queries) <= CITATIONS:
        raise PaperFault("INVALID_REF", f"{len(queries)} citations were given; 1 to {CITATIONS} are taken.")

    async def find(query: str) -> dict[str, Any]:
        return {"candidates": await _find_candidates(context, query, limit)}

    different = list(dict.fromkeys(map(str, queries)))
    rows = dict(zip(different, await answer_each(context, different, find), strict=True))
    return {"results": [{"query": query, **rows[query]} for query in map(str, queries)]}


async def _find_candidates(context: Context, query: str, limit: int) -> list[dict[str, Any]]:
    _refuse_key(query)
    words = words_of(query)
    if not words:
        raise PaperFault("INVALID_REF", "A citation needs words: give authors, title, journal or year as one text.")
    if len(query) > LONGEST:
        raise PaperFault("INVALID_REF", f"A citation has {len(query)} characters, and {LONGEST} are taken at most.")
    if not limit:
        return []
    async with turn(context, CANDIDATES_SOURCE):
        asked = {"query": query, "num_results": limit}
        rows = (await context.ask("citation_candidates", asked, provider=CANDIDATES_SOURCE)).rows
    candidates = [one for one in (judge(words, row) for row in rows) if one["score"] >= LEAST]
    return sorted(candidates, key=lambda one: -one["score"])


def _refuse_key(query: str) -> None:
    if is_cite_key(query):
        advice = "doiget_info tells the stored work; words of the title or the authors find others"
        raise PaperFault("INVALID_REF", f"{query.strip()[:80]!r} is a cite key, which no index knows; {advice}.")


def words_of(text: str) -> list[str]:
    """The runs of letters and digits of a text in small letters, each once.

    A letter with an accent is one character, however it is written, and a ligature is its letters (Unicode NFKC).
    """
    return list(dict.fromkeys(_RUN.findall(normalize("NFKC", text).lower())))


def judge(words: Sequence[str], row: Mapping[str, Any]) -> dict[str, Any]:
    """A record as a candidate: which of the words it has in title, authors, venue or year, and how sure that makes."""
    authors = [str(author) for author in row.get("authors") or ()]
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
        "source": CANDIDATES_SOURCE,
    }
