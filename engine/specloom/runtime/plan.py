"""What a plan asks for, what its expressions may name, and how it is conducted within the time for a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

from specloom.core import Answer, Fault, PagePosition, dataclass, field
from specloom.core.lazy import LateModule
from specloom.language import Moment, RunBindings, evaluate
from specloom.model import Model, Part, Row, Tool
from specloom.plugins import Artifact, ProcedureFunction, split_owner

from .arguments import Arguments

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LateModule("asyncio")


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask one provider: its answer, or its fault, is wanted."""

    provider: str
    operation: str
    arguments: Mapping[str, Any]
    again: bool = False
    position: PagePosition | None = None
    """Where in its pages to begin, for a tool whose answers can be gone on with."""
    goes_on: bool = False
    """An earlier answer is gone on with, whose responses may have been kept."""


@dataclass(frozen=True, slots=True)
class AskAll:
    """Ask several at once; one answer or fault for each is wanted, in order.

    `optional` is what only adds to rows that are there already: who takes long over it is not waited for.
    """

    asks: tuple[Ask, ...]
    optional: bool = False
    wait: float = 0.0
    """Seconds after which no answer is awaited any more; 0 for as long as the call has."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What was not had from whom it should have come: who failed, of what, and who stood in."""

    failed: tuple[Fault, ...]
    """Empty where nobody is configured."""
    capability: str = ""
    """Of what; empty for the rows of the answer."""
    instead: str = ""
    """The provider that answered in their place; empty where nobody did, so that something is missing."""
    missing: int = 0
    of: int = 0
    """For how many of how many rows or items it is missing, where there are several."""
    is_main: bool = False
    """What the plan itself asked for, and nothing beside it."""
    further: str = ""
    """What further pages have of them: "again" where they are asked once more, "none" where they no longer are."""


@dataclass(frozen=True, slots=True)
class Run:
    """Run a procedure, or reach into a collection: the record of it, or its fault, is wanted."""

    procedure: str
    parameters: Mapping[str, Any]
    function: ProcedureFunction
    told: list[Shortfall | str] = field(default_factory=list)
    """What the reader of the answer has to know, which who runs it puts in here: shortfalls and sentences."""
    can_resume: bool = False
    """Whether a caller can go on with the question of its `pages`."""
    cursor: AnswerEnd | None = None
    """Where an earlier answer has ended."""
    pages: list[tuple[str, PagePosition, Answer]] = field(default_factory=list)
    """Who was asked that question, from where on, and what came of it, which who runs it puts in here."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Who can be asked: per capability the configured providers in order, and the configured ones by name."""

    orders: Mapping[str, tuple[str, ...]]
    configured: frozenset[str]
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each provider that is not configured the variables to set."""
    resting: frozenset[str] = frozenset()
    """Providers whose breaker is open; they are not suggested."""
    unmet: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Per capability those who were put into its route and are not configured."""
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Per capability the configured providers of its own order, whatever route is written."""


NOT_ASKED = "not_asked"
NOT_SENT = frozenset({NOT_ASKED, "circuit_open", "over_budget"})
"""How those fared to whom nothing was sent."""


@dataclass(slots=True)
class ProviderAttempt:
    """A provider that a plan came to for its rows, and how it fared."""

    provider: str
    result: str
    """`rows`, `empty`, `filtered` (no row passed the filters of the tool), `not_asked`, or the kind of a fault."""


Life = tuple[float, float]
"""When a part of an answer was made and when it ends, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """Where an answer has ended: which strategy gave it, where its rows began, and how many of them were told."""

    strategy: int
    positions: tuple[tuple[str, PagePosition], ...]
    """Whom to ask, each from where."""
    offset: int = 0
    """How many of the rows that come of it, after all stages, were given already."""
    size: int | None = None
    """How many rows a page has."""
    is_again: bool = False
    """The rows are those of a second try."""
    seen: str = ""
    """What merged rows were given before, each as a mark."""
    told: int = 0
    """How many rows of the answer that begins here were told, because no more of them fitted."""
    retried: frozenset[str] = frozenset()
    """Of those to ask the ones that failed when they were asked last."""
    waiting: tuple[tuple[str, PagePosition], ...] = ()
    """Who failed in this round, each with where to begin once all rows of it were told."""


