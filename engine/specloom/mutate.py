"""Breaks a spec in one place at a time and tells which breaks its own checks and examples do not notice.

A table of more than a few rows is broken as a whole: its rows are data, not decisions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from json import dumps
from multiprocessing import get_context
from typing import Any

from .diagnostics import Place, Report
from .examples import check_provider, check_tool
from .grammar import GRAMMARS
from .hooks import load_hooks
from .load import Entry, Listing, Map, Node, Scalar, to_plain
from .model import Model
from .mutate_texts import Broken, break_expression, break_selector
from .names import Library, Spec
from .operation import compile_provider
from .plan import Surroundings, compile_tool
from .proofs import check_tables
from .rules import Anything, Either, Flag, Grammar, Items, Named, Number, Record, Ref, Rule, Text, check

KINDS = ("provider", "tool")
_SMALL_TABLE = 8
_ORDERED = frozenset({"errors", "plan", "after", "at", "then", "steps", "also"})
_ROOT_PROSE = frozenset({"spec", "name", "title", "homepage", "notes", "description", "examples"})

UNSEEN: Mapping[str, str] = {
    "limits": "how fast, how long and how much is for the transport to hold",
    "wait": "an example does not wait",
    "keep_for": "an example keeps no responses",
    "deadline": "an example takes no time",
    "hosts": "an example follows no redirects",
    "private": "an example opens no connections",
    "annotations": "hosts are told it; no call depends on it",
    "toolsets": "which toolset shows a tool is not part of a call",
    "open": "it only says what is published",
    "secret": "an example's secrets are made up and shown",
    "record": "an example has no session",
    "cache": "an example keeps no answers",
}
"""Keys whose breaks no example can notice offline, with the reason; they do not count, but they are listed."""

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One break: where, what was changed, and the tree that came of it."""

    place: Place
    change: str
    path: Path
    root: Map


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


# --- making breaks --------------------------------------------------------------------------------------------------


def mutations(spec: Spec) -> Iterator[Mutation]:
    """Every break of a spec, each as a whole tree with one thing changed."""
    maker = _Maker(GRAMMARS[spec.kind])
    for place, change, path, node in maker.record(spec.root, GRAMMARS[spec.kind].root, ()):
        if path[0] not in _ROOT_PROSE:
            assert isinstance(node, Map)
            yield Mutation(place, change, path, node)
    cache, inputs = spec.root.get("cache"), spec.root.get("input")
    if isinstance(cache, Map) and isinstance(inputs, Map):
        yield from _ignore_more(spec.root, cache, inputs)


def _ignore_more(root: Map, cache: Map, inputs: Map) -> Iterator[Mutation]:
    """The cache key without one more input: the proof has to notice."""
    listed = cache.get("ignore")
    items = listed.items if isinstance(listed, Listing) else ()
    recorded = (to_plain(root.get("record")) or {}).get("session")
    for entry in inputs:
        if entry.key == recorded or any(isinstance(item, Scalar) and item.value == entry.key for item in items):
            continue
        ignore = Listing((*items, Scalar(entry.key, cache.place)), cache.place)
        changed = _with(cache, Entry("ignore", cache.place, ignore))
        new = _with(root, replace(root.entries["cache"], value=changed))
        yield Mutation(root.entries["cache"].place, f"the cache ignores {entry.key!r} too", ("proof", entry.key), new)


def _with(node: Map, entry: Entry) -> Map:
    return Map({**node.entries, entry.key: entry}, node.place)


def _without(node: Map, key: str) -> Map:
    return Map({name: entry for name, entry in node.entries.items() if name != key}, node.place)


Change = tuple[Place, str, Path, Node]


