"""Exchanges credentials for a token (OAuth 2.0 client credentials, RFC 6749 §4.4) and keeps it while it is good."""

from __future__ import annotations

import base64
import json
from collections.abc import Generator
from urllib.parse import urlencode

from specloom.core import Fault, Request, Response, Secret
from specloom.language.evaluate import evaluate
from specloom.model import Provider

from .context import OperationContext, Tokens

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
    token, life = _read(provider, response)
    tokens[provider.name] = (token, context.now + life)
    return token


def _reveal(value: object) -> str:
    return value.reveal() if isinstance(value, Secret) else str(value)


def _read(provider: Provider, response: Response) -> tuple[Secret, float]:
    status = response.status
    if 400 <= status < 500 and status != 429:
        names = " and ".join(one.name for one in provider.settings.values() if one.secret)
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
