"""How often the check of claims is right on sets that are split in halves: per half, per kind and per language.

    python bench/trust_claims.py                    the development half: what rules may be changed for
    python bench/trust_claims.py --half judging     the half that is opened when the rules stand
    python bench/trust_claims.py --wrong            each case of the half that came out otherwise than expected
    python bench/trust_claims.py --write            both halves into docs/trust.md
    python bench/trust_claims.py --check            exit code 1 when docs/trust.md has other figures

A page with all its claims is of one half, by a hash of its id, so that neither text nor claim of the judging half was
seen by who changed the rules.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from trust import Outcome, Score, load, to_interval, to_scores

from specloom.domains.trust.claims.coverage import assess

DOCS = Path(__file__).parents[1] / "docs" / "trust.md"
BEGIN, END = "<!-- begin claims -->", "<!-- end claims -->"
SETS = ("claims_fifth.yaml",)
HALVES = ("development", "judging")
LANGUAGES = ("en", "de", "fr", "es", "it", "ru", "zh", "ja")
KINDS = ("contradicted", "mischaracterised", "not_addressed")


@dataclass(frozen=True, slots=True)
class Case:
    """A claim, the text that it is held against, what a careful person says of it, and where it belongs."""

    set: str
    page: str
    half: str
    language: str
    text: str
    claim: str
    kind: str
    by: str
    mended: bool


def to_half(page: str) -> str:
    """The half that a page is of, by the first byte of the SHA-256 of its id."""
    return HALVES[hashlib.sha256(page.encode()).digest()[0] % 2]


def to_cases(name: str) -> Iterator[Case]:
    """Every claim of a set."""
    data = load(name)
    for page in data["pages"]:
        half = to_half(page["id"])
        for case in page["cases"]:
            yield Case(
                set=name,
                page=page["id"],
                half=half,
                language=page["language"],
                text=page["text"],
                claim=case["claim"],
                kind=case["kind"],
                by=case.get("by", ""),
                mended=case.get("mended", half in data["mended"]),
            )


def run(cases: Sequence[Case]) -> Iterator[tuple[Case, Outcome]]:
    """Every expectation of some cases with what came out.

    A contradicted or mischaracterised claim is found where anything is marked on it; a supported one is marked wrongly by
    a cue of either family, and counts against that family only.
    """
    for case in cases:
        coverage = assess(case.claim, case.text)
        distortions = getattr(coverage, "distortions", ())
        marks = ", ".join(f"{cue.kind} {cue.claimed or cue.words}/{cue.found}" for cue in (*coverage.cues, *distortions))
        name = f"{case.language} {case.page} ({case.by or case.kind}): {case.claim}"
        detail = f"{coverage.label} {coverage.coverage} {coverage.reason} [{marks}]"
        if case.kind in ("contradicted", "supported"):
            marked = bool(coverage.cues) or (case.kind == "contradicted" and bool(distortions))
            yield case, Outcome("contradicted", name, case.kind == "contradicted", marked, detail)
        if case.kind in ("mischaracterised", "supported"):
            marked = bool(distortions) or (case.kind == "mischaracterised" and bool(coverage.cues))
            yield case, Outcome("mischaracterised", name, case.kind == "mischaracterised", marked, detail)
        missing = coverage.label == "not_addressed"
        yield case, Outcome("not_addressed", name, case.kind == "not_addressed", missing, detail)


def to_rows(found: Sequence[tuple[Case, Outcome]]) -> Iterator[tuple[str, str, Score]]:
    """The scores by kind and language, all languages first."""
    for kind in KINDS:
        for language in ("all", *LANGUAGES):
            outcomes = [
                outcome for case, outcome in found if outcome.measure == kind and language in ("all", case.language)
            ]
            for score in to_scores(outcomes):
                yield kind, language, score


def to_table(found: Sequence[tuple[Case, Outcome]]) -> str:
    """The figures of some cases as a table in Markdown."""
    lines = [
        "| claims | language | cases | right | wrong | missed | precision (95 %) | recall (95 %) |",
        "|---|---|---:|---:|---:|---:|---|---|",
    ]
    for kind, language, score in to_rows(found):
        precision = _show(score.right, score.right + score.wrong)
        recall = _show(score.right, score.right + score.missed)
        counts = f"{score.cases} | {score.right} | {score.wrong} | {score.missed}"
        lines.append(f"| {kind.replace('_', ' ')} | {language} | {counts} | {precision} | {recall} |")
    return "\n".join(lines)


def _show(hits: int, of: int) -> str:
    if not of:
        return "–"
    low, high = to_interval(hits, of)
    return f"{hits / of:.2f} ({low:.2f} to {high:.2f})"


def main(arguments: list[str]) -> int:
    """Print or write the figures; the exit code is 1 when the page is out of date."""
    parser = argparse.ArgumentParser(description="Precision and recall of the check of claims, by half and language.")
    parser.add_argument("--half", choices=HALVES, default="development", help="the half that is run")
    parser.add_argument("--wrong", action="store_true", help="the cases that came out otherwise than expected")
    options = parser.parse_args(arguments)
    cases = [case for name in SETS for case in to_cases(name) if case.half == options.half]
    found = list(run(cases))
    if options.wrong:
        for _, each in found:
            if each.expected != each.found:
                print(f"{each.measure}: {'missed' if each.expected else 'WRONG'}: {each.case}\n    {each.detail}")
        return 0
    print(to_table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
