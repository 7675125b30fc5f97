"""Attacks 1 to 8 on who calls: nothing false is let in, and no answer says more than its fixed words."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from specloom.http.identity import Authenticator, Identity, Refusal, make_challenge
from specloom.http.identity.scopes import ScopePolicy
from specloom.net import Transport
from tests.support.clock import Clock
from tests.support.loopback import Call, Loopback, Reply
from tests.support.token_issuer import AUDIENCE, JSON, METADATA, SigningKey, TokenIssuer, encode, make_key, sign_claims

METADATA_URL = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
EVIL = make_key("k1", "RS256")
"""A key of somebody else under the name of one of the issuer's."""


class Door:
    """An authenticator over an issuer, with clocks that stand still."""

    def __init__(self, issuer: TokenIssuer, **settings: Any) -> None:
        self.clock = Clock(issuer.now)
        self.said: list[str] = []
        self.issuer = issuer
        self.transport = Transport()
        self.authenticator = Authenticator(
            issuer.settings(**settings),
            sender=self.transport,
            warn=self.said.append,
            clock=self.clock,
            timer=self.clock,
        )

    async def open(self, token: str) -> Identity:
        return await self.authenticator.identify([f"Bearer {token}"])

    async def refuse(self, token: str) -> Refusal:
        return await self.refuse_headers([f"Bearer {token}"])

    async def refuse_headers(self, headers: list[str | bytes], query: str = "") -> Refusal:
        with pytest.raises(Refusal) as caught:
            await self.authenticator.identify(headers, query)
        return caught.value

    async def aclose(self) -> None:
        await self.authenticator.aclose()
        await self.transport.aclose()


@pytest.fixture
def issuer() -> Iterator[TokenIssuer]:
    with TokenIssuer() as running:
        yield running


@pytest.fixture
async def door(issuer: TokenIssuer) -> AsyncIterator[Door]:
    made = Door(issuer)
    await made.authenticator.start()
    yield made
    await made.aclose()


# --- 1: none, and those of others ------------------------------------------------------------------------------------


async def test_without_a_token_the_challenge_names_no_error(door: Door) -> None:
    refusal = await door.refuse_headers([])

    assert (refusal.status, refusal.reason) == (401, "no_credential")
    assert make_challenge(refusal, METADATA_URL) == f'Bearer resource_metadata="{METADATA_URL}"'


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"aud": "https://other.example.com/mcp"}, "audience"),
        ({"aud": AUDIENCE + "/"}, "audience"),
        ({"aud": AUDIENCE.upper()}, "audience"),
        ({"aud": ["https://other.example.com", AUDIENCE + "x"]}, "audience"),
        ({"aud": None}, "audience"),
        ({"aud": {AUDIENCE: True}}, "audience"),
        ({"aud": [[AUDIENCE]]}, "audience"),
        ({"iss": "https://evil.example.com"}, "issuer"),
        ({"iss": None}, "issuer"),
        ({"exp": None}, "claims"),
        ({"exp": "9999999999"}, "claims"),
        ({"exp": True}, "claims"),
        ({"exp": 1e300}, "claims"),
        ({"exp": -1}, "claims"),
        ({"nbf": "soon"}, "claims"),
        ({"iat": [1]}, "claims"),
    ],
)
async def test_a_token_of_another_kind_is_refused(door: Door, changes: dict[str, Any], reason: str) -> None:
    refusal = await door.refuse(door.issuer.sign(**changes))

    assert (refusal.status, refusal.error, refusal.reason) == (401, "invalid_token", reason)


