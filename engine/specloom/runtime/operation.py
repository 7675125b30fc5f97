"""Runs an operation as a generator: it yields what it needs (a request, a pause) and is given what came of it.

Nothing here does I/O. A driver that sends makes a live call of it, one that only prints makes a dry run, one that
answers from a file makes a replay: the same code serves in all of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from specloom.core import Answer, Fault, PagePosition, Request, Response, Secret, dataclass, replace
from specloom.core.lazy import LateModule
from specloom.language import Layer, Unworkable, build, evaluate, how_many, truthy
from specloom.model import Operation, Paging, Provider, Row, Step

from .request import (
    Afford,
    Note,
    OperationContext,
    Tokens,
    Writes,
    afford_page,
    build_request,
    count_needed,
    find_following,
    granted,
    make_context,
    next_request,
    to_page,
    turn_to,
)
from .response import Empty, arrange, conform, interleave, read_response

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LateModule("asyncio")


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause before a retry, in seconds."""

    seconds: float
    because: Fault | None = None
    """What failed, which is thrown where there is no time for the pause."""


Running = Generator[Request | Wait, Response | None, Answer]

LONGEST_PAUSE = 10
"""Seconds that a call waits because an upstream says so; in what is longer than that, another one has answered."""


_REFUSED = frozenset({
    "rate_limited", "quota_exhausted", "over_budget", "auth_required", "not_in_plan", "config", "bad_request",
    "validation", "not_found", "blocked", "circuit_open",
})  # fmt: skip
"""Kinds of fault after which it is known that nothing was written by the request that failed."""


def perform(
    provider: Provider,
    operation: Operation,
    arguments: Mapping[str, Any],
    config: Mapping[str, Any],
    now: float,
    tokens: Tokens | None = None,
    note: Note | None = None,
    position: PagePosition | None = None,
    afford: Afford | None = None,
    writes: Writes | None = None,
) -> Running:
    """Run an operation. Arguments that it does not take, and empty ones, are left out.

    The driver throws a Fault for what it cannot send. `tokens` keeps what was granted, from one run to the next, and
    `note` is told of each response that could be read, so that no other one is remembered. `position` is where to go
    on, of an operation that has pages to go on with. `afford` is asked before each further page or part, and
    raises an `over_budget` fault where it may not be sent: the answer is then what there is, which tells it. `writes`
    counts what was written; a fault behind that says so, and is not to be answered by the same call.
    """
    given = {name: arguments[name] for name in operation.input if arguments.get(name) not in (None, "")}
    answers: list[Answer] = []
    tokens = {} if tokens is None else tokens
    writes = Writes() if writes is None else writes
    parts = _shards(operation, given, config, now)
    stop: Fault | None = None
    for at, part in enumerate(parts):
        behind = len(parts) - at - 1
        context = make_context(operation, part, config, now, tokens, note, afford, behind, writes)
        try:
            if afford is not None:
                # A page that has begun is finished: half of one would be paid for and thrown away.
                needed = count_needed(operation.steps, context)
                context.behind = behind * needed
                afford(context.behind + needed if at else needed, needed)
            if operation.paging is None:
                answers.append((yield from _once(provider, operation, context)))
            else:
                answers.append((yield from _pages(provider, operation, operation.paging, context, position)))
        except Unworkable as fault:
            if context.headers is None:
                raise
            # What the spec was given came from the upstream, so it is the upstream that is not as it was.
            message = f"{provider.title} answered in a shape that its spec does not know"
            changed = Fault("layout_changed", message, provider=provider.name, detail=fault.why)
            raise (changed.after_writing() if writes.open else changed) from None
        except Fault as fault:
            if not at or fault.kind != "over_budget":
                if writes.open:
                    raise fault.after_writing() from None
                raise
            stop = _without_parts(operation, parts, at, fault)
            break
    if len(answers) == 1 and stop is None:
        return answers[0]
    meta = {name: value for answer in reversed(answers) for name, value in answer.meta.items()}
    return Answer(
        interleave([answer.rows for answer in answers]),
        meta,
        any(answer.asked for answer in answers),
        max(answer.pages for answer in answers),
        tuple(fault for answer in answers for fault in answer.failed) + ((stop,) if stop is not None else ()),
    )


