"""Attack 5 and its kin: whatever the issuer answers, keys that are there go on, and nobody private is asked."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import pytest

from specloom.http.identity import issuer_keys
from specloom.http.identity.identity import Refusal
from specloom.http.identity.issuer_keys import IssuerKeys, KeySetError, parse_key_set
from specloom.net import Transport
from tests.support.clock import Clock
from tests.support.loopback import RESET, Call, Loopback, Raw, Reply
from tests.support.token_issuer import JSON, METADATA, TokenIssuer, make_key

OPENID = "/.well-known/openid-configuration"


class Names:
    """A resolver that knows one address; what was asked is kept."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return [self.address]


class Bunch:
    """The keys of an issuer with a clock that stands still; every name is at `address`."""

    def __init__(self, url: str, *, address: str = "10.0.0.7", **options: Any) -> None:
        self.clock = Clock()
        self.said: list[str] = []
        self.names = Names(address)
        self.transport = Transport(resolve=self.names)
        self.keys = IssuerKeys(url, self.transport, warn=self.said.append, clock=self.clock, **options)

    async def find(self, kid: str = "k1") -> str:
        """The reason why a key is not found, or nothing when it is."""
        try:
            await self.keys.find(kid)
        except Refusal as refusal:
            return refusal.reason
        return ""

    async def aclose(self) -> None:
        await self.keys.aclose()
        await self.transport.aclose()


@pytest.fixture
def issuer() -> Iterator[TokenIssuer]:
    with TokenIssuer() as running:
        yield running


@pytest.fixture
async def bunch(issuer: TokenIssuer) -> AsyncIterator[Bunch]:
    made = Bunch(issuer.url)
    yield made
    await made.aclose()


# --- discovery -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "metadata_path"),
    [
        ("", METADATA),
        ("", OPENID),
        ("/", METADATA),
        ("/realms/acme", f"{METADATA}/realms/acme"),
        ("/realms/acme", f"{OPENID}/realms/acme"),
        ("/realms/acme", f"/realms/acme{OPENID}"),
        ("/realms/acme/", f"/realms/acme{OPENID}"),
    ],
)
async def test_metadata_is_found_where_either_standard_puts_it(path: str, metadata_path: str) -> None:
    with TokenIssuer(path=path, metadata_path=metadata_path) as issuer:
        bunch = Bunch(issuer.url)
        await bunch.keys.refresh()

        assert await bunch.find() == ""
        assert issuer.asked[-2:] == [metadata_path, "/jwks"]
        await bunch.aclose()


async def test_places_are_tried_in_the_order_of_the_standards_and_the_usual_one_last() -> None:
    with TokenIssuer(path="/t", metadata_path="/nowhere") as issuer:
        issuer.replies["/t/.well-known/jwks.json"] = (200, JSON, json.dumps(issuer.key_set()))
        bunch = Bunch(issuer.url)
        await bunch.keys.refresh()

        assert await bunch.find() == ""
        assert issuer.asked == [f"{METADATA}/t", f"{OPENID}/t", f"/t{OPENID}", "/t/.well-known/jwks.json"]
        await bunch.aclose()


@pytest.mark.parametrize("named", ["https://evil.example.com", "", None, ["x"]])
async def test_metadata_of_another_issuer_is_not_used(issuer: TokenIssuer, bunch: Bunch, named: Any) -> None:
    issuer.replies[METADATA] = (200, JSON, json.dumps({**issuer.metadata(), "issuer": named}))
    await bunch.keys.refresh()

    assert await bunch.find() == "keys_unavailable"
    assert "another issuer" in bunch.said[0]
    assert issuer.count() == 0


async def test_an_issuer_with_a_slash_more_is_another_one(issuer: TokenIssuer, bunch: Bunch) -> None:
    issuer.replies[METADATA] = (200, JSON, json.dumps({**issuer.metadata(), "issuer": f"{issuer.url}/"}))
    await bunch.keys.refresh()

    assert not bunch.keys.ready


# --- what an issuer may do wrong -------------------------------------------------------------------------------------


def _endless(call: Call) -> Reply:
    def pieces() -> Iterator[bytes]:
        # A gigabyte, of which nobody takes more than a little.
        for _ in range(1024):
            SENT.append(1)
            yield b" " * 1024 * 1024

    return 200, JSON, pieces()


