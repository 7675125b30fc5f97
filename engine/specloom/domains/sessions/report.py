"""A session as a report to hand on, as a page (HTML) or for word processors (DOCX); Markdown has a template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from specloom import __version__
from specloom.domains.trust import (
    Line,
    ReportDocument,
    ReportFacts,
    ReportOutline,
    ReportPart,
    ReportTable,
    join,
    link,
    own,
    quote,
    quote_whole,
)

from .document import CheckedSource, SessionDocument, name_steps
from .session import Gap, SessionStep
from .tree import StepNode, find_sources_of_steps, walk

LEAD = (
    "Words on a ground of their own, such as",
    "these",
    ", were told by whoever did the research, or come from its sources. They are quoted as they came.",
)


def to_report(document: SessionDocument, *, exported_at: str) -> ReportDocument:
    """The report of a session: how it went, its steps, its questions and its sources."""
    found, steps = find_sources_of_steps(document.sources), {step.number: step for step in document.steps}
    outline = tuple((level, _to_line(node, steps[node.step_number])) for level, node in walk(document.tree))
    open_, settled = ([gap for gap in document.gaps if bool(gap.settled_in) is state] for state in (False, True))
    parts = [
        ReportPart("Research", (_to_facts(document),)),
        ReportPart("Course of the research", (ReportOutline(outline),) if outline else ((own("No step was told."),),)),
        ReportPart("Steps"),
        *[_to_part(step, found) for step in document.steps],
        ReportPart("Open questions", _to_questions(open_)),
        *([ReportPart("Settled questions", _to_questions(settled))] if settled else []),
        ReportPart("Sources", _to_sources(document)),
    ]
    lead: tuple[Line, ...] = ((own(f"{LEAD[0]} "), quote(LEAD[1]), own(LEAD[2])),)
    return ReportDocument("Research session", lead, tuple(parts), f"specloom {__version__}, {exported_at}")


def _to_facts(document: SessionDocument) -> ReportFacts:
    rows: list[tuple[str, tuple[Line, ...]]] = [("Goal", quote_whole(document.research_goal))]
    # What is made where no summary was told is the goal and the steps.
    rows += [("Summary", quote_whole(document.summary))] if not document.summary.startswith("Goal: ") else []
    ended = own(f"complete {document.completed_at}") if document.completed else own("open")
    return ReportFacts(
        (
            *rows,
            ("Session", ((quote(document.id),),)),
            ("Begun", (join([own(document.created_at), ended]),)),
            ("Steps", ((own(len(document.steps)),),)),
            ("Sources", ((own(len(document.sources)),),)),
        )
    )


def _to_line(node: StepNode, step: SessionStep) -> Line:
    how = {"revision": "revised by step", "branch": "branch, step"}.get(node.relation or "", "step")
    branch = [quote(node.branch_id)] if node.branch_id else []
    found = [own(f"sources {', '.join(map(str, node.sources))}")] if node.sources else []
    return join([own(f"{how} {node.step_number}"), *branch, quote(step.description[:120]), *found])


def _to_part(step: SessionStep, found: Mapping[int, Sequence[int]]) -> ReportPart:
    return ReportPart(f"Step {step.number}", (ReportFacts(tuple(_find_facts(step, found))),), 3)


def _find_facts(step: SessionStep, found: Mapping[int, Sequence[int]]) -> Iterable[tuple[str, tuple[Line, ...]]]:
    yield "What", quote_whole(step.description)
    if step.reasoning:
        yield "Why", quote_whole(step.reasoning)
    if step.confidence:
        yield "Confidence", ((quote(step.confidence),),)
    if step.rejected:
        yield "Not done", tuple(line for text in step.rejected for line in quote_whole(text))
    if step.is_revision and step.revises:
        yield "Revises", ((own(f"step {step.revises}"),),)
    if step.superseded_by:
        yield "Superseded by", ((own(f"step {step.superseded_by}"),),)
    if step.branch or step.branches_from:
        origin = own(f"from step {step.branches_from}" if step.branches_from else "")
        yield "Branch", (join([quote(step.branch), origin], " "),)
    if step.number in found:
        yield "Sources", ((own(", ".join(map(str, found[step.number]))),),)
    yield "Told", ((own(step.timestamp),),)


def _to_questions(gaps: Sequence[Gap]) -> tuple[Line | ReportTable, ...]:
    if not gaps:
        return ((own("None."),),)
    rows = [((quote(one.description),), (own(one.found_in or ""),), (own(one.settled_in or ""),)) for one in gaps]
    return (ReportTable("By question", ("Question", "Asked in step", "Settled in step"), tuple(rows)),)


def _to_sources(document: SessionDocument) -> tuple[Line | ReportTable, ...]:
    if not document.sources:
        return ((own("None were recorded."),),)
    rows = [_to_row(place, source) for place, source in enumerate(document.sources, 1)]
    head = ("Number", "Title", "By whom, where, when", "Address", "Found in", "State")
    blocks: list[Line | ReportTable] = [ReportTable("In the order in which they were found", head, tuple(rows))]
    if document.sources_not_kept:
        blocks.append((own(f"{document.sources_not_kept} more were found and not kept."),))
    return tuple(blocks)


def _to_row(place: int, source: CheckedSource) -> tuple[Line, ...]:
    doi = [own("DOI"), quote(source.doi)] if source.doi else []
    address = join([link(source.url), *doi], " ")
    state: Line = ()
    if source.link is not None and source.link.verified is not None:
        copy = [own("copy"), link(source.link.archived_url)] if source.link.archived_url else []
        state = join([own("live" if source.link.verified else "dead"), *copy], " ")
    told = join([quote(source.author), quote(source.site), quote(source.date)])
    steps = own(name_steps(source) if source.found_in else "")
    return (own(place),), (quote(source.title),), told, address, (steps,), state