def _without_parts(operation: Operation, parts: Sequence[Mapping[str, Any]], at: int, fault: Fault) -> Fault:
    """The fault that ended the parts of a question at this one, with how many of its items were not asked for."""
    assert operation.shard is not None
    over = operation.shard.over
    left, count = (sum(len(part[over]) for part in some) for some in (parts[at:], parts))
    return fault.told_as(message=f"{fault.message} {left} of the {count} {over} were not asked for.")


def first_requests(
    provider: Provider, operation: Operation, arguments: Mapping[str, Any], config: Mapping[str, Any], now: float
) -> list[Request]:
    """What an operation would send before it has any answer: the first request of every shard, for a dry run."""
    given = {name: arguments[name] for name in operation.input if arguments.get(name) not in (None, "")}
    found = []
    for part in _shards(operation, given, config, now):
        context = make_context(operation, part, config, now)
        for step in operation.steps:
            if step.when is None or truthy(evaluate(step.when, context)):
                found.append(build_request(provider, operation, step, context))
                break
            context.steps[step.name] = None
    return found


def asks_anything(operation: Operation, arguments: Mapping[str, Any], now: float) -> bool:
    """Whether some step of an operation is due for these arguments; one that hangs on a setting counts as due."""
    given = {name: arguments[name] for name in operation.input if arguments.get(name) not in (None, "")}
    if any(one.when is None or any(path[0] == "config" for path in one.when.uses) for one in operation.steps):
        return True
    context = make_context(operation, given, {}, now)
    return any(one.when is not None and truthy(evaluate(one.when, context)) for one in operation.steps)


def _shards(operation: Operation, given: dict[str, Any], config: Mapping[str, Any], now: float) -> list[dict[str, Any]]:
    shard = operation.shard
    items = given.get(shard.over) if shard else None
    if shard is None or not isinstance(items, list) or not items:
        return [given]

    def fits(part: list[Any]) -> bool:
        if shard.fits is None:
            return True
        return truthy(evaluate(shard.fits, make_context(operation, {**given, shard.over: part}, config, now)))

    parts: list[list[Any]] = []
    rest = list(items)
    while rest:
        size = min(shard.at_most, len(rest))
        while size > 1 and not fits(rest[:size]):
            size -= 1
        parts.append(rest[:size])
        rest = rest[size:]
    return [{**given, shard.over: part} for part in parts]


def _pages(
    provider: Provider,
    operation: Operation,
    paging: Paging,
    context: OperationContext,
    position: PagePosition | None,
) -> Running:
    """The rows of as many pages as it takes, and where the next ones begin.

    Each page is a run of all steps, so that it is known which rows are of which page whatever the steps make of them.
    One that fails behind the first ends the answer and not the call; whoever goes on begins with it.
    """
    page, skip = (position.page, position.skip) if position is not None else ("", 0)
    if position is not None:
        turn_to(paging, page, context)
    most = how_many(operation.arrangement.take, context)
    rows: list[Row] = []
    starts: list[tuple[int, PagePosition]] = []
    failed: tuple[Fault, ...] = ()
    meta: dict[str, Any] | None = None
    before: list[Row] = []
    while True:
        try:
            if starts and context.afford is not None:
                needed = count_needed(operation.steps, context) + context.behind
                context.afford(needed, needed)
            answer = yield from _once(provider, operation, context)
        except Fault as fault:
            if meta is None or isinstance(fault, Unworkable):
                raise
            return Answer(rows, meta, True, 0, (*failed, fault), PagePosition(page), True)
        meta = answer.meta if meta is None else meta
        failed += answer.failed
        starts.append((len(rows), PagePosition(page, skip)))
        # One page under every number would be the same rows again.
        if answer.rows and answer.rows == before:
            return Answer(rows, meta, True, 0, failed, None, None)
        before = answer.rows
        rows += answer.rows[skip:]
        if most is not None and len(rows) > most:
            begin, start = next((at, one) for at, one in reversed(starts) if at <= most)
            return Answer(rows[:most], meta, True, 0, failed, replace(start, skip=start.skip + most - begin), True)
        following, has_more = context.following, context.has_more
        if following is None or any(following == one.page for _, one in starts):
            return Answer(rows, meta, answer.asked or len(starts) > 1, 0, failed, None, has_more)
        page, skip = following, 0
        if paging.enough is None:
            is_enough = most is None or len(rows) >= most
        else:
            is_enough = truthy(evaluate(paging.enough, Layer(context, rows=rows)))
        if is_enough or len(starts) >= paging.most:
            return Answer(rows, meta, True, 0, failed, PagePosition(page), has_more)
        turn_to(paging, page, context)
        context.steps.clear()


