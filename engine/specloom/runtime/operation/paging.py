"""Asks for the next page of an answer: declared, never guessed, and always with a stop."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import parse_qsl, quote, urljoin, urlsplit

from specloom.core import Request
from specloom.language import Layer, as_list, truthy
from specloom.language.evaluate import evaluate
from specloom.model import Paging, Row

from .context import OperationContext

_LINK = re.compile(r'<([^<>]*)>\s*;[^,<]*?\brel\s*=\s*"?([^",;]+)"?', re.IGNORECASE)  # RFC 8288 §3


def next_request(
    paging: Paging, request: Request, page_rows: list[Row], rows: list[Row], context: OperationContext
) -> Request | None:
    """The request for the page after this one, or None when there is none or enough was read.

    A page without rows ends it, unless pages have names, and so does a cursor that is missing or is no single value.
    Whether this page was asked for already is for the caller to see.
    """
    if not page_rows and paging.kind != "names":
        return None
    if paging.enough is not None and truthy(evaluate(paging.enough, Layer(context, rows=rows))):
        return None
    if paging.kind == "link":
        return _by_link(request, context)
    if paging.kind == "names":
        return _by_name(paging, request, context)
    if paging.kind == "cursor":
        assert paging.at is not None
        value = evaluate(paging.at, context)
        # A cursor is one value: how a list or an object would have to be written nobody knows.
        if value in (None, "") or isinstance(value, bool) or not isinstance(value, (str, int, float)):
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


def _by_name(paging: Paging, request: Request, context: OperationContext) -> Request | None:
    assert paging.at is not None
    names = [str(name) for name in as_list(evaluate(paging.at, context)) if isinstance(name, (str, int))]
    folder = request.url.rpartition("/")[0]
    # A name is one segment of the path, whatever the upstream has put into it.
    urls = [f"{folder}/{quote(name, safe='@')}" for name in names if name not in ("", ".", "..")]
    at = urls.index(request.url) + 1 if request.url in urls else 0
    return replace(request, url=urls[at]) if at < len(urls) else None


def _by_link(request: Request, context: OperationContext) -> Request | None:
    for target, relations in _LINK.findall((context.headers or {}).get("link", "")):
        if "next" not in relations.lower().split():
            continue
        try:
            here, there = urlsplit(request.url), urlsplit(urljoin(request.url, target))
        except ValueError:
            return None
        # A link may leave out scheme and host; one that leads to another host is not followed.
        if (there.scheme, there.netloc) != (here.scheme, here.netloc):
            return None
        hidden = tuple(pair for pair in request.query if not isinstance(pair[1], str))
        # What is secret goes on as a secret, also where the upstream has written it into its link.
        secret = {name for name, _ in hidden}
        query = tuple(pair for pair in parse_qsl(there.query, keep_blank_values=True) if pair[0] not in secret)
        url = f"{here.scheme}://{here.netloc}{there.path}"
        return replace(request, url=url, query=(*query, *hidden))
    return None
