"""The tool's half of the model: what goes in, the plan, the stages, and what is answered. Only data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from specloom.core import Place, dataclass, field
from specloom.language import RecordType, Shape

from .answer_text import AnswerPart
from .values import Field, Pair, Setting, Uses, Value
from .view import View

if TYPE_CHECKING:
    from specloom.plugins import Procedure

    from .provider import Provider, RowIdentity


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
    able_first: bool = False
    at_most: Value | None = None
    """For `gather`: how many are asked, each of another index."""
    wait: float = 0.0
    """For `gather` and `collect`: seconds after which no answer is awaited any more; 0 for as long as the call has."""
    """Who takes every filter that the caller set is asked before who does not."""
    parts: tuple[Part, ...] = ()
    rows: tuple[str, ...] = ()
    """For `collect`: the parts whose rows go on, one part after the other."""


@dataclass(frozen=True, slots=True)
class Access:
    """How a part reads or writes a declared collection as the caller; `kind` is recall, save or delete."""

    kind: str
    collection: str
    key: Value | None = None
    space: Value | None = None
    """The shared place, where the collection is shared."""
    where: tuple[Pair, ...] = ()
    about: Value | None = None
    take: Value | None = None
    value: tuple[Pair, ...] = ()
    lasts: Value | None = None
    only_there: bool = False
    """Nothing is written where there is no item yet."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of several questions that are asked side by side; what comes of it stands under its name.

    It asks an operation, or reaches into a collection.
    """

    name: str
    place: Place
    operation: str = ""
    providers: Value | None = None
    access: Access | None = None
    required: bool = False
    """Its fault is that of the call."""
    when: Value | None = None
    overrides: tuple[Pair, ...] = ()
    outcomes: Mapping[str, str] = field(default_factory=dict)
    after: tuple[Stage, ...] = ()
    shape: RecordType = field(default_factory=lambda: RecordType({}))
    """What a row is after the part's own stages."""
    item: RecordType = field(default_factory=lambda: RecordType({}))
    """What an item of the collection is that it reaches into."""
    uses: Uses = frozenset()
    needs: frozenset[str] = frozenset()
    """The parts that have to be there before this one is asked."""


@dataclass(frozen=True, slots=True)
class Merge:
    """How rows of several providers that are about one thing become one row."""

    identity: RowIdentity
    take: tuple[tuple[str, str | tuple[str, ...]], ...] = ()
    """For a field whose it is: `longest`, `any`, or providers in their order; of others that of whoever leads."""
    all: tuple[tuple[str, str], ...] = ()
    """New fields with what every row says under one, by provider."""
    origin: str = ""
    """The field that says who gave which field, where that is not who leads."""
    versions: str = ""
    """The field that lists the versions of the thing, where there are several."""
    version_fields: tuple[str, ...] = ()


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
    next_on_empty: bool = False
    """For `lookup`: an empty answer is followed by the next provider, as a failure is."""
    keys: tuple[tuple[str, ...], ...] = ()
    """For `dedupe`: what makes two rows one, each a field or several that are all alike."""
    merge: Merge | None = None


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
    left_out: bool = False
    """Rows that are null leave the key out; else they are none."""
    origins: str = ""
    """Of merged rows that are mapped: which of the mapped fields says who gave which field."""
    sources: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """For each other mapped field those of a row that it is read from, in order."""


@dataclass(frozen=True, slots=True)
class LinkPolicy:
    """From which size on an answer is linked and not inlined, and what then stands in its place."""

    above: int
    summary: Value
    when: Value | None = None
    also: tuple[Pair, ...] = ()


BUDGET = "max_tokens"
"""The input by which a caller sets how many tokens an answer may have; every tool with a budget takes it."""
NOTICES = "notices"
"""The key of an answer that says what its reader has to know before it: what was cut, moved or answered by others."""
HINTS = "hints"
"""The key of an empty answer that explains it."""
TRUST = "trust"
"""The key of an answer that says where its content comes from, such as `untrusted-external-content`."""


@dataclass(frozen=True, slots=True)
class Shortening:
    """What of an answer gives way: a list of items or a text under a key, or a field of the rows under it."""

    key: str
    field: str
    to: int
    """Items of a list, or characters of a text, that stay at least."""
    source: Value | None = None
    """The address under which the reader has the whole of it; None where only the answer has it."""
    called: str = ""
    """What a notice calls it; empty for the words of its keys."""
    keep: Value | None = None
    """Of a list, which items stay longest; None where that is the first ones."""
    when: Value | None = None
    """Whether it gives way at all; None for always."""
    last: bool = False
    """Whether the last items of a list stay, and not the first."""

    @property
    def of(self) -> str:
        """Its key, or key and field with a dot between them."""
        return f"{self.key}.{self.field}" if self.field else self.key