def _once(provider: Provider, operation: Operation, context: OperationContext) -> Running:
    steps = context.steps
    pages = 0
    failed: list[Fault] = []
    last: str | None = None
    asked = False
    behind = context.behind
    for at, step in enumerate(operation.steps):
        if not step.optional:
            last = step.name
        if step.when is not None and not truthy(evaluate(step.when, context)):
            steps[step.name] = None
            continue
        if step.refusal is not None and (problem := evaluate(step.refusal, context)):
            raise Fault("bad_request", str(problem), provider=provider.name)
        asked = True
        context.behind = behind + count_needed(operation.steps[at + 1 :], context) if context.afford else 0
        try:
            if step.optional:
                afford_page(context)
            steps[step.name], more, stop = yield from _step(provider, operation, step, context)
            pages = max(pages, more)
            failed += [stop] if stop is not None else []
        except Empty:
            steps[step.name] = []
        except Fault as fault:
            if not step.optional:
                raise
            steps[step.name] = None
            failed.append(fault)
    context.behind = behind
    rows = arrange(operation, context, steps.get(last) if last else None)
    meta = build(operation.meta, context)
    return Answer(conform(operation, rows), meta, asked, pages, tuple(failed))


Steps = Generator[Request | Wait, Response | None, list[Row]]


def _step(
    provider: Provider, operation: Operation, step: Step, context: OperationContext
) -> Generator[Request | Wait, Response | None, tuple[list[Row], int, Fault | None]]:
    """The rows of all pages; how many pages these are where there are more than the spec reads, else 0; and the ceiling
    that kept further ones from being asked for.
    """
    request = build_request(provider, operation, step, context)
    if step.paging is not None and step.paging.resume:
        rows = yield from _exchange(provider, step, to_page(step.paging, request, context), context)
        context.following, context.has_more = find_following(step.paging, context)
        return rows, 0, None
    rows = found = yield from _exchange(provider, step, request, context)
    asked = [request]
    while step.paging is not None:
        following = next_request(step.paging, request, found, rows, context)
        # Pages in a circle, and one page under every number, would be the same rows again.
        if following is None or following in asked:
            break
        if len(asked) >= step.paging.most:
            return rows, len(asked), None
        request = following
        asked.append(request)
        before = found
        try:
            afford_page(context)
            found = yield from _exchange(provider, step, request, context)
        except Empty:
            break
        except Fault as fault:
            if fault.kind != "over_budget":
                raise
            return rows, 0, fault
        if found and found == before:
            break
        rows = rows + found
    return rows, 0, None


def _exchange(provider: Provider, step: Step, request: Request, context: OperationContext) -> Steps:
    """One request with its retries. A token that is no longer taken is renewed once."""
    retry = provider.service.retry
    attempt = 0
    renewed = False
    while True:
        is_open = False
        response: Response | None = None
        try:
            sent = request
            if provider.service.grant is not None:
                token = yield from granted(provider, request.operation, context, context.tokens)
                sent = replace(
                    request, headers=(*request.headers, ("Authorization", Secret(f"Bearer {token.reveal()}")))
                )
            if step.writes:
                context.writes.open += 1
                is_open = True
            response = yield sent
            assert response is not None
            return _read(provider, step, sent, response, context)
        except Unworkable:
            raise
        except Fault as fault:
            if is_open and _is_refusal(fault, response):
                context.writes.open -= 1
            if fault.kind == "auth_required" and not renewed and context.tokens.pop(provider.name, None) is not None:
                renewed = True
                continue
            # Whoever is late, or out of order, may have done what it was asked for.
            is_unsure = step.writes and fault.kind != "rate_limited"
            if retry is None or is_unsure or fault.kind not in retry.kinds or attempt >= retry.times or fault.ours:
                raise _named(fault, provider) from None
            pause = retry.wait * 2**attempt
            if fault.kind == "rate_limited" and fault.said_after is not None:
                if fault.said_after > LONGEST_PAUSE:
                    raise _named(fault, provider) from None
                pause = max(pause, float(fault.said_after))
            attempt += 1
            yield Wait(pause, _named(fault, provider))


