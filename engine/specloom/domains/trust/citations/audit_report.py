"""An audit as a report to hand in: what was checked, by whom, what was found of each entry, and what was not checked.

The report's own words are of closed lists, numbers and days; titles, reasons and addresses are words of others, since
what they tell of may have been written by anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from specloom import __version__
from specloom.core import Answer, Fault, dataclass, field
from specloom.plugins import Context, JsonObject

from ..records import AuditEntry, AuditFlag, ClaimCheck, ReferenceAudit, Retraction
from ..reports.document import (
    Line,
    ReportBlock,
    ReportDocument,
    ReportFacts,
    ReportPart,
    ReportTable,
    Span,
    join,
    link,
    own,
    quote,
    to_code,
)
from ..sources.links import LinkCheck
from .correction import CorrectedEntry, to_corrected_bibtex
from .work import Work

FLAGS: Final[Mapping[AuditFlag, tuple[str, str]]] = {
    "retracted": ("Retracted", "a retraction, withdrawal or removal is on record"),
    "not_found": ("Not found", "somebody who would know was asked and has nothing of the kind"),
    "title_mismatch": ("Another title", "the identifier is that of a work with another title"),
    "mischaracterized": ("Claim not in its source", "the source was read and has nothing of the claim"),
    "dead_link": ("Dead link", "the address was asked and does not lead to the page"),
    "unchecked": (
        "Not checked",
        "it, or something of it, could not be looked at, which is no sign against it",
    ),
}
"""What each flag is called and what it means, the gravest first."""
REMARK, FINE = "Remark", "No finding"
_GRAVE = frozenset(("retracted", "not_found", "title_mismatch", "mischaracterized"))
STATUS = {
    "confirmed": "confirmed",
    "not_found": "not found",
    "uncertain": "uncertain: a record is like it",
    "unchecked": "nobody could say",
}
_SUPPORT = {
    "addressed": "addressed by its source",
    "partially_addressed": "addressed in part by its source",
    "not_addressed": "not addressed by its source",
    "source_unavailable": "its source could not be read",
}
_ASKED = {
    "works": "records of DOIs",
    "work": "the record of a DOI",
    "notices": "notices of retraction",
    "handles": "whether a DOI is registered",
    "scholarly": "works by their titles",
    "snapshots": "archived copies",
    "article": "articles by their numbers",
    "book": "books by their ISBN",
    "patent_record": "patents by their numbers",
    "trials": "trials by their numbers",
    "cases": "decisions of courts",
}
DIGESTED = "of its text in UTF-8, without blanks and line ends before and after it; of entries and sessions, as JSON"
LEAD = (
    "What follows is evidence to be looked at, and no verdict. Words on a ground of their own, such as",
    "these",
    ", come from the list itself, from registers or from pages. They are quoted as they came and are no statement of "
    "this report; its findings stand in headings and in the table of findings.",
)


@dataclass(slots=True)
class RegisterOutcome:
    """What came of the questions to one register: how many, how many had an answer with rows, and why others failed."""

    questions: int = 0
    answered: int = 0
    failed: list[str] = field(default_factory=list)


class RegisterLog:
    """Whom an audit asked for what, and what came of it: a proxy of the context of its call."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.outcomes: dict[tuple[str, str], RegisterOutcome] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    @property
    def context(self) -> Context:
        """The context that keeps this log."""
        return cast("Context", self)

    async def ask(
        self, operation: str, arguments: Mapping[str, Any], *, provider: str = "", resumes: bool = False
    ) -> Answer:
        """What the context gives, which is written down."""
        name = provider or " or ".join(self._context.offering(operation))
        outcome = self.outcomes.setdefault((operation, name), RegisterOutcome())
        outcome.questions += 1
        try:
            answer = await self._context.ask(operation, arguments, provider=provider, resumes=resumes)
        except Fault as fault:
            if fault.kind != "not_found":
                outcome.failed.append(fault.kind)
            raise
        outcome.answered += bool(answer.rows)
        return answer


@dataclass(frozen=True, slots=True)
class AuditInput:
    """What was handed in: in which words, its SHA-256, and where it lies ("" where it was handed in itself)."""

    named: str
    digest: str
    address: str = ""


