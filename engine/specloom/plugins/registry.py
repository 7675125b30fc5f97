"""What packages register by name, for specs and for the engine: the only door to hand-written domain code.

A package announces itself under the entry-point group `specloom.plugins.registry`; importing it registers what it has.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, ParamSpec, TypeVar

from specloom.core import Fault, dataclass, field, replace

from .collections import CollectionNeed, Collections
from .context import Context
from .reading import OpenedText
from .records import signature_of

Row = dict[str, Any]
Schemas = Mapping[str, Mapping[str, Any]]
HookFunction = Callable[[list[Row], Mapping[str, Any]], list[Row]]
ProcedureFunction = Callable[["Context", Mapping[str, Any]], Awaitable[Row]]
ObserverFunction = Callable[["Collections", "ObservedCall"], Awaitable[None]]
EnvelopeFunction = Callable[["Fault", Mapping[str, Any]], Row]
WindowFunction = Callable[[str, str, int], "OpenedText"]
PlaceFunction = Callable[[Mapping[str, str]], "Path"]
ProgramFunction = Callable[[Mapping[str, str]], tuple[str, str]]
"""The path of a program, or "" and the sentence why there is none and what to do."""
ListFunction = Callable[["Path", bytes], str]
CloserFunction = Callable[[], Awaitable[None]]

GROUP = "specloom.hooks"
_LATER: Any = None
"""Stands for the function of an entry until it is registered."""

P = ParamSpec("P")
E = TypeVar("E", bound="Entry")
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered function: its name, and what its docstring says."""

    name: str
    function: Callable[..., Any] = field(default=_LATER, kw_only=True)
    doc: str = field(default="", kw_only=True)


