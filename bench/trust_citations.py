"""How often both citation tools are right about citations that no rule was set on: never looked at, and mended on.

    python bench/trust_citations.py                 the half that may be looked at
    python bench/trust_citations.py --judge         the half that judges; to be run when the rules stand
    python bench/trust_citations.py --wrong         each case that came out otherwise than expected
    python bench/trust_citations.py --write         the figures of the judging half into docs/trust.md
    python bench/trust_citations.py --check         exit code 1 when docs/trust.md has other figures

Cases are those of tests/corpus/gold/citations_unseen.yaml, and the works of works.yaml beside it: each is written out
in eleven styles with and without its DOI, under another work's DOI, and under addresses of pages that are about other
things. Every citation goes through verify_citation and, as an entry, through audit_bibliography. A case belongs to the
judging half where the SHA-256 of its text, or of the DOI of its work, is even.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import hashlib
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from trust import Outcome, load, to_interval, to_scores
from trust_registries import ASKED, Registries
from trust_replay import DOCS, call, to_table
from trust_styles import STYLES, write

from specloom.compiler.build import weave_from
from specloom.domains.text.identifiers import detect, to_address
from specloom.domains.text.people import to_display
from specloom.domains.trust.citations.reference import parse_reference
from specloom.model.model import Model
from specloom.plugins.registry import CLOSERS
from specloom.specs.library import shipped_root

BEGIN, END = "<!-- begin citation figures -->", "<!-- end citation figures -->"
MOST_ENTRIES = 200
FIELDS = ("title", "authors", "year")
RETRACTING = ("retraction", "partial_retraction", "withdrawal", "removal", "retract_and_replace")
# Accusations: a single one that is false fails the build.
ACCUSATIONS = (
    *(f"{tool}: {name}" for tool in ("verify", "audit") for name in ("not found", "retracted", "bearer")),
    *(f"{tool}: {name} mismatch" for tool in ("verify", "audit") for name in FIELDS),
    *(f"{tool}: right citation accused" for tool in ("verify", "audit")),
)


@dataclass(slots=True)
class Case:
    """One citation with what has to be found of it, and what came out."""

    text: str
    kind: str
    status: str = "confirmed"
    accuse: Sequence[str] = ()
    notice: str = ""
    replaced: str = ""
    told: bool = False
    mended_on: bool = False


def is_judging(name: str) -> bool:
    """Whether a case is of the half that is not to be looked at while rules are changed."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 == 0


def load_world() -> dict[str, Any]:
    """The world of the hand-made cases with the works of the other file in it."""
    world: dict[str, Any] = load("citations_unseen.yaml")["world"]
    for doi, work in load("works.yaml").items():
        notices = {}
        if work.get("retracted"):
            notices = {"updates": [_to_notice(doi, work)]}
        world[work["registry"]].setdefault(doi, {**work, **notices})
    return world


def _to_notice(doi: str, work: Mapping[str, Any]) -> dict[str, str]:
    return {"type": "retraction", "date": work["retracted"], "doi": f"{doi}.r", "source": "retraction-watch"}


def load_cases(*, judging: bool) -> list[Case]:
    """The hand-made cases of one half."""
    keys = ("text", "kind", "status", "accuse", "notice", "replaced", "told", "mended_on")
    cases = [Case(**{key: case[key] for key in keys if key in case}) for case in load("citations_unseen.yaml")["cases"]]
    return [case for case in cases if is_judging(case.text) == judging]


def write_right(*, judging: bool) -> Iterator[Case]:
    """Right citations of works of one half: eleven styles, with and without the DOI."""
    for doi, work in load("works.yaml").items():
        if is_judging(doi) == judging:
            notice = "retraction" if work.get("retracted") else ""
            for style in STYLES:
                yield Case(write(work, style, doi), "right, with DOI", notice=notice)
                yield Case(write(work, style), "right, without DOI", notice=notice)


def write_swapped(*, judging: bool) -> Iterator[Case]:
    """Citations with another work's DOI: each work in each style, the DOIs turned by a fixed number of works."""
    works = load("works.yaml")
    dois = [doi for doi in works if is_judging(doi) == judging]
    for at, doi in enumerate(dois):
        other = dois[(at + 7) % len(dois)]
        if works[other]["title"] != works[doi]["title"]:
            for style in STYLES:
                notice = "retraction" if works[other].get("retracted") else ""
                yield Case(write(works[doi], style, other), "another work's DOI", accuse=("title",), notice=notice)


def write_over_pages(*, judging: bool) -> Iterator[Case]:
    """Works that nobody has under the addresses of live pages that are about other things: invented beside a link."""
    pages = list(load("citations_unseen.yaml")["world"]["pages"])
    works = [(doi, work) for doi, work in load("works.yaml").items() if is_judging(doi) == judging]
    for at, (_, work) in enumerate(works):
        for style in ("apa", "chicago", "vancouver"):
            url = pages[(at * 3 + len(style)) % len(pages)]
            yield Case(f"{write(work, style)} {url}", "invented beside a live page", status="open", told=True)