def to_report(
    audit: ReferenceAudit,
    records: Mapping[int, Work],
    links: Sequence[LinkCheck],
    asked: Mapping[tuple[str, str], RegisterOutcome],
    given: AuditInput,
    corrected: Mapping[int, CorrectedEntry],
) -> ReportDocument:
    """The report of an audit; `records` are the certain ones of entries by their index, `links` what was looked at.

    `corrected` are the entries by their index with the values of these records.
    """
    grave = sorted((entry for entry in audit.entries if _label(entry) != FINE), key=_gravity)
    fine = [entry for entry in audit.entries if _label(entry) == FINE]
    parts = [
        ReportPart("What was checked", (_to_facts(audit, given),)),
        ReportPart("Findings", (_to_findings(audit),)),
        ReportPart("What was not checked", _to_unchecked(audit)),
        ReportPart("Who was asked", to_asked(asked, links)),
        ReportPart("Entries with a finding", () if grave else ((own("None."),),)),
        *[_to_part(entry, records.get(entry.index)) for entry in grave],
        ReportPart("Entries without a finding", () if fine else ((own("None."),),)),
        *[_to_part(entry, records.get(entry.index)) for entry in fine],
        ReportPart("The bibliography with the values of its records", _to_corrections(corrected)),
    ]
    lead: tuple[Line, ...] = ((own(_summarise(audit)),), (own(f"{LEAD[0]} "), quote(LEAD[1]), own(LEAD[2])))
    return ReportDocument("Audit of a bibliography", lead, tuple(parts), f"specloom {__version__}, {audit.checked_at}")


CORRECTED = (
    "Only an entry whose record is sure is changed: fields that differ are replaced, and what it lacked is filled in. "
    "An entry is as it was handed in where its title is not surely that of its record, and where it has no title and "
    "anything else of it differs. Comments name each change."
)


def _to_corrections(corrected: Mapping[int, CorrectedEntry]) -> tuple[ReportBlock, ...]:
    entries = [(index + 1, corrected[index]) for index in sorted(corrected)]
    rows = [
        (
            (own(f"Entry {number}"),),
            (own(change.name),),
            (quote(change.was),) if change.was else (),
            (quote(change.now),),
        )
        for number, one in entries
        for change in one.changes
    ]
    changes: tuple[ReportBlock, ...] = (
        (ReportTable("What was changed", ("Entry", "Field", "Was", "Is"), tuple(rows)),) if rows else ()
    )
    none: tuple[ReportBlock, ...] = () if rows else ((own("Nothing had to be changed."),),)
    code = (to_code(to_corrected_bibtex(entries), "bibtex"),) if entries else ()
    return ((own(CORRECTED),), *none, *changes, *code)


def _label(entry: AuditEntry) -> str:
    labels = [label for flag, (label, _) in FLAGS.items() if flag in entry.flags]
    return ", ".join(labels) or (REMARK if entry.reason else FINE)


def _gravity(entry: AuditEntry) -> tuple[int, int]:
    order = list(FLAGS)
    return min((order.index(flag) for flag in entry.flags), default=len(order)), entry.index


def _number(entry: AuditEntry) -> str:
    return str(entry.index + 1)


def _summarise(audit: ReferenceAudit) -> str:
    counts = [(label, sum(flag in entry.flags for entry in audit.entries)) for flag, (label, _) in FLAGS.items()]
    found = [f"{label.lower()} {count}" for label, count in counts if count]
    lost = f"; {len(audit.unreadable)} could not be read" if audit.unreadable else ""
    skipped = f"; {audit.skipped} were left out" if audit.skipped else ""
    told = ", ".join([*found, f"without a flag {audit.summary.ok}"])
    return f"{audit.entry_count} entries were checked on {audit.checked_at}: {told}{lost}{skipped}."


def _to_facts(audit: ReferenceAudit, given: AuditInput) -> ReportFacts:
    claimed = sum(entry.claim_check.claim is not None for entry in audit.entries if entry.claim_check)
    rows: list[tuple[str, tuple[Line, ...]]] = [("Input", (join([own(given.named), link(given.address)]),))]
    rows += [
        ("SHA-256 of the input", ((own(given.digest),), (own(DIGESTED),))),
        ("Checked", ((own(f"{audit.checked_at} (UTC)"),),)),
        ("Checked by", ((own(f"specloom {__version__}"),),)),
        ("Entries", ((own(_count(audit)),),)),
        (
            "Checks",
            (
                (own("existence, by registers and indexes"),),
                (own("notices of retraction"),),
                (own("title, authors, year, venue, volume, issue and pages against the record"),),
                (own("whether the address answers"),),
                (own(f"claims against their sources: {claimed} of {audit.entry_count} entries had one"),),
            ),
        ),
    ]
    return ReportFacts(tuple(rows))


