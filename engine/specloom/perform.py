"""Runs an operation as a generator: it yields what it needs (a request, a pause) and is given what came of it.

Nothing here does I/O. A driver that sends makes a live call of it, one that only prints makes a dry run, one that
answers from a file makes a replay: the same code serves in all of them.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlencode

from .converter import Moment
from .decode import decode
from .faults import KINDS, Fault
from .grant import Tokens, granted
from .model import Context, ErrorRule, Operation, Provider, Reading, Row, Step, Value
from .paging import next_request
from .values import build, evaluate, map_row, truthy
from .vault import Secret
from .wire import Header, Request, Response

EARTH_RADIUS = 6_371_000.0  # metres, the mean radius (IUGG)


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause before a retry, in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation gave: its rows and facts about the whole answer."""

    rows: list[Row] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)


class Empty(Exception):  # noqa: N818 - not an error: the upstream says "nothing" in its own way
    """The upstream answered that there is nothing."""


Running = Generator[Request | Wait, Response | None, Answer]


def perform(
    provider: Provider,
    operation: Operation,
    arguments: Mapping[str, Any],
    config: Mapping[str, Any],
    now: float,
    tokens: Tokens | None = None,
) -> Running:
    """Run an operation. Arguments that it does not take, and empty ones, are left out.

    The driver throws a Fault for what it cannot send. `tokens` keeps what was granted, from one run to the next.
    """
    given = {name: arguments[name] for name in operation.input if arguments.get(name) not in (None, "")}
    answers: list[Answer] = []
    tokens = {} if tokens is None else tokens
    for part in _shards(operation, given, config, now):
        context = _context(operation, part, config, now)
        context["tokens"] = tokens
        answers.append((yield from _once(provider, operation, context)))
    if len(answers) == 1:
        return answers[0]
    meta = {name: value for answer in reversed(answers) for name, value in answer.meta.items()}
    return Answer(interleave([answer.rows for answer in answers]), meta)


def first_requests(
    provider: Provider, operation: Operation, arguments: Mapping[str, Any], config: Mapping[str, Any], now: float
) -> list[Request]:
    """What an operation would send before it has any answer: the first request of every shard, for a dry run."""
    given = {name: arguments[name] for name in operation.input if arguments.get(name) not in (None, "")}
    found = []
    for part in _shards(operation, given, config, now):
        context = _context(operation, part, config, now)
        for step in operation.steps:
            if step.when is None or truthy(evaluate(step.when, context)):
                found.append(build_request(provider, operation, step, context))
                break
            context["steps"][step.name] = None
    return found


def _context(operation: Operation, arguments: Mapping[str, Any], config: Mapping[str, Any], now: float) -> Context:
    context: Context = {
        "args": arguments,
        "config": config,
        "steps": {},
        "values": {},
        "now": now,
        "page": None,
        "moment": Moment(now, ""),
    }
    for name, value in operation.values:
        context["values"][name] = evaluate(value, context)
    return context


def _shards(
    operation: Operation, given: dict[str, Any], config: Mapping[str, Any], now: float
) -> Iterable[dict[str, Any]]:
    shard = operation.shard
    items = given.get(shard.over) if shard else None
    if shard is None or not isinstance(items, list) or not items:
        return [given]

    def fits(part: list[Any]) -> bool:
        if shard.fits is None:
            return True
        return truthy(evaluate(shard.fits, _context(operation, {**given, shard.over: part}, config, now)))

    parts: list[list[Any]] = []
    rest = list(items)
    while rest:
        size = min(shard.at_most, len(rest))
        while size > 1 and not fits(rest[:size]):
            size -= 1
        parts.append(rest[:size])
        rest = rest[size:]
    return [{**given, shard.over: part} for part in parts]


