"""Whatever a token says, it is a caller of this issuer or refused, and nothing else happens."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.http.identity import Identity, IdentitySettings, Refusal
from specloom.http.identity.identity import is_name
from specloom.http.identity.tokens import parse_token, read_claims
from tests.support.token_issuer import AUDIENCE, encode

NOW = 1_700_000_000.0
SETTINGS = IdentitySettings(issuer="https://auth.example.com", audience=AUDIENCE)
GOOD: dict[str, Any] = {"iss": SETTINGS.issuer, "aud": AUDIENCE, "sub": "ann", "exp": NOW + 60, "tenant_id": "acme"}
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from([*GOOD.values()]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["iss", "aud", "sub", "exp", "nbf", "iat", "jti", "tenant_id", "scope", "scp", "typ", "nonce"])


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_claims_name_a_caller_who_can_be_or_are_refused(changes: dict[str, Any]) -> None:
    try:
        found = read_claims({**GOOD, **changes}, SETTINGS, NOW)
    except Refusal:
        return

    assert is_name(found.tenant)
    assert is_name(found.user)
    assert NOW - 30 < found.expires < 2**53 + 1
    assert all(" " not in scope for scope in found.scopes)
    assert {**GOOD, **changes}["iss"] == SETTINGS.issuer
    assert hash(found)


@pytest.mark.parametrize("text", ["a" * 8193, f"{'a' * 8000}.{'b' * 200}.c"])
def test_a_text_that_is_too_long_is_not_looked_at(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        parse_token(text)

    assert caught.value.reason == "too_large"


def test_claims_that_hold_name_their_caller() -> None:
    assert read_claims(GOOD, SETTINGS, NOW) == Identity("acme", "ann", expires=NOW + 60, scoped=False)


@given(
    st.dictionaries(st.sampled_from(["alg", "kid", "typ", "jku", "crit", "x"]), VALUES, max_size=4), st.text(max_size=9)
)
def test_headers_are_of_a_token_that_could_be_or_are_refused(header: dict[str, Any], rest: str) -> None:
    said = {"alg": "ES256", "kid": "k1", **header}
    try:
        token = parse_token(f"{encode(json.dumps(said).encode())}.{encode(b'{}')}.{rest}")
    except Refusal:
        return

    assert (token.algorithm, token.kid) == (said["alg"], said["kid"])
    assert {"jku", "crit"}.isdisjoint(said)


@given(st.text(max_size=200) | st.from_regex(r"[A-Za-z0-9_.=-]{0,60}", fullmatch=True))
def test_any_text_is_a_token_or_refused(text: str) -> None:
    with contextlib.suppress(Refusal):
        assert parse_token(text).text == text
