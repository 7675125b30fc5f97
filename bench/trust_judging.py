"""How often both citation tools are right on sets that only judge: details, existence, titles over live pages.

    python bench/trust_judging.py            the figures
    python bench/trust_judging.py --wrong    each case that came out otherwise than expected
    python bench/trust_judging.py --write    the figures into docs/trust.md
    python bench/trust_judging.py --check    exit code 1 when docs/trust.md has other figures

Cases are those of judging_details, judging_not_found and judging_pages in tests/corpus/gold, written by somebody who
had not read the rules. They are replayed as those of trust_citations.py are: through verify_citation and, as entries,
through audit_bibliography, over registries that hold the records of all sets. A case that a rule was ever changed for
says `mended_on: true` and is counted apart.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from trust import Outcome, Score, load, to_scores
from trust_citations import MOST_ENTRIES, ask, load_world, to_entry
from trust_registries import Registries
from trust_replay import DOCS, to_table, with_figures

from specloom.compiler.build import weave_from
from specloom.model.model import Model
from specloom.plugins.registry import CLOSERS
from specloom.specs.library import shipped_root

BEGIN, END = "<!-- begin judging figures -->", "<!-- end judging figures -->"
FIELDS = ("title", "authors", "year", "venue")

Case = Mapping[str, Any]
Answer = Mapping[str, Any]
Judge = Callable[[Case, Answer, str], Iterator[Outcome]]


def load_judging_world() -> dict[str, Any]:
    """The world of the judging sets, with the records of the other citations in it as neighbours."""
    world, own = load_world(), load("judging_world.yaml")
    for name, records in own.items():
        if isinstance(records, dict):
            world[name] = {**world.get(name, {}), **records}
        elif isinstance(records, list):
            world[name] = [*world.get(name, ()), *records]
    return world


def load_cases(name: str) -> list[Case]:
    """The cases of a set that no rule was changed for."""
    return [case for case in load(name)["cases"] if not case.get("mended_on")]


def load_mended(name: str) -> list[Case]:
    """The cases of a set that a rule was changed for, which say nothing of how the rules fare elsewhere."""
    return [case for case in load(name)["cases"] if case.get("mended_on")]


def judge_details(case: Case, answer: Answer, tool: str) -> Iterator[Outcome]:
    """A citation beside an identifier: the wrong detail is told in its field, and nothing else is."""
    detail, wrong = _to_detail(answer), case.get("wrong", "")
    name = f"[{case['by']}, {wrong or 'right'}] {case['text']}"
    told = _to_mismatches(answer)
    accused = bool(told) or _is_denied(answer) or _is_retracted(answer)
    if wrong in FIELDS:
        yield Outcome(f"{tool}: wrong detail told in its field", name, True, wrong in told, detail)
    if wrong:
        yield Outcome(f"{tool}: wrong detail told in any field", name, True, bool(told), detail)
    else:
        yield Outcome(f"{tool}: confirmed", name, True, answer["verificationStatus"] == "confirmed", detail)
        yield Outcome(f"{tool}: right citation accused", name, False, accused, detail)
    for field in (*FIELDS, "volume", "pages"):
        yield Outcome(f"{tool}: {field} mismatch", name, field == wrong, field in told, detail)


def judge_existence(case: Case, answer: Answer, tool: str) -> Iterator[Outcome]:
    """A work that is not there is told so, and of a real one that no register lists nobody says it."""
    detail, name, is_invented = _to_detail(answer), f"[{case['kind']}] {case['text']}", case["status"] == "not_found"
    yield Outcome(f"{tool}: not found", name, is_invented, _is_denied(answer), detail)
    if is_invented:
        form = "in plain words" if case.get("plain") else "with an identifier"
        yield Outcome(f"{tool}: not found, {form}", name, True, _is_denied(answer), detail)
        is_confirmed = answer["verificationStatus"] == "confirmed"
        yield Outcome(f"{tool}: invented is not confirmed", name, True, not is_confirmed, detail)
    else:
        accused = _is_denied(answer) or _is_retracted(answer) or bool(_to_mismatches(answer))
        yield Outcome(f"{tool}: real work accused", name, False, accused, detail)


def judge_pages(case: Case, answer: Answer, tool: str) -> Iterator[Outcome]:
    """A title over a live page: the right one is confirmed, and the wrong one is not."""
    detail, name = _to_detail(answer), f"[{case['status']}, {case['kind']}] {case['text']}"
    is_confirmed, is_wrong = answer["verificationStatus"] == "confirmed", case["status"] == "wrong"
    if is_wrong:
        yield Outcome(f"{tool}: wrong title is not confirmed", name, True, not is_confirmed, detail)
    else:
        accused = _is_denied(answer) or _is_retracted(answer) or bool(_to_mismatches(answer))
        yield Outcome(f"{tool}: right title accused", name, False, accused, detail)
    if case["status"] != "open":
        yield Outcome(f"{tool}: title confirmed", name, not is_wrong, is_confirmed, detail)


SETS: Mapping[str, tuple[str, Judge]] = {
    "One wrong detail beside an identifier": ("judging_details.yaml", judge_details),
    "Works that are not there, and works that no asked register lists": ("judging_not_found.yaml", judge_existence),
    "Titles over live pages": ("judging_pages.yaml", judge_pages),
}


MENDED = "Mended on"
"""The name of the outcomes of the cases that a rule was changed for."""


def _to_mismatches(answer: Answer) -> set[str]:
    return {each["field"] for each in answer.get("comparison") or () if each["verdict"] == "mismatch"}


def _is_denied(answer: Answer) -> bool:
    return answer["verificationStatus"] == "not_found" or "not_found" in (answer.get("flags") or ())


def _is_retracted(answer: Answer) -> bool:
    return bool((answer.get("retractionStatus") or {}).get("retracted")) or "retracted" in (answer.get("flags") or ())


def _to_detail(answer: Answer) -> str:
    compared = [(each["field"], each["verdict"], each["reason"]) for each in answer.get("comparison") or ()]
    reason = answer.get("statusReason") or answer.get("reason")
    return (
        f"{answer['verificationStatus']} {answer.get('matchConfidence')} {answer.get('flags') or ''}; {reason} | "
        f"{answer.get('authenticityCaveat', '')} | {compared}"
    )


async def run(model: Model, cases: Sequence[Case], judge: Judge, world: Mapping[str, Any]) -> list[Outcome]:
    """Every expectation of some cases, with what both tools said."""
    outcomes: list[Outcome] = []
    for case in cases:
        answer = await ask(model, "verify_citation", {"citation": case["text"]}, Registries(world))
        outcomes.extend(judge(case, answer, "verify"))
    left = iter(cases)
    while part := list(islice(left, MOST_ENTRIES)):
        entries = [to_entry(case["text"]) for case in part]
        audit = await ask(model, "audit_bibliography", {"entries": entries}, Registries(world))
        for case, entry in zip(part, audit["entries"], strict=True):
            outcomes.extend(judge(case, entry, "audit"))
    return outcomes


async def replay(model: Model) -> dict[str, list[Outcome]]:
    """Every expectation by set."""
    world = load_judging_world()
    try:
        outcomes = {name: await run(model, load_cases(file), judge, world) for name, (file, judge) in SETS.items()}
        mended = [await run(model, load_mended(file), judge, world) for file, judge in SETS.values()]
        return outcomes | {MENDED: [outcome for part in mended for outcome in part]}
    finally:
        for closer in CLOSERS.values():
            await closer.function()


def to_page(outcomes: Mapping[str, Sequence[Outcome]]) -> str:
    """The figures as the page shows them: a table a set, and one of the cases that rules were changed for."""
    parts = []
    for name, (file, _) in SETS.items():
        parts += [f"**{name}**: {len(load_cases(file))} cases of `{file}`, written on {load(file)['written']}."]
        parts += [to_table(_to_shown(outcomes[name]))]
    count = sum(len(load_mended(file)) for file, _ in SETS.values())
    parts += [f"**{MENDED}**: {count} cases of these sets, for which rules were changed, as they come out today."]
    return "\n\n".join([*parts, to_table(_to_shown(outcomes[MENDED]))])


def _to_shown(outcomes: Sequence[Outcome]) -> list[Score]:
    """The scores of measures in which something was expected or found."""
    scores = to_scores(outcomes)
    return [score for score in scores if score.right + score.wrong + score.missed or "accused" in score.measure]


def main(arguments: list[str]) -> int:
    """Print or write the figures; the exit code is 1 when the page is out of date."""
    parser = argparse.ArgumentParser(description="Both citation tools on the sets that only judge.")
    parser.add_argument("--wrong", action="store_true", help="the cases that came out otherwise than expected")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/trust.md")
    parser.add_argument("--check", action="store_true", help="exit code 1 when docs/trust.md has other figures")
    options = parser.parse_args(arguments)
    outcomes = asyncio.run(replay(weave_from([shipped_root()])[0]))
    if options.wrong:
        for each in (each for part in outcomes.values() for each in part if each.expected != each.found):
            print(f"{each.measure}: {'missed' if each.expected else 'WRONG'}: {each.case}\n    {each.detail}")
        return 0
    figures, page = to_page(outcomes), DOCS.read_text(encoding="utf-8")
    if options.write:
        DOCS.write_text(with_figures(page, figures, BEGIN, END), encoding="utf-8")
    elif options.check and with_figures(page, figures, BEGIN, END) != page:
        print("docs/trust.md has other figures; run python bench/trust_judging.py --write", file=sys.stderr)
        return 1
    elif not options.check:
        print(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