@dataclass(frozen=True, slots=True)
class _Maker:
    """Walks a tree along its grammar, which knows what every text means."""

    grammar: Grammar

    def node(self, node: Node, rule: Rule, path: Path) -> Iterator[Change]:
        if isinstance(rule, Ref):
            yield from self.node(node, self.grammar.rule(rule.name), path)
        elif isinstance(rule, Either):
            chosen = (
                rule.mapping if isinstance(node, Map) else rule.listing if isinstance(node, Listing) else rule.scalar
            )
            if chosen is not None:
                yield from self.node(node, chosen, path)
        elif isinstance(node, Map):
            if isinstance(rule, Record):
                yield from self.record(node, rule, path)
            else:
                yield from self.named(node, rule.value if isinstance(rule, Named) else Anything(), path)
        elif isinstance(node, Listing):
            item = rule.item if isinstance(rule, Items) else Anything()
            yield from self.items(node, item, rule.least if isinstance(rule, Items) else 0, path)
        else:
            for value, change, offset in _scalar(node, rule):
                yield (
                    node.at(offset) if offset else node.place,
                    change,
                    path,
                    replace(node, value=value, verbatim=False),
                )

    def record(self, node: Map, rule: Record, path: Path) -> Iterator[Change]:
        for entry in node:
            key = rule.keys[entry.key]
            inner = (*path, entry.key)
            group = next((names for names, _ in rule.one_of if entry.key in names), ())
            # A flag that is left out is a flag that is flipped, which comes by itself.
            if not (key.required or group or isinstance(key.rule, Flag) or _is_prose(key.rule, entry.key)):
                yield entry.place, f"`{entry.key}` left out", inner, _without(node, entry.key)
            if set(group) == {"get", "post"}:
                other = "post" if entry.key == "get" else "get"
                renamed = {other if name == entry.key else name: one for name, one in node.entries.items()}
                renamed[other] = replace(entry, key=other)
                yield entry.place, f"{entry.key} → {other}", inner, Map(renamed, node.place)
            yield from self.inside(node, entry, key.rule, inner)

    def named(self, node: Map, rule: Rule, path: Path) -> Iterator[Change]:
        if len(path) == 2 and path[0] == "tables" and len(node.entries) > _SMALL_TABLE:
            yield node.place, f"every value of the table {path[1]!r} changed", path, _spoiled(node)
            return
        for entry in node:
            inner = (*path, entry.key)
            null = isinstance(entry.value, Scalar) and entry.value.value is None
            if not null:
                yield entry.place, f"`{entry.key}` left out", inner, _without(node, entry.key)
            yield from self.inside(node, entry, rule, inner)

    def inside(self, node: Map, entry: Entry, rule: Rule, path: Path) -> Iterator[Change]:
        for place, change, where, new in self.node(entry.value, rule, path):
            yield place, change, where, _with(node, replace(entry, value=new))

    def items(self, node: Listing, rule: Rule, least: int, path: Path) -> Iterator[Change]:
        listed = node.items
        for at, item in enumerate(listed):
            if len(listed) > least:
                yield (
                    item.place,
                    f"item {at + 1} of `{path[-1]}` left out",
                    path,
                    replace(node, items=listed[:at] + listed[at + 1 :]),
                )
            if path[-1] in _ORDERED and at + 1 < len(listed):
                swapped = (*listed[:at], listed[at + 1], item, *listed[at + 2 :])
                yield (
                    item.place,
                    f"items {at + 1} and {at + 2} of `{path[-1]}` swapped",
                    path,
                    replace(node, items=swapped),
                )
            for place, change, where, new in self.node(item, rule, path):
                yield place, change, where, replace(node, items=(*listed[:at], new, *listed[at + 1 :]))


def _spoiled(node: Node) -> Node:
    if isinstance(node, Map):
        return Map(
            {key: replace(entry, value=_spoiled(entry.value)) for key, entry in node.entries.items()}, node.place
        )
    if isinstance(node, Listing):
        return replace(node, items=tuple(_spoiled(item) for item in node.items))
    return replace(node, value=f"{node.value}x" if node.value is not None else None)


def _is_prose(rule: Rule, key: str) -> bool:
    """Text for people changes nothing, except what an input `says` when it refuses."""
    return isinstance(rule, Text) and rule.means == "prose" and key not in {"says", "detail"} and not rule.choices


def _scalar(node: Scalar, rule: Rule) -> Iterator[tuple[Any, str, int]]:
    value = node.value
    if isinstance(value, bool):
        yield not value, f"{value} → {not value}".lower(), 0
    elif isinstance(value, (int, float)):
        step = 1 if not isinstance(rule, Number) or rule.most is None or value < rule.most else -1
        yield value + step, f"{value} → {value + step}", 0
    elif isinstance(value, str):
        yield from _text(value, rule)