class Registry(dict[str, E], Generic[P, E, F]):
    """What is registered of one kind, by name, in the order in which it came."""

    def __init__(self, kind: Callable[P, E], function_of: Callable[[E], F]) -> None:
        super().__init__()
        self._kind, self._function_of = kind, function_of
        self.homes: dict[str, str] = {}
        """The modules that register entries which may be asked for before any package was imported, by name."""

    def __missing__(self, name: str) -> E:
        """Import the module that registers the name, or every package that announces some."""
        if name in self.homes:
            import_module(self.homes[name])
        if not self.has(name):
            load_hooks()
        if not self.has(name):
            raise KeyError(name)
        return self[name]

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.homes

    def has(self, name: str) -> bool:
        """Whether the entry is here by now."""
        return super().__contains__(name)

    def modules(self) -> dict[str, str]:
        """The module of each entry's function by the entry's name, as `homes` has it."""
        return {name: self._function_of(entry).__module__ for name, entry in self.items()}

    def register(self, *args: P.args, **declared: P.kwargs) -> Callable[[F], F]:
        """Register a function with what an entry of this kind declares; its docstring is its documentation.

        Raises a ValueError where another function has the name.
        """
        entry = self._kind(*args, **declared)

        def take(function: F) -> F:
            self.add(replace(entry, function=function, doc=(function.__doc__ or "").strip()))
            return function

        return take

    def add(self, entry: E) -> None:
        """Put an entry under its name; a ValueError where another one has it."""
        present = self.get(entry.name)
        if present is not None and self._function_of(present) is not self._function_of(entry):
            kind = type(entry).__name__.lower()
            raise ValueError(f"{'an' if kind[0] in 'aeo' else 'a'} {kind} named {entry.name!r} is registered already")
        self[entry.name] = entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook(Entry):
    """A stage over rows, `(rows, arguments) -> rows`: what it takes, what it adds to a row, and what it reads of one.

    `parameters` and `adds` map a name to a draft-07 JSON Schema; a field in `adds` may be left out of a row.
    """

    parameters: Schemas
    adds: Schemas
    reads: tuple[str, ...]
    function: HookFunction = _LATER


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure(Entry):
    """A piece of domain work that asks, reads or keeps as it goes along, and gives one record: the `result`.

    `parameters` maps a name to a draft-07 JSON Schema, `gives` is the schema of the record. `asks` names the
    capabilities that it may ask and `runs` the procedures that it may run, so that routing, dry runs and pages know.
    `settings` are declared as under `config` of a tool, and become settings of every tool that runs it. `keeps` says
    which collections it opens, and what it relies on in them. `needs` names the parameters that a plan has to pass.
    `reads` are beginnings of addresses, such as `https://`: what stands under one it gives whole, as a
    `specloom.plugins.reading.WholeText`, to whoever passes `address`. With `reads_sources` it may run all of those.
    `pages` is the capability of the one question whose answer a caller can go on with, by the cursor of a tool.
    """

    parameters: Schemas
    gives: Mapping[str, Any]
    asks: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    settings: Schemas = field(default_factory=dict)
    keeps: tuple[CollectionNeed, ...] = ()
    needs: tuple[str, ...] = ()
    reads_pages: bool = False
    """It reads pages of sites, so it may ask what the `pages` of providers ask."""
    reads: tuple[str, ...] = ()
    reads_sources: bool = False
    pages: str = ""
    function: ProcedureFunction = _LATER


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """A call that was answered or failed: whose, of which tool, in which research session, and what it found."""

    owner: str
    tool: str
    session: str
    kind: str
    """What kind of source the rows are; empty for a tool whose rows are none."""
    rows: list[Row]
    outcomes: list[Mapping[str, Any]]
    """Who was asked and how that ended: `provider`, and `error` and `url` where there are any."""
    at: float
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer(Entry):
    """Remembers calls: those with a session, or all where the setting `every` is on.

    Its faults fail no call: whoever named a session is told that it was not recorded there, and why.
    """

    settings: Schemas = field(default_factory=dict)
    every: str = ""
    keeps: tuple[CollectionNeed, ...] = ()
    function: ObserverFunction = _LATER


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope(Entry):
    """How a fault and the raw arguments are told as an ordinary answer, for tools whose failures are answers.

    `gives` maps each key of such an answer to a draft-07 JSON Schema. `text` tells it as Markdown, for the tools that
    have a text; without one it is told as JSON.
    """

    gives: Schemas
    text: Callable[[Mapping[str, Any]], str] | None = None
    function: EnvelopeFunction = _LATER


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(Entry):
    """Opens a long text: how it begins, and the arguments that read on where that is not all of it."""

    function: WindowFunction = _LATER


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePlace(Entry):
    """Finds where a package keeps things on disk: what names another place, and what holds if this one is no use."""

    variable: str
    otherwise: str
    is_file: bool = False
    function: PlaceFunction = _LATER
    verify: Callable[[Path], tuple[int, str]] | None = None
    """For a hash-chained log: how many rows hold, and what is wrong with the next one."""
    derived: Callable[[Mapping[str, Any]], Sequence[Path]] | None = None
    """Files elsewhere that were made of what is kept there, and can be made again; an erasure deletes them."""
    removal: str = ""
    """How people remove what is theirs there, since an erasure leaves what has no owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuxiliaryProgram(Entry):
    """Finds a program that a package drives where it is there: what is missed without it."""

    otherwise: str
    function: ProgramFunction = _LATER


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptList(Entry):
    """A public list that is kept as a file and got anew by a command: where it is, and what names the file.

    The function puts what was got in its place and says in a sentence what it has; it refuses what is no such list.
    """

    variable: str
    address: Callable[[], str]
    most_bytes: int
    function: ListFunction = _LATER


@dataclass(frozen=True, slots=True, kw_only=True)
class Closer(Entry):
    """Ends what procedures have started, browsers for one, when an executor is closed."""

    function: CloserFunction = _LATER


HOOKS = Registry(Hook, lambda one: one.function)
PROCEDURES = Registry(Procedure, lambda one: one.function)
OBSERVERS = Registry(Observer, lambda one: one.function)
ENVELOPES = Registry(Envelope, lambda one: one.function)
WINDOWS = Registry(Window, lambda one: one.function)
PLACES = Registry(StoragePlace, lambda one: one.function)
LISTS = Registry(KeptList, lambda one: one.function)
PROGRAMS = Registry(AuxiliaryProgram, lambda one: one.function)
CLOSERS = Registry(Closer, lambda one: one.function)
_BY_NAME: Mapping[str, Registry[Any, Any, Any]] = MappingProxyType(
    {"hooks": HOOKS, "procedures": PROCEDURES, "observers": OBSERVERS, "envelopes": ENVELOPES, "windows": WINDOWS}
)


def find_derived(environ: Mapping[str, Any]) -> Iterator[tuple[str, Path, Sequence[Path]]]:
    """Places on this machine of which other files are made: what each keeps, where it is, and these files.

    Only those of which something is there.
    """
    load_hooks()
    for about, place in sorted(PLACES.items()):
        if place.derived is not None:
            path, files = place.function(environ), place.derived(environ)
            if files or path.exists():
                yield about, path, files


def say_remaining(environ: Mapping[str, Any]) -> list[str]:
    """A sentence about each place whose files an erasure leaves: where it is, why, and how people remove them."""
    return [
        f"the {about} at {path} stays, because its files have no owner: {PLACES[about].removal}; what was made of them "
        "is deleted for everybody, and made again when it is needed"
        for about, path, _ in find_derived(environ)
    ]


def delete_derived(environ: Mapping[str, Any]) -> tuple[int, str]:
    """Delete the files that were made of what places keep; how many, and a sentence about those that stay, or "".

    What another program deleted meanwhile is gone, too.
    """
    count, problems = 0, list[str]()
    for _, _, files in find_derived(environ):
        for path in files:
            try:
                path.unlink(missing_ok=True)
                count += 1
            except OSError as error:
                problems.append(f"{path} cannot be deleted ({error.strerror})")
    return count, "; ".join(problems)


def procedure(
    name: str,
    *,
    asks: tuple[str, ...] = (),
    runs: tuple[str, ...] = (),
    settings: Schemas = MappingProxyType({}),
    keeps: tuple[CollectionNeed, ...] = (),
    reads_pages: bool = False,
    reads: tuple[str, ...] = (),
    reads_sources: bool = False,
    pages: str = "",
    **stated: Any,
) -> Callable[[F], F]:
    """Register an async function `(context, …) -> record`; what it takes and gives is read from its signature.

    One that works with plain mappings states `parameters`, `gives` and `needs` instead.
    """

    def take(function: F) -> F:
        said = {"function": function, **stated} if stated else signature_of(function)
        doc = (function.__doc__ or "").strip()
        declared: dict[str, Any] = {"asks": asks, "runs": runs, "settings": settings, "keeps": keeps}
        declared |= {"reads_pages": reads_pages, "reads": reads, "reads_sources": reads_sources, "pages": pages}
        PROCEDURES.add(Procedure(name, doc=doc, **declared, **said))
        return function

    return take


def find_reader(address: str) -> str:
    """The name of the procedure that reads what stands under an address: who knows most of it; "" where nobody does."""
    load_hooks()
    beginnings = {beginning: one.name for one in PROCEDURES.values() for beginning in one.reads}
    fitting = [beginning for beginning in beginnings if address.casefold().startswith(beginning)]
    return beginnings[max(fitting, key=len)] if fitting else ""


def open_text(text: str, source: str, room: int) -> OpenedText:
    """How a text begins that stands under an address, in at most `room` tokens (0 for no bound)."""
    name = next(iter({**WINDOWS, **WINDOWS.homes}), "")
    return (
        WINDOWS[name].function(text, source, room)
        if name
        else OpenedText(content=text, end=len(text), length=len(text))
    )


def load_hooks() -> Mapping[str, Hook]:
    """Every registered hook, after importing each package that announces some; the other kinds come with them."""
    for module in _announced():
        import_module(module)
    return HOOKS


@cache
def _announced() -> tuple[str, ...]:
    from importlib.metadata import entry_points

    return tuple(dict.fromkeys(entry.module for entry in entry_points(group=GROUP)))


def registered() -> dict[str, dict[str, str]]:
    """The module of everything that specs and the engine ask for by name, by kind and name."""
    load_hooks()
    return {kind: registry.modules() for kind, registry in _BY_NAME.items()}


def expect(homes: Mapping[str, Mapping[str, str]]) -> None:
    """Let what `registered` gave be imported when it is first asked for."""
    for kind, modules in homes.items():
        _BY_NAME[kind].homes.update(modules)