def to_entry(text: str) -> dict[str, str]:
    """A citation as somebody would fill in an entry of a bibliography."""
    detected = detect(text)
    reference = parse_reference(detected.rest)
    identifier = detected.identifier
    url = next((each.value for each in detected.identifiers if each.kind == "url"), "")
    entry = {
        "title": reference.title or detected.rest,
        "author": "; ".join(to_display(name) for name in reference.authors),
        "date": str(reference.years[0]) if len(reference.years) == 1 else "",
        "site": reference.venue,
        **reference.numbering._asdict(),
        "url": url,
    }
    if identifier is not None and identifier.kind == "doi":
        entry |= {"doi": identifier.value, "url": url if "doi.org/" not in url else ""}
    elif identifier is not None and identifier.kind in ("pmid", "pmcid", "arxiv", "rfc", "nct", "patent"):
        entry["url"] = to_address(identifier.kind, identifier.value)
    elif identifier is not None and identifier.kind in ("isbn", "case"):
        # No field of an entry holds these, so the citation goes in whole.
        entry = {"title": text}
    return {name: value for name, value in entry.items() if value}


async def ask(model: Model, tool: str, arguments: Mapping[str, Any], registries: Registries) -> dict[str, Any]:
    """The answer of a tool, with the list of retractions of the world as a file."""
    listed = registries.world.get("retractions") or {}
    columns = ("OriginalPaperDOI", "RetractionNature", "RetractionDate", "RetractionDOI", "Reason")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "retractions.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(columns)
            for doi, one in listed.items():
                year, month, day = str(one["date"]).split("-")
                rows.writerow((doi, one["nature"], f"{int(month)}/{int(day)}/{year} 0:00", one["doi"], one["reason"]))
        return await call(model, tool, arguments, registries, ASKED, {"RETRACTION_LIST": str(path)})


async def run(model: Model, cases: Iterable[Case], world: Mapping[str, Any], mark: str = "") -> list[Outcome]:
    """Every expectation of some cases, with what both tools said."""
    outcomes: list[Outcome] = []
    cases = list(cases)
    for case in cases:
        said = await ask(model, "verify_citation", {"citation": case.text}, Registries(world))
        outcomes.extend(judge(case, said, "verify"))
    left = iter(cases)
    while part := list(islice(left, MOST_ENTRIES)):
        entries = [to_entry(case.text) for case in part]
        said = await ask(model, "audit_bibliography", {"entries": entries}, Registries(world))
        for case, entry in zip(part, said["entries"], strict=True):
            outcomes.extend(judge(case, entry, "audit"))
    return [Outcome(f"{each.measure}{mark}", each.case, each.expected, each.found, each.detail) for each in outcomes]


def judge(case: Case, said: Mapping[str, Any], tool: str) -> Iterator[Outcome]:
    """What one tool said of a case, held against what is true."""
    notice = said.get("retractionStatus") or {}
    flags = said.get("flags") or []
    nature = notice.get("nature") or notice.get("kind") or ""
    wrong = {one["field"] for one in said.get("comparison") or () if one["verdict"] == "mismatch"}
    status = said["verificationStatus"]
    detail = (
        f"{status} {said.get('matchConfidence')} {nature} {sorted(wrong)} {flags}; "
        f"{said.get('statusReason') or said.get('reason')} | {said.get('authenticityCaveat', '')} | "
        f"{[(one['field'], one['verdict'], one['reason']) for one in said.get('comparison') or ()]}"
    )
    name = f"[{case.kind}] {case.text}"
    denied = status == "not_found" or "not_found" in flags
    retracted = bool(notice.get("retracted")) or "retracted" in flags
    yield Outcome(f"{tool}: confirmed", name, case.status == "confirmed", status == "confirmed", detail)
    # What was made up may well be found nowhere.
    if case.status != "open" or not case.kind.startswith("invented"):
        yield Outcome(f"{tool}: not found", name, case.status == "not_found", denied, detail)
    yield Outcome(f"{tool}: retracted", name, case.notice in RETRACTING, retracted, detail)
    if case.notice:
        yield Outcome(f"{tool}: notice by its name", name, True, nature == case.notice, detail)
    if case.replaced:
        yield Outcome(f"{tool}: replacement", name, True, notice.get("replacedBy") == case.replaced, detail)
    # What the test set does not list as wrong is right; where a title is another's, the rest of it may be as well.
    for each in FIELDS:
        if each in case.accuse or "title" not in case.accuse:
            yield Outcome(f"{tool}: {each} mismatch", name, each in case.accuse, each in wrong, detail)
    if case.told:
        yield Outcome(f"{tool}: invented beside a live page", name, True, status != "confirmed", detail)
    accused = bool(wrong) or denied or (retracted and case.notice not in RETRACTING)
    if case.status == "confirmed" and not case.accuse:
        yield Outcome(f"{tool}: right citation accused", name, False, accused, detail)
    # Nothing is said against a record that is not surely the one meant.
    is_borne = bool(said.get("matchedRecord") or said.get("matchConfidence") == "high")
    yield Outcome(f"{tool}: bearer", name, False, bool(wrong or retracted) and not is_borne, detail)


