"""The provider's half of the model: contracts, and services with the operations that keep them. Only data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from specloom.core import PageTemplate, Place, Policy, Rate, dataclass, field
from specloom.language import ANY, MAX_CAPTURED, RecordType, Shape

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
class QuotaHeaders:
    """What the headers of a response tell of the account: expressions, of which each may find nothing."""

    rate: Value | None = None
    """The pace, as a text; it holds where no setting says another."""
    left: Value | None = None
    """How many requests are left before the allowance is renewed."""
    renews: Value | None = None
    """When that is: in so many seconds, or a moment."""


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
    cost: float = 0.0
    """What a request costs, in dollars; 0 where nothing is paid."""
    learned: QuotaHeaders | None = None
    """What is learned of the account from the headers of each response."""
    faster: tuple[tuple[str, Rate], ...] = ()
    """Rates that hold instead when a setting has a value; the first such setting decides."""
    unreachable: str = ""
    """The sentence for an address at which nobody answers, where the file of the provider has one."""


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


HALF_GIVEN = 300.0
"""Seconds for which a page is kept of which not all rows were given."""
COST_FACT = "cost_dollars"
"""The fact under `meta` of an operation in which an upstream says what the whole of it cost, in dollars."""


@dataclass(frozen=True, slots=True)
class Paging:
    """How the next page is asked for: `kind` is offset, page, cursor, names or link; `most` pages are read."""

    kind: str
    most: int
    parameter: str = ""
    """Empty where the request itself says `position`."""
    start: int = 0
    by: int = 1
    """How far a page is from the next one; 0 for as many items as it has."""
    step: Value | None = None
    """The same, where it hangs on what is asked."""
    at: Value | None = None
    enough: Value | None = None
    resume: bool = False
    """A later call may go on where one has ended, each run of the operation over one page."""
    deepest: int | None = None
    """The last page or row number that the upstream gives."""
    more: Value | None = None
    """Whether there is a page behind this one."""


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
    base: tuple[str | Value, ...] = ()
    """Where the path is under when it is not the service's base; a value in it is the first label of the host."""
    parameters: Value | None = None
    """All query parameters as one object, in the place of `query`."""
    refusal: Value | None = None
    """What is wrong with the arguments, as a sentence; null where nothing is."""
    writes: bool = False
    """Whether the request changes something there, and may not be sent again where nobody knows what came of it."""


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
    paging: Paging | None = None
    """That of the step whose pages later calls can go on with."""
    until: tuple[float, str] | None = None
    """When it leaves the routes that nobody has written, in seconds since the epoch, and why."""

    @property
    def id(self) -> str:
        """PROVIDER.OPERATION, as messages and examples name it."""
        return f"{self.provider}.{self.name}"


# --- Pages of sites that a provider reads: which addresses are theirs, what is asked, and what becomes of it ---------


_LONGEST = 4_000
"""Characters of an address beyond which it is none that a site's own pages have."""


@dataclass(frozen=True, slots=True)
class PageAddress:
    """A web address taken apart: its path's segments are decoded; of a repeated parameter the first counts."""

    url: str
    host: str
    segments: tuple[str, ...]
    query: Mapping[str, str]
    fragment: str


def parse_address(url: str) -> PageAddress | None:
    """The parts of a plain web address; nothing for other schemes, ports, credentials, dots in a path or no address."""
    url = url.strip()
    if len(url) > _LONGEST:
        return None
    try:
        split = urlsplit(url)
        port = split.port
        query = parse_qsl(split.query, keep_blank_values=True)
    except ValueError:
        return None
    if split.scheme not in ("http", "https") or split.username is not None or port not in (None, 80, 443):
        return None
    segments = tuple(unquote(segment) for segment in split.path.split("/") if segment)
    if {".", ".."} & {*segments}:
        return None
    host = (split.hostname or "").removesuffix(".")
    return PageAddress(url, host, segments, dict(reversed(query)), unquote(split.fragment))


@dataclass(frozen=True, slots=True)
class AddressPart:
    """A named or nameless place in a pattern: what stands there matches the expression, whose first group counts."""

    name: str
    form: re.Pattern[str]

    def read(self, text: str) -> str | None:
        """What counts of a text that has the form; None for every other one."""
        found = self.form.fullmatch(text) if len(text) <= MAX_CAPTURED else None
        return found[min(1, found.re.groups)] if found else None


AddressSegment = str | AddressPart