@dataclass(frozen=True, slots=True)
class AnswerBudget:
    """How many tokens an answer has at most where its caller says nothing, and what gives way, in this order."""

    tokens: int
    cut: tuple[Shortening, ...] = ()


@dataclass(frozen=True, slots=True)
class Reads:
    """The inputs of the tool that reads on: the address of a source, and where in it to begin, in characters."""

    source: str
    offset: str


@dataclass(frozen=True, slots=True)
class CursorInput:
    """The input by which a caller goes on where an answer has ended."""

    name: str
    size: str = ""
    """The input that says how many rows a page has, which stays what it was; "" for none."""
    take: int | None = None
    """Which stage after the plan says how many rows are told; None where all are."""
    lists: tuple[str, ...] = ()
    """The keys of the answer that list its rows, so that a part of them can be told where one of these is there."""
    following: str = ""
    """The key that is the next cursor."""
    more: tuple[str, ...] = ()
    """Keys that say whether there is more."""
    counts: tuple[str, ...] = ()
    """Keys that say how many rows there are."""
    columns: tuple[str, ...] = ()
    """Keys that list one field of the rows."""


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
    row_shape: RecordType
    capabilities: tuple[str, ...]
    lookups: tuple[str, ...]
    """The capabilities that only decorate rows."""
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    link: LinkPolicy | None = None
    whole: Value | None = None
    """The record that is the answer, nulls included, where the answer is not put together from keys."""
    envelope: str = ""
    """The registered envelope in which faults are told as answers."""
    opt_in: str = ""
    """The switch without which the tool does not exist for clients."""
    needs_provider: bool = False
    """Whether it exists for clients only where somebody is in the route of one of `sources`."""
    failures: str = ""
    """The key of its answer that lists what could not be read, for the session that records it; "" for none."""
    recorded: Value | None = None
    """The sources that a session records, of `answer` and `rows`; for None the lists that the answer makes of rows."""
    verbatim: tuple[Pair, ...] = ()
    """The keys of its answer whose texts stay as they came, controls and all, and when; others are cleaned."""
    text: tuple[AnswerPart, ...] = ()
    """How the answer reads as Markdown; for () it is told as JSON."""
    budget: AnswerBudget | None = None
    reads: Reads | None = None
    """For the tool that reads on what others have cut."""
    notices: tuple[tuple[Value, Value], ...] = ()
    """Sentences at the head of its answer, each behind when it is said."""
    cursor: CursorInput | None = None
    view: View | None = None
    """What clients that show views show of its answer."""
    filters: int = 0
    """How many of the stages after the plan are those up to the last filter, by which a provider's rows are judged."""
    names_providers: bool = False
    """Its rows say who gave them, because they are of several or some of them are put together."""
    counted: tuple[str, ...] = ()
    """The labels of stages under which is counted what they take out."""
    grouped: tuple[str, ...] = ()
    """The labels of stages that make groups."""
    shared_by: str = ""
    """The variable by which an operator says that all tenants share what it reaches; empty where that has owners."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The capabilities that its answers come from: those that do more than decorate rows."""
        return tuple(name for name in self.capabilities if name not in self.lookups)


def questions(plan: Iterable[Strategy]) -> Iterator[Strategy | Part]:
    """All that asks an operation: strategies, and the parts of others."""
    for strategy in plan:
        if strategy.operation:
            yield strategy
        yield from (part for part in strategy.parts if part.operation)


def asked_by(procedures: Iterable[Procedure], providers: Iterable[Provider]) -> tuple[str, ...]:
    """The capabilities that procedures may ask, those of the pages of sites included where they read such pages."""
    running = list(procedures)
    # Whoever reads no pages is not told what is asked for them.
    reading = providers if any(one.reads_pages for one in running) else ()
    of_pages = [ask.operation.capability for provider in reading for page in provider.pages for ask in page.asks]
    return tuple(dict.fromkeys(name for one in running for name in (*(of_pages if one.reads_pages else ()), *one.asks)))


def stages_of(plan: Iterable[Strategy], after: Iterable[Stage]) -> list[Stage]:
    """The stages of a tool: those of its parts, and those after the plan."""
    return [*(stage for strategy in plan for part in strategy.parts for stage in part.after), *after]
