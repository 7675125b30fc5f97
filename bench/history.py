"""The history of figures, a row a line in bench/history.jsonl, and docs/figures.md, which is made of it.

    python bench/history.py [--check]

A row is one figure of one run: what, beside what, the ratio with its quartiles, the budget, and when, how and on what
it was measured. `bench/run.py --record` appends rows; nothing else writes them. `--check` says whether the page is in
step.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import Spread, tell_budget, tell_spread, to_spread, to_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from figures import Figure

ROOT = Path(__file__).parents[1]
ROWS = ROOT / "bench" / "history.jsonl"
PAGE = ROOT / "docs" / "figures.md"
EARLIER = 4
"""How many earlier medians stand beside the newest."""


@dataclass(frozen=True, slots=True)
class Run:
    """When, how and on what figures were measured."""

    when: str
    commit: str
    how: str
    python: str
    system: str
    processors: int
    load: float


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of one run. `value` and its quartiles are of `of`: a ratio, or a unit where there is no other side."""

    group: str
    name: str
    beside: str
    of: str
    value: float
    q1: float
    q3: float
    rounds: int
    budget: float | None
    at_least: bool
    unit: str
    ours: float
    theirs: float | None
    run: Run

    @property
    def spread(self) -> Spread:
        """The value between its quartiles."""
        return Spread(self.q1, self.value, self.q3, self.rounds)

    @property
    def within(self) -> bool | None:
        """Whether the value keeps the budget of its time; None without one."""
        if self.budget is None:
            return None
        return self.value >= self.budget if self.at_least else self.value <= self.budget


def to_rows(figures: Iterable[Figure], run: Run) -> list[Row]:
    """The figures that have another side or a budget, as rows of this run."""
    rows = []
    for one in figures:
        judged, ours, theirs = one.judged, to_spread(one.ours), to_spread(one.theirs)
        if one.passing or judged is None or ours is None or (theirs is None and one.budget is None):
            continue
        value, q1, q3 = (_short(part) for part in (judged.median, judged.q1, judged.q3))
        rows.append(
            Row(
                group=one.group,
                name=one.name,
                beside=one.beside,
                of="ratio" if one.is_ratio else one.unit,
                value=value,
                q1=q1,
                q3=q3,
                rounds=judged.rounds,
                budget=one.budget,
                at_least=one.at_least,
                unit=one.unit,
                ours=_short(ours.median),
                theirs=None if theirs is None else _short(theirs.median),
                run=run,
            )
        )
    return rows


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def to_line(row: Row) -> str:
    """A row as one line of JSON, the run at its end."""
    said = asdict(row)
    run = said.pop("run")
    return json.dumps(said | run, ensure_ascii=False)


def parse_line(line: str) -> Row:
    """A row from its line; a SystemExit that quotes a line which is none."""
    try:
        said: dict[str, Any] = json.loads(line)
        run = Run(**{key: said.pop(key) for key in Run.__dataclass_fields__})
        return Row(**said, run=run)
    except (ValueError, TypeError, KeyError) as error:
        raise SystemExit(f"bench: history.jsonl has a line that is no row ({error!r}): {line[:200]}") from error


def load_rows(path: Path = ROWS) -> list[Row]:
    """All rows, the oldest first; none where there is no file yet."""
    if not path.exists():
        return []
    return [parse_line(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def append_rows(rows: Sequence[Row], path: Path = ROWS) -> None:
    """Write the rows behind those that are there."""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{to_line(row)}\n" for row in rows)


def describe_run(facts: Mapping[str, Any], when: str, how: str, root: Path = ROOT) -> Run:
    """This run: what the machine is, and the commit, with a `+` where files were changed since."""
    return Run(
        when=when,
        commit=find_commit(root),
        how=how,
        python=str(facts["python"]),
        system=f"{facts['system']} {facts['machine']}",
        processors=int(facts["processors"] or 0),
        load=float(facts.get("load", 0.0)),
    )


def find_commit(root: Path = ROOT) -> str:
    """The commit of a checkout, short, with a `+` where files were changed since; "" where it is none.

    The history and its page do not count: they change with each part of a run that is recorded by itself.
    """
    own = [f":(exclude){path.relative_to(ROOT).as_posix()}" for path in (ROWS, PAGE)]
    try:
        commit = _git(root, "rev-parse", "--short=10", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", ".", *own)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{commit}+" if changed else commit


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, encoding="utf-8", check=True)
    return done.stdout.strip()


def render(rows: Sequence[Row]) -> str:
    """The page: a table for each group with the newest figures, what they were before, and the runs."""
    said = [
        "<!-- Made from bench/history.jsonl by bench/history.py; `make docs` makes it anew. -->",
        "",
        "# Figures",
        "",
        "What `make bench` measured, where it was told to record it; [the benchmarks](../bench/README.md) says how.",
        "A ratio is specloom by what stands beside it, measured in turns in one run on one machine:"
        " the median over rounds, and the quartiles in brackets.",
        "Only ratios compare between machines and days; a budget is missed where **OVER** or **UNDER** stands.",
        "*Before* has the medians of earlier runs, the oldest first.",
    ]
    if not rows:
        said += ["", "Nothing was recorded yet."]
    by_group: dict[str, dict[tuple[str, str], list[Row]]] = {}
    for row in rows:
        by_group.setdefault(row.group, {}).setdefault((row.name, row.beside), []).append(row)
    runs = list(dict.fromkeys(row.run for row in rows))
    for group, figures in by_group.items():
        said += [
            "",
            f"## {group[:1].upper()}{group[1:]}",
            "",
            "| what | beside | figure | budget | medians | before | run |",
            "|---|---|---|---|---|---|---|",
        ]
        for (name, beside), some in figures.items():
            *earlier, newest = some
            before = ", ".join(to_text(row.value) for row in earlier[-EARLIER:])
            cells = [
                name,
                beside,
                tell_value(newest),
                tell_budget(newest.budget, at_least=newest.at_least, within=newest.within)
                .replace("  OVER", " **OVER**")
                .replace("  UNDER", " **UNDER**"),
                tell_medians(newest),
                before,
                str(runs.index(newest.run) + 1),
            ]
            said.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    if runs:
        said += [
            "",
            "## The runs",
            "",
            "| run | when | commit | how | Python | processors | load | system |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for number, run in enumerate(runs, start=1):
            said.append(
                f"| {number} | {run.when} | {run.commit} | {run.how} | {run.python} | {run.processors} | {run.load:g} |"
                f" {run.system} |"
            )
    return "\n".join(said) + "\n"


def tell_value(row: Row) -> str:
    """`× 5.80 (5.60-6.00)`, or with the unit where it is no ratio."""
    text = tell_spread(row.spread)
    return f"× {text}" if row.of == "ratio" else f"{text} {row.of}"


def tell_medians(row: Row) -> str:
    """`412 : 71 ms`; of one side where there is no other."""
    if row.theirs is None:
        return ""
    return f"{to_text(row.ours)} : {to_text(row.theirs)} {row.unit}"


def write_page() -> None:
    """Make docs/figures.md of the rows that are there."""
    PAGE.write_text(render(load_rows()), encoding="utf-8", newline="\n")


def main() -> int:
    """Make the page, or with `--check` say whether it is in step: 0 when it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 if the page is out of date")
    only_check = parser.parse_args().check
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == render(load_rows()):
        return 0
    if only_check:
        sys.stderr.write("docs/figures.md does not show the rows of bench/history.jsonl; run `make docs`\n")
        return 1
    write_page()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
