"""The verdict on all specs, each file of which is checked only where something changed that its last check read.

What is checked, in which order and in which words is as in `check.judge`; tests hold one against the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from specloom.compiler import Symbols
from specloom.core import PROMPT_SUFFIX, Diagnostic, Place, Report
from specloom.model import (
    CapabilityHead,
    DerivedMapping,
    Heads,
    Model,
    PageModel,
    ProviderHead,
    Tool,
    ToolHead,
    head_of_capability,
    head_of_provider,
    head_of_tool,
)
from specloom.specs import (
    Library,
    SourceText,
    Spec,
    check_marks,
    check_misplaced,
    check_overlooked,
    decode_source,
    load_library,
    parse_spec,
    prompt_files,
    read_prompt,
    shown_as,
)

from .facts import MISSING, SEPARATOR, Fact, Facts, MappingView, join, pack
from .memory import FileVerdict, Head, Memory

MODELS: Mapping[str, tuple[str, str]] = {
    "capability": ("capabilities", "Capability"),
    "lens": ("lenses", "Lens"),
    "provider": ("providers", "Provider"),
    "collection": ("collections", "CollectionModel"),
    "tool": ("tools", "Tool"),
    "toolset": ("toolsets", "Toolset"),
    "resource": ("resources", "Resource"),
}
"""For each kind of spec the mapping of a model that holds it, with which a path begins, and the class of its items."""
_KINDS = {plural: (kind, class_) for kind, (plural, class_) in MODELS.items()}
_BEFORE_PROVIDERS, _BEFORE_PAGES, _BEFORE_TOOLS = "1", "2", "3"
"""How far a check has come when it asks what is left out: more is, the further it is."""

Work = Callable[[Report], Head | None]


class LateSpec(Spec):
    """A spec that passed its grammar when it was last read; it is parsed again when somebody looks into it."""

    __slots__ = ("_data", "_place")

    _data: bytes
    _place: Place

    @property
    def place(self) -> Place:
        return self._place

    def __getattr__(self, name: str) -> Any:
        if name != "root":
            raise AttributeError(name)
        spec = parse_spec(self.source.file, self._data, Report())
        assert spec is not None
        object.__setattr__(self, "root", spec.root)
        return spec.root


def _make_late(shown: str, data: bytes, head: Head) -> LateSpec:
    spec = object.__new__(LateSpec)
    place = Place(*head["place"])
    source = SourceText(shown, decode_source(data), None)
    values = {one: head[one] for one in ("kind", "name", "group")} | {"source": source, "_data": data, "_place": place}
    for name, value in values.items():
        object.__setattr__(spec, name, value)
    return spec


class Check:
    """One check of all specs under these roots with what the last one left."""

    def __init__(self, roots: Sequence[Path], memory: Memory) -> None:
        self.roots, self.memory = roots, memory
        self.verdicts: dict[str, FileVerdict] = {}
        self.facts = Facts(memory.facts, self._derive, self._holds, self._find)
        self.report = Report()
        self.counts: dict[str, int] = {}
        self._same: set[str] = set()
        """Paths of facts that are as they were."""
        self.checked: set[str] = set()
        """What was checked anew, by the names of verdicts: what is checked and the file."""
        self._names: dict[str, list[str]] = {}
        """What could be compiled, for each mapping of a model, once all of it was tried."""
        self._left_out: dict[str, frozenset[str]] = {}
        self._heads: dict[str, Head] = {}
        self._files: dict[str, str] = {}
        """The digest of each file."""
        self._objects: dict[tuple[str, str], Any] = {}
        self._pages: dict[str, tuple[PageModel, ...]] = {}
        self.library = Library()

    @property
    def kept(self) -> Memory:
        """What the next check may start from."""
        return Memory(self.verdicts, self.facts.known)

    def run(self) -> Report:
        """Every diagnostic that `judge` gives."""
        self.library = load_library(self.roots, self.report, parse=self._parse)
        lost = set(self.library.unread)
        self._names["capabilities"] = list(self.library.of("capability"))
        lost |= self._compile("lens", _BEFORE_PROVIDERS)
        self._left_out[_BEFORE_PROVIDERS] = frozenset(lost)
        lost |= self._compile("provider", _BEFORE_PROVIDERS)
        self._left_out[_BEFORE_PAGES] = frozenset(lost)
        self._check_orders()
        self._compile_pages()
        lost |= self._compile("collection", _BEFORE_PAGES)
        self._left_out[_BEFORE_TOOLS] = frozenset(lost)
        for kind in ("tool", "toolset", "resource"):
            self._compile(kind, _BEFORE_TOOLS)
        orders = {name: self._verdict("resource", name).head or {} for name in self._names["resources"]}
        self._names["resources"].sort(key=lambda name: (orders[name]["order"], name))
        self._settle("addresses of resources", "", self._check_addresses, _BEFORE_TOOLS)
        check_overlooked(self.roots, self.report)
        check_misplaced(self.roots, self.library, self.report)
        self._check_prompts()
        self._check_examples()
        self._settle("what collections are for", "", self._check_use, _BEFORE_TOOLS)
        self._settle("what tools cost", "", self._check_costs, _BEFORE_TOOLS)
        check_marks(self.library.specs.values(), self.report)
        kinds = ("tool", "provider", "capability", "lens", "collection", "resource")
        self.counts = {MODELS[kind][0]: len(self.library.of(kind)) for kind in kinds}
        used = [spec.source.file for kind in kinds for spec in self.library.of(kind).values()]
        self.counts["examples"] = sum(self._heads[file]["examples"] for file in used) + self.counts["lenses"]
        return self.report

    # --- verdicts -----------------------------------------------------------------------------------------------------

    def _settle(self, name: str, own: str, work: Work, stage: str, *, again: bool = False) -> FileVerdict:
        """The verdict of that name: the last one if all that it read is as it was, else that of `work`; reported."""
        verdict = self._recall(name, own) if not again else None
        if verdict is None:
            report = Report(left_out=LeftOut(self.facts, stage))
            with self.facts.recording() as reads:
                head = work(report)
            verdict = FileVerdict(own, frozenset(reads), tuple(report.found), head=head)
            self.checked.add(name)
        self.verdicts[name] = verdict
        self.report.take(verdict.found)
        return verdict

    def _recall(self, name: str, own: str) -> FileVerdict | None:
        last = self.memory.verdicts.get(name)
        if last is None or last.own != own:
            return None
        for path in last.reads - self._same:
            if self.facts.has_changed(path):
                return None
            self._same.add(path)
        return last

    def _verdict(self, kind: str, name: str) -> FileVerdict:
        return self.verdicts[f"{kind} {self.library.specs[kind, name].source.file}"]

    def _parse(self, shown: str, data: bytes, report: Report) -> Spec | None:
        own = self._files[shown] = hashlib.sha256(data).hexdigest()
        name = f"file {shown}"
        verdict = self._recall(name, own)
        spec: Spec | None = None
        if verdict is None:
            apart = Report()
            spec = parse_spec(shown, data, apart)
            verdict = FileVerdict(own, found=tuple(apart.found), head=_head_of(spec) if spec else None)
            self.checked.add(name)
        elif verdict.head is not None:
            spec = _make_late(shown, data, verdict.head)
        self.verdicts[name] = verdict
        if verdict.head is not None:
            self._heads[shown] = verdict.head
        report.take(verdict.found)
        return spec

    # --- compiling ----------------------------------------------------------------------------------------------------

    def _compile(self, kind: str, stage: str) -> set[str]:
        """Compile every spec of a kind that has to be; the names of those that cannot be."""
        plural = MODELS[kind][0]
        specs = self.library.of(kind)
        good = []
        for name, spec in specs.items():

            def work(report: Report, spec: Spec = spec) -> Head | None:
                made = self._objects[plural, spec.name] = self._make(spec, report)
                return None if made is None else {"order": getattr(made, "order", 0)} if kind == "resource" else {}

            file = spec.source.file
            if self._settle(f"{kind} {file}", self._files[file], work, stage).head is not None:
                good.append(name)
        self._names[plural] = good
        return specs.keys() - good

    def _make(self, spec: Spec, report: Report) -> Any:
        """What a spec becomes, or None."""
        from specloom import compiler

        view = self._view
        match spec.kind:
            case "capability":
                return compiler.compile_capability(spec)
            case "lens":
                return compiler.compile_lens(spec, report)
            case "provider":
                provider = compiler.compile_provider(spec, view("capabilities"), report)
                if provider is not None:
                    compiler.check_tables(spec, provider, view("capabilities"), report)
                return provider
            case "collection":
                self._hooks  # noqa: B018 - they say what they keep
                collection = compiler.compile_collection(spec, report)
                if collection is not None:
                    compiler.check_needs({collection.name: collection}, report)
                return collection
            case "tool":
                return compiler.compile_tool(spec, self._symbols(), report)
            case "toolset":
                written, prompts = NamesView(self.facts, join("written", "tool")), NamesView(self.facts, "prompts")
                return compiler.compile_toolset(spec, view("tools"), written, prompts, report)
        return compiler.compile_resource(spec, self._symbols(), report)

    def _view(self, plural: str) -> MappingView:
        return MappingView(self.facts, plural)

    def _object(self, plural: str, name: str) -> Any:
        """A compiled spec, without a report and without a record of what it reads: both were made when it was checked.

        A provider comes with its pages once those of all are known.
        """
        key = (plural, name)
        spec = self.library.specs[_KINDS[plural][0], name]
        with self.facts.recording():
            if key not in self._objects:
                stage = _BEFORE_PROVIDERS if plural == "providers" else _BEFORE_TOOLS
                self._objects[key] = self._make(spec, Report(left_out=LeftOut(self.facts, stage)))
            if plural != "providers" or not self._heads[spec.source.file]["pages"] or "collections" not in self._names:
                return self._objects[key]
            if name not in self._pages:
                self._pages[name] = self._make_pages(spec, Report(left_out=LeftOut(self.facts, _BEFORE_PAGES)))
        return replace(self._objects[key], pages=self._pages[name])

    def _check_orders(self) -> None:
        for spec in self.library.of("capability").values():

            def work(report: Report, spec: Spec = spec) -> Head:
                from specloom.compiler import check_order

                check_order(spec, self._view("providers"), report)
                return {}

            file = spec.source.file
            self._settle(f"order {file}", self._files[file], work, _BEFORE_PAGES)

    def _compile_pages(self) -> None:
        for name in self._names["providers"]:
            spec = self.library.specs["provider", name]
            file = spec.source.file
            if not self._heads[file]["pages"]:
                continue

            def work(report: Report, spec: Spec = spec) -> Head:
                self._pages[spec.name] = self._make_pages(spec, report)
                return {}

            again = f"provider {file}" in self.checked
            self._settle(f"pages {file}", self._files[file], work, _BEFORE_PAGES, again=again)

    def _make_pages(self, spec: Spec, report: Report) -> tuple[PageModel, ...]:
        from specloom.compiler import compile_pages

        self._hooks  # noqa: B018 - they bring the filters of templates
        key = ("providers", spec.name)
        if key not in self._objects:
            with self.facts.recording():
                self._objects[key] = self._make(spec, Report(left_out=LeftOut(self.facts, _BEFORE_PROVIDERS)))
        providers = Beside(spec.name, self._objects[key], self._view("providers"))
        return compile_pages(spec, providers, self._view("capabilities"), self._view("templates"), report)

    def _check_addresses(self, report: Report) -> Head:
        from specloom.compiler import check_addresses

        check_addresses(self._view("resources").values(), report)
        return {}

    # --- prompts, examples, and what they show ------------------------------------------------------------------------

    def _check_prompts(self) -> None:
        for at, root in enumerate(self.roots):
            for path in prompt_files(root):
                shown = shown_as(path, root, at)
                try:
                    data = path.read_bytes()
                except OSError as error:
                    self.report.add("E001", Place(shown), f"the file cannot be read: {error.strerror}")
                    continue
                self.library.sources[shown] = data.decode("utf-8", "replace")

                def work(report: Report, shown: str = shown, data: bytes = data, path: Path = path) -> Head:
                    from specloom.compiler import check_prompt

                    self._hooks  # noqa: B018 - they bring the filters of templates
                    file = read_prompt(path.name.removesuffix(PROMPT_SUFFIX), shown, data, report)
                    if file is not None:
                        tools, lenses = (NamesView(self.facts, join("written", kind)) for kind in ("tool", "lens"))
                        check_prompt(file, tools, lenses, report)
                    return {}

                self._settle(f"prompt {shown}", hashlib.sha256(data).hexdigest(), work, _BEFORE_TOOLS)

    def _check_examples(self) -> None:
        """Run the examples of what was compiled; then warn of what they do not show, where nothing is wrong."""
        ran = []
        for kind in ("provider", "resource", "tool"):
            for name in sorted(self._names[MODELS[kind][0]]):
                spec = self.library.specs[kind, name]
                file = spec.source.file
                again = not self.checked.isdisjoint((f"{kind} {file}", f"pages {file}"))
                ran.append((kind, file, self._settle_examples(spec, again=again)))
        wrong = {one.place.file for one in self.report.errors}
        for kind, file, verdict in ran:
            if file not in wrong and not (kind == "tool" and self._left_out[_BEFORE_TOOLS]):
                self.report.take(verdict.shown or ())

    def _settle_examples(self, spec: Spec, *, again: bool) -> FileVerdict:
        shown: list[Diagnostic] = []

        def work(report: Report) -> Head:
            from ..coverage import SpecUse, cover_spec
            from ..examples.run import run_examples

            if spec.kind != "provider" or self._heads[spec.source.file]["pages"]:
                self._hooks  # noqa: B018
            compiled, use = self._object(MODELS[spec.kind][0], spec.name), SpecUse()
            traces = run_examples(spec, use.watch(compiled), self._model(), report)
            if not report.errors:
                apart = Report()
                cover_spec(spec, compiled, traces, use, self._model(), apart)
                shown.extend(apart.found)
            return {}

        file = spec.source.file
        name = f"examples {file}"
        verdict = self._settle(name, self._files[file], work, _BEFORE_TOOLS, again=again)
        if name in self.checked:
            verdict = self.verdicts[name] = replace(verdict, shown=tuple(shown))
        return verdict

    def _check_use(self, report: Report) -> Head:
        from specloom.compiler import check_use

        self._hooks  # noqa: B018 - they say what they keep
        check_use(self._view("collections"), self._view("tools").values(), report)
        return {}

    def _check_costs(self, report: Report) -> Head:
        from ..coverage import check_costs

        check_costs(self._model(), report)
        return {}

    # --- what checks are given ----------------------------------------------------------------------------------------

    @cached_property
    def _hooks(self) -> Any:
        from specloom.plugins import load_hooks

        return load_hooks()

    def _symbols(self) -> Symbols:
        from specloom.plugins import PROCEDURES

        view = self._view
        symbols = SymbolsView(
            view("providers"),
            view("capabilities"),
            view("lenses"),
            self._hooks,
            PROCEDURES,
            view("collections"),
            view("views"),
        )
        object.__setattr__(symbols, "_facts", self.facts)
        return symbols

    def _model(self) -> Model:
        model = object.__new__(ModelView)
        for name in (*_KINDS, "templates", "views"):
            object.__setattr__(model, name, self._view(name))
        object.__setattr__(model, "_facts", self.facts)
        return model

    # --- facts that are not below one spec, and those that are --------------------------------------------------------

    def _derive(self, path: str) -> Fact | None:
        kind, _, name = path.partition(SEPARATOR)
        if kind in _KINDS:
            if kind == path:
                return ["mapping", self._names[kind]]
            if SEPARATOR in name:
                return None
            return _record(_KINDS[kind][1]) if name in self._names[kind] else MISSING
        if kind == "left out":
            stage, _, one = name.partition(SEPARATOR)
            lost = self._left_out[stage]
            return ["plain", one in lost] if SEPARATOR in name else ["plain", pack(tuple(sorted(lost)))]
        if kind == "offering":
            return ["plain", pack(tuple(one for one in self._names["providers"] if name in self._operations(one)))]
        if kind == "ranked":
            return ["plain", pack(self._rank(name))]
        if kind == "reader":
            reading = (one for one in self._names["tools"] if self._below("tools", one, "reads") != ["plain", None])
            return ["plain", next(reading, None)]
        if kind == "reading pages":
            none = ["plain", pack(())]
            reading = (one for one in self._names["providers"] if self._below("providers", one, "pages") != none)
            return ["plain", pack(tuple(reading))]
        if kind in {"templates", "views"}:
            found: Mapping[str, Any] = self.library.templates if kind == "templates" else self.library.views
            if kind == path:
                return ["mapping", list(found)]
            return ["plain", pack(found[name])] if name in found else MISSING
        if kind == "digest":
            from specloom.compiler import digest_sources

            return ["plain", digest_sources(self.library.sources)]
        listed: Iterable[str] = self.library.of(name) if kind == "written" else sorted(self.library.prompts)
        return ["plain", pack(tuple(listed))]

    def _below(self, *path: str) -> Fact:
        return self.facts.fact(join(*path))

    def _operations(self, provider: str) -> list[str]:
        return [*self._below("providers", provider, "operations")[1]]

    def _rank(self, capability: str) -> tuple[str, ...]:
        """As `Heads.offering` has them."""
        named = [name for name in self._names["providers"] if capability in self._operations(name)]
        own = ["plain", capability]
        offered = [
            name for name in named if self._below("providers", name, "operations", capability, "capability") == own
        ]
        order = self.facts.show(join("capabilities", capability, "order")) if capability in self._capabilities else ()
        ranks = {name: rank for rank, name in enumerate(order)}
        return tuple(sorted(offered, key=lambda name: (ranks.get(name, len(ranks)), name)))

    @property
    def _capabilities(self) -> list[str]:
        return self._names["capabilities"]

    def _holds(self, path: str) -> bool:
        plural, name, attribute, *_ = path.split(SEPARATOR)
        if name not in self._names[plural]:
            return False
        kind = _KINDS[plural][0]
        file = self.library.specs[kind, name].source.file
        if kind == "capability":
            return f"file {file}" not in self.checked
        if attribute == "pages" and f"pages {file}" in self.checked:
            return False
        return f"{kind} {file}" not in self.checked

    def _find(self, plural: str, name: str) -> Any:
        found = self._object(plural, name) if name in self._names[plural] else None
        if found is None:
            raise KeyError(name)
        return found


def _record(class_: str) -> Fact:
    from specloom import model

    kind = getattr(model, class_)
    return ["record", kind.__module__, kind.__name__]


def _head_of(spec: Spec) -> Head:
    """What is known of a spec without its tree."""
    place, examples = spec.place, spec.root.get("examples")
    return {
        "kind": spec.kind,
        "name": spec.name,
        "group": spec.group,
        "place": [place.file, place.line, place.column, place.width],
        "examples": len(getattr(examples, "items", ())),
        "pages": "pages" in spec.root,
    }


# --- Views of what is not one spec ------------------------------------------------------------------------------------


class LeftOut(set[str]):
    """The names of what is left out; to ask for one of them is to read no other."""

    def __init__(self, facts: Facts, stage: str) -> None:
        super().__init__()
        self._facts, self._path = facts, join("left out", stage)

    def __contains__(self, name: object) -> bool:
        return bool(self._facts.read(join(self._path, str(name))))

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts.read(self._path))

    def __len__(self) -> int:
        return len(self._facts.read(self._path))


class NamesView(Collection[str]):
    """Names that are read all at once."""

    def __init__(self, facts: Facts, path: str) -> None:
        self._facts, self._path = facts, path

    def __contains__(self, name: object) -> bool:
        return name in self._facts.read(self._path)

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts.read(self._path))

    def __len__(self) -> int:
        return len(self._facts.read(self._path))


class Beside(Mapping[str, Any]):
    """A mapping with one item as it is, in the place of its view."""

    def __init__(self, name: str, item: Any, others: Mapping[str, Any]) -> None:
        self._name, self._item, self._others = name, item, others

    def __getitem__(self, name: str) -> Any:
        return self._item if name == self._name else self._others[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._others)

    def __len__(self) -> int:
        return len(self._others)


class SymbolsView(Symbols):
    """What a tool may name; to ask who offers a capability is to read nothing else of providers."""

    __slots__ = ("_facts",)
    _facts: Facts

    def offering(self, capability: str) -> dict[str, Any]:
        names: tuple[str, ...] = self._facts.read(join("offering", capability))
        return {name: self.providers[name].operations[capability] for name in names}


class HeadsView(Heads):
    """What is known of every spec, each read when it is asked for."""

    __slots__ = ("_facts",)
    _facts: Facts

    def offering(self, capability: str) -> tuple[str, ...]:
        offered: tuple[str, ...] = self._facts.read(join("ranked", capability))
        return offered


class ModelView(Model):
    """A model in which every spec, and every part of one, is read when it is asked for."""

    __slots__ = ("_facts",)
    _facts: Facts

    def __getattr__(self, name: str) -> Any:
        if name != "digest":
            raise AttributeError(name)
        return self._facts.read("digest")

    @property
    def heads(self) -> Heads:
        providers: Mapping[str, ProviderHead] = DerivedMapping(self.providers, head_of_provider)
        capabilities: Mapping[str, CapabilityHead] = DerivedMapping(self.capabilities, head_of_capability)
        tools: Mapping[str, ToolHead] = DerivedMapping(self.tools, head_of_tool)
        heads = HeadsView(providers, capabilities, tools)
        object.__setattr__(heads, "_facts", self._facts)
        return heads

    @property
    def reader(self) -> Tool | None:
        name = self._facts.read("reader")
        return None if name is None else self.tools[name]

    @property
    def pages(self) -> list[PageModel]:
        reading: tuple[str, ...] = self._facts.read("reading pages")
        return [page for name in reading for page in self.providers[name].pages]
