"""Asks for the next page of an answer: declared, never guessed, and always with a stop."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from .model import Context, Paging, Row
from .values import evaluate, truthy
from .wire import Request

_LINK = re.compile(r'<([^<>]*)>\s*;[^,<]*?\brel\s*=\s*"?([^",;]+)"?')  # RFC 8288 §3


def next_request(
    paging: Paging, request: Request, page_rows: list[Row], rows: list[Row], context: Context
) -> Request | None:
    """The request for the page after this one, or None when there is none or enough was read.

    A page without rows ends it, and so does a cursor that is missing or does not move.
    """
    if not page_rows:
        return None
    if paging.enough is not None and truthy(evaluate(paging.enough, {**context, "rows": rows})):
        return None
    if paging.kind == "link":
        return _by_link(request, context)
    if paging.kind == "cursor":
        assert paging.at is not None
        value = evaluate(paging.at, context)
        if value in (None, "", False) or str(value) == _current(request, paging.parameter):
            return None
        return _with(request, paging.parameter, str(value))
    current = _current(request, paging.parameter)
    start = int(current) if current is not None and current.isdecimal() else paging.start
    return _with(request, paging.parameter, str(start + paging.by))


def _current(request: Request, parameter: str) -> str | None:
    return next((value for name, value in request.query if name == parameter and isinstance(value, str)), None)


def _with(request: Request, parameter: str, value: str) -> Request:
    kept = [(name, one) for name, one in request.query if name != parameter]
    return replace(request, query=(*kept, (parameter, value)))


def _by_link(request: Request, context: Context) -> Request | None:
    for target, relation in _LINK.findall(context["headers"].get("link", "")):
        if relation.strip().lower() != "next":
            continue
        here, there = urlsplit(request.url), urlsplit(target)
        # A link may leave out scheme and host; one that leads to another host is not followed.
        if there.netloc and (there.scheme, there.netloc) != (here.scheme, here.netloc):
            return None
        hidden = tuple(pair for pair in request.query if not isinstance(pair[1], str))
        query = tuple(parse_qsl(there.query, keep_blank_values=True))
        url = f"{here.scheme}://{here.netloc}{there.path or here.path}"
        return replace(request, url=url, query=(*query, *hidden))
    return None
