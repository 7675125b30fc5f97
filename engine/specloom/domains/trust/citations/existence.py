"""Registries and indexes of works, asked in turn: who could not be asked is never taken for a no."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from specloom.core import Answer, Fault, dataclass
from specloom.domains.text import Identifier, find_identifiers, find_parties, terms, to_arxiv_doi, to_doi
from specloom.plugins import Context

from ..records import Retraction
from .aside import run_aside
from .match import DECISION, Confidence, Match, match_reference
from .notices import NoticeSource, judge_notices, merge
from .reference import Reference
from .retraction_list import SETTING, load_list
from .titles import is_called_retracted
from .work import Work, is_heavy, to_listed, to_work

State = Literal["found", "absent", "unknown"]
BATCH = 100
"""DOIs of one question for several works; each provider parts them further as its API wants it."""
AT_ONCE = 5
"""Questions about single DOIs that are under way at a time."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a work: whether it exists, its record where a registry gave one, and who was asked with what.

    `absent` means that somebody who would know was asked and has nothing of the kind; `unknown` that nobody could say.
    `reason` says in words why it is one of those, and `near` is a record that is like it. `sources` are what others
    than its registry list of notices, and `silent` names those who list notices and could not be asked.
    """

    state: State
    work: Work | None = None
    trail: tuple[str, ...] = ()
    doi: str = ""
    reason: str = ""
    near: Work | None = None
    sources: tuple[NoticeSource, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def listed(self) -> tuple[NoticeSource, ...]:
        """Everybody who knows of the work's notices, its own registry first; () where nobody does."""
        own = (self.work.listed,) if self.work is not None and self.work.listed is not None else ()
        return merge((*own, *self.sources))

    @property
    def notice(self) -> Retraction | None:
        """The most severe notice about the work; None when there is none or nobody knows."""
        return judge_notices(self.listed)


# --- notices: what is listed beside the registry's own record ---


@dataclass(frozen=True, slots=True)
class NoticeSearch:
    """What second sources list about works, by DOI, and the names of those that could not be asked."""

    by_doi: Mapping[str, tuple[NoticeSource, ...]]
    silent: tuple[str, ...] = ()

    def attach(self, standing: Standing) -> Standing:
        """A standing with what the second sources list about its work."""
        doi = standing.doi or (standing.work.doi if standing.work is not None else "")
        if standing.state != "found":
            return standing
        sources = self.by_doi.get(doi, ())
        lines = [f"retraction: {each.source} {_tell_listed(each)}" for each in sources]
        return replace(
            standing, trail=(*standing.trail, *lines), sources=sources, silent=(*standing.silent, *self.silent)
        )


async def find_notices(context: Context, dois: Iterable[str]) -> NoticeSearch:
    """What second sources list about works: those that can be asked, and the list that is kept as a file."""
    wanted = list(dict.fromkeys(filter(None, dois)))
    listed: dict[str, list[NoticeSource]] = {}
    silent: list[str] = []
    plain = [doi for doi in wanted if '"' not in doi]
    parts = [plain[at : at + BATCH] for at in range(0, len(plain), BATCH)]
    for provider in context.offering("notices"):
        answers = await asyncio.gather(*[_ask(context, "notices", {"dois": part}, provider) for part in parts])
        for answer in answers:
            if isinstance(answer, Fault):
                silent += [] if answer.kind == "not_found" or provider in silent else [provider]
                continue
            for row in answer.rows:
                if (doi := to_doi(str(row.get("doi") or ""))) and (source := to_listed(row, provider)) is not None:
                    listed.setdefault(doi, []).append(source)
    if path := context.config.get(SETTING):
        retractions = load_list(str(path))
        for doi in wanted:
            if (source := retractions.find(doi)) is not None:
                listed.setdefault(doi, []).append(source)
    return NoticeSearch({doi: merge(sources) for doi, sources in listed.items()}, tuple(silent))


async def find_by_doi(context: Context, doi: str) -> Standing:
    """The standing of one DOI in its normal form: every registry in the route, then the handle system of all DOIs."""
    standing, notices = await asyncio.gather(_find_by_doi(context, doi), find_notices(context, [doi]))
    return notices.attach(standing)


