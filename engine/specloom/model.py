"""The checked model: what the compiler makes of specs, ready to run. Only data; nothing here reads or sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .diagnostics import Place
from .drawer import CollectionSpec
from .limits import Rate
from .shapes import ANY, Record, Shape
from .wire import Policy

Context = dict[str, Any]
Row = dict[str, Any]
Uses = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Value:
    """Something that is worked out from a context: a constant, an expression, or a tree of both."""

    evaluate: Callable[[Context], Any]
    shape: Shape
    place: Place
    text: str = ""
    uses: Uses = frozenset()
    tables: frozenset[str] = frozenset()
    constant: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a row: how it is read from an item, and what it needs."""

    name: str
    read: Callable[[Any, Context], Any]
    shape: Shape
    place: Place
    uses: Uses = frozenset()
    tables: frozenset[str] = frozenset()
    required: bool = False
    constant: bool = False
    """It has the same value in every row, so no row can lack it."""
    has_else: bool = False
    keeps_null: bool = False
    """Its key stays with null when nothing was found."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One environment variable that a spec may read."""

    name: str
    description: str
    place: Place
    kind: str = "text"
    secret: bool = False
    required: bool = False
    default: Any = None
    rotate: bool = False
    stand_in: str = ""
    """The variable that is read when this one is not set."""


Pair = tuple[str, Value]


@dataclass(frozen=True, slots=True)
class ErrorRule:
    """When an answer is a failure, and of which kind."""

    when: Value
    kind: str
    place: Place
    message: Value | None = None
    retry_after: Value | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """Which kinds of fault are worth how many further tries; `wait` seconds before the first, doubled each time."""

    kinds: frozenset[str]
    times: int
    wait: float


@dataclass(frozen=True, slots=True)
class Grant:
    """Where and with which credentials a token is asked for."""

    url: Value
    client: Value
    secret: Value
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Service:
    """What all operations of a provider share."""

    base: Value
    policy: Policy
    headers: tuple[Pair, ...] = ()
    extra_headers: Value | None = None
    query: tuple[Pair, ...] = ()
    auth: tuple[str, Value] | None = None
    rate: Rate | None = None
    concurrency: int | None = None
    retry: Retry | None = None
    errors: tuple[ErrorRule, ...] = ()
    grant: Grant | None = None
    faster: tuple[tuple[str, Rate], ...] = ()
    """Rates that hold instead when a setting has a value; the first such setting decides."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a response becomes rows."""

    decoder: str
    options: Mapping[str, Any]
    each: Callable[[Any], list[Any] | None]
    """The items of a document; None where the place for them is missing, which is not the same as empty."""
    fields: tuple[Field, ...]
    needs_context: bool
    keep: Value | None = None
    take: Value | None = None
    empty_is_ok_when: Callable[[Any], bool] | None = None
    place: Place = field(default_factory=lambda: Place(""))


@dataclass(frozen=True, slots=True)
class Paging:
    """How the next page is asked for: `kind` is offset, page, cursor or link; `most` pages are read."""

    kind: str
    most: int
    parameter: str = ""
    start: int = 0
    by: int = 1
    at: Value | None = None
    enough: Value | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One request of an operation and what is read from its response."""

    name: str
    method: str
    path: tuple[str | Value, ...]
    place: Place
    reading: Reading
    when: Value | None = None
    optional: bool = False
    keep_for: float = 0.0
    headers: tuple[Pair, ...] = ()
    query: tuple[Pair, ...] = ()
    body: tuple[str, Value] | None = None
    paging: Paging | None = None
    base: str = ""
    """Where the path is under when it is not the service's base."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A list argument that is split over several runs."""

    over: str
    at_most: int
    fits: Value | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """Fields taken from other rows that have the same key."""

    rows: Value
    on: str
    take: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Nearest:
    """Sorting by distance from a point, in metres."""

    lat: Value
    lon: Value
    within: Value | None = None


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What comes out of an operation when it is not simply the last step's rows."""

    rows: Value | None = None
    join: Join | None = None
    nearest: Nearest | None = None
    keep: Value | None = None
    take: Value | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a provider can do: its steps, and what comes out."""

    provider: str
    name: str
    capability: str
    input: tuple[str, ...]
    steps: tuple[Step, ...]
    place: Place
    values: tuple[Pair, ...] = ()
    shard: Shard | None = None
    arrangement: Arrangement = field(default_factory=Arrangement)
    meta: tuple[Pair, ...] = ()
    conform: tuple[tuple[str, Callable[[Any], Any], bool], ...] = ()
    """For each row field of the capability: its name, what makes a value fit its type (None: it does not), required."""
    arguments_used: frozenset[str] = frozenset()
    description: str = ""

    @property
    def id(self) -> str:
        """PROVIDER.OPERATION, as messages and examples name it."""
        return f"{self.provider}.{self.name}"


@dataclass(frozen=True, slots=True)
class Provider:
    """One upstream API."""

    name: str
    title: str
    place: Place
    digest: str
    service: Service
    settings: Mapping[str, Setting]
    operations: Mapping[str, Operation]
    tables: Mapping[str, Mapping[str, Any]]
    homepage: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument or row field of a capability."""

    name: str
    kind: str
    description: str
    place: Place
    shape: Shape = ANY
    required: bool = False


