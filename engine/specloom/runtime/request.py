"""Builds the exact requests of an operation: a step's own, those for further pages, and the one for a token."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

from specloom.core import Fault, Header, Request, Response, Secret, dataclass, field, replace
from specloom.language import Layer, Moment, RunBindings, Unworkable, as_list, evaluate, truthy
from specloom.model import Operation, Paging, Provider, Row, Step, Value

# --- What the expressions of an operation may name, and what only the engine uses -------------------------------------


Note = Callable[[tuple[Request, Response]], None]
Afford = Callable[[int, int], None]
"""Has places for so many further requests, as far as there are so many; a fault where there are fewer than the second.
"""
Tokens = MutableMapping[str, tuple[Secret, float]]
"""Tokens by provider, with the moment until which they are good, in seconds since the epoch."""


@dataclass(slots=True)
class Writes:
    """How far an operation has written, over all its parts and keys."""

    open: int = 0
    """Requests that change something and were sent, without those that were refused."""


@dataclass(slots=True)
class OperationContext(RunBindings):
    """The bindings of an operation's expressions, by the names that specs use."""

    args: Mapping[str, Any]
    config: Mapping[str, Any]
    now: float
    moment: Moment
    values: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, list[Row] | None] = field(default_factory=dict)
    """The rows of each step that has run; None for one that was left out or failed."""
    page: Any = None
    """The document of the last response."""
    headers: Mapping[str, str] | None = None
    """The headers of the last response; None before there is one."""
    tokens: Tokens = field(default_factory=dict)
    note: Note | None = None
    """Told of each response that could be read."""
    writes: Writes = field(default_factory=Writes)
    """Counts what was written."""
    afford: Afford | None = None
    behind: int = 0
    """How many parts of the question come after this one."""
    position: int | str | None = None
    """The page that is asked for: a number, or what the upstream gave for it; None for the first of those."""
    page_now: str = ""
    """The same as text; empty for the first page."""
    items: int = 0
    """How many items the last response had, of which not all need be rows."""
    following: str | None = None
    """The page after this one, as text; None where there is none that can be asked for."""
    has_more: bool | None = None
    """Whether the upstream has more than this page; None where it does not say."""


def make_context(
    operation: Operation,
    arguments: Mapping[str, Any],
    config: Mapping[str, Any],
    now: float,
    tokens: Tokens | None = None,
    note: Note | None = None,
    afford: Afford | None = None,
    behind: int = 0,
    writes: Writes | None = None,
) -> OperationContext:
    """The context at the beginning of a run, with the operation's own values worked out."""
    tokens = {} if tokens is None else tokens
    context = OperationContext(
        arguments, config, now, Moment(now, ""), tokens=tokens, note=note, afford=afford, behind=behind
    )
    if writes is not None:
        context.writes = writes
    for name, value in operation.values:
        context.values[name] = evaluate(value, context)
    if operation.paging is not None:
        turn_to(operation.paging, "", context)
    return context


def afford_page(context: OperationContext) -> None:
    """Nothing, or the fault that keeps a further page, or a step that may be left out, from being asked for.

    What is needed for this page goes before, and so does the first page of every part before the second of any.
    """
    if context.afford is not None:
        context.afford(context.behind + 1, context.behind + 1)


def count_needed(steps: Sequence[Step], context: OperationContext) -> int:
    """How many of these steps an answer may take: not those that are optional, or that the arguments switch off."""
    return sum(
        not step.optional
        and (
            step.when is None
            or any(path[0] == "steps" for path in step.when.uses)
            or truthy(evaluate(step.when, context))
        )
        for step in steps
    )


# --- The address, query, headers and body of a step -------------------------------------------------------------------


_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def build_request(provider: Provider, operation: Operation, step: Step, context: OperationContext) -> Request:
    """The exact request of a step in this context."""
    service = provider.service
    base = _base(step, context) if step.base else evaluate(service.base, context)
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
    for name, said in (evaluate(step.parameters, context) or {} if step.parameters else {}).items():
        query.extend((name, text) for text in _texts(said, name))
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


def _base(step: Step, context: OperationContext) -> str:
    """The base of a step that has one of its own; what stands in it is one label of a host and nothing else."""
    parts = []
    for part in step.base:
        text = part if isinstance(part, str) else evaluate(part, context)
        if isinstance(part, Value) and not (isinstance(text, str) and _LABEL.fullmatch(text)):
            raise Fault("validation", f"{part.text} is {text!r}, which is no part of a host")
        parts.append(text)
    return "".join(parts)