async def _find_by_doi(context: Context, doi: str) -> Standing:
    trail: list[str] = []
    silent: list[str] = []
    for provider in context.offering("work"):
        answer = await _ask(context, "work", {"doi": doi}, provider)
        if standing := _judge_answer(answer, provider, doi, trail):
            return replace(standing, silent=tuple(silent))
        silent += [provider] if _is_silent(answer) else []
    return replace(await _ask_registry(context, doi, trail), silent=tuple(silent))


def _is_silent(answer: Answer | Fault) -> bool:
    """Whether a registry could not say anything."""
    return isinstance(answer, Fault) and answer.kind != "not_found"


async def find_by_dois(context: Context, dois: Iterable[str]) -> dict[str, Standing]:
    """The standing of many DOIs: each registry is asked for many in one request, and the handle system for the rest."""
    wanted = list(dict.fromkeys(dois))
    standings, notices = await asyncio.gather(_find_by_dois(context, wanted), find_notices(context, wanted))
    return {doi: notices.attach(standing) for doi, standing in standings.items()}


async def _find_by_dois(context: Context, dois: Iterable[str]) -> dict[str, Standing]:
    left = list(dois)
    standings: dict[str, Standing] = {}
    silent: dict[str, list[str]] = {doi: [] for doi in left}
    trails: dict[str, list[str]] = {doi: [] for doi in left}
    for provider in context.offering("works"):
        # A comma parts the items of such a question, so the few DOIs that have one are asked for alone.
        plain = [doi for doi in left if "," not in doi and '"' not in doi]
        parts = [plain[at : at + BATCH] for at in range(0, len(plain), BATCH)]
        answers = await asyncio.gather(*[_ask(context, "works", {"dois": part}, provider) for part in parts])
        for part, answer in zip(parts, answers, strict=True):
            for doi in part:
                if standing := _judge_answer(answer, provider, doi, trails[doi]):
                    standings[doi] = replace(standing, silent=tuple(silent[doi]))
                elif _is_silent(answer):
                    silent[doi].append(provider)
        left = [doi for doi in left if doi not in standings]
    turns = asyncio.Semaphore(AT_ONCE)

    async def ask_alone(doi: str) -> Standing:
        async with turns:
            if not trails[doi]:
                return await _find_by_doi(context, doi)
            return replace(await _ask_registry(context, doi, trails[doi]), silent=tuple(silent[doi]))

    others = await asyncio.gather(*[ask_alone(doi) for doi in left])
    return standings | dict(zip(left, others, strict=True))


async def _ask(context: Context, capability: str, arguments: Mapping[str, Any], provider: str) -> Answer | Fault:
    try:
        return await context.ask(capability, arguments, provider=provider)
    except Fault as fault:
        return fault


def _judge_answer(answer: Answer | Fault, provider: str, doi: str, trail: list[str]) -> Standing | None:
    """The standing of a DOI of which a registry has a record; None where it has none, which the trail then says.

    That is the record whose DOI equals the one that was asked for, never a neighbour.
    """
    if isinstance(answer, Fault):
        trail.append(tell_fault(provider, answer, f"no record of {doi}"))
        return None
    row = next((row for row in answer.rows if to_doi(str(row.get("doi") or "")) == doi), None)
    if row is None:
        trail.append(f"existence: {provider} has no record of {doi}")
        return None
    work = to_work(row, provider)
    lines = (*trail, f"existence: {provider} has a record of exactly {doi}", _tell_notices(work))
    return Standing("found", work, lines, doi)


async def _ask_registry(context: Context, doi: str, trail: list[str]) -> Standing:
    """What the handle system says: registered or not, or nothing when it cannot be asked."""
    try:
        answer = await context.ask("handles", {"doi": doi})
    except Fault as fault:
        line = f"existence: the registry of all DOIs could not be asked ({_short(fault)}), so nobody can say"
        reason = f"nobody could say whether {doi} is registered"
        return Standing("unknown", None, (*trail, line), doi, reason)
    if any(to_doi(str(row["doi"])) == doi for row in answer.rows):
        return Standing("found", None, (*trail, f"existence: {doi} is registered; nobody asked has its record"), doi)
    reason = f"{doi} is not registered with any agency"
    return Standing("absent", None, (*trail, f"existence: {reason}"), doi, reason)


