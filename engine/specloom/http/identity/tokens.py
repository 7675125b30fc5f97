"""Access tokens as JWTs (RFC 9068, RFC 8725): what one has to be, and what its claims say of the caller.

A claim is looked at when the signature holds, so an answer tells nobody anything of a token that is not genuine.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from .identity import Identity, Refusal, is_name, is_scope
from .issuer_keys import ALGORITHMS, IssuerKeys, VerificationKey, is_kid
from .settings import IdentitySettings

if TYPE_CHECKING:
    from jwt import PyJWS

LONGEST_TOKEN = 8 * 1024
LONGEST_HEADER = 1024
LEEWAY = 30.0
"""Seconds for which a token is good after its end."""
AHEAD = 60.0
"""Seconds by which an issuer's clock may be ahead of ours."""
LATEST = 2.0**53
MOST_SCOPES = 200

_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")
_TYPES = frozenset({"at+jwt", "application/at+jwt", "jwt"})
_FOREIGN = frozenset({"jku", "x5u", "jwk", "x5c", "crit", "b64", "zip"})
"""Names of a header that bring keys along, or change what is signed."""
_OTHER_KINDS: tuple[str, ...] = ("nonce", "at_hash", "c_hash", "events")
"""Claims of ID tokens and logout tokens."""
_OTHER_WORDS = frozenset({"id", "refresh", "offline", "logout"})
"""What `token_use` and `typ` among the claims say of tokens that are not for us."""


class SignedToken(NamedTuple):
    """A token that is well formed: who signed it, by its own account."""

    text: str
    kid: str
    algorithm: str


def parse_token(text: str) -> SignedToken:
    """What the header of a token says, if it may say so; a Refusal otherwise. Nothing is verified yet."""
    if len(text) > LONGEST_TOKEN:
        raise Refusal("too_large")
    if _TOKEN.fullmatch(text) is None:
        raise Refusal("opaque" if text.count(".") != 2 else "malformed")
    part = text.partition(".")[0]
    if len(part) * 3 // 4 > LONGEST_HEADER:
        raise Refusal("too_large")
    header = _parse_object(_decode(part))
    kind = header.get("typ", "JWT")
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise Refusal("token_kind")
    if not _FOREIGN.isdisjoint(header):
        raise Refusal("malformed")
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise Refusal("algorithm")
    if not isinstance(kid, str) or not is_kid(kid):
        raise Refusal("unknown_key")
    return SignedToken(text, kid, algorithm)


async def verify_token(text: str, keys: IssuerKeys, settings: IdentitySettings, now: float) -> Identity:
    """The caller that a token names; a Refusal for any other. `now` is in seconds since the epoch."""
    token = parse_token(text)
    key = await keys.find(token.kid)
    return read_claims(_verify(token, key), settings, now)


@cache
def _verifier(algorithm: str) -> PyJWS:
    """What verifies this algorithm and no other."""
    from jwt import PyJWS

    return PyJWS(algorithms=[algorithm])


def _verify(token: SignedToken, key: VerificationKey) -> Mapping[str, Any]:
    from jwt.exceptions import PyJWTError

    if token.algorithm not in key.algorithms:
        raise Refusal("algorithm")
    try:
        payload = _verifier(token.algorithm).decode(token.text, key.public, algorithms=[token.algorithm])
    except (PyJWTError, ValueError, TypeError):
        raise Refusal("signature") from None
    return _parse_object(payload)


def read_claims(claims: Mapping[str, Any], settings: IdentitySettings, now: float) -> Identity:
    """The caller that claims name, if they hold at this time and here."""
    _check_kind(claims)
    if claims.get("iss") != settings.issuer:
        raise Refusal("issuer")
    audience = claims.get("aud")
    if settings.audience not in (audience if isinstance(audience, list) else [audience]):
        raise Refusal("audience")
    expires = _read_time(claims, "exp")
    if expires is None:
        raise Refusal("claims")
    if now >= expires + LEEWAY:
        raise Refusal("expired")
    issued = _read_time(claims, "iat")
    if max(_read_time(claims, "nbf") or 0.0, issued or 0.0) > now + AHEAD:
        raise Refusal("not_yet_valid")
    user, token_id = claims.get("sub"), claims.get("jti", "")
    if not isinstance(user, str) or not is_name(user) or not isinstance(token_id, str):
        raise Refusal("claims")
    scopes, scoped = _read_scopes(claims)
    return Identity(_read_tenant(claims, settings), user, scopes, token_id, expires, issued, scoped)


def _check_kind(claims: Mapping[str, Any]) -> None:
    words = (claims.get("token_use"), claims.get("typ"))
    if any(name in claims for name in _OTHER_KINDS) or any(
        isinstance(word, str) and word.lower() in _OTHER_WORDS for word in words
    ):
        raise Refusal("token_kind")


def _read_time(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None and name not in claims:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LATEST:
        raise Refusal("claims")
    return float(value)


def _read_tenant(claims: Mapping[str, Any], settings: IdentitySettings) -> str:
    if settings.tenant_claim not in claims:
        if settings.require_tenant:
            raise Refusal("no_tenant")
        return settings.issuer_host
    tenant = claims[settings.tenant_claim]
    if not isinstance(tenant, str) or not is_name(tenant):
        raise Refusal("claims")
    return tenant


def _read_scopes(claims: Mapping[str, Any]) -> tuple[frozenset[str], bool]:
    """The scopes of `scope` and `scp` together, and whether there is either.

    A text has blanks between scopes. What is no scope grants nothing: an entry of a list with a blank inside is one
    scope that nobody has, and not two.
    """
    scopes: set[str] = set()
    scoped = False
    for name in ("scope", "scp"):
        if name not in claims:
            continue
        scoped = True
        value = claims[name]
        listed = value.split(" ") if isinstance(value, str) else value
        if not isinstance(listed, list) or len(listed) > MOST_SCOPES:
            raise Refusal("claims")
        scopes.update(one for one in listed if isinstance(one, str) and is_scope(one))
    return frozenset(scopes), scoped


def _decode(part: str) -> bytes:
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise Refusal("malformed") from None


def _parse_object(text: bytes) -> dict[str, Any]:
    """A JSON object in which no name stands twice; NaN and infinities are no numbers."""
    try:
        said = json.loads(text, object_pairs_hook=_to_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Refusal("malformed") from None
    if not isinstance(said, dict):
        raise Refusal("malformed")
    return said


def _to_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    said = dict(pairs)
    if len(said) != len(pairs):
        raise ValueError("a name stands twice")
    return said


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError("no number of JSON")
