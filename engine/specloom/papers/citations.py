"""Which registered work a citation in words means: candidates by the share of its words that their records have."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from . import pacing
from .codes import Refusal, to_refusal

if TYPE_CHECKING:
    from specloom.desk import Desk

SOURCE = "crossref"
CITATIONS = 50
"""The most citations of one call."""
LONGEST = 2000
"""Characters of a citation, which has to fit into an address."""
AT_ONCE = 5
"""Citations that are looked for at a time."""

LEAST, PROBABLE, EXACT = 0.5, 0.8, 0.999
"""Shares of found words: below the first no candidate is told, the others part weak, probable and exact."""

_RUN = re.compile(r"[^\W_]+")


async def resolve_citation(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """The candidates for one citation, the likeliest first."""
    return {"query": given["query"], "candidates": await _find(desk, str(given["query"]), int(given["limit"]))}


async def batch_resolve_citations(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
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
                row: dict[str, Any] = {"query": query, "candidates": await _find(desk, query, limit)}
            except Exception as error:  # noqa: BLE001 - what fails for one changes nothing for the others
                row = {"query": query, "error": to_refusal(error).to_json()}
        done += 1
        desk.tell(done, len(different), f"citations: {done} of {len(different)} looked for")
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
        "source": SOURCE,
    }


async def _find(desk: Desk, query: str, limit: int) -> list[dict[str, Any]]:
    words = words_of(query)
    if not words:
        raise Refusal("INVALID_REF", "A citation needs words: give authors, title, journal or year as one text.")
    if len(query) > LONGEST:
        raise Refusal("INVALID_REF", f"A citation has {len(query)} characters, and {LONGEST} are taken at most.")
    if not limit:
        return []
    async with pacing.turn(SOURCE, live=desk.is_live):
        asked = {"query": query, "num_results": limit}
        rows = (await desk.ask("citation_candidates", asked, provider=SOURCE)).rows
    found = [one for one in (judge(words, row) for row in rows) if one["score"] >= LEAST]
    return sorted(found, key=lambda one: -one["score"])