@dataclass(frozen=True, slots=True)
class Capability:
    """The contract between tools and providers: what may be asked, and what one row holds."""

    name: str
    title: str
    description: str
    place: Place
    arguments: Mapping[str, Argument]
    row: Mapping[str, Argument]
    routing_key: str
    order: tuple[str, ...]
    shape: Record = field(default_factory=lambda: Record({}))


@dataclass(frozen=True, slots=True)
class Input:
    """One argument of a tool, as published and as checked."""

    name: str
    kind: str
    description: str
    place: Place
    shape: Shape
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    catalogue: str = ""
    """Where the choices come from: `lenses` or `providers.CAPABILITY`; empty for a written list."""
    is_open: bool = False
    minimum: float | None = None
    maximum: float | None = None
    clamp: bool = False
    min_length: int | None = None
    max_length: int | None = None
    pattern: str = ""
    says: str = ""
    format: str = ""
    """Which of `dates.FORMATS` the text has; its pattern and its words are then those above."""
    max_items: int | None = None
    items: tuple[Input, ...] = ()
    """The fields of each item, for a list of objects."""


@dataclass(frozen=True, slots=True)
class Cache:
    """How long answers are kept, and what is left out of their key."""

    ttl: float
    shape: int
    ignore: tuple[str, ...]
    unless: Value | None = None
    always_say: bool = False
    age_as: str = ""
    """The key of the answer that gets its age in whole seconds."""


