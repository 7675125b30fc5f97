"""Builds the exact request of a step: its address, query, headers and body."""

from __future__ import annotations

import base64
import json
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlencode

from specloom.core import Fault, Header, Request, Secret
from specloom.language import Unworkable
from specloom.language.evaluate import evaluate
from specloom.model import Operation, Provider, Step, Value

from .context import OperationContext


def build_request(provider: Provider, operation: Operation, step: Step, context: OperationContext) -> Request:
    """The exact request of a step in this context."""
    service = provider.service
    base = step.base or evaluate(service.base, context)
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
    return format(Decimal(text), "f") if "e" in text else text


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
