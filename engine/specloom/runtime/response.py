"""Reads the response of a step: first whether it is a failure, then its rows, which an operation puts in order."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from specloom import language
from specloom.core import KINDS, Fault, Response, clean, replace
from specloom.language import MISSING, Bindings, Layer, Unworkable, evaluate, how_many, truthy
from specloom.model import NULL_KEPT, ErrorRule, Field, Operation, Provider, ResponseMapping, Row, Step, Value

from .quota_headers import read_delay, to_delay
from .request import OperationContext

LONGEST_SENTENCE = 300
"""Characters of a fault that an upstream has words in."""
OPENING = 65_536
"""Bytes of a response that error rules see as `text`."""

_LINE_END = re.compile(r"(?<!\s)[^\S\n\r\t]*+[\n\r\t]\s*+")


class Empty(Exception):  # noqa: N818 - not an error: the upstream says "nothing" in its own way
    """The upstream answered that there is nothing."""


def read_response(provider: Provider, step: Step, response: Response, context: OperationContext) -> list[Row]:
    """The rows of a response; raises Fault, or Empty where the upstream says in its own way that there is nothing."""
    refused: Fault | None = None
    document: Any = None
    # Who has done what it was asked for may have nothing to say (201 Created, 204 No Content).
    is_silent = step.writes and response.status < 300 and not response.body
    is_silent = is_silent and step.reading.decoder in ("json", "text")
    try:
        document = {} if is_silent else language.decode(step.reading.decoder, response, step.reading.options)
    except Fault as fault:
        refused = fault
    _raise_for(provider, response, document if step.reading.decoder == "json" else _json_or_none(response), context)
    if refused is not None:
        raise Fault(refused.kind, f"{provider.title}: {_to_sentence(refused.message)}", detail=refused.detail)
    context.page = document
    context.headers = response.headers
    context.moment = replace(context.moment, url=response.url)
    return read_rows(provider, step.reading, document, context)


def _json_or_none(response: Response) -> Any:
    if response.body[:64].lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        return None


def _raise_for(provider: Provider, response: Response, body: Any, context: OperationContext) -> None:
    rules = provider.service.errors
    if rules:
        text = response.body[:OPENING].decode("utf-8", "replace")
        seen = Layer(context, status=response.status, headers=response.headers, body=body, text=text)
        for rule in rules:
            if _holds(provider, rule, response, seen):
                raise _ruled(provider, rule, response, seen)
    # Nothing here asks for a part (RFC 9110 §15.3.7), so whoever sends one has left out the rest.
    if response.status >= 300 or response.status == 206:
        raise _default_fault(provider, response, context.now)


def _holds(provider: Provider, rule: ErrorRule, response: Response, seen: Bindings) -> bool:
    """Whether a rule is about this answer. One that cannot be worked out met an answer of another shape.

    Where the status says by itself that it is a failure, such a rule is not about it.
    """
    try:
        return truthy(evaluate(rule.when, seen))
    except Fault as fault:
        if response.status >= 300:
            return False
        message = _default_message(provider, "layout_changed", response.status)
        raise Fault("layout_changed", message, provider=provider.name, detail=fault.message) from None


def _ruled(provider: Provider, rule: ErrorRule, response: Response, seen: Bindings) -> Exception:
    if rule.kind == "empty":
        return Empty()
    message = _to_sentence(_worked_out(rule.message, seen)) or _default_message(provider, rule.kind, response.status)
    now = seen.get("now")
    delay = to_delay(_worked_out(rule.retry_after, seen), now)
    delay = read_delay(provider.service.learned, response, now) if delay is None else delay
    return Fault(rule.kind, message, provider=provider.name, retry_after=delay)


def _worked_out(value: Value | None, seen: Bindings) -> Any:
    """The value, or None where it quotes what the upstream wrote in another shape this time."""
    try:
        return evaluate(value, seen) if value is not None else None
    except Fault:
        return None


def _to_sentence(said: Any) -> str:
    """What an upstream has words in, on one line, without characters that nobody sees, and never long."""
    if said is None or isinstance(said, (bool, dict, list)):
        return ""
    text = _LINE_END.sub(" ", clean(str(said)[: 4 * LONGEST_SENTENCE])[0]).strip()
    return text if len(text) <= LONGEST_SENTENCE else f"{text[: LONGEST_SENTENCE - 1].rstrip()}…"


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
    if response.status == 403 and not provider.secret_names:
        kind = "blocked"  # there is no key that could be missing
    waits = KINDS[kind].retryable or kind == "quota_exhausted"
    delay = read_delay(provider.service.learned, response, now) if waits else None
    return Fault(kind, _default_message(provider, kind, response.status), provider=provider.name, retry_after=delay)


def _default_message(provider: Provider, kind: str, status: int) -> str:
    keys = " and ".join(provider.secret_names)
    said = {
        "auth_required": f"{provider.title} refused the request (HTTP {status}); "
        + (f"check {keys}" if keys else "it wants a key that this spec does not know"),
        "blocked": f"{provider.title} refuses requests of this server (HTTP {status})",
        "not_in_plan": f"the account at {provider.title} does not include this (HTTP {status})",
        "quota_exhausted": f"the allowance at {provider.title} is used up (HTTP {status})",
        "rate_limited": f"{provider.title} asks to slow down (HTTP {status})",
        "bad_request": f"{provider.title} refuses these arguments (HTTP {status})",
        "not_found": f"{provider.title} has no such thing (HTTP {status})",
        "layout_changed": f"{provider.title} answered in a shape that its spec does not know",
    }
    return said.get(kind, f"{provider.title} failed (HTTP {status})")


def read_rows(provider: Provider, reading: ResponseMapping, document: Any, context: OperationContext) -> list[Row]:
    """The rows of a decoded document.

    An empty list is an answer. A list that is missing, or an empty page, is a changed layout unless the spec says what
    such an answer looks like; so are items of which none has what every item had.
    """
    items = reading.each(document)
    context.items = len(items or ())
    if not items:
        explained = reading.empty_is_ok_when
        # Behind the last row of an answer an upstream that counts pages has an empty one.
        if items is not None and context.page_now:
            return []
        if explained(document) if explained is not None else items is not None:
            return []
        sentence = f"{provider.title} answered with neither results nor a sign that there are none"
        raise Fault("layout_changed", sentence, detail=str(reading.place))
    most = how_many(reading.take, context)
    rows: list[Row] = []
    usable = False
    for item in items:
        if most is not None and len(rows) >= most:
            break
        row = map_row(reading.fields, item, context)
        if row is None:
            continue
        usable = True
        if reading.keep is not None and not truthy(evaluate(reading.keep, Layer(context, row=row))):
            continue
        rows.append(row)
    if not usable and most != 0 and any(one.required for one in reading.fields):
        raise Fault(
            "layout_changed",
            f"{provider.title} answered with results that lack what every result had",
            detail=str(reading.place),
        )
    return rows


# --- Rows in order: joined, nearest first, interleaved, and in the types of their capability --------------------------


EARTH_RADIUS = 6_371_000.0  # metres, the mean radius (IUGG)


def interleave(lists: Sequence[list[Row]]) -> list[Row]:
    """Rows of several answers, the first of each, then the second of each, and so on."""
    longest = max((len(rows) for rows in lists), default=0)
    return [rows[at] for at in range(longest) for rows in lists if at < len(rows)]


def arrange(operation: Operation, context: OperationContext, rows: list[Row] | None) -> list[Row]:
    """What comes out of an operation: its rows joined, sorted by distance, kept and cut as the spec says.

    Of pages that can be gone on with all is taken; they are cut where they are put together.
    """
    plan = operation.arrangement
    if plan.rows is not None:
        rows = evaluate(plan.rows, context)
        if rows is not None and not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
            raise Unworkable("what comes out is no list of rows", plan.rows.place)
    found = [dict(row) for row in rows or []]
    if plan.join is not None:
        # A row with no value under the key is about the same thing as no other row.
        others = {key: row for row in evaluate(plan.join.rows, context) or [] if (key := _key(row, plan.join.on))}
        for row in found:
            other = others.get(_key(row, plan.join.on), {})
            row.update({name: other[name] for name in plan.join.take if name in other})
    if plan.nearest is not None:
        lat, lon = _to_number(plan.nearest.lat, context), _to_number(plan.nearest.lon, context)
        if lat is not None and lon is not None:
            within = _to_number(plan.nearest.within, context) if plan.nearest.within else None
            found = nearest(found, lat, lon, within or None)
    if plan.keep is not None:
        found = [row for row in found if truthy(evaluate(plan.keep, Layer(context, row=row)))]
    return found if operation.paging is not None else found[: how_many(plan.take, context)]


def _to_number(value: Value, context: Bindings) -> float | None:
    number = evaluate(value, context)
    if number is None:
        return None
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        return float(number)
    raise Unworkable(f"{number!r} is no number", value.place)


def _key(row: Row, name: str) -> tuple[str | int | float, ...]:
    value = row.get(name)
    return (value,) if isinstance(value, (str, int, float)) and value != "" else ()


def nearest(rows: list[Row], lat: float, lon: float, within: float | None) -> list[Row]:
    """Rows by great-circle distance in metres, nearest first; those without a point come last, or not at all."""

    def distance(row: Row) -> float:
        there_lat, there_lon = row.get("lat"), row.get("lon")
        if not isinstance(there_lat, (int, float)) or not isinstance(there_lon, (int, float)):
            return math.inf
        if (there_lat == 0 and there_lon == 0) or not (-90 <= there_lat <= 90 and -360 <= there_lon <= 360):
            return math.inf
        a, b = math.radians(lat), math.radians(there_lat)
        half = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(math.radians(there_lon - lon) / 2) ** 2
        return 2 * EARTH_RADIUS * math.asin(math.sqrt(min(1.0, half)))

    ranked = sorted(((distance(row), at, row) for at, row in enumerate(rows)), key=lambda one: one[:2])
    return [row for metres, _, row in ranked if within is None or metres <= within]


def conform(operation: Operation, rows: list[Row]) -> list[Row]:
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


# --- Rows mapped from the items of a reply by compiled fields ---------------------------------------------------------


def map_row(fields: tuple[Field, ...], item: Any, context: Bindings) -> Row | None:
    """One row from one item, without the fields for which nothing was found; None when a required one is missing."""
    row: Row = {}
    for one in fields:
        value = one.read(item, context)
        if value is NULL_KEPT:
            row[one.name] = None
            continue
        if value is None or value in MISSING:
            if one.has_else and value is not None:
                row[one.name] = value
            elif one.required:
                return None
            continue
        row[one.name] = value
    return row