# --- telling ---


def _tell_notices(work: Work) -> str:
    if work.listed is None:
        return f"retraction: {work.provider} does not list notices, so nothing is known"
    if not work.listed.notices and is_called_retracted(work.title):
        return f"retraction: {work.provider} lists no notice, but the recorded title says that it was retracted"
    return f"retraction: {work.provider} {_tell_listed(work.listed)}"


def _tell_listed(source: NoticeSource) -> str:
    notice = judge_notices((source,))
    return f"lists a notice ({notice.nature or notice.kind})" if notice is not None else "lists no notice"


def tell_fault(provider: str, fault: Fault, absent: str) -> str:
    """The line of a trail for a provider that raised a fault; `absent` says what it then has."""
    if fault.kind == "not_found":
        return f"existence: {provider} has {absent}"
    return f"existence: {provider} could not be asked ({_short(fault)})"


def _short(fault: Fault) -> str:
    return f"{fault.kind}: {fault.message}"[:200]


# --- Whether what an identifier other than a DOI names exists: who is asked for it, and who of them may say no --------
# A register that lists everything of its kind may say that it has nothing of the name. What is not in a catalogue that
# lists much but not all stays open, with the reason. What breaks the rules of its own kind names nothing.


_BY_NAME = 10
"""Cases that are looked through when a citation is looked for by the parties' names."""
_PARALLEL = 3
"""Parallel citations of a case that are looked up where the first one is not known."""


@dataclass(frozen=True, slots=True)
class _Register:
    """Who is asked for a kind of identifier: the capability, what one thing is called, and whether all are listed."""

    capability: str
    noun: str
    complete: bool = False


_REGISTERS: Mapping[str, _Register] = {
    # Europe PMC takes in all of PubMed and PubMed Central, ClinicalTrials.gov gives the NCT numbers itself.
    "pmid": _Register("article", "article of PubMed", complete=True),
    "pmcid": _Register("article", "article of PubMed Central", complete=True),
    "nct": _Register("trials", "trial", complete=True),
    "isbn": _Register("book", "book"),
    "patent": _Register("patent_record", "patent"),
    "case": _Register("cases", "decision"),
}


_KINDS = {"isbn": "book", "case": DECISION}
"""What the works of a register are, where their records do not say."""


async def find_identified(context: Context, identifier: Identifier, text: str = "") -> Standing | None:
    """The standing of the work that an identifier names; None for kinds that name no work (addresses, people).

    `text` is the citation around it, in which a court's case has its name.
    """
    value = identifier.value
    if identifier.flaw:
        return Standing("absent", None, (f"identifier: {identifier.flaw}",), reason=identifier.flaw)
    match identifier.kind:
        case "doi":
            return await find_by_doi(context, value)
        case "arxiv":
            return await find_by_doi(context, to_arxiv_doi(value))
        case "rfc":
            # The RFC Editor registers a DOI for every RFC: https://www.rfc-editor.org/rfc/rfc7669
            return await find_by_doi(context, f"10.17487/rfc{int(value):04}")
        case "pmid" | "pmcid":
            return await _find_article(context, identifier)
        case "isbn":
            return await _look_up(context, "isbn", {"isbn": value}, f"ISBN {value}")
        case "patent":
            return await _look_up(context, "patent", {"number": value}, f"patent {value}")
        case "nct":
            return await _look_up(context, "nct", {"query": value}, value, ("nct_id",))
        case "case":
            return await _find_case(context, value, text)
        case _:
            return None