def _missing(provider: Provider) -> str:
    needed = [one.name for one in provider.settings.values() if one.required]
    return f"set {' and '.join(needed)}" if needed else "see its spec"


def _authorize(
    auth: tuple[str, Value], context: OperationContext, headers: dict[str, tuple[str, Header]], provider: Provider
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
    word = {"basic": "Basic", "bearer": "Bearer"}.get(kind, kind)
    _add_header(headers, "Authorization", Secret(f"{word} {text}"))


def _add_header(headers: dict[str, tuple[str, Header]], name: str, value: Any) -> None:
    texts = _texts(value, name)
    if len(texts) == 1:
        headers[name.lower()] = (name, texts[0])
    elif texts:  # one header with several values has them in one line (RFC 9110 §5.3)
        line = ", ".join(text.reveal() if isinstance(text, Secret) else text for text in texts)
        headers[name.lower()] = (name, Secret(line) if any(isinstance(text, Secret) for text in texts) else line)


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
        return [str(int(value)) if value.is_integer() and abs(value) < 1e15 else _decimal(value)]
    if isinstance(value, (str, int)):
        return [str(value)]
    raise Unworkable(f"the request value {name!r} is a mapping, which cannot be sent here", "")


def _decimal(value: float) -> str:
    """The shortest text of a number, never with an exponent, which few upstreams read."""
    text = repr(value)
    if "e" not in text:
        return text
    from decimal import Decimal

    return format(Decimal(text), "f")


def _path(step: Step, context: OperationContext) -> str:
    parts = []
    for part in step.path:
        if isinstance(part, str):
            parts.append(part)
            continue
        # A list makes several segments, which is how a path of the upstream's own is handed on.
        segments = _texts(evaluate(part, context), "path") or [""]
        for text in segments:
            # Encoding leaves "." and ".." alone, so a segment of dots is refused here rather than escaped.
            if not isinstance(text, str) or not text or text in {".", ".."}:
                raise Fault("validation", f"{part.text} is {text!r}, which cannot stand in a path")
        # An at sign needs no escape in a path (RFC 3986, pchar), and there are upstreams that know it only as it is.
        parts.append("/".join(quote(str(text), safe="@") for text in segments))
    return "".join(parts)


def _body(
    step: Step, context: OperationContext, headers: dict[str, tuple[str, Header]]
) -> tuple[bytes | None, tuple[Secret, ...]]:
    """The encoded body, and the secrets that are in it."""
    if step.body is None:
        return None, ()
    kind, value = step.body
    hidden: list[Secret] = []
    content = _revealed(evaluate(value, context), hidden)
    if kind == "base64":
        headers.setdefault("content-type", ("Content-Type", "application/octet-stream"))
        try:
            return base64.b64decode(str(content), validate=True), ()
        except ValueError:
            raise Fault("bad_request", "the body is no text in base64") from None
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


# --- The next page of an answer: declared, never guessed, and always with a stop --------------------------------------


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


# --- Pages that a later call goes on with: each is a run of its own, and what names it travels through the caller -----


LONGEST_TOKEN = 1_500
"""Characters of what an upstream may give for its next page; the longest known have some three hundred."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
MAX_NUMBER = 10**9
"""The last page or row that is asked for where the spec knows of no end."""


def is_page(paging: Paging, page: str) -> bool:
    """Whether this text can be the page of an upstream: what comes through a caller is no more than an argument."""
    if page == "":
        return True
    if paging.kind == "cursor":
        return len(page) <= LONGEST_TOKEN and not _CONTROL.search(page)
    if not (page.isascii() and page.isdecimal() and len(page) <= 10 and str(int(page)) == page):
        return False
    return paging.start <= int(page) <= (MAX_NUMBER if paging.deepest is None else paging.deepest)


def turn_to(paging: Paging, page: str, context: OperationContext) -> None:
    """Let the context be that of a page."""
    context.page_now = page
    context.position = (page or None) if paging.kind == "cursor" else int(page) if page else paging.start
    context.following, context.has_more = None, None


def to_page(paging: Paging, request: Request, context: OperationContext) -> Request:
    """The request for the page that the context is at; the first one is asked for as the step says."""
    if not paging.parameter or not context.page_now:
        return request
    return _with(request, paging.parameter, context.page_now)


def find_following(paging: Paging, context: OperationContext) -> tuple[str | None, bool | None]:
    """The page after the one that was read, and whether there is one.

    A page without items is the last, unless the spec says whether it is. An answer that does not say what its spec
    looks for is still an answer, behind which nobody knows what comes.
    """
    if not context.items and paging.more is None:
        return None, False
    try:
        return _find_following(paging, context)
    except Unworkable:
        return None, None


def _find_following(paging: Paging, context: OperationContext) -> tuple[str | None, bool | None]:
    seen = Layer(context, items=context.items)
    has_more = truthy(evaluate(paging.more, seen)) if paging.more is not None else None
    if has_more is False:
        return None, False
    if paging.kind == "cursor":
        assert paging.at is not None
        value = evaluate(paging.at, context)
        page = "" if isinstance(value, bool) or not isinstance(value, (str, int, float)) else str(value)
        if page in ("", context.page_now):
            return None, False
    else:
        assert isinstance(context.position, int)
        by = evaluate(paging.step, context) if paging.step is not None else paging.by or context.items
        if not isinstance(by, int) or by < 1:
            return None, has_more
        page = str(context.position + by)
    return (page, has_more) if is_page(paging, page) else (None, has_more)


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


# --- A token for credentials (OAuth 2.0 client credentials, RFC 6749 §4.4), kept while it is good ---------------------


STEP = "token"
"""The step under which a token is asked for; examples and recordings name it so."""
EARLY = 30.0
"""Seconds before its end from which a token is no longer used."""
DEFAULT_LIFE = 600.0


def granted(
    provider: Provider, operation: str, context: OperationContext, tokens: Tokens
) -> Generator[Request, Response | None, Secret]:
    """A token that is good now: the kept one, or a new one for which a request is yielded."""
    grant = provider.service.grant
    assert grant is not None
    kept = tokens.get(provider.name)
    if kept is not None and context.now < kept[1] - EARLY:
        return kept[0]
    client, secret = evaluate(grant.client, context), evaluate(grant.secret, context)
    if client is None or secret is None:
        raise Fault("auth_required", f"{provider.title} needs credentials", provider=provider.name)
    pair = f"{_reveal(client)}:{_reveal(secret)}"
    headers = (
        ("Authorization", Secret("Basic " + base64.b64encode(pair.encode()).decode())),
        ("Accept", "application/json"),
        ("Content-Type", "application/x-www-form-urlencoded"),
    )
    form = {"grant_type": "client_credentials"} | ({"scope": grant.scope} if grant.scope else {})
    url = evaluate(grant.url, context)
    response = yield Request(
        "POST", str(url), (), headers, urlencode(form).encode(), provider.service.policy, provider.name, operation, STEP
    )
    assert response is not None
    token, life = _read_token(provider, response)
    tokens[provider.name] = (token, context.now + life)
    return token


def _reveal(value: object) -> str:
    return value.reveal() if isinstance(value, Secret) else str(value)


def _read_token(provider: Provider, response: Response) -> tuple[Secret, float]:
    status = response.status
    if 400 <= status < 500 and status != 429:
        names = " and ".join(provider.secret_names)
        sentence = f"{provider.title} refused the credentials (HTTP {status}); check {names}"
        raise Fault("auth_required", sentence, provider=provider.name)
    try:
        said = json.loads(response.body)
        token = said["access_token"]
    except (ValueError, KeyError, TypeError, RecursionError):
        token = None
    # A page of a network that wants a log-in is no word about the credentials.
    if status >= 300 or not isinstance(token, str) or not token:
        kind = "rate_limited" if status == 429 else "upstream_unavailable"
        raise Fault(kind, f"{provider.title} gave no token (HTTP {status})", provider=provider.name)
    try:
        life = float(said.get("expires_in", DEFAULT_LIFE))
    except (TypeError, ValueError, OverflowError):
        life = DEFAULT_LIFE
    return Secret(token), max(life, 0.0)


def secrets_of(request: Request) -> list[Secret]:
    """Every secret that a request carries."""
    sent = [value for _, value in (*request.query, *request.headers) if isinstance(value, Secret)]
    return [*sent, *request.hidden]