def interleave(lists: Sequence[list[Row]]) -> list[Row]:
    """Rows of several answers, the first of each, then the second of each, and so on."""
    longest = max((len(rows) for rows in lists), default=0)
    return [rows[at] for at in range(longest) for rows in lists if at < len(rows)]


def _once(provider: Provider, operation: Operation, context: Context) -> Running:
    steps: dict[str, list[Row] | None] = context["steps"]
    last: str | None = None
    for step in operation.steps:
        if not step.optional:
            last = step.name
        if step.when is not None and not truthy(evaluate(step.when, context)):
            steps[step.name] = None
            continue
        try:
            steps[step.name] = yield from _step(provider, operation, step, context)
        except Empty:
            steps[step.name] = []
        except Fault:
            if not step.optional:
                raise
            steps[step.name] = None
    rows = _arrange(operation, context, steps.get(last) if last else None)
    meta = build(operation.meta, context)
    return Answer(_conform(operation, rows), meta)


Steps = Generator[Request | Wait, Response | None, list[Row]]


def _step(provider: Provider, operation: Operation, step: Step, context: Context) -> Steps:
    request = build_request(provider, operation, step, context)
    rows = found = yield from _exchange(provider, step, request, context)
    for _ in range(step.paging.most - 1 if step.paging else 0):
        assert step.paging is not None
        following = next_request(step.paging, request, found, rows, context)
        if following is None:
            break
        request = following
        try:
            found = yield from _exchange(provider, step, request, context)
        except Empty:
            break
        rows = rows + found
    return rows


def _exchange(provider: Provider, step: Step, request: Request, context: Context) -> Steps:
    """One request with its retries. A token that is no longer taken is renewed once."""
    retry = provider.service.retry
    attempt = 0
    renewed = False
    while True:
        try:
            sent = request
            if provider.service.grant is not None:
                token = yield from granted(provider, request.operation, context, context["tokens"])
                sent = replace(
                    request, headers=(*request.headers, ("Authorization", Secret(f"Bearer {token.reveal()}")))
                )
            response = yield sent
            assert response is not None
            return _read(provider, step, response, context)
        except Fault as fault:
            if fault.kind == "auth_required" and not renewed and context["tokens"].pop(provider.name, None):
                renewed = True
                continue
            if retry is None or fault.kind not in retry.kinds or attempt >= retry.times:
                raise _named(fault, provider) from None
            pause = retry.wait * 2**attempt
            if fault.kind == "rate_limited" and fault.retry_after is not None:
                pause = max(pause, float(fault.retry_after))
            attempt += 1
            yield Wait(pause)


def _named(fault: Fault, provider: Provider) -> Fault:
    """The fault as the provider's: its name is data, and lost connections are the upstream's unavailability."""
    kind = "upstream_unavailable" if fault.kind == "network" else fault.kind
    message = fault.message
    if kind != fault.kind and not message.startswith(provider.title):
        message = f"{provider.title} cannot be reached: {message}"
    return Fault(
        kind,
        message,
        provider=provider.name,
        retry_after=fault.retry_after if kind == fault.kind else None,
        alternatives=fault.alternatives,
        detail=fault.detail,
        action=fault.action if kind == fault.kind else None,
    )


# --- the request ----------------------------------------------------------------------------------------------------


def build_request(provider: Provider, operation: Operation, step: Step, context: Context) -> Request:
    """The exact request of a step in this context."""
    service = provider.service
    base = evaluate(service.base, context)
    if not isinstance(base, str) or not base:
        raise Fault(
            "config",
            f"{provider.title} has no address; {_missing(provider)}",
            provider=provider.name,
            action="check_api_key",
        )
    headers: dict[str, tuple[str, Header]] = {}
    query: list[tuple[str, str | Secret]] = []
    if service.auth is not None:
        _authorize(service.auth, context, headers, provider)
    extra = evaluate(service.extra_headers, context) if service.extra_headers else None
    for name, value in (*service.headers, *step.headers):
        _add_header(headers, name, evaluate(value, context))
    for name, said in (extra or {}).items():
        _add_header(headers, name, said)
    for name, value in (*service.query, *step.query):
        query.extend((name, text) for text in _texts(evaluate(value, context), name))
    body, hidden = _body(step, context, headers)
    return Request(
        step.method,
        base.rstrip("/") + _path(step, context),
        tuple(query),
        tuple(headers.values()),
        body,
        service.policy,
        provider.name,
        operation.name,
        step.name,
        step.keep_for,
        hidden,
    )