async def test_the_issuer_is_compared_as_text(door: Door) -> None:
    url = door.issuer.url

    for other in (f"{url}/", url.upper(), url.replace("127.0.0.1", "localhost"), f"{url} ", [url]):
        assert (await door.refuse(door.issuer.sign(iss=other))).reason == "issuer"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"exp": -31}, "expired"),
        ({"exp": -30}, "expired"),
        ({"exp": -29}, ""),
        ({"nbf": 60}, ""),
        ({"nbf": 61}, "not_yet_valid"),
        ({"iat": 60}, ""),
        ({"iat": 61}, "not_yet_valid"),
    ],
)
async def test_times_hold_to_the_second_with_their_leeway(
    issuer: TokenIssuer, changes: dict[str, int], reason: str
) -> None:
    issuer.now = float(int(issuer.now))
    door = Door(issuer)
    token = issuer.sign(**{name: int(issuer.now) + offset for name, offset in changes.items()})

    if reason:
        assert (await door.refuse(token)).reason == reason
    else:
        assert (await door.open(token)).user == "ann"
    await door.aclose()


@pytest.mark.parametrize("exp", ["NaN", "Infinity", "1e999"])
async def test_no_end_is_later_than_every_time(door: Door, exp: str) -> None:
    claims = json.dumps(door.issuer.claims()).replace(f'"exp": {door.issuer.claims()["exp"]}', f'"exp": {exp}')

    refusal = await door.refuse(sign_claims(claims.encode(), door.issuer.keys[0]))

    assert exp in claims
    assert refusal.status == 401


# --- 2: algorithms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["none", "None", "nOnE", "HS256", "RS512", "ES384", "es256", "", "HS256 "])
async def test_an_algorithm_that_is_not_ours_is_refused(door: Door, algorithm: str) -> None:
    token = door.issuer.sign(header={"alg": algorithm})

    for text in (token, token.rpartition(".")[0] + "."):
        assert (await door.refuse(text)).reason == "algorithm"


async def test_for_an_algorithm_that_is_not_ours_nobody_is_asked(door: Door) -> None:
    door.clock.now += 60

    for algorithm in ("none", "HS256"):
        await door.refuse(door.issuer.sign(header={"alg": algorithm, "kid": "unknown"}))

    assert door.issuer.count() == 1


@pytest.mark.parametrize("form", ["pem", "der", "jwk"])
async def test_a_public_key_is_no_secret_for_hmac(form: str) -> None:
    with TokenIssuer([make_key("rsa", "RS256")]) as issuer:
        door = Door(issuer)
        public = issuer.keys[0].private.public_key()
        secret = {
            "pem": public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
            "der": public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
            "jwk": json.dumps(issuer.keys[0].jwk).encode(),
        }[form]
        for algorithm in ("HS256", "RS256"):
            signed = f"{encode({'alg': algorithm, 'kid': 'rsa'})}.{encode(issuer.claims())}"
            forged = f"{signed}.{encode(hmac.digest(secret, signed.encode(), hashlib.sha256))}"

            assert (await door.refuse(forged)).reason in ("algorithm", "signature")
        await door.aclose()


async def test_an_algorithm_has_to_fit_the_key(door: Door) -> None:
    for algorithm in ("RS256", "PS256", "EdDSA"):
        assert (await door.refuse(door.issuer.sign(algorithm=algorithm))).reason == "algorithm"


async def test_a_key_for_one_algorithm_verifies_no_other() -> None:
    with TokenIssuer([make_key("rsa", "RS256")]) as issuer:
        door = Door(issuer)

        assert (await door.refuse(issuer.sign(algorithm="PS256"))).reason == "algorithm"
        await door.aclose()


@pytest.mark.parametrize("signature", ["", "AAAA", encode(bytes(64)), "replaced", "padded", "cut"])
async def test_a_signature_that_is_not_of_the_issuer_is_refused(door: Door, signature: str) -> None:
    signed, _, real = door.issuer.sign().rpartition(".")
    another = SigningKey("k1", "ES256", make_key("another").private)
    made = {"replaced": door.issuer.sign(another).rpartition(".")[2], "padded": real + "=", "cut": real[:-4]}

    refusal = await door.refuse(f"{signed}.{made.get(signature, signature)}")

    assert refusal.reason in ("signature", "malformed", "opaque")
    assert refusal.status == 401