SENT: list[int] = []
REAL = make_key()
TWICE = json.dumps({"keys": [REAL.jwk, {**make_key("k2").jwk, "kid": "k1"}]})
WRONG: dict[str, Reply | Callable[[Call], Reply]] = {
    "404": (404, {}, ""),
    "500": (500, JSON, json.dumps({"keys": [REAL.jwk]})),
    "empty": (200, JSON, ""),
    "HTML": (200, {"Content-Type": "text/html"}, "<h1>hello</h1>"),
    "a list": (200, JSON, "[]"),
    "no keys": (200, JSON, "{}"),
    "keys that are no list": (200, JSON, '{"keys": {}}'),
    "nested": (200, JSON, "[" * 100_000),
    "not UTF-8": (200, JSON, b'{"keys": "\xff"}'),
    "twice the same name": (200, JSON, TWICE),
    "101 keys": (200, JSON, json.dumps({"keys": [make_key("k1").jwk | {"kid": f"k{at}"} for at in range(101)]})),
    "a gigabyte": _endless,
    "a gigabyte by its length": (200, {"Content-Length": str(1024**3)}, ""),
    "reset": RESET,
    "no HTTP": Raw([b"\x16\x03\x01\x02\x00"]),
    "redirect": (302, {"Location": "http://169.254.169.254/latest/meta-data"}, ""),
    "redirect to itself": (307, {"Location": "/jwks"}, ""),
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_at_the_start_it_is_not_ready_and_later_old_keys_go_on(wrong: str) -> None:
    SENT.clear()
    with TokenIssuer() as issuer:
        fresh, old = Bunch(issuer.url), Bunch(issuer.url)
        await old.keys.refresh()
        issuer.replies["/jwks"] = WRONG[wrong]
        await fresh.keys.refresh()
        old.clock.now += 3600
        await old.keys.refresh()

        assert (fresh.keys.ready, await fresh.find()) == (False, "keys_unavailable")
        assert (old.keys.ready, await old.find()) == (True, "")
        assert (len(fresh.said), len(old.said)) == (1, 1)
        assert "could not be read" in old.said[0]
        assert fresh.names.asked == old.names.asked == []
        assert len(SENT) < 40
        await fresh.aclose()
        await old.aclose()


async def test_a_redirect_is_followed_to_nobody(issuer: TokenIssuer, bunch: Bunch) -> None:
    with Loopback(lambda call: (200, JSON, json.dumps(issuer.key_set()))) as elsewhere:
        for path in ("/jwks", METADATA):
            issuer.replies = {path: (302, {"Location": f"{elsewhere.url}/jwks"}, "")}
            await bunch.keys.refresh()

        assert elsewhere.calls == []
    assert not bunch.keys.ready
    assert "redirects, which is not followed" in bunch.said[0]


@pytest.mark.parametrize(
    "address",
    [
        "http://10.0.0.7/jwks",
        "http://keys.example.com/jwks",
        "https://10.0.0.7/jwks",
        "https://169.254.169.254/jwks",
        "https://[::ffff:127.0.0.1]/jwks",
        "https://keys.example.com/jwks",
        "http://127.evil.example.com/jwks",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "https://user:password@keys.example.com/jwks",
        "/jwks",
        "",
        7,
    ],
)
async def test_keys_at_an_address_that_is_not_public_are_not_asked_for(
    issuer: TokenIssuer, bunch: Bunch, address: Any
) -> None:
    issuer.replies[METADATA] = (200, JSON, json.dumps({**issuer.metadata(), "jwks_uri": address}))
    await bunch.keys.refresh()

    # keys.example.com is resolved, to a private address, and nobody there is asked.
    assert bunch.names.asked in ([], ["keys.example.com"])
    assert not bunch.keys.ready
    assert issuer.count() == 0


async def test_an_issuer_of_a_private_network_is_asked_over_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    with TokenIssuer(name="auth.example.org") as issuer:
        monkeypatch.setenv("SSL_CERT_FILE", issuer.server.certificate)
        bunch = Bunch(issuer.url, address="127.0.0.1")
        await bunch.keys.refresh()

        assert (await bunch.find(), bunch.said) == ("", [])
        await bunch.aclose()


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        ("http://127.0.0.1:{port}/jwks", ["auth.example.org"]),
        ("http://localhost:{port}/jwks", ["auth.example.org"]),
        ("http://auth.example.org:{port}/jwks", ["auth.example.org"]),
        ("https://127.0.0.1:{port}/jwks", ["auth.example.org"]),
        ("https://other.example.org:{port}/jwks", ["auth.example.org", "other.example.org"]),
    ],
)
async def test_leave_to_be_private_is_given_to_the_issuers_own_host_alone(
    monkeypatch: pytest.MonkeyPatch, address: str, asked: list[str]
) -> None:
    with TokenIssuer(name="auth.example.org") as issuer:
        monkeypatch.setenv("SSL_CERT_FILE", issuer.server.certificate)
        said = {"issuer": issuer.url, "jwks_uri": address.format(port=issuer.server.port)}
        issuer.replies[METADATA] = (200, JSON, json.dumps(said))
        bunch = Bunch(issuer.url, address="127.0.0.1")
        await bunch.keys.refresh()

        assert not bunch.keys.ready
        assert (issuer.count(), bunch.names.asked) == (0, asked)
        await bunch.aclose()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "auth.example.org"])