@dataclass(frozen=True, slots=True)
class AddressPattern:
    """One kind of address: host, segments of the path, whatever follows them (`rest`), and parameters of the query.

    `host` is a whole one, or the part before the first dot and what stands behind it.
    """

    text: str
    place: Place
    host: str
    front: AddressPart | None
    segments: tuple[AddressSegment, ...]
    rest: AddressPart | None = None
    least: int = 0
    """How many segments the rest has at least."""
    query: tuple[tuple[str, AddressPart], ...] = ()

    @property
    def names(self) -> Iterator[str]:
        """The names of its parts."""
        parts = [self.front, *self.segments, self.rest, *(part for _, part in self.query)]
        return (part.name for part in parts if isinstance(part, AddressPart) and part.name)

    @property
    def key(self) -> str:
        """Under which its host is looked up: the host, or a dot and what stands behind the part before the first."""
        return self.host if self.front is None else f".{self.host}"

    def takes(self, host: str) -> bool:
        """Whether a host is one of its own."""
        if self.front is None:
            return host == self.host
        label, _, behind = host.partition(".")
        return behind == self.host and self.front.read(label) is not None

    def match(self, address: PageAddress) -> dict[str, Any] | None:
        """What stands in its parts, a list for the rest of a path; None for an address of another kind."""
        if not self.takes(address.host):
            return None
        more = len(address.segments) - len(self.segments)
        if more < self.least or (more and self.rest is None):
            return None
        pairs: list[tuple[AddressSegment, str | None]] = [*zip(self.segments, address.segments, strict=False)]
        pairs += [(part, address.query.get(name)) for name, part in self.query]
        if self.front is not None:
            pairs.append((self.front, address.host.partition(".")[0]))
        read: dict[str, Any] = {}
        for expected, text in pairs:
            value = None if text is None else expected.read(text) if isinstance(expected, AddressPart) else text
            if value is None or (isinstance(expected, str) and expected != text):
                return None
            if isinstance(expected, AddressPart):
                read[expected.name] = value
        if self.rest is not None:
            values = [self.rest.read(text) for text in address.segments[len(self.segments) :]]
            if None in values:
                return None
            read[self.rest.name] = values
        return {name: value for name, value in read.items() if name}


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """One question for a page: to whom, with what, and what it waits for; `each` asks it for every item of a list."""

    name: str
    operation: Operation
    arguments: tuple[Pair, ...]
    place: Place
    needs: frozenset[str]
    """The questions whose rows it uses."""
    when: Value | None = None
    each: Value | None = None
    first: bool = False
    """The items of `each` are asked one after the other, until one has rows."""
    optional: bool = False
    within: float = 0.0
    """Seconds after which no answer is awaited any more; 0 for as long as the provider's own limits let it take."""


@dataclass(frozen=True, slots=True)
class PageModel:
    """One kind of page of a site: its addresses, what is asked, and the template and facts that make the page."""

    provider: str
    kind: str
    name: str
    """Under which name its failures are told."""
    site: str
    content_type: str
    patterns: tuple[AddressPattern, ...]
    holders: tuple[AddressPattern, ...]
    """Addresses that hold the address of such a page in their part `address`."""
    asks: tuple[PageQuestion, ...]
    template: PageTemplate
    place: Place
    when: Value | None = None
    values: tuple[Pair, ...] = ()
    errors: tuple[ErrorRule, ...] = ()
    facts: Mapping[str, Value] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """PROVIDER.KIND, as messages name it."""
        return f"{self.provider}.{self.kind}"


# --- The provider itself ---------------------------------------------------------------------------------------------


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
    pages: tuple[PageModel, ...] = ()
    """The pages of its site that it reads, in the order of its file."""
    index: str = ""
    """Whose index it searches, where others search the same one; empty for its own."""

    @property
    def secret_names(self) -> list[str]:
        """The variables that hold its secrets, such as its key."""
        return [one.name for one in self.settings.values() if one.secret]


@dataclass(frozen=True, slots=True)
class IdentityKey:
    """What rows have in common that are about one thing; a value of null, or a list with null in it, is none."""

    value: Value
    decides: bool = False
    """Rows that have different ones are different things, whatever weaker keys say."""
    near: str = ""
    """A number that has to be alike as well."""
    by: int = 0
    """How far two such numbers may be apart."""
    is_any: bool = False
    """Whether the value is a list of which one in common is enough, such as the ISBNs of the editions of a book."""


@dataclass(frozen=True, slots=True)
class RowIdentity:
    """When two rows of a capability are about one thing: by keys, the strongest first."""

    keys: tuple[IdentityKey, ...]
    version: Value | None = None
    """Which version of the thing a row is of, as a text; versions of one thing may differ in what decides."""
    lead: tuple[str, ...] = ()
    """The versions in the order in which they stand for the thing."""


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
    identity: RowIdentity | None = None
    writes: bool = False
    """Whether asking for it changes something at whoever is asked."""