async def test_claims_that_were_changed_are_refused(door: Door) -> None:
    head, _, signature = door.issuer.sign().split(".")

    assert (await door.refuse(f"{head}.{encode(door.issuer.claims(sub='bob'))}.{signature}")).reason == "signature"


# --- 3: names of keys, and keys that are brought along ---------------------------------------------------------------


@pytest.mark.parametrize(
    "kid", [None, "unknown", "../../dev/null", "k" * 300, "' OR 1=1 --", "k1\n", "", 7, ["k1"], {"k1": 1}, True, "k1\0"]
)
async def test_a_name_of_a_key_that_the_issuer_has_not_is_refused(door: Door, kid: Any) -> None:
    assert (await door.refuse(door.issuer.sign(header={"kid": kid}))).status == 401


async def test_whatever_names_come_the_issuer_is_asked_once_a_minute(door: Door) -> None:
    before = door.issuer.count()
    door.clock.now += 60
    for number in range(50):
        await door.refuse(door.issuer.sign(header={"kid": f"unknown {number}"}))
    first = door.issuer.count() - before
    door.clock.now += 59
    await door.refuse(door.issuer.sign(header={"kid": "another"}))
    within = door.issuer.count() - before
    door.clock.now += 1
    await door.refuse(door.issuer.sign(header={"kid": "another"}))

    assert (first, within, door.issuer.count() - before) == (1, 1, 2)
    assert door.issuer.count(METADATA) == 1


@pytest.mark.parametrize("name", ["jku", "x5u", "jwk", "x5c", "crit", "b64", "zip"])
async def test_a_header_that_brings_a_key_along_is_refused(door: Door, name: str) -> None:
    calls: list[Call] = []

    def answer(call: Call) -> Reply:
        calls.append(call)
        return 200, JSON, json.dumps({"keys": [EVIL.jwk]})

    with Loopback(answer) as evil:
        value = {"jku": evil.url, "x5u": evil.url, "jwk": EVIL.jwk, "x5c": ["MIIB"], "crit": ["exp"], "b64": True}
        token = door.issuer.sign(EVIL, header={name: value.get(name, "DEF")})

        assert (await door.refuse(token)).reason == "malformed"
        # The same header is refused where the issuer itself has signed it.
        assert (await door.refuse(door.issuer.sign(header={name: value.get(name, "DEF")}))).reason == "malformed"
    assert calls == []


async def test_a_name_that_stands_twice_in_a_token_is_refused(door: Door) -> None:
    key = door.issuer.keys[0]
    twice = json.dumps(door.issuer.claims())[:-1].encode() + b', "sub": "bob"}'
    head = b'{"alg":"ES256","kid":"k1","kid":"k1"}'
    _, claims, signature = door.issuer.sign().split(".")

    assert (await door.refuse(sign_claims(twice, key))).reason == "malformed"
    assert (await door.refuse(f"{encode(head)}.{claims}.{signature}")).reason == "malformed"


# --- 4: keys that change ---------------------------------------------------------------------------------------------


async def test_both_keys_hold_during_a_rotation_and_the_old_one_ends_with_the_next_reading(door: Door) -> None:
    issuer, new = door.issuer, make_key("k2")
    old = issuer.sign()
    assert (await door.open(old)).user == "ann"

    issuer.keys.append(new)
    door.clock.now += 60
    both = [(await door.open(issuer.sign(new, sub="bob"))).user, (await door.open(old)).user]
    del issuer.keys[0]
    await door.authenticator._issuer_keys.refresh()  # type: ignore[union-attr]
    refusal = await door.refuse(old)

    assert both == ["bob", "ann"]
    assert refusal.reason == "unknown_key"
    assert (await door.open(issuer.sign(new, sub="bob"))).user == "bob"