def _count(audit: ReferenceAudit) -> str:
    lost = len(audit.unreadable or ())
    return f"{audit.entry_count} checked, {lost} not readable, {audit.skipped or 0} left out"


def _to_findings(audit: ReferenceAudit) -> ReportTable:
    def to_row(label: str, meaning: str, entries: Iterable[AuditEntry]) -> tuple[Line, ...]:
        numbers = [_number(entry) for entry in entries]
        listed = ", ".join(numbers) if label != FINE else ""
        return (own(label),), (own(len(numbers)),), (own(listed),), (own(meaning),)

    rows = [
        to_row(label, meaning, [entry for entry in audit.entries if flag in entry.flags])
        for flag, (label, meaning) in FLAGS.items()
    ]
    plain = [entry for entry in audit.entries if not entry.flags]
    rows.append(to_row(REMARK, "no flag, and something to be said of it", [one for one in plain if one.reason]))
    rows.append(to_row(FINE, "looked at and fine", [one for one in plain if not one.reason]))
    return ReportTable("Findings by kind", ("Finding", "Count", "Entries", "What it means"), tuple(rows))


def _to_unchecked(audit: ReferenceAudit) -> tuple[Line | ReportTable, ...]:
    rows: list[tuple[Line, ...]] = []
    for entry in audit.entries:
        number = (own(f"Entry {_number(entry)}"),)
        rows += [(number, (own(gap["what"]),), (quote(gap["reason"]),)) for gap in entry.not_checked or ()]
        status = entry.link
        if status is not None and status.link_live is None and status.link_reason and entry.url and not entry.doi:
            rows.append((number, (own("address"),), (quote(status.link_reason),)))
        check = entry.claim_check
        if check is not None and check.claim_support == "source_unavailable":
            rows.append((number, (own("claim"),), (quote(check.claim_fetch_error or check.claim_reason),)))
    rows += [
        ((own(f"Entry {one.index + 1}"),), (own(f"could not be read, line {one.line}"),), (quote(one.message),))
        for one in audit.unreadable or ()
    ]
    if audit.skipped_note:
        rows.append(((own(f"{audit.skipped or 0} entries"),), (own("left out"),), (own(audit.skipped_note),)))
    if not rows:
        return ((own("Everything that is listed above was checked for every entry."),),)
    return (ReportTable("By entry", ("Entry", "What", "Why"), tuple(rows)),)


def to_asked(
    asked: Mapping[tuple[str, str], RegisterOutcome], links: Sequence[LinkCheck]
) -> tuple[Line | ReportTable, ...]:
    """Whom the check asked for what, and what came of it."""
    rows: list[tuple[Line, ...]] = []
    for (operation, name), outcome in asked.items():
        failed = {kind: outcome.failed.count(kind) for kind in outcome.failed}
        told = ", ".join(f"{kind} ({count})" for kind, count in failed.items())
        empty = outcome.questions - outcome.answered - len(outcome.failed)
        counts = (outcome.questions, outcome.answered, empty)
        rows.append(
            ((own(name),), (own(_ASKED.get(operation, operation)),), *[(own(one),) for one in counts], (own(told),))
        )
    if links:
        live, dead = sum(one.live is True for one in links), sum(one.live is False for one in links)
        left = len(links) - live - dead
        told = f"dead ({dead})" + (f", not asked ({left})" if left else "")
        pages = [(own(one),) for one in (len(links), live, "")]
        rows.append(((own("the servers of the addresses"),), (own("whether they answer"),), *pages, (own(told),)))
    if not rows:
        return ((own("Nobody."),),)
    head = ("Register", "Asked for", "Questions", "Answered", "Had nothing", "No answer")
    return (ReportTable("Registers and what came of the questions", head, tuple(rows)),)


def _to_part(entry: AuditEntry, record: Work | None) -> ReportPart:
    label = _label(entry)
    mark = "grave" if _GRAVE & {*entry.flags} else "fine" if label == FINE else "doubt"
    blocks: list[Line | ReportFacts | ReportTable] = [ReportFacts(tuple(_find_facts(entry, record)))]
    compared = [to_compared_row(one) for one in entry.comparison or ()]
    if compared:
        head = ("Field", "Verdict", "Given", "Recorded", "Why")
        blocks.append(ReportTable("The entry against its record", head, tuple(compared)))
    return ReportPart(f"Entry {_number(entry)}: {label}", tuple(blocks), 3, mark)


