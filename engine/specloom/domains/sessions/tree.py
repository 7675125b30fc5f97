"""The steps of a session as a tree: branches below the step that they leave, revisions below what they revise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from specloom.core import dataclass, field
from specloom.plugins.records import record

from .session import SessionSource, SessionStep, mark_superseded

DEEPEST = 8
"""Levels of the tree; what would stand deeper stands beside what it would stand below."""


@record
class StepNode:
    """A step in the tree: how it hangs on the one above it, what it has found, and what hangs on it."""

    step_number: int
    relation: str | None = None
    """`revision` or `branch`; None for a step of the main line."""
    branch_id: str | None = None
    superseded_by: int | None = None
    sources: Sequence[int] | None = None
    """The places of its sources in the list of the session, from 1."""
    steps: Sequence[StepNode] | None = None


@dataclass(slots=True)
class _Place:
    """A step with where it stands."""

    step: SessionStep
    relation: str | None = None
    above: _Place | None = None
    below: list[_Place] = field(default_factory=list)
    level: int = 1


def to_tree(steps: Sequence[SessionStep], sources: Sequence[SessionSource] = ()) -> list[StepNode]:
    """The main line of a session as it was told, each step with the branches that leave it and its revisions.

    Later steps of a branch stand beside its first. A step that names one that was not told before it is of the main
    line.
    """
    found, roots = find_sources_of_steps(sources), list[_Place]()
    by_number: dict[int, _Place] = {}
    branches: dict[str, _Place] = {}
    for step in mark_superseded(steps):
        place = _Place(step)
        above = by_number.get(step.revises or 0) if step.is_revision else None
        place.relation = "revision" if above else None
        if above is None and step.branch in branches:
            place.relation, above = "branch", branches[step.branch or ""].above
        elif above is None and step.branches_from in by_number:
            place.relation, above = "branch", by_number[step.branches_from or 0]
            if step.branch:
                branches[step.branch] = place
        while above is not None and above.level >= DEEPEST:
            above = above.above
        if above is None:
            roots.append(place)
        else:
            place.above, place.level = above, above.level + 1
            above.below.append(place)
        by_number[step.number] = place
    return [_to_node(place, found) for place in roots]


def _to_node(place: _Place, found: Mapping[int, Sequence[int]]) -> StepNode:
    step = place.step
    return StepNode(
        step_number=step.number,
        relation=place.relation,
        branch_id=step.branch,
        superseded_by=step.superseded_by,
        sources=found.get(step.number),
        steps=[_to_node(one, found) for one in place.below] or None,
    )


def walk(nodes: Sequence[StepNode], level: int = 1) -> Iterator[tuple[int, StepNode]]:
    """The nodes of a tree from above, each with its level."""
    for node in nodes:
        yield level, node
        yield from walk(node.steps or (), level + 1)


def has_turns(steps: Sequence[SessionStep]) -> bool:
    """Whether there is more than a main line."""
    return any(level > 1 for level, _ in walk(to_tree(steps)))


def find_sources_of_steps(sources: Sequence[SessionSource]) -> dict[int, list[int]]:
    """By the number of a step the places of its sources in their list, from 1."""
    found: dict[int, list[int]] = {}
    for place, source in enumerate(sources, 1):
        for step in dict.fromkeys((source.found_in, *(source.found_again_in or ()))):
            if step:
                found.setdefault(step, []).append(place)
    return found