async def test_another_key_under_the_same_name_ends_tokens_that_were_verified_with_the_first(door: Door) -> None:
    old = door.issuer.sign()
    await door.open(old)

    door.issuer.keys[0] = make_key("k1", "EdDSA")
    await door.authenticator._issuer_keys.refresh()  # type: ignore[union-attr]

    assert (await door.refuse(old)).reason == "algorithm"


# --- 6: who it is ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sub", [None, "", "x" * 256, "x" * 5000, "a\0b", "a\nb", "a\u2028b", "a\x85b", "\ud800", 7, ["ann"], "anonymous"]
)
async def test_nobody_in_particular_is_refused(door: Door, sub: Any) -> None:
    refusal = await door.refuse(door.issuer.sign(sub=sub))

    assert (refusal.status, refusal.reason) == (401, "claims")


@pytest.mark.parametrize("tenant", ["", "x" * 256, "a\0b", "a\r\nb", "\ud800", 7, ["acme"], "anonymous"])
async def test_a_tenant_that_cannot_be_is_refused(door: Door, tenant: Any) -> None:
    assert (await door.refuse(door.issuer.sign(tenant_id=tenant))).reason == "claims"


async def test_colons_move_nobody_into_anothers_drawer(door: Door) -> None:
    pairs = [("acme:ann", "x"), ("acme", "ann:x"), ("acme%3Aann", "x"), ("acme", "ann%3Ax"), ("a:b", "c"), ("a", "b:c")]

    owners = [(await door.open(door.issuer.sign(tenant_id=tenant, sub=user))).owner for tenant, user in pairs]

    assert len(set(owners)) == len(pairs)


async def test_a_token_without_a_tenant_belongs_to_the_issuers_host_or_is_refused(issuer: TokenIssuer) -> None:
    lenient, strict = Door(issuer), Door(issuer, require_tenant=True)
    token = issuer.sign(tenant_id=None)

    assert (await lenient.open(token)).tenant == "127.0.0.1"
    assert (await strict.refuse(token)).reason == "no_tenant"
    assert (await strict.open(issuer.sign())).tenant == "acme"
    await lenient.aclose()
    await strict.aclose()


async def test_the_tenant_is_read_from_the_claim_that_is_named(issuer: TokenIssuer) -> None:
    door = Door(issuer, tenant_claim="https://example.com/org")

    found = await door.open(issuer.sign(**{"https://example.com/org": "beta"}))

    assert found.tenant == "beta"
    await door.aclose()


# --- 7: tokens of other kinds, and other ways of sending one ---------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "changes"),
    [
        ({}, {"nonce": "n"}),
        ({}, {"at_hash": "h"}),
        ({}, {"c_hash": "h"}),
        ({}, {"events": {}}),
        ({}, {"typ": "Refresh"}),
        ({}, {"typ": "ID"}),
        ({}, {"token_use": "id"}),
        ({"typ": "logout+jwt"}, {}),
        ({"typ": "secevent+jwt"}, {}),
        ({"typ": "dpop+jwt"}, {}),
        ({"typ": ""}, {}),
        ({"typ": ["JWT"]}, {}),
    ],
)
async def test_a_genuine_token_for_something_else_is_refused(
    door: Door, header: dict[str, Any], changes: dict[str, Any]
) -> None:
    assert (await door.refuse(door.issuer.sign(header=header, **changes))).reason == "token_kind"


@pytest.mark.parametrize("kind", ["at+jwt", "application/at+jwt", "JWT", "jwt", "AT+JWT", None])
async def test_an_access_token_says_so_or_nothing(door: Door, kind: str | None) -> None:
    assert (await door.open(door.issuer.sign(header={"typ": kind}))).user == "ann"


async def test_a_token_for_another_resource_is_refused_whatever_else_it_names(door: Door) -> None:
    token = door.issuer.sign(aud="https://other.example.com", resource=AUDIENCE, azp=AUDIENCE, client_id=AUDIENCE)

    assert (await door.refuse(token)).reason == "audience"