def to_compared_row(one: JsonObject) -> tuple[Line, ...]:
    """A comparison of one field as a row: field, verdict, what was given and is recorded, and why."""
    verdict = str(one["verdict"]).replace("_", " ")
    texts = [(quote(one[name]),) for name in ("supplied", "recorded", "reason")]
    return (own(one["field"]),), (own(verdict),), *texts


def _find_facts(entry: AuditEntry, record: Work | None) -> Iterable[tuple[str, tuple[Line, ...]]]:
    """What is told of an entry, label by label; what is not known is left out."""
    yield "As given", ((quote(entry.title or entry.doi or entry.url or "–"),),)
    place = [own(f"line {entry.line}")] if entry.line is not None else []
    place += [own("key"), quote(entry.cite_key)] if entry.cite_key else []
    if place:
        yield "In the document", (join(place, " "),)
    if entry.url or entry.doi:
        doi = [own("DOI"), quote(entry.doi)] if entry.doi else []
        yield "Address", tuple(filter(None, (join(doi, " "), (link(entry.url),) if entry.url else ())))
    yield "Existence", ((own(STATUS[entry.verification_status]),),)
    if entry.reason:
        yield "Why", ((quote(entry.reason),),)
    if record is not None:
        doi = [own("DOI"), link(f"https://doi.org/{record.doi}")] if record.doi else []
        where = [] if record.doi or not record.row.get("url") else [link(record.row["url"])]
        origin = join([own(f"register {record.provider}"), *doi, *where], " ")
        yield "Record", tuple(filter(None, ((quote(record.title),) if record.title else (), origin)))
    notice = entry.retraction_status
    if notice is not None:
        yield "Notice", to_notice(notice)
    near = entry.possible_match
    if near is not None:
        parts = [quote(near.get("title")), quote(near.get("year")), quote(near.get("doi")), own(near.get("source", ""))]
        yield "Perhaps meant", (join(parts),)
    yield from _find_link_facts(entry)
    yield from find_claim_facts(entry.claim_check)
    if entry.provenance:
        yield "Rests on", tuple((quote(line),) for line in entry.provenance)


def to_notice(notice: Retraction) -> tuple[Line, ...]:
    """A notice about a work: what it is, of when and by whom, and its DOI."""
    named = str(notice.nature or notice.kind or "notice").replace("_", " ")
    spans = [quote(named), quote(notice.date), own("listed by"), quote(notice.source)]
    more = [own("notice"), quote(notice.notice_doi)] if notice.notice_doi else []
    more += [own("replaced by"), quote(notice.replaced_by)] if notice.replaced_by else []
    return tuple(filter(None, (join(spans, " "), join(more, " "))))


def _find_link_facts(entry: AuditEntry) -> Iterable[tuple[str, tuple[Line, ...]]]:
    status = entry.link
    if status is None or status.link_live is None:
        return
    answer = own("it answers" if status.link_live else "dead")
    code = own(f"status {status.http_status}") if status.http_status else own("")
    yield "Link", (join([answer, code, quote(status.link_reason)]),)
    if status.archived_url:
        yield "Archived copy", (join([link(status.archived_url), quote(status.archived_at)]),)


def find_claim_facts(check: ClaimCheck | None) -> Iterable[tuple[str, tuple[Line, ...]]]:
    """What is told of a claim and its source, label by label; nothing where there was no claim."""
    if check is None or not check.claim:
        return
    yield "Claim", ((quote(check.claim),),)
    support = _SUPPORT.get(check.claim_support or "", "not held against its source")
    coverage = own(f"coverage {check.claim_coverage}") if check.claim_coverage is not None else own("")
    yield (
        "Claim and source",
        tuple(
            filter(None, (join([own(support), coverage]), (quote(check.claim_reason),) if check.claim_reason else ()))
        ),
    )
    if check.claim_source_url:
        yield "Source read", ((link(check.claim_source_url),),)
    if check.claim_evidence:
        yield "What the source says", tuple((quote(line),) for line in check.claim_evidence)
    for label, cues in (
        ("May speak against it", check.contrast_cues),
        ("May have changed its source", check.distortion_cues),
    ):
        if cues:
            yield label, tuple(_to_cue(cue) for cue in cues)
    if check.quote_found is False:
        yield "Quotation", ((own("the words in quotation marks are not in the source"),),)


def _to_cue(cue: JsonObject) -> Line:
    sides = [(own(name), quote(cue[name])) for name in ("claimed", "found") if cue.get(name)]
    spans: list[Span] = [own(str(cue.get("kind", ""))), *[span for side in sides for span in side]]
    return join([*spans, own("in"), quote(cue.get("sentence"))], " ")
