"""How often the trust tools are right: the gold set replayed through them, with the registries played from its worlds.

    python bench/trust_replay.py            a table
    python bench/trust_replay.py --wrong    each case that came out otherwise than expected
    python bench/trust_replay.py --write    the figures into docs/trust.md
    python bench/trust_replay.py --check    exit code 1 when docs/trust.md has other figures

A call goes the whole way: arguments, plan, procedure, the specs of the registries and the reading of pages. Only the
network is played: what a world does not have is answered as the real service answers for it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parent))

from trust import Outcome, Score, load, to_interval, to_scores

from specloom.authoring.examples.context import ExampleContext, ExampleState
from specloom.compiler.build import weave_from
from specloom.core.faults import Fault
from specloom.core.messages import Answer, Request, Response
from specloom.model.model import Model
from specloom.plugins.registry import CLOSERS, PROCEDURES
from specloom.runtime.arguments import parse_arguments
from specloom.runtime.configuration import read_settings
from specloom.runtime.operation import drive, perform
from specloom.runtime.plan import Ask, Offer, Run
from specloom.runtime.strategies import pursue
from specloom.specs.library import shipped_root

DOCS = Path(__file__).parents[1] / "docs" / "trust.md"
BEGIN, END = "<!-- begin figures -->", "<!-- end figures -->"
NOW = 1_767_225_600.0
ASKED = ("crossref", "datacite", "doi_registry", "wayback")
JSON = {"content-type": "application/json"}
# What the tools promise never to say wrongly; a single false positive fails the build.
ACCUSATIONS = (
    "existence",
    "not found",
    "retraction",
    "title mismatch",
    "mischaracterised",
    "mischaracterised (held out)",
    "mischaracterised (fourth)",
    "flag not_found",
    "flag retracted",
    *(f"entry: {name} mismatch" for name in ("title", "authors", "year", "venue")),
)


@dataclass(slots=True)
class World:
    """What the registries and the web have: records by DOI at each registrar, and texts by address."""

    crossref: Mapping[str, Any] = field(default_factory=dict)
    datacite: Mapping[str, Any] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)

    def respond(self, request: Request) -> Response | Fault:
        """The answer of the service that a request is for."""
        url = urlsplit(request.url)
        query = {name: str(value) for name, value in request.query}
        if url.hostname == "api.crossref.org":
            return self._crossref(unquote(url.path), query)
        if url.hostname == "api.datacite.org":
            return self._datacite(unquote(url.path), query)
        if url.hostname == "doi.org":
            return self._handle(unquote(url.path).removeprefix("/api/handles/"))
        if url.hostname == "archive.org":
            return _json({"archived_snapshots": {}})
        text = self.pages.get(request.url)
        if text is None:
            return Fault("network", f"{url.hostname} could not be reached: the name does not resolve.")
        return Response(200, {"content-type": "text/plain; charset=utf-8"}, text.encode(), request.url)

    def _crossref(self, path: str, query: Mapping[str, str]) -> Response:
        if doi := path.removeprefix("/works").removeprefix("/"):
            record = self.crossref.get(doi.lower())
            return (
                _json({"message": _to_crossref(doi, record)}) if record else Response(404, {}, b"Resource not found.")
            )
        if "filter" in query:
            wanted = [part.removeprefix("doi:") for part in query["filter"].split(",")]
            found = [_to_crossref(doi, self.crossref[doi]) for doi in wanted if doi in self.crossref]
        else:
            found = [_to_crossref(doi, record) for doi, record in self._nearest(query.get("query", ""))]
        return _json({"message": {"total-results": len(found), "items": found}})

    def _nearest(self, text: str) -> list[tuple[str, Any]]:
        """As a search does: the records that share most words with a text, however few those are."""
        words = set(re.findall(r"\w{4,}", text.lower()))
        ranked = sorted(
            self.crossref.items(), key=lambda one: -len(words & set(re.findall(r"\w{4,}", one[1]["title"].lower())))
        )
        return ranked[:5]

    def _datacite(self, path: str, query: Mapping[str, str]) -> Response:
        if doi := path.removeprefix("/dois").removeprefix("/"):
            record = self.datacite.get(doi.lower())
            return _json({"data": _to_datacite(doi, record)}) if record else Response(404, JSON, b'{"errors":[]}')
        wanted = re.findall(r'"([^"]+)"', query.get("query", ""))
        return _json({"data": [_to_datacite(doi, self.datacite[doi]) for doi in wanted if doi in self.datacite]})

    def _handle(self, doi: str) -> Response:
        if doi.lower() in self.crossref or doi.lower() in self.datacite:
            return _json({"responseCode": 1, "handle": doi, "values": []})
        return Response(404, JSON, json.dumps({"responseCode": 100, "handle": doi}).encode())


def _json(value: Any) -> Response:
    return Response(200, JSON, json.dumps(value).encode())


def _to_crossref(doi: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of the gold set as that registry writes it."""
    titles = [record["title"], *record.get("titles", ())]
    return {
        "DOI": doi,
        "URL": f"https://doi.org/{doi}",
        "title": titles,
        "author": [
            {"family": family, "given": given} if given else {"name": family}
            for family, given in record.get("authors", ())
        ],
        "issued": {"date-parts": [[record.get("year")]]},
        "container-title": [record["venue"], *record.get("venues", ())] if "venue" in record else [],
        "updated-by": [
            {
                "DOI": f"{doi}.notice",
                "type": one["type"],
                "source": "publisher",
                "updated": {"date-time": f"{one['year']}-01-01T00:00:00Z"},
            }
            for one in record.get("updates", ())
        ],
    }