@pytest.mark.parametrize(
    "query",
    ["access_token=x", "a=1&access_token=", "access%5Ftoken=x", "ACCESS_TOKEN=x", "api_key=x", "&".join("a" * 101)],
)
async def test_a_credential_in_the_query_is_a_bad_request(door: Door, query: str) -> None:
    refusal = await door.refuse_headers([f"Bearer {door.issuer.sign()}"], query)

    assert (refusal.status, refusal.error) == (400, "invalid_request")


async def test_other_queries_are_no_business_of_ours(door: Door) -> None:
    token = f"Bearer {door.issuer.sign()}"

    assert (await door.authenticator.identify([token], b"session=1&x=%ff")).user == "ann"


async def test_two_credentials_are_a_bad_request(door: Door) -> None:
    token = f"Bearer {door.issuer.sign()}"

    refusal = await door.refuse_headers([token, token])
    with pytest.raises(Refusal) as mixed:
        await door.authenticator.identify([token], api_key=["slk_x"])

    assert (refusal.status, mixed.value.status) == (400, 400)


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer  ", "beaReR"])
async def test_the_name_of_the_scheme_has_no_case(door: Door, scheme: str) -> None:
    assert (await door.authenticator.identify([f"{scheme} {door.issuer.sign()}".encode()])).user == "ann"


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("Basic YW5uOnNlY3JldA==", "other_scheme"),
        ("", "other_scheme"),
        ("Token x", "other_scheme"),
        ("Bearer", "malformed"),
        ("Bearer ", "malformed"),
        ("Bearer a b", "malformed"),
        ("Bearer a.b.c, Bearer d.e.f", "malformed"),
        ("Bearer\ta.b.c", "malformed"),
        ("Bearer a.b.c\n", "malformed"),
        ("Bearer ä.b.c", "malformed"),
        (b"Bearer \xff.b.c", "malformed"),
        ("Bearer a.b.c", "malformed"),
        ("Bearer 2YotnFZFEjr1zCsicMWpAA", "opaque"),
        ("Bearer a.b.c.d.e", "opaque"),
        ("Bearer " + "a" * 9000, "too_large"),
        ("Bearer " + "a" * 10_000_000, "too_large"),
    ],
)
async def test_what_is_no_bearer_token_is_refused(door: Door, header: str | bytes, reason: str) -> None:
    refusal = await door.refuse_headers([header])

    assert (refusal.status, refusal.reason) == (401, reason)


async def test_a_token_is_8_kib_at_most_and_its_header_1_kib(door: Door) -> None:
    largest = door.issuer.sign(pad="x" * 5700)
    over = door.issuer.sign(pad="x" * 6000)

    assert len(largest) <= 8192 < len(over)
    assert (await door.open(largest)).user == "ann"
    assert (await door.refuse(over)).reason == "too_large"
    assert (await door.refuse(door.issuer.sign(header={"x": "y" * 1000}))).reason == "too_large"


@pytest.mark.parametrize(
    "part", [b"[" * 3000, b'{"a":' * 700, b"\xff\xfe", b"7", b"[]", b"null", b'{"exp":1' + b"0" * 5000 + b"}"]
)
async def test_parts_that_are_no_objects_are_refused(door: Door, part: bytes) -> None:
    _, claims, signature = door.issuer.sign().split(".")

    assert (await door.refuse(f"{encode(part)[:1300]}.{claims}.{signature}")).status == 401
    assert (await door.refuse(sign_claims(part, door.issuer.keys[0]))).status == 401


# --- 8: scopes -------------------------------------------------------------------------------------------------------


