"""Reads the response of a step: first whether it is a failure, then its rows."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

from .decode import decode
from .faults import KINDS, Fault
from .fields import map_row
from .model import Context, ErrorRule, Provider, Reading, Row, Step
from .values import evaluate, how_many, truthy
from .wire import Response


class Empty(Exception):  # noqa: N818 - not an error: the upstream says "nothing" in its own way
    """The upstream answered that there is nothing."""


def read_response(provider: Provider, step: Step, response: Response, context: Context) -> list[Row]:
    """The rows of a response; raises Fault, or Empty where the upstream says in its own way that there is nothing."""
    refused: Fault | None = None
    document: Any = None
    try:
        document = decode(step.reading.decoder, response, step.reading.options)
    except Fault as fault:
        refused = fault
    _raise_for(provider, response, document if step.reading.decoder == "json" else _json_or_none(response), context)
    if refused is not None:
        raise Fault(refused.kind, f"{provider.title}: {refused.message}", detail=refused.detail)
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
            if _holds(provider, rule, response, seen):
                raise _ruled(provider, rule, response, seen)
    if response.status >= 300:
        raise _default_fault(provider, response, context["now"])


def _holds(provider: Provider, rule: ErrorRule, response: Response, seen: Context) -> bool:
    """Whether a rule is about this answer; one that cannot be worked out met an answer of another shape."""
    try:
        return truthy(evaluate(rule.when, seen))
    except Fault as fault:
        message = _default_message(provider, "layout_changed", response.status)
        raise Fault("layout_changed", message, provider=provider.name, detail=fault.message) from None


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
    if text.isascii() and text.isdigit():
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
    most = how_many(reading.take, context)
    rows: list[Row] = []
    usable = False
    seen = dict(context) if reading.needs_context or reading.keep else context
    for item in items:
        if most is not None and len(rows) >= most:
            break
        row = map_row(reading.fields, item, seen)
        if row is None:
            continue
        usable = True
        if reading.keep is not None:
            seen["row"] = row
            if not truthy(evaluate(reading.keep, seen)):
                continue
        rows.append(row)
    if not usable and most != 0 and any(one.required for one in reading.fields):
        raise Fault(
            "layout_changed",
            f"{provider.title} answered with results that lack what every result had",
            detail=str(reading.place),
        )
    return rows