async def _find_article(context: Context, identifier: Identifier) -> Standing:
    label = f"{identifier.kind.upper()} {identifier.value}"
    standing = await _look_up(context, identifier.kind, {identifier.kind: identifier.value}, label)
    if standing.work is None or not standing.work.doi:
        return standing
    # The record of its DOI knows of notices, that of the index may still know of a retraction.
    own = await find_by_doi(context, standing.work.doi)
    trail = (*standing.trail, *own.trail)
    listed = (standing.work.listed,) if standing.work.listed is not None else ()
    sources = merge((*own.sources, *listed))
    if own.work is None:
        return replace(standing, trail=trail, doi=standing.work.doi, sources=sources, silent=own.silent)
    return replace(own, trail=trail, sources=sources)


async def _find_case(context: Context, value: str, text: str) -> Standing:
    """A decision by its citation, else by the names of its parties: many have several citations."""
    if value.startswith(("[", "ECLI")):
        reason = f"{value} is of a court whose decisions nobody lists who can be asked here"
        return Standing("unknown", None, (f"existence: {reason}",), reason=reason)
    fields = ("citation", "citations")
    standing = await _look_up(context, "case", {"citation": value, "num_results": _BY_NAME}, value, fields)
    # The same decision in other reporters, which stand side by side.
    parallel = [each.value for each in find_identifiers(text) if each.kind == "case" and each.value != value]
    for other in parallel[:_PARALLEL]:
        if standing.state == "found":
            return standing
        known = await _look_up(context, "case", {"citation": other, "num_results": _BY_NAME}, other, fields)
        trail = (*standing.trail, *known.trail)
        standing = replace(known if known.state == "found" else standing, trail=trail)
    parties = find_parties(text)
    if standing.state == "found" or not parties:
        return standing
    named = await _look_up(context, "case", {"query": parties, "num_results": _BY_NAME}, value, fields)
    trail = (*standing.trail, *named.trail)
    return replace(named, trail=trail, reason="" if named.state == "found" else standing.reason)


async def _look_up(
    context: Context, kind: str, arguments: Mapping[str, Any], label: str, fields: tuple[str, ...] = ()
) -> Standing:
    """What has an identifier: the one record that is asked for, or the result of a search that has it in its `fields`.

    The first of the other results of a search is told as near.
    """
    register = _REGISTERS[kind]
    trail: list[str] = []
    answered: list[str] = []
    near = None
    lack = f"nothing under {label}" if fields else f"no record of {label}"
    for provider in context.offering(register.capability):
        answer = await _ask(context, register.capability, arguments, provider)
        if isinstance(answer, Fault):
            trail.append(tell_fault(provider, answer, lack))
            if answer.kind == "not_found" and not fields:
                answered.append(provider)
            continue
        rows = [_describe(row) for row in answer.rows] if fields else answer.rows
        row = next((row for row in rows if not fields or any(_has(row.get(field), label) for field in fields)), None)
        if row is not None:
            work = to_work(row, provider, kind=_KINDS.get(kind, ""))
            return Standing("found", work, (*trail, f"existence: {provider} has {label}"), work.doi)
        trail.append(f"existence: {provider} has {lack}")
        answered.append(provider)
        if near is None and rows and "query" in arguments and not register.complete:
            near = to_work(rows[0], provider)
    return replace(_miss(register, label, trail, answered), near=near)


def _miss(register: _Register, label: str, trail: list[str], answered: list[str]) -> Standing:
    """The standing of what nobody had, with the reason why it is absent or stays open."""
    state: State = "unknown"
    names = " and ".join(answered)
    if not answered and not trail:
        reason = f"nobody is configured who could be asked for {label}"
        trail.append(f"existence: {reason}")
    elif not answered:
        reason = f"nobody could be asked for {label}"
    elif register.complete:
        state, reason = "absent", f"{names} lists every {register.noun} and has no {label}"
    else:
        reason = f"{names} does not list every {register.noun}, so that {label} is missing there is no sign against it"
    return Standing(state, None, tuple(trail), reason=reason)