def _missing(provider: Provider) -> str:
    needed = [one.name for one in provider.settings.values() if one.required]
    return f"set {' and '.join(needed)}" if needed else "see its spec"


def _authorize(
    auth: tuple[str, Value], context: Context, headers: dict[str, tuple[str, Header]], provider: Provider
) -> None:
    kind, value = auth
    secret = evaluate(value, context)
    if secret is None:
        return
    text = secret.reveal() if isinstance(secret, Secret) else str(secret)
    if kind == "basic":
        user, colon, password = text.partition(":")
        if not (user and colon and password):
            raise Fault(
                "config",
                f"{provider.title}: credentials are written user:password",
                provider=provider.name,
                action="check_api_key",
            )
        text = base64.b64encode(text.encode()).decode()
    _add_header(headers, "Authorization", Secret(f"{'Basic' if kind == 'basic' else 'Bearer'} {text}"))


def _add_header(headers: dict[str, tuple[str, Header]], name: str, value: Any) -> None:
    if value is None:
        return
    headers[name.lower()] = (name, value if isinstance(value, Secret) else _texts(value, name)[0])


def _texts(value: Any, name: str) -> list[str | Secret]:
    """A request value as URLs want it: nothing for null, several for a list, `true`, no `.0` at whole numbers."""
    if value is None:
        return []
    if isinstance(value, list):
        return [text for item in value for text in _texts(item, name)]
    if isinstance(value, Secret):
        return [value]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, float):
        return [str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)]
    if isinstance(value, (str, int)):
        return [str(value)]
    raise Fault("internal", f"the request value {name!r} is a mapping, which cannot be sent here")


def _path(step: Step, context: Context) -> str:
    parts = []
    for part in step.path:
        if isinstance(part, str):
            parts.append(part)
            continue
        texts = _texts(evaluate(part, context), "path")
        text = texts[0] if texts else ""
        # Encoding leaves "." and ".." alone, so a segment of dots is refused here rather than escaped.
        if not isinstance(text, str) or not text or text in {".", ".."}:
            raise Fault("validation", f"{part.text} is {text!r}, which cannot stand in a path")
        parts.append(quote(text, safe=""))
    return "".join(parts)


def _body(
    step: Step, context: Context, headers: dict[str, tuple[str, Header]]
) -> tuple[bytes | None, tuple[Secret, ...]]:
    """The encoded body, and the secrets that are in it."""
    if step.body is None:
        return None, ()
    kind, value = step.body
    hidden: list[Secret] = []
    content = _revealed(evaluate(value, context), hidden)
    if kind == "json":
        headers.setdefault("content-type", ("Content-Type", "application/json"))
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    elif kind == "form":
        headers.setdefault("content-type", ("Content-Type", "application/x-www-form-urlencoded"))
        text = urlencode(
            [(name, part) for name, one in content.items() for part in _texts(one, name)], errors="replace"
        )
    else:
        headers.setdefault("content-type", ("Content-Type", "text/plain; charset=utf-8"))
        text = str(content)
    return text.encode("utf-8", "replace"), tuple(hidden)


def _revealed(content: Any, hidden: list[Secret]) -> Any:
    if isinstance(content, Secret):
        hidden.append(content)
        return content.reveal()
    if isinstance(content, dict):
        return {key: _revealed(one, hidden) for key, one in content.items()}
    return [_revealed(one, hidden) for one in content] if isinstance(content, list) else content