def _text(text: str, rule: Rule) -> Iterator[Broken]:
    means = rule.means if isinstance(rule, Text | Anything) else "data"
    if isinstance(rule, Text) and rule.choices:
        at = rule.choices.index(text) + 1 if text in rule.choices else 0
        other = rule.choices[at % len(rule.choices)]
        if other != text:
            yield other, f"{text} → {other}", 0
    elif means == "expression" or (means in {"value", "selector", "path"} and text.startswith("=")):
        start = len(text) - len(text.removeprefix("="))
        for new, change, offset in break_expression(text[start:]):
            yield text[:start] + new, change, offset + start
    elif means == "selector":
        yield from break_selector(text)
    elif means in {"duration", "rate", "size"}:
        yield f"1{text}", f"{text} → 1{text}", 0
    elif means != "prose" or (isinstance(rule, Text) and rule.pattern == ""):
        yield f"{text}x", f"{_short(text)} → {_short(text)}x", 0


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else line[:20] + "…" + line[-19:]


def unseen_reason(path: Path) -> str:
    """Why no example can notice a break under this path, or nothing."""
    return next((UNSEEN[key] for key in path if key in UNSEEN and not _is_free(path, key)), "")


def _is_free(path: Path, key: str) -> bool:
    """A name that an author chose (a parameter, a field, an input called `cache`) means nothing to us."""
    at = path.index(key)
    return at > 0 and path[at - 1] in {
        "query",
        "headers",
        "json",
        "form",
        "map",
        "values",
        "with",
        "tables",
        "meta",
        "input",
        "answer",
    }


# --- trying them ----------------------------------------------------------------------------------------------------


def errors_of(spec: Spec, model: Model, around: Surroundings) -> frozenset[tuple[str, str]]:
    """The errors, as code and sentence, of one spec against the rest of the model: grammar, compiler and examples."""
    report = Report()
    if check(spec.root, GRAMMARS[spec.kind], report):
        if spec.kind == "provider":
            provider = compile_provider(spec, model.capabilities, report)
            if provider is not None:
                check_tables(spec, provider, model.capabilities, report)
            if provider is not None and not report.errors:
                check_provider(spec, provider, report)
        else:
            tool = compile_tool(spec, around, report)
            if tool is not None:
                check_tool(spec, tool, model, report)
    return frozenset((one.code, one.message) for one in report.found if one.is_error)


def mutate_spec(spec: Spec, model: Model) -> SpecResult:
    """Break one spec in every place, one at a time."""
    around = Surroundings(model.providers, model.capabilities, model.lenses, load_hooks())
    before = errors_of(spec, model, around)
    noticed = 0
    survivors: list[Break] = []
    unseen: list[Break] = []
    for mutation in mutations(spec):
        reason = unseen_reason(mutation.path)
        if reason:
            unseen.append(Break(mutation.place, mutation.change, reason))
            continue
        try:
            found = errors_of(replace(spec, root=mutation.root), model, around)
        except Exception as error:
            error.add_note(f"while {spec.name} was broken at {mutation.place}: {mutation.change}")
            raise
        if found - before:
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
        return MutationReport(tuple(pool.map(_mutate_in_worker, specs)))


_worker_model: list[Model] = []


def _start_worker(library: Library) -> None:
    from .weave import weave

    _worker_model.append(weave(library, Report()))


def _mutate_in_worker(spec: Spec) -> SpecResult:
    return mutate_spec(spec, _worker_model[0])


def chosen_specs(model: Model, library: Library, names: Sequence[str]) -> list[Spec]:
    """The providers and tools of these names, or all that compiled; a name that is none of them is a ValueError."""
    compiled = {"provider": model.providers, "tool": model.tools}
    found = [spec for kind in KINDS for name, spec in library.of(kind).items() if name in compiled[kind]]
    unknown = [name for name in names if name not in {spec.name for spec in found}]
    if unknown:
        raise ValueError(f"no provider or tool that compiles is called {unknown[0]!r}; see `specloom check`")
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
    from .names import layer_roots
    from .weave import weave_from

    model, library, _ = weave_from(layer_roots(os.environ))
    try:
        report = mutate(model, library, names, workers=os.cpu_count() or 1)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write((dumps(report.to_json(), ensure_ascii=False, indent=2) if json else render_report(report)) + "\n")
    return int(floor is not None and any(one.score < floor for one in report.specs))