def _describe(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a search with the names that works go by."""
    date = str(row.get("date_filed") or row.get("start_date") or "")[:4]
    year = int(date) if date.isdecimal() else None
    return {**row, "title": row.get("title") or row.get("case_name"), "year": year}


def _has(value: object, label: str) -> bool:
    """Whether a field of a row is an identifier, or a list with it, however it is spaced."""
    values = value if isinstance(value, list) else [value]
    bare = [re.sub(r"[\W_]", "", str(each or "").casefold()) for each in (label, *values)]
    return bare[0] in bare[1:]


# --- The work that a reference in plain words means, by its title; what is only like it is never taken for it ---


RESULTS = 5
"""Results that are compared of each provider (the tool contract's figure)."""
LONGEST_QUERY = 300
_ORDER = ("high", "medium", "low", "none")
# Without so many words of substance a reference could be anything.
_FEWEST_TERMS = 2


@dataclass(frozen=True, slots=True)
class RegistrySearch:
    """The best record for a reference: the work and how it compares, or None; who answered, and who could not."""

    work: Work | None
    match: Match | None
    answered: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    trail: tuple[str, ...] = ()

    @property
    def obstacle(self) -> str:
        """Why nobody answered; "" when somebody did."""
        if self.answered:
            return ""
        return (
            f"{' and '.join(self.failed)} could not be asked"
            if self.failed
            else self.trail[-1].removeprefix("search: ")
        )

    @property
    def certain(self) -> Work | None:
        """The work, where it is certain that it is the cited one."""
        return self.work if self.confidence == "high" else None

    @property
    def confidence(self) -> Confidence:
        """How sure it is that the work is the cited one: high, medium, low or none."""
        return self.match.confidence if self.match is not None else "none"


async def find_by_reference(context: Context, reference: Reference, *, most: int = 9) -> RegistrySearch:
    """The best record for a reference whose parts are known."""
    query = _to_query(reference)
    if len(terms(query)) < _FEWEST_TERMS:
        return RegistrySearch(None, None, trail=("search: the text has too few words to look for",))
    best: tuple[Work, Match] | None = None
    trail: list[str] = []
    answered: list[str] = []
    failed: list[str] = []
    for provider in context.offering("scholarly")[:most]:
        answer = await _ask(context, "scholarly", {"query": query, "num_results": RESULTS}, provider)
        if isinstance(answer, Fault):
            trail.append(f"search: {provider} could not be asked ({answer.kind})")
            failed.append(provider)
            continue
        if not answer.asked:
            trail.append(f"search: {provider} was not asked, since it lists works of one kind alone")
            continue
        answered.append(provider)
        candidate = await _find_best(context, answer.rows, provider, reference)
        level = candidate[1].confidence if candidate else "none"
        trail.append(f"search: the best of {len(answer.rows)} results of {provider} matches with confidence {level}")
        if candidate and (best is None or _rank(candidate[1]) < _rank(best[1])):
            best = candidate
        if level == "high":
            break
    if not trail:
        trail.append("search: no scholarly index is configured")
    work, match = best or (None, None)
    return RegistrySearch(work, match, tuple(answered), tuple(failed), tuple(trail))


async def _find_best(
    context: Context, rows: list[dict[str, Any]], provider: str, reference: Reference
) -> tuple[Work, Match] | None:
    matches = []
    for row in rows[:RESULTS]:
        await asyncio.sleep(0)
        if is_heavy(row, reference.text):
            match = await run_aside(context, _compare, row, provider, reference)
        else:
            match = _compare(row, provider, reference)
        if match[1].confidence != "none":
            matches.append(match)
    return min(matches, key=lambda match: _rank(match[1]), default=None)


def _compare(row: Mapping[str, Any], provider: str, reference: Reference) -> tuple[Work, Match]:
    work = to_work(row, provider)
    return work, match_reference(reference, work.record)


def _rank(match: Match) -> tuple[int, bool, int]:
    """The surest first; of equally sure ones that whose whole title agrees, then that with most other fields."""
    agreed = sum(one.verdict == "match" for one in match.judgements)
    return _ORDER.index(match.confidence), match.title.partial, -agreed


def _to_query(reference: Reference) -> str:
    """What is looked for: the title and the first author where they are certain, else the whole text."""
    if reference.title and len(terms(reference.title)) >= _FEWEST_TERMS:
        author = reference.authors[0].family if reference.authors else ""
        return f"{reference.title} {author}".strip()[:LONGEST_QUERY]
    return reference.text[:LONGEST_QUERY]