async def run_outage(model: Model, world: Mapping[str, Any], *, judging: bool, mark: str = "") -> list[Outcome]:
    """Retracted works while the first registry is down: told as retracted, or told as not looked at."""
    works = {doi: work for doi, work in load("works.yaml").items() if work.get("retracted")}
    hand = [case for case in load_cases(judging=judging) if case.notice in RETRACTING]
    cases = [Case(write(work, "apa", doi), "outage") for doi, work in works.items() if is_judging(doi) == judging]
    outcomes: list[Outcome] = []
    for case in (*cases, *hand):
        for tool in ("verify", "audit"):
            registries = Registries(world, frozenset(("crossref",)))
            if tool == "verify":
                said = await ask(model, "verify_citation", {"citation": case.text}, registries)
            else:
                answer = await ask(model, "audit_bibliography", {"entries": [to_entry(case.text)]}, registries)
                [said] = answer["entries"]
            notice = said.get("retractionStatus") or {}
            unchecked = {one["what"] for one in said.get("notChecked") or ()}
            told = bool(notice.get("retracted")) or bool(unchecked & {"retraction", "existence"})
            told = told and (tool == "verify" or bool(set(said["flags"]) & {"retracted", "unchecked"}))
            outcomes.append(Outcome(f"{tool}: told under an outage{mark}", case.text, True, told, str(said)[:600]))
    return outcomes


async def replay(model: Model, *, judging: bool) -> list[Outcome]:
    """Every expectation of one half."""
    world = load_world()
    # Invented titles are titles of works that this world lacks.
    empty = {**world, "crossref": {}, "datacite": {}, "europepmc": {}}
    marks = {"right": " (generated, right)", "swapped": " (generated, another DOI)", "pages": " (generated, pages)"}
    try:
        return [
            *await run(model, load_cases(judging=judging), world),
            *await run(model, write_right(judging=judging), world, marks["right"]),
            *await run(model, write_swapped(judging=judging), world, marks["swapped"]),
            *await run(model, write_over_pages(judging=judging), empty, marks["pages"]),
            *await run_outage(model, world, judging=judging),
        ]
    finally:
        for closer in CLOSERS.values():
            await closer.function()


def to_page(outcomes: Iterable[Outcome]) -> str:
    """The figures as the page shows them: measures in which something was expected or found."""
    scores = [score for score in to_scores(outcomes) if score.right + score.wrong + score.missed]
    return to_table(scores)


def count_right(outcomes: Iterable[Outcome]) -> tuple[int, int]:
    """How many right citations were accused of something, and of how many."""
    accused = [each for each in outcomes if "right citation accused" in each.measure]
    return sum(each.found for each in accused), len(accused)


def with_figures(text: str, figures: str) -> str:
    """The page with these figures between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{figures}\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Print or write the figures; the exit code is 1 when an accusation was wrong or the page is out of date."""
    parser = argparse.ArgumentParser(description="Both citation tools on citations that no rule was set on.")
    parser.add_argument("--judge", action="store_true", help="the half that judges")
    parser.add_argument("--wrong", action="store_true", help="the cases that came out otherwise than expected")
    parser.add_argument("--write", action="store_true", help="write the figures of the judging half into docs/trust.md")
    parser.add_argument("--check", action="store_true", help="exit code 1 when docs/trust.md has other figures")
    options = parser.parse_args(arguments)
    judging = options.judge or options.write or options.check
    outcomes = asyncio.run(replay(weave_from([shipped_root()])[0], judging=judging))
    if options.wrong:
        for each in outcomes:
            if each.expected != each.found:
                print(f"{each.measure}: {'missed' if each.expected else 'WRONG'}: {each.case}\n    {each.detail}")
        return 0
    accused, of = count_right(outcomes)
    low, high = to_interval(accused, of)
    right = f"Right citations that were accused of anything: {accused} of {of:,} ({low:.4f} to {high:.4f})."
    figures = f"{to_page(outcomes)}\n\n{right}"
    page = DOCS.read_text(encoding="utf-8")
    if options.write:
        DOCS.write_text(with_figures(page, figures), encoding="utf-8")
    elif options.check:
        if with_figures(page, figures) != page:
            print("docs/trust.md has other figures; run python bench/trust_citations.py --write", file=sys.stderr)
            return 1
    else:
        print(figures)
    wrong = [score for score in to_scores(outcomes) if score.measure.partition(" (gen")[0] in ACCUSATIONS]
    return int(any(score.wrong for score in wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
