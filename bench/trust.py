"""How often the trust checks are right, on the gold set of tests/corpus/gold: precision and recall with 95 % intervals.

    python bench/trust.py            a table
    python bench/trust.py --json     the same as JSON
    python bench/trust.py --wrong    each case that came out otherwise than expected

The pure functions are scored, on worlds that the files of the gold set describe; nothing is asked over a network.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import yaml

from specloom.domains.text.identifiers import detect
from specloom.domains.text.people import Name, parse_names
from specloom.domains.trust.citations.match import WorkRecord, match_fields, match_text
from specloom.domains.trust.claims.coverage import assess

GOLD = Path(__file__).parents[1] / "tests" / "corpus" / "gold"
# The quantile of the normal distribution for 95 %.
Z = 1.959964


@dataclass(frozen=True, slots=True)
class Outcome:
    """One expectation of one case: what was asked (`measure`), and whether it was expected and found."""

    measure: str
    case: str
    expected: bool
    found: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """One measure over all its cases; shares are None where nothing was expected or found."""

    measure: str
    right: int
    wrong: int
    missed: int
    cases: int

    @property
    def precision(self) -> float | None:
        """The share of what was found that was expected."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    @property
    def recall(self) -> float | None:
        """The share of what was expected that was found."""
        return self.right / (self.right + self.missed) if self.right + self.missed else None