def _to_datacite(doi: str, record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": doi,
        "attributes": {
            "doi": doi,
            "titles": [{"title": record["title"]}],
            "creators": [
                {"name": family, "familyName": family, "givenName": given}
                for family, given in record.get("authors", ())
            ],
            "publicationYear": record.get("year"),
            "publisher": record.get("venue"),
        },
    }


async def call(
    model: Model,
    name: str,
    given: Mapping[str, Any],
    world: World,
    asked: Sequence[str] = ASKED,
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The answer of a tool in a world, where only the providers in `asked` are there. Raises Fault as a call does."""
    tool = model.tools[name]
    config, _ = read_settings(tool.settings, {"CHROME_PATH": "disabled", **(environment or {})})
    orders = {
        capability.name: tuple(one for one in model.offering(capability.name) if one in asked)
        for capability in model.capabilities.values()
    }
    offer = Offer(orders, frozenset(asked), {})

    def answer(ask: Ask) -> Answer | Fault:
        provider = model.providers[ask.provider]
        settings, _ = read_settings(provider.settings, {})
        running = perform(provider, provider.operations[ask.operation], ask.arguments, settings, NOW)
        try:
            return drive(running, world.respond)
        except Fault as fault:
            return fault

    context = ExampleContext(tool, model, offer, config, ExampleState(NOW), answer, world.respond)
    running = pursue(tool, model, parse_arguments(tool, given), config, offer, NOW)
    give: Any = None
    try:
        while True:
            wanted = running.throw(give) if isinstance(give, Fault) else running.send(give)
            assert isinstance(wanted, Run)
            try:
                give = await PROCEDURES[wanted.procedure].function(context, wanted.parameters)
            except Fault as fault:
                give = fault
    except StopIteration as stop:
        found: dict[str, Any] = stop.value.answer
        return found


async def replay(model: Model) -> list[Outcome]:
    """Every expectation of the gold set, with what the tools said."""
    try:
        return [
            *await _replay_citations(model, load("citations.yaml")),
            *await _replay_audits(model, load("citations.yaml")),
            *await _replay_entries(model, load("entries.yaml")),
            *await _replay_claims(model, load("claims.yaml")),
            *await _replay_claims(model, load("claims_second.yaml")),
            *await _replay_claims(model, load("claims_held_out.yaml"), mark=" (held out)"),
            *await _replay_claims(model, load("claims_third.yaml"), mark=" (third)"),
            *await _replay_claims(model, load("claims_fourth.yaml"), mark=" (fourth)"),
        ]
    finally:
        for closer in CLOSERS.values():
            await closer.function()


async def _replay_citations(model: Model, data: Mapping[str, Any]) -> list[Outcome]:
    world, found = World(data["world"]["crossref"], data["world"]["datacite"]), []
    for case in data["cases"]:
        said = await call(model, "verify_citation", {"citation": case["input"]}, world)
        found.extend(_judge_citation(case, said))
    return found


def _judge_citation(case: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[Outcome]:
    text, expect = case["input"], case["expect"]
    detail = json.dumps(said.get("comparison") or said["provenance"], ensure_ascii=False)[:400]
    yield Outcome("type of input", text, True, said["inputType"] == expect["type"])
    yield Outcome("existence", text, expect["exists"], said["exists"], detail)
    yield Outcome("not found", text, not expect["exists"], said["verificationStatus"] == "not_found", detail)
    verdict = said.get("titleMatch")
    if expect["title"] == "not_mismatch":
        yield Outcome("title mismatch", text, False, verdict == "mismatch", detail)
    else:
        yield Outcome("title mismatch", text, expect["title"] == "mismatch", verdict == "mismatch", detail)
        yield Outcome("title match", text, expect["title"] == "match", verdict == "match", detail)
    status = said.get("retractionStatus") or {}
    yield Outcome("retraction", text, expect["update"] == "retraction", bool(status.get("retracted")), detail)
    yield Outcome("correction", text, expect["update"] == "correction", status.get("kind") == "correction", detail)


async def _replay_audits(model: Model, data: Mapping[str, Any]) -> list[Outcome]:
    """The same cases as entries of bibliographies: each flag of each entry."""
    world, found = World(data["world"]["crossref"], data["world"]["datacite"]), []
    cases = [(case, match[0]) for case in data["cases"] if (match := re.search(r"10\.[0-9]{4,9}/\S+", case["input"]))]
    cases = [(case, doi.rstrip(".,;)>\"”'")) for case, doi in cases]
    for at in range(0, len(cases), 200):
        part = cases[at : at + 200]
        said = await call(model, "audit_bibliography", {"entries": [{"doi": doi} for _, doi in part]}, world)
        for (case, doi), entry in zip(part, said["entries"], strict=True):
            flags, exists = entry["flags"], case["expect"]["exists"]
            found.append(Outcome("flag not_found", doi, not exists, "not_found" in flags, entry.get("reason", "")))
            retracted = case["expect"]["update"] == "retraction"
            found.append(Outcome("flag retracted", doi, retracted, "retracted" in flags, entry.get("reason", "")))
    return found


async def _replay_entries(model: Model, data: Mapping[str, Any]) -> list[Outcome]:
    """Entries with fields of their own against the record of their DOI: each field that is compared."""
    cases = {f"10.5555/case{at}": case for at, case in enumerate(data["cases"])}
    records = {doi: data["world"]["records"][case["record"]] for doi, case in cases.items()}
    entries = [
        {
            "doi": doi,
            "title": case["entry"].get("title", ""),
            "author": case["entry"].get("author", ""),
            "date": str(case["entry"].get("year", "")),
            "site": case["entry"].get("venue", ""),
        }
        for doi, case in cases.items()
    ]
    said = await call(model, "audit_bibliography", {"entries": entries}, World(crossref=records))
    found = []
    for case, entry in zip(cases.values(), said["entries"], strict=True):
        verdicts = {one["field"]: one["verdict"] for one in entry.get("comparison", ())}
        for name, expected in case["expect"].items():
            if name == "confidence":
                continue
            detail, verdict = json.dumps(entry.get("comparison"), ensure_ascii=False)[:300], verdicts.get(name)
            wanted = expected == "mismatch"
            found.append(Outcome(f"entry: {name} mismatch", str(case["entry"]), wanted, verdict == "mismatch", detail))
    return found


async def _replay_claims(model: Model, data: Mapping[str, Any], *, mark: str = "") -> list[Outcome]:
    """Each claim as it is cited for its page; `mark` is put behind the names of the measures."""
    found: list[Outcome] = []
    number = 0
    for page in data["pages"]:
        text = data["world"]["pages"][page["url"]]
        for case in page["cases"]:
            number += 1
            # A host of its own for every case: two readings of one host would wait for each other.
            url = page["url"].replace("https://", f"https://case{number}.")
            arguments = {"citation": url, "claim": case["claim"]}
            said = await call(model, "verify_citation", arguments, World(pages={url: text}))
            found.extend(replace(each, measure=f"{each.measure}{mark}") for each in _judge_claim(case, said))
    return found


def _judge_claim(case: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[Outcome]:
    kind, name = case["kind"], f"{said['input']}: {case['claim']}"
    label, detail = said["claimSupport"], f"{said['claimSupport']} {said.get('claimReason', '')}"
    yield Outcome("mischaracterised", name, kind == "mischaracterised", label == "not_addressed", detail)
    if kind != "tangential":
        wanted = kind in ("addressed", "contradicted")
        yield Outcome("addressed", name, wanted, label == "addressed", detail)
    if kind in ("addressed", "contradicted") and "contrastNote" not in said:
        yield Outcome("contradiction cue", name, kind == "contradicted", bool(said.get("contrastSignal")), detail)


# --- telling ---


def to_table(scores: list[Score]) -> str:
    """The figures as a table in Markdown."""
    lines = [
        "| measure | cases | right | wrong | missed | precision (95 %) | recall (95 %) |",
        "|---|---:|---:|---:|---:|---|---|",
    ]
    for score in scores:
        precision = _show(score.precision, score.right, score.right + score.wrong)
        recall = _show(score.recall, score.right, score.right + score.missed)
        counts = f"{score.cases} | {score.right} | {score.wrong} | {score.missed}"
        lines.append(f"| {score.measure} | {counts} | {precision} | {recall} |")
    return "\n".join(lines)


def _show(share: float | None, hits: int, of: int) -> str:
    if share is None:
        return "–"
    low, high = to_interval(hits, of)
    return f"{share:.2f} ({low:.2f} to {high:.2f})"


def with_figures(text: str, figures: str, begin: str = BEGIN, end: str = END) -> str:
    """The page with these figures between two marks."""
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{figures}\n{end}{after}"


def main(arguments: list[str]) -> int:
    """Print or write the figures; the exit code is 1 when an accusation was wrong or the page is out of date."""
    parser = argparse.ArgumentParser(description="Precision and recall of the trust tools on the gold set.")
    parser.add_argument("--wrong", action="store_true", help="the cases that came out otherwise than expected")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/trust.md")
    parser.add_argument("--check", action="store_true", help="exit code 1 when docs/trust.md has other figures")
    options = parser.parse_args(arguments)
    outcomes = asyncio.run(replay(weave_from([shipped_root()])[0]))
    if options.wrong:
        for each in outcomes:
            if each.expected != each.found:
                print(f"{each.measure}: {'missed' if each.expected else 'WRONG'}: {each.case}\n    {each.detail}")
        return 0
    scores = to_scores(outcomes)
    table = to_table(scores)
    page = DOCS.read_text(encoding="utf-8") if DOCS.exists() else ""
    if options.write:
        DOCS.write_text(with_figures(page, table), encoding="utf-8")
    elif options.check:
        if with_figures(page, table) != page:
            print("docs/trust.md has other figures; run python bench/trust_replay.py --write", file=sys.stderr)
            return 1
    else:
        print(table)
    return int(any(score.wrong for score in scores if score.measure in ACCUSATIONS))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
