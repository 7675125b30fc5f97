"""The provider's half of the model: contracts, and services with the operations that keep them. Only data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from specloom.core import Place, Policy, Rate
from specloom.language import ANY, RecordType, Shape

from .values import Field, Pair, Setting, Value


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
class ResponseMapping:
    """How a response becomes rows."""

    decoder: str
    options: Mapping[str, Any]
    each: Callable[[Any], list[Any] | None]
    """The items of a document; None where the place for them is missing, which is not the same as empty."""
    fields: tuple[Field, ...]
    keep: Value | None = None
    take: Value | None = None
    empty_is_ok_when: Callable[[Any], bool] | None = None
    place: Place = field(default_factory=lambda: Place(""))


@dataclass(frozen=True, slots=True)
class Paging:
    """How the next page is asked for: `kind` is offset, page, cursor, names or link; `most` pages are read."""

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
    reading: ResponseMapping
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
    shape: RecordType = field(default_factory=lambda: RecordType({}))
