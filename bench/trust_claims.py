"""How often the check of claims is right on sets that are split in halves: per half, per kind and per language.

    python bench/trust_claims.py                    the development half: what rules may be changed for
    python bench/trust_claims.py --half judging     the other half, and the sets of one part
    python bench/trust_claims.py --wrong            each case of the half that came out otherwise than expected
    python bench/trust_claims.py --write            both halves into docs/trust.md
    python bench/trust_claims.py --check            exit code 1 when docs/trust.md has other figures

A page with all its claims is of one half, by a hash of its id, so that no text is of both. A case that a rule was ever
changed for says `mended: true` and counts among those of the development half.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from trust import Outcome, Score, load, to_interval, to_scores

from specloom.domains.trust.claims.coverage import assess

DOCS = Path(__file__).parents[1] / "docs" / "trust.md"
BEGIN, END = "<!-- begin claims -->", "<!-- end claims -->"
SETS = (
    "claims_fifth.yaml",
    "claims_sixth.yaml",
    "claims_seventh.yaml",
    "claims_eighth.yaml",
    "claims_ninth.yaml",
    "judging_claims.yaml",
)
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
        # A set of one part was written to judge.
        half = to_half(page["id"]) if data["mended"] else HALVES[1]
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

    A contradicted or mischaracterised claim is found where anything is marked on it; what is marked on a supported one
    counts against the family of that cue.
    """
    for case in cases:
        coverage = assess(case.claim, case.text)
        distortions = coverage.distortions
        marks = ", ".join(
            f"{cue.kind} {cue.claimed or cue.words}/{cue.found}" for cue in (*coverage.cues, *distortions)
        )
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


def to_first_run(counts: Mapping[str, Mapping[str, Sequence[int]]]) -> Iterator[tuple[str, str, Score]]:
    """The scores of a half on the day that it was opened."""
    for kind, languages in counts.items():
        for language, (cases, right, wrong, missed) in languages.items():
            yield kind, language, Score(kind, right, wrong, missed, cases)


def to_table(rows: Iterable[tuple[str, str, Score]]) -> str:
    """The figures of some cases as a table in Markdown."""
    lines = [
        "| claims | language | cases | right | wrong | missed | precision (95 %) | recall (95 %) |",
        "|---|---|---:|---:|---:|---:|---|---|",
    ]
    for kind, language, score in rows:
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


def to_page() -> str:
    """Both halves as the part of docs/trust.md that is generated."""
    parts: list[str] = []
    cases = [case for name in SETS for case in to_cases(name)]
    for name in SETS:
        data, unseen = load(name), [case for case in cases if case.set == name and not case.mended]
        if unseen:
            parts += [
                f"**Never looked at**: {_count(unseen)} (`{name}`), written on {data['written']} "
                "and run when the rules stood."
            ]
            parts += [to_table(to_rows(list(run(unseen))))]
        if "first_run" in data:
            dates = f"written on {data['written']}, run first on {data['opened']}"
            whole = data["first_run"]["not_addressed"]["all"][0] == sum(case.set == name for case in cases)
            part = "all" if whole else "the judging half"
            parts += [f"**Never looked at until then**: {part} of `{name}`, {dates}, as it came out that day."]
            parts += [to_table(to_first_run(data["first_run"]))]
    mended = [case for case in cases if case.mended]
    parts += [f"**Mended on**: {_count(mended)}, for which rules were changed, as they come out today."]
    parts += [to_table(to_rows(list(run(mended))))]
    return "\n\n".join(parts)


def _count(cases: Sequence[Case]) -> str:
    return f"{len(cases)} claims of {len({case.page for case in cases})} pages"


def with_figures(text: str, figures: str) -> str:
    """The page with these figures between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{figures}\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Print or write the figures; the exit code is 1 when the page is out of date."""
    parser = argparse.ArgumentParser(description="Precision and recall of the check of claims, by half and language.")
    parser.add_argument("--half", choices=HALVES, default="development", help="the half that is run")
    parser.add_argument("--wrong", action="store_true", help="the cases that came out otherwise than expected")
    parser.add_argument("--write", action="store_true", help="write the figures of both halves into docs/trust.md")
    parser.add_argument("--check", action="store_true", help="exit code 1 when docs/trust.md has other figures")
    options = parser.parse_args(arguments)
    if options.write or options.check:
        page = DOCS.read_text(encoding="utf-8")
        fresh = with_figures(page, to_page())
        if options.check and fresh != page:
            print("docs/trust.md has other figures; run python bench/trust_claims.py --write", file=sys.stderr)
            return 1
        if options.write:
            DOCS.write_text(fresh, encoding="utf-8")
        return 0
    cases = [case for name in SETS for case in to_cases(name) if case.half == options.half]
    found = list(run(cases))
    if options.wrong:
        for _, each in found:
            if each.expected != each.found:
                print(f"{each.measure}: {'missed' if each.expected else 'WRONG'}: {each.case}\n    {each.detail}")
        return 0
    print(to_table(to_rows(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
