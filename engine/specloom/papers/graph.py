"""What a paper builds on, breadth first over the references that an index lists, within hard bounds."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault

from . import pacing
from .codes import Refusal, from_fault
from .journal import Journal, open_journal
from .refs import Ref

if TYPE_CHECKING:
    from specloom.desk import Desk

DEPTH, TOTAL, PER_PAPER = 3, 100, 20
"""The most of each, whatever is asked for."""

SOURCE = "openalex"


async def expand(desk: Desk, ref: Ref, *, depth: int, total: int, per_paper: int) -> dict[str, Any]:
    """Nodes and edges from the paper outwards; an edge points from the citing work to the cited one.

    A work that cannot be read is left unexpanded and `truncated` says so. The seed must be found.
    """
    depth, total, per_paper = min(depth, DEPTH), min(total, TOTAL), min(per_paper, PER_PAPER)
    journal = open_journal(desk)
    with journal.session(ref):
        return await _walk(desk, ref, journal, depth, total, per_paper)


async def _walk(desk: Desk, ref: Ref, journal: Journal, depth: int, total: int, per_paper: int) -> dict[str, Any]:
    seed = await _ask(desk, ref, journal, {"doi": ref.value})
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
                        found = await _ask(desk, ref, journal, {"id": other})
                        waiting.append((other, at + 1, list(found.get("references") or ())))
                    except Refusal as refusal:
                        if refusal.code == "LOG_ERROR":
                            raise
                        truncated = True
                desk.tell(len(nodes), total, other)
            edges[work, other] = None
    return {
        "seed_work_id": seed["id"],
        "nodes": [{"id": name, "depth": level} for name, level in nodes.items()],
        "edges": [{"from": start, "to": end} for start, end in edges],
        "truncated": truncated,
        "total_visited": len(nodes),
    }


async def _ask(desk: Desk, ref: Ref, journal: Journal, arguments: dict[str, str]) -> dict[str, Any]:
    refusal: Refusal | None = None
    rows: list[dict[str, Any]] = []
    absent = f"{SOURCE} has no record of {next(iter(arguments.values()))}."
    try:
        async with pacing.turn(SOURCE, live=desk.is_live):
            rows = (await desk.ask("references", arguments, provider=SOURCE)).rows
    except Fault as fault:
        refusal = from_fault(fault, absent=absent)
    if refusal is None and not rows:
        refusal = Refusal("NOT_FOUND", absent)
    journal.asked(ref, SOURCE, refusal=refusal, event="resolve")
    if refusal is not None:
        raise refusal
    return rows[0]