def to_interval(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share after Wilson (1927), which holds for few cases and for shares of 1, too."""
    if not of:
        return 0.0, 1.0
    share = hits / of
    middle = (share + Z**2 / (2 * of)) / (1 + Z**2 / of)
    half = Z / (1 + Z**2 / of) * sqrt(share * (1 - share) / of + Z**2 / (4 * of**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def load(name: str) -> Any:
    """One file of the gold set."""
    return yaml.load((GOLD / name).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def run() -> list[Outcome]:
    """Every expectation of the gold set, with what came out."""
    return [
        *run_citations(load("citations.yaml")),
        *run_entries(load("entries.yaml")),
        *run_claims(load("claims.yaml")),
        *run_claims(load("claims_second.yaml")),
        *run_claims(load("claims_held_out.yaml"), mark=" (held out)"),
        *run_claims(load("claims_third.yaml"), mark=" (third)"),
        *run_claims(load("claims_fourth.yaml"), mark=" (fourth)"),
    ]


def run_citations(data: Mapping[str, Any]) -> Iterator[Outcome]:
    """Existence and title of citations with a DOI, in the world of the file."""
    world = data["world"]
    records = {**world["crossref"], **world["datacite"]}
    for case in data["cases"]:
        text, expect = case["input"], case["expect"]
        found = detect(text)
        doi = found.identifier.value if found.identifier else ""
        record = records.get(doi)
        known = record is not None or doi in world["missing"]
        yield Outcome("type of input", text, True, found.input_type == expect["type"] and known, doi)
        yield Outcome("existence", text, expect["exists"], record is not None, doi)
        verdict, reason = "not_checked", ""
        if record is not None:
            title = match_text(found.rest, to_record(record)).title
            verdict, reason = title.verdict, title.reason
        if expect["title"] == "not_mismatch":
            yield Outcome("title mismatch", text, False, verdict == "mismatch", reason)
        else:
            yield Outcome("title mismatch", text, expect["title"] == "mismatch", verdict == "mismatch", reason)
            yield Outcome("title match", text, expect["title"] == "match", verdict == "match", reason)


def to_record(entry: Mapping[str, Any]) -> WorkRecord:
    """A record of the gold set as the functions take it."""
    return WorkRecord(
        titles=(entry["title"], *entry.get("titles", ())),
        authors=tuple(Name(family, given) for family, given in entry.get("authors", ())),
        years=(entry["year"],) if "year" in entry else (),
        venues=(entry["venue"], *entry.get("venues", ())) if "venue" in entry else (),
    )


def run_entries(data: Mapping[str, Any]) -> Iterator[Outcome]:
    """Title, authors, year and venue of entries of bibliographies against records."""
    for case in data["cases"]:
        entry = case["entry"]
        match = match_fields(
            to_record(data["world"]["records"][case["record"]]),
            title=entry.get("title", ""),
            authors=parse_names(entry.get("author", "")),
            year=entry.get("year"),
            venue=entry.get("venue", ""),
        )
        verdicts = {judgement.field: judgement.verdict for judgement in match.judgements}
        for field, expected in case["expect"].items():
            if field == "confidence":
                yield Outcome("confident match", str(entry), expected == "high", match.confidence == "high")
                continue
            name = f"{field} mismatch"
            yield Outcome(name, str(entry), expected == "mismatch", verdicts[field] == "mismatch", verdicts[field])
            if expected != "not_mismatch":
                yield Outcome(f"{field} match", str(entry), expected == "match", verdicts[field] == "match")


def run_claims(data: Mapping[str, Any], *, mark: str = "") -> Iterator[Outcome]:
    """Coverage and cues of claims against pages; `mark` is put behind the names of the measures."""
    for page in data["pages"]:
        text = data["world"]["pages"][page["url"]]
        for case in page["cases"]:
            kind, claim = case["kind"], case["claim"]
            coverage = assess(claim, text)
            name = f"{page['url']}: {claim}"
            detail = f"{coverage.label} {coverage.coverage} {coverage.reason}"
            yield Outcome(
                f"mischaracterised{mark}", name, kind == "mischaracterised", coverage.label == "not_addressed", detail
            )
            if kind != "tangential":
                wanted = kind in ("addressed", "contradicted")
                yield Outcome(f"addressed{mark}", name, wanted, coverage.label == "addressed", detail)
            if coverage.cue_note == "" and kind in ("addressed", "contradicted"):
                cues = ", ".join(f"{cue.kind} {cue.words}" for cue in coverage.cues)
                yield Outcome(f"contradiction cue{mark}", name, kind == "contradicted", coverage.contrast, cues)


def to_scores(outcomes: Iterable[Outcome]) -> list[Score]:
    """The outcomes by measure, in the order of their first case."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.measure, []).append(outcome)
    return [
        Score(
            measure,
            sum(each.expected and each.found for each in group),
            sum(each.found and not each.expected for each in group),
            sum(each.expected and not each.found for each in group),
            len(group),
        )
        for measure, group in groups.items()
    ]


def to_row(score: Score) -> dict[str, Any]:
    """A score as plain data, shares with their intervals."""
    return {
        "measure": score.measure,
        "cases": score.cases,
        "right": score.right,
        "wrong": score.wrong,
        "missed": score.missed,
        "precision": score.precision,
        "precision_interval": to_interval(score.right, score.right + score.wrong),
        "recall": score.recall,
        "recall_interval": to_interval(score.right, score.right + score.missed),
    }


def main(arguments: list[str]) -> int:
    """Print the figures; the exit code is 0."""
    parser = argparse.ArgumentParser(description="Precision and recall of the trust checks on the gold set.")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--wrong", action="store_true", help="the cases that came out otherwise than expected")
    options = parser.parse_args(arguments)
    outcomes = run()
    if options.wrong:
        for each in outcomes:
            if each.expected != each.found:
                print(f"{each.measure}: {'missed' if each.expected else 'WRONG'}: {each.case}\n    {each.detail}")
        return 0
    rows = [to_row(score) for score in to_scores(outcomes)]
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    print(f"{'measure':<30}{'cases':>6}{'right':>7}{'wrong':>7}{'missed':>7}  precision            recall")
    for row in rows:
        shares = "  ".join(_show(row[name], row[f"{name}_interval"]) for name in ("precision", "recall"))
        print(f"{row['measure']:<30}{row['cases']:>6}{row['right']:>7}{row['wrong']:>7}{row['missed']:>7}  {shares}")
    return 0


def _show(share: float | None, interval: tuple[float, float]) -> str:
    if share is None:
        return f"{'–':<19}"
    return f"{share:.2f} ({interval[0]:.2f}–{interval[1]:.2f})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
