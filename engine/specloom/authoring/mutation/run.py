"""Breaks a spec in one place at a time and tells which breaks its own checks and examples do not notice.

A table of more than a few rows is broken as a whole: its rows are data, not decisions.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from json import dumps
from multiprocessing import active_children, get_context
from typing import Any

from specloom.compiler import Symbols, symbols_of
from specloom.core import Place, Report, dataclass, did_you_mean
from specloom.model import Model
from specloom.specs import GRAMMARS, Library, Spec, check

from ..examples.run import compile_spec, run_examples
from .operators import mutations, unseen_reason


@dataclass(frozen=True, slots=True)
class Break:
    """One break without its tree, as a report shows it; `reason` says why it cannot be noticed here."""

    place: Place
    change: str
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """The break as a build wants it."""
        place = {"file": self.place.file, "line": self.place.line, "column": self.place.column}
        return {**place, "change": self.change, **({"reason": self.reason} if self.reason else {})}


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

    def to_json(self) -> dict[str, Any]:
        """The result as a build wants it."""
        return {
            **{name: getattr(self, name) for name in ("kind", "name", "mutants", "noticed")},
            "score": round(self.score, 4),
            "survivors": [one.to_json() for one in self.survivors],
            "unseen": [one.to_json() for one in self.unseen],
        }


@dataclass(frozen=True, slots=True)
class MutationReport:
    """What became of all breaks, by spec."""

    specs: tuple[SpecResult, ...]

    @property
    def mutants(self) -> int:
        """How many breaks count."""
        return sum(one.mutants for one in self.specs)

    @property
    def noticed(self) -> int:
        """How many of them were noticed."""
        return sum(one.noticed for one in self.specs)

    @property
    def score(self) -> float:
        """The share of all breaks that were noticed."""
        return self.noticed / self.mutants if self.mutants else 1.0

    def to_json(self) -> dict[str, Any]:
        """The report as a build wants it."""
        return {"score": round(self.score, 4), "specs": [one.to_json() for one in self.specs]}


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


def check_spec(spec: Spec, model: Model, symbols: Symbols, report: Report) -> None:
    """Hold one spec against its grammar, compile it against the rest of the model, and run its examples."""
    if check(spec.root, GRAMMARS[spec.kind], report):
        compiled = compile_spec(spec, model, symbols, report)
        if compiled is not None:
            run_examples(spec, compiled, model, report)


def is_noticed(spec: Spec, model: Model, symbols: Symbols, known: frozenset[tuple[str, str]]) -> bool:
    """Whether a broken spec has an error that is not among the known ones."""
    try:
        check_spec(spec, model, symbols, _Alarm(known=known))
    except _NoticedError:
        return True
    return False


def mutate_spec(spec: Spec, model: Model) -> SpecResult:
    """Break one spec in every place, one at a time."""
    symbols = symbols_of(model)
    before = Report()
    check_spec(spec, model, symbols, before)
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
            if is_noticed(replace(spec, root=mutation.root), model, symbols, known):
                noticed += 1
            else:
                survivors.append(Break(mutation.place, mutation.change))
        except Exception as error:
            error.add_note(f"while {spec.name} was broken at {mutation.place}: {mutation.change}")
            raise
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
    compiled: dict[str, Mapping[str, object]] = {"provider": model.providers, "tool": model.tools}
    specs = [spec for kind, among in compiled.items() for name, spec in library.of(kind).items() if name in among]
    known = {spec.name for spec in specs}
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        hint = did_you_mean(unknown, known) or "see `specloom check`"
        raise ValueError(f"no provider or tool that compiles is called {unknown!r}; {hint}")
    return [spec for spec in specs if not names or spec.name in names]


# --- showing them ---------------------------------------------------------------------------------------------------


def render_report(report: MutationReport) -> str:
    """The report for people: a table, then every break that went unnoticed, then what cannot be noticed here."""
    totals = [("all", report)] if len(report.specs) > 1 else []
    scores: list[tuple[str, SpecResult | MutationReport]] = [*((one.name, one) for one in report.specs), *totals]
    rows = [("spec", "breaks", "noticed", "score")]
    rows += [(name, str(one.mutants), str(one.noticed), f"{one.score:.1%}") for name, one in scores]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
    for spec in report.specs:
        if spec.survivors:
            lines += ["", f"{spec.name}: not noticed", *(f"  {each.place}: {each.change}" for each in spec.survivors)]
        if spec.unseen:
            reasons = Counter(each.reason for each in spec.unseen)
            lines += ["", f"{spec.name}: not observable here, not counted"]
            lines += [f"  {count} × {reason}" for reason, count in reasons.items()]
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