# --- the response ---------------------------------------------------------------------------------------------------


def _read(provider: Provider, step: Step, response: Response, context: Context) -> list[Row]:
    refused: Fault | None = None
    document: Any = None
    try:
        document = decode(step.reading.decoder, response, step.reading.options)
    except Fault as fault:
        refused = fault
    _raise_for(provider, response, document if step.reading.decoder == "json" else _json_or_none(response), context)
    if refused is not None:
        raise Fault(refused.kind, f"{provider.title} {refused.message}", detail=refused.detail)
    context["page"] = document
    context["headers"] = response.headers
    context["moment"] = replace(context["moment"], url=response.url)
    return read_rows(provider, step.reading, document, context)


def _json_or_none(response: Response) -> Any:
    if response.body[:64].lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        return None


def _raise_for(provider: Provider, response: Response, body: Any, context: Context) -> None:
    rules = provider.service.errors
    if rules:
        seen: Context = {
            **context,
            "status": response.status,
            "headers": response.headers,
            "body": body,
            "text": _opening(response),
        }
        for rule in rules:
            if truthy(evaluate(rule.when, seen)):
                raise _ruled(provider, rule, response, seen)
    if response.status >= 300:
        raise _default_fault(provider, response, context["now"])


def _opening(response: Response) -> str:
    return response.body[:65536].decode("utf-8", "replace")


def _ruled(provider: Provider, rule: ErrorRule, response: Response, seen: Context) -> Exception:
    if rule.kind == "empty":
        return Empty()
    message = evaluate(rule.message, seen) if rule.message else None
    delay = evaluate(rule.retry_after, seen) if rule.retry_after else _retry_after(response, seen["now"])
    text = str(message) if message else _default_message(provider, rule.kind, response.status)
    seconds = (
        math.ceil(delay) if isinstance(delay, (int, float)) and not isinstance(delay, bool) and delay >= 0 else None
    )
    return Fault(rule.kind, text, provider=provider.name, retry_after=seconds)


_BY_STATUS = {
    400: "bad_request",
    401: "auth_required",
    402: "quota_exhausted",
    403: "auth_required",
    404: "not_found",
    422: "bad_request",
    429: "rate_limited",
}


def _default_fault(provider: Provider, response: Response, now: float) -> Fault:
    kind = _BY_STATUS.get(response.status, "upstream_unavailable")
    delay = _retry_after(response, now) if KINDS[kind].retryable else None
    return Fault(kind, _default_message(provider, kind, response.status), provider=provider.name, retry_after=delay)


def _default_message(provider: Provider, kind: str, status: int) -> str:
    keys = " and ".join(one.name for one in provider.settings.values() if one.secret)
    said = {
        "auth_required": f"{provider.title} refused the request (HTTP {status}); "
        + (f"check {keys}" if keys else "it wants a key that this spec does not know"),
        "not_in_plan": f"the account at {provider.title} does not include this (HTTP {status})",
        "quota_exhausted": f"the allowance at {provider.title} is used up (HTTP {status})",
        "rate_limited": f"{provider.title} asks to slow down (HTTP {status})",
        "bad_request": f"{provider.title} refuses these arguments (HTTP {status})",
        "not_found": f"{provider.title} has no such thing (HTTP {status})",
        "layout_changed": f"{provider.title} answered in a shape that its spec does not know",
    }
    return said.get(kind, f"{provider.title} failed (HTTP {status})")


def _retry_after(response: Response, now: float) -> int | None:
    """The Retry-After header in seconds, whether it is a number or a date (RFC 9110 §10.2.3); at most a day."""
    text = response.headers.get("retry-after", "").strip()
    if text.isdigit():
        return min(int(text[:9]), 86_400)
    if text and now:
        from email.utils import parsedate_to_datetime

        try:
            return min(max(0, math.ceil(parsedate_to_datetime(text).timestamp() - now)), 86_400)
        except (ValueError, TypeError, OverflowError):
            return None
    return None