async def test_keys_of_an_issuer_with_tls_are_not_read_without_it(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    with TokenIssuer(name="auth.example.org") as issuer, Loopback(issuer._answer) as plain:
        monkeypatch.setenv("SSL_CERT_FILE", issuer.server.certificate)
        said = {"issuer": issuer.url, "jwks_uri": f"http://{host}:{plain.port}/jwks"}
        issuer.replies[METADATA] = (200, JSON, json.dumps(said))
        warned: list[str] = []
        async with Transport(resolve=Names("127.0.0.1"), allow_private=True) as transport:
            keys = IssuerKeys(issuer.url, transport, warn=warned.append)
            await keys.refresh()

        assert (keys.ready, plain.calls) == (False, [])
        assert "not https" in warned[0]


async def test_an_issuer_that_hangs_keeps_nobody_for_long(issuer: TokenIssuer, monkeypatch: pytest.MonkeyPatch) -> None:
    bunch = Bunch(issuer.url)
    await bunch.keys.refresh()
    monkeypatch.setattr(issuer_keys, "TIMEOUT", 0.1)
    released = threading.Event()

    def hang(call: Call) -> Reply:
        released.wait(120)
        return RESET

    issuer.replies["/jwks"] = hang
    bunch.clock.now += 60
    try:
        async with asyncio.timeout(60):
            waiting = [asyncio.create_task(bunch.find("new")) for _ in range(20)]
            # Who has a key that is known waits for nobody.
            assert await bunch.find() == ""
            assert await asyncio.gather(*waiting) == ["unknown_key"] * 20
        assert issuer.count() == 2
    finally:
        released.set()
    await bunch.aclose()


# --- how often it is asked -------------------------------------------------------------------------------------------


async def test_all_who_wait_for_a_new_key_share_one_request(issuer: TokenIssuer, bunch: Bunch) -> None:
    await bunch.keys.refresh()
    issuer.keys.append(make_key("k2"))
    bunch.clock.now += 60

    reasons = await asyncio.gather(*(bunch.find("k2") for _ in range(100)), *(bunch.find(f"x{n}") for n in range(100)))

    assert reasons == [""] * 100 + ["unknown_key"] * 100
    assert issuer.count() == 2


async def test_who_gives_up_waiting_takes_nothing_from_the_others(issuer: TokenIssuer, bunch: Bunch) -> None:
    await bunch.keys.refresh()
    issuer.keys.append(make_key("k2"))
    bunch.clock.now += 60
    tasks = [asyncio.create_task(bunch.find("k2")) for _ in range(3)]
    await asyncio.sleep(0)

    tasks[0].cancel()

    assert await asyncio.gather(*tasks[1:]) == ["", ""]
    assert issuer.count() == 2


async def test_between_two_minutes_an_unknown_name_is_refused_at_once(issuer: TokenIssuer, bunch: Bunch) -> None:
    await bunch.keys.refresh()
    issuer.keys.append(make_key("k2"))
    bunch.clock.now += 59.9

    assert await bunch.find("k2") == "unknown_key"
    assert issuer.count() == 1
    bunch.clock.now += 0.1
    assert await bunch.find("k2") == ""


async def test_without_keys_tokens_cause_one_try_a_minute_and_then_they_hold(issuer: TokenIssuer, bunch: Bunch) -> None:
    issuer.replies["/jwks"] = (500, {}, "")
    await bunch.keys.refresh()
    for _ in range(20):
        assert await bunch.find() == "keys_unavailable"
    assert issuer.count() == 1

    issuer.replies.clear()
    bunch.clock.now += 60

    assert await asyncio.gather(*(bunch.find() for _ in range(20))) == [""] * 20
    assert issuer.count() == 2


async def test_keys_that_cannot_be_read_again_hold_for_a_day(issuer: TokenIssuer, bunch: Bunch) -> None:
    await bunch.keys.refresh()
    issuer.replies = {"/jwks": (500, {}, ""), METADATA: (500, {}, "")}
    bunch.clock.now += 86_399
    await bunch.keys.refresh()
    within = (bunch.keys.ready, await bunch.find())
    bunch.clock.now += 1

    assert within == (True, "")
    assert (bunch.keys.ready, await bunch.find()) == (False, "keys_unavailable")
    issuer.replies.clear()
    await bunch.keys.refresh()
    assert (bunch.keys.ready, await bunch.find()) == (True, "")


async def test_it_is_asked_again_in_an_hour_and_sooner_after_a_failure(issuer: TokenIssuer, bunch: Bunch) -> None:
    first = bunch.keys.due_in
    await bunch.keys.refresh()
    hour = bunch.keys.due_in
    issuer.replies["/jwks"] = (500, {}, "")
    bunch.clock.now += 3600
    due = bunch.keys.due_in
    await bunch.keys.refresh()

    assert (first, hour, due, bunch.keys.due_in) == (0.0, 3600.0, 0.0, 60.0)


async def test_metadata_that_is_away_for_a_while_does_not_end_the_keys(issuer: TokenIssuer, bunch: Bunch) -> None:
    await bunch.keys.refresh()
    issuer.replies[METADATA] = (503, {}, "")
    issuer.keys[:] = [make_key("k2")]
    await bunch.keys.refresh()

    assert (await bunch.find("k2"), await bunch.find("k1")) == ("", "unknown_key")


# --- what is a key ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
def test_each_kind_of_key_is_read(algorithm: str) -> None:
    key = make_key("a", algorithm)

    parsed = parse_key_set(json.dumps({"keys": [key.jwk]}).encode())

    assert parsed["a"].algorithms == {algorithm}
    assert parsed["a"].public == key.private.public_key()


def test_an_rsa_key_without_an_algorithm_is_for_both_of_its_kind() -> None:
    said = {name: value for name, value in make_key("a", "RS256").jwk.items() if name not in ("alg", "use")}

    assert parse_key_set(json.dumps({"keys": [said]}).encode())["a"].algorithms == {"RS256", "PS256"}


EC = make_key("a").jwk
RSA = make_key("a", "RS256").jwk


@pytest.mark.parametrize(
    "said",
    [
        {**EC, "use": "enc"},
        {**EC, "alg": "ES384"},
        {**EC, "alg": "RS256"},
        {**EC, "alg": ["ES256"]},
        {**EC, "crv": "P-384"},
        {**EC, "x": "AAAA"},
        {**EC, "x": EC["y"], "y": EC["x"]},
        {**EC, "x": None},
        {**EC, "key_ops": ["sign"]},
        {**EC, "key_ops": "verify"},
        {**EC, "kty": "oct", "k": "c2VjcmV0"},
        {**EC, "kty": ["EC"]},
        {**EC, "kid": 7},
        {**EC, "kid": ""},
        {**EC, "kid": "k" * 257},
        {name: value for name, value in EC.items() if name != "kid"},
        {**RSA, "n": RSA["n"][:100]},
        {**RSA, "n": "_" * 20_000},
        {**RSA, "e": "AQ"},
        {**RSA, "e": "_" * 300},
        {**RSA, "e": "not base64!"},
        {"kid": "a", "kty": "OKP", "crv": "Ed448", "x": "A" * 76},
        {"kid": "a", "kty": "oct", "k": "c2VjcmV0", "alg": "HS256"},
        "text",
        None,
    ],
)
def test_what_signs_no_tokens_of_ours_is_left_out_and_the_others_stay(said: Any) -> None:
    parsed = parse_key_set(json.dumps({"keys": [said, make_key("b").jwk]}).encode())

    assert list(parsed) == ["b"]


def test_a_key_that_stands_there_with_its_private_part_only_verifies() -> None:
    said = {**RSA, "d": "AAAA", "p": "AAAA"}

    parsed = parse_key_set(json.dumps({"keys": [said]}).encode())

    assert not hasattr(parsed["a"].public, "sign")


def test_two_keys_of_one_name_refuse_the_set_also_where_one_is_for_something_else() -> None:
    with pytest.raises(KeySetError, match="two keys of one name"):
        parse_key_set(json.dumps({"keys": [EC, {**RSA, "use": "enc"}]}).encode())


async def test_a_set_without_keys_is_an_answer_and_ends_them_all(issuer: TokenIssuer, bunch: Bunch) -> None:
    await bunch.keys.refresh()
    issuer.keys.clear()
    await bunch.keys.refresh()

    assert (bunch.keys.ready, await bunch.find()) == (True, "unknown_key")