@dataclass(frozen=True, slots=True)
class Again:
    """A second try with the same provider."""

    when: Value
    overrides: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to get rows: `kind` is call, first_of, gather, collect, hook or procedure; `hook` names the last two."""

    name: str
    kind: str
    place: Place
    when: Value | None = None
    providers: Value | None = None
    operation: str = ""
    overrides: tuple[Pair, ...] = ()
    again: Again | None = None
    hook: str = ""
    outcomes: Mapping[str, str] = field(default_factory=dict)
    first_decides: bool = False
    """Where the first provider fails and nobody after it finds anything, its fault is told."""
    parts: tuple[Part, ...] = ()
    rows: tuple[str, ...] = ()
    """For `collect`: the parts whose rows go on, one part after the other."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of several questions that are asked side by side; what comes of it stands under its name."""

    name: str
    place: Place
    operation: str
    providers: Value
    when: Value | None = None
    overrides: tuple[Pair, ...] = ()
    outcomes: Mapping[str, str] = field(default_factory=dict)
    after: tuple[Stage, ...] = ()
    shape: Record = field(default_factory=lambda: Record({}))
    """What a row is after the part's own stages."""
    uses: Uses = frozenset()
    needs: frozenset[str] = frozenset()
    """The parts that have to be there before this one is asked."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One thing that happens to rows after the plan.

    `kind` is keep, drop, dedupe, sort, group, set, expand, take, enrich, lookup or procedure; `hook` names what the
    last or `enrich` runs.
    """

    kind: str
    place: Place
    value: Value | None = None
    names: tuple[str, ...] = ()
    descending: bool = False
    when: Value | None = None
    hook: str = ""
    parameters: tuple[Pair, ...] = ()
    optional: bool = False
    label: str = ""
    """Under which name the rows that this stage drops, or the groups that it makes, are counted."""
    operation: str = ""
    providers: Value | None = None
    fields: tuple[tuple[str, str], ...] = ()
    """For `lookup`: each field that a row gets, with the field of the answer that it is taken from."""
    keys: tuple[tuple[str, ...], ...] = ()
    """For `dedupe`: what makes two rows one, each a field or several that are all alike."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What an empty answer says in a special case."""

    when: Value
    action: str
    reason: str = ""
    parameter: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Hints:
    """What an empty answer says."""

    filters: tuple[str, ...]
    always: tuple[str, ...] = ()
    also: tuple[Advice, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """One key of the answer: a value, or rows that are mapped."""

    name: str
    value: Value
    fields: tuple[Field, ...] | None = None
    take: Value | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """From which size on an answer is linked and not inlined, and what then stands in its place."""

    above: int
    summary: Value
    when: Value | None = None
    also: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool, compiled."""

    name: str
    title: str
    description: str
    place: Place
    digest: str
    toolsets: tuple[str, ...]
    annotations: Mapping[str, bool]
    inputs: Mapping[str, Input]
    checks: tuple[tuple[Value, Value], ...]
    settings: Mapping[str, Setting]
    cache: Cache | None
    values: tuple[Pair, ...]
    plan: tuple[Strategy, ...]
    after: tuple[Stage, ...]
    hints: Hints | None
    answer: tuple[AnswerKey, ...]
    record: tuple[str, str] | None
    deadline: float
    row_shape: Record
    capabilities: tuple[str, ...]
    lookups: tuple[str, ...]
    """The capabilities that only decorate rows."""
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    link: Link | None = None
    whole: Value | None = None
    """The record that is the answer, nulls included, where the answer is not put together from keys."""
    envelope: str = ""
    """The registered envelope in which faults are told as answers."""
    opt_in: str = ""
    """The switch without which the tool does not exist for clients."""
    needs_provider: bool = False
    """Whether it exists for clients only where a provider of one of `sources` is configured."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The capabilities that its answers come from: those that do more than decorate rows."""
        return tuple(name for name in self.capabilities if name not in self.lookups)


@dataclass(frozen=True, slots=True)
class Lens:
    """A field of trusted sites."""

    name: str
    title: str
    description: str
    place: Place
    domains: tuple[str, ...] = ()
    goggle: str = ""
    engine: str = ""
    notes: str = ""
    query: str = ""
    makes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Collection:
    """One collection of what a server remembers: what it is for, what is declared, and the variables that set it."""

    name: str
    title: str
    description: str
    place: Place
    spec: CollectionSpec
    settings: Mapping[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Toolset:
    """What a client is told at the start about the tools of one folder; `{tool}` in a paragraph names one of them.

    `prompts` are listed only where one of these tools is served.
    """

    name: str
    instructions: tuple[str, ...]
    place: Place
    prompts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that was compiled, by name; `digest` changes when any spec does."""

    providers: Mapping[str, Provider]
    capabilities: Mapping[str, Capability]
    tools: Mapping[str, Tool]
    lenses: Mapping[str, Lens]
    digest: str
    collections: Mapping[str, Collection] = field(default_factory=dict)
    toolsets: Mapping[str, Toolset] = field(default_factory=dict)
    _offered: dict[str, Mapping[str, Operation]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def offering(self, capability: str) -> Mapping[str, Operation]:
        """Every operation of a capability, by provider, in the order of its routing and then by name."""
        offered = self._offered.get(capability)
        if offered is None:
            offered = self._offered[capability] = self._find_offering(capability)
        return offered

    def _find_offering(self, capability: str) -> dict[str, Operation]:
        found = {
            provider.name: operation
            for provider in self.providers.values()
            for operation in provider.operations.values()
            if operation.capability == capability and operation.name == capability
        }
        order = self.capabilities[capability].order if capability in self.capabilities else ()
        ranked = [name for name in order if name in found] + sorted(name for name in found if name not in order)
        return {name: found[name] for name in ranked}