def read_rows(provider: Provider, reading: Reading, document: Any, context: Context) -> list[Row]:
    """The rows of a decoded document.

    An empty list is an answer. A list that is missing, or an empty page, is a changed layout unless the spec says what
    such an answer looks like; so are items of which none has what every item had.
    """
    items = reading.each(document)
    if not items:
        explained = reading.empty_is_ok_when
        if explained(document) if explained is not None else items is not None:
            return []
        sentence = f"{provider.title} answered with neither results nor a sign that there are none"
        raise Fault("layout_changed", sentence, detail=str(reading.place))
    most = evaluate(reading.take, context) if reading.take else None
    rows: list[Row] = []
    seen = dict(context) if reading.needs_context or reading.keep else context
    for item in items:
        if most is not None and len(rows) >= most:
            break
        row = map_row(reading.fields, item, seen)
        if row is None:
            continue
        if reading.keep is not None:
            seen["row"] = row
            if not truthy(evaluate(reading.keep, seen)):
                continue
        rows.append(row)
    if not rows and most != 0 and reading.keep is None and any(one.required for one in reading.fields):
        raise Fault(
            "layout_changed",
            f"{provider.title} answered with results that lack what every result had",
            detail=str(reading.place),
        )
    return rows


# --- what comes out -------------------------------------------------------------------------------------------------


def _arrange(operation: Operation, context: Context, rows: list[Row] | None) -> list[Row]:
    plan = operation.arrangement
    if plan.rows is not None:
        rows = evaluate(plan.rows, context)
    found = [dict(row) for row in rows or []]
    if plan.join is not None:
        others = {row.get(plan.join.on): row for row in evaluate(plan.join.rows, context) or []}
        for row in found:
            other = others.get(row.get(plan.join.on), {})
            row.update({name: other[name] for name in plan.join.take if name in other})
    if plan.nearest is not None:
        lat, lon = evaluate(plan.nearest.lat, context), evaluate(plan.nearest.lon, context)
        if lat is not None and lon is not None:
            within = evaluate(plan.nearest.within, context) if plan.nearest.within else None
            found = nearest(found, float(lat), float(lon), float(within) if within else None)
    if plan.keep is not None:
        found = [row for row in found if truthy(evaluate(plan.keep, {**context, "row": row}))]
    most = evaluate(plan.take, context) if plan.take else None
    return found[: int(most)] if most is not None else found


def nearest(rows: list[Row], lat: float, lon: float, within: float | None) -> list[Row]:
    """Rows by great-circle distance in metres, nearest first; those without a point come last, or not at all."""

    def distance(row: Row) -> float:
        there_lat, there_lon = row.get("lat"), row.get("lon")
        if not isinstance(there_lat, (int, float)) or not isinstance(there_lon, (int, float)):
            return math.inf
        if there_lat == 0 and there_lon == 0:
            return math.inf
        a, b = math.radians(lat), math.radians(there_lat)
        half = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(math.radians(there_lon - lon) / 2) ** 2
        return 2 * EARTH_RADIUS * math.asin(math.sqrt(min(1.0, half)))

    ranked = sorted(((distance(row), at, row) for at, row in enumerate(rows)), key=lambda one: one[:2])
    return [row for metres, _, row in ranked if within is None or metres <= within]


def _conform(operation: Operation, rows: list[Row]) -> list[Row]:
    """The rows in the types of their capability: other values are left out, and so is a row without a required one."""
    if not operation.conform:
        return rows
    kept = []
    for row in rows:
        fitted: Row = {}
        for name, fit, required in operation.conform:
            value = row.get(name)
            value = fit(value) if value is not None else None
            if value is not None:
                fitted[name] = value
            elif required:
                break
        else:
            kept.append(fitted)
    return kept
