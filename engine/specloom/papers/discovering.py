"""What an index of works knows beyond one record: which works there are for some words, and the preprint of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault

from . import pacing
from .codes import Refusal, from_fault
from .journal import Journal, open_journal
from .refs import Ref, parse_entry_ref

if TYPE_CHECKING:
    from specloom.desk import Desk
    from specloom.wire import Answer

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


async def paper_search(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Works for some words; AMBIGUOUS or NOT_FOUND where a name cannot be made out, for none is left out in silence."""
    journal = open_journal(desk)
    with journal.session():
        asked = {theirs: given.get(ours) for ours, theirs in _BOUNDS.items()}
        asked |= {"query": given["query"], "open_access": given.get("oa_only") or None}
        for kind in KINDS:
            name = str(given.get(kind) or "").strip()
            if name:
                asked[f"{kind}_id"] = await _identify(desk, journal, kind, name)
        answer = await _ask(desk, journal, None, "discovery", asked)
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


async def link(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arXiv preprint that belongs to a DOI, null where none is known; NOT_FOUND where the work is not."""
    ref = parse_entry_ref(given["ref"])
    if ref.kind != "doi":
        raise Refusal("INVALID_REF", f"{given['ref']!r} is no DOI, and preprints are looked up by DOI only.")
    journal = open_journal(desk)
    with journal.session(ref):
        rows = (await _ask(desk, journal, ref, "preprint_of", {"doi": ref.value})).rows
        if not rows:
            raise Refusal("NOT_FOUND", _absent(ref))
    row = rows[0]
    return {"doi": ref.value, "arxiv": row.get("arxiv_id"), "openalex_id": row["id"], "title": row.get("title")}


async def _ask(desk: Desk, journal: Journal, ref: Ref | None, capability: str, arguments: Mapping[str, Any]) -> Answer:
    """The answer of the index, written down."""
    try:
        async with pacing.turn(SOURCE, live=desk.is_live):
            answer = await desk.ask(capability, arguments, provider=PROVIDER)
    except Fault as fault:
        refusal = from_fault(fault, absent=_absent(ref) if ref else "")
        journal.asked(ref, SOURCE, refusal=refusal, event="resolve")
        raise refusal from None
    journal.asked(ref, SOURCE, event="resolve")
    return answer


def _absent(ref: Ref) -> str:
    return f"{SOURCE} has no record of {ref.value}."


async def _identify(desk: Desk, journal: Journal, kind: str, name: str) -> str:
    """The identifier of whoever a name means; what is an identifier already is taken as it is."""
    if name[0].upper() == KINDS[kind] and name[1:].isascii() and name[1:].isdigit():
        return name.upper()
    asked = {"kind": kind, "name": name, "num_results": CANDIDATES}
    return choose(kind, name, (await _ask(desk, journal, None, "authorities", asked)).rows)


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