@dataclass(slots=True)
class ProviderOutcome:
    """What a plan gave, and how."""

    answer: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    served_by: str = ""
    operation: str = ""
    """The operation of the provider that answered."""
    tried: list[str] = field(default_factory=list)
    """Who was asked for the rows of the answer, or would have been and failed."""
    attempts: list[ProviderAttempt] = field(default_factory=list)
    """How each fared whom the plan came to, in that order."""
    is_filtered: bool = False
    """The rows have passed the stages of the tool up to its last filter."""
    dropped: dict[str, int] | None = None
    """What each filter took out of the first rows of which none passed; None where there were no such rows."""
    unserved: tuple[list[str], list[Shortfall]] = field(default_factory=lambda: ([], []))
    """The notes and the shortfalls of those rows."""
    failed: list[Fault] = field(default_factory=list)
    """How those failed of whom it was asked in vain, in that order."""
    fallback_reason: str = ""
    explicit: bool = False
    """The caller named the provider, so there was nothing to route."""
    meta: dict[str, Any] = field(default_factory=dict)
    keep: bool = True
    """The spec allows this answer to be cached."""
    notes: list[str] = field(default_factory=list)
    """What the answer lacks because somebody failed or took too long, a sentence each; told in `_meta.incomplete`."""
    passed_over: list[Fault] = field(default_factory=list)
    """Of `failed` those after whom the next one was asked."""
    shortfalls: list[Shortfall] = field(default_factory=list)
    """What was not had from whom it should have come; told in the answer's notices."""
    notices: list[str] = field(default_factory=list)
    """What else the reader has to know before the answer, a sentence each."""
    aside: list[str] = field(default_factory=list)
    """The notices of an answer whose data has no place for them."""
    partial: bool = False
    """Something is left out that may be there again soon."""
    pages: list[tuple[str, PagePosition, Answer]] = field(default_factory=list)
    """Of a tool whose answers can be gone on with: who gave rows, from where on, and what with."""
    waiting: dict[str, PagePosition] = field(default_factory=dict)
    """Who failed beside them, and from where on they are asked once more on the next page."""
    strategy: int = 0
    """Which strategy of the plan gave them."""
    is_again: bool = False
    """They are those of a second try."""
    begin: str = ""
    """The cursor at the first row of this answer, held to whoever gave it; "" where nobody has pages."""
    cursor: AnswerEnd | None = None
    """Where the next answer begins."""
    gathered: set[tuple[str, str]] = field(default_factory=set)
    """Who was asked what side by side with others, and is not asked it again on their own."""
    marks: list[str] = field(default_factory=list)
    """What the merged rows are known by."""
    cost: dict[str, Any] = field(default_factory=dict)
    """What was asked of whom and what it cost, as `_meta.cost` says it."""
    lives: list[Life] = field(default_factory=list)
    """Of each part that came from the cache, when it was made and when it ends, in seconds since the epoch."""
    artifacts: list[Artifact] = field(default_factory=list)
    """What its procedures kept for the caller beside it."""

    def note(self, ask: Ask, got: Answer | Fault) -> None:
        """Note how somebody fared who was asked; who had nothing to ask for was not."""
        result = got.kind if isinstance(got, Fault) else "rows" if got.rows else "empty" if got.asked else NOT_ASKED
        self.attempts.append(ProviderAttempt(ask.provider, result))
        if result not in NOT_SENT:
            self.tried.append(ask.provider)

    def take_in(self, run: Run) -> None:
        """Take in what a procedure had to say to the reader."""
        self.shortfalls += [one for one in run.told if isinstance(one, Shortfall)]
        self.notices += [one for one in run.told if isinstance(one, str)]
        self.pages += run.pages


Pursuit = Generator[Ask | AskAll | Run, Any, ProviderOutcome]


# --- What the expressions of a tool may name while its plan runs ------------------------------------------------------


class PerCapability:
    """A list of providers for each capability, worked out when a capability is first named: most never are."""

    __slots__ = ("_known", "_list")

    def __init__(self, list_: Callable[[str], list[str]]) -> None:
        self._list = list_
        self._known: dict[str, list[str]] = {}

    def get(self, name: str, /) -> list[str]:
        """The providers of a capability, as names."""
        if name not in self._known:
            self._known[name] = self._list(name)
        return self._known[name]


@dataclass(slots=True)
class PlanContext(RunBindings):
    """The bindings of a tool's expressions, by the names that specs use."""

    args: Mapping[str, Any]
    requested: Mapping[str, Any]
    """What was asked for where an argument was clamped."""
    config: Mapping[str, Any]
    caller: Mapping[str, str]
    """Whose call it is: `tenant` and `user`."""
    route: PerCapability
    """The providers that are asked, in their order."""
    order: PerCapability
    """The configured providers of the order that the capability says itself, whatever route is written."""
    providers: PerCapability
    """The providers that there are."""
    configured: PerCapability
    """The providers that have what they need."""
    now: float
    moment: Moment
    dropped: dict[str, int]
    """How many rows each labelled stage took out."""
    groups: dict[str, list[dict[str, Any]]]
    parts: dict[str, Any]
    values: dict[str, Any] = field(default_factory=dict)
    served_by: str | None = None
    served_operation: str | None = None
    not_applied: list[str] = field(default_factory=list)
    failures: str | None = None
    """How those failed who were asked before whoever answered, as a clause."""
    meta: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    result: Any = None
    """The record of the procedure that ran."""
    next_cursor: str | None = None
    more_exists: bool | None = None


