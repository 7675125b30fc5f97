"""Whether what an identifier other than a DOI names exists: who is asked for it, and who of them may say no.

A register that lists everything of its kind may say that it has nothing of the name. What is not in a catalogue that
lists much but not all stays open, with the reason. What breaks the rules of its own kind names nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault
from specloom.trust.existence import Standing, State, find_by_doi, tell_fault
from specloom.trust.identifiers import Identifier, to_arxiv_doi
from specloom.trust.identifiers_law import find_parties
from specloom.trust.works import to_work

if TYPE_CHECKING:
    from specloom.desk import Desk

_BY_NAME = 10
"""Cases that are looked through when a citation is looked for by the parties' names."""


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


async def find_identified(desk: Desk, identifier: Identifier, text: str = "") -> Standing | None:
    """The standing of the work that an identifier names; None for kinds that name no work (addresses, people).

    `text` is the citation around it, in which a court's case has its name.
    """
    value = identifier.value
    if identifier.flaw:
        return Standing("absent", None, (f"identifier: {identifier.flaw}",), reason=identifier.flaw)
    match identifier.kind:
        case "doi":
            return await find_by_doi(desk, value)
        case "arxiv":
            return await find_by_doi(desk, to_arxiv_doi(value))
        case "rfc":
            # The RFC Editor registers a DOI for every RFC: https://www.rfc-editor.org/rfc/rfc7669
            return await find_by_doi(desk, f"10.17487/rfc{int(value):04}")
        case "pmid" | "pmcid":
            return await _find_article(desk, identifier)
        case "isbn":
            return await _find_listed(desk, "isbn", {"isbn": value}, f"ISBN {value}")
        case "patent":
            return await _find_listed(desk, "patent", {"number": value}, f"patent {value}")
        case "nct":
            return await _find_among(desk, "nct", {"query": value}, ("nct_id",), value)
        case "case":
            return await _find_case(desk, value, text)
        case _:
            return None


async def _find_article(desk: Desk, identifier: Identifier) -> Standing:
    label = f"{identifier.kind.upper()} {identifier.value}"
    standing = await _find_listed(desk, identifier.kind, {identifier.kind: identifier.value}, label)
    if standing.work is None or not standing.work.doi:
        return standing
    # The record of its DOI knows of notices, that of the index may still know of a retraction.
    own = await find_by_doi(desk, standing.work.doi)
    trail = (*standing.trail, *own.trail)
    if own.work is None:
        return replace(standing, trail=trail, doi=standing.work.doi)
    notice = own.work.notice or standing.work.notice
    return Standing("found", replace(own.work, notice=notice), trail, own.doi)


async def _find_case(desk: Desk, value: str, text: str) -> Standing:
    """A decision by its citation, else by the names of its parties: many have several citations."""
    if value.startswith(("[", "ECLI")):
        reason = f"{value} is of a court whose decisions nobody lists who can be asked here"
        return Standing("unknown", None, (f"existence: {reason}",), reason=reason)
    fields = ("citation", "citations")
    standing = await _find_among(desk, "case", {"citation": value, "num_results": _BY_NAME}, fields, value)
    parties = find_parties(text)
    if standing.state == "found" or not parties:
        return standing
    named = await _find_among(desk, "case", {"query": parties, "num_results": _BY_NAME}, fields, value)
    trail = (*standing.trail, *named.trail)
    return replace(named, trail=trail, reason="" if named.state == "found" else standing.reason)


async def _find_listed(desk: Desk, kind: str, arguments: Mapping[str, str], label: str) -> Standing:
    """One record by its identifier."""
    register = _REGISTERS[kind]
    trail: list[str] = []
    asked: list[str] = []
    for provider in desk.offering(register.capability):
        try:
            answer = await desk.ask(register.capability, arguments, provider=provider)
        except Fault as fault:
            trail.append(tell_fault(provider, fault, f"no record of {label}"))
            if fault.kind == "not_found":
                asked.append(provider)
            continue
        if answer.rows:
            work = to_work(answer.rows[0], provider)
            return Standing("found", work, (*trail, f"existence: {provider} has {label}"), work.doi)
        trail.append(f"existence: {provider} has no record of {label}")
        asked.append(provider)
    return _miss(register, label, trail, asked)


async def _find_among(
    desk: Desk, kind: str, arguments: Mapping[str, Any], fields: tuple[str, ...], value: str
) -> Standing:
    """The one result of a search that has the identifier; the first of the others is told as near."""
    register = _REGISTERS[kind]
    trail: list[str] = []
    asked: list[str] = []
    near = None
    for provider in desk.offering(register.capability):
        try:
            answer = await desk.ask(register.capability, arguments, provider=provider)
        except Fault as fault:
            trail.append(tell_fault(provider, fault, f"nothing under {value}"))
            continue
        row = next((row for row in answer.rows if _bare(value) in _identifiers(row, fields)), None)
        if row is not None:
            return Standing("found", to_work(_describe(row), provider), (*trail, f"existence: {provider} has {value}"))
        trail.append(f"existence: {provider} has nothing under {value}")
        asked.append(provider)
        if near is None and answer.rows and "query" in arguments and not register.complete:
            near = to_work(_describe(answer.rows[0]), provider)
    return replace(_miss(register, value, trail, asked), near=near)


def _miss(register: _Register, label: str, trail: list[str], asked: list[str]) -> Standing:
    """The standing of what nobody had, with the reason why it is absent or stays open."""
    state: State = "unknown"
    names = " and ".join(asked)
    if not asked and not trail:
        reason = f"nobody is configured who could be asked for {label}"
        trail.append(f"existence: {reason}")
    elif not asked:
        reason = f"nobody could be asked for {label}"
    elif register.complete:
        state, reason = "absent", f"{names} lists every {register.noun} and has no {label}"
    else:
        reason = f"{names} does not list every {register.noun}, so that {label} is missing there is no sign against it"
    return Standing(state, None, tuple(trail), reason=reason)


def _identifiers(row: Mapping[str, Any], fields: tuple[str, ...]) -> set[str]:
    values = (row.get(field) for field in fields)
    return {_bare(each) for value in values for each in (value if isinstance(value, list) else [value])}


def _describe(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a search with the names that works go by."""
    date = str(row.get("date_filed") or row.get("start_date") or "")[:4]
    year = int(date) if date.isdecimal() else None
    return {**row, "title": row.get("title") or row.get("case_name"), "year": year}


def _bare(value: object) -> str:
    return "".join(character for character in str(value or "").casefold() if character.isalnum())