ENFORCED = ScopePolicy(enforced=True, required=("org:read",))


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({"scope": "research org:read"}, True),
        ({"scope": "tool:* org:read"}, True),
        ({"scope": "tool:demo_find org:read"}, True),
        ({"scope": "tool:demo_find", "scp": ["org:read"]}, True),
        ({"scope": "org:read", "scp": "tool:demo_find other"}, True),
        ({"scope": "research"}, False),
        ({"scope": "org:read"}, False),
        ({"scope": "tool:demo_findX org:read"}, False),
        ({"scope": "tool:*x org:read"}, False),
        ({"scope": "tool:demo* org:read"}, False),
        ({"scope": "TOOL:* org:read"}, False),
        ({"scope": "tool:demo_find\torg:read"}, False),
        ({"scope": ["research org:read"]}, False),
        ({"scp": ["research org:read", 7, None]}, False),
        ({"scope": ""}, False),
        ({"scope": None}, False),
    ],
)
async def test_a_tool_needs_its_scope_and_all_that_are_required(
    issuer: TokenIssuer, changes: dict[str, Any], allowed: bool
) -> None:
    door = Door(issuer, scopes=ENFORCED)
    identity = await door.open(issuer.sign(**changes))

    if allowed:
        ENFORCED.check_tool(identity, "demo_find")
    else:
        with pytest.raises(Refusal) as caught:
            ENFORCED.check_tool(identity, "demo_find")
        assert (caught.value.status, caught.value.error) == (403, "insufficient_scope")
        assert caught.value.scopes[0] == "org:read"
        assert caught.value.scopes[1] in ("research", "tool:demo_find")
    await door.aclose()


@pytest.mark.parametrize("scope", [7, {"research": True}, True, ["research"] * 300])
async def test_scopes_that_cannot_be_read_are_not_taken_for_none(issuer: TokenIssuer, scope: Any) -> None:
    door = Door(issuer, scopes=ScopePolicy(enforced=True, optional=True))

    assert (await door.refuse(issuer.sign(scope=scope))).reason == "claims"
    await door.aclose()


# --- 26: nothing of a credential is told -----------------------------------------------------------------------------


async def test_nothing_of_a_token_is_in_what_is_said_logged_or_shown(
    door: Door, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    planted = "Pl4ntedV4lue"
    caplog.set_level(logging.DEBUG)
    issuer = door.issuer
    changed = [
        {"aud": planted}, {"iss": planted}, {"sub": planted + "\0"}, {"tenant_id": planted + "\n"}, {"exp": planted},
        {"nonce": planted}, {"scope": {planted: 1}}, {"jti": planted, "exp": 1}, {"jti": [planted]},
    ]  # fmt: skip
    tokens = [issuer.sign(**changes) for changes in changed]
    heads = [{"kid": planted}, {"alg": planted}, {"typ": planted}, {"jku": planted}, {"kid": [planted]}]
    tokens += [issuer.sign(header=header) for header in heads]
    tokens += [planted, f"{planted}.{planted}.{planted}", f"slk_{planted}", issuer.sign()[:-8] + planted[:8]]
    headers: list[list[str | bytes]] = [[f"Bearer {token}"] for token in tokens]
    headers += [[f"Basic {planted}"], [f"Bearer {planted} {planted}"], [planted], [planted, planted]]
    good = await door.open(issuer.sign(sub=planted, tenant_id=planted, jti=planted, scope=planted))

    shown = [repr(good), str(good), repr(door.authenticator), *door.said]
    for header in headers:
        refusal = await door.refuse_headers(header)
        chain: BaseException | None = refusal
        while chain is not None:
            shown += [repr(chain)] if chain is refusal or not chain.__suppress_context__ else []
            chain = chain.__cause__ or (None if chain.__suppress_context__ else chain.__context__)
        shown += [str(refusal), refusal.description, str(make_challenge(refusal, METADATA_URL)), *refusal.scopes]
        assert len(refusal.description.split()) <= 6
    shown += [caplog.text, *capfd.readouterr()]

    hidden = {planted, planted.lower(), base64.b64encode(planted.encode()).decode(), *tokens}
    assert len(headers) == 22
    assert [(text, value) for text in shown for value in hidden if value in text] == []