def _is_refusal(fault: Fault, response: Response | None) -> bool:
    """Whether it is known that a request that failed changed nothing."""
    if response is not None and 400 <= response.status < 500 and response.status != 408:
        return True
    return fault.kind in _REFUSED or fault.unsent or (fault.ours and not fault.late)


def _read(provider: Provider, step: Step, request: Request, response: Response, context: OperationContext) -> list[Row]:
    """The rows of a response, which is noted where it is an answer; raises Fault or Empty."""
    empty: Empty | None = None
    try:
        rows = read_response(provider, step, response, context)
    except Empty as error:
        rows, empty = [], error
    if context.note is not None:
        context.note((request, response))
    if empty is not None:
        raise empty
    return rows


def _named(fault: Fault, provider: Provider) -> Fault:
    """The fault as the provider's: its name is data, and lost connections are the upstream's unavailability."""
    kind = "upstream_unavailable" if fault.kind == "network" else fault.kind
    message = fault.message
    if kind != fault.kind and provider.service.unreachable:
        detail = fault.detail or message
        return fault.told_as(kind=kind, message=provider.service.unreachable, provider=provider.name, detail=detail)
    if kind != fault.kind and not message.startswith(provider.title):
        # The transport says "HOST could not be reached: WHY", which is not said twice.
        message = f"{provider.title} cannot be reached: {message.replace(' could not be reached: ', ': ', 1)}"
    if kind == "validation":
        message += _private_hint(fault, provider)
    return fault.told_as(kind=kind, message=message, provider=provider.name)


def _private_hint(fault: Fault, provider: Provider) -> str:
    """What to write where an operator's setting names a host that is asked only if the spec allows private ones."""
    from specloom.net import PrivateHost

    settings = sorted(path[1] for path in provider.service.base.uses if path[0] == "config" and len(path) > 1)
    if not isinstance(fault, PrivateHost) or not settings:
        return ""
    return f" {settings[0]} may name such a host where `service` of {provider.name} says `private: true`."


# --- Drivers: something answers the requests of an operation, and only that differs from one to the other -------------


MOST_TURNS = 1000
"""Requests and pauses of one operation; one that wants more never ends."""


def drive(running: Running, answer: Callable[[Request], Response | Fault]) -> Answer:
    """What the operation gives when its requests are answered like this; pauses take no time. Raises Fault."""
    give: Response | Fault | None = None
    for _ in range(MOST_TURNS):
        wanted = _advance(running, give)
        if isinstance(wanted, Answer):
            return wanted
        give = None if isinstance(wanted, Wait) else answer(wanted)
    raise _endless(running)


async def drive_live(
    running: Running, send: Callable[[Request], Awaitable[Response]], until: float | None = None
) -> Answer:
    """What the operation gives when its requests are really sent, pauses included. Raises Fault.

    A pause that would end after `until`, a moment of the loop, is not made: what failed before it is the fault.
    """
    give: Response | Fault | None = None
    for _ in range(MOST_TURNS):
        wanted = _advance(running, give)
        if isinstance(wanted, Answer):
            return wanted
        if isinstance(wanted, Wait):
            is_late = until is not None and asyncio.get_running_loop().time() + wanted.seconds >= until
            give = wanted.because if is_late else None
            if give is None:
                await asyncio.sleep(wanted.seconds)
            continue
        try:
            give = await send(wanted)
        except Fault as fault:
            give = fault
    raise _endless(running)


def _advance(running: Running, give: Response | Fault | None) -> Request | Wait | Answer:
    """What the operation wants next, or what it gives when it is done."""
    try:
        return running.throw(give) if isinstance(give, Fault) else running.send(give)
    except StopIteration as stop:
        found: Answer = stop.value
        return found


def _endless(running: Running) -> Fault:
    running.close()
    return Fault("internal", f"the operation was not done after {MOST_TURNS} requests and pauses")
