"""Breaks a spec in one place at a time and tells which breaks its own checks and examples do not notice.

A table of more than a few rows is broken as a whole: its rows are data, not decisions.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from json import dumps
from multiprocessing import active_children, get_context
from typing import Any

from specloom.compiler import Symbols, check_tables, compile_provider, compile_tool
from specloom.core import Place, Report, did_you_mean
from specloom.model import Model
from specloom.plugins import PROCEDURES, load_hooks
from specloom.specs import GRAMMARS, Library, Spec, check

from ..examples.providers import check_provider
from ..examples.tools import check_tool
from .operators import mutations, unseen_reason

KINDS = ("provider", "tool")


@dataclass(frozen=True, slots=True)
class Break:
    """One break without its tree, as a report shows it; `reason` says why it cannot be noticed here."""

    place: Place
    change: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SpecResult:
    """What became of the breaks of one spec."""

    kind: str
    name: str
    noticed: int
    survivors: tuple[Break, ...] = ()
    unseen: tuple[Break, ...] = ()

    @property
    def mutants(self) -> int:
        """How many breaks count."""
        return self.noticed + len(self.survivors)

    @property
    def score(self) -> float:
        """The share of breaks that were noticed; 1 when there was nothing to break."""
        return self.noticed / self.mutants if self.mutants else 1.0


@dataclass(frozen=True, slots=True)
class MutationReport:
    """What became of all breaks, by spec."""

    specs: tuple[SpecResult, ...]

    @property
    def score(self) -> float:
        """The share of all breaks that were noticed."""
        mutants = sum(one.mutants for one in self.specs)
        return sum(one.noticed for one in self.specs) / mutants if mutants else 1.0

    def to_json(self) -> dict[str, Any]:
        """The report as a build wants it."""
        return {"score": round(self.score, 4), "specs": [_spec_json(one) for one in self.specs]}


def _spec_json(one: SpecResult) -> dict[str, Any]:
    said = {
        "kind": one.kind,
        "name": one.name,
        "mutants": one.mutants,
        "noticed": one.noticed,
        "score": round(one.score, 4),
    }
    return {
        **said,
        "survivors": [_break_json(each) for each in one.survivors],
        "unseen": [_break_json(each) for each in one.unseen],
    }


def _break_json(one: Break) -> dict[str, Any]:
    said: dict[str, Any] = {
        "file": one.place.file,
        "line": one.place.line,
        "column": one.place.column,
        "change": one.change,
    }
    return {**said, "reason": one.reason} if one.reason else said


# --- trying them ----------------------------------------------------------------------------------------------------


class _NoticedError(Exception):
    """An error that the unbroken spec does not have; nothing further needs to run."""


@dataclass(slots=True)
class _Alarm(Report):
    """A report that goes off at the first error that is not among the known ones."""

    known: frozenset[tuple[str, str]] = frozenset()

    def add(self, code: str, place: Place, message: str, hint: str = "") -> None:
        """Note a problem, or go off."""
        if code.startswith("E") and (code, message) not in self.known:
            raise _NoticedError
        Report.add(self, code, place, message, hint)


def check_spec(spec: Spec, model: Model, around: Symbols, report: Report) -> None:
    """Hold one spec against its grammar, compile it against the rest of the model, and run its examples."""
    if not check(spec.root, GRAMMARS[spec.kind], report):
        return
    if spec.kind == "provider":
        provider = compile_provider(spec, model.capabilities, report)
        if provider is not None:
            check_tables(spec, provider, model.capabilities, report)
            check_provider(spec, provider, report)
    else:
        tool = compile_tool(spec, around, report)
        if tool is not None:
            check_tool(spec, tool, model, report)


def is_noticed(spec: Spec, model: Model, around: Symbols, known: frozenset[tuple[str, str]]) -> bool:
    """Whether a broken spec has an error that is not among the known ones."""
    try:
        check_spec(spec, model, around, _Alarm(known=known))
    except _NoticedError:
        return True
    return False


def mutate_spec(spec: Spec, model: Model) -> SpecResult:
    """Break one spec in every place, one at a time."""
    around = Symbols(model.providers, model.capabilities, model.lenses, load_hooks(), PROCEDURES, model.collections)
    before = Report()
    check_spec(spec, model, around, before)
    known = frozenset((one.code, one.message) for one in before.found if one.is_error)
    noticed = 0
    survivors: list[Break] = []
    unseen: list[Break] = []
    for mutation in mutations(spec):
        reason = unseen_reason(mutation.path)
        if reason:
            unseen.append(Break(mutation.place, mutation.change, reason))
            continue
        try:
            found = is_noticed(replace(spec, root=mutation.root), model, around, known)
        except Exception as error:
            error.add_note(f"while {spec.name} was broken at {mutation.place}: {mutation.change}")
            raise
        if found:
            noticed += 1
        else:
            survivors.append(Break(mutation.place, mutation.change))
    return SpecResult(spec.kind, spec.name, noticed, tuple(survivors), tuple(unseen))


def mutate(model: Model, library: Library, names: Sequence[str] = (), *, workers: int = 1) -> MutationReport:
    """Break the named providers and tools, or all of them, in every place; several workers are processes."""
    specs = chosen_specs(model, library, names)
    if workers < 2 or len(specs) < 2:
        return MutationReport(tuple(mutate_spec(spec, model) for spec in specs))
    # A compiled model holds closures, which cannot travel; a library can, so every worker weaves its own.
    with ProcessPoolExecutor(workers, get_context("spawn"), _start_worker, (library,)) as pool:
        # An interrupt goes to the whole group of processes. The workers, which inherit what is blocked, leave it to the
        # one that ends them, which would otherwise wait for what they are at.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            try:
                results = pool.map(_mutate_in_worker, specs)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            return MutationReport(tuple(results))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in active_children():
                worker.terminate()
            raise


_worker_model: list[Model] = []


def _start_worker(library: Library) -> None:
    from specloom.compiler import weave

    _worker_model.append(weave(library, Report()))


def _mutate_in_worker(spec: Spec) -> SpecResult:
    return mutate_spec(spec, _worker_model[0])


def chosen_specs(model: Model, library: Library, names: Sequence[str]) -> list[Spec]:
    """The providers and tools of these names, or all that compiled; a name that is none of them is a ValueError."""
    compiled = {"provider": model.providers, "tool": model.tools}
    found = [spec for kind in KINDS for name, spec in library.of(kind).items() if name in compiled[kind]]
    unknown = [name for name in names if name not in {spec.name for spec in found}]
    if unknown:
        hint = did_you_mean(unknown[0], {spec.name for spec in found}) or "see `specloom check`"
        raise ValueError(f"no provider or tool that compiles is called {unknown[0]!r}; {hint}")
    return [spec for spec in found if not names or spec.name in names]


# --- showing them ---------------------------------------------------------------------------------------------------


def render_report(report: MutationReport) -> str:
    """The report for people: a table, then every break that went unnoticed, then what cannot be noticed here."""
    rows = [
        ("spec", "breaks", "noticed", "score"),
        *((one.name, str(one.mutants), str(one.noticed), f"{one.score:.1%}") for one in report.specs),
    ]
    if len(report.specs) > 1:
        mutants, noticed = sum(one.mutants for one in report.specs), sum(one.noticed for one in report.specs)
        rows.append(("all", str(mutants), str(noticed), f"{report.score:.1%}"))
    widths = [max(len(row[at]) for row in rows) for at in range(4)]
    lines = ["  ".join([row[0].ljust(widths[0]), *(row[at].rjust(widths[at]) for at in range(1, 4))]) for row in rows]
    for one in report.specs:
        if one.survivors:
            lines += ["", f"{one.name}: not noticed", *(f"  {each.place}: {each.change}" for each in one.survivors)]
        if one.unseen:
            reasons: dict[str, int] = {}
            for each in one.unseen:
                reasons[each.reason] = reasons.get(each.reason, 0) + 1
            lines += [
                "",
                f"{one.name}: not observable here, not counted",
                *(f"  {count} × {reason}" for reason, count in reasons.items()),
            ]
    return "\n".join(lines)


def run(names: Sequence[str], json: bool = False, floor: float | None = None) -> int:
    """Break the specs of every layer and print what came of it; 1 when a spec's score (0 to 1) is below the floor."""
    from specloom.compiler import weave_from
    from specloom.specs import layer_roots

    model, library, _ = weave_from(layer_roots(os.environ))
    try:
        report = mutate(model, library, names, workers=os.cpu_count() or 1)
    except ValueError as error:
        sys.stderr.write(f"specloom: {error}\n")
        return 2
    sys.stdout.write((dumps(report.to_json(), ensure_ascii=False, indent=2) if json else render_report(report)) + "\n")
    return int(floor is not None and any(one.score < floor for one in report.specs))