def _nothing_of(part: Part) -> dict[str, Any]:
    """What a part of a plan holds before anybody was asked, or its collection was read; of this call alone."""
    if part.access:
        return {"rows": [], "status": None, "reason": None, "was": None, "asked": False}
    return {"rows": [], "fault": None, "provider": None, "asked": False, "meta": {}}


def plan_context(
    tool: Tool,
    model: Model,
    arguments: Arguments,
    config: Mapping[str, Any],
    offer: Offer,
    now: float,
    owner: str = "",
) -> PlanContext:
    """The context at the beginning of a run, with the tool's own values worked out."""
    tenant, user = split_owner(owner)
    context = PlanContext(
        args=arguments.given,
        requested=arguments.requested,
        config=config,
        caller={"tenant": tenant, "user": user},
        route=PerCapability(lambda name: list(offer.orders.get(name, ()))),
        order=PerCapability(lambda name: list(offer.own.get(name, ()))),
        providers=PerCapability(lambda name: list(model.heads.offering(name))),
        configured=PerCapability(lambda name: [one for one in model.heads.offering(name) if one in offer.configured]),
        now=now,
        moment=Moment(now, ""),
        dropped=dict.fromkeys(tool.counted, 0),
        groups={label: [] for label in tool.grouped},
        parts={part.name: _nothing_of(part) for strategy in tool.plan for part in strategy.parts},
    )
    for name, value in tool.values:
        context.values[name] = evaluate(value, context)
    return context


@dataclass(frozen=True, slots=True)
class PlanRun:
    """One run of a tool's plan: what may be asked, what its expressions name, and what has come of it so far."""

    tool: Tool
    model: Model
    offer: Offer
    context: PlanContext
    outcome: ProviderOutcome
    cursor: AnswerEnd | None = None
    """Where an earlier answer has ended."""


# --- Conducts a plan: whom it wants to ask is asked, side by side where it says so, within the time for a call --------


Progress = Callable[[float, float | None, str | None], None]
"""What is done, what there is to do in all, and a word about it."""

ASKING_SHARE = 0.95
"""How much of the time for a call is for asking, so that one who is silent is named and the rows of others are told."""
OPTIONAL_SHARE = 0.25
"""How much of it may go to what only adds to an answer, so that two such stages and the search before them fit in."""


async def conduct(
    pursuit: Pursuit,
    ask: Callable[[Ask, float], Awaitable[Answer]],
    run: Callable[[Run], Awaitable[Row]],
    *,
    deadline: float,
    progress: Progress | None = None,
) -> ProviderOutcome:
    """What a plan comes to. `ask` is given the seconds that there are for it; who cannot be asked any more is a fault.

    A procedure is not held to the deadline, which is for the caller to do.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + deadline * ASKING_SHARE
    asked = 0
    give: Any = None
    while True:
        try:
            wanted = pursuit.throw(give) if isinstance(give, Fault) else pursuit.send(give)
        except StopIteration as stop:
            outcome: ProviderOutcome = stop.value
            return outcome
        left = until - loop.time()
        if isinstance(wanted, AskAll):
            within = min(left, deadline * OPTIONAL_SHARE) if wanted.optional else left
            give = await _ask_all(wanted, ask, min(within, wanted.wait) if wanted.wait else within)
            continue
        if isinstance(wanted, Run):
            give = await _run(wanted, run)
            continue
        if progress is not None:
            progress(asked, None, f"asking {wanted.provider}")
        asked += 1
        give = await _ask(wanted, ask, left)


async def _ask_all(
    wanted: AskAll, ask: Callable[[Ask, float], Awaitable[Answer]], within: float
) -> list[Answer | Fault]:
    tasks = [asyncio.ensure_future(_ask(one, ask, within)) for one in wanted.asks]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _ask(one: Ask, ask: Callable[[Ask, float], Awaitable[Answer]], within: float) -> Answer | Fault:
    if within <= 0:
        message = f"there was no time left to ask {one.provider}"
        return Fault("upstream_unavailable", message, provider=one.provider, ours=True, late=True)
    try:
        return await ask(one, within)
    except Fault as fault:
        return fault


async def _run(one: Run, run: Callable[[Run], Awaitable[Row]]) -> Row | Fault:
    try:
        return await run(one)
    except Fault as fault:
        return fault
